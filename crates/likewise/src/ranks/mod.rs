//! Which ranks behave alike, and which of them stand for all.
//!
//! An [`EffortTable`] has the work of every rank in every step; a
//! [`signature`] makes a rank's series short; [`plan`] chooses the ranks that
//! are measured, and [`estimate`] says what they tell of all.

mod effort;
mod from_bursts;
mod strata;
mod wavelet;

pub use effort::{EffortCell, EffortError, EffortRegion, EffortTable};
pub use from_bursts::{EffortRegions, FromBurstsError, effort_from_bursts};
pub use strata::{
    Allocation, Bound, Estimate, Plan, PlanError, PlanParams, PlannedStratum, Spread, Stratum, estimate,
    normal_quantile, plan, sample_size, stratifying_pays,
};
pub use wavelet::{Decomposition, Wavelet, decompose, reconstruct, signature, signatures};
