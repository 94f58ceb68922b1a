//! What Extrae's events say of OpenMP.

use super::code::{OMP_FUNCTION, OMP_TASK};
use crate::folding::steps::Mark;

const FORK: u32 = 60_000_001;
const BARRIER: u32 = 60_000_005;

/// Whether an event of that type belongs to the runtime and interrupts a burst
/// without ending it: locks, critical and ordered sections, loops and tasks.
fn interrupts(event_type: u32) -> bool {
    matches!(event_type % 1_000, 2..=4 | 6..=11 | 14 | 15 | 21 | 22 | 24..=26 | 29..=31 | 33 | 35)
}

/// Whether [`mark`] may make something of an event of that type.
#[inline]
pub(crate) fn is_openmp(event_type: u32) -> bool {
    (60_000_000..60_001_000).contains(&event_type)
}

/// What an event means; `None` for most.
pub(crate) fn mark(event_type: u32, value: i128) -> Option<Mark<()>> {
    match (event_type, value) {
        (OMP_FUNCTION | OMP_TASK, 0) => Some(Mark::Leave),
        (OMP_FUNCTION | OMP_TASK, _) => Some(Mark::Enter(())),
        (FORK, 1..) => Some(Mark::Fork),
        (BARRIER, _) | (_, ..=0) => None,
        _ => interrupts(event_type).then_some(Mark::Runtime),
    }
}

#[cfg(test)]
mod tests;
