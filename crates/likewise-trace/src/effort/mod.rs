//! Effort tables: the work of every rank in every step.

mod long;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod spread;
mod wide;

use std::path::Path;

use likewise::ranks::{EffortError, EffortRegion, EffortTable};

use crate::bytes::{Input, Piece, Progress};
use crate::error::{Error, ErrorKind, Result};
use crate::npy::MAGIC;
use crate::parquet::MAGIC as PARQUET;
use long::Cells;

pub use spread::{SpreadError, read_effort_part};

/// What a file does not say, and who is told how far the reading is.
#[derive(Clone)]
pub struct EffortOptions<'a> {
    /// The region of files that have one only.
    pub region: EffortRegion,
    /// Told how far the reading is.
    pub progress: Option<Progress<'a>>,
}

impl Default for EffortOptions<'_> {
    fn default() -> Self {
        let region = EffortRegion { name: "effort".to_owned(), unit: String::new() };
        Self { region, progress: None }
    }
}

/// Reads an effort table from a file or (`-`) the standard input, plain or
/// gzip; the format is told by the first bytes and the header:
///
/// - **wide CSV**: a row for each rank and a column for each step, with or
///   without names; a column `rank` says which rank, otherwise the rows count
///   from 0;
/// - **long CSV**: columns `rank`, `step`, `effort` and, if there are several
///   regions, `region`, in any order of columns and rows;
/// - **`.npy`** of two dimensions, ranks × steps, in C or Fortran order;
/// - **Parquet**, long or wide as CSV, with the feature `parquet`.
///
/// Regions of long tables are ordered by name.
///
/// # Errors
/// [`Error`] names the file, and line and column where there are any.
pub fn read_effort(path: &Path, options: &EffortOptions<'_>) -> Result<EffortTable> {
    read(path, Input::open(path)?, options)
}

fn read(path: &Path, input: Input, options: &EffortOptions<'_>) -> Result<EffortTable> {
    match share(path, input, options, Piece::WHOLE)?.expect("all of a file can be read") {
        Share::Rows { n_steps, values } => {
            let region = vec![options.region.clone()];
            EffortTable::new(region, n_steps, values).map_err(|e| table_error(path, &e))
        }
        Share::Cells(cells) => cells.table(path, &options.region.unit),
    }
}

/// Reads the efforts of some ranks: as [`read_effort`], but ranks may be
/// missing, and a table must say in a column `rank` which it has.
///
/// # Returns
/// The ranks, ascending, and the table whose rows they are.
///
/// # Errors
/// As [`read_effort`]; what is wrong with the numbers of a rank names its
/// place among those that are there.
pub fn read_effort_of_some(path: &Path, options: &EffortOptions<'_>) -> Result<(Vec<u64>, EffortTable)> {
    let input = Input::open(path)?;
    match share(path, input, options, Piece::WHOLE)?.expect("all of a file can be read") {
        Share::Rows { .. } => {
            let problem = "which ranks the rows are is not said; a column 'rank' says it";
            Err(Error::whole(path, ErrorKind::Table(problem.to_owned())))
        }
        Share::Cells(cells) => cells.some(path, &options.region.unit),
    }
}

/// What a piece of a file holds.
enum Share {
    /// Ranks in the order of the file.
    Rows { n_steps: usize, values: Vec<f64> },
    /// Cells that say where they belong.
    Cells(Cells),
}

/// Reads a piece of a file; nothing where only all of it can be read.
fn share(path: &Path, mut input: Input, options: &EffortOptions<'_>, piece: Piece) -> Result<Option<Share>> {
    let head = input.peek(1 << 12)?;
    if head.is_empty() {
        return Err(Error::whole(path, ErrorKind::Empty("a table of efforts")));
    }
    if head.starts_with(MAGIC) {
        return npy::read(path, input, piece);
    }
    if head.starts_with(PARQUET) {
        #[cfg(not(feature = "parquet"))]
        return Err(crate::parquet::not_built(path));
        #[cfg(feature = "parquet")]
        return parquet::read(path, input, options, piece);
    }
    if head[..head.len().min(1 << 12)].contains(&0) {
        let problem = "neither text, .npy nor Parquet; efforts are read from these";
        return Err(Error::whole(path, ErrorKind::Table(problem.to_owned())));
    }
    input.skip_mark()?;
    let head = input.peek(1 << 12)?;
    let line = &head[..memchr::memchr(b'\n', head).unwrap_or(head.len()).min(1 << 12)];
    if long::is_header(line) {
        long::read(path, input, options, piece)
    } else {
        wide::read(path, input, options, piece)
    }
}

/// What is wrong with the numbers of a file.
fn table_error(path: &Path, error: &EffortError) -> Error {
    // Names in the text are safe to print already.
    Error::whole(path, ErrorKind::Table(error.to_string()))
}

#[cfg(test)]
mod tests;
