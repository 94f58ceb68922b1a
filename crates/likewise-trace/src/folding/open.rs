//! A burst that is not finished: the sums of its counters so far.

use likewise::table::PlaceId;
use serde::{Deserialize, Serialize};

use super::bursts::{Bursts, Pending};
use super::cover::{Fit, Limits, Reads, Span};
use super::steps::SET_CHANGE;

/// The sum of one event type within an open burst.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Sum {
    event_type: u32,
    /// When the type was last seen. Types seen at the burst's end are kept.
    last: u64,
    /// Wide, so that the sum is right even if it was too large on the way.
    sum: i128,
    span: Span,
}

/// A type is searched among so many; further ones may appear several times.
const NEAR: usize = 128;

/// What a column can hold: whole numbers up to 2^63; a warning tells of more.
fn whole_number(sum: i128) -> i64 {
    sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// One read of a counter: its type, its value and since when it counts.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Count {
    pub(super) event_type: u32,
    pub(super) value: i128,
    pub(super) since: Option<u64>,
}

/// What came before a burst, as far as this piece knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since {
    /// When the burst before ended.
    pub(super) end: Option<u64>,
    /// The last call.
    pub(super) call: Option<PlaceId>,
}

/// A burst that may still receive counters.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Open {
    pub(super) begin: u64,
    /// `None` until the next boundary says.
    pub(super) end: Option<u64>,
    /// A type may appear several times until [`compact`](Self::compact).
    sums: Vec<Sum>,
    /// The next type is probably here: records repeat the order of the last one.
    hint: usize,
    compact_at: usize,
    /// When the counter set last changed, and the counts after that at the
    /// same time. They count only if the burst goes on beyond that time.
    set_change: Option<u64>,
    after_change: Vec<Count>,
    /// When the burst before ended; `None` if the piece does not know.
    after: Option<u64>,
    state: u32,
    #[serde(skip)]
    pub(super) limits: Limits,
    /// The last call until it began.
    pub(super) before: Option<PlaceId>,
    /// The first call at the time of the last call since.
    pub(super) call: Option<(u64, PlaceId)>,
    #[serde(skip)]
    order: Order,
    /// Whether the sums came, so far, as those of `order`.
    #[serde(skip)]
    in_order: bool,
}

/// The order by type of a burst's sums; the next burst's is the same as a rule.
#[derive(Clone, Debug, Default)]
struct Order {
    /// The types as they came.
    came: Vec<u32>,
    /// The types, ascending, and where each came.
    types: Vec<u32>,
    at: Vec<usize>,
    /// Whether all count what the hardware does.
    hardware: bool,
}

impl Open {
    /// `spare` is a burst that is finished: its memory is used again.
    pub(super) fn new(
        (begin, end): (u64, Option<u64>),
        state: u32,
        since: Since,
        limits: Limits,
        spare: Option<Box<Self>>,
    ) -> Box<Self> {
        let mut open = spare.unwrap_or_default();
        (open.begin, open.end, open.state) = (begin, end, state);
        (open.after, open.before, open.call) = (since.end, since.call, None);
        open.limits = limits;
        open.sums.clear();
        open.in_order = true;
        (open.hint, open.compact_at) = (0, NEAR);
        open.set_change = None;
        open.after_change.clear();
        open
    }

    pub(super) fn called(&mut self, time: u64, id: PlaceId) {
        if self.call.is_none_or(|(last, _)| last != time) {
            self.call = Some((time, id));
        }
    }

    pub(super) fn ended_before(&self, time: u64) -> bool {
        self.end.is_some_and(|end| end < time)
    }

    /// The most that a counter can have counted since the burst began.
    #[inline]
    pub(super) fn most(&self, time: u64) -> i128 {
        // From the begin of the burst, not from the read before: EPOCH has two
        // reads at one time, as much as 1.2 M instructions apart.
        self.limits.most(time - self.begin)
    }

    /// Takes a count; `most` is that of [`most`](Self::most) for the time.
    #[inline(always)]
    pub(super) fn event(&mut self, time: u64, most: i128, count: Count) {
        if self.set_change.is_some() || count.event_type == SET_CHANGE {
            self.event_at_change(time, most, count);
        } else {
            self.add(time, most, count);
        }
    }

    #[cold]
    fn event_at_change(&mut self, time: u64, most: i128, count: Count) {
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
            self.add(time, most, count);
        }
    }

    fn count_after_change(&mut self, change: u64) {
        self.set_change = None;
        let most = self.most(change);
        for count in std::mem::take(&mut self.after_change) {
            self.add(change, most, count);
        }
    }

    #[inline(always)]
    fn add(&mut self, time: u64, most: i128, count: Count) {
        let Count { event_type, value, since } = count;
        let fit = self.limits.fit(value, most, time);
        let n = self.sums.len();
        // What the burst before had next is not there yet, as types so far are
        // those of that burst, each once.
        if self.in_order && self.order.came.get(n) == Some(&event_type) {
            let span = Span { since, gap: false, fit };
            self.sums.push(Sum { event_type, last: time, sum: value, span });
            self.hint = n + 1;
            return;
        }
        if self.hint >= n {
            self.hint = 0;
        }
        if self.sums.get(self.hint).is_none_or(|s| s.event_type != event_type) {
            self.find(event_type);
        }
        match self.sums.get_mut(self.hint) {
            Some(sum) => {
                sum.span.gap |= since != Some(sum.last);
                sum.span.read_on(fit);
                sum.sum += value;
                sum.last = time;
            }
            None => self.add_new(Sum {
                event_type,
                last: time,
                sum: value,
                span: Span { since, gap: false, fit },
            }),
        }
        self.hint += 1;
    }

    #[cold]
    fn add_new(&mut self, sum: Sum) {
        self.in_order = false;
        self.sums.push(sum);
        if self.sums.len() >= self.compact_at {
            self.compact();
            // Doubling, so that many distinct types do not cost n².
            self.compact_at = NEAR.max(2 * self.sums.len());
        }
    }

    /// Points the hint at the type if it is among the first, otherwise at the
    /// end: `compact` joins a type that is added twice, and no search is long.
    fn find(&mut self, event_type: u32) {
        let near = &self.sums[..self.sums.len().min(NEAR)];
        self.hint = near.iter().position(|s| s.event_type == event_type).unwrap_or(self.sums.len());
    }

    /// Sorts by type and joins the sums of equal types.
    fn compact(&mut self) {
        if self.sums.is_sorted_by(|a, b| a.event_type < b.event_type) {
            return;
        }
        self.sums.sort_by_key(|s| s.event_type);
        self.sums.dedup_by(|from, to| {
            let same = from.event_type == to.event_type;
            if same {
                to.span.gap |= from.span.gap || from.span.since != Some(to.last);
                to.span.read_on(from.span.fit);
                to.sum += from.sum;
                to.last = to.last.max(from.last);
            }
            same
        });
    }

    /// Finds the order of the sums, if it is not that of the burst before.
    fn arrange(&mut self) {
        if self.in_order && self.sums.len() == self.order.came.len() {
            return;
        }
        if self.sums.len() > NEAR {
            self.compact();
        }
        let Order { came: types, at, .. } = &mut self.order;
        types.clear();
        types.extend(self.sums.iter().map(|sum| sum.event_type));
        at.clear();
        at.extend(0..types.len());
        at.sort_by_key(|&i| types[i]);
        self.order.types = at.iter().map(|&i| types[i]).collect();
        self.order.hardware = self.order.types.iter().all(|&t| (self.limits.hardware)(t));
    }

    /// Adds the burst to those that are finished.
    pub(super) fn finish(&mut self, bursts: &mut Bursts, pending: &mut Vec<Pending>) {
        let end = self.end.unwrap_or(self.begin);
        if let Some(change) = self.set_change
            && change != end
        {
            self.count_after_change(change);
        }
        self.arrange();
        bursts.make_room(self.sums.len());
        let at_end = self.sums.iter().filter(|s| s.last == end).count();
        if at_end == 0 {
            // Nobody knows what was counted from the last read to the end.
            self.sums.iter_mut().for_each(|sum| sum.span.gap = true);
        }
        let keeps_all = at_end == 0 || at_end == self.sums.len();
        if keeps_all && self.order.hardware && self.is_whole() {
            let sums = &self.sums;
            self.order.at.iter().for_each(|&i| bursts.sums.push(whole_number(sums[i].sum)));
            bursts.runs.add(&self.order.types);
            let is_later = self.after.is_some_and(|after| after < self.begin);
            bursts.read_at_begin += if is_later { sums.len() as u64 } else { 0 };
        } else {
            self.finish_sums(|sum| keeps_all || sum.last == end, bursts, pending);
        }
        bursts.begin.push(self.begin);
        bursts.end.push(end);
        bursts.add_state(self.state);
    }

    /// Whether all was counted from the burst's begin on, as this piece knows.
    fn is_whole(&self) -> bool {
        let begin = Some(self.begin);
        let whole = |span: Span| span.since == begin && !span.gap && span.fit == Fit::Burst;
        self.after.is_some() && self.sums.iter().all(|sum| whole(sum.span))
    }

    fn finish_sums(&self, keeps: impl Fn(&Sum) -> bool, bursts: &mut Bursts, pending: &mut Vec<Pending>) {
        let mut types = Vec::with_capacity(self.sums.len());
        for sum in self.order.at.iter().map(|&i| &self.sums[i]).filter(|sum| keeps(sum)) {
            types.push(sum.event_type);
            bursts.sums.push(whole_number(sum.sum));
            let (pair, begin, after) = (bursts.sums.len() - 1, self.begin, self.after);
            let count = Pending { pair, event_type: sum.event_type, span: sum.span, begin, after };
            // Only counters of hardware need to cover their burst.
            if (self.limits.hardware)(sum.event_type) && !bursts.decide(&count, false) {
                pending.push(count);
            }
        }
        bursts.runs.add(&types);
    }

    /// Completes what this piece did not know of the time before it.
    pub(super) fn begin_after(&mut self, reads: &Reads, last_end: Option<u64>) {
        self.after = self.after.or(last_end);
        for Sum { event_type, span, .. } in &mut self.sums {
            span.since = span.since.or_else(|| reads.since(*event_type));
        }
        for count in &mut self.after_change {
            count.since = count.since.or_else(|| reads.since(count.event_type));
        }
    }
}
