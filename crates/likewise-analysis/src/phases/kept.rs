//! Counters that other processes keep for the one that has the bursts.
//!
//! Nobody needs counters while bursts are grouped, and each takes four bytes of a burst. So
//! process 0 gives the others those of the rows that they will write.

use super::Labelled;
use super::wire::{put_threads, take_threads};
use likewise::bursts::asked_of_bursts;
use likewise::comm::CommError;
use likewise::comm::wire::{Taker, numbers, put_numbers};
use likewise::table::{
    BurstTable, Counter, CounterColumn, Metric, Nanos, Normalisation, Prepared, Values, counters_of,
};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of one process at a time, at most, and of all together.
const ROWS: usize = 1 << 13;
const ROWS_OF_ALL: usize = 1 << 17;

/// How the rows of a table are dealt out to all processes but process 0: so many to each, in
/// turn.
#[derive(Clone, Copy, Debug)]
pub struct Deal {
    /// All processes but process 0.
    pub others: usize,
    /// Rows of each in a turn.
    pub rows: usize,
}

impl Deal {
    /// Among so many processes.
    #[must_use]
    pub fn among(size: usize) -> Self {
        let rows = ROWS.min(ROWS_OF_ALL / size.max(1)).max(1);
        Self { others: size.saturating_sub(1), rows }
    }

    /// Rows of all in a turn, at least 1.
    #[must_use]
    pub fn at_once(self) -> usize {
        (self.others * self.rows).max(1)
    }

    /// Of `n` rows those of one of the others (from 0) in the turn that begins with row `first`;
    /// empty behind the last.
    #[must_use]
    pub fn in_turn(self, other: usize, first: usize, n: usize) -> Range<usize> {
        let own = first + other * self.rows;
        own.min(n)..(own + self.rows).min(n)
    }

    /// Of `n` rows those of one of the others (from 0), turn by turn.
    pub fn rows_of(self, other: usize, n: usize) -> impl Iterator<Item = Range<usize>> {
        let turns = (0..n).step_by(self.at_once());
        turns.map(move |first| self.in_turn(other, first, n)).filter(|rows| !rows.is_empty())
    }
}

/// The counters of the rows of one process, turn by turn, and what makes the rest of a row of
/// these.
#[derive(Debug, Default)]
pub struct KeptCounters {
    counters: Vec<CounterColumn>,
    /// What describes a burst.
    pub metrics: Vec<Metric>,
    /// Per metric, what makes coordinates of raw values.
    pub normalisations: Vec<Normalisation>,
}

impl KeptCounters {
    /// The counters of the rows from `first` on, as far as there are any; rows are counted
    /// among those of this process.
    #[must_use]
    pub fn of_rows(&self, first: usize, n: usize) -> Vec<CounterColumn> {
        let of_rows = |CounterColumn { counter, values }: &CounterColumn| {
            let rows = first.min(values.len())..(first + n).min(values.len());
            CounterColumn { counter: counter.clone(), values: values.rows(std::iter::once(rows)) }
        };
        self.counters.iter().map(of_rows).collect()
    }

    /// What is the same on all processes, as it travels.
    pub(super) fn head(table: &BurstTable, prepared: &Prepared) -> Vec<u8> {
        let counters: Vec<&Counter> = table.counters.iter().map(|column| &column.counter).collect();
        // Plain numbers and texts are never refused.
        postcard::to_stdvec(&(counters, &prepared.metrics, &prepared.normalisations)).unwrap_or_default()
    }

    /// With no rows yet.
    pub(super) fn of_head(bytes: &[u8]) -> Result<Self, CommError> {
        let (counters, metrics, normalisations): (Vec<Counter>, _, _) =
            postcard::from_bytes(bytes).map_err(|_| out_of_step())?;
        let column = |counter| CounterColumn { counter, values: Values::default() };
        Ok(Self { counters: counters.into_iter().map(column).collect(), metrics, normalisations })
    }

    /// Takes the values of a counter.
    pub(super) fn take(&mut self, counter: usize, bytes: &[u8]) -> Result<(), CommError> {
        let column = self.counters.get_mut(counter).ok_or_else(out_of_step)?;
        column.values = Values::of_bytes(bytes).ok_or_else(out_of_step)?;
        Ok(())
    }

    /// Tells the values of a counter.
    pub(super) fn tell(&self, counter: usize) -> Result<Vec<u8>, CommError> {
        self.counters.get(counter).map(|column| column.values.to_bytes()).ok_or_else(out_of_step)
    }
}

/// Appends all of some bursts that who keeps their counters lacks: 16 bytes of each.
pub fn put_rows(bytes: &mut Vec<u8>, table: &BurstTable, rows: Range<usize>) {
    put_threads(bytes, table, rows.clone());
    for times in [&table.begin, &table.duration] {
        put_numbers(bytes, times[rows.clone()].iter().map(|time| time.0));
    }
}

/// The same as a table without counters; `None` if it is not there.
pub fn take_rows(taker: &mut Taker<'_>) -> Option<BurstTable> {
    let (mut table, n) = take_threads(taker)?;
    let mut times = || Some(numbers(taker.bytes(n.checked_mul(8)?)?)?.map(Nanos).collect());
    (table.begin, table.duration) = (times()?, times()?);
    Some(table)
}

fn out_of_step() -> CommError {
    CommError::out_of_step("counters")
}

/// What each of the others keeps of a counter.
pub(super) fn dealt(values: &Values, deal: Deal) -> Vec<Vec<u8>> {
    let of = |other| values.rows(deal.rows_of(other, values.len())).to_bytes();
    (0..deal.others).into_par_iter().map(of).collect()
}

/// The counter of `n` bursts of what the others keep of it; missing where they tell nothing.
pub(super) fn gathered(told: &[Vec<u8>], n: usize, deal: Deal) -> Values {
    let parts: Option<Vec<Values>> = told.iter().map(|bytes| Values::of_bytes(bytes)).collect();
    let parts = parts.filter(|parts| parts.len() == deal.others).unwrap_or_default();
    let mut all = parts.first().map_or_else(Values::default, |first| first.rows(std::iter::empty()));
    all.reserve(n);
    for (turn, first) in (0..n).step_by(deal.at_once()).enumerate() {
        for (other, part) in parts.iter().enumerate() {
            let from = (turn * deal.rows).min(part.len());
            let to = (from + deal.in_turn(other, first, n).len()).min(part.len());
            all.extend_by(part, from..to);
        }
    }
    (all.len()..n).for_each(|_| all.push(f64::NAN));
    all
}

impl Labelled {
    /// Lets go of the counters that nobody asks single bursts for once others write the rows of
    /// these: neither the metrics nor the findings do, nor a page that shows the first `shown`
    /// counters beside the metrics.
    pub fn let_counters_go(&mut self, shown: usize) {
        let mut is_kept = asked_of_bursts(&self.table.counters);
        counters_of(&self.metrics, &self.table).into_iter().for_each(|c| is_kept[c] = true);
        let is_metric = |c: &CounterColumn| self.metrics.iter().any(|m| m.name == c.counter.name);
        let beside = (0..is_kept.len()).filter(|&c| !is_metric(&self.table.counters[c]));
        beside.take(shown).for_each(|c| is_kept[c] = true);
        let gone = self.table.counters.iter_mut().zip(is_kept).filter(|(_, kept)| !kept);
        gone.for_each(|(column, _)| column.values.let_go());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phases::{Options, label_bursts};
    use crate::{Silent, Stages};
    use std::fmt::Write;

    #[test]
    fn what_is_dealt_out_is_gathered() {
        for (n, size) in [(0, 2), (1, 4), (8_192, 2), (8_193, 3), (100_000, 3), (60_000, 20)] {
            let deal = Deal::among(size);
            let mut rows: Vec<usize> =
                (0..deal.others).flat_map(|other| deal.rows_of(other, n)).flatten().collect();
            rows.sort_unstable();
            assert!(rows.into_iter().eq(0..n), "each row once, of {n} on {size}");
            for whole in [true, false] {
                let value = |i: usize| match i % 7 {
                    0 => f64::NAN,
                    _ if whole => i as f64,
                    _ => 0.5 * i as f64,
                };
                let values: Values = (0..n).map(value).collect();
                let told = dealt(&values, deal);
                let again = gathered(&told, n, deal);
                let bits = |values: &Values| values.iter().map(f64::to_bits).collect::<Vec<_>>();
                assert_eq!(bits(&again), bits(&values), "{n} on {size}");
                // Who is not told anything does not stop.
                let missing = gathered(&[], n, deal);
                assert!(missing.len() == n && missing.iter().all(f64::is_nan));
            }
        }
    }

    #[test]
    fn only_counters_that_nobody_asks_for_are_let_go() {
        let mut text = "task,thread,begin_ns,duration_ns,PAPI_TOT_INS,PAPI_TOT_CYC,a,b,c,d\n".to_owned();
        for i in 0..60u64 {
            let (begin, long) = (1_000_000 * i, 500_000 + i % 3);
            writeln!(text, "1,1,{begin},{long},{},{long},1,2,3,{i}", 100_000 * (1 + i % 2))
                .expect("text has room");
        }
        let dir = tempfile::tempdir().expect("a place for files");
        let path = dir.path().join("bursts.csv");
        std::fs::write(&path, text).expect("a file");
        let metric: Metric = "c per a=c/a".parse().expect("a metric");
        for (metrics, shown, gone) in [
            (vec![], 0, &["a", "b", "c", "d"][..]),
            (vec![], 3, &["c", "d"]),
            (vec![metric], 3, &["b", "d"]),
            (vec![], 9, &[]),
        ] {
            let mut options = Options::default();
            options.describing.metrics = metrics;
            let mut labelled =
                label_bursts(&path, &options, &mut Stages::default(), &Silent).expect("a table");
            let before = labelled.table.counters.clone();
            labelled.let_counters_go(shown);
            for (own, before) in labelled.table.counters.iter().zip(&before) {
                let name = own.counter.name.as_str();
                let is_gone = std::panic::catch_unwind(|| own.values.get(0)).is_err();
                assert_eq!(is_gone, gone.contains(&name), "{name}, {shown} are shown");
                assert!(is_gone || own.values == before.values);
            }
        }
    }
}
