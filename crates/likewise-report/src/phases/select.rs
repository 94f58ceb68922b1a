//! Which bursts and metrics a report keeps.

use super::{PART, ReportData};
use likewise::bursts::BurstLabel;
use rayon::prelude::*;

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
    pub(super) bursts: Vec<u32>,
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
    let is_ordered = (1..n).into_par_iter().with_min_len(PART).all(|i| key(i - 1) <= key(i));
    let order = (!is_ordered).then(|| {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_unstable_by_key(|&i| key(i));
        order
    });
    // As a rule bursts stand in this order, and it takes no memory.
    let at = |place: usize| order.as_ref().map_or(place, |order| order[place]);
    if n <= limit {
        let bursts = (0..n).map(|place| at(place) as u32).collect();
        return Selection { bursts, weights: vec![1.0; labels.len()] };
    }
    let mut sorted: Vec<(BurstLabel, usize)> = labels.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    let index = |i: usize| {
        let at = sorted.binary_search_by_key(&data.label[i], |&(label, _)| label);
        at.map_or(0, |at| sorted[at].1)
    };
    let part = |number: usize| number * PART..n.min((number + 1) * PART);
    let counted = |number: usize| {
        let mut sums = vec![Sum::default(); labels.len()];
        part(number).map(at).for_each(|i| sums[index(i)].add(data.duration[i].0));
        sums
    };
    let parts: Vec<Vec<Sum>> = (0..n.div_ceil(PART)).into_par_iter().map(counted).collect();
    // How many are before each part.
    let mut all = vec![Sum::default(); labels.len()];
    let before = |own: &Vec<Sum>| {
        let before: Vec<usize> = all.iter().map(|sum| sum.count).collect();
        all.iter_mut().zip(own).for_each(|(all, own)| all.join(*own));
        before
    };
    let before: Vec<Vec<usize>> = parts.iter().map(before).collect();
    let quota: Vec<usize> =
        all.iter().map(|sum| (sum.count * limit / n).max(FLOOR.min(limit)).min(sum.count)).collect();
    let kept = |(number, mut position): (usize, Vec<usize>)| {
        let (mut bursts, mut sums) = (Vec::new(), vec![Sum::default(); labels.len()]);
        for i in part(number).map(at) {
            let l = index(i);
            let p = position[l];
            position[l] += 1;
            // The steps of a line from (0, 0) to (count, quota): exactly quota
            // of them, evenly spread.
            if (p + 1) * quota[l] / all[l].count > p * quota[l] / all[l].count {
                sums[l].add(data.duration[i].0);
                bursts.push(i as u32);
            }
        }
        (bursts, sums)
    };
    let (bursts, sums): (Vec<Vec<u32>>, Vec<Vec<Sum>>) = before.into_par_iter().enumerate().map(kept).unzip();
    let mut kept = vec![Sum::default(); labels.len()];
    sums.iter().for_each(|own| kept.iter_mut().zip(own).for_each(|(kept, own)| kept.join(*own)));
    let weight = |(all, kept): (&Sum, &Sum)| {
        if kept.time == 0 { 1.0 } else { all.time as f64 / kept.time as f64 }
    };
    Selection { bursts: bursts.concat(), weights: all.iter().zip(&kept).map(weight).collect() }
}

/// Bursts of a label.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: usize,
    /// In ns.
    time: u128,
}

impl Sum {
    fn add(&mut self, duration: u64) {
        self.join(Self { count: 1, time: duration.into() });
    }

    fn join(&mut self, other: Self) {
        (self.count, self.time) = (self.count + other.count, self.time + other.time);
    }
}

/// How many metrics a report of `n_bursts` keeps beside the duration.
pub(super) fn metric_limit(n_bursts: usize) -> usize {
    (MAX_VALUES / n_bursts.max(1)).max(2)
}

/// How many counters beside `n_metrics` metrics a report of `n` bursts keeps at most.
pub fn counters_shown(n: usize, n_metrics: usize) -> usize {
    // Of more bursts than it holds, it keeps some fewer, as each label's number is rounded.
    metric_limit(n.min(MAX_BURSTS - MAX_BURSTS / 8)).saturating_sub(n_metrics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phases::test_label as phase;
    use likewise::table::{Nanos, Runs};

    #[test]
    fn no_more_counters_are_shown_than_there_is_room_for() {
        for kept in [1, 1_000, 400_000, 750_001, 900_000, 999_000, MAX_BURSTS] {
            for n_metrics in [0, 1, 2, 5] {
                let room = metric_limit(kept).saturating_sub(n_metrics);
                let most = counters_shown(kept, n_metrics);
                assert!(room <= most, "{kept} bursts, {n_metrics} metrics: {room} of {most}");
            }
        }
        assert_eq!([2, 3].map(|n_metrics| counters_shown(50_000_000, n_metrics)), [1, 0]);
    }

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
        let of = |l| selection.bursts.iter().filter(|&&i| label[i as usize] == phase(l)).count();
        assert_eq!((of(1), of(2)), (9_900, 400), "the small label is kept whole");
        assert_eq!(selection.weights, [4.0, 1.0]);
        let keys: Vec<_> =
            selection.bursts.iter().map(|&i| (burst_row[i as usize], begin[i as usize])).collect();
        assert!(keys.is_sorted());
        for row in 0..4 {
            let kept = selection.bursts.iter().filter(|&&i| burst_row[i as usize] == row).count();
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
