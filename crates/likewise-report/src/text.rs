//! Tables for the terminal.

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
