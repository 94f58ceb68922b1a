//! What of a run was traced, and on how many CPUs it was.

use likewise::bursts::LEAST_SHARE;
use likewise::table::Nanos;
use likewise_trace::{Topology, Untraced, UntracedBy};
use std::ops::Range;

/// Of which part of a run it is known what all threads compute, and how many can at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// The longest part in which all threads are traced; `None` if it is the whole run, or all but
    /// so little that nothing it hides is worth a finding.
    pub part: Option<Range<Nanos>>,
    /// CPUs of all nodes, where the trace names them.
    pub cpus: Option<u32>,
    /// Of a recording whose ranks were saved until different moments: the first of these, if what
    /// it hides is worth a finding.
    pub saved_until: Option<Nanos>,
}

impl Traced {
    pub(super) fn of(untraced: Option<Untraced>, topology: Option<&Topology>, end: Nanos) -> Self {
        let hides = |untraced: &Untraced| {
            untraced.to.saturating_sub(untraced.from).0 as f64 >= LEAST_SHARE * end.0 as f64
        };
        let untraced = untraced.filter(hides);
        let saved = untraced.filter(|of| of.why == UntracedBy::Saving);
        // What was saved is known from the begin on.
        let is_before = |of: &Untraced| of.why == UntracedBy::Saving || of.from >= end.saturating_sub(of.to);
        let part = untraced.map(|of| if is_before(&of) { Nanos::ZERO..of.from } else { of.to..end });
        let cpus =
            topology.map_or(0, |topology| topology.cpus.iter().fold(0, |sum: u32, n| sum.saturating_add(*n)));
        Self { part, cpus: (cpus > 0).then_some(cpus), saved_until: saved.map(|of| of.from) }
    }

    /// That tracing was off for a time, and what that means.
    pub(super) fn note(&self, untraced: Option<Untraced>) -> Option<String> {
        let Untraced { from, to, time, why } = untraced?;
        if why == UntracedBy::Saving {
            return self.saved_until.map(|_| {
                format!(
                    "Ranks were saved until different moments, the first until {from}, the last until {to}; what the \
                     others did then is not known. So ranks cannot be compared over the whole run: what to look at first \
                     is said of the time until {from} alone, and no phase is called serial."
                )
            });
        }
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
    use crate::phases::{Options, label_bursts};
    use crate::{Silent, Stages};

    fn off(from: u64, to: u64) -> Option<Untraced> {
        let why = UntracedBy::Disabled;
        Some(Untraced { from: Nanos(from), to: Nanos(to), time: Nanos(2 * (to - from)), why })
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
    fn ranks_that_were_saved_apart_are_told() {
        let saved = |from, to| off(from, to).map(|of| Untraced { why: UntracedBy::Saving, ..of });
        let traced = Traced::of(saved(4_000, 10_000), None, Nanos(10_000));
        assert_eq!(
            (traced.saved_until, traced.part.clone()),
            (Some(Nanos(4_000)), Some(Nanos(0)..Nanos(4_000)))
        );
        assert_eq!(Traced::of(saved(100, 200), None, Nanos(10_000)).part, Some(Nanos(0)..Nanos(100)));
        let note = traced.note(saved(4_000, 10_000)).expect("a note");
        assert!(note.contains("the first until 4.00 µs, the last until 10.0 µs"), "{note}");
        // Of next to nothing nobody needs to know.
        let traced = Traced::of(saved(9_990, 10_000), None, Nanos(10_000));
        assert_eq!((traced.saved_until, traced.note(saved(9_990, 10_000))), (None, None));
        assert_eq!(Traced::of(off(0, 4_000), None, Nanos(10_000)).saved_until, None);
    }

    #[test]
    fn ranks_that_were_saved_apart_are_not_compared() {
        let dir = tempfile::tempdir().expect("a place for files");
        let table = dir.path().join("bursts.csv");
        std::fs::write(&table, "task,thread,begin_ns,duration_ns\n1,1,0,50000\n2,1,0,60000\n")
            .expect("a file");
        let labelled = label_bursts(&table, &Options::default(), &mut Stages::default(), &Silent);
        let mut labelled = labelled.expect("a table");
        labelled.has_all_states().expect("all is known");
        labelled.traced.saved_until = Some(Nanos(4_000));
        let why = labelled.has_all_states().expect_err("it is not").to_string();
        assert!(why.contains("ranks cannot be compared") && why.contains("the first until 4.00 µs"), "{why}");
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
