//! What became of a burst, as files write it.

use likewise::bursts::BurstLabel;

/// The label in CSV files.
pub(crate) fn push_csv(label: BurstLabel, buffer: &mut Vec<u8>) {
    match label {
        BurstLabel::Noise => buffer.extend(b"noise"),
        BurstLabel::Phase(id) => buffer.extend_from_slice(itoa::Buffer::new().format(id.number()).as_bytes()),
        BurstLabel::FilteredThreshold => buffer.extend(b"filtered_threshold"),
        BurstLabel::FilteredDuration => buffer.extend(b"filtered_duration"),
        BurstLabel::FilteredRange => buffer.extend(b"filtered_range"),
        BurstLabel::Missing => buffer.extend(b"missing"),
    }
}

/// The value of event 90000001, as ClusteringSuite numbers it.
pub(crate) fn event_value(label: BurstLabel) -> u32 {
    match label {
        BurstLabel::Missing => 1,
        BurstLabel::FilteredDuration => 2,
        BurstLabel::FilteredRange => 3,
        BurstLabel::FilteredThreshold => 4,
        BurstLabel::Noise => 5,
        BurstLabel::Phase(id) => id.number() + 5,
    }
}
