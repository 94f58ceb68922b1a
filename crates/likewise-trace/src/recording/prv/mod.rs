//! A recording as a Paraver trace, for Paraver and BSC's tools.
//!
//! States, events of the calls with Extrae's numbers, their callers, the
//! counters of the bursts, and messages. The function that computes in a burst
//! ([`Paths::between`]) is written as Extrae writes functions that the user
//! asked for (60000019): entered when the burst begins, left when it ends.

mod matching;
mod names;
mod numbers;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use likewise_recording::comms::Comms;
use likewise_recording::{Datatype, Recording};

use self::matching::{Found, Message};
use self::names::Tables;
use super::counters::{self, Column};
use super::leads::measured;
use super::paths::Paths;
use super::read::{end_of, topology};
use super::rows::Facts;
use super::source::Source;
use super::walk::{Step, Walk};
use crate::error::{Error, Result};
use crate::output::AtomicFile;
use crate::quick::QuickState;
use crate::trace::{RUNNING, Topology};

const FUNCTION: u32 = 60_000_019;
const FUNCTION_LINE: u32 = 60_000_119;
const CALLER: u32 = 70_000_001;
const CALLER_LINE: u32 = 80_000_001;
/// As many callers as Extrae has types for.
const MAX_CALLERS: usize = 10;
/// All counters begin anew: they are read when a burst begins.
const COUNTERS_BEGIN: u32 = 41_999_999;
const SENT: u32 = 50_100_001;
const ROOT: u32 = 50_100_003;
const COMMUNICATOR: u32 = 50_100_004;
/// Text is handed on in pieces of about this size.
const PIECE: usize = 1 << 18;

/// Writes `stem.prv`, `stem.pcf` and `stem.row`. Returns them, for the caller
/// to commit, and what is to be known of them.
///
/// # Errors
/// Those of writing.
///
/// # Complexity
/// Two passes over the events; memory is that of the messages.
pub fn write_prv(recording: &Recording, path: &Path, stem: &Path) -> Result<(Vec<AtomicFile>, Vec<String>)> {
    let ranks = recording.ranks().iter().map(|meta| meta.rank).collect();
    write(recording, ranks, super::warnings(recording, path), path, stem)
}

/// The same of the ranks alone that were recorded throughout, as the tables of
/// bursts have them.
///
/// # Errors
/// Those of writing; there is no such rank.
pub fn write_measured_prv(
    recording: &Recording,
    path: &Path,
    stem: &Path,
) -> Result<(Vec<AtomicFile>, Vec<String>)> {
    let (ranks, warning) = measured(recording, path)?;
    let warnings = super::of_measured(recording, path).into_iter().chain(warning).collect();
    write(recording, ranks, warnings, path, stem)
}

fn write(
    recording: &Recording,
    ranks: Vec<u32>,
    mut warnings: Vec<String>,
    path: &Path,
    stem: &Path,
) -> Result<(Vec<AtomicFile>, Vec<String>)> {
    let found = matching::find(recording, &ranks, path);
    warnings.extend(found.lent.note());
    let mut source = Source::new(recording.modules());
    let paths = Paths::of(recording, &mut source);
    warnings.append(&mut source.notes);
    let topology = topology(recording, &found.threads);
    let mut writer = Writer {
        recording,
        ranks,
        paths: &paths,
        tables: Tables::default(),
        between: HashMap::default(),
        callers: HashMap::default(),
        columns: counters::columns(recording.counters()),
        comms: found.comms.keys().zip(1..).map(|(&key, number)| (key, number)).collect(),
        cpus: cpus(&topology),
        topology: &topology,
    };
    let with = |extension: &str| PathBuf::from(format!("{}.{extension}", stem.display()));
    let mut prv = AtomicFile::create(&with("prv"))?;
    let failed = |error: io::Error| Error::write(&with("prv"), error);
    prv.write_all(writer.header(&found).as_bytes()).map_err(failed)?;
    warnings.extend(writer.records(&found.messages, path, &mut prv).map_err(failed)?);
    if found.unmatched > 0 {
        warnings
            .push(format!("{} sends and receives have no counterpart and are not shown", found.unmatched));
    }
    if found.unknown > 0 {
        warnings.push(format!(
            "{} sends and receives are not shown, for it is not known with whom they are: a recording has no arguments \
             of calls of large counts (MPI_Send_c), and ranks of another MPI_COMM_WORLD have no place in it",
            found.unknown
        ));
    }
    let write = |extension: &str, text: String| -> Result<AtomicFile> {
        let mut file = AtomicFile::create(&with(extension))?;
        file.write_all(text.as_bytes()).map_err(|error| Error::write(&with(extension), error))?;
        Ok(file)
    };
    let pcf = write("pcf", names::pcf(&writer.tables, &writer.columns))?;
    let row = write("row", names::row(&topology, recording))?;
    Ok((vec![prv, pcf, row], warnings))
}

/// The first CPU of every task: threads have CPUs of their own, those of a
/// node one after the other.
fn cpus(topology: &Topology) -> Vec<u32> {
    let mut next: Vec<u32> = vec![1; topology.cpus.len() + 1];
    for node in 1..topology.cpus.len() {
        next[node + 1] = next[node] + topology.cpus[node - 1];
    }
    let tasks = topology.apps.iter().flatten();
    let first = |task: &crate::trace::Task| {
        let place = &mut next[task.node as usize];
        let first = if task.node == 0 { 0 } else { *place };
        *place += task.threads;
        first
    };
    tasks.map(first).collect()
}

/// Names and numbers that all records share.
struct Writer<'r> {
    recording: &'r Recording,
    /// Those that are written.
    ranks: Vec<u32>,
    paths: &'r Paths,
    tables: Tables,
    /// What is written where a burst between two call paths begins.
    between: HashMap<(u32, u32), Option<(u32, u32)>, QuickState>,
    /// What is written of the callers of a call path.
    callers: HashMap<u32, String, QuickState>,
    columns: Vec<Column>,
    /// The numbers of communicators, from 1.
    comms: BTreeMap<(u64, u32), u32>,
    cpus: Vec<u32>,
    topology: &'r Topology,
}

/// A thread's events, and what of them is not yet written.
struct Stream<'r> {
    walk: Walk<'r>,
    comms: Comms,
    types: Vec<Datatype>,
    rank: u32,
    thread: u32,
    before: Option<u32>,
    /// Its ids as records begin with them.
    who: String,
    /// Lines with their times, in order.
    ready: VecDeque<(u64, String)>,
}

impl<'r> Writer<'r> {
    fn header(&self, found: &Found) -> String {
        let start = self.recording.ranks().iter().map(|meta| meta.start).min().unwrap_or(0);
        let end = end_of(self.recording, found.end);
        let Topology { nodes, cpus, apps } = self.topology;
        let list = |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(",");
        let cpus = list(&mut cpus.iter().map(u32::to_string));
        let tasks = list(&mut apps[0].iter().map(|task| format!("{}:{}", task.threads, task.node.max(1))));
        let (date, n_tasks, n_comms) = (names::date(start), apps[0].len(), found.comms.len());
        let mut text = format!("#Paraver ({date}):{end}_ns:{nodes}({cpus}):1:{n_tasks}({tasks}),{n_comms}\n");
        for (key, members) in &found.comms {
            let _ = write!(text, "c:1:{}:{}", self.comms[key], members.len());
            for rank in members.iter() {
                let _ = write!(text, ":{}", rank + 1);
            }
            text.push('\n');
        }
        text
    }

    /// Writes all records by time. Returns what could not be read.
    fn records(
        &mut self,
        messages: &[Message],
        path: &'r Path,
        out: &mut impl Write,
    ) -> io::Result<Vec<String>> {
        let mut streams = Vec::new();
        for &rank in &self.ranks {
            for thread in 0..self.topology.apps[0][rank as usize].threads {
                streams.push(Stream {
                    walk: Walk::new(self.recording, rank, path),
                    comms: Comms::new(rank, self.recording.size()),
                    types: self.recording.datatypes(rank),
                    rank,
                    thread,
                    before: None,
                    who: self.who(rank, thread),
                    ready: VecDeque::new(),
                });
            }
        }
        let mut problems = Vec::new();
        let mut heap = BinaryHeap::new();
        let next = |writer: &mut Self, at: usize, streams: &mut [Stream<'r>], problems: &mut Vec<String>| {
            writer.fill(&mut streams[at], problems);
            streams[at].ready.front().map(|(time, _)| Reverse((*time, at)))
        };
        for at in 0..streams.len() {
            heap.extend(next(self, at, &mut streams, &mut problems));
        }
        let (mut text, mut messages) = (String::with_capacity(PIECE + 4096), messages.iter().peekable());
        while let Some(Reverse((time, at))) = heap.pop() {
            while let Some(message) = messages.next_if(|message| message.sent <= time) {
                self.message(message, &mut text);
            }
            while let Some((_, lines)) = streams[at].ready.pop_front_if(|(ready, _)| *ready == time) {
                text.push_str(&lines);
            }
            heap.extend(next(self, at, &mut streams, &mut problems));
            if text.len() >= PIECE {
                out.write_all(text.as_bytes())?;
                text.clear();
            }
        }
        messages.for_each(|message| self.message(message, &mut text));
        out.write_all(text.as_bytes())?;
        Ok(problems)
    }

    fn who(&self, rank: u32, thread: u32) -> String {
        let cpu =
            self.cpus.get(rank as usize).map_or(0, |first| if *first == 0 { 0 } else { first + thread });
        format!("{cpu}:1:{}:{}", rank + 1, thread + 1)
    }

    fn message(&self, message: &Message, text: &mut String) {
        let Message { from, to, sent, posted, done, bytes, tag } = *message;
        let (from, to) = (self.who(from.0, from.1), self.who(to.0, to.1));
        let _ = writeln!(text, "3:{from}:{sent}:{sent}:{to}:{posted}:{done}:{bytes}:{tag}");
    }

    /// Makes lines of the next event of a thread, if none is ready.
    fn fill(&mut self, stream: &mut Stream<'r>, problems: &mut Vec<String>) {
        while stream.ready.is_empty() {
            let step = match stream.walk.next() {
                Ok(Some(step)) => step,
                Ok(None) => return,
                Err(error) => {
                    problems.push(format!("rank {}: what follows is lost: {error}", stream.rank));
                    return;
                }
            };
            if step.event.thread == stream.thread {
                let before = stream.before.replace(step.path);
                self.lines(&step, before, &stream.who, &stream.comms, &stream.types, &mut stream.ready);
            }
            stream.comms.apply(step.event, step.call);
        }
    }

    fn lines(
        &mut self,
        step: &Step<'_>,
        before: Option<u32>,
        who: &str,
        comms: &Comms,
        types: &[Datatype],
        ready: &mut VecDeque<(u64, String)>,
    ) {
        let Step { call, path, start, begin, end, .. } = *step;
        let mut entered = false;
        if start < begin {
            let mut text = format!("1:{who}:{start}:{begin}:{RUNNING}\n");
            let function = before.and_then(|before| self.function(before, path));
            entered = function.is_some();
            let is_counted = step.counters(&self.columns).next().is_some();
            if entered || is_counted {
                let _ = write!(text, "2:{who}:{start}");
                if is_counted {
                    let _ = write!(text, ":{COUNTERS_BEGIN}:1");
                }
                if let Some((function, line)) = function {
                    let _ = write!(text, ":{FUNCTION}:{function}");
                    if line > 0 {
                        let _ = write!(text, ":{FUNCTION_LINE}:{line}");
                    }
                }
                text.push('\n');
            }
            ready.push_back((start, text));
        }
        let (event_type, value) = numbers::number(call);
        self.tables.calls.insert((event_type, value), call.name());
        let mut text = String::new();
        if begin < end {
            let _ = writeln!(text, "1:{who}:{begin}:{end}:{}", numbers::state(call));
        }
        let _ = write!(text, "2:{who}:{begin}:{event_type}:{value}");
        for (counter, value) in step.counters(&self.columns) {
            let _ = write!(text, ":{counter}:{value}");
        }
        if entered {
            let _ = write!(text, ":{FUNCTION}:0");
        }
        text.push_str(self.callers(path));
        if event_type == numbers::COLLECTIVE {
            self.collective(step, comms, types, &mut text);
        }
        text.push('\n');
        ready.push_back((begin, text));
        ready.push_back((end, format!("2:{who}:{end}:{event_type}:0\n")));
    }

    /// The numbers of the function that computes between two calls, and of its line.
    fn function(&mut self, before: u32, after: u32) -> Option<(u32, u32)> {
        if let Some(known) = self.between.get(&(before, after)) {
            return *known;
        }
        let numbers = self.paths.between(before, after).map(|spot| self.tables.numbers(&spot));
        self.between.insert((before, after), numbers);
        numbers
    }

    fn callers(&mut self, path: u32) -> &str {
        let Self { callers, paths, tables, .. } = self;
        callers.entry(path).or_insert_with(|| {
            let mut text = String::new();
            for (spot, level) in paths.callers(path).zip(0..MAX_CALLERS as u32) {
                let (function, line) = tables.numbers(spot);
                let _ = write!(text, ":{}:{function}", CALLER + level);
                if line > 0 {
                    let _ = write!(text, ":{}:{line}", CALLER_LINE + level);
                }
            }
            text
        })
    }

    /// What Extrae says of a collective operation: bytes, root, communicator.
    fn collective(&self, step: &Step<'_>, comms: &Comms, types: &[Datatype], text: &mut String) {
        let facts = Facts::of(step.call, step.event, types);
        if let Some(bytes) = facts.bytes().filter(|&bytes| bytes >= 0) {
            let _ = write!(text, ":{SENT}:{bytes}");
        }
        let Some(comm) = comms.of(step.call, step.event) else { return };
        if let Some(root) = facts.root() {
            let _ = write!(text, ":{ROOT}:{}", u8::from(root == i64::from(comm.rank)));
        }
        let own = if comm.global == 1 { comms.get(0).map_or(0, |world| world.rank) } else { 0 };
        if let Some(number) = self.comms.get(&(comm.global, own)) {
            let _ = write!(text, ":{COMMUNICATOR}:{number}");
        }
    }
}
