//! The cheapest assignment of rows to columns.

/// Assigns each row of `cost` a column of its own, or each column a row if
/// there are fewer columns, so that the sum is least.
///
/// `cost` is `n_rows × n_columns`, row-major, all finite. Returns the column
/// of each row. Among equally cheap assignments the choice depends on the
/// costs alone.
///
/// # Complexity
/// O(s²·l) for the shorter side s and the longer l.
///
/// # Reference
/// Kuhn, *Naval Res. Logist.* 2, 1955; as shortest augmenting paths with
/// potentials, Jonker & Volgenant, *Computing* 38, 1987.
pub(super) fn assign(cost: &[f64], n_rows: usize, n_columns: usize) -> Vec<Option<usize>> {
    assert_eq!(cost.len(), n_rows * n_columns, "a cost for every pair");
    if n_rows <= n_columns {
        return augment_all(n_rows, n_columns, |i, j| cost[i * n_columns + j])
            .into_iter()
            .map(Some)
            .collect();
    }
    let mut columns = vec![None; n_rows];
    let rows = augment_all(n_columns, n_rows, |j, i| cost[i * n_columns + j]);
    rows.into_iter().enumerate().for_each(|(j, i)| columns[i] = Some(j));
    columns
}

/// The column of each of `n ≤ m` rows.
fn augment_all(n: usize, m: usize, cost: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let mut row_of: Vec<Option<usize>> = vec![None; m];
    let (mut row_price, mut column_price) = (vec![0.0; n], vec![0.0; m]);
    for start in 0..n {
        let mut distance = vec![f64::INFINITY; m];
        let mut before: Vec<Option<usize>> = vec![None; m];
        let mut done = vec![false; m];
        // The row whose edges are relaxed, and the column that led to it.
        let (mut row, mut via, mut reached) = (start, None, 0.0);
        let free = loop {
            for j in (0..m).filter(|&j| !done[j]) {
                let through = reached + cost(row, j) - row_price[row] - column_price[j];
                if through < distance[j] {
                    (distance[j], before[j]) = (through, via);
                }
            }
            let open = (0..m).filter(|&j| !done[j]);
            let next = open.min_by(|&a, &b| distance[a].total_cmp(&distance[b])).expect("n ≤ m");
            (done[next], reached) = (true, distance[next]);
            match row_of[next] {
                Some(taken_by) => (row, via) = (taken_by, Some(next)),
                None => break next,
            }
        };
        row_price[start] += reached;
        for j in (0..m).filter(|&j| done[j] && j != free) {
            column_price[j] -= reached - distance[j];
            row_price[row_of[j].expect("a column on the way is taken")] += reached - distance[j];
        }
        let mut column = free;
        while let Some(previous) = before[column] {
            row_of[column] = row_of[previous];
            column = previous;
        }
        row_of[column] = Some(start);
    }
    let mut columns = vec![0; n];
    row_of.iter().enumerate().for_each(|(j, row)| row.iter().for_each(|&i| columns[i] = j));
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The least sum over every way to give the rows from `i` on a column.
    fn least(cost: &[f64], m: usize, i: usize, taken: &mut Vec<bool>) -> f64 {
        if i * m == cost.len() {
            return 0.0;
        }
        let mut best = f64::INFINITY;
        for j in 0..m {
            if !taken[j] {
                taken[j] = true;
                best = best.min(cost[i * m + j] + least(cost, m, i + 1, taken));
                taken[j] = false;
            }
        }
        best
    }

    fn transposed(cost: &[f64], n: usize, m: usize) -> Vec<f64> {
        (0..m).flat_map(|j| (0..n).map(move |i| cost[i * m + j])).collect()
    }

    proptest! {
        #[test]
        fn no_other_assignment_is_cheaper(
            n in 0usize..6, more in 0usize..3, numbers in prop::collection::vec(-20i32..20, 48)
        ) {
            let m = n + more;
            let cost: Vec<f64> = numbers[..n * m].iter().map(|&x| f64::from(x)).collect();
            let expected = if n == 0 { 0.0 } else { least(&cost, m, 0, &mut vec![false; m]) };
            let found = assign(&cost, n, m);
            let mut used: Vec<usize> = found.iter().map(|j| j.expect("a column for every row")).collect();
            prop_assert_eq!(used.iter().enumerate().map(|(i, &j)| cost[i * m + j]).sum::<f64>(), expected);
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(used.len(), n);
            let tall = assign(&transposed(&cost, n, m), m, n);
            let sum: f64 = tall.iter().enumerate().filter_map(|(j, i)| i.map(|i| cost[i * m + j])).sum();
            prop_assert_eq!(sum, expected);
            prop_assert_eq!(tall.iter().flatten().count(), n);
        }
    }
}
