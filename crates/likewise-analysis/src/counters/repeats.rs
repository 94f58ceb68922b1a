//! What rows with the same parameters have in common, and what they have not.

use super::regimes::Fitted;
use super::significance::{Told, told};
use likewise_trace::{Column, ColumnTable};

/// Turns a median deviation into a standard deviation, for a normal
/// distribution.
const NORMAL: f64 = 1.4826;
/// A column that tells less of how rows stray is not named…
const LEAST_SHARE: f64 = 0.5;
/// … nor one whose groups have medians nearer to one another.
const LEAST_RATIO: f64 = 1.2;
/// … nor one that may tell so much by chance: there are many columns.
const CHANCE: f64 = 1e-4;
/// Shares that differ by less are of columns that tell the same.
const NEARLY: f64 = 0.1;

/// How far rows stray from the median of the rows with the same parameters. It
/// is the median of all deviations, as a share, so that a few strays do not
/// count. `None` if no two rows have the same parameters.
pub(super) fn within(measured: &[f64], fitted: &Fitted) -> Option<f64> {
    let mut deviations: Vec<f64> = shares(measured, fitted).map(|(_, share)| (share - 1.0).abs()).collect();
    deviations.sort_by(f64::total_cmp);
    deviations.get(deviations.len() / 2).map(|median| NORMAL * median)
}

/// Rows that are not alone at their point, as shares of its value.
fn shares<'f>(measured: &'f [f64], fitted: &'f Fitted) -> impl Iterator<Item = (usize, f64)> + 'f {
    let shared = |(row, point): (usize, &Option<usize>)| {
        let point = point.filter(|&point| fitted.n[point] > 1)?;
        Some((row, measured[row] / fitted.response[point]))
    };
    fitted.of_row.iter().enumerate().filter_map(shared).filter(|(_, share)| share.is_finite())
}

/// The column that decides how rows stray from their point. It explains more
/// than half of it, and its groups are a fifth apart. If several columns
/// explain nearly as much, it is the one with the fewest groups.
pub(super) fn told_by<'t>(
    table: &'t ColumnTable,
    parameters: &[String],
    response: &str,
    fitted: &Fitted,
) -> Option<(&'t Column, Told)> {
    let (_, measured) = table.numbers().find(|(name, _)| *name == response)?;
    let mut stray = vec![f64::NAN; table.n_rows];
    shares(measured, fitted).for_each(|(row, share)| stray[row] = share);
    let others =
        table.columns.iter().filter(|column| column.name != response && !parameters.contains(&column.name));
    let told = others.filter_map(|column| Some((column, told(column, &stray)?)));
    let told: Vec<(&Column, Told)> = told
        .filter(|(_, told)| told.share > LEAST_SHARE && told.ratio > LEAST_RATIO && told.p < CHANCE)
        .collect();
    let best = told.iter().map(|(_, told)| told.share).fold(0.0, f64::max);
    told.into_iter().filter(|(_, told)| told.share > best - NEARLY).min_by_key(|(_, told)| told.groups)
}
