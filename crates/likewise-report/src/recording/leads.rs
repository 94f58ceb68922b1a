//! Who leads whom: ranks by clusterings, coloured by lead.

use super::{RecordingReport, ranks_text};
use crate::escape;
use crate::svg::{clipped, text, tick};
use crate::table;
use likewise::table::Nanos;
use likewise::words::{counted, grouped_digits};
use likewise_recording::{Clustering, Log};
use std::collections::BTreeMap;
use std::fmt::Write;

const WIDTH: f64 = 1120.0;
const LEFT: f64 = 150.0;
const RIGHT: f64 = 1110.0;
/// Ranks of more than this are in several lines.
const LINE: usize = 256;
/// Of a program with so many ranks, lines hold twice as many.
const MANY: usize = 16_384;
/// What is drawn at most: stretches of ranks with one lead.
const MOST_RUNS: usize = 40_000;
/// And clusterings.
const MOST_CLUSTERINGS: usize = 24;
/// Leads in the table.
const MOST_ROWS: usize = 200;

/// The lead of every rank; none of one that has none.
fn lead_of(clustering: &Clustering, size: u32) -> Vec<Option<u32>> {
    let mut lead = vec![None; size as usize];
    for led in &clustering.led {
        for rank in &led.ranks {
            if let Some(lead) = lead.get_mut(*rank as usize) {
                *lead = Some(led.lead);
            }
        }
    }
    lead
}

/// A stretch of ranks with one lead within a line: lead, line, and first and
/// last place in it.
type Run = (u32, usize, usize, usize);

fn runs(lead: &[Option<u32>], line: usize) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (rank, lead) in lead.iter().enumerate() {
        let (row, at) = (rank / line, rank % line);
        let Some(lead) = *lead else { continue };
        match runs.last_mut().filter(|last| last.0 == lead && last.1 == row && last.3 + 1 == at) {
            Some(last) => last.3 = at,
            None => runs.push((lead, row, at, at)),
        }
    }
    runs
}

/// The picture, and what is not in it.
pub(super) fn picture(report: &RecordingReport, log: &Log) -> String {
    let size = report.size as usize;
    let line = if size > MANY { 2 * LINE } else { LINE }.min(size.max(1));
    let rows = size.div_ceil(line).max(1);
    let (cell, height) = ((RIGHT - LEFT) / line as f64, if rows > 1 { 5.0 } else { 18.0 });
    let block = rows as f64 * height + 8.0;
    let numbers = report.numbers_of_leads();
    let mut budget = MOST_RUNS;
    let mut drawn: Vec<(&Clustering, Vec<Run>)> = Vec::new();
    // The last ones matter most.
    for clustering in log.clusterings.iter().rev().take(MOST_CLUSTERINGS) {
        let runs = runs(&lead_of(clustering, report.size), line);
        if !drawn.is_empty() && runs.len() > budget {
            break;
        }
        budget = budget.saturating_sub(runs.len());
        drawn.push((clustering, runs));
    }
    drawn.reverse();
    let left_out = log.clusterings.len() - drawn.len();
    let total = 18.0 + drawn.len() as f64 * block;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {total:.0}\" role=\"img\" aria-label=\"The lead of every rank in each clustering\">"
    );
    svg.push_str(&tick(LEFT, 12.0, "start", "rank 0"));
    svg.push_str(&tick(RIGHT, 12.0, "end", &format!("{}", line.saturating_sub(1))));
    for (at, (clustering, runs)) in drawn.iter().enumerate() {
        let top = 18.0 + at as f64 * block;
        let name = format!("marker {}, {}", grouped_digits(clustering.marker), Nanos(clustering.at));
        svg.push_str(&text(LEFT - 8.0, top + 13.0, "class=\"tick\" text-anchor=\"end\"", &name));
        svg.push_str(&cells(clustering, runs, &numbers, (top, cell, height)));
        svg.push_str(&leads(clustering, line, (top, cell, height)));
    }
    svg.push_str("</svg>");
    let lines = match rows {
        1 => String::new(),
        _ => format!(" Each line has {} ranks.", grouped_digits(line as u64)),
    };
    let missing = match left_out {
        0 => String::new(),
        n => format!(" {} before these are in the log only.", counted(n as u64, "clustering")),
    };
    let _ = write!(
        svg,
        "<p class=\"muted\">Each clustering, and for every rank the colour of its lead; the leads have a dot.{lines}{missing}</p>"
    );
    svg
}

/// A path for each lead.
fn cells(
    clustering: &Clustering,
    runs: &[Run],
    numbers: &BTreeMap<u32, u32>,
    (top, cell, height): (f64, f64, f64),
) -> String {
    let mut shapes: BTreeMap<u32, String> = BTreeMap::new();
    for (lead, row, from, to) in runs {
        let (x, y) = (LEFT + *from as f64 * cell, top + *row as f64 * height);
        let width = (to - from + 1) as f64 * cell;
        let shape = shapes.entry(*lead).or_default();
        let _ = write!(shape, "M{x:.2} {y:.1}h{width:.2}v{:.1}h-{width:.2}z", height - 0.5);
    }
    let mut out = String::new();
    for (lead, shape) in shapes {
        let number = numbers.get(&lead).copied().unwrap_or(1);
        let led = clustering.led.iter().find(|led| led.lead == lead);
        let n = led.map_or(0, |led| led.ranks.len());
        let title = format!("rank {lead} leads {}", counted(n as u64, "rank"));
        let _ = write!(
            out,
            "<path class=\"led c{number}\" data-phase=\"c{number}\" d=\"{shape}\"><title>{}</title></path>",
            escape(&title)
        );
    }
    out
}

fn leads(clustering: &Clustering, line: usize, (top, cell, height): (f64, f64, f64)) -> String {
    let mut out = String::new();
    for led in clustering.led.iter().take(MOST_RUNS) {
        let (row, at) = (led.lead as usize / line, led.lead as usize % line);
        let _ = write!(
            out,
            "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{:.1}\"/>",
            LEFT + (at as f64 + 0.5) * cell,
            top + (row as f64 + 0.5) * height - 0.25,
            (height / 4.0).clamp(2.0, 4.0)
        );
    }
    out
}

/// The leads of the last clustering, and what each stands for.
pub(super) fn table(report: &RecordingReport, log: &Log) -> String {
    let Some(last) = log.clusterings.last() else { return String::new() };
    let numbers = report.numbers_of_leads();
    let mut out = table::open(&["lead", "ranks", "call path", "bytes", "memory", "stands for"]);
    let of = |values: &[u64], rank: u32| {
        values.get(rank as usize).map_or_else(|| "–".to_owned(), |value| grouped_digits(*value))
    };
    for led in last.led.iter().take(MOST_ROWS) {
        let number = numbers.get(&led.lead).copied().unwrap_or(1);
        out.push_str(&table::row(
            &format!("<i class=\"swatch\"></i>Rank {}", led.lead),
            &table::marked(&format!("c{number}")),
            &[
                grouped_digits(led.ranks.len() as u64),
                led.call_path.to_string(),
                of(&log.bytes, led.lead),
                of(&log.peaks, led.lead),
                clipped(&ranks_text(&led.ranks), 120),
            ],
        ));
    }
    out.push_str("</table>");
    if last.led.len() > MOST_ROWS {
        let _ = write!(
            out,
            "<p class=\"muted\">… {} more</p>",
            grouped_digits((last.led.len() - MOST_ROWS) as u64)
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::tests::sample;

    #[test]
    fn ranks_of_one_lead_are_one_stretch_within_a_line() {
        let lead = [Some(0), Some(0), Some(2), Some(2), Some(2), None, Some(0), Some(0)];
        assert_eq!(runs(&lead, 4), [(0, 0, 0, 1), (2, 0, 2, 3), (2, 1, 0, 0), (0, 1, 2, 3)]);
    }

    #[test]
    fn pictures_stay_small() {
        for size in [1, 2, 16, 4_096, 65_536] {
            let report = sample(size.max(4));
            let log = report.log.as_ref().expect("a log");
            let many = Log { clusterings: vec![log.clusterings.clone(); 50].concat(), ..log.clone() };
            let svg = picture(&report, &many);
            assert!(svg.len() < 4_000_000, "{size}: {}", svg.len());
            assert!(svg.contains("before these are in the log only") && !svg.contains("NaN"));
        }
    }

    #[test]
    fn a_log_may_name_ranks_that_there_are_not() {
        let mut report = sample(16);
        let led = &mut report.log.as_mut().expect("a log").clusterings[1].led[0];
        led.ranks.push(u32::MAX);
        led.lead = u32::MAX;
        let log = report.log.clone().expect("a log");
        assert!(picture(&report, &log).contains("marker 45"));
        assert!(table(&report, &log).contains("–"));
    }
}
