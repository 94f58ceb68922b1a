//! Options that say how to analyse bursts, as several commands take them.

use clap::{Args, Parser, ValueEnum};
use likewise::bursts::Direction;
use likewise::table::{DurationFilter, METRIC_SYNTAX, Metric, Nanos, Scale};
use likewise_analysis::definition::{parse_share, parse_some};
use likewise_analysis::phases::{Describing, Grouping, Method, Options, Reading};
use likewise_trace::Apps;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::LazyLock;

/// What to read
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingArgs {
    /// Application of the trace: its number, or 'all' [default: the first that computes]
    #[arg(long, value_name = "N", value_parser = parse_apps)]
    app: Option<Apps>,
    /// Make bursts from events instead of Running states: a value other than
    /// zero opens one, zero closes it; TYPE[,TYPE]
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    burst_events: Vec<u32>,
    /// Skip malformed records and say how many, instead of stopping
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Names of counters, where they are not beside the trace under its name
    #[arg(long, value_name = "FILE")]
    pub(crate) pcf: Option<PathBuf>,
}

impl ReadingArgs {
    pub(crate) fn options(&self) -> Reading {
        let Self { app, burst_events, lenient, pcf } = self.clone();
        Reading { apps: app.unwrap_or_default(), burst_events, lenient, pcf, before_options: "" }
    }
}

fn parse_apps(text: &str) -> Result<Apps, String> {
    if text == "all" {
        return Ok(Apps::All);
    }
    let wrong = |_| "expected a number from 1, or 'all'".to_owned();
    text.parse()
        .map_err(wrong)
        .and_then(|n| if n > 0 { Ok(Apps::One(n)) } else { Err("applications count from 1".into()) })
}

/// What describes a burst
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Metrics")]
pub(crate) struct MetricArgs {
    /// Describe bursts by NAME, or NAME=A/B (also * + -), with options after
    /// commas: log, linear, factor=2, min=1e3, max=1e9. Repeat for each
    /// [default: instructions and IPC]
    #[arg(short, long = "metric", value_name = "SPEC", long_help = METRIC_HELP.as_str())]
    metrics: Vec<Metric>,
    /// Read metrics and parameters from a TOML file, or from ClusteringSuite's
    /// XML; options on the command line override the file
    #[arg(long, value_name = "FILE")]
    pub(crate) definition: Option<PathBuf>,
    /// Leave out bursts shorter than this, such as 5us
    #[arg(long, value_name = "DURATION", conflicts_with = "keep_time")]
    min_duration: Option<Nanos>,
    /// Keep the longest bursts that together hold this share of the computing
    /// time [default: 99.9%; bursts of 10 µs or more are always kept]
    #[arg(long, value_name = "SHARE", value_parser = parse_some)]
    keep_time: Option<f64>,
    /// Make metrics comparable by range, by deviation, or not at all [default: min-max]
    #[arg(long, value_enum)]
    scale: Option<ScaleArg>,
    /// Reduce the metrics to D principal components
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u8).range(1..=16))]
    pca: Option<u8>,
    /// Leave out clusters that hold less than this of the clustered time
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    min_share: Option<f64>,
}

impl MetricArgs {
    pub(crate) fn options(&self) -> Describing {
        let Self { metrics, definition, min_duration, keep_time, scale, pca, min_share } = self.clone();
        Describing {
            metrics,
            definition,
            filter: min_duration.map(DurationFilter::Min).or(keep_time.map(DurationFilter::KeepTime)),
            scale: scale.map(|scale| match scale {
                ScaleArg::MinMax => Scale::MinMax,
                ScaleArg::ZScore => Scale::ZScore,
                ScaleArg::None => Scale::None,
            }),
            pca: pca.map(usize::from),
            min_share,
        }
    }
}

static METRIC_HELP: LazyLock<String> = LazyLock::new(|| {
    format!(
        "Describe bursts by this metric; repeat for each [default: instructions and IPC]\n\n{METRIC_SYNTAX}"
    )
});

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ScaleArg {
    MinMax,
    ZScore,
    None,
}

/// How to group
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Grouping")]
pub(crate) struct GroupingArgs {
    /// Radius of a neighbourhood, in the units of the grouped values [default:
    /// bursts are refined over several radii; else, the knee of the sorted
    /// k-distances]
    #[arg(long, value_name = "EPS", allow_negative_numbers = true, value_parser = parse_eps)]
    eps: Option<f64>,
    /// Points within eps that make a point core, itself included [default: 10;
    /// where bursts are refined, a quarter of the threads, or of the CPUs if these are fewer]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    min_points: Option<usize>,
    /// Density (dbscan), compact clusters whose number BIC chooses (xmeans), or
    /// the calls that bursts lie between (places)
    #[arg(long, value_enum)]
    method: Option<MethodArg>,
    /// Fewest clusters that X-means looks for [default: 1]
    #[arg(long, value_name = "K", value_parser = parse_count)]
    k_min: Option<usize>,
    /// Most clusters that X-means looks for [default: 50]
    #[arg(long, value_name = "K", value_parser = parse_count)]
    k_max: Option<usize>,
    /// Group at most N of them, spread evenly (over the tasks, for bursts); the
    /// others take the label of their nearest neighbour within eps
    #[arg(long, value_name = "N", value_parser = parse_count)]
    sample: Option<usize>,
    /// Seed of the sample and of X-means
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MethodArg {
    Dbscan,
    Xmeans,
    Places,
}

impl GroupingArgs {
    pub(crate) fn options(&self) -> Grouping {
        let Self { eps, min_points, method, k_min, k_max, sample, seed } = *self;
        let method = method.map(|method| match method {
            MethodArg::Dbscan => Method::Dbscan,
            MethodArg::Xmeans => Method::Xmeans,
            MethodArg::Places => Method::Places,
        });
        Grouping { eps, min_points, method, k_min, k_max, sample, seed }
    }
}

/// A number of things, from 1.
pub(crate) fn parse_count(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "expected a whole number from 1".to_owned())
}

fn parse_eps(text: &str) -> Result<f64, String> {
    let positive = |x: &f64| *x > 0.0 && x.is_finite();
    let eps = text.parse().ok().filter(positive).ok_or("expected a number above 0, such as 0.01")?;
    // Distances are compared by their squares.
    match (eps * eps).is_normal() {
        true => Ok(eps),
        false => {
            Err("its square leaves the range of a double: multiply all numbers, and eps, by a power of ten"
                .into())
        }
    }
}

/// Whether to refine
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Grouping")]
pub(crate) struct RefiningArgs {
    /// Go through radii from fine to coarse, or the other way [default:
    /// aggregative, unless --eps, --method or --sample says otherwise]
    #[arg(long, value_enum, value_name = "WAY", num_args = 0..=1, require_equals = true,
          default_missing_value = "aggregative", conflicts_with_all = ["eps", "method", "sample"])]
    refine: Option<RefineArg>,
}

/// Which way the radius goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RefineArg {
    /// From the finest grouping up: fragments of one phase join
    Aggregative,
    /// From the coarsest down: what is several phases is taken apart
    Divisive,
}

impl RefiningArgs {
    pub(crate) fn direction(self) -> Option<Direction> {
        self.refine.map(|way| match way {
            RefineArg::Aggregative => Direction::Aggregative,
            RefineArg::Divisive => Direction::Divisive,
        })
    }
}

/// The options of `likewise bursts` that say how to analyse, behind `--` of
/// another command: what and where to write does not apply.
#[derive(Parser)]
#[command(name = "likewise compare FILE FILE --", no_binary_name = true, disable_version_flag = true)]
struct OfRuns {
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    metrics: MetricArgs,
    #[command(flatten)]
    grouping: GroupingArgs,
    #[command(flatten)]
    refining: RefiningArgs,
}

/// The same, where what is asked for decides whether to refine.
#[derive(Parser)]
#[command(name = "likewise ranks TRACE --", no_binary_name = true, disable_version_flag = true)]
struct OfRanks {
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    metrics: MetricArgs,
    #[command(flatten)]
    grouping: GroupingArgs,
}

/// What stands behind `--` of `likewise compare`.
pub(crate) fn options_of_runs(options: &[OsString]) -> Result<Options, clap::Error> {
    let OfRuns { reading, metrics, grouping, refining } = OfRuns::try_parse_from(options)?;
    Ok(behind(Options { refine: refining.direction(), ..options_of(&reading, &metrics, &grouping) }))
}

/// What stands behind `--` of `likewise ranks`.
pub(crate) fn options_of_ranks(options: &[OsString]) -> Result<Options, clap::Error> {
    let OfRanks { reading, metrics, grouping } = OfRanks::try_parse_from(options)?;
    Ok(behind(options_of(&reading, &metrics, &grouping)))
}

/// Messages name them as they are given.
fn behind(mut options: Options) -> Options {
    options.reading.before_options = "-- ";
    options
}

pub(crate) fn options_of(reading: &ReadingArgs, metrics: &MetricArgs, grouping: &GroupingArgs) -> Options {
    Options {
        reading: reading.options(),
        describing: metrics.options(),
        grouping: grouping.options(),
        ..Options::default()
    }
}

/// A value of an option, as it is written.
pub(crate) fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
