//! When what happens on one thread.

use super::Stretch;

/// Where on a thread a time lies; the gaps of n bursts are 0 to n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Burst(usize),
    Gap(usize),
}

/// What a time is part of: its end, where one thing ends and the next begins.
pub(super) fn place(bursts: &[Stretch], time: u64) -> Place {
    let k = bursts.partition_point(|burst| burst.begin < time);
    match k.checked_sub(1) {
        Some(last) if time < bursts[last].end => Place::Burst(last),
        _ => Place::Gap(k),
    }
}

/// The time between two bursts, as it was and as it is in the new run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) begin: u64,
    pub(super) end: u64,
    /// The last that the thread did by itself; `begin` if there is none.
    pub(super) own: u64,
    /// When the last happened of that and of what it waited for.
    pub(super) last: u64,
    /// `begin` and `last` in the new run.
    pub(super) new_begin: u64,
    pub(super) new_last: u64,
}

impl Gap {
    pub(super) fn new_end(&self) -> u64 {
        self.new_last + (self.end - self.last)
    }

    /// A time within, in the new run.
    pub(super) fn at(&self, time: u64) -> u64 {
        if time <= self.own {
            self.new_begin + (time - self.begin)
        } else if time < self.last {
            (self.new_begin + (time - self.begin)).min(self.new_last)
        } else {
            self.new_last + (time - self.last)
        }
    }
}

/// When what happened on a thread happens in the new run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    pub(super) bursts: Vec<Stretch>,
    /// One more than bursts.
    pub(super) gaps: Vec<Gap>,
    /// When the run ended, and when it ends now, where that is known.
    pub(super) end: Option<(u64, u64)>,
}

impl Clock {
    /// A time in the new run; where a wait of no length became longer, before
    /// it. What ends at `time`, ends then.
    #[must_use]
    pub fn until(&self, time: u64) -> u64 {
        self.within(time, self.at(place(&self.bursts, time), time))
    }

    /// The same, where it is known when the run ended and when it ends now.
    pub(super) fn ending(self, end: (u64, u64)) -> Self {
        Self { end: Some(end), ..self }
    }

    /// Behind a thread's last burst no time is after the end of the run, which is the same
    /// for all threads.
    fn within(&self, time: u64, new: u64) -> u64 {
        match self.end.zip(self.gaps.last()) {
            Some(((end, new_end), gap)) if gap.begin < time => {
                if time < end {
                    new.min(new_end)
                } else {
                    new_end
                }
            }
            _ => new,
        }
    }

    /// A time in the new run; where a wait of no length became longer, after it.
    /// What begins at `time`, begins then.
    #[must_use]
    pub fn from(&self, time: u64) -> u64 {
        let k = self.bursts.partition_point(|burst| burst.begin <= time);
        let place = match k.checked_sub(1) {
            Some(last) if time < self.bursts[last].end => Place::Burst(last),
            _ => Place::Gap(k),
        };
        self.within(time, self.at(place, time))
    }

    pub(super) fn at(&self, place: Place, time: u64) -> u64 {
        match place {
            Place::Gap(k) => self.gaps[k].at(time.min(self.gaps[k].end)),
            Place::Burst(k) => {
                let Stretch { begin, end, now } = self.bursts[k];
                let part = u128::from(time - begin) * u128::from(now) / u128::from((end - begin).max(1));
                // A part of `now`, which is one.
                self.gaps[k].new_end() + part as u64
            }
        }
    }
}
