//! Repeated measurements made one.

use std::collections::BTreeMap;

use crate::counters::Column;
use crate::median;

/// One row for each combination of parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Medians {
    /// The median of the responses; of an even number, the mean of the two
    /// in the middle.
    pub response: Vec<f64>,
    /// The parameters, column by column.
    pub columns: Vec<Vec<f64>>,
    /// How many measurements each is the median of.
    pub n: Vec<usize>,
    /// Which of the medians each row went into, if all of its values are
    /// known.
    pub of_row: Vec<Option<usize>>,
}

/// The medians of rows with the same parameters, in order of their first row.
/// Rows where a value is missing are left out.
///
/// [`find_regimes`](super::find_regimes) takes every time at its word: one in
/// a hundred that is five times too long makes regions of its own. Medians of
/// three repetitions or more keep such strays out.
///
/// # Panics
/// If a column is shorter than the response.
///
/// # Complexity
/// O(n log n) comparisons of rows, O(n) memory.
#[must_use]
pub fn medians(response: &[f64], columns: &[Column<'_>]) -> Medians {
    let mut groups: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    let mut rows: Vec<(usize, Vec<f64>)> = Vec::new();
    let mut of_row = vec![None; response.len()];
    for (row, &y) in response.iter().enumerate() {
        // Adding 0 makes one value of both zeros.
        let parameters: Vec<f64> = columns.iter().map(|column| column.values[row] + 0.0).collect();
        if y.is_nan() || parameters.iter().any(|x| x.is_nan()) {
            continue;
        }
        let key = parameters.iter().map(|x| x.to_bits()).collect();
        let group = *groups.entry(key).or_insert(rows.len());
        if group == rows.len() {
            rows.push((row, Vec::new()));
        }
        rows[group].1.push(y);
        of_row[row] = Some(group);
    }
    let middle = |values: Vec<f64>| median::mean(&median::sorted(values)).expect("a row has values");
    Medians {
        columns: columns.iter().map(|c| rows.iter().map(|&(row, _)| c.values[row]).collect()).collect(),
        n: rows.iter().map(|(_, values)| values.len()).collect(),
        response: rows.into_iter().map(|(_, values)| middle(values)).collect(),
        of_row,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_the_same_parameters_become_one() {
        let (p, h) = ([2.0, 1.0, 2.0, 2.0, 1.0, 2.0], [0.0, 5.0, -0.0, 0.0, 5.0, f64::NAN]);
        let columns = [Column { name: "p", values: &p }, Column { name: "h", values: &h }];
        let found = medians(&[3.0, 1.0, 9.0, 4.0, 2.0, 7.0], &columns);
        assert_eq!(found.response, [4.0, 1.5]);
        assert_eq!(found.columns, [[2.0, 1.0], [0.0, 5.0]]);
        assert_eq!(found.n, [3, 2]);
        assert_eq!(found.of_row, [Some(0), Some(1), Some(0), Some(0), Some(1), None]);
        assert_eq!(medians(&[], &[]), Medians::default());
    }
}
