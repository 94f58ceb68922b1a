//! Time of each run by phase, stacked.

use super::MAX_DRAWN;
use crate::svg::{text, tick};
use likewise::bursts::scaling::{Measured, Per, Scaling};
use likewise::table::Nanos;
use likewise::words::percent;
use likewise_analysis::runs::{Comparison, InRun};
use std::fmt::Write;

/// Where bars are in a picture of a size.
#[derive(Clone, Copy)]
struct Size {
    class: &'static str,
    width: f64,
    left: f64,
    right: f64,
    /// Room for the name above a bar; 0 where it stands beside it.
    above: f64,
}

/// For a desk, and for a telephone, where a smaller copy could not be read.
const SIZES: [Size; 2] = [
    Size { class: "bars wide", width: 985.0, left: 116.0, right: 840.0, above: 0.0 },
    Size { class: "bars narrow", width: 366.0, left: 2.0, right: 286.0, above: 20.0 },
];
const BAR: f64 = 34.0;
const GAP: f64 = 14.0;

/// A piece of a bar: its class, what it is, its time in ns.
struct Piece {
    class: String,
    name: String,
    short: String,
    time: f64,
}

/// What the bars show, for people.
pub(super) fn caption(comparison: &Comparison) -> String {
    let unit = comparison.unit();
    let of = match comparison.scaling {
        Scaling::Strong => format!("over all {unit}s"),
        Scaling::Weak => format!("per {unit}"),
    };
    let equal = match comparison.same_threads() {
        true => "Runs that are as fast have bars of equal length.",
        false => "If all of it scaled, the bars would be of equal length.",
    };
    match comparison.per {
        Some(Per::Iteration) => format!("Computing time of an iteration {of}. {equal}"),
        Some(_) => format!("Computing time {of}. {equal}"),
        None => format!("Computing time of the whole runs {of}. They do unlike work: lengths tell nothing."),
    }
}

/// The bars as SVG, in each size.
pub(super) fn bars(comparison: &Comparison) -> String {
    SIZES.iter().map(|&size| drawn(comparison, size)).collect()
}

fn drawn(comparison: &Comparison, Size { class, width, left, right, above }: Size) -> String {
    let runs: Vec<Vec<Piece>> = (0..comparison.runs.len()).map(|r| pieces(comparison, r)).collect();
    let length = |pieces: &Vec<Piece>| pieces.iter().map(|p| p.time).sum::<f64>();
    let longest = runs.iter().map(length).fold(1.0, f64::max);
    let step = BAR + GAP + above;
    let height = runs.len() as f64 * step + 4.0;
    let mut svg = format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"Time of each run by phase\">"
    );
    for (r, pieces) in runs.iter().enumerate() {
        let y = r as f64 * step + above + 2.0;
        let (x, height, anchor) =
            if above > 0.0 { (left, y - 6.0, "start") } else { (left - 10.0, y + BAR / 2.0 + 4.0, "end") };
        svg.push_str(&tick(x, height, anchor, &comparison.threads_of(r)));
        let total = length(pieces);
        let mut x = left;
        for piece in pieces {
            let width = piece.time / longest * (right - left);
            let told = format!(
                "{} on {}: {}, {}",
                piece.name,
                comparison.threads_of(r),
                Nanos(piece.time as u64),
                percent(piece.time / total.max(1.0))
            );
            let _ = write!(
                svg,
                "<g class=\"piece {class}\" data-phase=\"{class}\"><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.2}\" \
                 height=\"{BAR}\"><title>{told}</title></rect>",
                class = piece.class
            );
            if width > 9.0 * piece.short.len() as f64 + 4.0 {
                let middle = "class=\"inside\" text-anchor=\"middle\"";
                svg.push_str(&text(x + width / 2.0, y + BAR / 2.0 + 5.0, middle, &piece.short));
            }
            svg.push_str("</g>");
            x += width;
        }
        svg.push_str(&tick(x + 8.0, y + BAR / 2.0 + 4.0, "start", &Nanos(total as u64).to_string()));
    }
    svg.push_str("</svg>");
    svg
}

fn pieces(comparison: &Comparison, r: usize) -> Vec<Piece> {
    let run = &comparison.runs[r];
    let threads = match comparison.scaling {
        Scaling::Strong => run.whole.run_threads as f64,
        Scaling::Weak => 1.0,
    };
    let of_iteration = comparison.per == Some(Per::Iteration);
    let time = |run: &InRun| threads * if of_iteration { run.measured.mean() } else { run.figures().mean() };
    let all = run.all.as_ref().filter(|_| of_iteration).map_or_else(|| run.whole.mean(), Measured::mean);
    let mut pieces = Vec::new();
    let mut rest = threads * all;
    let shown = comparison.shown().iter().filter(|phase| phase.in_loop || !of_iteration);
    for phase in shown.take(MAX_DRAWN) {
        let time = phase.runs[r].as_ref().map_or(0.0, time);
        rest -= time;
        if time > 0.0 {
            let (number, short) = (phase.number, phase.number.to_string());
            pieces.push(Piece { class: format!("p{number}"), name: format!("Phase {number}"), short, time });
        }
    }
    // What rounding leaves is nothing.
    if rest > 1e-9 * threads * all {
        let name = "Everything else".to_owned();
        pieces.push(Piece { class: "rest".to_owned(), name, short: "else".to_owned(), time: rest });
    }
    pieces
}
