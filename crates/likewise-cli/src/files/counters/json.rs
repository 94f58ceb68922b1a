//! `dendrogram.json` and `summary.json` of counters.

use super::{by_rank, loadings, regimes, significance};
use likewise_analysis::counters::{
    CountersReport, LeftOut, RankedPartition, Strong, linkage_name, metric_name,
};
use serde_json::{Value, json};

/// Strong clusters that `summary.json` has, and members of each that it names.
const MAX_STRONG: usize = 200;
const MAX_MEMBERS: usize = 50;

/// The tree and its partitions.
pub(crate) fn dendrogram(report: &CountersReport) -> Value {
    let merge = |merge: &likewise::cluster::hierarchical::Merge| json!({ "a": merge.a, "b": merge.b, "height": merge.height, "members": merge.size });
    let partition = |(at, ranked): (usize, &RankedPartition)| {
        let measures = &ranked.measures;
        let formed = report.formed(at);
        json!({
            "clusters": measures.n_clusters,
            "formed": formed,
            "s1": measures.separation,
            "h1": measures.mean_diameter,
            "r": measures.diameter_ratio,
            "log_min_density": measures.log_min_density.filter(|density| density.is_finite()),
            "silhouette": measures.silhouette,
            "goldberg": ranked.goldberg,
            "fonseca_fleming": ranked.fonseca_fleming,
            "strong": formed.is_some_and(|node| report.is_strong(node)),
        })
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "leaves": report.names,
        "merges": report.dendrogram.merges().iter().map(merge).collect::<Vec<_>>(),
        "partitions": report.partitions.iter().enumerate().map(partition).collect::<Vec<_>>(),
    })
}

/// Without timings, which only the caller knows.
pub(crate) fn summary(report: &CountersReport) -> Value {
    let strong = report.strong();
    let cluster = |cluster: &Strong| {
        let members =
            report.members(cluster.node).iter().take(MAX_MEMBERS).map(|&m| report.names[m].as_str());
        json!({
            "node": cluster.node,
            "height": cluster.height,
            "size": cluster.size,
            "depth": cluster.depth,
            "members": members.collect::<Vec<_>>(),
        })
    };
    let cut = report.cut().map(|cut| {
        let names =
            |members: &Vec<usize>| members.iter().map(|&m| report.names[m].as_str()).collect::<Vec<_>>();
        let named = cut.clusters.iter().map(names).take(MAX_STRONG).collect::<Vec<_>>();
        json!({ "clusters": cut.clusters.len(), "silhouette": cut.silhouette, "members": named })
    });
    let left_out = |left: &LeftOut| json!({ "name": left.name, "why": left.why });
    let response = report.response.as_ref().map(|response| {
        let near =
            |&(at, distance): &(usize, f64)| json!({ "name": report.names[at], "dissimilarity": distance });
        json!({
            "name": report.names[response.profile],
            "nearest": response.nearest.iter().take(MAX_MEMBERS).map(near).collect::<Vec<_>>(),
        })
    });
    let records = report.records.as_ref().map(|records| {
        json!({
            "objectives": records.objectives,
            "records": records.names.len(),
            "ranks": records.goldberg.iter().flatten().max().map_or(0, |most| most + 1),
            "unranked": records.goldberg.iter().filter(|rank| rank.is_none()).count(),
            "by_rank": records.by_rank.iter().map(by_rank::to_json).collect::<Vec<_>>(),
        })
    });
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "input": report.input,
        "profiles": report.names.len(),
        "kind": report.kind(),
        "dims": report.dims,
        "parameters": parameters(report),
        "best_silhouette": cut,
        "strong_clusters": strong.len(),
        "strong": strong.iter().take(MAX_STRONG).map(cluster).collect::<Vec<_>>(),
        "response": response,
        "records": records,
        "regimes": report.regimes.as_ref().map(regimes::to_json),
        "significance": report.significance.as_ref().map(significance::to_json),
        "loadings": report.factors.as_ref().map(loadings::to_json),
        "left_out": report.left_out.iter().map(left_out).collect::<Vec<_>>(),
        "findings": report.findings(),
        "notes": report.notes,
    })
}

fn parameters(report: &CountersReport) -> Value {
    let settings = &report.settings;
    let objectives = settings.objectives.iter().map(|&measure| measure.name()).collect::<Vec<_>>();
    let mut parameters = json!({
        "linkage": linkage_name(settings.linkage),
        "metric": settings.profiles.map(|profiles| metric_name(profiles.metric)),
        "scale": settings.profiles.map(|profiles| profiles.scale.name()),
        "max_missing": settings.profiles.map(|profiles| profiles.max_missing),
        "objectives": objectives,
    });
    for (option, given) in &settings.chosen {
        parameters[option.replace('-', "_")] = given.as_slice().into();
    }
    parameters
}
