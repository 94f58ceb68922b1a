//! The subcommands of `likewise`, as a library for its tests and automation.

pub mod definition;
