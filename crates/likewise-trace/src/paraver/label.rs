//! The labelled trace: the input's records, and the cluster of every burst
//! as an event of type 90000001, which Paraver and BSC's tools know.

mod marks;
mod minimal;
mod names;
mod spread;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use likewise::table::BurstTable;
use memchr::{memchr, memmem};

use super::companions;
use super::copy::{check_rereadable, filled, with_extension};
use super::cut::is_paraver;
use super::header::Header;
use super::pcf::Pcf;
use super::records::{cpu_and_thread, time_of};
use super::scan::well_formed;
use crate::bytes::{BLOCK, Input, lines, trim_end};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::output::AtomicFile;
use crate::trace::Who;

use marks::{Mark, Marks, Unmerged, marks, unmerged};
pub use spread::{ToLabel, write_labelled_spread};

/// Event type that holds the cluster of a burst.
pub const CLUSTER_EVENT: u32 = 90_000_001;

/// One value of [`CLUSTER_EVENT`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelValue {
    /// The value.
    pub value: u32,
    /// Its name, of one line.
    pub name: String,
    /// Its colour in red, green and blue.
    pub colour: [u8; 3],
}

/// Values and names as ClusteringSuite numbers them. 0 ends a burst; 1 to 5
/// are missing data, filtered by duration, by range or by threshold, and
/// noise; cluster k is k + 5. `colour` is called for every value.
#[must_use]
pub fn legend(n_clusters: u32, colour: impl Fn(u32) -> [u8; 3]) -> Vec<LabelValue> {
    let fixed = ["End", "Missing Data", "Duration Filtered", "Range Filtered", "Threshold Filtered", "Noise"];
    let clusters = (1..=n_clusters).map(|k| format!("Cluster {k}"));
    let names = fixed.into_iter().map(String::from).chain(clusters);
    names.zip(0..).map(|(name, value)| LabelValue { value, name, colour: colour(value) }).collect()
}

/// Writes `stem.prv`, `stem.pcf` and `stem.row`: the trace at `input` with
/// an event of [`CLUSTER_EVENT`] at the begin of every burst of `table`,
/// with value `values[i]`, and one of value 0 at its end. Bursts of value 0
/// are left out. The events stand before other records of their time. If a
/// burst begins where another ends, the two events share a line. Earlier
/// events of this type are removed. Times keep the input's unit. If the input
/// is a CSV of bursts, the trace has only the Running states of the bursts.
/// Names are those of `pcf`, otherwise of the `.pcf` beside the trace.
///
/// Returns the three files, which the caller commits; the `.row` only if the input has one.
///
/// # Errors
/// [`ErrorKind::NotRereadable`] for the standard input and pipes,
/// [`ErrorKind::SparseIds`] for a CSV whose ids are so large that the header
/// would dwarf the bursts, and those of reading and writing; then none of
/// the three files changes. With `lenient`, a gzip
/// input that ends early is labelled as far as it goes, and the records that
/// a lenient [`read_bursts`](crate::read_bursts) skips are left out.
///
/// # Panics
/// If `values` is not as long as `table`, or there are 2³¹ bursts or more.
///
/// # Complexity
/// One pass, in parallel, reading no more of a line than its time unless
/// `lenient`; memory is 4 bytes for every begin and end.
pub fn write_labelled(
    input: &Path,
    stem: &Path,
    table: &BurstTable,
    values: &[u32],
    legend: &[LabelValue],
    lenient: bool,
    pcf: Option<&Path>,
) -> Result<Vec<AtomicFile>> {
    assert_eq!(values.len(), table.len(), "a value for every burst");
    check_rereadable(input)?;
    let with = |extension| with_extension(stem, extension);
    let mut source = Input::open_text(input)?;
    let mut prv = AtomicFile::create(&with("prv"))?.drained();
    let (pcf, row) = if is_paraver(&mut source)? {
        copy_labelled(source, &mut prv, table, values, lenient)?;
        beside(input, pcf)
    } else {
        minimal::write_trace(&mut prv, table, values).map_err(|kind| match kind {
            ErrorKind::Write(_) => Error::whole(&with("prv"), kind),
            _ => Error::whole(input, kind),
        })?;
        (None, None)
    };
    with_names(prv, stem, (pcf, row), legend)
}

/// What is read of the files beside a trace: its names, if there are any, and its rows.
type Beside = (Option<Vec<u8>>, Option<Vec<u8>>);

fn beside(input: &Path, pcf: Option<&Path>) -> Beside {
    // The warnings came when the bursts were read.
    let beside = |extension| companions::bytes(input, extension).ok().flatten();
    let names = match pcf {
        Some(path) => companions::whole(path).ok(),
        None => beside("pcf"),
    };
    (names.filter(|bytes| Pcf::is_one(bytes)), beside("row"))
}

/// The trace with the files that go with it.
fn with_names(
    prv: AtomicFile,
    stem: &Path,
    (pcf, row): Beside,
    legend: &[LabelValue],
) -> Result<Vec<AtomicFile>> {
    let pcf = names::with_legend(pcf.as_deref().unwrap_or(names::MINIMAL), legend);
    let mut files = vec![prv, filled(&with_extension(stem, "pcf"), &pcf)?];
    if let Some(row) = row {
        files.push(filled(&with_extension(stem, "row"), &row)?);
    }
    Ok(files)
}

/// Writes the lines of `marks`, which are sorted.
fn push_marks(out: &mut Vec<u8>, marks: impl Iterator<Item = Mark>, threads: &[(u32, Who)]) {
    let mut digits = itoa::Buffer::new();
    let mut line = None;
    for mark in marks {
        if line != Some((mark.time, mark.thread)) {
            if line.is_some() {
                out.push(b'\n');
            }
            line = Some((mark.time, mark.thread));
            let (cpu, Who { app, task, thread }) = threads[mark.thread as usize];
            out.push(b'2');
            for id in [cpu, app, task, thread] {
                out.push(b':');
                out.extend_from_slice(digits.format(id).as_bytes());
            }
            out.push(b':');
            out.extend_from_slice(digits.format(mark.time).as_bytes());
        }
        out.extend_from_slice(b":90000001:");
        out.extend_from_slice(digits.format(mark.value).as_bytes());
    }
    if line.is_some() {
        out.push(b'\n');
    }
}

/// A block with marks put in, without knowledge of other blocks: the marks
/// after its first time and up to its last.
struct Labelled {
    text: Vec<u8>,
    /// Where the first line with a time stands, and that time.
    first: Option<(usize, u64)>,
    max: u64,
    /// Where marks were put in; one entry per time.
    inserted: Vec<(usize, usize, u64)>,
}

/// Bytes of one block that is copied: it stays in a core's cache from the first
/// look at it to the copy in the file.
const COPIED: usize = 1 << 19;

struct Marked<'m> {
    marks: &'m Marks<'m>,
    threads: &'m [(u32, Who)],
    /// If given, records that are malformed or contradict the header are left out.
    checked: Option<&'m Header>,
}

impl Marked<'_> {
    /// `text` is a buffer to be overwritten: used again, it need not be mapped
    /// and zeroed again.
    fn block(&self, bytes: &[u8], mut text: Vec<u8>) -> Labelled {
        let mut cleaned = self.checked.map_or(Cow::Borrowed(bytes), |header| well_formed(bytes, header).0);
        if memmem::find(&cleaned, b":90000001:").is_some() {
            cleaned = Cow::Owned(without_cluster_events(&cleaned));
        }
        let bytes = &cleaned[..];
        text.clear();
        text.reserve(bytes.len() + bytes.len() / 2);
        let mut result = Labelled { text, first: None, max: 0, inserted: Vec::new() };
        let (mut pos, mut copied, mut next) = (0, 0, 0);
        while pos < bytes.len() {
            let start = pos;
            let end = memchr(b'\n', &bytes[pos..]).map_or(bytes.len(), |n| pos + n);
            pos = end + 1;
            let Some(time) = time_of(&bytes[start..end]) else { continue };
            if result.first.is_none() {
                result.first = Some((result.text.len() + start - copied, time));
                next = self.marks.up_to(time);
                result.max = time;
            }
            result.max = result.max.max(time);
            if self.marks.time(next).is_some_and(|of| of <= time) {
                result.text.extend_from_slice(&bytes[copied..start]);
                copied = start;
            }
            while let Some(of) = self.marks.time(next)
                && of <= time
            {
                let same = (next..).take_while(|&at| self.marks.time(at) == Some(of)).count();
                let from = result.text.len();
                push_marks(&mut result.text, self.marks.within(next..next + same), self.threads);
                result.inserted.push((from, result.text.len(), of));
                next += same;
            }
        }
        result.text.extend_from_slice(&bytes[copied..]);
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            result.text.push(b'\n');
        }
        result
    }

    /// Writes the source with all marks put in.
    fn copy(
        &self,
        source: Input,
        out: &mut (impl Write + Send),
        failed: &(impl Fn(io::Error) -> Error + Sync),
    ) -> Result<()> {
        let Self { marks, threads, checked } = *self;
        // All marks up to the largest time so far have been written.
        let mut written = 0;
        let mut max = None;
        let buffers: Mutex<Vec<Vec<u8>>> = Mutex::default();
        let buffers = || buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let done = source.for_each_block(
            COPIED,
            None,
            |bytes| {
                let text = buffers().pop().unwrap_or_default();
                self.block(bytes, text)
            },
            |block| {
                let Some((first, time)) = block.first else {
                    return out.write_all(&block.text).map_err(failed);
                };
                out.write_all(&block.text[..first]).map_err(failed)?;
                let due = self.marks.up_to(time).max(written);
                let mut lines = Vec::new();
                push_marks(&mut lines, marks.within(written..due), threads);
                out.write_all(&lines).map_err(failed)?;
                let mut from = first;
                for &(start, end, time) in &block.inserted {
                    if max.is_some_and(|max| time <= max) {
                        out.write_all(&block.text[from..start]).map_err(failed)?;
                        from = end;
                    }
                }
                out.write_all(&block.text[from..]).map_err(failed)?;
                buffers().push(block.text);
                max = max.max(Some(block.max));
                written = self.marks.up_to(block.max).max(due);
                Ok(())
            },
        );
        match done {
            Err(error) if checked.is_some() && error.kind.ends_gzip() => {}
            other => other?,
        }
        let mut rest = Vec::new();
        push_marks(&mut rest, marks.within(written..marks.len()), threads);
        out.write_all(&rest).map_err(failed)
    }
}

/// Ends a line that has no end.
fn end_line(line: &mut Vec<u8>) {
    if line.last() != Some(&b'\n') {
        line.push(b'\n');
    }
}

fn copy_labelled(
    mut source: Input,
    prv: &mut AtomicFile,
    table: &BurstTable,
    values: &[u32],
    lenient: bool,
) -> Result<()> {
    let path = source.path().to_owned();
    let mut first = source.take_whole_line()?;
    end_line(&mut first);
    let header = Header::parse(trim_end(&first)).map_err(|kind| Error::at(&path, Place::Line(1), kind))?;
    let (threads, marks) = marks(table, values, header.unit.nanos());
    let threads = with_cpus(&threads, &header, source.peek(BLOCK)?);
    let marked = Marked { marks: &marks, threads: &threads, checked: lenient.then_some(&header) };
    let out_path = prv.path().to_owned();
    let failed = |e: io::Error| Error::write(&out_path, e);
    prv.write_all(&first).map_err(failed)?;
    marked.copy(source, prv, &failed)
}

/// The CPU of every thread (they are sorted): the one in its first record,
/// otherwise the thread's place in the header, because this is how tracers
/// number CPUs.
fn with_cpus(threads: &[Who], header: &Header, head: &[u8]) -> Vec<(u32, Who)> {
    let mut seen = vec![None; threads.len()];
    let mut left = threads.len();
    for (cpu, who) in lines(&head[..head.len().min(BLOCK)]).filter_map(cpu_and_thread) {
        if left == 0 {
            break;
        }
        if let Ok(at) = threads.binary_search(&who)
            && seen[at].is_none()
        {
            seen[at] = Some(cpu);
            left -= 1;
        }
    }
    let mut before: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut n = 0u32;
    for (app, tasks) in (1..).zip(&header.topology.apps) {
        for (task, declared) in (1..).zip(tasks) {
            before.insert((app, task), n);
            n = n.saturating_add(declared.threads);
        }
    }
    let placed = |who: &Who| before.get(&(who.app, who.task)).map(|n| n.saturating_add(who.thread));
    let cpu = |who: &Who, seen: Option<u32>| seen.or_else(|| placed(who)).unwrap_or(0);
    threads.iter().zip(seen).map(|(who, seen)| (cpu(who, seen), *who)).collect()
}

/// The lines of a trace that was already labelled, without the old labels.
fn without_cluster_events(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|&b| b == b'\n') {
        if !line.starts_with(b"2:") || memmem::find(line, b":90000001:").is_none() {
            out.extend_from_slice(line);
            continue;
        }
        let body = line.trim_ascii_end();
        let fields: Vec<&[u8]> = body.split(|&b| b == b':').collect();
        let (head, pairs) = fields.split_at(fields.len().min(6));
        let kept: Vec<&[u8]> = pairs.chunks(2).filter(|p| p[0] != b"90000001").flatten().copied().collect();
        if !kept.is_empty() {
            out.extend(head.join(&b':'));
            out.push(b':');
            out.extend(kept.join(&b':'));
            out.extend_from_slice(&line[body.len()..]);
        }
    }
    out
}

#[cfg(test)]
mod tests;
