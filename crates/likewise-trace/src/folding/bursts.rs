//! Finished bursts of one thread, by column.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use likewise::table::{PathId, Region};

use super::cover::{Cover, Span};
use super::place::Place;
use super::runs::{Carried, Runs};
use super::sums::{Sums, append};
use super::table::Places;
use crate::trace::{RUNNING, Who};

/// The bursts of every thread that has any, by thread.
pub(crate) type ByThread = BTreeMap<Who, Bursts>;

/// Finished bursts: times in the file's unit, sums of counters in a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bursts {
    pub(crate) begin: Vec<u64>,
    pub(crate) end: Vec<u64>,
    /// Which counters each carries.
    pub(crate) runs: Runs,
    /// The sums of them, burst by burst. Beyond `i64`, its limits.
    pub(crate) sums: Sums,
    /// Whether each sum covers its burst; may end early, where all the rest do.
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

/// Room for sums is made for at most so many counters in advance.
const MOST_SUMS: usize = 32;

impl Bursts {
    /// None yet, and room for so many.
    pub(super) fn with_room(room: usize) -> Self {
        Self { begin: Vec::with_capacity(room), end: Vec::with_capacity(room), ..Self::default() }
    }

    /// Makes room for the sums of as many bursts as there is room for, if they
    /// are as many in each as now.
    #[inline]
    pub(super) fn make_room(&mut self, sums: usize) {
        self.sums.make_room(self.begin.capacity() * sums.min(MOST_SUMS));
    }

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
            append(&mut self.states, &mut other.states);
        }
        if !other.places.is_empty() {
            self.places.resize(self.begin.len(), Place::default());
            append(&mut self.places, &mut other.places);
        }
        if !other.covers.is_empty() {
            self.covers.resize(self.sums.len(), Cover::Whole);
            append(&mut self.covers, &mut other.covers);
        }
        append(&mut self.begin, &mut other.begin);
        append(&mut self.end, &mut other.end);
        self.runs.append(&other.runs);
        self.sums.append(other.sums);
    }

    /// How a sum covers its burst.
    pub(crate) fn cover(&self, pair: usize) -> Cover {
        self.covers.get(pair).copied().unwrap_or(Cover::Whole)
    }

    /// Tells the types of which a count is negative or above `most`, each at least
    /// once. Impossible counts and those of parts of bursts do not matter, because
    /// they will be missing.
    pub(super) fn large(&self, most: u64, tell: impl FnMut(u32)) {
        match &self.sums {
            Sums::Small(sums) => self.large_of(sums, most, tell),
            Sums::Any(sums) => self.large_of(sums, most, tell),
        }
    }

    fn large_of<T: Copy + Into<i64>>(&self, sums: &[T], most: u64, mut tell: impl FnMut(u32)) {
        let mut first = 0;
        for (n, types) in self.runs.iter() {
            let pairs = first..first + n * types.len();
            first = pairs.end;
            // Nearly all are small, so they are looked at without a branch for each.
            let of_type = |i: usize| sums[pairs.clone()].iter().skip(i).step_by(types.len().max(1));
            let is_large = |sum: T| sum.into().cast_unsigned() > most;
            let any = sums[pairs.clone()].iter().fold(false, |any, &sum| any | is_large(sum));
            for (i, &event_type) in types.iter().enumerate().filter(|_| any) {
                let own = (pairs.start + i..).step_by(types.len()).zip(of_type(i));
                let mut large = own.filter(|&(_, &sum)| is_large(sum));
                if large.any(|(pair, _)| !matches!(self.cover(pair), Cover::Impossible | Cover::Part)) {
                    tell(event_type);
                }
            }
        }
    }

    pub(super) fn set_cover(&mut self, pair: usize, cover: Cover) {
        if pair >= self.covers.len() {
            if cover == Cover::Whole {
                return;
            }
            self.covers.resize(pair + 1, Cover::Whole);
        }
        self.covers[pair] = cover;
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
        self.set_cover(pair, cover);
        self.read_at_begin += u64::from(began && after.is_some_and(|after| after < begin));
        true
    }

    /// The region of each burst and the path of the call that ends it, by what the sites are;
    /// their numbers are gone then.
    pub(crate) fn take_regions<'m>(
        &mut self,
        map: &'m Places,
    ) -> impl Iterator<Item = (Region, Option<PathId>)> + Send + use<'m> {
        let (n, places) = (self.begin.len(), std::mem::take(&mut self.places));
        let place = move |i: usize| places.get(i).copied().unwrap_or_default();
        let path = |place: Place| place.after.and_then(|site| map.paths[site.index()]);
        (0..n).map(move |i| (place(i).renumbered(&map.of_sites).region(), path(place(i))))
    }

    /// The code of the burst that was added last.
    pub(super) fn add_place(&mut self, place: Place) {
        if place != Place::default() {
            if self.places.capacity() == 0 {
                self.places.reserve(self.begin.capacity());
            }
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
        let carried: Vec<Carried<'_>> = bursts.runs.bursts().collect();
        let mut order: Vec<usize> = (0..bursts.begin.len()).collect();
        order.sort_by_key(|&i| bursts.begin[i]);
        let Bursts { overlaps, read_at_begin, .. } = bursts;
        let mut result = Bursts { overlaps, read_at_begin, ..Bursts::default() };
        for i in order {
            let Carried { types, first } = carried[i];
            result.begin.push(bursts.begin[i]);
            result.end.push(bursts.end[i]);
            result.runs.add(types);
            for pair in first..first + types.len() {
                result.set_cover(result.sums.len(), bursts.cover(pair));
                result.sums.push(bursts.sums.get(pair));
            }
            result.add_state(bursts.state(i));
            result.add_place(bursts.places.get(i).copied().unwrap_or_default());
        }
        result
    }
}
