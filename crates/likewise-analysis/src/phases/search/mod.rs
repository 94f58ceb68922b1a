//! Who looks for neighbours among all points: this process, or all processes of
//! an MPI program. The others also keep counters meanwhile.

mod first;
mod others;
#[cfg(test)]
mod tests;

pub(super) use first::on_all;
pub(super) use others::serve;

use likewise::cluster::kdist::{KDistError, k_distances, k_distances_of};
use likewise::cluster::{Along, CoreRadii, Dbscan, DbscanParams, Points, dbscan, dbscan_knowing};
use likewise::table::{BurstTable, Prepared};

/// Looks for neighbours. All questions are about the same points.
pub trait Search: Sync {
    /// As [`dbscan`].
    fn dbscan(&self, points: Points<'_>, params: &DbscanParams) -> Dbscan;

    /// As [`dbscan_knowing`], if it helps.
    fn dbscan_knowing(&self, along: &Along<'_>, params: &DbscanParams, _cores: &CoreRadii) -> Dbscan {
        self.dbscan(along.points(), params)
    }

    /// Whether [`Search::dbscan_knowing`] makes use of what is known.
    fn uses_cores(&self) -> bool {
        false
    }

    /// As [`k_distances`], for each of one to three `k`.
    ///
    /// # Errors
    /// Those of [`k_distances`].
    fn k_distances(&self, points: Points<'_>, k: &[usize]) -> Result<Vec<Vec<f64>>, KDistError>;

    /// Says that [`Search::dbscan`] or [`Search::dbscan_knowing`] will be asked with these, in
    /// this order, while the caller does other work between.
    fn ahead(&self, _points: Points<'_>, _params: &[DbscanParams], _cores: Option<&CoreRadii>) {}

    /// Has others keep the counters of the bursts, if there are others; then the table is without
    /// any, until [`Search::counters_back`].
    fn keep_counters(&self, _table: &mut BurstTable, _prepared: &Prepared) {}

    /// Has the table have its counters again.
    fn counters_back(&self, _table: &mut BurstTable) {}
}

/// This process alone.
#[derive(Clone, Copy, Debug)]
pub struct Here;

impl Search for Here {
    fn dbscan(&self, points: Points<'_>, params: &DbscanParams) -> Dbscan {
        dbscan(points, params)
    }

    fn dbscan_knowing(&self, along: &Along<'_>, params: &DbscanParams, cores: &CoreRadii) -> Dbscan {
        dbscan_knowing(along, params, cores)
    }

    fn uses_cores(&self) -> bool {
        true
    }

    fn k_distances(&self, points: Points<'_>, k: &[usize]) -> Result<Vec<Vec<f64>>, KDistError> {
        match *k {
            // One search finds all.
            [a, b] => Ok(k_distances_of(points, [a, b])?.into()),
            [a, b, c] => Ok(k_distances_of(points, [a, b, c])?.into()),
            _ => k.iter().map(|&k| k_distances(points, k)).collect(),
        }
    }
}
