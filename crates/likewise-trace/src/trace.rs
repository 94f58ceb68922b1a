//! A trace of any format: its bursts, where they ran, and how much was read.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

use likewise::table::{BurstTable, Nanos};

use crate::bytes::{Input, Progress};
use crate::error::Result;
use crate::taken::Taken;

/// State value of a thread that computes.
pub const RUNNING: u32 = 1;

/// State value of a thread that is not traced, as Extrae gives it.
pub(crate) const TRACING_DISABLED: u32 = 14;
/// The state of a thread that does not exist yet.
pub(crate) const NOT_CREATED: u32 = 2;

/// Whether the run has begun where a thread is in that state: it is there, and traced.
pub(crate) fn is_of_run(state: u32) -> bool {
    ![TRACING_DISABLED, NOT_CREATED].contains(&state)
}

/// Applications whose bursts are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Apps {
    /// The first that has any burst.
    #[default]
    First,
    /// The one of that number, from 1.
    One(u32),
    /// Every one.
    All,
}

/// How to read.
#[derive(Clone, Default)]
pub struct ReadOptions<'a> {
    /// Skip and count malformed records instead of failing.
    pub lenient: bool,
    /// Events of these types open a burst (not zero) and close it (zero),
    /// instead of the Running states. Empty: the states count.
    pub burst_events: Vec<u32>,
    /// Event types to sum beside the counters' own ranges.
    pub counters: Vec<u32>,
    /// Which applications.
    pub apps: Apps,
    /// The `.pcf` to read instead of the one beside the trace, for example for
    /// the standard input. This one must exist; the one beside need not.
    pub pcf: Option<PathBuf>,
    /// Told how far the reading is.
    pub progress: Option<Progress<'a>>,
}

/// What was read, in numbers and warnings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// Records by kind.
    pub records: RecordCounts,
    /// When the first record begins, a state or an event: what was traced begins with it, and not
    /// with time 0. That where nothing tells otherwise.
    pub begin: Nanos,
    /// Lines of the trace.
    pub lines: u64,
    /// Bytes of the file as stored.
    pub bytes: u64,
    /// What the reader was not sure about, safe to print.
    pub warnings: Vec<String>,
    /// What became of the columns of a table of bursts.
    pub columns: Option<Taken>,
    /// Whether times of single bursts were drawn from histograms: when what
    /// happened is then not known.
    pub drawn_times: bool,
    /// Whether there were more ranks than CPUs that they may use, so that times have waits for a
    /// CPU in them; where it is not known, they are taken to have had one each.
    pub shared_cpus: bool,
    /// Set where the bursts are those of some ranks of a program only.
    pub part: Option<RanksRead>,
    /// Set where it is not known what threads did for a time.
    pub untraced: Option<Untraced>,
    /// Set where some threads are streams of accelerators.
    pub streams: Option<Streams>,
    /// When the last state ends, where there are states: behind it, nothing tells what threads do.
    pub last_state: Option<Nanos>,
    /// When the first of the states ends that are open when the last record begins, where some end
    /// later: if the trace goes on behind all of them, it was cut there, and states were kept whole.
    /// Until then all threads are known.
    pub cut: Option<Nanos>,
    /// How long threads of an OpenMP program are, all together and within bursts, in locks, critical
    /// sections and scheduling.
    pub runtime: Nanos,
    /// When all tasks that call MPI_Init have called it and the first leaves it; those that are spawned
    /// later do not count. Until then the program starts up. `None` if any task computes before that
    /// has left it, or does not call it.
    pub mpi_init: Option<Nanos>,
    /// When the last task calls MPI_Finalize, if none that does not computes behind it.
    pub mpi_finalize: Option<Nanos>,
    /// When each task (of an application) calls MPI_Finalize, if it does: behind it the task is done.
    pub done: BTreeMap<(u32, u32), Nanos>,
    /// When the tracer of the last task has been set up, if no other computes before: until then it is
    /// the tracer that computes.
    pub set_up: Option<Nanos>,
}

/// Streams of accelerators, which a trace has as threads: no thread that computes, and none that
/// waits for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streams {
    /// How many there are, in the applications that were read.
    pub count: usize,
    /// The first of them.
    pub name: String,
    /// How long they are busy, all together; the kernels of several may run at once. Not known where
    /// bursts are those of other events than of kernels.
    pub time: Option<Nanos>,
    /// The task whose streams are busy for the least time, and for how long; of one application.
    pub least: Option<(u32, Nanos)>,
    /// The same of the most.
    pub most: Option<(u32, Nanos)>,
    /// How many have bursts with counters, which kernels have not.
    pub with_counters: usize,
    /// The event type that makes bursts of kernels, where there is one.
    pub kernels: Option<u32>,
    /// Whether bursts of streams are among those that were read.
    pub are_read: bool,
}

/// Time in which some threads were not traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untraced {
    /// Before that, all were.
    pub from: Nanos,
    /// From then on, all were.
    pub to: Nanos,
    /// How long threads were not, all together.
    pub time: Nanos,
    /// Why not.
    pub why: UntracedBy,
}

/// Why it is not known what threads did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UntracedBy {
    /// Tracing was off.
    Disabled,
    /// The ranks of a recording were saved at different moments, before the program ended.
    Saving,
}

/// How many ranks of a program were read, where it had more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RanksRead {
    /// Those that were read.
    pub read: u32,
    /// Those of the program.
    pub of: u32,
}

/// The bursts of a trace and the names that go with them.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The bursts, in burst order.
    pub table: BurstTable,
    /// When it ends; of a table, when its last burst does.
    pub end: Nanos,
    /// The file's time of what is time 0 here: of a table the begin of its first burst, else 0.
    pub origin: Nanos,
    /// Where its tasks ran, where the format says.
    pub topology: Option<Topology>,
    /// What was read.
    pub report: ReadReport,
}

/// What a trace holds; all that `likewise info` shows.
#[derive(Clone, Debug)]
pub struct TraceInfo {
    /// The name of its format.
    pub format: &'static str,
    /// Whether it is gzip.
    pub compressed: bool,
    /// When it ends.
    pub end: Nanos,
    /// Where its tasks ran, where the format says.
    pub topology: Option<Topology>,
    /// Records by kind, and warnings.
    pub report: ReadReport,
    /// States by value; for a CSV of bursts, Running alone.
    pub states: Vec<StateInfo>,
    /// Event types by number; for a CSV of bursts, none.
    pub event_types: Vec<EventTypeInfo>,
    /// Sizes of all communications together.
    pub communication_bytes: u64,
}

/// A format of traces: how it is known, and who reads it. Formats are files or
/// folders beside one another; `read` has the list of them.
pub(crate) struct TraceFormat {
    /// Its first bytes.
    pub(crate) begins: &'static [u8],
    pub(crate) read: fn(Input, &ReadOptions<'_>) -> Result<Trace>,
    pub(crate) inspect: fn(Input, &ReadOptions<'_>) -> Result<TraceInfo>,
}

/// Where the tasks of a trace ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// CPUs of every node; empty where the trace gives no list.
    pub cpus: Vec<u32>,
    /// How many nodes it says there are.
    pub nodes: u32,
    /// Tasks of every application.
    pub apps: Vec<Vec<Task>>,
}

impl Topology {
    /// Whether the ids (from 1) are those of a declared thread.
    #[must_use]
    pub fn declares(&self, app: u32, task: u32, thread: u32) -> bool {
        let place = |id: u32| (id as usize).checked_sub(1);
        let tasks = place(app).and_then(|a| self.apps.get(a));
        let task = tasks.and_then(|tasks| place(task).and_then(|t| tasks.get(t)));
        task.is_some_and(|t| thread >= 1 && thread <= t.threads)
    }

    /// How many tasks all applications have together.
    #[must_use]
    pub fn n_tasks(&self) -> usize {
        self.apps.iter().map(Vec::len).sum()
    }

    /// How many threads all tasks have together.
    #[must_use]
    pub fn n_threads(&self) -> u64 {
        self.apps.iter().flatten().map(|t| u64::from(t.threads)).sum()
    }
}

/// One task of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// How many threads it has.
    pub threads: u32,
    /// Node that it runs on, from 1; 0 where the trace does not say.
    pub node: u32,
    /// How many of its threads are streams of accelerators.
    pub streams: u32,
}

/// A thread by its ids, all from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Who {
    pub(crate) app: u32,
    pub(crate) task: u32,
    pub(crate) thread: u32,
}

/// One state value of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateInfo {
    /// Its number.
    pub value: u32,
    /// Its name, or its number where it has none.
    pub name: String,
    /// How many records have it.
    pub count: u64,
    /// Time of all those with an end.
    pub time: Nanos,
}

/// One event type of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventTypeInfo {
    /// Its number.
    pub event_type: u32,
    /// Its label; empty where it has none.
    pub label: String,
    /// How often it stands in the trace.
    pub count: u64,
    /// How often its value is 0, which ends what another value began.
    pub zeros: u64,
    /// Whether it is a counter that bursts carry.
    pub counter: bool,
}

/// How many records there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordCounts {
    /// State records.
    pub states: u64,
    /// Event records, each with one or more pairs of type and value.
    pub events: u64,
    /// Pairs of type and value in all event records.
    pub event_pairs: u64,
    /// Communications.
    pub communications: u64,
    /// Communicator definitions.
    pub communicators: u64,
    /// Lines that begin with `#`, the header not counted.
    pub comments: u64,
    /// Obsolete global operations, which are not read.
    pub global_operations: u64,
    /// Lines of no known kind, which are not read.
    pub unknown: u64,
    /// States that end before they begin, which are not read: their times are wrong.
    pub backwards: u64,
    /// States and events with a negative time, which are not read.
    pub untimed: u64,
    /// Malformed records, which `--lenient` left out.
    pub skipped: u64,
}

impl RecordCounts {
    pub(crate) fn add(&mut self, other: &RecordCounts) {
        self.states += other.states;
        self.events += other.events;
        self.event_pairs += other.event_pairs;
        self.communications += other.communications;
        self.communicators += other.communicators;
        self.comments += other.comments;
        self.global_operations += other.global_operations;
        self.unknown += other.unknown;
        self.backwards += other.backwards;
        self.untimed += other.untimed;
        self.skipped += other.skipped;
    }

    /// Records of all kinds together.
    #[must_use]
    pub fn total(&self) -> u64 {
        let not_read = self.global_operations + self.unknown + self.backwards + self.untimed;
        self.states + self.events + self.communications + not_read
    }
}
