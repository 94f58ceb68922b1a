//! `summary.json` of a comparison of runs.

use super::{Comparison, Phase, Run, evidence, key};
use likewise::bursts::scaling::{Change, PhaseInRun, PhaseScaling, RunFigures};
use serde_json::{Map, Value, json};

pub(crate) fn summary(comparison: &Comparison) -> Value {
    let Comparison { settings, runs, phases, whole, notes, .. } = comparison;
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "scaling": (!comparison.same_threads()).then(|| comparison.scaling_name()),
        "scaling_is_given": settings.scaling.is_some(),
        "threshold": comparison.threshold,
        "reference": runs.get(comparison.reference).map(|run| &run.name),
        "runs": runs.iter().enumerate().map(|(r, run)| run_json(run, whole, r)).collect::<Vec<_>>(),
        "phases": phases.iter().map(|phase| phase_json(phase, runs, comparison.same_threads())).collect::<Vec<_>>(),
        "findings": comparison.findings(),
        "notes": notes,
    })
}

fn run_json(run: &Run, whole: &PhaseScaling, r: usize) -> Value {
    let mut value = json!({
        "name": run.name,
        "input": run.input,
        "tasks": run.tasks,
        "threads": run.whole.run_threads,
        "clusters": run.clusters,
        "elapsed_ns": run.elapsed.0,
        "left_over_share": run.left.share,
    });
    extend(&mut value, figures_json(&run.whole));
    extend(&mut value, change_json(whole.changes.get(r).and_then(Option::as_ref)));
    value
}

fn phase_json(phase: &Phase, runs: &[Run], same_threads: bool) -> Value {
    let name = |r: usize| runs[r].name.as_str();
    let of_run = |(r, run): (usize, &Option<(RunFigures, PhaseInRun)>)| {
        let (figures, matched) = run.as_ref()?;
        let clusters: Vec<u32> = matched.clusters.iter().map(|id| id.number()).collect();
        let mut value = json!({
            "run": name(r), "clusters": clusters, "noise_bursts": matched.noise,
            "confidence": matched.confidence, "evidence": evidence(matched.evidence),
        });
        extend(&mut value, figures_json(figures));
        extend(&mut value, change_json(phase.change(r)));
        Some(value)
    };
    json!({
        "phase": phase.number,
        "base": name(phase.scaling.base),
        if same_threads { "slower_in" } else { "stops_at" }: phase.scaling.stops_at.map(name),
        "cause": phase.worst().map(key),
        "confidence": phase.confidence(),
        "runs": phase.runs.iter().enumerate().filter_map(of_run).collect::<Vec<_>>(),
    })
}

fn figures_json(figures: &RunFigures) -> Value {
    json!({
        "instances": figures.instances,
        "phase_threads": figures.threads,
        "total_ns": figures.total.0,
        "mean_ns_per_thread": figures.mean(),
        "longest_ns_of_thread": figures.longest.0,
        "share": figures.share,
        "instructions": figures.instructions,
        "cycles": figures.cycles,
        "ipc": figures.ipc(),
        "frequency_ghz": figures.frequency(),
        "load_balance": figures.load_balance(),
    })
}

fn change_json(change: Option<&Change>) -> Value {
    let factors = |change: &Change| -> Map<String, Value> {
        change.factors.iter().map(|factor| (key(factor.kind).to_owned(), json!(factor.value))).collect()
    };
    json!({
        "speedup": change.map(|change| change.speedup),
        "efficiency": change.map(|change| change.efficiency),
        "factors": change.map(factors),
    })
}

fn extend(value: &mut Value, more: Value) {
    if let (Value::Object(value), Value::Object(more)) = (value, more) {
        value.extend(more);
    }
}
