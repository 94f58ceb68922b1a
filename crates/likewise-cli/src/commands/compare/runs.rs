//! Several runs of one program: which phase scales how.

use super::{RunsArgs, ScalingArg};
use crate::cli::Common;
use crate::commands::bursts::{BurstsArgs, analyse_trace};
use crate::output::OutputDir;
use crate::report_runs;
use crate::runs::{self, Analysed, Comparison, Settings};
use anyhow::Result;
use clap::Parser;
use likewise::bursts::scaling::Scaling;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// `likewise bursts` as a user would call it.
#[derive(Parser)]
#[command(name = "likewise compare FILE FILE --", no_binary_name = true)]
struct BurstsCall {
    #[command(flatten)]
    args: BurstsArgs,
}

pub(super) fn run(files: &[PathBuf], args: &RunsArgs, common: &Common) -> Result<()> {
    let call = |file: &PathBuf| {
        let words: Vec<OsString> = args.bursts.iter().cloned().chain([file.into()]).collect();
        BurstsCall::try_parse_from(words).unwrap_or_else(|error| error.exit()).args
    };
    let calls: Vec<BurstsArgs> = files.iter().map(call).collect();
    let mut analysed = Vec::with_capacity(files.len());
    for (call, name) in calls.iter().zip(runs::names(files)) {
        let (analysis, _) = analyse_trace(call, &common.quieter())?;
        analysed.push(Analysed { name, analysis });
    }
    let settings = Settings {
        scaling: match args.scaling {
            ScalingArg::Auto => None,
            ScalingArg::Strong => Some(Scaling::Strong),
            ScalingArg::Weak => Some(Scaling::Weak),
        },
        threshold: args.threshold,
    };
    let comparison = {
        let _bar = common.progress().spinner("Matching");
        Comparison::of(analysed, settings)
    };
    for note in &comparison.notes {
        common.say(format_args!("note: {note}"));
    }
    let summary = runs::json::summary(&comparison);
    let inputs: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let mut out = OutputDir::create(&args.output, &inputs)?;
    out.write("scaling.csv", |file| Ok(runs::csv::write(&comparison, file)?))?;
    out.write("report.html", |file| Ok(report_runs::write_html(&comparison, file)?))?;
    out.write("summary.json", |file| Ok(writeln!(file, "{summary:#}")?))?;
    out.commit()?;
    common.print(&summary, || {
        let (width, colour) = common.terminal();
        let table = runs::text::table(&comparison, width, colour);
        format!("{table}\nReport: {}\n", args.output.join("report.html").display())
    })
}
