//! Several runs of one program: which phase scales how.

use super::{RunsArgs, ScalingArg};
use crate::args::options_of_runs;
use crate::common::Common;
use crate::finish::finish;
use crate::output::OutputDir;
use crate::report_runs;
use crate::runs::{self, Analysed, Comparison, Settings};
use crate::trace::analysed;
use anyhow::Result;
use likewise::bursts::scaling::Scaling;
use likewise_analysis::Stages;
use std::path::{Path, PathBuf};

/// The directory for the result, unless another is given.
const OUTPUT: &str = "compare.likewise";

pub(super) fn run(files: &[PathBuf], args: &RunsArgs, common: &Common) -> Result<()> {
    let options = options_of_runs(&args.bursts)?;
    let dir = args.output.as_deref().unwrap_or(Path::new(OUTPUT));
    let inputs: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    OutputDir::check(dir, &inputs, common)?;
    let mut runs = Vec::with_capacity(files.len());
    let mut stages = Stages::default();
    for (file, name) in files.iter().zip(runs::names(files)) {
        let (analysis, of_run) = analysed(file, &options, &common.quieter())?;
        stages.add_all(of_run);
        runs.push(Analysed { name, analysis });
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
        let _bar = common.spinner("Matching");
        Comparison::of(runs, settings, &mut stages)
    };
    for note in &comparison.notes {
        common.say(format_args!("note: {note}"));
    }
    let mut out = OutputDir::create(dir, &inputs, common)?;
    out.write("scaling.csv", |file| Ok(runs::csv::write(&comparison, file)?))?;
    out.write("report.html", |file| Ok(report_runs::write_html(&comparison, file)?))?;
    let summary = finish(out, "summary.json", runs::json::summary(&comparison), &stages, common)?;
    common.print(&summary, || {
        let (width, colour) = common.terminal();
        let table = runs::text::table(&comparison, width, colour);
        format!("{table}\nReport: {}\n", dir.join("report.html").display())
    })
}
