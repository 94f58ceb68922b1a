//! How raw values become coordinates that distances can be taken of.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Metric, Rows};
use crate::words::share_text;

/// How metrics of different units are made comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Scale {
    /// `(x − min) / (max − min)`: every metric spans 0 to 1.
    #[default]
    MinMax,
    /// `(x − mean) / σ`, σ with divisor n.
    ZScore,
    /// `x` as it is.
    None,
}

/// What turns a metric's raw value into its coordinate, fitted on the
/// complete bursts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Normalisation {
    /// Whether the natural logarithm is taken first.
    pub log: bool,
    /// What stands for 0 under the logarithm: half of the smallest positive
    /// value.
    pub zero: f64,
    /// What is subtracted, after the logarithm.
    pub offset: f64,
    /// What it is divided by then; 0 for a metric that does not vary, whose
    /// coordinate is always 0.
    pub divisor: f64,
    /// The metric's weight.
    pub factor: f64,
}

impl Normalisation {
    /// The coordinate of a raw value; `NaN` for `NaN`, and for a negative
    /// value under the logarithm.
    ///
    /// A filtered burst lies outside of what was fitted, so that its
    /// coordinate may too.
    #[must_use]
    pub fn apply(&self, raw: f64) -> f64 {
        let x = self.logarithm(raw);
        if self.divisor == 0.0 && !x.is_nan() {
            return 0.0;
        }
        self.factor * (x - self.offset) / self.divisor
    }

    fn logarithm(&self, raw: f64) -> f64 {
        match (self.log, raw == 0.0) {
            (true, true) => self.zero.ln(),
            (true, false) => raw.ln(),
            (false, _) => raw,
        }
    }
}

/// Rows per partial result; sums are added in this fixed order.
const CHUNK: usize = 1 << 14;

/// What a column holds, over some rows.
#[derive(Clone, Copy)]
struct Extent {
    min: f64,
    max: f64,
    min_positive: f64,
    zeros: usize,
}

impl Extent {
    const EMPTY: Extent =
        Extent { min: f64::INFINITY, max: f64::NEG_INFINITY, min_positive: f64::INFINITY, zeros: 0 };

    fn with(self, x: f64) -> Extent {
        Extent {
            min: self.min.min(x),
            max: self.max.max(x),
            min_positive: if x > 0.0 { self.min_positive.min(x) } else { self.min_positive },
            zeros: self.zeros + usize::from(x == 0.0),
        }
    }

    fn join(self, other: Extent) -> Extent {
        Extent {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            min_positive: self.min_positive.min(other.min_positive),
            zeros: self.zeros + other.zeros,
        }
    }
}

/// Fits the normalisation of `metric` to its raw values at `rows`; says in
/// `notes` what an analyst would want to know.
pub(super) fn fit(
    metric: &Metric,
    raw: impl Fn(usize) -> f64 + Sync,
    rows: &Rows,
    scale: Scale,
    notes: &mut Vec<String>,
) -> Normalisation {
    let value = |i: u32| raw(i as usize);
    let extent = chunks(rows)
        .map(|chunk| chunk.map(value).fold(Extent::EMPTY, Extent::with))
        .reduce(|| Extent::EMPTY, Extent::join);
    let zero = if extent.min_positive.is_finite() { smaller(extent.min_positive) } else { 1.0 };
    let mut fitted =
        Normalisation { log: metric.log, zero, offset: 0.0, divisor: 1.0, factor: metric.factor };
    if rows.is_empty() {
        return fitted;
    }
    let name = &metric.name;
    if metric.log && extent.zeros > 0 && extent.min_positive.is_finite() {
        let zeros = extent.zeros;
        notes.push(format!("{zeros} bursts have {name} = 0; its logarithm is taken at {zero}, half of the smallest positive value"));
    }
    let (low, high) = (fitted.logarithm(extent.min), fitted.logarithm(extent.max));
    if extent.min == extent.max {
        notes.push(format!("{name} is {} in every burst, so it tells none apart", extent.min));
    } else if metric.log
        && let Some(shift) = log_shift(fitted.logarithm(extent.min).exp(), extent.max)
        && shift < LITTLE
    {
        let ratio = extent.max / extent.min;
        notes.push(format!("the logarithm of {name} changes little: its largest value is {ratio:.3} times its smallest, and no burst moves by more than {} of the range", share_text(shift)));
    }
    let flat = low == high;
    match scale {
        Scale::MinMax => (fitted.offset, fitted.divisor) = (low, high - low),
        Scale::ZScore => {
            let (mean, deviation) = moments(rows, |i| fitted.logarithm(value(i)));
            (fitted.offset, fitted.divisor) = (mean, if flat { 0.0 } else { deviation });
        }
        Scale::None => {}
    }
    fitted
}

/// Half of `x`, or `x` itself where half of it would be zero.
fn smaller(x: f64) -> f64 {
    if x / 2.0 > 0.0 { x / 2.0 } else { x }
}

/// A shift that clustering would hardly see: a usual eps.
const LITTLE: f64 = 0.01;

/// By how much of the range a logarithm moves any value between two, at most.
///
/// The distance between ln(x/a)/ln(b/a) and (x−a)/(b−a) is largest where
/// their slopes are equal, at x = (b−a)/ln(b/a).
fn log_shift(a: f64, b: f64) -> Option<f64> {
    let ratio = (b / a).ln();
    if !(a > 0.0 && ratio > 0.0 && ratio.is_finite()) {
        return None;
    }
    let x = (b - a) / ratio;
    Some((x / a).ln() / ratio - (x - a) / (b - a))
}

/// The rows, [`CHUNK`] by [`CHUNK`].
fn chunks(rows: &Rows) -> impl IndexedParallelIterator<Item = impl Iterator<Item = u32>> {
    let chunk = |at: usize| (at * CHUNK..((at + 1) * CHUNK).min(rows.len())).map(|place| rows.at(place));
    (0..rows.len().div_ceil(CHUNK)).into_par_iter().map(chunk)
}

/// Mean and standard deviation (divisor n), two passes.
fn moments(rows: &Rows, value: impl Fn(u32) -> f64 + Sync) -> (f64, f64) {
    let sum = |term: &(dyn Fn(u32) -> f64 + Sync)| -> f64 {
        let partial: Vec<f64> = chunks(rows).map(|chunk| chunk.map(term).sum()).collect();
        partial.iter().sum()
    };
    let n = rows.len() as f64;
    let mean = sum(&value) / n;
    let variance = sum(&|i| (value(i) - mean).powi(2)) / n;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(text: &str, raw: &[f64], scale: Scale) -> (Vec<f64>, Vec<String>) {
        let metric: Metric = text.parse().expect("a metric");
        let rows = Rows::first(raw.len());
        let mut notes = Vec::new();
        let fitted = fit(&metric, |i| raw[i], &rows, scale, &mut notes);
        (raw.iter().map(|&x| fitted.apply(x)).collect(), notes)
    }

    #[test]
    fn min_max_spans_zero_to_the_factor() {
        assert_eq!(fitted("a,linear,factor=2", &[1.0, 2.0, 5.0], Scale::MinMax).0, [0.0, 0.5, 2.0]);
        let (log, notes) = fitted("a", &[1.0, 10.0, 100.0], Scale::MinMax);
        assert!((log[1] - 0.5).abs() < 1e-15);
        assert!(notes.is_empty());
    }

    #[test]
    fn a_zero_stands_at_half_the_smallest_positive_value() {
        let (log, notes) = fitted("a", &[0.0, 2.0, 4.0], Scale::None);
        assert_eq!(log, [1f64.ln(), 2f64.ln(), 4f64.ln()]);
        assert!(notes[0].contains("1 bursts have a = 0"));
        assert_eq!(fitted("a", &[0.0, f64::from_bits(1)], Scale::MinMax).0[0], 0.0);
    }

    #[test]
    fn what_does_not_vary_is_zero_and_said() {
        for scale in [Scale::MinMax, Scale::ZScore] {
            for text in ["a", "a,linear"] {
                let (values, notes) = fitted(text, &[0.1, 0.1, 0.1], scale);
                assert_eq!(values, [0.0; 3]);
                assert!(notes[0].contains("tells none apart"), "{notes:?}");
            }
        }
        assert_eq!(fitted("a", &[0.0, 0.0], Scale::MinMax).0, [0.0; 2]);
    }

    #[test]
    fn z_scores_have_mean_zero_and_deviation_one() {
        let (z, _) = fitted("a,linear", &[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0], Scale::ZScore);
        assert_eq!(z, [-1.5, -0.5, -0.5, -0.5, 0.0, 0.0, 1.0, 2.0]);
    }

    #[test]
    fn a_logarithm_over_a_narrow_range_is_said_to_do_little() {
        let (_, notes) = fitted("a", &[1000.0, 1010.0, 1020.0], Scale::MinMax);
        assert!(notes[0].contains("changes little"), "{notes:?}");
        assert!(fitted("a", &[1.0, 2.0], Scale::MinMax).1.is_empty());
    }

    #[test]
    fn the_shift_of_a_logarithm_is_its_largest() {
        let (a, b) = (2.0, 7.0);
        let shift = |x: f64| (x / a).ln() / (b / a).ln() - (x - a) / (b - a);
        let sampled = (0..=1000).map(|i| shift(a + (b - a) * f64::from(i) / 1000.0)).fold(0.0, f64::max);
        assert!((log_shift(a, b).expect("a range") - sampled).abs() < 1e-6);
    }
}
