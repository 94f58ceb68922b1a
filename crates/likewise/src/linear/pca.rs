//! Principal components of columns of numbers.

use nalgebra::{DMatrix, SymmetricEigen};
use rayon::prelude::*;

/// Rows per partial sum: sums are added in this fixed order, so that they do
/// not depend on the thread count.
const CHUNK: usize = 1 << 13;

/// The directions in which points vary most.
#[derive(Clone, Debug, PartialEq)]
pub struct Pca {
    /// Mean of each of the `m` columns.
    pub mean: Vec<f64>,
    /// One unit vector of `m` numbers per component, by descending variance.
    /// The entry of largest magnitude (the first of equals) is positive.
    pub components: Vec<Vec<f64>>,
    /// Variance along each component kept, divisor `n − 1`.
    pub variance: Vec<f64>,
    /// The same as a share of the variance of all columns; zeros where
    /// nothing varies.
    pub explained: Vec<f64>,
    /// Standard deviation of each column, divisor `n − 1`.
    pub deviation: Vec<f64>,
}

/// Finds the first `n_components` principal components of `rows`, which are
/// row-major, `width` columns each, and finite.
///
/// # Panics
/// If `width` is zero, rows are ragged, or `n_components` is not within
/// `1..=width`.
///
/// # Complexity
/// O(n·width²) in parallel, O(width³) for the eigenvectors.
///
/// # Reference
/// Eigenvectors of the covariance matrix (Jolliffe, *Principal Component
/// Analysis*, §1.1). The same numbers as scikit-learn's `PCA`, signs included.
///
/// # Example
/// ```
/// use likewise::linear::pca;
///
/// // Three points on a line through (2, 2).
/// let found = pca(&[1.0, 1.0, 2.0, 2.0, 3.0, 3.0], 2, 1);
/// assert_eq!(found.mean, [2.0, 2.0]);
/// assert!((found.explained[0] - 1.0).abs() < 1e-12);
/// assert!((found.project(&[3.0, 3.0])[0] - 2.0f64.sqrt()).abs() < 1e-12);
/// ```
#[must_use]
pub fn pca(rows: &[f64], width: usize, n_components: usize) -> Pca {
    assert!(width > 0 && rows.len().is_multiple_of(width), "whole rows");
    assert!((1..=width).contains(&n_components), "1 to {width} components, not {n_components}");
    let n = rows.len() / width;
    let mut mean = sum_chunks(rows, width, width, |row, sum| add(sum, row));
    mean.iter_mut().for_each(|x| *x /= n.max(1) as f64);
    let products = sum_chunks(rows, width, width * width, |row, sum| {
        for i in 0..width {
            let x = row[i] - mean[i];
            for j in 0..=i {
                sum[i * width + j] += x * (row[j] - mean[j]);
            }
        }
    });
    let divisor = n.saturating_sub(1).max(1) as f64;
    let covariance = DMatrix::from_fn(width, width, |i, j| products[i.max(j) * width + i.min(j)] / divisor);
    let total = covariance.trace();
    let deviation = (0..width).map(|i| covariance[(i, i)].max(0.0).sqrt()).collect();
    let mut axes = principal_axes(covariance);
    axes.truncate(n_components);
    let variance: Vec<f64> = axes.iter().map(|axis| axis.value.max(0.0)).collect();
    let explained = variance.iter().map(|v| if total > 0.0 { v / total } else { 0.0 }).collect();
    let components = axes.into_iter().map(|axis| oriented(axis.vector)).collect();
    Pca { mean, components, variance, explained, deviation }
}

/// An eigenvalue and its unit vector, whose sign is arbitrary.
pub(crate) struct PrincipalAxis {
    pub(crate) value: f64,
    pub(crate) vector: Vec<f64>,
}

/// All eigenvectors of a symmetric matrix, by descending eigenvalue.
pub(crate) fn principal_axes(matrix: DMatrix<f64>) -> Vec<PrincipalAxis> {
    let eigen = SymmetricEigen::new(matrix);
    let axis = |i: usize| PrincipalAxis {
        value: eigen.eigenvalues[i],
        vector: eigen.eigenvectors.column(i).iter().copied().collect(),
    };
    let mut axes: Vec<PrincipalAxis> = (0..eigen.eigenvalues.len()).map(axis).collect();
    // Stable: equal ones stay in the order in which they were found.
    axes.sort_by(|a, b| b.value.total_cmp(&a.value));
    axes
}

impl Pca {
    /// How each column loads on each component kept: their correlation, −1 to
    /// 1; 0 of a column that does not vary. One list per component.
    ///
    /// The squares of a column's loadings are the shares of its variance that
    /// the components explain.
    ///
    /// # Reference
    /// Jolliffe, *Principal Component Analysis*, §2.3.
    #[must_use]
    pub fn loadings(&self) -> Vec<Vec<f64>> {
        let loading = |(entry, deviation): (&f64, &f64), along: f64| {
            if *deviation > 0.0 { (entry * along / deviation).clamp(-1.0, 1.0) } else { 0.0 }
        };
        let of = |(component, variance): (&Vec<f64>, &f64)| {
            component.iter().zip(&self.deviation).map(|pair| loading(pair, variance.sqrt())).collect()
        };
        self.components.iter().zip(&self.variance).map(of).collect()
    }

    /// The coordinates of `rows` along the components: row-major,
    /// `components.len()` columns.
    ///
    /// # Panics
    /// If rows are not as wide as those the components come from.
    #[must_use]
    pub fn project(&self, rows: &[f64]) -> Vec<f64> {
        let (width, dims) = (self.mean.len(), self.components.len());
        assert!(rows.len().is_multiple_of(width), "whole rows");
        let mut projected = vec![0.0; rows.len() / width * dims];
        let chunks = projected.par_chunks_mut(CHUNK * dims).zip(rows.par_chunks(CHUNK * width));
        chunks.for_each(|(to, from)| {
            for (to, from) in to.chunks_exact_mut(dims).zip(from.chunks_exact(width)) {
                for (coordinate, component) in to.iter_mut().zip(&self.components) {
                    let centred = from.iter().zip(&self.mean).map(|(x, m)| x - m);
                    *coordinate = centred.zip(component).map(|(x, c)| x * c).sum();
                }
            }
        });
        projected
    }
}

/// `add` over all rows into `len` sums, chunk by chunk in order.
fn sum_chunks(
    rows: &[f64],
    width: usize,
    len: usize,
    add_row: impl Fn(&[f64], &mut [f64]) + Sync,
) -> Vec<f64> {
    let chunk_sum = |chunk: &[f64]| {
        let mut sum = vec![0.0; len];
        chunk.chunks_exact(width).for_each(|row| add_row(row, &mut sum));
        sum
    };
    let partial: Vec<Vec<f64>> = rows.par_chunks(CHUNK * width).map(chunk_sum).collect();
    partial.iter().fold(vec![0.0; len], |mut sum, part| {
        add(&mut sum, part);
        sum
    })
}

fn add(sum: &mut [f64], row: &[f64]) {
    sum.iter_mut().zip(row).for_each(|(s, x)| *s += x);
}

/// An eigenvector's sign is arbitrary: this fixes it.
fn oriented(mut vector: Vec<f64>) -> Vec<f64> {
    let largest = vector.iter().fold(0.0_f64, |best, &x| if x.abs() > best.abs() { x } else { best });
    if largest < 0.0 {
        vector.iter_mut().for_each(|x| *x = -*x);
    }
    vector
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What `tests/oracle/pca.py` wrote: rows of the input, then scikit-learn's
    /// mean, components, variances and explained ratios.
    const ORACLE: &str = include_str!("../../tests/oracle/pca.csv");

    fn oracle(kind: &str) -> Vec<Vec<f64>> {
        let rows = ORACLE.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix(','));
        rows.map(|row| row.split(',').map(|x| x.parse().expect("a number")).collect()).collect()
    }

    fn close(a: &[f64], b: &[f64]) {
        assert_eq!(a.len(), b.len());
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-10), "{a:?} is not {b:?}");
    }

    #[test]
    fn equals_scikit_learn() {
        let rows = oracle("x").concat();
        let found = pca(&rows, 5, 3);
        close(&found.mean, &oracle("mean")[0]);
        close(&found.variance, &oracle("variance")[0]);
        close(&found.explained, &oracle("explained")[0]);
        for (component, expected) in found.components.iter().zip(oracle("component")) {
            close(component, &expected);
        }
        close(&found.project(&rows), &oracle("projected").concat());
        for (loadings, expected) in found.loadings().iter().zip(oracle("loading")) {
            close(loadings, &expected);
        }
        assert_eq!(oracle("loading").len(), 3);
    }

    #[test]
    fn points_that_do_not_vary_explain_nothing() {
        let found = pca(&[2.0, 3.0, 2.0, 3.0], 2, 2);
        assert_eq!(found.explained, [0.0, 0.0]);
        assert_eq!(found.loadings(), [[0.0, 0.0], [0.0, 0.0]]);
        assert_eq!(found.project(&[2.0, 3.0]), [0.0, 0.0]);
        assert_eq!(pca(&[], 2, 1).mean, [0.0, 0.0]);
    }

    proptest! {
        #[test]
        fn all_components_reconstruct_the_rows(
            rows in (1usize..5).prop_flat_map(|width| {
                (Just(width), prop::collection::vec(-10.0..10.0f64, width * 7))
            })
        ) {
            let (width, rows) = rows;
            let found = pca(&rows, width, width);
            let projected = found.project(&rows);
            for (row, coordinates) in rows.chunks(width).zip(projected.chunks(width)) {
                for j in 0..width {
                    let back: f64 = coordinates.iter().zip(&found.components).map(|(y, c)| y * c[j]).sum();
                    prop_assert!((back + found.mean[j] - row[j]).abs() < 1e-9);
                }
            }
            prop_assert!(found.variance.is_sorted_by(|a, b| a >= b));
            let total: f64 = found.explained.iter().sum();
            prop_assert!((total - 1.0).abs() < 1e-9 || total == 0.0);
        }
    }
}
