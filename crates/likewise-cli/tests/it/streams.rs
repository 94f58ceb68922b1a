//! Traces of programs that use accelerators: each stream is a thread there.

use crate::support::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// How long a kernel runs, in ns.
const KERNEL: u64 = 10_000_000;

/// A run of four tasks with a thread and two streams each, 20 steps: all threads compute for 2 ms
/// (± 1 %), launch a kernel on each stream, and wait for it. Kernels of task `slow` take half as
/// long again. Written as Extrae does, with the names of streams in the `.row` or without.
fn run(dir: &Path, slow: u64, with_names: bool) -> PathBuf {
    let mut records: Vec<(u64, String)> = Vec::new();
    let (mut now, mut names) = (1_000_000_u64, String::new());
    for step in 0..20 {
        let mut last = 0;
        for task in 1..=4 {
            let cpu = 3 * (task - 1) + 1;
            let computed = now + 2_000_000 + 7_919 * ((7 * step + 3 * task) % 6);
            let kernel = if task == slow { KERNEL * 3 / 2 } else { KERNEL };
            let done = computed + kernel;
            records.push((now, format!("1:{cpu}:1:{task}:1:{now}:{computed}:1")));
            records.push((computed, format!("1:{cpu}:1:{task}:1:{computed}:{done}:5")));
            for stream in 2..=3 {
                let cpu = cpu + stream - 1;
                let end = done - 1_000 * stream;
                records.push((computed, format!("2:{cpu}:1:{task}:{stream}:{computed}:63000006:1")));
                records.push((computed, format!("1:{cpu}:1:{task}:{stream}:{computed}:{end}:1")));
                records.push((end, format!("2:{cpu}:1:{task}:{stream}:{end}:63000006:0")));
            }
            last = last.max(done);
        }
        now = last + 100_000;
    }
    records.sort_by_key(|(time, _)| *time);
    let mut text = format!("#Paraver (x):{now}_ns:1(12):1:4(3:1,3:1,3:1,3:1)\n");
    records.iter().for_each(|(_, line)| writeln!(text, "{line}").expect("text has room"));
    let path = dir.join(format!("run{slow}.prv"));
    std::fs::write(&path, text).expect("a trace");
    if with_names {
        for task in 1..=4 {
            write!(names, "THREAD 1.{task}.1\nCUDA-D{task}.S1-n\nCUDA-D{task}.S2-n\n")
                .expect("text has room");
        }
        std::fs::write(path.with_extension("row"), format!("LEVEL THREAD SIZE 12\n{names}")).expect("names");
    }
    path
}

#[test]
fn streams_are_no_threads_that_compute() {
    let dir = tempfile::tempdir().expect("a place for files");
    for (slow, with_names) in [(0, true), (3, true), (3, false)] {
        let of = dir.path().join(format!("{slow}{with_names}"));
        std::fs::create_dir(&of).expect("a folder");
        let (trace, out) = (run(&of, slow, with_names), of.join("out"));
        let call = succeeds(&["bursts", text(&trace), "-o", text(&out)]);
        let summary = summary(&out);
        assert_eq!((&summary["bursts"], &summary["tasks"]), (&80.into(), &4.into()));
        let streams = &summary["streams"];
        assert_eq!((&streams["count"], &streams["read"]), (&8.into(), &false.into()), "{streams}");
        // What threads compute is even, whatever kernels do.
        assert_eq!(summary["findings"], serde_json::json!([]), "{}", call.stdout);
        assert_eq!(summary["serial"], serde_json::json!([]));
        let told = call.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("not of kernels on accelerators"), "{told}");
        if slow == 3 {
            assert_eq!(
                (&streams["most"]["task"], &streams["least"]["task"]),
                (&3.into(), &1.into()),
                "{streams}"
            );
        }
        let first = if with_names { "CUDA-D1.S1-n" } else { "thread 1.2" };
        let note = format!("8 threads are streams of accelerators (the first is {first})");
        let all = [&*call.stdout, &*call.stderr, &*read(&out, "report.html")];
        assert!(all[0].contains(&note) || all[1].contains(&note), "{}\n{}", all[0], all[1]);
        assert!(all[2].contains(&note), "the page");
    }
    let info = succeeds(&["info", text(&dir.path().join("3true/run3.prv"))]);
    assert!(
        info.stdout.contains("4 tasks, 12 threads, of which 8 are streams of accelerators"),
        "{}",
        info.stdout
    );
}

#[test]
fn kernels_are_bursts_if_asked_for_and_not_compared_as_threads() {
    let dir = tempfile::tempdir().expect("a place for files");
    let (even, slow) = (run(dir.path(), 0, true), run(dir.path(), 3, true));
    let (out, kernels) = (dir.path().join("out"), ["--burst-events", "63000006"]);
    let call = succeeds(&[&["bursts", text(&slow), "-o", text(&out)], &kernels[..]].concat());
    let summary = summary(&out);
    assert_eq!((&summary["bursts"], &summary["streams"]["read"]), (&160.into(), &true.into()));
    assert!(summary["findings"].is_null(), "{}", summary["findings"]);
    assert!(call.stdout.contains("bursts are on streams of accelerators"), "{}", call.stdout);
    // Threads have none of these bursts, and are not told to lack any.
    assert!(!call.stderr.contains("no figure"), "{}", call.stderr);
    let call = likewise(&[&["compare", text(&even), text(&slow), "--"], &kernels[..]].concat());
    assert_ne!(call.code, 0, "{}", call.stdout);
    assert!(call.stderr.contains("no threads that compute"), "{}", call.stderr);
    // Ranks by their kernels may be compared: one takes half as long again.
    let call = succeeds(
        &[&["ranks", text(&slow), "-o", text(&dir.path().join("ranks")), "--"], &kernels[..]].concat(),
    );
    assert!(call.stdout.contains("(task 3)") && call.stdout.contains("(× 1.50)"), "{}", call.stdout);
}

#[test]
fn the_option_that_makes_bursts_of_kernels_is_named_where_it_is_taken() {
    let dir = tempfile::tempdir().expect("a place for files");
    let trace = run(dir.path(), 0, true);
    let out = dir.path().join("out");
    for (command, is_named) in [("bursts", true), ("ranks", false)] {
        let call = succeeds(&[command, text(&trace), "-o", text(&out)]);
        assert!(call.stderr.contains("and are left out"), "{command}: {}", call.stderr);
        assert_eq!(call.stderr.contains("--burst-events"), is_named, "{command}: {}", call.stderr);
        std::fs::remove_dir_all(&out).expect("it was made");
    }
}

#[test]
fn a_trace_with_streams_is_not_retimed() {
    for with_names in [true, false] {
        let dir = tempfile::tempdir().expect("a place for files");
        let (trace, out) = (run(dir.path(), 0, with_names), dir.path().join("out"));
        succeeds(&["bursts", text(&trace), "--no-trace", "-o", text(&out)]);
        let times = dir.path().join("half.csv");
        std::fs::write(&times, "phase,ratio\n1,0.5\n").expect("a table");
        let (bursts, to) = (out.join("bursts.csv"), dir.path().join("to"));
        let call = retime([&trace, &bursts, &times, &to]);
        assert_eq!(call.code, 1, "{}", call.stdout);
        assert!(call.stderr.contains("is a stream of an accelerator"), "{}", call.stderr);
    }
}
