//! Which bursts and metrics a report keeps.

use super::ReportData;
use likewise::bursts::BurstLabel;

/// A report holds at most this many bursts.
pub const MAX_BURSTS: usize = 1_000_000;
/// A label that the selection thins keeps at least this many bursts, so that
/// a short phase does not vanish.
const FLOOR: usize = 1_000;
/// A report holds at most this many metric values, because they are most of the
/// file. Two metrics are always kept: without them there is no scatter plot.
const MAX_VALUES: usize = 3_000_000;

/// The bursts that a report keeps.
pub(super) struct Selection {
    /// Indices of bursts, by row, then begin, then index.
    pub(super) bursts: Vec<usize>,
    /// By how much the time of each label must be multiplied to stand for
    /// all of its bursts, in the order of the labels asked for; 1 where all
    /// are kept.
    pub(super) weights: Vec<f64>,
}

/// Keeps every burst, or `limit` of them, stratified by label.
///
/// Each label keeps its share of `limit`, but at least 1,000 bursts, at equal
/// steps in the order of rows and time. The same data gives the same
/// selection.
///
/// # Complexity
/// O(n) for bursts in order, else O(n log n).
pub(super) fn select(data: &ReportData<'_>, labels: &[BurstLabel], limit: usize) -> Selection {
    let n = data.begin.len();
    let key = |i: usize| (data.burst_row[i], data.begin[i], i);
    let order = (!(0..n).is_sorted_by_key(key)).then(|| {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_unstable_by_key(|&i| key(i));
        order
    });
    // As a rule bursts stand in this order, and it takes no memory.
    let order = (0..n).map(|at| order.as_ref().map_or(at, |order| order[at]));
    if n <= limit {
        return Selection { bursts: order.collect(), weights: vec![1.0; labels.len()] };
    }

    let mut position = vec![0_usize; labels.len()];
    let mut count = vec![0_usize; labels.len()];
    let mut time = vec![0_u128; labels.len()];
    let mut kept_time = vec![0_u128; labels.len()];
    let mut sorted: Vec<(BurstLabel, usize)> = labels.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    let index = |i: usize| {
        let at = sorted.binary_search_by_key(&data.label[i], |&(label, _)| label);
        at.map_or(0, |at| sorted[at].1)
    };
    for i in 0..n {
        let l = index(i);
        count[l] += 1;
        time[l] += u128::from(data.duration[i].0);
    }
    let quota: Vec<usize> = count.iter().map(|&c| (c * limit / n).max(FLOOR.min(limit)).min(c)).collect();

    let mut bursts = Vec::with_capacity(quota.iter().sum());
    for i in order {
        let l = index(i);
        let p = position[l];
        position[l] += 1;
        // The steps of a line from (0, 0) to (count, quota): exactly quota
        // of them, evenly spread.
        if (p + 1) * quota[l] / count[l] > p * quota[l] / count[l] {
            kept_time[l] += u128::from(data.duration[i].0);
            bursts.push(i);
        }
    }
    let weights = time
        .iter()
        .zip(&kept_time)
        .map(|(&all, &kept)| if kept == 0 { 1.0 } else { all as f64 / kept as f64 });
    Selection { bursts, weights: weights.collect() }
}

/// How many metrics a report of `n_bursts` keeps beside the duration.
pub(super) fn metric_limit(n_bursts: usize) -> usize {
    (MAX_VALUES / n_bursts.max(1)).max(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phases::test_label as phase;
    use likewise::table::{Nanos, Runs};

    #[test]
    fn a_large_run_keeps_its_share_of_each_label() {
        let n = 40_000;
        let label: Vec<BurstLabel> = (0..n).map(|i| phase(if i % 100 == 0 { 2 } else { 1 })).collect();
        let begin: Vec<Nanos> = (0..n).map(|i| Nanos(u64::from(n - i))).collect();
        let duration = vec![Nanos(3); n as usize];
        let burst_row: Runs = (0..n).map(|i| i % 4).collect();
        let data = ReportData {
            begin: &begin,
            duration: &duration,
            label: &label,
            burst_row: &burst_row,
            rows: vec![String::new(); 4],
            ..ReportData::default()
        };
        let selection = select(&data, &[phase(1), phase(2)], 10_000);
        let of = |l| selection.bursts.iter().filter(|&&i| label[i] == phase(l)).count();
        assert_eq!((of(1), of(2)), (9_900, 400), "the small label is kept whole");
        assert_eq!(selection.weights, [4.0, 1.0]);
        let keys: Vec<_> = selection.bursts.iter().map(|&i| (burst_row[i], begin[i])).collect();
        assert!(keys.is_sorted());
        for row in 0..4 {
            let kept = selection.bursts.iter().filter(|&&i| burst_row[i] == row).count();
            assert!((2_400..2_900).contains(&kept), "row {row} keeps {kept}");
        }
    }

    #[test]
    fn a_small_run_is_kept_whole() {
        let data = ReportData {
            begin: &[Nanos(5), Nanos(1)],
            duration: &[Nanos(1); 2],
            label: &[phase(1); 2],
            burst_row: &Runs::repeat(0, 2),
            rows: vec![String::new()],
            ..ReportData::default()
        };
        assert_eq!(select(&data, &[phase(1)], MAX_BURSTS).bursts, [1, 0]);
    }
}
