//! What of a run was traced, and on how many CPUs it was.

use likewise::bursts::LEAST_SHARE;
use likewise::table::Nanos;
use likewise_trace::{Topology, Untraced};
use std::ops::Range;

/// Of which part of a run it is known what all threads compute, and how many can at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// The longest part in which all threads are traced; `None` if it is the whole run, or all but
    /// so little that nothing it hides is worth a finding.
    pub part: Option<Range<Nanos>>,
    /// CPUs of all nodes, where the trace names them.
    pub cpus: Option<u32>,
}

impl Traced {
    pub(super) fn of(untraced: Option<Untraced>, topology: Option<&Topology>, end: Nanos) -> Self {
        let hides = |untraced: &Untraced| {
            untraced.to.saturating_sub(untraced.from).0 as f64 >= LEAST_SHARE * end.0 as f64
        };
        let part = untraced.filter(hides).map(|Untraced { from, to, .. }| {
            if from >= end.saturating_sub(to) { Nanos::ZERO..from } else { to..end }
        });
        let cpus =
            topology.map_or(0, |topology| topology.cpus.iter().fold(0, |sum: u32, n| sum.saturating_add(*n)));
        Self { part, cpus: (cpus > 0).then_some(cpus) }
    }

    /// That tracing was off for a time, and what that means.
    pub(super) fn note(&self, untraced: Option<Untraced>) -> Option<String> {
        let Untraced { from, to, time } = untraced?;
        let off = format!(
            "Tracing was off for {time} of the time of all threads (state Tracing Disabled), between {from} and {to}; \
             what they computed then is not known"
        );
        let Some(Range { start, end: until }) = self.part.clone() else {
            return Some(format!("{off}."));
        };
        let part = if start == Nanos::ZERO {
            format!("--to {}ns", until.0)
        } else {
            format!("--from {}ns", start.0)
        };
        Some(format!(
            "{off}. So threads cannot be compared over the whole run: what to look at first is said of the time from \
             {start} to {until} alone, in which all are traced, and no phase is called serial. `likewise cut TRACE \
             {part} -o PART` leaves that part."
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn off(from: u64, to: u64) -> Option<Untraced> {
        Some(Untraced { from: Nanos(from), to: Nanos(to), time: Nanos(2 * (to - from)) })
    }

    #[test]
    fn the_longest_part_is_that_before_or_after() {
        let part = |from, to| Traced::of(off(from, to), None, Nanos(10_000)).part;
        assert_eq!(part(0, 4_000), Some(Nanos(4_000)..Nanos(10_000)));
        assert_eq!(part(7_000, 9_000), Some(Nanos(0)..Nanos(7_000)));
        assert_eq!(part(7_000, 7_049), None, "it hides nothing that is worth a finding");
        assert_eq!(Traced::of(None, None, Nanos(10_000)).part, None);
    }

    #[test]
    fn the_note_says_when_tracing_was_off() {
        let said = |from, to| Traced::of(off(from, to), None, Nanos(10_000)).note(off(from, to));
        let long = said(0, 4_000).expect("a note");
        assert!(long.contains("off for 8.00 µs") && long.contains("--from 4000ns"), "{long}");
        let short = said(7_000, 7_049).expect("a note");
        assert!(short.contains("off for 98 ns") && !short.contains("cut"), "{short}");
        assert_eq!(Traced::of(None, None, Nanos(1)).note(None), None);
    }
}
