//! Effort of ranks, sampled while a program runs: what of stratified trace
//! sampling (Gamblin et al., *Clustering Performance Data Efficiently at
//! Massive Scales*, ICS 2010, §4–6) each rank of the program does. It calls no
//! MPI: ranks work together over a [`Communicator`](likewise_comm::Communicator).
//!
//! A [`Sampler`] on every rank is told the rank's effort in each step. Every few
//! steps ([`Options::every`]), the ranks group themselves into strata, and each
//! stratum draws a sample. Rank 0 is given the effort of the sampled ranks as
//! the bytes of a [`Window`](likewise_recording::Window), which go into a
//! recording by [`strata_section`](likewise_recording::file::strata_section).
//! `docs/strata.md` has the method, what differs from the paper, and what was
//! measured.
//!
//! # Example
//! ```
//! use likewise_comm::{Communicator, run_on_threads};
//! use likewise_recording::Window;
//! use likewise_strata::{Options, Sampler, StrataError};
//!
//! // 200 ranks; every tenth does five times the work.
//! let windows = run_on_threads(200, |comm| {
//!     let mut sampler = Sampler::new(Options { every: 4, ..Options::default() })?;
//!     let mut windows = Vec::new();
//!     for step in 0..8 {
//!         let ns = if comm.rank() % 10 == 0 { 5_000_000 } else { 1_000_000 } + comm.rank() as u64 + step;
//!         if sampler.step(&[(7, ns)]) {
//!             windows.extend(sampler.adapt(comm, |_| "solve".to_owned())?.window);
//!         }
//!     }
//!     windows.extend(sampler.finish(comm, |_| "solve".to_owned())?.window);
//!     Ok::<_, StrataError>(windows)
//! })?;
//! let window = Window::decode(&windows[0][1])?;
//! assert_eq!((window.n_strata(), window.sampled.len(), window.first_step), (2, 4, 4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agree;
mod alone;
mod effort;
mod plan;
mod sampler;

use likewise::cluster::medoids::capek::CapekError;
use likewise_comm::CommError;

pub use sampler::{Adapted, Sampler};

/// What is asked of a sample. All ranks give the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Steps in a window: strata and samples are adapted after each.
    pub every: usize,
    /// How far the estimated mean effort may be off: a share of it.
    pub error: f64,
    /// The chance that it is not farther off.
    pub confidence: f64,
    /// Strata, at most.
    pub k_max: usize,
    /// A stratum gives at least as many ranks, or all that it has. From 2 on,
    /// the sample itself tells its spread.
    pub at_least: usize,
    /// Regions that are told apart, at most: those of most effort over all ranks.
    pub regions: usize,
    /// What samples are drawn by.
    pub seed: u64,
}

impl Default for Options {
    /// 16 steps, 5% at 95%, up to 8 strata of 2 ranks or more, 32 regions.
    fn default() -> Self {
        Self { every: 16, error: 0.05, confidence: 0.95, k_max: 8, at_least: 2, regions: 32, seed: 0 }
    }
}

/// Why there is no sample. The same on every rank, but for [`StrataError::Comm`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StrataError {
    /// What was asked for is impossible.
    #[error("{option} is {value}; it must be {wanted}")]
    Option {
        /// What.
        option: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        wanted: &'static str,
    },
    /// Ranks have not made equally many steps. What they had told of them is
    /// dropped; the next window begins now.
    #[error(
        "ranks have made from {least} to {most} steps since the last adaption, which must be equally many"
    )]
    Steps {
        /// The fewest.
        least: u64,
        /// The most.
        most: u64,
    },
    /// No strata could be made.
    #[error(transparent)]
    Capek(#[from] CapekError),
    /// The ranks could not work together.
    #[error(transparent)]
    Comm(#[from] CommError),
}

impl Options {
    fn check(&self) -> Result<(), StrataError> {
        let bad = |option, value: &dyn ToString, wanted| {
            Err(StrataError::Option { option, value: value.to_string(), wanted })
        };
        if !(self.error > 0.0 && self.error.is_finite()) {
            return bad("the error", &self.error, "a positive share, such as 0.05");
        }
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return bad("the confidence", &self.confidence, "between 0 and 1, such as 0.95");
        }
        let counts = [
            ("the number of steps in a window", self.every),
            ("the greatest number of strata", self.k_max),
            ("the least number of ranks of a stratum", self.at_least),
            ("the number of regions", self.regions),
        ];
        match counts.into_iter().find(|(_, n)| *n == 0) {
            Some((option, n)) => bad(option, &n, "at least 1"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
