//! Where in the source bursts lie, by the call paths around them.

use likewise::table::PlaceId;
use likewise_recording::Recording;

use super::paths::Paths;
use super::source::Source;
use super::spots::Spot;

/// A place as the events tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Site {
    /// Where a call path leaves the program.
    Call(u32),
    /// The function that computes between two of them.
    Between(u32, u32),
}

/// Names of places in ascending order, and which of them each site is.
pub(super) fn places(
    sites: &[Site],
    recording: &Recording,
    source: &mut Source,
) -> (Vec<String>, Vec<Option<PlaceId>>) {
    let paths = Paths::of(recording, source);
    let name = |site: &Site| match *site {
        Site::Call(path) => paths.caller(path).map(Spot::name),
        Site::Between(before, after) => paths.between(before, after).map(|spot| spot.name()),
    };
    let names: Vec<Option<String>> = sites.iter().map(name).collect();
    let mut places: Vec<String> = names.iter().flatten().cloned().collect();
    places.sort_unstable();
    places.dedup();
    let place = |name: &String| places.binary_search(name).ok().and_then(PlaceId::from_index);
    let map = names.iter().map(|name| name.as_ref().and_then(place)).collect();
    (places, map)
}
