//! The bursts of a recording: what a thread computes between two MPI calls.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use likewise::table::Nanos;
use likewise_recording::{Recording, Times};
use rayon::prelude::*;

use super::code::{Site, places};
use super::counters::{self, Column};
use super::leads::measured;
use super::source::Source;
use super::walk::Walk;
use super::{bytes, cpus, of_measured, open};
use crate::error::{Error, ErrorKind, Result};
use crate::folding::bursts::ByThread;
use crate::folding::cover::Limits;
use crate::folding::pieces::{Folding, Pieces};
use crate::folding::sites::Sites;
use crate::folding::steps::{Move, Opened, SET_CHANGE, Steps};
use crate::folding::table::{self, Names};
use crate::paraver::event_types::is_hardware;
use crate::trace::{
    Apps, EventTypeInfo, RUNNING, RanksRead, ReadOptions, ReadReport, RecordCounts, StateInfo, Task,
    Topology, Trace, TraceInfo, Untraced, UntracedBy, Who,
};

/// What the events of a rank tell.
struct OfRank {
    rank: u32,
    folding: Folding<Site>,
    threads: u32,
    events: u64,
    /// When its last event ended.
    end: u64,
    /// Why its events end early.
    problem: Option<String>,
}

/// Reads the recording at a path.
pub(crate) fn read(path: &Path, options: &ReadOptions<'_>) -> Result<Trace> {
    refuse(path, options)?;
    let recording = open(path)?;
    let (measured, warning) = measured(&recording, path)?;
    let warnings = of_measured(&recording, path).into_iter().chain(warning).collect();
    let mut report = ReadReport { warnings, bytes: bytes(path), ..ReadReport::default() };
    let columns = counters::columns(recording.counters());
    let done = AtomicU64::new(0);
    let (all, n) = (report.bytes, measured.len().max(1) as u64);
    let of_rank = |rank: &u32| {
        let of_rank = fold(&recording, *rank, &columns, path);
        if let Some(progress) = options.progress {
            progress(all * (done.fetch_add(1, Ordering::Relaxed) + 1) / n, all);
        }
        of_rank
    };
    let ranks: Vec<OfRank> = measured.par_iter().map(of_rank).collect();
    let end = end_of(&recording, ranks.iter().map(|rank| rank.end).max().unwrap_or(0));
    let ends = ranks.iter().map(|rank| rank.end);
    report.untraced = recording.incomplete().and_then(|_| saved_apart(ends));
    let threads: BTreeMap<u32, u32> = ranks.iter().map(|rank| (rank.rank, rank.threads)).collect();
    report.records =
        RecordCounts { events: ranks.iter().map(|rank| rank.events).sum(), ..RecordCounts::default() };
    report.warnings.extend(ranks.iter().filter_map(|rank| rank.problem.clone()));
    let mut sites = Sites::default();
    let threads_of = joined(ranks, &mut sites, end);
    let mut source = Source::new(recording.modules());
    let names = Names {
        counter: &|event_type| counters::counter(&columns, event_type),
        places: places(&sites.sites, &recording, &mut source),
    };
    report.warnings.append(&mut source.notes);
    let table = table::build(threads_of, 1, limits(&recording), names, &mut report.warnings)
        .map_err(|kind| Error::whole(path, kind))?;
    report.records.states = table.len() as u64;
    report.drawn_times = recording.times() == Times::Histogram;
    report.shared_cpus = cpus::note(recording.ranks()).is_some();
    let part = RanksRead { read: measured.len() as u32, of: recording.size() };
    report.part = Some(part).filter(|part| part.read < part.of);
    Ok(Trace {
        table,
        end: Nanos(end),
        origin: Nanos::ZERO,
        topology: Some(topology(&recording, &threads)),
        report,
    })
}

/// Refuses options that mean something else than a recording has.
fn refuse(path: &Path, options: &ReadOptions<'_>) -> Result<()> {
    if let Apps::One(asked) = options.apps
        && asked != 1
    {
        return Err(Error::whole(path, ErrorKind::NoSuchApplication { asked, there: 1 }));
    }
    if !options.burst_events.is_empty() {
        let what = "the bursts of a recording lie between its MPI calls; it has no events of other types";
        return Err(Error::whole(path, ErrorKind::Table(what.to_owned())));
    }
    Ok(())
}

/// When a recording ends: with its last event, or when its last rank does.
pub(super) fn end_of(recording: &Recording, last_event: u64) -> u64 {
    let first = recording.ranks().iter().map(|meta| meta.start).min().unwrap_or(0);
    let ends = recording.ranks().iter().map(|meta| (meta.start - first).saturating_add(meta.wall));
    ends.max().unwrap_or(0).max(last_event)
}

/// That ranks were saved until different moments, of which these are the last events. Of a rank
/// without events nothing is known at all, and another note says that it is missing.
fn saved_apart(ends: impl Iterator<Item = u64> + Clone) -> Option<Untraced> {
    let ends = ends.filter(|&end| end > 0);
    let (from, to) = (ends.clone().min()?, ends.clone().max()?);
    let time = ends.fold(0, |sum: u64, end| sum.saturating_add(to - end));
    let why = UntracedBy::Saving;
    (from < to).then_some(Untraced { from: Nanos(from), to: Nanos(to), time: Nanos(time), why })
}

/// Where the tasks ran; `threads` of each rank that is recorded.
pub(super) fn topology(recording: &Recording, threads: &BTreeMap<u32, u32>) -> Topology {
    let mut nodes: Vec<&str> = Vec::new();
    let mut cpus: Vec<u32> = Vec::new();
    let size = recording
        .ranks()
        .iter()
        .map(|meta| meta.rank + 1)
        .max()
        .unwrap_or(0)
        .max(recording.ranks().len() as u32);
    let mut tasks = vec![Task { threads: 1, node: 0, streams: 0 }; size as usize];
    for meta in recording.ranks() {
        let node = nodes.iter().position(|node| *node == meta.node).unwrap_or_else(|| {
            nodes.push(&meta.node);
            cpus.push(0);
            nodes.len() - 1
        });
        let n = threads.get(&meta.rank).copied().unwrap_or(1).max(1);
        cpus[node] += n;
        tasks[meta.rank as usize] = Task { threads: n, node: node as u32 + 1, streams: 0 };
    }
    Topology { nodes: nodes.len() as u32, cpus, apps: vec![tasks] }
}

/// How large counts can be. Where each is drawn by itself, that of a long burst may come to a
/// short one, and nothing is wrong with the counter.
fn limits(recording: &Recording) -> Limits {
    match recording.times() {
        Times::Histogram => Limits::default(),
        Times::All => Limits::new(1, is_hardware),
    }
}

/// Folds the events of a rank into bursts.
fn fold(recording: &Recording, rank: u32, columns: &[Column], path: &Path) -> OfRank {
    let mut walk = Walk::new(recording, rank, path);
    let mut of_rank = OfRank {
        rank,
        folding: Folding::new(limits(recording)),
        threads: 0,
        events: 0,
        end: 0,
        problem: None,
    };
    // The call path of each thread's last call.
    let mut last: Vec<Option<u32>> = Vec::new();
    let mut counts = Vec::new();
    loop {
        let step = match walk.next() {
            Ok(Some(step)) => step,
            Ok(None) => return of_rank,
            Err(error) => {
                of_rank.problem =
                    Some(format!("rank {rank} is read up to event {}: {error}", of_rank.events));
                return of_rank;
            }
        };
        let slot = step.event.thread as usize;
        if slot >= last.len() {
            last.resize(slot + 1, None);
            of_rank.threads = slot as u32 + 1;
        }
        let before = last[slot].replace(step.path);
        let steps = &mut of_rank.folding;
        let function =
            before.map(|before| Site::Between(before, step.path)).filter(|_| step.start < step.begin);
        if step.start < step.begin {
            steps.boundary(slot, step.start, Some(Opened { end: Some(step.begin), state: RUNNING }));
            if step.counters(columns).next().is_some() {
                steps.counters(slot, step.start, &[(SET_CHANGE, 0)]);
            }
            if let Some(function) = function {
                steps.code(slot, step.start, Move::Enter(function));
            }
        }
        steps.boundary(slot, step.begin, None);
        counts.clear();
        counts.extend(step.counters(columns).map(|(event_type, value)| (event_type, i128::from(value))));
        steps.counters(slot, step.begin, &counts);
        if function.is_some() {
            steps.code(slot, step.begin, Move::Leave);
        }
        steps.code(slot, step.begin, Move::Call(Site::Call(step.path)));
        of_rank.events += 1;
        of_rank.end = of_rank.end.max(step.end);
    }
}

/// The bursts of all threads.
fn joined(ranks: Vec<OfRank>, sites: &mut Sites<Site>, end: u64) -> ByThread {
    let mut threads = ByThread::new();
    for OfRank { rank, folding, .. } in ranks {
        let numbers = sites.adopt(&folding.sites.sites);
        let mut pieces: BTreeMap<Who, Pieces> = BTreeMap::new();
        for (slot, mut fold) in folding.folds {
            fold.renumber(&numbers);
            pieces.entry(Who { app: 1, task: rank + 1, thread: slot as u32 + 1 }).or_default().add(fold);
        }
        for (who, pieces) in pieces {
            // The times of a thread never go back, so its pieces always join.
            threads.extend(
                pieces.join(end).filter(|bursts| !bursts.begin.is_empty()).map(|bursts| (who, bursts)),
            );
        }
    }
    threads
}

/// Counts what a recording holds, as a trace.
pub(crate) fn inspect(path: &Path, options: &ReadOptions<'_>) -> Result<TraceInfo> {
    let trace = read(path, &ReadOptions { apps: Apps::All, burst_events: Vec::new(), ..options.clone() })?;
    let running = StateInfo {
        value: RUNNING,
        name: "Running".to_owned(),
        count: trace.table.len() as u64,
        time: trace.table.computing_time(),
    };
    let counter = |column: &likewise::table::CounterColumn| EventTypeInfo {
        event_type: column.counter.event_type.unwrap_or(0),
        label: column.counter.name.clone(),
        count: column.values.iter().filter(|value| !value.is_nan()).count() as u64,
        zeros: 0,
        counter: true,
    };
    Ok(TraceInfo {
        format: "recording",
        compressed: false,
        end: trace.end,
        topology: trace.topology,
        states: vec![running],
        event_types: trace.table.counters.iter().map(counter).collect(),
        communication_bytes: 0,
        report: trace.report,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_end_apart_were_saved_apart() {
        let why = UntracedBy::Saving;
        let saved = |ends: &[u64]| saved_apart(ends.iter().copied());
        assert_eq!(
            saved(&[700, 4_000, 900]),
            Some(Untraced { from: Nanos(700), to: Nanos(4_000), time: Nanos(6_400), why })
        );
        assert_eq!((saved(&[700, 700]), saved(&[0, 700]), saved(&[])), (None, None, None));
    }
}
