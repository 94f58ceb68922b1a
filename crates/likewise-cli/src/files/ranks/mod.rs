//! The files of classes of ranks.

pub(crate) mod csv;
pub(crate) mod estimate;
pub(crate) mod json;
pub(crate) mod sampled;
pub(crate) mod windows;
