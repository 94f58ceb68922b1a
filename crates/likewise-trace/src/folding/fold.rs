//! Bursts out of one thread's records, piece by piece.
//!
//! A thread's records are cut at the ends of blocks. If a trace was put
//! together from pieces of time in no order, they are also cut where time
//! jumps back. A [`Fold`] holds what one such piece gives without the pieces
//! before it: its finished bursts, the burst that is still open at its end,
//! and the *prefix*. The prefix is the counters up to its first boundary, which
//! belong to a burst that the piece before may have left open.
//! [`Fold::append`] joins two pieces. Joined in order of time, the pieces give
//! what one pass would give.

use likewise::table::PlaceId;
use serde::{Deserialize, Serialize};

use super::bursts::{Bursts, Pending};
use super::cover::{Limits, Reads};
use super::open::{Count, Open, Since};
use super::place::{Place, Trail, renumber};
use super::steps::{Move, SET_CHANGE};

/// A prefix longer than this is dropped, to bound the memory. The rare trace
/// that needs it is read a second time.
const MAX_PREFIX: usize = 1 << 16;

/// A record that may belong to a burst of an earlier piece.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Early {
    /// A counter, or [`SET_CHANGE`].
    Counter(u32, i128),
    Code(Move<PlaceId>),
}

/// What one piece of a thread's records gives; see the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fold {
    /// Times of the first and the last record.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Time of the first boundary: a state record, or an event that opens or
    /// closes a burst.
    boundary: Option<u64>,
    prefix: Vec<(u64, Early)>,
    prefix_lost: bool,
    /// A burst that ended at the last boundary; events at that time still count.
    closing: Option<Box<Open>>,
    open: Option<Box<Open>>,
    /// A burst that is finished: its memory is used again.
    #[serde(skip)]
    spare: Option<Box<Open>>,
    done: Bursts,
    /// In order of their pairs.
    pending: Vec<Pending>,
    reads: Reads,
    /// When the last burst ended.
    last_end: Option<u64>,
    #[serde(skip)]
    limits: Limits,
    trail: Trail,
    /// All bursts that began before any call of the piece are among the first
    /// ones, up to this number.
    uncalled: usize,
    /// Bursts before this one already have the call that comes after them.
    unanswered: usize,
    /// The first call after the first boundary's time.
    first_call: Option<PlaceId>,
}

impl Fold {
    pub(crate) fn new(first: u64, limits: Limits) -> Self {
        Self::with_room(first, limits, 0)
    }

    /// As [`new`](Self::new), for about `room` bursts.
    pub(crate) fn with_room(first: u64, limits: Limits, room: usize) -> Self {
        Self {
            first,
            limits,
            pending: Vec::new(),
            reads: Reads::default(),
            last_end: None,
            last: first,
            boundary: None,
            prefix: Vec::new(),
            prefix_lost: false,
            closing: None,
            open: None,
            spare: None,
            done: Bursts::with_room(room),
            trail: Trail::default(),
            uncalled: 0,
            unanswered: 0,
            first_call: None,
        }
    }

    /// Counters of one record, or [`SET_CHANGE`].
    #[inline]
    pub(crate) fn counters(&mut self, time: u64, counters: &[(u32, i128)]) {
        self.last = time;
        self.settle(time);
        if self.is_early(time) {
            self.prefix.extend(counters.iter().map(|&(t, value)| (time, Early::Counter(t, value))));
        }
        // At its begin, an event still belongs to the burst that ended there.
        let open = self.open.as_mut().filter(|open| open.begin < time);
        let mut open = open.map(|open| (open.most(time), open));
        let mut closing = self.closing.as_mut().map(|closing| (closing.most(time), closing));
        for &(event_type, value) in counters {
            let since = if event_type == SET_CHANGE {
                self.reads.reset(time);
                None
            } else {
                self.reads.read(event_type, time)
            };
            let count = Count { event_type, value, since };
            if let Some((most, closing)) = &mut closing {
                closing.event(time, *most, count);
            }
            if let Some((most, open)) = &mut open {
                open.event(time, *most, count);
            }
        }
    }

    /// Where in the source the thread is.
    pub(crate) fn code(&mut self, time: u64, step: Move<PlaceId>) {
        self.last = time;
        if self.is_early(time) {
            self.prefix.push((time, Early::Code(step)));
        }
        self.settle(time);
        if let Move::Call(id) = step {
            if let Some(closing) = &mut self.closing {
                closing.called(time, id);
            }
            match &mut self.open {
                Some(open) if open.begin < time => open.called(time, id),
                Some(open) => open.before = Some(id),
                None => {}
            }
            if self.boundary.is_some_and(|b| time > b) {
                self.first_call.get_or_insert(id);
            }
            self.answer(id);
        }
        self.trail.step(time, step);
    }

    /// Gives the call to all finished bursts that have none after them yet.
    fn answer(&mut self, id: PlaceId) {
        let Bursts { begin, end, places, .. } = &mut self.done;
        if self.unanswered < begin.len() {
            places.resize(begin.len(), Place::default());
            for i in (self.unanswered..begin.len()).filter(|&i| begin[i] < end[i]) {
                places[i].after.get_or_insert(id);
            }
            self.unanswered = begin.len();
        }
    }

    /// Whether a record then may belong to a burst of an earlier piece.
    fn is_early(&self, time: u64) -> bool {
        self.boundary.is_none_or(|boundary| time <= boundary)
    }

    /// Ends an open burst, whatever end it claimed.
    pub(crate) fn cut(&mut self, time: u64) {
        self.last = time;
        self.boundary.get_or_insert(time);
        self.settle(time);
        if let Some(mut open) = self.open.take() {
            self.done.overlaps += u64::from(open.end.is_some_and(|end| end > time));
            open.end = Some(time);
            self.last_end = Some(time);
            if open.begin == time {
                // It has no length, so no event can belong to it.
                self.finish_burst(open);
            } else {
                self.finish_closing();
                self.closing = Some(open);
            }
        }
    }

    /// A burst begins, after [`cut`](Self::cut) at the same time.
    pub(crate) fn open(&mut self, begin: u64, end: Option<u64>, state: u32) {
        let since = Since { end: self.last_end, call: self.trail.call };
        let spare = self.spare.take();
        self.open = Some(Open::new((begin, end), state, since, self.limits, spare));
    }

    /// Finishes what ended before `time`.
    #[inline]
    fn settle(&mut self, time: u64) {
        if self.closing.as_ref().is_some_and(|c| c.ended_before(time)) {
            self.finish_closing();
        }
        if self.open.as_ref().is_some_and(|o| o.ended_before(time))
            && let Some(open) = self.open.take()
        {
            self.last_end = open.end;
            self.finish_closing();
            self.finish_burst(open);
        }
    }

    fn finish_closing(&mut self) {
        if let Some(closing) = self.closing.take() {
            self.finish_burst(closing);
        }
    }

    fn finish_burst(&mut self, mut burst: Box<Open>) {
        let (begin, end) = (burst.begin, burst.end.unwrap_or(burst.begin));
        let place = Place {
            before: burst.before,
            after: burst.call.filter(|&(time, _)| time == end).map(|(_, id)| id),
            function: self.trail.function_before(end),
        };
        burst.finish(&mut self.done, &mut self.pending);
        self.spare = Some(burst);
        if begin < end {
            self.done.add_place(place);
            if place.before.is_none() {
                self.uncalled = self.done.begin.len();
            }
        }
    }

    /// A fold that another process has sent: limits do not travel.
    pub(crate) fn under(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self.open.iter_mut().chain(&mut self.closing).for_each(|open| open.limits = limits);
        self
    }

    /// Whether the pieces can be joined; a lost prefix of `next` must not matter.
    pub(crate) fn joins(&self, next: &Fold) -> bool {
        let wants_calls = self.unanswered < self.done.begin.len();
        next.first >= self.last && !(next.prefix_lost && (wants_calls || self.wants_events(next.first)))
    }

    fn wants_events(&self, from: u64) -> bool {
        let wants = |o: &Open| !o.ended_before(from);
        self.open.as_deref().is_some_and(wants) || self.closing.as_deref().is_some_and(wants)
    }

    /// Joins the piece that follows in time.
    pub(crate) fn append(&mut self, mut next: Fold) {
        let mut trail = self.trail.clone();
        for &(time, record) in &next.prefix {
            match record {
                Early::Counter(event_type, value) => self.counters(time, &[(event_type, value)]),
                Early::Code(step) => self.code(time, step),
            }
        }
        self.prefix_lost |= next.prefix_lost && self.boundary.is_none();
        if let Some(boundary) = next.boundary {
            self.cut(boundary);
            // While no later record is known, the closing burst may still receive.
            if next.last > boundary {
                self.finish_closing();
            }
            next.begin_after(&trail);
            next.count_after(&self.reads, self.last_end);
            let (n, pairs) = (self.done.begin.len(), self.done.sums.len());
            self.pending.extend(next.pending.iter().map(|p| Pending { pair: p.pair + pairs, ..*p }));
            self.last_end = next.last_end.or(self.last_end);
            if next.uncalled > 0 {
                self.uncalled = n + next.uncalled;
            }
            if let Some(id) = next.first_call {
                self.answer(id);
                self.unanswered = n + next.unanswered;
                self.first_call.get_or_insert(id);
            }
            self.open = next.open;
            self.closing = next.closing.or(self.closing.take());
            self.done.append(next.done);
        }
        // `next.trail` begins with the prefix, so it follows the old trail.
        trail.append(next.trail);
        self.trail = trail;
        self.reads.append(next.reads);
        self.last = next.last;
        if self.prefix.len() > MAX_PREFIX {
            self.prefix = Vec::new();
            self.prefix_lost = true;
        }
    }

    /// Completes the code of the bursts by where the thread was before them.
    fn begin_after(&mut self, trail: &Trail) {
        if trail.is_silent() {
            return;
        }
        let Bursts { begin, end, places, .. } = &mut self.done;
        places.resize(begin.len(), Place::default());
        for (i, place) in places.iter_mut().enumerate().filter(|&(i, _)| begin[i] < end[i]) {
            place.function = trail.resolve(place.function);
            if i < self.uncalled {
                place.before = place.before.or(trail.call);
            }
        }
        for burst in self.open.iter_mut().chain(&mut self.closing) {
            burst.before = burst.before.or(trail.call);
        }
        if trail.call.is_some() {
            self.uncalled = 0;
        }
    }

    /// Completes the counts of the bursts by earlier reads of the counters.
    fn count_after(&mut self, reads: &Reads, last_end: Option<u64>) {
        for burst in self.open.iter_mut().chain(&mut self.closing) {
            burst.begin_after(reads, last_end);
        }
        let done = &mut self.done;
        self.pending.retain_mut(|count| {
            count.span.since = count.span.since.or_else(|| reads.since(count.event_type));
            count.after = count.after.or(last_end);
            !done.decide(count, false)
        });
    }

    /// Gives the places the numbers in `map`.
    pub(crate) fn renumber(&mut self, map: &[Option<PlaceId>]) {
        for (_, record) in &mut self.prefix {
            if let Early::Code(Move::Call(id) | Move::Enter(id)) = record
                && let Some(new) = map[id.index()]
            {
                *id = new;
            }
        }
        for place in &mut self.done.places {
            *place = place.renumbered(map);
        }
        for burst in self.open.iter_mut().chain(&mut self.closing) {
            renumber(&mut burst.before, map);
            burst.call = burst.call.and_then(|(time, id)| Some((time, map[id.index()]?)));
        }
        renumber(&mut self.first_call, map);
        self.trail.renumber(map);
    }

    /// All bursts, by begin; one that is still open ends at `end`.
    pub(crate) fn finish(mut self, end: u64) -> Bursts {
        self.finish_closing();
        if let Some(mut open) = self.open.take() {
            open.end.get_or_insert(end.max(self.last));
            self.finish_burst(open);
        }
        for count in &self.pending {
            self.done.decide(count, true);
        }
        self.done.sorted()
    }
}
