//! What became of a burst, as files write it.

use likewise_analysis::phases::{FILTERED_DURATION, FILTERED_RANGE, FILTERED_THRESHOLD, MISSING, NOISE};

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
