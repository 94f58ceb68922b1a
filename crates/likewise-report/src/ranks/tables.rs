//! Classes and the plan, as HTML tables.

use crate::table::{self, open};
use likewise::words::{grouped_digits, percent, share_text, short};
use likewise_analysis::ranks::{Class, RanksReport};
use std::fmt::Write;

/// A body of one line, which lights up with its class.
fn row(class: usize, attributes: &str, cells: &[String]) -> String {
    let n = class + 1;
    table::row(&format!("<i class=\"swatch\"></i>Class {n}"), attributes, cells)
}

/// Findings lead to the row of a class among the classes, not to that of the plan.
fn in_plan(class: usize) -> String {
    format!(" class=\"c{0}\" data-phase=\"c{0}\"", class + 1)
}

fn spread(class: &Class) -> String {
    let (mean, deviation) = class.effort;
    if mean == 0.0 { "–".to_owned() } else { percent(deviation / mean.abs()) }
}

pub(super) fn classes(report: &RanksReport) -> String {
    let mut out = open(&[
        "class",
        "ranks",
        "share",
        "medoid",
        "mean effort",
        "spread",
        "of the mean",
        "mean dissimilarity",
        "greatest",
        "which ranks",
    ]);
    let mean = report.mean_effort();
    for (c, class) in report.classes.iter().enumerate() {
        let ratio = if mean == 0.0 { "–".to_owned() } else { format!("× {:.2}", class.effort.0 / mean) };
        let named = report.named_ranks(c).map_or_else(
            || "see ranks.csv".to_owned(),
            |ranks| ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
        );
        out.push_str(&row(
            c,
            &table::marked(&format!("c{}", c + 1)),
            &[
                grouped_digits(class.ranks),
                share_text(report.share(class.ranks)),
                format!("rank {}", class.medoid),
                report.effort(class.effort.0),
                spread(class),
                ratio,
                short(class.dissimilarity.0),
                short(class.dissimilarity.1),
                named,
            ],
        ));
    }
    out.push_str("</table>");
    out
}

pub(super) fn plan(report: &RanksReport) -> String {
    let mut out = open(&["class", "ranks", "mean effort", "spread", "trace", "of the class"]);
    let of = |sample: u64, ranks: u64| share_text(sample as f64 / ranks.max(1) as f64);
    for (c, class) in report.classes.iter().enumerate() {
        let sample = report.plan.sample[c];
        out.push_str(&row(
            c,
            &in_plan(c),
            &[
                grouped_digits(class.ranks),
                report.effort(class.effort.0),
                spread(class),
                grouped_digits(sample),
                of(sample, class.ranks),
            ],
        ));
    }
    let n = report.n_ranks() as u64;
    let effort = report.effort(report.mean_effort());
    let sums = [("all classes", report.plan.sample_size()), ("without classes", report.plan.without_classes)];
    out.push_str("<tbody class=\"sums\">");
    for (name, sample) in sums {
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{name}</th><td>{}</td><td>{effort}</td><td></td><td>{}</td><td>{}</td></tr>",
            grouped_digits(n),
            grouped_digits(sample),
            of(sample, n)
        );
    }
    out.push_str("</tbody></table>");
    out
}

/// What classes explain, beside what they explain of ranks without any.
pub(super) fn support(report: &RanksReport) -> String {
    if report.grouping.support.is_empty() {
        return String::new();
    }
    let mut out =
        open(&["classes", "explain of the variance", "by chance, on average", "at most", "more than chance"]);
    for s in &report.grouping.support {
        let taken = if s.n_classes == report.classes.len() { ", taken" } else { "" };
        let _ = write!(
            out,
            "<tbody><tr><th scope=\"row\">{}{taken}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr></tbody>",
            s.n_classes,
            share_text(s.explained),
            share_text(s.by_chance),
            share_text(s.at_most_by_chance),
            if s.is_supported { "yes" } else { "no" }
        );
    }
    out.push_str(
        "</table><p class=\"muted\">By chance: classes about medoids of ranks that have the same principal axes and are \
         spread evenly along each, so that they have no classes.</p>",
    );
    out
}

/// Classes that were found anew every few steps, as a section of its own.
pub(super) fn windows(report: &RanksReport) -> String {
    if report.windows.is_empty() {
        return String::new();
    }
    let mut out = open(&[
        "from step",
        "steps",
        "classes",
        "verdict",
        "trace",
        "ranks that changed class",
        "adjusted Rand",
    ]);
    for window in &report.windows {
        let (moved, rand) = window
            .change
            .map_or_else(Default::default, |c| (grouped_digits(c.moved), short(c.adjusted_rand)));
        let _ = write!(
            out,
            "<tbody><tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{moved}</td><td>{rand}</td>\
             </tr></tbody>",
            window.first_step,
            window.n_steps,
            window.n_classes,
            window.kind.name(),
            grouped_digits(window.sample_size)
        );
    }
    out.push_str("</table>");
    format!(
        "<section aria-labelledby=\"h-windows\"><h2 id=\"h-windows\">Classes anew every few steps</h2><div class=\"scroll\" \
         tabindex=\"0\" role=\"group\" aria-labelledby=\"h-windows\">{out}</div></section>"
    )
}
