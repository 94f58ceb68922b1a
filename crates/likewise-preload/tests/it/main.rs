//! The preload library in programs that MPI's launchers start.

mod counts;
mod log;
mod programs;
