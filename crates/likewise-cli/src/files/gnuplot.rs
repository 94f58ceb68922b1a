//! `scatter.gnuplot`: two metrics, coloured by phase, from `bursts.csv`.

use crate::analysis::Analysis;
use std::io::{self, Write};

/// Phases with a colour and a line in the key of their own.
const SHOWN: usize = 20;

/// Draws on the screen, or with `gnuplot -e 'png="scatter.png"'` to a file.
pub(crate) fn write(out: &mut impl Write, analysis: &Analysis) -> io::Result<()> {
    let [x, y] = analysis.axes();
    let axis = |out: &mut dyn Write, which: &str, metric: &likewise::table::Metric| {
        writeln!(out, "set {which}label \"{}\" noenhanced", quoted(&metric.name))?;
        if metric.log { writeln!(out, "set logscale {which}") } else { Ok(()) }
    };
    writeln!(out, "# gnuplot -p scatter.gnuplot")?;
    writeln!(out, "# gnuplot -e 'png=\"scatter.png\"' scatter.gnuplot")?;
    writeln!(out, "if (exists(\"png\")) {{ set terminal png size 1280,960; set output png }}")?;
    writeln!(out, "set datafile separator ','")?;
    writeln!(out, "set title \"{}\" noenhanced", quoted(&analysis.input))?;
    writeln!(out, "set key outside right noenhanced")?;
    axis(out, "x", x)?;
    axis(out, "y", y)?;
    let columns = format!("(column(\"{}\")):(column(\"{}\"))", quoted(&x.name), quoted(&y.name));
    let (x_column, y_column) = columns.split_once(':').unwrap_or((&columns, ""));
    let shown = analysis.clustering.n_clusters.min(SHOWN);
    writeln!(out, "is(label) = strcol(\"cluster\") eq label")?;
    writeln!(out, "plot 'bursts.csv' using (is('noise') ? {x_column} : NaN):{y_column} every ::1 \\")?;
    write!(out, "  title 'noise' with points pointtype 7 pointsize 0.3 linecolor rgb '#9a9a9a'")?;
    if shown > 0 {
        writeln!(out, ", \\")?;
        writeln!(
            out,
            "  for [phase=1:{shown}] '' using (is(sprintf('%d', phase)) ? {x_column} : NaN):{y_column} every ::1 \\"
        )?;
        write!(
            out,
            "  title sprintf('phase %d', phase) with points pointtype 7 pointsize 0.5 linecolor phase"
        )?;
    }
    writeln!(out)
}

/// A name inside double quotes.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ")
}
