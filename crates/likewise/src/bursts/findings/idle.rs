//! In how much of a run no thread computes.

use super::finding::FindingsInput;
use crate::bursts::in_time::by_begin;
use crate::table::Nanos;

/// How long no thread computes, until the last burst ends: behind it nobody knows, as the trace may
/// have been cut. Bursts count however short they are, and as far as they are in the part, so that it
/// is of the same bursts as how long threads compute; one that sleeps does not compute.
///
/// # Complexity
/// O(n log n) for n bursts.
pub(super) fn idle(input: &FindingsInput<'_>) -> Nanos {
    let (table, part) = (input.table, &input.part);
    let is_asleep = |i: usize| input.asleep.get(i).is_some_and(|asleep| *asleep);
    let is_in_part = |i: &usize| table.begin[*i] < part.end && table.end(*i) > part.start;
    let last = (0..table.len()).filter(is_in_part).map(|i| table.end(i).min(part.end)).max();
    let (mut until, mut idle) = (part.start, Nanos::ZERO);
    for burst in by_begin(table, |i| is_in_part(&i) && !is_asleep(i) && table.duration[i] > Nanos::ZERO) {
        let burst = burst as usize;
        idle = idle.saturating_add(table.begin[burst].saturating_sub(until));
        until = until.max(table.end(burst).min(part.end));
    }
    idle.saturating_add(last.unwrap_or(part.start).saturating_sub(until))
}
