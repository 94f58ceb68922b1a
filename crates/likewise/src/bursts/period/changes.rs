//! Begins and ends of bursts, in the order of time.

use rayon::prelude::*;

use crate::table::BurstTable;

/// So many bursts are sorted at once, or one in [`ROUNDS`] of all if these are more.
const BURSTS: usize = 1 << 18;
const ROUNDS: usize = 16;

/// Bursts that are looked at to cut time into rounds.
const SAMPLE: usize = 1 << 12;

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

/// Tells all begins and ends: by time, then in burst order; a burst of no length
/// begins before it ends. A change is twice the number of its burst, and one more
/// for an end.
///
/// # Panics
/// If there are more than 2³¹ bursts.
///
/// # Complexity
/// O(n log n) for n bursts; 32 bytes for each of those that are sorted at once.
pub(super) fn in_time_order(table: &BurstTable, mut tell: impl FnMut(u32)) {
    let n = table.len();
    assert!(n <= 1 << 31, "2^31 bursts at most");
    let n_rounds = (n / BURSTS).clamp(1, ROUNDS);
    let mut sample: Vec<u64> = table.begin.iter().step_by((n / SAMPLE).max(1)).map(|begin| begin.0).collect();
    sample.sort_unstable();
    let mut from = 0;
    for round in 1..=n_rounds {
        let to = sample.get(round * sample.len() / n_rounds).copied();
        let is_in = |&(time, _): &(u64, u32)| from <= time && to.is_none_or(|to| time < to);
        let of_burst = |burst: usize| {
            let both = [2 * burst as u32, 2 * burst as u32 + 1];
            both.map(|change| (time_of(table, change), change)).into_iter().filter(is_in)
        };
        let mut changes: Vec<(u64, u32)> =
            (0..n).into_par_iter().with_min_len(1 << 12).flat_map_iter(of_burst).collect();
        changes.par_sort_unstable();
        changes.iter().for_each(|&(_, change)| tell(change));
        from = to.unwrap_or(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Nanos;

    #[test]
    fn equals_sorting_all_at_once() {
        let draw = |i: u64, below: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % below;
        for (n, times) in [(0, 1), (1, 5), (1000, 7), (600_000, 900), (600_000, 1 << 40)] {
            let column = |salt: u64, below| (0..n).map(|i| Nanos(draw(i + salt, below))).collect();
            let same = vec![1; n as usize];
            let table = BurstTable {
                app: same.clone(),
                task: same.clone(),
                thread: same,
                begin: column(0, times),
                duration: column(n, 1 + times / 2),
                ..BurstTable::default()
            };
            let mut expected: Vec<(u64, usize, bool)> = (0..table.len())
                .flat_map(|i| [(table.begin[i].0, i, false), (table.end(i).0, i, true)])
                .collect();
            expected.sort_unstable();
            let mut found = Vec::new();
            in_time_order(&table, |change| {
                let ends = end_of(change).is_some();
                let burst = begin_of(change).or(end_of(change)).expect("a burst");
                found.push((time_of(&table, change), burst, ends));
            });
            assert!(found == expected, "{n} bursts, {times} times");
        }
    }
}
