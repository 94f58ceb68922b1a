//! `likewise compare` of made-up runs with one known defect, beside runs without.

use crate::support::{seeds, succeeds, summary, text};
use serde_json::Value;
use std::path::{Path, PathBuf};

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
    for seed in seeds(6) {
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
    for seed in seeds(6) {
        let run = |tasks: usize| made(dir.path(), &format!("on{tasks}"), tasks, seed, &["--defect", "none"]);
        let found = compared(dir.path(), &[4, 8, 16, 64].map(run));
        let [clock, rest @ ..] = &findings(&found)[..] else { panic!("seed {seed}: {found}") };
        assert!(
            clock.starts_with("From begin to end") && !clock.contains("With more"),
            "seed {seed}: {clock}"
        );
        assert_eq!(rest, [NOTHING], "seed {seed}");
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

/// Bursts of a program with a collective after each step, as a table: `step`
/// tells the µs and the IPC of a task in each step, or that it does nothing.
/// After each step all wait for `wait` µs.
fn program(
    dir: &Path,
    name: &str,
    (tasks, steps, wait): (u64, u64, u64),
    step: impl Fn(u64, u64) -> Option<(u64, f64)>,
) -> PathBuf {
    program_that_waits(dir, name, (tasks, steps), |_| wait, step)
}

/// The same; `wait` tells how long all wait after each step.
fn program_that_waits(
    dir: &Path,
    name: &str,
    (tasks, steps): (u64, u64),
    wait: impl Fn(u64) -> u64,
    step: impl Fn(u64, u64) -> Option<(u64, f64)>,
) -> PathBuf {
    let mut bursts = vec![Vec::new(); tasks as usize];
    let mut begin = 0;
    for k in 0..steps {
        let mut end = begin;
        for task in 1..=tasks {
            let Some((time, ipc)) = step(task, k) else { continue };
            // Up to half a percent more or less, without a pattern.
            let noise = mixed(task, k, tasks) % 101;
            let time = time * (9_950 + noise) / 10;
            end = end.max(begin + time);
            let instructions = time as f64 * 2.0 * ipc;
            let cycles = time * 2;
            bursts[task as usize - 1].push(format!("{task},1,{begin},{time},{instructions:.0},{cycles}"));
        }
        begin = end + 1_000 * wait(k);
    }
    let rows = bursts.concat().join("\n");
    let file = dir.join(name);
    let header = "task,thread,begin_ns,duration_ns,PAPI_TOT_INS,PAPI_TOT_CYC";
    std::fs::write(&file, format!("{header}\n{rows}\n")).unwrap();
    file
}

/// Numbers that look like chance (the multipliers are SplitMix64's and others
/// of its kind).
fn mixed(task: u64, k: u64, tasks: u64) -> u64 {
    let of = |x: u64, by: u64| x.wrapping_mul(by);
    let x = of(task, 0x9E37_79B9_7F4A_7C15)
        .wrapping_add(of(k, 0xD1B5_4A32_D192_ED03))
        .wrapping_add(of(tasks, 0x8CB9_2BA7_2F3D_8DD7));
    let x = (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ (x >> 32)
}

/// 30 iterations of four steps, after a start: the usual program on `tasks`.
fn usual(tasks: u64, k: u64) -> Option<(u64, f64)> {
    let (start, a, b, c, d) = ((20_000, 0.8), (8_000, 1.6), (3_600, 2.2), (5_300, 0.9), (1_300, 1.9));
    let shared = |(time, ipc): (u64, f64)| (time / tasks, ipc);
    Some(if k == 0 { start } else { [shared(a), shared(b), shared(c), shared(d)][(k as usize - 1) % 4] })
}

const STEPS: u64 = 1 + 4 * 30;

fn says(said: &[&str], what: &str) -> bool {
    said.iter().any(|said| said.contains(what))
}

#[test]
fn a_phase_that_one_run_lacks_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let all = program(dir.path(), "all.csv", (8, STEPS, 20), |_, k| usual(4, k));
    let less =
        program(dir.path(), "less.csv", (8, STEPS, 20), |_, k| usual(4, k).filter(|_| k == 0 || k % 4 != 2));
    for (runs, lacks) in [([&all, &less], "less"), ([&less, &all], "less")] {
        let found = compared(dir.path(), &runs.map(Clone::clone));
        let said = findings(&found);
        assert!(says(&said, &format!("of all) is not found in {lacks}: ")), "{said:?}");
        assert!(!says(&said, "No phase is"), "{said:?}");
    }
    let said = compared(dir.path(), &[all.clone(), all]);
    assert_eq!(findings(&said), ["No phase is slower or faster by 5.0% or more."]);
}

#[test]
fn what_a_phase_loses_is_of_the_task_that_computes_longest() {
    let dir = tempfile::tempdir().unwrap();
    let run = |tasks: u64| {
        program(dir.path(), &format!("on{tasks}.csv"), (tasks, STEPS, 20), |task, k| {
            let (time, ipc) = usual(tasks, k)?;
            Some((if tasks == 16 && task == 7 && k % 4 == 1 && k > 0 { 2 * time } else { time }, ipc))
        })
    };
    let found = compared(dir.path(), &[run(4), run(16)]);
    let said = findings(&found);
    // The start: 20 ms, of which a quarter was to be kept; task 7 has 15 ms more.
    let start = 15.0 / (15.0 + 30.0 * 0.5);
    let part: Option<f64> = said.iter().find_map(|said| {
        let (_, part) = said.split_once("Of what the task that computes longest loses, phase ")?;
        part.split_once(" is ")?.1.trim_end_matches("%.").parse().ok()
    });
    assert!(part.is_some_and(|part| (part / 100.0 - start).abs() < 0.02), "{said:?}");
}

#[test]
fn more_work_of_one_task_is_not_called_waiting() {
    let dir = tempfile::tempdir().unwrap();
    // Task 1 has a serial step of its own, so it computes longest at first.
    let run = |name: &str, times: u64, wait: u64| {
        program(dir.path(), name, (8, 1 + 3 * 30, wait), |task, k| match k {
            0 => Some((5_000, 0.8)),
            k if k % 3 == 1 => (task == 1).then_some((1_000, 1.2)),
            k if k % 3 == 2 => Some((2_000 * if task == 8 { times } else { 10 } / 10, 1.6)),
            _ => Some((1_500, 0.9)),
        })
    };
    let base = run("base.csv", 10, 20);
    let uneven = compared(dir.path(), &[base.clone(), run("uneven.csv", 16, 20)]);
    let said = findings(&uneven);
    assert!(!says(&said, "waiting, communication and I/O of"), "{said:?}");
    assert!(says(&said, "The run is longer in uneven than in base"), "{said:?}");
    assert!(
        says(&said, "task 8 computes 146 ms against 110 ms; task 1 computes 140 ms against 140 ms"),
        "{said:?}"
    );
    let waits = compared(dir.path(), &[base, run("waits.csv", 10, 400)]);
    let said = findings(&waits);
    assert!(says(&said, "waiting, communication and I/O of the thread that computes longest"), "{said:?}");
}

#[test]
fn work_that_is_divided_in_part_is_strong_scaling_or_not_known() {
    let dir = tempfile::tempdir().unwrap();
    // Which of the four steps every task repeats.
    let run = |tasks: u64, repeated: &[u64]| {
        let name = format!("on{tasks}.csv");
        let repeats = repeated.to_vec();
        program(dir.path(), &name, (tasks, STEPS, 20), move |_, k| {
            let is_repeated = k > 0 && repeats.contains(&((k - 1) % 4));
            usual(if is_repeated { 4 } else { tasks }, k)
        })
    };
    for repeated in [&[1][..], &[0], &[1, 3], &[1, 2]] {
        let found = compared(dir.path(), &[run(4, repeated), run(16, repeated)]);
        let said = findings(&found);
        assert_eq!(found["scaling"], "strong", "{repeated:?}: {said:?}");
        assert!(says(&said, "stops scaling at 16 tasks") && !says(&said, "keeps"), "{repeated:?}: {said:?}");
    }
    let mostly = compared(dir.path(), &[run(4, &[0, 1, 2]), run(16, &[0, 1, 2])]);
    let said = findings(&mostly);
    assert!(says(&said, "Whether this is strong or weak scaling cannot be told: phases with "), "{said:?}");
    let either = "As weak scaling no phase falls below an efficiency of 80.0%; as strong scaling phases 1, 2, 3 and 4 fall";
    assert!(says(&said, either) && !says(&said, "keeps"), "{said:?}");
}

/// A serial step may be a large part of the wall time, and hardly any of what many tasks compute.
#[test]
fn a_serial_step_with_little_of_the_computing_is_no_phase_that_keeps() {
    let dir = tempfile::tempdir().unwrap();
    let run = |tasks: u64| {
        program(dir.path(), &format!("on{tasks}.csv"), (tasks, 3 * 30, 20), |task, k| match k % 3 {
            0 => Some((19_200 / tasks, 1.6)),
            1 => (task == 1).then_some((150, 0.8)),
            _ => Some((16_000 / tasks, 0.9)),
        })
    };
    let found = compared(dir.path(), &[run(8), run(32)]);
    let said = findings(&found);
    assert!(says(&said, "Phase 3 (up to 11.4% of the wall time) stops scaling at 32 tasks"), "{said:?}");
    assert!(says(&said, "Phase 3 is serial") && !says(&said, "keeps"), "{said:?}");
}

#[test]
fn a_serial_step_like_another_on_fewer_tasks_is_not_said_to_be_new() {
    let dir = tempfile::tempdir().unwrap();
    // On four tasks the first step does about as much as the serial one.
    let run = |tasks: u64| {
        program(dir.path(), &format!("on{tasks}.csv"), (tasks, 1 + 5 * 20, 20), |task, k| match k {
            0 => Some((20_000, 0.8)),
            k if k % 5 == 0 => (task == 1).then_some((1_850, 1.5)),
            k => usual(tasks, k % 5),
        })
    };
    let found = compared(dir.path(), &[run(4), run(16)]);
    let said = findings(&found);
    assert!(!says(&said, "it is not serial"), "{said:?}");
    let phases = found["phases"].as_array().unwrap().iter();
    let serial = |phase: &&Value| phase["cause"] == "serial";
    for phase in phases.filter(serial) {
        let runs = phase["runs"].as_array().unwrap();
        assert!(runs.iter().all(|run| run["phase_threads"] == 1), "{phase}");
    }
}

/// A start, iterations of four steps and one that `root` alone does, and an end
/// that executes as many instructions as the first step on six tasks.
fn with_serial(dir: &Path, name: &str, (tasks, iterations): (u64, u64), root: Option<u64>) -> PathBuf {
    let last = 1 + 5 * iterations;
    program(dir, name, (tasks, last + 1, 20), |task, k| match k {
        0 => Some((20_000, 0.8)),
        k if k == last => Some((1_100, 1.9)),
        k if k % 5 == 0 => (Some(task) == root).then_some((900, 1.5)),
        k => usual(tasks, k % 5),
    })
}

#[test]
fn a_serial_step_is_one_phase_whatever_the_tasks_the_iterations_and_who_does_it() {
    let dir = tempfile::tempdir().unwrap();
    for (few, many) in [((6, 20), (24, 30)), ((4, 18), (16, 18)), ((6, 31), (16, 24))] {
        for is_last in [false, true] {
            let run = |(tasks, n): (u64, u64)| {
                let root = if is_last { tasks } else { 1 };
                with_serial(dir.path(), &format!("on{tasks}.csv"), (tasks, n), Some(root))
            };
            let found = compared(dir.path(), &[run(few), run(many)]);
            let said = findings(&found);
            let phases = found["phases"].as_array().unwrap();
            let serial = phases.iter().filter(|phase| phase["cause"] == "serial");
            let runs: Vec<&Vec<Value>> = serial.map(|phase| phase["runs"].as_array().unwrap()).collect();
            assert!(!runs.is_empty(), "{few:?}, {many:?}: {said:?}");
            for run in runs.into_iter().flatten() {
                assert!(run["phase_threads"] == 1 && run["serial"] == true, "{few:?}, {many:?}: {run}");
            }
            assert_eq!(found["scaling"], "strong", "{few:?}, {many:?}: {said:?}");
            assert!(says(&said, "is serial, one task computes while no other does"), "{said:?}");
            assert!(!says(&said, "it is not serial"), "{few:?}, {many:?}: {said:?}");
        }
    }
}

#[test]
fn a_serial_step_that_one_run_has_more_is_computing_and_no_waiting() {
    let dir = tempfile::tempdir().unwrap();
    for (n, more, root) in [(25, 30, 1), (30, 30, 8), (40, 22, 3)] {
        let without = with_serial(dir.path(), "without.csv", (8, n), None);
        let with = with_serial(dir.path(), "with.csv", (8, more), Some(root));
        let found = compared(dir.path(), &[without, with]);
        let said = findings(&found);
        assert!(says(&said, " is longer in with than in without, "), "{n}, {more}: {said:?}");
        assert!(says(&said, &format!(": computing; task {root} computes ")), "{n}, {more}: {said:?}");
        assert!(says(&said, " is serial, one task computes while no other does"), "{n}, {more}: {said:?}");
        assert!(!says(&said, "load balance"), "{n}, {more}: {said:?}");
        assert!(!says(&said, "it is not serial"), "{n}, {more}: {said:?}");
        assert!(says(&said, "Of the phases known to be the same, none is slower"), "{n}, {more}: {said:?}");
    }
}

#[test]
fn the_end_of_a_program_is_found_whatever_its_iterations() {
    let dir = tempfile::tempdir().unwrap();
    for (n, more) in [(25, 50), (50, 25), (30, 34)] {
        let run = |name: &str, n| with_serial(dir.path(), name, (6, n), None);
        let found = compared(dir.path(), &[run("a.csv", n), run("b.csv", more)]);
        let said = findings(&found);
        assert!(!says(&said, "not found"), "{n}, {more}: {said:?}");
        assert!(says(&said, "No phase is slower or faster"), "{n}, {more}: {said:?}");
    }
}

#[test]
fn what_a_few_iterations_take_is_told_beside_the_usual_one() {
    let dir = tempfile::tempdir().unwrap();
    for (n, every) in [(30, 5), (42, 7), (40, 4)] {
        let io = |k: u64| if k > 0 && k.is_multiple_of(4 * every) { 20_000 } else { 20 };
        let base = program(dir.path(), "base.csv", (8, 1 + 4 * 30, 20), |_, k| usual(4, k));
        let with = program_that_waits(dir.path(), "io.csv", (8, 1 + 4 * n), io, |_, k| usual(4, k));
        for runs in [[&base, &with], [&with, &base]] {
            let said = compared(dir.path(), &runs.map(Clone::clone));
            let said = findings(&said);
            let first =
                said.iter().find(|said| said.contains("waiting, communication and I/O of the thread"));
            assert!(first.is_some_and(|said| said.contains(" iterations of io")), "{n}, {every}: {said:?}");
            assert!(says(&said, "are longer than any of base; the median is "), "{n}, {every}: {said:?}");
        }
    }
}

/// Short and long waits after each step, in µs.
const WAITS: [u64; 2] = [20, 3_000];

/// Nothing was said of runs that spend their time in waiting: every phase kept its efficiency.
#[test]
fn time_outside_of_computing_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let run = |tasks: u64, wait: u64| {
        // Without the start, which each task does as a whole.
        let step = |_, k| usual(tasks, k + 1);
        program(dir.path(), &format!("on{tasks}_{wait}.csv"), (tasks, STEPS - 1, wait), step)
    };
    let few = run(4, WAITS[0]);
    let found = compared(dir.path(), &[few.clone(), run(16, WAITS[1])]);
    let said = findings(&found);
    assert!(says(&said, "keeps an efficiency of 80.0% or more"), "{said:?}");
    assert!(says(&said, "By the clock, the task that computes longest computes for"), "{said:?}");
    assert!(says(&said, "of the time on 16 tasks, and for 9"), "{said:?}");
    let found = compared(dir.path(), &[few, run(16, WAITS[0] / 4)]);
    assert!(!says(&findings(&found), "By the clock"), "{:?}", findings(&found));
}

/// The slower of two runs on 4 tasks hid that 16 tasks are too many.
#[test]
fn what_stops_is_told_of_runs_with_more_threads() {
    let dir = tempfile::tempdir().unwrap();
    let slower = |tasks: u64, k: u64| usual(tasks, k).map(|(time, ipc)| (time * 7 / 5, ipc / 1.4));
    let old = program(dir.path(), "old.csv", (4, STEPS, 20), |_, k| usual(4, k));
    let new = program(dir.path(), "new.csv", (4, STEPS, 20), |_, k| slower(4, k));
    let more = program(dir.path(), "more.csv", (16, STEPS, 5), |_, k| slower(16, k));
    let found = compared(dir.path(), &[old, new, more]);
    let said = findings(&found);
    assert!(says(&said, "All computation together stops scaling at 16 tasks"), "{said:?}");
    assert!(!says(&said, NOTHING), "{said:?}");
}

#[test]
fn too_few_repetitions_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let short = |iterations: u64, name: &str, times: u64| {
        program(dir.path(), name, (8, 1 + 4 * iterations, 20), |_, k| {
            usual(4, k).map(|(time, ipc)| (times * time, ipc / times as f64))
        })
    };
    let found = compared(dir.path(), &[short(4, "short.csv", 1), short(4, "twice.csv", 2)]);
    let said = findings(&found).join(" ");
    assert!(said.contains("can be timed, and five of each are needed"), "{said}");
}

#[test]
fn of_unlike_programs_no_phase_is_said_to_be_as_fast() {
    let dir = tempfile::tempdir().unwrap();
    let other = |_: u64, k: u64| Some([(31_000, 0.4), (700, 3.1), (90, 0.2)][(k as usize) % 3]);
    let runs = [
        program(dir.path(), "one.csv", (8, STEPS, 20), |_, k| usual(4, k)),
        program(dir.path(), "other.csv", (8, 60, 20), other),
    ];
    let found = compared(dir.path(), &runs);
    let said = findings(&found).join(" ");
    assert!(!said.contains("Of the phases known to be the same, none"), "{said}");
    assert!(said.contains("none is known to be the same in two runs"), "{said}");
}
