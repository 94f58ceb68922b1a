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

/// Functions in which an interpreter runs what others have written: whatever line of that makes a
/// call, these are called from the same one.
const INTERPRETERS: [&str; 5] =
    ["_PyEval_EvalFrameDefault", "PyEval_EvalFrameEx", "luaV_execute", "Rf_eval", "Perl_runops_standard"];

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

    /// The names of all callers of a call, the innermost first; `None` if they do not tell who calls,
    /// as there is none, or an interpreter between them.
    pub(super) fn names(&self, path: u32) -> Option<Vec<String>> {
        let is_interpreter = |spot: &Spot| INTERPRETERS.contains(&&*spot.location.function);
        let names: Vec<String> = self.callers(path).map(Spot::name).collect();
        (!names.is_empty() && !self.callers(path).any(is_interpreter)).then_some(names)
    }

    /// The function that computes between two calls: the innermost one that
    /// has made both, with the spot from which it came to the second.
    ///
    /// A function that it called meanwhile, and that makes no call to MPI,
    /// leaves no trace in either path. And where it came from a spot to the same one or to one
    /// before it, nobody can tell whether it has a loop, or has returned and was called again:
    /// then its name is followed by "or a caller", unless it has none.
    pub(super) fn between(&self, before: u32, after: u32) -> Option<Spot> {
        let (before, after) = (self.all.get(&before)?, self.all.get(&after)?);
        let mut common = None;
        for (level, ((frame, theirs), (other, ours))) in
            before.iter().rev().zip(after.iter().rev()).enumerate()
        {
            if frame != other {
                let alike = inlined_alike((frame, theirs), (other, ours), level == 0);
                return alike.or(common).map(Common::told);
            }
            let is_outermost = level == 0 && ours.len() == 1;
            common = ours.first().map(|after| Common { after, goes_back: true, is_outermost });
        }
        common.map(Common::told)
    }
}

/// The innermost function in two call paths.
struct Common<'s> {
    /// From where it came to the second call.
    after: &'s Spot,
    /// Whether that is not behind the spot from which it came to the first.
    goes_back: bool,
    /// Whether no other function of the program has called it in this path.
    is_outermost: bool,
}

/// In names of functions that a runtime calls again and again.
const CALLED_BY_RUNTIME: [&str; 2] = ["_omp_fn", "omp_outlined"];

impl Common<'_> {
    fn told(self) -> Spot {
        let mut spot = self.after.clone();
        let function = &spot.location.function;
        let is_again = CALLED_BY_RUNTIME.iter().any(|part| function.contains(part));
        // The main program of Fortran is called once, by `main`.
        let is_called_once = (self.is_outermost && !is_again) || function == "MAIN__";
        if self.goes_back && !is_called_once {
            spot.location.function.push_str(" or a caller");
        }
        spot
    }
}

/// The innermost function that is in both frames: they are the same function,
/// or not, and functions that were inlined into it may be the same too.
fn inlined_alike<'s>(
    (frame, theirs): (&Frame, &[Spot]),
    (other, ours): (&Frame, &'s [Spot]),
    is_outermost: bool,
) -> Option<Common<'s>> {
    let mut common = None;
    for (depth, (their, our)) in theirs.iter().rev().zip(ours.iter().rev()).enumerate() {
        let (from, to) = (&their.location, &our.location);
        if frame.module != other.module || from.function != to.function {
            break;
        }
        // A compiler may change the order of code, and not that of lines.
        let goes_back = match from.has_line() && to.has_line() && from.file == to.file {
            true => (to.line, to.column) <= (from.line, from.column),
            false => other.offset <= frame.offset,
        };
        common = Some(Common { after: our, goes_back, is_outermost: is_outermost && depth == 0 });
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
        // The line of the innermost is as its address; into what it was inlined, it was at one.
        let own = frames.iter().map(|&(offset, functions)| {
            let spot = |(i, function): (usize, &&str)| {
                let (function, file) = ((*function).to_owned(), "a.c".to_owned());
                let line = if i == 0 { offset as u32 } else { 100 + i as u32 };
                Spot { location: Location { function, file, line, column: 1 }, call: String::new() }
            };
            (Frame { module: 0, offset }, functions.iter().enumerate().map(spot).collect())
        });
        own.collect()
    }

    /// Without lines, addresses tell what is behind.
    #[test]
    fn without_lines_addresses_tell_what_is_behind() {
        let without = |offset| {
            let mut path = path(&[(offset, &["step"]), (10, &["main"])]);
            path.iter_mut().flat_map(|(_, spots)| spots).for_each(|spot| spot.location.line = 0);
            path
        };
        let paths = Paths { all: BTreeMap::from([(0, without(3)), (1, without(5))]) };
        let function = |before, after| paths.between(before, after).map(|spot| spot.location.function);
        assert_eq!(function(0, 1).as_deref(), Some("step"));
        assert_eq!(function(1, 0).as_deref(), Some("step or a caller"));
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
        // The same call again, or one before it: in a loop, or the function was called again.
        is(&[(1, &["step"]), main], &[(1, &["step"]), main], "step or a caller");
        is(&[(2, &["step"]), main], &[(1, &["step"]), main], "step or a caller");
        // Nobody calls main.
        is(&[main], &[main], "main");
        is(&[(11, &["main"])], &[main], "main");
        let fortran: (u64, &[&str]) = (5, &["MAIN__"]);
        is(&[fortran, main], &[fortran, main], "MAIN__");
        // But a runtime calls what it runs again.
        let outlined: (u64, &[&str]) = (5, &["main._omp_fn.0"]);
        is(&[outlined], &[outlined], "main._omp_fn.0 or a caller");
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
        assert_eq!(between(&[b], &[a]).as_deref(), Some("inner or a caller"));
        let c: (u64, &[&str]) = (3, &["other", "main"]);
        assert_eq!(between(&[a], &[c]).as_deref(), Some("main"));
    }

    #[test]
    fn a_call_path_is_all_callers_by_name() {
        let main = |line| -> (u64, &[&str]) { (line, &["main"]) };
        let send: (u64, &[&str]) = (1, &["send"]);
        let all = [[send, main(10)], [send, main(11)], [send, main(10)], [send, (4, &["luaV_execute"])]];
        let paths = Paths { all: (0..).zip(all.iter().map(|own| path(own))).collect() };
        let names: Vec<_> = (0..4).map(|own| paths.names(own)).collect();
        assert_eq!(names[0].as_deref().map(<[String]>::len), Some(2));
        assert_ne!(names[0], names[1]);
        assert_eq!(names[0], names[2]);
        assert_eq!((&names[3], paths.names(9)), (&None, None), "nobody knows who calls");
    }

    #[test]
    fn libraries_are_known_by_their_files() {
        let is = ["libmpi.so.40", "libc.so.6", "libstdc++.so.6", "liblikewise_preload.so"].map(is_library);
        let not = ["libmylib.so", "lmp", "libcalc.so", "libmkl_core.so"].map(is_library);
        assert_eq!((is, not), ([true; 4], [false; 4]));
    }
}
