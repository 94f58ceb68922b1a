//! Speed-up of each phase against threads, both logarithmic.

use super::MAX_DRAWN;
use crate::escape;
use crate::svg::{Frame, text};
use likewise::bursts::scaling::PhaseScaling;
use likewise::words::percent;
use likewise_analysis::runs::{Comparison, Phase, cause_of};
use std::fmt::Write;

const HEIGHT: f64 = 520.0;
/// Left, top and bottom of the frame.
const LEFT: f64 = 56.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 464.0;
/// Between the base lines of two labels.
const LINE: f64 = 17.0;

/// How wide a picture is.
#[derive(Clone, Copy)]
struct Size {
    class: &'static str,
    width: f64,
    /// Of the frame; lines have their names right of it where there is room.
    right: f64,
}

/// For a desk, and for a telephone, where a smaller copy could not be read:
/// there the legend alone names the lines.
const SIZES: [Size; 2] = [
    Size { class: "plot wide", width: 985.0, right: 620.0 },
    Size { class: "plot narrow", width: 366.0, right: 360.0 },
];

impl Size {
    fn has_names(self) -> bool {
        self.width > self.right + 100.0
    }
}

/// Where runs and speed-ups stand.
struct Axes {
    size: Size,
    /// Of each run.
    x: Vec<f64>,
    /// Logarithms of the least and the greatest speed-up, base 2.
    low: f64,
    high: f64,
    /// Threads of each run over those of the first; 1 where runs do not differ in threads.
    ideal: Vec<f64>,
}

impl Axes {
    fn of(comparison: &Comparison, drawn: &[&Phase], size: Size) -> Self {
        let threads: Vec<f64> = comparison.runs.iter().map(|run| run.whole.run_threads as f64).collect();
        let distinct = threads.windows(2).all(|two| two[0] < two[1]);
        let place = |r: usize| if distinct { threads[r].log2() } else { r as f64 };
        let (from, to) = (place(0), place(threads.len() - 1));
        let x =
            |r: usize| LEFT + 24.0 + (place(r) - from) / (to - from).max(1e-9) * (size.right - LEFT - 48.0);
        let ideal: Vec<f64> = threads.iter().map(|t| t / threads[0]).collect();
        let scalings = drawn.iter().map(|phase| &phase.scaling).chain([&comparison.whole]);
        let speedups = scalings.flat_map(|scaling| points(scaling, &ideal)).map(|(_, s)| s.log2());
        let (mut low, mut high) = (-0.5, ideal.last().copied().unwrap_or(1.0).log2() + 0.3);
        for speedup in speedups {
            (low, high) = (f64::min(low, speedup - 0.2), f64::max(high, speedup + 0.2));
        }
        Self { x: (0..threads.len()).map(x).collect(), low, high, ideal, size }
    }

    fn y(&self, speedup: f64) -> f64 {
        BOTTOM - (speedup.log2() - self.low) / (self.high - self.low) * (BOTTOM - TOP)
    }
}

/// Runs and speed-ups of a phase. One that the first runs lack starts on the
/// ideal line: it is compared with its own first run.
fn points(scaling: &PhaseScaling, ideal: &[f64]) -> Vec<(usize, f64)> {
    let start = ideal[scaling.base];
    let of_run = |(r, change): (usize, &Option<_>)| {
        change.as_ref().map(|c: &likewise::bursts::scaling::Change| (r, c.speedup * start))
    };
    scaling.changes.iter().enumerate().filter_map(of_run).filter(|(_, s)| *s > 0.0).collect()
}

/// What is said below the plot.
pub(super) fn caption(comparison: &Comparison) -> &'static str {
    if comparison.same_threads() {
        "Longest time of a thread in the phase, against the first run. A large ring is where a phase is slower. \
         At the end of a line: speed in the last run, and what costs most where it is slower."
    } else {
        "Longest time of a thread in the phase, against the smallest run. A large ring is where a phase stops \
         scaling. At the end of a line: efficiency in the largest run, and what costs most where it stops."
    }
}

/// The plot as SVG, in each size.
pub(super) fn scaling(comparison: &Comparison) -> String {
    SIZES.iter().map(|&size| sized(comparison, size)).collect()
}

fn sized(comparison: &Comparison, size: Size) -> String {
    let drawn: Vec<&Phase> = comparison.shown().iter().take(MAX_DRAWN).collect();
    let axes = Axes::of(comparison, &drawn, size);
    let mut svg = format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {HEIGHT}\" role=\"img\" aria-label=\"Speed-up of each phase \
         against {unit}s, logarithmic\">",
        unit = comparison.unit(),
        class = size.class,
        width = size.width
    );
    grid(comparison, &axes, &mut svg);
    let mut labels = Vec::new();
    let ends = |scaling: &PhaseScaling| points(scaling, &axes.ideal).last().copied();
    if let Some((r, speedup)) = ends(&comparison.whole) {
        let title = "All computation";
        line(comparison, &axes, &comparison.whole, "all", title, &mut svg);
        labels.push(Label::of(comparison, &axes, (r, speedup), ("all", title), &comparison.whole));
    }
    for phase in &drawn {
        let (class, title) = (format!("p{}", phase.number), format!("Phase {}", phase.number));
        line(comparison, &axes, &phase.scaling, &class, &title, &mut svg);
        if let Some(end) = ends(&phase.scaling) {
            labels.push(Label::of(comparison, &axes, end, (&class, &title), &phase.scaling));
        }
    }
    place(&mut labels);
    if size.has_names() {
        labels.iter().for_each(|label| label.draw(size.right, &mut svg));
    }
    svg.push_str("</svg>");
    svg
}

fn grid(comparison: &Comparison, axes: &Axes, svg: &mut String) {
    let right = axes.size.right;
    let _ = write!(
        svg,
        "<rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/>",
        right - LEFT,
        BOTTOM - TOP
    );
    let frame = Frame { left: LEFT, right, top: TOP, bottom: BOTTOM };
    let (from, to) = (axes.low.ceil() as i32, axes.high.floor() as i32);
    let step = ((to - from) / 10 + 1).max(1);
    for exponent in (from..=to).filter(|e| e.rem_euclid(step) == 0) {
        let y = axes.y(f64::from(exponent).exp2());
        let name =
            if exponent < 0 { format!("1/{}", 1_u64 << -exponent) } else { (1_u64 << exponent).to_string() };
        svg.push_str(&frame.across(std::iter::once((y, name))));
    }
    for (r, &x) in axes.x.iter().enumerate() {
        let name = comparison.runs[r].whole.run_threads.to_string();
        svg.push_str(&frame.up(std::iter::once((x, name))));
        // Names of files are long: where there is no room, the table has them.
        let room = (right - LEFT) / axes.x.len() as f64 / 6.5;
        let name = &comparison.runs[r].name;
        if (name.chars().count() as f64) < room {
            svg.push_str(&text(x, BOTTOM + 34.0, "class=\"note\" text-anchor=\"middle\"", name));
        }
    }
    let below = format!("{}s", comparison.unit());
    let name = format!("speed-up against {}", comparison.place(0));
    svg.push_str(&frame.named(BOTTOM + 52.0, &below, &name));
    let threshold = comparison.threshold;
    for (class, efficiency) in [("ideal", 1.0), ("threshold", threshold)] {
        if efficiency > 0.0 {
            let at = |r: usize| format!("{:.1} {:.1}", axes.x[r], axes.y(axes.ideal[r] * efficiency));
            let path: Vec<String> = (0..axes.x.len()).map(at).collect();
            let _ = write!(svg, "<path class=\"{class}\" d=\"M{}\"/>", path.join("L"));
        }
    }
    let ideal = "class=\"note\" text-anchor=\"start\"";
    svg.push_str(&text(axes.x[0] + 4.0, TOP + 16.0, ideal, "wide grey: ideal"));
    let (what, below) =
        if comparison.same_threads() { ("speed", "is slower") } else { ("efficiency", "stops scaling") };
    let mut dashed = format!("dashed: {what} of {}", percent(threshold));
    if axes.size.has_names() {
        let _ = write!(dashed, ", below it a phase {below}");
    }
    svg.push_str(&text(axes.x[0] + 4.0, TOP + 32.0, ideal, &dashed));
}

fn line(
    comparison: &Comparison,
    axes: &Axes,
    scaling: &PhaseScaling,
    class: &str,
    title: &str,
    svg: &mut String,
) {
    let points = points(scaling, &axes.ideal);
    let place = |&(r, s): &(usize, f64)| format!("{:.1} {:.1}", axes.x[r], axes.y(s));
    let path: Vec<String> = points.iter().map(place).collect();
    let _ =
        write!(svg, "<g class=\"series {class}\" data-phase=\"{class}\"><path d=\"M{}\"/>", path.join("L"));
    for &(r, speedup) in &points {
        let Some(change) = &scaling.changes[r] else { continue };
        let (x, y) = (axes.x[r], axes.y(speedup));
        let stops = if scaling.stops_at == Some(r) { " class=\"stops\"" } else { "" };
        let worst = change.worst().filter(|factor| factor.value < 1.0 && r != scaling.base);
        let worst = worst.map(|factor| format!("; {}, × {:.2}", cause_of(change), factor.value));
        let told = format!(
            "{title} on {}: speed-up {:.2}, efficiency {}{}",
            escape(&comparison.place(r)),
            change.speedup,
            percent(change.efficiency),
            worst.unwrap_or_default()
        );
        let radius = if stops.is_empty() { 4.0 } else { 6.5 };
        let _ = write!(
            svg,
            "<circle{stops} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"><title>{told}</title></circle>"
        );
    }
    svg.push_str("</g>");
}

/// The name of a line at its end.
struct Label {
    from: (f64, f64),
    y: f64,
    class: String,
    text: String,
}

impl Label {
    fn of(
        comparison: &Comparison,
        axes: &Axes,
        (r, speedup): (usize, f64),
        (class, name): (&str, &str),
        scaling: &PhaseScaling,
    ) -> Self {
        let from = (axes.x[r], axes.y(speedup));
        let mut text = name.to_owned();
        if let Some(change) = &scaling.changes[r] {
            let _ = write!(text, " {}", percent(change.efficiency));
        }
        // Others are compared with the smallest run of all.
        if scaling.base != comparison.whole.base {
            let _ = write!(text, " of {}", comparison.place(scaling.base));
        }
        if let Some(change) = scaling.stops_at.and_then(|at| scaling.changes[at].as_ref()) {
            let _ = write!(text, ", {}", cause_of(change));
        }
        Self { from, y: from.1, class: class.to_owned(), text }
    }

    fn draw(&self, right: f64, svg: &mut String) {
        let ((x, y), to) = (self.from, self.y);
        let _ = write!(
            svg,
            "<g class=\"label {class}\" data-phase=\"{class}\"><path d=\"M{:.1} {y:.1}L{:.1} {to:.1}H{:.1}\"/>",
            x + 7.0,
            right + 8.0,
            right + 14.0,
            class = self.class
        );
        svg.push_str(&text(right + 18.0, to + 4.0, "", &self.text));
        svg.push_str("</g>");
    }
}

/// Moves labels apart, in their order, and keeps each as near to its line as
/// possible.
fn place(labels: &mut [Label]) {
    labels.sort_by(|a, b| a.from.1.total_cmp(&b.from.1));
    let n = labels.len();
    // Each block of touching labels stands around the mean of where its
    // labels want to be.
    let mut blocks: Vec<(usize, usize)> = Vec::new();
    let top = |labels: &[Label], (from, to): (usize, usize)| {
        let want: f64 = (from..to).map(|i| labels[i].from.1 - (i - from) as f64 * LINE).sum();
        let height = (to - from - 1) as f64 * LINE;
        (want / (to - from) as f64).clamp(TOP, (BOTTOM - height).max(TOP))
    };
    for i in 0..n {
        let mut block = (i, i + 1);
        while let Some(&before) = blocks.last() {
            let end = top(labels, before) + (before.1 - before.0) as f64 * LINE;
            if end <= top(labels, block) {
                break;
            }
            blocks.pop();
            block.0 = before.0;
        }
        blocks.push(block);
    }
    for block in blocks {
        let top = top(labels, block);
        (block.0..block.1).for_each(|i| labels[i].y = top + (i - block.0) as f64 * LINE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_order_and_their_distance() {
        let label = |y: f64| Label { from: (0.0, y), y, class: String::new(), text: String::new() };
        let mut labels: Vec<Label> = [100.0, 101.0, 99.0, 300.0, 460.0, 463.0].map(label).into();
        place(&mut labels);
        let y: Vec<f64> = labels.iter().map(|l| l.y).collect();
        assert!(y.windows(2).all(|two| two[1] - two[0] >= LINE - 1e-9), "{y:?}");
        assert_eq!((y[0], y[1], y[3]), (100.0 - LINE, 100.0, 300.0));
        assert!(y[5] <= BOTTOM);
    }
}
