//! What becomes of a burst, as one number.

use likewise::cluster::Clustering;
use likewise::table::{BurstClass, Prepared};

pub(crate) use likewise_report::phases::{
    FILTERED_DURATION, FILTERED_RANGE, FILTERED_THRESHOLD, MISSING, NOISE,
};

/// The label of every burst: a cluster's number from 1, or one of the constants.
///
/// `clustering` labels the complete bursts; `dropped` are those of them whose
/// cluster was left out, ascending.
pub(crate) fn burst_labels(prepared: &Prepared, clustering: &Clustering, dropped: &[u32]) -> Vec<u32> {
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

/// The label in CSV files.
pub(crate) fn push_csv(label: u32, buffer: &mut Vec<u8>) {
    match label {
        NOISE => buffer.extend(b"noise"),
        FILTERED_THRESHOLD => buffer.extend(b"filtered_threshold"),
        FILTERED_DURATION => buffer.extend(b"filtered_duration"),
        FILTERED_RANGE => buffer.extend(b"filtered_range"),
        MISSING => buffer.extend(b"missing"),
        phase => buffer.extend(itoa::Buffer::new().format(phase).bytes()),
    }
}

/// The value of event 90000001, as ClusteringSuite numbers it.
pub(crate) fn event_value(label: u32) -> u32 {
    match label {
        MISSING => 1,
        FILTERED_DURATION => 2,
        FILTERED_RANGE => 3,
        FILTERED_THRESHOLD => 4,
        NOISE => 5,
        phase => phase + 5,
    }
}
