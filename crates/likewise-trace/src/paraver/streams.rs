//! Threads of a Paraver trace that are streams of an accelerator.
//!
//! Extrae gives each stream of CUDA and HIP, and each command queue of OpenCL, a thread of its task:
//! Running while a kernel runs there; nsys2prv does so for CUDA, without states. It is no thread
//! that computes or waits for others. The `.row` names it by its device; without one, events tell
//! where kernels ran.

use std::collections::BTreeMap;

use likewise::table::Nanos;
use likewise::words::counted;

use super::row::Row;
use super::rules::Rules;
use crate::folding::bursts::{Bursts, ByThread};
use crate::trace::{Apps, RUNNING, Streams, Task, Topology, Who};

/// Extrae's "kernel execution" of CUDA and HIP; nsys2prv has that of CUDA.
const KERNELS: [u32; 2] = [63_000_006, 63_500_006];

/// Extrae's calls on the side of the accelerator, of OpenCL.
const QUEUED: std::ops::Range<u32> = 64_100_000..64_200_000;

/// Whether events of that type are on streams alone.
#[inline]
pub(crate) fn is_of_stream(event_type: u32) -> bool {
    KERNELS.contains(&event_type) || QUEUED.contains(&event_type)
}

/// The streams of a trace.
pub(crate) struct Found {
    /// What each is called.
    names: BTreeMap<Who, String>,
    /// The event type of kernels, where there are such events.
    kernels: Option<u32>,
}

/// How a stream is busy.
struct Busy {
    who: Who,
    time: u64,
    has_counters: bool,
}

impl Found {
    /// Of threads named by the `.row`, and of those with events of kernels.
    pub(crate) fn of(row: &Row, topology: &Topology, events: &BTreeMap<Who, u32>) -> Self {
        let labels = row.labels("THREAD");
        let by_number = |who: &Who| (*who, format!("thread {}.{}", who.task, who.thread));
        let mut names: BTreeMap<Who, String> = events.keys().map(by_number).collect();
        if are_of(labels, topology) {
            let named = threads(topology).zip(labels).filter(|(_, label)| is_stream(label));
            names.extend(named.map(|(who, label)| (who, label.clone())));
        }
        let kernels = KERNELS.into_iter().find(|kernel| events.values().any(|of| of == kernel));
        Self { names, kernels }
    }

    /// The name of the first.
    pub(crate) fn first(&self) -> Option<&str> {
        self.names.values().next().map(String::as_str)
    }

    pub(crate) fn has(&self, who: &Who) -> bool {
        self.names.contains_key(who)
    }

    /// Notes in each task how many of its threads are streams.
    pub(crate) fn note_in(&self, topology: &mut Topology) {
        for who in self.names.keys() {
            let tasks = topology.apps.get_mut(who.app as usize - 1);
            let task: Option<&mut Task> = tasks.and_then(|tasks| tasks.get_mut(who.task as usize - 1));
            task.into_iter().for_each(|task| task.streams += 1);
        }
    }

    /// That the `.row` names streams, and not which threads these are; of some they are known by
    /// their events.
    pub(crate) fn unplaced(&self, row: &Row, topology: &Topology) -> Option<String> {
        let labels = row.labels("THREAD");
        let named = labels.iter().filter(|label| is_stream(label)).count();
        (named > self.names.len() && !are_of(labels, topology)).then(|| {
            format!(
                "the .row names {} of accelerators, but not for all threads, so which threads these are is not known: \
                 what is said of threads is also said of streams, and may be wrong",
                counted(named as u64, "stream")
            )
        })
    }

    /// Leaves the bursts of streams out, unless events of kernels make them or nothing else has
    /// any, and then all but the applications that are asked for. (So the first is one whose
    /// threads compute.)
    pub(crate) fn choose(
        &self,
        threads: &mut ByThread,
        apps: Apps,
        (rules, unit): (&Rules, u64),
    ) -> Option<Streams> {
        let busy: Vec<Busy> = self.names.keys().map(|&who| Busy::of(who, threads.get(&who))).collect();
        let are_asked = rules.burst_events().iter().any(|&of| is_of_stream(of));
        let is_known = are_asked || rules.burst_events().is_empty();
        if !are_asked && threads.keys().any(|who| !self.has(who)) {
            threads.retain(|who, _| !self.has(who));
        }
        let first = threads.keys().next().map(|who| who.app);
        let is_chosen = |app: u32| match apps {
            Apps::All => true,
            Apps::One(asked) => app == asked,
            Apps::First => first.is_none_or(|first| app == first),
        };
        threads.retain(|who, _| is_chosen(who.app));
        let of_chosen: Vec<Busy> = busy.into_iter().filter(|busy| is_chosen(busy.who.app)).collect();
        let are_read = threads.keys().any(|who| self.has(who));
        self.told(&of_chosen, are_read, is_known.then_some(unit))
    }

    /// What is told of streams; `None` if there are none. How long they are busy is known if its
    /// unit (so many ns) is given.
    fn told(&self, busy: &[Busy], are_read: bool, unit: Option<u64>) -> Option<Streams> {
        let (first, last) = (busy.first()?, busy.last()?);
        let nanos = |time: u64| unit.map(|unit| Nanos(time.saturating_mul(unit)));
        let mut by_task: BTreeMap<u32, u64> = BTreeMap::new();
        for Busy { who, time, .. } in busy.iter().filter(|_| first.who.app == last.who.app) {
            let of_task = by_task.entry(who.task).or_default();
            *of_task = of_task.saturating_add(*time);
        }
        let tasks = || by_task.iter().filter_map(|(&task, &time)| Some((task, nanos(time)?)));
        Some(Streams {
            count: busy.len(),
            name: self.names.get(&first.who)?.clone(),
            time: nanos(busy.iter().map(|busy| busy.time).fold(0, u64::saturating_add)),
            least: tasks().min_by_key(|(_, time)| *time),
            // Of tasks with as much, the first.
            most: tasks().rev().max_by_key(|(_, time)| *time),
            with_counters: busy.iter().filter(|busy| busy.has_counters).count(),
            kernels: self.kernels,
            are_read,
        })
    }
}

impl Busy {
    fn of(who: Who, bursts: Option<&Bursts>) -> Self {
        let time = bursts.map_or(0, busy);
        Self { who, time, has_counters: bursts.is_some_and(|bursts| !bursts.runs.are_empty()) }
    }
}

/// Whether there is a label for each thread: fewer or more may be those of others.
fn are_of(labels: &[String], topology: &Topology) -> bool {
    labels.len() as u64 == topology.n_threads()
}

/// How long a thread runs; in a program with OpenMP all states are bursts at first.
fn busy(bursts: &Bursts) -> u64 {
    let states = bursts.states.iter().copied().chain(std::iter::repeat(RUNNING));
    let times = bursts.begin.iter().zip(&bursts.end).zip(states).filter(|(_, state)| *state == RUNNING);
    times.fold(0, |sum, ((begin, end), _)| sum.saturating_add(end.saturating_sub(*begin)))
}

/// All threads of a trace, in the order of the labels in its `.row`.
fn threads(topology: &Topology) -> impl Iterator<Item = Who> {
    let ids = |n: usize| 1..=n as u32;
    let tasks = topology.apps.iter().zip(ids(topology.apps.len()));
    let tasks = tasks.flat_map(move |(tasks, app)| tasks.iter().zip(ids(tasks.len())).map(move |t| (app, t)));
    tasks.flat_map(|(app, (of, task))| (1..=of.threads).map(move |thread| Who { app, task, thread }))
}

/// Whether a label is `CUDA-D1.S2-node`, the same of `GPU` or `HIP`, `OpenCL-GPU-CQ1-node`, or
/// `GPU_a2f80454.1`, by which nsys2prv names a device and its stream.
fn is_stream(label: &str) -> bool {
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let of_device = ["CUDA-D", "GPU-D", "HIP-D"].iter().find_map(|kind| label.strip_prefix(kind));
    let of_device = of_device.is_some_and(|rest| {
        let (device, stream) = rest.split_at(digits(rest));
        !device.is_empty() && stream.strip_prefix(".S").is_some_and(|stream| digits(stream) > 0)
    });
    let of_queue = label.strip_prefix("OpenCL-").and_then(|rest| rest.split_once("-CQ"));
    let of_uuid = label.strip_prefix("GPU_").and_then(|rest| rest.split_once('.'));
    let is_hex = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    of_device
        || of_queue.is_some_and(|(_, queue)| digits(queue) > 0)
        || of_uuid.is_some_and(|(device, stream)| is_hex(device) && digits(stream) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_known_by_their_names() {
        for label in [
            "CUDA-D1.S1-node1",
            "GPU-D12.S3.GPU-0a1b",
            "HIP-D1.S1",
            "CUDA-D0.S7",
            "OpenCL-GPU-CQ2-n",
            "GPU_a2f80454.1",
        ] {
            assert!(is_stream(label), "{label}");
        }
        for label in [
            "THREAD 1.1.1",
            "CUDA-D",
            "CUDA-Dx.S1",
            "CUDA-D1.Sx",
            "GPU-node1",
            "OpenCL",
            "OpenCL-GPU-CQ",
            "GPU_a2f8",
            "GPU_.1",
            "GPU_node.1",
            "",
        ] {
            assert!(!is_stream(label), "{label}");
        }
    }

    #[test]
    fn labels_count_the_threads_of_all_tasks() {
        let task = |threads| Task { threads, node: 1, streams: 0 };
        let mut topology =
            Topology { apps: vec![vec![task(1), task(2)], vec![task(3)]], ..Topology::default() };
        let text = "LEVEL THREAD SIZE 6\na\nb\nCUDA-D1.S1-n\nc\nd\nCUDA-D2.S1-n\n";
        let (row, _) = Row::parse(text.as_bytes());
        let who = |app, task, thread| Who { app, task, thread };
        let none = BTreeMap::new();
        let found = Found::of(&row, &topology, &none);
        assert_eq!(found.names.keys().copied().collect::<Vec<_>>(), [who(1, 2, 2), who(2, 1, 3)]);
        assert_eq!((&*found.names[&who(2, 1, 3)], found.unplaced(&row, &topology)), ("CUDA-D2.S1-n", None));
        // Labels of fewer threads than there are name nobody; events still do.
        topology.apps[1].push(task(1));
        let events = BTreeMap::from([(who(2, 1, 2), 63_000_006)]);
        let found = Found::of(&row, &topology, &none);
        assert!(found.names.is_empty());
        let told = found.unplaced(&row, &topology).expect("they are there");
        assert!(
            told.starts_with("the .row names 2 streams of accelerators, but not for all threads"),
            "{told}"
        );
        let found = Found::of(&row, &topology, &events);
        assert_eq!((found.names.len(), found.kernels), (1, Some(63_000_006)));
        found.note_in(&mut topology);
        assert_eq!(topology.apps[1][0].streams, 1);
    }
}
