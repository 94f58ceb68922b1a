//! Finished bursts of one thread, by column.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use likewise::table::{PlaceId, Region};

use super::cover::{Cover, Span};
use super::place::Place;
use crate::trace::{RUNNING, Who};

/// The bursts of every thread that has any, by thread.
pub(crate) type ByThread = BTreeMap<Who, Bursts>;

/// Finished bursts: times in the file's unit, counters as flat pairs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bursts {
    pub(crate) begin: Vec<u64>,
    pub(crate) end: Vec<u64>,
    /// How many pairs each burst has.
    pub(crate) n_counters: Vec<u32>,
    /// Ascending within a burst.
    pub(crate) types: Vec<u32>,
    /// Beyond `i64`, its limits.
    pub(crate) sums: Vec<i64>,
    /// Whether each sum covers its burst.
    pub(crate) covers: Vec<Cover>,
    /// How many counts began exactly with their burst, some time after the
    /// burst before: then the tracer reads counters at the begin of bursts.
    pub(crate) read_at_begin: u64,
    /// The state of each; may end early, where the rest is Running.
    pub(crate) states: Vec<u32>,
    /// The code of each; may end early, where the rest has none.
    pub(crate) places: Vec<Place>,
    /// How many states claimed an end after the begin of the next.
    pub(crate) overlaps: u64,
}

/// A count of a finished burst, for which this piece alone cannot tell whether
/// it covers the whole burst.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Pending {
    /// Its place among the pairs.
    pub(super) pair: usize,
    pub(super) event_type: u32,
    pub(super) span: Span,
    pub(super) begin: u64,
    pub(super) after: Option<u64>,
}

impl Bursts {
    pub(super) fn append(&mut self, mut other: Bursts) {
        other.overlaps += self.overlaps;
        other.read_at_begin += self.read_at_begin;
        if self.begin.is_empty() {
            *self = other;
            return;
        }
        self.overlaps = other.overlaps;
        self.read_at_begin = other.read_at_begin;
        if !other.states.is_empty() {
            self.states.resize(self.begin.len(), RUNNING);
            self.states.append(&mut other.states);
        }
        if !other.places.is_empty() {
            self.places.resize(self.begin.len(), Place::default());
            self.places.append(&mut other.places);
        }
        self.begin.append(&mut other.begin);
        self.end.append(&mut other.end);
        self.n_counters.append(&mut other.n_counters);
        self.types.append(&mut other.types);
        self.sums.append(&mut other.sums);
        self.covers.append(&mut other.covers);
    }

    /// The state of a burst.
    pub(crate) fn state(&self, i: usize) -> u32 {
        self.states.get(i).copied().unwrap_or(RUNNING)
    }

    /// The state of the burst that was added last.
    pub(super) fn add_state(&mut self, state: u32) {
        if state != RUNNING {
            self.states.resize(self.begin.len() - 1, RUNNING);
            self.states.push(state);
        }
    }

    /// Decides whether a count covers its burst. `false` if the piece cannot
    /// tell, or cannot tell whether the tracer read the counter for this burst.
    pub(super) fn decide(&mut self, pending: &Pending, all: bool) -> bool {
        let Pending { pair, span, begin, after, .. } = *pending;
        let began = !span.gap && span.since == Some(begin);
        let Some(cover) = span.cover(begin, after, all).filter(|_| all || !began || after.is_some()) else {
            return false;
        };
        self.covers[pair] = cover;
        self.read_at_begin += u64::from(began && after.is_some_and(|after| after < begin));
        true
    }

    /// The region of each burst, by what `map` makes of the numbers of places.
    pub(crate) fn regions(&self, map: &[Option<PlaceId>]) -> impl Iterator<Item = Region> {
        let place = |i| self.places.get(i).copied().unwrap_or_default();
        (0..self.begin.len()).map(move |i| place(i).renumbered(map).region())
    }

    /// The code of the burst that was added last.
    pub(super) fn add_place(&mut self, place: Place) {
        if place != Place::default() {
            self.places.resize(self.begin.len() - 1, Place::default());
            self.places.push(place);
        }
    }

    /// Sorts by begin: a burst of no length may have been finished before the
    /// burst that it ended.
    pub(super) fn sorted(self) -> Bursts {
        let bursts = self;
        if bursts.begin.is_sorted() {
            return bursts;
        }
        let mut starts = Vec::with_capacity(bursts.begin.len());
        let mut start = 0;
        for &n in &bursts.n_counters {
            starts.push(start);
            start += n as usize;
        }
        let mut order: Vec<usize> = (0..bursts.begin.len()).collect();
        order.sort_by_key(|&i| bursts.begin[i]);
        let Bursts { overlaps, read_at_begin, .. } = bursts;
        let mut result = Bursts { overlaps, read_at_begin, ..Bursts::default() };
        for i in order {
            let pairs = starts[i]..starts[i] + bursts.n_counters[i] as usize;
            result.begin.push(bursts.begin[i]);
            result.end.push(bursts.end[i]);
            result.n_counters.push(bursts.n_counters[i]);
            result.types.extend_from_slice(&bursts.types[pairs.clone()]);
            result.sums.extend_from_slice(&bursts.sums[pairs.clone()]);
            result.covers.extend_from_slice(&bursts.covers[pairs]);
            result.add_state(bursts.state(i));
            result.add_place(bursts.places.get(i).copied().unwrap_or_default());
        }
        result
    }
}
