//! The report of `likewise pareto`.

use super::page::{OWN_STYLE, records_caption, section};
use super::{by_rank, plot};
use crate::shell::{self, Page, STATIC};
use crate::{first, scripts};
use likewise::words::counted;
use likewise_analysis::counters::Records;
use likewise_analysis::counters::by_rank::ByRank;
use std::io::{self, Write};

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
    let page = Page {
        brand: "likewise pareto",
        version: env!("CARGO_PKG_VERSION"),
        kind: "pareto",
        inputs: std::slice::from_ref(&report.input),
        subtitle: &format!("Ranked by {}; ⁺ more is better, ⁻ less is", report.records.ranked_by()),
        style: &format!("{STATIC}{OWN_STYLE}"),
        first: &first(&findings(report), |_, _| false),
        body: "{{panels}}",
        notes: &report.notes,
        script: &scripts::of_static_page(),
    };
    shell::write(&page, out, |slot, out| match slot {
        "panels" => out.write_all(panels(&report.records).as_bytes()),
        _ => Ok(()),
    })
}

fn findings(report: &ParetoReport) -> Vec<(String, &'static str)> {
    let best = report.sizes.first().copied().unwrap_or(0);
    let text = format!(
        "{} of {} are dominated by none; there are {}.",
        best,
        counted(report.records.names.len() as u64, "row"),
        counted(report.sizes.len() as u64, "rank")
    );
    let to = if report.records.objectives.len() > 1 { "records" } else { "" };
    let by_rank = report.records.by_rank.iter().map(ByRank::finding);
    std::iter::once((text, to)).chain(by_rank.map(|text| (text, "by-rank-0"))).collect()
}

fn panels(records: &Records) -> String {
    let mut panels = Vec::new();
    if records.objectives.len() > 1 {
        panels.push(section("records", "Rows by rank", &plot::records(records), &records_caption(records)));
    }
    panels.extend(by_rank::sections(records));
    panels.concat()
}
