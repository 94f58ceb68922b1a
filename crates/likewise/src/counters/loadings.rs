//! Which counters vary together: principal components of their correlations.

use nalgebra::DMatrix;
use rayon::prelude::*;

use super::Column;
use crate::linear::{PrincipalAxis, dot, principal_axes};

mod chance;
mod varimax;

pub use chance::eigenvalues_by_chance;
pub use varimax::{Rotated, n_above_one, varimax};

/// The fewest rows that two columns must share.
pub const LEAST_COMMON: usize = 3;

/// Entries of a component that are as large as this share of the largest are
/// taken as equal to it: rounding does not choose the sign.
const AS_LARGE: f64 = 1.0 - 1e-9;

/// Why columns have no components.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LoadingsError {
    /// Columns of different lengths.
    #[error("column '{name}' has {len} values, and '{first}' has {expected}")]
    Lengths {
        /// The column.
        name: String,
        /// How many values it has.
        len: usize,
        /// The first column.
        first: String,
        /// How many values that has.
        expected: usize,
    },
    /// A value is infinite.
    #[error("row {row} (from 0) of '{name}' is infinite")]
    NotFinite {
        /// The column.
        name: String,
        /// The row.
        row: usize,
    },
    /// Nothing varies.
    #[error("no column varies")]
    NothingVaries,
    /// Two columns that were hardly ever measured together.
    #[error(
        "'{first}' and '{second}' were measured together in {rows} rows; there must be at least \
         {LEAST_COMMON}, and both must vary there"
    )]
    Pair {
        /// The one.
        first: String,
        /// The other.
        second: String,
        /// How many rows have both.
        rows: usize,
    },
}

/// A component of the correlations of columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The eigenvalue: how many columns' worth of variance it explains.
    /// Never negative, see [`Loadings::clipped`].
    pub eigenvalue: f64,
    /// That as a share of the sum of all eigenvalues.
    pub explained: f64,
    /// Its unit vector, one entry per column used. The entry of largest
    /// magnitude is positive; the first of those equal within 10⁻⁹.
    pub component: Vec<f64>,
    /// Component × √eigenvalue: where nothing is missing, the correlation of
    /// each column with the factor.
    pub loadings: Vec<f64>,
}

/// Components of the correlations of columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Loadings {
    /// Columns that vary, by index.
    pub used: Vec<usize>,
    /// Columns left out because they are constant or missing throughout.
    pub constant: Vec<usize>,
    /// Correlations of the columns used, square, row-major.
    pub correlation: Vec<f64>,
    /// As many factors as columns used, by descending eigenvalue.
    pub factors: Vec<Factor>,
    /// The size of all negative eigenvalues together, which were set to 0: a
    /// matrix whose entries come from different rows need not be one of
    /// correlations. Beside [`Self::used`]'s number, it tells how far it is
    /// from one. 0 where nothing is missing.
    pub clipped: f64,
    /// The fewest rows that two columns share.
    pub least_common: usize,
}

/// Finds the principal components of z-scored columns, and how each column
/// loads on them.
///
/// NaN are missing. The correlation of two columns is that of the rows that
/// have both, with their means and deviations in those rows
/// (pairwise-complete); where nothing is missing, this is the PCA of the
/// z-scored columns.
///
/// # Errors
/// [`LoadingsError`].
///
/// # Complexity
/// O(n·m²) for m columns, in parallel; O(m³) for the eigenvectors.
///
/// # Reference
/// Jolliffe, *Principal Component Analysis*, §2.3 and §13.6 (missing data);
/// the use of it on counters: Ahn & Vetter, SC 2002.
///
/// # Example
/// ```
/// use likewise::counters::Column;
/// use likewise::counters::loadings::factor_loadings;
///
/// let columns = [[1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0], [1.0, 0.0, 0.0, 1.0]];
/// let column = |i: usize| Column { name: ["cycles", "instructions", "faults"][i], values: &columns[i] };
/// let found = factor_loadings(&[column(0), column(1), column(2)])?;
/// // The first two say the same, and the third has nothing to do with them.
/// assert!((found.factors[0].eigenvalue - 2.0).abs() < 1e-12);
/// assert!(found.factors[0].loadings[0] > 0.999 && found.factors[0].loadings[2].abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn factor_loadings(columns: &[Column<'_>]) -> Result<Loadings, LoadingsError> {
    check(columns)?;
    let (used, constant): (Vec<usize>, Vec<usize>) =
        (0..columns.len()).partition(|&i| varies(columns[i].values));
    if used.is_empty() {
        return Err(LoadingsError::NothingVaries);
    }
    let m = used.len();
    let pairs: Vec<(usize, usize)> = (0..m).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    let of = |&(i, j): &(usize, usize)| correlation(columns[used[i]].values, columns[used[j]].values);
    let found: Vec<(Option<f64>, usize)> = pairs.par_iter().map(of).collect();
    let mut matrix = DMatrix::identity(m, m);
    let mut least_common = columns[used[0]].values.iter().filter(|x| !x.is_nan()).count();
    for (&(i, j), &(r, rows)) in pairs.iter().zip(&found) {
        let Some(r) = r else {
            let [first, second] = [j, i].map(|k| columns[used[k]].name.to_owned());
            return Err(LoadingsError::Pair { first, second, rows });
        };
        (matrix[(i, j)], matrix[(j, i)]) = (r, r);
        least_common = least_common.min(rows);
    }
    let correlation = matrix.as_slice().to_vec();
    let axes = principal_axes(matrix);
    // Rounding alone makes negative ones of about 10⁻¹⁶ times the columns.
    let rounding = 1e-12 * m as f64;
    let clipped = axes.iter().map(|axis| -axis.value).filter(|&x| x > rounding).sum();
    let total: f64 = axes.iter().map(|axis| axis.value.max(0.0)).sum();
    let factor = |axis: PrincipalAxis| {
        let eigenvalue = axis.value.max(0.0);
        let component = oriented(axis.vector);
        let loadings = component.iter().map(|x| x * eigenvalue.sqrt()).collect();
        Factor { eigenvalue, explained: eigenvalue / total, component, loadings }
    };
    let factors = axes.into_iter().map(factor).collect();
    Ok(Loadings { used, constant, correlation, factors, clipped, least_common })
}

fn check(columns: &[Column<'_>]) -> Result<(), LoadingsError> {
    let Some(first) = columns.first() else { return Err(LoadingsError::NothingVaries) };
    for column in columns {
        let (name, len, expected) = (column.name.to_owned(), column.values.len(), first.values.len());
        if len != expected {
            return Err(LoadingsError::Lengths { name, len, first: first.name.to_owned(), expected });
        }
        if let Some(row) = column.values.iter().position(|x| x.is_infinite()) {
            return Err(LoadingsError::NotFinite { name, row });
        }
    }
    Ok(())
}

fn varies(values: &[f64]) -> bool {
    let mut present = values.iter().filter(|x| !x.is_nan());
    present.next().is_some_and(|first| present.any(|x| x != first))
}

/// The correlation of the rows that have both, and how many those are.
/// Nothing where they are too few, or one does not vary there.
fn correlation(a: &[f64], b: &[f64]) -> (Option<f64>, usize) {
    let both = a.iter().zip(b).filter(|(x, y)| !x.is_nan() && !y.is_nan());
    let (a, b): (Vec<f64>, Vec<f64>) = both.unzip();
    let n = a.len();
    if n < LEAST_COMMON || !varies(&a) || !varies(&b) {
        return (None, n);
    }
    let (a, b) = (centred(a), centred(b));
    let r = dot(&a, &b) / (dot(&a, &a).sqrt() * dot(&b, &b).sqrt());
    (Some(r.clamp(-1.0, 1.0)), n)
}

/// Values less their mean, in a unit in which no square is out of range.
fn centred(mut values: Vec<f64>) -> Vec<f64> {
    let size = values.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    values.iter_mut().for_each(|x| *x /= size);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter_mut().for_each(|x| *x -= mean);
    values
}

fn oriented(mut vector: Vec<f64>) -> Vec<f64> {
    let largest = vector.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if vector.iter().find(|x| x.abs() >= largest * AS_LARGE).is_some_and(|&x| x < 0.0) {
        vector.iter_mut().for_each(|x| *x = -*x);
    }
    vector
}

#[cfg(test)]
mod tests;
