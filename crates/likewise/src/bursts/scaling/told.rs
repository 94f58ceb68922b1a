//! What is said of runs and phases by how much work they are.

use super::factors::{Change, RunFigures, Scaling, scaling_of, whole_run};
use super::measures::Measures;
use super::repeats::Per;
use crate::median;

/// Scaling is strong from this share on: that of the time in phases that divide
/// their work by the threads. In weak scaling no phase does.
const DIVIDED: f64 = 0.2;
/// Scaling is weak up to this share; between the two it cannot be told. The
/// limit is not 5 %: made-up runs with strong scaling, in which the phases that
/// divide their work hold only 4.6 % of the time, would be called weak.
const HARDLY_DIVIDED: f64 = 0.025;
/// A phase counts as run by all threads from this share of them on. What fewer
/// threads do (for instance one for all) says nothing about the scaling: it is
/// the same work in weak and in strong scaling.
const ON_ALL: f64 = 0.9;

/// Threads hardly run in a phase that has less than this part of the cycles per time that the bulk
/// of the run has.
const HARDLY_RUNS: f64 = 0.1;

/// What kind of scaling it is, judged by the work of the phases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToldScaling {
    /// What it is, or is taken for.
    pub scaling: Scaling,
    /// Share of the time of the run with the fewest threads, of phases on all
    /// threads, in phases that divide their work by the threads.
    pub divided: Result<f64, Untold>,
    /// Whether the phases do not tell it, but whole runs do.
    pub by_whole_runs: bool,
    /// Whether work is instructions; else it is time.
    pub by_instructions: bool,
}

/// Why it cannot be told how the work grows with the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untold {
    /// It is not known how often the runs repeat what they do.
    Repeats,
    /// The phases that the runs have in common, on all of their threads, hold less than half
    /// of a run's time.
    Phases,
}

impl ToldScaling {
    /// Whether the phases or whole runs tell it.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        self.by_whole_runs
            || self.divided.is_ok_and(|divided| divided >= DIVIDED || divided <= HARDLY_DIVIDED)
    }
}

impl Measures<'_> {
    /// What more threads are for, by the phases that all runs have on all of
    /// their threads, each as [`scaling_of`] tells by its work per repetition. Phases of
    /// which it is not known how often runs repeat them tell nothing.
    ///
    /// Strong, if phases with at least a fifth of the time (in the run with the
    /// fewest threads) divide their work by the threads. A fifth is enough,
    /// because work that each thread repeats is a common defect of strong
    /// scaling, while in weak scaling no work is divided. Weak, if phases with at
    /// most a fortieth of the time do. Between the two it cannot be told; it is
    /// then taken for weak, since most of the work is not divided.
    ///
    /// Where phases tell nothing, whole runs do, if they are not known to have unlike numbers of
    /// iterations: what they do in all grows by less than the square root of the threads. Where it
    /// grows by more, they may have more to do, or each thread may repeat it.
    #[must_use]
    pub fn scaling(&self) -> ToldScaling {
        let threads = |&r: &usize| self.runs[r].threads();
        let few = (0..self.runs.len()).min_by_key(threads).unwrap_or(0);
        let on_all = |p: usize| {
            let mut of_runs = self.figures.iter().map(|of_run| &of_run[p]);
            of_runs.all(|f| f.instances > 0 && f.threads as f64 >= ON_ALL * f.run_threads as f64)
        };
        let (mut divided, mut all, mut unknown) = (0.0, 0.0, 0.0);
        for (p, repeats) in self.repeats.phases.iter().enumerate().filter(|(p, _)| on_all(*p)) {
            if repeats.per == Per::Burst {
                unknown += self.figures[few][p].total.0 as f64;
                continue;
            }
            let once = |r: usize| {
                let figures = &self.figures[r][p];
                RunFigures::sum(&[(1.0 / repeats.times[r], figures)], figures.run_threads, 0.0)
            };
            let of_runs: Vec<RunFigures> = (0..self.runs.len()).map(once).collect();
            let time = self.figures[few][p].total.0 as f64;
            all += time;
            divided += if scaling_of(&of_runs) == Scaling::Strong { time } else { 0.0 };
        }
        let n = self.found.phases.len();
        let is_half = |of_run: &Vec<RunFigures>| {
            let time = |p: &usize| of_run[*p].total.0 as f64;
            (0..n).filter(|&p| on_all(p)).map(|p| time(&p)).sum::<f64>()
                >= 0.5 * (0..n).map(|p| time(&p)).sum::<f64>()
        };
        let divided = match all > 0.0 {
            _ if unknown > all => Err(Untold::Repeats),
            true if self.figures.iter().all(is_half) => Ok(divided / all),
            _ => Err(Untold::Phases),
        };
        let whole: Vec<RunFigures> = self.runs.iter().map(whole_run).collect();
        let by_whole_runs =
            divided.is_err() && !self.has_unlike_iterations() && scaling_of(&whole) == Scaling::Strong;
        let is_strong = by_whole_runs || divided.is_ok_and(|divided| divided >= DIVIDED);
        let scaling = if is_strong { Scaling::Strong } else { Scaling::Weak };
        let by_instructions = whole.iter().all(|run| run.instructions.is_some());
        ToldScaling { scaling, divided, by_whole_runs, by_instructions }
    }

    /// Whether runs are known to have unlike numbers of iterations: whole runs do unlike work then.
    fn has_unlike_iterations(&self) -> bool {
        let n: Vec<u64> = self.repeats.iterations.iter().flatten().map(|(n, _)| *n).collect();
        n.windows(2).any(|two| two[0] != two[1])
    }

    /// Whether threads hardly run in a phase: they have less than a tenth of the cycles per time that
    /// the phases with most of the run's cycles have. They wait then, inside of what the trace calls
    /// running, and how fast they would run is not known.
    #[must_use]
    pub fn hardly_runs(&self, p: usize, run: usize) -> bool {
        let figures = &self.figures[run];
        let by_cycles = figures.iter().filter_map(|of| Some((of.frequency()?, of.cycles?)));
        let usual = median::weighted(by_cycles.collect());
        usual.zip(figures[p].frequency()).is_some_and(|(usual, own)| own < HARDLY_RUNS * usual)
    }

    /// A change from one run to another, beside that of the clock of the runs, where this is known.
    #[must_use]
    pub fn clocked(&self, change: Change, (a, b): (usize, usize)) -> Change {
        match (self.clocks[a], self.clocks[b]) {
            (Some(before), Some(now)) => change.clocked(now / before),
            _ => change,
        }
    }

    /// Whether a phase is compared per burst, as it is not known how often it is to be run.
    #[must_use]
    pub fn is_per_burst(&self, p: usize) -> bool {
        self.repeats.phases[p].per == Per::Burst && !self.repeats.in_no_order
    }

    /// Whether a phase is compared per burst, and its mean burst is not the same thing in two runs:
    /// one of them has more bursts that are small beside the others. Differences up to the share
    /// `least` are none.
    #[must_use]
    pub fn has_unlike_bursts(&self, p: usize, (a, b): (usize, usize), least: f64) -> bool {
        self.repeats.phases[p].per == Per::Burst && self.evenness[a][p].is_unlike(&self.evenness[b][p], least)
    }
}
