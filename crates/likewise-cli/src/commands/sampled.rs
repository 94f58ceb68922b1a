//! A recording by strata: `likewise ranks` says what the sampled ranks tell of
//! all, `likewise info` how it was made.

use super::online;
use crate::common::{Common, Usage};
use crate::files::ranks::sampled as files;
use crate::finish::finish;
use crate::launch::child::Ended;
use crate::output::OutputDir;
use crate::recordings::Summary;
use crate::trace::say_notes;
use anyhow::{Context, Result, anyhow};
use likewise::words::{counted, grouped_digits, short};
use likewise_analysis::Stages;
use likewise_analysis::ranks::sampled::{SampledRun, sampled_run};
use likewise_recording::Recording;
use likewise_report::sampled as report;
use likewise_trace::recording::RegionNames;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// At this confidence, where none is asked for.
const CONFIDENCE: f64 = 0.95;

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
    stages.time("name", || name(&mut run, &RegionNames::of(&recording)));
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

/// Names regions by the functions that compute there; those that would have the
/// same name keep their call paths too.
fn name(run: &mut SampledRun, names: &RegionNames) {
    let old = run.regions.iter().map(|region| region.name.clone());
    let named: BTreeMap<String, String> = old.map(|old| (old.clone(), names.named(&old))).collect();
    let mut uses: BTreeMap<&str, u32> = BTreeMap::new();
    named.values().for_each(|name| *uses.entry(name).or_default() += 1);
    let new = |old: &str| match named.get(old) {
        Some(name) if uses[name.as_str()] == 1 => name.clone(),
        Some(name) if name != old => format!("{name} ({old})"),
        _ => old.to_owned(),
    };
    let of_windows = run.windows.iter_mut().flat_map(|told| &mut told.window.regions);
    let all = of_windows.map(|region| &mut region.name);
    all.chain(run.regions.iter_mut().map(|region| &mut region.name)).for_each(|name| *name = new(name));
}

/// `likewise info`.
pub(super) fn info(path: &Path, output: Option<&Path>, common: &Common) -> Result<()> {
    if output.is_some() {
        let text = "effort of sampled ranks has its report from `likewise ranks`; leave -o out here";
        return Err(Usage(text.to_owned()).into());
    }
    let dir = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let summary = Summary::of(dir)?.with_context(|| format!("{}: no recording", path.display()))?;
    let recording = Recording::open(path).map_err(|error| anyhow!("{error}"))?;
    let run = sampled_run(recording.strata(), CONFIDENCE).with_context(|| path.display().to_string())?;
    let complete = recording.incomplete().is_none();
    let mut json = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "file": path.display().to_string(),
        "format": "recording",
        "ranks": 0,
        "size": run.n_ranks,
        "events": 0,
        "bytes": summary.bytes,
        "complete": complete,
    });
    figures(&run).into_iter().for_each(|(name, value)| json[name] = value);
    online::to_json(&recording).into_iter().for_each(|(name, value)| json[name] = value);
    common.print(&json, || {
        let mut out = String::new();
        let mut row = |title: &str, value: String| {
            let _ = writeln!(out, "{title:<16}{value}");
        };
        row("File", path.display().to_string());
        row("Format", format!("recording{}", if complete { "" } else { ", not complete" }));
        row("Ranks", grouped_digits(run.n_ranks));
        row("Recorded", recorded(&run));
        row("Bytes", grouped_digits(summary.bytes));
        online::rows(&recording).into_iter().for_each(|(title, value)| row(title, value));
        let notes = recording.log().into_iter().flat_map(|log| &log.notes);
        notes.for_each(|note| out.push_str(&format!("\nNote: {note}\n")));
        out.push_str("\n`likewise ranks` estimates the mean effort of all ranks from it.\n");
        out
    })
}

/// What there is, in words.
fn recorded(run: &SampledRun) -> String {
    format!(
        "effort in {} of {}, on {} ranks in the mean",
        counted(run.n_steps, "step"),
        counted(run.windows.len() as u64, "window"),
        short(run.sampled())
    )
}

fn figures(run: &SampledRun) -> [(&'static str, Value); 3] {
    [
        ("steps", run.n_steps.into()),
        ("windows", run.windows.len().into()),
        ("sampled_ranks", run.sampled().into()),
    ]
}

/// What `likewise record` says in the end.
pub(super) fn told(summary: &Summary, dir: &Path, ended: &Ended) -> Result<String> {
    let run = sampled_run(summary.recording.strata(), CONFIDENCE)?;
    Ok(format!(
        "Recorded {}, of {}.\n{} in {}. The run took {} s.",
        recorded(&run),
        counted(run.n_ranks, "rank"),
        counted(summary.bytes, "byte"),
        dir.display(),
        short(ended.wall.as_secs_f64()),
    ))
}
