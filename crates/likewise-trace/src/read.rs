//! Reading a trace of any format.

use std::path::Path;

use crate::bytes::{self, Input};
use crate::error::{Error, ErrorKind, Result, TRACE_OR_BURSTS, TRACE_OR_CLUSTERS, found};
use crate::paraver;
use crate::recording;
use crate::tables::bursts;
use crate::tables::dialect::Head;
use crate::tables::parquet::MAGIC as PARQUET;
use crate::trace::{Apps, ReadOptions, Trace, TraceFormat, TraceInfo};

/// The formats of traces. (Tables of bursts are known by their columns.)
const TRACES: [TraceFormat; 2] = [paraver::FORMAT, recording::FORMAT];

/// Reads the bursts of a trace: Paraver (plain or gzip) or a CSV table of
/// bursts, from a file or (`-`) the standard input; or a recording of
/// `likewise record`, from its folder.
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
    if recording::is_folder(path)? {
        return recording::read(path, options);
    }
    let mut input = Input::open_text(path)?;
    match kind_of(&mut input)? {
        Kind::Trace(format) => (format.read)(input, options),
        Kind::Csv => bursts::text::read(input, options),
        Kind::Parquet => read_parquet(input, options),
    }
}

/// Whether opening `path` again gives the same: true for regular files and for
/// the folders of recordings, not for `-` (the standard input), pipes and
/// devices.
#[must_use]
pub fn is_rereadable(path: &Path) -> bool {
    bytes::is_rereadable(path) || recording::is_recording(path)
}

/// Counts what a trace holds.
///
/// # Errors
/// Those of [`read_bursts`].
pub fn inspect(path: &Path, options: &ReadOptions<'_>) -> Result<TraceInfo> {
    if recording::is_folder(path)? {
        return recording::inspect(path, options);
    }
    let mut input = Input::open_text(path)?;
    let compressed = input.compressed();
    let of_table = ReadOptions { apps: Apps::All, ..options.clone() };
    match kind_of(&mut input)? {
        Kind::Trace(format) => (format.inspect)(input, options),
        Kind::Csv => Ok(bursts::inspect("CSV of bursts", compressed, bursts::text::read(input, &of_table)?)),
        Kind::Parquet => {
            Ok(bursts::inspect("Parquet of bursts", compressed, read_parquet(input, &of_table)?))
        }
    }
}

fn read_parquet(input: Input, options: &ReadOptions<'_>) -> Result<Trace> {
    #[cfg(feature = "parquet")]
    return bursts::parquet::read(input, options);
    #[cfg(not(feature = "parquet"))]
    {
        let _ = options;
        Err(crate::tables::parquet::not_built(input.path()))
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
    if recording::is_folder(path)? {
        return Ok(Some(Bursts::Ungrouped));
    }
    let mut input = Input::open_text(path)?;
    if trace_format(&mut input)?.is_some() {
        return Ok(Some(Bursts::Ungrouped));
    }
    let names = column_names(input)?;
    let labelled = if bursts::has_labels(&names) { Bursts::Grouped } else { Bursts::Ungrouped };
    Ok(bursts::is_header(&names).then_some(labelled))
}

/// Whether a file is bursts that nobody has grouped: a Paraver trace, or a CSV
/// of bursts without the column `cluster`. Else it is a table of clusters.
/// Reads its first bytes alone.
///
/// # Errors
/// The file cannot be read, is empty, or is neither.
pub fn is_ungrouped(path: &Path) -> Result<bool> {
    if recording::is_folder(path)? {
        return Ok(true);
    }
    let mut input = Input::open_text(path)?;
    let head = input.peek(4096)?;
    if head.is_empty() {
        return Err(Error::whole(path, ErrorKind::Empty(TRACE_OR_CLUSTERS)));
    }
    let line = crate::bytes::lines(&head[..head.len().min(4096)]).next().unwrap_or_default();
    let begin = found(&line[..line.len().min(40)]);
    if trace_format(&mut input)?.is_some() {
        return Ok(true);
    }
    let names = column_names(input)?;
    if bursts::has_labels(&names) || names.first().is_some_and(|name| name == "Instance") {
        return Ok(false);
    }
    if bursts::is_header(&names) {
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
        crate::tables::parquet::read::with_table(&path, input, |table| Ok(bursts::parquet::names(table)))
    }
}

fn text_names(input: &mut Input) -> Result<Vec<String>> {
    let head = input.peek(crate::tables::dialect::HEAD)?;
    Ok(Head::of(head).map_or_else(|_| Vec::new(), |head| head.names()))
}

/// What a file is, by its first bytes.
pub(crate) enum Kind {
    Trace(&'static TraceFormat),
    /// A table of bursts as text.
    Csv,
    /// A table of bursts as Parquet.
    Parquet,
}

fn trace_format(input: &mut Input) -> Result<Option<&'static TraceFormat>> {
    for format in &TRACES {
        if input.peek(format.begins.len())?.starts_with(format.begins) {
            return Ok(Some(format));
        }
    }
    Ok(None)
}

pub(crate) fn kind_of(input: &mut Input) -> Result<Kind> {
    let path = input.path().to_owned();
    let head = input.peek(4096)?;
    if head.is_empty() {
        return Err(Error::whole(&path, ErrorKind::Empty(TRACE_OR_BURSTS)));
    }
    if head.starts_with(PARQUET) {
        return Ok(Kind::Parquet);
    }
    let line = crate::bytes::lines(&head[..head.len().min(4096)]).next().unwrap_or_default();
    let begin = found(&line[..line.len().min(40)]);
    if let Some(format) = trace_format(input)? {
        return Ok(Kind::Trace(format));
    }
    if bursts::is_header(&text_names(input)?) {
        return Ok(Kind::Csv);
    }
    Err(Error::whole(&path, ErrorKind::UnknownFormat(begin)))
}
