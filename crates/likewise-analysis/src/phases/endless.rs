//! Events that begin and end something, and events that only have values.

use super::Reading;
use likewise::table::BurstTable;
use likewise::words::{counted, grouped_digits, listed};
use likewise_trace::{EventTypeInfo, ReadOptions, inspect, is_rereadable};
use std::path::Path;

/// Of events that begin and end something, one in so many is 0 at least; of those that have values
/// alone (sampled, or a line of code), fewer are. In over 200 traces each 0 ends one value of calls,
/// tasks and user functions, and one of up to three of locks (of 4 events, 1 is 0); of sampled
/// values at most 1 of 12 is.
const ENDS: u64 = 8;

/// What is said of findings where bursts have no ends.
pub(super) const NOT_SAID: &str = "What to look at first is not said: the chosen events have values and no ends (see the \
    notes), so a burst is the time until the next event, and not what a thread computes.";

/// Whether values of this type end with a 0.
fn has_ends(info: &EventTypeInfo) -> bool {
    info.zeros < info.count && info.zeros.saturating_mul(ENDS) >= info.count
}

/// The event types of a trace that can be read once more, but counters.
fn types_of(trace: &Path, reading: &Reading) -> Option<Vec<EventTypeInfo>> {
    let options =
        ReadOptions { lenient: reading.lenient, pcf: reading.pcf.clone(), ..ReadOptions::default() };
    let info = is_rereadable(trace).then(|| inspect(trace, &options).ok()).flatten()?;
    Some(info.event_types.into_iter().filter(|info| !info.counter).collect())
}

/// Of which events bursts can be made, for a trace without Running states.
pub(super) fn advice(trace: &Path, reading: &Reading) -> String {
    let option = format!("{}--burst-events TYPE", reading.before_options);
    let makes = "; `likewise info --events` shows what there is, and";
    let Some(types) = types_of(trace, reading) else {
        return format!("{makes} {option} makes bursts of events that begin and end something");
    };
    let with: Vec<&EventTypeInfo> = types.iter().filter(|info| has_ends(info)).collect();
    match (types.len() as u64, with.len()) {
        (0, _) => ", and no event".to_owned(),
        (n, 0) => format!(
            ", and no event of which bursts could be made: those of {} have values and no ends (a 0 that ends what \
             another value began), as what is sampled has",
            counted(n, "type")
        ),
        _ => format!(
            "{makes} {option} makes bursts of events that begin and end something, here {}",
            names(&with)
        ),
    }
}

/// Types by number and label.
fn names(types: &[&EventTypeInfo]) -> String {
    const SHOWN: usize = 6;
    let name = |info: &&EventTypeInfo| match info.label.is_empty() {
        true => info.event_type.to_string(),
        false => format!("{} ({})", info.event_type, info.label),
    };
    let others = (types.len() > SHOWN).then(|| "others".to_owned());
    listed(&types.iter().take(SHOWN).map(name).chain(others).collect::<Vec<_>>())
}

/// That bursts of events are only the times from one value to the next: the chosen types have none
/// that ends.
pub(super) fn note(trace: &Path, table: &BurstTable, reading: &Reading) -> Option<String> {
    // Only where bursts follow one another without a gap, the trace is read once more.
    let is_next = |&i: &usize| table.end(i - 1) == table.begin[i];
    let follow = (1..table.len()).filter(is_next).count() as u64;
    let gaps = ((table.len() - table.threads().count()) as u64).saturating_sub(follow);
    if reading.burst_events.is_empty() || gaps.saturating_mul(ENDS) >= table.len() as u64 {
        return None;
    }
    let mut types = types_of(trace, reading)?;
    types.retain(|info| reading.burst_events.contains(&info.event_type));
    let (count, zeros) = types.iter().fold((0, 0), |sum, info| (sum.0 + info.count, sum.1 + info.zeros));
    (!types.is_empty() && !types.iter().any(has_ends)).then(|| {
        format!(
            "The chosen events, {}, have values and no ends ({} of {} are 0): each burst is the time until the next event. \
             Where values are sampled, that is when the next sample was taken.",
            names(&types.iter().collect::<Vec<_>>()),
            grouped_digits(zeros),
            grouped_digits(count)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_begin_something_end_it_with_0() {
        let of = |count, zeros| {
            has_ends(&EventTypeInfo { event_type: 1, label: String::new(), count, zeros, counter: false })
        };
        // Calls, some of which are still open; a lock that is sought, held and let go.
        assert!(of(100, 50) && of(101, 50) && of(100, 25));
        // Samples, some of which are 0; nothing but 0.
        assert!(!of(5_118, 0) && !of(1_933, 12) && !of(1_768, 147) && !of(3, 3));
    }
}
