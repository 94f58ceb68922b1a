//! The bursts of a run that count, with their phases and threads.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::repeat_n;

use super::finding::{FEWEST, FindingsInput, TaskBegins, ThreadName};
use rustc_hash::FxHashSet;

use crate::bursts::in_time::by_begin;
use crate::cluster::ClusterId;
use crate::table::{BurstTable, Nanos};

/// Of so many pairs of a label and a thread, or of as many as there are bursts,
/// each has a place; of more, only those that occur.
const MOST_PAIRS: usize = 1 << 16;

/// A thread is compared with others if at least this share of its time it does not sleep: it may
/// compute between two calls before it waits for the rest of the run.
const LEAST_AWAKE: f64 = 0.01;

/// One that does not is left out if it sleeps in its bursts for this share of the run. Else it waits
/// elsewhere, as all do, and may have no part of the work.
const ASLEEP_OF_RUN: f64 = 0.5;

/// In place of a thread's place, of one that is not compared with others.
const NOT_COMPARED: u32 = u32::MAX;

/// The bursts of a run that are long enough.
pub(super) struct Counted<'a> {
    pub(super) table: &'a BurstTable,
    /// Of each burst of the table.
    phase: &'a [Option<ClusterId>],
    /// The label of bursts of no phase; phases are labelled by their place.
    noise: u32,
    /// Shorter bursts were not grouped.
    pub(super) grouped_from: Nanos,
    /// Of each burst of the table, the place of its thread in `names`.
    thread: Vec<u32>,
    names: Vec<ThreadName>,
    /// Those of them that sleep in their bursts for [`ASLEEP_OF_RUN`], but compute too.
    sleepers: Vec<ThreadName>,
    /// When the first burst of each of these begins, however short, and that of any other.
    first: Vec<Nanos>,
    first_of_rest: Nanos,
    /// When the last burst of each of them ends.
    last: Vec<Nanos>,
    /// By begin.
    pub(super) order: Vec<u32>,
}

impl<'a> Counted<'a> {
    pub(super) fn of(input: &FindingsInput<'a>) -> Self {
        let table = input.table;
        let noise = input.phase.iter().flatten().map(|id| id.index() as u32 + 1).max().unwrap_or(0);
        let (mut names, mut thread) = (Vec::new(), Vec::with_capacity(table.len()));
        let (mut first, mut first_of_rest) = (Vec::new(), Nanos(u64::MAX));
        let mut last: Vec<Nanos> = Vec::new();
        let run = input.part.end.saturating_sub(input.part.start).0 as f64;
        let mut sleepers = Vec::new();
        let is_asleep = |i: usize| input.is_asleep(i);
        for ((_, task, number), bursts) in table.threads() {
            // One that does nothing but wait for others is none of those that share the work.
            let time = |i: usize| table.duration[i].0 as f64;
            let awake: f64 = bursts.clone().filter(|&i| !is_asleep(i)).map(time).sum();
            let all = bursts.clone().map(time).sum::<f64>();
            if awake < LEAST_AWAKE * all && all - awake >= ASLEEP_OF_RUN * run {
                thread.extend(repeat_n(NOT_COMPARED, bursts.len()));
                first_of_rest = first_of_rest.min(table.begin[bursts.start]);
                continue;
            }
            let name = ThreadName { task, thread: number };
            if all - awake >= ASLEEP_OF_RUN * run {
                sleepers.push(name);
            }
            if names.last() != Some(&name) {
                names.push(name);
                // They are by begin.
                first.push(table.begin[bursts.start]);
                last.push(Nanos::ZERO);
            }
            if let (Some(last), Some(burst)) = (last.last_mut(), bursts.clone().next_back()) {
                *last = table.end(burst).max(*last);
            }
            thread.extend(repeat_n(names.len() as u32 - 1, bursts.len()));
        }
        let shortest = input.shortest.max(Nanos(1));
        let counts = |i: usize| {
            table.duration[i] >= shortest && thread[i] != NOT_COMPARED && !is_asleep(i) && input.is_in_part(i)
        };
        let order = by_begin(table, counts);
        let (phase, grouped_from) = (input.phase, input.grouped_from);
        Self { table, phase, noise, grouped_from, thread, names, sleepers, first, first_of_rest, last, order }
    }

    /// Whether there are several tasks, and several threads in some of them.
    pub(super) fn is_hybrid(&self) -> bool {
        self.n_tasks() > 1 && self.n_tasks() < self.names.len()
    }

    pub(super) fn n_tasks(&self) -> usize {
        self.names.chunk_by(|a, b| a.task == b.task).count()
    }

    /// How much of some bursts is before the first burst of any thread but these; 0 where some
    /// tasks, of several, have several threads: there the others of a task may be meant.
    pub(super) fn before_others(&self, bursts: impl Iterator<Item = u32>, threads: &[u32]) -> Nanos {
        if self.is_hybrid() {
            return Nanos::ZERO;
        }
        let others = (0..).zip(&self.first).filter(|(thread, _)| !threads.contains(thread));
        let first = others.map(|(_, first)| *first).fold(self.first_of_rest, Nanos::min);
        if first == Nanos(u64::MAX) {
            return Nanos::ZERO;
        }
        let before = |burst: u32| self.end(burst).min(first).saturating_sub(self.begin(burst));
        bursts.map(before).fold(Nanos::ZERO, Nanos::saturating_add)
    }

    /// How much of some bursts is behind the last burst of one of the other threads: it may have ended.
    /// 0 as above.
    pub(super) fn behind_one(&self, bursts: impl Iterator<Item = u32>, threads: &[u32]) -> Nanos {
        if self.is_hybrid() {
            return Nanos::ZERO;
        }
        let others = (0..).zip(&self.last).filter(|(thread, _)| !threads.contains(thread));
        let Some(last) = others.map(|(_, last)| *last).min() else { return Nanos::ZERO };
        let behind = |burst: u32| self.end(burst).saturating_sub(self.begin(burst).max(last));
        bursts.map(behind).fold(Nanos::ZERO, Nanos::saturating_add)
    }

    /// Whether threads do nothing often: the mean thread has fewer bursts than it takes for one of them to
    /// stand out.
    pub(super) fn are_few(&self) -> bool {
        self.order.len() < FEWEST * self.names.len()
    }

    /// When the first burst of each thread that is compared begins, however short.
    pub(super) fn first_begins(&self) -> impl Iterator<Item = Nanos> {
        self.first.iter().copied()
    }

    /// The tasks that begin first and last, and when, if there are several: when the first burst of
    /// any thread of each begins.
    pub(super) fn begun(&self) -> Option<TaskBegins> {
        let mut tasks: Vec<(Nanos, u32)> = Vec::new();
        for (name, &first) in self.names.iter().zip(&self.first) {
            match tasks.last_mut() {
                Some(last) if last.1 == name.task => last.0 = first.min(last.0),
                _ => tasks.push((first, name.task)),
            }
        }
        let (first, _) = tasks.iter().copied().min()?;
        let (last, task) = tasks.iter().copied().max()?;
        (tasks.len() > 1).then_some(TaskBegins { first, last, task })
    }

    /// How many threads compute at once at most.
    ///
    /// # Complexity
    /// O(n log t) for n bursts of t threads.
    pub(super) fn at_once(&self) -> usize {
        let (mut running, mut most) = (BinaryHeap::new(), 0);
        for &burst in &self.order {
            let begin = self.begin(burst);
            while running.peek().is_some_and(|&Reverse(end)| end <= begin) {
                running.pop();
            }
            running.push(Reverse(self.end(burst)));
            most = most.max(running.len());
        }
        most
    }

    /// The bursts of each phase, by begin.
    pub(super) fn bursts_by_label(&self) -> Vec<Vec<u32>> {
        let mut bursts = vec![Vec::new(); self.noise() as usize];
        for &burst in self.order.iter().filter(|&&burst| self.label(burst) != self.noise()) {
            bursts[self.label(burst) as usize].push(burst);
        }
        bursts
    }

    /// How many threads have each label.
    pub(super) fn threads_by_label(&self) -> Vec<usize> {
        let n_threads = self.names.len();
        let mut counts = vec![0; self.n_labels()];
        let pairs = self.order.iter().map(|&burst| (self.label(burst), self.thread(burst)));
        if self.n_labels() * n_threads > MOST_PAIRS.max(self.order.len()) {
            let pairs: FxHashSet<(u32, u32)> = pairs.collect();
            pairs.into_iter().for_each(|(label, _)| counts[label as usize] += 1);
            return counts;
        }
        let mut seen = vec![false; self.n_labels() * n_threads];
        for (label, thread) in pairs {
            let seen = &mut seen[label as usize * n_threads + thread as usize];
            counts[label as usize] += usize::from(!std::mem::replace(seen, true));
        }
        counts
    }

    pub(super) fn n_labels(&self) -> usize {
        self.noise as usize + 1
    }

    pub(super) fn noise(&self) -> u32 {
        self.noise
    }

    pub(super) fn label(&self, burst: u32) -> u32 {
        self.phase[burst as usize].map_or(self.noise, |id| id.index() as u32)
    }

    pub(super) fn thread(&self, burst: u32) -> u32 {
        self.thread[burst as usize]
    }

    /// Whether a thread sleeps in its bursts for half of the run.
    pub(super) fn sleeps(&self, name: &ThreadName) -> bool {
        self.sleepers.contains(name)
    }

    pub(super) fn names(&self) -> &[ThreadName] {
        &self.names
    }

    pub(super) fn name(&self, burst: u32) -> ThreadName {
        self.names[self.thread(burst) as usize]
    }

    pub(super) fn duration(&self, burst: u32) -> u64 {
        self.table.duration[burst as usize].0
    }

    pub(super) fn begin(&self, burst: u32) -> Nanos {
        self.table.begin[burst as usize]
    }

    pub(super) fn end(&self, burst: u32) -> Nanos {
        self.table.end(burst as usize)
    }

    /// The phases among labels.
    pub(super) fn phases(&self, labels: impl Iterator<Item = u32>) -> Vec<ClusterId> {
        labels
            .filter(|&label| label != self.noise)
            .map(|label| ClusterId::from_index(label as usize))
            .collect()
    }
}
