//! Counters: which belong together, which records are good on several at
//! once, and in which regimes one model of the time holds.

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
