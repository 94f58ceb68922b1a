//! Ranks of an MPI program as a [`Communicator`](likewise_comm::Communicator).
//!
//! Building this needs no MPI. The functions are looked up when the program
//! runs: in the MPI that the program already has, or else in that of the
//! launcher (`mpirun`). One binary serves Open MPI and MPICH. Only `PMPI_`
//! names are called, so that no tool that records MPI calls sees ours.

mod comm;
mod launcher;
mod library;
mod raw;

pub use comm::MpiComm;
pub use launcher::Launcher;
pub use library::Mpi;
pub use raw::{Constants, Function, Raw};

use likewise_comm::CommError;

/// Why MPI could not be begun.
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
