//! Reading a trace of any format.

use std::path::{Path, PathBuf};

use likewise::table::{BurstTable, Nanos};

use crate::bytes::{BLOCK, Input};
use crate::csv;
use crate::dialect::Head;
use crate::error::{Error, ErrorKind, Result, TRACE_OR_BURSTS, TRACE_OR_CLUSTERS, found};
use crate::paraver::{EventTypeInfo, Header, Pcf, RecordCounts, Row, StateInfo, info, reader};
use crate::parquet::MAGIC as PARQUET;
use crate::taken::Taken;

pub use crate::bytes::Progress;

/// Applications whose bursts are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Apps {
    /// The first that has any burst.
    #[default]
    First,
    /// The one of that number, from 1.
    One(u32),
    /// Every one.
    All,
}

/// How to read.
#[derive(Clone, Default)]
pub struct ReadOptions<'a> {
    /// Skip and count malformed records instead of failing.
    pub lenient: bool,
    /// Event types that open a burst (not zero) and close it (zero), instead
    /// of the Running states; none for the states.
    pub burst_events: Vec<u32>,
    /// Event types to sum beside the counters' own ranges.
    pub counters: Vec<u32>,
    /// Which applications.
    pub apps: Apps,
    /// The `.pcf` to read instead of the one beside the trace, such as for
    /// the standard input. It must be there; the one beside need not.
    pub pcf: Option<PathBuf>,
    /// Told how far the reading is.
    pub progress: Option<Progress<'a>>,
}

/// What was read, in numbers and warnings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// Records by kind.
    pub records: RecordCounts,
    /// Lines of the trace.
    pub lines: u64,
    /// Bytes of the file as stored.
    pub bytes: u64,
    /// What the reader was not sure about, safe to print.
    pub warnings: Vec<String>,
    /// What became of the columns of a table of bursts.
    pub columns: Option<Taken>,
}

/// The bursts of a trace and the names that go with them.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The bursts, in burst order.
    pub table: BurstTable,
    /// The header of a Paraver trace.
    pub header: Option<Header>,
    /// Names of states and events; empty where there are none.
    pub pcf: Pcf,
    /// Labels of threads and nodes, where there are any.
    pub row: Option<Row>,
    /// What was read.
    pub report: ReadReport,
}

/// Format of a trace, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `#Paraver …`.
    Paraver,
    /// A table of bursts as text.
    Csv,
    /// A table of bursts as Parquet.
    Parquet,
}

/// What a trace holds; all that `likewise info` shows.
#[derive(Clone, Debug)]
pub struct TraceInfo {
    /// Its format.
    pub format: Format,
    /// Whether it is gzip.
    pub compressed: bool,
    /// When it ends.
    pub end: Nanos,
    /// The header of a Paraver trace.
    pub header: Option<Header>,
    /// Names of states and events.
    pub pcf: Pcf,
    /// Labels of threads and nodes, where there are any.
    pub row: Option<Row>,
    /// Records by kind, and warnings.
    pub report: ReadReport,
    /// States by value; for a CSV of bursts, Running alone.
    pub states: Vec<StateInfo>,
    /// Event types by number; for a CSV of bursts, none.
    pub event_types: Vec<EventTypeInfo>,
    /// Sizes of all communications together.
    pub communication_bytes: u64,
}

/// Reads the bursts of a trace: Paraver (plain or gzip) or a CSV table of
/// bursts, from a file or (`-`) the standard input.
///
/// A burst is a Running state, or what `burst_events` say; its counters are
/// summed over `begin < t ≤ end` of its thread, and only the types that also
/// stand at its end are kept, unless none does. `41999999` at its end closes
/// it at once. A state ends when the next one of its thread begins, at the
/// latest; where its end is −1, then or at the end of the trace.
///
/// # Errors
/// [`Error`] names the file, the line and what was expected. With `lenient`
/// a malformed record is skipped, counted and reported instead, and a gzip
/// that ends early gives what it holds.
///
/// # Complexity
/// One pass over the file, in parallel; memory is that of the bursts. Pieces
/// of time in any order are joined; a thread whose records are in no order
/// at all is read a second time and sorted.
///
/// # Reference
/// González et al., ParCo 2009 (bursts); the rules are those of BSC's
/// ClusteringSuite 2.6.9. Differs: an overlapping state cuts the one before,
/// every PAPI, native and uncore counter is kept.
pub fn read_bursts(path: &Path, options: &ReadOptions<'_>) -> Result<Trace> {
    let mut input = Input::open_text(path)?;
    match format_of(&mut input)? {
        Format::Paraver => reader::read(input, options, BLOCK),
        Format::Csv => csv::read(input, options),
        Format::Parquet => read_parquet(input, options),
    }
}

/// Counts what a trace holds.
///
/// # Errors
/// Those of [`read_bursts`].
pub fn inspect(path: &Path, options: &ReadOptions<'_>) -> Result<TraceInfo> {
    let mut input = Input::open_text(path)?;
    match format_of(&mut input)? {
        Format::Paraver => info::inspect(input, options, BLOCK),
        format => {
            let compressed = input.compressed();
            let options = ReadOptions { apps: Apps::All, ..options.clone() };
            let read = if format == Format::Csv { csv::read } else { read_parquet };
            Ok(csv::inspect(format, compressed, read(input, &options)?))
        }
    }
}

fn read_parquet(input: Input, options: &ReadOptions<'_>) -> Result<Trace> {
    #[cfg(feature = "parquet")]
    return crate::burst_parquet::read(input, options);
    #[cfg(not(feature = "parquet"))]
    {
        let _ = options;
        Err(crate::parquet::not_built(input.path()))
    }
}

/// What a file of bursts holds, as far as its first bytes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bursts {
    /// Bursts that nobody has grouped: a Paraver trace, or a table of bursts
    /// without the column `cluster`.
    Ungrouped,
    /// A table of bursts with that column.
    Grouped,
}

/// Whether a file is of bursts; of Parquet all is read, of others the first
/// bytes alone.
///
/// # Errors
/// The file cannot be read.
pub fn bursts_of(path: &Path) -> Result<Option<Bursts>> {
    let mut input = Input::open_text(path)?;
    if input.peek(9)?.starts_with(b"#Paraver") {
        return Ok(Some(Bursts::Ungrouped));
    }
    let names = column_names(input)?;
    let labelled = if csv::has_labels(&names) { Bursts::Grouped } else { Bursts::Ungrouped };
    Ok(csv::is_header(&names).then_some(labelled))
}

/// Whether a file is bursts that nobody has grouped: a Paraver trace, or a CSV
/// of bursts without the column `cluster`. Else it is a table of clusters.
/// Reads its first bytes alone.
///
/// # Errors
/// The file cannot be read, is empty, or is neither.
pub fn is_ungrouped(path: &Path) -> Result<bool> {
    let mut input = Input::open_text(path)?;
    let head = input.peek(4096)?;
    if head.is_empty() {
        return Err(Error::whole(path, ErrorKind::Empty(TRACE_OR_CLUSTERS)));
    }
    if head.starts_with(b"#Paraver") {
        return Ok(true);
    }
    let line = crate::bytes::lines(&head[..head.len().min(4096)]).next().unwrap_or_default();
    let begin = found(&line[..line.len().min(40)]);
    let names = column_names(input)?;
    if csv::has_labels(&names) || names.first().is_some_and(|name| name == "Instance") {
        return Ok(false);
    }
    if csv::is_header(&names) {
        return Ok(true);
    }
    Err(Error::whole(path, ErrorKind::NeitherTraceNorClusters(begin)))
}

/// The names of the columns of a table; none where nobody can tell.
fn column_names(mut input: Input) -> Result<Vec<String>> {
    if !input.peek(PARQUET.len())?.starts_with(PARQUET) {
        return text_names(&mut input);
    }
    #[cfg(not(feature = "parquet"))]
    return Ok(Vec::new());
    #[cfg(feature = "parquet")]
    {
        let path = input.path().to_owned();
        crate::parquet::read::with_table(&path, input, |table| Ok(crate::burst_parquet::names(table)))
    }
}

fn text_names(input: &mut Input) -> Result<Vec<String>> {
    let head = input.peek(crate::dialect::HEAD)?;
    Ok(Head::of(head).map_or_else(|_| Vec::new(), |head| head.names()))
}

pub(crate) fn format_of(input: &mut Input) -> Result<Format> {
    let path = input.path().to_owned();
    let head = input.peek(4096)?;
    if head.is_empty() {
        return Err(Error::whole(&path, ErrorKind::Empty(TRACE_OR_BURSTS)));
    }
    if head.starts_with(b"#Paraver") {
        return Ok(Format::Paraver);
    }
    if head.starts_with(PARQUET) {
        return Ok(Format::Parquet);
    }
    let line = crate::bytes::lines(&head[..head.len().min(4096)]).next().unwrap_or_default();
    let begin = found(&line[..line.len().min(40)]);
    if csv::is_header(&text_names(input)?) {
        return Ok(Format::Csv);
    }
    Err(Error::whole(&path, ErrorKind::UnknownFormat(begin)))
}
