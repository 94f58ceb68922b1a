//! Events in, events out: recorded, merged, written, read.

mod periods;
mod programs;
mod stands;
mod structure;
mod whole;
