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
use crate::state::State;
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
    next: u64,
}

/// What a rank says to a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing was proposed.
    Nothing,
    /// It will vote when it comes to the marker.
    Later,
    /// It votes against it now.
    No,
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
    pub(super) fn look(&mut self, state: &mut State, may: bool) -> Answer {
        let n_events = state.recorder.n_events();
        let Some(watch) = &mut state.watch else { return Answer::Nothing };
        if self.has_failed {
            return Answer::Nothing;
        }
        if self.world.rank > 0 {
            return if self.is_done() { self.answer(watch) } else { Answer::Nothing };
        }
        let _ = self.is_done();
        if !may || n_events < self.next || self.is_under_way || self.tried.len() >= MOST_PROPOSED {
            return Answer::Nothing;
        }
        self.next = (n_events as f64 * GROWTH) as u64;
        let Some((identity, count)) = watch.candidate(TURNS, &self.tried) else { return Answer::Nothing };
        self.tried.push(identity);
        // Others may be ahead, and hear of it when they look next.
        let begin = 2 * count + TURNS;
        *self.proposal = [PROPOSED, (identity >> 64) as i64, identity as i64, begin as i64];
        self.broadcast();
        watch.expect(identity, begin);
        Answer::Later
    }

    fn answer(&mut self, watch: &mut Watch) -> Answer {
        let [kind, high, low, begin] = *self.proposal;
        if kind != PROPOSED {
            return Answer::Nothing;
        }
        self.broadcast();
        let identity = u128::from(high as u64) << 64 | u128::from(low as u64);
        if watch.is_candidate(identity, begin as u64) {
            watch.expect(identity, begin as u64);
            Answer::Later
        } else {
            Answer::No
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
