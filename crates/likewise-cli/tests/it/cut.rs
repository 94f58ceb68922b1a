//! `likewise cut`.

use crate::support::*;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

fn cut_json(dir: &Path) -> Value {
    serde_json::from_str(&read(dir, "cut.json")).expect("JSON")
}

fn estimate<'v>(cut: &'v Value, name: &str) -> &'v Value {
    cut["estimates"].as_array().unwrap().iter().find(|e| e["name"] == name).expect("an estimate")
}

/// Sum of the durations, and of a counter, of all bursts of a trace.
fn sums(trace: &Path, out: &Path) -> (u64, f64) {
    succeeds(&[
        "bursts",
        text(trace),
        "--eps",
        "0.02",
        "--min-points",
        "2",
        "--no-trace",
        "-q",
        "-o",
        text(out),
    ]);
    let bursts = read(out, "bursts.csv");
    let names: Vec<&str> = bursts.lines().next().unwrap().split(',').collect();
    let place = |name: &str| names.iter().position(|n| *n == name).unwrap();
    let (duration, counter) = (place("duration_ns"), place("PAPI_TOT_INS"));
    let rows = bursts.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
    rows.fold((0, 0.0), |(time, sum), row| {
        (time + row[duration].parse::<u64>().unwrap(), sum + row[counter].parse::<f64>().unwrap_or(0.0))
    })
}

/// `likewise bursts` and `likewise cut` of one run; each numbers its own phases.
fn assert_same_period(bursts: &Path, cut: &Value) {
    let (mut one, mut other) = (summary(bursts)["period"].clone(), cut["period"].clone());
    assert!(one["first_phase"].take().is_u64() && other["first_phase"].take().is_u64());
    assert_eq!(one, other);
}

#[test]
fn two_hundred_iterations_become_one() {
    let dir = tempfile::tempdir().unwrap();
    succeeds(&["synth", "--tasks", "16", "--iterations", "200", "-q", "-o", text(dir.path())]);
    let (trace, out) = (dir.path().join("synth.prv"), dir.path().join("cut"));
    let call = succeeds(&["cut", text(&trace), "-o", text(&out)]);
    assert!(call.stdout.contains("all tasks (16)"), "{}", call.stdout);
    assert_eq!(names(&out), ["cut.json", "representatives.csv", "synth.pcf", "synth.prv", "synth.row"]);
    let cut = cut_json(&out);
    assert!((199..=200).contains(&cut["period"]["iterations"].as_u64().unwrap()), "{cut}");
    assert_eq!((&cut["kept"]["iterations"], &cut["within_limits"]), (&Value::from(1), &Value::from(true)));
    for what in ["records", "bytes", "time_ns", "bursts"] {
        assert!(cut["reduction"][what]["share"].as_f64().unwrap() <= 0.05, "{what}");
    }
    for name in ["computing time", "PAPI_TOT_INS", "PAPI_TOT_CYC"] {
        assert!(estimate(&cut, name)["error"].as_f64().unwrap().abs() <= 0.02, "{name}");
    }
    // What the program measured is what the cut trace holds when it is read.
    let (time, instructions) = sums(&out.join("synth.prv"), &dir.path().join("again"));
    let n = cut["period"]["iterations"].as_f64().unwrap();
    let near = |a: f64, b: &Value| (a / b.as_f64().unwrap() - 1.0).abs() < 1e-9;
    assert!(near(time as f64 * n, &estimate(&cut, "computing time")["estimated"]));
    assert!(near(instructions * n, &estimate(&cut, "PAPI_TOT_INS")["estimated"]));
    let rows = read(&out, "representatives.csv");
    assert!(rows.starts_with("phase,kind,task,thread,begin_ns,duration_ns,weight\n1,medoid,"));
    // Of the same run, both commands say the same.
    let whole = dir.path().join("whole");
    succeeds(&["bursts", text(&trace), "--no-trace", "-q", "-o", text(&whole)]);
    assert_same_period(&whole, &cut);
    // The cut itself has one iteration, and nothing more is cut off it.
    let again = likewise(&["cut", text(&out.join("synth.prv")), "-o", text(&dir.path().join("none"))]);
    assert_eq!(again.code, 1, "{}", again.stdout);
    assert!(again.stderr.contains("no period was found, so nothing was cut"), "{}", again.stderr);
    assert!(!dir.path().join("none").exists());
}

#[test]
fn any_number_of_threads_cuts_alike() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 6_000);
    let out = |threads: &str| {
        let out = dir.path().join(threads);
        succeeds(&["cut", text(&trace), "--threads", threads, "-q", "-o", text(&out)]);
        out
    };
    let (one, four) = (out("1"), out("4"));
    for name in ["synth.prv", "representatives.csv"] {
        assert_eq!(read(&one, name), read(&four, name), "{name}");
    }
    let (mut one, mut four) = (cut_json(&one), cut_json(&four));
    for own in ["trace", "timings", "peak_memory_bytes"] {
        one[own].take();
        four[own].take();
    }
    assert_eq!(one, four);
}

/// A trace of 4 tasks that run phases of those numbers in step.
fn trace_of(phases: &[usize]) -> String {
    let mut records = Vec::new();
    let mut now = 1_000u64;
    for (i, &phase) in phases.iter().enumerate() {
        let longest = 20_000 * (phase as u64 + 1) + 900;
        for task in 1..=4u64 {
            let duration = longest - (i as u64 * 7 + task * 131) % 800;
            let end = now + duration;
            records.push((now, format!("1:{task}:1:{task}:1:{now}:{end}:1")));
            let instructions = duration * (phase as u64 + 1);
            records.push((
                end,
                format!("2:{task}:1:{task}:1:{end}:42000050:{instructions}:42000059:{}", duration * 2),
            ));
        }
        now += longest + 500;
    }
    records.sort();
    let mut text = format!("#Paraver (01/01/26 at 10:00):{now}_ns:1(4):1:4(1:1,1:1,1:1,1:1)\n");
    records.iter().for_each(|(_, record)| writeln!(text, "{record}").unwrap());
    text
}

/// Sixteen tasks: `outer` times a step of 10 ms and 20 iterations of two short ones.
fn nested(outer: usize) -> String {
    let inner = [(1e6, 1.5, 16), (5e5, 0.6, 16)].repeat(20);
    in_step(&std::iter::once((1e7, 1.0, 16)).chain(inner).collect::<Vec<_>>().repeat(outer))
}

/// A trace of 16 tasks: steps of ns and instructions per cycle, which the first tasks do.
fn in_step(steps: &[(f64, f64, u64)]) -> String {
    const TASKS: u64 = 16;
    let mut state = 12_345u64;
    // Nearly normal.
    let mut spread = || {
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..12).map(|_| draw()).sum::<f64>() - 6.0
    };
    let (mut records, mut now) = (Vec::new(), 1_000u64);
    for &(ns, ipc, tasks) in steps {
        let mut last = now;
        for task in 1..=tasks {
            let duration = (ns * (0.02 * spread()).exp()) as u64;
            let end = now + duration;
            last = last.max(end);
            records.push((now, format!("1:{task}:1:{task}:1:{now}:{end}:1")));
            let (instructions, cycles) = ((duration as f64 * 2.0 * ipc) as u64, duration * 2);
            let counters = format!("42000050:{instructions}:42000059:{cycles}");
            records.push((end, format!("2:{task}:1:{task}:1:{end}:{counters}")));
        }
        now = last + 50_000;
    }
    records.sort();
    let tasks = vec!["1:1"; TASKS as usize].join(",");
    let mut text = format!("#Paraver (01/01/26 at 10:00):{now}_ns:1({TASKS}):1:{TASKS}({tasks})\n");
    records.iter().for_each(|(_, record)| writeln!(text, "{record}").unwrap());
    text
}

/// At one density half of the long bursts are noise, and the inner iterations repeat best.
#[test]
fn of_loops_in_loops_the_outer_one_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out, cut) = (dir.path().join("run.prv"), dir.path().join("out"), dir.path().join("cut"));
    std::fs::write(&trace, nested(20)).unwrap();
    succeeds(&["cut", text(&trace), "-q", "-o", text(&cut)]);
    let iterations = cut_json(&cut)["period"]["iterations"].as_u64().unwrap();
    assert!((19..=20).contains(&iterations), "{iterations}");
    succeeds(&["bursts", text(&trace), "--no-trace", "-q", "-o", text(&out)]);
    assert_same_period(&out, &cut_json(&cut));
    assert!(summary(&out)["noise_share"].as_f64().unwrap() < 0.02, "{}", summary(&out)["noise_share"]);
}

/// A short step of one task among long ones of all, some of which are noise: a stranger's run of
/// 60 iterations was told as 11, 29 or 8.
#[test]
fn of_a_phase_that_fills_nearly_all_of_the_run_all_iterations_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (dir.path().join("run.prv"), dir.path().join("out"));
    for short in [1e6, 3e6, 1e7] {
        std::fs::write(&trace, in_step(&[(1e8, 1.2, 16), (short, 0.5, 1)].repeat(60))).unwrap();
        succeeds(&["bursts", text(&trace), "--no-trace", "-q", "-o", text(&out)]);
        let period = &summary(&out)["period"];
        let iterations = period["iterations"].as_u64().unwrap();
        assert!((59..=60).contains(&iterations), "{short}: {period}");
    }
}

#[test]
fn where_nothing_repeats_nothing_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (dir.path().join("run.prv"), dir.path().join("out"));
    let mut state = 12_345u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as usize % 5
    };
    let random: Vec<usize> = (0..300).map(|_| draw()).collect();
    std::fs::write(&trace, trace_of(&random)).unwrap();
    let call = likewise(&["cut", text(&trace), "-o", text(&out)]);
    assert_eq!(call.code, 1, "{}", call.stdout);
    assert!(call.stderr.contains("no period was found, so nothing was cut"), "{}", call.stderr);
    assert!(!out.exists());
    succeeds(&["bursts", text(&trace), "-q", "-o", text(&out)]);
    assert_eq!(summary(&out)["period"]["periodic"], false);

    // The same phases in a loop do.
    std::fs::write(&trace, trace_of(&[0, 3, 1, 1, 4, 2].repeat(50))).unwrap();
    let cut = dir.path().join("cut");
    succeeds(&["cut", text(&trace), "-q", "-o", text(&cut)]);
    assert_eq!(cut_json(&cut)["period"]["iterations"], 50);
    // Refinement tells 97 phases apart here, and the period is none of its.
    succeeds(&["bursts", text(&trace), "-q", "-o", text(&out)]);
    assert_same_period(&out, &cut_json(&cut));
    // By hand, anything can be cut.
    let part = dir.path().join("part");
    succeeds(&["cut", text(&trace), "--from", "1ms", "--to", "2ms", "--keep-times", "-q", "-o", text(&part)]);
    assert!(read(&part, "run.prv").starts_with("#Paraver (01/01/26 at 10:00):2000000_ns:1(4)"));
    assert_eq!(cut_json(&part)["kept"]["from_ns"], 1_000_000);
    let wrong = likewise(&["cut", text(&trace), "--from", "2ms", "--to", "1ms", "-o", text(&part)]);
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
}

#[test]
fn behind_the_end_there_is_no_part() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (dir.path().join("run.prv"), dir.path().join("out"));
    std::fs::write(&trace, trace_of(&[0, 1])).unwrap();
    let end: u64 = read(dir.path(), "run.prv")[29..].split_once("_ns").unwrap().0.parse().unwrap();
    for from in [end, end + 1] {
        let from = format!("{from}ns");
        let call = likewise(&["cut", text(&trace), "--from", &from, "-o", text(&out)]);
        assert_eq!(call.code, 1, "{}", call.stdout);
        for figure in [from.replace("ns", " ns"), format!("{end} ns")] {
            assert!(call.stderr.contains(&figure), "{}", call.stderr);
        }
        assert!(!out.exists());
    }
    let last = format!("{}ns", end - 1);
    succeeds(&["cut", text(&trace), "--from", &last, "-q", "-o", text(&out)]);
    let kept = &cut_json(&out)["kept"];
    assert_eq!((kept["from_ns"].as_u64(), kept["to_ns"].as_u64()), (Some(end - 1), Some(end)));
}

#[test]
fn what_a_cut_by_hand_does_not_need_is_refused() {
    for given in [
        &["--keep", "1%"][..],
        &["--max-error", "1%"],
        &["--iterations", "2"],
        &["--eps", "0.1"],
        &["--min-points", "3"],
        &["--method", "xmeans"],
        &["--seed", "2"],
        &["-m", "PAPI_TOT_INS"],
        &["--min-duration", "5us"],
        &["--app", "1"],
        &["--pcf", "x.pcf"],
    ] {
        for bound in ["--from", "--to"] {
            let call = likewise(&[&["cut", "/no/such.prv", bound, "1ms"], given].concat());
            assert_eq!(call.code, 2, "{given:?}: {}", call.stderr);
        }
    }
    let call = likewise(&["cut", "/no/such.prv", "--from", "1ms", "--lenient", "--keep-times"]);
    assert_eq!(call.code, 1, "{}", call.stderr);
}

#[test]
fn more_iterations_than_there_are_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (dir.path().join("run.prv"), dir.path().join("out"));
    std::fs::write(&trace, trace_of(&[0, 3, 1, 1, 4, 2].repeat(50))).unwrap();
    let call = likewise(&["cut", text(&trace), "--iterations", "51", "-o", text(&out)]);
    assert!(call.code == 2 && call.stderr.contains("50"), "{}", call.stderr);
    assert!(!out.exists());
    succeeds(&["cut", text(&trace), "--iterations", "50", "--keep", "100%", "-q", "-o", text(&out)]);
    let call = succeeds(&["cut", text(&trace), "--keep", "0.0001%", "-o", text(&out)]);
    assert!(call.stdout.contains("keep 0.0001%"), "{}", call.stdout);
}

#[test]
fn a_cut_of_a_damaged_trace_says_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 4_000);
    assert!(std::process::Command::new("gzip").arg(&trace).status().unwrap().success());
    let (packed, out) = (dir.path().join("synth.prv.gz"), dir.path().join("out"));
    let bytes = std::fs::read(&packed).unwrap();
    std::fs::write(&packed, &bytes[..bytes.len() / 2]).unwrap();
    let cut = |from| {
        let call = succeeds(&["cut", text(&packed), "--from", from, "--lenient", "-o", text(&out)]);
        let notes = cut_json(&out)["notes"].to_string();
        assert!(call.stderr.contains("end early") && notes.contains("end early"), "{}", call.stderr);
        (call.stderr, notes)
    };
    assert!(!cut("0s").1.contains("is in the part"));
    let end = cut_json(&out)["kept"]["to_ns"].as_u64().unwrap() - 1;
    let (said, notes) = cut(&format!("{end}ns"));
    assert!(said.contains("is in the part") && notes.contains("is in the part"), "{said}");
}

#[test]
fn what_cannot_be_cut_is_refused_before_it_is_analysed() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (dir.path().join("run.csv"), dir.path().join("out"));
    std::fs::write(&trace, "task,thread,begin_ns,duration_ns\n1,1,0,50000\n").unwrap();
    for more in [&[][..], &["--from", "1us"]] {
        let refused = |trace: &str| likewise(&[&["cut", trace, "-o", text(&out)], more].concat());
        let csv = refused(text(&trace));
        assert!(csv.code == 1 && csv.stderr.contains("expected a Paraver trace"), "{}", csv.stderr);
        let pipe = refused("-");
        assert!(pipe.code == 1 && pipe.stderr.contains("write it to a file first"), "{}", pipe.stderr);
        assert!(!pipe.stderr.contains("--no-trace"), "{}", pipe.stderr);
    }
    let directory = likewise(&["cut", text(dir.path()), "-o", text(&out)]);
    assert!(
        directory.code == 1 && directory.stderr.contains("a folder without a recording"),
        "{}",
        directory.stderr
    );
    assert_eq!(likewise(&["cut", "/no/such.prv", "--keep", "0%"]).code, 2);
    assert!(!out.exists());
}

#[test]
fn the_input_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 4_000);
    let before = std::fs::read(&trace).unwrap();
    let call = likewise(&["cut", text(&trace), "-o", text(dir.path())]);
    assert_eq!(call.code, 1, "{}", call.stdout);
    assert!(call.stderr.contains("would be replaced"), "{}", call.stderr);
    assert_eq!(std::fs::read(&trace).unwrap(), before);
}

#[test]
fn epoch_keeps_a_part_of_the_region_that_repeats() {
    let Some(data) = shared_data() else { return };
    let dir = tempfile::tempdir().unwrap();
    succeeds(&["cut", text(&data.join("epoch/epoch_16proc.prv.gz")), "-q", "-o", text(dir.path())]);
    let cut = cut_json(dir.path());
    // Three of the last iterations; the long start is none of it.
    assert_eq!(cut["period"]["iterations"], 3, "{cut}");
    assert!(cut["period"]["region_ns"][0].as_u64().unwrap() > 1_400_000_000);
    assert_eq!(cut["within_limits"], true, "{cut}");
    let whole = dir.path().join("whole");
    let trace = data.join("epoch/epoch_16proc.prv.gz");
    succeeds(&["bursts", text(&trace), "--no-trace", "-q", "-o", text(&whole)]);
    assert_same_period(&whole, &cut);
    for what in ["records", "bytes", "bursts"] {
        assert!(cut["reduction"][what]["share"].as_f64().unwrap() <= 0.05, "{what}");
    }
    for (name, most) in [("computing time", 0.005), ("PAPI_TOT_INS", 0.02)] {
        assert!(estimate(&cut, name)["error"].as_f64().unwrap().abs() <= most, "{name}");
    }
    let info = succeeds(&["info", "--json", text(&dir.path().join("epoch_16proc.prv"))]);
    let info: Value = serde_json::from_str(&info.stdout).unwrap();
    assert_eq!(
        (info["applications"][0]["tasks"].as_u64(), info["warnings"].as_array().unwrap().len()),
        (Some(16), 0)
    );
    // Eight tasks of LULESH are one iteration, or none that is known.
    let lulesh = data.join("lulesh/lulesh_7+1.prv.gz");
    let call = likewise(&["cut", text(&lulesh), "-o", text(&dir.path().join("lulesh"))]);
    assert_eq!(call.code, 1, "{}", call.stdout);
}
