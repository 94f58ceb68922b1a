//! Counters that only some bursts of a phase carry.
//!
//! A processor counts a few events at a time, so a tracer changes the set of
//! counters as the program runs. The bursts of a phase are alike: those that
//! carry a counter are a sample of the phase, and what all carry (duration,
//! instructions, cycles) tells how that sample differs from the whole.

use rand_core::Rng;
use rayon::prelude::*;

use super::on_core::Sum;
use super::stats::{Moments, Running};
use crate::cluster::{ClusterId, Clustering};
use crate::table::{BurstTable, CounterColumn, Prepared};

/// Residuals of fewer bursts than this say nothing.
const MIN_CARRIERS: usize = 3;

/// How a mean was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// Every burst carries the counter.
    Observed,
    /// The mean of those that do.
    Mean,
    /// Their quotient by the burst's duration, times the phase's mean duration.
    PerDuration,
    /// Their quotient by that counter of the table, times its mean in the
    /// phase.
    PerCounter(usize),
}

/// A counter in a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extrapolated {
    /// How many bursts carry it.
    pub n: u64,
    /// Mean over all bursts of the phase.
    pub mean: f64,
    /// Standard deviation over all bursts of the phase, divisor n.
    pub deviation: f64,
    /// How far off the mean may be: its standard error, 0 where every burst
    /// carries the counter; `None` where only one of several does.
    pub standard_error: Option<f64>,
    /// How the mean was found.
    pub estimator: Estimator,
}

impl Extrapolated {
    /// Without the error and the method.
    #[must_use]
    pub fn moments(&self) -> Moments {
        Moments { n: self.n, mean: self.mean, deviation: self.deviation }
    }
}

/// Each counter in each phase, then in the noise; `None` where no burst of
/// the phase carries it.
///
/// `clustering` labels the complete bursts of `prepared`. Of the plain mean
/// and the ratios to the duration and to every counter that all bursts of the
/// phase carry, the estimator with the smallest residual variance among the
/// carriers is taken, the first of equal ones; the plain mean where fewer than
/// three bursts carry the counter. The spread is that of the carriers or, for
/// a ratio R to x, R²·Var(x) over the phase plus the residual variance.
///
/// CPU time is a share of the duration, and recorders read it of long bursts alone, which are no
/// sample of the phase. So it is always the ratio to the duration, without spread and error, and
/// its mean is `NaN` where the carriers have less than half of the phase's time.
///
/// # Panics
/// If the clustering does not label just the complete bursts.
///
/// # Complexity
/// O(n·c·a) for c counters of which a are carried by all, phases in parallel;
/// memory for two columns of the largest phase per thread.
///
/// # Reference
/// BSC's structure detection, §4.1: averages per phase of multiplexed
/// counters. Cochran, *Sampling Techniques*, 1977, chapter 6 (ratio estimators
/// and their variance) and §2.6 (the finite population correction). Differs:
/// BSC's are plain means of the carriers, without an error.
#[must_use]
pub fn extrapolate(
    table: &BurstTable,
    prepared: &Prepared,
    clustering: &Clustering,
) -> Vec<Vec<Option<Extrapolated>>> {
    let phase = |members: &Vec<u32>| -> Vec<Option<Extrapolated>> {
        let auxiliaries = auxiliaries(table, members, |_| true);
        let estimate = |c: usize| {
            let CounterColumn { counter, values } = &table.counters[c];
            let value = |i: usize| values.get(i);
            match counter.is_cpu_time_in_ns() {
                true => share_of_time(table, members, value),
                false => estimate(members, value, &auxiliaries),
            }
        };
        (0..table.counters.len()).map(estimate).collect()
    };
    members(prepared, clustering).par_iter().map(phase).collect()
}

/// Bursts by phase, then the noise.
fn members(prepared: &Prepared, clustering: &Clustering) -> Vec<Vec<u32>> {
    assert_eq!(prepared.complete.len(), clustering.labels.len(), "a label for every complete burst");
    let mut members = vec![Vec::new(); clustering.n_clusters + 1];
    for (burst, label) in prepared.complete.iter().zip(&clustering.labels) {
        members[label.map_or(clustering.n_clusters, ClusterId::index)].push(burst);
    }
    members
}

/// What every burst of a phase has, to be divided by.
struct Auxiliary {
    estimator: Estimator,
    /// By place among the members.
    values: Vec<f64>,
}

/// The duration, and the counters of which every member has a count, where
/// they are not all 0.
fn auxiliaries(table: &BurstTable, members: &[u32], allowed: impl Fn(usize) -> bool) -> Vec<Auxiliary> {
    let column = |estimator, value: &dyn Fn(usize) -> f64| {
        let values: Vec<f64> = members.iter().map(|&i| value(i as usize)).collect();
        let usable = values.iter().all(|&x| x >= 0.0) && values.iter().any(|&x| x > 0.0);
        usable.then_some(Auxiliary { estimator, values })
    };
    let duration = column(Estimator::PerDuration, &|i| table.duration[i].0 as f64);
    let counters = (0..table.counters.len()).filter(|&c| allowed(c));
    let counters =
        counters.filter_map(|c| column(Estimator::PerCounter(c), &|i| table.counters[c].values.get(i)));
    counters.chain(duration).collect()
}

/// One counter of one phase; `NaN` where a burst does not carry it.
fn estimate(
    members: &[u32],
    value: impl Fn(usize) -> f64,
    auxiliaries: &[Auxiliary],
) -> Option<Extrapolated> {
    let values = members.iter().map(|&i| value(i as usize)).enumerate();
    let carriers: Vec<(usize, f64)> = values.filter(|(_, value)| !value.is_nan()).collect();
    let n = carriers.len();
    if n == 0 {
        return None;
    }
    let Moments { mean, deviation, .. } = moments(carriers.iter().map(|c| c.1));
    let plain =
        |standard_error, estimator| Extrapolated { n: n as u64, mean, deviation, standard_error, estimator };
    if n == members.len() {
        return Some(plain(Some(0.0), Estimator::Observed));
    }
    // Residual variance with the divisor n − 1, as it is a sample's.
    let missing = 1.0 - n as f64 / members.len() as f64;
    let error = |deviation: f64| (n > 1).then(|| deviation * (missing / (n - 1) as f64).sqrt());
    let plain = plain(error(deviation), Estimator::Mean);
    if n < MIN_CARRIERS {
        return Some(plain);
    }
    let mut best = (deviation, plain);
    for auxiliary in auxiliaries {
        let x = &auxiliary.values;
        let whole: f64 = carriers.iter().map(|&(at, _)| x[at]).sum();
        let ratio = carriers.iter().map(|c| c.1).sum::<f64>() / whole;
        let squares: f64 = carriers.iter().map(|&(at, y)| (y - ratio * x[at]).powi(2)).sum();
        let residual = (squares / n as f64).sqrt();
        // A sum of 0 gives no number, and no number is less.
        if residual < best.0 {
            let all = moments(x.iter().copied());
            let spread = ratio * all.deviation;
            best = (
                residual,
                Extrapolated {
                    mean: ratio * all.mean,
                    deviation: spread.hypot(residual),
                    standard_error: error(residual),
                    estimator: auxiliary.estimator,
                    ..plain
                },
            );
        }
    }
    Some(best.1)
}

/// A counter that is a share of the duration; its mean is `NaN` where too little is known of it. What
/// long bursts deviate by says nothing of short ones, so neither a spread nor an error is told.
fn share_of_time(table: &BurstTable, members: &[u32], value: impl Fn(usize) -> f64) -> Option<Extrapolated> {
    let plain = estimate(members, &value, &[])?;
    if plain.estimator == Estimator::Observed {
        return Some(plain);
    }
    let mut sum = Sum::default();
    members.iter().for_each(|&i| sum.add(table.duration[i as usize].0 as f64, value(i as usize)));
    let mean = sum.share().map_or(f64::NAN, |share| share * sum.time / members.len() as f64);
    let estimator = Estimator::PerDuration;
    Some(Extrapolated { mean, deviation: f64::NAN, standard_error: None, estimator, ..plain })
}

fn moments(values: impl Iterator<Item = f64>) -> Moments {
    let mut running = Running::default();
    values.for_each(|x| running.push(x));
    running.moments()
}

/// A counter that was hidden from some bursts of a phase, and found again.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOut {
    /// Which phase; `None` is the noise.
    pub cluster: Option<ClusterId>,
    /// Which counter of the table.
    pub counter: usize,
    /// From how many bursts it was hidden.
    pub hidden: u64,
    /// Its mean over them and those that kept it.
    pub truth: f64,
    /// What those that kept it say.
    pub found: Extrapolated,
}

impl HeldOut {
    /// |found − truth| / |truth|; infinite where the truth is 0 and what was
    /// found is not.
    #[must_use]
    pub fn error(&self) -> f64 {
        let difference = (self.found.mean - self.truth).abs();
        if difference == 0.0 { 0.0 } else { difference / self.truth.abs() }
    }
}

/// Checks [`extrapolate`] on counters that the bursts have: hides half of
/// them from half of the bursts, and the other half from the others, as if
/// two sets of counters took turns.
///
/// Every burst loses either the first, third, … or the second, fourth, … of
/// the counters that are not in `common`, which stay with all, nor CPU time. Within each
/// phase the bursts are dealt at random, half and half (of an odd number,
/// either set may be lost once more). Counters that cannot be checked in a
/// phase, as none or all of their bursts would keep them, are left out.
///
/// # Panics
/// As [`extrapolate`].
///
/// # Complexity
/// As [`extrapolate`], one phase after the other.
#[must_use]
pub fn hold_out(
    table: &BurstTable,
    prepared: &Prepared,
    clustering: &Clustering,
    common: &[usize],
    rng: &mut impl Rng,
) -> Vec<HeldOut> {
    let is_checked = |c: &usize| !common.contains(c) && !table.counters[*c].counter.is_cpu_time_in_ns();
    let counters = (0..table.counters.len()).filter(is_checked);
    let mut checked = Vec::new();
    let hideable: Vec<(usize, usize)> = counters.enumerate().collect();
    for (p, members) in members(prepared, clustering).into_iter().enumerate() {
        let set = deal(members.len(), rng);
        for &(turn, c) in &hideable {
            let values = &table.counters[c].values;
            let mut kept = Vec::new();
            let (mut carriers, mut truth) = (Vec::new(), Running::default());
            for (&burst, &set) in members.iter().zip(&set) {
                let value = values.get(burst as usize);
                if !value.is_nan() {
                    truth.push(value);
                    kept.push((burst, turn % 2 == set));
                    carriers.push(burst);
                }
            }
            let hidden = kept.iter().filter(|k| !k.1).count() as u64;
            let seen: Vec<f64> =
                kept.iter().map(|&(i, k)| if k { values.get(i as usize) } else { f64::NAN }).collect();
            // From here on a member is a place in `seen`.
            let places: Vec<u32> = (0..seen.len() as u32).collect();
            let auxiliaries = auxiliaries(table, &carriers, |c| common.contains(&c));
            if hidden > 0
                && let Some(found) = estimate(&places, |place| seen[place], &auxiliaries)
            {
                let cluster = (p < clustering.n_clusters).then(|| ClusterId::from_index(p));
                checked.push(HeldOut { cluster, counter: c, hidden, truth: truth.moments().mean, found });
            }
        }
    }
    checked
}

/// The set, 0 or 1, of each of `n` bursts: half and half, shuffled
/// (Fisher–Yates).
fn deal(n: usize, rng: &mut impl Rng) -> Vec<usize> {
    let first = (rng.next_u64() & 1) as usize;
    let mut sets: Vec<usize> = (0..n).map(|i| (i + first) % 2).collect();
    for i in (1..n).rev() {
        let j = (u128::from(rng.next_u64()) * (i as u128 + 1)) >> 64;
        sets.swap(i, j as usize);
    }
    sets
}

#[cfg(test)]
pub(super) mod tests;
