//! Ranks that work together: threads of one process, or processes of an MPI
//! program (`likewise-mpi`).
//!
//! What stands on this trait is collective: every rank calls the same
//! functions in the same order. Sums are of whole numbers, so that no result
//! depends on how many ranks there are: who needs a sum of reals agrees on a
//! quantum first.

mod collective;
mod counted;
mod reals;
mod solo;
mod threads;
pub mod wire;

pub use counted::{Counted, Traffic};
pub use reals::{from_order, order};
pub use solo::Solo;
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

impl Reduction {
    /// Of two values.
    pub fn of(self, a: i64, b: i64) -> i64 {
        match self {
            Self::Sum => a.wrapping_add(b),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }
}

/// A message, and whom it is for or from.
pub type Parcel = (usize, Vec<u8>);

/// Ranks that work together; from 0 to `size - 1`.
///
/// From [`all_reduce`](Self::all_reduce) on, functions are collective. They
/// are made of [`send`](Self::send) and [`receive`](Self::receive), so what
/// was sent before one of them has to be received before it, too. A carrier
/// that has a better one puts it in its place, with the same result.
///
/// An error on one rank becomes [`CommError::Peer`] on the others once it
/// calls [`fail`](Self::fail).
///
/// # Panics
/// Where a rank is named that is not below `size`.
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

    /// What this rank does next is called so; for who counts what is sent
    /// ([`Counted`]), and otherwise nothing.
    fn phase(&self, _name: &str) {}

    /// Place by place, the reduction of the ranks' `values`, which are equally
    /// many everywhere. O(log P) messages.
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

    /// Gives all ranks the `bytes` of all, one rank's after the other's, in the
    /// order of the ranks; where one ends they have to say themselves. O(log P)
    /// messages, and no more bytes than the ranks have: for what few ranks of
    /// many contribute to.
    ///
    /// # Errors
    /// See [`CommError`].
    fn concatenate(&self, bytes: &mut Vec<u8>) -> Result<(), CommError> {
        collective::concatenate(self, bytes)
    }

    /// What all ranks sent, on the root, in the order of the ranks; nothing
    /// elsewhere. O(log P) messages; the root receives eight bytes a rank
    /// besides what they sent.
    ///
    /// # Errors
    /// See [`CommError`].
    fn gather(&self, root: usize, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommError> {
        collective::gather(self, root, bytes)
    }

    /// What all ranks sent, in their order, everywhere.
    ///
    /// # Errors
    /// See [`CommError`].
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommError> {
        collective::all_gather(self, bytes)
    }

    /// Delivers parcels: each rank gives those it sends, and gets those sent
    /// to it, with their sources, in the order of sources and, from one
    /// source, of sending. Nobody needs to know who sends what. O(log P)
    /// messages a rank: at each step, parcels for the other half of a range of
    /// ranks go to a partner there (a crystal router).
    ///
    /// # Errors
    /// See [`CommError`].
    fn route(&self, parcels: Vec<Parcel>) -> Result<Vec<Parcel>, CommError> {
        collective::route(self, parcels)
    }
}
