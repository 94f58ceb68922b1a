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

/// The bursts whose marks are asked for.
#[derive(Clone, Copy)]
struct Marking<'a> {
    table: &'a BurstTable,
    values: &'a [u32],
    unit: u64,
}

impl Marking<'_> {
    /// The begin of burst `at / 2`, or for an odd number its end.
    fn mark(&self, thread: u32, at: usize) -> Mark {
        let i = at / 2;
        let (time, value) = match at % 2 {
            0 => (self.table.begin[i], self.values[i]),
            _ => (self.table.end(i), 0),
        };
        Mark { time: time.0 / self.unit, thread, value }
    }
}

/// The marks of a thread, by time.
enum OfThread<'a> {
    /// They stand in the table in this order, and take no memory of their own.
    InTable(Marking<'a>, u32, Range<usize>),
    Sorted(Vec<Mark>),
}

impl<'a> OfThread<'a> {
    fn of(bursts: Marking<'a>, thread: u32, range: Range<usize>) -> Self {
        let Marking { table, values, .. } = bursts;
        let mut end = Nanos::ZERO;
        let is_in_order = range.clone().all(|i| {
            let before = std::mem::replace(&mut end, table.end(i));
            before <= table.begin[i] && values[i] != 0
        });
        if is_in_order {
            return Self::InTable(bursts, thread, range);
        }
        let mut marks = Vec::with_capacity(2 * range.len());
        for i in range.filter(|&i| values[i] != 0) {
            marks.extend([bursts.mark(thread, 2 * i), bursts.mark(thread, 2 * i + 1)]);
        }
        // Stable, because the end of a burst of no length must stay after its begin.
        marks.sort_by_key(|mark| mark.time);
        Self::Sorted(marks)
    }

    fn len(&self) -> usize {
        match self {
            Self::InTable(_, _, range) => 2 * range.len(),
            Self::Sorted(marks) => marks.len(),
        }
    }

    fn mark(&self, at: usize) -> Mark {
        match self {
            Self::InTable(bursts, thread, range) => bursts.mark(*thread, 2 * range.start + at),
            Self::Sorted(marks) => marks[at],
        }
    }

    /// How many are before that time.
    fn before(&self, time: u64) -> usize {
        let (mut least, mut most) = (0, self.len());
        while least < most {
            let middle = least + (most - least) / 2;
            if self.mark(middle).time < time {
                least = middle + 1;
            } else {
                most = middle;
            }
        }
        least
    }
}

/// The threads of a table, and its marks by time, then thread, then order.
pub(super) fn marks(table: &BurstTable, values: &[u32], unit: u64) -> (Vec<Who>, Vec<Mark>) {
    let who = |i: usize| Who { app: table.app[i], task: table.task[i], thread: table.thread[i] };
    let starts: Vec<usize> =
        (0..table.len()).into_par_iter().filter(|&i| i == 0 || who(i) != who(i - 1)).collect();
    let ends = starts.iter().skip(1).copied().chain([table.len()]);
    let ranges: Vec<Range<usize>> = starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect();
    let bursts = Marking { table, values, unit };
    let of_thread = |(thread, range)| OfThread::of(bursts, thread as u32, range);
    let of_threads = ranges.into_par_iter().enumerate().map(of_thread).collect();
    (starts.into_iter().map(who).collect(), merged(of_threads))
}

/// So many marks are merged at once, about: they stay in the cache.
const SLICE: usize = 1 << 15;
/// Or more, so that each thread has so many of them and is not looked up in vain.
const SLICE_OF_THREAD: usize = 8;

/// The marks of threads, each by time, in one list: slice by slice of time, all at
/// once.
fn merged(of_threads: Vec<OfThread<'_>>) -> Vec<Mark> {
    let n: usize = of_threads.iter().map(OfThread::len).sum();
    let slice = SLICE.max(SLICE_OF_THREAD * of_threads.len());
    // Each of the samples stands for as many marks.
    let step = slice / of_threads.len().max(1);
    let sampled = |marks: &OfThread<'_>| -> Vec<u64> {
        (0..marks.len()).step_by(step).map(|at| marks.mark(at).time).collect()
    };
    let mut samples: Vec<u64> = of_threads.iter().flat_map(sampled).collect();
    samples.sort_unstable();
    let mut cuts: Vec<u64> = samples.chunks(slice / step).skip(1).map(|samples| samples[0]).collect();
    cuts.dedup();
    let places = |time: u64| of_threads.iter().map(|marks| marks.before(time)).collect();
    let mut places: Vec<Vec<usize>> = cuts.into_par_iter().map(places).collect();
    places.push(of_threads.iter().map(OfThread::len).collect());
    let mut all = vec![Mark { time: 0, thread: 0, value: 0 }; n];
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
        let marks = of_threads.iter().zip(ranges).flat_map(|(marks, range)| range.map(|at| marks.mark(at)));
        slice.iter_mut().zip(marks).for_each(|(to, mark)| *to = mark);
        // Stable: of one time, by thread.
        slice.sort_by_key(|mark| mark.time);
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
            let of_threads: Vec<Vec<Mark>> = [90_000, 0, 7, 40_000, 1, 100_000]
                .into_iter()
                .zip(0..)
                .map(|(n, thread)| {
                    let mark = |value| Mark { time: next() % spread, thread, value };
                    let mut marks: Vec<Mark> = (0..n).map(mark).collect();
                    marks.sort_by_key(|mark| mark.time);
                    marks
                })
                .collect();
            let mut sorted = of_threads.concat();
            sorted.sort_by_key(|mark| (mark.time, mark.thread));
            let found = merged(of_threads.into_iter().map(OfThread::Sorted).collect());
            assert!(found == sorted, "times below {spread}");
        }
        assert!(merged(Vec::new()).is_empty());
    }

    #[test]
    fn the_table_has_them_in_order_or_they_are_sorted() {
        // Bursts of two threads: one after the other, of no length, overlapping, unmarked.
        let unmarked = [[6, 7, 8, 9], [6, 0, 8, 9]];
        for (begin, duration) in [([0, 4, 4, 10], [4, 0, 6, 1]), ([0, 2, 3, 3], [4, 9, 0, 1])] {
            for (values, unit) in unmarked.iter().zip([1, 2]) {
                let table = BurstTable {
                    code: None,
                    app: vec![1; 8],
                    task: [[1; 4], [2; 4]].concat(),
                    thread: vec![1; 8],
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
                assert_eq!(marks(&table, &values, unit).1, expected);
            }
        }
    }
}
