//! What commands on a trace have in common.

use crate::common::Common;
use crate::output::OutputDir;
use anyhow::Result;
use likewise_analysis::Stages;
use likewise_analysis::phases::{Analysis, Options, phases_of};
use std::path::{Path, PathBuf};

/// From the trace to its phases, in memory; says what is to be known of them.
pub(crate) fn analysed(trace: &Path, options: &Options, common: &Common) -> Result<(Analysis, Stages)> {
    let mut stages = Stages::default();
    let analysis = phases_of(trace, options, &mut stages, common)?;
    say_notes(&analysis.notes, common);
    Ok((analysis, stages))
}

pub(crate) fn say_notes(notes: &[String], common: &Common) {
    notes.iter().for_each(|note| common.say(format_args!("note: {note}")));
}

/// `run.prv.gz` gives `run`.
pub(crate) fn stem(trace: &Path) -> String {
    let name = trace.file_name().map_or_else(|| "trace".into(), |name| name.to_string_lossy());
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = stem.strip_suffix(".prv").or_else(|| stem.strip_suffix(".csv")).unwrap_or(stem);
    if stem == "-" { "stdin".to_owned() } else { stem.to_owned() }
}

/// Makes `dir`, in which neither the trace nor what may belong to it is
/// replaced, nor any of `others` that options name.
pub(crate) fn output_dir<'a>(
    dir: &Path,
    trace: &Path,
    others: impl IntoIterator<Item = &'a PathBuf>,
    common: &Common,
) -> Result<OutputDir> {
    let beside = ["pcf", "row"].map(|ending| trace.with_extension("").with_extension(ending));
    let plain = ["pcf", "row"].map(|ending| trace.with_extension(ending));
    Ok(OutputDir::create(dir, &[trace], common)?
        .protecting(beside.into_iter().chain(plain).chain(others.into_iter().cloned())))
}
