//! The classes and the plan on the terminal.

use crate::palette;
use crate::text::styled;
use anstyle::{Ansi256Color, Color, Style};
use likewise::words::{counted, grouped_digits, percent, share_text, short};
use likewise_analysis::ranks::RanksReport;
use std::fmt::Write;

const HEADER: [&str; 8] =
    ["class", "ranks", "share", "medoid", "trace", "mean effort", "spread", "dissimilarity"];

/// A line per class, and what is to be known. Columns that do not fit `width`
/// are left out.
pub fn table(report: &RanksReport, width: usize, colour: bool) -> String {
    let mut out = String::new();
    let steps = counted(report.n_steps as u64, "step");
    let regions = match report.regions.len() {
        0 | 1 => String::new(),
        n => format!(", {n} regions"),
    };
    let grouping = &report.grouping;
    let how = if grouping.is_exact { "exact" } else { "sampled" };
    let by = grouping.criterion.name().map_or_else(String::new, |name| format!(", classes by {name}"));
    let _ = writeln!(
        out,
        "{}, {steps}{regions}; {} ({how}), {}{by}\n",
        counted(report.n_ranks() as u64, "rank"),
        grouping.method,
        grouping.signature
    );
    let lines: Vec<Vec<String>> = std::iter::once(HEADER.map(str::to_owned).to_vec())
        .chain((0..report.classes.len()).map(|c| line(report, c)))
        .chain([total(report)])
        .collect();
    let style = |i: usize| match (colour, i) {
        (true, 0) => Style::new().bold(),
        (true, _) if i <= report.classes.len() => {
            Style::new().fg_color(Some(Color::Ansi256(Ansi256Color(palette::ansi(i as u32)))))
        }
        _ => Style::new(),
    };
    out += &styled(&lines, width, style);
    out.push('\n');
    for finding in report.findings() {
        let _ = writeln!(out, "{finding}");
    }
    out
}

fn line(report: &RanksReport, c: usize) -> Vec<String> {
    let class = &report.classes[c];
    let (mean, deviation) = class.effort;
    let spread = if mean == 0.0 { "–".to_owned() } else { percent(deviation / mean.abs()) };
    vec![
        (c + 1).to_string(),
        grouped_digits(class.ranks),
        share_text(report.share(class.ranks)),
        class.medoid.to_string(),
        grouped_digits(report.plan.sample[c]),
        report.effort(mean),
        spread,
        short(class.dissimilarity.0),
    ]
}

fn total(report: &RanksReport) -> Vec<String> {
    vec![
        "all".to_owned(),
        grouped_digits(report.n_ranks() as u64),
        share_text(1.0),
        String::new(),
        grouped_digits(report.plan.sample_size()),
        report.effort(report.mean_effort()),
        String::new(),
        short(report.grouping.loss / report.n_ranks().max(1) as f64),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_analysis::ranks::sample::sample;

    #[test]
    fn classes_and_plan_fit_the_width() {
        let text = table(&sample(), 100, false);
        assert!(text.starts_with(
            "64 ranks, 20 steps, 2 regions; capek (exact), haar, level 2, classes by BIC\n\nclass  ranks"
        ));
        assert!(text.contains("\n2          2    3.1%       7      1"), "{text}");
        assert!(text.contains("\nall       64"), "{text}");
        for width in [40, 60, 100] {
            let narrow = table(&sample(), width, false);
            let rows = narrow.lines().skip(2).take(4);
            assert!(rows.clone().all(|row| row.chars().count() <= width), "{narrow}");
        }
        assert!(table(&sample(), 80, true).contains('\u{1b}'));
    }
}
