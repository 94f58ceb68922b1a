//! `likewise compare` of runs in which work goes from one phase to another, or to noise: what
//! is not known is not judged.

use crate::support::{succeeds, summary, text};
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What all tasks do, or the first alone, before the next step begins.
#[derive(Clone, Copy)]
struct Step {
    /// Time of a task, in µs, and instructions per cycle at 1 GHz.
    time: f64,
    ipc: f64,
    serial: bool,
}

fn step(time: f64, ipc: f64) -> Step {
    Step { time, ipc, serial: false }
}

/// Up to 1 % more or less.
fn jitter(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    1.0 + 0.02 * ((*seed >> 40) as f64 / (1u64 << 24) as f64 - 0.5)
}

const HEADER: &str = "task,thread,begin_ns,duration_ns,PAPI_TOT_INS,PAPI_TOT_CYC\n";

fn row(rows: &mut Vec<(u32, u64, String)>, task: u32, begin: u64, (time, ipc): (f64, f64)) -> u64 {
    let duration = (1e3 * time) as u64;
    let instructions = (ipc * duration as f64) as u64;
    rows.push((task, begin, format!("{task},1,{begin},{duration},{instructions},{duration}\n")));
    begin + duration
}

fn written(path: PathBuf, mut rows: Vec<(u32, u64, String)>) -> PathBuf {
    rows.sort();
    let mut text = HEADER.to_owned();
    rows.iter().for_each(|(.., row)| text.write_str(row).unwrap());
    std::fs::write(&path, text).unwrap();
    path
}

/// Tasks that do the steps of each iteration together.
fn program(path: PathBuf, tasks: u32, iterations: u32, steps: impl Fn(u32) -> Vec<Step>) -> PathBuf {
    let (mut rows, mut now, mut seed) = (Vec::new(), 0, u64::from(tasks * 1000 + iterations));
    for step in (0..iterations).flat_map(steps) {
        let of_task = |task: u32| row(&mut rows, task, now, (step.time * jitter(&mut seed), step.ipc));
        now = (1..=if step.serial { 1 } else { tasks }).map(of_task).max().unwrap() + 5_000;
    }
    written(path, rows)
}

fn compared(dir: &Path, runs: &[PathBuf]) -> (Value, Vec<String>) {
    let out = dir.join("out");
    let files: Vec<&str> = runs.iter().map(|run| text(run)).collect();
    succeeds(&[&["compare", "-q", "-o", text(&out)], &files[..]].concat());
    let summary = summary(&out);
    let said = summary["findings"].as_array().unwrap().iter();
    let said = said.map(|said| said.as_str().unwrap().to_owned()).collect();
    (summary, said)
}

fn iterations(summary: &Value) -> Vec<Option<u64>> {
    summary["runs"].as_array().unwrap().iter().map(|run| run["iterations"].as_u64()).collect()
}

const LOOP: [(f64, f64); 5] = [(4000.0, 1.6), (2500.0, 0.9), (1800.0, 0.7), (1500.0, 1.2), (600.0, 2.2)];

#[test]
fn two_steps_that_one_run_does_in_one_burst_are_not_called_slower() {
    let dir = tempfile::tempdir().unwrap();
    let all = || LOOP.map(|(time, ipc)| step(time, ipc)).to_vec();
    for (first, second) in [(0, 1), (1, 2), (3, 4)] {
        let fused = || {
            let mut steps = all();
            let (a, b) = (steps[first], steps.remove(second));
            let time = a.time + b.time;
            steps[first] = step(time, (a.time * a.ipc + b.time * b.ipc) / time);
            steps
        };
        let base = program(dir.path().join("base.csv"), 8, 20, |_| all());
        let now = program(dir.path().join("fused.csv"), 8, 20, |_| fused());
        let (_, said) = compared(dir.path(), &[base, now]);
        let judged =
            said.iter().find(|said| said.contains(" is slower in") || said.contains(" is faster in"));
        assert_eq!(judged, None, "{first} and {second}");
        assert!(said.iter().any(|said| said.contains("not found")), "{first} and {second}: {said:?}");
    }
}

/// What no sentence is made of has a mark in the table.
#[test]
fn all_computation_has_a_mark_where_nothing_is_said_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let all = || LOOP.map(|(time, ipc)| step(time, ipc)).to_vec();
    let fused = || {
        let mut steps = all();
        steps.remove(1);
        steps[0] = step(6500.0, 1.33);
        steps
    };
    let slow = || LOOP.map(|(time, ipc)| step(1.3 * time, ipc / 1.3)).to_vec();
    let base = program(dir.path().join("base.csv"), 8, 20, |_| all());
    let shown = |now: &Path| {
        let call = succeeds(&["compare", text(&base), text(now), "-o", text(&dir.path().join("out"))]);
        let row = call.stdout.lines().find(|line| line.starts_with("all ")).expect("a row").to_owned();
        (row, call.stdout.contains("All computation"), call.stderr)
    };
    let (row, is_told, notes) = shown(&program(dir.path().join("slow.csv"), 8, 20, |_| slow()));
    assert!(!row.contains('?') && is_told, "{row}");
    assert!(!notes.contains("all computation is the same work"), "{notes}");
    assert!(!notes.contains("It cannot be told whether"), "{notes}");
    let (row, is_told, notes) = shown(&program(dir.path().join("fused.csv"), 8, 30, |_| fused()));
    assert!(notes.contains("whether phases 1 (work that another phase may have done), 2 ("), "{notes}");
    let told = &summary(&dir.path().join("out"))["phases"][0]["runs"];
    assert_eq!((&told[0]["doubt"], &told[1]["doubt"]), (&Value::Null, &"moved".into()));
    assert!(row.contains(" ?") && !is_told, "{row} {notes}");
    assert!(notes.contains("Whether all computation is the same work in all runs cannot be told"), "{notes}");
}

/// What is said to be slower or faster of single phases.
fn judged(said: &[String]) -> Vec<&String> {
    let is_judged = |said: &&String| {
        said.starts_with("Phase ") && (said.contains(" is slower in") || said.contains(" is faster in"))
    };
    said.iter().filter(is_judged).collect()
}

/// Bursts of the iterations that the other run has not must not be taken for its new step.
#[test]
fn a_new_step_and_other_iterations_make_no_step_slower() {
    let dir = tempfile::tempdir().unwrap();
    let all = || LOOP[..4].iter().map(|&(time, ipc)| step(time, ipc)).collect::<Vec<_>>();
    for (few, many, place, new) in
        [(20, 30, 2, (1700.0, 0.6)), (20, 40, 1, (900.0, 1.9)), (10, 15, 3, (3000.0, 1.0))]
    {
        let with = || {
            let mut steps = all();
            steps.insert(place, step(new.0, new.1));
            steps
        };
        let base = program(dir.path().join("base.csv"), 4, many, |_| all());
        let now = program(dir.path().join("new.csv"), 4, few, |_| with());
        let (_, said) = compared(dir.path(), &[base, now]);
        assert!(judged(&said).is_empty(), "{few}, {many}: {said:?}");
    }
}

#[test]
fn more_work_of_a_step_is_told_although_another_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    for (slow, gone, factor) in [(1, 3, 1.15), (0, 2, 2.0), (1, 4, 1.3)] {
        let steps = |factor: f64| {
            let mut steps = LOOP.map(|(time, ipc)| step(time, ipc)).to_vec();
            steps[slow].time *= factor;
            steps
        };
        let changed = || {
            let mut steps = steps(factor);
            steps.remove(gone);
            steps
        };
        let base = program(dir.path().join("base.csv"), 8, 20, |_| steps(1.0));
        let now = program(dir.path().join("now.csv"), 8, 20, |_| changed());
        let (_, said) = compared(dir.path(), &[base, now]);
        let [judged] = judged(&said)[..] else { panic!("{slow}, {gone}: {said:?}") };
        let told = format!("× {:.2}", 1.0 / factor);
        assert!(judged.contains("more instructions") && judged.contains(&told), "{told}: {judged}");
    }
}

/// The later iterations of the longer run are phases of their own.
#[test]
fn a_loop_that_grows_has_its_iterations_and_no_phase_of_it_is_faster() {
    let dir = tempfile::tempdir().unwrap();
    for (growth, few, many) in [(1.01, 20, 40), (1.005, 20, 40), (1.005, 30, 40), (1.03, 20, 40)] {
        let grown = |i: u32| LOOP.map(|(time, ipc)| step(time * f64::powi(growth, i as i32), ipc)).to_vec();
        let runs = [few, many].map(|n| program(dir.path().join(format!("of{n}.csv")), 8, n, grown));
        let (summary, said) = compared(dir.path(), &runs);
        let which = format!("{growth}, {few} and {many}: {said:?}");
        for (found, expected) in iterations(&summary).into_iter().zip([few, many]) {
            // A run that grows may have lost one at its end.
            assert!(found.is_none_or(|n| n.abs_diff(expected.into()) <= 1), "{which} {found:?}");
        }
        assert!(!said.iter().any(|said| said.contains(" is faster in")), "{which}");
    }
}

#[test]
fn a_serial_step_of_few_bursts_is_found_with_its_time() {
    let dir = tempfile::tempdir().unwrap();
    for (few, many, serial) in [(8, 32, 2000.0), (4, 16, 3000.0), (8, 16, 1300.0)] {
        let run = |tasks: u32| {
            let scaled = |(time, ipc): (f64, f64)| step(time * f64::from(few) / f64::from(tasks), ipc);
            let mut steps = LOOP[..4].iter().copied().map(scaled).collect::<Vec<_>>();
            steps.push(Step { serial: true, ..step(serial, 1.1) });
            program(dir.path().join(format!("on{tasks}.csv")), tasks, 20, |_| steps.clone())
        };
        let (_, said) = compared(dir.path(), &[few, many].map(run));
        let share = |tasks: u32| {
            let work: f64 = LOOP[..4].iter().map(|(time, _)| time * f64::from(few) / f64::from(tasks)).sum();
            // Each step ends with the last of its tasks, and 5 µs lie between two.
            100.0 * serial / (serial + 1.008 * work + 25.0)
        };
        let told = said.iter().find(|said| said.contains("is serial, one task computes"));
        let told = told.unwrap_or_else(|| panic!("{few} and {many}: {said:?}"));
        let percents: Vec<f64> =
            told.split(' ').filter_map(|word| word.strip_suffix('%')?.parse().ok()).collect();
        let expected = [share(few), share(many)];
        assert!(percents.len() == 2, "{told}");
        for (found, expected) in percents.iter().zip(expected) {
            assert!((found - expected).abs() < 1.0, "{few} and {many}: {told} {expected}");
        }
    }
}

/// 400 tasks of unlike lengths, dealt out to the workers.
#[test]
fn a_farm_of_tasks_is_strong_scaling() {
    let dir = tempfile::tempdir().unwrap();
    let run = |workers: usize| {
        let (mut rows, mut free, mut seed) = (Vec::new(), vec![0; workers], 7u64);
        for _ in 0..400 {
            let time = 2000.0 + 6000.0 * (50.0 * (jitter(&mut seed) - 0.99)).powi(2);
            let worker = (0..workers).min_by_key(|&worker| free[worker]).unwrap();
            free[worker] = row(&mut rows, worker as u32 + 1, free[worker], (time, 1.2)) + 2_000;
        }
        written(dir.path().join(format!("on{workers}.csv")), rows)
    };
    let (summary, said) = compared(dir.path(), &[8, 16].map(run));
    assert_eq!(summary["scaling"], "strong", "{said:?}");
    assert!(!said.iter().any(|said| said.contains("stops scaling")), "{said:?}");
}

/// A start, then jobs that a master hands out to 7 workers, and an end. Each third job takes
/// `longer` times as long for as many instructions, and `more` times as long for more.
fn farm(path: PathBuf, longer: f64, more: f64) -> PathBuf {
    let (mut rows, mut seed) = (Vec::new(), 7u64);
    let mut free: Vec<u64> = (1..=8).map(|task| row(&mut rows, task, 0, (1600.0, 1.0)) + 5_000).collect();
    for job in 0..80 {
        let worker = (1..8).min_by_key(|&worker| free[worker]).unwrap();
        // The master waits for a worker that has nothing to do.
        let asked = if job < 7 { free[0] } else { free[0].max(free[worker]) };
        free[0] = row(&mut rows, 1, asked, (80.0, 0.8)) + 1_500;
        let (time, ipc) = if job % 3 == 0 { (2500.0 * longer * more, 1.1 / longer) } else { (1000.0, 1.6) };
        let time = 8.0 * time * (1.0 + 5.0 * (jitter(&mut seed) - 1.0));
        free[worker] = row(&mut rows, worker as u32 + 1, free[worker].max(free[0]), (time, ipc)) + 2_000;
    }
    let end = *free.iter().max().unwrap();
    for task in 1..=8 {
        row(&mut rows, task, end, (960.0, 1.3));
    }
    written(path, rows)
}

/// Nothing said so of two runs of 71.1 and 205 ms, in which one phase takes four times as long.
#[test]
fn a_longer_run_is_told_where_iterations_are_not_known() {
    let dir = tempfile::tempdir().unwrap();
    let run = |name: &str, longer, more| farm(dir.path().join(name), longer, more);
    let base = run("base.csv", 1.0, 1.0);
    let said = |now: PathBuf| compared(dir.path(), &[base.clone(), now]).1.join("\n");
    let slow = said(run("slow.csv", 4.0, 1.0));
    assert!(
        slow.contains("From begin to end slow takes ")
            && slow.contains("with as many instructions in all (× 1.0"),
        "{slow}"
    );
    assert!(
        slow.contains(" of slow and phase ") && slow.contains("may be the same: nothing else is left"),
        "{slow}"
    );
    let more = said(run("more.csv", 1.0, 4.0));
    assert!(
        more.contains("From begin to end more takes ") && more.contains(" times the instructions in all"),
        "{more}"
    );
    assert!(!more.contains("may be the same"), "{more}");
    let like = said(run("like.csv", 1.0, 1.0));
    assert!(!like.contains("From begin to end") && !like.contains("may be the same"), "{like}");
}

/// Jobs of three kinds in no order, dealt out to 8 workers; those of the first kind take `longer`
/// times as long for as many instructions, and `more` times as long for more.
fn jobs(path: PathBuf, mut seed: u64, longer: f64, more: f64) -> PathBuf {
    let (mut rows, mut free) = (Vec::new(), [0; 8]);
    for _ in 0..240 {
        let kind = (50_000.0 * (jitter(&mut seed) - 0.99)) as usize % 3;
        let (time, ipc) = [(1500.0 * longer * more, 1.1 / longer), (800.0, 1.6), (60.0, 0.8)][kind];
        let worker = (0..8).min_by_key(|&worker| free[worker]).unwrap();
        let time = time * jitter(&mut seed);
        free[worker] = row(&mut rows, worker as u32 + 1, free[worker], (time, ipc)) + 2_000;
    }
    written(path, rows)
}

/// Of the first pair "which phases are slower or faster cannot be told" was said.
#[test]
fn jobs_in_no_order_are_known_by_their_work() {
    let dir = tempfile::tempdir().unwrap();
    for seed in [7, 31, 41] {
        let run = |name: &str, seed, longer, more| jobs(dir.path().join(name), seed, longer, more);
        let base = run("base.csv", seed, 1.0, 1.0);
        let compared = |now: PathBuf| compared(dir.path(), &[base.clone(), now]);
        let (summary, said) = compared(run("slow.csv", seed, 2.0, 1.0));
        let phases = summary["phases"].as_array().unwrap();
        let slower: Vec<&Value> = phases.iter().filter(|phase| phase["slower_in"] == "slow").collect();
        assert!(slower.len() == 1 && slower[0]["cause"] == "ipc_scalability", "{seed}: {said:?}");
        let factor = slower[0]["runs"][1]["factors"]["ipc_scalability"].as_f64().unwrap();
        assert!((factor - 0.5).abs() < 0.01, "{seed}: {factor}");
        for now in [run("more.csv", seed, 1.0, 2.0), run("like.csv", seed + 1000, 1.0, 1.0)] {
            let (_, said) = compared(now);
            let is_told = |said: &&String| said.contains("slower in") || said.contains("faster in");
            assert_eq!(said.iter().find(is_told), None, "{seed}: {said:?}");
        }
    }
}

/// A program that reads for `begin` µs before its loop and writes for `end` µs after it, on one
/// task, where these take any time.
fn with_ends(dir: &Path, (tasks, few): (u32, u32), begin: f64, end: f64) -> PathBuf {
    const ITERATIONS: u32 = 12;
    let scaled = |(time, ipc): (f64, f64)| step(time * f64::from(few) / f64::from(tasks), ipc);
    let serial = |time: f64, ipc: f64| (time > 0.0).then_some(Step { serial: true, ..step(time, ipc) });
    let steps = |k: u32| {
        let first = serial(begin, 0.6).filter(|_| k == 0);
        let last = serial(end, 0.8).filter(|_| k + 1 == ITERATIONS);
        first.into_iter().chain(LOOP.map(scaled)).chain(last).collect::<Vec<_>>()
    };
    program(dir.join(format!("on{tasks}.csv")), tasks, ITERATIONS, steps)
}

/// The percentages that a sentence tells.
fn percents(said: &str) -> Vec<f64> {
    said.split(' ')
        .filter_map(|word| word.trim_end_matches(['.', ',']).strip_suffix('%')?.parse().ok())
        .collect()
}

#[test]
fn what_one_task_does_once_is_why_all_computation_stops_scaling() {
    let dir = tempfile::tempdir().unwrap();
    for (begin, end) in [(60_000.0, 0.0), (0.0, 40_000.0), (50_000.0, 30_000.0)] {
        let run = |tasks: u32| with_ends(dir.path(), (tasks, 4), begin, end);
        let (_, said) = compared(dir.path(), &[4, 8, 16].map(run));
        let whole = said.iter().find(|said| said.starts_with("All computation together stops scaling"));
        let whole = whole.unwrap_or_else(|| panic!("{begin} and {end}: {said:?}"));
        assert!(whole.contains("serial, ") && !whole.contains("load balance"), "{whole}");
        let told = said.iter().filter(|said| said.contains("serial, one task computes while no other"));
        let on_16: f64 = told.map(|said| percents(said).last().copied().unwrap()).sum();
        let work: f64 = LOOP.iter().map(|(time, _)| 12.0 * (time / 4.0 * 1.008 + 5.0)).sum();
        let expected = 100.0 * (begin + end) / (begin + end + work);
        assert!((on_16 - expected).abs() < 1.5, "{begin} and {end}: {on_16}, {expected}: {said:?}");
    }
    let run = |tasks: u32| with_ends(dir.path(), (tasks, 4), 0.0, 0.0);
    let (_, said) = compared(dir.path(), &[4, 8, 16].map(run));
    assert!(!said.iter().any(|said| said.contains("serial")), "{said:?}");
    assert!(said.iter().any(|said| said.starts_with("Every phase keeps")), "{said:?}");
}

#[test]
fn serial_time_that_the_largest_run_lacks_is_told_beside_the_phases() {
    let dir = tempfile::tempdir().unwrap();
    let of = |(tasks, begin): (u32, f64)| with_ends(dir.path(), (tasks, 8), begin, 0.0);
    let (_, said) = compared(dir.path(), &[(8, 30_000.0), (16, 0.0)].map(of));
    let told = said.iter().find(|said| said.starts_with("Some bursts that are in no phase are serial"));
    let told = told.unwrap_or_else(|| panic!("{said:?}"));
    let found = percents(told);
    assert!(found.len() == 1 && (found[0] - 19.2).abs() < 1.0 && told.contains("on 8 tasks"), "{told}");
}

/// Of more threads than are aligned, the start of the others is no step of the loop.
#[test]
fn a_start_of_about_the_length_of_a_step_makes_no_step_slower() {
    let dir = tempfile::tempdir().unwrap();
    for ratio in [0.7, 1.3, 1.8] {
        let run = |iterations: u32| {
            let (last, _) = LOOP[4];
            let steps = |k: u32| {
                let start = (k == 0).then_some(step(ratio * last, 0.7));
                start.into_iter().chain(LOOP.map(|(time, ipc)| step(time, ipc))).collect()
            };
            program(dir.path().join(format!("of{iterations}.csv")), 48, iterations, steps)
        };
        let (_, said) = compared(dir.path(), &[6, 8].map(run));
        assert_eq!(judged(&said), Vec::<&String>::new(), "{ratio}");
    }
}
