//! Tables as Parquet files. Without the feature `parquet`, they are only
//! recognised.

#[cfg(feature = "parquet")]
mod claims;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
pub(crate) mod read;
#[cfg(all(test, feature = "parquet"))]
pub(crate) mod tests;
#[cfg(feature = "parquet")]
mod thrift;
#[cfg(feature = "parquet")]
mod write;

#[cfg(feature = "parquet")]
pub(crate) use write::ParquetRows;
#[cfg(feature = "parquet")]
pub use write::{ColumnData, write_parquet};

/// First bytes of every file.
pub(crate) const MAGIC: &[u8] = b"PAR1";

/// The error that the file is Parquet, but this program was built without it.
#[cfg(not(feature = "parquet"))]
pub(crate) fn not_built(path: &std::path::Path) -> crate::error::Error {
    let problem = "this is Parquet, which this program was built without (feature 'parquet')";
    crate::error::Error::whole(path, crate::error::ErrorKind::Table(problem.to_owned()))
}
