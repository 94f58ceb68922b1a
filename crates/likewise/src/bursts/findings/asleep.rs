//! Long bursts in which a thread sleeps, by its cycles or its CPU time, while no other computes.

use std::ops::Range;

use super::finding::{Finding, FindingKind, FindingsInput, LEAST_SHARE, ThreadName};
use crate::bursts::in_time::by_begin;
use crate::bursts::on_core::cpu_time;
use crate::bursts::serial::{Scope, is_nearly_all};

/// A burst that sleeps, with its thread and for how long no thread computes in it, in ns.
struct Sleep {
    burst: usize,
    thread: ThreadName,
    time: u64,
}

/// The bursts that sleep while none computes for nine tenths of their time, and for [`LEAST_SHARE`] of the
/// run each: first those in which few threads do, then those in which more than half do at once, each as one
/// finding. Whether others wait for them is not known, but nobody does anything else.
///
/// # Complexity
/// O(n log n) for n bursts if any sleeps for so long, else O(n).
pub(super) fn asleep(input: &FindingsInput<'_>) -> Vec<Finding> {
    let table = input.table;
    let least = LEAST_SHARE * input.part.end.saturating_sub(input.part.start).0 as f64;
    let may_be = |i: usize| input.is_asleep(i) && table.duration[i].0 as f64 >= least && input.is_in_part(i);
    if !(0..input.asleep.len()).any(may_be) {
        return Vec::new();
    }
    // Before its first burst a thread may not exist yet.
    let begun = table.threads().map(|(_, bursts)| table.begin[bursts.start].0).max().unwrap_or(0);
    let busy = Busy::of(input);
    let (mut sleeps, mut n_threads) = (Vec::new(), 0);
    for ((_, task, thread), bursts) in table.threads() {
        n_threads += 1;
        for burst in bursts.filter(|&i| may_be(i)) {
            let time = busy.none_in(table.begin[burst].0.max(begun)..table.end(burst).0);
            if time as f64 >= least && is_nearly_all(time as f64, table.duration[burst].0 as f64) {
                sleeps.push(Sleep { burst, thread: ThreadName { task, thread }, time });
            }
        }
    }
    sleeps.sort_by_key(|sleep| table.begin[sleep.burst]);
    let (mut of_few, mut of_most) = (Vec::new(), Vec::new());
    let mut until = 0;
    let at_once = sleeps.chunk_by(|a, b| {
        until = table.end(a.burst).0.max(until);
        table.begin[b.burst].0 < until
    });
    for sleeps in at_once {
        let n = threads(sleeps).len();
        (if n > 1 && 2 * n > n_threads { &mut of_most } else { &mut of_few }).extend(sleeps);
    }
    let found = |sleeps: Vec<&Sleep>| together(input, &busy, begun, &sleeps);
    found(of_few).into_iter().chain(found(of_most)).collect()
}

/// Whose they are.
fn threads<'s>(sleeps: impl IntoIterator<Item = &'s Sleep>) -> Vec<ThreadName> {
    let mut threads: Vec<ThreadName> = sleeps.into_iter().map(|sleep| sleep.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}

/// Those bursts, by begin, as one finding.
fn together(input: &FindingsInput<'_>, busy: &Busy, begun: u64, sleeps: &[&Sleep]) -> Option<Finding> {
    let table = input.table;
    let (mut until, mut time, mut most) = (begun, 0, 0);
    for sleep in sleeps {
        let end = table.end(sleep.burst).0;
        time += busy.none_in(table.begin[sleep.burst].0.max(until)..end);
        (until, most) = (until.max(end), most.max(sleep.time));
    }
    let longest = sleeps.iter().find(|sleep| sleep.time == most)?;
    let mut phases: Vec<_> = sleeps.iter().filter_map(|sleep| input.phase[sleep.burst]).collect();
    phases.sort_unstable();
    phases.dedup();
    let run = input.part.end.saturating_sub(input.part.start).0 as f64;
    let kind = FindingKind::Asleep {
        bursts: sleeps.len() as u64,
        duration: table.duration[longest.burst],
        longest: longest.thread,
        by_cycles: cpu_time(table).is_none(),
    };
    Some(Finding {
        share: time as f64 / run,
        phases,
        noise: sleeps.iter().any(|sleep| input.phase[sleep.burst].is_none()),
        threads: threads(sleeps.iter().copied()),
        begin: table.begin[longest.burst],
        most: most as f64 / run,
        stretches: sleeps.len() as u64,
        ..Finding::of(kind, Scope::Run)
    })
}

/// When any thread computes.
struct Busy {
    /// Spans without common moments, in order, each with the sum of those before it.
    spans: Vec<(Range<u64>, u64)>,
}

impl Busy {
    /// However short bursts are: beside one that sleeps, many short ones may be what threads do.
    fn of(input: &FindingsInput<'_>) -> Self {
        let table = input.table;
        let mut spans: Vec<(Range<u64>, u64)> = Vec::new();
        // Those that reach over the end of the part are of threads that are done.
        for i in by_begin(table, |i| !input.is_asleep(i) && table.end(i) <= input.part.end) {
            let (begin, end) = (table.begin[i as usize].0, table.end(i as usize).0);
            match spans.last_mut() {
                Some((last, _)) if begin <= last.end => last.end = last.end.max(end),
                last => {
                    let before = last.map_or(0, |(last, before)| *before + (last.end - last.start));
                    spans.push((begin..end, before));
                }
            }
        }
        Self { spans }
    }

    /// For how long none does until then.
    fn until(&self, time: u64) -> u64 {
        let at = self.spans.partition_point(|(span, _)| span.start < time);
        let before = |(span, before): &(Range<u64>, u64)| before + (span.end.min(time) - span.start);
        time - at.checked_sub(1).map_or(0, |at| before(&self.spans[at]))
    }

    fn none_in(&self, span: Range<u64>) -> u64 {
        if span.is_empty() { 0 } else { self.until(span.end) - self.until(span.start) }
    }
}
