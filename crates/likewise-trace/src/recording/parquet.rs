//! A recording as Parquet: the tables of [`super::csv`].

use std::path::Path;

use likewise_recording::Recording;

use super::csv::{PathRow, for_each_row};
use super::rows::{COLUMNS, Row};
use crate::error::Result;
use crate::output::AtomicFile;
use crate::tables::parquet::{ColumnData, ParquetRows, write_parquet};

/// Rows that are held at once.
const ROWS: usize = 1 << 18;

/// Rows by column.
#[derive(Default)]
struct Held {
    rank: Vec<u32>,
    index: Vec<i64>,
    call: Vec<&'static str>,
    /// Communicator, peer, tag, count, bytes and root.
    maybe: [Vec<Option<i64>>; 6],
    path: Vec<u32>,
    times: [Vec<i64>; 2],
    lead: Vec<Option<i64>>,
}

impl Held {
    fn push(&mut self, row: &Row) {
        let whole = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        self.rank.push(row.rank);
        self.index.push(whole(row.index));
        self.call.push(row.call.name());
        let values = [row.comm, row.peer.map(whole), row.tag, row.count, row.bytes, row.root];
        self.maybe.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        self.path.push(row.path);
        self.times.iter_mut().zip([row.begin, row.end]).for_each(|(column, time)| column.push(whole(time)));
        self.lead.push(row.lead.map(i64::from));
    }

    fn columns(&self) -> Vec<ColumnData<'_>> {
        let mut columns =
            vec![ColumnData::U32(&self.rank), ColumnData::I64(&self.index), ColumnData::Str(&self.call)];
        columns.extend(self.maybe.iter().map(|column| ColumnData::MaybeI64(column)));
        columns.push(ColumnData::U32(&self.path));
        columns.extend(self.times.iter().map(|column| ColumnData::I64(column)));
        columns.push(ColumnData::MaybeI64(&self.lead));
        columns
    }
}

/// Writes `events.parquet`, with the columns of `events.csv`; what is empty
/// there is null. Returns the file, which the caller commits, how many rows it
/// has, and what could not be read.
///
/// # Errors
/// The file cannot be written.
pub fn write_events_parquet(
    recording: &Recording,
    path: &Path,
    to: &Path,
) -> Result<(AtomicFile, u64, Vec<String>)> {
    let mut held = Held::default();
    let names: Vec<(&str, ColumnData<'_>)> = COLUMNS.split(',').zip(held.columns()).collect();
    let mut file = ParquetRows::create(to, &names)?;
    drop(names);
    let mut n = 0;
    let problems = for_each_row(recording, path, |row| {
        held.push(&row);
        n += 1;
        if held.rank.len() < ROWS {
            return Ok(());
        }
        let full = std::mem::take(&mut held);
        file.add(&full.columns())
    })?;
    if !held.rank.is_empty() {
        file.add(&held.columns())?;
    }
    Ok((file.finish()?, n, problems))
}

/// Writes `paths.parquet`, with the columns of `paths.csv`; an unknown line is
/// null.
///
/// # Errors
/// The file cannot be written.
pub fn write_paths_parquet(rows: &[PathRow], to: &Path) -> Result<AtomicFile> {
    let numbers = |of: fn(&PathRow) -> u32| rows.iter().map(of).collect::<Vec<u32>>();
    let (path, depth) = (numbers(|row| row.path), numbers(|row| row.depth));
    let function: Vec<&str> = rows.iter().map(|row| &*row.location.function).collect();
    let file: Vec<&str> = rows.iter().map(|row| &*row.location.file).collect();
    let module: Vec<&str> = rows.iter().map(|row| &*row.module).collect();
    let line = |row: &PathRow| Some(i64::from(row.location.line)).filter(|&line| line > 0);
    let line: Vec<Option<i64>> = rows.iter().map(line).collect();
    let offset: Vec<i64> = rows.iter().map(|row| i64::try_from(row.offset).unwrap_or(i64::MAX)).collect();
    write_parquet(
        to,
        &[
            ("path", ColumnData::U32(&path)),
            ("depth", ColumnData::U32(&depth)),
            ("function", ColumnData::Str(&function)),
            ("file", ColumnData::Str(&file)),
            ("line", ColumnData::MaybeI64(&line)),
            ("module", ColumnData::Str(&module)),
            ("offset", ColumnData::I64(&offset)),
        ],
    )
}
