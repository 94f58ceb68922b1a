//! A part of a trace: the records of a stretch of time, and of some tasks.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use likewise::table::Nanos;
use memchr::memchr;

use super::FORMAT;
use super::companions;
use super::copy::{check_rereadable, filled, with_extension};
use super::header::Header;
use super::info;
use super::records::{Known, Record, cpu_and_thread, parse};
use super::scan::{truncated, well_formed};
use crate::bytes::{BLOCK, Input};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::output::AtomicFile;
use crate::read::{Kind, kind_of};
use crate::trace::{RecordCounts, Who};

/// What to keep of a trace.
#[derive(Clone, Debug, Default)]
pub struct CutOptions {
    /// From when.
    pub from: Nanos,
    /// Until when.
    pub to: Nanos,
    /// The tasks (application and task, from 1) to keep; all if not given.
    /// Ids stay what they are.
    pub tasks: Option<Vec<(u32, u32)>>,
    /// Leave times as they are, instead of beginning at 0.
    pub keep_times: bool,
    /// Leave malformed records out instead of failing.
    pub lenient: bool,
}

/// What there was, and what was kept of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutReport {
    /// When the part begins: as asked for, in whole units of the trace's times
    /// and no later than the trace's end.
    pub from: Nanos,
    /// When it ends; see `from`.
    pub to: Nanos,
    /// Records that were read.
    pub read: RecordCounts,
    /// Records that were kept.
    pub kept: RecordCounts,
    /// Bytes of text that were read, the header not counted.
    pub bytes_read: u64,
    /// Bytes of text that were kept, the header not counted.
    pub bytes_kept: u64,
    /// States that reach over the begin or the end, and were clipped.
    pub clipped_states: u64,
    /// Communications that are only partly inside, in time or by task. They
    /// were left out: half of one would be a message that never ends.
    pub dropped_communications: u64,
    /// States without an end that began before the part, and were left out.
    pub dropped_open_states: u64,
    /// What the reader was not sure about, safe to print.
    pub warnings: Vec<String>,
}

impl CutReport {
    fn add(&mut self, other: &CutReport) {
        self.read.add(&other.read);
        self.kept.add(&other.kept);
        self.bytes_read += other.bytes_read;
        self.bytes_kept += other.bytes_kept;
        self.clipped_states += other.clipped_states;
        self.dropped_communications += other.dropped_communications;
        self.dropped_open_states += other.dropped_open_states;
    }
}

/// Writes `stem.prv`, `stem.pcf` and `stem.row`: the records in `[from, to]`
/// of the trace at `input`, in their order.
///
/// States are clipped. Events at both ends are kept, because the counters of
/// a burst stand where it ends. Communications are kept if all their times
/// are inside and both their tasks are kept. Communicators and comments are
/// copied, and so are `.pcf` and `.row` if they exist. Obsolete global
/// operations and lines of unknown kinds are left out. The header has the end
/// of the part; otherwise it is that of the whole trace.
///
/// Returns the files, which the caller commits. The report warns of a gzip
/// that ends early, of a `.pcf` or `.row` that cannot be read, and of a part
/// without a record.
///
/// # Errors
/// [`ErrorKind::NotRereadable`] for the standard input and pipes,
/// [`ErrorKind::Expected`] for a CSV of bursts, [`ErrorKind::BeyondEnd`] for a
/// part that begins at the end of the trace or behind,
/// [`ErrorKind::WithinUnit`] for one that is shorter than a unit of its times,
/// and those of reading, such as [`ErrorKind::UnknownThread`], and writing.
/// With `lenient` a gzip that ends early is cut as far as it goes.
///
/// # Complexity
/// One pass, in parallel, and one before where records go on after the end that the header
/// gives; memory is that of a few blocks.
pub fn write_cut(input: &Path, stem: &Path, options: &CutOptions) -> Result<(Vec<AtomicFile>, CutReport)> {
    let source = open(input)?;
    let with = |extension| with_extension(stem, extension);
    let mut prv = AtomicFile::create(&with("prv"))?;
    let mut report = copy_part(source, &mut prv, options)?;
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

/// Whether a part of the file can be written, judged by its first bytes.
///
/// # Errors
/// As [`write_cut`].
pub fn check_cut(input: &Path) -> Result<()> {
    open(input).map(drop)
}

/// Whether it is a trace of this format; an error if it is nothing that is read.
pub(super) fn is_paraver(source: &mut Input) -> Result<bool> {
    Ok(matches!(kind_of(source)?, Kind::Trace(format) if format.begins == FORMAT.begins))
}

pub(super) fn open(input: &Path) -> Result<Input> {
    check_rereadable(input)?;
    let mut source = Input::open_text(input)?;
    if !is_paraver(&mut source)? {
        let (what, found) =
            ("a Paraver trace (it begins with '#Paraver')".to_owned(), "a CSV of bursts".to_owned());
        return Err(Error::whole(input, ErrorKind::Expected { what, found }));
    }
    Ok(source)
}

fn copy_part(mut source: Input, prv: &mut AtomicFile, options: &CutOptions) -> Result<CutReport> {
    let path = source.path().to_owned();
    let first = source.take_line()?;
    let mut header = Header::parse(&first).map_err(|kind| Error::at(&path, Place::Line(1), kind))?;
    if options.to > header.end && (options.from >= header.end || goes_on(&path, &header)) {
        let last = info::last_time(Input::open_text(&path)?, options.lenient, BLOCK)?;
        header.end = header.end.max(Nanos(last.saturating_mul(header.unit.nanos())));
    }
    if options.from >= header.end {
        let kind = ErrorKind::BeyondEnd { from: options.from, end: header.end };
        return Err(Error::whole(&path, kind));
    }
    let part = Part::new(&header, options);
    let unit = header.unit.nanos();
    // Times are whole units of the file: a shorter part would hold nothing.
    if part.from >= part.to {
        let kind = ErrorKind::WithinUnit { from: options.from, to: options.to, unit };
        return Err(Error::whole(&path, kind));
    }
    let out_path = prv.path().to_owned();
    let failed = |e: io::Error| Error::write(&out_path, e);
    prv.write_all(&with_end(&first, part.to - part.origin)).map_err(failed)?;
    let (from, to) = (Nanos(part.from * unit), Nanos(part.to * unit));
    let mut report = CutReport { from, to, ..CutReport::default() };
    let mut line = 1;
    let done = source.for_each_block(
        BLOCK,
        None,
        |bytes| part.block(bytes),
        |block: Block| {
            if let Some((n, kind)) = block.problem {
                return Err(Error::at(&path, Place::Line(line + n + 1), kind));
            }
            line += block.lines;
            report.add(&block.report);
            prv.write_all(&block.text).map_err(failed)
        },
    );
    match done {
        Err(e) if options.lenient && e.kind.ends_gzip() => report.warnings.push(e.to_string()),
        other => other?,
    }
    if report.kept.total() == 0 {
        let (path, read) = (path.display(), report.read.total());
        report.warnings.push(format!("{path}: none of the {read} records that were read is in the part"));
    }
    Ok(report)
}

/// So many bytes at the end of a trace have a record.
const TAIL: u64 = 1 << 16;

/// Whether the last records of a file begin after the end that its header gives; of a file that
/// is compressed, nobody looks.
fn goes_on(path: &Path, header: &Header) -> bool {
    let tail = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(TAIL)))?;
        let mut tail = Vec::new();
        file.take(TAIL).read_to_end(&mut tail)?;
        Ok(tail)
    };
    let end = header.end.0 / header.unit.nanos();
    let mut known = Known::default();
    // The first line may be the rest of one.
    let is_later = |line: &[u8]| match parse(line, &mut known) {
        Ok(Record::State { begin, end: until, .. }) => until.unwrap_or(begin) > end,
        Ok(Record::Event { time, .. }) => time > end,
        _ => false,
    };
    tail().is_ok_and(|tail| tail.split(|&byte| byte == b'\n').skip(1).any(is_later))
}

/// The header with another end time. It has been parsed before, so its fields are there.
pub(super) fn with_end(header: &[u8], end: u64) -> Vec<u8> {
    let from = header.windows(2).position(|w| w == b"):").map_or(header.len(), |n| n + 2);
    let blanks = header[from..].iter().take_while(|b| b.is_ascii_whitespace()).count();
    let digits = header[from + blanks..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut line = header[..from].to_vec();
    line.extend_from_slice(end.to_string().as_bytes());
    line.extend_from_slice(&header[from + blanks + digits..]);
    line.push(b'\n');
    line
}

/// What is kept, in the file's unit.
struct Part<'o> {
    from: u64,
    to: u64,
    /// Whether the trace ends with the part: a record at its end then has no later part to be in.
    is_last: bool,
    /// What becomes 0.
    origin: u64,
    /// Ascending.
    tasks: Option<Vec<(u32, u32)>>,
    header: &'o Header,
    lenient: bool,
}

/// What is kept of a block.
#[derive(Default)]
struct Block {
    text: Vec<u8>,
    report: CutReport,
    lines: u64,
    problem: Option<(u64, ErrorKind)>,
}

impl<'o> Part<'o> {
    fn new(header: &'o Header, options: &CutOptions) -> Self {
        let unit = header.unit.nanos();
        let to = options.to.min(header.end).0 / unit;
        let from = (options.from.0 / unit).min(to);
        let mut tasks = options.tasks.clone();
        tasks.iter_mut().for_each(|tasks| tasks.sort_unstable());
        let origin = if options.keep_times { 0 } else { from };
        let is_last = to == header.end.0 / unit;
        Self { from, to, is_last, origin, tasks, header, lenient: options.lenient }
    }

    fn keeps(&self, who: Who) -> bool {
        self.tasks.as_ref().is_none_or(|tasks| tasks.binary_search(&(who.app, who.task)).is_ok())
    }

    fn block(&self, bytes: &[u8]) -> Block {
        let (cleaned, skipped) =
            if self.lenient { well_formed(bytes, self.header) } else { (Cow::Borrowed(bytes), 0) };
        let mut block = Block::default();
        block.report.read.skipped = skipped;
        block.report.bytes_read = cleaned.len() as u64;
        let mut known = Known::default();
        let mut pos = 0;
        while pos < cleaned.len() {
            let found = memchr(b'\n', &cleaned[pos..]).map(|n| pos + n);
            let end = found.unwrap_or(cleaned.len());
            let line = &cleaned[pos..end];
            pos = end + 1;
            match parse(line, &mut known).and_then(|record| self.declared(record)) {
                Ok(record) => {
                    self.record(record, line.trim_ascii_end(), known.pairs().len() as u64, &mut block)
                }
                Err(kind) => {
                    // A wrong last line without a line end was probably cut off.
                    let kind = if found.is_none() { truncated(kind) } else { kind };
                    block.problem = Some((block.lines, kind));
                    break;
                }
            }
            block.lines += 1;
        }
        block.report.bytes_kept = block.text.len() as u64;
        block
    }

    /// `record`, if the header declares its threads.
    fn declared(&self, record: Record) -> std::result::Result<Record, ErrorKind> {
        let unknown = |who: &Who| !self.header.topology.declares(who.app, who.task, who.thread);
        let threads = match record {
            Record::State { who, .. }
            | Record::Backwards { who, .. }
            | Record::Untimed { who }
            | Record::Event { who, .. } => [who, who],
            Record::Communication { from, to, .. } => [from, to],
            _ => return Ok(record),
        };
        match threads.into_iter().find(unknown) {
            Some(Who { app, task, thread }) => Err(ErrorKind::UnknownThread { app, task, thread }),
            None => Ok(record),
        }
    }

    fn record(&self, record: Record, line: &[u8], n_pairs: u64, block: &mut Block) {
        let Block { text, report, .. } = block;
        match record {
            Record::State { who, begin, end, value } => {
                report.read.states += 1;
                if self.keeps(who) {
                    self.state(line, (begin, end, value), text, report);
                }
            }
            Record::Event { who, time } => {
                report.read.events += 1;
                report.read.event_pairs += n_pairs;
                if self.keeps(who) && (self.from..=self.to).contains(&time) {
                    report.kept.events += 1;
                    report.kept.event_pairs += n_pairs;
                    self.shifted(line, &[5], text);
                }
            }
            Record::Communication { from, to, .. } => {
                report.read.communications += 1;
                self.communication(line, self.keeps(from), self.keeps(to), text, report);
            }
            Record::Communicator | Record::Comment => {
                let count = |counts: &mut RecordCounts| match record {
                    Record::Communicator => counts.communicators += 1,
                    _ => counts.comments += 1,
                };
                count(&mut report.read);
                count(&mut report.kept);
                text.extend_from_slice(line);
                text.push(b'\n');
            }
            Record::GlobalOperation => report.read.global_operations += 1,
            Record::Unknown => report.read.unknown += 1,
            Record::Backwards { .. } => report.read.backwards += 1,
            Record::Untimed { .. } => report.read.untimed += 1,
            Record::Blank => {}
        }
    }

    /// Writes what is inside of a state. A state of no length is kept as an
    /// event would be; one without an end ends where the next begins.
    fn state(
        &self,
        line: &[u8],
        (begin, end, value): (u64, Option<u64>, u32),
        text: &mut Vec<u8>,
        report: &mut CutReport,
    ) {
        let Some((cpu, who)) = cpu_and_thread(line) else { return };
        // A state that begins at the end is of the next part, unless there is none.
        let inside = (self.from..self.to).contains(&begin)
            || self.is_last && begin == self.to && end.is_none_or(|e| e == begin);
        let clipped = match end {
            None if inside => (begin, None),
            None => {
                report.dropped_open_states += u64::from(begin < self.from);
                return;
            }
            Some(end) if begin == end && inside => (begin, Some(end)),
            Some(end) if begin.max(self.from) < end.min(self.to) => {
                (begin.max(self.from), Some(end.min(self.to)))
            }
            Some(_) => return,
        };
        report.kept.states += 1;
        report.clipped_states += u64::from(clipped != (begin, end));
        let mut digits = itoa::Buffer::new();
        text.push(b'1');
        for field in
            [cpu, who.app, who.task, who.thread].map(u64::from).into_iter().chain([clipped.0 - self.origin])
        {
            text.push(b':');
            text.extend_from_slice(digits.format(field).as_bytes());
        }
        match clipped.1 {
            None => text.extend_from_slice(b":-1"),
            Some(end) => {
                text.push(b':');
                text.extend_from_slice(digits.format(end - self.origin).as_bytes());
            }
        }
        text.push(b':');
        text.extend_from_slice(digits.format(value).as_bytes());
        text.push(b'\n');
    }

    fn communication(
        &self,
        line: &[u8],
        sends: bool,
        receives: bool,
        text: &mut Vec<u8>,
        report: &mut CutReport,
    ) {
        const TIMES: [usize; 4] = [5, 6, 11, 12];
        // An unknown time is written as −1, or as −1 read without a sign.
        let known = |field: &[u8]| -> Option<u64> {
            std::str::from_utf8(field).ok()?.parse().ok().filter(|&time: &u64| time < 1 << 63)
        };
        let fields = line.split(|&b| b == b':').enumerate().filter(|(i, _)| TIMES.contains(i));
        let times: Vec<u64> = fields.filter_map(|(_, field)| known(field)).collect();
        let inside = |time: &u64| (self.from..=self.to).contains(time);
        let all_inside = times.iter().all(inside) && !times.is_empty();
        if sends && receives && all_inside {
            report.kept.communications += 1;
            self.shifted(line, &TIMES, text);
            return;
        }
        let (first, last) = (times.iter().min(), times.iter().max());
        let touches = first.is_some_and(|&t| t <= self.to) && last.is_some_and(|&t| t >= self.from);
        report.dropped_communications += u64::from((sends || receives) && touches);
    }

    /// Writes a line with the times in those fields moved; −1 stays, because it is no time.
    fn shifted(&self, line: &[u8], times: &[usize], text: &mut Vec<u8>) {
        let mut digits = itoa::Buffer::new();
        let last = times[times.len() - 1];
        let mut rest = line;
        for field in 0..=last {
            let end = memchr(b':', rest).unwrap_or(rest.len());
            let value = std::str::from_utf8(&rest[..end]).ok().and_then(|t| t.parse::<u64>().ok());
            match value {
                Some(time) if times.contains(&field) && time < 1 << 63 => {
                    text.extend_from_slice(digits.format(time.saturating_sub(self.origin)).as_bytes());
                }
                _ => text.extend_from_slice(&rest[..end]),
            }
            rest = &rest[end..];
            if field < last && !rest.is_empty() {
                text.push(b':');
                rest = &rest[1..];
            }
        }
        text.extend_from_slice(rest);
        text.push(b'\n');
    }
}

#[cfg(test)]
mod tests;
