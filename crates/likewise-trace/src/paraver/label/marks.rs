//! Where the bursts of a table begin and end, in the order of a trace.

use std::ops::Range;

use likewise::table::{BurstTable, Nanos};
use rayon::prelude::*;

use crate::trace::Who;

/// A begin or an end, in the file's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) time: u64,
    /// The number of the thread among the threads with bursts.
    pub(super) thread: u32,
    pub(super) value: u32,
}

/// The marks of a trace by time, then thread, then order.
pub(super) enum Marks<'a> {
    /// Of each mark its number among those of the table: two of a mark of its own
    /// would take four times the memory.
    OfTable(Marking<'a>, Vec<u32>),
    /// As another process sent them.
    Sent(Vec<Mark>),
}

impl Marks<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::OfTable(_, order) => order.len(),
            Self::Sent(marks) => marks.len(),
        }
    }

    /// The mark in that place, if there are so many.
    pub(super) fn get(&self, at: usize) -> Option<Mark> {
        match self {
            Self::OfTable(bursts, order) => order.get(at).map(|&number| bursts.mark(number)),
            Self::Sent(marks) => marks.get(at).copied(),
        }
    }

    /// The time of that mark.
    pub(super) fn time(&self, at: usize) -> Option<u64> {
        match self {
            Self::OfTable(bursts, order) => order.get(at).map(|&number| bursts.time(number)),
            Self::Sent(marks) => marks.get(at).map(|mark| mark.time),
        }
    }

    /// Those in these places.
    pub(super) fn within(&self, places: Range<usize>) -> impl Iterator<Item = Mark> + '_ {
        places.filter_map(|at| self.get(at))
    }

    /// How many are not after that time.
    pub(super) fn up_to(&self, time: u64) -> usize {
        first_that(self.len(), |at| self.time(at).is_some_and(|of| of > time))
    }
}

/// The first place of `n` of which that is true; it is then true of all behind it.
fn first_that(n: usize, is: impl Fn(usize) -> bool) -> usize {
    let (mut least, mut most) = (0, n);
    while least < most {
        let middle = least + (most - least) / 2;
        if is(middle) {
            most = middle;
        } else {
            least = middle + 1;
        }
    }
    least
}

/// The bursts whose marks are asked for. The begin of burst `i` is mark `2 i` of the
/// table, and its end `2 i + 1`.
#[derive(Clone)]
pub(super) struct Marking<'a> {
    table: &'a BurstTable,
    values: &'a [u32],
    unit: u64,
    /// Where the bursts of each thread start.
    starts: Vec<usize>,
}

impl Marking<'_> {
    fn time(&self, number: u32) -> u64 {
        let i = number as usize / 2;
        let time = if number.is_multiple_of(2) { self.table.begin[i] } else { self.table.end(i) };
        time.0 / self.unit
    }

    fn mark(&self, number: u32) -> Mark {
        let i = number as usize / 2;
        let value = if number.is_multiple_of(2) { self.values[i] } else { 0 };
        let thread = self.starts.partition_point(|&start| start <= i) - 1;
        Mark { time: self.time(number), thread: thread as u32, value }
    }
}

/// The numbers of a thread's marks, by time.
enum OfThread {
    /// They stand in the table in this order, and take no memory of their own.
    InTable(Range<u32>),
    Sorted(Vec<u32>),
}

impl OfThread {
    fn of(bursts: &Marking<'_>, range: Range<usize>) -> Self {
        let Marking { table, values, .. } = bursts;
        let mut end = Nanos::ZERO;
        let is_in_order = range.clone().all(|i| {
            let before = std::mem::replace(&mut end, table.end(i));
            before <= table.begin[i] && values[i] != 0
        });
        if is_in_order {
            return Self::InTable(2 * range.start as u32..2 * range.end as u32);
        }
        let marked = range.filter(|&i| values[i] != 0);
        let mut numbers: Vec<u32> = marked.flat_map(|i| [2 * i as u32, 2 * i as u32 + 1]).collect();
        // Stable, because the end of a burst of no length must stay after its begin.
        numbers.sort_by_key(|&number| bursts.time(number));
        Self::Sorted(numbers)
    }

    fn len(&self) -> usize {
        match self {
            Self::InTable(range) => range.len(),
            Self::Sorted(numbers) => numbers.len(),
        }
    }

    fn number(&self, at: usize) -> u32 {
        match self {
            Self::InTable(range) => range.start + at as u32,
            Self::Sorted(numbers) => numbers[at],
        }
    }

    /// Those in these places.
    fn within(&self, places: Range<usize>) -> Self {
        match self {
            Self::InTable(range) => {
                Self::InTable(range.start + places.start as u32..range.start + places.end as u32)
            }
            Self::Sorted(numbers) => Self::Sorted(numbers[places].to_vec()),
        }
    }
}

/// The marks of a table, thread by thread.
pub(super) struct Unmerged<'a> {
    bursts: Marking<'a>,
    of_threads: Vec<OfThread>,
}

impl<'a> Unmerged<'a> {
    /// Those after a time, if one is given, up to another: that time, too.
    pub(super) fn between(&self, after: Option<u64>, up_to: Option<u64>) -> Marks<'a> {
        let Self { bursts, of_threads } = self;
        let time_of = |number| bursts.time(number);
        let part = |marks: &OfThread| {
            let until = |time| first_that(marks.len(), |at| time_of(marks.number(at)) > time);
            let start = after.map_or(0, until);
            marks.within(start..up_to.map_or(marks.len(), until).max(start))
        };
        let order = merged(of_threads.par_iter().map(part).collect(), time_of);
        Marks::OfTable(bursts.clone(), order)
    }
}

/// The threads of a table, and its marks by time.
///
/// # Panics
/// If there are 2³¹ bursts or more.
pub(super) fn marks<'a>(table: &'a BurstTable, values: &'a [u32], unit: u64) -> (Vec<Who>, Marks<'a>) {
    let (threads, marks) = unmerged(table, values, unit);
    (threads, marks.between(None, None))
}

/// The threads of a table, and the marks of each.
///
/// # Panics
/// If there are 2³¹ bursts or more.
pub(super) fn unmerged<'a>(table: &'a BurstTable, values: &'a [u32], unit: u64) -> (Vec<Who>, Unmerged<'a>) {
    assert!(table.len() < 1 << 31, "marks have numbers of 32 bits");
    let who =
        |((app, task, thread), bursts): ((u32, u32, u32), Range<usize>)| (Who { app, task, thread }, bursts);
    let (threads, ranges): (Vec<Who>, Vec<Range<usize>>) = table.threads().map(who).unzip();
    let starts = ranges.iter().map(|bursts| bursts.start).collect();
    let bursts = Marking { table, values, unit, starts };
    let of_threads = ranges.into_par_iter().map(|range| OfThread::of(&bursts, range)).collect();
    (threads, Unmerged { bursts, of_threads })
}

/// So many marks are merged at once, about: they stay in the cache.
const SLICE: usize = 1 << 15;
/// Or more, so that each thread has so many of them and is not looked up in vain.
const SLICE_OF_THREAD: usize = 8;

/// The marks of threads, each by time, in one list: slice by slice of time, all at
/// once.
fn merged(of_threads: Vec<OfThread>, time_of: impl Fn(u32) -> u64 + Sync) -> Vec<u32> {
    let n: usize = of_threads.iter().map(OfThread::len).sum();
    let slice = SLICE.max(SLICE_OF_THREAD * of_threads.len());
    // Each of the samples stands for as many marks.
    let step = slice / of_threads.len().max(1);
    let sampled = |marks: &OfThread| -> Vec<u64> {
        (0..marks.len()).step_by(step).map(|at| time_of(marks.number(at))).collect()
    };
    let mut samples: Vec<u64> = of_threads.iter().flat_map(sampled).collect();
    samples.sort_unstable();
    let mut cuts: Vec<u64> = samples.chunks(slice / step).skip(1).map(|samples| samples[0]).collect();
    cuts.dedup();
    let before =
        |marks: &OfThread, time: u64| first_that(marks.len(), |at| time_of(marks.number(at)) >= time);
    let places = |time: u64| of_threads.iter().map(|marks| before(marks, time)).collect();
    let mut places: Vec<Vec<usize>> = cuts.into_par_iter().map(places).collect();
    places.push(of_threads.iter().map(OfThread::len).collect());
    let mut all = vec![0; n];
    let mut before = vec![0; of_threads.len()];
    let (mut slices, mut rest) = (Vec::with_capacity(places.len()), &mut all[..]);
    for ends in places {
        let ranges: Vec<Range<usize>> =
            before.into_iter().zip(&ends).map(|(start, &end)| start..end).collect();
        let (slice, others) = rest.split_at_mut(ranges.iter().map(Range::len).sum());
        slices.push((ranges, slice));
        (before, rest) = (ends, others);
    }
    slices.into_par_iter().for_each(|(ranges, slice)| {
        let numbers = |(marks, range): (&OfThread, Range<usize>)| {
            range.map(|at| marks.number(at)).collect::<Vec<u32>>()
        };
        let numbers = of_threads.iter().zip(ranges).flat_map(numbers);
        let mut marks: Vec<(u64, u32)> = numbers.map(|number| (time_of(number), number)).collect();
        // Stable: of one time, by thread.
        marks.sort_by_key(|&(time, _)| time);
        slice.iter_mut().zip(marks).for_each(|(to, (_, number))| *to = number);
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_threads_are_merged_as_if_sorted() {
        // Threads with many marks, few and none; times that spread, and that are equal.
        for (seed, spread) in [(1u64, u64::MAX), (2, 1000), (3, 1)] {
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state >> 20
            };
            // Of each number its time: those of a thread are together, and its times ascend.
            let (mut times, mut of_threads) = (Vec::new(), Vec::new());
            for n in [90_000, 0, 7, 40_000, 1, 100_000] {
                let mut own: Vec<u64> = (0..n).map(|_| next() % spread).collect();
                own.sort_unstable();
                of_threads.push(times.len() as u32..(times.len() + n) as u32);
                times.append(&mut own);
            }
            let mut sorted: Vec<u32> = (0..times.len() as u32).collect();
            sorted.sort_by_key(|&number| times[number as usize]);
            let time_of = |number: u32| times[number as usize];
            for is_listed in [false, true] {
                let of = |range: Range<u32>| {
                    if is_listed { OfThread::Sorted(range.collect()) } else { OfThread::InTable(range) }
                };
                let found = merged(of_threads.iter().cloned().map(of).collect(), time_of);
                assert!(found == sorted, "times below {spread}");
            }
        }
        assert!(merged(Vec::new(), u64::from).is_empty());
    }

    #[test]
    fn the_table_has_them_in_order_or_they_are_sorted() {
        // Bursts of two threads: one after the other, of no length, overlapping, unmarked.
        let unmarked = [[6, 7, 8, 9], [6, 0, 8, 9]];
        for (begin, duration) in [([0, 4, 4, 10], [4, 0, 6, 1]), ([0, 2, 3, 3], [4, 9, 0, 1])] {
            for (values, unit) in unmarked.iter().zip([1, 2]) {
                let table = BurstTable {
                    code: None,
                    app: vec![1; 8].into(),
                    task: [[1; 4], [2; 4]].concat().into(),
                    thread: vec![1; 8].into(),
                    begin: [begin, begin].concat().into_iter().map(Nanos).collect(),
                    duration: [duration, duration].concat().into_iter().map(Nanos).collect(),
                    counters: Vec::new(),
                };
                let values = [*values, *values].concat();
                let mut expected: Vec<Mark> = (0..8)
                    .filter(|&i| values[i] != 0)
                    .flat_map(|i| [(table.begin[i], i, values[i]), (table.end(i), i, 0)])
                    .map(|(time, i, value)| Mark { time: time.0 / unit, thread: i as u32 / 4, value })
                    .collect();
                expected.sort_by_key(|mark| (mark.time, mark.thread));
                let found = marks(&table, &values, unit).1;
                assert_eq!(found.within(0..found.len()).collect::<Vec<_>>(), expected);
                let parts = unmerged(&table, &values, unit).1;
                for at in 0..6 {
                    let pieces = [(None, Some(at)), (Some(at), Some(at + 3)), (Some(at + 3), None)];
                    let pieces = pieces.map(|(after, up_to)| parts.between(after, up_to));
                    let found = pieces.iter().flat_map(|marks| marks.within(0..marks.len()));
                    assert_eq!(found.collect::<Vec<_>>(), expected, "cut at {at}");
                }
            }
        }
    }
}
