//! Tables of named columns: counters of call sites, runs or phases.

#[cfg(feature = "parquet")]
mod parquet;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;
use std::path::Path;

use crate::bytes::{Input, Progress};
use crate::error::{Error, ErrorKind, Result, printable};
use crate::npy::{Layout, MAGIC};
use crate::parquet::MAGIC as PARQUET;

/// The column of our own tables that holds the number of a cluster, or `noise`.
const LABEL: &str = "cluster";
/// What an empty file should have been.
const TABLE: &str = "a table with a name over every column";
/// Characters of a text that are kept.
const LONGEST_TEXT: usize = 400;

/// Columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnTable {
    /// In the order of the file.
    pub columns: Vec<Column>,
    /// How many rows there are.
    pub n_rows: usize,
}

/// What a column is called, and its cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Safe to print.
    pub name: String,
    /// From the first row to the last.
    pub cells: Cells,
}

/// What stands in a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Numbers; NaN where one is missing.
    Numbers(Vec<f64>),
    /// Texts, safe to print: they say which row it is.
    Texts(Vec<String>),
}

impl Cells {
    /// How many there are.
    #[cfg(feature = "parquet")]
    fn len(&self) -> usize {
        match self {
            Cells::Numbers(numbers) => numbers.len(),
            Cells::Texts(texts) => texts.len(),
        }
    }
}

impl ColumnTable {
    /// The columns of numbers.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, &[f64])> {
        self.columns.iter().filter_map(|column| match &column.cells {
            Cells::Numbers(numbers) => Some((column.name.as_str(), numbers.as_slice())),
            Cells::Texts(_) => None,
        })
    }

    /// The columns of texts.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.columns.iter().filter_map(|column| match &column.cells {
            Cells::Texts(texts) => Some((column.name.as_str(), texts.as_slice())),
            Cells::Numbers(_) => None,
        })
    }

    /// A row for each site and a column for each event, in the order in which
    /// they come, of a table of columns `site`, `event` and `value`; nothing
    /// of another. What is not there is missing.
    ///
    /// # Errors
    /// A site and event come twice, or nearly all would be missing of a table
    /// too large to hold.
    pub fn pivoted(&self) -> Option<std::result::Result<ColumnTable, String>> {
        let named = |name: &str| self.columns.iter().find(|column| column.name == name);
        let (site, event, value) = (named("site")?, named("event")?, named("value")?);
        let Cells::Numbers(values) = &value.cells else { return None };
        if self.columns.len() != 3 {
            return None;
        }
        let (sites, events) = (site.numbered(), event.numbered());
        if let Err(problem) = check_cells(sites.names.len(), events.names.len(), values.len()) {
            return Some(Err(problem));
        }
        let mut columns = vec![vec![f64::NAN; sites.names.len()]; events.names.len()];
        let mut known = vec![vec![false; sites.names.len()]; events.names.len()];
        for (row, &value) in values.iter().enumerate() {
            let (event, site) = (events.of_row[row], sites.of_row[row]);
            if std::mem::replace(&mut known[event][site], true) {
                let problem = "its site and event came before";
                return Some(Err(format!("row {} (from 1, without the names): {problem}", row + 1)));
            }
            columns[event][site] = value;
        }
        let n_rows = sites.names.len();
        let mut all = vec![Column { name: "site".to_owned(), cells: Cells::Texts(sites.names) }];
        let of_event = |(name, numbers)| Column { name, cells: Cells::Numbers(numbers) };
        all.extend(events.names.into_iter().zip(columns).map(of_event));
        Some(Ok(ColumnTable { columns: all, n_rows }))
    }
}

/// Cells that a table may have though hardly any has a value.
const MOST_CELLS: usize = 1 << 24;
/// Cells for each value, in a table that has more of them.
const CELLS_A_VALUE: usize = 100;

/// Memory grows with what was read.
fn check_cells(sites: usize, events: usize, values: usize) -> std::result::Result<(), String> {
    let cells = sites.saturating_mul(events);
    if cells <= MOST_CELLS || cells / CELLS_A_VALUE <= values {
        return Ok(());
    }
    Err(format!(
        "{values} values of {sites} sites and {events} events would make a table of {cells} cells, of which more than \
         99% are missing; are the columns what their names say?"
    ))
}

/// Different cells, in the order in which they come.
struct Numbered {
    names: Vec<String>,
    of_row: Vec<usize>,
}

impl Column {
    fn numbered(&self) -> Numbered {
        let texts: Vec<String> = match &self.cells {
            Cells::Texts(texts) => texts.clone(),
            Cells::Numbers(numbers) => numbers.iter().map(f64::to_string).collect(),
        };
        let (mut names, mut of_row) = (Vec::new(), Vec::with_capacity(texts.len()));
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for text in texts {
            let place = *places.entry(text).or_insert_with_key(|text| {
                names.push(text.clone());
                names.len() - 1
            });
            of_row.push(place);
        }
        Numbered { names, of_row }
    }
}

/// Reads a table of named columns from a file or (`-`) the standard input,
/// plain or gzip:
///
/// - **CSV**: its first line names the columns. A column is of numbers if its
///   first cell that is not missing is one and it is not among `keys`, else of
///   texts; so is one called `cluster`, which may hold `noise`. Missing are
///   empty cells, `NaN`, `NA`, `N/A` and `null`;
/// - **Parquet**, with the feature `parquet`, of columns that are neither
///   nested nor lists. Integers, floats and booleans (0 or 1) are numbers but
///   where CSV has texts; null and NaN are missing, and a null text is empty;
/// - **`.npy`** of one or two dimensions, a row for each row; its columns are
///   called 0, 1, ….
///
/// A long table of `site,event,value` becomes one with a column for each event.
///
/// # Errors
/// [`Error`] names the file, and line and column where there are any.
pub fn read_columns(path: &Path, keys: &[String], progress: Option<Progress<'_>>) -> Result<ColumnTable> {
    let table = read(path, keys, progress)?;
    match table.pivoted() {
        None => Ok(table),
        Some(Ok(table)) => Ok(table),
        Some(Err(problem)) => Err(Error::whole(path, ErrorKind::Table(problem))),
    }
}

/// The table as it stands in the file.
fn read(path: &Path, keys: &[String], progress: Option<Progress<'_>>) -> Result<ColumnTable> {
    let mut input = Input::open(path)?;
    let head = input.peek(1 << 12)?;
    if head.is_empty() {
        return Err(Error::whole(path, ErrorKind::Empty(TABLE)));
    }
    if head.starts_with(MAGIC) {
        return npy(path, input);
    }
    if head.starts_with(PARQUET) {
        #[cfg(not(feature = "parquet"))]
        return Err(crate::parquet::not_built(path));
        #[cfg(feature = "parquet")]
        return parquet::read(path, input, keys, progress);
    }
    if head[..head.len().min(1 << 12)].contains(&0) {
        let problem = "neither text, .npy nor Parquet; tables are read from these";
        return Err(Error::whole(path, ErrorKind::Table(problem.to_owned())));
    }
    text::read(path, input, keys, progress)
}

/// Names of columns, safe to print, all different.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn push(&mut self, name: &[u8]) -> std::result::Result<(), ErrorKind> {
        let name =
            if name.is_empty() { format!("column {}", self.0.len() + 1) } else { printable(name, 200) };
        if self.0.contains(&name) {
            return Err(ErrorKind::Table(format!("two columns are called '{name}'")));
        }
        self.0.push(name);
        Ok(())
    }

    /// Whether each column says which row it is.
    ///
    /// # Errors
    /// One of `keys` is no column.
    fn are_keys(&self, keys: &[String]) -> std::result::Result<Vec<bool>, ErrorKind> {
        match keys.iter().find(|key| !self.0.contains(key)) {
            Some(key) => {
                let key = printable(key.as_bytes(), 200);
                Err(ErrorKind::MissingColumn(key, "one of those that it names"))
            }
            None => Ok(self.0.iter().map(|name| keys.contains(name) || name == LABEL).collect()),
        }
    }
}

fn npy(path: &Path, input: Input) -> Result<ColumnTable> {
    let whole = input.read_all()?;
    let layout = Layout::parse(&whole).and_then(Layout::by_rows).map_err(|kind| Error::whole(path, kind))?;
    if layout.rows == 0 {
        return Err(Error::whole(path, ErrorKind::OnlyHeader("rows")));
    }
    let cells = whole[layout.offset..].chunks_exact(layout.width);
    let numbers: Vec<f64> =
        cells.take(layout.rows * layout.columns).map(|bytes| layout.number(bytes)).collect();
    let column = |at: usize| {
        let numbers = numbers.iter().skip(at).step_by(layout.columns).copied().collect();
        Column { name: at.to_string(), cells: Cells::Numbers(numbers) }
    };
    Ok(ColumnTable { columns: (0..layout.columns).map(column).collect(), n_rows: layout.rows })
}
