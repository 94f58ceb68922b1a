//! The page around the pictures.

use super::{MAX_DRAWN, SCRIPT, STYLE, bars, plot, tables};
use crate::escape;
use crate::palette::{colours, hex};
use likewise::words::percent;
use likewise_analysis::runs::{Comparison, LEAST_SHARE};
use std::fmt::Write as _;
use std::io::{self, Write};

const PAGE: &str = include_str!("assets/page.html");

/// Writes the report as one self-contained HTML file.
///
/// # Errors
/// Those of `out`.
pub fn write_html(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        out.write_all(before.as_bytes())?;
        let (slot, after) = after.split_once("}}").unwrap_or((after, ""));
        rest = after;
        out.write_all(fill(comparison, slot).as_bytes())?;
    }
    out.write_all(rest.as_bytes())
}

fn fill(comparison: &Comparison, slot: &str) -> String {
    match slot {
        "title" => title(comparison),
        "style" => format!("{STYLE}{}", phase_colours(comparison)),
        "script" => SCRIPT.1.to_owned(),
        "version" => env!("CARGO_PKG_VERSION").to_owned(),
        "subtitle" => subtitle(comparison),
        "findings" => items(&comparison.findings()),
        "findings-label" => {
            if comparison.same_threads() { "What differs" } else { "What stops scaling" }.to_owned()
        }
        "plot-caption" => plot::caption(comparison).to_owned(),
        "notes" => items(&comparison.notes),
        "plot" => plot::scaling(comparison),
        "bars" => bars::bars(comparison),
        "bars-caption" => bars::caption(comparison),
        "phases" => tables::phases(comparison),
        "phases-caption" => phases_caption(comparison),
        "runs" => tables::runs(comparison),
        _ => unreachable!("the page has no other slot"),
    }
}

fn title(comparison: &Comparison) -> String {
    let names: Vec<String> = comparison.runs.iter().map(|run| escape(&run.name)).collect();
    names.join(", ")
}

fn subtitle(comparison: &Comparison) -> String {
    let reference = comparison.runs.get(comparison.reference).map_or("", |run| &run.name);
    if comparison.same_threads() {
        return format!(
            "{} runs of {} each; phases matched with those of {}",
            comparison.runs.len(),
            comparison.threads_of(0),
            escape(reference)
        );
    }
    let how = if comparison.settings.scaling.is_some() { "as asked" } else { "told by the instructions" };
    let threads: Vec<String> = comparison.runs.iter().map(|run| run.whole.run_threads.to_string()).collect();
    format!(
        "{} scaling ({how}) on {} {}s; phases matched with those of {}",
        if comparison.scaling_name() == "strong" { "Strong" } else { "Weak" },
        threads.join(", "),
        comparison.unit(),
        escape(reference)
    )
}

fn phases_caption(comparison: &Comparison) -> String {
    let small = comparison.phases.len() - comparison.shown().len();
    format!(
        "Times are of what stands under per, for each thread of the run; bursts, share and instructions are of the \
         whole run. Factors are against the {} run that has the phase, and multiply to the efficiency; below {} they are \
         marked; ~ may be chance. Clusters are those of each run's own analysis. {small} phases of less than {} in each run are in \
         scaling.csv.",
        if comparison.same_threads() { "first" } else { "smallest" },
        percent(comparison.threshold),
        percent(LEAST_SHARE)
    )
}

/// Items of a list.
#[must_use]
pub fn items(texts: &[String]) -> String {
    texts.iter().map(|text| format!("<li>{}</li>", escape(text))).collect()
}

/// The colours of phases, on light and on dark, as variables.
fn phase_colours(comparison: &Comparison) -> String {
    let mut out = String::new();
    for (i, phase) in comparison.shown().iter().enumerate() {
        let n = phase.number;
        let (light, dark) = colours(n);
        if i < MAX_DRAWN {
            let _ = writeln!(
                out,
                ".p{n} {{ --light: {}; --dark: {}; --inside-light: {}; --inside-dark: {}; }}",
                hex(light),
                hex(dark),
                on(light),
                on(dark)
            );
        } else {
            let _ = writeln!(out, ".p{n} {{ --light: transparent; --dark: transparent; }}");
        }
    }
    out
}

/// Black or white, whichever reads better on a colour (WCAG 2 luminance).
pub fn on(colour: [u8; 3]) -> &'static str {
    let linear = colour.map(|c| {
        let c = f64::from(c) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    });
    let luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    if luminance > 0.179 { "#000000" } else { "#ffffff" }
}
