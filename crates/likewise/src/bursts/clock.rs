//! How fast the cores of a run are clocked, by the cycles of its bursts.

use std::ops::Range;

use rayon::prelude::*;

use super::rates::instructions_and_cycles;
use crate::table::{BurstTable, Nanos, Values};

/// So many bursts are looked at by one thread.
const PART: usize = 1 << 16;
/// Rates are told apart by their exponent and so many bits of what follows it: to 1.6 %.
const BITS: u32 = 6;
/// The bits of a number of 32 bits behind these.
const REST: u32 = f32::MANTISSA_DIGITS - 1 - BITS;

/// A lower rate (in cycles per ns) says that all sleep, and not how fast cores are. On FPGAs that
/// emulate cores at 0.05, a burst still has a quarter of it, and does not sleep.
const SLOWEST: f64 = 0.2;
/// If half of all cycles are counted in bursts below this rate, those that reach [`SLOWEST`] must hold at
/// least [`SANE`] of them: else nothing runs at a clock, and times are not those in which cycles were counted.
/// Where all sleep, who wakes for a moment has more of them (10 runs of COMPSs, with 0.02 to 0.08 per ns at
/// the half, have a hundredth of all cycles at 0.4 to 1.5).
const MISFIT: f64 = 0.1 * SLOWEST;
const SANE: f64 = 0.01;

/// The cycles of bursts, and the clock of the run: what they would count if they were on a core for
/// all of their time.
pub(super) struct Clock<'t> {
    cycles: &'t Values,
    /// The bursts of threads of which no cycle is counted at all: their counters are lost.
    lost: Vec<Range<usize>>,
    /// Cycles per ns.
    rate: f64,
    misfit: Option<f64>,
}

impl<'t> Clock<'t> {
    /// `None` where no cycles are counted. Half of all cycles are counted in bursts that are as fast
    /// or faster: those that sleep count few.
    ///
    /// # Complexity
    /// O(n) for n bursts.
    pub(super) fn of(table: &'t BurstTable) -> Option<Self> {
        let cycles = &table.counters[instructions_and_cycles(&table.counters)[1]?].values;
        let parts = table.duration.par_chunks(PART).enumerate();
        let counted = parts.map(|(part, durations)| by_rate(cycles, part * PART, durations));
        // In whole numbers, so that their order does not matter.
        let all = counted.reduce(Vec::new, |mut sums, more| {
            sums.resize(sums.len().max(more.len()), 0u64);
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(more));
            sums
        });
        if all.is_empty() {
            return None;
        }
        let half = all.iter().fold(0u64, |sum, n| sum.saturating_add(*n)).div_ceil(2);
        let mut faster = 0u64;
        let reaches = |n: &u64| {
            faster = faster.saturating_add(*n);
            faster >= half
        };
        let place = all.len() - 1 - all.iter().rev().position(reaches)?;
        let rate = f64::from(f32::from_bits((place as u32) << REST));
        let sum = |counts: &[u64]| counts.iter().fold(0u64, |sum, n| sum.saturating_add(*n)) as f64;
        let sane = sum(all.get(place_of(SLOWEST)..).unwrap_or_default());
        let misfit = Some(rate).filter(|&rate| rate < MISFIT && sane < SANE * sum(&all));
        Some(Self { cycles, lost: lost(table, cycles), rate: rate.max(SLOWEST), misfit })
    }

    /// If cycles do not fit the times of the trace, as where these are simulated: how many of them
    /// bursts count per ns. Then they tell neither the clock nor who sleeps.
    pub(super) fn misfit(&self) -> Option<f64> {
        self.misfit
    }

    /// Cycles per ns of most of the run.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// For how long a burst is on a core at that clock, in ns; NaN where it is not known.
    pub(super) fn time(&self, burst: usize) -> f64 {
        let cycles = self.cycles.get(burst);
        if cycles == 0.0 {
            let before = self.lost.partition_point(|bursts| bursts.end <= burst);
            if self.lost.get(before).is_some_and(|bursts| bursts.contains(&burst)) {
                return f64::NAN;
            }
        }
        cycles / self.rate
    }
}

/// The bursts of each thread that has no cycles in any, in order. One that sleeps has some until it does.
fn lost(table: &BurstTable, cycles: &Values) -> Vec<Range<usize>> {
    let is_lost = |bursts: &Range<usize>| !bursts.clone().any(|i| cycles.get(i) > 0.0);
    table.threads().map(|(_, bursts)| bursts).filter(is_lost).collect()
}

/// Where rates like this one are counted.
fn place_of(rate: f64) -> usize {
    ((rate as f32).to_bits() >> REST) as usize
}

/// The cycles of some bursts, from the first on, by their rate.
fn by_rate(cycles: &Values, first: usize, durations: &[Nanos]) -> Vec<u64> {
    let mut sums = Vec::new();
    for (i, &Nanos(duration)) in (first..).zip(durations) {
        let n = cycles.get(i);
        if n > 0.0 && duration > 0 {
            let place = place_of(n / duration as f64);
            if place >= sums.len() {
                sums.resize(place + 1, 0u64);
            }
            sums[place] = sums[place].saturating_add(n as u64);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Counter, CounterColumn};

    /// Bursts of so many ns, at so many cycles per ns.
    fn table(bursts: &[(u64, f64)]) -> BurstTable {
        let counter =
            Counter { event_type: None, name: "PAPI_TOT_CYC".to_owned(), description: String::new() };
        let values = bursts.iter().map(|&(time, rate)| (rate * time as f64).round()).collect();
        BurstTable {
            begin: vec![Nanos(0); bursts.len()],
            duration: bursts.iter().map(|&(time, _)| Nanos(time)).collect(),
            counters: vec![CounterColumn { counter, values }],
            ..BurstTable::default()
        }
    }

    fn rate(bursts: &[(u64, f64)]) -> Option<f64> {
        Clock::of(&table(bursts)).map(|clock| clock.rate)
    }

    #[test]
    fn the_clock_is_that_of_most_cycles() {
        let near = |bursts: &[(u64, f64)], expected: f64| {
            let found = rate(bursts).expect("cycles");
            assert!((found / expected - 1.0).abs() < 0.02, "{found} for {expected}");
        };
        near(&[(1_000, 2.9), (1_000, 3.0), (1_000, 3.1)], 3.0);
        // However long others sleep.
        near(&[(1_000_000, 0.01), (5_000, 3.0), (5_000, 3.0)], 3.0);
        near(&[(1_000, 0.5), (1_000, 0.5)], 0.5);
        // Where all sleep, nothing tells the clock.
        near(&[(1_000_000, 0.008), (1_000_000, 0.005)], 0.2);
        let many: Vec<(u64, f64)> =
            (0..200_000).map(|i| (1_000, if i % 3 == 0 { 1.0 } else { 2.0 })).collect();
        near(&many, 2.0);
    }

    #[test]
    fn cycles_may_not_fit_the_times() {
        let misfit = |bursts: &[(u64, f64)]| {
            Clock::of(&table(bursts)).expect("cycles").misfit().map(|rate| (1e4 * rate).round())
        };
        assert_eq!(misfit(&[(1_000_000, 0.008), (1_000_000, 0.005)]), Some(79.0));
        // A moment tells that the others sleep.
        assert_eq!(misfit(&[(1_000_000, 0.008), (1_000_000, 0.005), (200, 1.2)]), None);
        // A slow core is one.
        assert_eq!(misfit(&[(1_000_000, 0.05), (1_000_000, 0.012)]), None);
    }

    #[test]
    fn without_cycles_there_is_none() {
        assert_eq!(rate(&[]), None);
        assert_eq!(rate(&[(1_000, f64::NAN)]), None);
        assert_eq!(rate(&[(1_000, 0.0)]), None);
        assert_eq!(rate(&[(0, 1.0)]), None);
    }
}
