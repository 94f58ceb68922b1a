//! The reader against a slow, obvious twin: all records in memory, sorted,
//! and every burst's sum taken over all of them.

mod counts;
mod ends;
mod sets;
mod shapes;
mod streams;

use super::super::spread;
use super::*;
use crate::error::SpreadError;
use crate::folding::steps::SET_CHANGE;
use crate::trace::{Untraced, UntracedBy};
use likewise::comm::run_on_threads;
use likewise::table::{BurstTable, PlaceId};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::Write;

const OPENS: u32 = 60_000_001;

const CALLER: u32 = 70_000_001;
const LINE: u32 = 80_000_001;
const FUNCTION: u32 = 60_000_019;

/// Names of the call before, the call after and the function.
type Places = [Option<String>; 3];

/// Thread, begin, end, sums by type, and code.
type Burst = (Who, u64, u64, BTreeMap<u32, i64>, Places);

/// How a count of the twin goes with its burst.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Good,
    SinceEnd,
    Part,
    Impossible,
}

/// Sums by type, with what they are.
type Sums = BTreeMap<u32, (i128, Kind)>;

fn twin(text: &str, burst_events: bool) -> Vec<Burst> {
    let mut threads: BTreeMap<Who, Vec<Vec<i128>>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<i128> = line.split(':').map(|f| f.parse().unwrap()).collect();
        let who = Who { app: fields[2] as u32, task: fields[3] as u32, thread: fields[4] as u32 };
        threads.entry(who).or_default().push(fields);
    }
    let mut bursts = Vec::new();
    let mut at_begins = false;
    for (who, mut records) in threads {
        records.sort_by_key(|r| r[5]);
        // Time and, where a burst begins, its stated end.
        let mut boundaries: Vec<(u64, Option<Option<u64>>)> = Vec::new();
        let mut events: Vec<(u64, u32, i128)> = Vec::new();
        // Calls by name; functions entered, or left.
        let mut calls: Vec<(u64, String)> = Vec::new();
        let mut functions: Vec<(u64, i64)> = Vec::new();
        let mut last = 0;
        for r in &records {
            let time = r[5] as u64;
            if r[0] == 1 && !burst_events && (r[5] != r[6] || r[7] == 1) {
                boundaries.push((time, (r[7] == 1).then(|| u64::try_from(r[6]).ok())));
                last = time;
            }
            for pair in r[6..].chunks(2).filter(|_| r[0] == 2) {
                let event_type = pair[0] as u32;
                if event_type == OPENS && burst_events {
                    boundaries.push((time, (pair[1] != 0).then_some(None)));
                    last = time;
                }
                if [42, 44, 46].contains(&(event_type / 1_000_000)) || event_type == SET_CHANGE {
                    events.push((time, event_type, pair[1]));
                    last = time;
                }
                if event_type == FUNCTION {
                    functions.push((time, pair[1] as i64));
                    last = time;
                }
            }
            let value = |event_type: u32| {
                let pairs = r[6..].chunks(2).filter(|_| r[0] == 2);
                pairs.filter(|p| p[0] == i128::from(event_type) && p[1] != 0).map(|p| p[1]).next()
            };
            if let Some(function) = value(CALLER) {
                calls.push((
                    time,
                    value(LINE).map_or(format!("{function}"), |line| format!("{function}:{line}")),
                ));
                last = time;
            }
        }
        let mut after = None;
        for (i, &(begin, open)) in boundaries.iter().enumerate() {
            let Some(stated) = open else { continue };
            let next = boundaries.get(i + 1).map(|b| b.0);
            let end = stated.or(next).unwrap_or(last.max(100));
            let end = next.map_or(end, |n| end.min(n));
            let code = code_of(&calls, &functions, begin, end);
            let (sums, read) = sums(&events, begin, end, after);
            at_begins |= read;
            bursts.push((who, begin, end, sums, code));
            after = Some(end);
        }
    }
    only_good(bursts, at_begins)
}

/// Without the sums that are none.
fn only_good(bursts: Vec<(Who, u64, u64, Sums, Places)>, at_begins: bool) -> Vec<Burst> {
    let good = |kind: Kind| kind == Kind::Good || kind == Kind::SinceEnd && !at_begins;
    let count = |event_type: u32, wanted: &dyn Fn(Kind) -> bool| {
        bursts.iter().filter(|b| b.3.get(&event_type).is_some_and(|s| wanted(s.1))).count()
    };
    let left_out = |event_type: u32| {
        let n = count(event_type, &|kind| kind == Kind::Impossible);
        n > 1 && n > (n + count(event_type, &good)) / 1000
    };
    let kept = |sums: &Sums| {
        let kept = sums.iter().filter(|(t, (_, kind))| good(*kind) && !left_out(**t));
        kept.map(|(&t, &(sum, _))| (t, sum as i64)).collect()
    };
    bursts.iter().map(|b| (b.0, b.1, b.2, kept(&b.3), b.4.clone())).collect()
}

/// Sums of `begin < t ≤ end`, and whether any began at `begin`, some time after
/// the burst before, which ended at `after`.
fn sums(events: &[(u64, u32, i128)], begin: u64, end: u64, after: Option<u64>) -> (Sums, bool) {
    let inside: Vec<usize> =
        (0..events.len()).filter(|&e| begin < events[e].0 && events[e].0 <= end).collect();
    let change = inside.iter().position(|&e| events[e].0 == end && events[e].1 == SET_CHANGE);
    let counted = inside[..change.unwrap_or(inside.len())].iter().copied();
    let counted: Vec<usize> = counted.filter(|&e| events[e].1 != SET_CHANGE).collect();
    let at_end: Vec<u32> = counted.iter().filter(|&&e| events[e].0 == end).map(|&e| events[e].1).collect();
    let (mut sums, mut at_begin) = (Sums::new(), false);
    let mut types: Vec<u32> = counted.iter().map(|&e| events[e].1).collect();
    types.sort_unstable();
    types.dedup();
    for event_type in types.into_iter().filter(|t| at_end.is_empty() || at_end.contains(t)) {
        let since = |e: usize| {
            let before = events[..e].iter().filter(|b| b.1 == event_type || b.1 == SET_CHANGE);
            before.map(|b| b.0).max()
        };
        let reads: Vec<usize> = counted.iter().copied().filter(|&e| events[e].1 == event_type).collect();
        let first = since(reads[0]);
        let gap = at_end.is_empty() || reads.windows(2).any(|pair| since(pair[1]) != Some(events[pair[0]].0));
        let fits = |e: usize, since: u64| {
            (0..=100 * (i128::from(events[e].0 - since) + 1000)).contains(&events[e].2)
        };
        let rest = reads[1..].iter().all(|&e| fits(e, begin));
        let kind = match first {
            _ if gap => Kind::Part,
            Some(first) if first > begin || first < begin && after.is_some_and(|a| first < a) => Kind::Part,
            None if after.is_some() => Kind::Part,
            _ if rest && fits(reads[0], begin) && first == after.filter(|a| *a < begin) => Kind::SinceEnd,
            _ if rest && fits(reads[0], begin) => Kind::Good,
            _ if rest && fits(reads[0], first.unwrap_or(0)) => Kind::Part,
            _ => Kind::Impossible,
        };
        at_begin |= !gap && first == Some(begin) && after.is_some_and(|a| a < begin);
        sums.insert(event_type, (reads.iter().map(|&e| events[e].2).sum(), kind));
    }
    (sums, at_begin)
}

fn code_of(calls: &[(u64, String)], functions: &[(u64, i64)], begin: u64, end: u64) -> Places {
    if begin == end {
        return [None, None, None];
    }
    let before = calls.iter().rev().find(|call| call.0 <= begin);
    let after = calls.iter().find(|call| call.0 >= end);
    let name = |call: Option<&(u64, String)>| call.map(|call| call.1.clone());
    let mut stack = Vec::new();
    for &(_, value) in functions.iter().filter(|f| f.0 < end) {
        if value == 0 {
            stack.pop();
        } else {
            stack.push(value.to_string());
        }
    }
    [name(before), name(after), stack.pop()]
}

fn bursts_of(table: &BurstTable) -> Vec<Burst> {
    let burst = |i: usize| {
        let carried = table.counters.iter().filter(|c| !c.values.get(i).is_nan());
        let sums = carried.map(|c| (c.counter.event_type.unwrap(), c.values.get(i) as i64)).collect();
        let who = Who { app: table.app[i], task: table.task[i], thread: table.thread[i] };
        let region = table.code.as_ref().map(|code| code.regions.get(i)).unwrap_or_default();
        let name = |place: Option<PlaceId>| Some(table.code.as_ref()?.name(place?).to_owned());
        let code = [region.before, region.after, region.function].map(name);
        (who, table.begin[i].0, table.end(i).0, sums, code)
    };
    (0..table.len()).map(burst).collect()
}

#[derive(Clone, Debug)]
struct Line {
    time: u64,
    text: String,
}

/// One record at `time`; `a` and `b` vary it.
fn line(thread: usize, time: u64, kind: u32, a: u64, b: i64) -> Line {
    const TYPES: [u32; 6] = [42_000_050, 42_000_059, 44_000_001, 46_000_001, 43_000_050, 50_000_001];
    let who = ["1:1:1", "1:2:1", "1:2:2", "2:1:1"][thread];
    let head = |k| format!("{k}:0:{who}:{time}");
    let counter = TYPES[a as usize % TYPES.len()];
    let text = match kind {
        0..=2 => format!("{}:{}:1", head(1), time + a),
        3 => format!("{}:{}:15", head(1), time + a),
        4 => format!("{}:-1:{}", head(1), 1 + a % 2),
        5 => format!("{}:{SET_CHANGE}:1:{counter}:{b}", head(2)),
        6 => format!("{}:{counter}:{b}:{SET_CHANGE}:1", head(2)),
        7 => format!("{}:{OPENS}:{}:{counter}:{b}", head(2), a % 3),
        8 => format!("{}:{OPENS}:0:{OPENS}:{}", head(2), a % 3),
        9 => format!("{}:{counter}:1:{CALLER}:{a}:{LINE}:{b}", head(2)),
        10 => format!("{}:{FUNCTION}:{}", head(2), b % 3),
        11 => format!("{}:{FUNCTION}:0:{CALLER}:3:{FUNCTION}:{b}", head(2)),
        12 if b == 7 => format!("{}:{counter}:{}", head(2), u64::MAX - a),
        12 if b == 8 => format!("{}:{counter}:{}", head(2), 100_000 + 100 * a),
        _ => format!("{}:{counter}:{b}:{}:{}:{counter}:1", head(2), TYPES[b as usize % 4], b + 1),
    };
    Line { time, text }
}

fn lines(n: usize) -> impl Strategy<Value = Vec<Line>> {
    let line =
        (0..4usize, 0..30u64, 0..17u32, 0..7u64, 0..9i64).prop_map(|(w, t, k, a, b)| line(w, t, k, a, b));
    prop::collection::vec(line, 0..n)
}

fn trace(lines: &[Line]) -> String {
    let mut text = String::from("#Paraver (x):100_ns:0:2:2(1:1,2:1):1(1:1)\n");
    for line in lines {
        text.push_str(&line.text);
        text.push('\n');
    }
    text
}

fn check(lines: &[Line]) {
    let text = trace(lines);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    for by_events in [false, true] {
        let burst_events = if by_events { vec![OPENS] } else { Vec::new() };
        let options = ReadOptions { burst_events, apps: Apps::All, ..ReadOptions::default() };
        let expected = twin(&text, by_events);
        for block in [1, 64, 200, 1 << 20] {
            let input = Input::open(file.path()).unwrap();
            let got = read(input, &options, block).unwrap();
            assert_eq!(bursts_of(&got.table), expected, "block {block}, by events {by_events}:\n{text}");
        }
        let alone = read(Input::open(file.path()).unwrap(), &options, 1 << 20).unwrap();
        for size in [2, 3, 8] {
            let told = spread_over(size, file.path(), &options);
            assert_eq!(told, Some(format!("{alone:?}")), "{size} processes, by events {by_events}:\n{text}");
        }
    }
}

/// A run of many tasks is read in larger blocks, and gives the same.
#[test]
fn blocks_grow_with_the_threads() {
    let rows = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap()
        .install(|| [1, 64, 1_310, 1_311, 5_000, usize::MAX].map(|n| joined_blocks(n, None)));
    assert_eq!(rows, [1, 1, 1, 2, 4, MOST_BLOCKS]);
    let of_few = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap()
        .install(|| [0, 15, 16, 31, 1_000].map(|blocks| joined_blocks(5_000, Some(blocks))));
    assert_eq!(of_few, [1, 1, 2, 3, 4], "each thread has four blocks at least");
    let tasks = 5_000;
    let list: Vec<&str> = vec!["1:1"; tasks];
    let mut text = format!("#Paraver (x):900_us:0:1:{tasks}({})\n", list.join(","));
    for time in 0..4 {
        for task in 1..=tasks {
            text.push_str(&format!("1:{task}:1:{task}:1:{}:{}:1\n", 10 * time, 10 * time + 9));
        }
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let [small, joined] = [64, 4_096]
        .map(|block| read(Input::open(file.path()).unwrap(), &ReadOptions::default(), block).unwrap().table);
    assert_eq!(small.len(), 4 * tasks);
    assert_eq!(bursts_of(&small), bursts_of(&joined));
}

/// What process 0 of so many reads, if they read by pieces.
fn spread_over(size: usize, path: &Path, options: &ReadOptions<'_>) -> Option<String> {
    let read = run_on_threads(size, |comm| match spread::read(comm, path, options, 64) {
        Ok(trace) => Ok(trace),
        Err(SpreadError::Comm(error)) => Err(error),
        Err(error) => panic!("{error}"),
    });
    let mut read = read.unwrap().into_iter();
    let first = read.next().unwrap();
    assert!(read.all(|other| other.is_some() == first.is_some() && other.flatten().is_none()));
    first.map(|trace| format!("{:?}", trace.expect("process 0 has the trace")))
}

#[test]
fn what_needs_the_number_of_a_line_is_read_by_one() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let good: String = (0..50).map(|i| format!("1:1:1:1:1:{i}:{}:1\n", i + 1)).collect();
    let lenient = ReadOptions { lenient: true, ..ReadOptions::default() };
    write!(file, "{HEAD}{good}").unwrap();
    assert!(spread_over(3, file.path(), &lenient).is_some());
    writeln!(file, "5:9:9").unwrap();
    assert_eq!(spread_over(3, file.path(), &lenient), None, "a record of no known kind");
    writeln!(file, "1:1:1:1:1:60:51:1").unwrap();
    for options in [&lenient, &ReadOptions::default()] {
        assert_eq!(spread_over(3, file.path(), options), None, "a malformed record");
    }
    let table = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(table.path(), "task,thread,begin_ns,duration_ns\n1,1,0,5\n").unwrap();
    assert_eq!(spread_over(2, table.path(), &lenient), None, "a table");
}

/// A parallel region in the last piece alone starts the reading again everywhere. Pieces are
/// untraced at different times.
#[test]
fn a_region_of_openmp_is_seen_by_all() {
    let mut text = String::from(HEAD);
    for i in 0..100 {
        let off = if i % 30 == 10 {
            format!("1:1:1:1:1:{}:{}:14\n", 10 * i + 9, 10 * i + 10)
        } else {
            String::new()
        };
        text.push_str(&format!("1:1:1:1:1:{}:{}:1\n{off}", 10 * i, 10 * i + 9));
    }
    text.push_str(
        "2:1:1:1:1:2000:60000018:7:60000118:12\n1:1:1:1:1:2000:2010:1\n2:1:1:1:1:2010:60000018:0\n",
    );
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let options = ReadOptions::default();
    let alone = read(Input::open(file.path()).unwrap(), &options, 64).unwrap();
    assert!(alone.report.warnings.iter().any(|warning| warning.starts_with("OpenMP")), "{alone:?}");
    assert_eq!(alone.report.untraced.map(|untraced| untraced.time), Some(Nanos(3_000)));
    assert_eq!(spread_over(4, file.path(), &options), Some(format!("{alone:?}")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_block_size_agrees_with_the_twin(mut lines in lines(60)) {
        lines.sort_by_key(|l| l.time);
        check(&lines);
    }

    #[test]
    fn pieces_in_any_order_agree_with_the_twin(
        mut lines in lines(60),
        cuts in prop::collection::vec(0..30u64, 1..4),
        order in prop::collection::vec(any::<u8>(), 5),
    ) {
        lines.sort_by_key(|l| l.time);
        let piece = |time: u64| cuts.iter().filter(|&&c| c <= time).count();
        lines.sort_by_key(|l| (order[piece(l.time)], piece(l.time)));
        check(&lines);
    }

    #[test]
    fn records_in_no_order_agree_with_the_twin(mut lines in lines(40), order in prop::collection::vec(any::<u8>(), 40)) {
        // One record a time, since the order within a time has a meaning.
        lines.sort_by_key(|l| l.time);
        lines.dedup_by_key(|l| l.time);
        let mut keyed: Vec<_> = lines.into_iter().zip(order).collect();
        keyed.sort_by_key(|k| k.1);
        check(&keyed.into_iter().map(|k| k.0).collect::<Vec<_>>());
    }
}

fn read_text(text: &str, options: &ReadOptions<'_>) -> Result<Trace> {
    read(Input::from_bytes(text.as_bytes()), options, 64)
}

const HEAD: &str = "#Paraver (x):100_us:0:2:1(1:1),1:1(2:1),1\n";

#[test]
fn many_types_and_a_long_prefix_are_summed_exactly() {
    let mut text = format!("{HEAD}1:1:1:1:1:0:90:1\n");
    for round in 1..4 {
        for i in 0..1000 {
            text.push_str(&format!("2:1:1:1:1:{}:{}:{i}\n", round * 30, 42_000_000 + i * 7));
        }
    }
    let table = read_text(&text, &ReadOptions::default()).unwrap().table;
    assert_eq!(table.counters.len(), 1000);
    assert!((0..1000).all(|i| table.counters[i].values.iter().eq([3.0 * i as f64])));
}

/// What is read of one burst of 10 µs with those events, and what is said of
/// counters.
fn read_burst(events: &[(u64, u32, i128)]) -> (f64, Vec<String>) {
    let mut text = format!("{HEAD}1:1:1:1:1:0:10:1\n");
    for (time, event_type, value) in events {
        text.push_str(&format!("2:1:1:1:1:{time}:{event_type}:{value}\n"));
    }
    let options = ReadOptions { counters: vec![50_100_001], ..ReadOptions::default() };
    let trace = read_text(&text, &options).unwrap();
    (trace.table.counters[0].values.get(0), trace.report.warnings)
}

#[test]
fn sums_that_are_not_exact_are_said() {
    // No counter of hardware: any value may be.
    let read = |values: &[(u64, i64)]| {
        let events: Vec<_> = values.iter().map(|&(time, value)| (time, 50_100_001, value.into())).collect();
        let (sum, said) = read_burst(&events);
        (sum, said.into_iter().filter(|w| w.starts_with("sums")).collect::<Vec<_>>())
    };
    // What goes over the limit on the way and comes back is exact.
    assert_eq!(read(&[(1, i64::MAX), (2, i64::MAX), (3, -i64::MAX), (10, 5 - i64::MAX)]), (5.0, vec![]));
    assert_eq!(read(&[(1, 1 << 52), (10, 1 << 52)]), ((1u64 << 53) as f64, vec![]));
    let (sum, said) = read(&[(1, 1 << 53), (10, 1)]);
    assert_eq!(sum, (1u64 << 53) as f64);
    let text = "sums beyond 2^53 are rounded, and those beyond 2^63 stand as 2^63: 1, the first of";
    assert_eq!(said, [format!("{text} '50100001'")]);
    let (sum, said) = read(&[(1, i64::MAX), (10, i64::MAX)]);
    assert_eq!((sum, said.len()), (i64::MAX as f64, 1));
}

#[test]
fn counts_that_cannot_be_are_missing_and_said() {
    // 10 µs, and 1 µs for reading the counter.
    assert_eq!(read_burst(&[(10, 42_000_050, 1_100_000)]).0, 1_100_000.0);
    for value in [1_100_001, i128::from(u64::MAX), -1] {
        let (count, said) = read_burst(&[(10, 42_000_050, value)]);
        assert!(count.is_nan(), "{value}: {count}");
        let expected = "the counts of '42000050' are impossible in 1 burst of 1 (negative, or over 100 a \
                        nanosecond since the burst began); they are missing there";
        assert!(said.contains(&expected.to_owned()), "{said:?}");
    }
}

#[test]
fn a_counter_that_is_often_impossible_is_left_out() {
    let read = |n: u64, every: u64| {
        let mut text = format!("{HEAD}2:1:1:1:1:0:42000050:0:42000059:0\n");
        for i in 0..n {
            let count = if i % every == 1 { u64::MAX } else { 7 };
            let (begin, end) = (10 * i, 10 * (i + 1));
            text.push_str(&format!(
                "1:1:1:1:1:{begin}:{end}:1\n2:1:1:1:1:{end}:42000050:{count}:42000059:9\n"
            ));
        }
        let table = read_text(&text, &ReadOptions::default()).unwrap().table;
        let carried = |c: usize| table.counters[c].values.iter().filter(|x| !x.is_nan()).count() as u64;
        (carried(0), carried(1))
    };
    assert_eq!(read(4_000, 1_000), (3_996, 4_000));
    assert_eq!(read(4_000, 999), (0, 4_000));
    assert_eq!(read(40, 50), (39, 40), "one alone may happen");
}

#[test]
fn states_that_overlap_or_end_late_are_counted() {
    let state = |begin: u64, end: u64| format!("1:1:1:1:1:{begin}:{end}:1\n");
    let event = |time: u64, count: u64| format!("2:1:1:1:1:{time}:42000050:{count}\n");
    let first = format!("{}{}{}{}", state(0, 10), event(5, 0), state(5, 20), event(20, 7));
    let text = format!("{HEAD}{first}{}{}", state(20, 30), state(25, 101));
    let both =
        "test.prv: 2 Running states overlap the next state of their thread; each ends where that begins";
    let late = "test.prv: 1 burst ends after the end of the trace that its header gives, 100 µs; the trace ends with the last of them, at 101 µs";
    for block in [1, 40, 1 << 20] {
        let input = Input::from_bytes(text.as_bytes());
        let trace = read(input, &ReadOptions::default(), block).unwrap();
        assert_eq!(trace.report.warnings[..2], [both, late]);
        // No event is counted twice.
        let sums = &trace.table.counters[0].values;
        assert_eq!(sums.iter().filter(|s| !s.is_nan()).sum::<f64>(), 7.0);
    }
    let text = format!("{HEAD}{}{}", state(0, 10), state(10, 100));
    assert_eq!(read_text(&text, &ReadOptions::default()).unwrap().report.warnings.len(), 1);
}

#[test]
fn the_first_application_with_bursts_is_the_default() {
    let text = format!("{HEAD}1:1:1:1:1:0:5:2\n1:1:2:1:1:0:5:1\n1:1:2:1:2:7:9:1\n");
    let read = |apps| read_text(&text, &ReadOptions { apps, ..ReadOptions::default() });
    assert_eq!(read(Apps::First).unwrap().table.app, [2, 2]);
    assert_eq!(read(Apps::One(1)).unwrap().table.len(), 0);
    let error = read(Apps::One(3)).unwrap_err().to_string();
    assert_eq!(error, "test.prv:1: application 3 is not in the trace; it has 2");
    // Microseconds become nanoseconds.
    assert_eq!(read(Apps::All).unwrap().table.begin[1].0, 7000);
}

#[test]
fn errors_name_the_line_whatever_the_block() {
    let good: String = (0..50).map(|i| format!("1:1:1:1:1:{i}:{}:1\n", i + 1)).collect();
    for (bad, said) in [
        ("1:1:1:2:1:50:51:1\n", "test.prv:52: thread 1.2.1 (application.task.thread) is not in the header"),
        ("1:1:1:1:1:60:6x:1\n", "test.prv:52: expected an end time, found '6x'"),
        (
            "2:1:1:1:1:60:42000050:x\n",
            "test.prv:52: expected an event value (from -2^63 to 2^64 - 1), found 'x'",
        ),
        ("2:1:1:1:1:60:420000", "test.prv:52: the file ends in the middle of this line"),
    ] {
        let text = format!("{HEAD}{good}{bad}");
        let error = read_text(&text, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with(said), "{error}");
        let lenient = ReadOptions { lenient: true, ..ReadOptions::default() };
        let trace = read_text(&text, &lenient).unwrap();
        assert_eq!((trace.table.len(), trace.report.records.skipped), (50, 1));
        assert!(
            trace.report.warnings[0].starts_with("skipped: test.prv:52: "),
            "{:?}",
            trace.report.warnings
        );
    }
}

#[test]
fn a_state_that_ends_before_it_begins_is_counted_and_told_once() {
    let text = format!("{HEAD}1:1:1:1:1:0:5:1\n1:1:1:1:1:9:6:1\n1:1:1:1:1:10:7:2\n1:1:1:1:1:10:12:1\n");
    let trace = read_text(&text, &ReadOptions::default()).unwrap();
    assert_eq!((trace.table.len(), trace.report.records.states, trace.report.records.backwards), (2, 2, 2));
    let told: Vec<_> = trace.report.warnings.iter().filter(|w| w.contains("before it begins")).collect();
    assert_eq!(told, ["test.prv:3: a state ends before it begins, not read: it begins at 9 and ends at 6"]);
}

/// So Paraver's cutter ends what is open at the end of a part.
#[test]
fn records_with_a_negative_time_are_counted_and_not_read() {
    let text = format!(
        "{HEAD}1:1:1:1:1:0:5:1\n1:1:1:1:1:6:9:1\n2:1:1:1:1:-2:40000003:0:42000050:0\n1:1:1:1:1:-2:-1:1\n"
    );
    let trace = read_text(&text, &ReadOptions::default()).unwrap();
    let records = &trace.report.records;
    assert_eq!((trace.table.len(), records.states, records.events, records.untimed), (2, 2, 0, 2));
    assert_eq!(trace.report.begin, Nanos::ZERO);
    assert!(trace.table.counters.is_empty());
    assert!(!trace.report.warnings.iter().any(|warning| warning.contains("expected")));
}

#[test]
fn when_tracing_was_off_is_told() {
    let untraced = |states: &str| {
        let text = format!("{HEAD}1:1:1:1:1:0:5:1\n{states}1:1:1:1:1:90:95:1\n");
        read_text(&text, &ReadOptions::default()).unwrap().report.untraced
    };
    let micros = |time: u64| Nanos(1_000 * time);
    let why = UntracedBy::Disabled;
    let off = |from, to, time| Some(Untraced { from: micros(from), to: micros(to), time: micros(time), why });
    assert_eq!(untraced("1:1:1:1:1:5:90:2\n"), None);
    assert_eq!(untraced("1:1:1:1:1:5:40:14\n1:1:1:1:1:40:90:2\n"), off(5, 40, 35));
    assert_eq!(untraced("1:1:1:1:1:5:40:14\n1:1:1:1:1:50:90:14\n"), off(5, 90, 75));
    // Before it is on, nothing is traced.
    let begin = |states: &str| {
        let text = format!("{HEAD}{states}1:1:1:1:1:90:95:1\n");
        read_text(&text, &ReadOptions::default()).unwrap().report.begin
    };
    assert_eq!(begin("1:1:1:1:1:5:40:14\n"), micros(90));
    assert_eq!(begin("1:1:1:1:1:5:40:3\n"), micros(5));
    // Nor before a thread is there.
    assert_eq!(begin("1:1:1:1:1:5:40:2\n"), micros(90));
}

#[test]
fn a_trace_ends_with_its_last_burst_if_the_header_says_an_earlier_end() {
    let text = format!("{HEAD}1:1:1:1:1:0:5:1\n1:1:1:1:1:5000:5007:1\n");
    let trace = read_text(&text, &ReadOptions::default()).unwrap();
    assert_eq!(trace.end, Nanos(5_007_000));
    let told = trace.report.warnings.iter().find(|w| w.contains("its header gives")).expect("a warning");
    assert!(told.ends_with("the trace ends with the last of them, at 5.01 ms"), "{told}");
}

#[test]
fn unknown_records_are_counted_and_a_missing_line_end_is_said() {
    let text = format!("{HEAD}c:1:1:1:1\n# note\n5:9:9\n1:1:1:1:1:0:5:1\n\n4:1:1\nhello");
    let report = read_text(&text, &ReadOptions::default()).unwrap().report;
    let counts = report.records;
    assert_eq!((counts.unknown, counts.states, counts.communicators, counts.comments), (2, 1, 1, 1));
    assert_eq!((counts.global_operations, report.lines), (1, 8));
    assert!(report.warnings[0].contains("test.prv:4: unknown kind of record, not read: '5:9:9'"));
    assert!(report.warnings[1].contains("the last line has no end"));
}

#[test]
fn a_pipe_in_no_order_is_refused_with_advice() {
    let text = format!("{HEAD}1:1:1:1:1:10:20:1\n1:1:1:1:1:5:6:1\n1:1:1:1:1:15:16:1\n");
    let error = read_text(&text, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("write the trace to a file first"), "{error}");
}
