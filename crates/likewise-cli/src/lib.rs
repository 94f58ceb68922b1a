//! The subcommands of `likewise`, as a library for its tests and automation.

mod analysis;
mod cli;
mod commands;
mod definition;
mod files;
mod grouping;
mod label;
mod output;
mod period;
mod progress;
pub mod report;
mod stages;

pub use cli::{command, run};
