//! One file per subcommand.

pub(crate) mod align;
pub(crate) mod bursts;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod counters;
pub(crate) mod cut;
pub(crate) mod demo;
mod demo_counters;
mod demo_regimes;
pub(crate) mod info;
mod modes;
mod online;
pub(crate) mod pareto;
pub(crate) mod points;
pub(crate) mod ranks;
pub(crate) mod record;
mod recorded;
mod regimes;
pub(crate) mod replay;
pub(crate) mod retime;
mod rows;
mod sampled;
pub(crate) mod synth;
mod traced;
