//! Readers and writers of traces and tables.
//!
//! Every reader chooses by the first bytes of the file, never by its name,
//! and never trusts it: lengths are checked, memory grows with what was read
//! and not with what was claimed, and an [`Error`] names file, line or byte,
//! and what was expected. Every writer goes through [`AtomicFile`], so that
//! an output appears whole or not at all.
//!
//! * [`read_bursts`] and [`inspect`]: Paraver traces (`.prv`, plain or gzip,
//!   from a file or a pipe) and CSV tables of bursts;
//! * [`write_labelled`]: a Paraver trace with the cluster of every burst;
//! * [`write_cut`]: the part of a Paraver trace between two times;
//! * [`write_retimed`]: a Paraver trace as if its bursts took other times;
//! * [`read_points_table`]: numbers for the clustering of any table;
//! * [`read_effort`]: the work of every rank in every step, from CSV, `.npy` or
//!   Parquet; [`read_effort_part`] reads it on several processes;
//! * [`read_columns`]: named columns, of counters for instance, from CSV,
//!   Parquet or `.npy`;
//! * [`read_labels`]: the cluster of every row, to compare two results.

mod bytes;
mod digest;
mod error;
mod folding;
mod lock;
mod memory;
mod output;
pub mod paraver;
mod quick;
mod read;
pub mod recording;
mod signals;
mod spread;
mod tables;
mod taken;
mod trace;

pub use bytes::Progress;
pub use digest::Digest;
pub use error::{Error, ErrorKind, Place, SpreadError, is_hidden, printable};
pub use lock::DirLock;
pub use memory::{Allocator, give_memory_back, keep_memory_for};
pub use output::{
    AtomicFile, PartFile, SharedFile, commit_all, is_special, remove_unfinished, try_remove_unfinished,
    unfinished_dir,
};
pub use paraver::label::{CLUSTER_EVENT, LabelValue, ToLabel, legend, write_labelled, write_labelled_spread};
pub use paraver::{CutOptions, CutReport, check_cut, write_cut};
pub use paraver::{RetimeReport, RetimedBurst, RetimedThread, write_retimed};
pub use read::{Bursts, bursts_of, inspect, is_rereadable, is_ungrouped, read_bursts};
pub use signals::heed_files;
pub use spread::read_bursts_spread;
pub use tables::columns::{Cells, Column, ColumnTable, read_columns, read_square};
pub use tables::effort::{EffortOptions, read_effort, read_effort_of_some, read_effort_part};
pub use tables::labels::{BurstKey, LabelTable, RowLabel, read_labels};
#[cfg(feature = "parquet")]
pub use tables::parquet::{ColumnData, write_parquet};
pub use tables::points::{PointsTable, read_points_table, read_raw_points};
pub use taken::Taken;
pub use trace::{
    Apps, EventTypeInfo, RUNNING, RanksRead, ReadOptions, ReadReport, RecordCounts, StateInfo, Streams, Task,
    Topology, Trace, TraceInfo, Untraced, UntracedBy,
};
