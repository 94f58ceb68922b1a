//! The period of an analysed run, for programs and people.

use crate::analysis::Analysis;
use likewise::bursts::{NotPeriodic, Period, find_period};
use likewise::cluster::ClusterId;
use serde_json::{Value, json};

/// The phase of every burst; noise and filtered ones have none.
pub(crate) fn phases(analysis: &Analysis) -> Vec<Option<ClusterId>> {
    let mut phases = vec![None; analysis.table.len()];
    for (&burst, &label) in analysis.prepared.complete.iter().zip(&analysis.grouped.clustering.labels) {
        phases[burst as usize] = label;
    }
    phases
}

/// What `summary.json` and `cut.json` say of it.
pub(crate) fn to_json(found: &Result<Period, NotPeriodic>) -> Value {
    match found {
        Err(why) => json!({ "periodic": false, "why": why.to_string() }),
        Ok(period) => {
            let (from, to) = period.region();
            json!({
                "periodic": true,
                "period_ns": period.length().0,
                "iterations": period.n_iterations(),
                "confidence": period.confidence,
                "work_share": period.coverage,
                "region_ns": [from.0, to.0],
                "first_phase": period.anchor.number(),
            })
        }
    }
}

pub(crate) fn summary(analysis: &Analysis) -> Value {
    to_json(&find_period(&analysis.table, &phases(analysis)))
}
