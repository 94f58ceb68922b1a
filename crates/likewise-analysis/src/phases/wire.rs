//! Groupings and threads as bytes of a message.

use likewise::cluster::{ClusterId, Clustering, Dbscan};
use likewise::comm::wire::{Taker, put_number, put_numbers};
use likewise::table::BurstTable;
use std::ops::Range;

/// The bit of a label that says that the point is core.
const CORE: u32 = 1 << 31;

/// Appends how many clusters there are, and four bytes for each point.
pub(super) fn put_dbscan(bytes: &mut Vec<u8>, found: &Dbscan) {
    let Dbscan { clustering: Clustering { labels, n_clusters }, core } = found;
    bytes.reserve(4 + 4 * labels.len());
    bytes.extend((*n_clusters as u32).to_le_bytes());
    for (label, &core) in labels.iter().zip(core) {
        let number = label.map_or(0, ClusterId::number) | if core { CORE } else { 0 };
        bytes.extend(number.to_le_bytes());
    }
}

/// What all processes say, of `n` points; noise where they say nothing. What one says is gone
/// once it is read.
pub(super) fn dbscan_of(all: Vec<Vec<u8>>, n: usize) -> Dbscan {
    let mut clustering = Clustering { labels: Vec::with_capacity(n), n_clusters: 0 };
    let mut core = Vec::with_capacity(n);
    for bytes in all {
        let mut numbers = bytes.as_chunks().0.iter().map(|&number| u32::from_le_bytes(number));
        clustering.n_clusters = numbers.next().unwrap_or(0) as usize;
        for number in numbers {
            core.push(number & CORE != 0);
            let label = (number & !CORE).checked_sub(1);
            clustering.labels.push(label.map(|index| ClusterId::from_index(index as usize)));
        }
    }
    clustering.labels.resize(n, None);
    core.resize(n, false);
    Dbscan { clustering, core }
}

/// Appends whose some bursts are.
pub(super) fn put_threads(bytes: &mut Vec<u8>, table: &BurstTable, rows: Range<usize>) {
    let threads: Vec<_> = table.threads_within(rows).collect();
    put_number(bytes, threads.len() as u64);
    for ((app, task, thread), bursts) in threads {
        put_numbers(bytes, [app.into(), task.into(), thread.into(), bursts.len() as u64]);
    }
}

/// The same as a table without other columns, and how many bursts there are.
pub(super) fn take_threads(taker: &mut Taker<'_>) -> Option<(BurstTable, usize)> {
    let (mut table, mut n) = (BurstTable::default(), 0usize);
    for _ in 0..taker.number()? {
        let [app, task, thread] = [taker.number()?, taker.number()?, taker.number()?].map(|of| of as u32);
        let own = taker.index()?;
        n = n.checked_add(own)?;
        table.app.push_run(app, own);
        table.task.push_run(task, own);
        table.thread.push_run(thread, own);
    }
    Some((table, n))
}
