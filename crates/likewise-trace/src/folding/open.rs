//! A burst that is not finished: the sums of its counters so far.

use likewise::table::PlaceId;
use serde::{Deserialize, Serialize};

use super::bursts::{Bursts, Pending};
use super::cover::{Cover, Limits, Reads, Span};
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

/// Room for the sums of a burst: it has none.
#[derive(Clone, Debug, Default)]
pub(super) struct Spare(Vec<Sum>);

/// A burst that may still receive counters.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
}

impl Open {
    /// `spare` is room that a burst before has left.
    pub(super) fn new(
        (begin, end): (u64, Option<u64>),
        state: u32,
        since: Since,
        limits: Limits,
        spare: Spare,
    ) -> Self {
        Self {
            begin,
            end,
            after: since.end,
            state,
            limits,
            sums: spare.0,
            hint: 0,
            compact_at: 128,
            set_change: None,
            after_change: Vec::new(),
            before: since.call,
            call: None,
        }
    }

    pub(super) fn called(&mut self, time: u64, id: PlaceId) {
        if self.call.is_none_or(|(last, _)| last != time) {
            self.call = Some((time, id));
        }
    }

    pub(super) fn ended_before(&self, time: u64) -> bool {
        self.end.is_some_and(|end| end < time)
    }

    #[inline]
    pub(super) fn event(&mut self, time: u64, count: Count) {
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
        // From the begin of the burst, not from the read before: EPOCH has two
        // reads at one time, as much as 1.2 M instructions apart.
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
                    // Doubling, so that many distinct types do not cost n².
                    self.compact_at = 128.max(2 * self.sums.len());
                }
            }
        }
        self.hint += 1;
    }

    /// Points the hint at the type if it is among the first, otherwise at the
    /// end: `compact` joins a type that is added twice, and no search is long.
    fn find(&mut self, event_type: u32) {
        let near = &self.sums[..self.sums.len().min(128)];
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
                to.span.impossible |= from.span.impossible;
                to.sum += from.sum;
                to.last = to.last.max(from.last);
            }
            same
        });
    }

    pub(super) fn finish(mut self, bursts: &mut Bursts, pending: &mut Vec<Pending>) -> Spare {
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
            // A column holds whole numbers up to 2^63; a warning tells of more.
            bursts.sums.push(sum.sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64);
            bursts.covers.push(Cover::Whole);
            let (pair, begin, after) = (bursts.covers.len() - 1, self.begin, self.after);
            let count = Pending { pair, event_type: sum.event_type, span: sum.span, begin, after };
            // Only counters of hardware need to cover their burst.
            if (self.limits.hardware)(sum.event_type) && !bursts.decide(&count, false) {
                pending.push(count);
            }
        }
        bursts.begin.push(self.begin);
        bursts.end.push(end);
        bursts.n_counters.push((bursts.types.len() - before) as u32);
        bursts.add_state(self.state);
        self.sums.clear();
        Spare(self.sums)
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
