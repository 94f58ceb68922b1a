//! Events in, events out: recorded, merged, written, read.

mod programs;
mod stands;
mod structure;
mod whole;
