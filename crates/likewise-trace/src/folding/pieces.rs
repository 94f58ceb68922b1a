//! The folds of a trace that is read block by block, in parallel.

use std::hash::Hash;

use serde::{Deserialize, Serialize};

use likewise::table::PlaceId;

use super::bursts::Bursts;
use super::cover::Limits;
use super::fold::Fold;
use super::sites::Sites;
use super::steps::{Mark, Move, Opened, Steps};

/// If a thread's records are cut into more pieces than this, they are in no
/// useful order: joining stops, and the thread is sorted in a second reading.
const MAX_PIECES: usize = 1 << 10;

/// The folds of one block. A new fold begins wherever a thread's time goes back.
pub(crate) struct Folding<S> {
    limits: Limits,
    /// How many bursts a thread's first fold has room for when it begins.
    room: usize,
    pub(crate) folds: Vec<(usize, Fold)>,
    /// For every slot, its current fold and how many it has had.
    current: Vec<Option<(usize, usize)>>,
    /// The slot of the last record, and its fold: the next is often of the same.
    last: Option<(usize, usize)>,
    pub(crate) scrambled: Vec<usize>,
    /// The numbers that the folds give to places.
    pub(crate) sites: Sites<S>,
    pub(crate) marks: Vec<(usize, u64, Mark<PlaceId>)>,
}

impl<S> Folding<S> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self::with_room(limits, 0)
    }

    /// As [`new`](Self::new), for about `room` bursts of every thread.
    pub(crate) fn with_room(limits: Limits, room: usize) -> Self {
        Self {
            limits,
            room,
            folds: Vec::new(),
            current: Vec::new(),
            last: None,
            scrambled: Vec::new(),
            sites: Sites::default(),
            marks: Vec::new(),
        }
    }

    #[inline]
    fn fold(&mut self, slot: usize, time: u64) -> Option<&mut Fold> {
        let at = match self.last {
            Some((last, at)) if last == slot && self.folds[at].1.last <= time => at,
            _ => self.fold_of(slot, time)?,
        };
        Some(&mut self.folds[at].1)
    }

    fn fold_of(&mut self, slot: usize, time: u64) -> Option<usize> {
        self.last = None;
        if slot >= self.current.len() {
            self.current.resize(slot + 1, None);
        }
        let (at, pieces) = match self.current[slot] {
            // Given up. This arm must come first: the index is no fold of this
            // thread any more.
            Some((_, usize::MAX)) => return None,
            Some((at, pieces)) if self.folds[at].1.last <= time => (at, pieces),
            Some((_, MAX_PIECES)) => {
                self.scrambled.push(slot);
                self.current[slot] = Some((0, usize::MAX));
                return None;
            }
            before => {
                // Pieces of a thread in no order may be many and short.
                let room = if before.is_none() { self.room } else { 0 };
                self.folds.push((slot, Fold::with_room(time, self.limits, room)));
                (self.folds.len() - 1, before.map_or(0, |(_, pieces)| pieces) + 1)
            }
        };
        self.current[slot] = Some((at, pieces));
        self.last = Some((slot, at));
        Some(at)
    }
}

impl<S: Copy + Eq + Hash> Steps<S> for Folding<S> {
    #[inline]
    fn boundary(&mut self, slot: usize, time: u64, open: Option<Opened>) {
        if let Some(fold) = self.fold(slot, time) {
            fold.cut(time);
            if let Some(Opened { end, state }) = open {
                fold.open(time, end, state);
            }
        }
    }

    #[inline]
    fn counters(&mut self, slot: usize, time: u64, counters: &[(u32, i128)]) {
        if !counters.is_empty()
            && let Some(fold) = self.fold(slot, time)
        {
            fold.counters(time, counters);
        }
    }

    fn code(&mut self, slot: usize, time: u64, step: Move<S>) {
        if let Some(step) = self.sites.number(step)
            && let Some(fold) = self.fold(slot, time)
        {
            fold.code(time, step);
        }
    }

    fn openmp(&mut self, slot: usize, time: u64, mark: Mark<S>) {
        self.marks.extend(self.sites.number_mark(mark).map(|mark| (slot, time, mark)));
    }
}

/// One thread's pieces, in order of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Pieces {
    pieces: Vec<Fold>,
    scrambled: bool,
}

impl Pieces {
    pub(crate) fn add(&mut self, fold: Fold) {
        let n = self.pieces.len();
        match self.pieces.last_mut() {
            _ if self.scrambled => {}
            Some(last) if last.joins(&fold) => last.append(fold),
            _ if n >= MAX_PIECES => self.scramble(),
            _ => self.pieces.push(fold),
        }
    }

    /// Adds what follows in the file, as another process has read it.
    pub(crate) fn append(&mut self, next: Self, limits: Limits) {
        if next.scrambled {
            self.scramble();
        }
        next.pieces.into_iter().for_each(|fold| self.add(fold.under(limits)));
    }

    /// Gives the places the numbers in `map`.
    pub(crate) fn renumber(&mut self, map: &[Option<PlaceId>]) {
        self.pieces.iter_mut().for_each(|fold| fold.renumber(map));
    }

    pub(crate) fn scramble(&mut self) {
        self.scrambled = true;
        self.pieces = Vec::new();
    }

    /// The bursts, or `None` if the pieces overlap in time.
    pub(crate) fn join(mut self, end: u64) -> Option<Bursts> {
        if self.scrambled {
            return None;
        }
        // Of pieces that begin together, one of no length must come first, or
        // it could not be joined.
        self.pieces.sort_by_key(|fold| (fold.first, fold.last));
        let mut pieces = self.pieces.into_iter();
        let mut joined = pieces.next()?;
        for piece in pieces {
            if !joined.joins(&piece) {
                return None;
            }
            joined.append(piece);
        }
        Some(joined.finish(end))
    }
}
