//! Bursts of a Paraver trace, block by block in parallel.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use likewise::bursts::is_nearly_all;
use likewise::table::{Moment, Nanos, PlaceId};
use likewise::words::{counted, grouped_digits, listed, percent};

use super::code::{self, Site};
use super::companions::{read_pcf, read_row};
use super::event_types::is_hardware;
use super::header::Header;
use super::mpi;
use super::reading::{Records, open};
use super::records::cpu_and_thread;
use super::rules::{Interpreter, OpenMp, Rules};
use super::scan::{Threads, scan};
use super::set_up;
use super::sorted;
use super::streams;
use crate::bytes::{BLOCK, Input, is_rereadable, lines};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::folding::bursts::ByThread;
use crate::folding::cover::Limits;
use crate::folding::openmp::{Joined, Marks, join};
use crate::folding::pieces::{Folding, Pieces};
use crate::folding::sites::Sites;
use crate::folding::steps::Mark;
use crate::folding::table::{self, Names, Places};
use crate::trace::{Apps, ReadOptions, Trace, Who};

/// About so many bytes of a trace are a burst's, with the call behind it.
const BYTES_A_BURST: usize = 400;

/// So many bursts of each thread a block should have: with fewer, to begin a thread's piece
/// and to join it with the one before takes longer than to read it. (300,000 bursts of 5,000
/// tasks: 1.4 s in blocks with 2 of each, 0.8 s with 4, 0.6 s with 8, 0.57 s with 16.)
const BURSTS_A_PIECE: usize = 8;

/// At most so many blocks are read as one for that.
const MOST_BLOCKS: usize = 8;

/// How many blocks are read as one: more where there are many threads, but not so many that
/// there are too few to share out, of as many as the input has.
fn joined_blocks(threads: usize, blocks: Option<usize>) -> usize {
    let wanted = threads.saturating_mul(BURSTS_A_PIECE * BYTES_A_BURST).div_ceil(BLOCK);
    let shared = blocks.map_or(MOST_BLOCKS, |n| n / (4 * rayon::current_num_threads()));
    wanted.min(shared).clamp(1, MOST_BLOCKS)
}

/// Reads a trace that is known to be one by its first bytes. If a parallel
/// region of OpenMP appears, bursts are defined differently, and the reading
/// starts again. A pipe cannot be read again, so it goes on as it began.
pub(crate) fn read(input: Input, options: &ReadOptions<'_>, block: usize) -> Result<Trace> {
    let path = input.path().to_owned();
    let mut rules = Rules::new(options);
    if options.burst_events.is_empty() && is_rereadable(&path) {
        rules.openmp = OpenMp::Sought;
    }
    if let Some(trace) = read_by(input, &rules, options, block)? {
        return Ok(trace);
    }
    rules.openmp = OpenMp::Joined;
    let trace = read_by(Input::open_text(&path)?, &rules, options, block)?;
    Ok(trace.expect("only what is sought stops the reading"))
}

/// `None` if a parallel region was looked for and found.
fn read_by(
    mut input: Input,
    rules: &Rules,
    options: &ReadOptions<'_>,
    block: usize,
) -> Result<Option<Trace>> {
    let path = input.path().to_owned();
    let consumed = input.consumed();
    let header = opened(&mut input, options)?;
    let reading = Reading { path: &path, header: &header, rules, options, block };
    let mut records = Records::new(&path, options.lenient);
    let Some(gathered) = reading.gathered(input, &mut records)? else { return Ok(None) };
    let bytes = consumed.load(std::sync::atomic::Ordering::Relaxed);
    reading.trace(gathered, records, bytes).map(Some)
}

/// The header, if the trace has the application that is asked for.
pub(super) fn opened(input: &mut Input, options: &ReadOptions<'_>) -> Result<Header> {
    let header = open(input)?;
    let there = header.topology.apps.len();
    match options.apps {
        Apps::One(asked) if asked == 0 || asked as usize > there => {
            let kind = ErrorKind::NoSuchApplication { asked, there };
            Err(Error::at(input.path(), Place::Line(1), kind))
        }
        _ => Ok(header),
    }
}

/// A trace that is read, and how.
pub(super) struct Reading<'r> {
    pub(super) path: &'r Path,
    pub(super) header: &'r Header,
    pub(super) rules: &'r Rules,
    pub(super) options: &'r ReadOptions<'r>,
    pub(super) block: usize,
}

/// What was read of every thread, and where it enters and leaves regions.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) pieces: BTreeMap<Who, Pieces>,
    pub(super) marks: BTreeMap<Who, Marks>,
    pub(super) sites: Sites<Site>,
    /// Threads with events that only streams of accelerators have, and the type of these.
    pub(super) streams: BTreeMap<Who, u32>,
    /// When threads call MPI_Init and MPI_Finalize, and their tracer is set up.
    pub(super) mpi: BTreeMap<Who, mpi::Calls>,
}

impl Reading<'_> {
    pub(super) fn limits(&self) -> Limits {
        Limits::new(self.header.unit.nanos(), is_hardware)
    }

    /// How many threads the first block has, where the header claims many: it may claim more
    /// than there are.
    fn threads_seen(&self, input: &mut Input) -> Result<usize> {
        let claimed = self.header.topology.n_threads();
        if joined_blocks(claimed as usize, None) == 1 {
            return Ok(1);
        }
        let head = input.peek(BLOCK)?;
        let who = lines(&head[..head.len().min(BLOCK)]).filter_map(cpu_and_thread).map(|(_, who)| who);
        Ok(who.collect::<BTreeSet<Who>>().len())
    }

    /// Reads the input; `None` if a parallel region was looked for and found.
    pub(super) fn gathered(&self, mut input: Input, records: &mut Records<'_>) -> Result<Option<Gathered>> {
        let Self { header, rules, options, .. } = *self;
        let blocks = input.left().map(|left| left / self.block);
        let block = self.block.saturating_mul(joined_blocks(self.threads_seen(&mut input)?, blocks));
        let mut gathered = Gathered::default();
        let mut found = false;
        // Of each thread in a block, if all threads have as many.
        let room = block / BYTES_A_BURST / header.topology.n_threads().max(1) as usize;
        let work = |bytes: &[u8]| {
            let mut threads = Threads::new(header);
            let mut interpreter = Interpreter::new(rules, Folding::with_room(self.limits(), room));
            let scanned = scan(bytes, &mut threads, options.lenient, &mut interpreter);
            let of = |(slot, event_type): (usize, u32)| (threads.who[slot], event_type);
            let streams: BTreeMap<Who, u32> = interpreter.streams.into_iter().map(of).collect();
            let of = |(slot, calls): (usize, mpi::Calls)| (threads.who[slot], calls);
            let mpi: BTreeMap<Who, mpi::Calls> = interpreter.mpi.into_iter().map(of).collect();
            (scanned, threads.who, interpreter.steps, (streams, mpi))
        };
        let done =
            input.for_each_block(block, options.progress, work, |(scanned, who, folding, (streams, mpi))| {
                records.add(scanned)?;
                gathered.add_streams(streams);
                gathered.add_mpi(&mpi);
                if rules.openmp == OpenMp::Sought
                    && folding.marks.iter().any(|m| matches!(m.2, Mark::Enter(_)))
                {
                    found = true;
                    // Any error ends the reading; nobody sees this one.
                    return Err(Error::whole(records.path, ErrorKind::NotRereadable));
                }
                gathered.add(folding, &who, rules.openmp == OpenMp::Joined);
                Ok(())
            });
        if found {
            return Ok(None);
        }
        records.done(done)?;
        if let Apps::One(app) = options.apps {
            gathered.pieces.retain(|who, _| who.app == app);
            gathered.streams.retain(|who, _| who.app == app);
            gathered.mpi.retain(|who, _| who.app == app);
        }
        Ok(Some(gathered))
    }

    /// The bursts of what was read, and what is to be said of them.
    pub(super) fn trace(&self, gathered: Gathered, records: Records<'_>, bytes: u64) -> Result<Trace> {
        let Self { path, header, rules, options, .. } = *self;
        let Gathered { pieces, marks, mut sites, streams, mpi } = gathered;
        let mut of_row = Vec::new();
        let row = read_row(path, header, &mut of_row);
        let streams = streams::Found::of(&row, &header.topology, &streams);
        of_row.extend(streams.unplaced(&row, &header.topology));
        let unit = header.unit.nanos();
        let mut report = records.end(unit, &streams);
        report.bytes = bytes;
        // A state without an end ends with the trace: at the end time in the
        // header, or at its thread's last record if that is later.
        let end = header.end.0 / unit;
        let mut threads = self.joined(pieces, end, &mut sites)?;
        report.streams = streams.choose(&mut threads, options.apps, (rules, unit));
        report.set_up = set_up::last(&mpi, &threads).map(|time| Nanos(time.saturating_mul(unit)));
        [report.mpi_init, report.mpi_finalize] =
            mpi::last_calls(&mpi, &threads).map(|time| time.map(|time| Nanos(time.saturating_mul(unit))));
        report.done = mpi::done(&mpi)
            .into_iter()
            .map(|(task, time)| (task, Nanos(time.saturating_mul(unit))))
            .collect();
        let joined = (rules.openmp == OpenMp::Joined).then(|| join_openmp(&mut threads, marks));
        let first = report.warnings.len();
        report.warnings.extend(contradictions(path, &threads, header.end, (end, unit)));
        let pcf = read_pcf(path, options.pcf.as_deref(), header, &mut report.warnings)?;
        report.warnings.extend(of_row);
        let places = code::places(&sites.sites, &pcf);
        if let Some(joined) = joined {
            report.runtime = Nanos(joined.runtime.saturating_mul(unit));
            report.warnings.insert(first, openmp_note(&joined, &places, unit));
        }
        let names = Names { counter: &|event_type| pcf.counter(event_type), places };
        let mut table = table::build(threads, unit, self.limits(), names, &mut report.warnings)
            .map_err(|kind| Error::whole(path, kind))?;
        if let Some(code) = &mut table.code {
            code.parallel = rules.openmp == OpenMp::Joined;
        }
        if !pcf.has_untraced_state()
            && let Some(known) = report.untraced.take()
        {
            report.begin = report.begin.min(known.from);
        }
        let last = (0..table.len()).map(|i| table.end(i)).fold(Nanos::ZERO, Nanos::max);
        let end = header.end.max(last);
        let mut topology = header.topology.clone();
        streams.note_in(&mut topology);
        Ok(Trace { table, end, origin: Nanos::ZERO, topology: Some(topology), report })
    }

    /// The bursts of all threads; those of threads in no order from a second reading.
    fn joined(&self, pieces: BTreeMap<Who, Pieces>, end: u64, sites: &mut Sites<Site>) -> Result<ByThread> {
        let Self { path, header, rules, options, block } = *self;
        let mut threads = ByThread::new();
        let mut disordered = Vec::new();
        for (who, pieces) in pieces {
            match pieces.join(end) {
                Some(bursts) if bursts.begin.is_empty() => {}
                Some(bursts) => drop(threads.insert(who, bursts)),
                None => disordered.push(who),
            }
        }
        if let Some(&Who { app, task, thread }) = disordered.first() {
            if !is_rereadable(path) {
                return Err(Error::whole(path, ErrorKind::UnsortedPipe { app, task, thread }));
            }
            threads.extend(sorted::read(path, header, rules, options, block, &disordered, sites)?);
            threads.retain(|_, bursts| !bursts.begin.is_empty());
        }
        Ok(threads)
    }
}

impl Gathered {
    /// Adds threads that are streams; the first event of each names its type.
    pub(super) fn add_streams(&mut self, streams: BTreeMap<Who, u32>) {
        streams.into_iter().for_each(|(who, event_type)| _ = self.streams.entry(who).or_insert(event_type));
    }

    /// Adds the calls of MPI_Init and MPI_Finalize that a block has.
    pub(super) fn add_mpi(&mut self, calls: &BTreeMap<Who, mpi::Calls>) {
        calls.iter().for_each(|(&who, calls)| self.mpi.entry(who).or_default().add(*calls));
    }

    /// Adds a block; `who` has the threads of its slots.
    fn add(&mut self, folding: Folding<Site>, who: &[Who], with_marks: bool) {
        let numbers = self.sites.adopt(&folding.sites.sites);
        for (slot, time, mark) in folding.marks.into_iter().filter(|_| with_marks) {
            let mark = renumbered(mark, &numbers).map(|mark| (time, mark));
            self.marks.entry(who[slot]).or_default().extend(mark);
        }
        for (slot, mut fold) in folding.folds {
            if !numbers.is_empty() {
                fold.renumber(&numbers);
            }
            self.pieces.entry(who[slot]).or_default().add(fold);
        }
        for slot in folding.scrambled {
            self.pieces.entry(who[slot]).or_default().scramble();
        }
    }
}

/// The mark with the number that its place has in `numbers`.
pub(super) fn renumbered(mark: Mark<PlaceId>, numbers: &[Option<PlaceId>]) -> Option<Mark<PlaceId>> {
    match mark {
        Mark::Enter(id) => numbers[id.index()].map(Mark::Enter),
        other => Some(other),
    }
}

/// Makes the bursts of an OpenMP program from all its states; returns what was put together.
fn join_openmp(threads: &mut ByThread, mut marks: BTreeMap<Who, Marks>) -> Joined {
    let mut joined = Joined::default();
    for (who, bursts) in &mut *threads {
        let mut marks = marks.remove(who).unwrap_or_default();
        marks.sort_by_key(|&(time, _)| time);
        let (made, one) = join(bursts, &marks, who.thread == 1);
        *bursts = made;
        joined.add(&one);
    }
    threads.retain(|_, bursts| !bursts.begin.is_empty());
    joined
}

/// What is said of the bursts of an OpenMP program.
fn openmp_note(joined: &Joined, places: &Places, unit: u64) -> String {
    let &Joined { inside, outside, time, runtime, waiting, .. } = joined;
    let share = 100.0 * runtime as f64 / (time.max(1)) as f64;
    let mut text = format!(
        "OpenMP: the bursts are what threads compute in parallel regions and tasks ({inside}) and outside of them \
         ({outside}); {share:.2}% of their time is in locks, critical sections and scheduling"
    );
    text.push_str(&hardly_computing(joined, places, unit));
    if waiting > 0 {
        let waiting = Nanos(waiting.saturating_mul(unit));
        text.push_str(&format!(
            "; {waiting} that threads of a team wait for the next region or task are left out"
        ));
    }
    text
}

/// The regions whose time is not nearly all computing, those with most of the runtime's time first.
fn hardly_computing(joined: &Joined, places: &Places, unit: u64) -> String {
    const SHOWN: usize = 3;
    // One with less than this share of what the first has is not worth a word.
    const LITTLE: f64 = 0.1;
    // Several sites may be of one name.
    let mut by_name: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (region, [time, runtime]) in &joined.regions {
        let place = places.of_sites.get(region.index()).copied().flatten();
        if let Some(name) = place.and_then(|place| places.names.get(place.index())) {
            let sum = by_name.entry(name).or_default();
            *sum = [sum[0] + time, sum[1] + runtime];
        }
    }
    let is_computing =
        |[time, runtime]: [u64; 2]| is_nearly_all(time.saturating_sub(runtime) as f64, time as f64);
    let mut regions: Vec<(&str, [u64; 2])> =
        by_name.into_iter().filter(|(_, times)| !is_computing(*times)).collect();
    regions.sort_by_key(|&(_, [_, runtime])| Reverse(runtime));
    let most = regions.first().map_or(0, |(_, [_, runtime])| *runtime);
    regions.retain(|(_, [_, runtime])| *runtime as f64 >= LITTLE * most as f64);
    let one = |(name, [time, runtime]): &(&str, [u64; 2])| {
        let all = Nanos(time.saturating_mul(unit));
        format!("{} of the {all} in {name}", percent(*runtime as f64 / *time as f64))
    };
    let mut shown: Vec<String> = regions.iter().take(SHOWN).map(one).collect();
    if regions.len() > SHOWN {
        shown.push(format!("as much or less in {} more", regions.len() - SHOWN));
    }
    if shown.is_empty() { String::new() } else { format!(" (it is {})", listed(&shown)) }
}

/// Warnings of bursts that contradict each other or the header, whose end
/// time is `end` in the file's unit, of so many ns.
fn contradictions(
    path: &Path,
    threads: &ByThread,
    header_end: Nanos,
    (end, unit): (u64, u64),
) -> Vec<String> {
    let path = path.display();
    let mut warnings = Vec::new();
    let overlaps: u64 = threads.values().map(|bursts| bursts.overlaps).sum();
    if overlaps > 0 {
        let what = match overlaps {
            1 => {
                "1 Running state overlaps the next state of its thread, and ends where that begins".to_owned()
            }
            n => format!(
                "{} Running states overlap the next state of their thread; each ends where that begins",
                grouped_digits(n)
            ),
        };
        warnings.push(format!("{path}: {what}"));
    }
    let late = threads.values().flat_map(|bursts| &bursts.end).filter(|&&e| e > end);
    let (late, last) = late.fold((0, 0), |(n, last), &e| (n + 1, e.max(last)));
    if late > 0 {
        let last = Nanos(last.saturating_mul(unit));
        let end = if late == 1 { "ends" } else { "end" };
        let bursts = counted(late, "burst");
        warnings.push(format!(
            "{path}: {bursts} {end} after the end of the trace that its header gives, {}; the trace ends \
             with the last of them, at {}",
            Moment(header_end),
            Moment(last)
        ));
    }
    warnings
}

#[cfg(test)]
mod tests;
