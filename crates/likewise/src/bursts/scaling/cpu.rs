//! CPU times of bursts, where the trace tells them.

use super::factors::RunFigures;
use super::matched::RunBursts;
use super::measured::{InCpu, Measured};
use crate::bursts::on_core::cpu_time;
use crate::table::{BurstTable, Nanos, Values};

/// A burst of at most so many ns of which the CPU time is not known was on a core: a recorder
/// reads it of longer ones, because threads are sent off a core, and timers end, much later.
const SHORT: u64 = 20_000;

/// Longer bursts of which the CPU time is not known hold at most this share of the time of what
/// is compared; else nothing is said of it.
const UNKNOWN: f64 = 0.5;

/// CPU times of the bursts of a run.
#[derive(Clone, Debug)]
pub(super) struct CpuTimes<'a> {
    table: &'a BurstTable,
    values: &'a Values,
    /// Of each burst of the table, its phase, or the number of phases where it is in none.
    group: Vec<u32>,
    /// Of each phase, then of the bursts that are in none: the share of their time that bursts
    /// are on a core of which it is known.
    shares: Vec<f64>,
}

impl<'a> CpuTimes<'a> {
    /// `None` where the run has no such counter. `phase_of` is as in
    /// [`RunMatch::phase_of`](super::RunMatch::phase_of), and there are `n` phases.
    ///
    /// # Complexity
    /// O(n) for n bursts.
    pub(super) fn of(run: &RunBursts<'a>, phase_of: &[Option<u32>], n: usize) -> Option<Self> {
        let (table, values) = (run.table, &cpu_time(run.table)?.values);
        let mut group = vec![n as u32; table.len()];
        for (i, phase) in run.complete.iter().zip(phase_of) {
            group[i as usize] = phase.unwrap_or(n as u32);
        }
        // CPU time and duration of bursts of which it is known: of each group, then of all.
        let mut known = vec![(0.0, 0.0); n + 2];
        for ((cpu, duration), &g) in values.iter().zip(&table.duration).zip(&group) {
            if cpu >= 0.0 {
                for sum in [g as usize, n + 1] {
                    known[sum].0 += cpu;
                    known[sum].1 += duration.0 as f64;
                }
            }
        }
        let share = |g: usize| [known[g], known[n + 1]].into_iter().find(|(_, time)| *time > 0.0);
        let shares = (0..=n).map(|g| share(g).map_or(1.0, |(cpu, time)| (cpu / time).min(1.0))).collect();
        Some(Self { table, values, group, shares })
    }

    /// What is known of a burst of the table.
    pub(super) fn of_burst(&self, i: usize) -> Bounds {
        let (cpu, duration) = (self.values.get(i), self.table.duration[i]);
        let time = duration.0 as f64;
        let (least, likely, most) = match cpu >= 0.0 {
            true => (cpu, cpu, cpu),
            false if duration.0 <= SHORT => (time, time, time),
            false => (0.0, self.shares[self.group[i] as usize] * time, time),
        };
        Bounds { least, likely, most, unknown: if least < most { time } else { 0.0 }, time }
    }
}

/// CPU time of some bursts, in ns: between `least` and `most`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    least: f64,
    /// Where it is not known of a long burst, it has the share of its time that those of its
    /// phase have of which it is known; else of the run.
    pub(super) likely: f64,
    most: f64,
    /// How long the bursts take by the clock of which it is not known.
    unknown: f64,
    /// How long all take.
    time: f64,
}

impl Bounds {
    /// Adds what is known of other bursts, `weight` times.
    pub(super) fn add(&mut self, weight: f64, other: &Self) {
        self.least += weight * other.least;
        self.likely += weight * other.likely;
        self.most += weight * other.most;
        self.unknown += weight * other.unknown;
        self.time += weight * other.time;
    }

    /// Adds what is known of a burst, and gives what is likely.
    pub(super) fn add_one(&mut self, burst: Self) -> f64 {
        self.add(1.0, &burst);
        burst.likely
    }

    /// What was measured in CPU time, if enough of it is known.
    pub(super) fn known(&self, measured: impl FnOnce() -> Measured) -> Option<Box<InCpu>> {
        let is_known = self.likely > 0.0 && self.unknown <= UNKNOWN * self.time;
        is_known.then(|| {
            let (least, most) = (self.least / self.likely, self.most / self.likely);
            Box::new(InCpu { measured: measured(), least, most })
        })
    }
}

/// Figures where times are CPU times: `each` has the thread and time of every burst, in burst
/// order.
pub(super) fn in_cpu(figures: &RunFigures, each: &[(u32, f64)]) -> RunFigures {
    let of_thread = |own: &[(u32, f64)]| own.iter().map(|(_, time)| time).sum::<f64>();
    let threads = each.chunk_by(|a, b| a.0 == b.0).map(of_thread);
    let (total, longest) = threads.fold((0.0, 0.0f64), |(sum, most), time| (sum + time, most.max(time)));
    RunFigures { total: Nanos(total as u64), longest: Nanos(longest as u64), alone: Nanos::ZERO, ..*figures }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{ClusterId, Clustering};
    use crate::table::{Counter, CounterColumn, Rows};

    /// Bursts of one phase, with their durations and CPU times in µs.
    fn bounds(bursts: &[(u64, f64)]) -> Option<Bounds> {
        let counter = Counter { event_type: None, name: "CPU time".to_owned(), description: "ns".to_owned() };
        let n = bursts.len();
        let table = BurstTable {
            app: vec![1; n].into(),
            task: vec![1; n].into(),
            thread: vec![1; n].into(),
            begin: (0..n as u64).map(|i| Nanos(1_000_000 * i)).collect(),
            duration: bursts.iter().map(|&(us, _)| Nanos(1_000 * us)).collect(),
            counters: vec![CounterColumn {
                counter,
                values: bursts.iter().map(|&(_, cpu)| 1_000.0 * cpu).collect(),
            }],
            code: None,
        };
        let clustering = Clustering { labels: vec![Some(ClusterId::from_index(0)); n], n_clusters: 1 };
        let run = RunBursts { table: &table, complete: &Rows::first(n), clustering: &clustering };
        let cpu = CpuTimes::of(&run, &vec![Some(0); n], 1)?;
        let mut sum = Bounds::default();
        (0..n).for_each(|i| sum.add(1.0, &cpu.of_burst(i)));
        Some(sum)
    }

    #[test]
    fn what_is_not_known_is_between_nothing_and_all_of_it() {
        let some = bounds(&[(100, 50.0), (10, f64::NAN), (30, f64::NAN)]).expect("there is a counter");
        assert_eq!((some.least, some.likely, some.most), (60_000.0, 75_000.0, 90_000.0));
        let once = || Measured::once(RunFigures::default());
        assert!(some.known(once).is_some_and(|cpu| cpu.least == 0.8 && cpu.most == 1.2));
        // A half of it and more is not known.
        let few = bounds(&[(10, f64::NAN), (30, f64::NAN)]).expect("there is a counter");
        assert!(few.known(once).is_none());
        let short = bounds(&[(10, f64::NAN), (20, f64::NAN)]).expect("there is a counter");
        assert!(short.known(once).is_some_and(|cpu| cpu.least == 1.0 && cpu.most == 1.0));
    }
}
