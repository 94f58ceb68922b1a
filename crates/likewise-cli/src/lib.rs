//! The subcommands of `likewise`, as a library for its tests and automation.

mod advice;
mod analysis;
mod check;
mod cli;
mod commands;
mod counters;
mod definition;
mod escape;
mod figures;
mod files;
mod findings;
mod grouping;
mod label;
mod memory;
mod names;
mod output;
mod period;
mod progress;
mod ranks;
mod refining;
mod report_counters;
mod report_ranks;
mod report_runs;
mod runs;
mod stages;
mod structure;
mod taken;

pub use cli::{command, run};
pub use memory::Allocator;
