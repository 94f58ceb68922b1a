//! Threads of a Paraver trace that are streams of an accelerator.
//!
//! Extrae and nsys2prv give each stream of CUDA and HIP, and each command queue of OpenCL, a thread
//! of its task: Running while a kernel runs there. It is no thread that computes or waits for
//! others. The `.row` names it by its device; without one, events tell where kernels ran.

use std::collections::{BTreeMap, BTreeSet};

use likewise::table::Nanos;

use super::row::Row;
use crate::folding::bursts::{Bursts, ByThread};
use crate::trace::{RUNNING, Streams, Task, Topology, Who};

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
    /// All of them.
    pub(crate) who: BTreeSet<Who>,
    /// The name of the first that has one.
    name: Option<String>,
    /// The event type of kernels, where there are such events.
    kernels: Option<u32>,
}

impl Found {
    /// Of threads named by the `.row`, and of those with events of kernels.
    pub(crate) fn of(row: &Row, topology: &Topology, events: &BTreeMap<Who, u32>) -> Self {
        let labels = row.labels("THREAD");
        // Labels that are fewer or more than threads may be those of others.
        let is_whole = labels.len() as u64 == topology.n_threads();
        let named = || threads(topology).zip(labels).filter(|(_, label)| is_whole && is_stream(label));
        let who = named().map(|(who, _)| who).chain(events.keys().copied()).collect();
        let name = named().next().map(|(_, label)| label.clone());
        let kernels = KERNELS.into_iter().find(|kernel| events.values().any(|of| of == kernel));
        Self { who, name, kernels }
    }

    /// Notes in each task how many of its threads are streams.
    pub(crate) fn note_in(&self, topology: &mut Topology) {
        for who in &self.who {
            let tasks = topology.apps.get_mut(who.app as usize - 1);
            let task: Option<&mut Task> = tasks.and_then(|tasks| tasks.get_mut(who.task as usize - 1));
            task.into_iter().for_each(|task| task.streams += 1);
        }
    }

    /// Leaves the bursts of streams out, unless they were asked for by events or are all there is.
    pub(crate) fn leave_out(&self, threads: &mut ByThread, by_events: bool, unit: u64) -> Option<Streams> {
        let apps: BTreeSet<u32> = threads.keys().map(|who| who.app).collect();
        let count = self.who.iter().filter(|who| apps.is_empty() || apps.contains(&who.app)).count();
        let is_stream = |who: &Who| self.who.contains(who);
        let first = self.who.first()?;
        let name = self.name.clone().unwrap_or_else(|| format!("thread {}.{}", first.task, first.thread));
        let mut by_task: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for (who, bursts) in threads.iter().filter(|(who, _)| is_stream(who)) {
            let time = by_task.entry((who.app, who.task)).or_default();
            *time = time.saturating_add(busy(bursts));
        }
        let others = threads.keys().filter(|who| !is_stream(who)).count();
        let has_any = others < threads.len();
        let are_read = has_any && (by_events || others == 0);
        if !are_read {
            threads.retain(|who, _| !is_stream(who));
        }
        let nanos = |time: u64| Nanos(time.saturating_mul(unit));
        let time = nanos(by_task.values().copied().fold(0, u64::saturating_add));
        let sorted = || by_task.iter().map(|((_, task), &time)| (*task, nanos(time)));
        // Of tasks with as much, the first.
        let most = sorted().rev().max_by_key(|(_, time)| *time);
        let ends = sorted().min_by_key(|(_, time)| *time).zip(most).map(|(least, most)| [least, most]);
        (count > 0).then_some(Streams { count, name, time, ends, kernels: self.kernels, are_read })
    }
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

/// Whether a label is `CUDA-D1.S2-node`, the same of `GPU` or `HIP`, or `OpenCL-GPU-CQ1-node`.
fn is_stream(label: &str) -> bool {
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let of_device = ["CUDA-D", "GPU-D", "HIP-D"].iter().find_map(|kind| label.strip_prefix(kind));
    let of_device = of_device.is_some_and(|rest| {
        let (device, stream) = rest.split_at(digits(rest));
        !device.is_empty() && stream.strip_prefix(".S").is_some_and(|stream| digits(stream) > 0)
    });
    let of_queue = label.strip_prefix("OpenCL-").and_then(|rest| rest.split_once("-CQ"));
    of_device || of_queue.is_some_and(|(_, queue)| digits(queue) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_known_by_their_names() {
        for label in
            ["CUDA-D1.S1-node1", "GPU-D12.S3.GPU-0a1b", "HIP-D1.S1", "CUDA-D0.S7", "OpenCL-GPU-CQ2-n"]
        {
            assert!(is_stream(label), "{label}");
        }
        for label in
            ["THREAD 1.1.1", "CUDA-D", "CUDA-Dx.S1", "CUDA-D1.Sx", "GPU-node1", "OpenCL", "OpenCL-GPU-CQ", ""]
        {
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
        assert_eq!(found.who, BTreeSet::from([who(1, 2, 2), who(2, 1, 3)]));
        assert_eq!(found.name.as_deref(), Some("CUDA-D1.S1-n"));
        // Labels of fewer threads than there are name nobody; events still do.
        topology.apps[1].push(task(1));
        let events = BTreeMap::from([(who(2, 1, 2), 63_000_006)]);
        assert!(Found::of(&row, &topology, &none).who.is_empty());
        let found = Found::of(&row, &topology, &events);
        assert_eq!((found.who.len(), found.kernels, &found.name), (1, Some(63_000_006), &None));
        found.note_in(&mut topology);
        assert_eq!(topology.apps[1][0].streams, 1);
    }
}
