//! Phases that run on one thread while the others wait.

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

/// Whether a time is so large a share of another that the rest does not count.
pub(super) fn is_nearly_all(time: f64, total: f64) -> bool {
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
    /// `wall` as a share of `end`, 0 to 1.
    pub share: f64,
}

/// Which phases are serial: those that one thread computes while no other
/// thread of the run, or else of its task, does. By descending wall time.
///
/// `labels` has the phase of every burst of the table, `None` for noise and
/// for what was left out; all bursts count as computing. `end` is the length
/// of the run. Threads without any burst are not known here, so that a run
/// (or a task) of one thread has no serial phase.
///
/// # Panics
/// If there is not one label for every burst.
///
/// # Complexity
/// O(n log n) for n bursts.
#[must_use]
pub fn serial_phases(table: &BurstTable, labels: &[Option<ClusterId>], end: Nanos) -> Vec<SerialPhase> {
    assert_eq!(table.len(), labels.len(), "a label for every burst");
    let n_clusters = labels.iter().flatten().map(|id| id.index() + 1).max().unwrap_or(0);
    let (in_run, in_task, n_tasks) = alone(table);
    let mut phases: Vec<Phase> = vec![Phase::default(); n_clusters];
    for (i, label) in labels.iter().enumerate() {
        let Some(label) = label else { continue };
        phases[label.index()].add(table, i, in_run[i], in_task[i]);
    }
    let mut serial: Vec<SerialPhase> = Vec::new();
    for (at, phase) in phases.iter().enumerate() {
        let nearly = |time: u64| is_nearly_all(time as f64, phase.total as f64);
        let (scope, wall) = match phase {
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
            share: if end.0 > 0 { wall as f64 / end.0 as f64 } else { 0.0 },
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
    bursts: u64,
    /// The thread of all bursts so far; `Some(None)` if there are several.
    thread: Option<Option<(u32, u32, u32)>>,
}

impl Phase {
    fn add(&mut self, table: &BurstTable, i: usize, in_run: u64, in_task: u64) {
        self.total = self.total.saturating_add(table.duration[i].0);
        self.in_run = self.in_run.saturating_add(in_run);
        self.in_task = self.in_task.saturating_add(in_task);
        self.bursts += 1;
        let thread = (table.app[i], table.task[i], table.thread[i]);
        self.thread = match self.thread {
            None => Some(Some(thread)),
            Some(Some(before)) if before == thread => self.thread,
            Some(_) => Some(None),
        };
    }
}

/// For how many nanoseconds each burst is the only one: of the run, and of its
/// task, of those with several threads; and how many such tasks there are.
fn alone(table: &BurstTable) -> (Vec<u64>, Vec<u64>, u64) {
    let n = table.len();
    let (mut in_run, mut in_task) = (vec![0; n], vec![0; n]);
    let mut n_tasks = 0;
    let several = |rows: &[usize]| {
        let thread = |i: usize| (table.app[i], table.task[i], table.thread[i]);
        rows.iter().any(|&i| thread(i) != thread(rows[0]))
    };
    let all: Vec<usize> = (0..n).collect();
    if several(&all) {
        sweep(table, &all, &mut in_run);
    }
    // Burst order has each task in one piece.
    for rows in all.chunk_by(|&a, &b| (table.app[a], table.task[a]) == (table.app[b], table.task[b])) {
        if several(rows) {
            n_tasks += 1;
            sweep(table, rows, &mut in_task);
        }
    }
    (in_run, in_task, n_tasks)
}

/// Adds to each of those bursts the time in which it is the only one of them.
pub(super) fn sweep(table: &BurstTable, rows: &[usize], alone: &mut [u64]) {
    let mut ends: Vec<(u64, bool, usize)> = Vec::with_capacity(2 * rows.len());
    for &i in rows.iter().filter(|&&i| table.duration[i].0 > 0) {
        ends.push((table.begin[i].0, true, i));
        ends.push((table.end(i).0, false, i));
    }
    ends.sort_unstable();
    // The sum of the bursts that run; where it is one, it is that one.
    let (mut running, mut sum, mut since) = (0usize, 0usize, 0u64);
    for (time, begins, i) in ends {
        if running == 1 {
            alone[sum] += time - since;
        }
        since = time;
        (running, sum) = if begins { (running + 1, sum + i) } else { (running - 1, sum - i) };
    }
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
            app: vec![1; bursts.len()],
            task: bursts.iter().map(|b| b.0).collect(),
            thread: bursts.iter().map(|b| b.1).collect(),
            begin: bursts.iter().map(|b| Nanos(b.2)).collect(),
            duration: bursts.iter().map(|b| Nanos(b.3 - b.2)).collect(),
            ..BurstTable::default()
        };
        (table, bursts.iter().map(|b| Some(ClusterId::from_index(b.4))).collect())
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
            let (in_run, in_task, _) = alone(&table);
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
                prop_assert_eq!((in_run[i], in_task[i]), (only(None), only(Some(burst.0))));
            }
        }
    }
}
