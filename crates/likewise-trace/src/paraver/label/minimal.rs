//! A trace made only from a table of bursts.

use std::collections::BTreeMap;
use std::io::{self, Write};

use likewise::table::BurstTable;

use super::{Marks, marks, push_marks};
use crate::error::ErrorKind;
use crate::trace::{RUNNING, Who};

/// A header declares at most this many threads, or this many per burst if that
/// is more. It lists every task up to the largest id, so without a limit a
/// single id could fill the disk.
const MAX_THREADS: u64 = 1 << 16;
const MAX_THREADS_PER_BURST: u64 = 16;

/// Writes the trace; [`ErrorKind::SparseIds`] before anything is written.
pub(super) fn write_trace(out: &mut impl Write, table: &BurstTable, values: &[u32]) -> Result<(), ErrorKind> {
    let (threads, marks) = marks(table, values, 1);
    let (header, cpus) = header(table, &threads)?;
    write_records(out, &header, table, (&threads, &cpus), &marks).map_err(ErrorKind::Write)
}

fn write_records(
    out: &mut impl Write,
    header: &str,
    table: &BurstTable,
    (threads, cpus): (&[Who], &[(u32, Who)]),
    marks: &Marks<'_>,
) -> io::Result<()> {
    writeln!(out, "{header}")?;
    let mut order: Vec<usize> = (0..table.len()).collect();
    order.sort_by_key(|&i| table.begin[i]);
    let mut text = Vec::new();
    let mut next = 0;
    for i in order {
        let due = marks.up_to(table.begin[i].0);
        push_marks(&mut text, marks.within(next..due), cpus);
        next = due;
        let who = Who { app: table.app[i], task: table.task[i], thread: table.thread[i] };
        let place = threads.binary_search(&who).expect("its thread was listed");
        let Who { app, task, thread } = who;
        let (begin, end) = (table.begin[i].0, table.end(i).0);
        writeln!(text, "1:{}:{app}:{task}:{thread}:{begin}:{end}:{RUNNING}", cpus[place].0)?;
        // Written in pieces, so that the whole text is never in memory.
        if text.len() > 1 << 16 {
            out.write_all(&text)?;
            text.clear();
        }
    }
    push_marks(&mut text, marks.within(next..marks.len()), cpus);
    out.write_all(&text)
}

type Cpus = Vec<(u32, Who)>;

fn header(table: &BurstTable, threads: &[Who]) -> Result<(String, Cpus), ErrorKind> {
    let mut largest: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
    for who in threads {
        let thread = largest.entry(who.app).or_default().entry(who.task).or_default();
        *thread = who.thread.max(*thread);
    }
    let apps = largest.keys().next_back().copied().unwrap_or(0);
    let listed = |tasks: &BTreeMap<u32, u32>| u64::from(tasks.keys().next_back().copied().unwrap_or(0));
    // A task without bursts gets one thread, and an application its part of the line.
    let declared = |tasks: &BTreeMap<u32, u32>| {
        listed(tasks).saturating_sub(tasks.len() as u64) + tasks.values().map(|&n| u64::from(n)).sum::<u64>()
    };
    let without_bursts = u64::from(apps).saturating_sub(largest.len() as u64);
    let n_threads = largest.values().map(declared).sum::<u64>() + without_bursts;
    if n_threads > MAX_THREADS_PER_BURST * table.len() as u64 + MAX_THREADS {
        return Err(ErrorKind::SparseIds { threads: n_threads, bursts: table.len() });
    }
    let end = (0..table.len()).map(|i| table.end(i).0).max().unwrap_or(0);
    let n = threads.len();
    // No date, so that the same input gives the same bytes.
    let mut text = format!("#Paraver (01/01/1970 at 00:00):{end}_ns:1({n}):{apps}");
    for app in 1..=apps {
        let tasks = largest.get(&app);
        let last = tasks.map_or(0, listed);
        let threads = |task| tasks.and_then(|t| t.get(&task)).copied().unwrap_or(1);
        let list: Vec<String> = (1..=last as u32).map(|task| format!("{}:1", threads(task))).collect();
        text.push_str(&format!(":{last}({})", list.join(",")));
    }
    Ok((text, (1..).zip(threads.iter().copied()).collect()))
}
