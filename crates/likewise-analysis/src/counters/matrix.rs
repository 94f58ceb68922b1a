//! Dissimilarities that somebody else computed: a square matrix with names.

use anyhow::{Result, anyhow, bail};
use likewise::cluster::{Dissimilarities, DissimilaritiesError};
use likewise_trace::{Cells, ColumnTable};

/// What the objects are called, and how unlike they are. The names stand over
/// the columns and may stand before the rows too, in the same order.
///
/// # Errors
/// It is not square, or no dissimilarities: the pair is named.
pub(super) fn square(table: &ColumnTable) -> Result<(Vec<String>, Dissimilarities)> {
    let n = table.n_rows;
    let named_rows = table.columns.len() == n + 1;
    if !named_rows && table.columns.len() != n {
        bail!("{n} rows and {} columns are no square matrix", table.columns.len());
    }
    let (labels, columns) = table.columns.split_at(usize::from(named_rows));
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    if n < 2 {
        bail!("1 object has nothing to be compared with; 2 are needed");
    }
    if let [label] = labels {
        let row_names: Vec<String> = match &label.cells {
            Cells::Texts(texts) => texts.clone(),
            Cells::Numbers(numbers) => numbers.iter().map(f64::to_string).collect(),
        };
        if let Some(row) = (0..n).find(|&row| row_names[row] != names[row]) {
            bail!(
                "row {} (from 1, without the names) is called '{}', and the column of that place '{}'",
                row + 1,
                row_names[row],
                names[row]
            );
        }
    }
    let mut data = vec![0.0; n * n];
    for (at, column) in columns.iter().enumerate() {
        let Cells::Numbers(numbers) = &column.cells else { bail!("column '{}' is of texts", column.name) };
        (0..n).for_each(|row| data[row * n + at] = numbers[row]);
    }
    settle(&mut data, n);
    let given = Dissimilarities::from_matrix(data, n).map_err(|error| by_name(error, &names))?;
    Ok((names, given))
}

/// Numbers that should be equal may differ by this share of the largest, after
/// another program computed them with doubles.
const ROUNDING: f64 = 1e-9;

/// Removes rounding errors: a dissimilarity of an object to itself that is
/// nearly 0 becomes 0, and the two dissimilarities of a pair become one if they
/// are nearly equal.
fn settle(data: &mut [f64], n: usize) {
    let most = data.iter().copied().filter(|x| x.is_finite()).fold(0.0, f64::max);
    let is_none = |x: f64| x.abs() <= ROUNDING * most;
    for a in 0..n {
        for b in a..n {
            let (there, back) = (data[a * n + b], data[b * n + a]);
            let middle = f64::midpoint(there, back);
            if is_none(there - back) {
                let settled = if is_none(middle) && (a == b || middle < 0.0) { 0.0 } else { middle };
                (data[a * n + b], data[b * n + a]) = (settled, settled);
            }
        }
    }
}

fn by_name(error: DissimilaritiesError, names: &[String]) -> anyhow::Error {
    match error {
        DissimilaritiesError::Invalid { a, b, value } if value.is_nan() => {
            anyhow!("the dissimilarity of '{}' and '{}' is missing", names[a], names[b])
        }
        DissimilaritiesError::Invalid { a, b, value } => {
            let (a, b) = (&names[a], &names[b]);
            anyhow!("the dissimilarity of '{a}' and '{b}' is {value}; it must be finite and at least 0")
        }
        DissimilaritiesError::Diagonal { object, value } => {
            anyhow!("the dissimilarity of '{}' to itself is {value}; it must be 0", names[object])
        }
        DissimilaritiesError::Asymmetric { a, b, there, back } => {
            anyhow!("'{}' to '{}' is {there}, but {back} the other way", names[a], names[b])
        }
        other => other.into(),
    }
}
