//! Paraver traces.

mod synth;

pub use synth::{TraceFiles, write_synthetic};
