//! The page around the pictures.

use super::bars::{self, Unit};
use super::{RecordingReport, leads, states, tables};
use crate::scripts;
use crate::shell::{self, Page, STATIC};
use crate::{escape, first, palette};
use likewise::words::{counted, grouped_digits, percent};
use likewise_recording::{Log, Mode};
use std::fmt::Write as _;
use std::io::{self, Write};

const PAGE: &str = include_str!("assets/page.html");
const STATES: &str = include_str!("assets/states.html");
const LEADS: &str = include_str!("assets/leads.html");
const COSTS: &str = include_str!("assets/costs.html");
const OWN_STYLE: &str = include_str!("assets/recording.css");

/// Writes the report as one self-contained HTML file.
///
/// # Errors
/// Those of `out`.
pub fn write_html(report: &RecordingReport, out: &mut impl Write) -> io::Result<()> {
    let told: Vec<(String, &str)> = report.findings.iter().map(|text| (text.clone(), "")).collect();
    let log_notes = report.log.iter().flat_map(|log| log.notes.iter().cloned());
    let notes: Vec<String> = log_notes.chain(report.notes.iter().cloned()).collect();
    let page = Page {
        brand: "likewise info",
        version: env!("CARGO_PKG_VERSION"),
        kind: "recording",
        inputs: std::slice::from_ref(&report.input),
        subtitle: &subtitle(report),
        style: &format!("{STATIC}{OWN_STYLE}{}", colours(report)),
        first: &first(&told, |_, _| false),
        body: &body(report),
        notes: &notes,
        script: &scripts::of_static_page(),
    };
    shell::write(&page, out, |slot, out| out.write_all(fill(report, slot).as_bytes()))
}

/// The sections of which there is something to show.
fn body(report: &RecordingReport) -> String {
    let mut body = String::new();
    if let Some(log) = &report.log {
        if !log.states.is_empty() {
            body.push_str(STATES);
        }
        if !log.clusterings.is_empty() {
            body.push_str(LEADS);
        }
        if !log.bytes.is_empty() {
            body.push_str(COSTS);
        }
    }
    body.push_str(PAGE);
    body
}

fn fill(report: &RecordingReport, slot: &str) -> String {
    let of_log = |show: &dyn Fn(&Log) -> String| report.log.as_ref().map(show).unwrap_or_default();
    match slot {
        "band" => of_log(&|log| states::band(report, log)),
        "states" => of_log(&|log| states::table(report, log)),
        "picture" => of_log(&|log| leads::picture(report, log)),
        "leads" => of_log(&|log| leads::table(report, log)),
        "bytes" => of_log(&|log| bars::by_rank(report, &log.bytes, "Bytes", Unit::Bytes)),
        "memory" => of_log(&|log| bars::by_rank(report, &log.peaks, "Memory of the recorder", Unit::Bytes)),
        "overhead" => of_log(&|log| overhead(report, log)),
        "bars-caption" => of_log(&|log| caption(log)),
        "nest-rank" => report.nest.0.to_string(),
        "nest" => tables::nest(report),
        "sites" => tables::sites(report),
        "data" => String::new(),
        _ => unreachable!("the page has no other slot"),
    }
}

/// Markers are of recording on line alone.
fn overhead(report: &RecordingReport, log: &Log) -> String {
    if log.costs.iter().all(|cost| *cost == 0) {
        return String::new();
    }
    let share = |(cost, wall): (&u64, &likewise::table::Nanos)| *cost as f64 / wall.0.max(1) as f64;
    let most = log.costs.iter().zip(&report.walls).map(share).fold(0.0, f64::max);
    let bars = bars::by_rank(report, &log.costs, "Time for markers", Unit::Time);
    format!(
        "<h3>Time for markers</h3>{bars}<p class=\"muted\">Votes, clusterings and what was written there, without waiting \
         for later ranks: at most {} of the time of a rank.</p>",
        escape(&percent(most))
    )
}

fn caption(log: &Log) -> String {
    match log.clusterings.is_empty() {
        true => String::new(),
        false => "<p class=\"muted\"><i class=\"swatch lead\"></i>leads of the last clustering \
                  <i class=\"swatch other\"></i>other ranks</p>"
            .to_owned(),
    }
}

fn subtitle(report: &RecordingReport) -> String {
    let ranks = match report.recorded as u64 == u64::from(report.size) {
        true => counted(report.size.into(), "rank"),
        false => {
            format!("{} of {}", grouped_digits(report.recorded as u64), counted(report.size.into(), "rank"))
        }
    };
    let mut text = format!(
        "{ranks}, {}, {} in files, {}",
        counted(report.events, "event"),
        counted(report.bytes, "byte"),
        report.end
    );
    if let Some(log) = &report.log {
        let _ = write!(text, "; mode {}", log.mode.word());
        if !log.marker.is_empty() && log.mode != Mode::Full {
            let _ = write!(text, ", marker {}", log.marker);
        }
    }
    text
}

/// The colours of states and of leads, on light and on dark, as variables.
fn colours(report: &RecordingReport) -> String {
    let leads = report.numbers_of_leads().len() as u32;
    let states = (1..=states::STATES.len() as u32).map(|n| palette::css(&format!("s{n}"), n));
    // Those after the last colour share one.
    let leads = (1..=leads).map(|n| palette::css(&format!("c{n}"), n));
    states.chain(leads).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::tests::sample;

    fn page(report: &RecordingReport) -> String {
        let mut out = Vec::new();
        write_html(report, &mut out).expect("a vector takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn all_sections_are_there_and_names_stay_text() {
        for size in [4, 16, 4_096] {
            let page = page(&sample(size));
            let parts = [
                "h-states",
                "h-leads",
                "h-costs",
                "h-nest",
                "h-sites",
                "&lt;b&gt;a note",
                "&lt;step&gt;",
                "0123abcd",
            ];
            parts.iter().for_each(|part| assert!(page.contains(part), "{part}"));
            assert!(!page.contains("<b>a note") && !page.contains("NaN") && !page.contains("{{"));
            assert!(page.len() < 1_000_000, "{size} ranks: {}", page.len());
            if let Ok(folder) = std::env::var("LIKEWISE_PAGES") {
                std::fs::write(format!("{folder}/recording-{size}.html"), page).expect("a folder");
            }
        }
    }

    #[test]
    fn a_full_recording_has_calls_and_loops_alone() {
        let report = RecordingReport { log: None, ..sample(16) };
        let plain = page(&report);
        assert!(plain.contains("h-nest") && plain.contains("h-sites"));
        assert!(
            !plain.contains("id=\"h-states")
                && !plain.contains("id=\"h-leads")
                && !plain.contains("id=\"h-costs")
        );
        // Asked for by name, it has what each rank wrote and needed.
        let mut counted = sample(16);
        let log = counted.log.as_mut().expect("a log");
        log.mode = Mode::Full;
        log.states.clear();
        log.clusterings.clear();
        log.costs.clear();
        let counted = page(&counted);
        assert!(
            counted.contains("h-costs")
                && !counted.contains("id=\"h-leads")
                && !counted.contains("Time for markers")
        );
    }
}
