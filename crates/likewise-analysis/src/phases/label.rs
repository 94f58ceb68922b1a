//! What becomes of a burst, as one number.

use likewise::cluster::Clustering;
use likewise::table::{BurstClass, Prepared};

/// Label of a burst that DBSCAN calls noise.
pub const NOISE: u32 = 0;
/// Label of a burst whose cluster is too small to be kept. This and the
/// following labels are the greatest numbers, so every smaller one is a phase
/// or noise.
pub const FILTERED_THRESHOLD: u32 = u32::MAX - 3;
/// Label of a burst that the duration filter set aside.
pub const FILTERED_DURATION: u32 = u32::MAX - 2;
/// Label of a burst that the range filter of a metric set aside.
pub const FILTERED_RANGE: u32 = u32::MAX - 1;
/// Label of a burst that lacks a counter the clustering needs.
pub const MISSING: u32 = u32::MAX;

/// The label of every burst: a cluster's number from 1, or one of the constants.
///
/// `clustering` labels the complete bursts; `dropped` are those of them whose
/// cluster was left out, ascending.
pub(super) fn burst_labels(prepared: &Prepared, clustering: &Clustering, dropped: &[u32]) -> Vec<u32> {
    let set_aside = |class: &BurstClass| match class {
        BurstClass::Missing => MISSING,
        BurstClass::FilteredDuration => FILTERED_DURATION,
        BurstClass::FilteredRange => FILTERED_RANGE,
        BurstClass::Complete => NOISE,
    };
    let mut labels: Vec<u32> = prepared.class.iter().map(set_aside).collect();
    for (&burst, label) in prepared.complete.iter().zip(&clustering.labels) {
        labels[burst as usize] = label.map_or(NOISE, |id| id.number());
    }
    for &i in dropped {
        labels[prepared.complete[i as usize] as usize] = FILTERED_THRESHOLD;
    }
    labels
}
