//! CSV with a name over every column.

use std::path::Path;
use std::sync::atomic::Ordering;

use super::{Cells, Column, ColumnTable, LONGEST_TEXT, Names, TABLE};
use crate::bytes::{Input, Progress};
use crate::csv::Rows;
use crate::error::{Error, ErrorKind, Place, Result, found, printable};

/// A column while nobody knows more of it than that.
enum Growing {
    /// So many cells are missing, and there were no others.
    Missing(usize),
    Known(Cells),
}

pub(super) fn read(
    path: &Path,
    mut input: Input,
    keys: &[String],
    progress: Option<Progress<'_>>,
) -> Result<ColumnTable> {
    input.skip_mark()?;
    let consumed = input.consumed();
    let total = std::fs::metadata(path).map_or(0, |m| m.len());
    let mut rows = Rows::new(input.into_reader(), path);
    let in_first = |kind| Error::at(path, Place::Line(1), kind);
    let names = match rows.next()? {
        Some((header, _)) => names(header.iter()).map_err(in_first)?,
        None => return Err(Error::whole(path, ErrorKind::Empty(TABLE))),
    };
    let start = |is_key| match is_key {
        true => Growing::Known(Cells::Texts(Vec::new())),
        false => Growing::Missing(0),
    };
    let mut columns: Vec<Growing> = names.are_keys(keys).map_err(in_first)?.into_iter().map(start).collect();
    let Names(names) = names;
    let mut n_rows = 0;
    while let Some((record, line)) = rows.next()? {
        for (at, cell) in record.iter().enumerate() {
            columns[at].push(cell.trim_ascii()).map_err(|found| {
                let (name, what) = (names[at].clone(), "a number, as above it");
                let kind = ErrorKind::Cell { column: at + 1, name, what, found };
                Error::at(path, Place::Line(line), kind)
            })?;
        }
        n_rows += 1;
        if n_rows % (1 << 14) == 0
            && let Some(progress) = progress
        {
            progress(consumed.load(Ordering::Relaxed), total);
        }
    }
    if n_rows == 0 {
        return Err(Error::whole(path, ErrorKind::OnlyHeader("rows")));
    }
    let columns =
        names.into_iter().zip(columns).map(|(name, growing)| Column { name, cells: growing.cells() });
    Ok(ColumnTable { columns: columns.collect(), n_rows })
}

/// Numbers are names only behind an empty cell, over the names of the rows.
fn names<'c>(cells: impl Iterator<Item = &'c [u8]>) -> std::result::Result<Names, ErrorKind> {
    let mut names = Names::default();
    let mut has_row_names = false;
    for (at, cell) in cells.map(<[u8]>::trim_ascii).enumerate() {
        has_row_names |= at == 0 && cell.is_empty();
        if !has_row_names && fast_float2::parse::<f64, _>(cell).is_ok() {
            let what = "the names of the columns".to_owned();
            return Err(ErrorKind::Expected { what, found: found(cell) });
        }
        names.push(cell)?;
    }
    match &names.0[..] {
        [name] if name.contains(';') || name.contains(r"\u{9}") => {
            let what = "names with commas between them, not ';' or tabs".to_owned();
            Err(ErrorKind::Expected { what, found: found(name.as_bytes()) })
        }
        _ => Ok(names),
    }
}

fn is_missing(cell: &[u8]) -> bool {
    matches!(cell, b"" | b"NA" | b"N/A")
        || cell.eq_ignore_ascii_case(b"nan")
        || cell.eq_ignore_ascii_case(b"null")
}

impl Growing {
    /// # Errors
    /// What stands in a column of numbers instead of one.
    fn push(&mut self, cell: &[u8]) -> std::result::Result<(), String> {
        let number = if is_missing(cell) { Some(f64::NAN) } else { fast_float2::parse(cell).ok() };
        match self {
            Growing::Missing(n) if is_missing(cell) => *n += 1,
            Growing::Missing(n) => {
                *self = Growing::Known(match number {
                    Some(number) => {
                        let mut numbers = vec![f64::NAN; *n];
                        numbers.push(number);
                        Cells::Numbers(numbers)
                    }
                    None => {
                        let mut texts = vec![String::new(); *n];
                        texts.push(printable(cell, LONGEST_TEXT));
                        Cells::Texts(texts)
                    }
                });
            }
            Growing::Known(Cells::Numbers(numbers)) => numbers.push(number.ok_or_else(|| found(cell))?),
            Growing::Known(Cells::Texts(texts)) => texts.push(printable(cell, LONGEST_TEXT)),
        }
        Ok(())
    }

    fn cells(self) -> Cells {
        match self {
            Growing::Missing(n) => Cells::Numbers(vec![f64::NAN; n]),
            Growing::Known(cells) => cells,
        }
    }
}
