//! Counters and call sites: which profiles belong together, and which records
//! are good on several accounts at once ([`pareto`]), and where one model of the
//! time holds ([`regimes`]).
//!
//! A dendrogram of profiles, and how good every partition in it is, come from
//! [`cluster::hierarchical`](crate::cluster::hierarchical).

pub mod by_rank;
pub mod loadings;
pub mod pareto;
pub mod regimes;
pub mod significance;

/// A column of a table of measurements.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// What it is called.
    pub name: &'a str,
    /// One value per row; NaN where it is missing.
    pub values: &'a [f64],
}
