//! DBSCAN of points that are spread over ranks.

mod halves;
mod held;
mod local;
mod merge;
mod owners;
mod tables;

use super::params::{Dbscan, DbscanParams};
use crate::cluster::Points;
use crate::comm::{CommError, Communicator};
use held::Rows;

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

/// As [`dbscan`](super::dbscan), of points of which each rank has some: those of
/// rank r follow those of rank r - 1. Returns the labels of this rank's own points.
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

#[cfg(test)]
mod tests;
