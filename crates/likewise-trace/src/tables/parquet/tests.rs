//! Files with gaps, as others write them.

use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// What stands in a nullable column of a row group.
pub(crate) enum Data<'d> {
    Bool(&'d [Option<bool>]),
    Int(&'d [Option<i32>]),
    Long(&'d [Option<i64>]),
    Float(&'d [Option<f32>]),
    Double(&'d [Option<f64>]),
    Text(&'d [Option<&'d str>]),
}

/// Values that are there, and which are.
fn levels<T: Copy>(cells: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
    (cells.iter().copied().flatten().collect(), cells.iter().map(|cell| cell.is_some().into()).collect())
}

/// A file of the columns of `schema`, some for each row group.
pub(crate) fn file(schema: &str, codec: Compression, groups: &[&[Data<'_>]]) -> Vec<u8> {
    let schema = parse_message_type(&format!("message table {{ {schema} }}")).unwrap();
    let properties = WriterProperties::builder().set_compression(codec).build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties)).unwrap();
    for columns in groups {
        let mut group = writer.next_row_group().unwrap();
        for data in *columns {
            let mut column = group.next_column().unwrap().unwrap();
            macro_rules! write {
                ($writer:expr, $cells:expr) => {{
                    let (values, levels) = $cells;
                    $writer.write_batch(&values, Some(&levels), None).unwrap()
                }};
            }
            match (column.untyped(), data) {
                (ColumnWriter::BoolColumnWriter(w), Data::Bool(cells)) => write!(w, levels(cells)),
                (ColumnWriter::Int32ColumnWriter(w), Data::Int(cells)) => write!(w, levels(cells)),
                (ColumnWriter::Int64ColumnWriter(w), Data::Long(cells)) => write!(w, levels(cells)),
                (ColumnWriter::FloatColumnWriter(w), Data::Float(cells)) => write!(w, levels(cells)),
                (ColumnWriter::DoubleColumnWriter(w), Data::Double(cells)) => write!(w, levels(cells)),
                (ColumnWriter::ByteArrayColumnWriter(w), Data::Text(cells)) => {
                    let (texts, levels) = levels(cells);
                    write!(w, (texts.into_iter().map(ByteArray::from).collect::<Vec<_>>(), levels))
                }
                _ => panic!("data do not fit the schema"),
            };
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}
