//! `--definition FILE`: an analysis written down, in TOML or as a
//! ClusteringSuite XML definition.

#[cfg(test)]
mod epoch;
mod toml;
mod tree;
mod xml;

use std::fmt;
use std::io::Read;
use std::path::Path;

use likewise::table::{DurationFilter, Metric, Scale};
use likewise::words::short;

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
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for DefinitionError {}

/// A larger file is refused: it is probably a trace that was given by mistake.
const MAX_BYTES: u64 = 4 << 20;

/// Reads a definition file.
///
/// # Errors
/// Names the file, and the line where there is one.
pub fn read_definition(path: &Path) -> anyhow::Result<Definition> {
    let shown = path.display();
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|e| anyhow::anyhow!("{shown}: {e}"))?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|e| anyhow::anyhow!("{shown}: {e}"))?;
    if bytes.len() as u64 > MAX_BYTES {
        anyhow::bail!("{shown}: more than {MAX_BYTES} bytes; expected a definition in TOML or XML");
    }
    parse_definition(&bytes).map_err(|e| anyhow::anyhow!("{shown}:{}: {}", e.line, e.message))
}

/// Reads a definition: XML if its first character is `<`, else TOML.
///
/// # Errors
/// [`DefinitionError`] with the line.
pub fn parse_definition(bytes: &[u8]) -> Result<Definition, DefinitionError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_xml = bytes.trim_ascii_start().starts_with(b"<");
    match std::str::from_utf8(bytes) {
        Ok(text) if is_xml => xml::parse(text),
        Ok(text) => toml::parse(text),
        // Editors of ClusteringSuite's days wrote comments in Latin-1.
        Err(_) if is_xml => {
            let mut definition = xml::parse(&bytes.iter().map(|&b| char::from(b)).collect::<String>())?;
            definition.notes.push("the file is not UTF-8; it was read as Latin-1".to_owned());
            Ok(definition)
        }
        Err(e) => {
            let message = "not UTF-8; expected a definition in TOML or XML";
            Err(DefinitionError::new(line_of(bytes, e.valid_up_to()), message))
        }
    }
}

/// The line, from 1, of a byte.
fn line_of(bytes: &[u8], at: usize) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages() {
        assert_eq!(parse_share("99%"), Ok(0.99));
        assert_eq!(parse_share(" 12.5 % "), Ok(0.125));
        for text in ["99", "0.99", "101%", "-1%", "nan%", "%", ""] {
            assert!(parse_share(text).is_err(), "{text}");
        }
        for (text, told) in
            [("0.95", "percentage, 95%"), ("0.07", ", 7%"), ("99.5", ", 99.5%"), ("1", "to 100%")]
        {
            let error = parse_share(text).expect_err("no percentage");
            assert!(error.ends_with(told), "{error}");
        }
    }

    #[test]
    fn the_format_is_seen_from_the_content() {
        let xml = b"\xef\xbb\xbf\n <clustering_definition duration_filter='5us'/>";
        let toml = b"duration_filter = '5us'";
        let latin = b"<!-- definici\xf3n --><clustering_definition duration_filter='5us'/>";
        for bytes in [&xml[..], toml, latin] {
            let found = parse_definition(bytes).expect("reads");
            assert_eq!(found.filter, Some(DurationFilter::Min(likewise::table::Nanos(5_000))));
        }
        assert_eq!(parse_definition(b"eps = 1\n\xff").expect_err("refused").line, 2);
        assert_eq!(parse_definition(b""), Ok(Definition::default()));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = read_definition(Path::new("/nowhere/at/all.xml")).expect_err("refused");
        assert!(error.to_string().starts_with("/nowhere/at/all.xml: "));
    }
}
