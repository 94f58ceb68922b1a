//! What is read of a table of efforts, whatever its format.

use super::long::Cells;
use crate::bytes::Progress;
use crate::error::{Error, ErrorKind};
use crate::taken::Taken;
use likewise::ranks::{EffortError, EffortRegion};
use std::path::Path;

/// What a file does not say, and whom to tell about the progress.
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

/// What a piece of a file holds.
pub(super) struct Share {
    pub(super) efforts: Efforts,
    pub(super) taken: Taken,
}

pub(super) enum Efforts {
    /// Ranks in the order of the file.
    Rows { n_steps: usize, values: Vec<f64> },
    /// Cells that say where they belong.
    Cells(Cells),
}

/// Names of columns that a table of efforts never has, and the tables that have them.
const OTHERS: [(&str, &str); 7] = [
    ("cluster", "a result of likewise"),
    ("class", "a result of `likewise ranks`"),
    ("goldberg", "a result of `likewise pareto`"),
    ("site", "a table of counters, for `likewise counters`"),
    ("event", "a table of counters, for `likewise counters`"),
    ("begin_ns", "a table of bursts"),
    ("duration_ns", "a table of bursts"),
];

/// # Errors
/// The table is of something else.
pub(super) fn check_kind(names: &[String]) -> std::result::Result<(), ErrorKind> {
    if crate::tables::bursts::is_header(names) {
        let problem = "this is a table of bursts; efforts are made of one only where it is a file, not a pipe, \
                       and on any number of processes";
        return Err(ErrorKind::Table(problem.to_owned()));
    }
    super::long::check_wide(names)?;
    super::wide::check_columns(names)?;
    let other = OTHERS.iter().find(|(other, _)| names.iter().any(|name| name == other));
    other.map_or(Ok(()), |(name, what)| {
        Err(ErrorKind::Table(format!(
            "it has a column '{name}', as {what} has; expected efforts: a row for each rank and a column for each \
             step, or columns rank,step,region,effort"
        )))
    })
}

/// What is wrong with the numbers of a file.
pub(super) fn table_error(path: &Path, error: &EffortError) -> Error {
    // Names in this text are already safe to print.
    Error::whole(path, ErrorKind::Table(error.to_string()))
}
