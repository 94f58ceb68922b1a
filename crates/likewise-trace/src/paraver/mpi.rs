//! When tasks call MPI_Init and MPI_Finalize: what is before and behind is no part of what they do
//! together.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::set_up::{self, running};
use crate::folding::bursts::ByThread;
use crate::trace::Who;

/// Extrae's calls of MPI that are neither messages nor collective.
const OTHER_CALLS: u32 = 50_000_003;
/// Its values where MPI_Init (or MPI_Init_thread) and MPI_Finalize are entered: the same in traces
/// of 2004 and of 2024. 0 is where any call is left.
const INIT: i128 = 31;
const FINALIZE: i128 = 32;

/// Where a task computes for this share of the run between its own MPI_Init and that of the last
/// task, tasks do not start up together: one that is spawned later is no reason to leave out what
/// others do.
const APART: f64 = 0.005;

/// When a thread calls them, in the file's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Calls {
    /// When it enters MPI_Init, and leaves it.
    init: Option<u64>,
    left: Option<u64>,
    /// When it leaves any call, before it is seen to enter MPI_Init: that may be in an earlier block.
    leaves: Option<u64>,
    /// When it last enters MPI_Finalize.
    finalize: Option<u64>,
    /// When its tracer has been set up.
    pub(super) set_up: Option<u64>,
}

impl Calls {
    /// Adds what follows.
    pub(crate) fn add(&mut self, next: Self) {
        if self.init.is_none() {
            self.leaves = self.leaves.or(next.leaves);
            (self.init, self.left) = (next.init, next.left);
        } else if self.left.is_none() {
            self.left = next.leaves.or(next.left);
        }
        self.finalize = self.finalize.max(next.finalize);
        self.set_up = self.set_up.or(next.set_up);
    }
}

/// What an event tells of them.
#[inline]
pub(crate) fn call((event_type, value): (u32, i128), time: u64) -> Option<Calls> {
    let none = Calls::default();
    if event_type != OTHER_CALLS {
        return set_up::is_marked(event_type, value).then_some(Calls { set_up: Some(time), ..none });
    }
    match value {
        0 => Some(Calls { leaves: Some(time), ..none }),
        INIT => Some(Calls { init: Some(time), ..none }),
        FINALIZE => Some(Calls { finalize: Some(time), ..none }),
        _ => None,
    }
}

/// When the run begins, and when it ends, by the calls: when all tasks that call MPI_Init have called
/// it and the first of them leaves it, and when the last one calls MPI_Finalize. Tasks that call it
/// when others have left it already may have been spawned: if they lose by the former, these do not
/// count. `None` where any task loses more than [`APART`] of the run by it: one that makes no call
/// loses all that it computes before, or behind.
pub(crate) fn last_calls(calls: &BTreeMap<Who, Calls>, threads: &ByThread) -> [Option<u64>; 2] {
    let mut of_tasks: BTreeMap<(u32, u32), Calls> = BTreeMap::new();
    for (who, calls) in calls.iter().filter(|(_, calls)| calls.init.or(calls.finalize).is_some()) {
        of_tasks.entry((who.app, who.task)).or_default().add(*calls);
    }
    let tasks: BTreeSet<(u32, u32)> = threads.keys().map(|who| (who.app, who.task)).collect();
    let of_all: Vec<&Calls> = tasks.iter().filter_map(|task| of_tasks.get(task)).collect();
    let own = |who: &Who| of_tasks.get(&(who.app, who.task));
    // What each does when it has left it is a step of all.
    let left = of_all.iter().filter_map(|calls| calls.left).min();
    let inits = || of_all.iter().filter_map(|calls| calls.init);
    let together = inits().filter(|&init| left.is_none_or(|left| init <= left)).max();
    let begin = |last: u64| last.max(left.unwrap_or(last));
    let init = [inits().max(), together].into_iter().flatten().find(|&last| {
        is_little(threads, |who| match own(who).filter(|calls| calls.init.is_some_and(|init| init <= last)) {
            Some(calls) => calls.left.unwrap_or(last)..last,
            None => 0..begin(last),
        })
    });
    let finalize = of_all.iter().filter_map(|calls| calls.finalize).max().filter(|&last| {
        let calls = |who: &Who| own(who).is_some_and(|calls| calls.finalize.is_some());
        is_little(threads, |who| if calls(who) { last..last } else { last..u64::MAX })
    });
    [init.map(begin), finalize]
}

/// When each task calls MPI_Finalize, if it does.
pub(crate) fn done(calls: &BTreeMap<Who, Calls>) -> BTreeMap<(u32, u32), u64> {
    let mut done: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (who, time) in calls.iter().filter_map(|(who, calls)| Some((who, calls.finalize?))) {
        let last = done.entry((who.app, who.task)).or_default();
        *last = time.max(*last);
    }
    done
}

/// Whether no thread computes for more than [`APART`] of the run in the time that is asked for of it.
pub(super) fn is_little(threads: &ByThread, time: impl Fn(&Who) -> Range<u64>) -> bool {
    let run = threads.values().filter_map(|bursts| bursts.end.last()).max().copied().unwrap_or(0) as f64;
    threads.iter().all(|(who, bursts)| {
        let Range { start, end: until } = time(who);
        let inside = running(bursts).map(|(begin, end)| end.min(until).saturating_sub(begin.max(start)));
        inside.sum::<u64>() as f64 <= APART * run
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folding::bursts::Bursts;

    fn who(task: u32, thread: u32) -> Who {
        Who { app: 1, task, thread }
    }

    /// Tasks of one thread, each with such bursts.
    fn threads(of: &[(u32, &[(u64, u64)])]) -> ByThread {
        let bursts = |bursts: &[(u64, u64)]| Bursts {
            begin: bursts.iter().map(|burst| burst.0).collect(),
            end: bursts.iter().map(|burst| burst.1).collect(),
            ..Bursts::default()
        };
        of.iter().map(|&(task, own)| (who(task, 1), bursts(own))).collect()
    }

    fn of_events(events: &[(Who, (u32, i128), u64)]) -> BTreeMap<Who, Calls> {
        let mut calls: BTreeMap<Who, Calls> = BTreeMap::new();
        for &(who, pair, time) in events {
            calls.entry(who).or_default().add(call(pair, time).unwrap_or_default());
        }
        calls
    }

    #[test]
    fn the_last_task_counts_if_no_other_loses_by_it() {
        // The second task calls MPI_Init by its second thread.
        let calls = of_events(&[
            (who(2, 1), (50_000_003, 0), 300),
            (who(1, 1), (50_000_003, 31), 400),
            (who(2, 2), (50_000_003, 31), 500),
            (who(1, 1), (50_000_003, 0), 510),
            (who(2, 2), (50_000_003, 0), 520),
            (who(1, 1), (50_000_003, 19), 530),
            (who(1, 1), (50_000_003, 0), 540),
            (who(2, 2), (50_000_002, 31), 600),
            (who(1, 1), (50_000_003, 32), 900),
        ]);
        let own: &[(u64, u64)] = &[(0, 390), (600, 890)];
        assert_eq!(
            last_calls(&calls, &threads(&[(1, own), (2, &[(0, 390), (600, 990)])])),
            [Some(510), None]
        );
        assert_eq!(last_calls(&calls, &threads(&[(1, own)])), [Some(510), Some(900)]);
        assert_eq!(last_calls(&calls, &threads(&[(1, own), (2, own), (3, own)])), [None, Some(900)]);
        assert_eq!(last_calls(&calls, &threads(&[(1, own), (3, &[(600, 890)])])), [Some(510), Some(900)]);
        assert_eq!(last_calls(&calls, &threads(&[(1, own), (3, &[(600, 990)])])), [Some(510), None]);
        assert_eq!(last_calls(&calls, &threads(&[])), [None, None]);
    }

    /// "Until MPI_Init has ended (90.0%) the program starts up" was told where a task was spawned late.
    #[test]
    fn a_task_that_is_spawned_late_does_not_end_the_start() {
        let calls = of_events(&[
            (who(1, 1), (50_000_003, 31), 10),
            (who(1, 1), (50_000_003, 0), 20),
            (who(2, 1), (50_000_003, 31), 900),
            (who(2, 1), (50_000_003, 0), 910),
        ]);
        let spawned = threads(&[(1, &[(20, 890), (910, 1_000)]), (2, &[(910, 1_000)])]);
        assert_eq!(last_calls(&calls, &spawned), [Some(20), None]);
        let computes = threads(&[(1, &[(20, 890), (910, 1_000)]), (2, &[(0, 890), (910, 1_000)])]);
        assert_eq!(last_calls(&calls, &computes), [None, None]);
        let waits = threads(&[(1, &[(20, 24), (910, 1_000)]), (2, &[(100, 890), (910, 1_000)])]);
        assert_eq!(last_calls(&calls, &waits), [Some(900), None]);
    }

    /// "Phase 2 has an IPC of 0.34" was told of the start of 15 tasks where the last one begins late and
    /// makes no call, and of that of all beside a task that computes 20 µs.
    #[test]
    fn a_task_without_the_call_loses_nothing_by_it_if_it_does_next_to_nothing_before() {
        let calls = of_events(&[
            (who(1, 1), (50_000_003, 31), 400),
            (who(1, 1), (50_000_003, 0), 420),
            (who(2, 1), (50_000_003, 31), 410),
            (who(2, 1), (50_000_003, 0), 430),
        ]);
        let with = |other: &[(u64, u64)]| {
            let all: &[(u64, u64)] = &[(0, 400), (430, 1_000)];
            last_calls(&calls, &threads(&[(1, all), (2, all), (3, other)]))[0]
        };
        assert_eq!(with(&[(500, 1_000)]), Some(420), "it begins late");
        assert_eq!(with(&[(100, 104)]), Some(420), "it helps");
        assert_eq!(with(&[(100, 104), (418, 421)]), None, "it does that until the first leaves");
        assert_eq!(with(&[(100, 300)]), None, "it computes by itself");
    }

    /// A block may end within the call.
    #[test]
    fn calls_of_blocks_are_joined() {
        let pairs = [((50_000_003, 31), 400), ((50_000_003, 0), 410), ((50_000_003, 32), 900)];
        let events = pairs.map(|(pair, time)| (who(1, 1), pair, time));
        let whole = of_events(&events)[&who(1, 1)];
        for cut in 0..=3 {
            let [first, then] = [&events[..cut], &events[cut..]]
                .map(|part| of_events(part).get(&who(1, 1)).copied().unwrap_or_default());
            let mut joined = Calls::default();
            joined.add(first);
            joined.add(then);
            assert_eq!((joined.init, joined.left, joined.finalize), (whole.init, whole.left, whole.finalize));
        }
    }
}
