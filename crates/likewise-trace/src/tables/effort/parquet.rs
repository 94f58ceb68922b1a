//! Parquet, long or wide.

use std::path::Path;

use likewise::ranks::EffortCell;

use super::long::{self, Cells, is_header};
use super::parts::{EffortOptions, Efforts, Share, check_kind};
use super::wide;
use crate::bytes::{Input, Piece};
use crate::error::{Error, ErrorKind, Result, printable};
use crate::tables::parquet::read::{Table, Value, with_table};
use crate::taken::{Taken, index_fault, is_unnamed, name_or_place};

/// Efforts have no gaps.
const EMPTY: &str = "a cell is empty; expected one value in every row";

/// A piece is of whole row groups.
pub(super) fn read(
    path: &Path,
    input: Input,
    options: &EffortOptions<'_>,
    piece: Piece,
) -> Result<Option<Share>> {
    // A compressed file can only be read from its begin.
    if input.compressed() && !piece.is_whole() {
        return Ok(None);
    }
    with_table(path, input, |table| {
        let names: Vec<String> = table.names().map(|name| printable(name.as_bytes(), 200)).collect();
        let columns = Columns { path, table, piece, names };
        if table.n_groups() == 0 && piece.is_whole() {
            return Err(columns.wrong("the table has no rows".to_owned()));
        }
        check_kind(&columns.names).map_err(|kind| Error::whole(path, kind))?;
        if is_header(&columns.names) { columns.long(options).map(Some) } else { columns.wide(options) }
    })
}

/// The columns of a piece of a table.
struct Columns<'t> {
    path: &'t Path,
    table: &'t Table<'t>,
    piece: Piece,
    names: Vec<String>,
}

impl Columns<'_> {
    fn wrong(&self, problem: String) -> Error {
        Error::whole(self.path, ErrorKind::Table(problem))
    }

    fn numbers(&self, at: usize) -> Result<Vec<f64>> {
        if self.table.is_text(at) {
            return Err(self.table.wrong_column(at, "expected numbers, found texts"));
        }
        self.values(at, |value| value.number())
    }

    fn values<T>(&self, at: usize, of: impl Fn(Value<'_>) -> Option<T>) -> Result<Vec<T>> {
        let mut values = Vec::new();
        self.table.column(at, self.piece.of(self.table.n_groups()), |value| {
            values.push(value.and_then(&of).ok_or(EMPTY)?);
            Ok(())
        })?;
        Ok(values)
    }

    fn wide(&self, options: &EffortOptions<'_>) -> Result<Option<Share>> {
        let mut columns = (0..self.names.len()).map(|at| self.numbers(at)).collect::<Result<Vec<_>>>()?;
        let (mut names, mut taken) = (self.names.clone(), Taken::default());
        // The index shows in all rows.
        if let Some(at) = names.iter().position(|name| is_unnamed(name)).filter(|_| names.len() > 1) {
            if !self.piece.is_whole() {
                return Ok(None);
            }
            if let Some(why) = index_fault(&columns[at]) {
                taken.leave_out(&name_or_place(&names.remove(at), at), why);
                columns.remove(at);
            }
        }
        let n_rows = columns.first().map_or(0, Vec::len);
        let rows = (0..n_rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
        wide::of_rows(self.path, rows, &names, taken, options).map(Some)
    }

    fn long(&self, options: &EffortOptions<'_>) -> Result<Share> {
        let at = long::Columns::of(&self.names).map_err(|kind| Error::whole(self.path, kind))?;
        let (rank, step, effort) = (self.numbers(at.rank)?, self.numbers(at.step)?, self.numbers(at.effort)?);
        let regions = at
            .region
            .map(|at| self.values(at, |value| Some(long::name_of_region(&value.text(200)))))
            .transpose()?;
        let whole = |row: usize, at: usize, value: f64| {
            let fits = value >= 0.0 && value.fract() == 0.0 && value < 2f64.powi(53);
            let name = &self.names[at];
            let problem =
                || format!("row {} (from 1), column {name}: {value} is not a whole number", row + 1);
            if fits { Ok(value as u64) } else { Err(self.wrong(problem())) }
        };
        let mut cells = Cells::default();
        for (row, &effort) in effort.iter().enumerate() {
            let region = regions.as_ref().map_or(&options.region.name, |names| &names[row]);
            let region = cells.region(region);
            let (rank, step) = (whole(row, at.rank, rank[row])?, whole(row, at.step, step[row])?);
            cells.push(EffortCell { rank, step, region, effort });
        }
        Ok(Share { efforts: Efforts::Cells(cells), taken: at.taken(&self.names) })
    }
}
