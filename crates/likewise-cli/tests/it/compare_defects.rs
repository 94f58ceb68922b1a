//! `likewise compare` of made-up runs with one known defect, beside runs without.

use crate::support::{succeeds, summary, text};
use serde_json::Value;
use std::path::{Path, PathBuf};

const SEEDS: u64 = 20;
const NOTHING: &str = "Every phase keeps an efficiency of 80.0% or more.";

/// A made-up run on so many tasks.
fn made(dir: &Path, name: &str, tasks: usize, seed: u64, args: &[&str]) -> PathBuf {
    let out = dir.join(name);
    let (tasks, seed) = (tasks.to_string(), seed.to_string());
    let fixed = ["synth", "-q", "--phases", "5", "--iterations", "12", "--tasks", &tasks, "--seed", &seed];
    succeeds(&[&fixed[..], &["--name", name, "-o", text(&out)], args].concat());
    out.join(format!("{name}.prv"))
}

fn compared(dir: &Path, runs: &[PathBuf]) -> Value {
    let out = dir.join("out");
    let files: Vec<&str> = runs.iter().map(|run| text(run)).collect();
    succeeds(&[&["compare", "-q", "-o", text(&out)], &files[..]].concat());
    summary(&out)
}

fn findings(summary: &Value) -> Vec<&str> {
    summary["findings"].as_array().unwrap().iter().map(|said| said.as_str().unwrap()).collect()
}

/// The phases of which something is said, and the last run's figures of each.
fn told<'a>(summary: &'a Value, key: &str) -> Vec<&'a Value> {
    let phases = summary["phases"].as_array().unwrap().iter();
    phases
        .filter(|phase| !phase[key].is_null())
        .map(|p| p["runs"].as_array().unwrap().last().unwrap())
        .collect()
}

fn near(x: &Value, expected: f64) -> bool {
    x.as_f64().is_some_and(|x| (x / expected - 1.0).abs() < 0.05)
}

#[test]
fn a_phase_that_grows_with_the_tasks_is_named_with_its_size() {
    let dir = tempfile::tempdir().unwrap();
    for seed in 0..SEEDS {
        let run = |tasks: usize| {
            let args = ["--defect", "grows", "--defect-factor", "1.2"];
            made(dir.path(), &format!("on{tasks}"), tasks, seed, &args)
        };
        let found = compared(dir.path(), &[run(4), run(16)]);
        assert_eq!(found["scaling"], "strong", "seed {seed}");
        let stops = told(&found, "stops_at");
        let [grown] = stops[..] else { panic!("seed {seed}: {:?}", findings(&found)) };
        // Twice as many tasks, twice: a task has 1.44 times the work, of 4 times as many.
        let factor = &grown["factors"]["instruction_scalability"];
        assert!(near(factor, 1.0 / (4.0 * 1.44)), "seed {seed}: {factor}");
        let said = findings(&found);
        assert!(
            said.iter().any(|said| said.contains("stops scaling at 16 tasks")
                && said.starts_with("Phase ")
                && said.contains("more instructions, × 0.17")),
            "seed {seed}: {said:?}"
        );
    }
}

#[test]
fn nothing_is_found_in_sound_runs_on_4_8_16_and_64_tasks() {
    let dir = tempfile::tempdir().unwrap();
    for seed in 0..SEEDS {
        let run = |tasks: usize| made(dir.path(), &format!("on{tasks}"), tasks, seed, &["--defect", "none"]);
        let found = compared(dir.path(), &[4, 8, 16, 64].map(run));
        assert_eq!(findings(&found), [NOTHING], "seed {seed}");
        assert_eq!(found["scaling"], "strong", "seed {seed}");
        assert!(found["match"].as_f64() > Some(0.9), "seed {seed}: {}", found["match"]);
    }
}

#[test]
fn a_phase_of_a_third_of_the_ipc_is_slower_by_so_much() {
    let dir = tempfile::tempdir().unwrap();
    for seed in 0..5 {
        let sound = made(dir.path(), "sound", 12, seed, &["--defect", "none"]);
        for factor in ["2", "3", "8"] {
            let args = ["--defect", "low-ipc", "--defect-phase", "3", "--defect-factor", factor];
            let slow = made(dir.path(), "slow", 12, seed, &args);
            let found = compared(dir.path(), &[sound.clone(), slow]);
            let slower = told(&found, "slower_in");
            let [phase] = slower[..] else { panic!("seed {seed}, {factor}: {:?}", findings(&found)) };
            let factor: f64 = factor.parse().unwrap();
            assert!(near(&phase["factors"]["ipc_scalability"], 1.0 / factor), "seed {seed}: {phase}");
            assert!(near(&phase["speedup"], 1.0 / factor), "seed {seed}: {phase}");
            assert!(phase["match"].as_f64() > Some(0.9), "seed {seed}: {phase}");
        }
    }
}

#[test]
fn a_stall_is_one_burst_and_no_load_balance() {
    let dir = tempfile::tempdir().unwrap();
    for seed in 0..5 {
        let sound = made(dir.path(), "sound", 12, seed, &["--defect", "none"]);
        let stalled = made(dir.path(), "stalled", 12, seed, &["--defect", "stall", "--defect-tasks", "7"]);
        let found = compared(dir.path(), &[sound, stalled]);
        let said = findings(&found);
        assert_eq!(said[0], "No phase is slower or faster by 5.0% or more.", "seed {seed}: {said:?}");
        assert!(said[1].starts_with("One burst of phase ") && said[1].contains("of task 7 at "), "{said:?}");
        assert_eq!(said.len(), 2, "seed {seed}: {said:?}");
        let all = found["phases"].as_array().unwrap().iter().flat_map(|p| p["runs"].as_array().unwrap());
        let one_offs: Vec<&Value> = all.flat_map(|run| run["one_offs"].as_array().unwrap()).collect();
        assert_eq!(one_offs.len(), 1, "seed {seed}");
        assert_eq!(one_offs[0]["task"], 7);
    }
}
