//! What a definition says.

use likewise::table::{DurationFilter, Metric, Scale};
use likewise::words::short;
use std::fmt;

/// What a definition file says; `None` or empty if it says nothing. Options on
/// the command line override it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definition {
    /// What describes a burst.
    pub metrics: Option<Vec<Metric>>,
    /// Further metrics whose mean and spread are reported per cluster. Their
    /// logarithms, factors and ranges mean nothing.
    pub extrapolate: Vec<Metric>,
    /// Which bursts are too short.
    pub filter: Option<DurationFilter>,
    /// Share (0 to 1) of the time of all clusters below which one is filtered out.
    pub min_share: Option<f64>,
    /// How bursts are grouped.
    pub algorithm: Option<Algorithm>,
    /// DBSCAN's radius, in normalised units.
    pub eps: Option<f64>,
    /// DBSCAN's least neighbourhood of a core point, itself included.
    pub min_points: Option<usize>,
    /// X-means' least number of clusters.
    pub k_min: Option<usize>,
    /// X-means' largest number of clusters.
    pub k_max: Option<usize>,
    /// How metrics are made comparable.
    pub scale: Option<Scale>,
    /// Number of principal components.
    pub pca: Option<usize>,
    /// Most bursts that are clustered; the others follow their nearest.
    pub sample: Option<usize>,
    /// Scatter plots to draw.
    pub plots: Vec<Plot>,
    /// Whether every pair of metrics is drawn.
    pub all_plots: bool,
    /// What was skipped, or read in another way than it stands there, with its
    /// line.
    pub notes: Vec<String>,
}

/// How bursts are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// By density.
    Dbscan,
    /// Around centroids, as many as BIC finds.
    Xmeans,
}

/// A scatter plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis; the cluster's number if there is none.
    pub y: Option<Axis>,
    /// The third axis of a plot in space.
    pub z: Option<Axis>,
    /// Raw values, or normalised ones.
    pub raw: bool,
}

/// An axis of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The name of a metric, or `duration`.
    pub metric: String,
    /// What it is titled.
    pub title: String,
    /// Where it begins.
    pub min: Option<f64>,
    /// Where it ends.
    pub max: Option<f64>,
}

/// Why a text is not a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionError {
    /// Where, from 1.
    pub line: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

impl DefinitionError {
    pub(super) fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for DefinitionError {}

/// The line, from 1, of a byte.
pub(super) fn line_of(bytes: &[u8], at: usize) -> usize {
    1 + bytes[..at.min(bytes.len())].iter().filter(|&&b| b == b'\n').count()
}

/// A share written as a percentage, `99%`, from 0 to 1.
///
/// # Errors
/// Says what was expected.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').and_then(|n| n.trim_end().parse::<f64>().ok());
    number.map(|percent| percent / 100.0).filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
        let percent = match text.trim().parse::<f64>() {
            Ok(share) if share > 0.0 && share < 1.0 => 100.0 * share,
            Ok(percent) if percent > 1.0 && percent < 100.0 => percent,
            // It may be all, or one in a hundred.
            _ => return format!("'{text}' is not a share: write a percentage from 0% to 100%"),
        };
        format!("'{text}' is not a share: write a percentage, {}%", short(percent))
    })
}

/// A share of what is kept, so not 0%.
pub fn parse_some(text: &str) -> Result<f64, String> {
    let share = parse_share(text)?;
    if share > 0.0 { Ok(share) } else { Err("nothing would be kept; give more than 0%".to_owned()) }
}
