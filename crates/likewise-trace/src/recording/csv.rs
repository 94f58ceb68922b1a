//! A recording as CSV: every event, and the frames of the call paths.

use std::io::{self, Write};
use std::path::Path;

use likewise_recording::Recording;

use super::leads::Lent;
use super::rows::{COLUMNS, Row, Rows};
use super::source::{Source, base};
use crate::error::Result;

/// Text is handed on in pieces of about this size.
const PIECE: usize = 1 << 18;

/// Where a frame of a call path lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRow {
    /// The number of the call path.
    pub path: u32,
    /// 0 is the function that calls MPI.
    pub depth: u32,
    /// Function, file and line.
    pub location: super::Location,
    /// The file of the loaded object, without its folder.
    pub module: String,
    /// The return address in it.
    pub offset: u64,
}

/// The frames of all call paths, by number; functions that were inlined have
/// rows of their own.
#[must_use]
pub fn path_rows(recording: &Recording, source: &mut Source) -> Vec<PathRow> {
    let mut paths: Vec<u32> = recording.symbols().iter().map(|symbol| symbol.path).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut rows = Vec::new();
    for path in paths {
        let mut depth = 0;
        for frame in recording.frames(path) {
            let module =
                recording.modules().get(frame.module as usize).map_or("", |module| base(&module.path));
            let module = crate::printable(module.as_bytes(), 300);
            for location in source.locations(frame) {
                let (location, module) = (location.clone(), module.clone());
                rows.push(PathRow { path, depth, location, module, offset: frame.offset });
                depth += 1;
            }
        }
    }
    rows
}

/// Writes `paths.csv`.
///
/// # Errors
/// The file cannot be written.
pub fn write_paths_csv(rows: &[PathRow], out: impl Write) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(out);
    out.write_record(["path", "depth", "function", "file", "line", "module", "offset"])?;
    for row in rows {
        let line = if row.location.line > 0 { row.location.line.to_string() } else { String::new() };
        let numbers = [row.path.to_string(), row.depth.to_string(), format!("{:#x}", row.offset)];
        let [path, depth, offset] = &numbers;
        out.write_record([
            path,
            depth,
            &row.location.function,
            &row.location.file,
            &line,
            &row.module,
            offset,
        ])?;
    }
    out.flush()
}

/// Writes `events.csv`: every event of every rank, in order. Returns how many,
/// and what could not be read.
///
/// # Errors
/// The file cannot be written.
///
/// # Complexity
/// One pass; memory does not grow with the number of events.
pub fn write_events_csv(
    recording: &Recording,
    path: &Path,
    mut out: impl Write,
) -> io::Result<(u64, Vec<String>)> {
    let mut text = Vec::with_capacity(PIECE + 1024);
    text.extend_from_slice(COLUMNS.as_bytes());
    text.push(b'\n');
    let mut n = 0;
    let problems = for_each_row(recording, path, |row| {
        line(&row, &mut text);
        n += 1;
        if text.len() >= PIECE {
            out.write_all(&text)?;
            text.clear();
        }
        io::Result::Ok(())
    })?;
    out.write_all(&text)?;
    Ok((n, problems))
}

/// Calls `take` with every row of every rank, in order. Returns what could not
/// be read, or is not known.
///
/// # Errors
/// Those of `take`.
pub fn for_each_row<E>(
    recording: &Recording,
    path: &Path,
    mut take: impl FnMut(Row) -> std::result::Result<(), E>,
) -> std::result::Result<Vec<String>, E> {
    let mut problems = Vec::new();
    let mut lent = Lent::default();
    for meta in recording.ranks() {
        let mut of_rank = 0;
        let mut rows = Rows::new(recording, meta.rank, path);
        let mut n = 0_u64;
        loop {
            let row: Result<Option<Row>> = rows.next();
            match row {
                Ok(Some(row)) => {
                    of_rank += u64::from(row.lent);
                    take(row)?;
                }
                Ok(None) => break,
                Err(error) => {
                    problems.push(format!("rank {} is read up to event {n}: {error}", meta.rank));
                    break;
                }
            }
            n += 1;
        }
        lent.add(of_rank);
    }
    problems.extend(lent.note());
    Ok(problems)
}

fn line(row: &Row, text: &mut Vec<u8>) {
    let mut digits = itoa::Buffer::new();
    text.extend_from_slice(digits.format(row.rank).as_bytes());
    text.push(b',');
    text.extend_from_slice(digits.format(row.index).as_bytes());
    text.push(b',');
    text.extend_from_slice(row.call.name().as_bytes());
    let peer = row.peer.and_then(|peer| i64::try_from(peer).ok());
    for value in [row.comm, peer, row.tag, row.count, row.bytes, row.root] {
        text.push(b',');
        if let Some(value) = value {
            text.extend_from_slice(digits.format(value).as_bytes());
        }
    }
    for value in [u64::from(row.path), row.begin, row.end] {
        text.push(b',');
        text.extend_from_slice(digits.format(value).as_bytes());
    }
    text.push(b',');
    if let Some(lead) = row.lead {
        text.extend_from_slice(digits.format(lead).as_bytes());
    }
    text.push(b'\n');
}
