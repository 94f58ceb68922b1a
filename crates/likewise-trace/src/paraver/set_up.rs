//! When the tracers of tasks have been set up: until then it is they that compute, and not the
//! program.

use std::collections::BTreeMap;

use super::mpi::{Calls, is_little};
use crate::folding::bursts::{Bursts, ByThread};
use crate::trace::{RUNNING, Who};

/// Extrae's “Trace initialization”. A task is traced from where its tracer begins to read what it is
/// to do and to start counters, and that is Running; the value 1 stands where all this is done, and 0
/// some µs later. A process that is forked has it where its own tracer is ready. Where MPI_Init does
/// it, that call stands there instead.
const TRACE_INITIALIZATION: u32 = 40_000_002;
const DONE: i128 = 1;

/// Whether an event says that the tracer has been set up.
#[inline]
pub(super) fn is_marked(event_type: u32, value: i128) -> bool {
    event_type == TRACE_INITIALIZATION && value == DONE
}

/// When the last of all tasks that have bursts has its tracer set up. `None` where one computes
/// before whose tracer was ready, or of which that is not known; and where one of them has been in
/// several states of Running before, as in a part of a trace.
pub(super) fn last(calls: &BTreeMap<Who, Calls>, threads: &ByThread) -> Option<u64> {
    let mut of_tasks: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (who, time) in calls.iter().filter_map(|(who, calls)| Some((who, calls.set_up?))) {
        let first = of_tasks.entry((who.app, who.task)).or_insert(time);
        *first = time.min(*first);
    }
    let mut last = None;
    let mut before: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for (who, bursts) in threads {
        let task = (who.app, who.task);
        let Some(&own) = of_tasks.get(&task) else { continue };
        last = last.max(Some(own));
        *before.entry(task).or_default() += running(bursts).filter(|&(begin, _)| begin < own).count();
    }
    let last = last.filter(|_| before.values().all(|&states| states <= 1))?;
    let own = |who: &Who| of_tasks.get(&(who.app, who.task)).copied().unwrap_or(0);
    is_little(threads, |who| own(who)..last).then_some(last)
}

/// Where bursts begin and end that are in state Running: those of OpenMP still have all states.
pub(super) fn running(bursts: &Bursts) -> impl Iterator<Item = (u64, u64)> + '_ {
    let state = |i: usize| bursts.states.get(i).copied().unwrap_or(RUNNING);
    let times = bursts.begin.iter().zip(&bursts.end).enumerate();
    times.filter(move |(i, _)| state(*i) == RUNNING).map(|(_, (&begin, &end))| (begin, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(task: u32, thread: u32) -> Who {
        Who { app: 1, task, thread }
    }

    fn bursts(of: &[(u64, u64)]) -> Bursts {
        let (begin, end) = of.iter().copied().unzip();
        Bursts { begin, end, ..Bursts::default() }
    }

    fn set_up(of: &[(Who, u64)]) -> BTreeMap<Who, Calls> {
        let marked = |time: u64| {
            let mut calls = Calls::default();
            calls.set_up = Some(time);
            calls
        };
        of.iter().map(|&(who, time)| (who, marked(time))).collect()
    }

    #[test]
    fn the_last_task_counts_if_no_other_computes_before() {
        assert!(is_marked(40_000_002, 1) && !is_marked(40_000_002, 0) && !is_marked(40_000_003, 1));
        let threads: ByThread = [
            (who(1, 1), bursts(&[(0, 400), (402, 990)])),
            (who(1, 2), bursts(&[(500, 990)])),
            (who(2, 1), bursts(&[(50, 401), (403, 1_000)])),
        ]
        .into();
        assert_eq!(last(&set_up(&[(who(1, 1), 400), (who(2, 1), 401)]), &threads), Some(401));
        assert_eq!(last(&set_up(&[(who(1, 1), 400)]), &threads), None);
        let mut late = threads.clone();
        late.insert(who(2, 1), bursts(&[(396, 1_000)]));
        assert_eq!(last(&set_up(&[(who(1, 1), 400)]), &late), Some(400), "it loses nothing by it");
        assert_eq!(last(&BTreeMap::new(), &threads), None);
        assert_eq!(last(&set_up(&[(who(1, 1), 400)]), &ByThread::new()), None);
    }

    /// A second process that is forked later has its event there, and the first one computes.
    #[test]
    fn a_process_that_is_forked_later_hides_nothing() {
        let threads: ByThread =
            [(who(1, 1), bursts(&[(0, 10), (12, 990)])), (who(2, 1), bursts(&[(400, 410), (412, 1_000)]))]
                .into();
        assert_eq!(last(&set_up(&[(who(1, 1), 10), (who(2, 1), 410)]), &threads), None);
    }

    /// A part of a trace may have such an event within.
    #[test]
    fn where_something_is_computed_before_nothing_is_hidden() {
        let threads: ByThread = [(who(1, 1), bursts(&[(0, 100), (110, 400), (402, 990)]))].into();
        assert_eq!(last(&set_up(&[(who(1, 1), 400)]), &threads), None);
        // Of the states of OpenMP only Running counts.
        let of_states = Bursts {
            begin: vec![0, 100, 400, 402],
            end: vec![100, 400, 402, 990],
            states: vec![2, 1, 15],
            ..Bursts::default()
        };
        assert_eq!(last(&set_up(&[(who(1, 1), 400)]), &[(who(1, 1), of_states)].into()), Some(400));
    }
}
