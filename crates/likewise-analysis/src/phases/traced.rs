//! What of a run was traced, and on how many CPUs it was.

use likewise::bursts::LEAST_SHARE;
use likewise::table::{Moment, Nanos};
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
    pub(super) fn of(untraced: Option<Untraced>, topology: Option<&Topology>, run: Range<Nanos>) -> Self {
        let Range { start: begin, end } = run;
        let hides = |untraced: &Untraced| {
            untraced.to.saturating_sub(untraced.from).0 as f64
                >= LEAST_SHARE * end.saturating_sub(begin).0 as f64
        };
        let untraced = untraced.filter(hides);
        let saved = untraced.filter(|of| of.why == UntracedBy::Saving);
        // What was saved is known from the begin on.
        let is_before = |of: &Untraced| {
            of.why == UntracedBy::Saving || of.from.saturating_sub(begin) >= end.saturating_sub(of.to)
        };
        let part = untraced.map(|of| if is_before(&of) { begin..of.from } else { of.to..end });
        let cpus =
            topology.map_or(0, |topology| topology.cpus.iter().fold(0, |sum: u32, n| sum.saturating_add(*n)));
        Self { part, cpus: (cpus > 0).then_some(cpus), saved_until: saved.map(|of| of.from) }
    }

    /// That tracing was off for a time, and what that means.
    pub(super) fn note(&self, untraced: Option<Untraced>, begin: Nanos) -> Option<String> {
        let Untraced { from, to, time, why } = untraced?;
        let (from, to) = (Moment(from), Moment(to));
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
        let part =
            if start == begin { format!("--to {}ns", until.0) } else { format!("--from {}ns", start.0) };
        Some(format!(
            "{off}. So threads cannot be compared over the whole run: what to look at first is said of the time from \
             {} to {} alone, in which all are traced, and no phase is called serial. `likewise cut TRACE \
             {part} -o PART` leaves that part.",
            Moment(start),
            Moment(until)
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
        let part = |from, to| Traced::of(off(from, to), None, Nanos(0)..Nanos(10_000)).part;
        assert_eq!(part(0, 4_000), Some(Nanos(4_000)..Nanos(10_000)));
        assert_eq!(part(7_000, 9_000), Some(Nanos(0)..Nanos(7_000)));
        assert_eq!(part(7_000, 7_049), None, "it hides nothing that is worth a finding");
        assert_eq!(Traced::of(None, None, Nanos(0)..Nanos(10_000)).part, None);
        // Of a run that begins at 8 µs the time before is no part.
        let part = |from, to| Traced::of(off(from, to), None, Nanos(8_000)..Nanos(10_000)).part;
        assert_eq!(part(8_500, 8_600), Some(Nanos(8_600)..Nanos(10_000)));
        assert_eq!(part(9_500, 9_600), Some(Nanos(8_000)..Nanos(9_500)));
    }

    #[test]
    fn ranks_that_were_saved_apart_are_told() {
        let saved = |from, to| off(from, to).map(|of| Untraced { why: UntracedBy::Saving, ..of });
        let traced = Traced::of(saved(4_000, 10_000), None, Nanos(0)..Nanos(10_000));
        assert_eq!(
            (traced.saved_until, traced.part.clone()),
            (Some(Nanos(4_000)), Some(Nanos(0)..Nanos(4_000)))
        );
        assert_eq!(
            Traced::of(saved(100, 200), None, Nanos(0)..Nanos(10_000)).part,
            Some(Nanos(0)..Nanos(100))
        );
        let note = traced.note(saved(4_000, 10_000), Nanos(0)).expect("a note");
        assert!(note.contains("the first until 4.00 µs, the last until 10.0 µs"), "{note}");
        // Of next to nothing nobody needs to know.
        let traced = Traced::of(saved(9_990, 10_000), None, Nanos(0)..Nanos(10_000));
        assert_eq!((traced.saved_until, traced.note(saved(9_990, 10_000), Nanos(0))), (None, None));
        assert_eq!(Traced::of(off(0, 4_000), None, Nanos(0)..Nanos(10_000)).saved_until, None);
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
        let said =
            |from, to| Traced::of(off(from, to), None, Nanos(0)..Nanos(10_000)).note(off(from, to), Nanos(0));
        let long = said(0, 4_000).expect("a note");
        assert!(long.contains("off for 8.00 µs") && long.contains("--from 4000ns"), "{long}");
        let short = said(7_000, 7_049).expect("a note");
        assert!(short.contains("off for 98 ns") && !short.contains("cut"), "{short}");
        assert_eq!(Traced::of(None, None, Nanos(0)..Nanos(1)).note(None, Nanos(0)), None);
    }

    /// 4 tasks, 20 steps of 1 ms, of which the last takes longer: each has a burst and a wait in it.
    /// Times begin at `from`; `before` is a state of all until then.
    fn analysed(from: u64, before: Option<u32>) -> crate::phases::Analysis {
        let dir = tempfile::tempdir().expect("a place for files");
        let trace = dir.path().join("made.prv");
        let mut text =
            format!("#Paraver (28/11/2026 at 10:00):{}_ns:1(4):1:4(1:1,1:1,1:1,1:1),0\n", from + 20_000_000);
        for (state, task) in before.into_iter().flat_map(|state| (1..5).map(move |task| (state, task))) {
            text += &format!("1:{task}:1:{task}:1:0:{from}:{state}\n");
        }
        for (step, task) in (0..20).flat_map(|step| (1..5).map(move |task| (step, task))) {
            let (begin, next) = (from + 1_000_000 * step, from + 1_000_000 * (step + 1));
            let end = begin + 700_000 + 200_000 * u64::from(task == 4) + 1_000 * (step * task % 7);
            text += &format!("1:{task}:1:{task}:1:{begin}:{end}:1\n1:{task}:1:{task}:1:{end}:{next}:13\n");
        }
        std::fs::write(&trace, text).expect("a file");
        let labelled = label_bursts(&trace, &Options::default(), &mut Stages::default(), &Silent);
        std::sync::Arc::new(labelled.expect("a trace")).analysed(&mut Stages::default(), &Silent)
    }

    /// A trace may count from the start of the machine: of one that begins at 1,000 s "threads
    /// compute for 0.0% of the run" was told, and no finding.
    #[test]
    fn shares_are_of_what_was_traced() {
        let [here, far] = [0, 1_000_000_000_000].map(|from| analysed(from, None));
        let lists = [&here, &far].map(|run| run.findings.clone().expect("findings"));
        assert!(!lists[0].list.is_empty(), "{lists:?}");
        assert!((lists[0].idle - lists[1].idle).abs() < 1e-9, "{lists:?}");
        for (a, b) in lists[0].list.iter().zip(&lists[1].list) {
            assert!((a.share - b.share).abs() < 1e-9, "{a:?} {b:?}");
            assert_eq!(b.begin.0 - a.begin.0, 1_000_000_000_000, "times are those of the file");
        }
        assert_eq!((here.length(), far.length(), far.begin.0), (here.end, here.end, 1_000_000_000_000));
        // Who idles from time 0 on is a part of the run.
        let late = analysed(20_000_000, Some(0));
        let found = late.findings.clone().expect("findings");
        assert_eq!((late.begin, late.length()), (Nanos(0), Nanos(40_000_000)));
        let half = |share: f64, of: f64| (share - 0.5 * of).abs() < 1e-9;
        assert!(half(found.list[0].share, lists[0].list[0].share), "{found:?}");
        assert!(half(found.idle, 1.0 + lists[0].idle), "{found:?}");
        // Nobody is there yet. "Waiting, communication and I/O, 97.9% of the time" was told of it.
        let uncreated = analysed(20_000_000, Some(2));
        assert_eq!((uncreated.begin, uncreated.length()), (Nanos(20_000_000), here.end));
        assert!((uncreated.findings.expect("findings").idle - lists[0].idle).abs() < 1e-9);
    }
}
