//! Where in the source bursts lie.

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
    pub regions: Vec<Region>,
    /// Whether the bursts are those of an OpenMP program: a region's function
    /// is the parallel one that the burst runs, and none is outside of all.
    pub parallel: bool,
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
