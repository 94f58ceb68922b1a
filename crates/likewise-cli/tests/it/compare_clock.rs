//! `likewise compare` of what is known of whole runs alone: their time by the clock.

use crate::support::{succeeds, summary, text};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A burst of a thread: its begin and its end, and its instructions.
type Burst = (u32, [u64; 2], u64);

/// A Paraver trace of one task on so many CPUs.
fn traced(path: PathBuf, (cpus, threads): (u32, u32), bursts: &[Burst], counted: bool) -> PathBuf {
    let end = bursts.iter().map(|(_, [_, end], _)| *end).max().unwrap();
    let mut text = format!("#Paraver (01/01/2025 at 12:00):{end}_ns:1({cpus}):1:1({threads}:1),0\n");
    let mut records: Vec<(u64, u32, String)> = Vec::new();
    for &(thread, [from, to], instructions) in bursts {
        records.push((from, thread, format!("1:1:1:1:{thread}:{from}:{to}:1\n")));
        if counted {
            records.push((from, thread, format!("2:1:1:1:{thread}:{from}:42000050:0\n")));
            records.push((to, thread, format!("2:1:1:1:{thread}:{to}:42000050:{instructions}\n")));
        }
    }
    records.sort();
    records.iter().for_each(|(.., record)| text.write_str(record).unwrap());
    std::fs::write(&path, text).unwrap();
    path
}

fn said(dir: &Path, runs: &[PathBuf]) -> Vec<String> {
    let out = dir.join("out");
    let files: Vec<&str> = runs.iter().map(|run| text(run)).collect();
    succeeds(&[&["compare", "-q", "-o", text(&out)], &files[..]].concat());
    let found = summary(&out)["findings"].clone();
    found.as_array().unwrap().iter().map(|said| said.as_str().unwrap().to_owned()).collect()
}

/// Jobs, each a thread of its own that lives once, go to CPUs as these become free.
fn jobs(dir: &Path, cpus: u32) -> PathBuf {
    let mut free = vec![0; cpus as usize];
    let bursts: Vec<Burst> = (0..48)
        .map(|job| {
            let cpu = (0..free.len()).min_by_key(|&cpu| free[cpu]).unwrap();
            let (from, takes) =
                (free[cpu], if job % 3 == 0 { 400_000 } else { 1_000_000 + 1_000 * (u64::from(job) % 7) });
            free[cpu] = from + takes;
            (job + 1, [from, from + takes], 0)
        })
        .collect();
    traced(dir.join(format!("on{cpus}.prv")), (cpus, 48), &bursts, false)
}

/// "Waiting, communication and I/O of the thread that computes longest", "Phase 1 is serial" and
/// iterations were told of runs whose threads wait for a CPU.
#[test]
fn threads_that_share_cpus_are_compared_by_the_clock_and_the_cpus() {
    let dir = tempfile::tempdir().unwrap();
    let said = said(dir.path(), &[16, 1, 4].map(|cpus| jobs(dir.path(), cpus)));
    let [cpus, clock] = &said[..] else { panic!("{said:?}") };
    assert!(
        cpus.contains(" 1 CPU (on1), 4 CPUs (on4) and 16 CPUs (on16) for 48 threads, and never"),
        "{cpus}"
    );
    assert!(clock.contains(" on 1 CPU, ") && clock.contains("% per CPU)"), "{clock}");
    assert!(clock.contains(" on 4 CPUs (× 3.") && !clock.contains("With more than"), "{clock}");
    let found = summary(&dir.path().join("out"));
    assert!(found["runs"].as_array().unwrap().iter().all(|run| run["iterations"].is_null()));
    assert_eq!(found["runs"][0]["few_cpus"], 1);
    let serial = |phase: &serde_json::Value| phase["runs"].to_string().contains("\"serial\":true");
    assert!(!found["phases"].as_array().unwrap().iter().any(serial), "{found}");
}

/// Threads that do `parts` of a step each, one after another until the next step.
fn steps(path: PathBuf, threads: u32, time: impl Fn(u32, u64) -> u64, instructions: u64) -> PathBuf {
    let (mut bursts, mut now) = (Vec::new(), 0);
    for step in 0..20 {
        let take = |thread: u32| (thread, [now, now + time(thread, step)], instructions);
        bursts.extend((1..=threads).map(take));
        now = bursts.iter().map(|(_, [_, end], _)| *end).max().unwrap() + 2_000;
    }
    traced(path, (threads, threads), &bursts, true)
}

#[test]
fn from_where_on_runs_are_no_shorter_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let run = |threads: u32, ms: f64| {
        let time = move |thread: u32, step: u64| (1e6 * ms) as u64 + 100 * ((u64::from(thread) + step) % 5);
        steps(dir.path().join(format!("on{threads}.prv")), threads, time, 8_000_000 / u64::from(threads))
    };
    let clock = |runs: &[PathBuf]| {
        said(dir.path(), runs).into_iter().find(|said| said.starts_with("From begin to end"))
    };
    let told = clock(&[run(1, 8.0), run(2, 4.1), run(4, 4.0), run(8, 4.8)]).unwrap();
    assert!(
        told.contains(
            "With more than 2 threads no run is shorter by 5% or more; on 8 threads it takes 1.17 times as long as on 2 \
             threads."
        ),
        "{told}"
    );
    assert!(told.contains("(× 1.95, 97.5% per thread)"), "{told}");
    let told = clock(&[run(1, 8.0), run(2, 4.1), run(4, 2.1)]).unwrap();
    assert!(!told.contains("With more than") && !told.contains("instructions"), "{told}");
    // Each thread does all of the work.
    let all = |threads: u32| {
        let time = |thread: u32, step: u64| 4_000_000 + 100 * ((u64::from(thread) + step) % 5);
        steps(dir.path().join(format!("all{threads}.prv")), threads, time, 8_000_000)
    };
    let told = clock(&[all(1), all(4)]).unwrap();
    assert!(told.contains("all4 executes 4.00 times the instructions of all1 in all."), "{told}");
}

/// Two schedules of a loop: which thread has how much is another matter in each.
#[test]
fn load_balance_of_whole_runs_is_named_where_phases_are_not_known() {
    let dir = tempfile::tempdir().unwrap();
    let run = |name: &str, parts: &[&[u64]]| {
        let of_thread = |(thread, parts): (u32, &&[u64])| {
            let mut now = 0;
            let burst = move |&work: &u64| {
                let from = now;
                now += 1_000 * work;
                (thread, [from, now], 2_000 * work)
            };
            parts.iter().map(burst).collect::<Vec<Burst>>()
        };
        let bursts: Vec<Burst> = (1..).zip(parts).flat_map(of_thread).collect();
        traced(dir.path().join(name), (4, 4), &bursts, true)
    };
    let uneven = run("a.prv", &[&[100, 120], &[150, 90], &[2_500, 2_900], &[300, 340]]);
    let even: Vec<u64> = (0..13).map(|k| 110 + 3 * (k % 4)).collect();
    let even = run("b.prv", &[&even[..]; 4]);
    let told = said(dir.path(), &[uneven, even]);
    let told: Vec<&String> = told.iter().filter(|said| said.contains("From begin to end")).collect();
    assert!(told.len() == 1 && told[0].contains(": load balance, "), "{told:?}");
}
