//! Events in, events out: recorded, merged, written, read.

mod programs;
mod structure;
mod whole;
