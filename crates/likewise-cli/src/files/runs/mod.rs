//! The files of a comparison of runs.

pub(crate) mod csv;
pub(crate) mod json;
