//! A grouping and its parameters, for programs.

use likewise_analysis::phases::{Grouped, Method};
use serde_json::{Value, json};

/// `parameters` of `summary.json`.
pub(crate) fn to_json(grouped: &Grouped) -> Value {
    let mut parameters = match grouped.method {
        Method::Dbscan => json!({
            "method": "dbscan", "eps": grouped.eps, "min_points": grouped.min_points,
            "eps_suggested": grouped.eps_is_suggested,
        }),
        Method::Xmeans => json!({
            "method": "xmeans", "bic": grouped.bic, "cut_short_at": grouped.ceiling,
        }),
        Method::Places => json!({ "method": "places" }),
        Method::Refine => json!({ "method": "refine", "min_points": grouped.min_points }),
    };
    if let Some((knee, rule)) = grouped.curve.as_ref().and_then(|curve| curve.knee) {
        parameters["eps_knee"] = json!(knee);
        parameters["eps_rule"] = json!(rule);
    }
    if let Some(n) = grouped.sampled {
        parameters["sample"] = json!(n);
    }
    parameters
}
