//! What regimes are looked for by, and what they are.

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
    pub(super) confidence: f64,
    pub(super) least_spread: f64,
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

/// A number that was estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// What it is likely to be.
    pub value: f64,
    /// Its standard error.
    pub std_error: f64,
    /// Where its confidence interval begins.
    pub low: f64,
    /// Where that ends; may be infinite for a reciprocal.
    pub high: f64,
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

    pub(super) fn named(&self, names: [&str; 2]) -> Option<Estimate> {
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
