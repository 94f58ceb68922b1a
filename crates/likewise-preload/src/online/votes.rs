//! Votes of all ranks, which nobody waits for without end.
//!
//! A marker need not be a call in which MPI itself waits for all ranks, so a
//! rank that waited for the others there could hold up one that waits for a
//! message of its own. A vote is a nonblocking reduction: whoever has waited
//! too long goes on, and takes part in one more in which it says so. Others
//! find that in their next vote, before they do anything together. In
//! `MPI_Finalize` all ranks vote until all are there, so every reduction ends.

use crate::clock;
use crate::link::World;
use std::collections::VecDeque;
use std::ffi::c_int;
use std::time::Duration;

/// What a rank says, each the greatest of all ranks in the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Vote(pub(crate) [i64; Vote::N]);

impl Vote {
    pub(crate) const N: usize = 10;
    /// Whether a rank is in `MPI_Finalize`,
    pub(crate) const FINAL: usize = 0;
    /// or is not.
    pub(crate) const GOES_ON: usize = 1;
    /// Whether a rank has gone on without the others.
    pub(crate) const LEFT: usize = 2;
    /// Whether a rank has no use for what was proposed as a marker.
    pub(crate) const NO: usize = 3;
    /// Whether a rank's interval is not that before.
    pub(crate) const DIFFERS: usize = 4;
    /// Whether a follower has recorded something.
    pub(crate) const TAIL: usize = 5;
    /// The number of the next part.
    pub(crate) const NUMBER: usize = 6;
    /// How long the last vote took, less than 0: so the shortest is found.
    pub(crate) const WAITED: usize = 7;
    /// How long all else took at the last marker.
    pub(crate) const WORKED: usize = 8;
    /// How long it is since the last marker.
    pub(crate) const PASSED: usize = 9;

    /// Of a rank that is in `MPI_Finalize`,
    pub(crate) fn at_the_end() -> Self {
        let mut vote = Self::default();
        vote.0[Self::FINAL] = 1;
        vote
    }

    /// of one that is not,
    pub(crate) fn between() -> Self {
        let mut vote = Self::default();
        vote.0[Self::GOES_ON] = 1;
        vote
    }

    /// and of one that says more.
    pub(crate) fn of(what: usize) -> Self {
        let mut vote = Self::between();
        vote.0[what] = 1;
        vote
    }

    pub(crate) fn is(&self, what: usize) -> bool {
        self.0[what] > 0
    }
}

/// A vote under way: MPI reads and writes the two at any time until it is done.
struct Pending {
    own: Box<[i64; Vote::N]>,
    all: Box<[i64; Vote::N]>,
    request: usize,
}

/// The votes of this rank.
pub(crate) struct Votes {
    /// On a communicator that nothing else uses.
    world: World,
    pending: VecDeque<Pending>,
    /// The longest that a rank waits for others, in ns.
    patience: u64,
}

/// Ranks wait for each other so many times as long as they last were apart, but
/// not less than this (in ns).
const TIMES: u64 = 10;
const LEAST: u64 = 500_000_000;

/// How often a rank looks whether the others are there before it lets other
/// processes run.
const LOOKS: u32 = 1000;

impl Votes {
    pub(crate) fn new(world: World, patience: u64) -> Self {
        Self { world, pending: VecDeque::new(), patience }
    }

    /// Votes; none if the others did not come in time, in which case this rank
    /// has left, or if it is seen that another has.
    pub(crate) fn cast(&mut self, vote: Vote) -> Option<Vote> {
        self.post(vote)?;
        let apart = vote.0[Vote::PASSED].max(0) as u64;
        let patience = (TIMES * apart).max(LEAST).min(self.patience);
        let Some(result) = self.settle(Some(patience)) else {
            self.post(Vote::of(Vote::LEFT));
            return None;
        };
        (!result.is(Vote::LEFT)).then_some(result)
    }

    /// In `MPI_Finalize`: votes until all ranks are there. None if MPI fails.
    pub(crate) fn last(&mut self, vote: Vote) -> Option<Vote> {
        loop {
            self.post(vote)?;
            let result = self.settle(None)?;
            if !result.is(Vote::GOES_ON) {
                return Some(result);
            }
        }
    }

    /// Nothing is under way any more.
    pub(crate) fn free(self) {
        self.world.free();
    }

    /// Votes without waiting for the result; none if MPI fails.
    pub(crate) fn post(&mut self, vote: Vote) -> Option<()> {
        let mut pending = Pending { own: Box::new(vote.0), all: Box::new([0; Vote::N]), request: 0 };
        let (from, to) = (pending.own.as_ptr().cast(), pending.all.as_mut_ptr().cast());
        let handles = &self.world.abi.handles;
        let n = Vote::N as c_int;
        let request = &raw mut pending.request;
        // SAFETY: both hold so many values, and live until the request is done.
        let code = unsafe {
            (self.world.calls.iallreduce)(from, to, n, handles.long, handles.max, self.world.comm, request)
        };
        self.pending.push_back(pending);
        (code == 0).then_some(())
    }

    /// Waits for all votes of this rank, so long at most (ns), and gives the
    /// last one's result.
    pub(crate) fn settle(&mut self, patience: Option<u64>) -> Option<Vote> {
        let begin = clock::ticks();
        let mut looks = 0_u32;
        let mut result = None;
        while let Some(pending) = self.pending.front_mut() {
            let mut done: c_int = 0;
            let (request, ignore) = (&raw mut pending.request, self.world.abi.status_ignore);
            // SAFETY: the request is ours and under way.
            let code = unsafe { (self.world.calls.test)(request, &raw mut done, ignore) };
            if code != 0 {
                return None;
            }
            if done != 0 {
                result = self.pending.pop_front().map(|pending| Vote(*pending.all));
                continue;
            }
            if patience.is_some_and(|patience| clock::ns(begin, clock::ticks()) > patience) {
                return None;
            }
            looks += 1;
            if looks < LOOKS {
                std::thread::yield_now();
            } else {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
        result
    }
}
