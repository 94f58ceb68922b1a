//! Phases: what the bursts of a run are grouped into.

mod eps;
mod stats;
mod threshold;

pub use eps::{EpsSuggestion, downsample_curve, suggest_eps};
pub use stats::{Moments, PhaseStats, phase_stats};
pub use threshold::{Threshold, filter_clusters};
