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
mod repeats;
mod syntax;
#[cfg(test)]
mod tests;

pub use fit::Estimate;
pub use formula::{Formula, collective_models, message_model};
pub use repeats::{Medians, medians};
pub use syntax::{FORMULA_SYNTAX, FormulaError};

use super::Column;
use design::Design;
use partition::Leaf;

/// How the response strays from its model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Noise {
    /// In proportion to its size, as times do: errors are shares of it.
    #[default]
    Relative,
    /// Alike everywhere within a region.
    Absolute,
}

/// How regimes are looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegimeParams {
    /// How the response strays.
    pub noise: Noise,
    /// A region has at least as many rows, and two more than its model has
    /// unknowns.
    pub at_least: usize,
    confidence: f64,
    least_spread: f64,
}

impl Default for RegimeParams {
    /// Relative noise, 10 rows, 95 %, 0.001.
    fn default() -> Self {
        Self { noise: Noise::Relative, at_least: 10, confidence: 0.95, least_spread: 1e-3 }
    }
}

impl RegimeParams {
    /// With the chance that an interval holds the true coefficient.
    ///
    /// # Errors
    /// It is not between 0 and 1.
    pub fn with_confidence(self, confidence: f64) -> Result<Self, RegimeError> {
        let valid = confidence > 0.0 && confidence < 1.0;
        if valid { Ok(Self { confidence, ..self }) } else { Err(RegimeError::Confidence(confidence)) }
    }

    /// With the least spread about a model that is believed, as a share of the
    /// response (or of its root mean square, if noise is absolute). A closer fit
    /// counts as no better than that: it splits no region, and makes no standard
    /// error smaller. So neither the steps of a clock nor rounding look like
    /// regimes, nor like certainty.
    ///
    /// # Errors
    /// It is not between 10⁻⁶ and 1.
    pub fn with_least_spread(self, least_spread: f64) -> Result<Self, RegimeError> {
        let valid = (1e-6..1.0).contains(&least_spread);
        if valid { Ok(Self { least_spread, ..self }) } else { Err(RegimeError::LeastSpread(least_spread)) }
    }
}

/// Why no regimes are found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RegimeError {
    /// The confidence is none.
    #[error("the confidence is {0}; it must lie between 0 and 1, such as 0.95")]
    Confidence(f64),
    /// The least spread is none.
    #[error("the least spread is {0}; it must be from 0.000001 to below 1")]
    LeastSpread(f64),
    /// There is nothing to fit.
    #[error("there is no model; at least 1 is needed")]
    NoModel,
    /// A formula was read for other columns.
    #[error("formula '{formula}' uses column {column} (from 0), and there are {columns}")]
    NoColumn {
        /// The formula.
        formula: String,
        /// What it uses.
        column: usize,
        /// How many columns there are.
        columns: usize,
    },
    /// A column is longer or shorter than the response.
    #[error("column '{name}' has {len} values, and the response has {expected}")]
    Lengths {
        /// The column.
        name: String,
        /// How many values it has.
        len: usize,
        /// How many the response has.
        expected: usize,
    },
    /// A value is infinite.
    #[error("row {row} (from 0) of '{name}' is infinite")]
    NotFinite {
        /// The column, or `the response`.
        name: String,
        /// The row.
        row: usize,
    },
    /// The response has no relative error.
    #[error(
        "row {row} (from 0) of the response is {value}; noise relative to it takes values above 0 \
         (or choose absolute noise)"
    )]
    NotPositive {
        /// The row.
        row: usize,
        /// Its response.
        value: f64,
    },
    /// A term cannot be computed.
    #[error("what '{unknown}' multiplies in '{formula}' is {value} in row {row} (from 0)")]
    Term {
        /// The formula.
        formula: String,
        /// The coefficient of the term.
        unknown: String,
        /// The row.
        row: usize,
        /// What comes out.
        value: f64,
    },
    /// Too few rows for one region.
    #[error("{complete} rows have all values ({missing} lack one); a region takes at least {needed}")]
    TooFewRows {
        /// How many are complete.
        complete: usize,
        /// How many are not.
        missing: usize,
        /// How many are needed.
        needed: usize,
    },
    /// All terms of all models are 0 wherever they could be fitted.
    #[error("no model fits: every term is 0 in too many rows")]
    NoFit,
    /// More parameters vary than can be split on.
    #[error("{0} parameters vary, which makes too many boxes; leave some out, or terms of the models")]
    TooManyParameters(usize),
}

/// What a region has of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The region is above this value, if it is bounded below: the greatest
    /// that was measured on the other side.
    pub above: Option<f64>,
    /// The region ends here, if it is bounded above: this value is within.
    pub at_most: Option<f64>,
    /// The least that its rows have.
    pub least: f64,
    /// The greatest that its rows have.
    pub greatest: f64,
}

/// An unknown of a region's model.
#[derive(Clone, Debug, PartialEq)]
pub struct Coefficient {
    /// Its name in the formula.
    pub name: String,
    /// Nothing where its term depends on the terms before it, as log₂ p does
    /// where p is always 1.
    pub estimate: Option<Estimate>,
}

/// A part of the parameter space where one model holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Its extent, by column.
    pub ranges: Vec<Range>,
    /// Index of its model among those given.
    pub model: usize,
    /// One for each unknown of the model.
    pub coefficients: Vec<Coefficient>,
    /// Standard deviation of what remains, divisor rows less coefficients: a
    /// share of the modelled response, or in its unit where noise is
    /// absolute.
    pub spread: f64,
    /// How many rows lie in it.
    pub n: usize,
    /// Its share of [`Regimes::bic`].
    pub bic: f64,
}

impl Region {
    /// The coefficient called `lambda`, in the unit of the response.
    #[must_use]
    pub fn latency(&self) -> Option<Estimate> {
        self.named(["lambda", "λ"])
    }

    /// The reciprocal of the coefficient called `tau`, if that is positive:
    /// units per second where the response is in seconds. An interval of τ
    /// that reaches 0 gives one without end.
    #[must_use]
    pub fn bandwidth(&self) -> Option<Estimate> {
        self.named(["tau", "τ"])?.reciprocal()
    }

    fn named(&self, names: [&str; 2]) -> Option<Estimate> {
        self.coefficients.iter().find(|c| names.contains(&c.name.as_str()))?.estimate
    }
}

/// Regions that cover all rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Regimes {
    /// Ordered as the splits leave them, lower values first.
    pub regions: Vec<Region>,
    /// The region of each row; nothing where a value is missing.
    pub labels: Vec<Option<u32>>,
    /// How many rows lack a value.
    pub n_missing: usize,
    /// The criterion of all regions together: the larger, the better.
    pub bic: f64,
    /// The same where all rows are one region.
    pub bic_of_one: f64,
    /// Whether no other boxes would be better. If not, only some of the
    /// measured values were tried as bounds, and then those near the best.
    pub exact: bool,
}

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
