//! What `likewise counters` is told of regimes.

use crate::common::Names;
use clap::{Args, ValueEnum};
use likewise::counters::regimes::Noise;
use likewise_analysis::counters::regimes::Unit;
use likewise_analysis::counters::{RegimeOptions, Repeats};
use likewise_analysis::definition::parse_share;

/// Where which model of the response holds
#[derive(Debug, Args)]
#[command(next_help_heading = "Regimes")]
pub(super) struct RegimeArgs {
    /// Cut the space of these columns into regions, and find for each the model
    /// of --response that holds there, with its latency and bandwidth. Order:
    /// number of processes, length of a message, then columns that only bound
    /// regions. A single column is the length. With --formula, any order
    #[arg(long, value_name = "COLUMN", requires = "response")]
    parameters: Vec<Names>,
    /// A model of the response instead of those of a collective operation: a
    /// sum of terms with an unknown coefficient each, such as
    /// 'a + b*h + c*log2(p)'; once more for another model. lambda is a
    /// latency, tau the reciprocal of a bandwidth
    #[arg(long, value_name = "FORMULA", requires = "parameters", allow_hyphen_values = true)]
    formula: Vec<String>,
    /// Bytes of one unit of the length
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 1.0,
        requires = "parameters",
        conflicts_with = "formula"
    )]
    length_bytes: f64,
    /// Unit of the response [default: the one in its name, as in mean_ns, or s]
    #[arg(long, value_enum, value_name = "UNIT", requires = "parameters")]
    response_unit: Option<UnitArg>,
    /// How rows with the same parameters count
    #[arg(long, value_enum, default_value = "median", requires = "parameters")]
    repeats: RepeatsArg,
    /// How the response strays from its model
    #[arg(long, value_enum, default_value = "relative", requires = "parameters")]
    noise: NoiseArg,
    /// The fewest points that a region may have
    #[arg(long, value_name = "N", default_value_t = 10, requires = "parameters")]
    min_points: usize,
    /// Of the intervals of coefficients
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = parse_share, requires = "parameters")]
    confidence: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RepeatsArg {
    /// One point, their median: a disturbed one does no harm
    Median,
    /// A point each
    Each,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NoiseArg {
    /// In proportion to its size, as times do
    Relative,
    /// Alike everywhere in a region
    Absolute,
}

/// What the response is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum UnitArg {
    S,
    Ms,
    Us,
    Ns,
    /// It is no time
    None,
}

impl RegimeArgs {
    /// `None` where no regimes are asked for.
    pub(super) fn options(&self) -> Option<RegimeOptions> {
        let unit = |unit| match unit {
            UnitArg::S => Unit::S,
            UnitArg::Ms => Unit::Ms,
            UnitArg::Us => Unit::Us,
            UnitArg::Ns => Unit::Ns,
            UnitArg::None => Unit::None,
        };
        (!self.parameters.is_empty()).then(|| RegimeOptions {
            parameters: Names::all(&self.parameters),
            formula: self.formula.clone(),
            length_bytes: self.length_bytes,
            response_unit: self.response_unit.map(unit),
            repeats: match self.repeats {
                RepeatsArg::Median => Repeats::Median,
                RepeatsArg::Each => Repeats::Each,
            },
            noise: match self.noise {
                NoiseArg::Relative => Noise::Relative,
                NoiseArg::Absolute => Noise::Absolute,
            },
            min_points: self.min_points,
            confidence: self.confidence,
        })
    }
}
