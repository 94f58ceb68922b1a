//! What rows with the same parameters have in common, and what they have not.

use super::regimes::Fitted;
use super::significance::explained;
use likewise_trace::ColumnTable;

/// What turns a median deviation into a standard deviation, if it is normal.
const NORMAL: f64 = 1.4826;
/// A column that explains less of how rows stray is not named.
const LEAST_EFFECT: f64 = 0.5;

/// How far rows stray from the median of those with the same parameters: the
/// median of all deviations, as a share, so that few strays do not count.
/// Nothing where each row has parameters of its own.
pub(crate) fn within(measured: &[f64], fitted: &Fitted) -> Option<f64> {
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

/// The column that tells the most of how rows stray from their point, and how
/// much of it, if it is more than half.
pub(crate) fn told_by(
    table: &ColumnTable,
    parameters: &[String],
    response: &str,
    fitted: &Fitted,
) -> Option<(String, f64)> {
    let (_, measured) = table.numbers().find(|(name, _)| *name == response)?;
    let mut stray = vec![f64::NAN; table.n_rows];
    shares(measured, fitted).for_each(|(row, share)| stray[row] = share);
    let others =
        table.columns.iter().filter(|column| column.name != response && !parameters.contains(&column.name));
    let explained = others.filter_map(|column| Some((column.name.clone(), explained(column, &stray)?)));
    let best = explained.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (best.1 > LEAST_EFFECT).then_some(best)
}
