//! Small pictures side by side, one per class: what its ranks do step by
//! step, and how far they are from their medoid. And the BIC.

use super::MAX_DRAWN;
use crate::escape;
use crate::svg::{Axis, Frame, path, tick};
use likewise::words::{counted, grouped_digits, short};
use likewise_analysis::ranks::{Criterion, MeanTrace, RanksReport};
use std::fmt::Write;

const WIDTH: f64 = 320.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 314.0;
const TOP: f64 = 8.0;

/// The most points of a curve: about one for each of its pixels, so more could
/// not be seen.
const MAX_POINTS: usize = 260;
/// Regions that are drawn: those of the most effort.
const MAX_REGIONS: usize = 8;
const BINS: usize = 66;

fn figure(report: &RanksReport, class: usize, svg: &str) -> String {
    format!(
        "<figure class=\"panel c{n}\" data-phase=\"c{n}\"><figcaption><i class=\"swatch\"></i>{} \
         <small>{}</small></figcaption>{svg}</figure>",
        report.class_name(class),
        counted(report.classes[class].ranks, "rank"),
        n = class + 1
    )
}

/// The regions to draw, those of the most effort first.
fn drawn_regions(report: &RanksReport) -> Vec<usize> {
    let effort = |r: usize| -> f64 {
        let of = |class: &likewise_analysis::ranks::Class| {
            class.traces[r].mean.iter().map(|x| x.abs()).sum::<f64>() * class.ranks as f64
        };
        report.classes.iter().map(of).sum()
    };
    let n = report.classes.first().map_or(0, |class| class.traces.len());
    let mut regions: Vec<(f64, usize)> = (0..n).map(|r| (effort(r), r)).collect();
    regions.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    regions.truncate(MAX_REGIONS);
    regions.into_iter().map(|(_, r)| r).collect()
}

/// The mean trace of each class, region by region.
pub(super) fn traces(report: &RanksReport) -> String {
    let mut out = String::new();
    for region in drawn_regions(report) {
        if let Some(name) = report.region(region) {
            let _ = write!(out, "<h3>{}</h3>", escape(name));
        }
        out.push_str("<div class=\"panels\">");
        let drawn = &report.classes[..report.classes.len().min(MAX_DRAWN)];
        let (low, high) = range(drawn.iter().map(|class| &class.traces[region]));
        for (c, class) in drawn.iter().enumerate() {
            out.push_str(&figure(report, c, &trace(report, c, &class.traces[region], (low, high))));
        }
        out.push_str("</div>");
    }
    out
}

pub(super) fn traces_caption(report: &RanksReport) -> String {
    let all = report.classes.first().map_or(0, |class| class.traces.len());
    let left = match all.saturating_sub(MAX_REGIONS) {
        0 => String::new(),
        n => format!(" {} of less effort, of {all}, are in traces.csv only.", counted(n as u64, "region")),
    };
    format!(
        "Mean effort of the ranks of a class in each step (line), one standard deviation about it (dark band), the \
         least and the greatest of any rank (light band). Panels of a region share their scale.{left}"
    )
}

/// What the bands of the classes reach; from 0 where that is near.
fn range<'a>(traces: impl Iterator<Item = &'a MeanTrace>) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for trace in traces {
        low = trace.least.iter().copied().fold(low, f64::min);
        high = trace.most.iter().copied().fold(high, f64::max);
    }
    if low > high {
        return (0.0, 1.0);
    }
    if low > 0.0 && low < 0.6 * high {
        low = 0.0;
    }
    if high == low { (low, high + 1.0) } else { (low, high) }
}

/// Steps that are drawn as one point.
struct Bucket {
    step: f64,
    mean: f64,
    deviation: f64,
    least: f64,
    most: f64,
}

fn buckets(trace: &MeanTrace) -> Vec<Bucket> {
    let n = trace.mean.len();
    let width = n.div_ceil(MAX_POINTS).max(1);
    let bucket = |from: usize| {
        let to = (from + width).min(n);
        let mean = |column: &[f64]| column[from..to].iter().sum::<f64>() / (to - from) as f64;
        Bucket {
            step: (from + to - 1) as f64 / 2.0,
            mean: mean(&trace.mean),
            deviation: mean(&trace.deviation),
            least: trace.least[from..to].iter().copied().fold(f64::INFINITY, f64::min),
            most: trace.most[from..to].iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    };
    (0..n).step_by(width).map(bucket).collect()
}

fn trace(report: &RanksReport, c: usize, trace: &MeanTrace, (low, high): (f64, f64)) -> String {
    const HEIGHT: f64 = 132.0;
    const BOTTOM: f64 = 110.0;
    let last = report.n_steps.saturating_sub(1);
    let y = Axis::linear(low, high, BOTTOM, TOP);
    let mut buckets = buckets(trace);
    if let [only] = &buckets[..] {
        // One step is a line across.
        let only = |step: f64| Bucket { step, ..*only };
        buckets = vec![only(-1.0), only(1.0)];
    }
    let steps = if report.n_steps == 1 { (-1.0, 1.0) } else { (0.0, last as f64) };
    let x = Axis::linear(steps.0, steps.1, LEFT, RIGHT);
    let within = |value: f64| y.at(value.clamp(low, high));
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Mean effort of class {} in each step, from \
         {} to {}\">",
        c + 1,
        escape(&report.effort(trace.mean.iter().copied().fold(f64::INFINITY, f64::min))),
        escape(&report.effort(trace.mean.iter().copied().fold(f64::NEG_INFINITY, f64::max)))
    );
    let band = |low: &dyn Fn(&Bucket) -> f64, high: &dyn Fn(&Bucket) -> f64| -> Vec<(f64, f64)> {
        let above = buckets.iter().map(|b| (x.at(b.step), within(high(b))));
        let below = buckets.iter().rev().map(|b| (x.at(b.step), within(low(b))));
        above.chain(below).collect()
    };
    let frame = Frame { left: LEFT, right: RIGHT, top: TOP, bottom: BOTTOM };
    let levels = [low, f64::midpoint(low, high), high];
    svg.push_str(&frame.across(levels.into_iter().map(|value| (y.at(value), report.effort(value)))));
    svg.push_str(&path("band", &band(&|b| b.least, &|b| b.most), true));
    svg.push_str(&path("band deviation", &band(&|b| b.mean - b.deviation, &|b| b.mean + b.deviation), true));
    let line: Vec<(f64, f64)> = buckets.iter().map(|b| (x.at(b.step), within(b.mean))).collect();
    svg.push_str(&path("mean", &line, false));
    svg.push_str(&tick(LEFT, HEIGHT - 6.0, "start", "step 0"));
    if last > 0 {
        svg.push_str(&tick(RIGHT, HEIGHT - 6.0, "end", &grouped_digits(last as u64)));
    }
    svg.push_str("</svg>");
    svg
}

/// How far the ranks of each class are from their medoid, as a histogram.
pub(super) fn distances(report: &RanksReport) -> String {
    let drawn = report.classes.len().min(MAX_DRAWN);
    let most = report.dissimilarity.iter().copied().fold(0.0, f64::max);
    let mut bins = vec![[0u64; BINS]; drawn];
    for (&class, &distance) in report.class_of.iter().zip(&report.dissimilarity) {
        if let Some(bins) = bins.get_mut(class as usize) {
            let share = if most > 0.0 { distance / most } else { 0.0 };
            bins[((share * BINS as f64) as usize).min(BINS - 1)] += 1;
        }
    }
    let panels: String =
        bins.iter().enumerate().map(|(c, bins)| figure(report, c, &histogram(c, bins, most))).collect();
    format!("<div class=\"panels\">{panels}</div>")
}

fn histogram(c: usize, bins: &[u64; BINS], most: f64) -> String {
    const HEIGHT: f64 = 94.0;
    const BOTTOM: f64 = 72.0;
    let tallest = bins.iter().copied().max().unwrap_or(0).max(1);
    let width = (RIGHT - LEFT) / BINS as f64;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Ranks of class {} by their dissimilarity to \
         the medoid\"><path class=\"frame\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/>",
        c + 1
    );
    svg.push_str(&tick(LEFT - 5.0, TOP + 8.0, "end", &grouped_digits(tallest)));
    for (b, &ranks) in bins.iter().enumerate().filter(|(_, ranks)| **ranks > 0) {
        // One rank among many can still be seen.
        let height = (ranks as f64 / tallest as f64 * (BOTTOM - TOP)).max(1.5);
        let _ = write!(
            svg,
            "<rect class=\"bin\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\"><title>{}</title></rect>",
            LEFT + b as f64 * width,
            BOTTOM - height,
            width - 0.5,
            escape(&format!(
                "{} at {} to {}",
                counted(ranks, "rank"),
                short(most * b as f64 / BINS as f64),
                short(most * (b + 1) as f64 / BINS as f64)
            ))
        );
    }
    svg.push_str(&tick(LEFT, HEIGHT - 6.0, "start", "0"));
    svg.push_str(&tick(RIGHT, HEIGHT - 6.0, "end", &short(most)));
    svg.push_str("</svg>");
    svg
}

/// What decided, of each number of classes, and which was taken.
pub(super) fn criterion(report: &RanksReport) -> String {
    const WIDTH: f64 = 480.0;
    const HEIGHT: f64 = 210.0;
    const LEFT: f64 = 66.0;
    const RIGHT: f64 = 468.0;
    const TOP: f64 = 16.0;
    const BOTTOM: f64 = 166.0;
    let grouping = &report.grouping;
    let finite: Vec<(usize, f64)> =
        grouping.bic.iter().copied().filter(|(_, value)| value.is_finite()).collect();
    let (Some(&first), Some(&last)) = (finite.first(), finite.last()) else {
        let why = match grouping.criterion {
            Criterion::Given => "The number of classes was given, so that there was nothing to choose.",
            Criterion::Bic | Criterion::Gap => "There are too few ranks to choose a number of classes.",
        };
        return format!("<p class=\"muted\">{why}</p>");
    };
    let low = finite.iter().map(|v| v.1).fold(f64::INFINITY, f64::min);
    let high = finite.iter().map(|v| v.1).fold(f64::NEG_INFINITY, f64::max);
    let x = Axis::linear(first.0 as f64, last.0 as f64, LEFT + 14.0, RIGHT - 14.0);
    let y = Axis::linear(low, high, BOTTOM - 8.0, TOP + 8.0);
    let k = report.classes.len();
    let mut svg = format!(
        "<svg class=\"bic\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"BIC of each number of classes; \
         {k} was taken\">"
    );
    let mut levels = vec![low, (low + high) / 2.0, high];
    levels.dedup();
    let frame = Frame { left: LEFT, right: RIGHT, top: TOP, bottom: BOTTOM };
    svg.push_str(&frame.across(levels.into_iter().map(|value| (y.at(value), likewise::words::si(value)))));
    let line: Vec<(f64, f64)> = finite.iter().map(|&(k, value)| (x.at(k as f64), y.at(value))).collect();
    svg.push_str(&path("curve", &line, false));
    let every = finite.len().div_ceil(12);
    for (i, (&(this, value), &(at, height))) in finite.iter().zip(&line).enumerate() {
        let (class, radius) = if this == k { (" class=\"taken\"", 6.5) } else { ("", 3.5) };
        let _ = write!(
            svg,
            "<circle{class} cx=\"{at:.1}\" cy=\"{height:.1}\" r=\"{radius}\"><title>{}</title></circle>",
            escape(&format!("k = {this}: {}", short(value)))
        );
        if i % every == 0 || this == k {
            svg.push_str(&tick(at, BOTTOM + 18.0, "middle", &this.to_string()));
        }
    }
    svg.push_str(&tick((LEFT + RIGHT) / 2.0, HEIGHT - 6.0, "middle", "classes (k)"));
    let _ = write!(
        svg,
        "</svg><p class=\"muted\">The BIC; the larger, the better. The ring is what was taken{}.</p>",
        if grouping.criterion == Criterion::Gap { ": the data do not support more" } else { "" }
    );
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_steps_become_few_points_that_keep_the_extremes() {
        let mean: Vec<f64> = (0..10_000).map(f64::from).collect();
        let mut most = mean.clone();
        most[5_001] = 1e6;
        let trace = MeanTrace { deviation: vec![1.0; 10_000], least: mean.clone(), mean, most };
        let buckets = buckets(&trace);
        assert!(buckets.len() <= MAX_POINTS);
        assert_eq!(buckets.iter().map(|b| b.most).fold(0.0, f64::max), 1e6);
    }

    #[test]
    fn scales_start_at_0_where_it_is_near() {
        let trace =
            |low: f64, high: f64| MeanTrace { least: vec![low], most: vec![high], ..MeanTrace::default() };
        assert_eq!(range([trace(2.0, 10.0)].iter()), (0.0, 10.0));
        assert_eq!(range([trace(9.0, 10.0)].iter()), (9.0, 10.0));
        assert_eq!(range([trace(-3.0, 1.0)].iter()), (-3.0, 1.0));
        assert_eq!(range([trace(4.0, 4.0)].iter()), (4.0, 5.0));
    }
}
