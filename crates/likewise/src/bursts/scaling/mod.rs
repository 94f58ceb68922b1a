//! Phases of several runs of one program: which is which, and how each scales.

mod assign;
#[cfg(test)]
mod defect_tests;
mod factors;
mod group;
mod measures;
mod neighbours;
mod one_off;
mod places;
mod repeats;
mod sequence;
mod steps;
mod strays;
#[cfg(test)]
mod tests;
mod times;

pub use factors::{
    Change, Factor, FactorKind, PhaseScaling, RunFigures, Scaling, phase_figures, phase_scaling, scaling_of,
    whole_run,
};
pub use measures::{Measured, Measures, SlowTasks, ToldScaling};
pub use one_off::{Calm, OneOff, calm};
pub use repeats::{IterationsFrom, Per, PhaseRepeats, Repeats, repeats};
pub use times::{OddTasks, computing_within, lengths_may_be_alike};

use crate::cluster::{ClusterId, Clustering};
use crate::table::BurstTable;
use steps::{Nature, WorkRange};

/// A run whose bursts are grouped.
#[derive(Clone, Copy, Debug)]
pub struct RunBursts<'a> {
    /// Its bursts.
    pub table: &'a BurstTable,
    /// Those that were grouped, ascending: [`Prepared::complete`](crate::table::Prepared::complete).
    pub complete: &'a [u32],
    /// The group of each of them.
    pub clustering: &'a Clustering,
}

impl RunBursts<'_> {
    /// Threads of all tasks that compute at all. Each has a core of its own.
    #[must_use]
    pub fn threads(&self) -> u64 {
        let table = self.table;
        let thread = |i: usize| (table.app[i], table.task[i], table.thread[i]);
        (0..table.len()).filter(|&i| i == 0 || thread(i) != thread(i - 1)).count() as u64
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
    /// How well it matches the reference, from 0 to 1; see [`match_runs`].
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

/// Finds which phases of several runs are the same.
///
/// Clusterings of two runs cannot be compared by their numbers, and hardly by
/// their figures: with fewer threads there are fewer bursts, so that a phase
/// is noise in one run and a cluster in another, or part of a larger one. But
/// the sequence of a program's steps stays. So
///
/// 1. the thread with the most steps of the run with the most threads (of
///    these, the one with the most steps) gives the *places*; each other
///    thread of each run is aligned to it, burst by burst. A sequence that is a
///    whole number of times as long, of more iterations, is aligned as often:
///    what found no place, once more. Two bursts are alike if their work
///    (instructions) differs by no less than nothing and no more than the
///    threads do, which holds for strong and for weak scaling and for work that
///    every thread repeats, if their counts of kinds of instructions agree, and
///    to a lesser degree if those of cycles, misses and stalls do. What is
///    noise there and at few of its threads is no place;
/// 2. places whose bursts are in the same clusters, run by run, are a phase:
///    the clusters of all runs together decide, and the run that tells most
///    apart counts. Places that are noise in every run are phases of their
///    own. Phases that share a cluster and do the same work per burst wherever
///    both are in clusters are one: they are told apart by speed alone;
/// 3. bursts without a place join the phase of their cluster that is nearest
///    in work and traits;
/// 4. clusters without a place are assigned to phases not yet found in their
///    run so that the likeness of their figures is greatest in all, if it is
///    at least a half.
///
/// # Returns
/// The confidence of a match is the mean likeness of its aligned bursts, by
/// time, where bursts without a place count 0, over the same of the
/// reference's own bursts, 1 at most; or, if that is more, the share of its
/// bursts that stand between the same two phases as in the reference, as far as
/// it does the same, or both of those do. Of a phase without places it is the
/// likeness of its mean figures. Times the smaller over the larger number of
/// bursts per thread, against the reference, where a run that repeats all of it
/// so and so many times as often has so many times the bursts, or as many, as
/// of what is outside of the loop. A run has a confidence of 1 in itself. It is
/// no probability.
///
/// # Panics
/// If a clustering does not label just the complete bursts.
///
/// # Complexity
/// O(t·s²·d) for t threads, of which 32 per run are aligned at most, s steps
/// of each, 4,096 at most (the longest), and d counters. Results do not depend
/// on the number of threads that compute them.
///
/// # Reference
/// Llort et al., *On the usefulness of object tracking techniques in
/// performance analysis*, SC13, follow clusters from run to run as objects.
/// Differs: bursts are matched, not clusters, so that noise and clusters that
/// split or merge need no rules of their own.
///
/// # Example
/// ```
/// use likewise::bursts::scaling::{RunBursts, match_runs};
/// use likewise::cluster::{ClusterId, Clustering};
/// use likewise::table::{BurstTable, Counter, CounterColumn, Nanos};
///
/// // Two runs of one program: long and short bursts in turn on one thread.
/// let work = |i: usize| if i % 2 == 0 { 800.0 } else { 300.0 };
/// let counter = Counter { event_type: None, name: "PAPI_TOT_INS".into(), description: String::new() };
/// let table = BurstTable {
///     app: vec![1; 40],
///     task: vec![1; 40],
///     thread: vec![1; 40],
///     begin: (0..40).map(|i| Nanos(1000 * i)).collect(),
///     duration: (0..40).map(|i| Nanos(work(i) as u64)).collect(),
///     counters: vec![CounterColumn { counter, values: (0..40).map(work).collect() }],
///     code: None,
/// };
/// let complete: Vec<u32> = (0..40).collect();
/// let clusters = |swap: usize| {
///     let labels = (0..40).map(|i| Some(ClusterId::from_index((i + swap) % 2))).collect();
///     Clustering { labels, n_clusters: 2 }
/// };
/// // The second run numbers its clusters the other way round.
/// let (first, second) = (clusters(0), clusters(1));
/// let run = |clustering| RunBursts { table: &table, complete: &complete, clustering };
/// let found = match_runs(&[run(&first), run(&second)]);
/// assert_eq!(found.phases.len(), 2);
/// assert_eq!(found.phase_of[0], found.phase_of[1]);
/// ```
#[must_use]
pub fn match_runs(runs: &[RunBursts<'_>]) -> RunMatch {
    for run in runs {
        assert_eq!(run.complete.len(), run.clustering.labels.len(), "a label for every complete burst");
    }
    let natures = Nature::of_all(runs);
    let threads: Vec<u64> = runs.iter().map(RunBursts::threads).collect();
    // The most threads, of those the most steps, and of those the first.
    let steps = |r: usize| steps::threads(&runs[r]).iter().map(|s| s.bursts.len()).max();
    let reference = (0..runs.len()).rev().max_by_key(|&r| (threads[r], steps(r))).unwrap_or(0);
    let ranges: Vec<WorkRange> =
        threads.iter().map(|&of_run| WorkRange::between(of_run.max(1), threads[reference].max(1))).collect();
    let places = places::places(runs, &natures, &ranges, reference);
    group::phases(&group::Inputs { runs, natures: &natures, threads: &threads, reference, places: &places })
}
