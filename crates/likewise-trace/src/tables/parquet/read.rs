//! Columns of a file, value by value.

use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use super::claims;
use super::pages::{self, Unpacked};
use crate::bytes::{Input, most_expanded};
use crate::error::{Error, ErrorKind, Result, printable};

/// Rows are read in batches of this size, so that memory does not grow with a
/// row group: a page can repeat a value in a few bytes.
const BATCH: usize = 1 << 13;

/// What stands in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'v> {
    /// An integer or a boolean.
    Whole(i128),
    Number(f64),
    Text(&'v [u8]),
}

impl Value<'_> {
    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Value::Whole(whole) => Some(whole as f64),
            Value::Number(number) => Some(number),
            Value::Text(_) => None,
        }
    }

    /// A whole number, also one that is stored as another.
    pub(crate) fn whole(self) -> Option<i128> {
        match self {
            Value::Whole(whole) => Some(whole),
            Value::Number(number) => {
                (number.fract() == 0.0 && number.abs() < 1.8e19).then_some(number as i128)
            }
            Value::Text(_) => None,
        }
    }

    /// Safe to print, at most `max` characters of a text.
    pub(crate) fn text(self, max: usize) -> String {
        match self {
            Value::Whole(whole) => whole.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Text(text) => printable(text, max),
        }
    }

    /// Bytes that it takes in memory.
    fn size(value: Option<Self>) -> u64 {
        match value {
            // No more of a longer text is kept.
            Some(Value::Text(text)) => (size_of::<String>() + text.len().min(1 << 10)) as u64,
            _ => size_of::<f64>() as u64,
        }
    }
}

/// Takes one cell after the other, or says what is wrong with it.
type Each<'e> = &'e mut dyn FnMut(Option<Value<'_>>) -> std::result::Result<(), &'static str>;

/// A table with one value, or none, in every row and column.
pub(crate) struct Table<'p> {
    path: &'p Path,
    bytes: Bytes,
    reader: SerializedFileReader<Bytes>,
    /// How many more bytes of values may be read. Without a limit, a page could
    /// say in a few bytes that a value stands in 2³¹ rows.
    left: Cell<u64>,
}

/// Works on the table that a file holds.
///
/// # Errors
/// Those of `work`; the file is damaged, or no plain table.
pub(crate) fn with_table<T>(
    path: &Path,
    input: Input,
    work: impl FnOnce(&Table<'_>) -> Result<T>,
) -> Result<T> {
    let consumed = input.consumed();
    let is_gzip = input.compressed();
    let whole = input.read_all()?;
    let stored = if is_gzip { consumed.load(Ordering::Relaxed) } else { whole.len() as u64 };
    // On some damage that it does not check, the library's reader panics.
    catch_unwind(AssertUnwindSafe(|| work(&Table::open(path, Bytes::from_owner(whole), stored)?)))
        .unwrap_or_else(|_| Err(wrong(path, "wrong Parquet: it is damaged")))
}

fn wrong(path: &Path, problem: impl Into<String>) -> Error {
    Error::whole(path, ErrorKind::Table(problem.into()))
}

fn damage(error: &ParquetError) -> String {
    format!("wrong Parquet: {}", printable(error.to_string().as_bytes(), 200))
}

impl<'p> Table<'p> {
    /// `stored` is the size of the file on disk, which may be gzip.
    fn open(path: &'p Path, bytes: Bytes, stored: u64) -> Result<Self> {
        claims::of_footer(&bytes).map_err(|claim| wrong(path, format!("wrong Parquet: {claim}")))?;
        let reader = SerializedFileReader::new(bytes.clone()).map_err(|e| wrong(path, damage(&e)))?;
        let table = Self { path, bytes, reader, left: Cell::new(most_expanded(stored)) };
        let groups = table.reader.metadata().row_groups().iter();
        let mut packed = groups.flat_map(|group| group.columns()).map(ColumnChunkMetaData::compression);
        if let Some(codec) = packed.find(|codec| !pages::is_read(*codec)) {
            let codec = format!("{codec:?}");
            let name = codec.split('(').next().unwrap_or_default();
            let problem = format!(
                "it is compressed with {name}; write it with ZSTD, SNAPPY, GZIP, BROTLI, LZ4_RAW or uncompressed"
            );
            return Err(wrong(path, problem));
        }
        for (at, column) in table.schema().columns().iter().enumerate() {
            fault(column).map_or(Ok(()), |problem| Err(table.wrong_column(at, problem)))?;
        }
        match table.schema().num_columns() {
            0 => Err(wrong(path, "the table has no columns")),
            _ => Ok(table),
        }
    }

    fn schema(&self) -> &SchemaDescriptor {
        self.reader.metadata().file_metadata().schema_descr()
    }

    /// As they stand in the file.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.schema().columns().iter().map(|column| column.name())
    }

    pub(crate) fn is_text(&self, column: usize) -> bool {
        self.schema().column(column).physical_type() == Physical::BYTE_ARRAY
    }

    /// Whether pandas added the column, for the names or numbers of the rows.
    pub(crate) fn is_index(&self, column: usize) -> bool {
        self.schema().column(column).name().starts_with("__index_level_")
    }

    /// Whether the column holds dates or times, which are no amounts.
    pub(crate) fn is_time(&self, column: usize) -> bool {
        use ConvertedType::{DATE, TIME_MICROS, TIME_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_MILLIS};
        let column = self.schema().column(column);
        let converted = [DATE, TIME_MICROS, TIME_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_MILLIS];
        let logical = column.logical_type_ref();
        matches!(logical, Some(LogicalType::Date | LogicalType::Time(_) | LogicalType::Timestamp(_)))
            || converted.contains(&column.converted_type())
    }

    /// How many bytes the file has.
    pub(crate) fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// How many parts of the table can be read by themselves.
    pub(crate) fn n_groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// An error about a column.
    pub(crate) fn wrong_column(&self, at: usize, problem: &str) -> Error {
        let name = printable(self.schema().column(at).path().string().as_bytes(), 200);
        wrong(self.path, format!("column {} ({name}): {problem}", at + 1))
    }

    /// Passes the cells of a column to `each`, row by row of some groups;
    /// `None` for a null.
    ///
    /// # Errors
    /// `each` refuses a cell, or the file is damaged.
    pub(crate) fn column(
        &self,
        at: usize,
        groups: Range<usize>,
        mut each: impl FnMut(Option<Value<'_>>) -> std::result::Result<(), &'static str>,
    ) -> Result<()> {
        for group in groups {
            self.group(at, group, &mut each).map_err(|problem| match problem {
                Problem::Parquet(error) => self.wrong_column(at, &damage(&error)),
                Problem::Said(problem) => self.wrong_column(at, problem),
            })?;
        }
        Ok(())
    }

    /// Applies `of` to every cell of a column.
    ///
    /// # Errors
    /// `of` refuses a cell, or the file is damaged.
    pub(crate) fn collected<T>(
        &self,
        at: usize,
        of: impl Fn(Option<Value<'_>>) -> std::result::Result<T, &'static str>,
    ) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.column(at, 0..self.n_groups(), |value| {
            all.push(of(value)?);
            Ok(())
        })?;
        Ok(all)
    }

    fn group(&self, at: usize, group: usize, each: Each<'_>) -> std::result::Result<(), Problem> {
        let group = self.reader.get_row_group(group)?;
        let chunk = group.metadata().column(at);
        let pages = place(chunk).and_then(|place| self.bytes.get(place)).ok_or("it lies outside the file")?;
        let is_library = pages::is_library(chunk.compression());
        let sizes = claims::of_pages(pages, (!is_library).then(|| self.left.get()))?;
        let reader = if is_library {
            group.get_column_reader(at)?
        } else {
            let n_rows =
                usize::try_from(group.metadata().num_rows()).map_err(|_| "it has no number of rows")?;
            let pages = Unpacked::new(&self.bytes, chunk, n_rows, sizes)?;
            get_column_reader(group.metadata().schema_descr().column(at), Box::new(pages))
        };
        let mut each = |value: Option<Value<'_>>| {
            let left = self.left.get().checked_sub(Value::size(value));
            self.left.set(left.ok_or("it expands more than any table does, so it is not read further")?);
            each(value)
        };
        let n_rows = values(reader, &group.metadata().schema_descr().column(at), &mut each)?;
        // The library returns what it finds, so a cut column would pass.
        if i64::try_from(n_rows) != Ok(group.metadata().num_rows()) {
            return Err(Problem::Said("it has more or fewer rows than the file says"));
        }
        Ok(())
    }
}

/// Why a column cannot be read.
fn fault(column: &ColumnDescriptor) -> Option<&'static str> {
    let is_decimal = matches!(column.logical_type_ref(), Some(LogicalType::Decimal(_)))
        || column.converted_type() == ConvertedType::DECIMAL;
    if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
        Some("it is a list or nested; expected one value in every row")
    } else if is_decimal {
        Some("decimals are not read; write numbers of type double")
    } else {
        match column.physical_type() {
            Physical::INT96 => Some("times of type INT96 are not read; write integers"),
            Physical::FIXED_LEN_BYTE_ARRAY => {
                Some("values of a fixed length are not read; write numbers or texts")
            }
            _ => None,
        }
    }
}

fn is_unsigned(column: &ColumnDescriptor) -> bool {
    use ConvertedType::{UINT_8, UINT_16, UINT_32, UINT_64};
    matches!(column.logical_type_ref(), Some(LogicalType::Integer(integer)) if !integer.is_signed)
        || matches!(column.converted_type(), UINT_8 | UINT_16 | UINT_32 | UINT_64)
}

/// The bytes of a column's pages, if a file can have such.
fn place(column: &ColumnChunkMetaData) -> Option<Range<usize>> {
    // A dictionary stands before the values that refer to it.
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    let start = usize::try_from(start).ok()?;
    Some(start..start.checked_add(usize::try_from(column.compressed_size()).ok()?)?)
}

enum Problem {
    Parquet(ParquetError),
    Said(&'static str),
}

impl From<ParquetError> for Problem {
    fn from(error: ParquetError) -> Self {
        Problem::Parquet(error)
    }
}

impl From<&'static str> for Problem {
    fn from(problem: &'static str) -> Self {
        Problem::Said(problem)
    }
}

/// Shows all values of a column of a group; returns how many rows it has.
fn values(
    reader: ColumnReader,
    column: &ColumnDescriptor,
    each: Each<'_>,
) -> std::result::Result<u64, Problem> {
    let is_nullable = column.max_def_level() > 0;
    match (reader, is_unsigned(column)) {
        (ColumnReader::BoolColumnReader(r), _) => batches(r, is_nullable, |&x| Value::Whole(x.into()), each),
        // Parquet stores unsigned numbers in signed types, bit by bit.
        (ColumnReader::Int32ColumnReader(r), true) => {
            batches(r, is_nullable, |x| Value::Whole(x.cast_unsigned().into()), each)
        }
        (ColumnReader::Int32ColumnReader(r), _) => batches(r, is_nullable, |&x| Value::Whole(x.into()), each),
        (ColumnReader::Int64ColumnReader(r), true) => {
            batches(r, is_nullable, |x| Value::Whole(x.cast_unsigned().into()), each)
        }
        (ColumnReader::Int64ColumnReader(r), _) => batches(r, is_nullable, |&x| Value::Whole(x.into()), each),
        (ColumnReader::FloatColumnReader(r), _) => {
            batches(r, is_nullable, |&x| Value::Number(x.into()), each)
        }
        (ColumnReader::DoubleColumnReader(r), _) => batches(r, is_nullable, |&x| Value::Number(x), each),
        (ColumnReader::ByteArrayColumnReader(r), _) => {
            batches(r, is_nullable, |x| Value::Text(x.data()), each)
        }
        _ => Err(Problem::Said("expected numbers or texts")),
    }
}

fn batches<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    is_nullable: bool,
    value: impl Fn(&T::T) -> Value<'_>,
    each: Each<'_>,
) -> std::result::Result<u64, Problem> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut n_rows = 0;
    loop {
        values.clear();
        levels.clear();
        let (n, ..) = reader.read_records(BATCH, Some(&mut levels), None, &mut values)?;
        if n == 0 {
            return Ok(n_rows);
        }
        n_rows += n as u64;
        if is_nullable {
            let mut known = values.iter();
            let cell = |&level: &i16| if level > 0 { known.next() } else { None };
            levels.iter().map(cell).try_for_each(|x| each(x.map(&value)))?;
        } else {
            values.iter().try_for_each(|x| each(Some(value(x))))?;
        }
    }
}
