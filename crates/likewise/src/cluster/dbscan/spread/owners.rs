//! Points go to owners of parts of space.

use super::super::params::{Dbscan, DbscanParams};
use super::{local::local, merge, send_labels};
use crate::cluster::spread::halves::{Halves, Hulls};
use crate::cluster::spread::held::{Held, Rows};
use crate::cluster::{Clustering, Points};
use crate::comm::{CommError, Communicator};

/// An owner gets copies of all points within eps of its own, so it finds which of
/// its own are core, and all that they are joined with.
pub(super) fn cluster<C: Communicator + ?Sized>(
    points: Points<'_>,
    params: &DbscanParams,
    rows: &Rows,
    comm: &C,
) -> Result<Dbscan, CommError> {
    comm.phase("points to owners");
    let halves = Halves::of_sample(comm, points, rows, params.eps())?;
    let owned = (0..points.len()).map(|row| (row as u32, halves.owner(points.row(row))));
    let mut held = Held::at_owners(comm, points, rows, owned)?;
    comm.phase("copies");
    let hulls = Hulls::gather(comm, held.points())?;
    held.give(comm, |p, visit| hulls.near(p, params.eps2(), visit))?;

    let n_own = held.n_own();
    let mut found = local(held.points(), n_own, params);
    comm.phase("core points");
    let told = held.tell(comm, |own| [u8::from(found.is_core(own))])?;
    for (copy, _) in (n_own..).zip(told).filter(|(_, [core])| *core != 0) {
        found.add(copy);
    }
    found.join();
    comm.phase("components");
    let numbered = merge::number(comm, &*found, &held, rows)?;
    let labelled = found.label(&numbered.of_component, numbered.n_clusters);
    comm.phase("labels");
    let (mut labels, mut core) = (vec![None; points.len()], vec![false; points.len()]);
    send_labels(comm, &held, &labelled, |row, label, is_core| (labels[row], core[row]) = (label, is_core))?;
    Ok(Dbscan { clustering: Clustering { labels, n_clusters: numbered.n_clusters }, core })
}
