//! Phases: what the bursts of a run are grouped into.

mod align;
mod clock;
mod eps;
mod extrapolate;
mod findings;
mod in_time;
mod label;
mod on_core;
mod period;
mod rates;
mod refine;
mod regions;
pub mod replay;
mod representatives;
pub mod scaling;
mod serial;
mod stats;
mod threshold;
mod uncounted;
mod window;

pub use align::{
    AlignedSequence, Alignment, SpmdScore, align, align_by_duration, phase_sequences, spmd_score,
};
use align::{Cuts, align_all_by_duration, align_roughly, align_roughly_along};
pub use eps::{EpsSuggestion, downsample_curve, suggest_eps};
pub use extrapolate::{Estimator, Extrapolated, HeldOut, extrapolate, hold_out};
pub use findings::{
    Cause, FewCpus, Finding, FindingKind, Findings, FindingsInput, Gradient, How, LEAST_SHARE, MOST_ASLEEP,
    TaskBegins, ThreadName, findings,
};
pub use label::{BurstLabel, burst_labels};
pub use on_core::{ByCycles, OnCore};
pub use period::{NotPeriodic, Period, find_period, find_period_in_order};
pub use rates::{Rate, asked_of_bursts, rates};
pub use refine::{
    Connect, Direction, EpsRange, Level, NO_CODE, NO_COHORT, NO_NODE, Node, RefineInput, RefineRules,
    Refinement, default_min_points, eps_range, refine, refine_by,
};
pub use regions::{
    PhaseRegion, cluster_by_place, parallel_numbers, phase_regions, region_numbers, tells_all_places,
};
pub use representatives::{
    PhaseRepresentatives, Representative, TaskRepresentative, representative_tasks, representatives,
};
pub use serial::{Scope, SerialPhase, is_nearly_all, serial_phases};
pub use stats::{Moments, PhaseStats, phase_stats};
pub use threshold::{Threshold, filter_clusters};
pub use uncounted::stand_ins;
pub use window::{Estimate, Window, WindowLimits, choose_window};
