//! Bursts of a Paraver trace, block by block in parallel.

use std::collections::BTreeMap;
use std::path::Path;

use likewise::table::{Nanos, PlaceId};

use super::code::{self, Move, Site, Sites};
use super::companions::{read_pcf, read_row};
use super::cover::{Limits, is_hardware};
use super::fold::{Bursts, Fold, SET_CHANGE};
use super::header::Header;
use super::openmp::{self, Mark, Marks};
use super::records::Who;
use super::scan::{Scanned, Sink, Threads, scan};
use super::{RUNNING, sorted, table};
use crate::bytes::{Input, is_rereadable, line_place};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::read::{Apps, ReadOptions, ReadReport, Trace};

/// A thread whose records are cut into more pieces than this is in no order
/// worth speaking of, and is sorted.
const MAX_PIECES: usize = 1 << 10;

/// What makes a burst, and what a burst carries.
pub(crate) struct Rules {
    burst_events: Vec<u32>,
    counters: Vec<u32>,
    openmp: OpenMp,
}

/// What becomes of OpenMP's parallel regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenMp {
    /// Nothing.
    Ignored,
    /// The reading stops at the first, to begin anew.
    Sought,
    /// They are bursts.
    Joined,
}

impl Rules {
    pub(crate) fn new(options: &ReadOptions<'_>) -> Self {
        let (burst_events, counters) = (options.burst_events.clone(), options.counters.clone());
        Self { burst_events, counters, openmp: OpenMp::Ignored }
    }

    /// PAPI, native and uncore counters, and those asked for. Extrae's
    /// absolute values (43…, 45…, 47…) are no differences to be summed.
    #[inline]
    pub(crate) fn is_counter(&self, event_type: u32) -> bool {
        is_hardware(event_type) || self.counters.contains(&event_type)
    }
}

/// A burst that begins: when it ends, if that is known, and its state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    pub(crate) end: Option<u64>,
    pub(crate) state: u32,
}

/// What the records of a thread mean for its bursts.
pub(crate) trait Steps {
    /// Whatever was open ends at the latest; with `open` a burst begins that
    /// ends then, or at the next boundary.
    fn boundary(&mut self, slot: usize, time: u64, open: Option<Opened>);
    /// A counter, or [`SET_CHANGE`].
    fn counter(&mut self, slot: usize, time: u64, event_type: u32, value: i128);
    /// Where in the source the thread is.
    fn code(&mut self, slot: usize, time: u64, step: Move<Site>);
    /// What an event says of OpenMP.
    fn openmp(&mut self, slot: usize, time: u64, mark: Mark<Site>);
}

/// Turns records into steps.
pub(crate) struct Interpreter<'r, S> {
    pub(crate) rules: &'r Rules,
    pub(crate) steps: S,
}

impl<S: Steps> Sink for Interpreter<'_, S> {
    #[inline]
    fn state(&mut self, slot: usize, begin: u64, end: Option<u64>, value: u32) {
        if self.rules.openmp == OpenMp::Joined {
            self.steps.boundary(slot, begin, Some(Opened { end, state: value }));
        } else if self.rules.burst_events.is_empty() {
            self.steps.boundary(slot, begin, (value == RUNNING).then_some(Opened { end, state: value }));
        }
    }

    #[inline]
    fn event(&mut self, slot: usize, time: u64, pairs: &[(u32, i128)]) {
        let (mut has_code, mut has_openmp) = (false, false);
        for &(event_type, value) in pairs {
            has_code |= code::is_code(event_type);
            has_openmp |= openmp::is_openmp(event_type);
            if event_type == SET_CHANGE || self.rules.is_counter(event_type) {
                self.steps.counter(slot, time, event_type, value);
            }
            if self.rules.burst_events.contains(&event_type) {
                let burst = Opened { end: None, state: RUNNING };
                self.steps.boundary(slot, time, (value != 0).then_some(burst));
            }
        }
        if has_code {
            code::moves(pairs, |step| self.steps.code(slot, time, step));
        }
        if self.rules.openmp != OpenMp::Ignored && has_openmp {
            for (i, &(event_type, value)) in pairs.iter().enumerate() {
                match openmp::mark(event_type, value) {
                    Some(Mark::Enter(())) => {
                        let site = code::function(&pairs[i..], event_type, value);
                        self.steps.openmp(slot, time, Mark::Enter(site));
                    }
                    Some(Mark::Leave) => self.steps.openmp(slot, time, Mark::Leave),
                    Some(Mark::Fork) => self.steps.openmp(slot, time, Mark::Fork),
                    Some(Mark::Runtime) => self.steps.openmp(slot, time, Mark::Runtime),
                    None => {}
                }
            }
        }
    }
}

/// Folds of one block, a new one wherever a thread's time goes backwards.
struct Folding {
    limits: Limits,
    folds: Vec<(usize, Fold)>,
    /// Of every slot: its current fold and how many it has.
    current: Vec<Option<(usize, usize)>>,
    scrambled: Vec<usize>,
    /// The numbers that the folds give to places.
    sites: Sites,
    marks: Vec<(usize, u64, Mark<PlaceId>)>,
}

impl Folding {
    fn new(limits: Limits) -> Self {
        Self {
            limits,
            folds: Vec::new(),
            current: Vec::new(),
            scrambled: Vec::new(),
            sites: Sites::default(),
            marks: Vec::new(),
        }
    }

    #[inline]
    fn fold(&mut self, slot: usize, time: u64) -> Option<&mut Fold> {
        if slot >= self.current.len() {
            self.current.resize(slot + 1, None);
        }
        let (at, pieces) = match self.current[slot] {
            // Given up; must come first, for its place is no fold of this thread.
            Some((_, usize::MAX)) => return None,
            Some((at, pieces)) if self.folds[at].1.last <= time => (at, pieces),
            Some((_, MAX_PIECES)) => {
                self.scrambled.push(slot);
                self.current[slot] = Some((0, usize::MAX));
                return None;
            }
            before => {
                self.folds.push((slot, Fold::new(time, self.limits)));
                (self.folds.len() - 1, before.map_or(0, |(_, pieces)| pieces) + 1)
            }
        };
        self.current[slot] = Some((at, pieces));
        Some(&mut self.folds[at].1)
    }
}

impl Steps for Folding {
    #[inline]
    fn boundary(&mut self, slot: usize, time: u64, open: Option<Opened>) {
        if let Some(fold) = self.fold(slot, time) {
            fold.cut(time);
            if let Some(Opened { end, state }) = open {
                fold.open(time, end, state);
            }
        }
    }

    #[inline]
    fn counter(&mut self, slot: usize, time: u64, event_type: u32, value: i128) {
        if let Some(fold) = self.fold(slot, time) {
            fold.event(time, event_type, value);
        }
    }

    fn code(&mut self, slot: usize, time: u64, step: Move<Site>) {
        if let Some(step) = self.sites.number(step)
            && let Some(fold) = self.fold(slot, time)
        {
            fold.code(time, step);
        }
    }

    fn openmp(&mut self, slot: usize, time: u64, mark: Mark<Site>) {
        self.marks.extend(self.sites.number_mark(mark).map(|mark| (slot, time, mark)));
    }
}

/// One thread's pieces, in order of the file.
#[derive(Default)]
struct Pieces {
    pieces: Vec<Fold>,
    scrambled: bool,
}

impl Pieces {
    fn add(&mut self, fold: Fold) {
        let n = self.pieces.len();
        match self.pieces.last_mut() {
            _ if self.scrambled => {}
            Some(last) if last.joins(&fold) => last.append(fold),
            _ if n >= MAX_PIECES => self.scramble(),
            _ => self.pieces.push(fold),
        }
    }

    fn scramble(&mut self) {
        self.scrambled = true;
        self.pieces = Vec::new();
    }

    /// The bursts, or `None` if the pieces overlap in time.
    fn join(mut self, end: u64) -> Option<Bursts> {
        if self.scrambled {
            return None;
        }
        self.pieces.sort_by_key(|fold| (fold.first, fold.last));
        let mut pieces = self.pieces.into_iter();
        let mut joined = pieces.next()?;
        for piece in pieces {
            if !joined.joins(&piece) {
                return None;
            }
            joined.append(piece);
        }
        Some(joined.finish(end))
    }
}

/// What was counted and what was wrong, over all blocks.
pub(crate) struct Records<'p> {
    path: &'p Path,
    lenient: bool,
    pub(crate) report: ReadReport,
    ended: bool,
}

impl<'p> Records<'p> {
    pub(crate) fn new(path: &'p Path, lenient: bool) -> Self {
        let report = ReadReport { lines: 1, ..ReadReport::default() };
        Self { path, lenient, report, ended: true }
    }

    /// Adds a block; its first problem is an error unless lenient.
    pub(crate) fn add(&mut self, scanned: Scanned) -> Result<()> {
        let first_unknown = self.report.records.unknown == 0;
        for (line, kind) in scanned.problems {
            let error = Error::at(self.path, line_place(self.report.lines, line), kind);
            if !self.lenient {
                return Err(error);
            }
            if self.report.records.skipped < 3 {
                self.report.warnings.push(format!("skipped: {error}"));
            }
        }
        if let Some((line, shown)) = scanned.unknown.filter(|_| first_unknown) {
            let line = self.report.lines + line + 1;
            let path = self.path.display();
            self.report.warnings.push(format!("{path}:{line}: unknown kind of record, not read: {shown}"));
        }
        self.report.records.add(&scanned.counts);
        self.report.lines += scanned.lines;
        if scanned.lines > 0 {
            self.ended = scanned.ended;
        }
        Ok(())
    }

    /// After the last block; a cut gzip is a warning if lenient.
    pub(crate) fn end(&mut self, done: Result<()>) -> Result<()> {
        match done {
            Err(error) if self.lenient && error.kind.ends_gzip() => {
                self.report.warnings.push(error.to_string());
            }
            other => other?,
        }
        if !self.ended {
            let path = self.path.display();
            self.report
                .warnings
                .push(format!("{path}: the last line has no end; the file may have been cut"));
        }
        Ok(())
    }
}

/// Takes the header off.
pub(crate) fn open(input: &mut Input) -> Result<Header> {
    let line = input.take_line()?;
    Header::parse(&line).map_err(|kind| Error::at(input.path(), Place::Line(1), kind))
}

/// The bursts of every thread that has any, by thread.
pub(crate) type ByThread = BTreeMap<Who, Bursts>;

/// Reads a trace whose first bytes are those of one. The first parallel region
/// of OpenMP that is met says that the bursts are other ones, and the trace is
/// read anew; a pipe cannot be.
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

/// `None` where a parallel region was sought and found.
fn read_by(
    mut input: Input,
    rules: &Rules,
    options: &ReadOptions<'_>,
    block: usize,
) -> Result<Option<Trace>> {
    let path = input.path().to_owned();
    let consumed = input.consumed();
    let header = open(&mut input)?;
    if let Apps::One(asked) = options.apps
        && (asked == 0 || asked as usize > header.apps.len())
    {
        let there = header.apps.len();
        return Err(Error::at(&path, Place::Line(1), ErrorKind::NoSuchApplication { asked, there }));
    }
    let mut records = Records::new(&path, options.lenient);
    let mut sites = Sites::default();
    let read = read_pieces(input, &header, rules, options, block, &mut records, &mut sites)?;
    let Some((pieces, marks)) = read else { return Ok(None) };

    // A state may end after the time the header claims, but not before.
    let end = header.end.0 / header.unit.nanos();
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
        if !is_rereadable(&path) {
            return Err(Error::whole(&path, ErrorKind::UnsortedPipe { app, task, thread }));
        }
        threads.extend(sorted::read(&path, &header, rules, options, block, &disordered, &mut sites)?);
        threads.retain(|_, bursts| !bursts.begin.is_empty());
    }
    choose(&mut threads, options.apps);

    let mut report = records.report;
    if rules.openmp == OpenMp::Joined {
        report.warnings.push(join_openmp(&mut threads, marks, header.unit.nanos()));
    }
    report.warnings.extend(contradictions(&path, &threads, header.end, end));
    report.bytes = consumed.load(std::sync::atomic::Ordering::Relaxed);
    let pcf = read_pcf(&path, options.pcf.as_deref(), &header, &mut report.warnings)?;
    let row = read_row(&path, &header, &mut report.warnings);
    let mut table = table::build(threads, header.unit, &pcf, &sites.sites, &mut report.warnings)
        .map_err(|kind| Error::whole(&path, kind))?;
    if let Some(code) = &mut table.code {
        code.parallel = rules.openmp == OpenMp::Joined;
    }
    Ok(Some(Trace { table, header: Some(header), pcf, row, report }))
}

/// Makes bursts of all states of an OpenMP program; what was made, for people.
fn join_openmp(threads: &mut ByThread, mut marks: BTreeMap<Who, Marks>, unit: u64) -> String {
    let mut joined = openmp::Joined::default();
    for (who, bursts) in &mut *threads {
        let mut marks = marks.remove(who).unwrap_or_default();
        marks.sort_by_key(|&(time, _)| time);
        let (made, one) = openmp::join(bursts, &marks, who.thread == 1);
        *bursts = made;
        joined.add(&one);
    }
    threads.retain(|_, bursts| !bursts.begin.is_empty());
    let openmp::Joined { inside, outside, time, runtime, waiting } = joined;
    let share = 100.0 * runtime as f64 / (time.max(1)) as f64;
    let mut text = format!(
        "OpenMP: the bursts are what threads compute in parallel regions ({inside}) and outside of them \
         ({outside}); {share:.2}% of their time is in locks, critical sections and scheduling"
    );
    if waiting > 0 {
        let waiting = Nanos(waiting.saturating_mul(unit));
        text.push_str(&format!("; {waiting} that threads of a team wait for the next region are left out"));
    }
    text
}

/// Warnings of bursts that contradict each other or the header, whose end
/// time is `end` in the file's unit.
fn contradictions(path: &Path, threads: &ByThread, header_end: Nanos, end: u64) -> Vec<String> {
    let path = path.display();
    let mut warnings = Vec::new();
    let overlaps: u64 = threads.values().map(|bursts| bursts.overlaps).sum();
    if overlaps > 0 {
        let what = "Running states overlap the next state of their thread";
        warnings.push(format!("{path}: {overlaps} {what}; each ends where that begins"));
    }
    let late = threads.values().flat_map(|bursts| &bursts.end).filter(|&&e| e > end).count();
    if late > 0 {
        let what = "bursts end after the end of the trace that its header gives";
        warnings.push(format!("{path}: {late} {what}, {header_end}"));
    }
    warnings
}

/// What was read of every thread: its bursts, and where it enters and leaves regions.
type PiecesAndMarks = (BTreeMap<Who, Pieces>, BTreeMap<Who, Marks>);

fn read_pieces(
    input: Input,
    header: &Header,
    rules: &Rules,
    options: &ReadOptions<'_>,
    block: usize,
    records: &mut Records<'_>,
    sites: &mut Sites,
) -> Result<Option<PiecesAndMarks>> {
    let mut pieces: BTreeMap<Who, Pieces> = BTreeMap::new();
    let mut marks: BTreeMap<Who, Marks> = BTreeMap::new();
    let mut found = false;
    let work = |bytes: &[u8]| {
        let mut threads = Threads::new(header);
        let steps = Folding::new(Limits::new(header.unit.nanos()));
        let mut interpreter = Interpreter { rules, steps };
        let scanned = scan(bytes, &mut threads, options.lenient, &mut interpreter);
        (scanned, threads.who, interpreter.steps)
    };
    let done = input.for_each_block(block, options.progress, work, |(scanned, who, folding)| {
        records.add(scanned)?;
        if rules.openmp == OpenMp::Sought && folding.marks.iter().any(|m| matches!(m.2, Mark::Enter(_))) {
            found = true;
            // Any error ends the reading; this one is not seen.
            return Err(Error::whole(records.path, ErrorKind::NotRereadable));
        }
        let numbers = sites.adopt(&folding.sites.sites);
        for (slot, time, mark) in folding.marks.into_iter().filter(|_| rules.openmp == OpenMp::Joined) {
            let mark = match mark {
                Mark::Enter(id) => numbers[id.index()].map(Mark::Enter),
                other => Some(other),
            };
            marks.entry(who[slot]).or_default().extend(mark.map(|mark| (time, mark)));
        }
        for (slot, mut fold) in folding.folds {
            if !numbers.is_empty() {
                fold.renumber(&numbers);
            }
            pieces.entry(who[slot]).or_default().add(fold);
        }
        for slot in folding.scrambled {
            pieces.entry(who[slot]).or_default().scramble();
        }
        Ok(())
    });
    if found {
        return Ok(None);
    }
    records.end(done)?;
    if let Apps::One(app) = options.apps {
        pieces.retain(|who, _| who.app == app);
    }
    Ok(Some((pieces, marks)))
}

/// Leaves only the applications asked for.
fn choose(threads: &mut ByThread, apps: Apps) {
    let first = threads.keys().next().map(|who| who.app);
    threads.retain(|who, _| match apps {
        Apps::All => true,
        Apps::One(app) => who.app == app,
        Apps::First => Some(who.app) == first,
    });
}

#[cfg(test)]
mod tests;
