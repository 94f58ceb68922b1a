//! What measured ranks tell of all.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::strata::two_sided;
use super::{Plan, PlanError};

/// Where the spread of an estimate is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// From all ranks, when the plan was made.
    #[default]
    Planned,
    /// From the sample; from the plan in strata that give one rank only.
    Sampled,
}

/// What a sample tells of all ranks, for one number of the feature vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean of all ranks.
    pub mean: f64,
    /// Half the width of its confidence interval.
    pub half_width: f64,
    /// The standard error of the mean.
    pub standard_error: f64,
    /// Degrees of freedom of the spread; infinite where it is the planned one.
    pub freedom: f64,
}

impl Estimate {
    fn new(mean: f64, variance: f64, freedom: f64, confidence: f64) -> Self {
        let standard_error = variance.sqrt();
        let half_width = if variance == 0.0 { 0.0 } else { quantile(confidence, freedom) * standard_error };
        Self { mean, half_width, standard_error, freedom }
    }

    /// The sum of what was estimated from samples that were drawn one without
    /// regard to the other.
    ///
    /// # Reference
    /// Degrees of freedom by Satterthwaite, *Biometrics* 2, 1946.
    ///
    /// # Example
    /// ```
    /// use likewise::ranks::Estimate;
    ///
    /// let one = Estimate { mean: 5.0, half_width: 0.0, standard_error: 3.0, freedom: f64::INFINITY };
    /// let sum = Estimate::sum(&[one, Estimate { standard_error: 4.0, ..one }], 0.95);
    /// assert_eq!((sum.mean, sum.standard_error), (10.0, 5.0));
    /// assert!((sum.half_width - 1.96 * 5.0).abs() < 0.001);
    /// ```
    #[must_use]
    pub fn sum(of: &[Self], confidence: f64) -> Self {
        let variance = |e: &Self| e.standard_error * e.standard_error;
        let all: f64 = of.iter().map(variance).sum();
        let squares: f64 = of.iter().map(|e| variance(e).powi(2) / e.freedom).sum();
        let freedom = if squares > 0.0 { all * all / squares } else { f64::INFINITY };
        Self::new(of.iter().map(|e| e.mean).sum(), all, freedom, confidence)
    }
}

/// A stratum some of whose ranks were measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured<'r> {
    /// How many ranks it has.
    pub n_ranks: u64,
    /// The numbers of those that were measured, one of them at least.
    pub rows: Vec<&'r [f64]>,
    /// The variance of all its ranks, number by number, where that is known.
    /// Otherwise it is that of the sample; a single rank of several does not tell
    /// it, and the error is then NaN.
    pub variance: Option<&'r [f64]>,
}

impl Measured<'_> {
    /// Mean and variance of a number, and the degrees of freedom of the latter.
    fn number(&self, j: usize) -> (f64, f64, f64) {
        let n = self.rows.len() as f64;
        let values = || self.rows.iter().map(|row| row[j]);
        let mean = values().sum::<f64>() / n;
        match self.variance {
            Some(known) => (mean, known[j], f64::INFINITY),
            None if self.n_ranks == 1 => (mean, 0.0, f64::INFINITY),
            None if self.rows.len() == 1 => (mean, f64::NAN, f64::INFINITY),
            None => (mean, values().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0), n - 1.0),
        }
    }
}

/// The mean of all ranks, number by number, from those that were measured.
///
/// # Errors
/// The confidence is none.
///
/// # Panics
/// If there is no stratum, one has no row, or rows are not equally long.
///
/// # Reference
/// Cochran, *Sampling Techniques*, 1977, §5.3–5.4; degrees of freedom by
/// Satterthwaite, *Biometrics* 2, 1946.
///
/// # Example
/// ```
/// use likewise::ranks::{Measured, estimate_strata};
///
/// // Of 90 ranks three were measured, of 10 others all two that differ from them.
/// let many = Measured { n_ranks: 90, rows: vec![&[1.0], &[2.0], &[3.0]], variance: None };
/// let few = Measured { n_ranks: 2, rows: vec![&[100.0], &[102.0]], variance: None };
/// let told = estimate_strata(&[many, few], 0.95)?[0];
/// assert!((told.mean - (90.0 * 2.0 + 202.0) / 92.0).abs() < 1e-12);
/// assert!((told.standard_error - 90.0 / 92.0 * (1.0 / 3.0 - 1.0 / 90.0_f64).sqrt()).abs() < 1e-12);
/// assert_eq!(told.freedom, 2.0);
/// # Ok::<(), likewise::ranks::PlanError>(())
/// ```
pub fn estimate_strata(strata: &[Measured<'_>], confidence: f64) -> Result<Vec<Estimate>, PlanError> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(PlanError::Confidence(confidence));
    }
    let total: f64 = strata.iter().map(|stratum| stratum.n_ranks as f64).sum();
    let number = |j: usize| {
        let (mut mean, mut variance, mut squares) = (0.0, 0.0, 0.0);
        for stratum in strata {
            let (of_sample, s2, freedom) = stratum.number(j);
            let (size, n) = (stratum.n_ranks as f64, stratum.rows.len() as f64);
            let share = size / total;
            let part = share * share * s2 * (1.0 / n - 1.0 / size);
            mean += share * of_sample;
            variance += part;
            squares += part * part / freedom;
        }
        let freedom = if squares > 0.0 { variance * variance / squares } else { f64::INFINITY };
        Estimate::new(mean, variance, freedom, confidence)
    };
    Ok((0..strata[0].rows[0].len()).map(number).collect())
}

/// The means of all ranks from those that were measured, step by step and
/// region by region, with their confidence intervals.
///
/// `row` has the measured numbers of a chosen rank. Where the spread of a
/// stratum is not known (its variance is NaN), neither is that of the mean.
///
/// # Errors
/// A rank has not as many numbers as the plan, or the confidence is none.
///
/// # Reference
/// [`estimate_strata`].
pub fn estimate<'r>(
    plan: &'r Plan,
    row: impl Fn(usize) -> &'r [f64],
    confidence: f64,
    spread: Spread,
) -> Result<Vec<Estimate>, PlanError> {
    let expected = plan.strata[0].all.mean.len();
    for &rank in plan.strata.iter().flat_map(|s| &s.chosen) {
        let found = row(rank).len();
        if found != expected {
            return Err(PlanError::Dims { rank, found, expected });
        }
    }
    let strata = plan.strata.iter().map(|stratum| {
        let is_sampled = spread == Spread::Sampled && stratum.chosen.len() > 1;
        Measured {
            n_ranks: stratum.all.ranks.len() as u64,
            rows: stratum.chosen.iter().map(|&rank| row(rank)).collect(),
            variance: (!is_sampled).then_some(&stratum.all.variance[..]),
        }
    });
    estimate_strata(&strata.collect::<Vec<_>>(), confidence)
}

/// Student's t for an interval around the mean; z where the freedom is not
/// finite.
pub(super) fn quantile(confidence: f64, freedom: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(t) if freedom.is_finite() => t.inverse_cdf(f64::midpoint(1.0, confidence)),
        _ => two_sided(confidence),
    }
}
