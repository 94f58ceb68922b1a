//! How many ranks each stratum gives, and which.

use crate::Options;
use likewise::ranks::{Moments, Stratification, normal_quantile, sample_size};
use likewise_recording::Choice;

/// How much less error is asked of strata while that of the mean of all is more
/// than was promised.
const LESS: f64 = 0.9;

/// What is promised of the estimated mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promise {
    error: f64,
    z: f64,
    at_least: usize,
}

impl Promise {
    pub(crate) fn of(options: &Options) -> Self {
        let z = normal_quantile(f64::midpoint(1.0, options.confidence));
        Self { error: options.error, z, at_least: options.at_least }
    }

    /// Whether an error is within the promise, but for rounding.
    pub(crate) fn holds(&self, error: f64) -> bool {
        error <= self.error * (1.0 + 1e-9)
    }
}

/// Sizes of samples.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sizes {
    pub(crate) of_strata: Vec<usize>,
    pub(crate) spread: Spread,
}

/// How ranks differ in a window, and what follows for a sample.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spread {
    /// Half of the confidence interval of the mean as a share of it, at its
    /// widest.
    pub(crate) error: f64,
    /// Of each stratum, the standard deviation in each step, then in all.
    pub(crate) deviations: Vec<Vec<f64>>,
}

impl Sizes {
    fn total(&self) -> usize {
        self.of_strata.iter().sum()
    }
}

/// What strata are to be sampled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decision {
    pub(crate) choice: Choice,
    pub(crate) sizes: Sizes,
    /// Both sides of equation 2.
    pub(crate) equation2: (f64, f64),
    /// Of each class the stratum that it belongs to.
    pub(crate) stratum: Vec<u32>,
}

/// Decides which classes are sampled as strata, or all ranks as one stratum.
/// `classes` have the figures of the effort of a rank in every step, then in all
/// steps.
pub(crate) fn decide(classes: &[Moments], promise: &Promise) -> Decision {
    let one = |choice, equation2| Decision {
        choice,
        sizes: sizes(&[joined(classes)], promise),
        equation2,
        stratum: vec![0; classes.len()],
    };
    if classes.len() == 1 {
        return one(Choice::Alike, (0.0, 0.0));
    }
    let (strata, stratum) = merged(classes, promise);
    let equation2 = equation2(if strata.len() == 1 { classes } else { &strata });
    if equation2.0 <= equation2.1 {
        return one(Choice::DoesNotPay, equation2);
    }
    let plain = one(Choice::TakesMore, equation2);
    let sizes = sizes(&strata, promise);
    if strata.len() == 1 || sizes.total() > plain.sizes.total() {
        return plain;
    }
    Decision { choice: Choice::Stratified, sizes, equation2, stratum }
}

/// Both sides of equation 2, summed over the steps: the variances are then those
/// of the mean trace.
fn equation2(strata: &[Moments]) -> (f64, f64) {
    let of_step = |j: usize| {
        let rows: Vec<_> = strata.iter().map(|s| (s.n_ranks as usize, s.mean[j], s.variance[j])).collect();
        Stratification::of(&rows)
    };
    (0..strata[0].mean.len() - 1)
        .map(of_step)
        .fold((0.0, 0.0), |(between, within), of| (between + of.between, within + of.within))
}

/// Classes whose means differ, in every step, by no more than what the mean of
/// all may be off are one stratum where that takes fewer ranks: each stratum
/// gives some ranks, however alike they are. With the strata, of each class the
/// one that it belongs to.
fn merged(classes: &[Moments], promise: &Promise) -> (Vec<Moments>, Vec<u32>) {
    let mut strata = classes.to_vec();
    let mut stratum: Vec<u32> = (0..classes.len() as u32).collect();
    let units = units(classes);
    let is_near = |a: &Moments, b: &Moments| {
        (0..units.len()).all(|j| (a.mean[j] - b.mean[j]).abs() <= promise.error * units[j])
    };
    loop {
        let mut best = (sizes(&strata, promise).total(), None);
        for a in 0..strata.len() {
            for b in a + 1..strata.len() {
                if !is_near(&strata[a], &strata[b]) {
                    continue;
                }
                let pair = joined(&[strata[a].clone(), strata[b].clone()]);
                let mut fewer = strata.clone();
                fewer.remove(b);
                fewer[a] = pair;
                let total = sizes(&fewer, promise).total();
                if total < best.0 {
                    best = (total, Some((a as u32, b as u32, fewer)));
                }
            }
        }
        let Some((a, b, fewer)) = best.1 else { return (strata, stratum) };
        strata = fewer;
        for own in &mut stratum {
            *own = if *own == b { a } else { *own - u32::from(*own > b) };
        }
    }
}

/// Equation 1 in every stratum, for every step and for all steps together.
///
/// The bound of a stratum is a share of its own mean, or of the mean of all
/// ranks if that is more: a stratum that hardly computes would otherwise have to
/// be known as well as it is. If the mean of all is then not known as promised,
/// the share is made less.
fn sizes(strata: &[Moments], promise: &Promise) -> Sizes {
    let all: Vec<f64> = strata.iter().map(|s| s.n_ranks as f64).collect();
    let units = units(strata);
    let mut share = promise.error;
    loop {
        let of = |s: &Moments| {
            let needed = (0..units.len()).map(|j| {
                let d = share * s.mean[j].max(units[j]);
                sample_size(s.n_ranks as usize, s.variance[j].sqrt(), d, promise.z)
            });
            needed.max().unwrap_or(0).max(promise.at_least).min(s.n_ranks as usize)
        };
        let of_strata: Vec<usize> = strata.iter().map(of).collect();
        let spread = spread(strata, &of_strata, promise);
        let is_all = of_strata.iter().zip(&all).all(|(n, all)| *n as f64 >= *all);
        if promise.holds(spread.error) || is_all {
            return Sizes { of_strata, spread };
        }
        share *= LESS;
    }
}

/// What an error is a share of: in a step its mean or, where that is less, the
/// mean of a step of the window, so that steps in which nearly nothing is done do
/// not decide; in all steps their mean. 0 where nobody did anything.
fn units(strata: &[Moments]) -> Vec<f64> {
    let mean = joined_mean(strata);
    let n_steps = mean.len() - 1;
    let of_a_step = mean[n_steps] / n_steps.max(1) as f64;
    (0..=n_steps).map(|j| if j < n_steps { mean[j].max(of_a_step) } else { mean[j] }).collect()
}

/// How ranks differ, and what error follows if strata give so many ranks.
pub(crate) fn spread(strata: &[Moments], sizes: &[usize], promise: &Promise) -> Spread {
    let total: f64 = strata.iter().map(|s| s.n_ranks as f64).sum();
    let variance = |j: usize| -> f64 {
        let part = |(s, n): (&Moments, &usize)| {
            let all = s.n_ranks as f64;
            (all / total).powi(2) * s.variance[j] * (1.0 / *n as f64 - 1.0 / all).max(0.0)
        };
        strata.iter().zip(sizes).map(part).sum()
    };
    let share = |(j, unit): (usize, f64)| {
        let half = promise.z * variance(j).sqrt();
        if half > 0.0 { half / unit } else { 0.0 }
    };
    let deviations = |s: &Moments| s.variance.iter().map(|variance| variance.sqrt()).collect();
    Spread {
        error: units(strata).into_iter().enumerate().map(share).fold(0.0, f64::max),
        deviations: strata.iter().map(deviations).collect(),
    }
}

fn joined_mean(strata: &[Moments]) -> Vec<f64> {
    let total: f64 = strata.iter().map(|s| s.n_ranks as f64).sum();
    let mean = |j: usize| strata.iter().map(|s| s.n_ranks as f64 / total * s.mean[j]).sum();
    (0..strata[0].mean.len()).map(mean).collect()
}

/// The figures of all strata as one.
fn joined(strata: &[Moments]) -> Moments {
    let n_ranks: u64 = strata.iter().map(|s| s.n_ranks).sum();
    let mean = joined_mean(strata);
    let variance = |j: usize| {
        let squares = strata.iter().map(|s| {
            let n = s.n_ranks as f64;
            (n - 1.0).max(0.0) * s.variance[j] + n * (s.mean[j] - mean[j]).powi(2)
        });
        squares.sum::<f64>() / (n_ranks as f64 - 1.0).max(1.0)
    };
    Moments { n_ranks, variance: (0..mean.len()).map(variance).collect(), mean, ..Moments::default() }
}

/// A number for a rank in a draw, uniform, another one for every rank: those of
/// the least numbers are drawn. No rank needs to know who else is there.
pub(crate) fn lot(seed: u64, draw: u64, rank: usize) -> u64 {
    mix(mix(mix(seed) ^ draw) ^ rank as u64)
}

/// One step of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): no two numbers
/// give the same.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Of each stratum the greatest lot that is drawn. `runs` are the strata of all
/// ranks.
pub(crate) fn last_lots(runs: &[(u32, u64)], sizes: &[usize], lot: impl Fn(usize) -> u64) -> Vec<u64> {
    let mut lots: Vec<Vec<u64>> = vec![Vec::new(); sizes.len()];
    for (rank, stratum) in ranks(runs) {
        lots[stratum as usize].push(lot(rank));
    }
    let last = |(mut lots, n): (Vec<u64>, &usize)| match lots.len().min(*n).checked_sub(1) {
        Some(at) => *lots.select_nth_unstable(at).1,
        None => 0,
    };
    lots.into_iter().zip(sizes).map(last).collect()
}

/// Every rank with its stratum.
pub(crate) fn ranks(runs: &[(u32, u64)]) -> impl Iterator<Item = (usize, u32)> {
    runs.iter().flat_map(|(stratum, n)| (0..*n).map(|_| *stratum)).enumerate()
}
