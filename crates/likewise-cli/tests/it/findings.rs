//! What to look at first, on made-up runs with one known defect.

use crate::support::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const KINDS: [&str; 6] = ["none", "imbalance", "serial", "slow-ranks", "low-ipc", "stall"];

/// A made-up run: its defect, and the findings of `likewise bursts`.
struct Made {
    defect: Value,
    findings: Vec<Value>,
    stdout: String,
    /// The true phases, from 1 in the program's order, of each found phase,
    /// by how many bursts.
    truth: BTreeMap<u64, BTreeMap<String, usize>>,
    /// Of each true phase the time of each task, as a share of the run.
    times: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Made {
    /// The share of the run that the task with most time in these true phases
    /// takes longer than the mean.
    fn lost(&self, phases: &[u64]) -> f64 {
        let mut times: BTreeMap<&str, f64> = BTreeMap::new();
        let of_phase = |phase: &u64| self.times.get(&phase.to_string());
        for (task, time) in phases.iter().filter_map(of_phase).flatten() {
            *times.entry(task).or_default() += time;
        }
        times.values().copied().fold(0.0, f64::max) - times.values().sum::<f64>() / times.len() as f64
    }
}

fn made(kind: &str, tasks: u32, seed: u64, more: &[&str]) -> Made {
    let dir = tempfile::tempdir().unwrap();
    let (size, seed) = (tasks.to_string(), seed.to_string());
    let options = ["--tasks", &size, "--seed", &seed, "--iterations", "20", "--json", "-o", text(dir.path())];
    let call = succeeds(&[&["synth", "--defect", kind][..], &options, more].concat());
    let json: Value = serde_json::from_str(&call.stdout).unwrap();
    let out = dir.path().join("out");
    let call = succeeds(&["bursts", text(&dir.path().join("synth.prv")), "--no-trace", "-o", text(&out)]);
    let findings = summary(&out)["findings"].as_array().expect("a list").clone();
    let (truth, times) = truth_of_phases(dir.path(), &out);
    Made { defect: json["defect"].clone(), findings, stdout: call.stdout, truth, times }
}

type Truth = (BTreeMap<u64, BTreeMap<String, usize>>, BTreeMap<String, BTreeMap<String, f64>>);

fn truth_of_phases(input: &Path, out: &Path) -> Truth {
    let rows = |dir: &Path, name: &str| {
        let table = read(dir, name);
        let mut rows: Vec<(String, String, [f64; 2])> = table
            .lines()
            .skip(1)
            .map(|line| {
                let cells: Vec<&str> = line.split(',').collect();
                let number = |at: usize| cells.get(at).and_then(|cell| cell.parse().ok()).unwrap_or(0.0);
                (cells[..3].join(","), cells[cells.len() - 1].to_owned(), [number(2), number(3)])
            })
            .collect();
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        rows
    };
    let mut truth: BTreeMap<u64, BTreeMap<String, usize>> = BTreeMap::new();
    let (mut times, mut end): (BTreeMap<String, BTreeMap<String, f64>>, f64) = (BTreeMap::new(), 0.0);
    for (found, true_phase) in rows(out, "bursts.csv").into_iter().zip(rows(input, "truth.csv")) {
        assert_eq!(found.0, true_phase.0);
        let [begin, duration] = found.2;
        end = end.max(begin + duration);
        let task = found.0.split(',').next().expect("a task").to_owned();
        *times.entry(true_phase.1.clone()).or_default().entry(task).or_default() += duration;
        if let Ok(phase) = found.1.parse() {
            *truth.entry(phase).or_default().entry(true_phase.1).or_default() += 1;
        }
    }
    times.values_mut().flat_map(BTreeMap::values_mut).for_each(|time| *time /= end);
    (truth, times)
}

/// Why the first finding does not name the defect, if it does not.
fn misses(made: &Made) -> Option<String> {
    let (defect, findings) = (&made.defect, &made.findings);
    let wanted = match defect["kind"].as_str().expect("a kind") {
        "none" => return (!findings.is_empty()).then(|| format!("found {findings:?}")),
        "stall" => "one-off",
        kind => kind,
    };
    let Some(first) = findings.first() else { return Some(format!("nothing found of {defect}")) };
    let factor = defect["factor"].as_f64().expect("a factor");
    // The phase found with most of its time: the true one has the same number,
    // but that slow ranks are one more cluster of it.
    let phase = defect["phase"].as_u64().expect("a phase");
    let of_phase = |id: &Value| {
        let clusters = &made.truth[&id.as_u64().expect("a number")];
        let most = clusters.iter().max_by_key(|(_, n)| **n).expect("a cluster").0;
        most == &phase.to_string() || (wanted == "slow-ranks" && most == &(phase + 1).to_string())
    };
    let phases = first["phases"].as_array().expect("a list");
    // The bursts of one task among very many may be in no phase that is found.
    let is_noise = || {
        let found = made.truth.values().any(|clusters| clusters.contains_key(&phase.to_string()));
        !found && phases.is_empty() && first["noise"] == true
    };
    let right = first["kind"] == wanted
        && (wanted == "imbalance" || first["tasks"] == defect["tasks"])
        && (phases.first().is_some_and(of_phase) || is_noise())
        && (wanted != "slow-ranks"
            || (first["times"].as_f64().expect("a factor") / factor - 1.0).abs() < 0.05);
    (!right).then(|| format!("{defect}: {first}"))
}

#[test]
fn the_first_finding_names_the_defect_and_a_sound_run_has_none() {
    for (kind, tasks, seed) in KINDS.into_iter().flat_map(|kind| [(kind, 4, 3), (kind, 16, 5)]) {
        let made = made(kind, tasks, seed, &[]);
        assert_eq!(misses(&made), None, "{kind}, {tasks} tasks, seed {seed}");
        let says = if kind == "none" { "Nothing stands out" } else { "What to look at first:\n1. " };
        assert!(made.stdout.contains(says), "{}", made.stdout);
        for finding in &made.findings {
            let share = finding["share"].as_f64().expect("a share");
            assert!((0.005..1.0).contains(&share) && finding["begin_ns"].is_u64(), "{finding}");
        }
    }
}

/// Issue 11: each with its size within 5 %.
#[test]
fn two_ranks_twice_as_slow_in_one_phase_are_found_with_their_factor() {
    let options = ["--defect-phase", "2", "--defect-tasks", "3,4", "--defect-factor", "2"];
    let made = made("slow-ranks", 16, 1, &options);
    let first = &made.findings[0];
    assert_eq!((&first["kind"], &first["tasks"]), (&"slow-ranks".into(), &vec![3, 4].into()), "{first}");
    assert!((first["times"].as_f64().unwrap() / 2.0 - 1.0).abs() < 0.05, "{first}");
    assert_eq!(made.findings.len(), 1, "told once: {:?}", made.findings);
}

#[test]
fn a_rank_that_is_slow_in_all_phases_is_told_once() {
    let options = ["--defect-phase", "all", "--defect-tasks", "5", "--defect-factor", "1.4"];
    let made = made("slow-ranks", 8, 2, &options);
    let first = &made.findings[0];
    assert!(first["text"].as_str().unwrap().contains("in all phases"), "{first}");
    assert!((first["times"].as_f64().unwrap() / 1.4 - 1.0).abs() < 0.05, "{first}");
    assert_eq!(made.findings.len(), 1, "told once: {:?}", made.findings);
}

/// Seeds that no rule was set on; the others are in
/// [`every_kind_and_size_of_all_seeds`].
#[test]
fn three_other_seeds_of_every_kind() {
    let missed: Vec<String> = (KINDS.into_iter())
        .flat_map(|kind| (101..104).map(move |seed| (kind, seed)))
        .filter_map(|(kind, seed)| misses(&made(kind, 8, seed, &[])))
        .collect();
    assert_eq!(missed, Vec::<String>::new());
}

/// At most one in twenty runs may be missed, and none without a defect.
fn count_misses(name: &str, kind: &str, found: &[Option<String>]) -> Option<String> {
    let missed: Vec<&str> = found.iter().flatten().map(String::as_str).collect();
    println!("{name}: {} of {} {}", found.len() - missed.len(), found.len(), missed.join("\n  "));
    let allowed = if kind == "none" { 0 } else { found.len() / 20 };
    (missed.len() > allowed).then(|| format!("{name}: {} missed", missed.len()))
}

/// All that docs/findings.md speaks of with `LIKEWISE_SEEDS=40`.
#[test]
fn every_kind_and_size_of_all_seeds() {
    let worst: Vec<String> = (KINDS.into_iter())
        .flat_map(|kind| [4, 8, 16, 64].map(|tasks| (kind, tasks)))
        .filter_map(|(kind, tasks)| {
            let found: Vec<_> = seeds(1).map(|seed| misses(&made(kind, tasks, seed, &[]))).collect();
            count_misses(&format!("{kind}, {tasks} tasks"), kind, &found)
        })
        .collect();
    assert_eq!(worst, Vec::<String>::new());
}

/// Factors that are asked for, in a phase that is asked for and may be small:
/// what costs less than 0.5% of the run by the truth is not told. All else is.
#[test]
fn chosen_factors_are_found_where_they_are_worth_the_least_share() {
    let factors = [("imbalance", "1.3"), ("imbalance", "1.5"), ("imbalance", "3"), ("low-ipc", "3")];
    let slow = ["1.3", "1.5", "3"].map(|factor| ("slow-ranks", factor));
    let mut worst = Vec::new();
    for (kind, factor) in factors.into_iter().chain(slow) {
        let (mut found, mut small) = (Vec::new(), 0);
        for (tasks, seed) in
            [4, 16].into_iter().flat_map(|tasks| seeds(1).map(move |seed| (tasks, 20 + seed)))
        {
            let phase = 1 + seed % 8;
            let options = ["--defect-factor", factor, "--defect-phase", &phase.to_string()];
            let made = made(kind, tasks, seed, &options);
            // Slow ranks are one more cluster.
            let lost =
                if kind == "slow-ranks" { made.lost(&[phase, phase + 1]) } else { made.lost(&[phase]) };
            // As the slow tasks' time is told beside that of the last of the others,
            // which is some 5 % later than their mean, ten points of 1.3 may be gone.
            let least = if kind == "slow-ranks" { 0.0075 } else { 0.005 };
            if kind != "low-ipc" && lost < least && made.findings.is_empty() {
                small += 1;
            } else {
                found.push(misses(&made));
            }
        }
        println!("{kind}, × {factor}: {small} cost less than is told");
        worst.extend(count_misses(&format!("{kind}, × {factor}"), kind, &found));
    }
    assert_eq!(worst, Vec::<String>::new());
}

/// Two tasks of two threads: the first thread of each computes alone, then
/// both; task 2 takes 10 % longer over that.
#[test]
fn serial_time_in_tasks_and_imbalance_between_them_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let mut table = "task,thread,begin_ns,duration_ns,PAPI_TOT_INS,PAPI_TOT_CYC\n".to_owned();
    let mut row = |task: u64, thread: u64, begin: u64, duration: u64, instructions: u64| {
        let line = format!("{task},{thread},{begin},{duration},{instructions},{}\n", 2 * duration);
        table.push_str(&line);
    };
    for (task, thread) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        for step in 0..20 {
            let (begin, odd) = (step * 1_000_000, (7 * step + 3 * thread) % 5 * 300);
            if thread == 1 {
                row(task, thread, begin, 200_000 + odd, 500_000 + odd);
            }
            let region = 600_000 + 60_000 * (task - 1);
            row(task, thread, begin + 210_000, region + odd, 3 * region + odd);
        }
    }
    let path = dir.path().join("hybrid.csv");
    std::fs::write(&path, table).unwrap();
    let out = dir.path().join("out");
    let call = succeeds(&["bursts", text(&path), "--no-trace", "-o", text(&out)]);
    let findings = summary(&out)["findings"].clone();
    let texts: Vec<&str> = findings.as_array().unwrap().iter().map(|f| f["text"].as_str().unwrap()).collect();
    let [serial, between] = texts[..] else { panic!("{texts:?} {}", call.stdout) };
    assert!(serial.contains("serial. Thread 1 of each task computes for 4.01 ms while"), "{serial}");
    assert!(serial.contains("the others of its task wait. Spread over them, 10.1% of the run"), "{serial}");
    assert!(between.contains("the slowest task is 4.8% above the mean, task 2 takes longest"), "{between}");
    assert_eq!((&findings[0]["scope"], &findings[1]["scope"]), (&"task".into(), &"run".into()));
}

/// What `likewise bursts` prints of a table of 8 tasks and 30 steps of
/// `period` ns, whose bursts take 20,000 ns times `change`.
fn printed(name: &str, period: u64, change: impl Fn(u64, u64) -> f64) -> (String, Value) {
    printed_of(8, name, period, change)
}

/// The same of so many tasks.
fn printed_of(tasks: u64, name: &str, period: u64, change: impl Fn(u64, u64) -> f64) -> (String, Value) {
    let dir = tempfile::tempdir().unwrap();
    let mut table = "task,thread,begin_ns,duration_ns,PAPI_TOT_INS,PAPI_TOT_CYC\n".to_owned();
    for (task, step) in (1..=tasks).flat_map(|task| (0..30).map(move |step| (task, step))) {
        let duration = (20_000.0 * change(task, step)) as u64;
        let line =
            format!("{task},1,{},{duration},{},{duration}\n", step * period, 20_000 + 10_000 * (step % 2));
        table.push_str(&line);
    }
    let path = dir.path().join(name);
    std::fs::write(&path, table).unwrap();
    let out = dir.path().join("out");
    let call = succeeds(&[
        "bursts",
        text(&path),
        "--no-trace",
        "--metric",
        "PAPI_TOT_INS",
        "--min-duration",
        "1us",
        "-o",
        text(&out),
    ]);
    (call.stdout, summary(&out)["findings"].clone())
}

/// From 0.95 to 1.05, another task's last in each step.
fn even(task: u64, step: u64) -> f64 {
    0.95 + 0.1 * (((7 * task + 5 * step) % 8) as f64) / 7.0
}

#[test]
fn what_cannot_be_told_from_where_is_said_and_so_is_waiting() {
    let (chance, findings) = printed("chance.csv", 25_000, even);
    assert_eq!(findings, Value::Array(Vec::new()), "{chance}");
    assert!(!chance.contains("Nothing stands out"), "{chance}");
    assert!(chance.contains("the busiest one computes for 4.0% of the run more than"), "{chance}");
    // A phase may be worth more by what no finding looks for.
    let words: Vec<&str> = chance.split_whitespace().collect();
    let said = "cannot be told: nothing that is looked for (imbalance of a step, serial time, slow threads, a time in \
                which most threads are slower, single long bursts, an IPC of at most half of the others') is worth \
                0.5% of the run and more than chance";
    assert!(words.join(" ").contains(said), "{chance}");
    let late = |task: u64, step: u64| if task == 3 { 1.5 } else { even(task, step) };
    let (waiting, findings) = printed("waiting.csv", 80_000, late);
    assert_eq!(findings[0]["kind"], "slow-ranks", "{findings}");
    assert!(waiting.contains("No thread computes in 61."), "{waiting}");
}

#[test]
fn since_when_tasks_are_slow_and_that_several_are_late_together_is_said() {
    let slow = |task: u64, step: u64| if task > 6 && step >= 15 { 1.4 } else { 1.0 };
    let (_, findings) = printed("slow.csv", 30_000, slow);
    assert_eq!((&findings[0]["from_ns"], &findings[0]["tasks"]), (&450_000.into(), &vec![7, 8].into()));
    let said = findings[0]["text"].as_str().unwrap();
    assert!(said.starts_with("Tasks 7–8 take 1.40 times as long as the others in "), "{said}");
    assert!(said.contains(" from 450 µs on, for the same instructions"), "{said}");
    let late = |task: u64, step: u64| if task < 4 && step == 7 { 2.0 } else { 1.0 };
    let (_, findings) = printed("late.csv", 50_000, late);
    let said = findings[0]["text"].as_str().unwrap();
    assert!(said.contains("asks 1–3 take 40.0 µs once, at 350 µs, where the others take 20.0 µs"), "{said}");
    let few = |task: u64, _: u64| if task == 8 { 0.5 } else { 1.0 };
    let (_, findings) = printed("few.csv", 30_000, few);
    let said = findings[0]["text"].as_str().unwrap();
    assert!(
        said.contains("task 8 takes 0.50 times as long as the others for the same instructions"),
        "{said}"
    );
}

/// A filter says what is grouped; threads compute also while it leaves their bursts out.
#[test]
fn what_a_filter_leaves_out_is_no_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let options = ["--tasks", "8", "--seed", "1", "--iterations", "20", "-q", "-o", text(dir.path())];
    for (kind, expected) in [("none", None), ("slow-ranks", Some("slow-ranks"))] {
        succeeds(&[&["synth", "--defect", kind][..], &options].concat());
        let run = |filter: &[&str]| {
            let (trace, out) = (dir.path().join("synth.prv"), dir.path().join("out"));
            let arguments = ["bursts", text(&trace), "--no-trace", "-o", text(&out)];
            let call = succeeds(&[&arguments[..], filter].concat());
            assert!(!call.stdout.contains("No thread computes in"), "{kind} {filter:?}: {}", call.stdout);
            let found = summary(&out)["findings"].as_array().expect("a list").clone();
            found.into_iter().next()
        };
        for filter in [&[][..], &["--keep-time", "50%"], &["--keep-time", "80%"]] {
            let first = run(filter);
            let told = first.as_ref().map(|first| first["kind"].as_str().unwrap_or_default().to_owned());
            assert_eq!(told.as_deref(), expected, "{filter:?}: {first:?}");
        }
    }
}

/// A trace of 4 tasks on some CPUs, 40 ms long, of states: task, begin and end in µs, and value.
fn trace_of(dir: &Path, cpus: u32, mut states: Vec<(u32, u64, u64, u32)>) -> String {
    states.sort_unstable_by_key(|&(task, begin, ..)| (begin, task));
    let mut lines = format!("#Paraver (01/01/26 at 00:00):40000_us:1({cpus}):1:4(1:1,1:1,1:1,1:1)\n");
    for (task, begin, end, value) in states {
        lines += &format!("1:1:1:{task}:1:{begin}:{end}:{value}\n");
    }
    let path = dir.join("run.prv");
    std::fs::write(&path, lines).unwrap();
    text(&path).to_owned()
}

/// The findings of a trace, and all that is printed.
fn told_of(dir: &Path, trace: &str) -> (Value, String) {
    let out = dir.join("out");
    let call = succeeds(&["bursts", trace, "--no-trace", "-o", text(&out)]);
    (summary(&out)["findings"].clone(), call.stderr + &call.stdout)
}

/// Tasks that compute one after the other wait for one another, or for the only CPU.
#[test]
fn who_may_wait_for_a_cpu_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let state = |task: u32, step: u64| {
        let begin = 1_000 * step + 250 * u64::from(task - 1);
        (task, begin, begin + 250, 1)
    };
    let states: Vec<_> = (1..5).flat_map(|task| (0..40).map(move |step| state(task, step))).collect();
    let (findings, printed) = told_of(dir.path(), &trace_of(dir.path(), 4, states.clone()));
    assert!(findings.as_array().is_some_and(|list| !list.is_empty()), "{printed}");
    assert!(printed.contains("would be won") && !printed.contains("for 4 threads"), "{printed}");
    let (findings, printed) = told_of(dir.path(), &trace_of(dir.path(), 1, states));
    assert_eq!(findings, Value::Array(Vec::new()));
    assert!(printed.contains("the trace names 1 CPU for 4 threads"), "{printed}");
    assert!(!printed.contains("would be won") && !printed.contains("Serial, while"), "{printed}");
}

/// All tasks do the same; task 3 is not traced in the first 15 ms, or waits there.
#[test]
fn who_is_not_traced_does_not_wait() {
    let dir = tempfile::tempdir().unwrap();
    let states = |value: u32| {
        let state = |task: u32, step: u64| (task, 1_000 * step, 1_000 * step + 900, 1);
        let all = (1..5).flat_map(|task| (0..40).map(move |step| state(task, step)));
        let traced = all.filter(|&(task, begin, ..)| task != 3 || begin >= 15_000);
        traced.chain([(3, 0, 15_000, value)]).collect::<Vec<_>>()
    };
    let (findings, printed) = told_of(dir.path(), &trace_of(dir.path(), 4, states(3)));
    assert!(findings.as_array().is_some_and(|list| !list.is_empty()), "{printed}");
    assert!(!printed.contains("Tracing was off"), "{printed}");
    let trace = trace_of(dir.path(), 4, states(14));
    let (findings, printed) = told_of(dir.path(), &trace);
    assert_eq!(findings, Value::Array(Vec::new()), "{printed}");
    assert!(printed.contains("Tracing was off for 15.0 ms of the time of all threads"), "{printed}");
    assert!(printed.contains("--from 15000000ns"), "{printed}");
    let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("threads compute for 90.0% of the run"), "{printed}");
    assert!(words.contains("“The run” is the time from 15.0 ms to 40.0 ms here"), "{printed}");
    // Who calls that state otherwise does not mean this.
    let named = |name: &str| {
        std::fs::write(dir.path().join("run.pcf"), format!("STATES\n1 Running\n14 {name}\n")).unwrap();
        told_of(dir.path(), &trace).1.contains("Tracing was off")
    };
    assert!(named("Tracing Disabled") && !named("Remote wait"));
}

/// Others may wait for the bursts of low IPC, or who has them may wait anyway.
#[test]
fn of_a_low_ipc_it_is_said_what_the_mean_thread_would_win() {
    let (_, findings) = printed("low.csv", 80_000, |_, step| if step % 2 == 1 { 3.2 } else { 1.0 });
    assert_eq!((findings.as_array().map(Vec::len), &findings[0]["kind"]), (Some(1), &"low-ipc".into()));
    let said = findings[0]["text"].as_str().unwrap();
    assert!(
        said.contains("the mean thread would compute for 2") && said.contains("of the run less. (The"),
        "{said}"
    );
    assert!(
        said.contains("wins more if others wait for these bursts") && !said.contains("at most"),
        "{said}"
    );
    let (_, findings) = printed("sound.csv", 80_000, |_, _| 1.0);
    assert_eq!(findings, Value::Array(Vec::new()));
}

#[test]
fn of_one_thread_it_is_said_what_it_usually_takes() {
    let (_, findings) =
        printed_of(1, "stall.csv", 250_000, |_, step| if step == 11 { 10.0 } else { even(1, step) });
    assert_eq!((&findings[0]["kind"], &findings[0]["itself"]), (&"one-off".into(), &true.into()));
    let said = findings[0]["text"].as_str().unwrap();
    assert!(said.starts_with("Task 1 takes 200 µs once, at 2.75 ms, where it usually takes "), "{said}");
    let (_, findings) = printed_of(1, "alone.csv", 250_000, even);
    assert_eq!(findings, Value::Array(Vec::new()));
}

/// Four tasks that do as much in turn: each begins a step when the one before has nearly done it, so
/// no step is uneven and none has a moment at which no thread computes. Or all at once.
#[test]
fn serial_phases_of_even_turns_are_to_be_looked_at_first() {
    let dir = tempfile::tempdir().expect("a place for files");
    for in_turn in [true, false] {
        let mut table = "task,thread,begin_ns,duration_ns\n".to_owned();
        for step in 0..40_u64 {
            for task in 0..4 {
                let place = if in_turn { (task + step) % 4 } else { 0 };
                let (begin, long) =
                    (2_000_000 * step + 475_000 * place, 500_000 + 700 * ((3 * step + task) % 5));
                table.push_str(&format!("{},1,{begin},{long}\n", task + 1));
            }
        }
        let (input, out) = (dir.path().join("turns.csv"), dir.path().join(format!("{in_turn}")));
        std::fs::write(&input, table).expect("a table");
        let call = succeeds(&["bursts", text(&input), "-o", text(&out)]);
        let (stdout, found) = (call.stdout.replace('\n', " "), summary(&out));
        let is_serial = found["serial"].as_array().is_some_and(|phases| !phases.is_empty());
        assert_eq!(is_serial, in_turn, "{stdout}");
        assert_eq!(found["findings"], serde_json::json!([]), "{stdout}");
        assert_eq!(stdout.contains("Look at the serial phases first"), in_turn, "{stdout}");
        assert_eq!(stdout.contains("Nothing stands out"), !in_turn, "{stdout}");
    }
}
