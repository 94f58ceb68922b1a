//! Call paths: where in the program itself a call is made, and which function
//! computes between two calls.

use std::collections::{BTreeMap, BTreeSet};

use likewise_recording::{Frame, Module, Recording};

use super::source::{Source, base};
use super::spots::{Spot, Spots, tell_apart};

/// Files whose frames are no part of the program: MPI, the C library, the
/// libraries of compilers, what MPI itself is made of, and what records.
const LIBRARIES: [&str; 26] = [
    "libmpi",
    "libpmpi",
    "libmpich",
    "libpmpich",
    "libfmpich",
    "libopen-rte",
    "libopen-pal",
    "libmpifort",
    "libmpicxx",
    "libc.so",
    "libc-",
    "libm.so",
    "libpthread",
    "libdl.",
    "librt.",
    "ld-linux",
    "ld-musl",
    "libgcc_s",
    "libstdc++",
    "libgfortran",
    "libgomp",
    "libquadmath",
    "libucp",
    "libuct",
    "libfabric",
    "liblikewise",
];

/// What calls `main`, or the function of a thread.
const STARTERS: [&str; 6] =
    ["_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "clone", "clone3"];

/// The call paths of a recording, of each the part that is the program's own.
#[derive(Debug)]
pub(super) struct Paths {
    /// Frames with the spots in each, the innermost first.
    all: BTreeMap<u32, Vec<Spots>>,
}

impl Paths {
    /// All of a recording.
    pub(super) fn of(recording: &Recording, source: &mut Source) -> Self {
        let mut calls: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
        for symbol in recording.symbols() {
            calls.entry(symbol.path).or_default().insert(symbol.call.name());
        }
        let modules = recording.modules();
        let path = |&number: &u32| (number, own(&recording.frames(number), modules, source));
        let mut all = calls.keys().map(path).collect();
        tell_apart(&mut all, &calls);
        Self { all }
    }

    /// Where the program makes the call: its frames, the innermost first.
    pub(super) fn callers(&self, path: u32) -> impl Iterator<Item = &Spot> {
        self.all.get(&path).into_iter().flatten().flat_map(|(_, spots)| spots)
    }

    /// Where in the program itself the call is made.
    pub(super) fn caller(&self, path: u32) -> Option<&Spot> {
        self.callers(path).next()
    }

    /// The function that computes between two calls: the innermost one that
    /// has made both, with the spot from which it came to the second.
    ///
    /// A function that it called meanwhile, and that makes no call to MPI,
    /// leaves no trace in either path.
    pub(super) fn between(&self, before: u32, after: u32) -> Option<&Spot> {
        let (before, after) = (self.all.get(&before)?, self.all.get(&after)?);
        let mut common = None;
        for ((frame, theirs), (other, ours)) in before.iter().rev().zip(after.iter().rev()) {
            if frame != other {
                return inlined_alike(frame.module == other.module, theirs, ours).or(common);
            }
            common = ours.first();
        }
        common
    }
}

/// The innermost function that is in both frames: they are the same function,
/// or not, and functions that were inlined into it may be the same too.
fn inlined_alike<'s>(same_module: bool, theirs: &[Spot], ours: &'s [Spot]) -> Option<&'s Spot> {
    let mut common = None;
    for (their, our) in theirs.iter().rev().zip(ours.iter().rev()) {
        if !same_module || their.location.function != our.location.function {
            break;
        }
        common = Some(our);
        if their != our {
            break;
        }
    }
    common
}

/// The frames of a path that are the program's own.
fn own(frames: &[Frame], modules: &[Module], source: &mut Source) -> Vec<Spots> {
    let foreign = |frame: &Frame| {
        let module = modules.get(frame.module as usize);
        module.is_some_and(|module| is_library(base(&module.path)))
    };
    let inner = frames.iter().take_while(|&frame| foreign(frame)).count();
    let outer = frames[inner..].iter().rev().take_while(|&frame| foreign(frame)).count();
    // A call that the program does not make itself: then by whom it is made.
    let own = if inner == frames.len() { frames } else { &frames[inner..frames.len() - outer] };
    let mut spots = |&frame: &Frame| {
        let spot = |location| Spot { location, call: String::new() };
        (frame, source.locations(frame).iter().cloned().map(spot).collect())
    };
    let mut own: Vec<Spots> = own.iter().map(&mut spots).collect();
    let starts = |spots: &[Spot]| spots.iter().all(|spot| STARTERS.contains(&&*spot.location.function));
    while own.len() > 1 && own.last().is_some_and(|(_, spots)| starts(spots)) {
        own.pop();
    }
    own
}

fn is_library(file: &str) -> bool {
    LIBRARIES.iter().any(|library| file.starts_with(library))
}

#[cfg(test)]
mod tests {
    use super::super::source::Location;
    use super::*;

    fn path(frames: &[(u64, &[&str])]) -> Vec<Spots> {
        let spot = |(i, function): (usize, &&str)| {
            let (function, file) = ((*function).to_owned(), "a.c".to_owned());
            let location = Location { function, file, line: i as u32 + 1, column: 1 };
            Spot { location, call: String::new() }
        };
        let own = frames.iter().map(|&(offset, functions)| {
            (Frame { module: 0, offset }, functions.iter().enumerate().map(spot).collect())
        });
        own.collect()
    }

    fn between(before: &[(u64, &[&str])], after: &[(u64, &[&str])]) -> Option<String> {
        let paths = Paths { all: BTreeMap::from([(0, path(before)), (1, path(after))]) };
        paths.between(0, 1).map(|spot| spot.location.function.clone())
    }

    #[test]
    fn the_function_that_computes_made_both_calls() {
        let main: (u64, &[&str]) = (10, &["main"]);
        let is = |before: &[(u64, &[&str])], after: &[(u64, &[&str])], function: &str| {
            assert_eq!(between(before, after).as_deref(), Some(function));
        };
        // Two calls in one function, called from one place.
        is(&[(1, &["step"]), main], &[(2, &["step"]), main], "step");
        // The same call again.
        is(&[(1, &["step"]), main], &[(1, &["step"]), main], "step");
        // Two functions that main calls at two places.
        is(&[(1, &["send"]), (11, &["main"])], &[(5, &["sum"]), (12, &["main"])], "main");
        // From one place, through a pointer.
        is(&[(1, &["send"]), main], &[(5, &["sum"]), main], "main");
        assert_eq!(between(&[(1, &["f"])], &[(2, &["g"])]), None);
        assert_eq!(between(&[], &[(2, &["g"])]), None);
    }

    #[test]
    fn inlined_functions_count_as_functions() {
        // Both calls are in `inner`, inlined into `main` at one line.
        let a: (u64, &[&str]) = (1, &["inner", "main"]);
        let b: (u64, &[&str]) = (2, &["inner", "main"]);
        assert_eq!(between(&[a], &[b]).as_deref(), Some("inner"));
        let c: (u64, &[&str]) = (3, &["other", "main"]);
        assert_eq!(between(&[a], &[c]).as_deref(), Some("main"));
    }

    #[test]
    fn libraries_are_known_by_their_files() {
        let is = ["libmpi.so.40", "libc.so.6", "libstdc++.so.6", "liblikewise_preload.so"].map(is_library);
        let not = ["libmylib.so", "lmp", "libcalc.so", "libmkl_core.so"].map(is_library);
        assert_eq!((is, not), ([true; 4], [false; 4]));
    }
}
