//! Paraver traces: `.prv`, `.pcf`, `.row`.

pub(crate) mod code;
pub(crate) mod companions;
mod copy;
pub(crate) mod cover;
mod cut;
pub(crate) mod fold;
pub(crate) mod header;
pub(crate) mod info;
pub mod label;
pub(crate) mod openmp;
pub(crate) mod pcf;
pub(crate) mod reader;
pub(crate) mod records;
mod retime;
pub(crate) mod row;
pub(crate) mod scan;
pub(crate) mod sorted;
mod synth;
pub(crate) mod table;

pub use cut::{CutOptions, CutReport, check_cut, write_cut};
pub use header::{Header, Task, TimeUnit};
pub use info::{EventTypeInfo, StateInfo};
pub use pcf::{EventType, Pcf, counter_name};
pub use retime::{RetimeReport, RetimedBurst, RetimedThread, write_retimed};
pub use row::Row;
pub use scan::RecordCounts;
pub use synth::{TraceFiles, write_synthetic};

/// State value of a thread that computes.
pub const RUNNING: u32 = 1;
