//! Begins and ends of bursts, in the order of time.
//!
//! The rows of a table are in order of threads, and each thread's bursts in
//! order of time. So the run is cut into *slices* of time, and what of each
//! thread is in a slice is one piece of its rows: nothing is searched for, and
//! only what is in one slice is sorted, which fits a processor's cache.

use std::ops::Range;

use rayon::prelude::*;

use crate::table::BurstTable;

/// About so many bursts are in a slice.
const SLICE: usize = 1 << 13;

/// A slice holds at least so many bursts of each thread on average. With fewer,
/// finding them would take longer than sorting them.
const LEAST_OF_THREAD: usize = 4;

/// Begins that are looked at for each slice, to cut time.
const SAMPLES: usize = 8;

/// So many slices are sorted side by side, and then told one after the other.
const BATCH: usize = 16;

/// The burst that begins with a change.
pub(super) fn begin_of(change: u32) -> Option<usize> {
    change.is_multiple_of(2).then_some(change as usize / 2)
}

/// The burst that ends with a change.
pub(super) fn end_of(change: u32) -> Option<usize> {
    (!change.is_multiple_of(2)).then_some(change as usize / 2)
}

/// When a change is, in ns.
pub(super) fn time_of(table: &BurstTable, change: u32) -> u64 {
    let burst = change as usize / 2;
    if change.is_multiple_of(2) { table.begin[burst].0 } else { table.end(burst).0 }
}

/// A begin or end of a burst.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change<T> {
    /// When it is, in ns.
    pub(super) time: u64,
    /// Twice the number of its burst, and one more for an end.
    pub(super) change: u32,
    /// What the caller wants to know of the burst.
    pub(super) of: T,
}

/// Tells all begins and ends of the bursts among `rows`: by time, then in burst
/// order; a burst of no length begins before it ends. With each comes what `of`
/// makes of its burst, which many threads ask for in the order of the rows.
///
/// # Panics
/// If there are more than 2³¹ bursts.
///
/// # Complexity
/// O(n log s) for n bursts, of which s are in a slice, where threads' bursts are in
/// order of time; O(n log n) else. Memory is that of a few slices.
pub(super) fn in_time_order<T: Copy + Send + Sync>(
    table: &BurstTable,
    rows: Range<usize>,
    of: impl Fn(usize) -> T + Sync,
    mut tell: impl FnMut(Change<T>),
) {
    let changes = |piece: &Piece, sorting: &mut Sorting<T>| {
        let Piece { begins, ends } = piece;
        let mut push = |change: usize, of: T| {
            let change = change as u32;
            sorting.found.push(Change { time: time_of(table, change), change, of });
        };
        // No burst ends before it begins, so ends are not ahead of begins.
        (ends.start..ends.end.min(begins.start)).for_each(|burst| push(2 * burst + 1, of(burst)));
        for burst in begins.clone() {
            let known = of(burst);
            push(2 * burst, known);
            if ends.contains(&burst) {
                push(2 * burst + 1, known);
            }
        }
    };
    each_slice(table, rows, changes, |sorted| sorted.into_iter().for_each(&mut tell));
}

/// Those bursts that `counts` admits, by begin, then in burst order.
///
/// # Complexity
/// As [`in_time_order`].
pub(super) fn by_begin(table: &BurstTable, counts: impl Fn(usize) -> bool + Sync) -> Vec<u32> {
    let begins = |piece: &Piece, sorting: &mut Sorting<()>| {
        let found = piece.begins.clone().filter(|&burst| counts(burst));
        sorting.found.extend(found.map(|burst| Change {
            time: table.begin[burst].0,
            change: burst as u32,
            of: (),
        }));
    };
    let mut order = Vec::with_capacity((0..table.len()).into_par_iter().filter(|&i| counts(i)).count());
    each_slice(table, 0..table.len(), begins, |sorted| order.extend(sorted.iter().map(|c| c.change)));
    order
}

/// Rows of one thread whose begins, and whose ends, are in a slice of time.
#[derive(Clone, Debug)]
struct Piece {
    begins: Range<usize>,
    ends: Range<usize>,
}

/// Tells, slice by slice, what `collect` finds in the pieces of the slice, sorted.
fn each_slice<T: Copy + Send + Sync>(
    table: &BurstTable,
    rows: Range<usize>,
    collect: impl Fn(&Piece, &mut Sorting<T>) + Sync,
    mut tell: impl FnMut(Vec<Change<T>>),
) {
    assert!(table.len() <= 1 << 31, "2^31 bursts at most");
    let mut runs = runs(table, rows.clone());
    let limits = limits(table, rows, runs.len());
    // The last slice has no limit.
    let limits: Vec<Option<u64>> = limits.into_iter().map(Some).chain([None]).collect();
    for batch in limits.chunks(BATCH) {
        let slices: Vec<Vec<Piece>> = batch
            .iter()
            .map(|&limit| runs.iter_mut().filter_map(|run| run.next(table, limit)).collect())
            .collect();
        let sorted: Vec<Vec<Change<T>>> = slices
            .into_par_iter()
            .map(|pieces| {
                let mut sorting = Sorting { found: Vec::new() };
                pieces.iter().for_each(|piece| collect(piece, &mut sorting));
                sorting.sorted()
            })
            .collect();
        sorted.into_iter().for_each(&mut tell);
    }
}

/// Rows whose begins ascend, and whose ends do: the bursts of a thread, or some of
/// them where they overlap.
struct Run {
    /// From the next row whose begin is not told, and from that of the end.
    begins: usize,
    ends: usize,
    last: usize,
}

impl Run {
    /// What is before `limit` of what is left.
    fn next(&mut self, table: &BurstTable, limit: Option<u64>) -> Option<Piece> {
        let (begins, ends) = match limit {
            None => (self.last, self.last),
            Some(limit) => (
                gallop(self.begins, self.last, |burst| table.begin[burst].0 < limit),
                gallop(self.ends, self.last, |burst| table.end(burst).0 < limit),
            ),
        };
        let piece = Piece { begins: self.begins..begins, ends: self.ends..ends };
        (self.begins, self.ends) = (begins, ends);
        (!piece.begins.is_empty() || !piece.ends.is_empty()).then_some(piece)
    }
}

/// The first place that does not hold, which is likely to be near.
fn gallop(from: usize, to: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut step) = (from, 1);
    while low < to && holds((low + step - 1).min(to - 1)) {
        low = (low + step).min(to);
        step *= 2;
    }
    let mut high = (low + step - 1).min(to);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// So many bursts are looked at together.
const AT_ONCE: usize = 1 << 14;

fn runs(table: &BurstTable, rows: Range<usize>) -> Vec<Run> {
    let is_new = |i: &usize| {
        let (i, before) = (*i, *i - 1);
        table.begin[i] < table.begin[before] || table.end(i) < table.end(before)
    };
    let (first, last) = (rows.start, rows.end);
    let mut starts: Vec<usize> = vec![first];
    for (_, bursts) in table.threads_within(rows) {
        starts.extend((bursts.start > first).then_some(bursts.start));
        let later = bursts.start + 1..bursts.end;
        if later.len() < 2 * AT_ONCE {
            starts.extend(later.filter(is_new));
        } else {
            starts.par_extend(later.into_par_iter().with_min_len(AT_ONCE).filter(is_new));
        }
    }
    let ends = starts.iter().skip(1).copied().chain([last]);
    starts.iter().zip(ends).map(|(&begins, last)| Run { begins, ends: begins, last }).collect()
}

/// Where slices of time end but the last, ascending: about as many bursts begin
/// in each.
fn limits(table: &BurstTable, rows: Range<usize>, n_runs: usize) -> Vec<u64> {
    let n = rows.len();
    let n_slices = (n / SLICE).min(n / (LEAST_OF_THREAD * n_runs.max(1))).max(1);
    let step = (n / (SAMPLES * n_slices)).max(1);
    let mut sample: Vec<u64> = rows.step_by(step).map(|burst| table.begin[burst].0).collect();
    sample.par_sort_unstable();
    (1..n_slices).filter_map(|slice| sample.get(slice * sample.len() / n_slices).copied()).collect()
}

/// What is in a slice, in order of changes, to be sorted by time.
struct Sorting<T> {
    found: Vec<Change<T>>,
}

impl<T: Copy> Sorting<T> {
    /// By time, and what is at the same time in the order in which it was found.
    /// Times since the first and places are sorted as one number, where that has
    /// the bits.
    fn sorted(self) -> Vec<Change<T>> {
        let mut found = self.found;
        let (Some(first), Some(last)) =
            (found.iter().map(|c| c.time).min(), found.iter().map(|c| c.time).max())
        else {
            return found;
        };
        let place_bits = usize::BITS - found.len().leading_zeros();
        if (last - first).leading_zeros() < place_bits {
            found.sort_by_key(|c| c.time);
            return found;
        }
        let keys = (0u64..).zip(&found).map(|(place, c)| (c.time - first) << place_bits | place);
        let mut keys: Vec<u64> = keys.collect();
        keys.sort_unstable();
        let mask = (1 << place_bits) - 1;
        keys.into_iter().map(|key| found[(key & mask) as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Nanos;

    fn draw(i: u64, below: u64) -> u64 {
        (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % below
    }

    /// `n` bursts of so many threads, whose times are drawn; in order of begins if
    /// `sorted`.
    fn table(n: u64, n_threads: u64, times: u64, sorted: bool) -> BurstTable {
        let mut rows: Vec<(u32, u64, u64)> = (0..n)
            .map(|i| ((i * n_threads / n) as u32 + 1, draw(i, times), draw(i + n, 1 + times / 2)))
            .collect();
        if sorted {
            rows.sort_unstable();
        }
        BurstTable {
            app: vec![1; n as usize].into(),
            task: rows.iter().map(|r| r.0).collect(),
            thread: vec![1; n as usize].into(),
            begin: rows.iter().map(|r| Nanos(r.1)).collect(),
            duration: rows.iter().map(|r| Nanos(r.2)).collect(),
            ..BurstTable::default()
        }
    }

    #[test]
    fn equals_sorting_all_at_once() {
        let cases = [
            (0, 1, 1, true),
            (1, 1, 5, true),
            (1000, 3, 7, false),
            (100_000, 5, 900, true),
            (100_000, 5, 1 << 40, false),
            (100_000, 3000, 1 << 30, true),
            (100_000, 7, u64::MAX >> 20, true),
        ];
        for (n, n_threads, times, sorted) in cases {
            let table = table(n, n_threads, times, sorted);
            for rows in [0..table.len(), table.len() / 3..table.len() / 2] {
                let mut expected: Vec<(u64, u32)> = rows
                    .clone()
                    .flat_map(|i| [2 * i as u32, 2 * i as u32 + 1])
                    .map(|change| (time_of(&table, change), change))
                    .collect();
                expected.sort_unstable();
                let mut found = Vec::new();
                in_time_order(&table, rows, |burst| burst, |c| found.push((c.time, c.change, c.of)));
                assert!(found.iter().all(|&(_, change, of)| begin_of(change).or(end_of(change)) == Some(of)));
                let found: Vec<(u64, u32)> =
                    found.into_iter().map(|(time, change, _)| (time, change)).collect();
                assert!(found == expected, "{n} bursts, {n_threads} threads, {times} times");
            }
            let counts = |burst: usize| !burst.is_multiple_of(3);
            let mut expected: Vec<u32> = (0..table.len() as u32).filter(|&i| counts(i as usize)).collect();
            expected.sort_by_key(|&i| table.begin[i as usize]);
            assert!(by_begin(&table, counts) == expected, "{n} bursts, {n_threads} threads, {times} times");
        }
    }

    #[test]
    fn galloping_finds_what_a_search_finds() {
        for n in 0..40 {
            for place in 0..=n {
                for from in 0..=place {
                    assert_eq!(gallop(from, n, |i| i < place), place);
                }
            }
        }
    }
}
