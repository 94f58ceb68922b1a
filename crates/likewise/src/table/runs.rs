//! A column in which one row is mostly like the one before.

use std::iter::repeat_n;
use std::ops::{Index, Range};

/// Numbers, run by run: equal ones that follow one another are kept once. So
/// whose bursts are whose takes memory by the threads, and not by the bursts.
///
/// # Example
/// ```
/// use likewise::table::Runs;
///
/// let task = Runs::from(vec![1, 1, 1, 2]);
/// assert_eq!((task.len(), task[2], task[3]), (4, 1, 2));
/// assert_eq!(task.runs().collect::<Vec<_>>(), [(1, 0..3), (2, 3..4)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    values: Vec<u32>,
    /// The first row behind each run.
    ends: Vec<usize>,
}

impl Runs {
    /// The same number `n` times.
    #[must_use]
    pub fn repeat(value: u32, n: usize) -> Self {
        let mut runs = Self::default();
        runs.push_run(value, n);
        runs
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Appends a row.
    pub fn push(&mut self, value: u32) {
        self.push_run(value, 1);
    }

    /// Appends `n` equal rows.
    pub fn push_run(&mut self, value: u32, n: usize) {
        if n == 0 {
            return;
        }
        let end = self.len() + n;
        match self.ends.last_mut() {
            Some(last) if self.values.last() == Some(&value) => *last = end,
            _ => {
                self.values.push(value);
                self.ends.push(end);
            }
        }
    }

    /// The number of the first row.
    #[must_use]
    pub fn first(&self) -> Option<u32> {
        self.values.first().copied()
    }

    /// The number of the last row.
    #[must_use]
    pub fn last(&self) -> Option<u32> {
        self.values.last().copied()
    }

    /// Each run: its number and its rows. Numbers of runs that follow one another
    /// differ.
    pub fn runs(&self) -> impl Iterator<Item = (u32, Range<usize>)> + Clone + '_ {
        self.runs_within(0..self.len())
    }

    /// The same of some rows, as far as there are any.
    ///
    /// # Complexity
    /// O(log r + m) for `m` of `r` runs.
    pub fn runs_within(&self, rows: Range<usize>) -> impl Iterator<Item = (u32, Range<usize>)> + Clone + '_ {
        let first = self.run_of(rows.start);
        let runs = self.values[first..].iter().zip(&self.ends[first..]);
        let mut at = rows.start;
        runs.map_while(move |(&value, &end)| {
            let start = std::mem::replace(&mut at, end.min(rows.end));
            (start < at).then_some((value, start..at))
        })
    }

    /// The run that a row is in; behind the last row, how many runs there are.
    fn run_of(&self, row: usize) -> usize {
        self.ends.partition_point(|&end| end <= row)
    }

    /// The number of each row, in time linear in the rows. [`Index`] finds one row in
    /// time by the logarithm of the runs.
    pub fn iter(&self) -> impl Iterator<Item = &u32> + Clone {
        let starts = std::iter::once(&0).chain(&self.ends);
        let runs = self.values.iter().zip(starts.zip(&self.ends));
        runs.flat_map(|(value, (start, end))| repeat_n(value, end - start))
    }
}

/// For structs that hold a reference and have a default.
impl Default for &Runs {
    fn default() -> Self {
        static NONE: Runs = Runs { values: Vec::new(), ends: Vec::new() };
        &NONE
    }
}

impl Index<usize> for Runs {
    type Output = u32;

    /// # Panics
    /// If there is no such row.
    fn index(&self, row: usize) -> &u32 {
        &self.values[self.run_of(row)]
    }
}

impl FromIterator<u32> for Runs {
    fn from_iter<I: IntoIterator<Item = u32>>(rows: I) -> Self {
        let mut runs = Self::default();
        rows.into_iter().for_each(|value| runs.push(value));
        runs
    }
}

impl From<Vec<u32>> for Runs {
    fn from(rows: Vec<u32>) -> Self {
        rows.into_iter().collect()
    }
}

impl<const N: usize> PartialEq<[u32; N]> for Runs {
    fn eq(&self, rows: &[u32; N]) -> bool {
        self.iter().eq(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BurstTable, Nanos};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_are_their_rows(rows in prop::collection::vec((0u32..3, 0usize..4), 0..40)) {
            let mut runs = Runs::default();
            rows.iter().for_each(|&(value, n)| runs.push_run(value, n));
            let rows: Vec<u32> = rows.iter().flat_map(|&(value, n)| repeat_n(value, n)).collect();
            prop_assert_eq!(&runs, &Runs::from(rows.clone()));
            prop_assert_eq!((runs.len(), runs.is_empty()), (rows.len(), rows.is_empty()));
            prop_assert_eq!((runs.first(), runs.last()), (rows.first().copied(), rows.last().copied()));
            prop_assert!(runs.iter().eq(&rows));
            prop_assert!((0..rows.len()).all(|i| runs[i] == rows[i]));
            let expected: Vec<(u32, usize)> = rows.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
            let mut at = 0;
            let found = runs.runs().map(|(value, range)| {
                assert_eq!(std::mem::replace(&mut at, range.end), range.start);
                (value, range.len())
            });
            prop_assert_eq!(found.collect::<Vec<_>>(), expected);
            for (from, to) in [(0, rows.len() / 2), (rows.len() / 3, rows.len()), (rows.len(), rows.len())] {
                let some = runs.runs_within(from..to).flat_map(|(value, range)| range.map(move |row| (row, value)));
                prop_assert!(some.eq((from..to).map(|row| (row, rows[row]))));
            }
        }
    }

    proptest! {
        #[test]
        fn threads_are_rows_that_follow_one_another(
            rows in prop::collection::vec((1u32..3, 1u32..4, 1u32..3), 0..60),
            sorted in any::<bool>(),
            cuts in (0usize..61, 0usize..61),
        ) {
            let mut rows = rows;
            if sorted {
                rows.sort_unstable();
            }
            let n = rows.len();
            let table = BurstTable {
                app: rows.iter().map(|row| row.0).collect(),
                task: rows.iter().map(|row| row.1).collect(),
                thread: rows.iter().map(|row| row.2).collect(),
                begin: vec![Nanos(0); n],
                duration: vec![Nanos(1); n],
                ..BurstTable::default()
            };
            prop_assert!((0..n).all(|i| table.thread_of(i) == rows[i]));
            let part = cuts.0.min(cuts.1).min(n)..cuts.0.max(cuts.1).min(n);
            let mut at = part.start;
            let expected = rows[part.clone()].chunk_by(|a, b| a == b).map(|run| {
                at += run.len();
                (run[0], at - run.len()..at)
            });
            prop_assert_eq!(table.threads_within(part).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
            let mut at = 0;
            let expected = rows.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(|run| {
                at += run.len();
                ((run[0].0, run[0].1), at - run.len()..at)
            });
            prop_assert_eq!(table.tasks().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }

    #[test]
    #[should_panic = "index out of bounds"]
    fn a_row_that_is_not_there() {
        let _ = Runs::repeat(7, 3)[3];
    }
}
