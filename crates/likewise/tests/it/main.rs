//! The core from outside.

mod comm;
mod comm_checks;
