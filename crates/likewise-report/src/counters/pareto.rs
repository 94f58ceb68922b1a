//! The report of `likewise pareto`.

use super::page::{records_caption, section};
use super::{by_rank, plot};
use crate::escape;
use crate::runs::{SCRIPT, STYLE, items};
use likewise::words::counted;
use likewise_analysis::counters::Records;
use likewise_analysis::counters::by_rank::ByRank;
use std::io::{self, Write};

const PAGE: &str = include_str!("assets/pareto.html");
const OWN_STYLE: &str = include_str!("assets/counters.css");

/// What the report shows.
pub struct ParetoReport {
    /// The file that was read.
    pub input: String,
    /// The rows and their ranks.
    pub records: Records,
    /// Sentences that the analyst must know.
    pub notes: Vec<String>,
    /// How many rows have each of Goldberg's ranks.
    pub sizes: Vec<usize>,
}

/// Writes the report as one self-contained HTML file.
///
/// # Errors
/// Those of `out`.
pub fn write_pareto(report: &ParetoReport, out: &mut impl Write) -> io::Result<()> {
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        out.write_all(before.as_bytes())?;
        let (slot, after) = after.split_once("}}").unwrap_or((after, ""));
        rest = after;
        out.write_all(fill(report, slot).as_bytes())?;
    }
    out.write_all(rest.as_bytes())
}

fn fill(report: &ParetoReport, slot: &str) -> String {
    match slot {
        "title" => escape(&report.input),
        "style" => format!("{STYLE}{OWN_STYLE}"),
        "script" => SCRIPT.1.to_owned(),
        "version" => env!("CARGO_PKG_VERSION").to_owned(),
        "subtitle" => {
            escape(&format!("Ranked by {}; ⁺ more is better, ⁻ less is", report.records.ranked_by()))
        }
        "findings" => items(&findings(report)),
        "notes" => items(&report.notes),
        "panels" => panels(&report.records),
        _ => unreachable!("the page has no other slot"),
    }
}

fn findings(report: &ParetoReport) -> Vec<String> {
    let first = report.sizes.first().copied().unwrap_or(0);
    let mut found = vec![format!(
        "{} of {} are dominated by none; there are {}.",
        first,
        counted(report.records.names.len() as u64, "row"),
        counted(report.sizes.len() as u64, "rank")
    )];
    found.extend(report.records.by_rank.iter().map(ByRank::finding));
    found
}

fn panels(records: &Records) -> String {
    let mut panels = Vec::new();
    if records.objectives.len() > 1 {
        panels.push(section("records", "Rows by rank", &plot::records(records), &records_caption(records)));
    }
    panels.extend(by_rank::sections(records));
    panels.concat()
}
