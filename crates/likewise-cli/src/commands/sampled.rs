//! `likewise ranks` of a recording by strata: what the sampled ranks tell of
//! all.

use crate::common::Common;
use crate::files::ranks::sampled as files;
use crate::finish::finish;
use crate::output::OutputDir;
use crate::trace::say_notes;
use anyhow::{Context, Result, anyhow};
use likewise_analysis::Stages;
use likewise_analysis::ranks::sampled::sampled_run;
use likewise_recording::Recording;
use likewise_report::sampled as report;
use std::path::{Path, PathBuf};

/// The recording, and where the result goes.
pub(super) struct Call<'a> {
    pub(super) input: &'a Path,
    pub(super) dir: PathBuf,
    pub(super) confidence: f64,
}

/// What a recording by strata holds; nothing of any other input.
pub(super) fn blocks(input: &Path) -> Vec<Vec<u8>> {
    let is_recording = input.is_dir() || likewise_trace::recording::is_recording(input);
    match Recording::strata_of(input) {
        Ok(blocks) if is_recording => blocks,
        // Who reads the events says better what is wrong.
        _ => Vec::new(),
    }
}

pub(super) fn run(call: &Call<'_>, blocks: &[Vec<u8>], common: &Common) -> Result<()> {
    let mut stages = Stages::default();
    let input = call.input.display().to_string();
    let mut run =
        stages.time("estimate", || sampled_run(blocks, call.confidence)).with_context(|| input.clone())?;
    let recording = Recording::open(call.input).map_err(|error| anyhow!("{error}"))?;
    run.notes.extend(recording.incomplete().map(str::to_owned));
    run.notes.extend(recording.log().into_iter().flat_map(|log| log.notes.clone()));
    let mut out = OutputDir::create(&call.dir, &[call.input], common)?;
    stages.time("write", || -> Result<()> {
        out.write("trace.csv", |file| Ok(files::trace(&run, file)?))?;
        out.write("estimates.csv", |file| Ok(files::estimates(&run, file)?))?;
        out.write("windows.csv", |file| Ok(files::windows(&run, file)?))?;
        out.write("strata.csv", |file| Ok(files::strata(&run, file)?))?;
        out.write("efforts.csv", |file| Ok(files::efforts(&run, file)?))?;
        out.write("report.html", |file| Ok(report::write_html(&input, &run, file)?))
    })?;
    let summary = files::summary(&input, &run);
    let summary = finish(out, "summary.json", summary, &stages, common)?;
    say_notes(&run.notes, common);
    common.print(&summary, || {
        format!("{}\nReport: {}\n", report::text(&run), call.dir.join("report.html").display())
    })
}
