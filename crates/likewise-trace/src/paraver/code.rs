//! Where in the source a thread is: Extrae's events of callers and functions.
//!
//! An MPI call's first event names its callers: 70000001 the function that
//! calls, 70000002 the one that calls that, and so on; 80000001… their lines.
//! These events stand where the burst before the call ends. 60000019 names a
//! function that is entered; its value is 0 where the function is left.

use likewise::table::{PathId, PlaceId};
use serde::{Deserialize, Serialize};

use super::pcf::Pcf;
use crate::folding::steps::Move;
use crate::folding::table::Places;

const FUNCTION: u32 = 60_000_019;
/// The function that the compiler made of an OpenMP parallel region.
pub(crate) const OMP_FUNCTION: u32 = 60_000_018;
/// The same of an OpenMP task.
pub(crate) const OMP_TASK: u32 = 60_000_023;
/// Add this to a function's event type to get that of its line.
const FUNCTION_TO_LINE: u32 = 100;
const CALLER: u32 = 70_000_001;
const LAST_CALLER: u32 = 70_000_010;
/// Add this to a caller's event type to get that of its line.
const TO_LINE: u32 = 10_000_000;
/// The largest value that Extrae gives to a caller it could not name.
const UNRESOLVED: i64 = 2;

/// Whether [`moves`] may make something of a record with that type.
#[inline]
pub(crate) fn is_code(event_type: u32) -> bool {
    event_type >= OMP_FUNCTION && (is_function(event_type) || (CALLER..=LAST_CALLER).contains(&event_type))
}

#[inline]
fn is_function(event_type: u32) -> bool {
    matches!(event_type, FUNCTION | OMP_FUNCTION | OMP_TASK)
}

/// The function that the pair names, with its line.
pub(crate) fn function(pairs: &[(u32, i128)], event_type: u32, value: i128) -> Site {
    let line = pairs.iter().find(|p| p.0 == event_type + FUNCTION_TO_LINE).map_or(0, |p| p.1 as i64);
    Site { event_type, value: value as i64, line, path: 0 }
}

/// A place in the source by the trace's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Site {
    /// The type of the event that named it.
    event_type: u32,
    value: i64,
    /// Value of the line's event, 0 if there is none.
    line: i64,
    /// A hash of all callers and their lines; 0 of a function.
    path: u64,
}

/// Another hash for each order of numbers: the same in every process.
#[derive(Default)]
struct PathHash(u64);

impl PathHash {
    fn add(&mut self, number: u64) {
        let mixed = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 29);
    }
}

/// The moves that an event record tells. The call site is the innermost caller
/// that has a name; if none has, the innermost caller.
pub(crate) fn moves(pairs: &[(u32, i128)], mut take: impl FnMut(Move<Site>)) {
    // Values are addresses. Those above 2^63 wrap, as they do where the `.pcf`
    // gives them a sign.
    let number = |value: i128| value as i64;
    let line = |pairs: &[(u32, i128)], event_type| {
        pairs.iter().find(|p| p.0 == event_type).map_or(0, |p| number(p.1))
    };
    let unnamed = |value: i64| (0..=UNRESOLVED).contains(&value);
    let mut caller: Option<(u32, i64)> = None;
    let mut path = PathHash::default();
    for (i, &(event_type, value)) in pairs.iter().enumerate() {
        if !is_code(event_type) {
            continue;
        }
        match (is_function(event_type), value) {
            (true, 0) => take(Move::Leave),
            (true, _) => take(Move::Enter(function(&pairs[i..], event_type, value))),
            (false, 0) => {}
            (false, _) => {
                let this = (event_type, number(value));
                let line = line(pairs, event_type + TO_LINE);
                [event_type.into(), this.1.cast_unsigned(), line.cast_unsigned()]
                    .into_iter()
                    .for_each(|n| path.add(n));
                if caller.is_none_or(|best| (unnamed(this.1), this.0) < (unnamed(best.1), best.0)) {
                    caller = Some(this);
                }
            }
        }
    }
    if let Some((event_type, value)) = caller {
        let line = line(pairs, event_type + TO_LINE);
        take(Move::Call(Site { event_type, value, line, path: path.0.max(1) }));
    }
}

/// The places of all sites by their names, and the place of each site. Sites
/// with one name are one place, because Extrae numbers addresses, not lines.
/// A call path is as many callers as the trace names.
pub(crate) fn places(sites: &[Site], pcf: &Pcf) -> Places {
    let all: Vec<String> = sites.iter().map(|site| name(site, pcf)).collect();
    let mut names = all.clone();
    names.sort_unstable();
    names.dedup();
    let place = |name: &String| names.binary_search(name).ok().and_then(PlaceId::from_index);
    let of_sites = all.iter().map(place).collect();
    let mut hashes: Vec<u64> = sites.iter().map(|site| site.path).filter(|&path| path > 0).collect();
    hashes.sort_unstable();
    hashes.dedup();
    let path = |site: &Site| hashes.binary_search(&site.path).ok().map(|path| PathId(path as u32));
    let paths = sites.iter().map(path).collect();
    Places { names, of_sites, paths }
}

/// `function (file:line)`, as far as the `.pcf` tells.
fn name(site: &Site, pcf: &Pcf) -> String {
    let number = |value: i64| if value > 0xffff { format!("{value:#x}") } else { value.to_string() };
    let function = match pcf.value(site.event_type, site.value) {
        Some(label) => full_name(label).to_owned(),
        None => number(site.value),
    };
    let to_line = if is_function(site.event_type) { FUNCTION_TO_LINE } else { TO_LINE };
    let line_type = site.event_type + to_line;
    match (site.line, pcf.value(line_type, site.line)) {
        (0, _) => function,
        (line, None) => format!("{function}:{}", number(line)),
        (_, Some(label)) => match file_and_line(label) {
            Some((_, "0")) => function,
            Some((file, line)) => format!("{function} ({file}:{line})"),
            None => format!("{function} ({label})"),
        },
    }
}

/// Extrae shortens `do_s..nd2d [do_send2d]` to fit Paraver's windows; the full name is `do_send2d`.
fn full_name(label: &str) -> &str {
    let inner = label.strip_suffix(']').and_then(|l| l.split_once(" [")).map(|(_, full)| full.trim());
    inner.filter(|full| !full.is_empty()).unwrap_or(label)
}

/// `71 (balance.F90, epoch2d)`.
fn file_and_line(label: &str) -> Option<(&str, &str)> {
    let (line, rest) = label.split_once(" (")?;
    let inner = rest.strip_suffix(')')?;
    let file = inner.split_once(", ").map_or(inner, |(file, _)| file);
    line.bytes().all(|b| b.is_ascii_digit()).then_some((file, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PCF: &[u8] =
        b"EVENT_TYPE\n0 70000001 Caller at level 1\n0 70000002 Caller at level 2\nVALUES\n0 End\n\
        1 Unresolved\n2 _NOT_Found\n3 __red..nd2d [__redblack_MOD_send2d]\n4 main\n5 operator[]\n\n\
        EVENT_TYPE\n0 80000001 Caller line at level 1\n0 80000002 Caller line at level 2\nVALUES\n\
        1 0 (Unresolved)\n3 71 (redblack.F90, epoch2d)\n4 somewhere\n5 71 (redblack.F90, epoch2d)\n";

    fn calls(pairs: &[(u32, i128)]) -> Vec<String> {
        let (pcf, problems) = Pcf::parse(PCF);
        assert_eq!(problems, Vec::<String>::new());
        let mut said = Vec::new();
        moves(pairs, |step| {
            said.push(match step {
                Move::Call(site) => name(&site, &pcf),
                Move::Enter(site) => format!("in {}", name(&site, &pcf)),
                Move::Leave => "out".to_owned(),
            });
        });
        said
    }

    #[test]
    fn a_call_is_made_from_the_innermost_caller_with_a_name() {
        let (a, b) = (70_000_001, 70_000_002);
        let (line_a, line_b) = (80_000_001, 80_000_002);
        assert_eq!(calls(&[(a, 3), (line_a, 3), (b, 4)]), ["__redblack_MOD_send2d (redblack.F90:71)"]);
        assert_eq!(calls(&[(line_b, 4), (b, 4), (a, 2), (line_a, 2)]), ["main (somewhere)"]);
        assert_eq!(calls(&[(a, 1), (line_a, 1), (b, 2)]), ["Unresolved"]);
        assert_eq!(calls(&[(a, 0), (line_a, 0)]), Vec::<String>::new());
        assert_eq!(calls(&[(a, 5)]), ["operator[]"]);
        assert_eq!(calls(&[(a, 99), (line_a, 0x40_0000)]), ["99:0x400000"]);
        assert_eq!(calls(&[(FUNCTION, 7), (FUNCTION, 0)]), ["in 7", "out"]);
    }

    #[test]
    fn sites_of_one_name_are_one_place() {
        let (pcf, _) = Pcf::parse(PCF);
        let site = |value, line, path| Site { event_type: CALLER, value, line, path };
        let sites = [site(4, 0, 9), site(3, 3, 7), site(3, 5, 8), site(3, 3, 7), site(4, 0, 0)];
        let Places { names, of_sites, paths } = places(&sites, &pcf);
        assert_eq!(names, ["__redblack_MOD_send2d (redblack.F90:71)", "main"]);
        let at = |i| PlaceId::from_index(i);
        assert_eq!(of_sites, [at(1), at(0), at(0), at(0), at(1)]);
        let path = |i| Some(PathId(i));
        assert_eq!(paths, [path(2), path(0), path(1), path(0), None]);
    }

    /// One place, however many functions call it.
    #[test]
    fn a_call_has_a_path_for_each_of_its_callers() {
        let path = |pairs: &[(u32, i128)]| {
            let mut path = 0;
            moves(pairs, |step| match step {
                Move::Call(site) => path = site.path,
                other => panic!("{other:?}"),
            });
            path
        };
        let (a, line_a, b, line_b) = (CALLER, CALLER + TO_LINE, CALLER + 1, CALLER + 1 + TO_LINE);
        let of = |caller, line| path(&[(a, 3), (line_a, 3), (b, caller), (line_b, line)]);
        assert_eq!(of(4, 7), of(4, 7));
        let different = [of(4, 7), of(4, 8), of(5, 7), path(&[(a, 3), (line_a, 3)]), path(&[(a, 3)])];
        assert!(different.iter().all(|own| different.iter().filter(|other| *other == own).count() == 1));
    }
}
