//! A row for each rank, a column for each step.

use std::path::Path;

use likewise::ranks::EffortCell;

use super::long::Cells;
use super::{EffortOptions, Share};
use crate::bytes::{BLOCK, Input, Piece};
use crate::error::{Error, ErrorKind, Result};
use crate::points;

pub(super) fn read(
    path: &Path,
    input: Input,
    options: &EffortOptions<'_>,
    piece: Piece,
) -> Result<Option<Share>> {
    let Some(table) = points::text(path, input, options.progress, BLOCK, piece)? else { return Ok(None) };
    let rank = table.names().iter().position(|name| name == "rank");
    if piece.index == 0 && table.names()[0] == "x1" && counts(&table[..table.dims().min(table.len())]) {
        let last = table.dims() - 1;
        let problem = format!(
            "its first line is 0, 1, 2, …, {last}: if these are names of steps, give others, such as step0; if they are \
             efforts, put a line of names over them"
        );
        return Err(Error::whole(path, ErrorKind::Table(problem)));
    }
    let width = table.dims();
    of_rows(path, table.into_numbers(), width, rank, options).map(Some)
}

/// Steps of which numbers from 0 on look like names that a program wrote.
const NAMES: usize = 8;

/// Whether these are 0, 1, 2 and so on, which would make a rank of names.
fn counts(first: &[f64]) -> bool {
    first.len() >= NAMES && (0..).zip(first).all(|(at, x)| *x == f64::from(at))
}

/// What is in these rows of `width` numbers, of which `rank` may say which
/// rank it is.
pub(super) fn of_rows(
    path: &Path,
    numbers: Vec<f64>,
    width: usize,
    rank: Option<usize>,
    options: &EffortOptions<'_>,
) -> Result<Share> {
    let Some(column) = rank else {
        return Ok(Share::Rows { n_steps: width, values: numbers });
    };
    if width == 1 {
        return Err(Error::whole(path, ErrorKind::OnlyHeader("steps")));
    }
    let mut cells = Cells::default();
    let region = cells.region(&options.region.name);
    for (i, row) in numbers.chunks_exact(width).enumerate() {
        let value = row[column];
        if value < 0.0 || value.fract() != 0.0 || value >= 2f64.powi(53) {
            let problem = format!("row {} (from 1): the rank is {value}; expected a whole number", i + 1);
            return Err(Error::whole(path, ErrorKind::Table(problem)));
        }
        let steps = row.iter().enumerate().filter(|(j, _)| *j != column).map(|(_, x)| *x);
        for (step, effort) in (0..).zip(steps) {
            cells.push(EffortCell { rank: value as u64, step, region, effort });
        }
    }
    Ok(Share::Cells(cells))
}
