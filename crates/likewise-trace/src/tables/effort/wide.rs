//! A row for each rank, a column for each step.

use std::path::Path;

use likewise::ranks::EffortCell;

use super::long::Cells;
use super::parts::{EffortOptions, Efforts, Share};
use crate::bytes::{BLOCK, Input, Piece};
use crate::error::{Error, ErrorKind, Result};
use crate::tables::dialect::is_rank_name;
use crate::tables::points;
use crate::taken::Taken;

pub(super) fn read(
    path: &Path,
    input: Input,
    options: &EffortOptions<'_>,
    piece: Piece,
) -> Result<Option<Share>> {
    let Some(table) = points::text(path, input, options.progress, BLOCK, piece)? else { return Ok(None) };
    let (names, taken) = (table.names().to_vec(), table.taken().clone());
    of_rows(path, table.into_numbers(), &names, taken, options).map(Some)
}

/// What these rows of numbers hold. One of `names` may say which rank a row is of.
pub(super) fn of_rows(
    path: &Path,
    numbers: Vec<f64>,
    names: &[String],
    mut taken: Taken,
    options: &EffortOptions<'_>,
) -> Result<Share> {
    let (width, rank) = (names.len(), names.iter().position(|name| is_rank_name(name)));
    let steps: Vec<&str> =
        names.iter().enumerate().filter(|(at, _)| Some(*at) != rank).map(|(_, name)| name.as_str()).collect();
    taken = Taken { left_out: taken.left_out, notes: taken.notes, ..Taken::new(steps.iter().copied()) };
    taken.notes.extend(note_on_steps(&steps));
    let Some(column) = rank else {
        return Ok(Share { efforts: Efforts::Rows { n_steps: width, values: numbers }, taken });
    };
    taken.names.push(names[column].clone());
    if width == 1 {
        return Err(Error::whole(path, ErrorKind::OnlyHeader("steps")));
    }
    let mut cells = Cells::default();
    let region = cells.region(&options.region.name);
    for (i, row) in numbers.chunks_exact(width).enumerate() {
        let value = row[column];
        // From 2^53 on, an f64 cannot hold every whole number.
        if value < 0.0 || value.fract() != 0.0 || value >= 2f64.powi(53) {
            let problem = format!("row {} (from 1): the rank is {value}; expected a whole number", i + 1);
            return Err(Error::whole(path, ErrorKind::Table(problem)));
        }
        let steps = row.iter().enumerate().filter(|(j, _)| *j != column).map(|(_, x)| *x);
        for (step, effort) in (0..).zip(steps) {
            cells.push(EffortCell { rank: value as u64, step, region, effort });
        }
    }
    Ok(Share { efforts: Efforts::Cells(cells), taken })
}

/// A note for tables in which the names of columns do not count steps.
fn note_on_steps(names: &[&str]) -> Option<String> {
    let digits = |name: &&str| name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let prefix = names.first().map(|name| &name[..digits(name)])?;
    let number = |name: &&str| name.strip_prefix(prefix).and_then(|rest| rest.parse::<u64>().ok());
    let numbers: Option<Vec<u64>> = names.iter().map(number).collect();
    if numbers.is_some_and(|numbers| numbers.windows(2).all(|pair| pair[0] < pair[1])) {
        return None;
    }
    let shown = names.iter().take(4).copied().collect::<Vec<_>>().join(", ");
    let more = if names.len() > 4 { ", …" } else { "" };
    Some(format!(
        "Each row is taken as a rank and each column as a step ({shown}{more}). If it is otherwise, name the columns \
         rank,step,region,effort."
    ))
}
