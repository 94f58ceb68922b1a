//! The smallest boxes that hold clusters, and how dense these are.

use super::super::{Merge, Profiles};

/// A box's extent in one column.
#[derive(Clone, Copy, Debug)]
struct Side {
    low: f64,
    high: f64,
    /// Whether two members have a value.
    is_known: bool,
}

impl Side {
    /// NaN where no member has a value.
    fn join(self, other: Self) -> Self {
        let both = !self.low.is_nan() && !other.low.is_nan();
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            is_known: both || self.is_known || other.is_known,
        }
    }
}

/// The logarithm of the least density of a cluster in each partition: before
/// the first merge, and after each.
pub(super) fn least_log_densities(profiles: &Profiles, merges: &[Merge]) -> Vec<f64> {
    let n = profiles.len();
    let leaf =
        |i: usize| profiles.row(i).iter().map(|&x| Side { low: x, high: x, is_known: false }).collect();
    let mut boxes: Vec<Vec<Side>> = (0..n).map(leaf).collect();
    let mut densities = vec![f64::INFINITY; n];
    // Where in `boxes` each cluster has its own.
    let mut place: Vec<usize> = (0..n).collect();
    let mut ends = vec![merges.len() + 1; n + merges.len()];
    for (at, merge) in merges.iter().enumerate() {
        let other = std::mem::take(&mut boxes[place[merge.b]]);
        let own = &mut boxes[place[merge.a]];
        own.iter_mut().zip(other).for_each(|(side, other)| *side = side.join(other));
        densities.push((merge.size as f64).ln() - log_volume(own));
        place.push(place[merge.a]);
        (ends[merge.a], ends[merge.b]) = (at + 1, at + 1);
    }
    least_by_lifetime(&densities, &ends, n)
}

/// The logarithm of the volume; scaled up where columns are not known.
fn log_volume(sides: &[Side]) -> f64 {
    let known = || sides.iter().filter(|side| side.is_known);
    match known().count() {
        0 => f64::NEG_INFINITY,
        count => {
            let sum: f64 = known().map(|side| (side.high - side.low).ln()).sum();
            sum * (sides.len() as f64 / count as f64)
        }
    }
}

/// The least of the densities at each time. Cluster `i` of `n` objects is
/// there from time 0, or `i − n + 1` if that is later, until before its end.
fn least_by_lifetime(densities: &[f64], ends: &[usize], n: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..densities.len()).collect();
    order.sort_by(|&a, &b| densities[a].total_cmp(&densities[b]));
    let mut least = vec![f64::INFINITY; n];
    // The first time from each on that is still to be filled in.
    let mut open: Vec<usize> = (0..=n).collect();
    for cluster in order {
        let mut time = first_open(&mut open, (cluster + 1).saturating_sub(n));
        while time < ends[cluster].min(n) {
            least[time] = densities[cluster];
            open[time] = time + 1;
            time = first_open(&mut open, time);
        }
    }
    least
}

fn first_open(open: &mut [usize], mut time: usize) -> usize {
    while open[time] != time {
        open[time] = open[open[time]];
        time = open[time];
    }
    time
}
