//! What the records of a thread mean for its bursts: the language between the
//! formats and the folding.

use serde::{Deserialize, Serialize};

/// The counter set changed: at the end of a burst it closes it at once.
pub(crate) const SET_CHANGE: u32 = 41_999_999;

/// A burst that begins: when it ends, if that is known, and its state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    pub(crate) end: Option<u64>,
    pub(crate) state: u32,
}

/// What the records of a thread mean for its bursts.
pub(crate) trait Steps<S> {
    /// Whatever was open ends at the latest; with `open` a burst begins that
    /// ends then, or at the next boundary.
    fn boundary(&mut self, slot: usize, time: u64, open: Option<Opened>);
    /// Counters of one record, or [`SET_CHANGE`].
    fn counters(&mut self, slot: usize, time: u64, counters: &[(u32, i128)]);
    /// Where in the source the thread is.
    fn code(&mut self, slot: usize, time: u64, step: Move<S>);
    /// What an event says of OpenMP.
    fn openmp(&mut self, slot: usize, time: u64, mark: Mark<S>);
}

/// What an event says of where its thread is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Move<P> {
    /// It calls the runtime from there.
    Call(P),
    /// It enters a function.
    Enter(P),
    /// It leaves one.
    Leave,
}

/// What an event says of OpenMP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Mark<P> {
    /// The thread begins to execute the function of a region.
    Enter(P),
    /// It has executed it.
    Leave,
    /// The thread opens a region.
    Fork,
    /// The thread waits for a lock, asks for work, or the like.
    Runtime,
    /// The thread waits for others: at a barrier, or for tasks.
    Wait,
}
