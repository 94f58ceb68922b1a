//! Phases: what the bursts of a run are grouped into.

mod align;
mod eps;
pub mod scaling;
mod stats;
mod threshold;

pub use align::{
    AlignedSequence, Alignment, SpmdScore, align, align_by_duration, phase_sequences, spmd_score,
};
pub use eps::{EpsSuggestion, downsample_curve, suggest_eps};
pub use stats::{Moments, PhaseStats, phase_stats};
pub use threshold::{Threshold, filter_clusters};
