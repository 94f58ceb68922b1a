//! How alike the tasks' sequences are, for programs.

use likewise::bursts::{Alignment, SpmdScore};
use serde_json::{Value, json};

/// `spmd` of `summary.json`.
pub(crate) fn to_json(alignment: &Alignment, score: &SpmdScore) -> Value {
    json!({
        "score": score.score,
        "columns": score.n_columns,
        "sequences": alignment.sequence_of.len(),
        "distinct_sequences": alignment.sequences.len(),
        "windows": alignment.n_windows,
        "per_cluster": score.per_cluster,
    })
}
