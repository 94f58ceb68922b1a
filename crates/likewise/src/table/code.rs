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

/// A call path, by its number from 0: the call that ends a burst, the call of the function that
/// makes it, and so on as far as callers are known. Calls have the same number if all of these are
/// the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PathId(pub u32);

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

/// The region of each burst, and the path of the call that ends it. Bursts share few of these, so
/// each has the number of its own in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    of_burst: Vec<u32>,
    /// Places in the list of regions, and paths that end there.
    ends: Vec<(u32, Option<PathId>)>,
    /// In the order in which they first occur.
    list: Vec<Region>,
    /// The place of each in the list.
    places: FxHashMap<Region, u32>,
    /// That of each among the ends.
    numbers: FxHashMap<(Region, Option<PathId>), u32>,
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
        self.list[self.place(i)]
    }

    /// The place of burst `i`'s region in [`Self::list`].
    ///
    /// # Panics
    /// If there is no such burst.
    #[must_use]
    pub fn place(&self, i: usize) -> usize {
        self.ends[self.of_burst[i] as usize].0 as usize
    }

    /// The path of the call that ends burst `i`, where it is known.
    ///
    /// # Panics
    /// If there is no such burst.
    #[must_use]
    pub fn path(&self, i: usize) -> Option<PathId> {
        self.ends[self.of_burst[i] as usize].1
    }

    /// The regions that bursts have, each once.
    #[must_use]
    pub fn list(&self) -> &[Region] {
        &self.list
    }

    /// All regions, in burst order.
    pub fn iter(&self) -> impl Iterator<Item = Region> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// What bursts have, each once: the region, and the path of the call that ends it.
    pub fn ends(&self) -> impl ExactSizeIterator<Item = (Region, Option<PathId>)> + '_ {
        self.ends.iter().map(|&(place, path)| (self.list[place as usize], path))
    }

    /// The place of what burst `i` has among [`Self::ends`].
    ///
    /// # Panics
    /// If there is no such burst.
    #[must_use]
    pub fn end(&self, i: usize) -> u32 {
        self.of_burst[i]
    }
}

impl Extend<(Region, Option<PathId>)> for Regions {
    fn extend<I: IntoIterator<Item = (Region, Option<PathId>)>>(&mut self, regions: I) {
        for (region, path) in regions {
            let number = *self.numbers.entry((region, path)).or_insert_with(|| {
                let place = *self.places.entry(region).or_insert_with(|| {
                    self.list.push(region);
                    self.list.len() as u32 - 1
                });
                self.ends.push((place, path));
                self.ends.len() as u32 - 1
            });
            self.of_burst.push(number);
        }
    }
}

impl Extend<Region> for Regions {
    fn extend<I: IntoIterator<Item = Region>>(&mut self, regions: I) {
        self.extend(regions.into_iter().map(|region| (region, None)));
    }
}

impl FromIterator<(Region, Option<PathId>)> for Regions {
    fn from_iter<I: IntoIterator<Item = (Region, Option<PathId>)>>(regions: I) -> Self {
        let mut all = Self::default();
        all.extend(regions);
        all
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
            bursts in prop::collection::vec((0..3usize, 0..3usize, 0..3u32), 0..40), cut in 0..40usize,
        ) {
            let place = |i: usize| i.checked_sub(1).and_then(PlaceId::from_index);
            let region = |&(before, after, path): &(usize, usize, u32)| {
                let region = Region { before: place(before), after: place(after), function: None };
                (region, path.checked_sub(1).map(PathId))
            };
            let expected: Vec<(Region, Option<PathId>)> = bursts.iter().map(region).collect();
            let (first, second) = expected.split_at(cut.min(expected.len()));
            let mut regions: Regions = first.iter().copied().collect();
            regions.extend(second.iter().copied());
            prop_assert!(regions.iter().eq(expected.iter().map(|own| own.0)));
            prop_assert!((0..expected.len()).map(|i| regions.path(i)).eq(expected.iter().map(|own| own.1)));
            let ends: Vec<_> = regions.ends().collect();
            prop_assert!((0..expected.len()).all(|i| ends[regions.end(i) as usize] == expected[i]));
            let by_place = (0..regions.len()).map(|i| regions.list()[regions.place(i)]);
            prop_assert!(by_place.eq((0..expected.len()).map(|i| regions.get(i))));
            let mut list = regions.list().to_vec();
            list.sort_unstable();
            prop_assert!(list.windows(2).all(|pair| pair[0] < pair[1]), "each once");
            prop_assert_eq!(regions, expected.into_iter().collect());
        }
    }
}
