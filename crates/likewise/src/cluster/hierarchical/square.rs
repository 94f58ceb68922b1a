//! The dissimilarities of every two profiles.

use std::ops::Range;

use rayon::prelude::*;

use super::Dissimilarity;
use super::correlation;
use super::profiles::{Profiles, ProfilesError};
use super::tiles::{Block, Sink};
use crate::cluster::Dissimilarities;

/// Profiles of a block: two blocks of 132 columns fit the second level of
/// cache.
const BLOCK: usize = 64;

/// How unlike every two profiles are.
///
/// Two profiles are compared on the columns where both have a value. Sums, of
/// sizes or of squares, are divided by the share of such columns, so that a
/// missing value counts as the mean of the others; R's `dist` does the same.
/// Correlations need no scale.
///
/// # Errors
/// [`ProfilesError::NothingInCommon`] or, for correlations,
/// [`ProfilesError::Constant`] names the first pair, row by row, that cannot
/// be compared.
///
/// # Complexity
/// O(n²·d), in parallel; 8 n² bytes. Correlations with missing values take
/// each pair by itself, about ten times as long.
///
/// # Reference
/// Malard, *A role for Pareto optimality in mining performance data*, §2.1.
/// Differs: with one of k values missing the paper *multiplies* the rest by
/// 1 − 1/k, by which profiles get nearer the less is known of them; the
/// standard that it refers to divides.
///
/// # Example
/// ```
/// use likewise::cluster::hierarchical::{Dissimilarity, Profiles, dissimilarities};
///
/// // The third profile lacks its first value: the other one counts twice.
/// let profiles = Profiles::new(&[0.0, 0.0, 3.0, 4.0, f64::NAN, 5.0], 2)?;
/// let square = dissimilarities(&profiles, Dissimilarity::Manhattan)?;
/// assert_eq!((square.get(0, 1), square.get(0, 2)), (7.0, 10.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn dissimilarities(
    profiles: &Profiles,
    dissimilarity: Dissimilarity,
) -> Result<Dissimilarities, ProfilesError> {
    profiles.check_common()?;
    let n = profiles.len();
    let compared = correlation::comparable(profiles, dissimilarity);
    let mut data = crate::pages::large(vec![0.0; n * n]);
    let cells = Cells { data: data.as_mut_ptr(), n };
    let starts: Vec<usize> = (0..n).step_by(BLOCK).collect();
    let blocks: Vec<(usize, usize)> =
        starts.iter().flat_map(|&i| starts.iter().filter(move |&&j| j >= i).map(move |&j| (i, j))).collect();
    blocks.par_iter().for_each_with(cells, |sink, &(i, j)| {
        let (rows, columns) = (i..(i + BLOCK).min(n), j..(j + BLOCK).min(n));
        Block { profiles: &compared, dissimilarity, order: None, rows, columns, sink }.compute();
    });
    // A profile without any value would be unlike itself.
    (0..n).for_each(|i| data[i * n + i] = 0.0);
    let square = Dissimilarities { n, data };
    if dissimilarity == Dissimilarity::Correlation {
        let undefined = |a: usize| square.row(a).iter().position(|x| x.is_nan()).map(|b| (a, b));
        if let Some((a, b)) = (0..n).into_par_iter().find_map_first(undefined) {
            return Err(correlation::undefined(profiles, a, b));
        }
    }
    Ok(square)
}

/// The cells of a square that several threads write, no two the same.
#[derive(Clone)]
pub(super) struct Cells {
    data: *mut f64,
    n: usize,
}

// SAFETY: `dissimilarities` gives each block of pairs to one thread, which alone
// writes its cells and their mirror images; nobody reads before all are done.
unsafe impl Send for Cells {}

impl Cells {
    /// Puts values one after the other into a row.
    #[inline(always)]
    fn put(&mut self, row: usize, column: usize, values: &[f64]) {
        assert!(row < self.n && column + values.len() <= self.n, "a place in the square");
        // SAFETY: the place is inside the square, as just checked.
        let to = unsafe { self.data.add(row * self.n + column) };
        // SAFETY: as above, and no other thread has these cells.
        unsafe { to.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
    }
}

impl Sink for Cells {
    #[inline(always)]
    fn wants(&mut self, rows: Range<usize>, columns: Range<usize>) -> bool {
        // What lies below the diagonal is the mirror image of what lies above.
        rows.start < columns.end
    }

    #[inline(always)]
    fn take<const SIDE: usize>(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        values: &[[f64; SIDE]; SIDE],
    ) {
        for (row, values) in rows.clone().zip(values) {
            self.put(row, columns.start, &values[..columns.len()]);
        }
        for (j, column) in columns.enumerate() {
            let mirrored = values.map(|values| values[j]);
            self.put(column, rows.start, &mirrored[..rows.len()]);
        }
    }
}
