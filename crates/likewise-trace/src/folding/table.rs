//! Bursts by thread into one table by column.

use std::collections::{BTreeMap, BTreeSet};

use likewise::table::{
    BurstTable, Code, Counter, CounterColumn, Nanos, PathId, PlaceId, Region, Regions, Runs, Values,
};
use likewise::words::{counted, grouped_digits};
use rayon::prelude::*;

use super::bursts::{Bursts, ByThread};
use super::cover::{Limits, MAX_PER_NANO};
use super::rows::{Missing, Rows, Rules, Told};
use crate::error::ErrorKind;

/// A table may have this many cells for every counter that the trace really
/// holds. Sets of counters take turns, so some cells are empty; but a trace
/// does not take turns among thousands of counters.
const MAX_SPARSITY: usize = 64;

/// If a counter is impossible in more than one burst of this many, it counted
/// something else in the other bursts too, and is left out. Of the traces at
/// hand, those of EPOCH and LULESH have no impossible count. That of OpenMP has
/// four counters with 1 in 80 to 1 in 110, which are 0 in nearly all others.
const FEW: u64 = 1_000;

/// What a format calls the numbers in its bursts.
pub(crate) struct Names<'n> {
    /// The counter of an event type.
    pub(crate) counter: &'n dyn Fn(u32) -> Counter,
    pub(crate) places: Places,
}

/// What the sites of a format are.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Names of places, ascending.
    pub(crate) names: Vec<String>,
    /// Which place each site is.
    pub(crate) of_sites: Vec<Option<PlaceId>>,
    /// The whole call path of each site that is a call. Sites of one place may have several.
    pub(crate) paths: Vec<Option<PathId>>,
}

/// Builds the table: times thread after thread, counters of threads in parallel. Times are in units of `unit` nanoseconds. What a thread has is freed
/// as soon as it is in the table, and no memory of the table is touched before
/// something is written there, so both together take little more than the table.
pub(crate) fn build(
    mut threads: ByThread,
    unit: u64,
    limits: Limits,
    names: Names<'_>,
    warnings: &mut Vec<String>,
) -> Result<BurstTable, ErrorKind> {
    let n: usize = threads.values().map(|b| b.begin.len()).sum();
    let pairs: usize = threads.values().map(|b| b.sums.len()).sum();
    let types = event_types(&threads);
    // A small table may be as sparse as it likes: 1 << 20 cells are 8 MB at most.
    if types.len().saturating_mul(n) > (MAX_SPARSITY * (n + pairs)).max(1 << 20) {
        let problem =
            format!("{} counters in {n} bursts, nearly all of them absent: not a trace", types.len());
        return Err(ErrorKind::Table(problem));
    }
    let small = small(&threads, &types);
    let mut counters = columns(&types, &small, n, &names, warnings);
    warnings.extend(inexact(&threads, limits, &names));
    let places = names.places;
    let mut table = BurstTable {
        app: Runs::default(),
        task: Runs::default(),
        thread: Runs::default(),
        begin: Vec::with_capacity(n),
        duration: Vec::with_capacity(n),
        counters: Vec::new(),
        code: None,
    };
    let mut regions = Regions::with_room(if places.names.is_empty() { 0 } else { n });
    for (who, bursts) in &mut threads {
        let n = bursts.begin.len();
        table.app.push_run(who.app, n);
        table.task.push_run(who.task, n);
        table.thread.push_run(who.thread, n);
        let of_thread = bursts.take_regions(&places);
        let add_regions = || {
            if !places.names.is_empty() {
                regions.extend(of_thread);
            }
        };
        rayon::join(add_regions, || move_times(bursts, unit, &mut table)).1?;
    }
    let at_begins = threads.values().any(|bursts| bursts.read_at_begin > 0);
    let rules = Rules { types: &types, at_begins };
    let mut rest = Rows { counters: counters.iter_mut().map(|column| column.values.rows_mut()).collect() };
    let of_thread = |bursts: Bursts| (rest.take(bursts.runs.len()), bursts);
    let filled: Vec<(Rows<'_>, Bursts)> = threads.into_values().map(of_thread).collect();
    let told: Vec<Told> =
        filled.into_par_iter().map(|(mut rows, bursts)| rows.fill(&bursts, &rules)).collect();
    table.counters = counters;
    let mut missing = vec![Missing::default(); types.len()];
    for (sum, own) in told.iter().flat_map(|told| (0..).zip(&told.missing)) {
        let sum: &mut Missing = &mut missing[sum];
        sum.impossible += own.impossible;
        sum.part += own.part;
    }
    let since_end: u64 = told.iter().map(|told| told.since_end).sum();
    table.code = code(places.names, regions);
    for (column, missing) in table.counters.iter_mut().zip(&missing) {
        warnings.extend(without_impossible(column, missing.impossible, " since the burst began"));
    }
    warnings.extend(parts(&table.counters, &missing));
    let known = |column: &CounterColumn| column.values.iter().filter(|value| !value.is_nan()).count() as u64;
    if since_end > 0 && n > 1 {
        let all: u64 = table.counters.par_iter().map(known).sum();
        warnings.push(if since_end >= all {
            "each count includes what the thread did since the burst before: its counter is not read when the burst begins"
                .to_owned()
        } else {
            format!(
                "{} of {} are of counters that were not read when the burst began: each includes what the thread did since \
                 they were last read",
                grouped_digits(since_end),
                counted(all, "count")
            )
        });
    }
    Ok(table)
}

/// Appends the times of a thread's bursts, and frees them.
fn move_times(bursts: &mut Bursts, unit: u64, table: &mut BurstTable) -> Result<(), ErrorKind> {
    let (begin, end) = (std::mem::take(&mut bursts.begin), std::mem::take(&mut bursts.end));
    // No burst begins after its end, so no other time is larger.
    let last = end.iter().max().copied().unwrap_or(0);
    last.checked_mul(unit).ok_or(ErrorKind::TimeOverflow)?;
    let (begins, durations) = (&mut table.begin, &mut table.duration);
    rayon::join(
        || begins.extend(begin.iter().map(|&begin| Nanos(begin * unit))),
        || durations.extend(begin.iter().zip(&end).map(|(&begin, &end)| Nanos((end - begin) * unit))),
    );
    Ok(())
}

/// The counts that are missing because their counters were not read when the burst began or ended.
fn parts(counters: &[CounterColumn], missing: &[Missing]) -> Option<String> {
    let mut by_number: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for (column, missing) in counters.iter().zip(missing).filter(|(_, missing)| missing.part > 0) {
        by_number.entry(missing.part).or_default().push(&column.counter.name);
    }
    let of = |(n, names): (&u64, &Vec<&str>)| {
        let shown = if names.len() > 8 { format!("{} counters", names.len()) } else { names.join(", ") };
        format!("{shown} in {n} burst{}", if *n == 1 { "" } else { "s" })
    };
    let said: Vec<String> = by_number.iter().rev().map(of).collect();
    let why = "the counter was not read when the burst began or when it ended, or its set changed within";
    (!said.is_empty())
        .then(|| format!("counts that are not of their burst alone are missing ({why}): {}", said.join("; ")))
}

/// The note on `n` impossible counts of a column, which are already missing.
/// If they are many, the other counts of the column are removed too. `since` completes the
/// reason: since when so much was counted, if it was not over the whole burst.
pub(crate) fn without_impossible(column: &mut CounterColumn, n: u64, since: &str) -> Option<String> {
    if n == 0 {
        return None;
    }
    let good = column.values.iter().filter(|x| !x.is_nan()).count() as u64;
    let name = &column.counter.name;
    // A single impossible count may be an accident, even in a short trace.
    let many = n > 1 && n > (n + good) / FEW;
    if many {
        column.values.clear();
    }
    let (bursts, of) = (if n == 1 { "burst" } else { "bursts" }, n + good);
    let what = format!("the counts of '{name}' are impossible in {n} {bursts} of {of}");
    let why = format!("negative, or over {MAX_PER_NANO} a nanosecond{since}");
    Some(if many {
        format!("{what} ({why}): so many that the counter is left out")
    } else {
        format!("{what} ({why}); they are missing there")
    })
}

fn event_types(threads: &ByThread) -> Vec<u32> {
    let mut types = BTreeSet::new();
    for bursts in threads.values() {
        bursts.runs.iter().for_each(|(_, these)| types.extend(these));
    }
    types.into_iter().collect()
}

/// A warning if a sum is larger than its column can hold exactly. Such counts
/// of hardware are impossible, and another note reports them.
fn inexact(threads: &ByThread, limits: Limits, names: &Names<'_>) -> Option<String> {
    const EXACT: u64 = 1 << 53;
    let mut beyond: Vec<u32> = Vec::new();
    for bursts in threads.values() {
        let mut start = 0;
        for (n, types) in bursts.runs.iter() {
            let pairs = start..start + n * types.len();
            start = pairs.end;
            if !types.iter().all(|&t| (limits.hardware)(t)) {
                let large = |&(&t, sum): &(&u32, i64)| sum.unsigned_abs() > EXACT && !(limits.hardware)(t);
                let sums = pairs.map(|pair| bursts.sums.get(pair));
                beyond.extend(types.iter().cycle().zip(sums).filter(large).map(|(&t, _)| t));
            }
        }
    }
    let &first = beyond.first()?;
    let (n, name) = (beyond.len(), (names.counter)(first).name);
    let limits = "those beyond 2^63 stand as 2^63";
    Some(format!("sums beyond 2^53 are rounded, and {limits}: {n}, the first of '{name}'"))
}

/// Of which columns four bytes hold every count that is its burst's.
fn small(threads: &ByThread, types: &[u32]) -> Vec<bool> {
    let in_thread = |bursts: &Bursts| {
        let mut small = vec![true; types.len()];
        bursts.large(u64::from(Values::MOST_IN_FOUR_BYTES), |t| {
            small[types.binary_search(&t).expect("every type was collected")] = false;
        });
        small
    };
    let both = |a: Vec<bool>, b: Vec<bool>| a.into_iter().zip(b).map(|(a, b)| a && b).collect();
    threads.par_iter().map(|(_, bursts)| in_thread(bursts)).reduce(|| vec![true; types.len()], both)
}

fn columns(
    types: &[u32],
    small: &[bool],
    n: usize,
    names: &Names<'_>,
    warnings: &mut Vec<String>,
) -> Vec<CounterColumn> {
    let mut taken: BTreeMap<String, u32> = BTreeMap::new();
    let mut columns = Vec::with_capacity(types.len());
    for (&event_type, &small) in types.iter().zip(small) {
        let mut counter = (names.counter)(event_type);
        if let Some(first) = taken.get(&counter.name) {
            let name = format!("{}_{event_type}", counter.name);
            let problem = format!("event types {first} and {event_type} are both called '{}'", counter.name);
            warnings.push(format!("{problem}; the second is shown as '{name}'"));
            counter.name = name;
        }
        taken.insert(counter.name.clone(), event_type);
        // Their values are written thread by thread.
        columns.push(CounterColumn { counter, values: Values::zeros(n, small) });
    }
    columns
}

/// The code of a table, unless no burst has any.
pub(crate) fn code(places: Vec<String>, regions: Regions) -> Option<Code> {
    let any = regions.list().iter().any(|region| *region != Region::default());
    any.then_some(Code { places, regions, parallel: false })
}
