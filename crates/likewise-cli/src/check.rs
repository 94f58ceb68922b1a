//! How well counters that are hidden are found again.

use crate::analysis::Analysis;
use crate::figures::NOTEWORTHY;
use likewise::bursts::{Estimator, HeldOut, hold_out};
use likewise::table::{Expr, Metric, Operand};
use likewise::words::counted;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde_json::{Value, json};

/// Hides half of the counters that no metric needs from half of the bursts
/// of each phase, and the other half from the others. Returns a sentence and
/// the entry of `summary.json`.
pub(crate) fn check_extrapolation(analysis: &Analysis, seed: u64) -> (String, Value) {
    let table = &analysis.table;
    let common: Vec<usize> = (0..table.counters.len()).filter(|&c| is_in_metrics(analysis, c)).collect();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let clustering = &analysis.grouped.clustering;
    let held = hold_out(table, &analysis.prepared, clustering, &common, &mut rng);
    let stats = &analysis.stats;
    let checked: Vec<&HeldOut> = held
        .iter()
        .filter(|held| held.cluster.is_some_and(|id| stats[id.index()].share > NOTEWORTHY))
        .collect();
    let mut worst: Vec<&HeldOut> = Vec::new();
    for counter in 0..table.counters.len() {
        let of_counter = checked.iter().filter(|held| held.counter == counter);
        worst.extend(of_counter.max_by(|a, b| a.error().total_cmp(&b.error())));
    }
    let name = |held: &HeldOut| table.counters[held.counter].counter.name.as_str();
    let row = |held: &&HeldOut| {
        json!({
            "counter": name(held),
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
    let json = json!({
        "seed": seed,
        "phases_over": NOTEWORTHY,
        "worst": worst.iter().map(row).collect::<Vec<_>>(),
        "all": checked.iter().map(row).collect::<Vec<_>>(),
    });
    (sentence(analysis, &checked, &worst, seed), json)
}

fn sentence(analysis: &Analysis, checked: &[&HeldOut], worst: &[&HeldOut], seed: u64) -> String {
    let mut errors: Vec<f64> = checked.iter().map(|held| held.error()).collect();
    errors.sort_by(f64::total_cmp);
    let Some(median) = errors.get(errors.len() / 2) else {
        return "No counter's extrapolation can be checked: there is none beyond those of the metrics."
            .to_owned();
    };
    let within = errors.iter().filter(|&&error| error <= 0.05).count();
    let each = |held: &&HeldOut| {
        let name = &analysis.table.counters[held.counter].counter.name;
        let phase = held.cluster.map_or(0, |id| id.number());
        format!("{name} {:.2}% (phase {phase}, {})", 100.0 * held.error(), counted(held.found.n, "burst"))
    };
    format!(
        "Extrapolation check, half of the counters hidden from each burst (seed {seed}): {within} of {} means \
         are within 5% in phases over 1% of the time, the median error is {:.2}%. Worst by counter: {}.",
        errors.len(),
        100.0 * median,
        worst.iter().map(each).collect::<Vec<_>>().join(", ")
    )
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

/// Whether a metric of the grouping is made of that counter.
fn is_in_metrics(analysis: &Analysis, c: usize) -> bool {
    let counter = &analysis.table.counters[c].counter;
    let number = counter.event_type.map(|t| t.to_string());
    let is = |operand: &Operand| match operand {
        Operand::Counter(name) => *name == counter.name || Some(name) == number.as_ref(),
        Operand::Duration => false,
    };
    analysis.metrics.iter().any(|Metric { expr, .. }| match expr {
        Expr::One(a) => is(a),
        Expr::Two(a, _, b) => is(a) || is(b),
    })
}
