//! Linear least squares, by orthogonal columns.

use super::dot;

/// The least share of a column's square that the columns before it must leave;
/// with less, it is taken as a combination of these, and has no coefficient.
pub(crate) const LEAST_SHARE: f64 = 1e-9;

/// The solution of a least-squares problem.
#[derive(Debug)]
pub(crate) struct Solved {
    /// Columns that do not depend on earlier ones.
    pub(crate) kept: Vec<usize>,
    /// Of those kept, in order.
    pub(crate) coefficients: Vec<f64>,
    /// Roots of the diagonal of (XᵀX)⁻¹.
    pub(crate) inverse_norms: Vec<f64>,
    /// The sum of the squares that the fit leaves.
    pub(crate) squared_error: f64,
}

impl Solved {
    /// What the solution gives for a row.
    pub(crate) fn fitted(&self, columns: &[Vec<f64>], row: usize) -> f64 {
        self.kept.iter().zip(&self.coefficients).map(|(&column, b)| b * columns[column][row]).sum()
    }
}

/// The coefficients of `columns` (each as long as `y`) whose sum is nearest to
/// `y`, by modified Gram–Schmidt.
///
/// Every column is made orthogonal twice: after the first pass rounding leaves
/// parts of the earlier columns in it, and after the second it does not (Giraud
/// et al., *Numer. Math.* 101, 2005).
///
/// # Complexity
/// O(n·k²) for n rows and k columns.
pub(crate) fn least_squares(columns: &[Vec<f64>], y: &[f64]) -> Solved {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    // Upper triangle, by column.
    let mut factor: Vec<Vec<f64>> = Vec::new();
    let mut kept = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        let mut rest = column.clone();
        let mut along = project(&basis, &mut rest);
        let again = project(&basis, &mut rest);
        along.iter_mut().zip(again).for_each(|(a, b)| *a += b);
        let left = dot(&rest, &rest);
        if left <= LEAST_SHARE * dot(column, column) {
            continue;
        }
        let norm = left.sqrt();
        rest.iter_mut().for_each(|x| *x /= norm);
        along.push(norm);
        basis.push(rest);
        factor.push(along);
        kept.push(index);
    }
    let mut rest = y.to_vec();
    let mut along = project(&basis, &mut rest);
    let again = project(&basis, &mut rest);
    along.iter_mut().zip(again).for_each(|(a, b)| *a += b);
    let inverse_norms = (0..kept.len()).map(|i| {
        // Row i of the inverse of the upper factor solves xᵀ = eᵢᵀ R⁻¹.
        let mut row = vec![0.0; kept.len()];
        for j in i..kept.len() {
            let before: f64 = (i..j).map(|k| row[k] * factor[j][k]).sum();
            row[j] = (f64::from(u8::from(i == j)) - before) / factor[j][j];
        }
        dot(&row, &row).sqrt()
    });
    Solved {
        inverse_norms: inverse_norms.collect(),
        coefficients: back_substituted(&factor, along),
        squared_error: dot(&rest, &rest),
        kept,
    }
}

fn back_substituted(factor: &[Vec<f64>], mut right: Vec<f64>) -> Vec<f64> {
    for i in (0..right.len()).rev() {
        right[i] /= factor[i][i];
        for j in 0..i {
            right[j] -= factor[i][j] * right[i];
        }
    }
    right
}

/// Takes from `rest` what lies along the basis.
fn project(basis: &[Vec<f64>], rest: &mut [f64]) -> Vec<f64> {
    let take = |unit: &Vec<f64>| {
        let along = dot(unit, rest);
        rest.iter_mut().zip(unit).for_each(|(x, u)| *x -= along * u);
        along
    };
    basis.iter().map(take).collect()
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// By the normal equations, solved by an LU decomposition.
        #[test]
        fn the_normal_equations_hold(
            (k, numbers) in (1usize..4).prop_flat_map(|k| {
                (Just(k), prop::collection::vec(-1.0..1.0f64, 12 * (k + 1)))
            })
        ) {
            let columns: Vec<Vec<f64>> = numbers.chunks(12).take(k).map(<[f64]>::to_vec).collect();
            let y = &numbers[12 * k..];
            let solved = least_squares(&columns, y);
            let matrix = DMatrix::from_fn(12, k, |row, column| columns[column][row]);
            let square = matrix.transpose() * &matrix;
            let inverse = square.try_inverse().expect("random columns are independent");
            let expected = &inverse * matrix.transpose() * DVector::from_column_slice(y);
            prop_assert_eq!(solved.kept.len(), k);
            for i in 0..k {
                prop_assert!((solved.coefficients[i] - expected[i]).abs() < 1e-6 * expected.amax().max(1.0));
                prop_assert!((solved.inverse_norms[i] / inverse[(i, i)].sqrt() - 1.0).abs() < 1e-6);
            }
            let left = (0..12).map(|row| (y[row] - solved.fitted(&columns, row)).powi(2)).sum::<f64>();
            prop_assert!((solved.squared_error - left).abs() < 1e-9);
        }
    }

    #[test]
    fn a_column_that_says_nothing_new_has_no_coefficient() {
        let columns = [vec![1.0; 3], vec![0.0, 1.0, 2.0], vec![1.0, 2.0, 3.0]];
        let solved = least_squares(&columns, &[1.0, 3.0, 5.0]);
        assert_eq!(solved.kept, [0, 1]);
        assert!((solved.coefficients[0] - 1.0).abs() < 1e-12);
        assert!((solved.coefficients[1] - 2.0).abs() < 1e-12);
    }
}
