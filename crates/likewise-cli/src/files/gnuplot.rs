//! `scatter.gnuplot`: metrics against each other, coloured by phase.

use super::bursts_csv;
use likewise_analysis::definition::{Axis, Plot};
use likewise_analysis::phases::Analysis;
use likewise_analysis::phases::plots::is_duration;
use std::io::{self, Write};

/// Phases with a colour and a line in the key of their own.
const SHOWN: usize = 20;

/// Draws from `bursts.csv` on the screen, or with
/// `gnuplot -e 'png="scatter.png"'` to a file.
pub(crate) fn write(out: &mut impl Write, analysis: &Analysis, plot: &Plot) -> io::Result<()> {
    let axes: Vec<(&str, &Axis)> = [("x", Some(&plot.x)), ("y", plot.y.as_ref()), ("z", plot.z.as_ref())]
        .into_iter()
        .filter_map(|(name, axis)| Some((name, axis?)))
        .collect();
    writeln!(out, "if (exists(\"png\")) {{ set terminal png size 1280,960; set output png }}")?;
    // The header is no data: columns are told by their number.
    writeln!(out, "set datafile separator ','")?;
    writeln!(out, "set title {} noenhanced", quoted(&analysis.input))?;
    writeln!(out, "set key outside right noenhanced")?;
    for (name, axis) in &axes {
        writeln!(out, "set {name}label {} noenhanced", quoted(&axis.title))?;
        let bound = |b: Option<f64>| b.map_or("*".to_owned(), |b| b.to_string());
        writeln!(out, "set {name}range [{}:{}]", bound(axis.min), bound(axis.max))?;
        let log = analysis.metrics.iter().any(|m| m.name == axis.metric && m.log);
        if plot.raw && log {
            writeln!(out, "set logscale {name}")?;
        }
    }
    let names = bursts_csv::column_names(analysis);
    let place = |name: &str| names.iter().position(|n| n == name).map_or(0, |i| i + 1);
    let column = |axis: &Axis| {
        let raw = plot.raw || analysis.metrics.iter().all(|m| m.name != axis.metric);
        let name = match axis.metric.as_str() {
            name if raw && is_duration(name) => "duration_ns".to_owned(),
            name if raw => name.to_owned(),
            name => format!("n_{name}"),
        };
        format!("column({})", place(&name))
    };
    let mut columns: Vec<String> = axes.iter().map(|(_, axis)| column(axis)).collect();
    if columns.len() == 1 {
        columns.push(format!("column({})", names.len()));
    }
    let of = |label: &str| format!("({label} ? {} : NaN):({})", columns[0], columns[1..].join("):("));
    let command = if columns.len() == 3 { "splot" } else { "plot" };
    let shown = analysis.grouped.clustering.n_clusters.min(SHOWN);
    writeln!(out, "is(label) = strcol({}) eq label", names.len())?;
    writeln!(out, "{command} 'bursts.csv' skip 1 using {} \\", of("is('noise')"))?;
    write!(out, "  title 'noise' with points pointtype 7 pointsize 0.3 linecolor rgb '#9a9a9a'")?;
    if shown > 0 {
        let phase = of("is(sprintf('%d', phase))");
        write!(out, ", \\\n  for [phase=1:{shown}] '' skip 1 using {phase} \\\n  ")?;
        write!(
            out,
            "title sprintf('phase %d', phase) with points pointtype 7 pointsize 0.5 linecolor phase"
        )?;
    }
    writeln!(out)
}

/// A text from a trace for gnuplot. It is in single quotes, because within
/// double quotes gnuplot would run what stands between backticks.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace(char::is_control, " "))
}
