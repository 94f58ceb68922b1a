//! A clock that counts work instead of time.

use rayon::prelude::*;

use crate::bursts::in_time::{Change, begin_of, end_of, in_time_order, time_of};
use crate::bursts::serial::is_nearly_all;
use crate::cluster::ClusterId;
use crate::table::{BurstTable, Nanos};

/// What the clock shows is kept at one of so many begins and ends, and counted
/// from there.
const EVERY: usize = 64;

/// It moves only while bursts run, and a whole burst moves it by the median
/// duration of its phase. So neither a task that is held up nor those that wait
/// for it move it further, and iterations with the same work are equally long.
pub(super) struct WorkClock<'a> {
    table: &'a BurstTable,
    labels: &'a [Option<ClusterId>],
    /// Of each phase the median duration.
    typical: Vec<f64>,
    /// What a burst of no phase counts at most.
    most: f64,
    /// Begins and ends of all bursts, by time.
    changes: Vec<u32>,
    /// What it showed before one of [`EVERY`] changes.
    before: Vec<Shown>,
    end: f64,
}

/// What bursts of no phase are to the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noise {
    /// Work like all others: most of them are bursts of some phase.
    Counts,
    /// Nothing that a loop does: where it comes now and then, iterations are as long without it.
    IsNothing,
}

/// What the clock shows right after a change.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    time: u64,
    /// Work done until then; ns of one thread.
    work: f64,
    /// Work per time from then on.
    pace: f64,
    /// Durations of the bursts that run right after it, summed.
    running: u64,
}

/// What a burst adds to the pace and to what runs.
#[derive(Clone, Copy, Debug)]
struct Paced {
    pace: f64,
    duration: u64,
}

impl Shown {
    fn step(&mut self, time: u64, change: u32, Paced { pace, duration }: Paced) {
        self.work += self.pace.max(0.0) * (time - self.time) as f64;
        self.time = time;
        if begin_of(change).is_some() {
            self.pace += pace;
            self.running = self.running.saturating_add(duration);
        } else {
            self.pace -= pace;
            self.running = self.running.saturating_sub(duration);
        }
    }
}

/// Begin and end of bursts, in work.
pub(super) type Spans = Vec<(f64, f64)>;

impl<'a> WorkClock<'a> {
    /// The clock, and when by it the bursts of each of the first `n_wanted` phases
    /// begin and end, ascending.
    ///
    /// `labels` has the phase of every burst. Bursts without one count their own
    /// length, and no more than a burst of a long phase ([`longest`]): most of them are
    /// bursts of some phase that lie a little apart, and may be of the longest. Or `noise`
    /// is nothing.
    ///
    /// # Complexity
    /// O(n log n) for n bursts. Eight bytes for each are kept, and 16 for each of a
    /// wanted phase; about as many more while it is made.
    pub(super) fn of(
        table: &'a BurstTable,
        labels: &'a [Option<ClusterId>],
        (n_phases, n_wanted): (usize, usize),
        noise: Noise,
    ) -> (Self, Vec<Spans>) {
        let (typical, times) = typical_durations(table, labels, n_phases);
        let most = match noise {
            Noise::Counts => longest(&typical, &times),
            Noise::IsNothing => 0.0,
        };
        let none = Vec::new();
        let mut clock = Self { table, labels, typical, most, changes: none, before: Vec::new(), end: 0.0 };
        let (mut changes, mut before) = (Vec::with_capacity(2 * table.len()), Vec::new());
        let mut spans = spans_for(labels, n_wanted);
        let mut place = vec![0u32; table.len()];
        let mut shown = Shown::default();
        let paced = |burst: usize| (clock.paced(burst), labels[burst]);
        in_time_order(table, 0..table.len(), paced, |Change { time, change, of: (paced, label) }| {
            if changes.len().is_multiple_of(EVERY) {
                before.push(shown);
            }
            changes.push(change);
            shown.step(time, change, paced);
            let Some(own) = label.and_then(|id| spans.get_mut(id.index())) else { return };
            if let Some(burst) = begin_of(change) {
                place[burst] = own.len() as u32;
                own.push((shown.work, shown.work));
            } else if let Some(burst) = end_of(change) {
                own[place[burst] as usize].1 = shown.work;
            }
        });
        (clock.changes, clock.before) = (changes, before);
        clock.end = shown.work;
        let sort_equal = |own: &mut Spans| {
            let same_begin = own.chunk_by_mut(|a, b| a.0 == b.0);
            same_begin.for_each(|equal| equal.sort_unstable_by(|a, b| a.1.total_cmp(&b.1)));
        };
        spans.par_iter_mut().for_each(sort_equal);
        (clock, spans)
    }

    fn paced(&self, burst: usize) -> Paced {
        let Nanos(duration) = self.table.duration[burst];
        let typical = match self.labels[burst] {
            Some(id) => self.typical[id.index()],
            None => (duration as f64).min(self.most),
        };
        Paced { pace: typical / (duration as f64).max(1.0), duration }
    }

    /// What it shows right after each change from that place on.
    fn shown_from(&self, place: usize) -> impl Iterator<Item = Shown> {
        let block = place / EVERY;
        let mut shown = self.before.get(block).copied().unwrap_or_default();
        let changes = self.changes.iter().skip(block * EVERY);
        let all = changes.map(move |&change| {
            shown.step(time_of(self.table, change), change, self.paced(change as usize / 2));
            shown
        });
        all.skip(place % EVERY)
    }

    /// How many changes come before the first whose time is not `holds`.
    fn count(&self, holds: impl Fn(u64) -> bool) -> usize {
        self.changes.partition_point(|&change| holds(time_of(self.table, change)))
    }

    /// Work done until `time`.
    #[cfg(test)]
    fn at(&self, time: u64) -> f64 {
        let Some(last) = self.count(|t| t <= time).checked_sub(1) else { return 0.0 };
        let mut shown = self.shown_from(last);
        let last = shown.next().expect("a change");
        let Some(until) = shown.next() else { return last.work };
        let part = (time - last.time) as f64 / (until.time - last.time) as f64;
        last.work + part * (until.work - last.work)
    }

    /// All work.
    pub(super) fn end(&self) -> f64 {
        self.end
    }

    /// The begin or end of a burst that is nearest to when `work` was done.
    fn nearest_change(&self, work: f64) -> u64 {
        let time = self.time(work);
        let next = self.count(|t| t < time);
        let near = [next.checked_sub(1), Some(next)].into_iter().flatten();
        let near = near.filter_map(|i| Some(time_of(self.table, *self.changes.get(i)?)));
        near.min_by_key(|t| t.abs_diff(time)).unwrap_or(time)
    }

    /// The last time at which no more than `work` was done.
    fn time(&self, work: f64) -> u64 {
        let block = self.before.partition_point(|shown| shown.work <= work).saturating_sub(1);
        let until = self.shown_from(block * EVERY).take_while(|shown| shown.work <= work).count();
        let next = block * EVERY + until;
        let mut shown = self.shown_from(next.saturating_sub(1));
        let Some(last) = shown.next() else { return 0 };
        let Some(until) = shown.next().filter(|_| next > 0) else { return last.time };
        let part = (work - last.work) / (until.work - last.work);
        last.time + (part * (until.time - last.time) as f64) as u64
    }

    /// Where to cut within the last `reach` of work before `work`, and what that
    /// costs: the durations of the bursts that are running then, plus the work
    /// between the cut and `work`. The second part keeps a cut from moving far to
    /// spare little: iterations that are cut at different steps would not be
    /// alike. Of equally cheap moments it is the latest.
    pub(super) fn best_cut_before(&self, work: f64, reach: f64) -> (u64, u64) {
        if work >= self.end() {
            return (self.changes.last().map_or(0, |&change| time_of(self.table, change)), 0);
        }
        let (from, to) = (self.time(work - reach), self.nearest_change(work));
        let first = self.count(|t| t <= from);
        let last = self.count(|t| t < to);
        let mut shown = self.shown_from(first.saturating_sub(1));
        let mut running = if first == 0 { 0 } else { shown.next().map_or(0, |shown| shown.running) };
        // At the end of each stretch between changes, and where `to` ends one.
        let cost = |next: usize| {
            let next = shown.next().filter(|_| next < last);
            let moved = next.map_or(0, |next| (work - next.work).max(0.0) as u64);
            let cost = running.saturating_add(moved);
            running = next.map_or(running, |next| next.running);
            (cost, std::cmp::Reverse(next.map_or(to, |next| next.time)))
        };
        (first..=last).map(cost).min().map_or((to, 0), |(cost, at)| (at.0, cost))
    }
}

/// Room for the spans of each of the first `n_wanted` phases, and no more.
fn spans_for(labels: &[Option<ClusterId>], n_wanted: usize) -> Vec<Spans> {
    let mut counts = vec![0; n_wanted];
    for id in labels.iter().flatten() {
        if let Some(count) = counts.get_mut(id.index()) {
            *count += 1;
        }
    }
    counts.into_iter().map(Vec::with_capacity).collect()
}

/// Of each phase the median duration, and the time of all its bursts.
fn typical_durations(
    table: &BurstTable,
    labels: &[Option<ClusterId>],
    n_phases: usize,
) -> (Vec<f64>, Vec<f64>) {
    let mut counts = vec![0; n_phases];
    labels.iter().flatten().for_each(|id| counts[id.index()] += 1);
    let mut durations: Vec<Vec<u64>> = counts.into_iter().map(Vec::with_capacity).collect();
    for (label, duration) in labels.iter().zip(&table.duration) {
        if let Some(id) = label {
            durations[id.index()].push(duration.0);
        }
    }
    let of_phase = |of_phase: &mut Vec<u64>| {
        let time: f64 = of_phase.iter().map(|&d| d as f64).sum();
        let middle = of_phase.len() / 2;
        if of_phase.is_empty() { (0.0, time) } else { (*of_phase.select_nth_unstable(middle).1 as f64, time) }
    };
    durations.par_iter_mut().map(of_phase).unzip()
}

/// The typical duration that nearly all of the time is spent in phases no longer than:
/// a phase that comes once in a while, and takes long, says nothing of a burst of none.
fn longest(typical: &[f64], times: &[f64]) -> f64 {
    let mut by_length: Vec<(f64, f64)> = typical.iter().copied().zip(times.iter().copied()).collect();
    by_length.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = times.iter().sum();
    let mut sum = 0.0;
    let found = by_length.into_iter().find(|&(_, time)| {
        sum += time;
        is_nearly_all(sum, all)
    });
    found.map_or(0.0, |(typical, _)| typical)
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
        let (clock, spans) = WorkClock::of(&table, &labels, (1, 1), Noise::Counts);
        let at: Vec<f64> = [0, 10, 20, 60, 70, 80, 99].map(|t| clock.at(t)).to_vec();
        assert_eq!(at, [0.0, 20.0, 20.0, 40.0, 40.0, 60.0, 60.0]);
        assert_eq!(clock.end(), 60.0);
        let spans_of_phase = [(0, 20), (0, 20), (20, 32), (20, 40), (40, 60), (40, 60)];
        let found: Vec<(u64, u64)> = spans[0].iter().map(|&(a, b)| (a as u64, b as u64)).collect();
        assert_eq!(found, spans_of_phase);
        assert_eq!((clock.time(30.0), clock.time(20.0), clock.time(60.0)), (28, 20, 80));
    }

    #[test]
    fn a_rare_long_phase_is_not_the_longest() {
        assert_eq!(longest(&[300.0, 100.0, 5000.0], &[60.0, 32.0, 8.0]), 300.0);
        assert_eq!(longest(&[300.0, 100.0, 5000.0], &[50.0, 30.0, 20.0]), 5000.0);
        assert_eq!(longest(&[7.0], &[1.0]), 7.0);
        assert_eq!(longest(&[], &[]), 0.0);
    }

    #[test]
    fn cuts_where_least_is_cut() {
        let (table, labels) = table(&[(1, 0, 10, 0), (1, 20, 10, 0), (2, 0, 13, 0), (2, 19, 11, 0)]);
        let (clock, _) = WorkClock::of(&table, &labels, (1, 0), Noise::Counts);
        // At 20 a burst of 11 is cut; until 19 nothing runs, and the work of 1 moves.
        assert_eq!(clock.best_cut_before(clock.at(20), 15.0), (19, 1));
        // Out of reach.
        assert_eq!(clock.best_cut_before(clock.at(20), 0.5), (20, 11));
        assert_eq!(clock.best_cut_before(clock.end(), 15.0), (30, 0));
    }
}
