//! All records of a block, handed to a sink.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use memchr::memchr;
use serde::{Deserialize, Serialize};

use super::header::Header;
use super::plain::parse_plain;
use super::records::{Known, Record, parse};
use crate::error::{ErrorKind, found};
use crate::quick::QuickState;
use crate::trace::{RecordCounts, TRACING_DISABLED, Who, is_of_run};

/// Receives the records of a block. `slot` numbers the threads of the block in
/// the order in which they appear.
pub(crate) trait Sink {
    fn state(&mut self, slot: usize, begin: u64, end: Option<u64>, value: u32);
    fn event(&mut self, slot: usize, time: u64, pairs: &[(u32, i128)]);
    fn communication(&mut self, _size: u64) {}
}

/// What else a block held.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    pub(crate) counts: RecordCounts,
    pub(crate) lines: u64,
    /// The malformed lines (from 0): without `lenient` the first, else the
    /// first few.
    pub(crate) problems: Vec<(u64, ErrorKind)>,
    /// The first line of unknown kind, and how it begins.
    pub(crate) unknown: Option<(u64, String)>,
    /// The first line of a state that ends before it begins, and these times.
    pub(crate) backwards: Option<(u64, [u64; 2])>,
    /// States of tracing that is off, of each thread that has one.
    pub(crate) untraced: BTreeMap<Who, Untraced>,
    /// When the first state or event begins, in the file's unit.
    pub(crate) first: Option<u64>,
    /// How each thread with a state or an event ends.
    pub(crate) ends: BTreeMap<Who, Ends>,
    /// Whether the last line has its end.
    pub(crate) ended: bool,
}

/// The earlier one.
#[inline]
fn first(earliest: Option<u64>, time: u64) -> Option<u64> {
    Some(earliest.map_or(time, |first| first.min(time)))
}

/// How what is known of a thread ends, in the file's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ends {
    /// When its last state ends; at the end of time if one has no end, `None` if it has no state.
    pub(crate) state: Option<u64>,
    /// When its last record begins: a state, or an event. Where the trace ends, an event of nothing but
    /// zeros is none: cutters close there what is open.
    pub(crate) record: u64,
}

impl Ends {
    #[inline]
    pub(crate) fn add(&mut self, other: Self) {
        *self = Self { state: self.state.max(other.state), record: self.record.max(other.record) };
    }
}

/// From when to when threads were not traced, and for how long all together, in the file's
/// unit; from the end of time on, if never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Untraced {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) time: u64,
}

impl Default for Untraced {
    fn default() -> Self {
        Self { from: u64::MAX, to: 0, time: 0 }
    }
}

impl Untraced {
    pub(crate) fn add(&mut self, other: &Self) {
        (self.from, self.to) = (self.from.min(other.from), self.to.max(other.to));
        self.time = self.time.saturating_add(other.time);
    }
}

/// At most this many malformed lines are described, because a damaged file has
/// thousands; the others are only counted.
const MAX_PROBLEMS: usize = 3;

/// The threads of a block, each numbered at its first record.
pub(crate) struct Threads<'h> {
    header: &'h Header,
    slots: HashMap<Who, usize, QuickState>,
    pub(crate) who: Vec<Who>,
    /// How each ends in the block.
    ends: Vec<Ends>,
    /// When the trace ends, in the file's unit.
    end: u64,
    /// Those met last, by their ids: looking there takes less than hashing.
    near: Vec<Option<(Who, usize)>>,
}

/// The places of [`Threads::near`].
const NEAR: usize = 512;

impl<'h> Threads<'h> {
    pub(crate) fn new(header: &'h Header) -> Self {
        let end = header.end.0 / header.unit.nanos();
        let (who, ends) = (Vec::new(), Vec::new());
        Self { header, slots: HashMap::default(), who, ends, end, near: vec![None; NEAR] }
    }

    #[inline]
    fn slot(&mut self, who: Who) -> Result<usize, ErrorKind> {
        let place = (who.task.wrapping_mul(61) ^ who.thread) as usize % NEAR;
        match self.near[place] {
            Some((near, slot)) if near == who => Ok(slot),
            _ => self.find(who, place),
        }
    }

    #[cold]
    fn find(&mut self, who: Who, place: usize) -> Result<usize, ErrorKind> {
        let Who { app, task, thread } = who;
        if !self.header.topology.declares(app, task, thread) {
            return Err(ErrorKind::UnknownThread { app, task, thread });
        }
        let next = self.who.len();
        let slot = *self.slots.entry(who).or_insert(next);
        if slot == next {
            self.who.push(who);
            self.ends.push(Ends::default());
        }
        self.near[place] = Some((who, slot));
        Ok(slot)
    }
}

/// Reads every line of `block`. Stops at a malformed one unless `lenient`.
pub(crate) fn scan(block: &[u8], threads: &mut Threads<'_>, lenient: bool, sink: &mut impl Sink) -> Scanned {
    let mut scanned = Scanned { ended: block.ends_with(b"\n"), ..Scanned::default() };
    scan_lines(block, threads, lenient, sink, &mut scanned);
    let ends = threads.ends.iter_mut().map(std::mem::take);
    scanned.ends.extend(threads.who.iter().copied().zip(ends));
    scanned
}

fn scan_lines(
    block: &[u8],
    threads: &mut Threads<'_>,
    lenient: bool,
    sink: &mut impl Sink,
    scanned: &mut Scanned,
) {
    let mut known = Known::default();
    let mut pos = 0;
    let mut set = Vec::new();
    while pos < block.len() {
        let rest = &block[pos..];
        let (parsed, line, ended) = match parse_plain(rest, &mut known) {
            Some((record, length)) => (Ok(record), &rest[..length - 1], true),
            None => {
                let end = memchr(b'\n', rest);
                let line = &rest[..end.unwrap_or(rest.len())];
                (parse(line, &mut known), line, end.is_some())
            }
        };
        pos += line.len() + 1;
        let done = parsed.and_then(|record| {
            let next = block.get(pos..).unwrap_or_default();
            let pairs = match record {
                Record::Event { who, .. } if is_one_set(line, next) && threads.slot(who).is_ok() => {
                    pos += more_of_set(line, next, &mut known, &mut set, scanned);
                    &set[..]
                }
                _ => known.pairs(),
            };
            deliver(record, line, pairs, threads, sink, scanned)
        });
        if let Err(kind) = done {
            let kind = if ended { kind } else { truncated(kind) };
            scanned.counts.skipped += 1;
            if scanned.problems.len() < MAX_PROBLEMS {
                scanned.problems.push((scanned.lines, kind));
            }
            if !lenient {
                return;
            }
        }
        scanned.lines += 1;
    }
}

/// Whether a line, and what follows in the file, are events of one thread at one time.
#[inline]
pub(super) fn is_one_set(line: &[u8], next: &[u8]) -> bool {
    // An event's kind, CPU, application, task, thread and time.
    let same = || line.iter().zip(next).take_while(|(a, b)| a == b);
    next.starts_with(b"2:") && same().filter(|(byte, _)| **byte == b':').take(6).count() == 6
}

/// Takes the lines that follow an event and tell more of its set, and puts all their types and values
/// into `set`: a caller and its line may stand in two of them. A type that is there already begins
/// another set. How many bytes these lines have.
#[cold]
fn more_of_set<'b>(
    mut line: &'b [u8],
    mut rest: &'b [u8],
    known: &mut Known,
    set: &mut Vec<(u32, i128)>,
    scanned: &mut Scanned,
) -> usize {
    set.clear();
    set.extend_from_slice(known.pairs());
    let all = rest.len();
    while is_one_set(line, rest) {
        line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
        let is_event = matches!(parse(line, known), Ok(Record::Event { .. }));
        if !is_event || known.pairs().iter().any(|(of, _)| set.iter().any(|(own, _)| own == of)) {
            break;
        }
        set.extend_from_slice(known.pairs());
        scanned.counts.events += 1;
        scanned.lines += 1;
        rest = rest.get(line.len() + 1..).unwrap_or_default();
    }
    all - rest.len()
}

/// `block` without the lines that a lenient [`scan`] skips, and their number.
pub(crate) fn well_formed<'b>(block: &'b [u8], header: &Header) -> (Cow<'b, [u8]>, u64) {
    let mut threads = Threads::new(header);
    let mut scanned = Scanned::default();
    let mut known = Known::default();
    let mut kept = Vec::new();
    // From here on, lines are good and not yet copied.
    let (mut from, mut pos) = (0, 0);
    let mut skipped = 0;
    while pos < block.len() {
        let start = pos;
        let line = &block[start..memchr(b'\n', &block[start..]).map_or(block.len(), |n| start + n)];
        pos += line.len() + 1;
        let done = parse(line, &mut known)
            .and_then(|record| deliver(record, line, known.pairs(), &mut threads, &mut Nobody, &mut scanned));
        if done.is_err() {
            kept.extend_from_slice(&block[from..start]);
            from = pos.min(block.len());
            skipped += 1;
        }
    }
    if skipped == 0 {
        return (Cow::Borrowed(block), 0);
    }
    kept.extend_from_slice(&block[from..]);
    (Cow::Owned(kept), skipped)
}

/// A sink that takes no record.
struct Nobody;

impl Sink for Nobody {
    fn state(&mut self, _slot: usize, _begin: u64, _end: Option<u64>, _value: u32) {}
    fn event(&mut self, _slot: usize, _time: u64, _pairs: &[(u32, i128)]) {}
}

#[inline]
fn deliver(
    record: Record,
    line: &[u8],
    pairs: &[(u32, i128)],
    threads: &mut Threads<'_>,
    sink: &mut impl Sink,
    scanned: &mut Scanned,
) -> Result<(), ErrorKind> {
    let counts = &mut scanned.counts;
    match record {
        Record::State { who, begin, end, value } => {
            let slot = threads.slot(who)?;
            counts.states += 1;
            // What is not traced is no begin of what is, nor is the time before a thread is created.
            if is_of_run(value) {
                scanned.first = first(scanned.first, begin);
            }
            threads.ends[slot].add(Ends { state: end.or(Some(u64::MAX)), record: begin });
            if value == TRACING_DISABLED {
                let to = end.unwrap_or(begin);
                let off = Untraced { from: begin, to, time: to - begin };
                scanned.untraced.entry(who).or_default().add(&off);
            }
            sink.state(slot, begin, end, value);
        }
        Record::Backwards { who, begin, end } => {
            threads.slot(who)?;
            counts.backwards += 1;
            scanned.backwards.get_or_insert((scanned.lines, [begin, end]));
        }
        Record::Untimed { who } => {
            threads.slot(who)?;
            counts.untimed += 1;
        }
        Record::Event { who, time } => {
            let slot = threads.slot(who)?;
            counts.events += 1;
            scanned.first = first(scanned.first, time);
            if time < threads.end || pairs.iter().any(|(_, value)| *value != 0) {
                threads.ends[slot].add(Ends { state: None, record: time });
            }
            counts.event_pairs += pairs.len() as u64;
            sink.event(slot, time, pairs);
        }
        Record::Communication { from, to, size } => {
            threads.slot(from)?;
            threads.slot(to)?;
            counts.communications += 1;
            sink.communication(size);
        }
        Record::GlobalOperation => counts.global_operations += 1,
        Record::Communicator => counts.communicators += 1,
        Record::Comment => counts.comments += 1,
        Record::Blank => {}
        Record::Unknown => {
            counts.unknown += 1;
            if scanned.unknown.is_none() {
                scanned.unknown = Some((scanned.lines, found(&line[..line.len().min(30)])));
            }
        }
    }
    Ok(())
}

/// What is wrong with a last line that has no line end.
pub(super) fn truncated(kind: ErrorKind) -> ErrorKind {
    match kind {
        ErrorKind::Expected { .. } => ErrorKind::Truncated(kind.to_string()),
        other => other,
    }
}
