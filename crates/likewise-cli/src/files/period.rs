//! The period of an analysed run, for programs.

use likewise::table::Nanos;
use likewise_analysis::phases::Analysis;
use serde_json::{Value, json};

/// What `summary.json` and `cut.json` say of it.
pub(crate) fn to_json(analysis: &Analysis) -> Value {
    let sought_in = analysis.period.sought_in.word();
    match &analysis.period.found {
        Err(why) => json!({ "periodic": false, "sought_in": sought_in, "why": why.to_string() }),
        Ok(period) => {
            let (from, to) = period.region();
            // Of drawn times no iteration's length is known.
            let known =
                |length: Option<Nanos>| length.filter(|_| !analysis.drawn_times).map(|length| length.0);
            json!({
                "periodic": true,
                "sought_in": sought_in,
                "period_ns": period.length().0,
                "median_ns": known(Some(period.median())),
                "shortest_ns": known(period.lengths().iter().min().copied()),
                "longest_ns": known(period.lengths().iter().max().copied()),
                "iterations": period.n_iterations(),
                "confidence": period.confidence,
                "work_share": period.coverage,
                "region_ns": [from.0, to.0],
                "first_phase": analysis.period.first_phase(analysis),
            })
        }
    }
}
