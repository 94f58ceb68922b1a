//! The files of a recording by strata.

use super::estimate::{COLUMNS, cells, figures};
use crate::output::csv_cell;
use likewise_analysis::ranks::sampled::{SampledRegion, SampledRun, SampledWindow};
use likewise_recording::Choice;
use serde_json::{Value, json};
use std::io::{self, Write};

fn choice(choice: Choice) -> &'static str {
    match choice {
        Choice::Stratified => "stratified",
        Choice::Alike => "alike",
        Choice::DoesNotPay => "does-not-pay",
        Choice::TakesMore => "takes-more",
    }
}

/// A row per step: the mean effort of a rank.
pub(crate) fn trace(run: &SampledRun, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "step,window,{COLUMNS},all_ranks")?;
    for (number, window) in (1..).zip(&run.windows) {
        let steps = (window.window.first_step..).zip(&window.trace).zip(window.truth());
        for ((step, e), truth) in steps {
            writeln!(out, "{step},{number},{},{truth}", cells(e))?;
        }
    }
    Ok(())
}

/// The names of the regions of a window, the last one of all others.
fn names(run: &SampledRun, window: &SampledWindow) -> Vec<String> {
    let regions = window.window.regions.iter().map(|region| run.name(region.id));
    regions.chain(["other regions".to_owned()]).map(|name| csv_cell(&name).to_string()).collect()
}

/// A row per region and step.
pub(crate) fn estimates(run: &SampledRun, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "region,step,{COLUMNS}")?;
    for window in &run.windows {
        for (name, steps) in names(run, window).iter().zip(&window.regions) {
            for (step, e) in (window.window.first_step..).zip(steps) {
                writeln!(out, "{name},{step},{}", cells(e))?;
            }
        }
    }
    Ok(())
}

/// A row per window.
pub(crate) fn windows(run: &SampledRun, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "window,first_step,steps,strata,sampled,choice,redrawn,promised_error,confidence,expected_error,between,within,\
         {COLUMNS},all_ranks"
    )?;
    for (number, told) in (1..).zip(&run.windows) {
        let w = &told.window;
        writeln!(
            out,
            "{number},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            w.first_step,
            w.n_steps,
            told.strata.len(),
            w.sampled.len(),
            choice(w.choice),
            u8::from(w.is_redrawn),
            w.error,
            w.confidence,
            w.expected_error,
            w.equation2.0 / 1e18,
            w.equation2.1 / 1e18,
            cells(&told.total),
            told.truth().sum::<f64>()
        )?;
    }
    Ok(())
}

/// A row per window and run of ranks in one stratum.
pub(crate) fn strata(run: &SampledRun, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "window,first_rank,last_rank,stratum")?;
    for (number, told) in (1..).zip(&run.windows) {
        let mut first = 0;
        for (stratum, n) in &told.window.strata {
            writeln!(out, "{number},{first},{},{}", first + n - 1, stratum + 1)?;
            first += n;
        }
    }
    Ok(())
}

/// A row per sampled rank, step and region: what was measured.
pub(crate) fn efforts(run: &SampledRun, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "rank,step,region,effort")?;
    for told in &run.windows {
        let names = names(run, told);
        for sampled in &told.window.sampled {
            let rows = sampled.effort.chunks_exact(names.len());
            for (step, row) in (told.window.first_step..).zip(rows) {
                for (name, ns) in names.iter().zip(row) {
                    writeln!(out, "{},{step},{name},{}", sampled.rank, *ns as f64 / 1e9)?;
                }
            }
        }
    }
    Ok(())
}

/// Without timings, which only the caller knows.
pub(crate) fn summary(input: &str, run: &SampledRun) -> Value {
    let region = |region: &SampledRegion| {
        let mut told = figures(&region.effort);
        told["region"] = json!(region.name);
        told["steps"] = json!(region.n_steps);
        told
    };
    let window = |told: &SampledWindow| {
        json!({
            "first_step": told.window.first_step,
            "steps": told.window.n_steps,
            "choice": choice(told.window.choice),
            "redrawn": told.window.is_redrawn,
            "promised_error": told.window.error,
            "expected_error": told.window.expected_error,
            "strata": told.strata.iter().map(|(n, sampled)| json!({ "ranks": n, "sampled": sampled })).collect::<Vec<_>>(),
            "effort": figures(&told.total),
            "all_ranks": told.truth().sum::<f64>(),
        })
    };
    let (covered, steps) = run.covered();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "input": input,
        "ranks": run.n_ranks,
        "steps": steps,
        "unit": "s",
        "confidence": run.confidence,
        "sampled_ranks": run.sampled(),
        "sampled_share": run.sampled() / run.n_ranks as f64,
        "effort": figures(&run.total),
        "all_ranks": run.whole,
        "steps_within_interval": covered,
        "regions": run.regions.iter().chain(&run.others).map(region).collect::<Vec<_>>(),
        "windows": run.windows.iter().map(window).collect::<Vec<_>>(),
        "notes": run.notes,
    })
}
