//! What a burst is like, in terms that hold in every run.

use super::matched::RunBursts;
use crate::cluster::ClusterId;
use crate::table::CounterColumn;

/// Two groups of places can be one phase only if ln(work) per burst differs by
/// less than this in every run that has both in clusters.
pub(super) const SAME_WORK: f64 = 0.1;
/// … and only if their traits differ by less than this, in the mean, in a run
/// that has both in one cluster.
pub(super) const SAME_TRAITS: f32 = 0.1;

/// The counters of instructions and cycles, where a run has them.
pub(super) fn instructions<'a>(run: &RunBursts<'a>) -> Option<&'a CounterColumn> {
    run.table.counter("PAPI_TOT_INS").or_else(|| run.table.counter("42000050"))
}

pub(super) fn cycles<'a>(run: &RunBursts<'a>) -> Option<&'a CounterColumn> {
    run.table.counter("PAPI_TOT_CYC").or_else(|| run.table.counter("42000059"))
}

/// The complete bursts of a run by what they did.
///
/// The amount of *work* (instructions, or time where a run lacks them) grows
/// and shrinks with the number of threads; *traits*, what happens per unit of
/// work, hardly do.
#[derive(Clone, Debug)]
pub(super) struct Nature {
    /// ln(work) of each complete burst.
    pub(super) work: Vec<f64>,
    /// `n × d`, row-major: ln(count per work), cycles included; `NaN` where a
    /// burst lacks the counter. First those that tell what code it is.
    traits: Vec<f32>,
    d: usize,
    /// How many of them tell what code it is.
    of_code: usize,
}

/// Whether a counter counts instructions of one kind. The same code executes the
/// same number of them, however long it takes; cycles, misses, stalls and
/// mispredictions tell how fast it went.
fn is_of_code(name: &str) -> bool {
    name.ends_with("_INS") || name.ends_with("_OPS")
}

impl Nature {
    /// Of every run, by the counters that all have.
    pub(super) fn of_all(runs: &[RunBursts<'_>]) -> Vec<Self> {
        let by_instructions = runs.iter().all(|run| instructions(run).is_some());
        let is_work = |c: &CounterColumn, run: &RunBursts<'_>| {
            by_instructions && instructions(run).is_some_and(|w| std::ptr::eq(w, c))
        };
        let Some(first) = runs.first() else { return Vec::new() };
        let in_all = |c: &&CounterColumn| {
            !is_work(c, first) && runs.iter().all(|run| run.table.counter(&c.counter.name).is_some())
        };
        let mut names: Vec<&str> =
            first.table.counters.iter().filter(in_all).map(|c| c.counter.name.as_str()).collect();
        names.sort_by_key(|name| !is_of_code(name));
        runs.iter().map(|run| Self::of(run, by_instructions, &names)).collect()
    }

    fn of(run: &RunBursts<'_>, by_instructions: bool, names: &[&str]) -> Self {
        let duration = |i: usize| run.table.duration[i].0 as f64;
        let work = instructions(run).filter(|_| by_instructions);
        // A burst without its instructions is told by its time.
        let work = |i: usize| {
            let count = work.map_or_else(|| duration(i), |c| c.values.get(i));
            if count.is_finite() { count.max(1.0).ln() } else { duration(i).max(1.0).ln() }
        };
        let columns: Vec<&CounterColumn> = names.iter().filter_map(|name| run.table.counter(name)).collect();
        let work: Vec<f64> = run.complete.iter().map(|i| work(i as usize)).collect();
        // One more than was counted, so that none is a number as well.
        let per_work = |(i, work): (u32, &f64)| {
            let work = *work;
            let traits = columns.iter().map(move |c| ((c.values.get(i as usize) + 1.0).ln() - work) as f32);
            traits.collect::<Vec<_>>()
        };
        let traits = run.complete.iter().zip(&work).flat_map(per_work).collect();
        let of_code = names.iter().filter(|name| is_of_code(name)).count();
        Self { work, traits, d: columns.len(), of_code }
    }

    pub(super) fn traits(&self, i: usize) -> &[f32] {
        &self.traits[i * self.d..(i + 1) * self.d]
    }

    /// How many traits, the first ones, tell what code it is.
    pub(super) fn of_code(&self) -> usize {
        self.of_code
    }

    /// The mean of some bursts; of none, nothing.
    pub(super) fn centre(&self, bursts: &[u32]) -> Option<Centre> {
        if bursts.is_empty() {
            return None;
        }
        let mean = |value: &dyn Fn(usize) -> f64| {
            let values = bursts.iter().map(|&i| value(i as usize)).filter(|x| !x.is_nan());
            let (n, sum) = values.fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + x));
            sum / n
        };
        let traits = (0..self.d).map(|d| mean(&|i| f64::from(self.traits(i)[d])) as f32).collect();
        Some(Centre { work: mean(&|i| self.work[i]), traits })
    }
}

/// What bursts are like on average.
#[derive(Clone, Debug)]
pub(super) struct Centre {
    pub(super) work: f64,
    pub(super) traits: Vec<f32>,
}

/// How the work of one step may differ between two runs: from the same (each
/// thread does it all, or weak scaling) to divided by the threads (strong).
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkRange {
    low: f64,
    high: f64,
}

impl WorkRange {
    pub(super) fn between(threads: u64, other: u64) -> Self {
        let change = (other as f64 / threads as f64).ln();
        Self { low: change.min(0.0), high: change.max(0.0) }
    }

    /// What a difference of ln(work) costs: outside of the range, its distance
    /// from it in nats (units of ln). Inside, a little for the distance to the
    /// nearer end, since most steps are at one of the ends: their work is either
    /// the same or divided by the threads.
    fn cost(self, difference: f64) -> f64 {
        let (below, above) = (self.low - difference, difference - self.high);
        let outside = below.max(above);
        if outside >= 0.0 { outside } else { (BETWEEN * below.abs().min(above.abs())).min(BETWEEN) }
    }
}

/// What a distance of 1 nat from the nearer end costs, and the most that such a
/// distance costs.
const BETWEEN: f64 = 0.3;

/// How alike two steps are, from 1 (as if the same) to 0 (not at all).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Likeness {
    /// In what they do. It is 1/e where work is outside of its range by a factor
    /// of e, or where the counts of each kind of instruction differ by one.
    pub(super) same: f64,
    /// In how fast it went, too. Differences in cycles, misses and stalls take at
    /// most half of it away, as the same step may be slow in one run.
    pub(super) all: f64,
}

/// The most that differences in speed take away from a likeness.
const SPEED: f64 = 0.5;

impl Nature {
    /// How alike a burst is to one of another run.
    pub(super) fn likeness(&self, burst: u32, other: (&Self, u32), range: WorkRange) -> Likeness {
        let (i, j) = (burst as usize, other.1 as usize);
        let (code, speed) = self.traits(i).split_at(self.of_code);
        let (other_code, other_speed) = other.0.traits(j).split_at(self.of_code);
        let cost = range.cost(self.work[i] - other.0.work[j]);
        let same = (-cost - f64::from(traits_apart(code, other_code))).exp();
        Likeness { same, all: same * (1.0 - SPEED * f64::from(traits_apart(speed, other_speed))) }
    }
}

/// How alike the figures of two phases are, from 1 to 0, where nothing else is
/// known of them: speed counts as much as what was done.
pub(super) fn figures_alike(one: &Centre, other: &Centre, range: WorkRange) -> f64 {
    let cost = range.cost(one.work - other.work);
    (1.0 - cost - f64::from(traits_apart(&one.traits, &other.traits))).max(0.0)
}

/// The mean difference of traits, each counted as 1 at most.
pub(super) fn traits_apart(a: &[f32], b: &[f32]) -> f32 {
    let (mut n, mut sum) = (0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let apart = (x - y).abs();
        if !apart.is_nan() {
            n += 1.0;
            sum += apart.min(1.0);
        }
    }
    if n > 0.0 { sum / n } else { 0.0 }
}

/// What a thread computes, in order.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// Places in the run's complete bursts, ascending.
    pub(super) bursts: Vec<u32>,
    /// Their time over that of the thread's average step.
    pub(super) weight: Vec<f64>,
}

impl Steps {
    /// Some of them, by their number.
    pub(super) fn part(&self, steps: &[usize]) -> Self {
        Self {
            bursts: steps.iter().map(|&i| self.bursts[i]).collect(),
            weight: steps.iter().map(|&i| self.weight[i]).collect(),
        }
    }
}

/// Label of a complete burst.
pub(super) fn label(run: &RunBursts<'_>, burst: u32) -> Option<ClusterId> {
    run.clustering.labels[burst as usize]
}
