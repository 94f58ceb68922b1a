//! What rows with the same parameters have in common, and what they have not.

use super::regimes::Fitted;
use super::significance::{Told, groups, told};
use likewise_trace::{Cells, Column, ColumnTable};

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

/// How rows stray from the median of those with the same parameters: as shares of it, NaN of a
/// row that is alone at its point.
pub(super) fn from_medians(measured: &[f64], fitted: &Fitted) -> Vec<f64> {
    let mut stray = vec![f64::NAN; measured.len()];
    shares(measured, fitted).for_each(|(row, share)| stray[row] = share);
    stray
}

/// How rows stray from what the model has for their point, as shares of that.
pub(super) fn from_model(measured: &[f64], fitted: &Fitted, modelled: &[f64]) -> Vec<f64> {
    let share = |(row, point): (usize, &Option<usize>)| {
        point.map(|point| measured[row] / modelled[point]).filter(|share| share.is_finite())
    };
    fitted.of_row.iter().enumerate().map(|row| share(row).unwrap_or(f64::NAN)).collect()
}

/// The column that decides how rows stray. It explains more than half of it, and its groups are
/// a fifth apart. If several columns explain nearly as much, it is the one with the fewest
/// groups.
pub(super) fn told_by<'t>(
    table: &'t ColumnTable,
    apart: &[&str],
    stray: &[f64],
) -> Option<(&'t Column, Told)> {
    let others = table.columns.iter().filter(|column| !apart.contains(&column.name.as_str()));
    let told = others.filter_map(|column| Some((column, told(column, stray)?)));
    let told: Vec<(&Column, Told)> = told
        .filter(|(_, told)| told.share > LEAST_SHARE && told.ratio > LEAST_RATIO && told.p < CHANCE)
        .collect();
    let best = told.iter().map(|(_, told)| told.share).fold(0.0, f64::max);
    told.into_iter().filter(|(_, told)| told.share > best - NEARLY).min_by_key(|(_, told)| told.groups)
}

/// Columns that have one value for each value of a parameter, such as its logarithm or a flag of
/// long messages: what they tell, the parameter tells. Where no value of a parameter comes
/// twice, these are the ones that only rise with it, or only fall.
pub(super) fn follows<'t>(table: &'t ColumnTable, parameters: &[String]) -> Vec<&'t str> {
    let of = |name: &String| table.columns.iter().find(|other| other.name == *name);
    let parameters: Vec<&Column> = parameters.iter().filter_map(of).collect();
    let is_told = |column: &&Column| parameters.iter().any(|parameter| decides(parameter, column));
    table.columns.iter().filter(is_told).map(|column| column.name.as_str()).collect()
}

/// Whether a column has one value for each value of another.
fn decides(one: &Column, other: &Column) -> bool {
    let (names, of_one) = groups(one);
    if names.len() == of_one.iter().flatten().count() {
        return is_monotone(one, other);
    }
    let mut seen = std::collections::BTreeMap::new();
    of_one.iter().zip(groups(other).1).all(|(a, b)| *seen.entry(a).or_insert(b) == b)
}

/// Whether numbers only rise, or only fall, with those of another column.
fn is_monotone(one: &Column, other: &Column) -> bool {
    let (Cells::Numbers(one), Cells::Numbers(other)) = (&one.cells, &other.cells) else { return false };
    let pairs = one.iter().zip(other).filter(|(a, b)| !a.is_nan() && !b.is_nan());
    let mut pairs: Vec<(f64, f64)> = pairs.map(|(a, b)| (*a, *b)).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs.is_sorted_by(|a, b| a.1 <= b.1) || pairs.is_sorted_by(|a, b| a.1 >= b.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_parameter_is_known() {
        let numbers =
            |name: &str, cells: &[f64]| Column { name: name.into(), cells: Cells::Numbers(cells.to_vec()) };
        let hosts = Cells::Texts(["a", "b", "a", "b"].map(String::from).to_vec());
        let columns = vec![
            numbers("p", &[2.0, 2.0, 4.0, 4.0]),
            numbers("h", &[1.0, 8.0, 1.0, 8.0]),
            numbers("log2_h", &[0.0, 3.0, 0.0, 3.0]),
            numbers("node", &[0.0, 1.0, 1.0, 0.0]),
            Column { name: "host".into(), cells: hosts },
        ];
        let table = ColumnTable { columns, n_rows: 4, ..ColumnTable::default() };
        assert_eq!(follows(&table, &["p".to_owned()]), ["p"]);
        assert_eq!(follows(&table, &["p".to_owned(), "h".to_owned()]), ["p", "h", "log2_h", "host"]);
        // Each value of the parameter comes once.
        let columns = vec![
            numbers("bytes", &[8.0, 16.0, 32.0, 64.0, 128.0]),
            numbers("is_long", &[0.0, 0.0, 0.0, 1.0, 1.0]),
            numbers("node", &[0.0, 1.0, 1.0, 0.0, 1.0]),
        ];
        let table = ColumnTable { columns, n_rows: 5, ..ColumnTable::default() };
        assert_eq!(follows(&table, &["bytes".to_owned()]), ["bytes", "is_long"]);
    }
}
