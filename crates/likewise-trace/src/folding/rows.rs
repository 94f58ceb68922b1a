//! The rows that one thread's bursts have in the table of all.

use std::ops::Range;

use likewise::table::ValuesMut;

use super::bursts::Bursts;
use super::cover::Cover;
use super::sums::Sums;

/// What holds for the bursts of all threads.
pub(super) struct Rules<'r> {
    /// The event type of each column of counters, ascending.
    pub(super) types: &'r [u32],
    /// Whether the tracer also reads counters when bursts begin.
    pub(super) at_begins: bool,
}

/// In how many bursts a counter is missing, and why.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Missing {
    pub(super) impossible: u64,
    /// The count is not of the burst alone, or not of all of it.
    pub(super) part: u64,
}

/// What is to be said of a thread's bursts.
pub(super) struct Told {
    /// By column.
    pub(super) missing: Vec<Missing>,
    /// How many counts include what came since the burst before.
    pub(super) since_end: u64,
}

/// Counters of rows of the table, column by column.
pub(super) struct Rows<'t> {
    pub(super) counters: Vec<ValuesMut<'t>>,
}

/// Rows of which the counters are written column by column.
const TOGETHER: usize = 256;

impl<'t> Rows<'t> {
    /// Takes the first `n` rows off.
    pub(super) fn take(&mut self, n: usize) -> Self {
        Self { counters: self.counters.iter_mut().map(|column| column.take_first(n)).collect() }
    }

    /// Writes the counters of a thread's bursts, as many as there are rows.
    pub(super) fn fill(&mut self, bursts: &Bursts, rules: &Rules<'_>) -> Told {
        let mut told = Told { missing: vec![Missing::default(); rules.types.len()], since_end: 0 };
        let (mut row, mut first) = (0, 0);
        for (n, types) in bursts.runs.iter() {
            let rows = row..row + n;
            row = rows.end;
            let place = |t| rules.types.binary_search(t).expect("every type was collected");
            let places: Vec<usize> = types.iter().map(place).collect();
            // Where this run's types are all types, no column lacks a value.
            if places.len() < self.counters.len() {
                self.counters.iter_mut().for_each(|column| column.clear(rows.clone()));
            }
            // A few rows at a time: their sums stay in the cache from column to column.
            for start in rows.clone().step_by(TOGETHER) {
                let some = start..rows.end.min(start + TOGETHER);
                let n = some.len();
                self.fill_counters(some, &places, first, bursts, rules.at_begins, &mut told);
                first += n * places.len();
            }
        }
        told
    }

    /// Writes the counters of bursts that carry the same; `first` is where the
    /// sums of the first of them are.
    fn fill_counters(
        &mut self,
        rows: Range<usize>,
        places: &[usize],
        first: usize,
        bursts: &Bursts,
        at_begins: bool,
        told: &mut Told,
    ) {
        let pairs = first..first + rows.len() * places.len();
        match &bursts.sums {
            Sums::Small(sums) => self.fill_sums(rows, places, (first, &sums[pairs]), bursts, at_begins, told),
            Sums::Any(sums) => self.fill_sums(rows, places, (first, &sums[pairs]), bursts, at_begins, told),
        }
    }

    fn fill_sums<T: Copy + Into<i64>>(
        &mut self,
        rows: Range<usize>,
        places: &[usize],
        (first, sums): (usize, &[T]),
        bursts: &Bursts,
        at_begins: bool,
        told: &mut Told,
    ) {
        let all_whole = first >= bursts.covers.len();
        for (i, &place) in places.iter().enumerate() {
            let column = &mut self.counters[place];
            let sums = sums.chunks_exact(places.len()).map(|of_burst| of_burst[i].into());
            if all_whole {
                column.write(rows.clone(), sums.map(|sum: i64| sum as f64));
                continue;
            }
            let pairs = (first + i..).step_by(places.len());
            let missing = &mut told.missing[place];
            let value = |(sum, pair): (i64, usize)| {
                let cover = bursts.cover(pair);
                match cover {
                    Cover::Impossible => missing.impossible += 1,
                    Cover::Part => missing.part += 1,
                    // This tracer also reads counters at begins, so the count
                    // has something of the time before the burst.
                    Cover::SinceEnd if at_begins => missing.part += 1,
                    Cover::SinceEnd | Cover::Whole => {
                        told.since_end += u64::from(cover == Cover::SinceEnd);
                        return sum as f64;
                    }
                }
                f64::NAN
            };
            column.write(rows.clone(), sums.zip(pairs).map(value));
        }
    }
}
