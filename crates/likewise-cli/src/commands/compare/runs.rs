//! Several runs of one program: which phase scales how.

use super::{RunsArgs, ScalingArg};
use crate::cli::Common;
use crate::commands::bursts::{BurstsArgs, MetricArgs, ReadingArgs, RefiningArgs, analyse_trace};
use crate::grouping::GroupingArgs;
use crate::output::OutputDir;
use crate::period;
use crate::report_runs;
use crate::runs::{self, Analysed, Comparison, Settings};
use crate::stages::{Stages, peak_memory};
use anyhow::Result;
use clap::Parser;
use likewise::bursts::scaling::Scaling;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The options of `likewise bursts` that say how to analyse: what and where to
/// write does not apply.
#[derive(Parser)]
#[command(name = "likewise compare FILE FILE --", no_binary_name = true, disable_version_flag = true)]
struct BurstsCall {
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    metrics: MetricArgs,
    #[command(flatten)]
    grouping: GroupingArgs,
    #[command(flatten)]
    refining: RefiningArgs,
}

/// The directory for the result, unless another is given.
const OUTPUT: &str = "compare.likewise";

pub(super) fn run(files: &[PathBuf], args: &RunsArgs, common: &Common) -> Result<()> {
    let BurstsCall { reading, metrics, grouping, refining } = BurstsCall::try_parse_from(&args.bursts)?;
    let call = |file: &PathBuf| {
        let (reading, metrics) = (reading.clone(), metrics.clone());
        BurstsArgs::without_files(file.clone(), reading, metrics, grouping.clone(), refining)
    };
    let calls: Vec<BurstsArgs> = files.iter().map(call).collect();
    let dir = args.output.as_deref().unwrap_or(Path::new(OUTPUT));
    let inputs: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    OutputDir::check(dir, &inputs, common)?;
    let mut analysed = Vec::with_capacity(files.len());
    let mut stages = Stages::default();
    for (call, name) in calls.iter().zip(runs::names(files)) {
        let (analysis, of_run) = analyse_trace(call, &common.quieter())?;
        stages.add_all(of_run);
        let _bar = common.progress().spinner("Finding the period");
        let period = stages.time("period", || period::find(&analysis));
        analysed.push(Analysed { name, analysis, period });
    }
    let settings = Settings {
        scaling: match args.scaling {
            None | Some(ScalingArg::Auto) => None,
            Some(ScalingArg::Strong) => Some(Scaling::Strong),
            Some(ScalingArg::Weak) => Some(Scaling::Weak),
        },
        threshold: args.threshold,
        total: args.total,
    };
    let comparison = {
        let _bar = common.progress().spinner("Matching");
        Comparison::of(analysed, settings, &mut stages)
    };
    for note in &comparison.notes {
        common.say(format_args!("note: {note}"));
    }
    let mut summary = runs::json::summary(&comparison);
    summary["timings"] = stages.to_json();
    summary["peak_memory_bytes"] = peak_memory().into();
    stages.tell(common);
    let mut out = OutputDir::create(dir, &inputs, common)?;
    out.write("scaling.csv", |file| Ok(runs::csv::write(&comparison, file)?))?;
    out.write("report.html", |file| Ok(report_runs::write_html(&comparison, file)?))?;
    out.write("summary.json", |file| Ok(writeln!(file, "{summary:#}")?))?;
    out.commit()?;
    common.print(&summary, || {
        let (width, colour) = common.terminal();
        let table = runs::text::table(&comparison, width, colour);
        format!("{table}\nReport: {}\n", dir.join("report.html").display())
    })
}
