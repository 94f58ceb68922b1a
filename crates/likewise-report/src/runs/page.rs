//! The page around the pictures.

use super::{MAX_DRAWN, STYLE, bars, plot, tables};
use crate::first;
use crate::scripts;
use crate::shell::{self, Page, STATIC};
use crate::table::{self, Key};
use crate::{escape, palette};
use likewise::words::{counted, percent};
use likewise_analysis::runs::{Comparison, LEAST_SHARE, Phase};
use std::fmt::Write as _;
use std::io::{self, Write};

const PAGE: &str = include_str!("assets/page.html");

/// Writes the report as one self-contained HTML file.
///
/// # Errors
/// Those of `out`.
pub fn write_html(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    let inputs: Vec<String> = comparison.runs.iter().map(|run| run.input.clone()).collect();
    let told: Vec<(String, &str)> = comparison.findings().into_iter().map(|text| (text, "")).collect();
    let shown: Vec<u32> = comparison.shown().iter().map(|phase| phase.number).collect();
    let page = Page {
        brand: "likewise compare",
        version: env!("CARGO_PKG_VERSION"),
        kind: "runs",
        inputs: &inputs,
        subtitle: &subtitle(comparison),
        style: &format!("{STATIC}{STYLE}{}", phase_colours(comparison)),
        first: &first(&told, |letter, n| letter == 'p' && shown.contains(&n)),
        body: PAGE,
        notes: &comparison.notes,
        script: &scripts::of_static_page(),
    };
    shell::write(&page, out, |slot, out| out.write_all(fill(comparison, slot).as_bytes()))
}

fn fill(comparison: &Comparison, slot: &str) -> String {
    match slot {
        "plot-title" => {
            if comparison.same_threads() { "Speed by phase" } else { "Speed-up by phase" }.to_owned()
        }
        "plot-caption" => plot::caption(comparison).to_owned(),
        "legend" => legend(comparison),
        "plot" => plot::scaling(comparison),
        "bars" => bars::bars(comparison),
        "bars-caption" => bars::caption(comparison),
        "phases" => tables::phases(comparison),
        "phases-caption" => phases_caption(comparison),
        "runs" => tables::runs(comparison),
        "data" => String::new(),
        _ => unreachable!("the page has no other slot"),
    }
}

fn subtitle(comparison: &Comparison) -> String {
    let reference = comparison.runs.get(comparison.reference).map_or("", |run| &run.name);
    if comparison.same_threads() {
        return format!(
            "{} runs of {} each; phases matched with those of {}",
            comparison.runs.len(),
            comparison.threads_of(0),
            reference
        );
    }
    let how = comparison.scaling_told_by();
    let threads: Vec<String> = comparison.runs.iter().map(|run| run.whole.run_threads.to_string()).collect();
    format!(
        "{} scaling ({how}) on {} {}s; phases matched with those of {}",
        if comparison.scaling_name() == "strong" { "Strong" } else { "Weak" },
        threads.join(", "),
        comparison.unit(),
        reference
    )
}

fn phases_caption(comparison: &Comparison) -> String {
    let small = comparison.phases.len() - comparison.shown().len();
    format!(
        "Times are of what stands under per, for each thread of the run; bursts, share and instructions are of the \
         whole run. Factors are against the {} run that has the phase, and multiply to the efficiency; below {} they are \
         marked; ~ may be chance; * differs by the clock alone, as far as is known not in CPU time. Clusters are the numbers that each run's own report has; colours are those of the report of {}. {} of less than {} in each run: see \
         scaling.csv.",
        if comparison.same_threads() { "first" } else { "smallest" },
        percent(comparison.threshold),
        escape(comparison.runs.get(comparison.reference).map_or("", |run| &run.name)),
        counted(small as u64, "phase"),
        percent(LEAST_SHARE)
    )
}

/// Phases that are drawn, each with the name it has in the pictures.
fn legend(comparison: &Comparison) -> String {
    let drawn = comparison.shown().iter().take(MAX_DRAWN).map(|phase| {
        let number = phase.number;
        Key { mark: format!("p{number}"), name: format!("Phase {number}"), more: String::new() }
    });
    let all = Key { mark: "all".to_owned(), name: "All computation".to_owned(), more: String::new() };
    table::legend("Phases", std::iter::once(all).chain(drawn))
}

/// The colours of phases, on light and on dark, as variables. A phase has the
/// colour that it has in the report of the reference run.
fn phase_colours(comparison: &Comparison) -> String {
    let labels = colour_labels(comparison);
    let mut out = String::new();
    for (i, (phase, label)) in comparison.shown().iter().zip(labels).enumerate() {
        let n = phase.number;
        if i < MAX_DRAWN {
            out.push_str(&palette::css(&format!("p{n}"), label));
        } else {
            let _ = writeln!(out, ".p{n} {{ --light: transparent; --dark: transparent; }}");
        }
    }
    out
}

/// Of each phase that is shown, the number that it has in the reference's own
/// report: its colour. A phase that is no cluster of its own there has a colour
/// that no other has.
pub(super) fn colour_labels(comparison: &Comparison) -> Vec<u32> {
    let own = |phase: &Phase| -> Option<u32> {
        let run = phase.runs.get(comparison.reference)?.as_ref()?;
        Some(run.matched.clusters.first()?.number())
    };
    let mut taken = std::collections::BTreeSet::new();
    let mut labels: Vec<Option<u32>> = comparison
        .shown()
        .iter()
        .map(|phase| own(phase).filter(|&n| n <= palette::N_COLOURS && taken.insert(n)))
        .collect();
    for label in labels.iter_mut().filter(|label| label.is_none()) {
        let free = (1..=palette::N_COLOURS).find(|n| !taken.contains(n)).unwrap_or(palette::N_COLOURS + 1);
        taken.insert(free);
        *label = Some(free);
    }
    labels.into_iter().flatten().collect()
}
