//! The written text, read back by the simplest means and held against the run.

use std::collections::BTreeMap;

use likewise::synth::{Burst, COUNTERS, N_COUNTERS, Run, RunSpec, Section};

use super::{COUNTER_PAIRS, TraceFiles, write_synthetic};

/// What [`write_synthetic`] wrote.
#[derive(PartialEq)]
struct Written {
    prv: String,
    pcf: String,
    row: String,
    truth: String,
}

fn written(run: &Run) -> Written {
    let [mut prv, mut pcf, mut row, mut truth] = [const { Vec::new() }; 4];
    let files = TraceFiles { prv: &mut prv, pcf: &mut pcf, row: &mut row, truth: Some(&mut truth) };
    write_synthetic(run, files).unwrap();
    let [prv, pcf, row, truth] = [prv, pcf, row, truth].map(|text| String::from_utf8(text).unwrap());
    Written { prv, pcf, row, truth }
}

/// Runs that differ in what makes the writing difficult.
fn runs() -> Vec<Run> {
    let mut threads = RunSpec::plausible(3, 1, 4, 5).unwrap();
    threads.threads_per_task = 3;
    let specs = [
        RunSpec::plausible(4, 3, 8, 1).unwrap(),
        RunSpec::plausible(40, 1, 3, 2).unwrap().with_bursts(1_777),
        RunSpec::plausible(1, 5, 2, 3).unwrap(),
        RunSpec::plausible(7, 1, 1, 4).unwrap().with_bursts(7),
        RunSpec::plausible(7, 1, 1, 4).unwrap().with_bursts(8),
        threads.clone(),
        threads.with_bursts(400),
    ];
    specs.into_iter().map(|spec| Run::new(spec).unwrap()).collect()
}

fn bursts(run: &Run) -> Vec<Burst> {
    let mut all = Vec::new();
    let copy = |section: &Section| section.bursts.clone();
    let _: Result<(), ()> = run.for_each_section(copy, |bursts| {
        all.extend(bursts);
        Ok(())
    });
    all
}

fn numbers(line: &str) -> Vec<u64> {
    line.split(':').map(|field| field.parse().expect("a whole number")).collect()
}

fn records(prv: &str) -> impl Iterator<Item = Vec<u64>> + '_ {
    prv.lines().skip(2).map(numbers)
}

fn end_of(prv: &str) -> u64 {
    let after_date = &prv[prv.find("):").unwrap() + 2..];
    after_date[..after_date.find("_ns").unwrap()].parse().unwrap()
}

/// The records of each task and thread.
type ByThread = BTreeMap<(u64, u64), Vec<Vec<u64>>>;

/// States and events of each thread, in the order of the file.
fn by_thread(prv: &str) -> (ByThread, ByThread) {
    let (mut states, mut events) = (ByThread::new(), ByThread::new());
    for record in records(prv) {
        let key = (record[3], record[4]);
        match record[0] {
            1 => states.entry(key).or_default().push(record),
            2 => events.entry(key).or_default().push(record),
            _ => {}
        }
    }
    (states, events)
}

#[test]
fn records_are_in_order_of_time() {
    for run in runs() {
        let mut last = 0;
        let mut kinds = [0; 4];
        for record in records(&written(&run).prv) {
            let time = if record[0] == 3 { record[6] } else { record[5] };
            assert!(last <= time, "{record:?} after {last}");
            last = time;
            kinds[record[0] as usize] += 1;
        }
        assert!(kinds[1] > 0 && kinds[2] > 0);
    }
}

#[test]
fn states_cover_each_thread_from_0_to_the_end() {
    for run in runs() {
        let prv = written(&run).prv;
        let (states, _) = by_thread(&prv);
        assert_eq!(states.len(), run.n_threads());
        for states in states.values() {
            let mut covered = 0;
            for state in states {
                assert_eq!(state[5], covered, "a gap before {state:?}");
                assert!(state[6] > state[5], "an empty state {state:?}");
                covered = state[6];
            }
            assert_eq!(covered, end_of(&prv));
            for pair in states.windows(2) {
                assert!(pair[0][7] != 1 || pair[1][7] != 1, "two bursts in a row");
            }
        }
    }
}

/// Bursts as the reference defines them: Running states, and the sum of the
/// counters after their begin, up to their end.
#[test]
fn the_text_holds_the_bursts_of_the_run_and_the_truth_names_them() {
    for run in runs() {
        let text = written(&run);
        let (states, events) = by_thread(&text.prv);
        let mut read = BTreeMap::new();
        for (key, states) in &states {
            for state in states.iter().filter(|state| state[7] == 1) {
                let (begin, end) = (state[5], state[6]);
                let inside = events[key].iter().filter(|e| begin < e[5] && e[5] <= end);
                let mut counters = [0; N_COUNTERS];
                for pair in inside.flat_map(|event| event[6..].chunks(2)) {
                    if let Some(c) = COUNTERS.iter().position(|c| u64::from(c.event_type) == pair[0]) {
                        counters[c] += pair[1];
                    }
                }
                read.insert((key.0, key.1, begin), (end - begin, counters));
            }
        }
        let truth: BTreeMap<_, _> = text.truth.lines().skip(1).map(truth_row).collect();
        let bursts = bursts(&run);
        assert_eq!(bursts.len() as u64, run.n_bursts());
        assert_eq!(read.len(), bursts.len());
        assert_eq!(truth.len(), bursts.len());
        for burst in bursts {
            let key = (u64::from(burst.task), u64::from(burst.thread), burst.begin.0);
            assert_eq!(read[&key], (burst.duration.0, burst.counters));
            let label = burst.cluster.map_or("noise".to_owned(), |id| id.number().to_string());
            assert_eq!(truth[&key], (burst.duration.0, label));
        }
    }
}

fn truth_row(line: &str) -> ((u64, u64, u64), (u64, String)) {
    let fields: Vec<&str> = line.split(',').collect();
    let number = |i: usize| fields[i].parse::<u64>().unwrap();
    ((number(0), number(1), number(2)), (number(3), fields[4].to_owned()))
}

#[test]
fn calls_open_and_close_in_turn() {
    for run in runs() {
        let (_, events) = by_thread(&written(&run).prv);
        for events in events.values() {
            let calls: Vec<(u64, u64)> = (events.iter().flat_map(|event| event[6..].chunks(2)))
                .filter(|pair| (50_000_001..=50_000_003).contains(&pair[0]))
                .map(|pair| (pair[0], pair[1]))
                .collect();
            for call in calls.chunks(2) {
                assert_eq!(call.len(), 2, "a call never ends");
                assert!(call[0].0 == call[1].0 && call[0].1 != 0 && call[1].1 == 0, "{call:?}");
            }
        }
    }
}

#[test]
fn messages_arrive_after_they_are_sent_and_within_the_calls() {
    let mut n_messages = 0;
    for run in runs() {
        let prv = written(&run).prv;
        let (states, _) = by_thread(&prv);
        // The state that begins at that time is the call.
        let call_end = |task: u64, begin: u64| {
            let state = states[&(task, 1)].iter().find(|s| s[5] == begin).expect("a call begins there");
            assert_eq!(state[7], 16);
            state[6]
        };
        for record in records(&prv).filter(|record| record[0] == 3) {
            let (from, called, sent) = (record[3], record[5], record[6]);
            let (to, posted, received) = (record[9], record[11], record[12]);
            assert!(called < sent && sent < received && posted < received);
            assert!(received < call_end(to, posted));
            assert!(sent < call_end(from, called));
            n_messages += 1;
        }
    }
    assert!(n_messages > 100, "the runs exchange nothing");
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    for run in runs() {
        let on = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        let one = on(1).install(|| written(&run));
        let four = on(4).install(|| written(&run));
        assert!(one == four, "1 and 4 threads wrote different bytes");
    }
}

#[test]
fn every_type_and_value_has_a_name() {
    for run in runs() {
        let text = written(&run);
        let mut names = BTreeMap::<u64, Vec<u64>>::new();
        for block in text.pcf.split("EVENT_TYPE\n").skip(1) {
            let (types, values) = block.split_once("VALUES\n").unwrap_or((block, ""));
            let values: Vec<u64> =
                values.lines().map_while(|l| l.split_whitespace().next()?.parse().ok()).collect();
            for line in types.lines() {
                let mut words = line.split_whitespace();
                if let (Some(_), Some(Ok(event_type))) = (words.next(), words.next().map(str::parse)) {
                    names.insert(event_type, values.clone());
                }
            }
        }
        for record in records(&text.prv).filter(|record| record[0] == 2) {
            for pair in record[6..].chunks(2) {
                let values = names.get(&pair[0]).unwrap_or_else(|| panic!("{} has no name", pair[0]));
                assert!(values.is_empty() || values.contains(&pair[1]), "{pair:?} has no name");
            }
        }
    }
}

#[test]
fn header_and_row_name_what_the_records_use() {
    for run in runs() {
        let text = written(&run);
        let tasks = run.spec().tasks;
        let first = text.prv.lines().next().unwrap();
        assert!(first.starts_with("#Paraver (") && first.ends_with("),1"), "{first}");
        assert!(first.contains(&format!(":1:{tasks}(")));
        let members: Vec<String> = (1..=tasks).map(|task| task.to_string()).collect();
        let communicator = format!("c:1:1:{tasks}:{}", members.join(":"));
        assert_eq!(text.prv.lines().nth(1), Some(communicator.as_str()));
        assert_eq!(text.row.matches("THREAD 1.").count(), run.n_threads());
        assert!(records(&text.prv).all(|r| (1..=run.n_threads() as u64).contains(&r[1])));
    }
}

#[test]
fn counter_pairs_are_the_cores_counters() {
    let pairs = COUNTERS.map(|c| format!(":{}:", c.event_type));
    assert_eq!(pairs, COUNTER_PAIRS);
}

#[test]
fn a_full_disk_is_an_error() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let run = &runs()[0];
    let (mut pcf, mut row) = (Vec::new(), Vec::new());
    let files = TraceFiles { prv: &mut Full, pcf: &mut pcf, row: &mut row, truth: None };
    assert_eq!(write_synthetic(run, files).unwrap_err().kind(), std::io::ErrorKind::StorageFull);
}
