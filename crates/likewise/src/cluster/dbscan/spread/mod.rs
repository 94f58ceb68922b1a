//! DBSCAN of points that are spread over ranks.

mod local;
mod merge;
mod owners;
mod tables;

use super::params::{Dbscan, DbscanParams};
use crate::cluster::spread::held::{Held, Rows};
use crate::cluster::{ClusterId, Points};
use crate::comm::{CommError, Communicator};
use std::num::NonZeroU32;

/// How points are clustered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// As it suits the points.
    Best,
    /// By owners of parts of space.
    #[cfg(test)]
    Owners,
    /// By cells, if there are not more than so many.
    #[cfg(test)]
    Cells(u64),
}

/// As [`dbscan`](super::dbscan), of points that are spread over ranks. Collective.
///
/// Each rank passes in its own points, of as many dimensions as those of the others;
/// it may have none. Those of rank r follow those of rank r - 1. Returns what
/// [`dbscan`](super::dbscan) of all points would say of this rank's own: the same
/// labels, number for number, on any number of ranks and threads.
///
/// Tight clouds in up to three dimensions are counted by cell and sub-cell on every
/// rank. The tables are added up, and all ranks decide alike what counts can decide.
/// Only points that distances are asked of travel, to the owners of runs of cells.
/// Of other clouds, every point travels to the owner of its part of space. In both
/// cases an owner gets copies of the points of others that are near its own. It finds
/// which of its own are core, is told so of the copies, and joins what is near.
/// Components that touch those of another owner are merged on all ranks. Clusters are
/// then numbered by their first core point, owners label their border points, and
/// labels travel back.
///
/// # Errors
/// The ranks could not work together.
///
/// # Complexity
/// For n points on P ranks, in O(log P) messages of each rank at each of some ten steps.
/// Tight clouds: O(n / P) for a pass over the points, and O(c log P) for c occupied
/// cells. Up to 276 bytes for each of these and 64 KB go to all ranks; what else is
/// sent grows with the points in thin cells and near them, not with the others. Each
/// thread has a table of up to 64 MB. Other clouds: as `dbscan` of the n / P points
/// of an owner and its copies, if they can be divided. Every point is sent once, and
/// once for every other owner whose box is within eps; 5 bytes return. 128 points for
/// each rank, the owners' boxes, and the list of components that touch others go to all.
/// Points that lie within 2 eps of one another have one owner.
///
/// # Reference
/// Patwary et al., PDSDBSCAN, SC 2012: owners of parts of space with copies of what is
/// near, and components that are merged at the end. Götz, Bodenstein & Riedel,
/// HPDBSCAN, MLHPC 2015: cells whose counts are shared, and runs of cells as parts.
/// Differs: where clouds are tight, counts of sub-cells and not points are exchanged;
/// components are merged by groups of mutual neighbours; border points and numbers do
/// not depend on the number of ranks.
///
/// # Example
/// ```
/// use likewise::cluster::{DbscanParams, Points, dbscan_spread};
/// use likewise::comm::{Communicator, run_on_threads};
///
/// let data = [0.0, 0.1, 0.2, 5.0, 5.1, 5.2];
/// let n_clusters = run_on_threads(2, |comm| {
///     let own = Points::new(&data[3 * comm.rank()..][..3], 1).expect("finite");
///     let params = DbscanParams::new(0.15, 2).expect("valid");
///     dbscan_spread(own, &params, comm).map(|found| found.clustering.n_clusters)
/// })?;
/// assert_eq!(n_clusters, [2, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn dbscan_spread<C: Communicator + ?Sized>(
    points: Points<'_>,
    params: &DbscanParams,
    comm: &C,
) -> Result<Dbscan, CommError> {
    if comm.size() == 1 {
        return Ok(super::dbscan(points, params));
    }
    by(points, params, comm, Way::Best)
}

fn by<C: Communicator + ?Sized>(
    points: Points<'_>,
    params: &DbscanParams,
    comm: &C,
    way: Way,
) -> Result<Dbscan, CommError> {
    let rows = Rows::gather(comm, points.len())?;
    let found = match points.dims() {
        1 => by_tables::<C, 1>(points, params, &rows, comm, way)?,
        2 => by_tables::<C, 2>(points, params, &rows, comm, way)?,
        3 => by_tables::<C, 3>(points, params, &rows, comm, way)?,
        _ => None,
    };
    match found {
        Some(found) => Ok(found),
        None => owners::cluster(points, params, &rows, comm),
    }
}

/// `None` on all ranks where that does not pay.
fn by_tables<C: Communicator + ?Sized, const D: usize>(
    points: Points<'_>,
    params: &DbscanParams,
    rows: &Rows,
    comm: &C,
    way: Way,
) -> Result<Option<Dbscan>, CommError> {
    // A row is told in 32 bits.
    if rows.n() == 0 || rows.n() >= u64::from(u32::MAX) {
        return Ok(None);
    }
    let input = points.data().as_chunks::<D>().0;
    let Some(frame) = tables::frame(comm, input, params.eps())? else { return Ok(None) };
    let pays = match way {
        Way::Best => tables::pay(comm, input, &frame, params, rows)?,
        #[cfg(test)]
        Way::Owners => false,
        #[cfg(test)]
        Way::Cells(most) => frame.has_sub_cells() && frame.n_keys() <= most,
    };
    if !pays {
        return Ok(None);
    }
    tables::cluster(input, frame, params, rows, comm).map(Some)
}

/// Sends labels of own points back, 5 bytes for each. Calls `take` with row, label and
/// whether it is core for every row that this rank sent.
fn send_labels<C: Communicator + ?Sized>(
    comm: &C,
    held: &Held,
    found: &Dbscan,
    mut take: impl FnMut(usize, Option<ClusterId>, bool),
) -> Result<(), CommError> {
    let of_own = |own: usize| {
        let number = found.clustering.labels[own].map_or(0, ClusterId::number);
        let [a, b, c, d] = number.to_le_bytes();
        [a, b, c, d, u8::from(found.core[own])]
    };
    held.send_home(comm, of_own, |row, [a, b, c, d, core]| {
        let label = NonZeroU32::new(u32::from_le_bytes([a, b, c, d])).map(ClusterId);
        take(row, label, core != 0);
    })
}

#[cfg(test)]
mod tests;
