//! Records as whole numbers, the less the better.

use rayon::prelude::*;

use super::{Goal, Objective};

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
        let mut records: Vec<u32> = (0..n as u32).into_par_iter().filter(is_whole).collect();
        let by_record: Vec<Vec<u32>> =
            objectives.par_iter().map(|objective| dense(n, &records, objective)).collect();
        let order = |a: u32, b: u32| {
            let each = by_record.iter().map(|column| column[a as usize].cmp(&column[b as usize]));
            each.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        };
        records.par_sort_unstable_by(|&a, &b| {
            by_record[0][a as usize].cmp(&by_record[0][b as usize]).then_with(|| order(a, b))
        });
        let mut place = vec![None; n];
        let mut weights: Vec<u32> = Vec::new();
        let mut columns = vec![Vec::new(); objectives.len()];
        let mut last = None;
        for &record in &records {
            if last.is_some_and(|last| order(last, record).is_eq()) {
                *weights.last_mut().expect("the last's") += 1;
            } else {
                weights.push(1);
                for (column, by_record) in columns.iter_mut().zip(&by_record) {
                    column.push(by_record[record as usize]);
                }
            }
            place[record as usize] = Some(weights.len() as u32 - 1);
            last = Some(record);
        }
        Self { place, weights, columns }
    }

    /// How many different records there are.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// How many objectives.
    pub(super) fn n_objectives(&self) -> usize {
        self.columns.len()
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

/// Of each of `records`, by its number, the place of its value among the
/// different values.
fn dense(n: usize, records: &[u32], objective: &Objective<'_>) -> Vec<u32> {
    let mut keys: Vec<(u64, u32)> =
        records.iter().map(|&record| (objective.key(record as usize), record)).collect();
    keys.par_sort_unstable();
    let mut places = vec![0; n];
    let mut place = 0;
    for (at, &(key, record)) in keys.iter().enumerate() {
        place += u32::from(at > 0 && keys[at - 1].0 != key);
        places[record as usize] = place;
    }
    places
}
