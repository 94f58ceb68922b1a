//! Readers and writers of traces and tables.

pub mod paraver;
