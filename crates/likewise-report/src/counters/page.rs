//! The page around the pictures.

use super::{Coloured, by_rank, factors, plot, regimes, tables, tree};
use crate::scripts;
use crate::shell::{self, Page, STATIC};
use crate::table::{self, Key};
use crate::{escape, first, palette};
use likewise::words::counted;
use likewise_analysis::counters::{CountersReport, Records, Strong};
use std::fmt::Write as _;
use std::io::{self, Write};

const PAGE: &str = include_str!("assets/page.html");
pub(super) const OWN_STYLE: &str = include_str!("assets/counters.css");

/// Writes the report as one self-contained HTML file.
///
/// # Errors
/// Those of `out`.
pub fn write_html(report: &CountersReport, out: &mut impl Write) -> io::Result<()> {
    let (strong, coloured) = (report.strong(), Coloured::of(report));
    let page = Page {
        brand: "likewise counters",
        version: env!("CARGO_PKG_VERSION"),
        kind: "counters",
        inputs: std::slice::from_ref(&report.input),
        subtitle: &subtitle(report),
        style: &format!("{STATIC}{OWN_STYLE}{}", colours_of(report, &coloured)),
        first: &first(&report.told(), |_, _| false),
        body: PAGE,
        notes: &report.notes,
        script: &scripts::of_static_page(),
    };
    shell::write(&page, out, |slot, out| out.write_all(fill(report, &strong, &coloured, slot).as_bytes()))
}

fn fill(report: &CountersReport, strong: &[Strong], coloured: &Coloured, slot: &str) -> String {
    match slot {
        "legend" => legend(report, coloured),
        "tree" => tree::dendrogram(report, strong, coloured),
        "tree-caption" => escape(&tree::caption(report)),
        "asked" => asked(report).concat(),
        "panels" => panels(report, strong).concat(),
        "parameters" => tables::parameters(report),
        "data" => String::new(),
        _ => unreachable!("the page has no other slot"),
    }
}

/// What an option asks for, before the dendrogram, which is always there.
fn asked(report: &CountersReport) -> Vec<String> {
    let mut panels = Vec::new();
    if let Some(found) = &report.regimes {
        let body = regimes::map(found) + &scroll("regimes", &regimes::table(found));
        panels.push(section("regimes", "Regimes", &body, &regimes::caption(found)));
    }
    if let Some(near) = tables::nearest(report) {
        let response = report.response.as_ref().map_or("", |response| &report.names[response.profile]);
        panels.push(section("near", &format!("Nearest to {}", escape(response)), &scroll("near", &near), ""));
    }
    if let Some(found) = &report.significance {
        let title = format!("What differs between groups of {}", escape(&found.by));
        let table = scroll("groups", &factors::significance(found));
        panels.push(section("groups", &title, &table, &factors::significance_caption(found)));
    }
    if let Some(found) = &report.factors {
        let table = scroll("loadings", &factors::loadings(found));
        panels.push(section("loadings", "What varies together", &table, factors::LOADINGS_CAPTION));
    }
    if let Some(records) = &report.records {
        let title = "Records by rank";
        panels.push(section("records", title, &plot::records(records), &records_caption(records)));
        panels.extend(by_rank::sections(records));
    }
    panels
}

/// What is said of the partitions, if there are any.
fn panels(report: &CountersReport, strong: &[Strong]) -> Vec<String> {
    let mut panels = Vec::new();
    if !report.partitions.is_empty() {
        let caption = "Inner clusters are indented. “Clusters then” is how many clusters the partition has that the forming of this one gave.";
        panels.push(section(
            "strong",
            "Strong clusters",
            &scroll("strong", &tables::strong(report, strong)),
            caption,
        ));
        let caption = format!(
            "Each point is a partition, its number how many clusters it has; ranks are by {}, of which the first two \
             are drawn.",
            report.objectives()
        );
        panels.push(section("fronts", "Partitions by their objectives", &plot::partitions(report), &caption));
        let caption = "S₁: mean distance of a cluster to the nearest other; H₁: mean diameter; R: largest diameter over that of the whole; density: members over the volume of the smallest box that holds them; silhouette: how much nearer profiles are to their own cluster than to the next, from −1 to 1. Goldberg's rank is 0 where no partition is at least as good in all objectives and better in one, 1 where none would be without those, and so on; Fonseca and Fleming's is how many are.";
        panels.push(section(
            "partitions",
            "Partitions",
            &scroll("partitions", &tables::partitions(report)),
            caption,
        ));
    }
    panels
}

pub(super) fn section(id: &str, title: &str, body: &str, caption: &str) -> String {
    let caption = if caption.is_empty() {
        String::new()
    } else {
        format!("<p class=\"muted\">{}</p>", escape(caption))
    };
    format!("<section aria-labelledby=\"h-{id}\"><h2 id=\"h-{id}\">{title}</h2>{body}{caption}</section>\n")
}

/// What may be wider than the page.
pub(super) fn scroll(id: &str, table: &str) -> String {
    format!("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-labelledby=\"h-{id}\">{table}</div>")
}

fn subtitle(report: &CountersReport) -> String {
    let linkage = likewise_analysis::counters::linkage_name(report.settings.linkage);
    format!("{}; {linkage} linkage, {}", report.extent(), report.height())
}

pub(super) fn records_caption(records: &Records) -> String {
    let unranked = records.goldberg.iter().filter(|rank| rank.is_none()).count();
    let mut caption = format!(
        "Goldberg's rank of {} by {} (⁺ more is better, ⁻ less is). Rank 0 is dominated by none.",
        counted(records.names.len() as u64, "record"),
        records.ranked_by()
    );
    if unranked > 0 {
        let _ = write!(caption, " {unranked} lack a value and have no rank.");
    }
    if plot::is_thinned(records) {
        caption.push_str(" All of rank 0 are drawn and a share of the others; pareto.csv has all.");
    }
    caption
}

/// The coloured clusters; each lights up in the tree when it is pointed at.
fn legend(report: &CountersReport, coloured: &Coloured) -> String {
    let key = |(at, members): (usize, &Vec<usize>)| Key {
        mark: format!("c{}", at + 1),
        name: report.listed(members, 6),
        more: String::new(),
    };
    table::legend("Clusters of the greatest silhouette", coloured.clusters.iter().enumerate().map(key))
}

/// The colours of clusters and of regions, on light and on dark.
fn colours_of(report: &CountersReport, coloured: &Coloured) -> String {
    let regions = report.regimes.as_ref().map_or(0, |regimes| regimes.found.regions.len());
    (1..=coloured.clusters.len().max(regions) as u32).map(|n| palette::css(&format!("c{n}"), n)).collect()
}
