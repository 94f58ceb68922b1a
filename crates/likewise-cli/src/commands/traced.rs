//! `likewise ranks --traced`: what the ranks that were traced tell of all.

use crate::common::Common;
use crate::files::ranks::estimate::{COLUMNS, cells, figures};
use crate::finish::finish;
use crate::output::{OutputDir, csv_cell};
use crate::trace::say_notes;
use anyhow::Result;
use likewise::ranks::Estimate;
use likewise::words::{counted, level, short};
use likewise_analysis::Stages;
use likewise_analysis::ranks::traced::{Estimates, estimates};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Efforts of the traced ranks, the classes of all, and where the result goes.
pub(super) struct Call<'a> {
    pub(super) measured: &'a Path,
    /// The directory of the run that made the classes, or its `ranks.csv`.
    pub(super) plan: &'a Path,
    pub(super) dir: PathBuf,
    pub(super) confidence: f64,
}

pub(super) fn run(call: &Call<'_>, common: &Common) -> Result<()> {
    let mut stages = Stages::default();
    let path = if call.plan.is_dir() { call.plan.join("ranks.csv") } else { call.plan.to_owned() };
    let told = estimates(call.measured, &path, call.confidence, &mut stages)?;
    say_notes(&told.notes, common);
    let mut out = OutputDir::create(&call.dir, &[call.measured, &path], common)?;
    out.write("estimates.csv", |file| Ok(csv(&told, file)?))?;
    let summary = finish(out, "summary.json", summary(&told, call), &stages, common)?;
    common.print(&summary, || {
        format!("{}\nEstimates: {}\n", text(&told, call), call.dir.join("estimates.csv").display())
    })
}

/// A row per region and step: the mean of all ranks, and how sure it is.
fn csv(told: &Estimates, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "region,step,{COLUMNS}")?;
    for (j, e) in told.steps.iter().enumerate() {
        let (region, step) = (j / told.table.n_steps(), j % told.table.n_steps());
        writeln!(out, "{},{step},{}", csv_cell(&told.table.regions()[region].name), cells(e))?;
    }
    Ok(())
}

fn summary(told: &Estimates, call: &Call<'_>) -> Value {
    let class = |(c, &(ranks, traced)): (usize, &(usize, usize))| json!({ "class": c + 1, "ranks": ranks, "traced": traced });
    let region = |(region, e): (&likewise::ranks::EffortRegion, &Estimate)| {
        let mut told = figures(e);
        told["region"] = json!(region.name);
        told
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "input": call.measured.display().to_string(),
        "plan": call.plan.display().to_string(),
        "ranks": told.n_ranks,
        "traced": told.table.n_ranks(),
        "steps": told.table.n_steps(),
        "confidence": call.confidence,
        "classes": told.classes.iter().enumerate().map(class).collect::<Vec<_>>(),
        "effort": figures(&told.total),
        "notes": told.notes,
        "regions": told.table.regions().iter().zip(&told.regions).map(region).collect::<Vec<_>>(),
    })
}

fn text(told: &Estimates, call: &Call<'_>) -> String {
    let confidence = level(call.confidence);
    let interval = |e: &Estimate| match e.half_width.is_finite() {
        true => format!("{} ± {}", short(e.mean), short(e.half_width)),
        false => format!(
            "{} (how sure is not known: of a class of several ranks only one was traced)",
            short(e.mean)
        ),
    };
    let mut text = format!(
        "{} of {} were traced, in {}.\nMean effort of all ranks in {}: {} at {confidence} confidence.\n",
        told.table.n_ranks(),
        counted(told.n_ranks as u64, "rank"),
        if told.classes.len() == 1 {
            "1 class".to_owned()
        } else {
            format!("{} classes", told.classes.len())
        },
        counted(told.table.n_steps() as u64, "step"),
        interval(&told.total)
    );
    if told.regions.len() > 1 {
        for (region, e) in told.table.regions().iter().zip(&told.regions) {
            let _ = writeln!(text, "  {}: {}", region.name, interval(e));
        }
    }
    text
}
