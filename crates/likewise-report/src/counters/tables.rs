//! Strong clusters, partitions, what is near, what was left out, as tables.

use crate::escape;
use crate::table::{open, row};
use likewise::words::short;
use likewise_analysis::counters::regimes::RegimeReport;
use likewise_analysis::counters::{CountersReport, Strong, linkage_name, metric_name};
use std::fmt::Write;

/// Lines of a table.
pub(super) const MAX_LINES: usize = 40;
/// Members of a cluster that are named.
const MAX_MEMBERS: usize = 40;

/// From the outermost inwards.
pub(super) fn strong(report: &CountersReport, strong: &[Strong]) -> String {
    if strong.is_empty() {
        return "<p>No cluster is strong.</p>".to_owned();
    }
    let mut out = open(&["cluster", "forms at", "members", "clusters then", "which"]);
    for (at, cluster) in strong.iter().enumerate().take(MAX_LINES) {
        let head = format!("<span style=\"padding-left:{}px\">{}</span>", 14 * cluster.depth.min(10), at + 1);
        let clusters = report.partition_of(cluster.node).map_or(0, |partition| partition.measures.n_clusters);
        let cells = [
            short(cluster.height),
            cluster.size.to_string(),
            clusters.to_string(),
            report.listed(report.members(cluster.node), MAX_MEMBERS),
        ];
        out.push_str(&row(&head, "", &cells));
    }
    out.push_str("</table>");
    more(strong.len(), "strong clusters", "dendrogram.json", &mut out);
    out
}

pub(super) fn more(all: usize, what: &str, file: &str, out: &mut String) {
    if all > MAX_LINES {
        let _ = write!(out, "<p class=\"muted\">{} more {what} are in {file}.</p>", all - MAX_LINES);
    }
}

/// Those of the fewest clusters.
pub(super) fn partitions(report: &CountersReport) -> String {
    let mut out = open(&[
        "clusters",
        "S₁",
        "H₁",
        "R",
        "log₁₀ least density",
        "silhouette",
        "Goldberg",
        "Fonseca–Fleming",
        "last formed",
    ]);
    let or_none = |value: Option<f64>| match value {
        Some(value) if value == f64::INFINITY => "∞".to_owned(),
        Some(value) => short(value),
        None => "–".to_owned(),
    };
    let rank = |rank: Option<u32>| rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string());
    for (at, partition) in report.partitions.iter().enumerate().rev().take(MAX_LINES) {
        let measures = &partition.measures;
        let formed = report
            .formed(at)
            .map_or_else(|| "all alone".to_owned(), |node| report.listed(report.members(node), 4));
        let cells = [
            or_none(measures.separation),
            short(measures.mean_diameter),
            short(measures.diameter_ratio),
            or_none(measures.log_min_density.map(|log| log / std::f64::consts::LN_10)),
            or_none(measures.silhouette),
            rank(partition.goldberg),
            rank(partition.fonseca_fleming),
            formed,
        ];
        out.push_str(&row(&measures.n_clusters.to_string(), "", &cells));
    }
    out.push_str("</table>");
    more(report.partitions.len(), "partitions", "dendrogram.json", &mut out);
    out
}

/// The profiles nearest to the response; nothing where there is none.
pub(super) fn nearest(report: &CountersReport) -> Option<String> {
    let response = report.response.as_ref()?;
    let most = response.nearest.last().map_or(0.0, |near| near.1);
    let mut out = open(&["nearest", "dissimilarity", ""]);
    for &(at, distance) in response.nearest.iter().take(MAX_LINES) {
        let share = if most > 0.0 { distance / most } else { 0.0 };
        let _ = write!(
            out,
            "<tbody><tr><th scope=\"row\">{}</th><td>{}</td><td class=\"bar\"><i style=\"width:{:.1}px\"></i></td></tr></tbody>",
            escape(&report.names[at]),
            short(distance),
            220.0 * share
        );
    }
    out.push_str("</table>");
    more(response.nearest.len(), "profiles", "dendrogram.json, in their clusters", &mut out);
    Some(out)
}

/// What was asked for, and what is no part of the result.
pub(super) fn parameters(report: &CountersReport) -> String {
    let settings = &report.settings;
    let mut lines = vec![("linkage".to_owned(), linkage_name(settings.linkage).to_owned())];
    if let Some(profiles) = settings.profiles {
        let what = if profiles.is_by_row { "rows" } else { "columns" };
        lines.push(("profiles".to_owned(), what.to_owned()));
        lines.push(("metric".to_owned(), metric_name(profiles.metric).to_owned()));
        lines.push(("scale of a column".to_owned(), profiles.scale.name().to_owned()));
        lines.push((
            "left out if more is missing".to_owned(),
            format!("{}%", short(100.0 * profiles.max_missing)),
        ));
    }
    lines.push(("objectives of partitions".to_owned(), report.objectives()));
    lines.extend(settings.chosen.iter().map(|(option, given)| (format!("--{option}"), given.join(", "))));
    lines.extend(report.regimes.iter().flat_map(RegimeReport::parameters));
    lines.extend(report.left_out.iter().map(|left| (format!("left out: {}", left.name), left.why.clone())));
    let mut out = open(&["parameter", "value"]);
    for (name, value) in lines {
        out.push_str(&row(&escape(&name), "", &[value]));
    }
    out.push_str("</table>");
    out
}
