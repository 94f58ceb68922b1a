//! Which radii a refinement goes through.

use rayon::prelude::*;

use crate::cluster::Points;
use crate::cluster::kdist::{KDistError, k_distances};

/// How many radii there are at most.
const STEPS: usize = 10;

/// How many smaller ones there are before them, at most.
const FINER: usize = 6;

/// The share of the points that are outside of all groups, or just at the edge of
/// one, at the smallest radius.
const FINEST: f64 = 0.4;

/// The share of the points, those farthest out, that say nothing about radii:
/// a few strays would stretch the curve.
const START: f64 = 0.005;

/// Radii to go through, and what makes a group.
#[derive(Clone, Debug, PartialEq)]
pub struct EpsRange {
    /// Bursts within the radius that make one core, itself counted.
    pub min_points: usize,
    /// The radii, ascending, all different.
    pub eps: Vec<f64>,
    /// A larger one, where there is any, at which groups join but do not grow:
    /// where the curve starts.
    pub reach: Option<f64>,
    /// The distance of every point to its `min_points`-th other.
    pub distances: Vec<f64>,
}

/// The `min_points` for a run of so many threads: a quarter of them, and at least
/// 2. So few are needed because a phase that only some threads run, and run only
/// once, is to be found too.
#[must_use]
pub fn default_min_points(n_threads: usize) -> usize {
    (n_threads / 4).max(2)
}

/// Chooses radii from the sorted k-distances, and `min_points` from the
/// number of threads where it is not given.
///
/// `min_points` is that of [`default_min_points`]. Ten radii are the distances at
/// equal steps of rank from the far end of the curve to its knee, the last one at
/// the knee itself, as in ClusteringSuite. Six smaller ones follow, in equal
/// ratios, down to the distance at 40 % of the ranks: where the sparsest phases
/// make the knee, it is too large a radius for the densest.
///
/// # Errors
/// There are not more than `min_points` points.
///
/// # Complexity
/// That of [`k_distance_curve`](crate::cluster::kdist::k_distance_curve).
///
/// # Reference
/// ClusteringSuite's automatic parameters. The knee is where the curve lies
/// farthest below the line from its value at 0.5 % of the points to zero at
/// half of them. Zeros are no radii: bursts that are all alike are one group
/// at any.
pub fn eps_range(
    points: Points<'_>,
    n_threads: usize,
    min_points: Option<usize>,
) -> Result<EpsRange, KDistError> {
    let min_points = min_points.unwrap_or_else(|| default_min_points(n_threads));
    // There a point is not its own neighbour.
    Ok(EpsRange::of(k_distances(points, min_points + 1)?, min_points).0)
}

impl EpsRange {
    /// As [`eps_range`], where the distances of all points to their `min_points`-th
    /// other are known. Also returns them from the largest to the smallest.
    ///
    /// # Panics
    /// If there are no distances.
    #[must_use]
    pub fn of(distances: Vec<f64>, min_points: usize) -> (Self, Vec<f64>) {
        let mut curve = distances.clone();
        curve.par_sort_unstable_by_key(|x| std::cmp::Reverse(x.to_bits()));
        let eps = radii(&curve);
        let reach = curve[start_of(&curve)];
        let reach =
            Some(reach).filter(|&reach| reach.is_finite() && eps.last().is_some_and(|&last| reach > last));
        (Self { min_points, eps, reach, distances }, curve)
    }
}

/// The first rank that says something about radii.
fn start_of(curve: &[f64]) -> usize {
    let first = curve.partition_point(|x| x.is_infinite());
    ((curve.len() as f64 * START) as usize).max(first).min(curve.len() - 1)
}

fn radii(curve: &[f64]) -> Vec<f64> {
    let n = curve.len();
    let start = start_of(curve);
    let zero = ((n as f64 * (1.0 - START)) as usize / 2).max(start + 1);
    let below = |i: usize| curve[start] * (zero - i) as f64 / (zero - start) as f64 - curve[i];
    let ranks = start..zero.min(n);
    let knee = ranks.max_by(|&i, &j| below(i).total_cmp(&below(j)).then(j.cmp(&i))).unwrap_or(start);
    let rank = |step: usize| start + step * (knee - start) / STEPS;
    let mut eps: Vec<f64> = (1..=STEPS).rev().map(|step| curve[rank(step)]).collect();
    let finest = curve[(n as f64 * FINEST) as usize].min(eps[0]);
    let finer = |step: usize| finest * (eps[0] / finest).powf(step as f64 / FINER as f64);
    let finer: Vec<f64> = if finest > 0.0 { (0..FINER).map(finer).collect() } else { Vec::new() };
    eps.splice(0..0, finer);
    eps.retain(|&eps| eps > 0.0 && eps.is_finite());
    eps.dedup();
    if eps.is_empty() {
        // Every point has its like; any radius finds them.
        eps.push(curve.iter().copied().find(|x| *x > 0.0 && x.is_finite()).unwrap_or(f64::MIN_POSITIVE));
    }
    eps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radii_rise_from_the_knee() {
        // Two per cent far out, falling; the rest near.
        let curve: Vec<f64> =
            (0..1000).map(|i| if i < 100 { 1.0 - 0.0095 * f64::from(i) } else { 0.05 }).collect();
        let eps = radii(&curve);
        assert_eq!(eps.len(), STEPS);
        assert!(eps.is_sorted_by(|a, b| a < b));
        assert!(eps[0] <= 0.06 && eps[9] > 0.8, "{eps:?}");
    }

    #[test]
    fn finer_radii_go_on_in_equal_ratios() {
        // The knee is at 0.1; at 40 % of the ranks the distances are a 64th of it.
        let distance = |i: i32| match i {
            0..200 => 1.0 - 0.0045 * f64::from(i),
            200..300 => 0.1,
            _ => 0.1 / 64.0,
        };
        let curve: Vec<f64> = (0..1000).map(distance).collect();
        let eps = radii(&curve);
        assert_eq!(eps[0], curve[400]);
        let knee = eps[FINER];
        assert!(knee > 0.09, "{eps:?}");
        for step in 0..FINER {
            let ratio = eps[step + 1] / eps[step];
            assert!((ratio - (knee / eps[0]).powf(1.0 / FINER as f64)).abs() < 1e-9, "{eps:?}");
        }
        assert!(eps.len() <= STEPS + FINER && eps.is_sorted_by(|a, b| a < b), "{eps:?}");
        // Where nothing is finer there are none.
        assert!(radii(&curve[..300]).iter().all(|&eps| eps >= 0.09));
    }

    #[test]
    fn equal_points_leave_one_radius() {
        assert_eq!(radii(&[0.0; 50]), [f64::MIN_POSITIVE]);
        assert_eq!(radii(&[0.5; 50]), [0.5]);
    }
}
