//! Partitions, and records, on two objectives, coloured by rank.

use super::Ramp;
use crate::escape;
use crate::svg::{Axis, Frame, text};
use likewise::words::{counted, short};
use likewise_analysis::counters::{CountersReport, Measure, Records};
use std::fmt::Write;

pub(super) const WIDTH: f64 = 760.0;
pub(super) const HEIGHT: f64 = 430.0;
pub(super) const LEFT: f64 = 88.0;
pub(super) const RIGHT: f64 = 740.0;
pub(super) const TOP: f64 = 14.0;
pub(super) const BOTTOM: f64 = 376.0;
/// Records that are drawn, at most.
pub(super) const MAX_POINTS: usize = 4_000;
/// Records that say what they are when pointed at.
const MAX_TOLD: usize = 800;

struct Point {
    x: f64,
    y: f64,
    rank: Option<u32>,
    told: String,
    label: String,
}

/// All partitions on two of their objectives.
pub(super) fn partitions(report: &CountersReport) -> String {
    let drawn = report.drawn();
    let point = |partition: &likewise_analysis::counters::RankedPartition| {
        let measures = &partition.measures;
        let [x, y] = drawn.map(|measure| measure.of(measures));
        if !x.is_finite() || !y.is_finite() {
            return None;
        }
        let rank = partition.goldberg.map_or_else(|| "no rank".to_owned(), |rank| format!("rank {rank}"));
        let clusters = counted(measures.n_clusters as u64, "cluster");
        let [of_x, of_y] = drawn.map(Measure::symbol);
        let told = format!("{clusters}: {of_x} {}, {of_y} {}, {rank}", short(x), short(y));
        Some(Point { x, y, rank: partition.goldberg, told, label: measures.n_clusters.to_string() })
    };
    // Those of few clusters are drawn last, and labelled first.
    let points: Vec<Point> = report.partitions.iter().filter_map(point).collect();
    let ramp = Ramp::of(report.partitions.iter().map(|partition| &partition.goldberg));
    scatter(&thinned(points), drawn.map(Measure::told), ramp, "Partitions by two objectives")
}

/// Rows on the first two objectives.
pub(super) fn records(records: &Records) -> String {
    let [xs, ys] = &records.values;
    let point = |row: usize| Point {
        x: xs[row],
        y: ys[row],
        rank: records.goldberg[row],
        told: match records.goldberg[row] {
            Some(rank) => format!(
                "{}: {} {}, {} {}, rank {rank}",
                records.names[row],
                records.objectives[0],
                short(xs[row]),
                records.objectives[1],
                short(ys[row])
            ),
            None => records.names[row].clone(),
        },
        label: String::new(),
    };
    let mut rows: Vec<usize> = (0..xs.len()).filter(|&row| !xs[row].is_nan() && !ys[row].is_nan()).collect();
    // The best on top.
    rows.sort_by_key(|&row| (std::cmp::Reverse(records.goldberg[row]), row));
    let points: Vec<Point> = rows.into_iter().map(point).collect();
    let names = [records.objectives[0].as_str(), records.objectives[1].as_str()];
    scatter(&thinned(points), names, Ramp::of(records.goldberg.iter()), "Records by the first two objectives")
}

/// Whether not all rows are drawn.
pub(super) fn is_thinned(records: &Records) -> bool {
    records.names.len() > MAX_POINTS
}

/// All of rank 0, and every so-many-th of the others.
fn thinned(points: Vec<Point>) -> Vec<Point> {
    let every = points.len().div_ceil(MAX_POINTS).max(1);
    let keep = |(at, point): &(usize, Point)| at.is_multiple_of(every) || point.rank == Some(0);
    points.into_iter().enumerate().filter(keep).map(|(_, point)| point).collect()
}

fn scatter(points: &[Point], names: [&str; 2], ramp: Ramp, title: &str) -> String {
    let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().map(|point| (point.x, point.y)).unzip();
    let x = Axis::spread(&xs, LEFT + 12.0, RIGHT - 12.0);
    let y = Axis::spread(&ys, BOTTOM - 12.0, TOP + 12.0);
    let mut svg = format!(
        "<svg class=\"scatter\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">"
    );
    svg.push_str(&frame(x, y, names));
    let radius = if points.len() > 400 { 2.4 } else { 4.5 };
    let untold = points.len().saturating_sub(MAX_TOLD);
    for (at, point) in points.iter().enumerate() {
        let shade = point.rank.map_or(super::SHADES, |rank| ramp.shade(rank));
        let radius = if point.rank == Some(0) { radius + 1.2 } else { radius };
        let place = format!("cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\"", x.at(point.x), y.at(point.y));
        let _ = match at < untold {
            true => write!(svg, "<circle class=\"r{shade}\" {place}/>"),
            false => {
                write!(
                    svg,
                    "<circle class=\"r{shade}\" {place}><title>{}</title></circle>",
                    escape(&point.told)
                )
            }
        };
    }
    labels(points, x, y, &mut svg);
    svg.push_str("</svg>");
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{title}\">{svg}</div>{}",
        legend(ramp)
    )
}

/// Grid, numbers and names of the axes of a picture of this size.
pub(super) fn frame(x: Axis, y: Axis, names: [&str; 2]) -> String {
    let frame = Frame { left: LEFT, right: RIGHT, top: TOP, bottom: BOTTOM };
    frame.up(x.marks(6))
        + &frame.across(y.marks(6))
        + &frame.named(HEIGHT - 8.0, &x.named(names[0]), &y.named(names[1]))
}

/// Labels, the last first, where they do not touch.
fn labels(points: &[Point], x: Axis, y: Axis, svg: &mut String) {
    let mut placed: Vec<(f64, f64)> = Vec::new();
    for point in points.iter().rev().filter(|point| !point.label.is_empty()) {
        let (at, height) = (x.at(point.x) + 7.0, y.at(point.y) - 6.0);
        if placed.iter().all(|(x, y)| (at - x).abs() > 22.0 || (height - y).abs() > 12.0) {
            svg.push_str(&text(at, height, "class=\"rank\"", &point.label));
            placed.push((at, height));
        }
    }
}

/// Which colour is which rank.
fn legend(ramp: Ramp) -> String {
    let key = |(shade, first, last): (u32, u32, u32)| {
        let ranks = if first == last { format!("rank {first}") } else { format!("{first}–{last}") };
        format!("<li><i class=\"swatch r{shade}\"></i>{ranks}</li>")
    };
    format!(
        "<ul class=\"shades\" aria-label=\"Ranks\">{}</ul>",
        ramp.shades().into_iter().map(key).collect::<String>()
    )
}
