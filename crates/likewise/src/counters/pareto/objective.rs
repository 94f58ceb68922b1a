//! What records are ranked on.

/// What is good on an objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Much.
    Max,
    /// Little.
    Min,
}

/// One of the accounts that records are ranked on.
#[derive(Clone, Copy, Debug)]
pub struct Objective<'a> {
    /// Of each record; NaN where it is missing.
    pub values: &'a [f64],
    /// What is good.
    pub goal: Goal,
}

/// Why records cannot be ranked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParetoError {
    /// There is nothing to rank them on.
    #[error("records are to be ranked on no objective; at least 1 is needed")]
    NoObjective,
    /// Objectives know of different numbers of records.
    #[error("objective {objective} (from 0) has {len} values, and objective 0 has {expected}")]
    Lengths {
        /// Which.
        objective: usize,
        /// How many values it has.
        len: usize,
        /// How many the first has.
        expected: usize,
    },
    /// More records than a `u32` can number.
    #[error("{0} records are more than 4,294,967,294")]
    TooMany(usize),
}
