//! Phases: what the bursts of a run are grouped into.

mod align;
mod eps;
mod period;
mod representatives;
mod stats;
mod threshold;
mod window;

pub use align::{
    AlignedSequence, Alignment, SpmdScore, align, align_by_duration, phase_sequences, spmd_score,
};
pub use eps::{EpsSuggestion, downsample_curve, suggest_eps};
pub use period::{NotPeriodic, Period, find_period};
pub use representatives::{
    PhaseRepresentatives, Representative, TaskRepresentative, representative_tasks, representatives,
};
pub use stats::{Moments, PhaseStats, phase_stats};
pub use threshold::{Threshold, filter_clusters};
pub use window::{Estimate, Window, WindowLimits, choose_window};
