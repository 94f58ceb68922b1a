//! A row for each rank, a column for each step.

use std::path::Path;

use likewise::ranks::{EffortCell, EffortTable};

use super::{EffortOptions, table_error};
use crate::bytes::{BLOCK, Input};
use crate::error::{Error, ErrorKind, Result};
use crate::points;

pub(super) fn read(path: &Path, input: Input, options: &EffortOptions<'_>) -> Result<EffortTable> {
    let table = points::text(path, input, options.progress, BLOCK)?;
    let rank = table.names().iter().position(|name| name == "rank");
    of_rows(path, &table, table.dims(), rank, options)
}

/// The table of these rows of `width` numbers, of which `rank` may say which
/// rank it is.
pub(super) fn of_rows(
    path: &Path,
    numbers: &[f64],
    width: usize,
    rank: Option<usize>,
    options: &EffortOptions<'_>,
) -> Result<EffortTable> {
    let region = vec![options.region.clone()];
    let Some(column) = rank else {
        return EffortTable::new(region, width, numbers.to_vec()).map_err(|e| table_error(path, &e));
    };
    if width == 1 {
        return Err(Error::whole(path, ErrorKind::OnlyHeader("steps")));
    }
    let mut cells = Vec::with_capacity(numbers.len());
    for (i, row) in numbers.chunks_exact(width).enumerate() {
        let value = row[column];
        if value < 0.0 || value.fract() != 0.0 || value >= 2f64.powi(53) {
            let problem = format!("row {} (from 1): the rank is {value}; expected a whole number", i + 1);
            return Err(Error::whole(path, ErrorKind::Table(problem)));
        }
        let steps = row.iter().enumerate().filter(|(j, _)| *j != column).map(|(_, x)| *x);
        cells.extend((0..).zip(steps).map(|(step, effort)| EffortCell {
            rank: value as u64,
            step,
            region: 0,
            effort,
        }));
    }
    EffortTable::from_cells(region, cells).map_err(|e| table_error(path, &e))
}
