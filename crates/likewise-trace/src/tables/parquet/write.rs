//! Columns into a file.

use std::io::Write;
use std::iter::repeat_n;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use likewise::table::{MetricValues, Runs};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use crate::error::{Error, ErrorKind, Result};
use crate::output::AtomicFile;

/// Rows in a row group: some megabytes per column.
const ROW_GROUP: usize = 1 << 20;

/// The values of one column.
#[derive(Clone, Copy, Debug)]
pub enum ColumnData<'a> {
    /// 64-bit integers.
    I64(&'a [i64]),
    /// Unsigned 32-bit integers.
    U32(&'a [u32]),
    /// Whole numbers of 32 bits, of which many that follow one another are equal.
    Runs(&'a Runs),
    /// Numbers; NaN is written as it is.
    F64(&'a [f64]),
    /// The same, computed when they are written.
    Metric(MetricValues<'a>),
    /// Texts.
    Str(&'a [&'a str]),
    /// 64-bit integers, some of which are missing (null).
    MaybeI64(&'a [Option<i64>]),
}

impl ColumnData<'_> {
    fn len(&self) -> usize {
        match self {
            ColumnData::I64(values) => values.len(),
            ColumnData::U32(values) => values.len(),
            ColumnData::Runs(values) => values.len(),
            ColumnData::F64(values) => values.len(),
            ColumnData::Metric(values) => values.len(),
            ColumnData::Str(values) => values.len(),
            ColumnData::MaybeI64(values) => values.len(),
        }
    }
}

/// A file that is written in groups of rows, so that it need not fit into memory.
pub(crate) struct ParquetRows {
    path: PathBuf,
    writer: SerializedFileWriter<AtomicFile>,
}

impl ParquetRows {
    /// A file with columns of these names and types; their values are not
    /// looked at.
    ///
    /// # Errors
    /// As [`write_parquet`].
    pub(crate) fn create(path: &Path, columns: &[(&str, ColumnData<'_>)]) -> Result<Self> {
        let file = AtomicFile::create(path)?;
        let schema = schema(columns).map_err(|error| told(path, error))?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties));
        Ok(Self { path: path.to_owned(), writer: writer.map_err(|error| told(path, error))? })
    }

    /// Adds rows: the same columns, of equal length.
    ///
    /// # Errors
    /// As [`write_parquet`].
    pub(crate) fn add(&mut self, columns: &[ColumnData<'_>]) -> Result<()> {
        let n = columns.first().map_or(0, ColumnData::len);
        self.rows(columns, 0..n).map_err(|error| told(&self.path, error))
    }

    fn rows(
        &mut self,
        columns: &[ColumnData<'_>],
        rows: std::ops::Range<usize>,
    ) -> std::result::Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for data in columns {
            write_column(&mut group, data, rows.clone())?;
        }
        group.close()?;
        Ok(())
    }

    /// The complete file, which the caller commits.
    ///
    /// # Errors
    /// As [`write_parquet`].
    pub(crate) fn finish(self) -> Result<AtomicFile> {
        self.writer.into_inner().map_err(|error| told(&self.path, error))
    }
}

fn told(path: &Path, error: ParquetError) -> Error {
    let outer = match error {
        ParquetError::External(outer) => outer,
        other => return Error::whole(path, ErrorKind::Table(other.to_string())),
    };
    // An [`AtomicFile`] has put an error with the path into that of the system.
    match outer.downcast::<std::io::Error>().map(|outer| outer.downcast::<Error>()) {
        Ok(Ok(error)) => error,
        Ok(Err(error)) => Error::write(path, error),
        Err(error) => Error::write(path, std::io::Error::other(error)),
    }
}

fn schema(columns: &[(&str, ColumnData<'_>)]) -> std::result::Result<Type, ParquetError> {
    let fields = columns.iter().map(|(name, data)| field(name, data).map(Arc::new));
    let fields = fields.collect::<std::result::Result<Vec<_>, _>>()?;
    Type::group_type_builder("schema").with_fields(fields).build()
}

/// Writes a file of columns of equal length, which the caller commits. It is
/// compressed by Snappy.
///
/// # Errors
/// The file cannot be written, or two columns have one name.
///
/// # Panics
/// If the columns are not of equal length.
pub fn write_parquet(path: &Path, columns: &[(&str, ColumnData<'_>)]) -> Result<AtomicFile> {
    let n = columns.first().map_or(0, |(_, data)| data.len());
    assert!(columns.iter().all(|(_, data)| data.len() == n), "columns of equal length");
    let mut file = ParquetRows::create(path, columns)?;
    let data: Vec<ColumnData<'_>> = columns.iter().map(|(_, data)| *data).collect();
    for start in (0..n).step_by(ROW_GROUP) {
        file.rows(&data, start..n.min(start + ROW_GROUP)).map_err(|error| told(path, error))?;
    }
    file.finish()
}

fn field(name: &str, data: &ColumnData<'_>) -> std::result::Result<Type, ParquetError> {
    let (physical, logical) = match data {
        ColumnData::I64(_) => (Physical::INT64, None),
        ColumnData::U32(_) | ColumnData::Runs(_) => (Physical::INT32, Some(LogicalType::integer(32, false))),
        ColumnData::F64(_) | ColumnData::Metric(_) => (Physical::DOUBLE, None),
        ColumnData::Str(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnData::MaybeI64(_) => (Physical::INT64, None),
    };
    let may_miss = matches!(data, ColumnData::MaybeI64(_));
    Type::primitive_type_builder(name, physical)
        .with_repetition(if may_miss { Repetition::OPTIONAL } else { Repetition::REQUIRED })
        .with_logical_type(logical)
        .build()
}

fn write_column(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    data: &ColumnData<'_>,
    rows: std::ops::Range<usize>,
) -> std::result::Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("a column without a place in the schema".into()));
    };
    match data {
        ColumnData::I64(v) => column.typed::<Int64Type>().write_batch(&v[rows], None, None)?,
        ColumnData::F64(v) => column.typed::<DoubleType>().write_batch(&v[rows], None, None)?,
        ColumnData::Metric(v) => {
            let values: Vec<f64> = rows.map(|i| v.get(i)).collect();
            column.typed::<DoubleType>().write_batch(&values, None, None)?
        }
        ColumnData::U32(v) => {
            let bits: Vec<i32> = v[rows].iter().map(|x| x.cast_signed()).collect();
            column.typed::<Int32Type>().write_batch(&bits, None, None)?
        }
        ColumnData::Runs(v) => {
            let run = |(value, rows): (u32, Range<usize>)| repeat_n(value.cast_signed(), rows.len());
            let bits: Vec<i32> = v.runs_within(rows).flat_map(run).collect();
            column.typed::<Int32Type>().write_batch(&bits, None, None)?
        }
        ColumnData::MaybeI64(v) => {
            let there: Vec<i16> = v[rows.clone()].iter().map(|x| i16::from(x.is_some())).collect();
            let values: Vec<i64> = v[rows].iter().copied().flatten().collect();
            column.typed::<Int64Type>().write_batch(&values, Some(&there), None)?
        }
        ColumnData::Str(v) => {
            let texts: Vec<ByteArray> = v[rows].iter().map(|t| ByteArray::from(*t)).collect();
            column.typed::<ByteArrayType>().write_batch(&texts, None, None)?
        }
    };
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn what_is_written_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.parquet");
        let (a, b, c) = ([1u32, u32::MAX], [-5i64, 7], [0.5, f64::NAN]);
        let columns = [
            ("task", ColumnData::U32(&a)),
            ("begin_ns", ColumnData::I64(&b)),
            ("ipc", ColumnData::F64(&c)),
            ("cluster", ColumnData::Str(&["1", "noise"])),
        ];
        write_parquet(&path, &columns).unwrap().commit().unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(|r| r.unwrap()).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[1].get_uint(0).unwrap(), rows[1].get_long(1).unwrap()), (u32::MAX, 7));
        assert_eq!(rows[0].get_double(2).unwrap(), 0.5);
        assert!(rows[1].get_double(2).unwrap().is_nan());
        assert_eq!(rows[1].get_string(3).unwrap(), "noise");
    }
}
