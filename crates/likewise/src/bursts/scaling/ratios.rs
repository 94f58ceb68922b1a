//! How many times as often one run does its iterations as another.

use super::repeats::is_same;
use crate::bursts::serial::is_nearly_all;
use crate::median;

/// The number that most of the time tells counts only if phases with at least this share of the
/// loop's time agree on it …
pub(super) const AGREE: f64 = 0.5;
/// … and another one stands against it if phases with at least this share do.
const GOOD: f64 = 0.2;
/// Phases with less than this share of the loop's time tell nothing: a phase may lack a few of
/// its bursts, or have some of another.
const HARDLY: f64 = 0.02;
/// A phase is repeated within an iteration if each has at least so many of its bursts.
const REPEATED: f64 = 1.5;

/// A phase of the loop of two runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratio {
    /// How many times as often the one run does it as the other.
    pub(super) ratio: f64,
    /// Its share of the time: the smaller one of both runs.
    pub(super) weight: f64,
    /// Bursts of a thread per iteration of each run's own period, as far as both have one.
    pub(super) in_own: Option<[f64; 2]>,
}

/// All phases of the loop that two runs have in common.
#[derive(Clone, Debug)]
pub(super) struct Ratios(pub(super) Vec<Ratio>);

impl Ratios {
    /// What most of the time tells, with the share of it that agrees.
    pub(super) fn middle(&self) -> Option<(f64, f64)> {
        let middle = median::weighted(self.0.iter().map(|of| (of.ratio, of.weight)).collect())?;
        Some((middle, self.share(middle)))
    }

    fn agree(&self, ratio: f64) -> impl Iterator<Item = &Ratio> {
        self.0.iter().filter(move |of| is_same(of.ratio, ratio))
    }

    /// The share of the loop's time in phases that agree on a ratio.
    fn share(&self, ratio: f64) -> f64 {
        let all: f64 = self.0.iter().map(|of| of.weight).sum();
        self.agree(ratio).map(|of| of.weight).sum::<f64>() / all
    }

    /// Whether all phases that agree on a ratio are repeated within the iterations of both runs,
    /// as the steps of an inner loop are: then others make what an iteration is.
    fn is_inner(&self, ratio: f64) -> bool {
        self.agree(ratio).all(|of| of.in_own.is_some_and(|in_own| in_own.iter().all(|n| *n >= REPEATED)))
    }

    /// How many times as many iterations the one run has as the other; `own` is what their own
    /// periods say.
    ///
    /// Where periods and bursts tell two numbers, either one of the periods holds several
    /// iterations, and some phases are done less often than once in each; or the periods are
    /// right, and the other phases are repeated more often within an iteration. Which of the two
    /// is the case, the numbers of bursts alone do not tell. So what leaves the number of
    /// iterations as it is counts, as it takes one change instead of two, and where both
    /// take two, what the repeated phases tell does not. Nothing is known where neither helps.
    pub(super) fn iterations(&self, own: f64) -> Option<f64> {
        let (middle, agree) = self.middle()?;
        if is_same(middle, own) {
            return Some(middle);
        }
        let by_period = || {
            let agreeing = self.agree(own).map(|of| (of.ratio, of.weight)).collect();
            median::weighted(agreeing)
        };
        let by_bursts = (agree >= AGREE).then_some(middle);
        let for_period = self.share(own);
        let is_inner = self.is_inner(middle);
        if is_same(own, 1.0) {
            return match for_period {
                share if share < HARDLY => by_bursts,
                share if share >= GOOD || is_inner => by_period(),
                _ => None,
            };
        }
        if is_same(middle, 1.0) {
            return by_bursts.filter(|_| for_period < HARDLY || !is_inner);
        }
        match for_period + self.share(1.0) {
            rest if rest < HARDLY || !is_inner && is_nearly_all(1.0 - rest, 1.0) => by_bursts,
            _ if for_period >= GOOD && is_inner => by_period(),
            _ => None,
        }
    }
}
