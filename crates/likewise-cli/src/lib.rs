//! The subcommands of `likewise`, as a library for its tests and automation.

mod cli;
mod commands;
mod output;
mod progress;
mod stages;

pub use cli::{command, run};
pub mod report;
