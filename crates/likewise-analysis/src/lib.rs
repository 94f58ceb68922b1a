//! From traces and tables to what behaves alike in them.
//!
//! The pipelines of `likewise`: plain options go in, typed results come out.
//! Nothing here parses a command line, prints, or writes a file; files are read
//! by `likewise-trace` alone. The command line, MPI runs and other programs
//! call the same functions.
//!
//! An error that is [`Usage`] says that what was asked for cannot be; all
//! others say what failed, and where.

#![forbid(unsafe_code)]

pub mod counters;
pub mod cut;
pub mod definition;
pub mod phases;
pub mod ranks;
pub mod runs;
mod stages;
pub mod together;
mod watch;

pub use stages::Stages;
pub use watch::{Bar, Silent, Watch};

/// Options that ask for what cannot be.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// A failure that another process of the same run tells.
#[derive(Debug, thiserror::Error)]
#[error("another rank failed")]
pub struct ToldElsewhere;
