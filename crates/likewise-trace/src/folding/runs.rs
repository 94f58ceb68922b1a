//! Which counters the bursts of a thread carry.

use serde::{Deserialize, Serialize};

/// The types of every burst's counters, ascending. Most bursts carry the same
/// as the burst before, so types stand once for bursts in a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Runs {
    runs: Vec<Run>,
    types: Vec<u32>,
}

/// How many bursts in a row carry the same counters, and how many these are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Run {
    bursts: usize,
    types: usize,
}

/// What one burst carries: types, and where their sums begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried<'t> {
    pub(crate) types: &'t [u32],
    pub(crate) first: usize,
}

impl Runs {
    /// Adds a burst.
    #[inline]
    pub(super) fn add(&mut self, types: &[u32]) {
        self.add_run(1, types);
    }

    fn add_run(&mut self, bursts: usize, types: &[u32]) {
        match self.runs.last_mut() {
            Some(run) if run.types == types.len() && self.types.ends_with(types) => run.bursts += bursts,
            _ => {
                self.runs.push(Run { bursts, types: types.len() });
                self.types.extend_from_slice(types);
            }
        }
    }

    /// Whether no burst carries any.
    pub(crate) fn are_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// How many bursts there are.
    pub(super) fn len(&self) -> usize {
        self.runs.iter().map(|run| run.bursts).sum()
    }

    pub(super) fn append(&mut self, other: &Runs) {
        other.iter().for_each(|(bursts, types)| self.add_run(bursts, types));
    }

    /// Bursts in a row with the types of each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let mut rest = &self.types[..];
        self.runs.iter().map(move |run| {
            let (types, others) = rest.split_at(run.types);
            rest = others;
            (run.bursts, types)
        })
    }

    /// What each burst carries.
    pub(super) fn bursts(&self) -> impl Iterator<Item = Carried<'_>> {
        let each = self.iter().flat_map(|(bursts, types)| std::iter::repeat_n(types, bursts));
        each.scan(0, |first, types| {
            let carried = Carried { types, first: *first };
            *first += types.len();
            Some(carried)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_burst_has_its_types(bursts in proptest::collection::vec(0..4usize, 0..30), cut in 0..30usize) {
            const KINDS: [&[u32]; 4] = [&[], &[7], &[3, 7], &[1, 3, 7]];
            let expected: Vec<&[u32]> = bursts.iter().map(|&kind| KINDS[kind]).collect();
            let of = |some: &[&[u32]]| {
                let mut runs = Runs::default();
                some.iter().for_each(|types| runs.add(types));
                runs
            };
            let all = of(&expected);
            let (first, second) = expected.split_at(cut.min(expected.len()));
            let mut joined = of(first);
            joined.append(&of(second));
            prop_assert_eq!(&joined, &all);
            prop_assert_eq!(all.len(), expected.len());
            let mut sums = 0;
            for (carried, types) in all.bursts().zip(&expected) {
                prop_assert_eq!((carried.types, carried.first), (*types, sums));
                sums += types.len();
            }
        }
    }
}
