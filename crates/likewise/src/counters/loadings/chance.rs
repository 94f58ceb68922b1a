//! How large factors are of columns that have nothing to do with one another.

use nalgebra::DMatrix;
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rayon::prelude::*;

/// 99 of 100 tables are below what is told.
const SHARE: f64 = 0.99;
/// Tables that are drawn, at most: forty of them are above. Another seed moves the
/// limits by some 1 %.
const MOST_TABLES: usize = 4000;
/// And at least. With as many columns as take so long, tables hardly differ.
const FEWEST_TABLES: usize = 100;
/// What all tables together may cost, in products: a second or less.
const PRODUCTS: usize = 300_000_000;
/// With more columns and more rows than these, the limit of the first is computed
/// by its formula, which is then less than 2 % above.
const MOST_DRAWN: usize = 200;
/// The same at every call.
const SEED: u64 = 0x4f52_4e31_3936_3500;

/// How large the eigenvalues may be of columns that have nothing to do with one
/// another: of a table of `n_rows` and `n_columns` normal numbers, the eigenvalue at
/// each place is as large or smaller in 99 of 100 tables.
///
/// With more than 200 rows and 200 columns, only that of the first place is told.
/// Columns with long tails reach beyond it.
///
/// # Returns
/// One for each column, or one; in descending order, none above `n_columns`.
/// Nothing of no columns; zeros of fewer than two rows.
///
/// # Complexity
/// At most 4000 tables, and O(n_columns · m²) for each, with m the lesser of columns
/// and rows: no row is drawn.
///
/// # Reference
/// Horn, *Psychometrika* 30, 1965, by quantiles instead of means. Differs: tables are
/// not drawn, but the triangle that has their correlations (Bartlett, *Proceedings of
/// the Royal Society of Edinburgh* 53, 1933). The formula: Johnstone, *Annals of
/// Statistics* 29, 2001, theorem 1.1, for columns centred by their means.
///
/// # Example
/// ```
/// use likewise::counters::loadings::eigenvalues_by_chance;
///
/// // Many rows leave little to chance; few rows nearly all.
/// assert!((eigenvalues_by_chance(100_000, 8)[0] - 1.0).abs() < 0.03);
/// let few = eigenvalues_by_chance(3, 4);
/// assert!(few[0] > 3.8 && few[0] < 4.0);
/// // Three rows that are centred are in a plane.
/// assert!(few[1] > 1.0 && few[2] == 0.0);
/// ```
#[must_use]
pub fn eigenvalues_by_chance(n_rows: usize, n_columns: usize) -> Vec<f64> {
    let free = n_rows.saturating_sub(1);
    let smaller = free.min(n_columns);
    if smaller == 0 {
        return vec![0.0; n_columns];
    }
    if smaller > MOST_DRAWN {
        return vec![largest_of_many(n_rows, n_columns)];
    }
    let products = n_columns * smaller * smaller;
    let n_tables = (PRODUCTS / products).clamp(FEWEST_TABLES, MOST_TABLES);
    let tables: Vec<Vec<f64>> =
        (0..n_tables as u64).into_par_iter().map(|table| eigenvalues(free, n_columns, table)).collect();
    let below = ((SHARE * n_tables as f64).ceil() as usize).clamp(1, n_tables) - 1;
    let at = |place: usize| {
        let mut all: Vec<f64> = tables.iter().map(|of| of[place]).collect();
        all.sort_by(f64::total_cmp);
        all[below]
    };
    (0..n_columns).map(|place| if place < smaller { at(place) } else { 0.0 }).collect()
}

/// The eigenvalues of a table's correlations that are not 0 by its shape.
///
/// Columns of normal numbers, centred, point anywhere in `free` dimensions. Turned so
/// that each has one dimension more than the column before, they are normal numbers
/// and, in the last dimension, the length of what is left.
fn eigenvalues(free: usize, n_columns: usize, table: u64) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED.wrapping_add(table));
    let smaller = free.min(n_columns);
    let mut columns = DMatrix::zeros(smaller, n_columns);
    for (at, mut column) in columns.column_iter_mut().enumerate() {
        for (dimension, entry) in column.iter_mut().enumerate().take(at + 1) {
            *entry = if dimension == at { length(free - at, &mut rng) } else { normal(&mut rng) };
        }
        column.unscale_mut(column.norm());
    }
    // Both have the same eigenvalues, but for zeros.
    let products = if n_columns <= free { columns.tr_mul(&columns) } else { &columns * columns.transpose() };
    let mut values: Vec<f64> = products.symmetric_eigenvalues().iter().map(|value| value.max(0.0)).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// See [`eigenvalues_by_chance`]: the distribution is Tracy and Widom's.
fn largest_of_many(n_rows: usize, n_columns: usize) -> f64 {
    /// 99 of 100 are below it.
    const TRACY_WIDOM: f64 = 2.02;
    let (n, p) = (n_rows as f64, n_columns as f64);
    let (rows, columns) = ((n - 2.0).sqrt(), p.sqrt());
    let centre = (rows + columns).powi(2);
    let scale = (rows + columns) * (1.0 / rows + 1.0 / columns).cbrt();
    (centre + TRACY_WIDOM * scale) / (n - 1.0)
}

/// The length of `free` normal numbers, one at least.
///
/// # Reference
/// Marsaglia & Tsang, *ACM Transactions on Mathematical Software* 26, 2000.
fn length(free: usize, rng: &mut impl Rng) -> f64 {
    if free == 1 {
        return normal(rng).abs();
    }
    let d = free as f64 / 2.0 - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && uniform(rng).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return (2.0 * d * v).sqrt();
        }
    }
}

/// Marsaglia & Bray, *SIAM Review* 6, 1964.
fn normal(rng: &mut impl Rng) -> f64 {
    loop {
        let [x, y] = [(); 2].map(|()| 2.0 * uniform(rng) - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * square.ln() / square).sqrt();
        }
    }
}

/// Uniform in [0, 1).
fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    type Limits = ((usize, usize), &'static [f64]);

    /// Of numpy, for rows and columns: 20,000 tables of normal numbers (the last 6,000),
    /// `eigvalsh` of their correlations, and the quantile 0.99 at each place.
    const NUMPY: [Limits; 6] = [
        ((3, 4), &[3.898, 1.913, 0.0, 0.0]),
        ((6, 4), &[2.998, 1.702, 1.013, 0.537]),
        ((12, 3), &[2.063, 1.241, 0.896]),
        ((60, 7), &[1.818, 1.485, 1.267, 1.104, 0.968, 0.844, 0.712]),
        ((9, 20), &[6.53, 4.868, 3.893, 3.134, 2.529, 1.999, 1.522, 1.07]),
        ((1000, 10), &[1.221, 1.156, 1.111, 1.075, 1.042, 1.013, 0.984, 0.956]),
    ];

    #[test]
    fn limits_are_those_of_tables_that_numpy_draws() {
        for (shape, expected) in NUMPY {
            let found = eigenvalues_by_chance(shape.0, shape.1);
            assert_eq!(found.len(), shape.1);
            for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
                let apart = (found - expected).abs();
                assert!(apart < 0.03 * expected.max(0.3), "{shape:?} {place}: {found} {expected}");
            }
        }
    }

    /// Of 3 columns "up to 3.043" was told.
    #[test]
    fn no_limit_is_above_the_number_of_columns() {
        for n_rows in [0, 1, 2, 3, 4, 6, 12, 100] {
            for n_columns in [0, 1, 2, 3, 4, 9, 30] {
                let limits = eigenvalues_by_chance(n_rows, n_columns);
                assert_eq!(limits.len(), n_columns);
                assert!(limits.is_sorted_by(|a, b| a >= b), "{n_rows} {n_columns} {limits:?}");
                assert!(limits.iter().all(|&limit| limit <= n_columns as f64 + 1e-9));
                // As many dimensions as rows that are free.
                let zeros = limits.iter().skip(n_rows.saturating_sub(1));
                assert!(zeros.into_iter().all(|&limit| limit < 1e-9));
            }
        }
    }

    /// Where tables are no longer drawn, the first limit has no step.
    #[test]
    fn the_formula_follows_where_tables_end() {
        let drawn = eigenvalues_by_chance(1000, MOST_DRAWN)[0];
        let formula = largest_of_many(1000, MOST_DRAWN);
        assert!((drawn / formula - 1.0).abs() < 0.02, "{drawn} {formula}");
        assert_eq!(eigenvalues_by_chance(1000, MOST_DRAWN + 1).len(), 1);
    }

    #[test]
    fn limits_do_not_depend_on_threads() {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| eigenvalues_by_chance(40, 12))
        };
        assert_eq!(with(1), with(3));
    }
}
