//! Ranks that work together: threads of one process, or processes of an MPI
//! program (`likewise-mpi`).
//!
//! What stands on this trait is collective: every rank calls the same
//! functions in the same order. Sums are of whole numbers, so that no result
//! depends on how many ranks there are: who needs a sum of reals agrees on a
//! quantum first.

mod threads;

pub use threads::{ThreadComm, run_on_threads};

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

/// How values of all ranks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Their sum; wraps.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// A message, and whom it is for or from.
pub type Parcel = (usize, Vec<u8>);

/// Ranks that work together; from 0 to `size - 1`.
///
/// Every function but [`rank`](Self::rank) and [`size`](Self::size) is
/// collective. An error on one rank becomes [`CommError::Peer`] on the others
/// once it calls [`fail`](Self::fail).
pub trait Communicator {
    /// Which of them this is.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Sends a message; the receiver may not have asked yet.
    ///
    /// # Errors
    /// See [`CommError`].
    fn send(&self, to: usize, message: &[u8]) -> Result<(), CommError>;

    /// Waits for the next message of a rank; messages of one rank come in the
    /// order in which it sent them.
    ///
    /// # Errors
    /// See [`CommError`].
    fn receive(&self, from: usize) -> Result<Vec<u8>, CommError>;

    /// Ends the work of all ranks: what they wait for becomes
    /// [`CommError::Peer`] with this reason (threads), or the program ends
    /// with it on standard error (MPI, which knows no other way).
    fn fail(&self, reason: &str);

    /// Place by place, the reduction of the ranks' `values`, which are equally
    /// many everywhere. O(log P) messages.
    ///
    /// # Errors
    /// See [`CommError`].
    fn all_reduce(&self, reduction: Reduction, values: &mut [i64]) -> Result<(), CommError>;

    /// Gives all ranks the root's `bytes`. O(log P) messages.
    ///
    /// # Errors
    /// See [`CommError`].
    fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<(), CommError>;

    /// The sum of `value` over the ranks before this one. O(log P) messages.
    ///
    /// # Errors
    /// See [`CommError`].
    fn sum_before(&self, value: i64) -> Result<i64, CommError>;

    /// What all ranks sent, on the root, in the order of the ranks; nothing
    /// elsewhere. O(log P) messages.
    ///
    /// # Errors
    /// See [`CommError`].
    fn gather(&self, root: usize, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommError>;

    /// What all ranks sent, in their order, everywhere.
    ///
    /// # Errors
    /// See [`CommError`].
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommError>;

    /// Delivers parcels: each rank gives those it sends, and gets those sent
    /// to it, with their sources, in the order of sources and, from one
    /// source, of sending. Nobody needs to know who sends what. O(log P)
    /// messages a rank: at each step, parcels for the other half of a range of
    /// ranks go to a partner there (a crystal router).
    ///
    /// # Errors
    /// See [`CommError`].
    fn route(&self, parcels: Vec<Parcel>) -> Result<Vec<Parcel>, CommError>;
}
