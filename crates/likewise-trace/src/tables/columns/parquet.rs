//! Parquet of plain columns.

use std::path::Path;

use super::{Cells, Column, ColumnTable, LONGEST_TEXT, Names};
use crate::bytes::{Input, Progress};
use crate::error::{Error, ErrorKind, Result};
use crate::tables::parquet::read::{Table, Value, with_table};
use crate::taken::Taken;

pub(super) fn read(
    path: &Path,
    input: Input,
    keys: &[String],
    progress: Option<Progress<'_>>,
) -> Result<(ColumnTable, Option<usize>)> {
    with_table(path, input, |table| {
        let whole = |kind| Error::whole(path, kind);
        let mut names = Names::default();
        table.names().try_for_each(|name| names.push(name.as_bytes())).map_err(whole)?;
        let are_keys = names.are_keys(keys).map_err(whole)?;
        let n_columns = are_keys.len();
        let mut columns = Vec::new();
        let unnamed = names.unnamed;
        for (at, (name, is_key)) in names.names.into_iter().zip(are_keys).enumerate() {
            columns.push(Column { name, cells: cells(table, at, is_key)? });
            if let Some(progress) = progress {
                progress(table.size() * columns.len() as u64 / n_columns as u64, table.size());
            }
        }
        // All have as many rows as the file says.
        match columns.first().map_or(0, |column| column.cells.len()) {
            0 => Err(whole(ErrorKind::OnlyHeader("rows"))),
            n_rows => Ok((ColumnTable { columns, n_rows, taken: Taken::default() }, unnamed)),
        }
    })
}

fn cells(table: &Table<'_>, at: usize, is_key: bool) -> Result<Cells> {
    if is_key || table.is_text(at) || table.is_index(at) || table.is_time(at) {
        let text = |value: Option<Value<'_>>| value.map_or_else(String::new, |x| x.text(LONGEST_TEXT));
        table.collected(at, |value| Ok(text(value))).map(Cells::Texts)
    } else {
        let number = |value: Option<Value<'_>>| value.and_then(Value::number).unwrap_or(f64::NAN);
        table.collected(at, |value| Ok(number(value))).map(Cells::Numbers)
    }
}

#[cfg(test)]
mod tests;
