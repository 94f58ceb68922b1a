//! Uniform samples that any process can draw for itself.

use std::collections::BTreeSet;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// `size` of the numbers below `n`, distinct, ascending, every set equally
/// likely; all of them, if there are no more.
///
/// A function of its arguments alone: who draws trial 7 has not drawn the six
/// before, and how many ranks there are has no say.
///
/// # Complexity
/// O(s log s) for a size of s, whatever n.
///
/// # Reference
/// Floyd's algorithm: Bentley & Floyd, *CACM* 30(9), 1987. The numbers are
/// xoshiro256++'s (Blackman & Vigna, 2021), its state filled by SplitMix64
/// from a hash of seed and trial; brought below a bound without bias as in
/// Lemire, *ACM TOMACS* 29(1), 2019.
#[must_use]
pub fn subset(n: u64, size: usize, seed: u64, trial: u64) -> Vec<u64> {
    if size as u64 >= n {
        return (0..n).collect();
    }
    let hash = mix(mix(seed).wrapping_add(trial));
    floyd(n, size, &mut Xoshiro256PlusPlus::seed_from_u64(hash))
}

/// A number in `0..1` for each number, uniform, and a function of both.
pub(in crate::cluster) fn chance(seed: u64, number: u64) -> f64 {
    (mix(mix(seed) ^ number) >> 11) as f64 / (1u64 << 53) as f64
}

/// One step of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// `size ≤ n` of the numbers below `n`.
pub(super) fn floyd(n: u64, size: usize, rng: &mut (impl Rng + ?Sized)) -> Vec<u64> {
    let mut chosen = BTreeSet::new();
    for last in n - size as u64..n {
        let drawn = below(last + 1, rng);
        if !chosen.insert(drawn) {
            chosen.insert(last);
        }
    }
    chosen.into_iter().collect()
}

/// Uniform in `0..n`.
fn below(n: u64, rng: &mut (impl Rng + ?Sized)) -> u64 {
    // The 2⁶⁴ mod n lowest remainders would come once too often.
    let threshold = n.wrapping_neg() % n;
    loop {
        let wide = u128::from(rng.next_u64()) * u128::from(n);
        if wide as u64 >= threshold {
            return (wide >> 64) as u64;
        }
    }
}
