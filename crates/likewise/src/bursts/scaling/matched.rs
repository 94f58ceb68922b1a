//! Runs, and the phases that they have in common.

use crate::cluster::{ClusterId, Clustering};
use crate::table::{BurstTable, Rows};

/// A run whose bursts are grouped.
#[derive(Clone, Copy, Debug)]
pub struct RunBursts<'a> {
    /// Its bursts.
    pub table: &'a BurstTable,
    /// Those that were grouped, ascending: [`Prepared::complete`](crate::table::Prepared::complete).
    pub complete: &'a Rows,
    /// The group of each of them.
    pub clustering: &'a Clustering,
}

impl RunBursts<'_> {
    /// Threads of all tasks that compute at all. Each has a core of its own.
    #[must_use]
    pub fn threads(&self) -> u64 {
        self.table.threads().count() as u64
    }
}

/// Why a phase of one run is taken for one of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The others are compared with this one.
    Reference,
    /// It stands at the same places of the program's sequence.
    Sequence,
    /// It does alike: work, counts per work, and how often.
    Figures,
    /// It lies between the same calls.
    Calls,
    /// It runs the same parallel function, or lies outside of regions between the same two.
    Code,
}

/// A phase in one of the runs.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseInRun {
    /// Clusters of that run its bursts are in, the most frequent first. One
    /// cluster may hold bursts of several phases, where that run could not
    /// tell them apart.
    pub clusters: Vec<ClusterId>,
    /// How many of its bursts are noise in that run: they are too few to be
    /// a cluster there, and known by their place alone.
    pub noise: u64,
    /// How well it matches the reference, from 0 to 1; see [`match_runs`](super::match_runs).
    pub confidence: f64,
    /// What it rests on.
    pub evidence: Evidence,
}

/// A phase of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchedPhase {
    /// Of each run, in the order given; `None` where it was not found.
    pub runs: Vec<Option<PhaseInRun>>,
}

/// The phases that runs have in common, and those they do not.
#[derive(Clone, Debug, PartialEq)]
pub struct RunMatch {
    /// The run that the others were compared with.
    pub reference: usize,
    /// By descending share of a run's time, the largest over the runs.
    pub phases: Vec<MatchedPhase>,
    /// Of each run and each of its complete bursts, the phase; `None` is left
    /// over.
    pub phase_of: Vec<Vec<Option<u32>>>,
}
