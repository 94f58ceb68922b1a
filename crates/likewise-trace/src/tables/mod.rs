//! Tables as text, Parquet and `.npy`: of bursts, of counters, of efforts, of
//! points and of labels.

pub(crate) mod bursts;
pub(crate) mod columns;
pub(crate) mod dialect;
pub(crate) mod effort;
pub(crate) mod labels;
pub(crate) mod npy;
pub(crate) mod parquet;
pub(crate) mod points;
pub(crate) mod rows;
