//! Where in the source bursts lie.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// A place in the source, by its number from 1: a call site or a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlaceId(NonZeroU32);

impl PlaceId {
    /// The place at that index, counted from 0; `None` if there are more than
    /// a `u32` can number.
    #[must_use]
    pub fn from_index(index: usize) -> Option<Self> {
        u32::try_from(index).ok()?.checked_add(1).and_then(NonZeroU32::new).map(Self)
    }

    /// Its index, from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// What surrounds a burst: the code between two calls to the runtime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region {
    /// The last call that its thread made until the burst began.
    pub before: Option<PlaceId>,
    /// The first call that it makes from the burst's end on: as a rule, the
    /// one that ends it.
    pub after: Option<PlaceId>,
    /// The innermost instrumented function that it ends in.
    pub function: Option<PlaceId>,
}

/// The source of every burst.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// Names of the places, such as `do_send2d (redblack.F90:71)`, ascending;
    /// untrusted text.
    pub places: Vec<String>,
    /// One region per burst.
    pub regions: Regions,
    /// Whether the bursts are those of an OpenMP program: a region's function
    /// is the parallel one that the burst runs, and none is outside of all.
    pub parallel: bool,
}

/// The region of each burst. Bursts share few regions, so each has the number of
/// its own in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    of_burst: Vec<u32>,
    /// In the order in which they first occur.
    list: Vec<Region>,
    /// The place of each in the list.
    places: FxHashMap<Region, u32>,
}

impl Regions {
    /// None yet, and room for so many bursts.
    #[must_use]
    pub fn with_room(n: usize) -> Self {
        Self { of_burst: Vec::with_capacity(n), ..Self::default() }
    }

    /// As many as bursts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.of_burst.len()
    }

    /// Whether there is no burst.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of_burst.is_empty()
    }

    /// The region of burst `i`.
    ///
    /// # Panics
    /// If there is no such burst.
    #[must_use]
    pub fn get(&self, i: usize) -> Region {
        self.list[self.of_burst[i] as usize]
    }

    /// The place of burst `i`'s region in [`Self::list`].
    ///
    /// # Panics
    /// If there is no such burst.
    #[must_use]
    pub fn place(&self, i: usize) -> usize {
        self.of_burst[i] as usize
    }

    /// The regions that bursts have, each once.
    #[must_use]
    pub fn list(&self) -> &[Region] {
        &self.list
    }

    /// All regions, in burst order.
    pub fn iter(&self) -> impl Iterator<Item = Region> + '_ {
        self.of_burst.iter().map(|&place| self.list[place as usize])
    }
}

impl Extend<Region> for Regions {
    fn extend<I: IntoIterator<Item = Region>>(&mut self, regions: I) {
        for region in regions {
            let place = *self.places.entry(region).or_insert_with(|| {
                self.list.push(region);
                self.list.len() as u32 - 1
            });
            self.of_burst.push(place);
        }
    }
}

impl FromIterator<Region> for Regions {
    fn from_iter<I: IntoIterator<Item = Region>>(regions: I) -> Self {
        let mut all = Self::default();
        all.extend(regions);
        all
    }
}

impl Code {
    /// A place's name.
    ///
    /// # Panics
    /// If the place is not of this table.
    #[must_use]
    pub fn name(&self, place: PlaceId) -> &str {
        &self.places[place.index()]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn regions_are_those_that_were_put_in(
            bursts in prop::collection::vec((0..3usize, 0..3usize), 0..40), cut in 0..40usize,
        ) {
            let place = |i: usize| i.checked_sub(1).and_then(PlaceId::from_index);
            let region = |&(before, after): &(usize, usize)| {
                Region { before: place(before), after: place(after), function: None }
            };
            let expected: Vec<Region> = bursts.iter().map(region).collect();
            let (first, second) = expected.split_at(cut.min(expected.len()));
            let mut regions: Regions = first.iter().copied().collect();
            regions.extend(second.iter().copied());
            prop_assert_eq!(regions.iter().collect::<Vec<_>>(), expected.clone());
            let by_place = (0..regions.len()).map(|i| regions.list()[regions.place(i)]);
            prop_assert!(by_place.eq((0..expected.len()).map(|i| regions.get(i))));
            let mut list = regions.list().to_vec();
            list.sort_unstable();
            prop_assert!(list.windows(2).all(|pair| pair[0] < pair[1]), "each once");
            prop_assert_eq!(regions, expected.into_iter().collect());
        }
    }
}
