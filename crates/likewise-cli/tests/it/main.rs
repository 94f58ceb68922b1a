//! The program as a user calls it: files in, files out, exit codes.

mod bursts;
mod code;
mod compare_defects;
mod compare_moved;
mod counters;
mod cut;
mod directory;
mod failures;
mod findings;
mod hostile;
mod on_core;
mod on_many;
mod pareto;
mod points;
mod rank_classes;
mod ranks;
mod recorded;
mod regimes;
mod replayed;
mod retime;
mod runs;
mod strata;
mod streams;
mod structure;
mod support;
mod tables;
