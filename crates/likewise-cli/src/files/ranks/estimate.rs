//! Estimates in files: mean, standard error and interval.

use likewise::ranks::Estimate;
use serde_json::{Value, json};

/// The columns of [`cells`].
pub(crate) const COLUMNS: &str = "mean,standard_error,low,high,freedom";

/// As cells of a CSV; what is not known is empty.
pub(crate) fn cells(e: &Estimate) -> String {
    let cell = |x: f64| if x.is_finite() { x.to_string() } else { String::new() };
    [e.mean, e.standard_error, e.mean - e.half_width, e.mean + e.half_width, e.freedom].map(cell).join(",")
}

/// As JSON; what is not known is null.
pub(crate) fn figures(e: &Estimate) -> Value {
    json!({
        "mean": e.mean,
        "standard_error": e.standard_error,
        "low": e.mean - e.half_width,
        "high": e.mean + e.half_width,
        "freedom": e.freedom,
    })
}
