//! The facts in a trace that tell which thread waits for which.

use std::collections::BTreeMap;

use likewise::bursts::replay::{Collective, Member, Message, Pattern};
use rayon::prelude::*;

use crate::bytes::{BLOCK, lines};
use crate::error::ErrorKind;
use crate::paraver::header::Header;
use crate::paraver::records::{Known, Record, parse};
use crate::paraver::scan::truncated;
use crate::paraver::streams::is_of_stream;
use crate::trace::{Who, is_of_run};

/// Extrae's event of an MPI collective operation: which one, and 0 at its end.
const COLLECTIVE: u32 = 50_000_002;
/// Its communicator.
const COMMUNICATOR: u32 = 50_100_004;
/// Extrae's event of other MPI calls, and its value of MPI_Finalize, which is collective
/// over all tasks.
const OTHER: u32 = 50_000_003;
const FINALIZE: i64 = 32;
/// The communicator of MPI_Finalize; no event has it.
const ALL: i64 = -1;
/// States in which a thread does nothing: idle, and not created.
const NOTHING: [u32; 2] = [0, 2];
/// 1 at its root.
const ROOT: u32 = 50_100_003;
/// Values of [`COLLECTIVE`] in which all wait for the root: broadcast, scatter.
const FROM_ROOT: [i64; 3] = [7, 15, 16];
/// And those in which the root waits for all: reduce, gather.
const TO_ROOT: [i64; 3] = [9, 13, 14];

/// A message, by threads.
#[derive(Clone, Copy, Debug)]
struct Sent {
    from: Who,
    left: u64,
    to: Who,
    came: u64,
}

/// Something about a collective operation on a thread.
#[derive(Clone, Copy, Debug)]
struct Mark {
    who: Who,
    time: u64,
    event: u32,
    value: i64,
}

/// A thread's part in a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    who: Who,
    operation: i64,
    communicator: i64,
    enter: u64,
    exit: u64,
    is_root: bool,
}

/// What the records of a trace say.
#[derive(Default)]
pub(super) struct Facts {
    /// Each with the last time at which it does anything.
    pub(super) threads: BTreeMap<Who, u64>,
    sent: Vec<Sent>,
    /// Of one operation after the other.
    collectives: Vec<Vec<Part>>,
    unmatched: u64,
    /// Threads with events that only streams of accelerators have, and the type of these.
    pub(super) streams: BTreeMap<Who, u32>,
    /// When the first record is.
    pub(super) first: Option<u64>,
}

/// What a block says, and how many lines it has.
#[derive(Default)]
struct Block {
    threads: BTreeMap<Who, u64>,
    sent: Vec<Sent>,
    marks: Vec<Mark>,
    streams: BTreeMap<Who, u32>,
    first: Option<u64>,
    lines: u64,
    problem: Option<(u64, ErrorKind)>,
}

impl Facts {
    /// Reads all records.
    ///
    /// # Errors
    /// The number of a malformed line, from 0.
    pub(super) fn of(text: &[u8], header: &Header) -> Result<Self, (u64, ErrorKind)> {
        let ends_open = !text.is_empty() && !text.ends_with(b"\n");
        let all = blocks(text, BLOCK);
        let read: Vec<Block> = all.par_iter().map(|block| Block::of(block, header)).collect();
        let (mut facts, mut marks, mut before) = (Self::default(), Vec::new(), 0);
        let n_blocks = read.len();
        for (at, block) in read.into_iter().enumerate() {
            if let Some((line, kind)) = block.problem {
                let is_last = ends_open && at + 1 == n_blocks && line + 1 == block.lines;
                return Err((before + line, if is_last { truncated(kind) } else { kind }));
            }
            before += block.lines;
            block.threads.into_iter().for_each(|(who, last)| seen(&mut facts.threads, who, last));
            facts.first = facts.first.into_iter().chain(block.first).min();
            facts.sent.extend(block.sent);
            facts.streams.extend(block.streams);
            marks.extend(block.marks);
        }
        facts.matched(parts(marks));
        Ok(facts)
    }

    /// Matches the operations: the n-th one of each task on a communicator is the same.
    fn matched(&mut self, parts: Vec<Part>) {
        let mut by_communicator: BTreeMap<(u32, i64), BTreeMap<Who, Vec<Part>>> = BTreeMap::new();
        for part in parts {
            let of = by_communicator.entry((part.who.app, part.communicator)).or_default();
            of.entry(part.who).or_default().push(part);
        }
        for of_thread in by_communicator.into_values() {
            let least = of_thread.values().map(Vec::len).min().unwrap_or(0);
            let alike = |n: &usize| {
                let mut operations = of_thread.values().map(|parts| parts[*n].operation);
                let first = operations.next();
                operations.all(|operation| Some(operation) == first)
            };
            // After the first that differs, the n-th operations of the tasks
            // are not the same one any more.
            let n_alike = (0..least).take_while(alike).count();
            self.unmatched += of_thread.values().map(|parts| (parts.len() - n_alike) as u64).sum::<u64>();
            let one = |n: usize| of_thread.values().map(|parts| parts[n]).collect();
            self.collectives.extend((0..n_alike).map(one));
        }
    }

    pub(super) fn messages(&self, place: &BTreeMap<Who, usize>) -> Vec<Message> {
        let message = |sent: &Sent| Message {
            from: place[&sent.from],
            sent: sent.left,
            to: place[&sent.to],
            received: sent.came,
        };
        self.sent.iter().map(message).collect()
    }

    pub(super) fn collectives(&self, place: &BTreeMap<Who, usize>) -> Vec<Collective> {
        let collective = |parts: &Vec<Part>| {
            let root = parts.iter().position(|part| part.is_root);
            let pattern = match (root, parts[0].operation) {
                (Some(root), operation) if FROM_ROOT.contains(&operation) => Pattern::FromRoot(root),
                (Some(root), operation) if TO_ROOT.contains(&operation) => Pattern::ToRoot(root),
                _ => Pattern::All,
            };
            let member =
                |part: &Part| Member { thread: place[&part.who], enter: part.enter, exit: part.exit };
            Collective { members: parts.iter().map(member).collect(), pattern }
        };
        // An operation of one task alone waits for nobody.
        self.collectives.iter().filter(|parts| parts.len() > 1).map(collective).collect()
    }

    /// Parts of operations in which no other task took part.
    pub(super) fn unmatched(&self) -> u64 {
        self.unmatched
    }
}

/// Pieces of about that size that end at line ends.
pub(super) fn blocks(text: &[u8], size: usize) -> Vec<&[u8]> {
    let (mut blocks, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let least = size.min(rest.len());
        let end = memchr::memchr(b'\n', &rest[least - 1..]).map_or(rest.len(), |n| least + n);
        let (block, after) = rest.split_at(end);
        blocks.push(block);
        rest = after;
    }
    blocks
}

impl Block {
    fn of(bytes: &[u8], header: &Header) -> Self {
        let mut block = Self::default();
        let mut known = Known::default();
        for line in lines(bytes) {
            let record = parse(line, &mut known).and_then(|record| declared(record, header));
            block.lines += 1;
            match record {
                Err(kind) => {
                    block.problem = Some((block.lines - 1, kind));
                    break;
                }
                Ok(Record::State { who, begin, end, value }) => {
                    block.first =
                        block.first.into_iter().chain(Some(begin).filter(|_| is_of_run(value))).min();
                    let does = !NOTHING.contains(&value);
                    seen(&mut block.threads, who, if does { end.unwrap_or(begin) } else { 0 });
                }
                Ok(Record::Event { who, time }) => {
                    block.first = block.first.into_iter().chain([time]).min();
                    seen(&mut block.threads, who, time);
                    let is_mark =
                        |&&(event, _): &&(u32, _)| [COLLECTIVE, COMMUNICATOR, ROOT, OTHER].contains(&event);
                    let mark = |&(event, value): &(u32, _)| Mark { who, time, event, value: value as i64 };
                    block.marks.extend(known.pairs().iter().filter(is_mark).map(mark));
                    let of_stream = known.pairs().iter().find(|(event, _)| is_of_stream(*event));
                    block.streams.extend(of_stream.map(|(event, _)| (who, *event)));
                }
                Ok(Record::Communication { from, to, .. }) => {
                    let [sent, left, asked, came] = communication_times(line);
                    seen(&mut block.threads, from, left.max(sent).unwrap_or(0));
                    seen(&mut block.threads, to, came.max(asked).unwrap_or(0));
                    // If a physical time is unknown, the logical one is nearest.
                    if let (Some(left), Some(came)) = (left.or(sent), came.or(asked)) {
                        block.sent.push(Sent { from, left, to, came });
                    }
                }
                Ok(_) => {}
            }
        }
        block
    }
}

/// Notes that a thread does something until `last`.
fn seen(threads: &mut BTreeMap<Who, u64>, who: Who, last: u64) {
    let known = threads.entry(who).or_insert(0);
    *known = last.max(*known);
}

/// `record`, if the header declares its threads.
fn declared(record: Record, header: &Header) -> Result<Record, ErrorKind> {
    let threads = match record {
        Record::State { who, .. }
        | Record::Backwards { who, .. }
        | Record::Untimed { who }
        | Record::Event { who, .. } => [who, who],
        Record::Communication { from, to, .. } => [from, to],
        _ => return Ok(record),
    };
    let unknown = |who: &Who| !header.topology.declares(who.app, who.task, who.thread);
    match threads.into_iter().find(unknown) {
        Some(Who { app, task, thread }) => Err(ErrorKind::UnknownThread { app, task, thread }),
        None => Ok(record),
    }
}

/// When a message was sent, left, was asked for and arrived. `None` for an
/// unknown time: −1, or −1 read without a sign.
pub(super) fn communication_times(line: &[u8]) -> [Option<u64>; 4] {
    let mut times = [None; 4];
    for (at, field) in line.split(|&b| b == b':').enumerate().take(13) {
        if let Some(place) = [5, 6, 11, 12].iter().position(|&known| known == at) {
            let time = std::str::from_utf8(field).ok().and_then(|text| text.parse::<u64>().ok());
            times[place] = time.filter(|&time| time < 1 << 63);
        }
    }
    times
}

/// Whether it is MPI_Finalize.
fn is_last(part: Part) -> bool {
    part.communicator == ALL
}

/// What each thread did, one operation after the other.
fn parts(mut marks: Vec<Mark>) -> Vec<Part> {
    // Stable: marks of one time keep the order of the file.
    marks.par_sort_by_key(|mark| (mark.who, mark.time));
    let mut parts = Vec::new();
    for of_thread in marks.chunk_by(|a, b| a.who == b.who) {
        let mut open: Option<Part> = None;
        for at_once in of_thread.chunk_by(|a, b| a.time == b.time) {
            let value = |event: u32| at_once.iter().find(|mark| mark.event == event).map(|mark| mark.value);
            let is_part = |mark: &&Mark| match mark.event {
                COLLECTIVE => true,
                OTHER => mark.value == FINALIZE || (mark.value == 0 && open.is_some_and(is_last)),
                _ => false,
            };
            let marks: Vec<&Mark> = at_once.iter().filter(is_part).collect();
            for mark in marks {
                // An operation without an end ends where the next one begins.
                if let Some(mut part) = open.take() {
                    part.exit = mark.time;
                    parts.push(part);
                }
                if mark.value != 0 {
                    let communicator =
                        if mark.event == OTHER { ALL } else { value(COMMUNICATOR).unwrap_or(0) };
                    open = Some(Part {
                        who: mark.who,
                        operation: mark.value,
                        communicator,
                        enter: mark.time,
                        exit: mark.time,
                        is_root: value(ROOT).is_some_and(|value| value != 0),
                    });
                }
            }
        }
        parts.extend(open);
    }
    parts
}
