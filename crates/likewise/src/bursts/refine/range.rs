//! Which radii a refinement goes through.

use rayon::prelude::*;

use crate::cluster::Points;
use crate::cluster::kdist::{KDistError, k_distances};
use crate::table::Nanos;

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

/// The share of the time of all bursts, those farthest out, that needs no group.
pub(super) const FARTHEST: f64 = 0.02;

/// So many times as large as the one before is each radius beyond the curve's start.
const FARTHER: f64 = 2.0;

/// So many radii follow the one that bursts reach their neighbours at, for pieces of a
/// phase to meet.
const MEET: usize = 2;

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
    /// Larger ones, ascending, for what is in no group then, or in one that is no step of
    /// the program, if that takes much time.
    pub far: Vec<f64>,
    /// The distance of every point to its `min_points`-th other.
    pub distances: Vec<f64>,
}

/// The `min_points` for a run of so many threads that may do a step at once: a quarter of them, and at least
/// 2. So few are needed because a phase that only some threads run, and run only
/// once, is to be found too.
#[must_use]
pub fn default_min_points(n_threads: usize) -> usize {
    (n_threads / 4).max(2)
}

/// Chooses radii from the sorted k-distances, and `min_points` from the
/// number of threads where it is not given; `durations` has how long each burst is.
///
/// `min_points` is that of [`default_min_points`]. Ten radii are the distances at
/// equal steps of rank from the far end of the curve to its knee, the last one at
/// the knee itself, as in ClusteringSuite. Six smaller ones follow, in equal
/// ratios, down to the distance at 40 % of the ranks: where the sparsest phases
/// make the knee, it is too large a radius for the densest. More radii are `far`, each twice
/// as large as the one before, up to four times the distance that 2 % of the time is beyond: a
/// phase of few and long bursts may be sparse, and the curve counts bursts and not what they
/// take.
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
/// at any. Differs: radii below the knee, and beyond the start by time.
///
/// # Panics
/// If there are not as many durations as points.
pub fn eps_range(
    points: Points<'_>,
    durations: &[Nanos],
    n_threads: usize,
    min_points: Option<usize>,
) -> Result<EpsRange, KDistError> {
    let min_points = min_points.unwrap_or_else(|| default_min_points(n_threads));
    // There a point is not its own neighbour.
    Ok(EpsRange::of(k_distances(points, min_points + 1)?, durations, min_points).0)
}

impl EpsRange {
    /// As [`eps_range`], where the distances of all points to their `min_points`-th
    /// other are known. Also returns them from the largest to the smallest.
    ///
    /// # Panics
    /// If there are no distances, or not as many durations.
    #[must_use]
    pub fn of(distances: Vec<f64>, durations: &[Nanos], min_points: usize) -> (Self, Vec<f64>) {
        assert_eq!(distances.len(), durations.len(), "a duration for every burst");
        let mut curve = distances.clone();
        curve.par_sort_unstable_by_key(|x| std::cmp::Reverse(x.to_bits()));
        let eps = radii(&curve);
        let reach = curve[start_of(&curve)];
        let reach =
            Some(reach).filter(|&reach| reach.is_finite() && eps.last().is_some_and(|&last| reach > last));
        let far = reach.or(eps.last().copied()).map(|last| beyond(&distances, durations, last));
        (Self { min_points, eps, reach, far: far.unwrap_or_default(), distances }, curve)
    }
}

impl EpsRange {
    /// Without radii beyond this one: bursts that are farther from one another are not alike.
    /// Where all are beyond it, this one alone is left.
    ///
    /// # Panics
    /// If `farthest` is not above 0.
    #[must_use]
    pub fn within(mut self, farthest: f64) -> Self {
        assert!(farthest > 0.0, "a radius is above 0");
        let is_within = |eps: &f64| *eps <= farthest;
        self.eps.retain(is_within);
        self.far.retain(is_within);
        self.reach = self.reach.filter(is_within);
        if self.eps.is_empty() {
            self.eps.push(farthest);
        }
        self
    }
}

/// The first rank that says something about radii.
fn start_of(curve: &[f64]) -> usize {
    let first = curve.partition_point(|x| x.is_infinite());
    ((curve.len() as f64 * START) as usize).max(first).min(curve.len() - 1)
}

/// Radii beyond this one, up to the distance that bursts with the [`FARTHEST`] share of
/// the time are beyond. Each reaches the distance of more bursts than the one before. Then
/// there are [`MEET`] more.
fn beyond(distances: &[f64], durations: &[Nanos], last: f64) -> Vec<f64> {
    let all: u128 = durations.par_iter().map(|duration| u128::from(duration.0)).sum();
    let far = |(&distance, duration): (&f64, &Nanos)| (distance > last).then_some((distance, duration.0));
    let mut far: Vec<(f64, u64)> = distances.par_iter().zip(durations).filter_map(far).collect();
    far.par_sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let (mut time, most) = (0, (all as f64 * FARTHEST) as u128);
    let start = far.iter().position(|&(_, duration)| {
        time += u128::from(duration);
        time > most
    });
    let mut near = far[start.unwrap_or(far.len())..].iter().rev().map(|&(distance, _)| distance).peekable();
    let (mut radii, mut eps) = (Vec::new(), last);
    while let Some(next) = near.peek().copied().filter(|next| next.is_finite()) {
        while eps < next {
            eps *= FARTHER;
        }
        let mut reached = next;
        while let Some(within) = near.next_if(|&distance| distance <= eps) {
            reached = within;
        }
        radii.push(if near.peek().is_some() { eps } else { reached });
    }
    let last = radii.last().copied().unwrap_or(last);
    let larger = std::iter::successors(Some(last * FARTHER), |eps| Some(eps * FARTHER));
    radii.extend(larger.take(MEET).filter(|eps| eps.is_finite()));
    radii
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
    fn what_takes_much_time_is_reached_however_few_its_bursts() {
        // Bursts of 1 ms near one another, and a few that are farther out.
        let distance = |i: u32| if i < 4 { 0.5 } else { 0.001 + 1e-6 * f64::from(i) };
        let distances: Vec<f64> = (0..1000).map(distance).collect();
        let range = |far: u64| {
            let duration = |i: u32| Nanos(if i < 4 { far } else { 1_000_000 });
            let durations: Vec<Nanos> = (0..1000).map(duration).collect();
            EpsRange::of(distances.clone(), &durations, 4).0
        };
        // Four bursts of 20 ms take 7.4 % of the time.
        let (as_long, long) = (range(1_000_000), range(20_000_000));
        assert_eq!((as_long.eps, as_long.reach), (long.eps, long.reach));
        assert!(as_long.far.len() == 2 && as_long.far[1] < 0.009, "{:?}", as_long.far);
        let [first, rest @ ..] = &long.far[..] else { panic!("some are far") };
        // Where no burst is, there is no radius.
        assert!(*first < 0.0041 && rest == [0.5, 1.0, 2.0], "{:?}", long.far);
    }

    #[test]
    fn radii_double_up_to_the_last_two_per_cent_of_the_time() {
        let distances: Vec<f64> = (1..=100).map(f64::from).collect();
        let beyond = |distances: &[f64], ns: u64, last: f64| {
            super::beyond(distances, &vec![Nanos(ns); distances.len()], last)
        };
        assert_eq!(beyond(&distances, 10, 10.0), [20.0, 40.0, 80.0, 98.0, 196.0, 392.0]);
        assert_eq!(beyond(&distances, 10, 97.0), [98.0, 196.0, 392.0]);
        assert_eq!(beyond(&distances, 10, 98.0), [196.0, 392.0]);
        assert_eq!(beyond(&[f64::INFINITY; 9], 10, 1.0), [2.0, 4.0]);
        assert_eq!(beyond(&distances, 0, 10.0), [20.0, 40.0]);
    }

    #[test]
    fn radii_that_are_too_far_are_none() {
        let range = |reach| EpsRange {
            min_points: 2,
            eps: vec![0.1, 0.2, 0.4],
            reach,
            far: vec![0.8, 1.6],
            distances: Vec::new(),
        };
        assert_eq!(range(Some(0.5)).within(f64::INFINITY), range(Some(0.5)));
        let found = range(Some(0.5)).within(0.3);
        assert_eq!((found.eps, found.reach, found.far), (vec![0.1, 0.2], None, Vec::new()));
        let found = range(Some(0.5)).within(0.8);
        assert_eq!((found.eps.len(), found.reach, found.far), (3, Some(0.5), vec![0.8]));
        assert_eq!(range(None).within(0.05).eps, [0.05]);
    }

    #[test]
    fn equal_points_leave_one_radius() {
        assert_eq!(radii(&[0.0; 50]), [f64::MIN_POSITIVE]);
        assert_eq!(radii(&[0.5; 50]), [0.5]);
    }
}
