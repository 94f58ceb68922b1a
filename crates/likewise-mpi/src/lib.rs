//! Ranks of an MPI program as a communicator of `likewise-comm`.
//!
//! Building this needs no MPI. The functions are looked up when the program
//! runs: in the MPI that the program already has, or else in that of the
//! launcher (`mpirun`). One binary serves Open MPI and MPICH. Only `PMPI_`
//! names are called, so that no tool that records MPI calls sees ours.
//!
//! Without the feature `comm` there are only [`binding`] and [`abi`], which need
//! `libc` alone: the library that records programs is linked into each of them.

pub mod abi;
pub mod binding;
#[cfg(feature = "comm")]
mod comm;
#[cfg(feature = "comm")]
mod launcher;
#[cfg(feature = "comm")]
mod library;
#[cfg(feature = "comm")]
mod raw;

pub use binding::Mpi;
#[cfg(feature = "comm")]
pub use comm::MpiComm;
#[cfg(feature = "comm")]
pub use launcher::Launcher;
#[cfg(feature = "comm")]
pub use raw::{Constants, Function, Raw};

#[cfg(feature = "comm")]
use likewise_comm::CommError;

/// Why MPI could not be begun.
#[cfg(feature = "comm")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InitError {
    /// None of the libraries can be loaded.
    #[error("launched by {launcher}, but its library cannot be loaded: {}", .tried.join("; "))]
    NoLibrary {
        /// Who launched the program.
        launcher: String,
        /// Each library, and what the loader said.
        tried: Vec<String>,
    },
    /// The library lacks a function that every MPI 3 has.
    #[error("{library} has no {symbol}")]
    NoSymbol {
        /// The library.
        library: String,
        /// What it lacks.
        symbol: &'static str,
    },
    /// The library is not the launcher's, so each rank believes it is alone.
    #[error(
        "launched by {launcher} on {launched} ranks, but {mpi} ({library}) knows of {known}: \
         launch with the mpirun of {mpi}, or load the library of {launcher}"
    )]
    OtherMpi {
        /// Who launched the program.
        launcher: String,
        /// How many ranks it launched.
        launched: usize,
        /// What was loaded.
        mpi: Mpi,
        /// The library.
        library: String,
        /// How many ranks it says there are.
        known: usize,
    },
    /// A call failed.
    #[error(transparent)]
    Comm(#[from] CommError),
}
