//! Ranks that work together: threads of one process, or processes of an MPI
//! program (`likewise-mpi`).
//!
//! Functions on this trait are collective: every rank calls the same
//! functions in the same order. Sums are of whole numbers, so that no result
//! depends on the number of ranks; for a sum of reals, the ranks first agree
//! on a quantum.

mod collective;
mod counted;
mod reals;
mod solo;
mod threads;
mod tree;
pub mod wire;

pub use collective::broadcast as broadcast_by_messages;
pub use counted::{Counted, Traffic};
pub use reals::{from_order, order};
pub use solo::Solo;
pub use threads::{ThreadComm, run_on_threads};
pub use tree::Tree;

/// Why ranks could not work together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommError {
    /// Another rank gave up, for the reason it gave.
    #[error("rank {rank} failed: {reason}")]
    Peer {
        /// The rank that failed.
        rank: usize,
        /// What it said.
        reason: String,
    },
    /// The library that carries the messages failed.
    #[error("{call} failed: {reason}")]
    Transport {
        /// The call.
        call: &'static str,
        /// What the library said.
        reason: String,
    },
}

impl CommError {
    /// What a call received is not what it sends.
    pub fn out_of_step(call: &'static str) -> Self {
        let reason = "a message is not what this call sends: the ranks do not make the same calls".into();
        Self::Transport { call, reason }
    }
}

/// How the values of all ranks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Their sum. It wraps, so that the order of the values does not matter.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

impl Reduction {
    /// Combines two values.
    pub fn of(self, a: i64, b: i64) -> i64 {
        match self {
            Self::Sum => a.wrapping_add(b),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }
}

/// A message, and the rank that it goes to or comes from.
pub type Parcel = (usize, Vec<u8>);

/// Ranks that work together, numbered from 0 to `size - 1`.
///
/// The functions from [`all_reduce`](Self::all_reduce) on are collective.
/// They are made of [`send`](Self::send) and [`receive`](Self::receive), so
/// every message that was sent before such a call must also be received
/// before it. A carrier may replace a function by a faster one with the same
/// result.
///
/// If a rank calls [`fail`](Self::fail), its error becomes
/// [`CommError::Peer`] on the other ranks.
///
/// # Panics
/// Where a rank is named that is not below `size`.
pub trait Communicator {
    /// The number of this rank.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn size(&self) -> usize;

    /// Sends a message. The receiver need not have asked for it yet.
    ///
    /// # Errors
    /// See [`CommError`].
    fn send(&self, to: usize, message: &[u8]) -> Result<(), CommError>;

    /// Waits for the next message of a rank. Messages of one rank arrive in
    /// the order in which it sent them.
    ///
    /// # Errors
    /// See [`CommError`].
    fn receive(&self, from: usize) -> Result<Vec<u8>, CommError>;

    /// Ends the work of all ranks. Threads that wait get [`CommError::Peer`]
    /// with this reason. An MPI program ends with the reason on standard
    /// error, because MPI has no other way.
    fn fail(&self, reason: &str);

    /// Names the phase that starts now. Only [`Counted`] uses it, to count
    /// messages by phase.
    fn phase(&self, _name: &str) {}

    /// Reduces the `values` of all ranks place by place. All ranks give the
    /// same number of values. O(log P) messages.
    ///
    /// # Errors
    /// See [`CommError`].
    fn all_reduce(&self, reduction: Reduction, values: &mut [i64]) -> Result<(), CommError> {
        collective::all_reduce(self, reduction, values)
    }

    /// Gives all ranks the root's `bytes`. O(log P) messages.
    ///
    /// # Errors
    /// See [`CommError`].
    fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<(), CommError> {
        collective::broadcast(self, root, bytes)
    }

    /// The sum of `value` over the ranks before this one. O(log P) messages.
    ///
    /// # Errors
    /// See [`CommError`].
    fn sum_before(&self, value: i64) -> Result<i64, CommError> {
        collective::sum_before(self, value)
    }

    /// Gives all ranks the `bytes` of all ranks, one after the other, in the
    /// order of the ranks. The bytes themselves must show where those of one
    /// rank end. O(log P) messages, and no more bytes than the ranks give: use
    /// it for data that only a few of many ranks have.
    ///
    /// # Errors
    /// See [`CommError`].
    fn concatenate(&self, bytes: &mut Vec<u8>) -> Result<(), CommError> {
        collective::concatenate(self, bytes)
    }

    /// Returns on the root what all ranks sent, in the order of the ranks, and
    /// nothing on the other ranks. O(log P) messages; the root also receives
    /// eight bytes per rank.
    ///
    /// # Errors
    /// See [`CommError`].
    fn gather(&self, root: usize, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommError> {
        collective::gather(self, root, bytes)
    }

    /// Returns on every rank what all ranks sent, in the order of the ranks.
    ///
    /// # Errors
    /// See [`CommError`].
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommError> {
        collective::all_gather(self, bytes)
    }

    /// Delivers parcels. Each rank passes in the parcels that it sends. It
    /// gets the parcels sent to it, with their sources, in the order of the
    /// sources and, from one source, of sending. No rank needs to know who
    /// sends what. O(log P) messages per rank: at each step, parcels for the
    /// other half of a range of ranks go to a partner there (a crystal router).
    ///
    /// # Errors
    /// See [`CommError`].
    fn route(&self, parcels: Vec<Parcel>) -> Result<Vec<Parcel>, CommError> {
        collective::route(self, parcels)
    }
}
