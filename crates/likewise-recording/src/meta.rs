//! What is said of events, call paths and ranks.

/// A counter that was not read in a burst in which others were.
pub const NOT_READ: u64 = u64::MAX;

/// How much of a build id is kept.
pub const MOST_OF_ID: usize = 8;

/// No symbol: before the first event of a thread.
pub(crate) const NO_SYMBOL: u32 = u32::MAX;

/// How times and counters are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// As histograms.
    #[default]
    Histogram,
    /// Each one.
    All,
}

/// What to keep.
#[derive(Clone, Debug, Default)]
pub struct RecorderOptions {
    /// How times and counters are kept.
    pub times: Times,
    /// The names of the counters that bursts have.
    pub counters: Vec<String>,
}

/// A frame of a call path: where the call returns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame {
    /// The loaded object: its place in the table of modules.
    pub module: u32,
    /// Return address less the load address of the module.
    pub offset: u64,
}

/// How long an event took, and the burst before it, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing<'a> {
    /// Which thread called, from 0 in the order of their first calls.
    pub thread: u32,
    /// What lies between the end of the thread's last event (of its first: the start of
    /// the rank) and the gap: the recorder's own work, which is no part of the program.
    /// With histograms it is not kept.
    pub pause: u64,
    /// How long the thread computed before it.
    pub gap: u64,
    /// From begin to end.
    pub length: u64,
    /// What the counters counted in the burst before, [`NOT_READ`] for one
    /// that was not read; none where none was.
    pub counters: Option<&'a [u64]>,
}

/// What is known of the rank itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankMeta {
    /// Its number in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// How many ranks there are.
    pub size: u32,
    /// When it began, in ns since 1970.
    pub start: u64,
    /// How long it was recorded, in ns.
    pub wall: u64,
    /// How many events this part of it has; the recorder counts them.
    pub events: u64,
    /// The node that it ran on.
    pub node: String,
    /// Which CPUs of the node it may use.
    pub cpus: Cpus,
}

/// Which CPUs of its node a rank may use, when it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cpus {
    /// The first of them.
    pub first: u32,
    /// The last of them.
    pub last: u32,
    /// How many; 0 if it is not known.
    pub n: u32,
}
