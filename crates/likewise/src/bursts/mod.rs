//! Phases: what the bursts of a run are grouped into.

mod align;
mod eps;
mod extrapolate;
mod rates;
mod regions;
mod stats;
mod threshold;

pub use align::{
    AlignedSequence, Alignment, SpmdScore, align, align_by_duration, phase_sequences, spmd_score,
};
pub use eps::{EpsSuggestion, downsample_curve, suggest_eps};
pub use extrapolate::{Estimator, Extrapolated, HeldOut, extrapolate, hold_out};
pub use rates::{Rate, rates};
pub use regions::{PhaseRegion, phase_regions};
pub use stats::{Moments, PhaseStats, phase_stats};
pub use threshold::{Threshold, filter_clusters};
