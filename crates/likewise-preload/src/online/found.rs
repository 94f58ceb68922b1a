//! Finds a marker where none is named: a call that comes once in each turn of
//! the outermost loop, on all ranks.
//!
//! Rank 0 proposes one, and from which of its occurrences on. Proposals come by
//! a nonblocking broadcast, which every rank has begun before, and looks for now
//! and then. To each proposal every rank votes three times, and waits for others
//! only where all will come:
//!
//! 1. when it hears of it: whether the call comes once in each turn of its
//!    outermost loop, and has not come to that occurrence yet;
//! 2. there: whether it has seen by then that all have said so. If it has, it
//!    waits, not long: where a rank holds up others at this place, it is no
//!    marker;
//! 3. whether all have come.
//!
//! A rank that says no once says so three times, without waiting.

use super::votes::{Vote, Votes};
use crate::clock;
use crate::link::World;
use crate::watch::Watch;
use std::ffi::c_int;
use std::time::Duration;

/// Turns of a loop before its calls are proposed.
const TURNS: u64 = 8;
/// As many calls are proposed at most.
const MOST_PROPOSED: usize = 8;
/// Rank 0 looks for loops when it has so many times the events as when it
/// looked last.
const GROWTH: f64 = 1.3;

/// A proposal is given up when there are so many times the events.
const PATIENCE: u64 = 4;

/// Kind, identity in two words, and the occurrence at which to begin.
type Proposal = [i64; 4];
const PROPOSED: i64 = 1;
const NO_MORE: i64 = 2;

/// What a rank looks for.
pub(super) struct Finder {
    /// On a communicator that nothing else uses.
    world: World,
    votes: Votes,
    /// Whether this rank has voted for a proposal, and not come there yet.
    is_armed: bool,
    proposal: Box<Proposal>,
    request: usize,
    is_under_way: bool,
    has_failed: bool,
    /// What rank 0 has proposed.
    tried: Vec<u128>,
    /// When rank 0 looks again, in events; and when it gives up what it has
    /// proposed, because that loop has ended.
    next: u64,
    until: u64,
}

impl Finder {
    pub(super) fn new(world: World, votes: World) -> Self {
        let mut finder = Self {
            world,
            votes: Votes::new(votes, 0),
            is_armed: false,
            proposal: Box::default(),
            request: 0,
            is_under_way: false,
            has_failed: false,
            tried: Vec::new(),
            next: 64,
            until: 0,
        };
        if finder.world.rank > 0 {
            finder.broadcast();
        }
        finder
    }

    fn broadcast(&mut self) {
        let place = (&raw mut *self.proposal).cast();
        let n = size_of::<Proposal>() as c_int;
        let (byte, request) = (self.world.abi.handles.byte, &raw mut self.request);
        // SAFETY: there are so many bytes, which live until the request is done.
        let code = unsafe { (self.world.calls.ibcast)(place, n, byte, 0, self.world.comm, request) };
        self.is_under_way = code == 0;
        self.has_failed |= code != 0;
    }

    /// Whether the broadcast is done.
    fn is_done(&mut self) -> bool {
        if !self.is_under_way {
            return false;
        }
        let mut done: c_int = 0;
        let (request, ignore) = (&raw mut self.request, self.world.abi.status_ignore);
        // SAFETY: the request is ours and under way.
        let code = unsafe { (self.world.calls.test)(request, &raw mut done, ignore) };
        self.has_failed |= code != 0;
        self.is_under_way = code == 0 && done == 0;
        !self.is_under_way && !self.has_failed
    }

    /// Looks for a proposal; on rank 0, makes one where `may` allows it.
    pub(super) fn look(&mut self, watch: &mut Watch, may: bool) {
        let n_events = watch.n_events();
        if self.has_failed {
            return;
        }
        let is_done = self.is_done();
        if self.world.rank > 0 {
            if is_done {
                self.answer(watch);
            }
            return;
        }
        if self.is_armed && n_events > self.until {
            self.refuse(watch, 2);
        }
        let is_busy = self.is_under_way || self.is_armed;
        if may && !is_busy && n_events >= self.next && self.tried.len() < MOST_PROPOSED {
            self.next = (n_events as f64 * GROWTH) as u64;
            self.propose(watch, n_events);
        }
    }

    fn propose(&mut self, watch: &mut Watch, n_events: u64) {
        let Some((identity, count)) = watch.candidate(TURNS, &self.tried) else { return };
        self.tried.push(identity);
        // Others may be ahead, and hear of it when they look next.
        let begin = 2 * count + TURNS;
        self.until = PATIENCE * n_events;
        *self.proposal = [PROPOSED, (identity >> 64) as i64, identity as i64, begin as i64];
        self.broadcast();
        self.accept(watch, identity, begin);
    }

    fn accept(&mut self, watch: &mut Watch, identity: u128, begin: u64) {
        watch.expect(identity, begin);
        self.is_armed = true;
        self.vote(true);
    }

    /// The votes that are left are all against it.
    fn refuse(&mut self, watch: &mut Watch, n_votes: u32) {
        watch.expect_no_more();
        self.is_armed = false;
        (0..n_votes).for_each(|_| self.vote(false));
    }

    fn vote(&mut self, is_for: bool) {
        let vote = if is_for { Vote::between() } else { Vote::of(Vote::NO) };
        self.has_failed |= self.votes.post(vote).is_none();
    }

    fn answer(&mut self, watch: &mut Watch) {
        let [kind, high, low, begin] = *self.proposal;
        if kind != PROPOSED {
            return;
        }
        self.broadcast();
        if self.is_armed {
            // Rank 0 has given up what it had proposed before.
            self.refuse(watch, 2);
        }
        let identity = u128::from(high as u64) << 64 | u128::from(low as u64);
        if watch.is_candidate(identity, begin as u64) {
            self.accept(watch, identity, begin as u64);
        } else {
            self.refuse(watch, 3);
        }
    }

    /// This rank has come to where the call that was proposed would be the
    /// marker: whether it is. It may wait for others so long, in ns.
    pub(super) fn try_it(&mut self, patience: u64) -> bool {
        self.is_armed = false;
        let is_for = |vote: Vote| !vote.is(Vote::NO) && !vote.is(Vote::FINAL);
        if !self.votes.settle(Some(0)).is_some_and(is_for) {
            self.vote(false);
            self.vote(false);
            return false;
        }
        self.vote(true);
        let all_came = self.votes.settle(Some(patience)).is_some_and(is_for);
        self.vote(all_came);
        // Whoever sees that all have come need not wait long: so do the others.
        all_came && self.votes.settle(None).is_some_and(is_for)
    }

    /// In `MPI_Finalize`, where all ranks are: every vote and broadcast ends.
    pub(super) fn end(mut self) {
        self.has_failed |= self.votes.last(Vote::at_the_end()).is_none();
        let begin = clock::ticks();
        if self.world.rank == 0 {
            self.wait(begin);
            *self.proposal = [NO_MORE, 0, 0, 0];
            self.broadcast();
            self.wait(begin);
        } else {
            while self.is_under_way {
                self.wait(begin);
                // A proposal that comes now is answered by the vote that all
                // ranks hold in MPI_Finalize.
                if !self.has_failed && self.proposal[0] == PROPOSED {
                    self.broadcast();
                }
            }
        }
        if !self.has_failed {
            self.votes.free();
            self.world.free();
        }
    }

    fn wait(&mut self, begin: u64) {
        while self.is_under_way {
            if self.is_done() {
                return;
            }
            if clock::ns(begin, clock::ticks()) > 1_000_000 {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
    }
}
