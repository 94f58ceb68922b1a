//! Bursts of OpenMP programs: what a thread computes in a parallel region, and
//! what its master computes between regions.
//!
//! Tracers split Running at every lock, critical section, ordered section and
//! visit to the scheduler of a loop or a task. This module puts the pieces
//! together again. It takes a thread's records folded with every state. A
//! burst ends where a region begins or ends, where the thread waits for others
//! (at a barrier, for tasks), at a call to anything that is not OpenMP (MPI,
//! I/O), and where the thread idles.

use std::collections::BTreeMap;

use likewise::table::PlaceId;

use super::bursts::Bursts;
use super::cover::Cover;
use super::place::{Function, Place};
use super::runs::Carried;
use super::steps::Mark;
use crate::trace::RUNNING;

/// The marks of a thread, with their times.
pub(crate) type Marks = Vec<(u64, Mark<PlaceId>)>;

/// What was put together, for people; times in the file's unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joined {
    /// Bursts in regions.
    pub(crate) inside: u64,
    /// Bursts elsewhere.
    pub(crate) outside: u64,
    /// Time of all bursts, and how much of it the runtime took.
    pub(crate) time: u64,
    pub(crate) runtime: u64,
    /// The same two of the bursts in each region.
    pub(crate) regions: BTreeMap<PlaceId, [u64; 2]>,
    /// Time outside of any region in which threads that only work in regions
    /// were marked as running.
    pub(crate) waiting: u64,
}

impl Joined {
    pub(crate) fn add(&mut self, other: &Joined) {
        self.inside += other.inside;
        self.outside += other.outside;
        self.time += other.time;
        self.runtime += other.runtime;
        self.waiting += other.waiting;
        other.regions.iter().for_each(|(&region, &times)| self.add_to(region, times));
    }

    fn add_to(&mut self, region: PlaceId, [time, runtime]: [u64; 2]) {
        let of_region = self.regions.entry(region).or_default();
        *of_region = [of_region[0] + time, of_region[1] + runtime];
    }
}

/// Puts the pieces of one thread together. `pieces` are all its states and
/// `marks` its marks, both in order of time; `is_first` says whether it is the
/// first thread of its task.
///
/// A thread that executes regions but opens none, and is not the first of its
/// task, waits in the runtime outside of regions, whatever its state says.
pub(crate) fn join(pieces: &Bursts, marks: &Marks, is_first: bool) -> (Bursts, Joined) {
    let is = |wanted: fn(&Mark<PlaceId>) -> bool| marks.iter().any(|(_, mark)| wanted(mark));
    let worker = !is_first && is(|m| matches!(m, Mark::Enter(_))) && !is(|m| *m == Mark::Fork);
    let mut joiner = Joiner::new(pieces, worker);
    let mut position = Position::default();
    let mut next = 0;
    for (i, carried) in pieces.runs.bursts().enumerate() {
        while let Some((time, mark)) = marks.get(next).filter(|(time, _)| *time <= pieces.begin[i]) {
            position.step(*time, *mark);
            next += 1;
        }
        if pieces.begin[i] < pieces.end[i] {
            joiner.piece(i, carried, &position);
        }
    }
    joiner.end();
    joiner.name(marks);
    (joiner.done, joiner.joined)
}

/// Where the thread is.
#[derive(Default)]
struct Position {
    inside: Vec<PlaceId>,
    /// How often it has entered or left a region, or waited for others.
    moves: usize,
    /// When the runtime was last called, if not to wait for others.
    runtime: Option<u64>,
}

impl Position {
    fn step(&mut self, time: u64, mark: Mark<PlaceId>) {
        match mark {
            Mark::Enter(place) => self.inside.push(place),
            Mark::Leave => drop(self.inside.pop()),
            Mark::Fork => {}
            Mark::Runtime => {
                self.runtime = Some(time);
                return;
            }
            Mark::Wait => {
                // It may be at the same time as a call that took no time. However short it is, it
                // ends a burst.
                self.runtime = None;
            }
        }
        self.moves += 1;
    }
}

/// A counter's sum over the pieces of a burst.
struct Sum {
    event_type: u32,
    sum: i64,
    cover: Cover,
    /// In how many pieces it was counted.
    pieces: usize,
}

/// A burst that may still go on.
struct Current<'p> {
    begin: u64,
    end: u64,
    moves: usize,
    function: Option<PlaceId>,
    before: Option<PlaceId>,
    after: Option<PlaceId>,
    sums: Vec<Sum>,
    n_pieces: usize,
    /// Time that the runtime took.
    runtime: u64,
    /// Pieces of the runtime since the last Running piece, and what they carry.
    interrupted: Vec<(usize, Carried<'p>)>,
}

struct Joiner<'p> {
    pieces: &'p Bursts,
    worker: bool,
    current: Option<Current<'p>>,
    done: Bursts,
    /// For each finished burst, whether it is outside of all regions.
    outside: Vec<bool>,
    joined: Joined,
}

impl<'p> Joiner<'p> {
    fn new(pieces: &'p Bursts, worker: bool) -> Self {
        let Bursts { overlaps, read_at_begin, .. } = *pieces;
        let done = Bursts { overlaps, read_at_begin, ..Bursts::default() };
        Self { pieces, worker, current: None, done, outside: Vec::new(), joined: Joined::default() }
    }

    fn piece(&mut self, i: usize, carried: Carried<'p>, position: &Position) {
        let (begin, end) = (self.pieces.begin[i], self.pieces.end[i]);
        // A burst goes on only without a gap, and within the same region.
        let goes_on = |current: &Current<'_>| {
            let last = current.interrupted.last().map_or(current.end, |(i, _)| self.pieces.end[*i]);
            last == begin && current.moves == position.moves
        };
        if !self.current.as_ref().is_some_and(goes_on) {
            self.end();
        }
        if self.pieces.state(i) != RUNNING {
            match &mut self.current {
                Some(current) if position.runtime == Some(begin) => current.interrupted.push((i, carried)),
                _ => self.end(),
            }
            return;
        }
        if self.worker && position.inside.is_empty() {
            self.joined.waiting += end - begin;
            return self.end();
        }
        let place = self.pieces.places.get(i).copied().unwrap_or_default();
        let current = self.current.get_or_insert_with(|| Current {
            begin,
            end,
            moves: position.moves,
            function: position.inside.last().copied(),
            before: place.before,
            after: place.after,
            sums: Vec::new(),
            n_pieces: 0,
            runtime: 0,
            interrupted: Vec::new(),
        });
        // The thread computes again, so the runtime's time in between is the
        // burst's. At its end it would be waiting.
        for (i, carried) in std::mem::take(&mut current.interrupted) {
            current.runtime += self.pieces.end[i] - self.pieces.begin[i];
            current.count(self.pieces, carried);
        }
        current.count(self.pieces, carried);
        current.end = end;
        current.after = place.after;
    }

    /// Finishes the open burst, without the time of the runtime at its end.
    fn end(&mut self) {
        let Some(current) = self.current.take() else { return };
        let is_outside = current.function.is_none();
        self.joined.inside += u64::from(!is_outside);
        self.joined.outside += u64::from(is_outside);
        let time = current.end - current.begin;
        self.joined.time += time;
        self.joined.runtime += current.runtime;
        if let Some(region) = current.function {
            self.joined.add_to(region, [time, current.runtime]);
        }
        self.outside.push(is_outside);
        let done = &mut self.done;
        for sum in &current.sums {
            // A piece without the counter did not count it, or does not tell.
            let cover = if sum.pieces == current.n_pieces { sum.cover } else { Cover::Part };
            done.set_cover(done.sums.len(), cover);
            done.sums.push(sum.sum);
        }
        let types: Vec<u32> = current.sums.iter().map(|sum| sum.event_type).collect();
        done.runs.add(&types);
        done.begin.push(current.begin);
        done.end.push(current.end);
        let function = current.function.map_or_else(Default::default, Function::Inside);
        done.places.push(Place { before: current.before, after: current.after, function });
    }

    /// Completes a burst outside of all regions, which lies between two of them.
    fn name(&mut self, marks: &Marks) {
        let entered: Vec<(u64, PlaceId)> = marks
            .iter()
            .filter_map(|&(time, mark)| match mark {
                Mark::Enter(place) => Some((time, place)),
                _ => None,
            })
            .collect();
        for i in (0..self.outside.len()).filter(|&i| self.outside[i]) {
            let next = entered.partition_point(|(time, _)| *time < self.done.end[i]);
            let place = &mut self.done.places[i];
            place.before = place.before.or_else(|| Some(entered[next.checked_sub(1)?].1));
            place.after = place.after.or_else(|| Some(entered.get(next)?.1));
        }
    }
}

impl Current<'_> {
    fn count(&mut self, pieces: &Bursts, carried: Carried<'_>) {
        self.n_pieces += 1;
        for (&event_type, pair) in carried.types.iter().zip(carried.first..) {
            let (sum, cover) = (pieces.sums.get(pair), pieces.cover(pair));
            match self.sums.binary_search_by_key(&event_type, |s| s.event_type) {
                Ok(at) => {
                    let total = &mut self.sums[at];
                    total.sum = total.sum.saturating_add(sum);
                    total.pieces += 1;
                    total.cover = match (total.cover, cover) {
                        (Cover::Part, _) | (_, Cover::Part | Cover::SinceEnd) => Cover::Part,
                        (Cover::Impossible, _) | (_, Cover::Impossible) => Cover::Impossible,
                        (before, Cover::Whole) => before,
                    };
                }
                Err(at) => self.sums.insert(at, Sum { event_type, sum, cover, pieces: 1 }),
            }
        }
    }
}
