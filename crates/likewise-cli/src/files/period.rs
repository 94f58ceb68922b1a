//! The period of an analysed run, for programs.

use likewise::table::Nanos;
use likewise_analysis::phases::FoundPeriod;
use serde_json::{Value, json};

/// What `summary.json` and `cut.json` say of it; `drawn` says that durations were drawn, and `origin`
/// what is to be added to times for those of the input.
pub(crate) fn to_json(period: &FoundPeriod, drawn: bool, origin: Nanos) -> Value {
    let sought_in = period.sought_in.word();
    let first_phase = period.first_phase;
    match &period.found {
        Err(why) => json!({ "periodic": false, "sought_in": sought_in, "why": why.to_string() }),
        Ok(period) => {
            let (from, to) = period.region();
            let region = [from, to].map(|time| time.saturating_add(origin).0);
            // Of drawn times no iteration's length is known.
            let known = |length: Option<Nanos>| length.filter(|_| !drawn).map(|length| length.0);
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
                "region_ns": region,
                "first_phase": first_phase,
            })
        }
    }
}
