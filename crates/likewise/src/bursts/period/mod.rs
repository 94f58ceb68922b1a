//! The period of a run: whether its phases come again in the same order, and
//! where each iteration begins.
//!
//! # Steps
//! 1. Time becomes work (`clock`): each burst counts as the median of its
//!    phase, and what waits does not count. Iterations that an odd burst of
//!    one task holds up are then as long as all others.
//! 2. Each of the longest phases is a signal, and the peaks of their
//!    autocorrelations are the lags that may be the period (`signal`).
//! 3. For each phase and lag, the begins of that phase that are a lag apart
//!    make iterations, and the longest stretch of iterations that are alike,
//!    phase by phase and part by part, is kept (`iterations`).
//! 4. Of these, the one that explains most of the run is the period; of those
//!    that are about as good, the shortest whose iterations are about as alike,
//!    in parts of the same length.
//! 5. If these are not nearly equal, all is done once more by a clock for which bursts of no
//!    phase are nothing, and kept if its iterations are more alike.
//! 6. Each iteration begins just before its phase, where the least is cut.
//! 7. Nothing is claimed if threads do most of what the loop does at other times (`shared`).

mod clock;
mod iterations;
mod order;
mod shared;
mod signal;
mod turns;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::cluster::ClusterId;
use crate::table::{BurstTable, Nanos};
use clock::{Noise, WorkClock};
use iterations::{Iterations, LEAST_ITERATIONS, Stretch, boundaries};
pub use order::find_period_in_order;
use signal::Signals;

/// At most so many phases are looked at: those with the most time.
const PHASES: usize = 16;
/// The signal has so many cells for each burst of a thread, within bounds.
const CELLS_PER_BURST: usize = 4;
const CELLS: (usize, usize) = (1 << 14, 1 << 20);
/// A region that repeats holds this share of the run's work.
const LEAST_COVERAGE: f64 = 0.2;
/// Iterations must be at least this alike; if they are few, more so, because few
/// may be alike by chance.
const LEAST_CONFIDENCE: f64 = 0.75;
const LEAST_CONFIDENCE_OF_FEW: f64 = 0.9;
const FEW: usize = 5;
/// A shorter period wins if it is at least this share as good as the best, and its
/// iterations at least this share as alike. The second condition keeps whole what
/// takes two steps: where every second step does more work, single steps are less
/// alike, and two of them are one iteration.
const AS_GOOD: f64 = 0.95;
/// Iterations that correlate by this are nearly equal; and what explains this share of what
/// another explains does as much.
const NEARLY: f64 = 0.95;
/// Cuts that cost more than the least by no more than this share of an iteration are as
/// good: then more iterations are better. Where phases take turns with waits of all threads between
/// them, those that begin with the last phase lack the first iteration.
const LITTLE: f64 = 0.01;
/// The first or the last iteration is odd if its likeness to the others falls short of 1 by more
/// than this, and by so many times as much as where iterations begin elsewhere; or if it takes
/// less than this share of the median. Of 11 made-up runs of known steps, cuts into the right
/// number have an end that falls short by 0.002 at the most and is at least 0.99 as long (their last
/// may have the end of the run in it, and fall short by 0.27). Of cuts into one more, both ends fall
/// short by 0.016 or more, or are 0.88 as long at the most.
const ODD_ENDS: f64 = 0.01;
const MUCH_ODDER: f64 = 10.0;
const SHORT: f64 = 0.9;
/// The part of an iteration in which its begin is moved to where less is cut.
const REACH: f64 = 0.1;

/// A region of the run that repeats itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Period {
    /// When each iteration begins, ascending, and when the last ends.
    pub boundaries: Vec<Nanos>,
    /// How alike the iterations are: the mean correlation of what each does,
    /// phase by phase and part by part, with the others; at most 1.
    pub confidence: f64,
    /// Share of the run's work that the region holds, each burst counting as
    /// the median of its phase.
    pub coverage: f64,
    /// The phase that iterations begin with.
    pub anchor: ClusterId,
}

impl Period {
    /// How many whole iterations there are.
    #[must_use]
    pub fn n_iterations(&self) -> usize {
        self.boundaries.len() - 1
    }

    /// The share of the run's work that is in the region, times the share of what happens
    /// within an iteration that the others explain.
    #[must_use]
    pub fn explained(&self) -> f64 {
        self.coverage * self.confidence * self.confidence
    }

    /// Whether its iterations are nearly equal.
    #[must_use]
    pub fn is_nearly_equal(&self) -> bool {
        self.confidence >= NEARLY
    }

    /// Whether its iterations are more alike than those of another, and explain about as much.
    #[must_use]
    pub fn is_better_than(&self, other: &Self) -> bool {
        self.confidence > other.confidence && self.explained() >= NEARLY * other.explained()
    }

    /// When the first iteration begins and the last ends. What is before is
    /// the prologue, what is behind the epilogue.
    #[must_use]
    pub fn region(&self) -> (Nanos, Nanos) {
        (self.boundaries[0], self.boundaries[self.n_iterations()])
    }

    /// How long each iteration takes.
    #[must_use]
    pub fn lengths(&self) -> Vec<Nanos> {
        self.boundaries.windows(2).map(|ends| ends[1].saturating_sub(ends[0])).collect()
    }

    /// How long an iteration takes: the median, which one that was held up does
    /// not change; of an even number the lower one.
    #[must_use]
    pub fn median(&self) -> Nanos {
        let mut lengths = self.lengths();
        lengths.sort_unstable();
        crate::median::lower(&lengths).unwrap_or(Nanos::ZERO)
    }

    /// How long an iteration takes on average.
    #[must_use]
    pub fn length(&self) -> Nanos {
        let (from, to) = self.region();
        Nanos(to.saturating_sub(from).0 / self.n_iterations() as u64)
    }
}

/// Why a run has no period.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum NotPeriodic {
    /// No burst has a phase.
    #[error("no burst belongs to a phase")]
    NoPhase,
    /// Nothing comes again at even distances, with something else between: of bursts of one phase
    /// alone, one after the other, no begin shows over work.
    #[error(
        "no phase or place was found to come again, after other work, at even distances of work, \
         {LEAST_ITERATIONS} times or more and over {:.0}% of it",
        100.0 * LEAST_COVERAGE
    )]
    NothingRepeats,
    /// What comes again is too little, or too little alike.
    #[error(
        "what repeats best are {iterations} iterations of {:.1}% of the work that correlate by {confidence:.2}; \
         a period is claimed from {:.0}% of the work and {LEAST_CONFIDENCE} on ({LEAST_CONFIDENCE_OF_FEW} for \
         fewer than {FEW} iterations)", 100.0 * .coverage, 100.0 * LEAST_COVERAGE
    )]
    Weak {
        /// How many.
        iterations: usize,
        /// As in [`Period`].
        confidence: f64,
        /// As in [`Period`].
        coverage: f64,
    },
    /// Threads by themselves repeat, but not equally often.
    #[error(
        "threads do not repeat equally often: of {of} threads looked at, {threads} have {iterations} iterations, the \
         most frequent number, and a period is claimed where more than half of them have the same"
    )]
    Apart {
        /// How many threads have the most frequent number.
        threads: usize,
        /// How many were looked at.
        of: usize,
        /// The most frequent number of iterations.
        iterations: usize,
    },
    /// Threads do most of what the loop does at other times.
    #[error(
        "what repeats best are {iterations} iterations, but {threads} of {of} threads take part in fewer than half of \
         them, and do the same mostly at other times"
    )]
    NotTogether {
        /// How many iterations there would be.
        iterations: usize,
        /// How many threads do most of it at other times.
        threads: usize,
        /// How many do it at all.
        of: usize,
    },
}

/// Finds the period of a run, the part of the run that repeats, and its
/// iterations.
///
/// `labels` has the phase of every burst of the table; bursts without one are
/// noise or filtered. Phases are numbered by descending time, as
/// [`Clustering::ordered_by`](crate::cluster::Clustering::ordered_by) does:
/// the first 16 are looked at.
///
/// # Returns
/// At least three whole iterations that hold a fifth of the run's work or
/// more. A program that repeats a thing within a thing has two periods, and
/// the one that explains more of the run is returned.
///
/// # Errors
/// [`NotPeriodic`] says what is missing.
///
/// # Panics
/// If there is not one label for each burst.
///
/// # Complexity
/// O(n log n) for n bursts, and O(p·c log c) for p phases and c cells: four
/// for each burst of a thread, 2^20 at most. In parallel; results do not
/// depend on the number of threads.
///
/// # Reference
/// *Applications structure detection using cluster analysis* (BSC), §4.2:
/// phases and signal processing reduce the input of a simulation. It does not
/// say how; the method is ours.
///
/// # Example
/// ```
/// use likewise::bursts::find_period;
/// use likewise::cluster::ClusterId;
/// use likewise::table::{BurstTable, Nanos};
///
/// // Two phases in turn, on one thread.
/// let table = BurstTable {
///     app: vec![1; 40].into(),
///     task: vec![1; 40].into(),
///     thread: vec![1; 40].into(),
///     begin: (0..40).map(|i| Nanos(100 * i)).collect(),
///     duration: (0..40).map(|i| Nanos(if i % 2 == 0 { 80 } else { 30 })).collect(),
///     ..BurstTable::default()
/// };
/// let labels: Vec<_> = (0..40).map(|i| Some(ClusterId::from_index(i % 2))).collect();
/// let period = find_period(&table, &labels)?;
/// assert_eq!(period.median(), Nanos(200));
/// assert!(period.n_iterations() >= 18 && period.confidence > 0.9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn find_period(table: &BurstTable, labels: &[Option<ClusterId>]) -> Result<Period, NotPeriodic> {
    assert_eq!(table.len(), labels.len(), "a label for every burst");
    let n_phases = labels.iter().flatten().map(|id| id.index() + 1).max().ok_or(NotPeriodic::NoPhase)?;
    let by_clock = |noise| by_clock(table, labels, n_phases, noise);
    let found = by_clock(Noise::Counts);
    if found.as_ref().is_ok_and(Period::is_nearly_equal) || !labels.contains(&None) {
        return found;
    }
    match (found, by_clock(Noise::IsNothing)) {
        (Err(_), Ok(other)) => Ok(other),
        (Ok(found), Ok(other)) if other.is_better_than(&found) => Ok(other),
        (found, _) => found,
    }
}

/// The same by one clock.
fn by_clock(
    table: &BurstTable,
    labels: &[Option<ClusterId>],
    n_phases: usize,
    noise: Noise,
) -> Result<Period, NotPeriodic> {
    let (clock, bursts) = WorkClock::of(table, labels, (n_phases, n_phases.min(PHASES)), noise);
    let end = clock.end();
    if end <= 0.0 {
        return Err(NotPeriodic::NothingRepeats);
    }
    let wanted = CELLS_PER_BURST * (table.len() / n_threads(table));
    let n_cells = wanted.next_power_of_two().clamp(CELLS.0, CELLS.1);
    let (signals, lags) = Signals::of(&bursts, end, n_cells);
    let stretches: Vec<Vec<Stretch>> = bursts.par_iter().map(|own| Stretch::of_bursts(own)).collect();
    drop(bursts);
    let candidates: Vec<(usize, f64)> = lags
        .into_iter()
        .enumerate()
        .flat_map(|(phase, lags)| lags.into_iter().map(move |lag| (phase, lag)))
        .collect();
    let begins = |(phase, lag): (usize, f64)| {
        Some((phase, boundaries(&stretches[phase], lag, (end, LEAST_COVERAGE))?))
    };
    let mut chains: Vec<(usize, Vec<f64>)> = candidates.into_par_iter().filter_map(begins).collect();
    // Lags that are nearly the same lead to the same begins.
    chains.dedup();
    let found: Vec<Iterations> =
        chains.par_iter().filter_map(|(phase, chain)| Iterations::alike(*phase, chain, &signals)).collect();
    let best = select(found, &signals, &clock)?;
    let period = Period {
        boundaries: best.cuts,
        confidence: best.iterations.confidence.min(1.0),
        coverage: best.iterations.work() / end,
        anchor: ClusterId::from_index(best.iterations.anchor),
    };
    shared::together(period, table, labels)
}

/// Iterations, and when to cut between them.
struct Selected {
    iterations: Iterations,
    cuts: Vec<Nanos>,
}

/// The iterations that explain most; of those that are about as good the most
/// alike, of these the shortest. Of about equally short ones without odd ends it is the most
/// iterations, of those between which hardly more is cut than between any others.
///
/// All are compared by parts that are as long as those of the longest among the best: in longer
/// parts iterations are more alike, and several of them, with longer parts than one, would be
/// better than one.
fn select(found: Vec<Iterations>, signals: &Signals, clock: &WorkClock<'_>) -> Result<Selected, NotPeriodic> {
    let end = clock.end();
    let convinces = |it: &Iterations| {
        let least = if it.n() < FEW { LEAST_CONFIDENCE_OF_FEW } else { LEAST_CONFIDENCE };
        it.confidence >= least && it.work() / end >= LEAST_COVERAGE
    };
    let score = |it: &Iterations| it.score(it.confidence, end);
    let by_score = |a: &&Iterations, b: &&Iterations| score(a).total_cmp(&score(b));
    let Some(best) = found.iter().filter(|it| convinces(it)).max_by(by_score).map(score) else {
        let weak = found.iter().max_by(by_score).ok_or(NotPeriodic::NothingRepeats)?;
        return Err(NotPeriodic::Weak {
            iterations: weak.n(),
            confidence: weak.confidence,
            coverage: weak.work() / end,
        });
    };
    let convincing: Vec<Iterations> = found.into_iter().filter(convinces).collect();
    let longest = convincing.iter().filter(|it| score(it) >= AS_GOOD * best);
    let part = longest.map(|it| it.part(signals)).fold(0.0, f64::max);
    let in_part = |it: Iterations| (it.confidence_in(part, signals), it);
    let compared: Vec<(f64, Iterations)> = convincing.into_par_iter().map(in_part).collect();
    let best = compared.iter().map(|(alike, it)| it.score(*alike, end)).fold(0.0, f64::max);
    let good: Vec<(f64, Iterations)> =
        compared.into_iter().filter(|(alike, it)| it.score(*alike, end) >= AS_GOOD * best).collect();
    let surest = good.iter().map(|(alike, _)| *alike).fold(0.0, f64::max);
    let as_alike = good.into_iter().filter(|(alike, _)| *alike >= AS_GOOD * surest);
    let as_alike: Vec<Iterations> = as_alike.map(|(_, it)| it).collect();
    let shortest = as_alike.iter().map(Iterations::period).fold(f64::INFINITY, f64::min);
    let as_short = as_alike.into_iter().filter(|it| it.period() <= shortest * (1.0 + REACH));
    let with_cuts = as_short.map(|iterations| {
        let (cuts, cost) = cuts(&iterations, clock);
        (cost / iterations.n() as u64, Selected { iterations, cuts })
    });
    let with_cuts = without_odd_ends(with_cuts.collect());
    let least = with_cuts.iter().map(|(cost, _)| *cost).min().unwrap_or(0);
    let is_little = |(cost, of): &(u64, Selected)| (cost - least) as f64 <= LITTLE * of.iterations.period();
    let best = with_cuts.into_iter().filter(is_little);
    let best = best.min_by_key(|(cost, of)| (std::cmp::Reverse(of.iterations.n()), *cost));
    best.map(|(_, selected)| selected).ok_or(NotPeriodic::NothingRepeats)
}

/// Those of which not both the first and the last are odd, unless all are so: unlike the others,
/// or short. Iterations that begin in the middle of a step have a start-up in the first, and the
/// end of the run in the last, and are one more than the steps. (The last may have that in any
/// case.)
fn without_odd_ends(mut found: Vec<(u64, Selected)>) -> Vec<(u64, Selected)> {
    let odder = |of: &Selected| of.iterations.odd_ends.into_iter().fold(0.0, f64::max);
    let least = found.iter().map(|(_, of)| odder(of)).fold(f64::INFINITY, f64::min);
    let limit = ODD_ENDS.max(MUCH_ODDER * least);
    let are_odd = |of: &Selected| {
        let lengths: Vec<u64> = of.cuts.windows(2).map(|ends| ends[1].saturating_sub(ends[0]).0).collect();
        let mut ascending = lengths.clone();
        ascending.sort_unstable();
        let short = SHORT * crate::median::lower(&ascending).unwrap_or(0) as f64;
        let mut ends = of.iterations.odd_ends.into_iter().zip([0, lengths.len() - 1]);
        ends.all(|(odd, end)| odd > limit || (lengths[end] as f64) < short)
    };
    if found.iter().any(|(_, of)| !are_odd(of)) {
        found.retain(|(_, of)| !are_odd(of));
    }
    found
}

/// When iterations begin and the last ends, and what it costs to cut there.
fn cuts(iterations: &Iterations, clock: &WorkClock<'_>) -> (Vec<Nanos>, u64) {
    let reach = REACH * iterations.period();
    let cut = |&boundary: &f64| clock.best_cut_before(boundary, reach);
    let (cuts, costs): (Vec<u64>, Vec<u64>) = iterations.boundaries.par_iter().map(cut).unzip();
    (cuts.into_iter().map(Nanos).collect(), costs.into_iter().fold(0, u64::saturating_add))
}

/// How many threads have bursts.
fn n_threads(table: &BurstTable) -> usize {
    table.threads().count().max(1)
}

#[cfg(test)]
mod tests;
