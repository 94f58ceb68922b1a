//! What counts as computing, and may be waiting.

use super::names::Names;
use likewise::bursts::{Cause, Finding, FindingKind, LEAST_SHARE, Scope};
use likewise::table::Nanos;
use likewise::words::percent;
use std::ops::Range;

/// That what counts as computing is in part waiting for locks, where it is worth a finding: how much of it
/// could be won, the trace does not tell.
pub(super) fn in_locks(runtime: Nanos, n_threads: usize, part: &Range<Nanos>) -> Option<String> {
    let mean = Nanos(runtime.0 / n_threads.max(1) as u64);
    let share = mean.0 as f64 / part.end.saturating_sub(part.start).0.max(1) as f64;
    (share >= LEAST_SHARE).then(|| {
        format!(
            "Of what counts as computing, the mean thread is in locks, critical sections and scheduling for {mean}, as \
             long as {} of the run, which no finding tells (see the notes).",
            percent(share)
        )
    })
}

/// Behind what would be won, where threads with more instructions may have waited.
pub(super) const SPIN: &str = ", if the slowest have more work: threads that spin while they wait have more \
                              instructions too (a run with one thread tells)";

/// Whether more instructions may be those of a wait: threads of OpenMP may wait for each other in a loop of
/// the program, which no state tells. MPI waits in its calls.
pub(super) fn may_spin(finding: &Finding, names: &Names) -> bool {
    let is_work = matches!(finding.kind, FindingKind::Imbalance { cause: Cause::Work, steady: true, .. });
    is_work && names.in_parallel && (finding.scope == Scope::Task || !names.is_hybrid)
}
