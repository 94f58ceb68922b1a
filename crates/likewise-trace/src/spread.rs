//! Files that several processes read together.

use std::path::Path;

use likewise::comm::Communicator;

use crate::error::SpreadError;
use crate::trace::{ReadOptions, Trace};
use crate::{paraver, read_bursts};

/// Reads the bursts of a trace, as [`read_bursts`] does, on several processes
/// that see the same file. Collective. Process 0 has the trace, the others
/// nothing.
///
/// Each process reads a piece of a Paraver trace, and process 0 joins what they
/// found. Where the file cannot be cut (gzip, tables, recordings), or holds what
/// must be told with the number of its line, process 0 reads all, and calls
/// `alone` before. So the trace and the error do not depend on the number of
/// processes.
///
/// # Errors
/// Those of [`read_bursts`], on process 0 alone; [`SpreadError::Comm`].
///
/// # Complexity
/// Each process reads its share of the bytes. Process 0 receives all bursts.
pub fn read_bursts_spread<C: Communicator + ?Sized>(
    comm: &C,
    path: &Path,
    options: &ReadOptions<'_>,
    alone: impl FnOnce(),
) -> Result<Option<Trace>, SpreadError> {
    if comm.size() > 1 {
        if let Some(trace) = paraver::read_spread(comm, path, options)? {
            return Ok(trace);
        }
        if comm.rank() == 0 {
            alone();
        }
    }
    Ok((comm.rank() == 0).then(|| read_bursts(path, options)).transpose()?)
}
