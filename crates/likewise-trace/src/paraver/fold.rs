//! Bursts out of one thread's records, piece by piece.
//!
//! A thread's records are cut by block ends and, where a trace was put
//! together from pieces of time in no order, by jumps back in time. A
//! [`Fold`] holds what one such piece gives without what came before it:
//! its finished bursts, the burst that is still open at its end, and the
//! *prefix*, the counters up to its first boundary, which belong to a burst
//! that the piece before may have left open. [`Fold::append`] joins two
//! pieces; whoever joins them in order of time gets what one pass would give.

use likewise::table::{PlaceId, Region};

use super::RUNNING;
use super::code::{Move, Place, Trail, renumber};
use super::cover::{Cover, Limits, Reads, Span, is_hardware};

/// The counter set changed: at the end of a burst it closes it at once.
pub(crate) const SET_CHANGE: u32 = 41_999_999;

/// A prefix longer than this is dropped; the rare trace that needs it is
/// read a second time.
const MAX_PREFIX: usize = 1 << 16;

/// Finished bursts: times in the file's unit, counters as flat pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bursts {
    pub(crate) begin: Vec<u64>,
    pub(crate) end: Vec<u64>,
    /// How many pairs each burst has.
    pub(crate) n_counters: Vec<u32>,
    /// Ascending within a burst.
    pub(crate) types: Vec<u32>,
    /// Beyond `i64`, its limits.
    pub(crate) sums: Vec<i64>,
    /// Whether each sum is of its burst.
    pub(crate) covers: Vec<Cover>,
    /// How many of them began with the burst, some time after the one before:
    /// the tracer reads counters at the begin of bursts.
    pub(crate) read_at_begin: u64,
    /// The state of each; may end early, where the rest is Running.
    pub(crate) states: Vec<u32>,
    /// The code of each; may end early, where the rest has none.
    pub(crate) places: Vec<Place>,
    /// How many states claimed an end after the begin of the next.
    pub(crate) overlaps: u64,
}

impl Bursts {
    fn append(&mut self, mut other: Bursts) {
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
    fn add_state(&mut self, state: u32) {
        if state != RUNNING {
            self.states.resize(self.begin.len() - 1, RUNNING);
            self.states.push(state);
        }
    }

    /// Decides whether a count is of its burst; `false` if the piece cannot
    /// tell, or not whether the tracer read the counter for this burst.
    fn decide(&mut self, pending: &Pending, all: bool) -> bool {
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
    fn add_place(&mut self, place: Place) {
        if place != Place::default() {
            self.places.resize(self.begin.len() - 1, Place::default());
            self.places.push(place);
        }
    }
}

/// A count whose burst is done, but of which the piece does not know whether it
/// is all of the burst.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// Its place among the pairs.
    pair: usize,
    event_type: u32,
    span: Span,
    begin: u64,
    after: Option<u64>,
}

/// The sum of one event type within an open burst.
#[derive(Clone, Copy, Debug)]
struct Sum {
    event_type: u32,
    /// When the type was last seen; at the burst's end, it is kept.
    last: u64,
    /// Wide, so that a sum is right however large it was on the way.
    sum: i128,
    span: Span,
}

/// What a counter says: its type, its value and since when it counts.
#[derive(Clone, Copy, Debug)]
struct Count {
    event_type: u32,
    value: i128,
    since: Option<u64>,
}

/// A burst that may still receive counters.
#[derive(Clone, Debug)]
struct Open {
    begin: u64,
    /// `None` until the next boundary says.
    end: Option<u64>,
    /// A type may stand here several times until [`compact`](Self::compact).
    sums: Vec<Sum>,
    /// Where the next type is likely to stand: the order of the last line.
    hint: usize,
    compact_at: usize,
    /// When the counter set last changed, and what came after it at that
    /// time: counted only if the burst goes on beyond.
    set_change: Option<u64>,
    after_change: Vec<Count>,
    /// When the burst before ended; `None` if the piece does not know.
    after: Option<u64>,
    state: u32,
    limits: Limits,
    /// The last call until it began.
    before: Option<PlaceId>,
    /// The first call at the time of the last call since.
    call: Option<(u64, PlaceId)>,
}

impl Open {
    fn new(begin: u64, end: Option<u64>, state: u32, fold: &Fold) -> Self {
        Self {
            begin,
            end,
            after: fold.last_end,
            state,
            limits: fold.limits,
            sums: Vec::new(),
            hint: 0,
            compact_at: 128,
            set_change: None,
            after_change: Vec::new(),
            before: fold.trail.call,
            call: None,
        }
    }

    fn called(&mut self, time: u64, id: PlaceId) {
        if self.call.is_none_or(|(last, _)| last != time) {
            self.call = Some((time, id));
        }
    }

    fn ended_before(&self, time: u64) -> bool {
        self.end.is_some_and(|end| end < time)
    }

    #[inline]
    fn event(&mut self, time: u64, count: Count) {
        if let Some(change) = self.set_change {
            if time == change {
                if count.event_type != SET_CHANGE {
                    self.after_change.push(count);
                }
                return;
            }
            self.count_after_change(change);
        }
        if count.event_type == SET_CHANGE {
            self.set_change = Some(time);
        } else {
            self.add(time, count);
        }
    }

    fn count_after_change(&mut self, change: u64) {
        self.set_change = None;
        for count in std::mem::take(&mut self.after_change) {
            self.add(change, count);
        }
    }

    #[inline]
    fn add(&mut self, time: u64, count: Count) {
        let Count { event_type, value, since } = count;
        // Not since the read before: EPOCH has two at one time, as much as 1.2 M
        // instructions apart.
        let impossible = !self.limits.allow(value, time - self.begin);
        if self.hint >= self.sums.len() {
            self.hint = 0;
        }
        if self.sums.get(self.hint).is_none_or(|s| s.event_type != event_type) {
            self.find(event_type);
        }
        match self.sums.get_mut(self.hint) {
            Some(sum) => {
                sum.span.gap |= since != Some(sum.last);
                sum.span.impossible |= impossible;
                sum.sum += value;
                sum.last = time;
            }
            None => {
                let span = Span { since, gap: false, impossible };
                self.sums.push(Sum { event_type, last: time, sum: value, span });
                if self.sums.len() >= self.compact_at {
                    self.compact();
                    // Doubling keeps many distinct types from costing n².
                    self.compact_at = 128.max(2 * self.sums.len());
                }
            }
        }
        self.hint += 1;
    }

    /// Points the hint at the type if it is among the first, else at the end.
    fn find(&mut self, event_type: u32) {
        let near = &self.sums[..self.sums.len().min(128)];
        self.hint = near.iter().position(|s| s.event_type == event_type).unwrap_or(self.sums.len());
    }

    /// Sorts by type and joins what is there twice.
    fn compact(&mut self) {
        if self.sums.is_sorted_by(|a, b| a.event_type < b.event_type) {
            return;
        }
        self.sums.sort_by_key(|s| s.event_type);
        self.sums.dedup_by(|from, to| {
            let same = from.event_type == to.event_type;
            if same {
                to.span.gap |= from.span.gap || from.span.since != Some(to.last);
                to.span.impossible |= from.span.impossible;
                to.sum += from.sum;
                to.last = to.last.max(from.last);
            }
            same
        });
    }

    fn finish(mut self, bursts: &mut Bursts, pending: &mut Vec<Pending>) {
        let end = self.end.unwrap_or(self.begin);
        if let Some(change) = self.set_change
            && change != end
        {
            self.count_after_change(change);
        }
        self.compact();
        let any_at_end = self.sums.iter().any(|s| s.last == end);
        let kept = self.sums.iter().filter(|s| !any_at_end || s.last == end);
        let before = bursts.types.len();
        for sum in kept {
            bursts.types.push(sum.event_type);
            bursts.sums.push(sum.sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64);
            bursts.covers.push(Cover::Whole);
            let (pair, begin, after) = (bursts.covers.len() - 1, self.begin, self.after);
            let count = Pending { pair, event_type: sum.event_type, span: sum.span, begin, after };
            // What is no counter of hardware stands for itself.
            if is_hardware(sum.event_type) && !bursts.decide(&count, false) {
                pending.push(count);
            }
        }
        bursts.begin.push(self.begin);
        bursts.end.push(end);
        bursts.n_counters.push((bursts.types.len() - before) as u32);
        bursts.add_state(self.state);
    }

    /// Completes what the piece did not know of the time before it.
    fn begin_after(&mut self, reads: &Reads, last_end: Option<u64>) {
        self.after = self.after.or(last_end);
        for Sum { event_type, span, .. } in &mut self.sums {
            span.since = span.since.or_else(|| reads.since(*event_type));
        }
        for count in &mut self.after_change {
            count.since = count.since.or_else(|| reads.since(count.event_type));
        }
    }
}

/// A record that may belong to a burst of the piece before.
#[derive(Clone, Copy, Debug)]
enum Early {
    /// A counter, or [`SET_CHANGE`].
    Counter(u32, i128),
    Code(Move<PlaceId>),
}

/// What one piece of a thread's records gives; see the module.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    /// Times of the first and the last record.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Time of the first boundary: a state record, or an event that opens or
    /// closes a burst.
    boundary: Option<u64>,
    prefix: Vec<(u64, Early)>,
    prefix_lost: bool,
    /// Ended at the last boundary's time and may still receive events there.
    closing: Option<Open>,
    open: Option<Open>,
    done: Bursts,
    /// In order of their pairs.
    pending: Vec<Pending>,
    reads: Reads,
    /// When the last burst ended.
    last_end: Option<u64>,
    limits: Limits,
    trail: Trail,
    /// Among the first bursts, up to here, are all those that began before
    /// any call of the piece.
    uncalled: usize,
    /// Bursts before this one know the call that comes after them.
    unanswered: usize,
    /// The first call after the first boundary's time.
    first_call: Option<PlaceId>,
}

impl Fold {
    pub(crate) fn new(first: u64, limits: Limits) -> Self {
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
            done: Bursts::default(),
            trail: Trail::default(),
            uncalled: 0,
            unanswered: 0,
            first_call: None,
        }
    }

    /// A counter, or [`SET_CHANGE`].
    #[inline]
    pub(crate) fn event(&mut self, time: u64, event_type: u32, value: i128) {
        self.come_to(time, Early::Counter(event_type, value));
        let since = if event_type == SET_CHANGE {
            self.reads.reset(time);
            None
        } else {
            self.reads.read(event_type, time)
        };
        let count = Count { event_type, value, since };
        if let Some(closing) = &mut self.closing {
            closing.event(time, count);
        }
        if let Some(open) = &mut self.open
            && open.begin < time
        {
            open.event(time, count);
        }
    }

    /// Where in the source the thread is.
    pub(crate) fn code(&mut self, time: u64, step: Move<PlaceId>) {
        self.come_to(time, Early::Code(step));
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

    /// A call comes after all bursts that are done.
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

    #[inline]
    fn come_to(&mut self, time: u64, record: Early) {
        self.last = time;
        if self.boundary.is_none_or(|b| time <= b) {
            self.prefix.push((time, record));
        }
        self.settle(time);
    }

    /// Whatever was open ends now at the latest.
    pub(crate) fn cut(&mut self, time: u64) {
        self.last = time;
        self.boundary.get_or_insert(time);
        self.settle(time);
        if let Some(mut open) = self.open.take() {
            self.done.overlaps += u64::from(open.end.is_some_and(|end| end > time));
            open.end = Some(time);
            self.last_end = Some(time);
            if open.begin == time {
                // Empty: nothing can belong to it.
                self.finish_burst(open);
            } else {
                self.finish_closing();
                self.closing = Some(open);
            }
        }
    }

    /// A burst begins, after [`cut`](Self::cut) at the same time.
    pub(crate) fn open(&mut self, begin: u64, end: Option<u64>, state: u32) {
        self.open = Some(Open::new(begin, end, state, self));
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

    fn finish_burst(&mut self, burst: Open) {
        let (begin, end) = (burst.begin, burst.end.unwrap_or(burst.begin));
        let place = Place {
            before: burst.before,
            after: burst.call.filter(|&(time, _)| time == end).map(|(_, id)| id),
            function: self.trail.function_before(end),
        };
        burst.finish(&mut self.done, &mut self.pending);
        if begin < end {
            self.done.add_place(place);
            if place.before.is_none() {
                self.uncalled = self.done.begin.len();
            }
        }
    }

    /// Whether the pieces join without knowing what the prefix of `next` was.
    pub(crate) fn joins(&self, next: &Fold) -> bool {
        let wants_calls = self.unanswered < self.done.begin.len();
        next.first >= self.last && !(next.prefix_lost && (wants_calls || self.wants_events(next.first)))
    }

    fn wants_events(&self, from: u64) -> bool {
        let wants = |o: &Open| !o.ended_before(from);
        self.open.as_ref().is_some_and(wants) || self.closing.as_ref().is_some_and(wants)
    }

    /// Joins the piece that follows in time.
    pub(crate) fn append(&mut self, mut next: Fold) {
        let mut trail = self.trail.clone();
        for &(time, record) in &next.prefix {
            match record {
                Early::Counter(event_type, value) => self.event(time, event_type, value),
                Early::Code(step) => self.code(time, step),
            }
        }
        self.prefix_lost |= next.prefix_lost && self.boundary.is_none();
        if let Some(boundary) = next.boundary {
            self.cut(boundary);
            // At its own last time the closing burst may still receive.
            if next.last > boundary {
                self.finish_closing();
            }
            next.begin_after(&trail);
            next.count_after(&self.reads, self.last_end);
            let (n, pairs) = (self.done.begin.len(), self.done.covers.len());
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
        // All that the prefix said, and what came after it.
        trail.append(next.trail);
        self.trail = trail;
        self.reads.append(next.reads);
        self.last = next.last;
        if self.prefix.len() > MAX_PREFIX {
            self.prefix = Vec::new();
            self.prefix_lost = true;
        }
    }

    /// Completes the code of the bursts by where the thread was before.
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

    /// Completes the counts of the bursts by when counters were read before.
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

    /// What `map` makes of the numbers of places.
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
        sorted(self.done)
    }
}

/// A burst of no length may have been finished before the one that it ended.
fn sorted(bursts: Bursts) -> Bursts {
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
