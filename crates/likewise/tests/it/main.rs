//! The core from outside.

mod comm;
mod comm_checks;
mod figure9;
mod scale;
