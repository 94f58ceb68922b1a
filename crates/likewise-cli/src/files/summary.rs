//! `summary.json`: the analysis for programs.

use crate::analysis::Analysis;
use crate::findings;
use crate::label::FILTERED_THRESHOLD;
use crate::stages::{Stages, peak_memory};
use likewise::table::BurstClass;
use serde_json::{Value, json};

pub(crate) fn summary(analysis: &Analysis, stages: &Stages) -> Value {
    let prepared = &analysis.prepared;
    let metrics: Vec<Value> = analysis
        .metrics
        .iter()
        .map(|m| {
            json!({
                "name": m.name, "expression": m.expr.to_string(), "log": m.log,
                "factor": m.factor, "min": m.min, "max": m.max,
            })
        })
        .collect();
    let mut parameters = analysis.grouped.to_json();
    if let Some(refinement) = &analysis.grouped.refinement {
        parameters["radii"] = refinement.levels.iter().map(|level| level.eps).collect();
    }
    parameters["metrics"] = metrics.into();
    if let (Some(parameters), Some(settings)) = (parameters.as_object_mut(), analysis.settings.as_object()) {
        parameters.extend(settings.clone());
    }
    parameters["min_duration_ns"] = prepared.min_duration.0.into();
    if let Some(pca) = &prepared.pca {
        parameters["pca_explained_variance"] = json!(pca.explained);
        parameters["pca_loadings"] = json!(pca.loadings());
    }
    let class = |class| prepared.count(class);
    let shares: Vec<f64> =
        analysis.stats.iter().filter(|phase| phase.cluster.is_some()).map(|phase| phase.share).collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "input": analysis.input,
        "parameters": parameters,
        "columns": analysis.columns,
        "bursts": analysis.table.len(),
        "clustered": prepared.complete.len(),
        "filtered_duration": class(BurstClass::FilteredDuration),
        "filtered_range": class(BurstClass::FilteredRange),
        "filtered_threshold": analysis.labels.iter().filter(|&&label| label == FILTERED_THRESHOLD).count(),
        "missing": class(BurstClass::Missing),
        "clusters": analysis.grouped.clustering.n_clusters,
        "noise": analysis.stats.last().map_or(0, |noise| noise.instances),
        "noise_share": analysis.noise_share(),
        "noise_share_of_clustered": analysis.stats.last().map_or(0.0, |noise| noise.share_of_complete),
        "cluster_shares": shares,
        "computing_time_ns": analysis.table.computing_time().0,
        "trace_end_ns": analysis.end.0,
        "tasks": distinct_tasks(analysis),
        "counters": analysis.table.counters.iter().map(|c| c.counter.name.as_str()).collect::<Vec<_>>(),
        "rates": analysis.figures.rates_json(),
        "serial": analysis.figures.serial_json(),
        "extrapolated": analysis.figures.extrapolated_json(&analysis.table, &analysis.stats),
        "extrapolation_check": analysis.extrapolation_check,
        "findings": findings::to_json(analysis),
        "notes": analysis.notes,
        "spmd": analysis.structure.spmd_json(),
        "silhouette": analysis.structure.silhouette.as_ref().map(|s| s.mean),
        "alternatives": analysis.alternatives(),
        "truth": analysis.truth,
        "timings": stages.to_json(),
        "peak_memory_bytes": peak_memory(),
    })
}

/// Rows are ordered by task, so a new task is a change.
fn distinct_tasks(analysis: &Analysis) -> usize {
    let table = &analysis.table;
    let task = |i: usize| (table.app[i], table.task[i]);
    (0..table.len()).filter(|&i| i == 0 || task(i) != task(i - 1)).count()
}
