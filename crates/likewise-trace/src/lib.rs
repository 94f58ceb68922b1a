//! Readers and writers of traces and tables.
