//! What of a run was traced, and on how many CPUs it was.

use super::Reading;
use likewise::bursts::LEAST_SHARE;
use likewise::table::{BurstTable, Moment, Nanos};
use likewise::words::percent;
use likewise_trace::{ReadReport, Topology, Untraced, UntracedBy};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// Of which part of a run it is known what all threads compute, and how many can at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// The part that findings are of: the longest in which all threads are traced, and of it what
    /// is between MPI_Init and MPI_Finalize, or until the last state. `None` if it is the whole run,
    /// or all but so little that nothing it hides is worth a finding.
    pub part: Option<Range<Nanos>>,
    /// Whether some threads are not traced outside of it.
    pub is_off: bool,
    /// Why it begins later than what is traced, if it does.
    pub since: Option<Since>,
    /// Why it ends earlier than what is traced, if it does.
    pub until: Option<Until>,
    /// CPUs of all nodes, where the trace names them.
    pub cpus: Option<u32>,
    /// That some tasks or threads have no burst, if so: nothing is found of them.
    pub without_bursts: Option<String>,
    /// How long threads are, all together and within bursts, in locks, critical sections and scheduling.
    pub runtime: Nanos,
    /// Of a recording whose ranks were saved until different moments: the first of these, if what
    /// it hides is worth a finding.
    pub saved_until: Option<Nanos>,
    /// When each task (of an application) calls MPI_Finalize, where the trace tells it: what it
    /// computes behind that is no part of the run, though others go on.
    pub done: BTreeMap<(u32, u32), Nanos>,
}

/// A part that is less than this share of a trace is said to be little before anything is said of it:
/// more of the trace is start and end than run.
const SHORT: f64 = 0.5;

/// Why the part that is looked at begins after the trace does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// MPI_Init has ended.
    Init,
    /// The tracer has been set up.
    SetUp,
}

/// Why the part that is looked at ends before the trace does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Tasks call MPI_Finalize.
    Finalize,
    /// The last state ends.
    LastState,
    /// The trace was cut while states were open, and these were kept whole.
    Cut,
}

/// Why a part begins after the run does, and ends before.
type Why = (Option<Since>, Option<Until>);

/// When the first task leaves MPI_Init and the last calls MPI_Finalize, when the last state ends, when
/// the tracer has been set up, and until when all threads are known if the trace was cut
/// ([`ReadReport::cut`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) init: Option<Nanos>,
    pub(super) finalize: Option<Nanos>,
    pub(super) last_state: Option<Nanos>,
    pub(super) set_up: Option<Nanos>,
    pub(super) cut: Option<Nanos>,
}

impl Marked {
    /// What a trace tells of them. Events may mark anything, and bursts of events may reach over any
    /// of these moments.
    pub(super) fn of(report: &ReadReport, reading: &Reading) -> Self {
        if !reading.burst_events.is_empty() {
            return Self::default();
        }
        let ReadReport { mpi_init: init, mpi_finalize: finalize, last_state, set_up, cut, .. } = *report;
        Self { init, finalize, last_state, set_up, cut }
    }

    /// The part of a run between them, and why it is no more.
    fn part(self, run: &Range<Nanos>, table: &BurstTable) -> (Range<Nanos>, Why) {
        // MPI_Init sets the tracer up itself, or is called by a program that is traced.
        let set_up = self.set_up.map(|time| (time, Since::SetUp));
        let begins = self.init.map(|call| (call, Since::Init)).into_iter().chain(set_up);
        let begin = begins.filter(|(begin, _)| *begin > run.start).max_by_key(|(begin, _)| *begin);
        let start = begin.map_or(run.start, |(begin, _)| begin);
        // Bursts of events may go on.
        let last = (0..table.len()).map(|i| table.end(i)).max().unwrap_or(Nanos::ZERO);
        let stated = self.last_state.map(|state| state.max(last)).filter(|state| *state < run.end);
        let stated = stated.map(|state| match self.cut {
            // States that end a moment apart hide nothing.
            Some(cut) if state.saturating_sub(cut).0 as f64 >= LEAST_SHARE * cut.0 as f64 => {
                (cut, Until::Cut)
            }
            _ => (state, Until::LastState),
        });
        let called = self.finalize.filter(|call| *call < run.end).map(|call| (call, Until::Finalize));
        let end = called.into_iter().chain(stated).min_by_key(|(end, _)| *end);
        let why = (begin.map(|(_, why)| why), end.map(|(_, why)| why));
        (start..end.map_or(run.end, |(end, _)| end), why)
    }

    /// Leaves the bursts of that part, if there are any, and says what is gone.
    pub(super) fn leave(self, table: &mut BurstTable, run: &mut Range<Nanos>) -> Option<String> {
        let (part, why) = self.part(run, table);
        if part == *run {
            return None;
        }
        let between = match why.1 {
            // The bursts as far as all threads are known.
            Some(Until::Cut) => table.clone().ended_at(part.end).within(&part),
            _ => table.within(&part),
        };
        if between.is_empty() {
            return None;
        }
        *table = between;
        let whole = std::mem::replace(run, part.clone());
        let gone = clauses(&whole, &part, why);
        (!gone.is_empty()).then(|| {
            let (from, to) = (Moment(part.start), Moment(part.end));
            format!("Compared is the time from {from} to {to}: {gone}.")
        })
    }
}

/// What is outside of a part of a run, as far as it is worth a finding: why it begins after the run
/// does, and why it ends before.
fn clauses(run: &Range<Nanos>, part: &Range<Nanos>, (since, until): Why) -> String {
    let length = run.end.saturating_sub(run.start).0.max(1) as f64;
    let told = |time: Nanos| {
        let share = time.0 as f64 / length;
        (share >= LEAST_SHARE).then(|| format!("{time}, {} of the trace", percent(share)))
    };
    let before = since.zip(told(part.start.saturating_sub(run.start)));
    let before = before.map(|(since, of)| match since {
        Since::Init => format!("until MPI_Init has ended ({of}) the program starts up"),
        Since::SetUp => format!("before that ({of}) the tracer is set up"),
    });
    let after = until.zip(told(run.end.saturating_sub(part.end)));
    let after = after.map(|(until, of)| match until {
        Until::Finalize => format!("from MPI_Finalize on ({of}) it ends"),
        Until::LastState => format!("behind that ({of}) no state is recorded"),
        Until::Cut => format!("behind that ({of}) no state begins, and not all threads are known"),
    });
    before.into_iter().chain(after).collect::<Vec<_>>().join(", ")
}

impl Traced {
    pub(super) fn of(
        untraced: Option<Untraced>,
        topology: Option<&Topology>,
        run: Range<Nanos>,
        (marked, table): (Marked, &BurstTable),
    ) -> Self {
        let Range { start: begin, end } = run;
        let is_worth_it = |time: Nanos| time.0 as f64 >= LEAST_SHARE * end.saturating_sub(begin).0 as f64;
        let hides = |untraced: &Untraced| is_worth_it(untraced.to.saturating_sub(untraced.from));
        let untraced = untraced.filter(hides);
        let saved = untraced.filter(|of| of.why == UntracedBy::Saving);
        // What was saved is known from the begin on.
        let is_before = |of: &Untraced| {
            of.why == UntracedBy::Saving || of.from.saturating_sub(begin) >= end.saturating_sub(of.to)
        };
        let traced = untraced.map(|of| if is_before(&of) { begin..of.from } else { of.to..end });
        let whole = traced.clone().unwrap_or(begin..end);
        let (inside, (since, until)) = marked.part(&run, table);
        let inside = whole.start.max(inside.start)..whole.end.min(inside.end);
        let [before, after] =
            [inside.start.saturating_sub(whole.start), whole.end.saturating_sub(inside.end)];
        let is_part = inside.start < inside.end && is_worth_it(before.saturating_add(after));
        let cpus =
            topology.map_or(0, |topology| topology.cpus.iter().fold(0, |sum: u32, n| sum.saturating_add(*n)));
        Self {
            is_off: traced.is_some(),
            part: Some(inside).filter(|_| is_part).or(traced),
            since: since.filter(|_| is_part && before > Nanos::ZERO),
            until: until.filter(|_| is_part && after > Nanos::ZERO),
            cpus: (cpus > 0).then_some(cpus),
            without_bursts: None,
            runtime: Nanos::ZERO,
            saved_until: saved.map(|of| of.from),
            done: BTreeMap::new(),
        }
    }

    /// The bursts that findings are of: those of tasks that are done take no time.
    pub(super) fn looked_at<'t>(&self, table: &'t BurstTable) -> Cow<'t, BurstTable> {
        self.with(table, BurstTable::clone)
    }

    /// The same, which need have no more than times: counters are most of a table.
    pub(super) fn times_looked_at<'t>(&self, table: &'t BurstTable) -> Cow<'t, BurstTable> {
        self.with(table, BurstTable::of_times)
    }

    fn with<'t>(&self, table: &'t BurstTable, copy: fn(&BurstTable) -> BurstTable) -> Cow<'t, BurstTable> {
        let cut = self.part.as_ref().filter(|_| self.until == Some(Until::Cut));
        let mut done = self.of_done(table).peekable();
        if cut.is_none() && done.peek().is_none() {
            return Cow::Borrowed(table);
        }
        let mut own = copy(table);
        if let Some(part) = cut {
            own = own.ended_at(part.end);
        }
        done.for_each(|i| own.duration[i] = Nanos::ZERO);
        Cow::Owned(own)
    }

    /// The bursts that begin when their tasks are done.
    fn of_done<'t>(&'t self, table: &'t BurstTable) -> impl Iterator<Item = usize> + 't {
        table.threads().flat_map(move |((app, task, _), bursts)| {
            let done = self.done.get(&(app, task)).copied();
            bursts.filter(move |&i| done.is_some_and(|done| table.begin[i] >= done))
        })
    }

    /// That tasks compute in a part of the run when they are done, if it is worth a word there.
    pub(super) fn told_done(
        &self,
        part: &Range<Nanos>,
        (table, threads): (&BurstTable, usize),
    ) -> Option<String> {
        let inside = |i: usize| table.end(i).min(part.end).saturating_sub(table.begin[i].max(part.start));
        let time = self.of_done(table).map(inside).fold(Nanos::ZERO, Nanos::saturating_add);
        let share = time.0 as f64 / (threads as f64 * part.end.saturating_sub(part.start).0 as f64).max(1.0);
        (share >= LEAST_SHARE).then(|| {
            format!(
                "Tasks that have called MPI_Finalize are done: what they do until the last one calls it ({time} in all) \
                 does not count as computing."
            )
        })
    }

    /// Whether the part that is looked at is but a little one of the run.
    pub(super) fn is_short(&self, run: &Range<Nanos>) -> bool {
        let length = |of: &Range<Nanos>| of.end.saturating_sub(of.start).0 as f64;
        self.part.as_ref().is_some_and(|part| length(part) < SHORT * length(run))
    }

    /// Which part of the run is meant by “the run”; `None` where it is the whole. How little it is comes
    /// first.
    pub(super) fn told_part(&self, run: &Range<Nanos>) -> Option<String> {
        let part = self.part.as_ref()?;
        let little = if self.is_short(run) {
            let [all, looked_at] = [run, part].map(|of| of.end.saturating_sub(of.start));
            format!("Of a trace of {all} only {looked_at} are looked at. ")
        } else {
            String::new()
        };
        let (from, to) = (Moment(part.start), Moment(part.end));
        let all = if self.is_off { ", in which all threads are traced" } else { "" };
        let why = match clauses(run, part, (self.since, self.until)) {
            why if why.is_empty() => why,
            why => format!(": {why}"),
        };
        Some(format!("{little}“The run” is the time from {from} to {to} here{all}{why}."))
    }

    /// That tracing was off for a time, and what that means.
    pub(super) fn note(&self, untraced: Option<Untraced>, run: Range<Nanos>) -> Option<String> {
        let Range { start: begin, end } = run;
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
        let Some(Range { start, end: until }) = self.part.clone().filter(|_| self.is_off) else {
            return Some(format!("{off}."));
        };
        let from = (start > begin).then(|| format!("--from {}ns", start.0));
        let to = (until < end).then(|| format!("--to {}ns", until.0));
        let part = from.into_iter().chain(to).collect::<Vec<_>>().join(" ");
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

    fn of(untraced: Option<Untraced>, run: Range<Nanos>) -> Traced {
        Traced::of(untraced, None, run, (Marked::default(), &BurstTable::default()))
    }

    fn off(from: u64, to: u64) -> Option<Untraced> {
        let why = UntracedBy::Disabled;
        Some(Untraced { from: Nanos(from), to: Nanos(to), time: Nanos(2 * (to - from)), why })
    }

    #[test]
    fn the_longest_part_is_that_before_or_after() {
        let part = |from, to| of(off(from, to), Nanos(0)..Nanos(10_000)).part;
        assert_eq!(part(0, 4_000), Some(Nanos(4_000)..Nanos(10_000)));
        assert_eq!(part(7_000, 9_000), Some(Nanos(0)..Nanos(7_000)));
        assert_eq!(part(7_000, 7_049), None, "it hides nothing that is worth a finding");
        assert_eq!(of(None, Nanos(0)..Nanos(10_000)).part, None);
        // Of a run that begins at 8 µs the time before is no part.
        let part = |from, to| of(off(from, to), Nanos(8_000)..Nanos(10_000)).part;
        assert_eq!(part(8_500, 8_600), Some(Nanos(8_600)..Nanos(10_000)));
        assert_eq!(part(9_500, 9_600), Some(Nanos(8_000)..Nanos(9_500)));
    }

    /// Bursts of 100 ns at these times, of one thread.
    fn bursts(begins: &[u64]) -> BurstTable {
        let n = begins.len();
        let [app, task, thread] = [(); 3].map(|()| vec![1; n].into());
        let (begin, duration) = (begins.iter().map(|&at| Nanos(at)).collect(), vec![Nanos(100); n]);
        BurstTable { app, task, thread, begin, duration, ..BurstTable::default() }
    }

    #[test]
    fn the_part_is_between_the_calls_of_mpi() {
        let table = bursts(&[0, 2_000, 3_100, 5_000, 9_800]);
        let part = |untraced, init: Option<u64>, finalize: Option<u64>| {
            let marked = Marked { init: init.map(Nanos), finalize: finalize.map(Nanos), ..Marked::default() };
            Traced::of(untraced, None, Nanos(0)..Nanos(10_000), (marked, &table))
        };
        let both = part(None, Some(3_000), Some(9_000));
        assert_eq!(both.part, Some(Nanos(3_000)..Nanos(9_000)));
        assert_eq!((both.is_off, both.since, both.until), (false, Some(Since::Init), Some(Until::Finalize)));
        let told = both.told_part(&(Nanos(0)..Nanos(10_000))).expect("a part");
        assert!(told.contains(
            "from 3.00 µs to 9.00 µs here: until MPI_Init has ended (3.00 µs, 30.0% of the trace)"
        ));
        assert!(
            told.ends_with(
                "the program starts up, from MPI_Finalize on (1.00 µs, 10.0% of the trace) it ends."
            ),
            "{told}"
        );
        // An end that hides nothing has no word, and a part that is nearly all is none.
        let begin = part(None, Some(3_000), Some(9_990));
        assert_eq!((begin.part.clone(), begin.since), (Some(Nanos(3_000)..Nanos(9_990)), Some(Since::Init)));
        let told = begin.told_part(&(Nanos(0)..Nanos(10_000))).expect("a part");
        assert!(told.ends_with("the program starts up."), "{told}");
        assert_eq!(part(None, Some(0), Some(9_990)).part, None);
        assert_eq!(part(None, None, None).part, None);
        // Of what is traced, if tracing was off; where nothing of that is between the calls, all of it.
        let some = part(off(7_000, 10_000), Some(3_000), Some(9_000));
        assert_eq!((some.part, some.is_off), (Some(Nanos(3_000)..Nanos(7_000)), true));
        let none = part(off(3_000, 10_000), Some(3_000), Some(9_000));
        assert_eq!((none.part, none.is_off), (Some(Nanos(0)..Nanos(3_000)), true));
        // What no state tells of is no part of it.
        let stated = |until: u64| {
            let marked = Marked { last_state: Some(Nanos(until)), ..Marked::default() };
            Traced::of(None, None, Nanos(0)..Nanos(100_000), (marked, &table))
        };
        let early = stated(9_000);
        assert_eq!((early.part.clone(), early.until), (Some(Nanos(0)..Nanos(9_900)), Some(Until::LastState)));
        let told = early.told_part(&(Nanos(0)..Nanos(100_000))).expect("a part");
        assert!(
            told.ends_with("here: behind that (90.1 µs, 90.1% of the trace) no state is recorded."),
            "{told}"
        );
        assert_eq!(stated(99_990).part, None);
    }

    /// "Thread 1.1 computes for 698 ms ... Spread over all, 47.1% of the run would be won" was told of
    /// 672 ms in which Extrae was set up.
    #[test]
    fn the_part_begins_where_the_tracer_is_set_up() {
        let mut table = bursts(&[0, 3_100, 5_000]);
        let mut run = Nanos(0)..Nanos(10_000);
        let marked = |set_up: u64, init: Option<u64>| Marked {
            set_up: Some(Nanos(set_up)),
            init: init.map(Nanos),
            ..Marked::default()
        };
        let of = |marked| Traced::of(None, None, Nanos(0)..Nanos(10_000), (marked, &table));
        let traced = of(marked(3_000, None));
        assert_eq!(
            (traced.part.clone(), traced.since),
            (Some(Nanos(3_000)..Nanos(10_000)), Some(Since::SetUp))
        );
        let told = traced.told_part(&run).expect("a part");
        assert!(
            told.ends_with("from 3.00 µs to 10.0 µs here: before that (3.00 µs, 30.0% of the trace) the tracer is set up."),
            "{told}"
        );
        // A program of MPI starts up until MPI_Init has ended.
        assert_eq!(of(marked(3_000, Some(4_000))).since, Some(Since::Init));
        // What hides nothing is no part.
        assert_eq!((of(marked(40, None)).part, of(marked(40, None)).since), (None, None));
        let note = marked(3_000, None).leave(&mut table, &mut run).expect("a note");
        assert_eq!((&table.begin[..], run), (&[Nanos(3_100), Nanos(5_000)][..], Nanos(3_000)..Nanos(10_000)));
        assert!(note.ends_with("the tracer is set up."), "{note}");
    }

    /// Of open states that were kept whole where a trace was cut, 151 ms of one task and 147 ms of
    /// another, nobody knows what is behind the first end.
    #[test]
    fn a_trace_that_was_cut_is_known_until_the_first_state_ends() {
        let mut table = bursts(&[0, 2_000, 5_000]);
        table.duration[1] = Nanos(2_500);
        let marked = Marked { last_state: Some(Nanos(5_100)), cut: Some(Nanos(4_000)), ..Marked::default() };
        let mut run = Nanos(0)..Nanos(100_000);
        let traced = Traced::of(None, None, run.clone(), (marked, &table));
        assert_eq!((traced.part.clone(), traced.until), (Some(Nanos(0)..Nanos(4_000)), Some(Until::Cut)));
        let told = traced.told_part(&run).expect("a part");
        assert!(told.ends_with("no state begins, and not all threads are known."), "{told}");
        let looked_at = traced.looked_at(&table);
        assert_eq!(looked_at.end(1), Nanos(4_000));
        assert_eq!(traced.times_looked_at(&table).duration, looked_at.duration);
        // Burst 1 is known as far as all threads are.
        marked.leave(&mut table, &mut run).expect("a note");
        assert_eq!(
            (&table.begin[..], table.end(1), run.end),
            (&[Nanos(0), Nanos(2_000)][..], run.end, Nanos(4_000))
        );
        // Of a trace that ends with its last state nothing tells that it was cut.
        let (table, run) = (bursts(&[0, 5_000]), Nanos(0)..Nanos(5_100));
        assert_eq!(Traced::of(None, None, run, (marked, &table)).part, None);
    }

    /// "Threads compute for 5.1% of the run; until the last burst ends, none does in 98.1% of it" was
    /// told of tasks that merge files when they have called MPI_Finalize and another has not.
    #[test]
    fn what_a_task_computes_when_it_is_done_is_no_part_of_the_run() {
        let table = bursts(&[0, 100, 3_000, 5_000]);
        let mut traced = of(None, Nanos(0)..Nanos(10_000));
        assert_eq!(traced.told_done(&(Nanos(0)..Nanos(10_000)), (&table, 1)), None);
        traced.done = [((1, 1), Nanos(3_000)), ((1, 2), Nanos(9_000))].into();
        let looked_at = traced.looked_at(&table);
        assert_eq!(looked_at.duration[..], [Nanos(100), Nanos(100), Nanos(0), Nanos(0)]);
        let told = traced.told_done(&(Nanos(0)..Nanos(10_000)), (&table, 2)).expect("1.0% of the run");
        assert!(told.contains("until the last one calls it (200 ns in all)"), "{told}");
        assert_eq!(traced.told_done(&(Nanos(0)..Nanos(10_000)), (&table, 8)), None, "next to nothing");
        assert_eq!(traced.told_done(&(Nanos(0)..Nanos(3_000)), (&table, 1)), None, "behind the part");
    }

    #[test]
    fn only_bursts_between_the_calls_are_compared() {
        let mut table = bursts(&[0, 2_000, 3_100, 5_000, 9_800]);
        let mut run = Nanos(0)..Nanos(10_000);
        let mpi = Marked { init: Some(Nanos(3_000)), finalize: Some(Nanos(9_000)), ..Marked::default() };
        let note = mpi.leave(&mut table, &mut run).expect("a note");
        assert_eq!((&table.begin[..], run), (&[Nanos(3_100), Nanos(5_000)][..], Nanos(3_000)..Nanos(9_000)));
        assert!(
            note.starts_with("Compared is the time from 3.00 µs to 9.00 µs: until MPI_Init has ended"),
            "{note}"
        );
        // Where nothing is between, or nothing is known, all stays.
        let mpi = Marked { init: Some(Nanos(3_100)), finalize: Some(Nanos(3_150)), ..Marked::default() };
        let mut run = Nanos(0)..Nanos(10_000);
        assert_eq!((mpi.leave(&mut table, &mut run), table.len()), (None, 2));
        assert_eq!((Marked::default().leave(&mut table, &mut run), table.len()), (None, 2));
    }

    #[test]
    fn ranks_that_were_saved_apart_are_told() {
        let saved = |from, to| off(from, to).map(|of| Untraced { why: UntracedBy::Saving, ..of });
        let traced = of(saved(4_000, 10_000), Nanos(0)..Nanos(10_000));
        assert_eq!(
            (traced.saved_until, traced.part.clone()),
            (Some(Nanos(4_000)), Some(Nanos(0)..Nanos(4_000)))
        );
        assert_eq!(of(saved(100, 200), Nanos(0)..Nanos(10_000)).part, Some(Nanos(0)..Nanos(100)));
        let note = traced.note(saved(4_000, 10_000), Nanos(0)..Nanos(10_000)).expect("a note");
        assert!(note.contains("the first until 4.00 µs, the last until 10.0 µs"), "{note}");
        // Of next to nothing nobody needs to know.
        let traced = of(saved(9_990, 10_000), Nanos(0)..Nanos(10_000));
        assert_eq!(
            (traced.saved_until, traced.note(saved(9_990, 10_000), Nanos(0)..Nanos(10_000))),
            (None, None)
        );
        assert_eq!(of(off(0, 4_000), Nanos(0)..Nanos(10_000)).saved_until, None);
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
        let said = |from, to| {
            of(off(from, to), Nanos(0)..Nanos(10_000)).note(off(from, to), Nanos(0)..Nanos(10_000))
        };
        let long = said(0, 4_000).expect("a note");
        assert!(long.contains("off for 8.00 µs") && long.contains("--from 4000ns"), "{long}");
        let short = said(7_000, 7_049).expect("a note");
        assert!(short.contains("off for 98 ns") && !short.contains("cut"), "{short}");
        assert_eq!(of(None, Nanos(0)..Nanos(1)).note(None, Nanos(0)..Nanos(1)), None);
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
