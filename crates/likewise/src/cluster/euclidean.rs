//! How far apart vectors are.

use crate::simd::{Isa, LANES, Width, Work, up_to};

/// The sum of the squares of the differences of `a` and `b`, which are equally
/// long.
///
/// # Panics
/// If they are not.
#[must_use]
#[inline]
pub fn squared_euclidean(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "vectors of different lengths");
    // Few numbers are added before a function is called.
    if a.len() < 2 * LANES {
        return sum(a, b);
    }
    // Vectors that are this short gain nothing from AVX-512.
    up_to(Width::Avx2, Sum(a, b))
}

struct Sum<'a>(&'a [f64], &'a [f64]);

impl Work for Sum<'_> {
    type Out = f64;

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, _: I) -> f64 {
        sum(self.0, self.1)
    }
}

/// In `LANES` partial sums: an addition need not wait for the one before, and
/// they fill a register of any width. Which coordinate goes into which sum is
/// the same on every machine, and so is the result.
#[inline(always)]
fn sum(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            let difference = a[lane] - b[lane];
            sums[lane] += difference * difference;
        }
    }
    let [s0, s1, s2, s3, s4, s5, s6, s7] = sums;
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| (a - b) * (a - b)).sum();
    (((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))) + rest
}

/// The Euclidean distance of `a` and `b`, which are equally long.
///
/// # Panics
/// If they are not.
#[must_use]
#[inline]
pub fn euclidean(a: &[f64], b: &[f64]) -> f64 {
    squared_euclidean(a, b).sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_the_plain_sum(pairs in prop::collection::vec((-1e3f64..1e3, -1e3f64..1e3), 0..70)) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            let plain: f64 = pairs.iter().map(|(x, y)| (x - y) * (x - y)).sum();
            prop_assert!((squared_euclidean(&a, &b) - plain).abs() <= 1e-12 * plain);
            prop_assert_eq!(euclidean(&a, &b), squared_euclidean(&a, &b).sqrt());
        }
    }
}
