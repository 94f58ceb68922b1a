//! Tables for the terminal.

use anstyle::Style;
use std::fmt::Write;

/// Of the columns that fit.
pub(crate) fn widths(lines: &[Vec<String>], width: usize) -> Vec<usize> {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let widest =
        |c: usize| lines.iter().filter_map(|l| l.get(c)).map(|s| s.chars().count()).max().unwrap_or(0);
    let mut used = 0;
    let fits = |w: &usize| {
        used += w + 2;
        used - 2 <= width
    };
    (0..columns).map(widest).take_while(fits).collect()
}

/// The columns that fit, a line each. The first cell alone has the style of its
/// line, so that the figures read everywhere.
pub(crate) fn styled(lines: &[Vec<String>], width: usize, style: impl Fn(usize) -> Style) -> String {
    let widths = widths(lines, width);
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        let mut text = String::new();
        for (c, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            let _ = match c {
                0 => write!(text, "{cell:<width$}"),
                _ => write!(text, "  {cell:>width$}"),
            };
        }
        let style = style(i);
        let (name, rest) = text.split_at(widths.first().copied().unwrap_or(0).min(text.len()));
        let _ = writeln!(out, "{style}{name}{style:#}{}", rest.trim_end());
    }
    out
}
