//! Re-issues the MPI calls of a recording: each with the size and the
//! endpoints that it had, and between them the time that the program computed.
//!
//! A message is that many bytes, sent from and received into the same memory.
//! Receives from any source name the source that they heard from, and calls
//! that completed requests wait for the same requests: so a replay does the
//! same each time, whatever is faster in it. Calls that no other rank sees,
//! datatypes and files are left out; their time is not.

mod agreement;
mod amounts;
mod class;
mod clock;
mod comms;
mod completion;
mod fields;
mod handles;
mod lookahead;
mod mpi;
mod player;
mod tally;
mod windows;
mod words;

pub use class::Reason;
pub use player::replay;

use likewise_comm::CommError;
use likewise_recording::{CallId, Recording};

/// What is done in the time that the program computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compute {
    /// The core is kept busy for the processor time that the program took.
    #[default]
    Busy,
    /// Nothing, for as long.
    Sleep,
    /// It is left out.
    None,
}

/// How a recording is replayed.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What is done in the time that the program computed.
    pub compute: Compute,
    /// How much faster than the program it computes.
    pub speed: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { compute: Compute::Busy, speed: 1.0 }
    }
}

/// What a replay did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// From the end of `MPI_Init` to the begin of `MPI_Finalize`, on the rank
    /// where it took longest, in ns: in the recording. Of one by leads, on the
    /// ranks whose times are all their own, if there are any.
    pub recorded: u64,
    /// The same here.
    pub replayed: u64,
    /// Calls that were re-issued on all ranks, and how often.
    pub issued: Vec<(CallId, u64)>,
    /// Why calls were not, how many, and the time that they took in the
    /// recording, in ns.
    pub skipped: Vec<(Reason, u64, u64)>,
}

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ReplayError {
    /// The run did not end, so some rank would wait for ever.
    #[error("the recording is incomplete, and some rank would wait for what is missing: {what}")]
    Incomplete { what: String },
    /// Another number of ranks.
    #[error("the recorded run had {recorded} ranks, and this one has {here}: launch as many")]
    Size { recorded: u32, here: usize },
    /// A call that cannot be re-issued.
    #[error("the program called {call}, which cannot be replayed, and other ranks may have waited for it")]
    Refused { call: &'static str },
    /// Several threads called MPI.
    #[error("rank {rank}: more than one thread called MPI ({call}); a replay has one thread")]
    Threads { rank: u32, call: &'static str },
    /// The program ended without it.
    #[error("rank {rank}: it did not call MPI_Finalize, so other ranks may wait for what it did last")]
    NoFinalize { rank: u32 },
    /// What ranks stand for does not fit together.
    #[error(
        "its ranks, of which some stand behind leads, do not make the same communicators, so some would wait for ever; \
         replay a full recording (`likewise record --mode full`)"
    )]
    Disagree,
    /// The recording holds nonsense.
    #[error("rank {rank}: the recording is damaged: {what}")]
    Broken { rank: u32, what: String },
    /// The MPI lacks what every such MPI has.
    #[error("this MPI lacks objects that every one of its kind has")]
    Constants,
    /// The MPI lacks a function.
    #[error("this MPI has no {call}, which the program called: replay it with an MPI that has it")]
    Missing { call: &'static str },
    /// A call failed.
    #[error("{call}: {told}")]
    Failed { call: &'static str, told: String },
    /// More bytes than an `int` counts.
    #[error("{call} of {bytes} bytes: a replay sends messages of up to 2 GiB")]
    Long { call: &'static str, bytes: i64 },
    /// Where in the recording an error arose.
    #[error("rank {rank}, event {event}: {error}")]
    At { rank: u32, event: u64, error: Box<ReplayError> },
    /// The ranks cannot tell each other what they did.
    #[error(transparent)]
    Comm(#[from] CommError),
}

/// Whether a recording can be replayed, as far as can be told without its
/// events.
///
/// # Errors
/// It cannot be.
pub fn check(recording: &Recording) -> Result<(), ReplayError> {
    if let Some(what) = recording.incomplete() {
        return Err(ReplayError::Incomplete { what: what.to_owned() });
    }
    let (recorded, size) = (recording.ranks().len(), recording.size());
    if recorded != size as usize {
        return Err(ReplayError::Incomplete { what: format!("{recorded} of {size} ranks are in it") });
    }
    match lookahead::refused(recording) {
        Some(call) => Err(ReplayError::Refused { call: call.name() }),
        None => Ok(()),
    }
}
