//! Clustering of ranks while a program runs.
//!
//! Every rank makes a [`Signature`] of what it did between two markers
//! ([`Rolling`]), all ranks vote, and the [`Machine`] says from the votes in
//! which state the run is. If the run repeats, [`choose`] groups ranks of like
//! signatures and names a lead of each group. `docs/chameleon.md` has the whole
//! and where it differs from the paper.
//!
//! Nothing here calls MPI, reads a clock or opens a file: ranks talk by a
//! [`Communicator`](likewise_comm::Communicator).
//!
//! # Reference
//! Bahmani and Mueller, Chameleon: Online Clustering of MPI Program Traces.

mod group;
mod leads;
mod machine;
mod ranklist;
mod signature;

pub use group::{Method, Options};
pub use leads::{Group, choose, gather};
pub use machine::{Action, Machine, Step};
pub use ranklist::{NotRanks, Ranklist};
pub use signature::{Mean, Rolling, Signature};
