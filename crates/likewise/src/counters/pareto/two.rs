//! Ranks on two objectives.

use super::Objective;
use super::prepare::{Ranked, sort};

/// Goes through the records by the first objective, then the second. Of each
/// front only the record that came last matters: it is the best so far on the
/// second objective. A record belongs to the first front whose last it is
/// better than, and these are in order.
pub(super) fn goldberg(n: usize, first: &Objective<'_>, second: &Objective<'_>) -> Vec<Option<u32>> {
    let is_whole = |record: &usize| !first.is_missing(*record) && !second.is_missing(*record);
    let key = |record: usize| (first.key(record), second.key(record), record as u32);
    let mut records: Vec<(u64, u64, u32)> = (0..n).filter(is_whole).map(key).collect();
    sort(&mut records);
    let mut ranks = vec![None; n];
    let mut lasts: Vec<u64> = Vec::new();
    let mut before = None;
    for &(one, other, record) in &records {
        // The same as the record before: no domination, and the same rank.
        let rank = match before {
            Some((same, rank)) if same == (one, other) => rank,
            _ => lasts.partition_point(|&last| last <= other),
        };
        match lasts.get_mut(rank) {
            Some(last) => *last = other,
            None => lasts.push(other),
        }
        ranks[record as usize] = Some(rank as u32);
        before = Some(((one, other), rank));
    }
    ranks
}

/// How many records are at least as good as each of the different ones on one
/// or two objectives, others that is: counts per value of the last, of those
/// gone through.
pub(super) fn dominators(ranked: &Ranked) -> Vec<u32> {
    let last = ranked.column(ranked.n_objectives() - 1);
    let mut counts = Counts(vec![0; last.iter().max().map_or(0, |most| *most as usize + 1)]);
    let each = last.iter().zip(&ranked.weights);
    each.map(|(&value, &weight)| {
        let found = counts.up_to(value as usize);
        counts.add(value as usize, weight);
        found
    })
    .collect()
}

/// Counts whose sums up to a place are found, and which change, in O(log n).
///
/// # Reference
/// Fenwick, *Software: Practice and Experience* 24(3), 1994.
struct Counts(Vec<u32>);

impl Counts {
    fn add(&mut self, mut at: usize, count: u32) {
        while let Some(sum) = self.0.get_mut(at) {
            *sum += count;
            at |= at + 1;
        }
    }

    fn up_to(&self, at: usize) -> u32 {
        let (mut sum, mut end) = (0, at + 1);
        while end > 0 {
            sum += self.0[end - 1];
            end &= end - 1;
        }
        sum
    }
}
