//! Clusters within clusters: a dendrogram of objects described by numbers, some
//! of which may be missing, or of which only dissimilarities are known.
//!
//! [`dissimilarities`] and [`linkage`] do it with the full matrix, for four
//! linkages; [`complete_linkage`] gives complete linkage without the matrix.
//! [`partitions`] tells how good every partition of a dendrogram is, on measures
//! that need not agree.
//! The oracle in the tests takes every linkage by its definition.
//!
//! **Ties.** Of equally near pairs of clusters several may merge first, and
//! with all linkages but the single one later heights can depend on it. Every
//! merge here is of two clusters than which no two are nearer, and the same on
//! any number of threads; which of them it is, is said at each function. Two
//! that follow different rules agree where there are no ties.

mod chain;
mod correlation;
mod dendrogram;
mod graph;
mod near;
mod partitions;
mod profiles;
mod square;
#[cfg(test)]
pub(crate) mod tests;
mod tiles;

pub use chain::linkage;
pub use dendrogram::{Dendrogram, Merge};
pub use near::complete_linkage;
pub use partitions::{Partition, partitions};
pub use profiles::{MAX_VALUE, Profiles, ProfilesError};
pub use square::dissimilarities;

/// How unlike two profiles are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dissimilarity {
    /// The sum of the sizes of all differences, L₁.
    Manhattan,
    /// The root of the sum of their squares, L₂.
    Euclidean,
    /// One minus the correlation: 0 to 2.
    Correlation,
}

/// How unlike two clusters are, from their objects' dissimilarities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// As the two objects that are most unlike: the diameter of the union,
    /// where each is no wider than that.
    Complete,
    /// As the two that are least unlike.
    Single,
    /// As all pairs in the mean.
    Average,
    /// By how much the merge raises the sum of squares about the means: the
    /// root of twice that.
    Ward,
}
