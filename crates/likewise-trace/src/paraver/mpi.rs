//! When tasks call MPI_Init and MPI_Finalize: what is before and behind is no part of what they do
//! together.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::folding::bursts::ByThread;
use crate::trace::Who;

/// Extrae's calls of MPI that are neither messages nor collective.
const OTHER_CALLS: u32 = 50_000_003;
/// Its values where MPI_Init (or MPI_Init_thread) and MPI_Finalize are entered: the same in traces
/// of 2004 and of 2024.
const INIT: i128 = 31;
const FINALIZE: i128 = 32;

/// When a thread calls them, in the file's unit: the first call of the one, the last of the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Calls {
    init: Option<u64>,
    finalize: Option<u64>,
}

impl Calls {
    pub(crate) fn add(&mut self, other: Self) {
        self.init = self.init.into_iter().chain(other.init).min();
        self.finalize = self.finalize.max(other.finalize);
    }
}

/// The call that an event is, if it is one of them.
#[inline]
pub(crate) fn call((event_type, value): (u32, i128), time: u64) -> Option<Calls> {
    if event_type != OTHER_CALLS {
        return None;
    }
    match value {
        INIT => Some(Calls { init: Some(time), finalize: None }),
        FINALIZE => Some(Calls { init: None, finalize: Some(time) }),
        _ => None,
    }
}

/// When the last task that has bursts calls MPI_Init, and when the last one MPI_Finalize; `None`
/// where any of them does not.
pub(crate) fn last_calls(calls: &BTreeMap<Who, Calls>, threads: &ByThread) -> [Option<u64>; 2] {
    let mut of_tasks: BTreeMap<(u32, u32), Calls> = BTreeMap::new();
    for (who, calls) in calls {
        of_tasks.entry((who.app, who.task)).or_default().add(*calls);
    }
    let tasks: BTreeSet<(u32, u32)> = threads.keys().map(|who| (who.app, who.task)).collect();
    let last = |call: fn(&Calls) -> Option<u64>| -> Option<u64> {
        let times: Option<Vec<u64>> = tasks.iter().map(|task| of_tasks.get(task).and_then(call)).collect();
        times?.into_iter().max()
    };
    [last(|calls| calls.init), last(|calls| calls.finalize)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folding::bursts::Bursts;

    #[test]
    fn the_last_task_counts_if_all_call_it() {
        let who = |task, thread| Who { app: 1, task, thread };
        let threads = |tasks: &[u32]| -> ByThread {
            tasks.iter().map(|&task| (who(task, 1), Bursts::default())).collect()
        };
        let mut calls: BTreeMap<Who, Calls> = BTreeMap::new();
        // The second task calls MPI_Init by its second thread.
        for (who, pair, time) in [
            (who(1, 1), (50_000_003, 31), 400),
            (who(2, 2), (50_000_003, 31), 500),
            (who(1, 1), (50_000_003, 0), 510),
            (who(2, 2), (50_000_002, 31), 600),
            (who(1, 1), (50_000_003, 32), 900),
        ] {
            calls.entry(who).or_default().add(call(pair, time).unwrap_or_default());
        }
        assert_eq!(last_calls(&calls, &threads(&[1, 2])), [Some(500), None]);
        assert_eq!(last_calls(&calls, &threads(&[1])), [Some(400), Some(900)]);
        assert_eq!(last_calls(&calls, &threads(&[1, 2, 3])), [None, None]);
        assert_eq!(last_calls(&calls, &threads(&[])), [None, None]);
    }
}
