//! The distance of every point to its k-th nearest neighbour.
//!
//! Sorted, these distances make the curve from which a radius for
//! density-based clustering is read.
//!
//! A kd-tree with leaves of 16 points stored by coordinate; the points of a
//! leaf search together, so that one walk through the tree serves all of
//! them and every step is a vector operation.

mod kept;
pub(super) mod nearest;
pub(super) mod search;
mod spread;
pub(super) mod tree;

use super::Points;
use crate::parallel;
use crate::simd::{Width, up_to};
use kept::{Gathered, Sorted};
use rayon::prelude::*;
use search::{Kept, Leaf, Search};
pub use spread::{KDistSpreadError, k_distances_spread, k_distances_spread_of};
use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tree::Tree;

/// Leaves that a thread takes at once.
const LEAVES_PER_TASK: usize = 16;

/// From this many neighbours on, they are gathered instead of sorted: about here both
/// take as long, in 2-D, 3-D and 8-D, in clouds and where points are even.
const LONG: usize = 32;

/// Why there are no k-th neighbours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KDistError {
    /// `k` is 0: a point's first neighbour is itself.
    #[error("k is 0; a point is its own first neighbour, so k starts at 1")]
    Zero,
    /// There are fewer than `k` points.
    #[error("{points} points have no {k}-th nearest neighbour")]
    TooFewPoints {
        /// How many points there are.
        points: usize,
        /// Which neighbour was asked for.
        k: usize,
    },
}

/// The Euclidean distance of every point to its `k`-th nearest neighbour, in
/// the order of the points.
///
/// A point is its own first neighbour, as in DBSCAN's count of neighbours and
/// in scikit-learn's `kneighbors` on the data it was fitted to: `k = 1` gives
/// zeros, and a point is a core point for `eps` and `min_points = k` exactly
/// if its distance is at most `eps`.
///
/// Exact: each value is the square root of the squares of the coordinates'
/// differences, added in the order of the coordinates and each step rounded
/// to `f64`, whatever the processor and the number of threads.
///
/// # Errors
/// [`KDistError`] if `k` is 0 or there are fewer than `k` points.
///
/// # Complexity
/// O(n log n) expected for small `k` and few dimensions; in many dimensions,
/// or with `k` in the hundreds, towards O(n²) and O(n k). Memory: 2 copies
/// of the points, and up to `256 k` bytes for each thread.
///
/// # Reference
/// The k-distance is that of Ester et al., KDD 1996, §4.2, which does not
/// count the point itself. The tree is Friedman, Bentley and Finkel's kd-tree
/// (ACM TOMS 1977), searched from the leaf upwards.
///
/// # Example
/// ```
/// use likewise::cluster::{Points, kdist::k_distances};
///
/// let points = Points::new(&[0.0, 1.0, 5.0], 1)?;
/// assert_eq!(k_distances(points, 2)?, [1.0, 1.0, 4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn k_distances(points: Points<'_>, k: usize) -> Result<Vec<f64>, KDistError> {
    k_distances_of(points, [k]).map(|[distances]| distances)
}

/// The same for several `k`, which costs as much as the largest of them; where some are below
/// 32 and others not, as the largest of each kind.
///
/// # Errors
/// As [`k_distances`], for any of them.
pub fn k_distances_of<const N: usize>(
    points: Points<'_>,
    ks: [usize; N],
) -> Result<[Vec<f64>; N], KDistError> {
    k_distances_up_to(Width::Avx512, points, ks)
}

/// The k-distances from the largest to the smallest: the sorted k-dist graph
/// of Ester et al., KDD 1996, §4.2.
///
/// # Errors
/// As [`k_distances`].
///
/// # Example
/// ```
/// use likewise::cluster::{Points, kdist::k_distance_curve};
///
/// let points = Points::new(&[0.0, 1.0, 5.0], 1)?;
/// assert_eq!(k_distance_curve(points, 2)?, [4.0, 1.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn k_distance_curve(points: Points<'_>, k: usize) -> Result<Vec<f64>, KDistError> {
    let mut curve = k_distances(points, k)?;
    // Distances are not negative, so their bits are ordered as they are; and
    // integers sort faster.
    curve.par_sort_unstable_by_key(|x| Reverse(x.to_bits()));
    Ok(curve)
}

/// The same with vectors no wider than `most`.
fn k_distances_up_to<const N: usize>(
    most: Width,
    points: Points<'_>,
    ks: [usize; N],
) -> Result<[Vec<f64>; N], KDistError> {
    if ks.contains(&0) {
        return Err(KDistError::Zero);
    }
    if let Some(k) = ks.into_iter().find(|&k| points.len() < k) {
        return Err(KDistError::TooFewPoints { points: points.len(), k });
    }
    // A dimension of zeros changes no sum, so a few widths serve all.
    Ok(match points.dims() {
        1 => search_all::<1, N>(most, points, ks),
        2 => search_all::<2, N>(most, points, ks),
        3 => search_all::<3, N>(most, points, ks),
        4 => search_all::<4, N>(most, points, ks),
        5 => search_all::<5, N>(most, points, ks),
        6 => search_all::<6, N>(most, points, ks),
        7 | 8 => search_all::<8, N>(most, points, ks),
        9 | 10 => search_all::<10, N>(most, points, ks),
        11 | 12 => search_all::<12, N>(most, points, ks),
        _ => search_all::<16, N>(most, points, ks),
    })
}

fn search_all<const D: usize, const N: usize>(
    most: Width,
    points: Points<'_>,
    ks: [usize; N],
) -> [Vec<f64>; N] {
    let tree = Tree::<D>::new(points.data(), points.dims());
    let found = ks.map(|_| (0..points.len()).map(|_| AtomicU64::new(0)).collect::<Vec<_>>());
    nearest_in(most, &tree, ks, |at, row, squared| {
        found[at][row as usize].store(squared.sqrt().to_bits(), Relaxed);
    });
    found.map(|found| found.into_iter().map(|x| f64::from_bits(x.into_inner())).collect())
}

/// Tells for each place in `ks` and each row of a tree the squared distance to its k-th
/// nearest there; the tree has as many.
fn nearest_in<const D: usize>(
    most: Width,
    tree: &Tree<D>,
    ks: impl AsRef<[usize]>,
    tell: impl Fn(usize, u32, f64) + Sync,
) {
    // The largest first, so that smaller ones are looked for among fewer.
    let mut ks: Vec<(usize, usize)> = ks.as_ref().iter().copied().enumerate().collect();
    ks.sort_by_key(|&(_, k)| Reverse(k));
    let (many, few) = ks.split_at(ks.partition_point(|&(_, k)| k >= LONG));
    if let Some(&(_, k)) = many.first() {
        each_leaf(most, tree, many, || Gathered::new(k, tree.rows.len()), &tell);
    }
    // A few are found faster by themselves than among many.
    if let Some(&(_, k)) = few.first() {
        each_leaf(most, tree, few, || Sorted::new(k), &tell);
    }
}

fn each_leaf<K: Kept<D>, const D: usize>(
    most: Width,
    tree: &Tree<D>,
    ks: &[(usize, usize)],
    kept: impl Fn() -> K + Sync,
    tell: &(impl Fn(usize, u32, f64) + Sync),
) {
    parallel::each(tree.blocks.len(), LEAVES_PER_TASK, &|leaves| {
        let mut search = Search::new(kept());
        for leaf in leaves {
            up_to(most, Leaf { search: &mut search, tree, leaf });
            for &(at, k) in ks {
                let squared = search.kept.nearest(k);
                for (&row, squared) in tree.rows_of(leaf).iter().zip(squared) {
                    tell(at, row, squared);
                }
            }
        }
    });
}

#[cfg(test)]
mod tests;
