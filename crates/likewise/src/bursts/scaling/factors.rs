//! How a phase's time changes with the number of threads, and why.

use super::matched::RunBursts;
use super::measured::Measured;
use super::steps::{cycles, instructions};
use super::times::{Variance, far_by_chance, may_be_chance};
use crate::bursts::serial::{NEARLY_ALL, sweep};
use crate::table::{BurstTable, CounterColumn, Nanos};

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
    /// Time in which no other thread of the run computes.
    pub alone: Nanos,
    /// Share of the run's computing time.
    pub share: f64,
    /// Instructions over all threads, if bursts that hold 99% of the time
    /// carry them.
    pub instructions: Option<f64>,
    /// Cycles over all threads, likewise.
    pub cycles: Option<f64>,
}

impl RunFigures {
    /// Whether it is serial: threads of the run wait while one computes.
    #[must_use]
    pub fn is_serial(&self) -> bool {
        self.run_threads > 1
            && self.alone > Nanos::ZERO
            && self.alone.0 as f64 >= NEARLY_ALL * self.total.0 as f64
    }

    /// The weighted sum of several; `longest` is of a thread of the run in ns.
    pub(super) fn sum(parts: &[(f64, &Self)], run_threads: u64, longest: f64) -> Self {
        let sum =
            |of: &dyn Fn(&Self) -> f64| parts.iter().map(|(weight, part)| weight * of(part)).sum::<f64>();
        let total = sum(&|f| f.total.0 as f64);
        let counter = |of: fn(&Self) -> Option<f64>| {
            let known = sum(&|f| if of(f).is_some() { f.total.0 as f64 } else { 0.0 });
            (known >= KNOWN * total && total > 0.0).then(|| sum(&|f| of(f).unwrap_or(0.0)))
        };
        Self {
            run_threads,
            threads: parts.iter().map(|(_, f)| f.threads).max().unwrap_or(0),
            instances: parts.iter().map(|(_, f)| f.instances).sum(),
            total: Nanos(total as u64),
            longest: Nanos(longest as u64),
            alone: Nanos(sum(&|f| f.alone.0 as f64) as u64),
            share: sum(&|f| f.share),
            instructions: counter(|f| f.instructions),
            cycles: counter(|f| f.cycles),
        }
    }

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

/// Counters are known if bursts that hold this share of the time carry them.
const KNOWN: f64 = 0.99;

/// Figures of each of `n_phases` phases of a run, then of the grouped bursts
/// that are in none. `alone` has the time that each burst of the run runs alone. `phase_of` tells
/// the phase of every complete burst, as [`RunMatch::phase_of`](super::RunMatch::phase_of) does.
///
/// # Complexity
/// O(n) for n bursts.
pub(super) fn phase_figures(
    run: &RunBursts<'_>,
    alone: &[u64],
    phase_of: &[Option<u32>],
    n_phases: usize,
) -> Vec<RunFigures> {
    let members = run.complete.iter().zip(phase_of);
    let members = members.map(|(i, phase)| (i as usize, phase.map_or(n_phases, |p| p as usize)));
    sums(run, alone, members, n_phases + 1)
}

/// Figures of all bursts of a run, grouped or not, but for how long they run
/// alone.
#[must_use]
pub fn whole_run(run: &RunBursts<'_>) -> RunFigures {
    figures_of(run, |_| true)
}

/// Figures of some bursts of a run, but for how long they run alone.
pub(super) fn figures_of(run: &RunBursts<'_>, is_one: impl Fn(usize) -> bool) -> RunFigures {
    sums(run, &[], (0..run.table.len()).filter(|&i| is_one(i)).map(|i| (i, 0)), 1)[0]
}

/// Of each burst of a run, the time in which no other runs.
///
/// # Complexity
/// O(n log n) for n bursts.
pub(super) fn alone(table: &BurstTable) -> Vec<u64> {
    let mut alone = vec![0; table.len()];
    sweep(table, 0..table.len(), |burst, when| alone[burst] += when.end - when.start);
    alone
}

/// Figures of `n` groups of bursts in burst order. `alone` has the time that
/// each burst runs alone, or nothing.
fn sums(
    run: &RunBursts<'_>,
    alone: &[u64],
    bursts: impl Iterator<Item = (usize, usize)>,
    n: usize,
) -> Vec<RunFigures> {
    let table = run.table;
    let all = table.computing_time().0.max(1) as f64;
    let empty = RunFigures { run_threads: run.threads(), ..RunFigures::default() };
    let mut found = vec![empty; n];
    let counters = [instructions(run), cycles(run)];
    // Of each group: the sum of each counter, and the time that carries it.
    let mut counts = vec![[(0.0, 0u64); 2]; n];
    // Of each group, its last burst, and the time of that burst's thread.
    let mut last: Vec<Option<(usize, u64)>> = vec![None; n];
    let thread = |i: usize| table.thread_of(i);
    for (i, g) in bursts {
        let (duration, figures) = (table.duration[i].0, &mut found[g]);
        figures.instances += 1;
        figures.total = figures.total.saturating_add(table.duration[i]);
        figures.alone = figures.alone.saturating_add(Nanos(alone.get(i).copied().unwrap_or(0)));
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
            let value = counter.map_or(f64::NAN, |c: &CounterColumn| c.values.get(i));
            if value.is_finite() {
                *count = (count.0 + value, count.1.saturating_add(duration));
            }
        }
    }
    for (figures, counts) in found.iter_mut().zip(counts) {
        let total = figures.total.0 as f64;
        let sum = |(sum, time): (f64, u64)| (sum > 0.0 && time as f64 >= KNOWN * total).then_some(sum);
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
    /// CPU time over time by the clock, of the threads that take longest. Where it is there, the
    /// others are of CPU times.
    OnCore,
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
    /// The efficiency, where a factor that may be chance counts as 1.
    pub beyond_chance: f64,
    /// Whether what it does in this run is serial, so that load balance says
    /// nothing: one thread computes, and the others wait.
    pub is_serial: bool,
    /// They multiply to the efficiency, up to rounding.
    pub factors: Vec<Factor>,
    /// The same in CPU time, where enough of it is known in both.
    pub in_cpu: Option<CpuChange>,
    /// Whether threads hardly run in it in one of the two runs: then the factor of instructions
    /// per time says for how much of it they wait, and not how fast they run.
    pub hardly_runs: bool,
    /// How many times the clock of the run it is, where cycles per time differ by another factor:
    /// the rest is no clock, but time in which none are counted.
    pub clock: Option<f64>,
}

/// What of a change is there in CPU time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuChange {
    /// Likely efficiency in CPU time.
    pub efficiency: f64,
    /// What it can be at least, as some CPU times are not known.
    pub least: f64,
    /// And at most.
    pub most: f64,
    /// The likely one, where a factor that may be chance counts as 1.
    pub beyond_chance: f64,
    /// Whether the two runs have as many threads. Then CPU time tells whether the program takes
    /// longer; how many threads there are for each core is another matter.
    pub same_threads: bool,
}

impl CpuChange {
    /// Whether the CPU time is surely longer, by more than chance.
    fn is_below(&self, threshold: f64) -> bool {
        self.most.max(self.beyond_chance * self.most / self.efficiency) < threshold
    }

    /// Whether it is surely shorter.
    fn is_above(&self, threshold: f64) -> bool {
        self.least.min(self.beyond_chance * self.least / self.efficiency) * threshold > 1.0
    }
}

impl Change {
    /// The same, where threads hardly run: instructions per cycle and cycles per time are no causes.
    #[must_use]
    pub fn hardly_running(self) -> Self {
        let is_speed =
            |f: &Factor| matches!(f.kind, FactorKind::Ipc | FactorKind::Frequency | FactorKind::Rate);
        let (speed, mut factors): (Vec<Factor>, Vec<Factor>) = self.factors.into_iter().partition(is_speed);
        if !speed.is_empty() {
            let value = speed.iter().map(|f| f.value).product();
            factors.push(Factor { kind: FactorKind::Rate, value });
        }
        Self { factors, hardly_runs: true, ..self }
    }

    /// The same, where the clock of the run is so many times that of the smallest run. Where cycles per
    /// time are fewer or more than this explains, by a twentieth, counters stand still for a part of
    /// the time of one of the runs: they count what a program does itself, and not the system.
    #[must_use]
    pub fn clocked(self, clock: f64) -> Self {
        let frequency = self.factors.iter().find(|f| f.kind == FactorKind::Frequency);
        let rest = frequency.map_or(0.0, |f| (f.value / clock).ln().abs());
        Self { clock: (rest > ANOTHER_CLOCK).then_some(clock), ..self }
    }

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

    /// Whether it is less efficient than `threshold`, and neither by chance nor by the clock
    /// alone.
    #[must_use]
    pub fn is_below(&self, threshold: f64) -> bool {
        self.is_longer(threshold) && !self.is_off_core(threshold)
    }

    /// Whether it is less or more efficient by so much, but that may be chance.
    #[must_use]
    pub fn may_be_chance(&self, threshold: f64) -> bool {
        (self.efficiency < threshold && !self.is_longer(threshold))
            || (self.efficiency * threshold > 1.0 && !self.is_shorter(threshold))
    }

    /// Whether it is more efficient than 1 over `threshold`, and neither by chance nor by the
    /// clock alone.
    #[must_use]
    pub fn is_above(&self, threshold: f64) -> bool {
        self.is_shorter(threshold) && !self.is_off_core(threshold)
    }

    /// Whether it takes longer or shorter by the clock alone: in runs of as many threads, CPU
    /// times are known and do not surely differ by so much in the same direction. What differs
    /// is for how much of the time threads are on a core.
    #[must_use]
    pub fn is_off_core(&self, threshold: f64) -> bool {
        let Some(cpu) = self.in_cpu.filter(|cpu| cpu.same_threads) else { return false };
        (self.is_longer(threshold) && !cpu.is_below(threshold))
            || (self.is_shorter(threshold) && !cpu.is_above(threshold))
    }

    /// Whether it takes longer by the clock, and not by chance.
    fn is_longer(&self, threshold: f64) -> bool {
        self.efficiency.max(self.beyond_chance) < threshold
    }

    fn is_shorter(&self, threshold: f64) -> bool {
        self.efficiency.min(self.beyond_chance) * threshold > 1.0
    }
}

/// How a phase scales.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseScaling {
    /// The run with the fewest threads that has the phase.
    pub base: usize,
    /// Each run against it; `None` where the phase is not found.
    pub changes: Vec<Option<Change>>,
    /// The first run, by threads, whose efficiency is below the threshold: of those with more
    /// threads than the smallest, if there are any.
    pub stops_at: Option<usize>,
}

/// How a phase scales over the runs that have it; `None` if none has, or if it
/// takes no time.
///
/// `threshold` is the efficiency below which it is said to stop scaling, such
/// as 0.8. A factor that may be chance does not stop it: time per repetition,
/// where runs have five or more of them, and load balance, where they have two
/// or more, are tested by how much repetitions vary (probability 0.0001), and load balance by
/// what it is without the few repetitions in which a thread took far longer than it does otherwise; with
/// fewer repetitions, by how much the ratios of the threads do, where runs
/// have the same five or more.
///
/// # Reference
/// The factors are those of computation scalability in Rosas, Giménez &
/// Labarta, *Scalability prediction for fundamental performance factors*,
/// Supercomputing Frontiers and Innovations 1(2), 2014, and the POP centre of
/// excellence, per phase: time is instructions / (IPC × frequency). Differs:
/// all is per repetition, and load balance is given against the smallest run
/// too, so that all factors multiply to the efficiency.
#[must_use]
pub fn phase_scaling(runs: &[Option<Measured>], scaling: Scaling, threshold: f64) -> Option<PhaseScaling> {
    let found = |r: usize| runs[r].as_ref().filter(|m| m.longest > 0.0);
    let mut by_threads: Vec<usize> = (0..runs.len()).filter(|&r| found(r).is_some()).collect();
    by_threads.sort_by_key(|&r| found(r).map(|m| m.figures.run_threads));
    let base = *by_threads.first()?;
    let changes: Vec<Option<Change>> =
        (0..runs.len()).map(|r| Some(change(found(base)?, found(r)?, scaling))).collect();
    let below = |&r: &usize| changes[r].as_ref().is_some_and(|change| change.is_below(threshold));
    // A slower run of as many threads says nothing of scaling, where others have more.
    let threads = |r: usize| found(r).map(|m| m.figures.run_threads);
    let has_more = by_threads.last().is_some_and(|&last| threads(last) > threads(base));
    let others = by_threads.iter().copied().filter(|&r| r != base);
    let stops_at = others.filter(|&r| !has_more || threads(r) > threads(base)).find(below);
    Some(PhaseScaling { base, changes, stops_at })
}

pub(super) fn change(base: &Measured, now: &Measured, scaling: Scaling) -> Change {
    let threads = threads_over(base, now);
    // How much more work is asked for.
    let work = if scaling == Scaling::Weak { threads } else { 1.0 };
    let speedup = |base: &Measured, now: &Measured| base.longest / now.longest * work;
    let efficiency = speedup(base, now) / threads;
    let cpu = base.cpu.as_deref().zip(now.cpu.as_deref());
    let in_cpu = cpu.map(|(a, b)| {
        let efficiency = speedup(&a.measured, &b.measured) / threads;
        CpuChange {
            efficiency,
            least: efficiency * a.least / b.most,
            most: efficiency * a.most / b.least,
            beyond_chance: beyond_chance(&a.measured, &b.measured, work),
            same_threads: base.figures.run_threads == now.figures.run_threads,
        }
    });
    let in_cpu = in_cpu.filter(|cpu| cpu.efficiency.is_finite() && cpu.efficiency > 0.0);
    let factors = match (cpu, in_cpu) {
        (Some((a, b)), Some(cpu)) => {
            let mut factors = factors(&a.measured, &b.measured, work);
            factors.push(Factor { kind: FactorKind::OnCore, value: efficiency / cpu.efficiency });
            factors
        }
        _ => factors(base, now, work),
    };
    Change {
        speedup: speedup(base, now),
        efficiency,
        beyond_chance: beyond_chance(base, now, work),
        is_serial: now.figures.is_serial(),
        factors,
        in_cpu,
        hardly_runs: false,
        clock: None,
    }
}

fn threads_over(base: &Measured, now: &Measured) -> f64 {
    now.figures.run_threads.max(1) as f64 / base.figures.run_threads.max(1) as f64
}

fn ratio(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? / b?).filter(|x| x.is_finite() && *x > 0.0)
}

/// Time over that in the base, of all threads for one repetition, where `work` times as much is
/// asked for.
fn time_over(base: &Measured, now: &Measured, work: f64) -> f64 {
    let each = |m: &Measured| m.figures.total.0 as f64 / m.times;
    work * each(base) / each(now)
}

/// What makes the efficiency.
fn factors(base: &Measured, now: &Measured, work: f64) -> Vec<Factor> {
    let mut factors = Vec::new();
    let mut push = |kind, value| factors.push(Factor { kind, value });
    let time = time_over(base, now, work);
    let executed = |m: &Measured| m.figures.instructions.map(|x| x / m.times);
    match ratio(executed(base), executed(now)).map(|x| x * work) {
        None => push(FactorKind::Time, time),
        Some(instructions) => {
            push(FactorKind::Instructions, instructions);
            let (a, b) = (&now.figures, &base.figures);
            match (ratio(a.ipc(), b.ipc()), ratio(a.frequency(), b.frequency())) {
                (Some(ipc), Some(frequency)) => {
                    push(FactorKind::Ipc, ipc);
                    push(FactorKind::Frequency, frequency);
                }
                _ => push(FactorKind::Rate, time / instructions),
            }
        }
    }
    let balance = ratio(now.load_balance(), base.load_balance());
    balance.iter().for_each(|&balance| push(FactorKind::LoadBalance, balance));
    factors
}

/// The efficiency, where time and load balance count as 1 if they may be chance.
fn beyond_chance(base: &Measured, now: &Measured, work: f64) -> f64 {
    let time = time_over(base, now, work);
    let balance = ratio(now.load_balance(), base.load_balance());
    let (of_base, of_now) = variances(base, now);
    let sure_time = if may_be_chance(time.ln(), of_base, of_now) { 1.0 } else { time };
    let sure_balance = balance.filter(|x| !balance_may_be_chance(x.ln(), base, now)).unwrap_or(1.0);
    // What a few repetitions did is no way that the phase is.
    let usual = ratio(now.usual_balance, base.usual_balance).unwrap_or(sure_balance);
    let sure_balance =
        if sure_balance < 1.0 { usual.clamp(sure_balance, 1.0) } else { usual.clamp(1.0, sure_balance) };
    sure_time * sure_balance
}

/// How much the mean times of two runs vary: from repetition to repetition,
/// or where those are few, their ratio from thread to thread.
fn variances(base: &Measured, now: &Measured) -> (Option<Variance>, Option<Variance>) {
    if let (Some(a), Some(b)) = (base.of_mean, now.of_mean) {
        return (Some(a), Some(b));
    }
    let Some(ratios) = ratios(base, now) else { return (None, None) };
    let n = ratios.len() as f64;
    let mean = ratios.iter().sum::<f64>() / n;
    let value = ratios.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0) / n;
    let none = Variance { value: 0.0, freedom: 1.0 };
    (Some(Variance { value, freedom: n - 1.0 }), Some(none))
}

/// Logarithms of the times of threads over those in the base, if the runs have
/// the same threads, and enough of them do it in both.
fn ratios(base: &Measured, now: &Measured) -> Option<Vec<f64>> {
    let ratios = base.each.iter().zip(&now.each).map(|(a, b)| (b / a).ln()).filter(|x| x.is_finite());
    let ratios: Vec<f64> = ratios.collect();
    (base.threads == now.threads && ratios.len() >= LEAST_THREADS).then_some(ratios)
}

/// Whether load balance may differ so by chance: by how much a thread varies
/// from repetition to repetition, or of what is done once, by how much any of
/// the threads may be off the others.
fn balance_may_be_chance(ln_ratio: f64, base: &Measured, now: &Measured) -> bool {
    if base.of_thread.is_some() && now.of_thread.is_some() {
        return may_be_chance(ln_ratio, base.of_thread, now.of_thread);
    }
    ratios(base, now).is_some_and(|ratios| ln_ratio.abs() <= far_by_chance(&ratios))
}

/// Logarithms of two clocks that differ by no more are one: they are known to 1.6 % each.
const ANOTHER_CLOCK: f64 = 0.05;

/// Fewer threads do not tell how much their ratios vary.
const LEAST_THREADS: usize = 5;

#[cfg(test)]
mod tests;
