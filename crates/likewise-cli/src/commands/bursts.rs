//! `likewise bursts`: the computation phases of a trace.

use crate::analysis::{Analysis, Input, Plan, analyse};
use crate::check::check_extrapolation;
use crate::cli::{Common, Usage};
use crate::definition::{Algorithm, Definition, parse_share, parse_some, read_definition};
use crate::files::report_data::{components, report_data};
use crate::files::{bursts_csv, clusters_csv, compat, gnuplot, regions_csv, representatives_csv, summary};
use crate::grouping::{GroupingArgs, Method};
use crate::label::event_value;
use crate::names::{check_counters, check_names, rename_counters};
use crate::output::OutputDir;
use crate::period;
use crate::refining::{self, RefineArg, UNASKED};
use crate::stages::Stages;
use crate::taken;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use likewise::bursts::Direction;
use likewise::table::{
    BurstTable, Counter, CounterColumn, DurationFilter, Expr, METRIC_SYNTAX, Metric, Nanos, Operand,
    Preparation, Scale, default_metrics,
};
use likewise::words::grouped_digits;
use likewise_report::phases as report;
use likewise_trace::RecordCounts;
use likewise_trace::{Apps, ReadOptions, Trace, is_rereadable, legend, read_bursts, write_labelled};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Without a filter, the shortest bursts are left out as in González et al.
/// 2009, §3.1, but for less of the time (they kept 99% with filters of 0.5 to
/// 5 ms): those under 10 µs, of which a good part is the tracer's own work, as
/// long as the others hold this share of the computing time.
const DEFAULT_FILTER: DurationFilter = DurationFilter::KeepTimeBelow(0.999, Nanos(10_000));

/// Find the computation phases of a trace
///
/// Reads a Paraver trace (.prv, .prv.gz, or '-' for standard input) or a CSV
/// of bursts, groups its CPU bursts into phases, and writes bursts.csv,
/// clusters.csv, regions.csv, summary.json, report.html, a gnuplot script and the trace
/// with the phase of every burst (event 90000001).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BurstsArgs {
    /// Paraver trace, or table (CSV or Parquet) with
    /// task,thread,begin_ns,duration_ns,<counters…>
    trace: PathBuf,
    /// Directory for the result [default: the trace's name with .likewise]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    metrics: MetricArgs,
    #[command(flatten)]
    grouping: GroupingArgs,
    #[command(flatten)]
    refining: RefiningArgs,
    #[command(flatten)]
    writing: WritingArgs,
    /// Group at one density where one suggests itself: to refine takes longer.
    #[arg(skip)]
    one_density: bool,
}

impl BurstsArgs {
    /// An analysis that writes nothing.
    pub(crate) fn without_files(
        trace: PathBuf,
        reading: ReadingArgs,
        metrics: MetricArgs,
        grouping: GroupingArgs,
        refining: RefiningArgs,
    ) -> Self {
        let writing = WritingArgs {
            no_trace: true,
            compat: None,
            format: TableFormat::Csv,
            check_extrapolation: false,
        };
        Self { trace, output: None, reading, metrics, grouping, refining, writing, one_density: false }
    }

    /// The same, at one density where nothing else is asked for and one
    /// suggests itself.
    pub(crate) fn at_one_density(self) -> Self {
        Self { one_density: true, ..self }
    }

    fn dir(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.likewise", stem(&self.trace))))
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

/// What to read
#[derive(Clone, Debug, Args)]
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
    pcf: Option<PathBuf>,
}

/// What describes a burst
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Metrics")]
pub(crate) struct MetricArgs {
    /// Describe bursts by NAME, or NAME=A/B (also * + -), with options after
    /// commas: log, linear, factor=2, min=1e3, max=1e9. Repeat for each
    /// [default: instructions and IPC]
    #[arg(short, long = "metric", value_name = "SPEC", long_help = METRIC_HELP.as_str())]
    metrics: Vec<Metric>,
    /// Read metrics and parameters from a TOML file, or from ClusteringSuite's
    /// XML; what is said here as well wins
    #[arg(long, value_name = "FILE")]
    pub(crate) definition: Option<PathBuf>,
    /// Leave out bursts shorter than this, such as 5us
    #[arg(long, value_name = "DURATION", conflicts_with = "keep_time")]
    min_duration: Option<Nanos>,
    /// Leave out the shortest bursts that together hold the rest of the
    /// computing time [default: 99.9%, but no burst of 10 µs or more]
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

/// What to write
#[derive(Debug, Args)]
#[command(next_help_heading = "Writing")]
struct WritingArgs {
    /// Leave out the labelled trace, the largest of the files
    #[arg(long)]
    no_trace: bool,
    /// Also write ClusteringSuite's files: PREFIX.DATA.csv and so on, into DIR
    /// unless PREFIX names a directory of its own
    #[arg(long, value_name = "PREFIX")]
    compat: Option<PathBuf>,
    /// Hide half of the counters from each burst, at random by --seed, and say
    /// how well their means per phase are found again
    #[arg(long)]
    check_extrapolation: bool,
    /// Format of the table of bursts
    #[arg(long, value_enum, default_value = "csv")]
    format: TableFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    Csv,
    /// bursts.parquet instead of bursts.csv
    Parquet,
}

const EXAMPLES: &str = "\
Examples:
  likewise bursts run.prv.gz
  likewise bursts run.prv --definition cluster.xml -o out
  likewise bursts run.prv --eps 0.01 --min-points 10 --min-duration 5us -o out
  likewise bursts run.prv -m PAPI_TOT_INS,log -m 'L1=PAPI_L1_DCM/PAPI_TOT_INS,max=0.2' -o out
  zstdcat run.prv.zst | likewise bursts - --pcf run.pcf -o out";

fn parse_apps(text: &str) -> Result<Apps, String> {
    if text == "all" {
        return Ok(Apps::All);
    }
    let wrong = |_| "expected a number from 1, or 'all'".to_owned();
    text.parse()
        .map_err(wrong)
        .and_then(|n| if n > 0 { Ok(Apps::One(n)) } else { Err("applications count from 1".into()) })
}

pub(crate) fn run(args: &BurstsArgs, common: &Common) -> Result<()> {
    OutputDir::check(&args.dir(), &[&args.trace], common)?;
    let (analysis, stages) = analyse_trace(args, common)?;
    let done = write_all(&analysis, args, common, stages)?;
    common.print(&done.summary, || done.text(common))
}

/// From the trace to its phases, in memory.
pub(crate) fn analyse_trace(args: &BurstsArgs, common: &Common) -> Result<(Analysis, Stages)> {
    let definition = checked(args)?;
    let mut stages = Stages::default();
    let mut input = read_input(args, &definition, common, &mut stages)?;
    let grouping = grouping(&args.grouping, &definition);
    // What the definition says is only a default, but what is said here counts.
    GroupingArgs { eps: args.grouping.eps, min_points: args.grouping.min_points, ..grouping.clone() }
        .check()?;
    let scale = scale(args.metrics.scale, &definition);
    let threshold = args.metrics.min_share.or(definition.min_share);
    let metrics = metrics(args, &definition, &mut input, common)?;
    let refine = direction(args, &grouping, input.table.len(), &mut input.notes);
    let or_refine = args.one_density && refine.is_some();
    let plan = Plan {
        preparation: Preparation {
            metrics,
            filter: filter(&args.metrics, &definition),
            scale,
            pca: args.metrics.pca.map(usize::from).or(definition.pca),
        },
        grouping: &grouping,
        refine: refine.filter(|_| !or_refine),
        or_refine,
        threshold,
        plots: &definition.plots,
        all_plots: definition.all_plots,
        settings: json!({
            "scale": format!("{scale:?}"),
            "min_share": threshold,
            "keep_time": kept_time(filter(&args.metrics, &definition)),
            "seed": grouping.seed,
            "app": apps_read(&input.table),
            "burst_events": args.reading.burst_events,
            "lenient": args.reading.lenient,
            "definition": args.metrics.definition.as_ref().map(|path| path.display().to_string()),
        }),
    };
    let mut analysis = analyse(input, plan, &mut stages, common.progress())
        .with_context(|| args.trace.display().to_string())?;
    for (name, loads) in analysis.prepared.pca.iter().flat_map(|pca| components(pca, &analysis.metrics)) {
        common.tell(format_args!("{name}: {loads}"));
    }
    // Of a phase, some bursts may be noise. The findings count these too; and
    // where one density is asked for, many are.
    let is_told = analysis.findings.iter().flat_map(|found| &found.list).any(|finding| finding.is_serial());
    if !args.one_density && !is_told {
        analysis.notes.extend(analysis.figures.serial_note());
    }
    if args.writing.check_extrapolation {
        let (sentence, json) = stages.time("check", || check_extrapolation(&analysis, grouping.seed));
        analysis.notes.push(sentence);
        analysis.extrapolation_check = Some(json);
    }
    if !args.writing.no_trace && !is_rereadable(&args.trace) {
        analysis.notes.push("A pipe cannot be read twice, so there is no labelled trace.".to_owned());
    }
    for note in &analysis.notes {
        common.say(format_args!("note: {note}"));
    }
    Ok((analysis, stages))
}

/// The definition, if what is asked for is possible; before the trace is read.
fn checked(args: &BurstsArgs) -> Result<Definition> {
    if args.writing.format == TableFormat::Parquet && !cfg!(feature = "parquet") {
        let text = "this likewise was built without Parquet; build it with its default features, or use --format csv";
        return Err(Usage(text.to_owned()).into());
    }
    args.grouping.check()?;
    check_names(&args.metrics.metrics)?;
    let definition = args.metrics.definition.as_deref().map(read_definition).transpose()?.unwrap_or_default();
    check_names(definition.metrics.as_deref().unwrap_or_default())?;
    Ok(definition)
}

/// The bursts, and what is to be known of them before they are grouped.
fn read_input(
    args: &BurstsArgs,
    definition: &Definition,
    common: &Common,
    stages: &mut Stages,
) -> Result<Input> {
    let Trace { mut table, end, topology, report } = read(args, definition, common, stages)?;
    let mut notes = report.warnings;
    if let Some(columns) = &report.columns {
        taken::tell(columns, common);
    }
    notes.extend(skipped(&report.records));
    if table.is_empty() {
        notes.iter().for_each(|note| common.say(format_args!("note: {note}")));
        bail!("{}: {}", args.trace.display(), no_burst(&args.reading));
    }
    for metric in &definition.extrapolate {
        add_column(&mut table, metric)?;
    }
    notes.extend(rename_counters(&mut table));
    notes.extend(topology.and_then(|topology| one_of_several(topology.apps.len(), &table, &args.reading)));
    let records = &report.records;
    common.tell(format_args!(
        "{} states, {} events, {} communications",
        grouped_digits(records.states),
        grouped_digits(records.events),
        grouped_digits(records.communications)
    ));
    let of =
        args.metrics.definition.as_deref().map_or_else(String::new, |path| format!("{}: ", path.display()));
    notes.extend(definition.notes.iter().map(|note| format!("{of}{note}")));
    let columns = report.columns.as_ref().map_or(Value::Null, taken::to_json);
    Ok(Input { name: args.trace.display().to_string(), end, table, columns, notes })
}

/// The metrics that are said here, else in the definition, else the usual ones.
fn metrics(
    args: &BurstsArgs,
    definition: &Definition,
    input: &mut Input,
    common: &Common,
) -> Result<Vec<Metric>> {
    let (metrics, asked) = match (&args.metrics.metrics[..], &definition.metrics) {
        ([], Some(metrics)) => (metrics.clone(), true),
        ([], None) => {
            let (metrics, why) = default_metrics(&input.table);
            common.say(&why);
            (metrics, false)
        }
        (metrics, _) => (metrics.to_vec(), true),
    };
    input.notes.extend(check_counters(&metrics, asked, &mut input.table)?);
    Ok(metrics)
}

/// What is said here, else what the definition says.
fn grouping(args: &GroupingArgs, definition: &Definition) -> GroupingArgs {
    let method = definition.algorithm.map(|algorithm| match algorithm {
        Algorithm::Dbscan => Method::Dbscan,
        Algorithm::Xmeans => Method::Xmeans,
    });
    GroupingArgs {
        eps: args.eps.or(definition.eps),
        min_points: args.min_points.or(definition.min_points),
        method: args.method.or(method),
        k_min: args.k_min.or(definition.k_min),
        k_max: args.k_max.or(definition.k_max),
        sample: args.sample.or(definition.sample),
        seed: args.seed,
    }
}

/// Refinement is for who says nothing of how to group.
fn direction(
    args: &BurstsArgs,
    grouping: &GroupingArgs,
    n_bursts: usize,
    notes: &mut Vec<String>,
) -> Option<Direction> {
    let asked = args.refining.refine.map(RefineArg::direction);
    let said = grouping.eps.is_some() || grouping.method.is_some() || grouping.sample.is_some();
    if asked.is_some() || said {
        return asked;
    }
    if n_bursts > UNASKED {
        if !args.one_density {
            notes.push(format!(
                "So many bursts are grouped by DBSCAN at the eps suggested; --refine refines more than {} too.",
                grouped_digits(UNASKED as u64)
            ));
        }
        return None;
    }
    Some(Direction::Aggregative)
}

/// Records that were passed over.
pub(crate) fn skipped(records: &RecordCounts) -> Vec<String> {
    let mut notes = Vec::new();
    for (n, what) in [(records.skipped, "malformed"), (records.unknown, "of no known kind")] {
        if n > 0 {
            let records = if n == 1 { "record was" } else { "records were" };
            notes.push(format!("{} {records} {what} and skipped.", grouped_digits(n)));
        }
    }
    notes
}

/// The applications of the bursts, ascending.
fn apps_read(table: &BurstTable) -> Vec<u32> {
    let mut apps = table.app.clone();
    apps.dedup();
    apps
}

/// Which application was chosen, where there was a choice and none was made.
fn one_of_several(n_apps: usize, table: &BurstTable, args: &ReadingArgs) -> Option<String> {
    let chosen = table.app.first().filter(|_| n_apps > 1 && args.app.is_none())?;
    Some(format!(
        "Application {chosen} of {n_apps} was read, the first that computes; --app N reads another, --app all \
         reads all."
    ))
}

/// Why there may be no burst.
fn no_burst(args: &ReadingArgs) -> String {
    let of = match args.app {
        Some(Apps::One(n)) => format!(" in application {n}"),
        _ => String::new(),
    };
    let what = if args.burst_events.is_empty() { "no Running state" } else { "none of the events" };
    format!("there is no CPU burst{of} ({what}); `likewise info` shows what there is")
}

fn read(args: &BurstsArgs, definition: &Definition, common: &Common, stages: &mut Stages) -> Result<Trace> {
    let bar = common.progress().bytes("Reading");
    let progress = |done, total| bar.set(done, total);
    let metrics =
        args.metrics.metrics.iter().chain(definition.metrics.iter().flatten()).chain(&definition.extrapolate);
    let options = ReadOptions {
        lenient: args.reading.lenient,
        burst_events: args.reading.burst_events.clone(),
        counters: metrics.flat_map(event_types).collect(),
        apps: args.reading.app.unwrap_or_default(),
        progress: Some(&progress),
        pcf: args.reading.pcf.clone(),
    };
    Ok(stages.time("read", || read_bursts(&args.trace, &options))?)
}

/// Event types that a metric names by number, and which need not be counters.
fn event_types(metric: &Metric) -> impl Iterator<Item = u32> {
    let (a, b) = match &metric.expr {
        Expr::One(a) => (Some(a), None),
        Expr::Two(a, _, b) => (Some(a), Some(b)),
    };
    let number = |operand: &Operand| match operand {
        Operand::Counter(name) => name.parse().ok(),
        Operand::Duration => None,
    };
    a.and_then(number).into_iter().chain(b.and_then(number))
}

/// Adds a metric that is only reported, unless a counter has its name.
fn add_column(table: &mut BurstTable, metric: &Metric) -> Result<()> {
    if table.counter(&metric.name).is_none() {
        let counter =
            Counter { event_type: None, name: metric.name.clone(), description: metric.expr.to_string() };
        table.counters.push(CounterColumn { values: metric.evaluate(table)?, counter });
    }
    Ok(())
}

fn filter(args: &MetricArgs, definition: &Definition) -> DurationFilter {
    match (args.min_duration, args.keep_time) {
        (Some(min), _) => DurationFilter::Min(min),
        (_, Some(share)) => DurationFilter::KeepTime(share),
        _ => definition.filter.unwrap_or(DEFAULT_FILTER),
    }
}

/// The share of the computing time that a filter keeps, where it is by that.
fn kept_time(filter: DurationFilter) -> Option<f64> {
    match filter {
        DurationFilter::KeepTime(share) | DurationFilter::KeepTimeBelow(share, _) => Some(share),
        DurationFilter::Min(_) => None,
    }
}

fn scale(arg: Option<ScaleArg>, definition: &Definition) -> Scale {
    match arg {
        Some(ScaleArg::MinMax) => Scale::MinMax,
        Some(ScaleArg::ZScore) => Scale::ZScore,
        Some(ScaleArg::None) => Scale::None,
        None => definition.scale.unwrap_or(Scale::MinMax),
    }
}

/// `run.prv.gz` gives `run`.
pub(crate) fn stem(trace: &Path) -> String {
    let name = trace.file_name().map_or_else(|| "trace".into(), |name| name.to_string_lossy());
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = stem.strip_suffix(".prv").or_else(|| stem.strip_suffix(".csv")).unwrap_or(stem);
    if stem == "-" { "stdin".to_owned() } else { stem.to_owned() }
}

/// Files that options name, to be read.
pub(crate) fn named_files<'a>(
    reading: &'a ReadingArgs,
    metrics: &'a MetricArgs,
) -> impl Iterator<Item = &'a PathBuf> {
    reading.pcf.iter().chain(&metrics.definition)
}

/// Makes `dir`, in which neither the trace nor what may belong to it is replaced.
pub(crate) fn output_dir<'a>(
    dir: &Path,
    trace: &Path,
    others: impl Iterator<Item = &'a PathBuf>,
    common: &Common,
) -> Result<OutputDir> {
    let beside = ["pcf", "row"].map(|ending| trace.with_extension("").with_extension(ending));
    let plain = ["pcf", "row"].map(|ending| trace.with_extension(ending));
    Ok(OutputDir::create(dir, &[trace], common)?
        .protecting(beside.into_iter().chain(plain).chain(others.cloned())))
}

/// The files are written: what remains to be shown.
pub(crate) struct Done<'a> {
    pub(crate) summary: Value,
    data: report::ReportData<'a>,
    report: PathBuf,
}

impl Done<'_> {
    pub(crate) fn text(&self, common: &Common) -> String {
        let (width, colour) = common.terminal();
        let first = report::first(&self.data, width);
        let gap = if first.is_empty() { "" } else { "\n" };
        format!(
            "{}\n\n{first}{gap}{}\nReport: {}\n",
            self.data.subtitle,
            report::terminal(&self.data, width, colour, common.wants_all()),
            self.report.display()
        )
    }
}

/// Writes every file of the analysis.
pub(crate) fn write_all<'a>(
    analysis: &'a Analysis,
    args: &BurstsArgs,
    common: &Common,
    mut stages: Stages,
) -> Result<Done<'a>> {
    let _bar = common.progress().spinner("Writing");
    let dir = args.dir();
    let mut out = output_dir(&dir, &args.trace, named_files(&args.reading, &args.metrics), common)?;
    // Neither keeps two threads busy, and neither needs the other.
    let mut beside = Stages::default();
    let (written, period) = rayon::join(
        || stages.time("write", || write_tables(analysis, &mut out, &args.writing)),
        || beside.time("period", || period::summary(analysis)),
    );
    written?;
    stages.add_all(beside);
    if !args.writing.no_trace && is_rereadable(&args.trace) {
        stages.time("write", || write_trace(analysis, args, &mut out))?;
    }
    let data = stages.time("write", || report_data(analysis));
    let data = report::ReportData { timings: stages.for_people(), ..data };
    stages.time("write", || out.write("report.html", |file| Ok(report::write_html(&data, file)?)))?;
    stages.tell(common);
    let mut summary = summary::summary(analysis, &stages);
    summary["period"] = period;
    out.write("summary.json", |file| Ok(writeln!(file, "{summary:#}")?))?;
    out.commit()?;
    Ok(Done { summary, data, report: dir.join("report.html") })
}

fn write_tables(analysis: &Analysis, out: &mut OutputDir, writing: &WritingArgs) -> Result<()> {
    match writing.format {
        TableFormat::Csv => out.write("bursts.csv", |file| Ok(bursts_csv::write(file, analysis)?))?,
        #[cfg(feature = "parquet")]
        TableFormat::Parquet => {
            let path = out.path("bursts.parquet");
            out.adopt(crate::files::bursts_parquet::write(&path, analysis)?)?;
        }
        #[cfg(not(feature = "parquet"))]
        TableFormat::Parquet => bail!("built without Parquet"),
    }
    out.write("clusters.csv", |file| Ok(clusters_csv::write(file, analysis)?))?;
    if let Some(code) = &analysis.table.code {
        out.write("regions.csv", |file| Ok(regions_csv::write(file, analysis, code)?))?;
    }
    out.write("representatives.csv", |file| Ok(representatives_csv::write(file, analysis)?))?;
    // The scripts read the CSV.
    let plots = if writing.format == TableFormat::Csv { &analysis.plots[..] } else { &[] };
    for (i, plot) in plots.iter().enumerate() {
        let name = if i == 0 { "scatter.gnuplot".to_owned() } else { format!("scatter_{}.gnuplot", i + 1) };
        out.write(&name, |file| Ok(gnuplot::write(file, analysis, plot)?))?;
    }
    if let Some(refinement) = &analysis.grouped.refinement {
        let clustering = &analysis.grouped.clustering;
        out.write("refinement.json", |file| {
            Ok(writeln!(file, "{}", refining::to_json(refinement, clustering))?)
        })?;
        out.write("refinement.dot", |file| Ok(refining::write_dot(file, refinement, clustering)?))?;
    }
    if let Some(prefix) = &writing.compat {
        let has_directory = prefix.parent().is_some_and(|parent| !parent.as_os_str().is_empty());
        let prefix = if has_directory { prefix.clone() } else { out.path(&prefix.to_string_lossy()) };
        for file in compat::write(&prefix, analysis)? {
            out.adopt(file)?;
        }
    }
    Ok(())
}

/// The input with the phase of every burst, as `DIR/NAME.prv`, `.pcf`, `.row`.
fn write_trace(analysis: &Analysis, args: &BurstsArgs, out: &mut OutputDir) -> Result<()> {
    let values: Vec<u32> = analysis.labels.par_iter().map(|&label| event_value(label)).collect();
    let legend = legend(analysis.grouped.clustering.n_clusters as u32, report::trace_colour);
    let stem = out.path(&stem(&args.trace));
    let ReadingArgs { lenient, pcf, .. } = &args.reading;
    let files =
        write_labelled(&args.trace, &stem, &analysis.table, &values, &legend, *lenient, pcf.as_deref())?;
    files.into_iter().try_for_each(|file| out.adopt(file))
}
