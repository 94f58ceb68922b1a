//! What differs between groups of rows, and what varies together, as tables.

use super::tables::{MAX_LINES, more};
use crate::escape;
use crate::table::{open, row};
use likewise::words::short;
use likewise_analysis::counters::loadings::{Factors, LARGE};
use likewise_analysis::counters::significance::{Significance, Test};
use std::fmt::Write;

/// Factors that are shown.
const MAX_FACTORS: usize = 8;

/// A row per column, those that differ the most first.
pub(super) fn significance(found: &Significance) -> String {
    let mut out = open(&[
        "column",
        "effect ε²",
        "H",
        "p, adjusted",
        "rows",
        "pairs that differ",
        "lowest in",
        "highest in",
    ]);
    let p = |p: f64| if p < 1e-12 { "< 10⁻¹²".to_owned() } else { short(p) };
    let line = |test: &Test| {
        let (least, greatest) = test.ends();
        let pairs = format!("{} of {}", test.differing(), test.pairs.len());
        let cells = [
            short(test.effect()),
            short(test.test.h),
            p(test.p_adjusted),
            test.rows().to_string(),
            pairs,
            least.to_owned(),
            greatest.to_owned(),
        ];
        row(&escape(&test.name), "", &cells)
    };
    out.extend(found.tests.iter().take(MAX_LINES).map(line));
    out.push_str("</table>");
    more(found.tests.len(), "columns", "significance.csv", &mut out);
    out
}

pub(super) fn significance_caption(found: &Significance) -> String {
    format!(
        "Kruskal and Wallis's test of the groups of rows by {}. ε² is the share of the ranks' variance that the groups \
         explain, at most 0.75 for two equal groups and nearly 1 for many: with many rows nearly everything differs, and ε² says how much. p is adjusted for the \
         number of columns, and pairs (Dunn's test, at 5%) for their number, by Holm's method. dunn.csv has all pairs.",
        found.by
    )
}

/// A row per column, a cell per factor; large loadings are dark.
pub(super) fn loadings(found: &Factors) -> String {
    let factors = &found.factors[..found.factors.len().min(MAX_FACTORS)];
    let heads: Vec<String> = factors
        .iter()
        .enumerate()
        .map(|(at, factor)| {
            format!("factor {}<br>{}%", at + 1, short((1000.0 * factor.explained).round() / 10.0))
        })
        .collect();
    let heads: Vec<&str> = std::iter::once("column").chain(heads.iter().map(String::as_str)).collect();
    let mut out = open(&heads);
    for &at in order(found).iter().take(2 * MAX_LINES) {
        let _ = write!(out, "<tbody><tr><th scope=\"row\">{}</th>", escape(&found.columns[at]));
        for factor in factors {
            // Adding 0 takes the sign off what is rounded to none.
            let loading = (100.0 * factor.loadings[at]).round() / 100.0 + 0.0;
            let (sign, share) = (if loading < 0.0 { "minus" } else { "plus" }, 42.0 * loading.abs().min(1.0));
            let _ = write!(
                out,
                "<td class=\"load {sign}\" style=\"--share:{share:.0}%\">{}</td>",
                format!("{loading:.2}").replace('-', "−")
            );
        }
        out.push_str("</tr></tbody>");
    }
    out.push_str("</table>");
    if found.columns.len() > 2 * MAX_LINES {
        let _ =
            write!(out, "<p class=\"muted\">All {} columns are in loadings.csv.</p>", found.columns.len());
    }
    out
}

/// Columns by the first factor on which they load much, then by how much.
fn order(found: &Factors) -> Vec<usize> {
    let key = |at: usize| {
        let first = found.factors.iter().position(|factor| factor.loadings[at].abs() >= LARGE);
        let first = first.unwrap_or(found.factors.len());
        (first, found.factors.get(first).map_or(0.0, |factor| -factor.loadings[at]))
    };
    let mut order: Vec<usize> = (0..found.columns.len()).collect();
    order.sort_by(|&a, &b| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)));
    order
}

pub(super) const LOADINGS_CAPTION: &str = "The principal components that explain more than one column does, each column \
    scaled to standard deviation 1, rotated (varimax) so that a column loads on as few as can be. A loading is the \
    correlation of a column with a factor, as far as no values are missing: columns that load on one factor vary together, \
    with unlike signs in opposite directions. The percentage is the share of all variance.";
