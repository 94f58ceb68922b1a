//! The page: the mean trace with its band, regions, windows.

use super::{choice, findings, interval, regions, sampled_of, steps, time};
use crate::scripts;
use crate::shell::{self, Page, STATIC};
use crate::svg::{Axis, Frame, path};
use crate::{escape, first, table};
use likewise::words::{counted, grouped_digits, percent};
use likewise_analysis::ranks::sampled::SampledRun;
use std::io::{self, Write};

const PAGE: &str = include_str!("assets/page.html");
const OWN_STYLE: &str = include_str!("assets/sampled.css");
const WIDTH: f64 = 1120.0;
const HEIGHT: f64 = 260.0;
/// Steps share points where there are more.
const MOST_POINTS: usize = 1_000;
/// Windows in the table.
const MOST_WINDOWS: usize = 500;

/// Writes the report as one self-contained HTML file.
///
/// # Errors
/// Those of `out`.
pub fn write_html(input: &str, run: &SampledRun, out: &mut impl Write) -> io::Result<()> {
    let told: Vec<(String, &str)> = findings(run).into_iter().map(|text| (text, "")).collect();
    let page = Page {
        brand: "likewise ranks",
        version: env!("CARGO_PKG_VERSION"),
        kind: "sampled",
        inputs: &[input.to_owned()],
        subtitle: &format!(
            "{}, {}, {} of steps; recorded by strata",
            counted(run.n_ranks, "rank"),
            counted(run.n_steps, "step"),
            counted(run.windows.len() as u64, "window")
        ),
        style: &format!("{STATIC}{OWN_STYLE}"),
        first: &first(&told, |_, _| false),
        body: PAGE,
        notes: &run.notes,
        script: &scripts::of_static_page(),
    };
    shell::write(&page, out, |slot, out| out.write_all(fill(run, slot).as_bytes()))
}

fn fill(run: &SampledRun, slot: &str) -> String {
    match slot {
        "trace" => trace(run),
        "points" => match each(run) {
            1 => String::new(),
            each => format!(" Each point is {each} steps, with the widest of their intervals."),
        },
        "regions" => region_table(run),
        "windows" => window_table(run),
        "data" => String::new(),
        _ => unreachable!("the page has no other slot"),
    }
}

/// How many steps share a point.
fn each(run: &SampledRun) -> usize {
    (run.n_steps as usize).div_ceil(MOST_POINTS).max(1)
}

fn trace(run: &SampledRun) -> String {
    let all: Vec<[f64; 4]> = run
        .windows
        .iter()
        .flat_map(|w| w.trace.iter().zip(w.truth()))
        .map(|(e, truth)| [e.mean, (e.mean - e.half_width).max(0.0), e.mean + e.half_width, truth])
        .collect();
    let points: Vec<[f64; 4]> = all
        .chunks(each(run))
        .map(|steps| {
            let mean = |i: usize| steps.iter().map(|step| step[i]).sum::<f64>() / steps.len() as f64;
            let low = steps.iter().map(|step| step[1]).fold(f64::INFINITY, f64::min);
            let high = steps.iter().map(|step| step[2]).fold(0.0, f64::max);
            [mean(0), low, high, mean(3)]
        })
        .collect();
    let frame = Frame { left: 84.0, right: 1110.0, top: 10.0, bottom: 214.0 };
    let high = points.iter().flatten().copied().fold(0.0, f64::max);
    let y = Axis::linear(0.0, if high > 0.0 { high } else { 1.0 }, frame.bottom, frame.top);
    let x = Axis::linear(0.0, (run.n_steps as f64 - 1.0).max(1.0), frame.left, frame.right);
    let place = |at: usize| x.at(at as f64 * each(run) as f64);
    let line = |i: usize| -> Vec<(f64, f64)> {
        points.iter().enumerate().map(|(at, point)| (place(at), y.at(point[i]))).collect()
    };
    let band: Vec<(f64, f64)> = line(1).into_iter().chain(line(2).into_iter().rev()).collect();
    let marks = y.ticks(5).into_iter().map(|value| (y.at(value), time(value)));
    let label = format!("Mean effort of a rank in {}", counted(run.n_steps, "step"));
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">{}{}{}{}{}{}</svg>",
        escape(&label),
        frame.across(marks),
        frame.up(x.marks(8)),
        path("band", &band, true),
        path("whole", &line(3), false),
        path("told", &line(0), false),
        frame.named(HEIGHT - 4.0, "step", "mean effort")
    )
}

fn region_table(run: &SampledRun) -> String {
    let mut out = table::open(&["region", "mean effort of a rank", "share", "steps"]);
    for region in regions(run) {
        let share = if run.total.mean > 0.0 { region.effort.mean / run.total.mean } else { 0.0 };
        out.push_str(&table::row(
            &escape(&region.name),
            "",
            &[interval(&region.effort), percent(share), grouped_digits(region.n_steps)],
        ));
    }
    out.push_str("</table>");
    out
}

fn window_table(run: &SampledRun) -> String {
    let mut out = table::open(&[
        "steps",
        "mean effort of a rank",
        "in all ranks",
        "promised",
        "expected",
        "sampled",
        "strata",
    ]);
    for window in run.windows.iter().take(MOST_WINDOWS) {
        out.push_str(&table::row(
            &steps(window),
            "",
            &[
                interval(&window.total),
                time(window.truth().sum()),
                percent(window.window.error),
                percent(window.window.expected_error),
                sampled_of(window),
                choice(window),
            ],
        ));
    }
    out.push_str("</table>");
    if run.windows.len() > MOST_WINDOWS {
        let more = grouped_digits((run.windows.len() - MOST_WINDOWS) as u64);
        out.push_str(&format!("<p class=\"muted\">… {more} more in windows.csv</p>"));
    }
    out
}
