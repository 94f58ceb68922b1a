//! Phases of several runs of one program: which is which, and how each scales.

mod assign;
mod by_calls;
mod by_work;
mod code;
mod cpu;
#[cfg(test)]
mod defect_tests;
mod factors;
mod group;
mod lone;
mod matched;
mod measured;
mod measures;
mod neighbours;
mod one_off;
mod places;
mod ratios;
#[cfg(test)]
mod ratios_tests;
mod repeats;
mod sequence;
mod spread;
#[cfg(test)]
mod step_tests;
mod steps;
mod strays;
#[cfg(test)]
mod tests;
mod threads;
mod times;
mod told;

pub use by_calls::{match_by_calls, match_by_code};
pub use by_work::match_by_work;
pub use factors::{
    Change, CpuChange, Factor, FactorKind, PhaseScaling, RunFigures, Scaling, phase_scaling, scaling_of,
    whole_run,
};
pub use lone::SERIAL_SHARE;
pub use matched::{Evidence, MatchedPhase, PhaseInRun, RunBursts, RunMatch};
pub use measured::{InCpu, Measured};
pub use measures::{Measures, SlowTasks};
pub use neighbours::{AlikeBy, phases_between};
pub use one_off::{Calm, OneOff, calm};
pub use repeats::{IterationsFrom, Per, PhaseRepeats, Repeats, is_same_work, repeats, repeats_in_no_order};
pub use times::{OddTasks, computing_within, lengths_may_be_alike};
pub use told::{ToldScaling, Untold};

use steps::{Nature, WorkRange};

/// Finds which phases of several runs are the same.
///
/// Clusterings of two runs cannot be compared by their numbers, and hardly by
/// their figures: with fewer threads there are fewer bursts, so that a phase
/// is noise in one run and a cluster in another, or part of a larger one. But
/// the sequence of a program's steps stays. So
///
/// 1. One thread of the reference gives the *places* of the program's sequence:
///    its longest thread. (The reference is the run with the most threads; of
///    several, the one whose longest thread has the most steps.) Every other
///    thread of every run is aligned to it, burst by burst. A run with more
///    iterations has a longer sequence: what found no place is aligned again,
///    until all has a place or nothing more fits. Two bursts match if the ratio
///    of their instructions lies between 1 (weak scaling, or work that every
///    thread repeats) and the ratio of the thread counts (strong scaling), and
///    if their counts of each kind of instruction agree; cycles, misses and
///    stalls count less. A step of the reference that is noise there, and is on
///    less than half of its threads, is no place, unless it takes 1 % of the run
///    or more while no other thread computes.
/// 2. Places whose bursts are in the same clusters, run by run, are one phase.
///    So two places are two phases as soon as one run tells them apart. Places
///    that are noise in every run are phases of their own. Phases that share a
///    cluster in some run, and do the same work per burst in every run that has
///    both in clusters, become one: only their speed differs.
/// 3. A burst without a place joins, among the phases of its cluster, the one
///    that is nearest in work and traits.
/// 4. A cluster without a place is matched by its mean figures with a phase that
///    its run lacks, if they are alike by a half at least. All such clusters are
///    assigned together, so that the sum of the likenesses is greatest.
/// 5. Noise joins the phase that its thread has otherwise between the same two phases
///    ([`phases_between`]).
///
/// # Returns
/// The confidence of a match, 0 to 1, is a product of two. It is no probability.
///
/// - How alike the phase is to that of the reference: the greater of two
///   numbers. The first is the mean likeness of its aligned bursts, weighted by
///   time (a burst without a place counts 0), over the same mean of the
///   reference's own bursts, at most 1. The second is the share of its bursts
///   that stand between the same two phases as in the reference; it counts as
///   far as this phase, or both of those two, do the same work as there. For a
///   phase without places it is the likeness of the mean figures.
/// - How well the numbers of bursts per thread agree: the smaller over the
///   larger. A run that repeats the loop k times as often may have k times as
///   many bursts (a phase of the loop) or as many (a phase outside of it).
///
/// The reference has a confidence of 1 in itself.
///
/// # Panics
/// If a clustering does not label just the complete bursts.
///
/// # Complexity
/// O(n log n + t·s²·d) for n bursts, t threads, of which 32 per run are aligned
/// at most (64 where some have other clusters), s steps of each, 4,096 at most (stretches of
/// longer threads), and d counters. Results do not depend on the number of
/// threads that compute them.
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
/// use likewise::table::{BurstTable, Counter, CounterColumn, Nanos, Rows};
///
/// // Two runs of one program: long and short bursts in turn on one thread.
/// let work = |i: usize| if i % 2 == 0 { 800.0 } else { 300.0 };
/// let counter = Counter { event_type: None, name: "PAPI_TOT_INS".into(), description: String::new() };
/// let table = BurstTable {
///     app: vec![1; 40].into(),
///     task: vec![1; 40].into(),
///     thread: vec![1; 40].into(),
///     begin: (0..40).map(|i| Nanos(1000 * i)).collect(),
///     duration: (0..40).map(|i| Nanos(work(i) as u64)).collect(),
///     counters: vec![CounterColumn { counter, values: (0..40).map(work).collect() }],
///     code: None,
/// };
/// let complete = Rows::first(40);
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
    let reference = reference(runs);
    let ranges: Vec<WorkRange> =
        threads.iter().map(|&of_run| WorkRange::between(of_run.max(1), threads[reference].max(1))).collect();
    let places = places::places(runs, &natures, &ranges, reference);
    group::phases(&group::Inputs { runs, natures: &natures, threads: &threads, reference, places: &places })
}

/// The run with the most threads, of those the one with the most steps, and of those the first.
fn reference(runs: &[RunBursts<'_>]) -> usize {
    let size = |&r: &usize| (runs[r].threads(), threads::most_steps(&runs[r]));
    (0..runs.len()).rev().max_by_key(size).unwrap_or(0)
}
