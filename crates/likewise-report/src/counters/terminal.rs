//! What was found, on the terminal.

use likewise::words::{counted, short};
use likewise_analysis::counters::regimes::{RegimeReport, region_name};
use likewise_analysis::counters::{CountersReport, Records, Strong, linkage_name};
use std::fmt::Write;

/// Columns or rows that are said to be left out, one by one.
const LEFT_OUT: usize = 6;
/// Strong clusters that are listed.
const SHOWN: usize = 24;

/// The strong clusters with their members, inner ones indented, and what is to
/// be known.
pub fn text(report: &CountersReport, width: usize) -> String {
    let mut out = format!(
        "{}, {} linkage; {}\n",
        report.extent(),
        linkage_name(report.settings.linkage),
        report.height()
    );
    if !report.partitions.is_empty() {
        let _ = writeln!(out, "Partitions are ranked by {}", report.objectives());
    }
    out.push('\n');
    let strong = report.strong();
    if !strong.is_empty() {
        out.push_str("Strong clusters, by the height at which they form:\n");
    }
    for cluster in strong.iter().take(SHOWN) {
        let _ = writeln!(out, "{}{}", head(cluster), members(report, cluster, width));
    }
    if strong.len() > SHOWN {
        let _ = writeln!(out, "  … and {} more, in dendrogram.json", strong.len() - SHOWN);
    }
    if !strong.is_empty() {
        out.push('\n');
    }
    if let Some(regimes) = &report.regimes {
        let _ = writeln!(out, "{}", regime_text(regimes));
    }
    if let Some(left_out) = left_out(report) {
        let _ = writeln!(out, "{left_out}");
    }
    if let Some(records) = &report.records {
        let _ = writeln!(out, "{}", ranking(records));
    }
    for finding in report.findings() {
        let _ = writeln!(out, "{finding}");
    }
    out
}

/// Rows of the best rank that are listed.
const BEST: usize = 12;

/// The rows that no other has more of everything than.
fn ranking(records: &Records) -> String {
    let n_ranks = records.goldberg.iter().flatten().max().map_or(0, |most| u64::from(*most) + 1);
    let best: Vec<usize> = (0..records.names.len()).filter(|&row| records.goldberg[row] == Some(0)).collect();
    let mut out = format!(
        "Rows ranked on {}: {}; {} that no other dominates{}\n",
        records.objectives.join(", "),
        counted(n_ranks, "rank"),
        counted(best.len() as u64, "row"),
        if best.len() > BEST { ", the first:" } else { ":" }
    );
    for &row in best.iter().take(BEST) {
        let values = records.objectives.iter().zip(&records.values);
        let values: Vec<String> =
            values.map(|(name, values)| format!("{name} {}", short(values[row]))).collect();
        let _ = writeln!(out, "  {}: {}", records.names[row], values.join(", "));
    }
    let unranked = records.goldberg.iter().filter(|rank| rank.is_none()).count();
    if unranked > 0 {
        let lack = if unranked == 1 { "lacks" } else { "lack" };
        let _ = writeln!(out, "  {} {lack} a value and a rank", counted(unranked as u64, "row"));
    }
    out
}

/// What is no part of any profile, and why.
fn left_out(report: &CountersReport) -> Option<String> {
    let named = report.left_out.iter().take(LEFT_OUT).map(|left| format!("{} ({})", left.name, left.why));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match report.left_out.len().saturating_sub(LEFT_OUT) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| format!("Left out: {named}{more}."))
}

fn head(cluster: &Strong) -> String {
    format!("{:indent$}{:>8}  ", "", short(cluster.height), indent = 2 + 2 * cluster.depth.min(8))
}

/// As many names as fit the line.
fn members(report: &CountersReport, cluster: &Strong, width: usize) -> String {
    let room = width.saturating_sub(head(cluster).chars().count());
    let members = report.members(cluster.node);
    let fits = |&most: &usize| report.listed(members, most).chars().count() <= room;
    report.listed(members, (1..=members.len()).rev().find(fits).unwrap_or(1))
}

/// For the terminal: two lines for each region.
fn regime_text(found: &RegimeReport) -> String {
    let regions = found.found.regions.iter().enumerate().map(|(at, region)| {
        format!(
            "  {}  {}: {}\n     {}; {}, stray {}\n",
            region_name(at),
            found.extent(region),
            found.model(region),
            found.coefficients(region),
            counted(region.n as u64, "point"),
            found.spread(region)
        )
    });
    format!(
        "Regimes of {}{} over {}, {}, {}% intervals:\n{}",
        found.response,
        found.unit_told(),
        found.parameters.join(", "),
        found.points(),
        short(100.0 * found.confidence),
        regions.collect::<String>()
    )
}
