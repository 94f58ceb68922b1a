//! Phases: what the bursts of a run are grouped into.

pub mod eps;
