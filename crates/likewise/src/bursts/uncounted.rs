//! What bursts without counters stand for.

use std::collections::BTreeMap;
use std::ops::Range;

use super::in_time::by_begin;
use crate::cluster::ClusterId;
use crate::table::{BurstTable, Nanos};

/// The phases of bursts, where those that lack counters stand in for what their thread lacks.
///
/// `phase` has the phase of every burst of the table, and `is_uncounted` says which bursts have none
/// because they lack the counters that would tell it. `shortest` is how long bursts must be that are
/// looked at, and `part` the time that they must be in.
///
/// Between two moments at which no thread computes, most threads (more than half) do a phase equally
/// often. If a thread does one such phase less often, and has just as many bursts without counters
/// there, these are that phase. Of a thread that lacks several phases nothing tells which is which.
///
/// # Complexity
/// O(n log n) for n bursts; O(n) if none lacks counters.
#[must_use]
pub fn stand_ins(
    table: &BurstTable,
    phase: &[Option<ClusterId>],
    is_uncounted: impl Fn(usize) -> bool + Sync,
    (shortest, part): (Nanos, &Range<Nanos>),
) -> Vec<Option<ClusterId>> {
    let mut found = phase.to_vec();
    let is_long = |i: usize| table.duration[i] >= shortest.max(Nanos(1));
    let is_inside = |i: usize| table.begin[i] >= part.start && table.end(i) <= part.end;
    let counts = |i: usize| is_long(i) && is_inside(i);
    if !(0..table.len()).any(|i| is_uncounted(i) && counts(i)) {
        return found;
    }
    let mut thread = vec![0; table.len()];
    let mut n_threads = 0;
    for (_, rows) in table.threads() {
        thread[rows].fill(n_threads);
        n_threads += 1;
    }
    let order = by_begin(table, counts);
    let mut bounds = vec![0];
    let mut end = Nanos::ZERO;
    for (at, &burst) in order.iter().enumerate() {
        if at > 0 && table.begin[burst as usize] > end {
            bounds.push(at);
        }
        end = end.max(table.end(burst as usize));
    }
    bounds.push(order.len());
    for stretch in bounds.windows(2).map(|bounds| &order[bounds[0]..bounds[1]]) {
        let mut lacking: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for i in stretch.iter().map(|&burst| burst as usize).filter(|&i| is_uncounted(i)) {
            lacking.entry(thread[i]).or_default().push(i);
        }
        if lacking.is_empty() {
            continue;
        }
        let usual = usual(stretch, phase, &thread, n_threads);
        for (thread, bursts) in lacking {
            let lacks = |(_, often, by): &&Usual| *often > by.get(&thread).copied().unwrap_or(0);
            let mut lacked = usual.iter().filter(lacks);
            let (Some((id, often, by)), None) = (lacked.next(), lacked.next()) else { continue };
            if *often - by.get(&thread).copied().unwrap_or(0) == bursts.len() {
                bursts.into_iter().for_each(|i| found[i] = Some(*id));
            }
        }
    }
    found
}

/// A phase, how often most threads do it, and how often each that does it.
type Usual = (ClusterId, usize, BTreeMap<u32, usize>);

/// The phases of a stretch that more than half of all threads do equally often.
fn usual(stretch: &[u32], phase: &[Option<ClusterId>], thread: &[u32], n_threads: u32) -> Vec<Usual> {
    let mut by_phase: BTreeMap<ClusterId, BTreeMap<u32, usize>> = BTreeMap::new();
    for i in stretch.iter().map(|&burst| burst as usize) {
        if let Some(id) = phase[i] {
            *by_phase.entry(id).or_default().entry(thread[i]).or_insert(0) += 1;
        }
    }
    let often = |by: &BTreeMap<u32, usize>| {
        let mut counts: Vec<usize> = by.values().copied().collect();
        counts.sort_unstable();
        let most = counts.chunk_by(|a, b| a == b).max_by_key(|same| same.len())?;
        (2 * most.len() > n_threads as usize).then_some(most[0])
    };
    by_phase.into_iter().filter_map(|(id, by)| Some((id, often(&by)?, by))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four threads do phase 1 and then phase 2, and wait for one another behind each; then come the
    /// phases of the bursts that the last thread has in the place of these, of so many ns.
    fn last_thread(bursts: [(Option<usize>, u64); 2]) -> [Option<usize>; 2] {
        let id = |phase: usize| ClusterId::from_index(phase);
        let usual = [(Some(0), 100), (Some(1), 100)];
        let all = [usual, usual, usual, bursts];
        let table = BurstTable {
            app: vec![1; 8].into(),
            task: (1..=4).flat_map(|task| [task; 2]).collect(),
            thread: vec![1; 8].into(),
            begin: [0, 1_000].repeat(4).into_iter().map(Nanos).collect(),
            duration: all.iter().flatten().map(|burst| Nanos(burst.1)).collect(),
            ..BurstTable::default()
        };
        let phase: Vec<Option<ClusterId>> = all.iter().flatten().map(|burst| burst.0.map(id)).collect();
        let found = stand_ins(&table, &phase, |i| phase[i].is_none(), (Nanos(10), &(Nanos(0)..Nanos(2_000))));
        assert_eq!(found[..6], phase[..6]);
        [found[6], found[7]].map(|phase| phase.map(ClusterId::index))
    }

    /// "Phase 2: the slowest is 67.5% above the mean" was told of a step that six of 48 tasks did
    /// in bursts without counters.
    #[test]
    fn a_burst_without_counters_is_the_phase_that_its_thread_lacks() {
        assert_eq!(last_thread([(Some(0), 100), (None, 150)]), [Some(0), Some(1)]);
        assert_eq!(last_thread([(None, 150), (None, 150)]), [Some(0), Some(1)]);
        // Short ones are of no step, and none is of a phase that its thread does not lack.
        assert_eq!(last_thread([(Some(0), 100), (None, 9)]), [Some(0), None]);
        assert_eq!(last_thread([(Some(0), 900), (None, 150)]), [Some(0), Some(1)]);
        // Where no moment parts the steps, it lacks two, and nothing tells which is which.
        assert_eq!(last_thread([(None, 1_000), (None, 150)]), [None, None]);
        assert_eq!(last_thread([(Some(1), 1_000), (None, 150)]), [Some(1), Some(0)]);
    }
}
