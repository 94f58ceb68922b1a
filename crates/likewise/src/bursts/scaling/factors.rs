//! How a phase's time changes with the number of threads, and why.

use super::RunBursts;
use super::steps::{cycles, instructions};
use crate::table::{CounterColumn, Nanos};

/// A phase, or all computation, in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunFigures {
    /// Threads of the run that compute at all, whether or not in this phase.
    pub run_threads: u64,
    /// Threads that are in the phase at all.
    pub threads: u64,
    /// Bursts.
    pub instances: u64,
    /// Their time over all threads.
    pub total: Nanos,
    /// That of the thread that takes longest.
    pub longest: Nanos,
    /// Share of the run's computing time.
    pub share: f64,
    /// Instructions over all threads, if bursts that hold 99% of the time
    /// carry them.
    pub instructions: Option<f64>,
    /// Cycles over all threads, likewise.
    pub cycles: Option<f64>,
}

impl RunFigures {
    /// Time per thread of the run in ns: the mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.total.0 as f64 / self.run_threads.max(1) as f64
    }

    /// Mean over longest time of a thread, from 0 to 1.
    #[must_use]
    pub fn load_balance(&self) -> Option<f64> {
        (self.longest > Nanos::ZERO).then(|| self.mean() / self.longest.0 as f64)
    }

    /// Instructions per cycle.
    #[must_use]
    pub fn ipc(&self) -> Option<f64> {
        Some(self.instructions? / self.cycles?).filter(|x| x.is_finite())
    }

    /// Cycles per nanosecond.
    #[must_use]
    pub fn frequency(&self) -> Option<f64> {
        self.cycles.filter(|_| self.total > Nanos::ZERO).map(|cycles| cycles / self.total.0 as f64)
    }
}

/// Figures of each of `n_phases` phases of a run, then of the grouped bursts
/// that are in none. `phase_of` tells the phase of every complete burst, as
/// [`RunMatch::phase_of`](super::RunMatch::phase_of) does.
///
/// # Complexity
/// O(n) for n bursts.
#[must_use]
pub fn phase_figures(run: &RunBursts<'_>, phase_of: &[Option<u32>], n_phases: usize) -> Vec<RunFigures> {
    let members = run.complete.iter().zip(phase_of);
    sums(run, members.map(|(&i, phase)| (i as usize, phase.map_or(n_phases, |p| p as usize))), n_phases + 1)
}

/// Figures of all bursts of a run, grouped or not.
#[must_use]
pub fn whole_run(run: &RunBursts<'_>) -> RunFigures {
    sums(run, (0..run.table.len()).map(|i| (i, 0)), 1)[0]
}

/// Figures of `n` groups of bursts in burst order.
fn sums(run: &RunBursts<'_>, bursts: impl Iterator<Item = (usize, usize)>, n: usize) -> Vec<RunFigures> {
    let table = run.table;
    let all = table.computing_time().0.max(1) as f64;
    let empty = RunFigures { run_threads: run.threads(), ..RunFigures::default() };
    let mut found = vec![empty; n];
    let counters = [instructions(run), cycles(run)];
    // Of each group: the sum of each counter, and the time that carries it.
    let mut counts = vec![[(0.0, 0u64); 2]; n];
    // Of each group, its last burst, and the time of that burst's thread.
    let mut last: Vec<Option<(usize, u64)>> = vec![None; n];
    let thread = |i: usize| (table.app[i], table.task[i], table.thread[i]);
    for (i, g) in bursts {
        let (duration, figures) = (table.duration[i].0, &mut found[g]);
        figures.instances += 1;
        figures.total = figures.total.saturating_add(table.duration[i]);
        let time = match last[g] {
            Some((before, time)) if thread(before) == thread(i) => time.saturating_add(duration),
            _ => {
                figures.threads += 1;
                duration
            }
        };
        last[g] = Some((i, time));
        figures.longest = figures.longest.max(Nanos(time));
        for (count, counter) in counts[g].iter_mut().zip(counters) {
            let value = counter.map_or(f64::NAN, |c: &CounterColumn| c.values[i]);
            if value.is_finite() {
                *count = (count.0 + value, count.1.saturating_add(duration));
            }
        }
    }
    for (figures, counts) in found.iter_mut().zip(counts) {
        let total = figures.total.0 as f64;
        let sum = |(sum, time): (f64, u64)| (sum > 0.0 && time as f64 >= 0.99 * total).then_some(sum);
        [figures.instructions, figures.cycles] = counts.map(sum);
        figures.share = total / all;
    }
    found
}

/// What more threads are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// The same work in less time.
    Strong,
    /// More work in the same time.
    Weak,
}

/// Strong where the work of the whole run stays, weak where that of a thread
/// does: by the exponent of instructions (of time, where a run lacks them)
/// over threads, from the run with the fewest to the one with the most.
#[must_use]
pub fn scaling_of(runs: &[RunFigures]) -> Scaling {
    let threads = |run: &&RunFigures| run.run_threads;
    let (Some(few), Some(many)) = (runs.iter().min_by_key(threads), runs.iter().max_by_key(threads)) else {
        return Scaling::Strong;
    };
    let work = match (few.instructions, many.instructions) {
        (Some(a), Some(b)) => b / a,
        _ => many.total.0 as f64 / few.total.0.max(1) as f64,
    };
    let more = many.run_threads as f64 / few.run_threads.max(1) as f64;
    if more > 1.0 && work.ln() > 0.5 * more.ln() { Scaling::Weak } else { Scaling::Strong }
}

/// What makes efficiency differ from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorKind {
    /// Instructions over all threads (strong scaling) or of one (weak): fewer
    /// than 1 if more are executed.
    Instructions,
    /// Instructions per cycle.
    Ipc,
    /// Cycles per time.
    Frequency,
    /// Instructions per time, where cycles are not known.
    Rate,
    /// Computing time, where instructions are not known.
    Time,
    /// Mean over longest time of a thread.
    LoadBalance,
}

/// A factor against the smallest run; below 1 is worse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// Which.
    pub kind: FactorKind,
    /// How many times that of the smallest run.
    pub value: f64,
}

/// A run against the smallest.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Longest time of a thread in the smallest run over that in this one; in
    /// weak scaling times the threads, as there is so much more work.
    pub speedup: f64,
    /// Speed-up over threads, each against the smallest run. 1 is ideal.
    pub efficiency: f64,
    /// They multiply to the efficiency, up to rounding.
    pub factors: Vec<Factor>,
}

impl Change {
    /// The least factor: the most of what is lost.
    #[must_use]
    pub fn worst(&self) -> Option<Factor> {
        self.factors.iter().copied().min_by(|a, b| a.value.total_cmp(&b.value))
    }

    /// The factor that gains most, the first of equal ones.
    #[must_use]
    pub fn best(&self) -> Option<Factor> {
        self.factors.iter().copied().rev().max_by(|a, b| a.value.total_cmp(&b.value))
    }
}

/// How a phase scales.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseScaling {
    /// The run with the fewest threads that has the phase.
    pub base: usize,
    /// Each run against it; `None` where the phase is not found.
    pub changes: Vec<Option<Change>>,
    /// The first run, by threads, whose efficiency is below the threshold.
    pub stops_at: Option<usize>,
}

/// How a phase scales over the runs that have it; `None` if none has.
///
/// `threshold` is the efficiency below which it is said to stop scaling, such
/// as 0.8.
///
/// # Reference
/// The factors are those of computation scalability in Rosas, Giménez &
/// Labarta, *Scalability prediction for fundamental performance factors*,
/// Supercomputing Frontiers and Innovations 1(2), 2014, and the POP centre of
/// excellence, per phase: time is instructions / (IPC × frequency). Differs:
/// load balance is given against the smallest run too, so that all factors
/// multiply to the efficiency.
#[must_use]
pub fn phase_scaling(runs: &[Option<RunFigures>], scaling: Scaling, threshold: f64) -> Option<PhaseScaling> {
    let figures = |r: usize| runs[r].as_ref().filter(|f| f.longest > Nanos::ZERO);
    let mut by_threads: Vec<usize> = (0..runs.len()).filter(|&r| figures(r).is_some()).collect();
    by_threads.sort_by_key(|&r| figures(r).map(|f| f.run_threads));
    let base = *by_threads.first()?;
    let changes: Vec<Option<Change>> =
        (0..runs.len()).map(|r| Some(change(figures(base)?, figures(r)?, scaling))).collect();
    let below = |&r: &usize| changes[r].as_ref().is_some_and(|change| change.efficiency < threshold);
    let stops_at = by_threads.iter().copied().filter(|&r| r != base).find(below);
    Some(PhaseScaling { base, changes, stops_at })
}

fn change(base: &RunFigures, now: &RunFigures, scaling: Scaling) -> Change {
    let threads = now.run_threads.max(1) as f64 / base.run_threads.max(1) as f64;
    // How much more work is asked for.
    let work = if scaling == Scaling::Weak { threads } else { 1.0 };
    let speedup = base.longest.0 as f64 / now.longest.0 as f64 * work;
    let ratio = |a: Option<f64>, b: Option<f64>| Some(a? / b?).filter(|x| x.is_finite() && *x > 0.0);
    let mut factors = Vec::new();
    let mut push = |kind, value| factors.push(Factor { kind, value });
    let time = work * base.total.0 as f64 / now.total.0 as f64;
    match ratio(base.instructions, now.instructions).map(|x| x * work) {
        None => push(FactorKind::Time, time),
        Some(instructions) => {
            push(FactorKind::Instructions, instructions);
            match (ratio(now.ipc(), base.ipc()), ratio(now.frequency(), base.frequency())) {
                (Some(ipc), Some(frequency)) => {
                    push(FactorKind::Ipc, ipc);
                    push(FactorKind::Frequency, frequency);
                }
                _ => push(FactorKind::Rate, time / instructions),
            }
        }
    }
    if let Some(balance) = ratio(now.load_balance(), base.load_balance()) {
        push(FactorKind::LoadBalance, balance);
    }
    Change { speedup, efficiency: speedup / threads, factors }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run() -> impl Strategy<Value = RunFigures> {
        let counts = (1u64..200, 1u64..1_000_000_000, 1.0..1e12f64, 0.1..4.0f64, 0.0..1.0f64, 0u8..3);
        counts.prop_map(|(threads, total, instructions, ipc, imbalance, known)| {
            let mean = total as f64 / threads as f64;
            RunFigures {
                run_threads: threads,
                threads,
                total: Nanos(total),
                longest: Nanos((mean * (1.0 + imbalance)).ceil() as u64),
                instructions: (known > 0).then_some(instructions),
                cycles: (known > 1).then_some(instructions / ipc),
                ..RunFigures::default()
            }
        })
    }

    proptest! {
        #[test]
        fn factors_multiply_to_the_efficiency(runs in prop::collection::vec(run(), 1..5), weak: bool) {
            let scaling = if weak { Scaling::Weak } else { Scaling::Strong };
            let runs: Vec<Option<RunFigures>> = runs.into_iter().map(Some).collect();
            let found = phase_scaling(&runs, scaling, 0.8).expect("every run has it");
            for change in found.changes.iter().flatten() {
                let product: f64 = change.factors.iter().map(|f| f.value).product();
                prop_assert!((product / change.efficiency - 1.0).abs() < 1e-9, "{change:?}");
            }
            let base = found.changes[found.base].as_ref().expect("the base has it");
            prop_assert!((base.speedup - 1.0).abs() < 1e-12 || weak);
            prop_assert!((base.efficiency - 1.0).abs() < 1e-12);
            prop_assert!(found.stops_at.is_none_or(|r| r != found.base));
        }
    }

    fn figures(threads: u64, longest: u64, instructions: f64) -> RunFigures {
        RunFigures {
            run_threads: threads,
            threads,
            total: Nanos(longest * threads),
            longest: Nanos(longest),
            instructions: Some(instructions),
            cycles: Some(instructions / 2.0),
            ..RunFigures::default()
        }
    }

    #[test]
    fn work_that_every_thread_repeats_stops_scaling_for_its_instructions() {
        let runs =
            [None, Some(figures(4, 100, 400.0)), Some(figures(1, 100, 100.0)), Some(figures(2, 100, 200.0))];
        let found = phase_scaling(&runs, Scaling::Strong, 0.8).expect("three have it");
        assert_eq!((found.base, found.stops_at, &found.changes[0]), (2, Some(3), &None));
        let four = found.changes[1].as_ref().expect("it has it");
        assert_eq!((four.speedup, four.efficiency), (1.0, 0.25));
        assert_eq!(four.worst(), Some(Factor { kind: FactorKind::Instructions, value: 0.25 }));
        // The same is ideal if each thread was to do as much.
        let weak = phase_scaling(&runs, Scaling::Weak, 0.8).expect("three have it");
        assert_eq!(weak.stops_at, None);
        assert_eq!(weak.changes[1].as_ref().map(|c| (c.speedup, c.efficiency)), Some((4.0, 1.0)));
        let runs: Vec<RunFigures> = runs.into_iter().flatten().collect();
        assert_eq!(scaling_of(&runs), Scaling::Weak);
        assert_eq!(scaling_of(&[figures(1, 100, 100.0), figures(8, 20, 150.0)]), Scaling::Strong);
    }
}
