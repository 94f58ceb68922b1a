//! Where in the source a thread is: Extrae's events of callers and functions.
//!
//! An MPI call's first event names its callers: 70000001 the function that
//! calls, 70000002 the one that calls that, and so on; 80000001… their lines.
//! It stands where the burst before the call ends. 60000019 names a function
//! that is entered, and is 0 where it is left.

use std::collections::HashMap;

use likewise::table::{Code, PlaceId, Region};

use super::openmp::Mark;
use super::pcf::Pcf;
use super::scan::QuickState;

const FUNCTION: u32 = 60_000_019;
/// The function of an OpenMP parallel region, which the compiler cut out.
pub(crate) const OMP_FUNCTION: u32 = 60_000_018;
/// From a function's event type to that of its line.
const FUNCTION_TO_LINE: u32 = 100;
const CALLER: u32 = 70_000_001;
const LAST_CALLER: u32 = 70_000_010;
/// From a caller's event type to that of its line.
const TO_LINE: u32 = 10_000_000;
/// The largest value that Extrae gives to a function it could not name.
const UNRESOLVED: i64 = 2;

/// Whether [`moves`] may make something of a record with that type.
#[inline]
pub(crate) fn is_code(event_type: u32) -> bool {
    event_type >= OMP_FUNCTION && (is_function(event_type) || (CALLER..=LAST_CALLER).contains(&event_type))
}

#[inline]
fn is_function(event_type: u32) -> bool {
    matches!(event_type, FUNCTION | OMP_FUNCTION)
}

/// The function that the pair names, with its line.
pub(crate) fn function(pairs: &[(u32, i128)], event_type: u32, value: i128) -> Site {
    let line = pairs.iter().find(|p| p.0 == event_type + FUNCTION_TO_LINE).map_or(0, |p| p.1 as i64);
    Site { event_type, value: value as i64, line }
}

/// A place in the source by the trace's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    /// The type of the event that named it.
    event_type: u32,
    value: i64,
    /// Value of the line's event, 0 if there is none.
    line: i64,
}

/// What an event says of where its thread is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Move<P> {
    /// It calls the runtime from there.
    Call(P),
    /// It enters a function.
    Enter(P),
    /// It leaves one.
    Leave,
}

/// The moves of an event record. A call is made from the innermost caller
/// that has a name, or else from the innermost one.
pub(crate) fn moves(pairs: &[(u32, i128)], mut take: impl FnMut(Move<Site>)) {
    // Addresses above 2^63 wrap, as they do where the `.pcf` gives them a sign.
    let number = |value: i128| value as i64;
    let line = |pairs: &[(u32, i128)], event_type| {
        pairs.iter().find(|p| p.0 == event_type).map_or(0, |p| number(p.1))
    };
    for (i, &(event_type, value)) in pairs.iter().enumerate() {
        match value {
            _ if !is_function(event_type) => {}
            0 => take(Move::Leave),
            _ => take(Move::Enter(function(&pairs[i..], event_type, value))),
        }
    }
    let callers = pairs.iter().filter(|(t, value)| (CALLER..=LAST_CALLER).contains(t) && *value != 0);
    let callers = callers.map(|&(t, value)| (t, number(value)));
    let unnamed = |value: i64| (0..=UNRESOLVED).contains(&value);
    if let Some((event_type, value)) = callers.min_by_key(|&(t, value)| (unnamed(value), t)) {
        take(Move::Call(Site { event_type, value, line: line(pairs, event_type + TO_LINE) }));
    }
}

/// Numbers sites in order of appearance.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    ids: HashMap<Site, PlaceId, QuickState>,
    pub(crate) sites: Vec<Site>,
    last: Option<(Site, PlaceId)>,
}

impl Sites {
    /// `None` if there are too many.
    fn id(&mut self, site: Site) -> Option<PlaceId> {
        if let Some((last, id)) = self.last
            && last == site
        {
            return Some(id);
        }
        let id = match self.ids.get(&site) {
            Some(&id) => id,
            None => {
                let id = PlaceId::from_index(self.sites.len())?;
                self.sites.push(site);
                self.ids.insert(site, id);
                id
            }
        };
        self.last = Some((site, id));
        Some(id)
    }

    /// The mark with its site's number; one too many is left out.
    pub(crate) fn number_mark(&mut self, mark: Mark<Site>) -> Option<Mark<PlaceId>> {
        Some(match mark {
            Mark::Enter(site) => Mark::Enter(self.id(site)?),
            Mark::Leave => Mark::Leave,
            Mark::Fork => Mark::Fork,
            Mark::Runtime => Mark::Runtime,
        })
    }

    /// The move with its site's number.
    pub(crate) fn number(&mut self, step: Move<Site>) -> Option<Move<PlaceId>> {
        Some(match step {
            Move::Call(site) => Move::Call(self.id(site)?),
            Move::Enter(site) => Move::Enter(self.id(site)?),
            Move::Leave => Move::Leave,
        })
    }

    /// The numbers here of all that `others` have numbered.
    pub(crate) fn adopt(&mut self, others: &[Site]) -> Vec<Option<PlaceId>> {
        others.iter().map(|&site| self.id(site)).collect()
    }
}

/// The innermost function, as far as a piece of a thread's records knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Function {
    /// So many levels out of the one in which the piece began.
    Outer(u32),
    Inside(PlaceId),
}

impl Default for Function {
    fn default() -> Self {
        Self::Outer(0)
    }
}

/// The code of a burst, as far as a piece knows. A burst of no length has none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Place {
    pub(crate) before: Option<PlaceId>,
    pub(crate) after: Option<PlaceId>,
    pub(crate) function: Function,
}

impl Place {
    /// Once the whole thread is known.
    pub(crate) fn region(self) -> Region {
        let function = match self.function {
            Function::Inside(id) => Some(id),
            Function::Outer(_) => None,
        };
        Region { before: self.before, after: self.after, function }
    }

    /// What `map` makes of its numbers.
    pub(crate) fn renumbered(self, map: &[Option<PlaceId>]) -> Self {
        let number = |id: Option<PlaceId>| id.and_then(|id| map[id.index()]);
        let function = renumbered(self.function, map);
        Self { before: number(self.before), after: number(self.after), function }
    }
}

pub(crate) fn renumber(id: &mut Option<PlaceId>, map: &[Option<PlaceId>]) {
    *id = id.and_then(|id| map[id.index()]);
}

fn renumbered(function: Function, map: &[Option<PlaceId>]) -> Function {
    match function {
        // Too many sites to be numbered: as if it were not there.
        Function::Inside(id) => map[id.index()].map_or(Function::Outer(u32::MAX), Function::Inside),
        outer @ Function::Outer(_) => outer,
    }
}

/// Where a thread is after a piece of its records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    /// The last call.
    pub(crate) call: Option<PlaceId>,
    /// Functions of before the piece that were left in it.
    left: u32,
    /// Those entered and not yet left, outermost first.
    entered: Vec<PlaceId>,
    /// When a function was last entered or left, and where the thread was
    /// until then.
    moved: Option<u64>,
    until: Function,
}

impl Trail {
    pub(crate) fn step(&mut self, time: u64, step: Move<PlaceId>) {
        if let Move::Call(id) = step {
            self.call = Some(id);
            return;
        }
        if self.moved != Some(time) {
            self.until = self.function();
            self.moved = Some(time);
        }
        match step {
            Move::Enter(id) => self.entered.push(id),
            _ if self.entered.pop().is_none() => self.left = self.left.saturating_add(1),
            _ => {}
        }
    }

    fn function(&self) -> Function {
        self.entered.last().map_or(Function::Outer(self.left), |&id| Function::Inside(id))
    }

    /// The innermost function just before `time`, which is now or later.
    pub(crate) fn function_before(&self, time: u64) -> Function {
        if self.moved == Some(time) { self.until } else { self.function() }
    }

    /// Whether the piece did not say where the thread is.
    pub(crate) fn is_silent(&self) -> bool {
        self.call.is_none() && self.moved.is_none()
    }

    /// What a place of the next piece is, seen from before this one.
    pub(crate) fn resolve(&self, function: Function) -> Function {
        let Function::Outer(levels) = function else { return function };
        match self.entered.len().checked_sub(levels as usize + 1) {
            Some(at) => Function::Inside(self.entered[at]),
            None => Function::Outer(self.left.saturating_add(levels - self.entered.len() as u32)),
        }
    }

    /// After the next piece, too.
    pub(crate) fn append(&mut self, next: Trail) {
        if next.moved.is_some() && next.moved != self.moved {
            self.until = self.resolve(next.until);
            self.moved = next.moved;
        }
        let kept = self.entered.len().saturating_sub(next.left as usize);
        let left = next.left - (self.entered.len() - kept) as u32;
        self.left = self.left.saturating_add(left);
        self.entered.truncate(kept);
        self.entered.extend(next.entered);
        self.call = next.call.or(self.call);
    }

    pub(crate) fn renumber(&mut self, map: &[Option<PlaceId>]) {
        renumber(&mut self.call, map);
        self.entered = self.entered.iter().filter_map(|id| map[id.index()]).collect();
        self.until = renumbered(self.until, map);
    }
}

/// The places of all sites by their names, and which place each site is.
/// Sites of one name are one place: Extrae numbers addresses, not lines.
pub(crate) fn places(sites: &[Site], pcf: &Pcf) -> (Vec<String>, Vec<Option<PlaceId>>) {
    let names: Vec<String> = sites.iter().map(|site| name(site, pcf)).collect();
    let mut places = names.clone();
    places.sort_unstable();
    places.dedup();
    let place = |name: &String| places.binary_search(name).ok().and_then(PlaceId::from_index);
    let map = names.iter().map(place).collect();
    (places, map)
}

/// The code of a table, unless no burst has any.
pub(crate) fn code(places: Vec<String>, regions: Vec<Region>) -> Option<Code> {
    let any = regions.iter().any(|region| *region != Region::default());
    any.then_some(Code { places, regions, parallel: false })
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

/// `do_s..nd2d [do_send2d]` is cut to fit Paraver's windows: `do_send2d`.
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
        let site = |value, line| Site { event_type: CALLER, value, line };
        let (names, map) = places(&[site(4, 0), site(3, 3), site(3, 5)], &pcf);
        assert_eq!(names, ["__redblack_MOD_send2d (redblack.F90:71)", "main"]);
        let at = |i| PlaceId::from_index(i);
        assert_eq!(map, [at(1), at(0), at(0)]);
    }
}
