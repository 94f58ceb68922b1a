//! Which ranks behave alike, and which of them stand for all.
//!
//! An [`EffortTable`] has the work of every rank in every step; a
//! [`signature`] makes a rank's series short; [`plan`] chooses the ranks that
//! are measured, and [`estimate`] says what they tell of all. Ranks may be
//! spread over processes: each has an [`EffortPart`], and [`moments`] is what
//! they know together.

mod effort;
mod estimate;
mod from_bursts;
mod moments;
mod own_steps;
mod part;
mod strata;
mod support;
mod trend;
mod wavelet;

pub use effort::{EffortCell, EffortError, EffortRegion, EffortTable};
pub use estimate::{Estimate, Measured, Spread, estimate, estimate_strata};
pub use from_bursts::{EffortRegions, FromBurstsError, effort_from_bursts, effort_in_own_steps};
pub use moments::{Moments, moments};
pub use own_steps::{OwnSteps, own_steps};
pub use part::{EffortPart, part};
pub use strata::{
    Allocation, Bound, Plan, PlanError, PlanParams, PlannedStratum, Stratification, Stratum, normal_quantile,
    plan, plan_strata, sample_size,
};
pub use support::{
    APART, MOST_OBJECTS, Support, are_apart_in_pairs, explained_by, joined, loudest_step, separation,
    support, supported_counts,
};
pub use trend::{LEAST_RANKS, beyond_chance, is_significant, makes_up, pearson, spearman};
pub use wavelet::{Decomposition, Wavelet, decompose, reconstruct, signature, signatures};
