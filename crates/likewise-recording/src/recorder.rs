//! What a rank records: events in, compressed parts out.

use crate::calls::CallId;
use crate::part::Part;

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
    /// Since the end of the thread's last event (of its first: since the
    /// start of the rank).
    pub gap: u64,
    /// From begin to end.
    pub length: u64,
    /// What the counters counted in the burst before; none where they were
    /// not read.
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
    /// The node that it ran on.
    pub node: String,
}

/// Records one rank.
#[derive(Debug, Default)]
pub struct Recorder {}

impl Recorder {
    /// An empty recorder.
    #[must_use]
    pub fn new(_options: &RecorderOptions) -> Self {
        unimplemented!()
    }

    /// The module with this build id; with an empty one, of that name.
    pub fn module(&mut self, _build_id: &[u8], _path: &str) -> u32 {
        unimplemented!()
    }

    /// The call path of these frames, the innermost first.
    pub fn path(&mut self, _frames: &[Frame]) -> u32 {
        unimplemented!()
    }

    /// A call from a call path.
    pub fn symbol(&mut self, _call: CallId, _path: u32) -> u32 {
        unimplemented!()
    }

    /// A string's place in the table.
    pub fn string(&mut self, _text: &str) -> i64 {
        unimplemented!()
    }

    /// A datatype's place in the table.
    pub fn datatype(&mut self, _name: &str, _size: i64, _extent: i64) -> i64 {
        unimplemented!()
    }

    /// Records an event. `values` are its fields in order, where a list is
    /// its length and then its values.
    pub fn event(&mut self, _symbol: u32, _values: &[i64], _time: &Timing<'_>) {
        unimplemented!()
    }

    /// Records an event whose values are those of the symbol's last one.
    pub fn again(&mut self, _symbol: u32, _time: &Timing<'_>) {
        unimplemented!()
    }

    /// How many events there are.
    #[must_use]
    pub fn n_events(&self) -> u64 {
        unimplemented!()
    }

    /// About how many bytes of memory what was recorded takes.
    #[must_use]
    pub fn memory(&self) -> usize {
        unimplemented!()
    }

    /// What was recorded since the last [`take`](Self::take).
    #[must_use]
    pub fn snapshot(&self, _meta: &RankMeta) -> Part {
        unimplemented!()
    }

    /// What was recorded since the last time; the memory is free again.
    pub fn take(&mut self, _meta: &RankMeta) -> Part {
        unimplemented!()
    }
}
