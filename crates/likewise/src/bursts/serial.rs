//! Phases that run on one thread while the others wait.

use std::ops::Range;

use super::in_time::{Change, begin_of, end_of, in_time_order};
use crate::cluster::ClusterId;
use crate::table::{BurstTable, Nanos};

/// A phase is serial if its bursts pass at least this share of their time
/// while no other thread computes. The rest is for what lies beside: a thread
/// that still finishes, or polls.
///
/// The tests hold it against imbalance: in a phase of which one thread takes
/// five times as long as the others, 80 % of that thread's time is alone, but
/// 50 % of the phase's; such a phase is not serial.
pub(super) const NEARLY_ALL: f64 = 0.9;

/// Whether a time is so large a share of another (nine tenths) that the rest does not count.
#[must_use]
pub fn is_nearly_all(time: f64, total: f64) -> bool {
    time > 0.0 && time >= NEARLY_ALL * total
}

/// Among which threads a phase is alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// No other thread of the run computes.
    Run,
    /// No other thread of the same task computes; other tasks may.
    Task,
}

/// A phase during which one thread computes and the others do not.
#[derive(Clone, Debug, PartialEq)]
pub struct SerialPhase {
    /// Which phase.
    pub cluster: ClusterId,
    /// Who waits.
    pub scope: Scope,
    /// Application, task and thread that compute, where it is always the same.
    pub thread: Option<(u32, u32, u32)>,
    /// How many bursts the phase has.
    pub bursts: u64,
    /// Wall time during which the phase's thread alone computes: with
    /// [`Scope::Task`], the mean over the tasks of several threads.
    pub wall: Nanos,
    /// `wall` as a share of `length`, 0 to 1.
    pub share: f64,
}

/// Which phases are serial: those that one thread computes while no other
/// thread of the run, or else of its task, does. By descending wall time.
///
/// `labels` has the phase of every burst of the table, `None` for noise and
/// for what was left out; all bursts count as computing. `length` is that of
/// the run. Threads without any burst are not known here, so that a run (or a
/// task) of one thread has no serial phase. A phase with which more than half of
/// the threads begin, and which is hardly done else, is not serial, unless one thread computes
/// when all have begun: before its first burst a thread may not exist yet.
///
/// # Panics
/// If there is not one label for every burst.
///
/// # Complexity
/// O(n log n) for n bursts.
#[must_use]
pub fn serial_phases(table: &BurstTable, labels: &[Option<ClusterId>], length: Nanos) -> Vec<SerialPhase> {
    assert_eq!(table.len(), labels.len(), "a label for every burst");
    let n_clusters = labels.iter().flatten().map(|id| id.index() + 1).max().unwrap_or(0);
    let mut phases: Vec<Phase> = vec![Phase::default(); n_clusters];
    let mut n_threads = 0;
    for (thread, bursts) in table.threads() {
        n_threads += 1;
        for (label, &duration) in labels[bursts.clone()].iter().zip(&table.duration[bursts.clone()]) {
            if let Some(label) = label {
                phases[label.index()].add(thread, duration);
            }
        }
        // They are by begin; one burst alone is the begin of nothing.
        if let Some(label) = labels[bursts.start].filter(|_| bursts.len() > 1) {
            phases[label.index()].begins_thread(table.duration[bursts.start]);
        }
    }
    let n_tasks = add_alone(table, labels, &mut phases);
    let mut serial: Vec<SerialPhase> = Vec::new();
    for (at, phase) in phases.iter().enumerate() {
        let nearly = |time: u64| is_nearly_all(time as f64, phase.total as f64);
        let (scope, wall) = match phase {
            // Each thread does it at its own begin, and so none waits for another that had begun.
            _ if nearly(phase.at_begin)
                && 2 * phase.begun > n_threads
                && !nearly(phase.when_all_had_begun) =>
            {
                continue;
            }
            _ if nearly(phase.in_run) => (Scope::Run, phase.in_run),
            _ if nearly(phase.in_task) => (Scope::Task, phase.in_task / n_tasks.max(1)),
            _ => continue,
        };
        serial.push(SerialPhase {
            cluster: ClusterId::from_index(at),
            scope,
            thread: phase.thread.flatten(),
            bursts: phase.bursts,
            wall: Nanos(wall),
            share: if length.0 > 0 { wall as f64 / length.0 as f64 } else { 0.0 },
        });
    }
    serial.sort_by(|a, b| b.wall.cmp(&a.wall).then(a.cluster.cmp(&b.cluster)));
    serial
}

/// Sums over the bursts of a phase, in nanoseconds.
#[derive(Clone, Debug, Default)]
struct Phase {
    total: u64,
    in_run: u64,
    in_task: u64,
    /// As `in_run`, after the last of all threads has begun.
    when_all_had_begun: u64,
    bursts: u64,
    /// The same of bursts that are the first of their threads, and how many threads begin with it.
    at_begin: u64,
    begun: u64,
    /// The thread of all bursts so far; `Some(None)` if there are several.
    thread: Option<Option<(u32, u32, u32)>>,
}

impl Phase {
    fn add(&mut self, thread: (u32, u32, u32), duration: Nanos) {
        self.total = self.total.saturating_add(duration.0);
        self.bursts += 1;
        self.thread = match self.thread {
            None => Some(Some(thread)),
            Some(Some(before)) if before == thread => self.thread,
            Some(_) => Some(None),
        };
    }

    /// A thread begins with a burst of it.
    fn begins_thread(&mut self, duration: Nanos) {
        self.at_begin = self.at_begin.saturating_add(duration.0);
        self.begun += 1;
    }
}

/// Adds to the phases for how long their bursts are the only ones: of the run, and
/// of their task, where that has several threads. Returns how many such tasks
/// there are.
fn add_alone(table: &BurstTable, labels: &[Option<ClusterId>], phases: &mut [Phase]) -> u64 {
    let mut add = |rows: Range<usize>, to: &dyn Fn(&mut Phase, Range<u64>)| {
        sweep(table, rows, |i, alone| {
            if let Some(label) = labels[i] {
                to(&mut phases[label.index()], alone);
            }
        });
    };
    let threads: Vec<_> = table.threads().collect();
    if threads.len() > 1 {
        let last = threads.iter().map(|(_, bursts)| table.begin[bursts.start].0).max().unwrap_or(0);
        add(0..table.len(), &|phase, alone| {
            let after = alone.end.saturating_sub(alone.start.max(last));
            phase.in_run = phase.in_run.saturating_add(alone.end - alone.start);
            phase.when_all_had_begun = phase.when_all_had_begun.saturating_add(after);
        });
    }
    let mut n_tasks = 0;
    for of_task in
        threads.chunk_by(|a, b| (a.0.0, a.0.1) == (b.0.0, b.0.1)).filter(|threads| threads.len() > 1)
    {
        n_tasks += 1;
        add(of_task[0].1.start..of_task[of_task.len() - 1].1.end, &|phase, alone| {
            phase.in_task = phase.in_task.saturating_add(alone.end - alone.start);
        });
    }
    n_tasks
}

/// Tells when, in ns, a burst is the only one of those rows, in pieces.
pub(super) fn sweep(table: &BurstTable, rows: Range<usize>, mut alone: impl FnMut(usize, Range<u64>)) {
    // The sum of the bursts that run; where it is one, it is that one.
    let (mut running, mut sum, mut since) = (0usize, 0usize, 0u64);
    in_time_order(
        table,
        rows,
        |_| (),
        |Change { time, change, .. }| {
            if running == 1 && time > since {
                alone(sum, since..time);
            }
            since = time;
            if let Some(i) = begin_of(change) {
                (running, sum) = (running + 1, sum.wrapping_add(i));
            } else if let Some(i) = end_of(change) {
                (running, sum) = (running - 1, sum.wrapping_sub(i));
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bursts of task, thread, begin, end and phase, in burst order.
    type Made = (u32, u32, u64, u64, usize);

    fn serial(bursts: &[Made], end: u64) -> Vec<(usize, Scope, Option<u32>, u64)> {
        let (table, labels) = table(bursts);
        let phases = serial_phases(&table, &labels, Nanos(end));
        let row = |p: SerialPhase| {
            assert!((p.share - p.wall.0 as f64 / end as f64).abs() < 1e-12);
            (p.cluster.index(), p.scope, p.thread.map(|t| t.2), p.wall.0)
        };
        phases.into_iter().map(row).collect()
    }

    fn table(bursts: &[Made]) -> (BurstTable, Vec<Option<ClusterId>>) {
        let table = BurstTable {
            app: vec![1; bursts.len()].into(),
            task: bursts.iter().map(|b| b.0).collect(),
            thread: bursts.iter().map(|b| b.1).collect(),
            begin: bursts.iter().map(|b| Nanos(b.2)).collect(),
            duration: bursts.iter().map(|b| Nanos(b.3 - b.2)).collect(),
            ..BurstTable::default()
        };
        (table, bursts.iter().map(|b| Some(ClusterId::from_index(b.4))).collect())
    }

    #[test]
    fn what_each_thread_begins_with_is_not_serial() {
        let begins = |before: bool| {
            let of = move |task: u32| {
                let begin = 100 * u64::from(task);
                let short = before.then_some((task, 1, 0, 1, 1));
                short.into_iter().chain([(task, 1, begin, begin + 50, 0), (task, 1, 900, 990, 1)])
            };
            (1..5).flat_map(of).collect::<Vec<Made>>()
        };
        assert_eq!(serial(&begins(false), 1_000), []);
        // Who has begun before waits for its turn.
        assert_eq!(serial(&begins(true), 1_000), [(0, Scope::Run, None, 200)]);
        // All begin at once, and wait for one.
        let long = |task: u32| if task == 1 { 500 } else { 10 };
        let at_once: Vec<Made> =
            (1..5).flat_map(|task| [(task, 1, 0, long(task), 0), (task, 1, 600, 690, 1)]).collect();
        assert_eq!(serial(&at_once, 1_000), [(0, Scope::Run, None, 490)]);
    }

    #[test]
    fn what_the_master_does_between_regions_is_serial() {
        // Phase 0 is a region on two threads, phase 1 lies between its instances.
        let run = [(1, 1, 0, 10, 1), (1, 1, 10, 50, 0), (1, 1, 50, 90, 1), (1, 2, 11, 48, 0)];
        assert_eq!(serial(&run, 100), [(1, Scope::Run, Some(1), 50)]);
        // The same on two tasks at once: others compute meanwhile.
        let both: Vec<Made> =
            [1, 2].iter().flat_map(|&task| run.map(|b| (task, b.1, b.2, b.3, b.4))).collect();
        assert_eq!(serial(&both, 100), [(1, Scope::Task, None, 50)]);
    }

    #[test]
    fn an_imbalance_is_not_serial() {
        let slow_thread = [(1, 1, 0, 50, 0), (2, 1, 0, 10, 0), (3, 1, 0, 10, 0), (4, 1, 0, 10, 0)];
        assert_eq!(serial(&slow_thread, 50), []);
        let one_after_another = [(1, 1, 0, 10, 0), (2, 1, 10, 20, 0), (3, 1, 20, 30, 0)];
        assert_eq!(serial(&one_after_another, 40), [(0, Scope::Run, None, 30)], "nobody else computes");
        assert_eq!(serial(&[(1, 1, 0, 10, 0), (1, 1, 20, 30, 0)], 40), [], "a run of one thread");
        assert_eq!(serial(&[], 40), []);
    }

    proptest! {
        #[test]
        fn the_sweep_agrees_with_counting_every_nanosecond(
            made in prop::collection::vec((1..3u32, 1..4u32, 0..40u64, 0..20u64, 0..3usize), 0..30)
        ) {
            let mut made: Vec<Made> = made.into_iter().map(|(t, h, b, d, p)| (t, h, b, b + d, p)).collect();
            made.sort_unstable();
            let (table, _) = table(&made);
            // Each burst is a phase of its own.
            let labels: Vec<Option<ClusterId>> = (0..made.len()).map(|i| Some(ClusterId::from_index(i))).collect();
            let mut phases = vec![Phase::default(); made.len()];
            add_alone(&table, &labels, &mut phases);
            let several = |task: Option<u32>| {
                let mut threads: Vec<_> =
                    made.iter().filter(|b| task.is_none_or(|t| b.0 == t)).map(|b| (b.0, b.1)).collect();
                threads.dedup();
                threads.len() > 1
            };
            for (i, burst) in made.iter().enumerate() {
                let only = |task: Option<u32>| {
                    let others = || made.iter().enumerate().filter(|&(j, b)| j != i && task.is_none_or(|t| b.0 == t));
                    let free = |&t: &u64| !others().any(|(_, b)| b.2 <= t && t < b.3);
                    if several(task) { (burst.2..burst.3).filter(free).count() as u64 } else { 0 }
                };
                prop_assert_eq!((phases[i].in_run, phases[i].in_task), (only(None), only(Some(burst.0))));
            }
        }
    }
}
