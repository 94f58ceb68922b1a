//! The program as a user calls it: files in, files out, exit codes.

mod bursts;
mod cut;
mod failures;
mod points;
mod support;
