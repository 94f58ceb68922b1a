//! DBSCAN of points that are spread over ranks.

mod halves;
mod held;
mod local;
mod merge;
mod owners;

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
    _way: Way,
) -> Result<Dbscan, CommError> {
    let rows = Rows::gather(comm, points.len())?;
    owners::cluster(points, params, &rows, comm)
}

#[cfg(test)]
mod tests;
