//! Programs that are started with a launcher of MPI, or without one.

pub(crate) mod child;
pub(crate) mod environment;
pub(crate) mod launcher;
pub(crate) mod library;
