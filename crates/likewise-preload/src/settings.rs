//! What the environment asks for.

use crate::counters::Plan;
use crate::modes::Modes;
use std::path::PathBuf;
use std::sync::OnceLock;

/// What the environment says.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) folder: PathBuf,
    pub(crate) verify: bool,
    pub(crate) raw: bool,
    pub(crate) all_times: bool,
    pub(crate) modes: Option<Modes>,
}

static COUNTERS: OnceLock<Plan> = OnceLock::new();
static OPTIONS: OnceLock<Options> = OnceLock::new();

/// What is counted in bursts.
#[inline]
pub(crate) fn counters() -> &'static Plan {
    static NOTHING: Plan = Plan::nothing();
    COUNTERS.get().unwrap_or(&NOTHING)
}

/// What was asked for.
pub(crate) fn options() -> &'static Options {
    static NONE: Options =
        Options { folder: PathBuf::new(), verify: false, raw: false, all_times: false, modes: None };
    OPTIONS.get().unwrap_or(&NONE)
}

/// Says once what is asked for and counted.
pub(crate) fn set(options: Options, counters: Plan) {
    let _ = OPTIONS.set(options);
    let _ = COUNTERS.set(counters);
}
