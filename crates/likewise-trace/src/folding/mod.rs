//! Bursts out of the records of any format.
//!
//! A format says by [`steps`] what its records mean: when a burst begins and
//! ends, what its counters read, where in the source the thread is. [`fold`]
//! makes bursts of the steps of one thread, piece by piece; [`pieces`] holds
//! the pieces of a file that is read in blocks; [`openmp`] puts together what
//! the runtime splits; [`table`] makes one table of all threads.

pub(crate) mod bursts;
pub(crate) mod cover;
pub(crate) mod fold;
mod open;
pub(crate) mod openmp;
pub(crate) mod pieces;
pub(crate) mod place;
mod rows;
mod runs;
pub(crate) mod sites;
pub(crate) mod steps;
mod sums;
pub(crate) mod table;
