//! Effort tables: the work of every rank in every step.

mod long;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod parts;
mod spread;
mod wide;

use std::path::Path;

use likewise::ranks::EffortTable;

use crate::bytes::{Input, Piece};
use crate::error::{Error, ErrorKind, Result};
use crate::tables::dialect::{HEAD, Head};
use crate::tables::npy::MAGIC;
use crate::tables::parquet::MAGIC as PARQUET;
use crate::taken::Taken;
use parts::{Efforts, Share, check_kind, table_error};

pub use parts::EffortOptions;
pub use spread::read_effort_part;

/// Reads an effort table from a file or (`-`) the standard input, plain or
/// gzip; the format is told by the first bytes and the header:
///
/// - **wide text**: a row for each rank and a column for each step, with or
///   without names; a column `rank` says which rank, otherwise the rows count
///   from 0. Without names, a first column that counts four rows or more is the rank;
/// - **long text**: columns `rank`, `step`, `effort` and, if there are several
///   regions, `region`, in any order of columns and rows, and in any case;
///   common names for the same, such as `process`, `iteration` and `time`, are
///   understood. Ranks may count from 1;
/// - **`.npy`** of two dimensions, ranks × steps, in C or Fortran order;
/// - **Parquet**, long or wide as text, with the feature `parquet`.
///
/// The index of a data frame is left out. Regions of long tables are ordered by name.
///
/// # Errors
/// [`Error`] names the file, and line and column where there are any.
pub fn read_effort(path: &Path, options: &EffortOptions<'_>) -> Result<(EffortTable, Taken)> {
    read(path, Input::open_known(path)?, options)
}

fn read(path: &Path, input: Input, options: &EffortOptions<'_>) -> Result<(EffortTable, Taken)> {
    let Share { efforts, mut taken } =
        share(path, input, options, Piece::WHOLE)?.expect("all of a file can be read");
    let table = match efforts {
        Efforts::Rows { n_steps, values } => {
            let region = vec![options.region.clone()];
            EffortTable::new(region, n_steps, values).map_err(|e| table_error(path, &e))
        }
        Efforts::Cells(mut cells) => {
            if let Some(note) = cells.count_from_0() {
                taken.notes.push(note);
                taken.first_rank = 1;
            }
            taken.notes.extend(cells.note_on_steps());
            cells.table(path, &options.region.unit)
        }
    };
    Ok((table?, taken))
}

/// Reads the efforts of some ranks. As [`read_effort`], but ranks may be
/// missing, and a column `rank` must say which ranks the table has.
///
/// # Returns
/// The ranks, ascending, and the table whose rows they are.
///
/// # Errors
/// As [`read_effort`]. Errors in the numbers of a rank name its place among
/// the ranks that are there.
pub fn read_effort_of_some(path: &Path, options: &EffortOptions<'_>) -> Result<(Vec<u64>, EffortTable)> {
    let input = Input::open_known(path)?;
    match share(path, input, options, Piece::WHOLE)?.expect("all of a file can be read").efforts {
        Efforts::Rows { .. } => {
            let problem = "which ranks the rows are is not said; a column 'rank' says it";
            Err(Error::whole(path, ErrorKind::Table(problem.to_owned())))
        }
        Efforts::Cells(cells) => cells.some(path, &options.region.unit),
    }
}

/// Reads a piece of a file; `None` if the file can only be read as a whole.
fn share(path: &Path, mut input: Input, options: &EffortOptions<'_>, piece: Piece) -> Result<Option<Share>> {
    let head = input.peek(HEAD)?;
    if head.is_empty() {
        return Err(Error::whole(path, ErrorKind::Empty("a table of efforts")));
    }
    if head.starts_with(MAGIC) {
        return npy::read(path, input, piece);
    }
    if head.starts_with(PARQUET) {
        #[cfg(not(feature = "parquet"))]
        return Err(crate::tables::parquet::not_built(path));
        #[cfg(feature = "parquet")]
        return parquet::read(path, input, options, piece);
    }
    if head[..head.len().min(1 << 12)].contains(&0) {
        let problem = "neither text, .npy nor Parquet; efforts are read from these";
        return Err(Error::whole(path, ErrorKind::Table(problem.to_owned())));
    }
    let head = Head::of(head).map_err(|kind| Error::whole(path, kind))?;
    let (names, has_names) = (head.names(), head.has_names());
    check_kind(&names).map_err(|kind| Error::whole(path, kind))?;
    if long::is_header(&names) {
        long::read(path, input, options, piece)
    } else {
        wide::read(path, input, options, piece, has_names)
    }
}

#[cfg(test)]
mod tests;
