//! Integration tests of the readers and writers.

mod golden;
mod inputs;
mod mutated;
mod recorded;
