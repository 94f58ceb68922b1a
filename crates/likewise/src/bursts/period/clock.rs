//! A clock that counts work instead of time.

use rayon::prelude::*;

use crate::cluster::ClusterId;
use crate::table::BurstTable;

/// It moves only while bursts run, and a whole burst moves it by the median
/// duration of its phase. So neither a task that is held up nor those that wait
/// for it move it further, and iterations with the same work are equally long.
pub(super) struct WorkClock {
    /// Begins and ends of all bursts in ns, ascending.
    times: Vec<u64>,
    /// Work done at each of them, ascending; ns of one thread.
    work: Vec<f64>,
    /// Durations of the bursts that run right after each of them, summed.
    running: Vec<u64>,
}

impl WorkClock {
    /// The clock, and what it shows at begin and end of every burst.
    ///
    /// `labels` has the phase of every burst. Bursts without one count their
    /// own length, and no more than a burst with one does on average.
    ///
    /// # Complexity
    /// O(n log n); 48 bytes for each begin and end while it is made, 24 after.
    pub(super) fn of(
        table: &BurstTable,
        labels: &[Option<ClusterId>],
        n_phases: usize,
    ) -> (Self, Vec<(f64, f64)>) {
        let typical = typical_durations(table, labels, n_phases);
        let pace_of = |i: usize| {
            let duration = table.duration[i].0 as f64;
            labels[i].map_or(duration.min(typical[n_phases]), |id| typical[id.index()]) / duration.max(1.0)
        };
        // By time, then in burst order; a burst of no length begins before it ends.
        let change = |i: usize| [(table.begin[i].0, i as u32, false), (table.end(i).0, i as u32, true)];
        let mut changes: Vec<(u64, u32, bool)> =
            (0..table.len()).into_par_iter().flat_map_iter(change).collect();
        // Stable, because that merges what is in order: each thread's bursts are.
        changes.par_sort();
        let n = changes.len();
        let mut clock = Self {
            times: Vec::with_capacity(n),
            work: Vec::with_capacity(n),
            running: Vec::with_capacity(n),
        };
        let mut spans = vec![(0.0, 0.0); table.len()];
        let (mut done, mut pace, mut running, mut last) = (0.0, 0.0f64, 0u64, 0);
        for (time, burst, ends) in changes {
            let i = burst as usize;
            done += pace.max(0.0) * (time - last) as f64;
            last = time;
            let duration = table.duration[i].0;
            if ends {
                spans[i].1 = done;
                (pace, running) = (pace - pace_of(i), running.saturating_sub(duration));
            } else {
                spans[i].0 = done;
                (pace, running) = (pace + pace_of(i), running.saturating_add(duration));
            }
            clock.times.push(time);
            clock.work.push(done);
            clock.running.push(running);
        }
        (clock, spans)
    }

    /// Work done until `time`.
    #[cfg(test)]
    fn at(&self, time: u64) -> f64 {
        let next = self.times.partition_point(|&t| t <= time);
        let Some(last) = next.checked_sub(1) else { return 0.0 };
        let Some(&until) = self.times.get(next) else { return self.work[last] };
        let part = (time - self.times[last]) as f64 / (until - self.times[last]) as f64;
        self.work[last] + part * (self.work[next] - self.work[last])
    }

    /// All work.
    pub(super) fn end(&self) -> f64 {
        self.work.last().copied().unwrap_or(0.0)
    }

    /// The begin or end of a burst that is nearest to when `work` was done.
    fn nearest_change(&self, work: f64) -> u64 {
        let time = self.time(work);
        let next = self.times.partition_point(|&t| t < time);
        let near = [next.checked_sub(1), Some(next)].into_iter().flatten();
        let near = near.filter_map(|i| self.times.get(i).copied());
        near.min_by_key(|t| t.abs_diff(time)).unwrap_or(time)
    }

    /// The last time at which no more than `work` was done.
    fn time(&self, work: f64) -> u64 {
        let next = self.work.partition_point(|&w| w <= work);
        let Some(last) = next.checked_sub(1) else { return self.times.first().copied().unwrap_or(0) };
        let Some(&until) = self.work.get(next) else { return self.times[last] };
        let part = (work - self.work[last]) / (until - self.work[last]);
        self.times[last] + (part * (self.times[next] - self.times[last]) as f64) as u64
    }

    /// Where to cut within the last `reach` of work before `work`, and what that
    /// costs: the durations of the bursts that are running then, plus the work
    /// between the cut and `work`. The second part keeps a cut from moving far to
    /// spare little: iterations that are cut at different steps would not be
    /// alike. Of equally cheap moments it is the latest.
    pub(super) fn best_cut_before(&self, work: f64, reach: f64) -> (u64, u64) {
        if work >= self.end() {
            return (self.times.last().copied().unwrap_or(0), 0);
        }
        let (from, to) = (self.time(work - reach), self.nearest_change(work));
        let first = self.times.partition_point(|&t| t <= from);
        let last = self.times.partition_point(|&t| t < to);
        // At the end of each stretch between changes, and where `to` ends one.
        let running = |next: usize| next.checked_sub(1).map_or(0, |i| self.running[i]);
        let moved = |next: usize| if next < last { (work - self.work[next]).max(0.0) as u64 } else { 0 };
        let time = |next: usize| if next < last { self.times[next] } else { to };
        let cost = |next: usize| (running(next).saturating_add(moved(next)), std::cmp::Reverse(time(next)));
        (first..=last).map(cost).min().map_or((to, 0), |(cost, at)| (at.0, cost))
    }
}

/// Of each phase the median duration, then the mean over all phases.
fn typical_durations(table: &BurstTable, labels: &[Option<ClusterId>], n_phases: usize) -> Vec<f64> {
    let mut durations = vec![Vec::new(); n_phases];
    for (label, duration) in labels.iter().zip(&table.duration) {
        if let Some(id) = label {
            durations[id.index()].push(duration.0);
        }
    }
    let n: usize = durations.iter().map(Vec::len).sum();
    let sum: f64 = durations.iter().flatten().map(|&d| d as f64).sum();
    let median = |of_phase: &mut Vec<u64>| {
        let middle = of_phase.len() / 2;
        if of_phase.is_empty() { 0.0 } else { *of_phase.select_nth_unstable(middle).1 as f64 }
    };
    let mut typical: Vec<f64> = durations.par_iter_mut().map(median).collect();
    typical.push(sum / n.max(1) as f64);
    typical
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bursts::period::tests::table;

    #[test]
    fn a_burst_that_is_held_up_takes_no_longer() {
        // Phase 0 takes 10, but once 40; the other task waits for it.
        let bursts =
            [(1, 0, 10, 0), (1, 20, 40, 0), (1, 70, 10, 0), (2, 0, 10, 0), (2, 20, 10, 0), (2, 70, 10, 0)];
        let (table, labels) = table(&bursts);
        let (clock, spans) = WorkClock::of(&table, &labels, 1);
        let at: Vec<f64> = [0, 10, 20, 60, 70, 80, 99].map(|t| clock.at(t)).to_vec();
        assert_eq!(at, [0.0, 20.0, 20.0, 40.0, 40.0, 60.0, 60.0]);
        assert_eq!(clock.end(), 60.0);
        assert_eq!(spans[..3], [(0.0, 20.0), (20.0, 40.0), (40.0, 60.0)]);
        assert_eq!(spans[4], (20.0, 32.5));
        assert_eq!((clock.time(30.0), clock.time(20.0), clock.time(60.0)), (28, 20, 80));
    }

    #[test]
    fn cuts_where_least_is_cut() {
        let (table, labels) = table(&[(1, 0, 10, 0), (1, 20, 10, 0), (2, 0, 13, 0), (2, 19, 11, 0)]);
        let (clock, _) = WorkClock::of(&table, &labels, 1);
        // At 20 a burst of 11 is cut; until 19 nothing runs, and the work of 1 moves.
        assert_eq!(clock.best_cut_before(clock.at(20), 15.0), (19, 1));
        // Out of reach.
        assert_eq!(clock.best_cut_before(clock.at(20), 0.5), (20, 11));
        assert_eq!(clock.best_cut_before(clock.end(), 15.0), (30, 0));
    }
}
