//! A trace with new times: bursts take as long as a simulation says, and the
//! waits of their threads are computed anew.

mod facts;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use likewise::bursts::replay::{Clock, Replayed, Run, Stretch, replay};
use likewise::table::{Moment, Nanos};
use rayon::prelude::*;

use super::companions;
use super::copy::{check_rereadable, filled, with_extension};
use super::cut::{open, with_end};
use super::header::Header;
use super::records::{Known, Record, parse, time_of};
use super::scan::well_formed;
use super::streams::Found;
use crate::bytes::{BLOCK, lines};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::output::AtomicFile;
use crate::trace::Who;
use facts::{Facts, communication_times};

/// A burst of a trace, and how long it is to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetimedBurst {
    /// Application, from 1.
    pub app: u32,
    /// Task, from 1.
    pub task: u32,
    /// Thread, from 1.
    pub thread: u32,
    /// When it began.
    pub begin: Nanos,
    /// How long it took.
    pub duration: Nanos,
    /// How long it takes now.
    pub now: Nanos,
}

/// What the new trace was made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RetimeReport {
    /// When what was traced begins: with the first record, before and now.
    pub begin: Nanos,
    /// When the trace ended.
    pub end: Nanos,
    /// When it ends now.
    pub new_end: Nanos,
    /// When the last record of each application was, and is now.
    pub ends: BTreeMap<u32, [Nanos; 2]>,
    /// Threads with bursts, in order.
    pub threads: Vec<RetimedThread>,
    /// Messages that somebody waits for.
    pub messages: u64,
    /// Collective operations.
    pub collectives: u64,
    /// What the replay is not sure about, safe to print.
    pub warnings: Vec<String>,
}

/// A thread with bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetimedThread {
    /// Application, from 1.
    pub app: u32,
    /// Task, from 1.
    pub task: u32,
    /// Thread, from 1.
    pub thread: u32,
    /// How long it computed, and computes now.
    pub computing: [Nanos; 2],
    /// When its last burst ended, and ends now.
    pub last: [Nanos; 2],
}

/// Writes `stem.prv`, `stem.pcf` and `stem.row`: the trace at `input` as it
/// would be if its bursts took the times in `bursts` (in any order).
///
/// The times of all records change with their thread, and records are ordered
/// by the new times. Counters and message sizes stay as they are. Waits are
/// computed from the messages of the trace and from its MPI collective
/// operations (events 50000002, with the communicator in 50100004 and the root
/// marked by 50100003); see [`likewise::bursts::replay`] for the model.
/// Obsolete global operations and lines of unknown kinds are left out.
///
/// # Errors
/// [`ErrorKind::NotRereadable`] for pipes. [`ErrorKind::Table`] if a burst is
/// not in this trace, or if a task computes on several threads or has streams
/// of accelerators: no record tells how these wait for one another. Also those of reading and writing.
///
/// # Complexity
/// O(n log n) for n records; memory is twice that of the text.
pub fn write_retimed(
    input: &Path,
    stem: &Path,
    bursts: &[RetimedBurst],
    lenient: bool,
) -> Result<(Vec<AtomicFile>, RetimeReport)> {
    check_rereadable(input)?;
    let mut source = open(input)?;
    let first = source.take_line()?;
    let header = Header::parse(&first).map_err(|kind| Error::at(input, Place::Line(1), kind))?;
    let whole = source.read_all()?;
    let (text, skipped) = if lenient { well_formed(&whole, &header) } else { (Cow::Borrowed(&whole[..]), 0) };
    let facts =
        Facts::of(&text, &header).map_err(|(line, kind)| Error::at(input, Place::Line(line + 2), kind))?;
    let wrong = |problem: String| Error::whole(input, ErrorKind::Table(problem));
    let row = companions::read_row(input, &header, &mut Vec::new());
    if let Some(stream) = Found::of(&row, &header.topology, &facts.streams).first() {
        return Err(wrong(format!(
            "{stream} is a stream of an accelerator: no record tells how threads wait for kernels, so a trace with \
             streams cannot be retimed"
        )));
    }
    let (threads, run) = run(&facts, bursts, &header).map_err(wrong)?;
    let replayed = replay(&run).map_err(|error| wrong(error.to_string()))?;
    let mut report = report(&threads, &run, &replayed, &facts, header.unit.nanos());
    report.warnings.extend((skipped > 0).then(|| format!("{skipped} malformed records were skipped.")));
    let with = |extension| with_extension(stem, extension);
    let mut prv = AtomicFile::create(&with("prv"))?;
    let clocks: BTreeMap<Who, &Clock> = threads.iter().copied().zip(&replayed.clocks).collect();
    let failed = |error| Error::write(&with("prv"), error);
    prv.write_all(&with_end(&first, replayed.end)).map_err(failed)?;
    write_records(&text, &clocks, &mut prv).map_err(failed)?;
    let mut files = vec![prv];
    for extension in ["pcf", "row"] {
        match companions::bytes(input, extension) {
            Ok(Some(bytes)) => files.push(filled(&with(extension), &bytes)?),
            Ok(None) => {}
            Err(error) => report.warnings.push(format!("{error}; it is not copied")),
        }
    }
    Ok((files, report))
}

/// The threads of a trace, in order, and the run to be replayed, in the file's
/// unit.
fn run(
    facts: &Facts,
    bursts: &[RetimedBurst],
    header: &Header,
) -> std::result::Result<(Vec<Who>, Run), String> {
    let unit = header.unit.nanos();
    let mut stretches: BTreeMap<Who, Vec<Stretch>> =
        facts.threads.keys().map(|&who| (who, Vec::new())).collect();
    for burst in bursts {
        let RetimedBurst { app, task, thread, begin, duration, now } = *burst;
        let Some(of_thread) = stretches.get_mut(&Who { app, task, thread }) else {
            return Err(format!(
                "no record is of thread {app}.{task}.{thread}, which has a burst in the table"
            ));
        };
        let end = begin.saturating_add(duration);
        of_thread.push(Stretch { begin: begin.0 / unit, end: end.0 / unit, now: now.0 / unit });
        if end > header.end {
            return Err(format!(
                "the table has a burst that ends at {}, and the trace ends at {}",
                Moment(end),
                Moment(header.end)
            ));
        }
    }
    let mut before: Option<Who> = None;
    for (&who, _) in stretches.iter_mut().filter(|(_, of_thread)| !of_thread.is_empty()) {
        if let Some(Who { app, task, .. }) = before.filter(|b| (b.app, b.task) == (who.app, who.task)) {
            return Err(format!(
                "task {app}.{task} computes on several threads; what threads of a task wait for stands in no record, \
                 so only runs of one thread a task can be timed anew"
            ));
        }
        before = Some(who);
    }
    stretches
        .values_mut()
        .for_each(|of_thread| of_thread.sort_by_key(|stretch| (stretch.begin, stretch.end)));
    let place: BTreeMap<Who, usize> = stretches.keys().copied().zip(0..).collect();
    let run = Run {
        end: header.end.0 / unit,
        lasts: facts.threads.values().copied().collect(),
        threads: stretches.values().cloned().collect(),
        messages: facts.messages(&place),
        collectives: facts.collectives(&place),
    };
    Ok((stretches.into_keys().collect(), run))
}

fn report(threads: &[Who], run: &Run, replayed: &Replayed, facts: &Facts, unit: u64) -> RetimeReport {
    let nanos = |time: u64| Nanos(time.saturating_mul(unit));
    let thread = |((who, bursts), clock): ((&Who, &Vec<Stretch>), &Clock)| {
        let last = bursts.last()?.end;
        let sum = |of: fn(&Stretch) -> u64| nanos(bursts.iter().map(of).sum());
        Some(RetimedThread {
            app: who.app,
            task: who.task,
            thread: who.thread,
            computing: [sum(|b| b.end - b.begin), sum(|b| b.now)],
            last: [nanos(last), nanos(clock.until(last))],
        })
    };
    let mut ends: BTreeMap<u32, [Nanos; 2]> = BTreeMap::new();
    for ((who, &last), clock) in threads.iter().zip(&run.lasts).zip(&replayed.clocks) {
        let end = ends.entry(who.app).or_default();
        *end = [end[0].max(nanos(last)), end[1].max(nanos(clock.until(last)))];
    }
    let warning = |n: u64, what: &str| (n > 0).then(|| format!("{n} {what}"));
    let warnings = [
        warning(
            facts.unmatched(),
            "entries into collective operations have no counterpart, and nobody waits for them.",
        ),
        warning(
            replayed.n_inside,
            "messages came while their receiver computed; it waits for them before that burst.",
        ),
        warning(
            replayed.n_skewed,
            "times somebody was done before what it waits for (clocks differ); nobody waits there.",
        ),
        warning(replayed.n_unresolved, "waits of no length go in a circle, and are passed over."),
    ];
    RetimeReport {
        begin: nanos(facts.first.unwrap_or(0)),
        end: nanos(run.end),
        new_end: nanos(replayed.end),
        ends,
        threads: threads.iter().zip(&run.threads).zip(&replayed.clocks).filter_map(thread).collect(),
        messages: run.messages.len() as u64,
        collectives: run.collectives.len() as u64,
        warnings: warnings.into_iter().flatten().collect(),
    }
}

/// All records with their new times, in the order of these.
fn write_records(text: &[u8], clocks: &BTreeMap<Who, &Clock>, out: &mut impl Write) -> std::io::Result<()> {
    let block = |block: &[u8]| {
        let (mut written, mut order) = (Vec::with_capacity(block.len()), Vec::new());
        let mut known = Known::default();
        for line in lines(block) {
            let from = written.len();
            if parse(line, &mut known).is_ok_and(|record| retimed(record, line, clocks, &mut written)) {
                // Records without a time, such as communicators, come first.
                order.push((time_of(&written[from..]), from, written.len()));
            }
        }
        (written, order)
    };
    let blocks: Vec<_> = facts::blocks(text, BLOCK).into_par_iter().map(block).collect();
    let mut order: Vec<(Option<u64>, usize, usize, usize)> = Vec::new();
    for (at, (_, lines)) in blocks.iter().enumerate() {
        order.extend(lines.iter().map(|&(time, from, to)| (time, at, from, to)));
    }
    // Stable: records that now have the same time keep the order of the file.
    order.par_sort_by_key(|&(time, ..)| time);
    order.into_iter().try_for_each(|(_, at, from, to)| out.write_all(&blocks[at].0[from..to]))
}

/// Writes the record with its new times, unless it is of a kind that is left out.
fn retimed(record: Record, line: &[u8], clocks: &BTreeMap<Who, &Clock>, out: &mut Vec<u8>) -> bool {
    let line = line.trim_ascii_end();
    let clock = |who: Who| clocks[&who];
    match record {
        Record::State { who, begin, end, .. } => {
            let new_begin = clock(who).from(begin);
            let new_end = end.map(|end| clock(who).until(end).max(new_begin));
            with_times(line, &[(5, Some(new_begin)), (6, new_end)], out);
        }
        Record::Event { who, time } => with_times(line, &[(5, Some(clock(who).until(time)))], out),
        Record::Communication { from, to, .. } => {
            let [sent, left, asked, came] = communication_times(line);
            let [sent, new_left] = [sent, left].map(|time| time.map(|time| clock(from).until(time)));
            let [asked, new_came] = [asked, came].map(|time| time.map(|time| clock(to).until(time)));
            // The receiver may not wait for this message. It still must not
            // arrive before it left, unless it did so in the input.
            let is_causal = left.zip(came).is_some_and(|(left, came)| left <= came);
            let new_came = if is_causal { new_came.max(new_left) } else { new_came };
            with_times(line, &[(5, sent), (6, new_left), (11, asked), (12, new_came)], out);
        }
        Record::Communicator | Record::Comment => {
            out.extend_from_slice(line);
            out.push(b'\n');
        }
        Record::GlobalOperation
        | Record::Backwards { .. }
        | Record::Untimed { .. }
        | Record::Unknown
        | Record::Blank => return false,
    }
    true
}

/// Writes the line with other numbers in those fields, as far as there are any.
fn with_times(line: &[u8], times: &[(usize, Option<u64>)], out: &mut Vec<u8>) {
    let mut digits = itoa::Buffer::new();
    for (at, field) in line.split(|&b| b == b':').enumerate() {
        if at > 0 {
            out.push(b':');
        }
        match times.iter().find(|(field, _)| *field == at) {
            Some((_, Some(time))) => out.extend_from_slice(digits.format(*time).as_bytes()),
            _ => out.extend_from_slice(field),
        }
    }
    out.push(b'\n');
}
