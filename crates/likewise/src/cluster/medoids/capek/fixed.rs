//! Sums of reals that do not depend on the order.

/// Reals as whole numbers of a quantum, so small that the sum of all objects'
/// still fits: sums of these are the same in any order and partition. With n
/// reals of at most m, the quantum is at most max(n, 1024)·m·2⁻⁶¹.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed {
    scale: f64,
    largest: f64,
}

impl Fixed {
    /// For sums of up to `n` reals of at most `largest` in size.
    pub(super) fn new(n: u64, largest: f64) -> Self {
        // One real alone is to be at most 2⁵¹ quanta: see `of`.
        let bound = n.max(1 << 10) as f64 * largest.max(f64::MIN_POSITIVE);
        // A power of two, so that scaling loses nothing.
        let exponent = (61.0 - bound.log2().ceil()).clamp(-1000.0, 1000.0);
        Self { scale: exponent.exp2(), largest }
    }

    /// The largest of the reals.
    pub(super) fn largest(self) -> f64 {
        self.largest
    }

    /// Rounded to even, for a `value` of at most the largest in size.
    pub(super) fn of(self, value: f64) -> i64 {
        // Between 2⁵² and 2⁵³ the reals are the whole numbers, and so are their
        // bits, from one on: this is what vectors of numbers can do at once.
        const MIDDLE: f64 = 1.5 * (1u64 << 52) as f64;
        let shifted = value * self.scale + MIDDLE;
        shifted.to_bits().wrapping_sub(MIDDLE.to_bits()) as i64
    }

    pub(super) fn value(self, sum: i64) -> f64 {
        sum as f64 / self.scale
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_rounded_to_even(value in -1e3f64..1e3, n in 1u64..1 << 40) {
            let fixed = Fixed::new(n, 1e3);
            prop_assert_eq!(fixed.of(value), (value * fixed.scale).round_ties_even() as i64);
            prop_assert_eq!(fixed.of(1e3), (1e3 * fixed.scale) as i64);
            prop_assert_eq!(fixed.of(-1e3), -fixed.of(1e3));
        }

        #[test]
        fn sums_are_near_and_do_not_depend_on_the_order(values in prop::collection::vec(-1e3f64..1e3, 1..100)) {
            let fixed = Fixed::new(values.len() as u64, 1e3);
            let sum: i64 = values.iter().map(|&x| fixed.of(x)).sum();
            let plain: f64 = values.iter().sum();
            prop_assert!((fixed.value(sum) - plain).abs() <= 1e-9);
        }
    }
}
