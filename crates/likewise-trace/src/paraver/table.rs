//! Bursts by thread into one table by column.

use std::collections::{BTreeMap, BTreeSet};

use likewise::table::{BurstTable, CounterColumn, Nanos, Region};

use super::code::{self, Site};
use super::header::TimeUnit;
use super::pcf::Pcf;
use super::reader::ByThread;
use crate::error::ErrorKind;

/// A table may have so many cells for every counter that the trace really
/// holds: counters take turns, but not among thousands.
const MAX_SPARSITY: usize = 64;

/// Builds the table; `threads` are freed one by one on the way.
pub(crate) fn build(
    threads: ByThread,
    unit: TimeUnit,
    pcf: &Pcf,
    sites: &[Site],
    warnings: &mut Vec<String>,
) -> Result<BurstTable, ErrorKind> {
    let n: usize = threads.values().map(|b| b.begin.len()).sum();
    let pairs: usize = threads.values().map(|b| b.types.len()).sum();
    let types = event_types(&threads);
    if types.len().saturating_mul(n) > (MAX_SPARSITY * (n + pairs)).max(1 << 20) {
        let problem =
            format!("{} counters in {n} bursts, nearly all of them absent: not a trace", types.len());
        return Err(ErrorKind::Table(problem));
    }
    let mut table = BurstTable {
        app: Vec::with_capacity(n),
        task: Vec::with_capacity(n),
        thread: Vec::with_capacity(n),
        begin: Vec::with_capacity(n),
        duration: Vec::with_capacity(n),
        counters: columns(&types, n, pcf, warnings),
        code: None,
    };
    warnings.extend(inexact(&threads, pcf));
    let mut last: Vec<u32> = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    let (names, numbers) = code::places(sites, pcf);
    let mut regions: Vec<Region> = Vec::with_capacity(if names.is_empty() { 0 } else { n });
    for (who, bursts) in threads {
        if !names.is_empty() {
            regions.extend(bursts.regions(&numbers));
        }
        let mut start = 0;
        for i in 0..bursts.begin.len() {
            let row = table.begin.len();
            let (begin, end) = (bursts.begin[i], bursts.end[i]);
            let nanos = |time: u64| time.checked_mul(unit.nanos()).ok_or(ErrorKind::TimeOverflow);
            nanos(end)?;
            table.app.push(who.app);
            table.task.push(who.task);
            table.thread.push(who.thread);
            table.begin.push(Nanos(nanos(begin)?));
            table.duration.push(Nanos(nanos(end - begin)?));
            let range = start..start + bursts.n_counters[i] as usize;
            start = range.end;
            // Most bursts carry the counters of the one before.
            if bursts.types[range.clone()] != last {
                last.clear();
                last.extend_from_slice(&bursts.types[range.clone()]);
                places.clear();
                places.extend(last.iter().map(|t| types.binary_search(t).expect("every type was collected")));
            }
            for (&place, &sum) in places.iter().zip(&bursts.sums[range]) {
                table.counters[place].values[row] = sum as f64;
            }
        }
    }
    table.code = code::code(names, regions);
    Ok(table)
}

fn event_types(threads: &ByThread) -> Vec<u32> {
    let mut types = BTreeSet::new();
    for bursts in threads.values() {
        let mut last: &[u32] = &[];
        let mut start = 0;
        for &n in &bursts.n_counters {
            let these = &bursts.types[start..start + n as usize];
            start += n as usize;
            if these != last {
                types.extend(these);
                last = these;
            }
        }
    }
    types.into_iter().collect()
}

/// A warning if a sum may not be what its column holds.
fn inexact(threads: &ByThread, pcf: &Pcf) -> Option<String> {
    const EXACT: u64 = 1 << 53;
    let sums = threads.values().flat_map(|b| b.types.iter().zip(&b.sums));
    let mut beyond = sums.filter(|(_, sum)| sum.unsigned_abs() > EXACT);
    let (&first, _) = beyond.next()?;
    let (n, name) = (1 + beyond.count(), pcf.counter(first).name);
    let limits = "those beyond 2^63 stand as 2^63";
    Some(format!("counter sums beyond 2^53 are rounded, and {limits}: {n}, the first of '{name}'"))
}

fn columns(types: &[u32], n: usize, pcf: &Pcf, warnings: &mut Vec<String>) -> Vec<CounterColumn> {
    let mut taken: BTreeMap<String, u32> = BTreeMap::new();
    let mut columns = Vec::with_capacity(types.len());
    for &event_type in types {
        let mut counter = pcf.counter(event_type);
        if let Some(first) = taken.get(&counter.name) {
            let name = format!("{}_{event_type}", counter.name);
            let problem = format!("event types {first} and {event_type} are both called '{}'", counter.name);
            warnings.push(format!("{problem}; the second is shown as '{name}'"));
            counter.name = name;
        }
        taken.insert(counter.name.clone(), event_type);
        columns.push(CounterColumn { counter, values: vec![f64::NAN; n] });
    }
    columns
}
