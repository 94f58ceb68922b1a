//! What became of a burst, as files write it.

use likewise::bursts::BurstLabel;
use likewise::cluster::ClusterId;

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

/// What [`event_value`] gave a number to.
pub(crate) fn of_event_value(value: u32) -> BurstLabel {
    match value {
        0 | 1 => BurstLabel::Missing,
        2 => BurstLabel::FilteredDuration,
        3 => BurstLabel::FilteredRange,
        4 => BurstLabel::FilteredThreshold,
        5 => BurstLabel::Noise,
        phase => BurstLabel::Phase(ClusterId::from_index(phase as usize - 6)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_of_one_label() {
        let fixed = [
            BurstLabel::Missing,
            BurstLabel::FilteredDuration,
            BurstLabel::FilteredRange,
            BurstLabel::FilteredThreshold,
            BurstLabel::Noise,
        ];
        let phases = [0, 1, 70_000].map(|index| BurstLabel::Phase(ClusterId::from_index(index)));
        for label in fixed.into_iter().chain(phases) {
            assert_eq!(of_event_value(event_value(label)), label);
        }
    }
}
