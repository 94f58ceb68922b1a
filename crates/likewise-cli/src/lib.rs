//! The subcommands of `likewise`, as a library for its tests and automation.

#![forbid(unsafe_code)]

mod advice;
mod args;
mod cli;
mod commands;
mod common;
mod escape;
mod files;
mod finish;
mod launch;
mod memory;
mod output;
mod progress;
mod recordings;
mod seen;
mod taken;
mod trace;

pub use cli::{command, run};
