//! Tables of named columns: counters of call sites, runs or phases.

mod marked;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;
use std::path::Path;

use crate::bytes::{Input, Progress};
use crate::error::{Error, ErrorKind, Result, printable};
use crate::tables::npy::{Layout, MAGIC};
use crate::tables::parquet::MAGIC as PARQUET;
use crate::taken::{COUNTS, Taken, are_different_wholes, count_rows, is_unnamed, name_or_place};

/// The column of our own tables that holds the number of a cluster, or `noise`.
const LABEL: &str = "cluster";
/// What should stand in an empty file.
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
    /// What became of the columns of the file.
    pub taken: Taken,
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

    /// Turns a table of columns `site`, `event` and `value` into a row for each
    /// site and a column for each event, in the order in which they appear;
    /// `None` for another table. Further columns, such as a rank, also identify
    /// the row. A value that is not there is missing.
    ///
    /// # Errors
    /// A site and event appear twice, or the result would be too large to hold,
    /// with nearly all values missing.
    fn pivoted(&self) -> Option<std::result::Result<ColumnTable, String>> {
        let place =
            |name: &str| self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
        let (site, event, value) = (place("site")?, place("event")?, place("value")?);
        let Cells::Numbers(values) = &self.columns[value].cells else { return None };
        let others = (0..self.columns.len()).filter(|at| ![site, event, value].contains(at));
        let keys: Vec<&Column> = std::iter::once(site).chain(others).map(|at| &self.columns[at]).collect();
        let (rows, events) = (Numbered::of(&keys), Numbered::of(&[&self.columns[event]]));
        if let Err(problem) = check_cells(rows.first.len(), events.first.len(), values.len()) {
            return Some(Err(problem));
        }
        let n_rows = rows.first.len();
        let mut columns = vec![vec![f64::NAN; n_rows]; events.first.len()];
        let mut known = vec![vec![false; n_rows]; events.first.len()];
        let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
        for (row, &value) in values.iter().enumerate() {
            let (event, site) = (events.of_row[row], rows.of_row[row]);
            if std::mem::replace(&mut known[event][site], true) {
                let same = names.join(", ");
                let problem =
                    format!("its {same} and event came before; add a column that tells the two apart");
                return Some(Err(format!("row {} (from 1, without the names): {problem}", row + 1)));
            }
            columns[event][site] = value;
        }
        let of_key = |key: &&Column| {
            let texts = key.as_texts();
            let of_rows = rows.first.iter().map(|&row| texts[row].clone()).collect();
            Column { name: key.name.clone(), cells: Cells::Texts(of_rows) }
        };
        let event_names = self.columns[event].as_texts();
        let of_event = |(&row, numbers): (&usize, Vec<f64>)| Column {
            name: event_names[row].clone(),
            cells: Cells::Numbers(numbers),
        };
        let all = keys.iter().map(of_key).chain(events.first.iter().zip(columns).map(of_event)).collect();
        let mut taken = self.taken.clone();
        let what = names.join(" and ");
        taken.notes.push(format!("A long table: a row for each {what}, and a column for each event."));
        Some(Ok(ColumnTable { columns: all, n_rows, taken }))
    }

    /// Leaves out a column without a name that counts the rows. Other numbers
    /// without a name name the rows, if they differ in each row.
    fn leave_index_out(&mut self, unnamed: Option<usize>) {
        let Some(at) = unnamed.filter(|_| self.columns.len() > 1) else { return };
        let texts = self.columns[at].as_texts();
        let numbers = match &self.columns[at].cells {
            Cells::Numbers(numbers) => numbers.clone(),
            Cells::Texts(texts) => {
                let numbers: std::result::Result<Vec<f64>, _> =
                    texts.iter().map(|text| text.parse()).collect();
                numbers.unwrap_or_default()
            }
        };
        if numbers.is_empty() {
        } else if count_rows(&numbers) {
            let name = self.columns.remove(at).name;
            self.taken.leave_out(&name, COUNTS);
        } else if are_different_wholes(&numbers) {
            self.columns[at].cells = Cells::Texts(texts);
        }
    }

    /// Notes what the columns are; `keys` are columns that were asked to name rows.
    fn told(mut self, keys: &[String]) -> Self {
        let mut taken = std::mem::take(&mut self.taken);
        self.numbers().for_each(|(name, _)| taken.push(name));
        for (name, texts) in self.texts() {
            let is_told = taken.left_out.iter().any(|(told, _)| told == name);
            let is_key = name == LABEL || keys.iter().any(|key| key == name);
            match mistaken(texts).filter(|_| !is_key && !is_told) {
                Some(why) => taken.leave_out(name, why),
                None if !is_told => taken.names.push(name.to_owned()),
                None => {}
            }
        }
        self.taken = taken;
        self
    }
}

/// Why a column of texts was probably meant as numbers: all but the first are.
fn mistaken(texts: &[String]) -> Option<String> {
    let known: Vec<&String> = texts.iter().filter(|text| !text.is_empty()).collect();
    let (first, rest) = known.split_first()?;
    let numbers = rest.iter().filter(|text| text.parse::<f64>().is_ok()).count();
    let is_mistaken = first.parse::<f64>().is_err() && 2 * numbers > rest.len();
    is_mistaken.then(|| format!("of texts, as its first value is '{first}', though most others are numbers"))
}

/// A table may have this many cells, even if hardly any has a value: they take
/// 128 MB.
const MOST_CELLS: usize = 1 << 24;
/// A larger table may have this many cells for each value.
const CELLS_A_VALUE: usize = 100;

/// Checks the size before the table is made: memory must grow with what was
/// read, and a few values of many sites and events would fill it.
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

/// Rows that differ in some columns, in the order in which they appear.
struct Numbered {
    /// The first row of each kind.
    first: Vec<usize>,
    of_row: Vec<usize>,
}

impl Numbered {
    fn of(columns: &[&Column]) -> Self {
        let texts: Vec<Vec<String>> = columns.iter().map(|column| column.as_texts()).collect();
        let n_rows = texts.first().map_or(0, Vec::len);
        let (mut first, mut of_row) = (Vec::new(), Vec::with_capacity(n_rows));
        let mut places: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
        for row in 0..n_rows {
            let cells = texts.iter().map(|column| column[row].as_str()).collect();
            let place = *places.entry(cells).or_insert_with(|| {
                first.push(row);
                first.len() - 1
            });
            of_row.push(place);
        }
        Self { first, of_row }
    }
}

impl Column {
    fn as_texts(&self) -> Vec<String> {
        match &self.cells {
            Cells::Texts(texts) => texts.clone(),
            Cells::Numbers(numbers) => {
                let text = |x: &f64| if x.is_nan() { String::new() } else { x.to_string() };
                numbers.iter().map(text).collect()
            }
        }
    }
}

/// Reads a table of named columns from a file or (`-`) the standard input,
/// plain or gzip:
///
/// - **text** with commas, semicolons, tabs, bars or blanks between cells: its first
///   line names the columns. A column is of numbers if its first cell that is
///   not missing is one and it is not among `keys`, else of texts; so is one
///   called `cluster`, which may hold `noise`. Numbers may have commas between
///   thousands, or a percent sign or a unit behind them, the same in the whole
///   column. Missing are empty cells, `NaN`, `NA`, `N/A`, `null`, ...;
/// - **Parquet**, with the feature `parquet`, of columns that are neither
///   nested nor lists. Integers, floats and booleans (0 or 1) are numbers but
///   where CSV has texts; null and NaN are missing, and a null text is empty;
/// - **`.npy`** of one or two dimensions, a row for each row; its columns are
///   called 0, 1, ….
///
/// If a column without a name counts the rows, as in data frames, it is left
/// out. A long table of `site,event,value` becomes one with a column for each
/// event; further columns, such as a rank, also identify the row.
///
/// # Errors
/// [`Error`] names the file, and line and column where there are any.
pub fn read_columns(path: &Path, keys: &[String], progress: Option<Progress<'_>>) -> Result<ColumnTable> {
    let (mut table, unnamed) = read(path, keys, progress)?;
    table.leave_index_out(unnamed);
    match table.pivoted() {
        None => Ok(table.told(keys)),
        Some(Ok(table)) => Ok(table.told(keys)),
        Some(Err(problem)) => Err(Error::whole(path, ErrorKind::Table(problem))),
    }
}

/// Reads a square table. Its first column may hold the names of the rows, even
/// if these are numbers.
///
/// # Errors
/// Those of [`read_columns`].
pub fn read_square(path: &Path, progress: Option<Progress<'_>>) -> Result<ColumnTable> {
    let (mut table, unnamed) = read(path, &[], progress)?;
    let is_square = table.columns.len() == table.n_rows + 1;
    let are_numbers = table.columns.iter().skip(1).all(|column| column.name.parse::<f64>().is_ok());
    // A count of the rows names them only if numbers name the columns, too.
    if is_square && !are_numbers {
        table.leave_index_out(unnamed);
    }
    Ok(table.told(&[]))
}

/// The table as it stands in the file, and its first column without a name.
fn read(
    path: &Path,
    keys: &[String],
    progress: Option<Progress<'_>>,
) -> Result<(ColumnTable, Option<usize>)> {
    let mut input = Input::open_known(path)?;
    let head = input.peek(1 << 12)?;
    if head.is_empty() {
        return Err(Error::whole(path, ErrorKind::Empty(TABLE)));
    }
    if head.starts_with(MAGIC) {
        return Ok((npy(path, input)?, None));
    }
    if head.starts_with(PARQUET) {
        #[cfg(not(feature = "parquet"))]
        return Err(crate::tables::parquet::not_built(path));
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
struct Names {
    names: Vec<String>,
    /// The first without a name.
    unnamed: Option<usize>,
}

impl Names {
    fn push(&mut self, name: &[u8]) -> std::result::Result<(), ErrorKind> {
        let name = printable(name, 200);
        if is_unnamed(&name) {
            self.unnamed = self.unnamed.or(Some(self.names.len()));
        }
        let name = name_or_place(&name, self.names.len());
        if self.names.contains(&name) {
            return Err(ErrorKind::Table(format!("two columns are called '{name}'")));
        }
        self.names.push(name);
        Ok(())
    }

    /// Whether each column says which row it is.
    ///
    /// # Errors
    /// One of `keys` is no column.
    fn are_keys(&self, keys: &[String]) -> std::result::Result<Vec<bool>, ErrorKind> {
        match keys.iter().find(|key| !self.names.contains(key)) {
            Some(key) => {
                let key = printable(key.as_bytes(), 200);
                Err(ErrorKind::MissingColumn(key, "one of those that it names"))
            }
            None => Ok(self.names.iter().map(|name| keys.contains(name) || name == LABEL).collect()),
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
    let columns = (0..layout.columns).map(column).collect();
    Ok(ColumnTable { columns, n_rows: layout.rows, taken: Taken::default() })
}
