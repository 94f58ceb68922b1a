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
