//! The page around the pictures.

use super::{MAX_DRAWN, map, panels, tables};
use crate::scripts::{self, Module, SHARED};
use crate::shell::{self, Page, STATIC};
use crate::table::{self, Key};
use crate::{escape, first, palette};
use likewise::words::{counted, level};
use likewise_analysis::ranks::RanksReport;
use std::io::{self, Write};

const PAGE: &str = include_str!("assets/page.html");
const OWN_STYLE: &str = include_str!("assets/ranks.css");
const MAP: Module = ("map.js", include_str!("assets/map.js"));

/// Writes the report as one self-contained HTML file.
///
/// # Errors
/// Those of `out`.
pub fn write_html(report: &RanksReport, out: &mut impl Write) -> io::Result<()> {
    let map = map::Map::of(report)?;
    let told: Vec<(String, &str)> = report.findings().into_iter().map(|text| (text, "")).collect();
    let n = report.classes.len() as u32;
    let page = Page {
        brand: "likewise ranks",
        version: env!("CARGO_PKG_VERSION"),
        kind: "ranks",
        inputs: std::slice::from_ref(&report.input),
        subtitle: &subtitle(report),
        style: &format!("{STATIC}{OWN_STYLE}{}", class_colours(report)),
        first: &first(&told, |letter, class| letter == 'c' && (1..=n).contains(&class)),
        body: PAGE,
        notes: &report.notes,
        script: &scripts::bundle(&[&SHARED[..], &[MAP]].concat(), &["static.js", "map.js"]),
    };
    shell::write(&page, out, |slot, out| match slot {
        "data" => map.write(out),
        _ => out.write_all(fill(report, slot).as_bytes()),
    })
}

fn fill(report: &RanksReport, slot: &str) -> String {
    match slot {
        "legend" => legend(report),
        "traces" => panels::traces(report),
        "traces-caption" => panels::traces_caption(report),
        "distances" => panels::distances(report),
        "criterion" => panels::criterion(report),
        "support" => tables::support(report),
        "windows" => tables::windows(report),
        "classes" => tables::classes(report),
        "plan" => tables::plan(report),
        "plan-caption" => escape(&plan_caption(report)),
        _ => unreachable!("the page has no other slot"),
    }
}

fn subtitle(report: &RanksReport) -> String {
    let grouping = &report.grouping;
    let regions = match report.regions.len() {
        0 | 1 => String::new(),
        n => format!(" of {n} regions"),
    };
    let how = if grouping.is_exact { "over all ranks" } else { "by samples" };
    format!(
        "{} by {}{regions}; {} {how}, on {} ({}), seed {}",
        counted(report.n_ranks() as u64, "rank"),
        counted(report.n_steps as u64, "step"),
        grouping.method,
        counted(grouping.dims as u64, "number"),
        grouping.signature,
        grouping.seed
    )
}

fn plan_caption(report: &RanksReport) -> String {
    let plan = &report.plan;
    format!(
        "So many ranks of each class, chosen at random (column sampled in ranks.csv), give the mean effort of {} \
         within {} at {} confidence.{}",
        report.planned(),
        report.bound_text(),
        level(plan.confidence),
        if plan.each_stratum { "" } else { " Classes that vary more get more of the sample." }
    )
}

/// Every class with its colour and size, in one line.
fn legend(report: &RanksReport) -> String {
    let key = |(c, class): (usize, &likewise_analysis::ranks::Class)| Key {
        mark: format!("c{}", c + 1),
        name: report.class_name(c),
        more: likewise::words::grouped_digits(class.ranks),
    };
    table::legend("Classes", report.classes.iter().enumerate().take(MAX_DRAWN).map(key))
}

/// The colours of classes, on light and on dark, as variables.
fn class_colours(report: &RanksReport) -> String {
    (1..=report.classes.len() as u32).map(|n| palette::css(&format!("c{n}"), n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_analysis::ranks::sample::sample;

    fn page(report: &RanksReport) -> String {
        let mut out = Vec::new();
        write_html(report, &mut out).expect("a vector takes all");
        String::from_utf8(out).expect("text")
    }

    /// All between the style and the scripts.
    fn pictures(page: &str) -> &str {
        let body = page.split("<body>").nth(1).unwrap_or("");
        body.split("<script").next().unwrap_or("")
    }

    #[test]
    fn names_stay_text_and_nothing_is_fetched() {
        let mut report = sample();
        report.input = "</script><script>alert(1)</script>".to_owned();
        let page = page(&report);
        assert!(!page.contains("<script>alert") && !page.contains("<i>b"));
        assert!(page.contains("&lt;i&gt;"), "a region's name is shown");
        assert!(page.contains("default-src 'none'"));
        assert!(!page.contains("http://") && !page.contains("https://"), "nothing to fetch");
        // The columns, the meta data, the script.
        assert_eq!(page.matches("</script>").count(), 3 + 2);
        assert!(!pictures(&page).contains("NaN"), "no picture has a place that is none");
    }

    #[test]
    fn odd_reports_can_be_drawn() {
        let mut report = sample();
        report.grouping.bic.clear();
        report.grouping.criterion = likewise_analysis::ranks::Criterion::Given;
        report.n_steps = 1;
        for class in &mut report.classes {
            class.effort = (0.0, 0.0);
            class.dissimilarity = (0.0, 0.0);
            for trace in &mut class.traces {
                for column in [&mut trace.mean, &mut trace.deviation, &mut trace.least, &mut trace.most] {
                    *column = vec![0.0];
                }
            }
        }
        report.dissimilarity.fill(0.0);
        let page = page(&report);
        assert!(!pictures(&page).contains("NaN") && !pictures(&page).contains("inf"));
        assert!(page.contains("The number of classes was given"));
    }
}
