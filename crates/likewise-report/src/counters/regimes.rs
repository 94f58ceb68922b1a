//! The map of regimes: where in the space of parameters which model holds.

use super::plot::{BOTTOM, HEIGHT, LEFT, MAX_POINTS, RIGHT, TOP, WIDTH, frame};
use crate::escape;
use crate::svg::{Axis, text};
use crate::table::open;
use likewise::counters::regimes::{Range, Region};
use likewise::words::short;
use likewise_analysis::counters::regimes::{RegimeReport, region_name};
use std::fmt::Write;

/// Room between the axes and what is measured.
const MARGIN: f64 = 16.0;
/// Points of a model's line.
const LINE: usize = 80;

/// A parameter as it is drawn, or the response.
struct Side<'r> {
    name: &'r str,
    /// Which parameter it is; nothing for the response.
    parameter: Option<usize>,
    values: &'r [f64],
    /// The different ones, ascending.
    grid: Vec<f64>,
    axis: Axis,
    /// Where the picture ends: that of the low values first.
    ends: (f64, f64),
}

impl<'r> Side<'r> {
    fn of(report: &'r RegimeReport, parameter: Option<usize>, ends: (f64, f64)) -> Self {
        let (name, values) = match parameter {
            Some(at) => (&report.parameters[at], &report.fitted.columns[at]),
            None => (&report.response, &report.fitted.response),
        };
        let mut grid = values.clone();
        grid.sort_by(f64::total_cmp);
        grid.dedup();
        let margin = if ends.0 < ends.1 { MARGIN } else { -MARGIN };
        let axis = Axis::grid(&grid, ends.0 + margin, ends.1 - margin);
        Self { name, parameter, values, grid, axis, ends }
    }

    /// Between which places a region lies: half way to the next value that
    /// was measured, or to the end of the picture.
    fn extent(&self, region: &Region) -> (f64, f64) {
        let range = self.parameter.map(|at| region.ranges[at]);
        let edge = |below: f64| {
            let next = self.grid.partition_point(|x| *x <= below);
            let above = self.grid.get(next).copied().unwrap_or(below);
            f64::midpoint(self.axis.at(below), self.axis.at(above))
        };
        let bounds = range.map_or((None, None), |range: Range| (range.above, range.at_most));
        (bounds.0.map_or(self.ends.0, edge), bounds.1.map_or(self.ends.1, edge))
    }
}

/// The two parameters that bound most regions are drawn. If there is only one
/// parameter, the response is the other axis.
fn sides(report: &RegimeReport) -> (Side<'_>, Side<'_>) {
    let regions = &report.found.regions;
    let bounded = |at: usize| {
        let is_bound = |region: &&Region| region.ranges[at].above.or(region.ranges[at].at_most).is_some();
        regions.iter().filter(is_bound).count()
    };
    let mut order: Vec<usize> = (0..report.parameters.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(bounded(at)));
    order.truncate(2);
    order.sort_unstable();
    let x = Side::of(report, order.first().copied(), (LEFT, RIGHT));
    (x, Side::of(report, order.get(1).copied(), (BOTTOM, TOP)))
}

/// The picture.
pub(super) fn map(report: &RegimeReport) -> String {
    let (x, y) = sides(report);
    let title = format!("Regimes of {} over {}", report.response, report.parameters.join(", "));
    let title = escape(&title);
    let mut svg =
        format!("<svg class=\"map\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">");
    svg.push_str(&frame(x.axis, y.axis, [x.name, y.name]));
    let labels = &report.found.labels;
    let every = labels.len().div_ceil(MAX_POINTS).max(1);
    for (at, region) in report.found.regions.iter().enumerate() {
        let name = region_name(at);
        let _ = write!(
            svg,
            "<g class=\"region c{0}\" data-phase=\"region-{0}\"><title>{name}: {1}\n{2}\n{3}</title>",
            at + 1,
            escape(&report.extent(region)),
            escape(report.model(region)),
            escape(&report.coefficients(region))
        );
        let ((left, right), (bottom, top)) = (x.extent(region), y.extent(region));
        let _ = write!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            right - left,
            bottom - top
        );
        let here = (0..labels.len()).step_by(every).filter(|&point| labels[point] == Some(at as u32));
        for point in here {
            let (cx, cy) = (x.axis.at(x.values[point]), y.axis.at(y.values[point]));
            let _ = write!(svg, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"2\"/>");
        }
        if y.parameter.is_none() {
            svg.push_str(&line(report, region, &x, &y));
        }
        svg.push_str(&text(f64::midpoint(left, right), f64::midpoint(bottom, top) + 6.0, "", &name));
        svg.push_str("</g>");
    }
    svg.push_str("</svg>");
    format!("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{title}\">{svg}</div>")
}

/// The model over the only parameter.
fn line(report: &RegimeReport, region: &Region, x: &Side<'_>, y: &Side<'_>) -> String {
    let value = |c: &likewise::counters::regimes::Coefficient| c.estimate.map_or(0.0, |e| e.value);
    let coefficients: Vec<f64> = region.coefficients.iter().map(value).collect();
    let range = region.ranges[0];
    let place = |step: usize| {
        let at = x.axis.between(range.least, range.greatest, step as f64 / LINE as f64);
        let modelled = report.models[region.model].value(&coefficients, &[at]);
        (x.axis.at(at), y.axis.at(modelled).clamp(TOP, BOTTOM))
    };
    let mut path = String::from("<path d=\"");
    for (step, (x, y)) in (0..=LINE).map(place).filter(|(_, y)| y.is_finite()).enumerate() {
        let _ = write!(path, "{}{x:.1} {y:.1}", if step == 0 { 'M' } else { 'L' });
    }
    path + "\"/>"
}

/// What is said below it.
pub(super) fn caption(report: &RegimeReport) -> String {
    let mut caption = format!(
        "Fitted to {}; a dot is a point. Intervals hold the coefficient with {}% certainty if the region and its \
         model are right. Stray is the standard deviation of the response about the model",
        report.points(),
        short(100.0 * report.confidence)
    );
    if report.noise == likewise::counters::regimes::Noise::Relative {
        caption.push_str(", as a share of it");
    }
    if report.found.regions.len() == 1 {
        return caption + ".";
    }
    let _ = write!(
        caption,
        ". By the BIC (more is better) the regions have {} where one model for all has {}.",
        short(report.found.bic),
        short(report.found.bic_of_one)
    );
    if report.parameters.len() > 2 {
        caption.push_str(" Regions that lie on one another differ in a parameter that is not drawn.");
    }
    caption
}

/// A row for each region.
pub(super) fn table(report: &RegimeReport) -> String {
    let mut out = open(&["region", "where", "model", "coefficients", "points", "stray"]);
    for (at, region) in report.found.regions.iter().enumerate() {
        let _ = write!(
            out,
            "<tbody class=\"c{0}\" data-phase=\"region-{0}\"><tr><th scope=\"row\"><i class=\"swatch\"></i>{1}</th><td>{2}</td>\
             <td>{3}</td><td>{4}</td><td>{5}</td><td>{6}</td></tr></tbody>",
            at + 1,
            region_name(at),
            escape(&report.extent(region)),
            escape(report.model(region)),
            escape(&report.coefficients(region)),
            region.n,
            report.spread(region)
        );
    }
    out + "</table>"
}
