//! Parquet, long or wide.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use likewise::ranks::EffortCell;
use parquet::basic::Compression;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use super::long::{Cells, NEEDED, is_header};
use super::{EffortOptions, Share, wide};
use crate::bytes::Piece;
use crate::error::{Error, ErrorKind, Result, printable};

/// Rows that are read at once.
const BATCH: usize = 1 << 13;

/// Whether a column claims a place that no file has; the library trusts it.
fn lies_nowhere(column: &ColumnChunkMetaData) -> bool {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    start < 0 || column.data_page_offset() < 0 || column.compressed_size() < 0
}

/// Whether the library was built with it.
fn is_read(codec: Compression) -> bool {
    matches!(codec, Compression::UNCOMPRESSED | Compression::SNAPPY)
}

/// A column as it is used.
enum Column {
    Numbers(Vec<f64>),
    Texts(Vec<String>),
}

/// A piece is of whole row groups.
pub(super) fn read(path: &Path, options: &EffortOptions<'_>, piece: Piece) -> Result<Share> {
    // The library's reader panics on some damage that it does not check.
    catch_unwind(AssertUnwindSafe(|| read_columns(path, options, piece))).unwrap_or_else(|_| {
        Err(Error::whole(path, ErrorKind::Table("wrong Parquet: it is damaged".to_owned())))
    })
}

fn read_columns(path: &Path, options: &EffortOptions<'_>, piece: Piece) -> Result<Share> {
    let wrong = |problem: String| Error::whole(path, ErrorKind::Table(problem));
    let damaged =
        |e: ParquetError| wrong(format!("wrong Parquet: {}", printable(e.to_string().as_bytes(), 200)));
    let file = File::open(path).map_err(|e| Error::read(path, e))?;
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    if reader.metadata().row_groups().iter().flat_map(|group| group.columns()).any(lies_nowhere) {
        return Err(wrong("wrong Parquet: a column lies before the file's first byte".to_owned()));
    }
    let groups = reader.metadata().row_groups().iter();
    let packed = groups.flat_map(|group| group.columns()).map(ColumnChunkMetaData::compression);
    if let Some(codec) = packed.into_iter().find(|codec| !is_read(*codec)) {
        let codec = format!("{codec:?}");
        let name = codec.split('(').next().unwrap_or_default();
        return Err(wrong(format!("it is compressed with {name}; write it with SNAPPY or uncompressed")));
    }
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> =
        schema.columns().iter().map(|c| printable(c.path().string().as_bytes(), 200)).collect();
    if names.is_empty() {
        return Err(wrong("the table has no columns".to_owned()));
    }
    let mut columns: Vec<Column> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let mut all: Option<Column> = None;
        for group in piece.of(reader.num_row_groups()) {
            let group = reader.get_row_group(group).map_err(damaged)?;
            all = Some(append(all, group.as_ref(), i).map_err(|problem| match problem {
                Problem::Parquet(e) => damaged(e),
                Problem::Other(said) => wrong(format!("column {} ({name}): {said}", i + 1)),
            })?);
        }
        let none = (!piece.is_whole()).then(|| Column::Numbers(Vec::new()));
        columns.push(all.or(none).ok_or_else(|| wrong("the table has no rows".to_owned()))?);
    }
    if is_header(names.join(",").as_bytes()) {
        long(path, &names, &columns, options)
    } else {
        let texts = columns.iter().position(|c| matches!(c, Column::Texts(_)));
        if let Some(i) = texts {
            return Err(wrong(format!("column {} ({}): expected numbers, found texts", i + 1, names[i])));
        }
        let numbers: Vec<&Vec<f64>> =
            columns.iter().filter_map(|c| if let Column::Numbers(n) = c { Some(n) } else { None }).collect();
        let n = numbers[0].len();
        if numbers.iter().any(|c| c.len() != n) {
            return Err(wrong("columns are not of equal length".to_owned()));
        }
        let rows: Vec<f64> = (0..n).flat_map(|i| numbers.iter().map(move |c| c[i])).collect();
        wide::of_rows(path, rows, names.len(), names.iter().position(|n| n == "rank"), options)
    }
}

fn long(path: &Path, names: &[String], columns: &[Column], options: &EffortOptions<'_>) -> Result<Share> {
    let wrong = |problem: String| Error::whole(path, ErrorKind::Table(problem));
    let numbers = NEEDED.map(|name| match names.iter().position(|n| n == name).map(|i| &columns[i]) {
        Some(Column::Numbers(numbers)) => Ok(numbers),
        Some(Column::Texts(_)) => Err(wrong(format!("column {name}: expected numbers, found texts"))),
        None => Err(wrong(format!("the table has no column '{name}'; expected rank,step,region,effort"))),
    });
    let [rank, step, effort] = numbers;
    let (rank, step, effort) = (rank?, step?, effort?);
    let regions = names.iter().position(|n| n == "region").map(|i| &columns[i]);
    let regions_len = match regions {
        Some(Column::Texts(t)) => t.len(),
        Some(Column::Numbers(n)) => n.len(),
        None => rank.len(),
    };
    if [step.len(), effort.len(), regions_len].iter().any(|&n| n != rank.len()) {
        return Err(wrong("columns are not of equal length".to_owned()));
    }
    let whole = |i: usize, name: &str, value: f64| {
        let fits = value >= 0.0 && value.fract() == 0.0 && value < 2f64.powi(53);
        let problem = || format!("row {} (from 1), column {name}: {value} is not a whole number", i + 1);
        if fits { Ok(value as u64) } else { Err(wrong(problem())) }
    };
    let mut cells = Cells::default();
    for i in 0..rank.len() {
        let region = match regions {
            Some(Column::Texts(names)) => cells.region(&names[i]),
            Some(Column::Numbers(numbers)) => cells.region(&numbers[i].to_string()),
            None => cells.region(&options.region.name),
        };
        let (rank, step) = (whole(i, "rank", rank[i])?, whole(i, "step", step[i])?);
        cells.push(EffortCell { rank, step, region, effort: effort[i] });
    }
    Ok(Share::Cells(cells))
}

enum Problem {
    Parquet(ParquetError),
    Other(&'static str),
}

impl From<ParquetError> for Problem {
    fn from(error: ParquetError) -> Self {
        Problem::Parquet(error)
    }
}

/// A column of one more row group.
fn append(all: Option<Column>, group: &dyn RowGroupReader, i: usize) -> std::result::Result<Column, Problem> {
    fn numbers<T: DataType>(
        all: Option<Column>,
        reader: ColumnReaderImpl<T>,
        convert: impl Fn(&T::T) -> f64,
    ) -> std::result::Result<Column, Problem> {
        let mut numbers = match all {
            Some(Column::Numbers(numbers)) => numbers,
            _ => Vec::new(),
        };
        batches(reader, |value| numbers.push(convert(value)))?;
        Ok(Column::Numbers(numbers))
    }
    match group.get_column_reader(i)? {
        ColumnReader::Int32ColumnReader(r) => numbers(all, r, |&x| f64::from(x)),
        ColumnReader::Int64ColumnReader(r) => numbers(all, r, |&x| x as f64),
        ColumnReader::FloatColumnReader(r) => numbers(all, r, |&x| f64::from(x)),
        ColumnReader::DoubleColumnReader(r) => numbers(all, r, |&x| x),
        ColumnReader::ByteArrayColumnReader(r) => {
            let mut texts = match all {
                Some(Column::Texts(texts)) => texts,
                _ => Vec::new(),
            };
            batches(r, |value| texts.push(printable(value.data(), 200)))?;
            Ok(Column::Texts(texts))
        }
        _ => Err(Problem::Other("expected numbers or texts")),
    }
}

fn batches<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    mut each: impl FnMut(&T::T),
) -> std::result::Result<(), Problem> {
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        values.clear();
        definitions.clear();
        repetitions.clear();
        let (records, n, levels) =
            reader.read_records(BATCH, Some(&mut definitions), Some(&mut repetitions), &mut values)?;
        if levels != n || records != n {
            return Err(Problem::Other("a cell is empty or a list; expected one value in every row"));
        }
        if n == 0 {
            return Ok(());
        }
        values.iter().for_each(&mut each);
    }
}
