//! The files of counters, and of rows that are ranked.

pub(crate) mod by_rank;
pub(crate) mod json;
pub(crate) mod loadings;
pub(crate) mod newick;
pub(crate) mod pareto;
pub(crate) mod regimes;
pub(crate) mod relations;
pub(crate) mod significance;
