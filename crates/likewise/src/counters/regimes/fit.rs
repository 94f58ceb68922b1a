//! Coefficients of one region, with their errors.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::design::Design;
use super::region::{Estimate, Noise, RegimeParams};
use crate::linear::least_squares::{Solved, least_squares};

/// Rounds of dividing errors by what the round before modelled.
const MOST_ROUNDS: usize = 100;
/// The relative change of coefficients that ends them.
const SETTLED: f64 = 1e-12;
/// The relative change that is put up with after all rounds.
const TOLERATED: f64 = 1e-6;

impl Estimate {
    /// Of 1/x, if x is positive; the standard error to first order.
    pub(super) fn reciprocal(self) -> Option<Self> {
        (self.value > 0.0).then(|| Self {
            value: 1.0 / self.value,
            std_error: self.std_error / self.value.powi(2),
            low: 1.0 / self.high,
            high: if self.low > 0.0 { 1.0 / self.low } else { f64::INFINITY },
        })
    }
}

/// What least squares make of a region.
pub(super) struct Fitted {
    /// One for each term of the model; nothing where it depends on others.
    pub(super) estimates: Vec<Option<Estimate>>,
    pub(super) spread: f64,
}

/// Fits a model to rows of the design.
///
/// Where noise is relative, errors are divided by the fit of the round before
/// (at first by the response): the fixed point solves the quasi-likelihood
/// equations of a constant coefficient of variation. Where a fit is nowhere
/// near positive, or does not settle, that of the first round stays.
pub(super) fn fit(design: &Design<'_>, model: usize, rows: &[usize], params: &RegimeParams) -> Fitted {
    let terms = &design.models[model];
    let of = |values: &Vec<f64>| -> Vec<f64> { rows.iter().map(|&row| values[row]).collect() };
    let columns: Vec<Vec<f64>> = terms.iter().map(|&term| of(&design.terms[term])).collect();
    let y: Vec<f64> = rows.iter().map(|&row| design.y[row] * design.weight[row]).collect();
    let first = least_squares(&columns, &y);
    let solved = match params.noise {
        Noise::Relative => reweighted(&columns, &y, &first).unwrap_or(first),
        Noise::Absolute => first,
    };
    let freedom = (rows.len() - solved.kept.len()) as f64;
    // Absolute weights are all one: errors return to the response's unit.
    let unit = match params.noise {
        Noise::Relative => 1.0,
        Noise::Absolute => 1.0 / design.weight[rows[0]],
    };
    let spread = (solved.squared_error / freedom).sqrt();
    let student = StudentsT::new(0.0, 1.0, freedom).expect("more rows than coefficients");
    let t = student.inverse_cdf(0.5 + params.confidence / 2.0);
    let mut estimates = vec![None; terms.len()];
    // No fit is believed to be closer: neither rounding nor the steps of a
    // clock make a coefficient certain.
    let believed = spread.max(design.floor.sqrt());
    for (i, &column) in solved.kept.iter().enumerate() {
        let size = design.term_size[terms[column]];
        let value = solved.coefficients[i] / size;
        let std_error = solved.inverse_norms[i] * believed / size;
        let half = t * std_error;
        estimates[column] = Some(Estimate { value, std_error, low: value - half, high: value + half });
    }
    Fitted { estimates, spread: spread * unit }
}

/// Errors divided by the fit instead of the response, until that settles.
fn reweighted(columns: &[Vec<f64>], y: &[f64], first: &Solved) -> Option<Solved> {
    let mut fitted: Vec<f64> = (0..y.len()).map(|row| first.fitted(columns, row)).collect();
    let mut change = f64::INFINITY;
    for _ in 0..MOST_ROUNDS {
        if !fitted.iter().all(|&x| x > 0.0) {
            return None;
        }
        let divided =
            |values: &[f64]| -> Vec<f64> { values.iter().zip(&fitted).map(|(x, f)| x / f).collect() };
        let weighted: Vec<Vec<f64>> = columns.iter().map(|column| divided(column)).collect();
        let solved = least_squares(&weighted, &divided(y));
        if solved.kept != first.kept {
            return None;
        }
        // A fit of 1 everywhere repeats the one before.
        let ratios: Vec<f64> = (0..y.len()).map(|row| solved.fitted(&weighted, row)).collect();
        let before = change;
        change = ratios.iter().fold(0.0, |most: f64, ratio| most.max((ratio - 1.0).abs()));
        // Rounding keeps some problems from settling further.
        if change <= SETTLED || (change <= TOLERATED && change >= before) {
            return Some(solved);
        }
        fitted.iter_mut().zip(&ratios).for_each(|(fit, ratio)| *fit *= ratio);
    }
    None
}
