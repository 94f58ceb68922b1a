//! `summary.json` of ranks.

use super::{Criterion, RanksReport};
use serde_json::{Value, json};

/// Without timings, which only the caller knows.
pub(crate) fn summary(report: &RanksReport) -> Value {
    let RanksReport { grouping, plan, .. } = report;
    let bic = |&(k, bic): &(usize, f64)| json!({ "k": k, "bic": bic });
    let silhouette = |&(k, value): &(usize, f64)| json!({ "k": k, "silhouette": value });
    let stratum = |(c, class): (usize, &super::Class)| {
        json!({
            "class": c + 1,
            "ranks": class.ranks,
            "share": report.share(class.ranks),
            "medoid": class.medoid,
            "mean_effort": class.effort.0,
            "sd_effort": class.effort.1,
            "mean_dissimilarity": class.dissimilarity.0,
            "max_dissimilarity": class.dissimilarity.1,
            "sample_size": plan.sample[c],
        })
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "input": report.input,
        "ranks": report.n_ranks(),
        "steps": report.n_steps,
        "regions": report.regions,
        "unit": report.is_time.then_some("s"),
        "method": grouping.method,
        "exact": grouping.is_exact,
        "signature": grouping.signature,
        "dims": grouping.dims,
        "parameters": grouping.parameters,
        "seed": grouping.seed,
        "k": report.classes.len(),
        "k_is_given": grouping.criterion == Criterion::Given,
        "criterion": grouping.criterion.name().map(str::to_lowercase),
        "loss": grouping.loss,
        "bic": grouping.bic.iter().map(bic).collect::<Vec<_>>(),
        "silhouette": grouping.silhouettes.iter().map(silhouette).collect::<Vec<_>>(),
        "confidence": plan.confidence,
        "error": plan.error,
        "expected_error": plan.expected_error,
        "sample_size": plan.sample_size(),
        "sample_share": report.share(plan.sample_size()),
        "sample_size_without_classes": plan.without_classes,
        "strata": report.classes.iter().enumerate().map(stratum).collect::<Vec<_>>(),
        "findings": report.findings(),
        "notes": report.notes,
    })
}
