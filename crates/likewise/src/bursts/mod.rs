//! Phases: what the bursts of a run are grouped into.

mod align;
mod eps;
mod extrapolate;
mod rates;
mod refine;
mod regions;
pub mod scaling;
mod stats;
mod threshold;

use align::align_roughly;
pub use align::{
    AlignedSequence, Alignment, SpmdScore, align, align_by_duration, phase_sequences, spmd_score,
};
pub use eps::{EpsSuggestion, downsample_curve, suggest_eps};
pub use extrapolate::{Estimator, Extrapolated, HeldOut, extrapolate, hold_out};
pub use rates::{Rate, rates};
pub use refine::{Direction, EpsRange, Level, NO_NODE, Node, RefineInput, Refinement, eps_range, refine};
pub use regions::{PhaseRegion, phase_regions};
pub use stats::{Moments, PhaseStats, phase_stats};
pub use threshold::{Threshold, filter_clusters};
