//! `summary.json` of a comparison of runs.

use likewise::bursts::scaling::{
    Change, IterationsFrom, Measured, OneOff, Per, PhaseScaling, RunFigures, SlowTasks,
};
use likewise::table::Nanos;
use likewise_analysis::runs::{Comparison, Doubt, InRun, Phase, Run, evidence, key, per};
use serde_json::{Map, Value, json};

pub(crate) fn summary(comparison: &Comparison) -> Value {
    let Comparison { settings, runs, phases, notes, .. } = comparison;
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "scaling": (!comparison.same_threads()).then(|| comparison.scaling_name()),
        "scaling_is_given": settings.scaling.is_some(),
        "threshold": comparison.threshold,
        "total": settings.total,
        "compared_per": comparison.per.map(per),
        "match": comparison.matched(),
        "reference": runs.get(comparison.reference).map(|run| &run.name),
        "runs": runs.iter().enumerate().map(|(r, run)| run_json(comparison, run, r)).collect::<Vec<_>>(),
        "phases": phases.iter().map(|phase| phase_json(comparison, phase)).collect::<Vec<_>>(),
        "findings": comparison.findings(),
        "notes": notes,
    })
}

fn run_json(comparison: &Comparison, run: &Run, r: usize) -> Value {
    let whole: &PhaseScaling = &comparison.whole;
    let from = |from| match from {
        IterationsFrom::Period => "period",
        IterationsFrom::Bursts => "bursts",
    };
    let mut value = json!({
        "name": run.name,
        "input": run.input,
        "tasks": run.tasks,
        "threads": run.whole.run_threads,
        "clusters": run.clusters,
        "iterations": run.iterations.map(|(n, _)| n),
        "iterations_from": run.iterations.map(|(_, of)| from(of)),
        "match": run.matched,
        "elapsed_ns": run.elapsed.0,
        "shared_cpus": run.shared_cpus,
        "cpus": run.cpus,
        "few_cpus": run.few_cpus.map(|few| few.cpus),
        "compared_wall_ns": run.wall,
        "compared_longest_ns": run.all.as_ref().map(|all| all.longest),
        "on_core": run.all.as_ref().and_then(Measured::on_core),
        "left_over_share": run.left.share,
    });
    extend(&mut value, figures_json(&run.whole));
    extend(&mut value, change_json(whole.changes[r].as_ref(), comparison.threshold));
    value
}

fn phase_json(comparison: &Comparison, phase: &Phase) -> Value {
    let name = |r: usize| comparison.runs[r].name.as_str();
    let of_run = |(r, run): (usize, &Option<InRun>)| {
        let InRun { measured, matched, slow, one_offs } = run.as_ref()?;
        let clusters: Vec<u32> = matched.clusters.iter().map(|id| id.number()).collect();
        let figures = &measured.figures;
        let mut value = json!({
            "run": name(r), "clusters": clusters, "noise_bursts": matched.noise,
            "match": matched.confidence, "evidence": evidence(matched.evidence),
            "doubt": phase.doubts[r].map(Doubt::key),
            "serial": figures.is_serial() && !comparison.is_on_few_cpus(),
            "serial_share": comparison.serial_share(r, figures),
            "slow_tasks": slow.as_ref().map(|slow| slow_json(comparison, phase, (r, measured), slow)),
        });
        value["one_offs"] =
            one_offs.iter().map(|one_off| one_off_json(one_off, comparison.runs[r].origin)).collect();
        extend(&mut value, figures_json(figures));
        extend(&mut value, compared_json(measured));
        extend(&mut value, change_json(phase.change(r), comparison.threshold));
        Some(value)
    };
    let at = phase.scaling.stops_at.map(name);
    let same_threads = comparison.same_threads();
    json!({
        "phase": phase.number,
        "per": per(phase.per),
        "in_loop": phase.in_loop,
        "base": name(phase.scaling.base),
        "slower_in": at.filter(|_| same_threads),
        "stops_at": at.filter(|_| !same_threads),
        "cause": phase.cause_key(),
        "match": phase.confidence(),
        "runs": phase.runs.iter().enumerate().filter_map(of_run).collect::<Vec<_>>(),
    })
}

/// Tasks that take longer than in the base, and what each of them loses.
fn slow_json(
    comparison: &Comparison,
    phase: &Phase,
    (r, measured): (usize, &Measured),
    slow: &SlowTasks,
) -> Value {
    let odd = &slow.odd;
    let of_iteration = comparison.iterations_in(phase, r).map(|n| odd.lost / n as f64);
    let of_iteration = of_iteration.or_else(|| (phase.per == Per::Iteration).then_some(odd.lost));
    let factors: Map<String, Value> =
        slow.factors.iter().map(|factor| (key(factor.kind).to_owned(), json!(factor.value))).collect();
    json!({
        "tasks": odd.tasks.iter().map(|(_, task)| task).collect::<Vec<_>>(),
        "apps": odd.tasks.iter().map(|(app, _)| app).collect::<Vec<_>>(),
        "factor": odd.factor,
        "factor_of_others": odd.others,
        "lost_ns": odd.lost * measured.times,
        "lost_ns_per_iteration": of_iteration,
        "factors": factors,
    })
}

fn one_off_json(one_off: &OneOff, origin: Nanos) -> Value {
    let (app, task, thread) = one_off.thread;
    json!({
        "app": app, "task": task, "thread": thread, "begin_ns": one_off.begin.saturating_add(origin).0,
        "duration_ns": one_off.duration.0, "usual_ns": one_off.usual.0,
    })
}

fn compared_json(measured: &Measured) -> Value {
    json!({
        "repetitions": measured.times,
        "compared_mean_ns": measured.mean(),
        "compared_longest_ns": measured.longest,
        "on_core": measured.on_core(),
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

fn change_json(change: Option<&Change>, threshold: f64) -> Value {
    let factors = |change: &Change| -> Map<String, Value> {
        change.factors.iter().map(|factor| (key(factor.kind).to_owned(), json!(factor.value))).collect()
    };
    json!({
        "speedup": change.map(|change| change.speedup),
        "efficiency": change.map(|change| change.efficiency),
        "may_be_chance": change.map(|change| change.may_be_chance(threshold)),
        "by_the_clock_alone": change.map(|change| change.is_off_core(threshold)),
        "cpu_efficiency": change.and_then(|change| Some(change.in_cpu?.efficiency)),
        "factors": change.map(factors),
    })
}

fn extend(value: &mut Value, more: Value) {
    if let (Value::Object(value), Value::Object(more)) = (value, more) {
        value.extend(more);
    }
}
