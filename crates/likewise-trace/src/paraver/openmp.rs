//! What Extrae's events say of OpenMP.

use super::code::{OMP_FUNCTION, OMP_TASK};
use crate::folding::steps::Mark;

const OMP: u32 = 60_000_000;
const FORK: u32 = 60_000_001;
const BARRIER: u32 = 60_000_005;
const TASKWAIT: u32 = 60_000_022;
/// Extrae writes the begin of a taskgroup as 1, and the wait at its end as 2.
const TASKGROUP: u32 = 60_000_025;
const TASKGROUP_END: i128 = 2;

/// Whether an event of that type belongs to the runtime and interrupts a burst
/// without ending it: locks, critical and ordered sections, loops and tasks.
fn interrupts(event_type: u32) -> bool {
    // Other events end with the same digits: those of counters stand in the same records.
    let number = event_type.checked_sub(OMP);
    matches!(number, Some(2..=4 | 6..=11 | 14 | 15 | 21 | 24 | 25 | 29..=31 | 33 | 35))
}

/// Whether [`mark`] may make something of an event of that type.
#[inline]
pub(crate) fn is_openmp(event_type: u32) -> bool {
    (OMP..OMP + 1_000).contains(&event_type)
}

/// What an event means; `None` for most.
pub(crate) fn mark(event_type: u32, value: i128) -> Option<Mark<()>> {
    match (event_type, value) {
        (OMP_FUNCTION | OMP_TASK, 0) => Some(Mark::Leave),
        (OMP_FUNCTION | OMP_TASK, _) => Some(Mark::Enter(())),
        (FORK, 1..) => Some(Mark::Fork),
        (_, ..=0) => None,
        (BARRIER | TASKWAIT, _) | (TASKGROUP, TASKGROUP_END) => Some(Mark::Wait),
        _ => interrupts(event_type).then_some(Mark::Runtime),
    }
}

#[cfg(test)]
mod tests;
