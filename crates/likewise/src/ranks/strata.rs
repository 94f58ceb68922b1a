//! Which ranks are measured so that they speak for all: stratified sampling.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

use rand_core::Rng;
use statrs::distribution::{ContinuousCDF, Normal};

use super::{EffortTable, Moments, moments};
use crate::cluster::ClusterId;
use crate::comm::{CommError, Solo};

/// How far the estimated mean may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// In the unit of the effort.
    Absolute(f64),
    /// As a share of the mean of the same step.
    Relative(f64),
}

/// How many ranks each stratum gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allocation {
    /// The bound holds for the mean of every stratum: equation 1 in each.
    EachStratum,
    /// The bound holds for the mean of all; shares as of their ranks.
    Proportional,
    /// The bound holds for the mean of all; shares as of their ranks times
    /// their deviation, which takes the fewest.
    #[default]
    Neyman,
}

/// What a plan is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanParams {
    confidence: f64,
    bound: Bound,
    /// How ranks are shared out.
    pub allocation: Allocation,
    /// A stratum gives at least as many, or all that it has. From 2 on, the
    /// sample itself tells its spread.
    pub at_least: usize,
}

/// Why there is no plan or estimate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The confidence is none.
    #[error("the confidence is {0}; it must lie between 0 and 1, such as 0.95")]
    Confidence(f64),
    /// The bound is none.
    #[error("the error bound is {0}; it must be a positive number")]
    Bound(f64),
    /// Too few or too many labels.
    #[error("{labels} labels for {ranks} ranks")]
    Labels {
        /// How many labels.
        labels: usize,
        /// How many ranks.
        ranks: usize,
    },
    /// What was measured has not as many numbers as what was planned.
    #[error("rank {rank} has {found} numbers; the plan has {expected}")]
    Dims {
        /// The rank.
        rank: usize,
        /// How many it has.
        found: usize,
        /// How many the plan has.
        expected: usize,
    },
    /// The figures of the strata could not be made.
    #[error(transparent)]
    Comm(#[from] CommError),
}

impl PlanParams {
    /// Neyman's allocation with two ranks at least from each stratum.
    ///
    /// # Errors
    /// The confidence is not between 0 and 1, or the bound is not positive.
    pub fn new(confidence: f64, bound: Bound) -> Result<Self, PlanError> {
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(PlanError::Confidence(confidence));
        }
        let (Bound::Absolute(size) | Bound::Relative(size)) = bound;
        if !(size > 0.0 && size.is_finite()) {
            return Err(PlanError::Bound(size));
        }
        Ok(Self { confidence, bound, allocation: Allocation::Neyman, at_least: 2 })
    }

    /// How far the estimated mean may be off.
    #[must_use]
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// The chance that the bound holds.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.confidence
    }
}

/// Ranks that are alike, and their spread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stratum {
    /// The ranks, ascending.
    pub ranks: Vec<usize>,
    /// Their mean, number by number of a rank's feature vector.
    pub mean: Vec<f64>,
    /// Their variance, with divisor n − 1; 0 for a single rank.
    pub variance: Vec<f64>,
}

impl Stratum {
    /// The strata of these figures; `labels` has the place of each rank's.
    #[must_use]
    pub fn all(figures: Vec<Moments>, labels: &[u32]) -> Vec<Self> {
        let stratum = |of: Moments| Self { ranks: Vec::new(), mean: of.mean, variance: of.variance };
        let mut all: Vec<Self> = figures.into_iter().map(stratum).collect();
        labels.iter().enumerate().for_each(|(rank, &label)| all[label as usize].ranks.push(rank));
        all
    }

    /// The ranks of all of them as one.
    #[must_use]
    pub fn joined(strata: &[Self]) -> Self {
        let mut ranks: Vec<usize> = strata.iter().flat_map(|s| s.ranks.iter().copied()).collect();
        ranks.sort_unstable();
        let mean = overall_mean(strata, ranks.len());
        let squares = |(j, &mean): (usize, &f64)| {
            let of = |s: &Self| {
                let n = s.ranks.len() as f64;
                (n - 1.0) * s.variance[j] + n * (s.mean[j] - mean).powi(2)
            };
            strata.iter().map(of).sum::<f64>() / ranks.len().saturating_sub(1).max(1) as f64
        };
        Self { variance: mean.iter().enumerate().map(squares).collect(), ranks, mean }
    }
}

/// A stratum and those that stand for it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedStratum {
    /// All of it.
    pub all: Stratum,
    /// The ranks to measure, ascending.
    pub chosen: Vec<usize>,
}

/// Which ranks to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The strata, in order of their labels; ranks without one are the last.
    pub strata: Vec<PlannedStratum>,
    /// Half the width of the confidence interval of the mean, at its widest
    /// over the steps, in the unit of the bound.
    pub expected_error: f64,
    /// Share of the steps where stratifying pays (equation 2).
    pub pays: f64,
}

impl Plan {
    /// How many ranks there are.
    #[must_use]
    pub fn n_ranks(&self) -> usize {
        self.strata.iter().map(|s| s.all.ranks.len()).sum()
    }

    /// How many are measured.
    #[must_use]
    pub fn n_chosen(&self) -> usize {
        self.strata.iter().map(|s| s.chosen.len()).sum()
    }

    /// How many times less data are written: ranks by measured ranks.
    #[must_use]
    pub fn reduction(&self) -> f64 {
        self.n_ranks() as f64 / self.n_chosen() as f64
    }
}

/// The z below which a standard normal number lies with this chance.
#[must_use]
pub fn normal_quantile(chance: f64) -> f64 {
    Normal::new(0.0, 1.0).map_or(f64::NAN, |normal| normal.inverse_cdf(chance))
}

/// z for an interval around the mean with this chance.
pub(super) fn two_sided(confidence: f64) -> f64 {
    normal_quantile(f64::midpoint(1.0, confidence))
}

/// The least sample of `n_ranks` whose mean is within `d` of theirs with the
/// chance that `z` stands for: N / (1 + N·(d/(z·σ))²), rounded up.
///
/// `deviation` has the divisor n − 1; the formula is then exact for a sample
/// without replacement and a normal mean.
///
/// # Reference
/// Gamblin et al., ICS 2010, equation 1.
///
/// # Example
/// ```
/// use likewise::ranks::{normal_quantile, sample_size};
///
/// // A mean that is within 1 of that of all with a chance of 95 %, where ranks
/// // deviate by 4.
/// let z = normal_quantile(0.975);
/// assert_eq!(sample_size(1_000, 4.0, 1.0, z), 58);
/// assert_eq!(sample_size(1_000_000, 4.0, 1.0, z), 62);
/// ```
#[must_use]
pub fn sample_size(n_ranks: usize, deviation: f64, d: f64, z: f64) -> usize {
    if deviation <= 0.0 {
        return 0;
    }
    let n = n_ranks as f64;
    // A little off for what rounding adds to a whole number.
    ((n / (1.0 + n * (d / (z * deviation)).powi(2))) * (1.0 - 1e-12)).ceil() as usize
}

/// What strata do to a sample of proportional shares: equation 2 and what it
/// stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stratification {
    /// Σ Pᵢ(P̄ᵢ − P̄)², the left side of equation 2.
    pub between: f64,
    /// Σ (P − Pᵢ)σᵢ² / P, the right side.
    pub within: f64,
    /// The variance of all ranks, divisor P − 1: that of the mean of a plain
    /// sample goes by it.
    pub variance: f64,
    /// Σ Pᵢσᵢ² / P: that of a stratified sample of the same size goes by it.
    pub variance_in_strata: f64,
}

impl Stratification {
    /// Of strata with that number of ranks, mean and variance (divisor n − 1)
    /// each.
    ///
    /// # Reference
    /// Gamblin et al., ICS 2010, equation 2; Cochran, *Sampling Techniques*, §5.6.
    ///
    /// # Example
    /// ```
    /// use likewise::ranks::Stratification;
    ///
    /// // Two strata of ten ranks, with their mean and variance.
    /// let apart = Stratification::of(&[(10, 1.0, 0.5), (10, 5.0, 0.5)]);
    /// assert_eq!((apart.between, apart.within), (80.0, 0.5));
    /// assert!(apart.pays() && !Stratification::of(&[(10, 1.0, 0.5), (10, 1.0, 0.5)]).pays());
    /// ```
    #[must_use]
    pub fn of(strata: &[(usize, f64, f64)]) -> Self {
        let n = strata.iter().map(|s| s.0).sum::<usize>() as f64;
        let sum = |of: &dyn Fn(&(usize, f64, f64)) -> f64| strata.iter().map(of).sum::<f64>();
        let mean = sum(&|s| s.0 as f64 * s.1) / n;
        let between = sum(&|s| s.0 as f64 * (s.1 - mean).powi(2));
        let squares = sum(&|s| (s.0 as f64 - 1.0) * s.2);
        Self {
            between,
            within: sum(&|s| (n - s.0 as f64) * s.2) / n,
            variance: (between + squares) / (n - 1.0).max(1.0),
            variance_in_strata: sum(&|s| s.0 as f64 * s.2) / n,
        }
    }

    /// Whether the stratified sample has the smaller variance.
    #[must_use]
    pub fn pays(&self) -> bool {
        self.between > self.within
    }
}

/// Chooses the ranks to measure so that the mean of all ranks can be told, in
/// every step and region, within the bound.
///
/// `labels` has the class of every rank; ranks without one make a stratum of
/// their own. Otherwise as [`plan_strata`].
///
/// # Errors
/// There is not one label for each rank.
///
/// # Complexity
/// O(n·d) for n ranks with d numbers each, and that of [`plan_strata`].
///
/// # Example
/// ```
/// use likewise::cluster::ClusterId;
/// use likewise::ranks::{Bound, EffortRegion, EffortTable, PlanParams, Spread, estimate, plan};
/// use rand_xoshiro::Xoshiro256PlusPlus;
/// use rand_xoshiro::rand_core::SeedableRng;
///
/// // Forty ranks: every second one does ten times the work.
/// let effort = |rank: u32| f64::from(1 + rank % 2 * 9) + f64::from(rank % 5) * 0.01;
/// let region = EffortRegion { name: "solve".into(), unit: "s".into() };
/// let table = EffortTable::from_series(region, &(0..40).map(|rank| vec![effort(rank)]).collect::<Vec<_>>())?;
/// let labels: Vec<_> = (0..40).map(|rank| Some(ClusterId::from_index(rank % 2))).collect();
/// let params = PlanParams::new(0.95, Bound::Relative(0.01))?;
/// let plan = plan(&table, &labels, &params, &mut Xoshiro256PlusPlus::seed_from_u64(1))?;
/// assert_eq!(plan.n_chosen(), 4);
/// let told = estimate(&plan, |rank| table.row(rank), 0.95, Spread::Planned)?[0];
/// assert!((told.mean - 5.52).abs() <= told.half_width && told.half_width < 0.01 * 5.52);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan(
    table: &EffortTable,
    labels: &[Option<ClusterId>],
    params: &PlanParams,
    rng: &mut impl Rng,
) -> Result<Plan, PlanError> {
    if labels.len() != table.n_ranks() {
        return Err(PlanError::Labels { labels: labels.len(), ranks: table.n_ranks() });
    }
    Ok(plan_strata(strata_of(table, labels)?, params, rng))
}

/// Chooses the ranks to measure so that the mean of all ranks can be told, in
/// every number of their feature vectors, within the bound.
///
/// Each stratum has a rank at least, and all have equally many numbers. Where
/// the mean of a step is 0 and the bound relative, all ranks that differ are
/// needed.
///
/// # Panics
/// If there is no stratum.
///
/// # Complexity
/// O(k·d·log n + m log k) for n ranks, d numbers each, k strata and m chosen
/// or considered ranks.
///
/// # Reference
/// Gamblin et al., ICS 2010, §5; Neyman, *J. Royal Stat. Soc.* 97, 1934;
/// whole numbers that are optimal: Wright, *The American Statistician* 66,
/// 2012. Differs from the paper: exact sizes, drawn without replacement; the
/// bound may be asked for the mean of all, which takes far fewer.
pub fn plan_strata(strata: Vec<Stratum>, params: &PlanParams, rng: &mut impl Rng) -> Plan {
    let n_ranks = strata.iter().map(|s| s.ranks.len()).sum();
    let dims = strata[0].mean.len();
    let z = two_sided(params.confidence);
    let mean = overall_mean(&strata, n_ranks);
    // The bound of each number, and the unit in which its error is told.
    let bound_of = |mean: f64| match params.bound {
        Bound::Absolute(d) => (d, 1.0),
        Bound::Relative(share) => (share * mean.abs(), mean.abs()),
    };
    let bounds: Vec<(f64, f64)> = mean.iter().map(|&m| bound_of(m)).collect();
    let counts = match params.allocation {
        Allocation::EachStratum => strata.iter().map(|s| each(s, params, bound_of, z)).collect(),
        allocation => shared(&strata, &bounds, allocation, params.at_least, z),
    };
    let expected_error = (0..dims)
        .map(|j| (j, z * variance_of_mean(&strata, &counts, j).sqrt()))
        .map(|(j, half)| if half > 0.0 { half / bounds[j].1 } else { 0.0 })
        .fold(0.0, f64::max);
    let pays = |j: usize| {
        let rows: Vec<_> = strata.iter().map(|s| (s.ranks.len(), s.mean[j], s.variance[j])).collect();
        Stratification::of(&rows).pays()
    };
    let paying = (0..dims).filter(|&j| pays(j)).count() as f64;
    let strata = strata
        .into_iter()
        .zip(counts)
        .map(|(all, n)| PlannedStratum { chosen: draw(&all.ranks, n, rng), all })
        .collect();
    Plan { strata, expected_error, pays: paying / dims as f64 }
}

/// The ranks of each class and their spread.
fn strata_of(table: &EffortTable, labels: &[Option<ClusterId>]) -> Result<Vec<Stratum>, PlanError> {
    let n_classes = labels.iter().flatten().map(|id| id.index() + 1).max().unwrap_or(0);
    // Labels may be far apart; only those that occur take memory for figures.
    let mut places = vec![u32::MAX; n_classes + 1];
    let class = |label: &Option<ClusterId>| label.map_or(n_classes, ClusterId::index);
    labels.iter().for_each(|label| places[class(label)] = 0);
    let n_strata = (0..).zip(places.iter_mut().filter(|place| **place == 0));
    let n_strata = n_strata.map(|(n, place)| *place = n).count();
    let places: Vec<u32> = labels.iter().map(|label| places[class(label)]).collect();
    let found = moments(&Solo::default(), table.values(), table.dims(), &places, n_strata);
    let found = found.map_err(PlanError::Comm)?;
    Ok(Stratum::all(found, &places))
}

fn overall_mean(strata: &[Stratum], n_ranks: usize) -> Vec<f64> {
    let mut mean = vec![0.0; strata[0].mean.len()];
    for stratum in strata {
        let share = stratum.ranks.len() as f64 / n_ranks as f64;
        mean.iter_mut().zip(&stratum.mean).for_each(|(sum, m)| *sum += share * m);
    }
    mean
}

/// Equation 1 for one stratum, at its most demanding number.
fn each(s: &Stratum, params: &PlanParams, bound_of: impl Fn(f64) -> (f64, f64), z: f64) -> usize {
    let n = s.ranks.len();
    let needed = s.mean.iter().zip(&s.variance).map(|(&m, v)| sample_size(n, v.sqrt(), bound_of(m).0, z));
    needed.max().unwrap_or(0).max(params.at_least.max(1)).min(n)
}

/// The fewest ranks that keep all bounds of the mean of all, shared out.
fn shared(
    strata: &[Stratum],
    bounds: &[(f64, f64)],
    allocation: Allocation,
    at_least: usize,
    z: f64,
) -> Vec<usize> {
    let least: Vec<usize> = strata.iter().map(|s| s.ranks.len().min(at_least.max(1))).collect();
    // Over several numbers, the deviation is that in parts of their bounds.
    let deviation = |s: &Stratum| {
        let parts = s.variance.iter().zip(bounds).filter(|(v, _)| **v > 0.0);
        let sum: f64 = parts.map(|(v, b)| v / (b.0 * b.0).max(f64::MIN_POSITIVE)).sum();
        (sum / bounds.len() as f64).sqrt().min(f64::MAX)
    };
    let weights: Vec<f64> = strata
        .iter()
        .map(|s| s.ranks.len() as f64 * if allocation == Allocation::Neyman { deviation(s) } else { 1.0 })
        .collect();
    let sizes: Vec<usize> = strata.iter().map(|s| s.ranks.len()).collect();
    let order = additions(&sizes, &weights, &least);
    let counts_after = |added: usize| {
        let mut counts = least.clone();
        order[..added].iter().for_each(|&s| counts[s as usize] += 1);
        counts
    };
    let holds = |added: usize| {
        let counts = counts_after(added);
        (0..bounds.len()).all(|j| {
            let allowed = (bounds[j].0 / z).powi(2) * (1.0 + 1e-12);
            variance_of_mean(strata, &counts, j) <= allowed
        })
    };
    // Variances fall with every addition, so the first that holds is found by halving.
    let (mut low, mut high) = (0, order.len());
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    counts_after(low)
}

/// A stratum that may give one more rank.
#[derive(PartialEq)]
struct Addition {
    priority: f64,
    stratum: usize,
}

impl Eq for Addition {}

impl Ord for Addition {
    fn cmp(&self, other: &Self) -> Ordering {
        self.priority.total_cmp(&other.priority).then(other.stratum.cmp(&self.stratum))
    }
}

impl PartialOrd for Addition {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Which stratum gives the next rank, until all have given all: the one of
/// greatest weight / √(n(n + 1)), where n is what it gives so far. For
/// weights of size times deviation, each takes most off the variance.
fn additions(sizes: &[usize], weights: &[f64], least: &[usize]) -> Vec<u32> {
    let entry = |stratum: usize, n: usize| {
        let priority = weights[stratum] / (n as f64 * (n + 1) as f64).sqrt();
        (n < sizes[stratum]).then_some(Addition { priority, stratum })
    };
    let mut counts = least.to_vec();
    let mut heap: BinaryHeap<Addition> =
        counts.iter().enumerate().filter_map(|(s, &n)| entry(s, n)).collect();
    let mut order = Vec::new();
    while let Some(Addition { stratum, .. }) = heap.pop() {
        order.push(stratum as u32);
        counts[stratum] += 1;
        heap.extend(entry(stratum, counts[stratum]));
    }
    order
}

/// Variance of the estimated mean of number `j`, if strata give `counts`.
fn variance_of_mean(strata: &[Stratum], counts: &[usize], j: usize) -> f64 {
    let total: usize = strata.iter().map(|s| s.ranks.len()).sum();
    let part = |(s, &n): (&Stratum, &usize)| {
        let size = s.ranks.len();
        (size as f64 / total as f64).powi(2) * s.variance[j] * (1.0 / n as f64 - 1.0 / size as f64)
    };
    strata.iter().zip(counts).map(part).sum()
}

/// `n` of them, each set as likely as any other; ascending.
///
/// # Reference
/// Floyd, in Bentley, *CACM* 30(9), 1987.
fn draw(from: &[usize], n: usize, rng: &mut impl Rng) -> Vec<usize> {
    let mut places = BTreeSet::new();
    for last in from.len() - n..from.len() {
        let place = ((u128::from(rng.next_u64()) * (last as u128 + 1)) >> 64) as usize;
        if !places.insert(place) {
            places.insert(last);
        }
    }
    places.into_iter().map(|place| from[place]).collect()
}

#[cfg(test)]
mod tests;
