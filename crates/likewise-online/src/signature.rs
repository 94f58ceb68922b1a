//! What a rank did between two markers, in a few numbers.

use likewise_recording::{Repeated, Structure};
use std::cmp::Ordering;

/// The exact mean of whole numbers: sums, compared crosswise.
///
/// Means are ordered by value; the mean of nothing comes first, and equals
/// only itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean {
    /// The sum of the numbers.
    pub sum: i128,
    /// How many.
    pub n: u64,
}

impl Mean {
    /// Takes one number more.
    #[inline]
    pub fn add(&mut self, value: i64) {
        self.sum += i128::from(value);
        self.n += 1;
    }

    /// The mean, rounded; `None` of nothing.
    #[must_use]
    pub fn value(self) -> Option<f64> {
        (self.n > 0).then(|| self.sum as f64 / self.n as f64)
    }

    /// How far two means lie apart, rounded. The mean of nothing lies one
    /// farther from a mean than 0 does.
    #[must_use]
    pub fn distance(self, other: Self) -> f64 {
        match (self.value(), other.value()) {
            (Some(a), Some(b)) if self != other => (a - b).abs(),
            (Some(value), None) | (None, Some(value)) => 1.0 + value.abs(),
            _ => 0.0,
        }
    }
}

/// The 192 bits of a product.
fn times(a: u128, b: u64) -> (u128, u64) {
    let low = u128::from(a as u64) * u128::from(b);
    let high = (a >> 64) * u128::from(b) + (low >> 64);
    (high, low as u64)
}

impl Ord for Mean {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.n == 0 || other.n == 0 {
            return (self.n > 0).cmp(&(other.n > 0));
        }
        let (own, others) = (self.sum.signum(), other.sum.signum());
        let size = times(self.sum.unsigned_abs(), other.n).cmp(&times(other.sum.unsigned_abs(), self.n));
        own.cmp(&others).then(if own < 0 { size.reverse() } else { size })
    }
}

impl PartialOrd for Mean {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Mean {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Mean {}

/// What a rank did between two markers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature {
    /// The hash of its calls, in order, without loop counts: see
    /// [`Structure::hash`].
    pub path: u128,
    /// The mean of the ranks that it received from, less its own.
    pub source: Mean,
    /// The mean of the ranks that it sent to, less its own.
    pub dest: Mean,
    /// The sum of what the events gave for their parameters. It depends on
    /// loop counts, and not on the order.
    pub parameters: u64,
}

/// Makes the signatures of a rank, event by event.
///
/// # Complexity
/// An event costs what [`Structure::push`] does and a few additions; memory is
/// bounded, but for a few bytes per symbol.
#[derive(Clone, Debug, Default)]
pub struct Rolling {
    structure: Structure,
    running: Signature,
    /// By symbol.
    identities: Vec<u128>,
    last: Option<u128>,
    repeats: bool,
    /// By symbol: whether it was in the last interval that repeated.
    steady: Vec<bool>,
}

impl Rolling {
    /// No events, and no interval before.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells what a symbol is: a number that is the same on all ranks for the
    /// same call from the same call path. To be called before the end of the
    /// first interval that has the symbol.
    pub fn know(&mut self, symbol: u32, identity: u128) {
        let symbol = symbol as usize;
        if symbol >= self.identities.len() {
            self.identities.resize(symbol + 1, 0);
        }
        self.identities[symbol] = identity;
    }

    /// An event: its symbol, the ranks that it receives from and sends to,
    /// relative to this rank, where it has such, and its parameters as a hash.
    #[inline]
    pub fn event(&mut self, symbol: u32, source: Option<i64>, dest: Option<i64>, parameters: u64) {
        self.structure.push(symbol);
        if let Some(source) = source {
            self.running.source.add(source);
        }
        if let Some(dest) = dest {
            self.running.dest.add(dest);
        }
        self.running.parameters = self.running.parameters.wrapping_add(parameters);
    }

    /// Ends the interval and begins the next.
    pub fn end(&mut self) -> Signature {
        let calls = self.structure.calls();
        let path = self.structure.hash_with(&calls, &self.identities);
        self.repeats = self.last == Some(path);
        self.last = Some(path);
        if self.repeats {
            self.steady.clear();
            self.steady.extend((0..self.identities.len() as u32).map(|symbol| self.structure.had(symbol)));
            for symbol in calls {
                let symbol = symbol as usize;
                if symbol >= self.steady.len() {
                    self.steady.resize(symbol + 1, false);
                }
                self.steady[symbol] = true;
            }
        }
        self.structure.clear();
        Signature { path, ..std::mem::take(&mut self.running) }
    }

    /// Whether the last interval had the call path of the one before: what this
    /// rank votes.
    #[must_use]
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// Whether a symbol was in the last interval that had the call path of the
    /// one before it.
    #[inline]
    #[must_use]
    pub fn is_steady(&self, symbol: u32) -> bool {
        self.steady.get(symbol as usize).copied().unwrap_or(false)
    }

    /// The outermost loop that the interval ends with, see
    /// [`Structure::repeated`].
    #[must_use]
    pub fn repeated(&self) -> Option<Repeated> {
        self.structure.repeated()
    }

    /// About how many bytes of memory this takes.
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.structure.memory()
            + self.identities.capacity() * size_of::<u128>()
            + self.steady.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As the paper makes it: the XOR of ((sequence number mod 10) + 1) times
    /// the stack signature.
    fn theirs(stacks: &[u64]) -> u64 {
        let one = |(at, stack): (usize, &u64)| (at as u64 % 10 + 1).wrapping_mul(*stack);
        stacks.iter().enumerate().map(one).fold(0, |all, one| all ^ one)
    }

    fn ours(stacks: &[u64]) -> u128 {
        let mut rolling = Rolling::new();
        let mut known: Vec<u64> = stacks.to_vec();
        known.sort_unstable();
        for stack in stacks {
            let symbol = known.iter().position(|known| known == stack).unwrap() as u32;
            rolling.know(symbol, u128::from(*stack));
            rolling.event(symbol, None, None, 0);
        }
        rolling.end().path
    }

    fn stacks() -> Vec<u64> {
        (1..=20).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
    }

    #[test]
    fn events_ten_apart_that_change_places_are_another_path() {
        let before = stacks();
        let mut after = before.clone();
        after.swap(3, 13);
        assert_eq!(theirs(&before), theirs(&after), "the paper's signature cannot tell them apart");
        assert_ne!(ours(&before), ours(&after));
    }

    #[test]
    fn pairs_that_cancel_are_another_path() {
        let mut before = stacks();
        let mut after = before.clone();
        // The same call at places ten apart: its XOR is 0, whatever it calls.
        (before[4], before[14]) = (1111, 1111);
        (after[4], after[14]) = (2222, 2222);
        assert_eq!(theirs(&before), theirs(&after), "the paper's signature cannot tell them apart");
        assert_ne!(ours(&before), ours(&after));
    }

    #[test]
    fn numbers_of_symbols_and_loop_counts_do_not_matter() {
        let (mut one, mut other) = (Rolling::new(), Rolling::new());
        for (rolling, symbols, counts) in [(&mut one, [0, 1], [1, 2, 3]), (&mut other, [5, 3], [4, 1, 1])] {
            rolling.know(symbols[0], 77);
            rolling.know(symbols[1], 99);
            for count in counts {
                (0..count).for_each(|_| rolling.event(symbols[0], Some(1), None, 0));
                rolling.event(symbols[1], None, Some(-1), 0);
            }
        }
        let (one, other) = (one.end(), other.end());
        assert_eq!(one, other);
        assert_eq!((one.source.value(), one.dest.value()), (Some(1.0), Some(-1.0)));
    }

    #[test]
    fn symbols_of_an_interval_that_repeats_are_steady() {
        let mut rolling = Rolling::new();
        (0..3).for_each(|symbol| rolling.know(symbol, u128::from(symbol) + 1));
        let interval = |rolling: &mut Rolling, symbols: &[u32]| {
            symbols.iter().for_each(|symbol| rolling.event(*symbol, None, None, 0));
            rolling.end();
            (rolling.repeats(), [0, 1, 2].map(|symbol| rolling.is_steady(symbol)))
        };
        assert_eq!(interval(&mut rolling, &[0, 1]), (false, [false; 3]));
        assert_eq!(interval(&mut rolling, &[0, 1, 0, 1]), (true, [true, true, false]));
        assert_eq!(interval(&mut rolling, &[2]), (false, [true, true, false]));
        assert_eq!(interval(&mut rolling, &[2, 2]), (true, [false, false, true]));
        assert!(!rolling.is_steady(1000));
    }

    #[test]
    fn the_mean_of_nothing_is_apart() {
        let (none, zero) = (Mean::default(), Mean { sum: 0, n: 3 });
        assert!(none < zero && none != zero && none == Mean { sum: 0, n: 0 });
        assert_eq!((none.distance(none), none.distance(zero), zero.distance(none)), (0.0, 1.0, 1.0));
        assert!(Mean { sum: i128::MIN, n: 1 } < Mean { sum: i128::MIN, n: u64::MAX });
        assert_eq!(Mean { sum: i128::MAX - 1, n: 2 }, Mean { sum: (i128::MAX - 1) / 2, n: 1 });
    }

    proptest! {
        #[test]
        fn means_compare_as_fractions(a in -1000_i64..1000, b in 1_u64..50, c in -1000_i64..1000, d in 1_u64..50) {
            let (one, other) = (Mean { sum: a.into(), n: b }, Mean { sum: c.into(), n: d });
            prop_assert_eq!(one.cmp(&other), (a * d as i64).cmp(&(c * b as i64)));
            prop_assert_eq!(one == other, one.distance(other) == 0.0);
        }
    }
}
