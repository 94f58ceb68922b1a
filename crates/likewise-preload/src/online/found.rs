//! Finds a marker where none is named: a call that comes once in each turn of
//! the outermost loop, on all ranks.
//!
//! Rank 0 proposes one, and from which of its occurrences on: so late that the
//! others hear of it before. Proposals come by a nonblocking broadcast, which
//! every rank has begun before, and looks for now and then. A rank whose
//! outermost loop does not have the call just once, or that hears of it too
//! late, votes against it at once; the others vote when they come there.

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
    pub(super) fn new(world: World) -> Self {
        let mut finder = Self {
            world,
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

    /// Looks for a proposal; on rank 0, makes one where `may` allows it. The rank
    /// has made so many events. Returns how often this rank must vote against what was proposed.
    pub(super) fn look(&mut self, watch: &mut Watch, n_events: u64, may: bool) -> u32 {
        if self.has_failed {
            return 0;
        }
        let is_done = self.is_done();
        if self.world.rank > 0 {
            return if is_done { self.answer(watch) } else { 0 };
        }
        if watch.is_expecting() && n_events > self.until {
            watch.expect_no_more();
            return 1;
        }
        let is_busy = self.is_under_way || watch.is_expecting();
        if may && !is_busy && n_events >= self.next && self.tried.len() < MOST_PROPOSED {
            self.next = (n_events as f64 * GROWTH) as u64;
            self.propose(watch, n_events);
        }
        0
    }

    fn propose(&mut self, watch: &mut Watch, n_events: u64) {
        let Some((identity, count)) = watch.candidate(TURNS, &self.tried) else { return };
        self.tried.push(identity);
        // Others may be ahead, and hear of it when they look next.
        let begin = 2 * count + TURNS;
        self.until = PATIENCE * n_events;
        *self.proposal = [PROPOSED, (identity >> 64) as i64, identity as i64, begin as i64];
        self.broadcast();
        watch.expect(identity, begin);
    }

    fn answer(&mut self, watch: &mut Watch) -> u32 {
        let [kind, high, low, begin] = *self.proposal;
        if kind != PROPOSED {
            return 0;
        }
        self.broadcast();
        // Rank 0 has given up what it had proposed before.
        let n_old = u32::from(watch.is_expecting());
        watch.expect_no_more();
        let identity = u128::from(high as u64) << 64 | u128::from(low as u64);
        if watch.is_candidate(identity, begin as u64) {
            watch.expect(identity, begin as u64);
            n_old
        } else {
            n_old + 1
        }
    }

    /// In `MPI_Finalize`: every broadcast ends.
    pub(super) fn end(mut self) {
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
