//! Which counts belong to their burst.
//!
//! A tracer reads the counters of a thread at some of its events, and writes
//! what was counted since the read before. So a count is a burst's own only if
//! the counter was read when the burst began.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The most that a hardware counter of one thread can count in a nanosecond:
/// at 5 GHz, twenty in every cycle. Processors retire up to eight instructions
/// a cycle; the most in any trace at hand is 33, in a burst of under 1 µs.
pub(crate) const MAX_PER_NANO: i128 = 100;

/// Counters are read a little before or after the time that is written. So the
/// shortest bursts get some counts of their neighbours, which this allows for.
const SLACK_NANOS: i128 = 1_000;

/// How large a count of hardware can be, for times in the file's unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    per_unit: i128,
    slack: i128,
    /// Whether a type counts what the hardware does.
    pub(crate) hardware: fn(u32) -> bool,
}

/// Those of nothing, for what comes without its own.
impl Default for Limits {
    fn default() -> Self {
        Self { per_unit: 0, slack: 0, hardware: |_| false }
    }
}

impl Limits {
    /// `unit` is that of the file's times, in nanoseconds; `hardware` says
    /// whether a type counts what the hardware does.
    pub(crate) fn new(unit: u64, hardware: fn(u32) -> bool) -> Self {
        let unit = i128::from(unit);
        Self { per_unit: MAX_PER_NANO * unit, slack: MAX_PER_NANO * unit.max(SLACK_NANOS), hardware }
    }

    /// The most that is possible in so much time; the least is 0.
    #[inline]
    pub(crate) fn most(self, time: u64) -> i128 {
        self.per_unit * i128::from(time) + self.slack
    }

    /// How a read at `time` fits a burst, in which at most `most` was counted until then.
    #[inline]
    pub(crate) fn fit(self, value: i128, most: i128, time: u64) -> Fit {
        if (0..=most).contains(&value) { Fit::Burst } else { self.beyond(value, time) }
    }

    #[cold]
    fn beyond(self, value: i128, time: u64) -> Fit {
        let units = (value - self.slack + self.per_unit - 1).checked_div(self.per_unit);
        let since = units.and_then(|units| time.checked_sub(u64::try_from(units).ok()?));
        since.filter(|_| value >= 0).map_or(Fit::Never, Fit::Since)
    }
}

/// How the time of a count and the time of its burst relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Cover {
    /// It was counted from the burst's begin to its end.
    Whole,
    /// It was counted from the end of the burst before, or in the first burst from an unknown
    /// time. If a tracer reads counters only at the ends of bursts, this is
    /// the burst's count, plus that of the call before it.
    SinceEnd,
    /// It was counted from an earlier time, or not all the time.
    Part,
    /// It is negative, or too large for the time in which it was counted.
    Impossible,
}

/// In which time a count is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Fit {
    /// In that of its burst.
    Burst,
    /// If counting began then at the latest, before the burst.
    Since(u64),
    /// In none.
    Never,
}

/// What the reads behind a burst's count tell.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Span {
    /// When counting began; `None` if this piece of the thread's records does
    /// not know.
    pub(crate) since: Option<u64>,
    /// Whether something was not counted between two of the reads.
    pub(crate) gap: bool,
    /// The first read tells what was counted before the burst, too; the others do not.
    pub(crate) fit: Fit,
}

impl Span {
    /// A further read within the burst.
    #[inline]
    pub(crate) fn read_on(&mut self, fit: Fit) {
        if fit != Fit::Burst {
            self.fit = Fit::Never;
        }
    }

    /// How the count covers a burst that began at `begin`, where the burst
    /// before ended at `after`. `None` if this piece cannot tell. With `all`,
    /// the whole thread is known: an unknown time then means that there is none.
    pub(crate) fn cover(self, begin: u64, after: Option<u64>, all: bool) -> Option<Cover> {
        let cover = match (self.since, after) {
            _ if self.gap => Cover::Part,
            (Some(since), _) if since > begin => Cover::Part,
            (Some(since), _) if since == begin => Cover::Whole,
            (Some(since), Some(after)) if since > after => Cover::Whole,
            (Some(since), Some(after)) if since == after => Cover::SinceEnd,
            (Some(_), Some(_)) => Cover::Part,
            (Some(_), None) if all => Cover::Whole,
            (None, None) if all => Cover::SinceEnd,
            // It was not read before, so it counts what was in the burst before as well.
            (None, Some(_)) if all => Cover::Part,
            _ => return None,
        };
        Some(match self.fit {
            _ if cover == Cover::Part => Cover::Part,
            Fit::Burst => cover,
            // Too large for the burst, but not for the time since the read before.
            Fit::Since(latest) if self.since.unwrap_or(0) <= latest => Cover::Part,
            Fit::Since(_) | Fit::Never => Cover::Impossible,
        })
    }
}

/// The first types are searched one after the other, the rest in a tree. Most
/// records repeat the types of the record before, which `hint` finds at once.
const NEAR: usize = 64;

/// When each counter of a thread was last read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reads {
    near: Vec<(u32, u64)>,
    /// The next type is probably here: records repeat the order of the last one.
    hint: usize,
    far: BTreeMap<u32, u64>,
    /// When all counters last began anew, with another set of them.
    reset: Option<u64>,
}

impl Reads {
    /// Notes a read of the counter; returns since when it had counted.
    #[inline]
    pub(crate) fn read(&mut self, event_type: u32, time: u64) -> Option<u64> {
        self.set(event_type, time).max(self.reset)
    }

    /// All counters begin anew.
    pub(crate) fn reset(&mut self, time: u64) {
        self.reset = Some(time);
    }

    /// Since when the counter counts.
    pub(crate) fn since(&self, event_type: u32) -> Option<u64> {
        let near = self.near.iter().find(|(t, _)| *t == event_type).map(|&(_, time)| time);
        near.or_else(|| self.far.get(&event_type).copied()).max(self.reset)
    }

    #[inline]
    fn set(&mut self, event_type: u32, time: u64) -> Option<u64> {
        if self.near.get(self.hint).is_none_or(|(t, _)| *t != event_type) {
            match self.near.iter().position(|(t, _)| *t == event_type) {
                Some(at) => self.hint = at,
                None if self.near.len() < NEAR => {
                    self.near.push((event_type, time));
                    self.hint = 0;
                    return None;
                }
                None => return self.far.insert(event_type, time),
            }
        }
        let before = std::mem::replace(&mut self.near[self.hint].1, time);
        self.hint += 1;
        Some(before)
    }

    /// Adds the reads of the piece that follows.
    pub(crate) fn append(&mut self, next: Reads) {
        for (event_type, time) in next.near.into_iter().chain(next.far) {
            self.set(event_type, time);
        }
        self.reset = next.reset.or(self.reset);
    }
}
