//! Where in the space of parameters which model of the time holds.
//!
//! A response (a time) is modelled by least squares as one of several
//! [`Formula`]s, each in its own part of the parameter space. The parts are
//! boxes with sides parallel to the axes, and [`find_regimes`] chooses them
//! and the models together.

mod design;
mod fit;
mod formula;
mod partition;
mod region;
mod repeats;
mod syntax;
#[cfg(test)]
mod tests;

pub use formula::{Formula, collective_models, message_model};
pub use region::{Coefficient, Estimate, Noise, Range, RegimeError, RegimeParams, Regimes, Region};
pub use repeats::{Medians, medians};
pub use syntax::{FORMULA_SYNTAX, FormulaError};

use super::Column;
use design::Design;
use partition::Leaf;

/// Finds regions and their models by the Bayesian information criterion.
///
/// `response` and every column hold one value per row; a row where one is NaN
/// is left out. All columns can bound regions, whether a model uses them or
/// not. With N rows, regions r of nᵣ rows and kᵣ coefficients,
///
/// > BIC = Σᵣ (lᵣ − (kᵣ + 1)/2 · ln N) − 3/2 · (regions − 1) · ln N
///
/// lᵣ is the log-likelihood of normal errors with a spread of their own in
/// every region. A bound counts as three parameters. Where noise is relative,
/// errors are divided by the response while regions are chosen; then each
/// region is fitted once more with errors divided by the *modelled* response,
/// because dividing by the measured one makes everything too fast, by about
/// twice the squared noise.
///
/// Equal ones (within 10⁻⁶): no split goes before a split, the earlier model
/// before the later, then the lower column and the lower bound. Columns that
/// are constant, or order the rows as an earlier column does, never bound.
///
/// Standard errors and intervals (Student's t) are those of a model and a
/// region that were given: that both were chosen by the data is not in them.
///
/// # Errors
/// [`RegimeError`].
///
/// # Complexity
/// With mⱼ distinct values of column j, B = Π mⱼ(mⱼ + 1)/2 boxes, T terms in
/// all models together: O(N·T² + B·(T² + M·k³ + Σ mⱼ)) for M models of
/// k terms; O(B·T²) memory, at most 100 MiB. Where B would be larger, columns
/// are cut at quantiles first, and bounds moved in halving steps afterwards.
///
/// # Reference
/// The question is Malard's (*A role for Pareto optimality in mining
/// performance data*, 2005, §2). Best boxes by dynamic programming over all
/// boxes: Bellman & Roth, *JASA* 64, 1969 in one dimension; Donoho, *Annals of
/// Statistics* 25(5), 1997 for dyadic splits, here at any value. Model trees
/// (Quinlan's M5, 1992; Loh's GUIDE, 2002) split greedily instead. Three
/// parameters a bound: Hall, Osborn & Sakkas, *The Manchester School* 81,
/// 2013. Relative errors: Wedderburn, *Biometrika* 61, 1974.
///
/// # Example
/// ```
/// use likewise::counters::Column;
/// use likewise::counters::regimes::{Formula, RegimeParams, find_regimes};
///
/// // A time that goes by other figures from 20 bytes on.
/// let bytes: Vec<f64> = (1..=40).map(f64::from).collect();
/// let seconds: Vec<f64> = bytes.iter().map(|&h| if h <= 20.0 { 1.0 + h } else { 100.0 + 2.0 * h }).collect();
/// let models = [Formula::parse("a + b*h", &["h"])?];
/// let columns = [Column { name: "h", values: &bytes }];
/// let found = find_regimes(&seconds, &columns, &models, &RegimeParams::default())?;
/// assert_eq!(found.regions.len(), 2);
/// assert_eq!(found.regions[0].ranges[0].at_most, Some(20.0));
/// let slope = |region: usize| found.regions[region].coefficients[1].estimate.unwrap().value;
/// assert!((slope(0) - 1.0).abs() < 1e-9 && (slope(1) - 2.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn find_regimes(
    response: &[f64],
    columns: &[Column<'_>],
    models: &[Formula],
    params: &RegimeParams,
) -> Result<Regimes, RegimeError> {
    let design = Design::new(response, columns, models, params)?;
    let found = partition::best(&design)?;
    let mut labels = vec![None; response.len()];
    let mut regions = Vec::with_capacity(found.leaves.len());
    for (index, leaf) in found.leaves.iter().enumerate() {
        let rows = design.rows_within(leaf);
        rows.iter().for_each(|&row| labels[design.rows[row]] = Some(index as u32));
        regions.push(region(&design, models, params, leaf, &rows));
    }
    let bic = -found.cost / 2.0 + design.log_units();
    let bic_of_one = -found.cost_of_one / 2.0 + design.log_units();
    let n_missing = response.len() - design.n();
    Ok(Regimes { regions, labels, n_missing, bic, bic_of_one, exact: found.exact })
}

fn region(
    design: &Design<'_>,
    models: &[Formula],
    params: &RegimeParams,
    leaf: &Leaf,
    rows: &[usize],
) -> Region {
    let fitted = fit::fit(design, leaf.model, rows, params);
    let named = models[leaf.model].unknowns.iter().zip(fitted.estimates);
    let coefficients = named.map(|(u, estimate)| Coefficient { name: u.name.clone(), estimate }).collect();
    let units: f64 = rows.iter().map(|&row| design.weight[row].ln()).sum();
    Region {
        ranges: design.ranges(leaf, rows),
        model: leaf.model,
        coefficients,
        spread: fitted.spread,
        n: rows.len(),
        bic: -leaf.cost / 2.0 + units,
    }
}
