//! `liblikewise_preload.so`: records the MPI program into which it is
//! preloaded.
//!
//! One library serves programs in C, C++, Fortran (`mpif.h`, `use mpi`,
//! `mpi_f08`) and Python, with Open MPI, MPICH and libraries of the standard's
//! own binary interface. It exports the calls of the table in
//! `likewise-recording` under their three names, but for those that an MPI may
//! lack (see `attach`); a stub hands the arguments, as machine words, to
//! `handler`, which calls the MPI's own function and records the call. `likewise record` sets the environment; by hand:
//!
//! ```text
//! LD_PRELOAD=liblikewise_preload.so LIKEWISE_DIR=out mpirun -n 4 ./program
//! ```
//!
//! | variable | what it says |
//! |---|---|
//! | `LIKEWISE_DIR` | the folder for the recording; without it nothing is recorded |
//! | `LIKEWISE_TIMES` | `histogram` (as without it) or `all` |
//! | `LIKEWISE_COUNTERS` | see `counters.rs` |
//! | `LIKEWISE_MODE` | `full` (as without it, but memory and bytes are counted), `leads` or `strata`, see `online` |
//! | `LIKEWISE_MARKER` | `auto` (as without it), `pcontrol`, `MPI_Name`, or `MPI_Name@` and the first digits of a call path's hash |
//! | `LIKEWISE_EVERY` | each so many markers; without it as seldom as `LIKEWISE_OVERHEAD` asks for |
//! | `LIKEWISE_OVERHEAD` | the share of the run that markers may take: 0.02 |
//! | `LIKEWISE_K`, `LIKEWISE_SELECT` | how many leads (9), and how they are chosen: `farthest`, `medoids`, `random` |
//! | `LIKEWISE_PARAMETERS` | 1: ranks with other parameters are no group |
//! | `LIKEWISE_WINDOW`, `LIKEWISE_ERROR` | in mode `strata`: steps from one adaption to the next (16), and how far the estimated mean effort may be off (0.05) |
//! | `LIKEWISE_PATIENCE` | the longest that ranks wait for each other at a marker, in seconds: 10 |
//! | `LIKEWISE_PROGRESS` | 1: rank 0 says now and then in which state the run is |
//! | `LIKEWISE_RAW` | 1: every event also as a line of `raw-RANK.log`, for tests |
//! | `LIKEWISE_VERIFY` | 1: every call path is also unwound, and differences are counted |
//!
//! What it does must not change the program: before the first MPI call nothing
//! happens but what `attach` does to an MPI, no panic leaves `handler`, and whatever fails ends the recording
//! and not the program. In a process that was forked nothing is recorded. All
//! ranks of a job must have it: they agree on a number in `MPI_Init`.
//!
//! # What it links
//! `libc` (the C library's functions: `dlsym`, `dl_iterate_phdr`, `mmap`,
//! `perf_event_open`), `likewise-recording` (the table of calls and the
//! compression, without dependencies), `likewise-comm`, `likewise-online` and
//! `likewise-strata` (clustering while the program runs; the last with
//! `likewise`, of which it has wavelets and CAPEK), and of `likewise-mpi` the
//! modules that find and bind an MPI. The library itself needs the C library and
//! libgcc's unwinder, which every program of Rust and C++ has. It needs no MPI.
//!
//! On processors other than x86-64 the library is empty: the stubs are written
//! for its calling convention alone.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod arguments;
mod attach;
mod clock;
mod completion;
mod counters;
mod decode;
mod effort;
mod elf;
mod gather;
mod handler;
mod hash;
mod job;
mod life;
mod limit;
mod link;
mod memory;
mod modes;
mod modules;
mod objects;
mod online;
mod out;
mod path;
mod plan;
mod raw;
mod real;
mod requests;
mod settings;
mod state;
mod stubs;
mod thread;
mod watch;

/// In which language a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// C, or a Fortran library that calls it.
    C,
    /// `mpif.h` and `use mpi`.
    Fortran,
    /// `use mpi_f08`.
    Fortran2008,
}
