//! The preload library in programs that MPI's launchers start.

mod asks;
mod counts;
mod life;
mod log;
mod online;
mod programs;
mod strata;
