//! `likewise cut`: a trace that is small enough to simulate.

use crate::args::{GroupingArgs, MetricArgs, ReadingArgs, options_of, parse_count};
use crate::common::{Common, Usage};
use crate::files::period;
use crate::files::representatives_csv;
use crate::finish::finish;
use crate::output::OutputDir;
use crate::trace::{AsParaver, analysed, output_dir, stem};
use anyhow::{Result, ensure};
use clap::Args;
use likewise::bursts::{Estimate, Window};
use likewise::table::{Moment, Nanos};
use likewise::words::{FAR, factor, grouped_digits, listed, short};
use likewise_analysis::Stages;
use likewise_analysis::cut::{Cut, Limits, no_part};
use likewise_analysis::definition::{parse_share, parse_some};
use likewise_analysis::phases::{FoundPeriod, Options, skipped};
use likewise_trace::{AtomicFile, CutOptions, CutReport, check_cut, write_cut};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Cut a trace to the iterations that stand for all
///
/// Groups the bursts by DBSCAN (or as options say), finds the period of the run,
/// and writes the trace of as few iterations as the limits allow (of fewer
/// tasks, where that is still too much), cut.json with the error of
/// extrapolating from it, and representatives.csv. Where the run does not
/// repeat, it says so, writes nothing, and the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CutArgs {
    /// Paraver trace, or recording (a folder)
    trace: PathBuf,
    /// Directory for the result [default: the trace's name with .cut]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    cutting: CuttingArgs,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    metrics: MetricArgs,
    #[command(flatten)]
    grouping: GroupingArgs,
}

/// What to keep
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Cutting")]
struct CuttingArgs {
    /// Keep at most this share of the trace's bursts and records
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = parse_some)]
    keep: f64,
    /// Keep so many iterations that extrapolating the computing time, and the
    /// counters that the metrics use, is off by at most this
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = parse_share)]
    max_error: f64,
    /// Keep just so many iterations [default: as few as the error allows]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    iterations: Option<usize>,
    /// Cut from this time on, without asking whether the run repeats
    #[arg(long, value_name = "TIME", conflicts_with_all = OF_THE_PERIOD)]
    from: Option<Nanos>,
    /// Cut until this time
    #[arg(long, value_name = "TIME", conflicts_with_all = OF_THE_PERIOD)]
    to: Option<Nanos>,
    /// Leave times as they are, instead of beginning at 0
    #[arg(long)]
    keep_times: bool,
}

/// Options that are for finding the period, and so for no cut by hand: by
/// name, and all of a kind.
const OF_THE_PERIOD: [&str; 8] =
    ["keep", "max_error", "iterations", "app", "burst_events", "pcf", "MetricArgs", "GroupingArgs"];

const EXAMPLES: &str = "\
Examples:
  likewise cut run.prv.gz -o small
  likewise cut run.prv --keep 1% --max-error 5% -o small
  likewise cut run.prv --iterations 2 --keep 100% -o two
  likewise cut run.prv --from 1.5s --to 2s -o part";

pub(crate) fn run(args: &CutArgs, common: &Common) -> Result<()> {
    // Before the time that the analysis takes, and its own reasons to fail.
    let source = AsParaver::of(&args.trace, common)?;
    check_cut(source.path())?;
    OutputDir::check(&args.dir(), &[&args.trace], common)?;
    if args.cutting.from.is_some() || args.cutting.to.is_some() {
        by_hand(args, &source, common)
    } else {
        by_period(args, source.path(), common)
    }
}

/// Cuts from one given time to another.
fn by_hand(args: &CutArgs, source: &AsParaver, common: &Common) -> Result<()> {
    let (from, to) = (args.cutting.from.unwrap_or_default(), args.cutting.to.unwrap_or(Nanos(u64::MAX)));
    if from >= to {
        return Err(Usage(format!("--from {from} is not before --to {to}")).into());
    }
    let mut out = output_dir(&args.dir(), &args.trace, args.named_files(), common)?;
    let mut stages = Stages::default();
    let (files, report) = stages.time("cut", || args.write(source.path(), &out, from, to, None))?;
    has_times(&args.trace, &report)?;
    let of_records = skipped(&report.read).into_iter().chain(report.warnings.clone());
    let notes: Vec<String> = source.notes().iter().cloned().chain(of_records).collect();
    notes.iter().for_each(|note| common.say(format_args!("note: {note}")));
    let result = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "input": args.trace.display().to_string(),
        "trace": files[0].path().display().to_string(),
        "kept": { "from_ns": report.from.0, "to_ns": report.to.0 },
        "reduction": reduction(&report),
        "notes": notes,
    });
    let path = files[0].path().to_owned();
    files.into_iter().try_for_each(|file| out.adopt(file))?;
    let result = finish(out, "cut.json", result, &stages, common)?;
    common.print(&result, || format!("{}Trace: {}\n", reduction_text(&report), path.display()))
}

/// That it is known which states are in a part of the trace: what is left of one in which times of
/// states are wrong would look like a trace in which they are right.
///
/// # Errors
/// States end before they begin.
fn has_times(trace: &Path, report: &CutReport) -> Result<()> {
    let n = report.read.backwards;
    ensure!(n == 0, no_part(&trace.display().to_string(), Some(n)));
    Ok(())
}

/// Cuts to the iterations that stand for all.
fn by_period(args: &CutArgs, source: &Path, common: &Common) -> Result<()> {
    let options = options_of(&args.reading, &args.metrics, &args.grouping);
    let (analysis, mut stages) = analysed(&args.trace, &Options { one_density: true, ..options }, common)?;
    let CuttingArgs { keep, max_error, iterations, .. } = args.cutting;
    let mut cut = Cut::of(&analysis, Limits { keep, max_error, iterations })?;
    let mut out = output_dir(&args.dir(), &args.trace, args.named_files(), common)?;
    let bar = common.spinner("Cutting");
    let (files, report) = loop {
        let Window { from, to, .. } = cut.window;
        let (files, report) = stages.time("cut", || args.write(source, &out, from, to, cut.tasks()))?;
        if !cut.choose_less(share(report.kept.total(), report.read.total())) {
            break (files, report);
        }
    };
    // The analysis has told of what it read, and the cut reads the same.
    let notes: Vec<String> =
        report.warnings.iter().filter(|warning| !analysis.notes.contains(warning)).cloned().collect();
    notes.iter().for_each(|note| common.say(format_args!("note: {note}")));
    let told = Told { cut: &cut, report, notes };
    let mut result = told.to_json(files[0].path());
    result["period"] = period::to_json(
        &FoundPeriod::of(analysis.period(), &analysis),
        analysis.drawn_times,
        analysis.origin,
    );
    let path = files[0].path().to_owned();
    out.write("representatives.csv", |file| Ok(representatives_csv::write(file, &analysis)?))?;
    files.into_iter().try_for_each(|file| out.adopt(file))?;
    drop(bar);
    let result = finish(out, "cut.json", result, &stages, common)?;
    common.print(&result, || format!("{}Trace: {}\n", told.text(), path.display()))
}

impl CutArgs {
    fn dir(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.cut", stem(&self.trace))))
    }

    fn named_files(&self) -> impl Iterator<Item = &PathBuf> {
        self.reading.pcf.iter().chain(&self.metrics.definition)
    }

    fn write(
        &self,
        source: &Path,
        out: &OutputDir,
        from: Nanos,
        to: Nanos,
        tasks: Option<Vec<(u32, u32)>>,
    ) -> Result<(Vec<AtomicFile>, CutReport)> {
        let lenient = self.reading.lenient;
        let options = CutOptions { from, to, tasks, keep_times: self.cutting.keep_times, lenient };
        Ok(write_cut(source, &out.path(&stem(&self.trace)), &options)?)
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn reduction(report: &CutReport) -> Value {
    let of = |whole: u64, kept: u64| json!({ "whole": whole, "kept": kept, "share": share(kept, whole) });
    let CutReport { read, kept, .. } = report;
    json!({
        "records": of(read.total(), kept.total()),
        "bytes": of(report.bytes_read, report.bytes_kept),
        "states": of(read.states, kept.states),
        "events": of(read.events, kept.events),
        "communications": of(read.communications, kept.communications),
        "clipped_states": report.clipped_states,
        "dropped_communications": report.dropped_communications,
        "dropped_open_states": report.dropped_open_states,
    })
}

fn reduction_text(report: &CutReport) -> String {
    let (read, kept) = (report.read.total(), report.kept.total());
    format!(
        "Kept: {} of {} records ({:.2}%), {:.2}% of the bytes; {} states clipped, {} communications \
         with what is outside left out.\n",
        grouped_digits(kept),
        grouped_digits(read),
        100.0 * share(kept, read),
        100.0 * share(report.bytes_kept, report.bytes_read),
        grouped_digits(report.clipped_states),
        grouped_digits(report.dropped_communications),
    )
}

/// All that is to be told of a cut.
struct Told<'a> {
    cut: &'a Cut<'a>,
    report: CutReport,
    /// Beside those of the analysis.
    notes: Vec<String>,
}

impl Told<'_> {
    /// Share of the records that is kept.
    fn records(&self) -> f64 {
        share(self.report.kept.total(), self.report.read.total())
    }

    fn to_json(&self, trace: &Path) -> Value {
        let Cut { analysis, window, asked, .. } = self.cut;
        let tasks: Vec<Value> = window
            .tasks
            .iter()
            .map(|t| json!({ "app": t.app, "task": t.task, "weight": t.weight }))
            .collect();
        let notes = [&analysis.notes[..], &self.notes[..]].concat();
        let estimate = |(name, e, limited): (&str, Estimate, bool)| {
            json!({
                "name": name, "region": e.region, "estimated": e.estimated, "error": e.error(),
                "run": e.run, "run_error": e.run_error(), "limited": limited,
            })
        };
        // Of drawn times no error is known.
        let is_known = !analysis.drawn_times;
        let estimates = if is_known { self.cut.estimates() } else { Vec::new() };
        let mut reduction = reduction(&self.report);
        let length = analysis.length().0;
        let kept = window.to.saturating_sub(window.from).0;
        reduction["time_ns"] = json!({ "whole": length, "kept": kept, "share": share(kept, length) });
        reduction["bursts"] = json!({ "share": window.share });
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "input": analysis.input,
            "trace": trace.display().to_string(),
            "period": null,
            "kept": {
                "from_ns": window.from.0, "to_ns": window.to.0, "first_iteration": window.first + 1,
                "iterations": window.n_iterations, "all_tasks": self.cut.n_tasks() == tasks.len(),
                "tasks": tasks, "cut_bursts": window.n_cut,
            },
            "reduction": reduction,
            "limits": { "keep": asked.keep, "max_error": asked.max_error },
            "within_limits": is_known.then(|| self.cut.meets(self.records())),
            "error": is_known.then_some(window.error),
            "estimates": estimates.into_iter().map(estimate).collect::<Vec<_>>(),
            "not_estimated": if is_known { self.cut.not_told() } else { Vec::new() },
            "notes": notes,
        })
    }

    fn text(&self) -> String {
        let Cut { analysis, period, window, asked, .. } = self.cut;
        let (from, to) = period.region();
        let length = match analysis.drawn_times {
            true => "of unknown length".to_owned(),
            false => period.median().to_string(),
        };
        let mut text = format!(
            "Period: {length}, {} iterations from {} to {} of a run of {}, confidence {:.2} (found in {}); they hold {:.1}% of the computing time. What \
             is outside, {:.1}% of the run, is no part of the cut.\n{}",
            period.n_iterations(),
            Moment(from),
            Moment(to),
            analysis.length(),
            period.confidence,
            analysis.period().sought_in.told(),
            100.0 * self.cut.computing_share(),
            100.0 * (1.0 - to.saturating_sub(from).0 as f64 / analysis.length().0 as f64),
            self.cut.lengths_text()
        );
        let last = window.first + window.n_iterations;
        let iterations = match window.n_iterations {
            1 => format!("iteration {last}"),
            _ => format!("iterations {} to {last}", window.first + 1),
        };
        let all = self.cut.n_tasks();
        let tasks = if window.tasks.len() == all {
            format!("all tasks ({all})")
        } else {
            let names = window.tasks.iter().map(|t| format!("{}×{}", t.task, t.weight)).collect::<Vec<_>>();
            format!("{} of {all} tasks (task×weight: {})", window.tasks.len(), names.join(" "))
        };
        let (from, to) = (Moment(window.from), Moment(window.to));
        let _ = writeln!(text, "Cut: {iterations}, {from} to {to}, {tasks}.");
        text += &reduction_text(&self.report);
        if analysis.drawn_times {
            text += "Error of extrapolating from it: not known, since the times are drawn; `likewise record --times all` keeps each.\n";
            return text;
        }
        text +=
            "Error of extrapolating from it, over the iterations (over the run, where the rest is known):\n";
        for (name, estimate, limited) in self.cut.estimates() {
            let mark = if limited { "" } else { "  not limited" };
            // An estimate that is many times as much is told as such.
            let told = |error: f64| match error {
                far if far >= FAR => format!("{}×", factor(1.0 + far)),
                near => format!("{:+.3}%", 100.0 * near),
            };
            let (error, run_error) = (told(estimate.error()), told(estimate.run_error()));
            let _ = writeln!(text, "  {name:20} {error:>9}  ({run_error}){mark}");
        }
        let not_told = self.cut.not_told();
        if !not_told.is_empty() {
            let names = listed(&not_told);
            let _ = writeln!(
                text,
                "Not told, because they are not counted in nearly all of the iterations and of what is kept: {names}."
            );
        }
        if !self.cut.meets(self.records()) {
            let _ = writeln!(
                text,
                "The limits (keep {}%, error {}%) are not both met: of what was tried, this comes nearest.",
                short(100.0 * asked.keep),
                short(100.0 * asked.max_error)
            );
        }
        text
    }
}
