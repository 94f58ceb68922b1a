//! `likewise cut`: a trace that is small enough to simulate.

use crate::args::{GroupingArgs, MetricArgs, ReadingArgs, options_of, parse_count};
use crate::common::{Common, Usage};
use crate::files::period;
use crate::files::representatives_csv;
use crate::finish::finish;
use crate::output::OutputDir;
use crate::trace::{analysed, output_dir, stem};
use anyhow::{Result, anyhow};
use clap::Args;
use likewise::bursts::{Estimate, Period, Window, WindowLimits, choose_window};
use likewise::ranks::{is_significant, spearman};
use likewise::table::{BurstTable, Expr, Metric, Nanos, Operand};
use likewise::words::{grouped_digits, short};
use likewise_analysis::Stages;
use likewise_analysis::definition::{parse_share, parse_some};
use likewise_analysis::phases::Analysis;
use likewise_analysis::phases::{Options, skipped};
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
    /// Paraver trace
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
    check_cut(&args.trace)?;
    OutputDir::check(&args.dir(), &[&args.trace], common)?;
    if args.cutting.from.is_some() || args.cutting.to.is_some() {
        by_hand(args, common)
    } else {
        by_period(args, common)
    }
}

/// Cuts from one given time to another.
fn by_hand(args: &CutArgs, common: &Common) -> Result<()> {
    let (from, to) = (args.cutting.from.unwrap_or_default(), args.cutting.to.unwrap_or(Nanos(u64::MAX)));
    if from >= to {
        return Err(Usage(format!("--from {from} is not before --to {to}")).into());
    }
    let mut out = output_dir(&args.dir(), &args.trace, args.named_files(), common)?;
    let mut stages = Stages::default();
    let (files, report) = stages.time("cut", || args.write(&out, from, to, None))?;
    let notes: Vec<String> = skipped(&report.read).into_iter().chain(report.warnings.clone()).collect();
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

/// Cuts to the iterations that stand for all.
fn by_period(args: &CutArgs, common: &Common) -> Result<()> {
    let options = options_of(&args.reading, &args.metrics, &args.grouping);
    let (analysis, mut stages) = analysed(&args.trace, &Options { one_density: true, ..options }, common)?;
    let period = analysis.period.found.as_ref().map_err(|why| {
        anyhow!(
            "{}: no period was found, so nothing was cut: {why}. --from and --to cut by hand",
            args.trace.display()
        )
    })?;
    if let Some(asked) = args.cutting.iterations.filter(|&asked| asked > period.n_iterations()) {
        let there = period.n_iterations();
        return Err(
            Usage(format!("--iterations {asked} is more than there are: the run repeats {there}")).into()
        );
    }
    let mut limits = WindowLimits {
        max_share: args.cutting.keep,
        max_error: args.cutting.max_error,
        counters: counters_of(&analysis.table, &analysis.metrics),
        iterations: args.cutting.iterations,
    };
    let mut out = output_dir(&args.dir(), &args.trace, args.named_files(), common)?;
    let bar = common.spinner("Cutting");
    let (window, files, report) = loop {
        let window = choose_window(&analysis.table, &analysis.period.phases, period, &limits);
        let tasks: Vec<(u32, u32)> = window.tasks.iter().map(|t| (t.app, t.task)).collect();
        let tasks = (tasks.len() < n_tasks(&analysis.table)).then_some(tasks);
        let (files, report) = stages.time("cut", || args.write(&out, window.from, window.to, tasks))?;
        // Records are not spread quite as bursts are.
        let share = share(report.kept.total(), report.read.total());
        let could_be_less = window.share <= limits.max_share && window.tasks.len() > 1;
        if share <= args.cutting.keep || !could_be_less {
            break (window, files, report);
        }
        limits.max_share = window.share * (args.cutting.keep / share).min(0.98);
    };
    // The analysis has told of what it read, and the cut reads the same.
    let notes: Vec<String> =
        report.warnings.iter().filter(|warning| !analysis.notes.contains(warning)).cloned().collect();
    notes.iter().for_each(|note| common.say(format_args!("note: {note}")));
    let cut = Cut { args, analysis: &analysis, period, window, report, limits, notes };
    let mut result = cut.to_json(files[0].path());
    result["period"] = period::to_json(&analysis);
    let path = files[0].path().to_owned();
    out.write("representatives.csv", |file| Ok(representatives_csv::write(file, &analysis)?))?;
    files.into_iter().try_for_each(|file| out.adopt(file))?;
    drop(bar);
    let result = finish(out, "cut.json", result, &stages, common)?;
    common.print(&result, || format!("{}Trace: {}\n", cut.text(), path.display()))
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
        out: &OutputDir,
        from: Nanos,
        to: Nanos,
        tasks: Option<Vec<(u32, u32)>>,
    ) -> Result<(Vec<AtomicFile>, CutReport)> {
        let lenient = self.reading.lenient;
        let options = CutOptions { from, to, tasks, keep_times: self.cutting.keep_times, lenient };
        Ok(write_cut(&self.trace, &out.path(&stem(&self.trace)), &options)?)
    }
}

/// The counters that metrics are made of, by their place in the table.
fn counters_of(table: &BurstTable, metrics: &[Metric]) -> Vec<usize> {
    let operands = |metric: &Metric| match &metric.expr {
        Expr::One(a) => vec![a.clone()],
        Expr::Two(a, _, b) => vec![a.clone(), b.clone()],
    };
    let place = |operand: Operand| match operand {
        Operand::Duration => None,
        Operand::Counter(name) => {
            let column = table.counter(&name)?;
            table.counters.iter().position(|c| std::ptr::eq(c, column))
        }
    };
    let mut places: Vec<usize> = metrics.iter().flat_map(operands).filter_map(place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

fn n_tasks(table: &BurstTable) -> usize {
    let task = |i: usize| (table.app[i], table.task[i]);
    (0..table.len()).filter(|&i| i == 0 || task(i) != task(i - 1)).count()
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
struct Cut<'a> {
    args: &'a CutArgs,
    analysis: &'a Analysis,
    period: &'a Period,
    window: Window,
    report: CutReport,
    limits: WindowLimits,
    /// Beside those of the analysis.
    notes: Vec<String>,
}

/// Whether what was asked for is met by a window of which that share of the
/// records is kept; the limits that it was chosen by may be lower.
fn meets(asked: &CuttingArgs, window: &Window, records: f64) -> bool {
    window.error <= asked.max_error && window.share.max(records) <= asked.keep
}

impl Cut<'_> {
    /// Wall time, computing time, then every counter; and whether the limit is
    /// for it.
    fn estimates(&self) -> Vec<(&str, Estimate, bool)> {
        let counters = self.analysis.table.counters.iter().zip(&self.window.counters).enumerate();
        let counters = counters.map(|(i, (c, &estimate))| {
            (c.counter.name.as_str(), estimate, self.limits.counters.contains(&i))
        });
        [("wall time", self.wall(), false), ("computing time", self.window.time, true)]
            .into_iter()
            .chain(counters)
            .collect()
    }

    /// How long the iterations take, and what the kept ones make of it.
    fn wall(&self) -> Estimate {
        let (from, to) = self.period.region();
        let kept = self.window.to.saturating_sub(self.window.from).0 as f64;
        Estimate {
            region: to.saturating_sub(from).0 as f64,
            estimated: kept * self.period.n_iterations() as f64 / self.window.n_iterations as f64,
            run: self.analysis.end.0 as f64,
        }
    }

    /// Whether what was asked for is met, in bursts and in records.
    fn within_limits(&self) -> bool {
        let records = share(self.report.kept.total(), self.report.read.total());
        meets(&self.args.cutting, &self.window, records)
    }

    fn to_json(&self, trace: &Path) -> Value {
        let window = &self.window;
        let tasks: Vec<Value> = window
            .tasks
            .iter()
            .map(|t| json!({ "app": t.app, "task": t.task, "weight": t.weight }))
            .collect();
        let notes = [&self.analysis.notes[..], &self.notes[..]].concat();
        let estimate = |(name, e, limited): (&str, Estimate, bool)| {
            json!({
                "name": name, "region": e.region, "estimated": e.estimated, "error": e.error(),
                "run": e.run, "run_error": e.run_error(), "limited": limited,
            })
        };
        let mut reduction = reduction(&self.report);
        let end = self.analysis.end.0;
        let kept = window.to.saturating_sub(window.from).0;
        reduction["time_ns"] = json!({ "whole": end, "kept": kept, "share": share(kept, end) });
        reduction["bursts"] = json!({ "share": window.share });
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "input": self.analysis.input,
            "trace": trace.display().to_string(),
            "period": null,
            "kept": {
                "from_ns": window.from.0, "to_ns": window.to.0, "first_iteration": window.first + 1,
                "iterations": window.n_iterations, "all_tasks": n_tasks(&self.analysis.table) == tasks.len(),
                "tasks": tasks, "cut_bursts": window.n_cut,
            },
            "reduction": reduction,
            "limits": { "keep": self.args.cutting.keep, "max_error": self.args.cutting.max_error },
            "within_limits": self.within_limits(),
            "error": window.error,
            "estimates": self.estimates().into_iter().map(estimate).collect::<Vec<_>>(),
            "notes": notes,
        })
    }

    /// Share of the computing time of all that the iterations hold, each burst
    /// with what of it is in them.
    fn computing_share(&self) -> f64 {
        let (from, to) = self.period.region();
        let table = &self.analysis.table;
        let inside = |i: usize| table.end(i).min(to).saturating_sub(table.begin[i].max(from)).0;
        (0..table.len()).map(inside).sum::<u64>() as f64 / table.computing_time().0.max(1) as f64
    }

    fn text(&self) -> String {
        let (period, window) = (self.period, &self.window);
        let (from, to) = period.region();
        let mut text = format!(
            "Period: {}, {} iterations from {from} to {to} of {}, confidence {:.2}; they hold {:.1}% of the computing time. What \
             is outside, {:.1}% of the run, is no part of the cut.\n{}",
            period.median(),
            period.n_iterations(),
            self.analysis.end,
            period.confidence,
            100.0 * self.computing_share(),
            100.0 * (1.0 - to.saturating_sub(from).0 as f64 / self.analysis.end.0.max(1) as f64),
            lengths_text(period)
        );
        let last = window.first + window.n_iterations;
        let iterations = match window.n_iterations {
            1 => format!("iteration {last}"),
            _ => format!("iterations {} to {last}", window.first + 1),
        };
        let all = n_tasks(&self.analysis.table);
        let tasks = if window.tasks.len() == all {
            format!("all tasks ({all})")
        } else {
            let names = window.tasks.iter().map(|t| format!("{}×{}", t.task, t.weight)).collect::<Vec<_>>();
            format!("{} of {all} tasks (task×weight: {})", window.tasks.len(), names.join(" "))
        };
        let _ = writeln!(text, "Cut: {iterations}, {} to {}, {tasks}.", window.from, window.to);
        text += &reduction_text(&self.report);
        text +=
            "Error of extrapolating from it, over the iterations (over the run, where the rest is known):\n";
        for (name, estimate, limited) in self.estimates() {
            let mark = if limited { "" } else { "  not limited" };
            let (error, run_error) = (100.0 * estimate.error(), 100.0 * estimate.run_error());
            let _ = writeln!(text, "  {name:20} {error:+8.3}%  ({run_error:+.3}%){mark}");
        }
        if !self.within_limits() {
            let _ = writeln!(
                text,
                "The limits (keep {}%, error {}%) are not both met: of what was tried, this comes nearest.",
                short(100.0 * self.args.cutting.keep),
                short(100.0 * self.args.cutting.max_error)
            );
        }
        text
    }
}

/// Iterations of different length, or that become longer: said of those that
/// differ by more than a tenth, which other runs of one program do.
fn lengths_text(period: &Period) -> String {
    let lengths = period.lengths();
    let (least, most) = (lengths.iter().min().copied(), lengths.iter().max().copied());
    let (Some(least), Some(most)) = (least, most) else { return String::new() };
    if most.0 as f64 <= 1.1 * period.median().0 as f64 && least.0 as f64 >= 0.9 * period.median().0 as f64 {
        return String::new();
    }
    let times: Vec<f64> = lengths.iter().map(|length| length.0 as f64).collect();
    let tenth = times.len().div_ceil(10);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (first, last) = (mean(&times[..tenth]), mean(&times[times.len() - tenth..]));
    let trend = spearman(&times).filter(|&r| is_significant(r, times.len()));
    let goes = match trend {
        Some(r) if r > 0.0 && last > 1.1 * first => "become longer",
        Some(r) if r < 0.0 && first > 1.1 * last => "become shorter",
        _ => return format!("Iterations take {least} to {most}; the period is their median.\n"),
    };
    format!(
        "Iterations {goes}, from {} to {} (means of the first and the last tenth); the period is their median.\n",
        Nanos(first as u64),
        Nanos(last as u64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Call {
        #[command(flatten)]
        args: CutArgs,
    }

    #[test]
    fn what_is_met_is_what_was_asked_for() {
        let call = Call::parse_from(["cut", "run.prv", "--keep", "5%", "--max-error", "2%"]);
        // Chosen by a lower limit on bursts, since records were too many.
        let window = |share, error| Window {
            from: Nanos(0),
            to: Nanos(1),
            first: 0,
            n_iterations: 1,
            tasks: Vec::new(),
            share,
            n_cut: 0,
            time: Estimate::default(),
            counters: Vec::new(),
            error,
            within_limits: false,
        };
        let meets = |share, error, records| meets(&call.args.cutting, &window(share, error), records);
        assert!(meets(0.04, 0.01, 0.05));
        assert!(!meets(0.06, 0.01, 0.05) && !meets(0.04, 0.03, 0.05) && !meets(0.04, 0.01, 0.06));
    }
}
