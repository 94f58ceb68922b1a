//! Runs of MPI that start up for long: what is said is of the time between MPI_Init and MPI_Finalize.

use crate::support::{succeeds, summary, text};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Four tasks call MPI_Init at so many µs, the first of them after the shortest start, and then do 20 even steps of
/// 1 ms; `marked` says whether the trace has the calls of MPI_Init and MPI_Finalize.
fn traced(dir: &Path, name: &str, start: u64, marked: bool) -> PathBuf {
    let mut records: Vec<(u64, String)> = Vec::new();
    let init = 1_000 * start;
    let end = init + 100_000 + 20 * 1_200_000;
    for task in 1..=4u64 {
        let who = format!("{task}:1:{task}:1");
        let mut burst = |from: u64, to: u64| records.push((from, format!("1:{who}:{from}:{to}:1\n")));
        burst(init - init / 5 * task, init);
        for step in 0..20 {
            let from = init + 100_000 + 1_200_000 * step;
            burst(from, from + 1_000_000 + 1_000 * (step * task % 5));
        }
        if marked {
            let mut call = |time: u64, value: u64| {
                records.push((time, format!("2:{who}:{time}:50000003:{value}\n")));
            };
            call(init, 31);
            call(init + 90_000, 0);
            call(end, 32);
        }
        records.push((end, format!("1:{who}:{end}:{}:7\n", end + 10_000)));
    }
    records.sort();
    let mut prv = format!("#Paraver (01/01/2025 at 12:00):{}_ns:1(4):1:4(1:1,1:1,1:1,1:1),0\n", end + 10_000);
    records.iter().for_each(|(_, record)| prv.write_str(record).unwrap());
    let path = dir.join(format!("{name}.prv"));
    std::fs::write(&path, prv).unwrap();
    path
}

/// "Phase 2: the slowest is 60% above the mean" was told of the time until MPI_Init.
#[test]
fn findings_are_not_of_the_start_where_the_trace_tells_it() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let said = |marked: bool| {
        let trace = traced(dir.path(), "run", 2_000, marked);
        let call = succeeds(&["bursts", text(&trace), "--no-trace", "-o", text(&out)]);
        (call.stdout.replace('\n', " "), summary(&out))
    };
    let (printed, found) = said(true);
    assert!(
        printed.contains("until MPI_Init has ended (1.69 ms, 6.6% of the trace) the program"),
        "{printed}"
    );
    assert_eq!(found["looked_at"]["begin_ns"], 2_090_000);
    assert_eq!(found["findings"].as_array().unwrap().len(), 0, "{found}");
    assert!(found["bursts"] == 84, "bursts of the start stay in the files");
    let (printed, found) = said(false);
    assert!(!printed.contains("MPI_Init") && found["looked_at"].is_null(), "{printed}");
    assert!(!found["findings"].as_array().unwrap().is_empty(), "nothing tells that they start up: {found}");
}

/// "Fewer cycles per second", "more instructions" and an efficiency of 79.9 % were told of runs that
/// differ by how long they start up.
#[test]
fn runs_that_differ_by_their_start_alone_are_as_fast() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let elapsed = |marked: bool| {
        let runs = [("a", 2_000), ("b", 9_000)].map(|(name, start)| traced(dir.path(), name, start, marked));
        let call = succeeds(&["compare", text(&runs[0]), text(&runs[1]), "-o", text(&out)]);
        let found = summary(&out);
        let elapsed = [0, 1].map(|r: usize| found["runs"][r]["elapsed_ns"].as_u64().unwrap());
        (elapsed, call.stderr.replace('\n', " "), found["findings"].to_string())
    };
    let ([a, b], notes, said) = elapsed(true);
    assert_eq!(a, b, "what is compared");
    assert!(notes.contains("b: Compared is the time from 9.09 ms"), "{notes}");
    assert!(!said.contains("longer") && !said.contains("not found"), "{said}");
    let ([a, b], ..) = elapsed(false);
    assert_eq!(b - a, 5_600_000, "of other traces all is compared");
}
