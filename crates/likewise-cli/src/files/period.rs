//! The period of an analysed run, for programs.

use likewise_analysis::phases::Analysis;
use serde_json::{Value, json};

/// What `summary.json` and `cut.json` say of it.
pub(crate) fn to_json(analysis: &Analysis) -> Value {
    let sought_in = analysis.period.sought_in.word();
    match &analysis.period.found {
        Err(why) => json!({ "periodic": false, "sought_in": sought_in, "why": why.to_string() }),
        Ok(period) => {
            let (from, to) = period.region();
            json!({
                "periodic": true,
                "sought_in": sought_in,
                "period_ns": period.length().0,
                "median_ns": period.median().0,
                "shortest_ns": period.lengths().iter().min().map(|length| length.0),
                "longest_ns": period.lengths().iter().max().map(|length| length.0),
                "iterations": period.n_iterations(),
                "confidence": period.confidence,
                "work_share": period.coverage,
                "region_ns": [from.0, to.0],
                "first_phase": analysis.period.first_phase(analysis),
            })
        }
    }
}
