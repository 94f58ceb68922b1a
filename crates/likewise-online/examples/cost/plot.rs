//! Panels of lines over the number of ranks: above all lines on a logarithmic
//! axis, below those of the first two on a linear one, where what is
//! logarithmic in the number of ranks is straight.

use std::fmt::Write;

const COLOURS: [&str; 3] = ["#0072b2", "#009e73", "#d55e00"];
const WIDTH: f64 = 330.0;
const HEIGHT: f64 = 250.0;
/// Around the axes of a panel: left, top, right, bottom.
const AROUND: [f64; 4] = [62.0, 34.0, 16.0, 40.0];

/// A value for each number of ranks.
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<f64>,
}

pub(crate) fn svg(sizes: &[usize], panels: &[(&str, Vec<Line>)]) -> String {
    let (width, height) = (WIDTH * panels.len() as f64, 2.0 * HEIGHT + 60.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (at, (title, lines)) in panels.iter().enumerate() {
        let left = WIDTH * at as f64;
        panel(&mut svg, [left, 0.0], title, sizes, lines, true);
        panel(&mut svg, [left, HEIGHT], title, sizes, &lines[..2], false);
    }
    let names = panels.first().map_or(&[][..], |(_, lines)| lines);
    for (at, (line, colour)) in names.iter().zip(COLOURS).enumerate() {
        let (x, y) = (AROUND[0], 2.0 * HEIGHT + 14.0 + 15.0 * at as f64);
        let _ = writeln!(
            svg,
            "<path d=\"M{x} {y}h24\" stroke=\"{colour}\" stroke-width=\"2\"/><text x=\"{}\" y=\"{}\">{}</text>",
            x + 30.0,
            y + 4.0,
            line.name
        );
    }
    svg + "</svg>\n"
}

fn panel(
    svg: &mut String,
    [left, top]: [f64; 2],
    title: &str,
    sizes: &[usize],
    lines: &[Line],
    is_log: bool,
) {
    let (x0, y0) = (left + AROUND[0], top + AROUND[1]);
    let (w, h) = (WIDTH - AROUND[0] - AROUND[2], HEIGHT - AROUND[1] - AROUND[3]);
    let all = || lines.iter().flat_map(|line| &line.values).copied();
    let most = all().fold(0.0, f64::max).max(1e-9);
    let least = all().fold(most, f64::min).max(1e-3);
    let (low, high) = (least.log10().floor(), most.log10().ceil());
    let step = nice(most / 4.0);
    let end = (most / step).ceil() * step;
    let y = |value: f64| {
        let share = if is_log { (value.log10() - low).max(0.0) / (high - low).max(1.0) } else { value / end };
        y0 + h * (1.0 - share)
    };
    let last = sizes.last().copied().unwrap_or(2) as f64;
    let x = |size: usize| x0 + w * (size as f64).log2() / last.log2();
    let scale = if is_log { "logarithmic" } else { "linear" };
    let _ =
        writeln!(svg, "<text x=\"{x0}\" y=\"{}\" font-weight=\"bold\">{title} ({scale})</text>", y0 - 12.0);
    let ticks: Vec<f64> = if is_log {
        (low as i32..=high as i32).map(|power| 10_f64.powi(power)).collect()
    } else {
        (0..=(end / step).round() as u32).map(|n| f64::from(n) * step).collect()
    };
    for tick in ticks {
        let (at, text) = (y(tick), number(tick));
        let _ = writeln!(
            svg,
            "<path d=\"M{x0} {at:.1}h{w}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            x0 - 6.0,
            at + 4.0
        );
    }
    for size in sizes {
        let at = x(*size);
        let below = y0 + h + 15.0;
        let _ = writeln!(
            svg,
            "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{}</text>",
            number(*size as f64)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">ranks</text>",
        x0 + w / 2.0,
        y0 + h + 29.0
    );
    for (line, colour) in lines.iter().zip(COLOURS) {
        let points: Vec<(f64, f64)> =
            sizes.iter().zip(&line.values).map(|(size, value)| (x(*size), y(*value))).collect();
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let _ = writeln!(
            svg,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join("L")
        );
        for (x, y) in points {
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
        }
    }
}

/// 1, 2 or 5 times a power of ten, not less than `value`.
fn nice(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * power).find(|step| *step >= value).unwrap_or(value)
}

fn number(value: f64) -> String {
    match value {
        1e6.. => format!("{} M", value / 1e6),
        1e4.. => format!("{} k", (value / 1e3).round()),
        _ => format!("{value}"),
    }
}
