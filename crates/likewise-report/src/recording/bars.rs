//! What each rank wrote, needed and took: a bar for each rank, or for several.

use super::RecordingReport;
use crate::escape;
use crate::svg::{Axis, Frame, tick};
use likewise::table::Nanos;
use likewise::words::{grouped_digits, si};
use std::fmt::Write;

const WIDTH: f64 = 1120.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 1110.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 124.0;
/// Ranks share bars where there are more.
const MOST_BARS: usize = 512;

/// What values are.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    Bytes,
    /// In ns.
    Time,
}

impl Unit {
    fn told(self, value: f64) -> String {
        match self {
            _ if value <= 0.0 => "0".to_owned(),
            Self::Bytes => format!("{}B", si(value)),
            Self::Time => Nanos(value as u64).to_string(),
        }
    }
}

/// The values of all ranks; those of leads in another colour. Nothing where
/// nothing was counted.
pub(super) fn by_rank(report: &RecordingReport, values: &[u64], what: &str, unit: Unit) -> String {
    let most = values.iter().copied().max().unwrap_or(0);
    if most == 0 {
        return "<p class=\"muted\">This was not counted.</p>".to_owned();
    }
    let is_lead = report.is_lead();
    let each = values.len().div_ceil(MOST_BARS);
    let y = Axis::linear(0.0, most as f64, BOTTOM, TOP);
    let x = Axis::linear(0.0, values.len() as f64, LEFT, RIGHT);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
        escape(&format!("{what} by rank, at most {}", unit.told(most as f64)))
    );
    let frame = Frame { left: LEFT, right: RIGHT, top: TOP, bottom: BOTTOM };
    svg.push_str(&frame.across(y.ticks(4).into_iter().map(|value| (y.at(value), unit.told(value)))));
    for lead in [false, true] {
        let mut shape = String::new();
        for (bar, values) in values.chunks(each).enumerate() {
            let from = bar * each;
            let of = values
                .iter()
                .enumerate()
                .filter(|(at, _)| is_lead.get(from + at).copied().unwrap_or(false) == lead);
            let Some(value) = of.map(|(_, value)| *value).max() else { continue };
            let (left, right) = (x.at(from as f64), x.at((from + values.len()) as f64));
            // Both kinds may share a bar of several ranks: leads are the thinner,
            // but not too thin to be seen.
            let inset =
                if lead && each > 1 { (right - left - 2.0) / 2.0 } else { ((right - left) * 0.08).min(1.5) };
            let _ = write!(
                shape,
                "M{:.2} {BOTTOM}V{:.1}H{:.2}V{BOTTOM}z",
                left + inset,
                y.at(value as f64),
                right - inset
            );
        }
        if !shape.is_empty() {
            let _ = write!(
                svg,
                "<path class=\"{}\" d=\"{shape}\"/>",
                if lead { "bar-lead" } else { "bar-other" }
            );
        }
    }
    svg.push_str(&tick(LEFT, HEIGHT - 6.0, "start", "rank 0"));
    svg.push_str(&tick(RIGHT, HEIGHT - 6.0, "end", &grouped_digits(values.len() as u64 - 1)));
    svg.push_str("</svg>");
    if each > 1 {
        let _ = write!(svg, "<p class=\"muted\">Each bar is the most of {each} ranks.</p>");
    }
    svg
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::tests::sample;

    #[test]
    fn many_ranks_share_bars_and_leads_can_still_be_seen() {
        for size in [4, 16, 4_096] {
            let report = sample(size);
            let log = report.log.as_ref().expect("a log");
            let svg = by_rank(&report, &log.bytes, "Bytes", Unit::Bytes);
            assert!(svg.contains("bar-lead") && svg.contains("bar-other") && !svg.contains("NaN"));
            assert_eq!(svg.contains("the most of 8 ranks"), size == 4_096);
        }
        assert!(by_rank(&sample(4), &[0; 4], "Bytes", Unit::Bytes).contains("not counted"));
        assert!(by_rank(&sample(4), &[], "Bytes", Unit::Bytes).contains("not counted"));
    }
}
