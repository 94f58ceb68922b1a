//! How often units do each phase.

use std::collections::BTreeMap;

/// Two neighbouring stretches are joined if the counts of a phase, over both
/// together, differ by at most this share of what they differ by in each.
pub(super) const EVEN: f64 = 0.5;

/// Of each phase, how often each unit does it.
pub(super) type Counts = BTreeMap<u32, ByUnit>;

/// How often units do something, ascending; those that do not are left out.
pub(super) type ByUnit = Vec<(u32, f64)>;

pub(super) fn sum(counts: &ByUnit) -> f64 {
    counts.iter().map(|(_, count)| count).sum()
}

/// The sums of two counts.
pub(super) fn both(a: &ByUnit, b: &ByUnit) -> ByUnit {
    let mut both = Vec::with_capacity(a.len().max(b.len()));
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(first), Some(second)) = (a.peek(), b.peek()) {
        let (unit, other) = (first.0, second.0);
        let of_first = a.next_if(|_| unit <= other).map_or(0.0, |of| of.1);
        let of_second = b.next_if(|_| other <= unit).map_or(0.0, |of| of.1);
        both.push((unit.min(other), of_first + of_second));
    }
    both.extend(a.chain(b));
    both
}

/// Of pairs of a phase and a unit; there is a place for each that may be.
pub(super) fn dense(pairs: impl Iterator<Item = (u32, u32)>, n_units: usize) -> Counts {
    let mut counts: Vec<u32> = Vec::new();
    for (phase, unit) in pairs {
        let phase = phase as usize;
        if counts.len() <= phase * n_units {
            counts.resize((phase + 1) * n_units, 0);
        }
        counts[phase * n_units + unit as usize] += 1;
    }
    let of_phase = |(phase, counts): (u32, &[u32])| {
        let units = (0..).zip(counts).filter(|(_, count)| **count > 0);
        let units: ByUnit = units.map(|(unit, &count)| (unit, f64::from(count))).collect();
        (!units.is_empty()).then_some((phase, units))
    };
    (0..).zip(counts.chunks(n_units)).filter_map(of_phase).collect()
}

/// Of pairs of a phase and a unit, where few of those that may be occur.
pub(super) fn sparse(pairs: impl Iterator<Item = (u32, u32)>) -> Counts {
    let mut pairs: Vec<(u32, u32)> = pairs.collect();
    pairs.sort_unstable();
    let of_phase = |pairs: &[(u32, u32)]| {
        let units = pairs.chunk_by(|a, b| a == b);
        (pairs[0].0, units.map(|unit| (unit[0].1, unit.len() as f64)).collect())
    };
    pairs.chunk_by(|a, b| a.0 == b.0).map(of_phase).collect()
}

/// By how much the counts of `n` threads differ from their mean, in all.
pub(super) fn uneven(counts: &ByUnit, n: f64) -> f64 {
    let mean = sum(counts) / n;
    counts.iter().map(|(_, count)| (count - mean).abs()).sum::<f64>() + (n - counts.len() as f64) * mean
}

/// Whether `n` threads do a phase about as often as one another in two
/// stretches together, but not in either.
pub(super) fn evens_out(a: &ByUnit, b: &ByUnit, n: f64) -> bool {
    let apart = [a, b].map(|counts| uneven(counts, n));
    apart.iter().all(|&apart| apart > 1e-9) && uneven(&both(a, b), n) <= EVEN * (apart[0] + apart[1])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By looking each pair up.
    fn reference(pairs: &[(u32, u32)]) -> BTreeMap<u32, BTreeMap<u32, f64>> {
        let mut counts: BTreeMap<u32, BTreeMap<u32, f64>> = BTreeMap::new();
        for &(phase, unit) in pairs {
            *counts.entry(phase).or_default().entry(unit).or_insert(0.0) += 1.0;
        }
        counts
    }

    fn flat(counts: BTreeMap<u32, BTreeMap<u32, f64>>) -> Counts {
        counts.into_iter().map(|(phase, units)| (phase, units.into_iter().collect())).collect()
    }

    proptest! {
        #[test]
        fn equals_looking_each_pair_up(pairs in prop::collection::vec((0..5u32, 0..7u32), 0..60)) {
            let expected = flat(reference(&pairs));
            prop_assert_eq!(dense(pairs.iter().copied(), 7), expected.clone());
            prop_assert_eq!(sparse(pairs.iter().copied()), expected);
        }

        #[test]
        fn two_counts_add_up(
            a in prop::collection::vec((0..1u32, 0..9u32), 1..40),
            b in prop::collection::vec((0..1u32, 0..9u32), 1..40),
        ) {
            let of = |pairs: &[(u32, u32)]| sparse(pairs.iter().copied()).remove(&0).unwrap_or_default();
            prop_assert_eq!(both(&of(&a), &of(&b)), of(&[a.clone(), b.clone()].concat()));
        }
    }
}
