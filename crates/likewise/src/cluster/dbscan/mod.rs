//! DBSCAN, exact, without neighbour lists.

mod cells;
mod core_radii;
mod frame;
mod geometry;
mod grid;
mod groups;
mod labels;
mod params;
mod scatter;
mod sparse;
mod spread;
mod stay;
mod subcells;
mod tree;
mod union_find;

use crate::cluster::{Along, Clustering, Points};
use crate::parallel;
use core_radii::CoreAt;
pub use core_radii::CoreRadii;
use frame::Frame;
use geometry::Aabb;
use groups::Known;
use params::PART;
pub use params::{Dbscan, DbscanParams, DbscanParamsError};
use rayon::prelude::*;
pub use spread::dbscan_spread;
use std::borrow::Cow;

/// Groups points by density.
///
/// `points` are already normalised; eps is in the same units. A core point
/// has at least `min_points` points within eps, itself included; core points
/// within eps of one another are in one cluster; a border point takes the
/// earliest cluster that reaches it, visiting the points in order. These are
/// the labels of scikit-learn's `DBSCAN`, number for number.
///
/// # Complexity
/// Up to three dimensions a grid of cells with diagonal eps: O(n) expected
/// plus the pairs of neighbouring cells; in tight clouds most points are looked
/// at once and not moved. Above, a tree whose leaves have diagonal eps. Memory
/// is O(n): about 1.5 times the points, less in tight clouds with few cells.
///
/// # Reference
/// Ester, Kriegel, Sander & Xu, KDD 1996. The grid follows Gunawan (2013) and
/// Gan & Tao (SIGMOD 2015); the lock-free joining of cells follows Wang, Gu &
/// Shun (SIGMOD 2020); the tight leaves are nearest to Prokopenko's DenseBox.
/// Differs: a squared distance is rounded once per dimension in order and
/// compared with eps², and nothing depends on the number of threads.
///
/// # Example
/// ```
/// use likewise::cluster::{DbscanParams, Points, dbscan};
///
/// let points = Points::new(&[0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 9.0], 1)?;
/// let found = dbscan(points, &DbscanParams::new(0.15, 2)?);
/// let numbers: Vec<_> = found.clustering.labels.iter().map(|label| label.map(|id| id.number())).collect();
/// assert_eq!(numbers, [Some(1), Some(1), Some(1), Some(2), Some(2), Some(2), None]);
/// assert_eq!(found.core, [true, true, true, true, true, true, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn dbscan(points: Points<'_>, params: &DbscanParams) -> Dbscan {
    dbscan_by(points, params, Knowing::default())
}

/// As [`dbscan`], where it is known of points whether they are core, and where they lie
/// along a curve. It pays where many radii are asked.
///
/// # Panics
/// If `cores` is of other points, as far as their number tells.
///
/// # Example
/// ```
/// use likewise::cluster::kdist::k_distances;
/// use likewise::cluster::{Along, CoreRadii, DbscanParams, Points, dbscan, dbscan_knowing};
///
/// let points = Points::new(&[0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 9.0], 1)?;
/// let along = Along::of(points);
/// let cores = CoreRadii::of(&k_distances(points, 3)?, 3, vec![0.15, 0.3]);
/// for eps in [0.15, 0.3] {
///     let params = DbscanParams::new(eps, 3)?;
///     assert_eq!(dbscan_knowing(&along, &params, &cores), dbscan(points, &params));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn dbscan_knowing(along: &Along<'_>, params: &DbscanParams, cores: &CoreRadii) -> Dbscan {
    let points = along.points();
    assert_eq!(cores.len(), points.len(), "whether each point is core");
    dbscan_by(points, params, Knowing { cores: cores.at(params), along: Some(along) })
}

/// What is known of points beforehand.
#[derive(Clone, Copy, Default)]
struct Knowing<'a> {
    cores: Option<CoreAt<'a>>,
    along: Option<&'a Along<'a>>,
}

fn dbscan_by(points: Points<'_>, params: &DbscanParams, knowing: Knowing<'_>) -> Dbscan {
    if points.is_empty() {
        let clustering = Clustering { labels: Vec::new(), n_clusters: 0 };
        return Dbscan { clustering, core: Vec::new() };
    }
    match points.dims() {
        1 => by_grid::<1>(points, params, knowing),
        2 => by_grid::<2>(points, params, knowing),
        3 => by_grid::<3>(points, params, knowing),
        // Padding to a few widths keeps the compiled program small.
        4 => by_tree::<4>(points, params, knowing.cores),
        5..=8 => by_tree::<8>(points, params, knowing.cores),
        _ => by_tree::<16>(points, params, knowing.cores),
    }
}

fn by_grid<const D: usize>(points: Points<'_>, params: &DbscanParams, knowing: Knowing<'_>) -> Dbscan {
    let Knowing { cores, along } = knowing;
    let input = rows::<D>(points);
    let around = input.par_chunks(1 << 15).map(Aabb::of).reduce(|| Aabb::EMPTY, |a, b| a.merge(&b));
    let Some(frame) = Frame::new(&around, params.eps()) else {
        return by_tree::<4>(points, params, cores);
    };
    if stay::pays(&input, &frame, params) {
        let (index, sorted, known) = stay::sort(&input, frame, params);
        return groups::cluster(&input, sorted, (&known, cores), &index, params);
    }
    match grid::sort(&input, along, &frame, params) {
        Some((_, sorted)) if stands_alone(&sorted.groups, params) => sparse::cluster::<D>(points, params),
        Some((grid, sorted)) => {
            let known = Known::by_size(&sorted.groups, params);
            groups::cluster(&input, sorted, (&known, cores), &grid, params)
        }
        None => by_tree::<4>(points, params, cores),
    }
}

fn by_tree<const D: usize>(points: Points<'_>, params: &DbscanParams, cores: Option<CoreAt<'_>>) -> Dbscan {
    let input = rows::<D>(points);
    let (tree, sorted) = tree::Tree::new(&input, params);
    if stands_alone(&sorted.groups, params) {
        return sparse::cluster::<D>(points, params);
    }
    let known = Known::by_size(&sorted.groups, params);
    groups::cluster(&input, sorted, (&known, cores), &tree, params)
}

/// Whether groups hold so few points that they are not worth having: seen
/// from a point, so that one tight phase among much noise counts in full.
fn stands_alone<const D: usize>(groups: &groups::Groups<D>, params: &DbscanParams) -> bool {
    const FEW: usize = 4;
    let squares: usize = (0..groups.len()).map(|g| groups.size(g) * groups.size(g)).sum();
    squares < FEW * groups.points.len() && params.eps() < sparse::MAX_EPS
}

/// The points as rows of `D` coordinates; missing dimensions are 0, which
/// changes no sum of squares.
fn rows<const D: usize>(points: Points<'_>) -> Cow<'_, [[f64; D]]> {
    let (rows, rest) = points.data().as_chunks::<D>();
    if points.dims() == D {
        debug_assert!(rest.is_empty());
        return Cow::Borrowed(rows);
    }
    let mut rows = vec![[0.0; D]; points.len()];
    parallel::fill(&mut rows, PART, &|first, part| {
        for (i, row) in (first..).zip(part) {
            row[..points.dims()].copy_from_slice(points.row(i));
        }
    });
    Cow::Owned(rows)
}

#[cfg(test)]
mod tests;
