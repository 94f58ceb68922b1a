//! The last file of every result: what all have in common, and how long it took.

use crate::common::Common;
use crate::memory::peak_memory;
use crate::output::OutputDir;
use anyhow::Result;
use likewise_analysis::Stages;
use serde_json::{Map, Value};
use std::io::Write;

/// Adds to `summary` how long each stage took and how much memory the process
/// had at most, writes it under `name`, and puts all files in their places.
pub(crate) fn finish(
    mut out: OutputDir,
    name: &str,
    mut summary: Value,
    stages: &Stages,
    common: &Common,
) -> Result<Value> {
    for (stage, seconds) in for_people(stages) {
        common.tell(format_args!("{stage}: {seconds:.3} s"));
    }
    summary["timings"] = to_json(stages);
    summary["peak_memory_bytes"] = peak_memory().into();
    out.write(name, |file| Ok(writeln!(file, "{summary:#}")?))?;
    out.commit()?;
    Ok(summary)
}

/// The stages so far with their seconds, as people name them.
pub(crate) fn for_people(stages: &Stages) -> Vec<(String, f64)> {
    stages.iter().map(|(name, s)| (name.replace('_', "-"), s)).collect()
}

/// `{"read": 0.01, …}`, rounded to microseconds.
fn to_json(stages: &Stages) -> Value {
    let rounded = |s: f64| Value::from((s * 1e6).round() / 1e6);
    stages.iter().map(|(name, s)| (name.to_owned(), rounded(s))).collect::<Map<_, _>>().into()
}
