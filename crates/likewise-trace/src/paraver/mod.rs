//! Paraver traces: `.prv`, `.pcf`, `.row`.

pub(crate) mod code;
pub(crate) mod companions;
mod copy;
mod cut;
pub(crate) mod event_types;
pub(crate) mod header;
pub(crate) mod info;
pub mod label;
mod mpi;
pub(crate) mod openmp;
pub(crate) mod pcf;
mod plain;
pub(crate) mod reader;
pub(crate) mod reading;
pub(crate) mod records;
mod retime;
pub(crate) mod row;
pub(crate) mod rules;
pub(crate) mod scan;
mod set_up;
pub(crate) mod sorted;
mod spread;
mod streams;
mod synth;

pub use cut::{CutOptions, CutReport, check_cut, write_cut};
pub use pcf::counter_name;
pub use retime::{RetimeReport, RetimedBurst, RetimedThread, write_retimed};
pub use synth::{TraceFiles, write_synthetic};

use std::path::Path;

use likewise::comm::Communicator;

use crate::bytes::BLOCK;
use crate::error::SpreadError;
use crate::trace::{ReadOptions, Trace, TraceFormat};

/// How a Paraver trace is known, and who reads it.
pub(crate) const FORMAT: TraceFormat = TraceFormat {
    begins: b"#Paraver",
    read: |input, options| reader::read(input, options, BLOCK),
    inspect: |input, options| info::inspect(input, options, BLOCK),
};

/// As [`spread::read`].
pub(crate) fn read_spread<C: Communicator + ?Sized>(
    comm: &C,
    path: &Path,
    options: &ReadOptions<'_>,
) -> Result<Option<Option<Trace>>, SpreadError> {
    spread::read(comm, path, options, BLOCK)
}
