//! Sums of counters, in four bytes where these hold them.

use serde::{Deserialize, Serialize};

/// The sums of the counters of bursts, in a row: four bytes each until the first that is
/// negative or larger, as most counts of single bursts are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Sums {
    Small(Vec<u32>),
    Any(Vec<i64>),
}

impl Default for Sums {
    fn default() -> Self {
        Self::Small(Vec::new())
    }
}

impl Sums {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Small(all) => all.len(),
            Self::Any(all) => all.len(),
        }
    }

    pub(crate) fn get(&self, i: usize) -> i64 {
        match self {
            Self::Small(all) => all[i].into(),
            Self::Any(all) => all[i],
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, sum: i64) {
        match (&mut *self, u32::try_from(sum)) {
            (Self::Small(all), Ok(sum)) => all.push(sum),
            (Self::Any(all), _) => all.push(sum),
            (Self::Small(_), Err(_)) => self.widened().push(sum),
        }
    }

    /// Makes room for `n` sums, if there is none yet.
    #[inline]
    pub(super) fn make_room(&mut self, n: usize) {
        if let Self::Small(all) = self
            && all.capacity() == 0
        {
            all.reserve(n);
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Small(all), Self::Small(mut other)) => append(all, &mut other),
            (Self::Any(all), Self::Any(mut other)) => append(all, &mut other),
            (Self::Any(all), Self::Small(other)) => {
                append(all, &mut other.into_iter().map(i64::from).collect())
            }
            (Self::Small(_), Self::Any(mut other)) => append(self.widened(), &mut other),
        }
    }

    fn widened(&mut self) -> &mut Vec<i64> {
        if let Self::Small(all) = self {
            *self = Self::Any(all.iter().copied().map(i64::from).collect());
        }
        match self {
            Self::Any(all) => all,
            Self::Small(_) => unreachable!("they were widened"),
        }
    }
}

/// Moves all to the end of others. Room is made for a quarter more than there are: the pieces
/// of a thread are many, and all that it does not need in the end is memory.
pub(super) fn append<T>(to: &mut Vec<T>, from: &mut Vec<T>) {
    if to.capacity() - to.len() < from.len() {
        to.reserve_exact(from.len().max(to.len() / 4));
    }
    to.append(from);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// In whatever pieces they come, and from whichever on they are large.
        #[test]
        fn sums_are_as_they_were_added(
            pieces in proptest::collection::vec(
                proptest::collection::vec(prop_oneof![4 => 0..9_i64, 1 => any::<u32>().prop_map(i64::from), 1 => any::<i64>()], 0..9),
                0..9,
            ),
        ) {
            let of = |piece: &Vec<i64>| {
                let mut sums = Sums::default();
                piece.iter().for_each(|&sum| sums.push(sum));
                sums
            };
            let all = pieces.concat();
            let mut joined = Sums::default();
            pieces.iter().for_each(|piece| joined.append(of(piece)));
            prop_assert_eq!(joined.len(), all.len());
            let back: Vec<i64> = (0..joined.len()).map(|i| joined.get(i)).collect();
            prop_assert_eq!(&back, &all);
            prop_assert_eq!(&joined, &of(&all));
            let fits = all.iter().all(|&sum| u32::try_from(sum).is_ok());
            prop_assert_eq!(matches!(joined, Sums::Small(_)), fits);
        }
    }
}
