//! Counters and call sites: which profiles belong together, and which records
//! are good on several accounts at once ([`pareto`]), and where one model of the
//! time holds ([`regimes`]).
//!
//! A dendrogram of profiles comes from
//! [`cluster::hierarchical`](crate::cluster::hierarchical); [`partitions`]
//! tells how good every partition in it is, on measures that need not agree.

mod boxes;
pub mod by_rank;
pub mod loadings;
pub mod pareto;
mod partitions;
pub mod regimes;
mod separation;
pub mod significance;
mod silhouettes;
#[cfg(test)]
mod tests;

pub use partitions::{Partition, partitions};

/// A column of a table of measurements.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// What it is called.
    pub name: &'a str,
    /// One value per row; NaN where it is missing.
    pub values: &'a [f64],
}

/// Table 2 of Malard's paper: Euclidean distances of six profiles.
#[cfg(test)]
pub(crate) fn table_2() -> crate::cluster::Dissimilarities {
    let rows = vec![
        [0.0, 3.08, 3.86, 2.74, 1.86, 2.61],
        [3.08, 0.0, 1.63, 2.17, 3.52, 4.59],
        [3.86, 1.63, 0.0, 1.99, 4.37, 5.43],
        [2.74, 2.17, 1.99, 0.0, 3.20, 4.20],
        [1.86, 3.52, 4.37, 3.20, 0.0, 1.79],
        [2.61, 4.59, 5.43, 4.20, 1.79, 0.0],
    ];
    let given = crate::cluster::Dissimilarities::from_matrix(rows.into_flattened(), 6);
    given.expect("dissimilarities")
}
