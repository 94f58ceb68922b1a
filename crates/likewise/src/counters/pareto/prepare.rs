//! Records as whole numbers, the less the better.

use rayon::prelude::*;
use std::cmp::Ordering;

use super::objective::{Goal, Objective};

impl Objective<'_> {
    /// A whole number per value, the less the better; equal where values are.
    /// The greatest is nobody's.
    pub(super) fn key(&self, record: usize) -> u64 {
        // Negative zero becomes zero.
        let value = match self.goal {
            Goal::Min => self.values[record] + 0.0,
            Goal::Max => 0.0 - self.values[record],
        };
        // Reals below 0 reversed, all above them.
        let bits = value.to_bits();
        bits ^ (((bits as i64 >> 63) as u64) | (1 << 63))
    }

    pub(super) fn is_missing(&self, record: usize) -> bool {
        self.values[record].is_nan()
    }
}

/// The different records, in the order of their first objective, then their
/// second and so on; whoever dominates another comes before it.
pub(super) struct Ranked {
    /// Of each record its place among the different ones.
    place: Vec<Option<u32>>,
    /// How many records are the same.
    pub(super) weights: Vec<u32>,
    /// Per objective the place of each one's value among the different values.
    columns: Vec<Vec<u32>>,
}

impl Ranked {
    pub(super) fn new(n: usize, objectives: &[Objective<'_>]) -> Self {
        let is_whole = |record: &u32| !objectives.iter().any(|o| o.is_missing(*record as usize));
        let records: Vec<u32> = (0..n as u32).filter(is_whole).collect();
        let by_record: Vec<Vec<u32>> =
            objectives.par_iter().map(|objective| dense(n, &records, objective)).collect();
        let rest = by_record.get(2..).unwrap_or_default();
        let second = by_record.get(1).unwrap_or(&by_record[0]);
        let key = |record: u32| {
            (by_record[0][record as usize], second[record as usize], By { rest, record: record as usize })
        };
        let mut records: Vec<(u32, u32, By<'_>)> = records.into_iter().map(key).collect();
        sort(&mut records);
        let mut place = vec![None; n];
        let mut weights: Vec<u32> = Vec::new();
        let mut columns = vec![Vec::new(); objectives.len()];
        for (at, (.., By { record, .. })) in records.iter().enumerate() {
            if at > 0 && records[at - 1] == records[at] {
                *weights.last_mut().expect("the last's") += 1;
            } else {
                weights.push(1);
                for (column, by_record) in columns.iter_mut().zip(&by_record) {
                    column.push(by_record[*record]);
                }
            }
            place[*record] = Some(weights.len() as u32 - 1);
        }
        Self { place, weights, columns }
    }

    /// How many different records there are.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn column(&self, objective: usize) -> &[u32] {
        &self.columns[objective]
    }

    /// The values of one of them.
    pub(super) fn record(&self, at: usize) -> Vec<u32> {
        self.columns.iter().map(|column| column[at]).collect()
    }

    /// To each record what was found for the different ones.
    pub(super) fn spread(&self, found: &[u32]) -> Vec<Option<u32>> {
        self.place.iter().map(|place| place.map(|place| found[place as usize])).collect()
    }
}

/// A record in the order of its values on further objectives.
#[derive(Clone, Copy)]
struct By<'a> {
    rest: &'a [Vec<u32>],
    record: usize,
}

impl Ord for By<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let each = self.rest.iter().map(|column| column[self.record].cmp(&column[other.record]));
        { each }.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for By<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for By<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for By<'_> {}

/// With all threads, where that is worth waking them.
pub(super) fn sort<T: Ord + Send>(keys: &mut [T]) {
    if keys.len() < 1 << 16 { keys.sort_unstable() } else { keys.par_sort_unstable() }
}

/// Of each of `records`, by its number, the place of its value among the
/// different values.
fn dense(n: usize, records: &[u32], objective: &Objective<'_>) -> Vec<u32> {
    let mut keys: Vec<(u64, u32)> =
        records.iter().map(|&record| (objective.key(record as usize), record)).collect();
    sort(&mut keys);
    let mut places = vec![0; n];
    let mut place = 0;
    for (at, &(key, record)) in keys.iter().enumerate() {
        place += u32::from(at > 0 && keys[at - 1].0 != key);
        places[record as usize] = place;
    }
    places
}
