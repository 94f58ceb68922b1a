//! `summary.json` of ranks.

use likewise::ranks::{Bound, Support};
use likewise_analysis::ranks::{Class, Criterion, Kind, Parameters, RanksReport, Window, wavelet_name};
use serde_json::{Value, json};

/// Without timings, which only the caller knows.
pub(crate) fn summary(report: &RanksReport) -> Value {
    let RanksReport { grouping, plan, .. } = report;
    let bic = |&(k, bic): &(usize, f64)| json!({ "k": k, "bic": bic });
    let support = |s: &Support| {
        json!({
            "k": s.n_classes, "explained": s.explained, "by_chance": s.by_chance,
            "at_most_by_chance": s.at_most_by_chance, "gap": s.gap, "gap_deviation": s.deviation,
            "supported": s.is_supported,
        })
    };
    let window = |w: &Window| {
        json!({
            "first_step": w.first_step, "steps": w.n_steps, "classes": w.n_classes, "verdict": w.kind.name(),
            "explained": w.explained, "sample_size": w.sample_size,
            "adjusted_rand": w.change.map(|c| c.adjusted_rand), "moved": w.change.map(|c| c.moved),
        })
    };
    let stratification = (report.classes.len() > 1).then(|| {
        json!({
            "pays": plan.stratification.pays(),
            "pays_in": plan.pays,
            "between": plan.stratification.between,
            "within": plan.stratification.within,
            "variance": plan.stratification.variance,
            "variance_in_strata": plan.stratification.variance_in_strata,
        })
    });
    let verdict = &report.verdict;
    let taken = verdict.support.filter(|s| s.n_classes == report.classes.len());
    let end = |(rank, effort): (usize, f64)| json!({ "rank": rank, "effort": effort });
    let stratum = |(c, class): (usize, &Class)| {
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
            "differs_most": report.difference(c).map(|d| json!({
                "region": report.regions[d.region], "mean_effort": d.own, "others": d.others, "ratio": d.ratio(),
                "against": d.against.map(|class| class + 1),
            })),
        })
    };
    let mut value = json!({
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
        "parameters": parameters(&grouping.parameters),
        "seed": grouping.seed,
        "k": report.classes.len(),
        "k_is_given": grouping.criterion == Criterion::Given,
        "criterion": grouping.criterion.name().map(str::to_lowercase),
        "loss": grouping.loss,
        "bic": grouping.bic.iter().map(bic).collect::<Vec<_>>(),
        "support": grouping.support.iter().map(support).collect::<Vec<_>>(),
        "verdict": verdict.kind.name(),
        "classes_found": verdict.kind == Kind::Classes,
        "explained": taken.map(|s| s.explained),
        "explained_by_chance": taken.map(|s| s.by_chance),
        "spread": verdict.range.spread(),
        "least": end(verdict.range.least),
        "most": end(verdict.range.most),
        "region_spread": report.region_spread(),
        "steadiness": verdict.steadiness,
        "correlation_with_rank": verdict.by_rank,
        "confidence": plan.confidence,
        "error": match plan.bound { Bound::Relative(share) => Some(share), Bound::Absolute(_) => None },
        "error_abs": match plan.bound { Bound::Relative(_) => None, Bound::Absolute(effort) => Some(effort) },
        "each_stratum": plan.each_stratum,
        "expected_error": plan.expected_error,
        "sample_size": plan.sample_size(),
        "sample_share": report.share(plan.sample_size()),
        "sample_size_without_classes": plan.without_classes,
        "stratification": stratification,
        "windows": report.windows.iter().map(window).collect::<Vec<_>>(),
        "strata": report.classes.iter().enumerate().map(stratum).collect::<Vec<_>>(),
        "findings": report.findings(),
        "notes": report.notes,
    });
    // json! has a limit on how much it takes at once.
    value["sample_size_whole_run"] = json!(plan.whole_run);
    value["part_spreads"] = report.parts.iter().map(|part| part.spread).collect();
    value["step_spread"] = report.step_spread().into();
    value["lasting_spread"] = verdict.lasting.into();
    value["apart"] = json!(verdict.apart.as_ref().map(|apart| json!({
        "ranks": apart.ranks, "efforts": apart.efforts, "others": apart.others,
    })));
    value
}

fn parameters(asked: &Parameters) -> Value {
    let Parameters { k, k_max, mode, wavelet, levels } = *asked;
    json!({
        "k": k,
        "k_max": k.is_none().then_some(k_max),
        "mode": mode.map(|mode| mode.name()),
        "wavelet": wavelet_name(wavelet),
        "levels": levels,
    })
}
