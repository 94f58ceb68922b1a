//! Several runs of one program: which phase scales how.

use super::{RunsArgs, ScalingArg};
use crate::args::options_of_runs;
use crate::common::Common;
use crate::files::runs;
use crate::finish::finish;
use crate::output::OutputDir;
use crate::trace::say_notes;
use anyhow::Result;
use likewise::bursts::scaling::Scaling;
use likewise_analysis::Stages;
use likewise_analysis::runs::{Settings, compare};
use likewise_report::runs as report;
use std::path::{Path, PathBuf};

/// The directory for the result, unless another is given.
const OUTPUT: &str = "compare.likewise";

pub(super) fn run(files: &[PathBuf], args: &RunsArgs, common: &Common) -> Result<()> {
    let options = options_of_runs(&args.bursts)?;
    let dir = args.output.as_deref().unwrap_or(Path::new(OUTPUT));
    let inputs: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    OutputDir::check(dir, &inputs, common)?;
    let settings = Settings {
        scaling: match args.scaling {
            None | Some(ScalingArg::Auto) => None,
            Some(ScalingArg::Strong) => Some(Scaling::Strong),
            Some(ScalingArg::Weak) => Some(Scaling::Weak),
        },
        threshold: args.threshold,
        total: args.total,
    };
    let mut stages = Stages::default();
    let comparison = compare(files, &options, settings, &mut stages, common)?;
    say_notes(&comparison.notes, common);
    let mut out = OutputDir::create(dir, &inputs, common)?;
    stages.time("write", || {
        out.write("scaling.csv", |file| Ok(runs::csv::write(&comparison, file)?))?;
        out.write("report.html", |file| Ok(report::write_html(&comparison, file)?))
    })?;
    let summary = finish(out, "summary.json", runs::json::summary(&comparison), &stages, common)?;
    common.print(&summary, || {
        let (width, colour) = common.terminal();
        let table = report::table(&comparison, width, colour);
        format!("{table}\nReport: {}\n", dir.join("report.html").display())
    })
}
