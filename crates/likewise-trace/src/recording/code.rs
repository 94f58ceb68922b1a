//! Where in the source bursts lie, by the call paths around them.

use likewise::table::{PathId, PlaceId};
use likewise_recording::Recording;

use super::paths::Paths;
use super::source::Source;
use super::spots::Spot;
use crate::folding::table::Places;

/// A place as the events tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Site {
    /// Where a call path leaves the program.
    Call(u32),
    /// The function that computes between two of them.
    Between(u32, u32),
}

/// What the sites are. A call path is its frames in the program itself, by their names: copies of
/// one call that a compiler made are one, and what a library does within a call is no part of it.
pub(super) fn places(sites: &[Site], recording: &Recording, source: &mut Source) -> Places {
    let paths = Paths::of(recording, source);
    let name = |site: &Site| match *site {
        Site::Call(path) => paths.caller(path).map(Spot::name),
        Site::Between(before, after) => paths.between(before, after).map(|spot| spot.name()),
    };
    let all: Vec<Option<String>> = sites.iter().map(name).collect();
    let (names, of_sites) = numbered(&all, PlaceId::from_index);
    let callers = |site: &Site| match *site {
        Site::Call(path) => paths.names(path),
        Site::Between(..) => None,
    };
    let all: Vec<Option<Vec<String>>> = sites.iter().map(callers).collect();
    let (_, paths) = numbered(&all, |path| u32::try_from(path).ok().map(PathId));
    Places { names, of_sites, paths }
}

/// What there is in ascending order, and the number of each.
fn numbered<T: Ord + Clone, N>(
    all: &[Option<T>],
    number: impl Fn(usize) -> Option<N>,
) -> (Vec<T>, Vec<Option<N>>) {
    let mut there: Vec<T> = all.iter().flatten().cloned().collect();
    there.sort_unstable();
    there.dedup();
    let own = |own: &T| there.binary_search(own).ok().and_then(&number);
    let numbers = all.iter().map(|one| one.as_ref().and_then(own)).collect();
    (there, numbers)
}
