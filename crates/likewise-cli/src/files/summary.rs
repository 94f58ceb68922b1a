//! `summary.json`: the analysis for programs.

use super::{findings, grouped, period, spmd};
use crate::taken;
use likewise::bursts::{BurstLabel, Estimator, Extrapolated, HeldOut, Rate, Scope, SerialPhase};
use likewise::table::{BurstClass, Nanos};
use likewise_analysis::phases::{Analysis, ExtrapolationCheck, FoundPeriod, Labelled, NOTEWORTHY};
use likewise_trace::Streams;
use serde_json::{Value, json};

/// All but how long it took; `truth` is how alike the phases are to the truth,
/// where that is known. Another process may have found the period.
pub(crate) fn summary(analysis: &Analysis, period: &FoundPeriod, truth: Option<Value>) -> Value {
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
    let mut parameters = grouped::to_json(&analysis.grouped);
    if let Some(refinement) = &analysis.grouped.refinement {
        parameters["radii"] = refinement.levels.iter().map(|level| level.eps).collect();
    }
    parameters["metrics"] = metrics.into();
    if let (Some(parameters), Some(settings)) = (parameters.as_object_mut(), settings(analysis).as_object()) {
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
        "columns": analysis.columns.as_ref().map(taken::to_json),
        "bursts": analysis.table.len(),
        "clustered": prepared.complete.len(),
        "filtered_duration": class(BurstClass::FilteredDuration),
        "filtered_range": class(BurstClass::FilteredRange),
        "filtered_threshold": analysis.labels.iter().filter(|&&label| label == BurstLabel::FilteredThreshold).count(),
        "missing": class(BurstClass::Missing),
        "clusters": analysis.grouped.clustering.n_clusters,
        "noise": analysis.stats.last().map_or(0, |noise| noise.instances),
        "noise_share": analysis.noise_share(),
        "noise_share_of_clustered": analysis.stats.last().map_or(0.0, |noise| noise.share_of_complete),
        "cluster_shares": shares,
        "computing_time_ns": analysis.table.computing_time().0,
        "trace_begin_ns": analysis.begin.saturating_add(analysis.origin).0,
        "trace_end_ns": analysis.end.saturating_add(analysis.origin).0,
        "tasks": distinct_tasks(analysis),
        "streams": analysis.streams.as_ref().map(streams),
        "counters": analysis.table.counters.iter().map(|c| c.counter.name.as_str()).collect::<Vec<_>>(),
        "rates": rates(analysis),
        "serial": serial(analysis),
        "extrapolated": extrapolated(analysis),
        "extrapolation_check": analysis.extrapolation_check.as_ref().map(|check| extrapolation_check(check, analysis)),
        "looked_at": looked_at(analysis),
        "findings": findings::to_json(analysis),
        "notes": analysis.notes,
        "spmd": analysis.structure.spmd.as_ref().map(|(alignment, score)| spmd::to_json(alignment, score)),
        "silhouette": analysis.silhouette.as_ref().map(|s| s.mean),
        "alternatives": analysis.alternatives(),
        "truth": truth,
        "period": period::to_json(period, analysis.drawn_times, analysis.origin),
    })
}

/// The part of the run that findings are of, where it is not the whole.
fn looked_at(analysis: &Analysis) -> Option<Value> {
    let of_file = |time: Nanos| time.saturating_add(analysis.origin).0;
    let part = analysis.traced.part.as_ref()?;
    Some(json!({ "begin_ns": of_file(part.start), "end_ns": of_file(part.end) }))
}

/// Rows are ordered by task, so a new task is a change.
fn distinct_tasks(analysis: &Analysis) -> usize {
    analysis.table.tasks().count()
}

/// Threads of the trace that are streams of accelerators.
fn streams(streams: &Streams) -> Value {
    let Streams { count, name, time, least, most, with_counters, kernels, are_read } = streams;
    let of_task = |(task, time): &(u32, Nanos)| json!({ "task": task, "busy_ns": time.0 });
    json!({
        "count": count,
        "first": name,
        "busy_ns": time.map(|time| time.0),
        "least": least.as_ref().map(of_task),
        "most": most.as_ref().map(of_task),
        "with_counters": with_counters,
        "kernel_events": kernels,
        "read": are_read,
    })
}

/// What was asked for beside the grouping.
fn settings(analysis: &Analysis) -> Value {
    let settings = &analysis.settings;
    json!({
        "scale": format!("{:?}", settings.scale),
        "min_share": settings.min_share,
        "keep_time": settings.keep_time,
        "seed": settings.grouping.seed,
        "app": settings.apps,
        "burst_events": settings.burst_events,
        "lenient": settings.lenient,
        "definition": settings.definition.as_ref().map(|path| path.display().to_string()),
    })
}

/// The extrapolated counters, for `summary.json`: how many bursts of the
/// phases carry each, and the largest relative standard error in phases
/// over 1% of the time.
fn extrapolated(analysis: &Analysis) -> Value {
    let Labelled { table, stats, figures, .. } = &**analysis;
    let worst = |c: usize| {
        let phases = stats.iter().zip(&figures.extrapolated);
        let noteworthy = phases.filter(|(phase, _)| phase.cluster.is_some() && phase.share > NOTEWORTHY);
        let error = |found: Extrapolated| Some(found.standard_error? / found.mean.abs());
        noteworthy.filter_map(|(_, found)| error(found[c]?)).filter(|e| e.is_finite()).reduce(f64::max)
    };
    let row = |c: usize| {
        json!({
            "name": table.counters[c].counter.name,
            "carried": stats.iter().map(|phase| phase.counters[c].n).sum::<u64>(),
            "of": stats.iter().map(|phase| phase.instances).sum::<u64>(),
            "worst_relative_standard_error": worst(c),
        })
    };
    figures.partial(table).into_iter().map(row).collect()
}

/// The serial phases, for `summary.json`.
fn serial(analysis: &Analysis) -> Value {
    let row = |phase: &SerialPhase| {
        json!({
            "cluster": phase.cluster.number(),
            "scope": if phase.scope == Scope::Run { "run" } else { "task" },
            "thread": phase.thread.map(|(app, task, thread)| [app, task, thread]),
            "bursts": phase.bursts,
            "wall_ns": phase.wall.0,
            "share": phase.share,
        })
    };
    analysis.figures.serial.iter().map(row).collect()
}

/// The rates and what they mean, for `summary.json`.
fn rates(analysis: &Analysis) -> Value {
    let row = |rate: &Rate| json!({"name": rate.name, "unit": rate.unit, "meaning": rate.meaning});
    analysis.figures.rates.iter().map(row).collect()
}

/// How well hidden counters were found again.
fn extrapolation_check(check: &ExtrapolationCheck, analysis: &Analysis) -> Value {
    let row = |held: &HeldOut| {
        json!({
            "counter": analysis.table.counters[held.counter].counter.name,
            "cluster": held.cluster.map(|id| id.number()),
            "hidden": held.hidden,
            "carried": held.found.n,
            "mean": held.truth,
            "extrapolated": held.found.mean,
            "error": finite(held.error()),
            "relative_standard_error":
                held.found.standard_error.and_then(|error| finite(error / held.found.mean.abs())),
            "estimator": estimator(analysis, held.found.estimator),
        })
    };
    json!({
        "seed": check.seed,
        "phases_over": check.phases_over,
        "worst": check.worst.iter().map(row).collect::<Vec<_>>(),
        "all": check.all.iter().map(row).collect::<Vec<_>>(),
    })
}

fn estimator(analysis: &Analysis, estimator: Estimator) -> String {
    match estimator {
        Estimator::Observed => "observed".to_owned(),
        Estimator::Mean => "mean".to_owned(),
        Estimator::PerDuration => "ratio to duration".to_owned(),
        Estimator::PerCounter(c) => format!("ratio to {}", analysis.table.counters[c].counter.name),
    }
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}
