//! Bad input and bad outputs: what is said, and that nothing is half-written.

use crate::support::*;
use std::fmt::Write;
use std::path::Path;

const HEADER: &str = "#Paraver (01/01/2026 at 00:00):1000_ns:1(2):1:2(1:1,1:1),0\n";

const LENIENT: &str = "; --lenient skips such records";

fn fails(trace: &Path, what: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let call = likewise(&["bursts", text(trace), "-o", text(&out)]);
    assert_eq!(call.code, 1, "{}", call.stderr);
    for part in what {
        assert!(call.stderr.contains(part), "'{part}' is not in: {}", call.stderr);
    }
    let advised = what.iter().any(|part| part.contains("--lenient"));
    assert_eq!(call.stderr.contains("--lenient"), advised, "{}", call.stderr);
    assert!(call.stdout.is_empty(), "{}", call.stdout);
    assert!(!out.exists() || names(&out).is_empty(), "something was written");
}

#[test]
fn broken_traces_are_named_with_file_line_and_what_was_expected() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("bad.prv");
    let cases: [(&str, &[&str]); 6] = [
        ("", &["bad.prv", "empty"]),
        ("hello\n", &["bad.prv", "#Paraver"]),
        ("#Paraver (01/01/2026 at 00:00):zero_ns:1(2):1:2(1:1,1:1)\n", &["bad.prv:1", "header"]),
        ("1:1:1:1:1:0:x:1\n", &["bad.prv:2", "expected an end time", "'x'", LENIENT]),
        ("1:1:1:3:1:0:10:1\n", &["bad.prv:2", "1.3.1", "header", LENIENT]),
        ("1:1:1:1:1:0:10:1\n1:1:1:1:1:20", &["bad.prv:3", "; --lenient skips the line"]),
    ];
    for (i, (body, what)) in cases.into_iter().enumerate() {
        let header = if i < 3 { "" } else { HEADER };
        std::fs::write(&trace, format!("{header}{body}")).unwrap();
        fails(&trace, what);
    }
}

/// A table has no states.
#[test]
fn a_table_without_a_burst_is_told_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("t.csv"), dir.path().join("out"));
    let says = |rows: &str, args: &[&str]| {
        std::fs::write(&path, format!("task,thread,begin_ns,duration_ns\n{rows}")).unwrap();
        let call = likewise(&[&["bursts", text(&path), "-o", text(&out)], args].concat());
        assert!(call.code == 1 && !call.stderr.contains("Running"), "{}", call.stderr);
        call.stderr
    };
    let said = says("x,1,0,5\n", &["--lenient"]);
    assert!(said.contains("there is no burst: no row of the table could be read as one"), "{said}");
    let said = says("1,1,0,5\n", &["--app", "2"]);
    assert!(said.contains("there is no burst in application 2"), "{said}");
}

#[test]
fn lenient_goes_on_and_says_how_many_were_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("bad.prv");
    let mut body = String::from(HEADER);
    for i in 0..40 {
        body += &format!(
            "1:1:1:1:1:{}:{}:1\n2:1:1:1:1:{}:42000050:{}\n",
            i * 20,
            i * 20 + 15,
            i * 20 + 15,
            1000 + i % 3
        );
    }
    body += "1:1:1:1:1:oops:1\n";
    std::fs::write(&trace, body).unwrap();
    fails(&trace, &["bad.prv:82", LENIENT]);
    let out = dir.path().join("out");
    let call = succeeds(&[
        "bursts",
        text(&trace),
        "--lenient",
        "--eps",
        "0.1",
        "--min-points",
        "3",
        "-o",
        text(&out),
    ]);
    assert!(call.stdout.contains("phase"), "{}", call.stdout);
    let notes = summary(&out)["notes"].to_string();
    assert!(notes.contains("skipped"), "{notes}");
    assert_eq!(summary(&out)["bursts"], 40);
}

/// Real traces of tasks of COMPSs have these: the clock of a worker is not the master's.
#[test]
fn states_that_end_before_they_begin_are_told_and_make_findings_uncertain() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (dir.path().join("odd.prv"), dir.path().join("out"));
    // Task 2 computes four times as long.
    let mut body = String::from(HEADER).replace("1000_ns", "4000000_ns");
    for i in 0..40u64 {
        for task in 1..=2u64 {
            let (begin, end) = (i * 100_000, i * 100_000 + 20_000 * task * task);
            writeln!(body, "1:1:1:{task}:1:{begin}:{end}:1").unwrap();
        }
    }
    std::fs::write(&trace, &body).unwrap();
    let told = |out: &Path| {
        let call = succeeds(&["bursts", text(&trace), "--no-trace", "-o", text(out)]);
        let summary = summary(out);
        assert_eq!(summary["bursts"], 80);
        (call.stdout, summary["notes"].to_string(), summary["findings"].clone())
    };
    let (_, _, findings) = told(&out);
    assert!(!findings.as_array().unwrap().is_empty(), "the imbalance");
    std::fs::write(&trace, body + "1:1:1:2:1:3990000:5:1\n1:1:1:2:1:3990000:6:1\n").unwrap();
    let (shown, notes, findings) = told(&dir.path().join("again"));
    assert!(notes.contains("odd.prv:82: a state ends before it begins"), "{notes}");
    assert!(notes.contains("2 states end before they begin"), "{notes}");
    assert!(findings.is_null() && shown.contains("What to look at first cannot be told"), "{shown}");
    let info = succeeds(&["info", text(&trace)]).stdout;
    assert!(info.contains("States not read 2"), "{info}");
    // What compares the work of threads has not all of it.
    let out = dir.path().join("none");
    for args in [vec!["ranks", text(&trace)], vec!["compare", text(&trace), text(&trace)]] {
        let call = likewise(&[&args[..], &["-o", text(&out)]].concat());
        assert_eq!((call.code, out.exists()), (1, false), "{}", call.stderr);
        assert!(call.stderr.contains("what each thread computes is not known"), "{}", call.stderr);
        assert!(call.stderr.contains("(-- --burst-events TYPE)"), "{}", call.stderr);
    }
    // By hand it is the same, so that is no advice.
    for by in [&[][..], &["--from", "0s"]] {
        let call = likewise(&[&["cut", text(&trace), "-o", text(&out)], by].concat());
        assert_eq!((call.code, out.exists()), (1, false), "{}", call.stderr);
        assert!(call.stderr.contains("no part of it can be cut out"), "{}", call.stderr);
        assert!(!call.stderr.contains("by hand"), "{}", call.stderr);
    }
}

/// `ranks` and `compare` take what is for reading behind `--`, `bursts` and `cut` as it is.
#[test]
fn what_makes_bursts_of_events_is_named_as_the_command_takes_it() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (dir.path().join("events.prv"), dir.path().join("out"));
    std::fs::write(&trace, format!("{HEADER}2:1:1:1:1:10:63000006:1\n2:1:1:1:1:90:63000006:0\n")).unwrap();
    let path = text(&trace);
    for (command, option) in [
        (&["bursts", path][..], "and --burst-events TYPE makes"),
        (&["cut", path], "and --burst-events TYPE makes"),
        (&["ranks", path], "and -- --burst-events TYPE makes"),
        (&["compare", path, path], "and -- --burst-events TYPE makes"),
    ] {
        let none = likewise(&[command, &["-o", text(&out)]].concat());
        assert!(none.code == 1 && none.stderr.contains(option), "{command:?}: {}", none.stderr);
        // As it is advised, the events are read.
        let before: &[&str] = if option.contains("-- -") { &["--"] } else { &[] };
        let given = [command, &["-o", text(&out)], before, &["--burst-events", "63000006"]].concat();
        let read = likewise(&given);
        assert!(read.code != 2 && !read.stderr.contains("no Running state"), "{given:?}: {}", read.stderr);
    }
}

/// A run of tasks or of user functions may have a Running state for each thread, and no more.
#[test]
fn few_bursts_among_many_events_are_told_what_makes_more() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (dir.path().join("tasks.prv"), dir.path().join("out"));
    let mut body = String::from(HEADER).replace("1000_ns", "9000000_ns");
    for task in 1..=2 {
        writeln!(body, "1:1:1:{task}:1:0:9000000:1").unwrap();
    }
    for i in 0..300u64 {
        let value = if i % 2 == 0 { 7 } else { 0 };
        writeln!(body, "2:1:1:{}:1:{}:60000019:{value}", 1 + i / 2 % 2, 1_000 + i * 25_000).unwrap();
    }
    std::fs::write(&trace, body).unwrap();
    succeeds(&["bursts", text(&trace), "--no-trace", "-q", "-o", text(&out)]);
    let notes = summary(&out)["notes"].to_string();
    assert!(notes.contains("2 bursts") && notes.contains("--burst-events TYPE"), "{notes}");
    let of_events = ["bursts", text(&trace), "--burst-events", "60000019", "--no-trace", "-q", "-o"];
    let again = dir.path().join("again");
    succeeds(&[&of_events[..], &[text(&again)]].concat());
    let summary = summary(&again);
    assert_eq!(summary["bursts"], 150);
    assert!(!summary["notes"].to_string().contains("--burst-events"), "{}", summary["notes"]);
}

/// As in a trace of COMPSs: task 1 hands tasks out, and executes none.
#[test]
fn tasks_without_events_are_told_and_so_is_time_without_any() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("tasks.prv");
    let run = |workers: u64, name: &str, command: &[&str]| {
        let all = workers + 1;
        let threads = vec!["1:1"; all as usize].join(",");
        let mut body = format!("#Paraver (01/01/2026 at 00:00):10000000_ns:1({all}):1:{all}({threads}),0\n");
        for (i, task) in (0..20u64).flat_map(|i| (2..=all).map(move |task| (i, task))) {
            let begin = i * 500_000;
            let end = begin + 130_000 + 1_000 * (task % 2);
            writeln!(body, "2:1:1:{task}:1:{begin}:8000000:7\n2:1:1:{task}:1:{end}:8000000:0").unwrap();
        }
        std::fs::write(&trace, body).unwrap();
        let out = dir.path().join(name);
        let before: &[&str] = if command[0] == "ranks" { &["--"] } else { &[] };
        let of_events = [before, &["--burst-events", "8000000"]].concat();
        let call = likewise(&[command, &[text(&trace), "-o", text(&out)], &of_events].concat());
        (call, out)
    };
    let (call, out) = run(3, "three", &["ranks"]);
    assert_eq!(call.code, 0, "{}", call.stderr);
    assert!(call.stderr.contains("Task 1 has no burst of the chosen events"), "{}", call.stderr);
    let ranks = std::fs::read_to_string(out.join("ranks.csv")).unwrap();
    let tasks = ranks.lines().map(|line| line.rsplit(',').next().unwrap());
    assert_eq!(tasks.collect::<Vec<_>>(), ["task", "2", "3", "4"]);
    let (call, out) = run(1, "one", &["ranks"]);
    assert_eq!((call.code, out.exists()), (1, false), "{}", call.stderr);
    assert!(call.stderr.contains("only task 2 has bursts of the chosen events"), "{}", call.stderr);
    let said = run(3, "bursts", &["bursts", "--no-trace"]).0.stdout;
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let begin = "1 of 4 tasks has no burst and is in no figure. Of the others: no thread is in a burst of the chosen \
                 events in 73.8% of the run;";
    assert!(words.contains(begin) && words.contains("In them, nothing stands out"), "{words}");
}

/// Bandwidths that a tool has sampled begin nothing and end nothing.
#[test]
fn values_are_no_bursts() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (dir.path().join("values.prv"), dir.path().join("out"));
    let mut body = String::from(HEADER).replace("1000_ns", "9000000_ns");
    for i in 1..90u64 {
        let (task, value) = (1 + i % 2, if i == 40 { 0 } else { 500 + i });
        writeln!(body, "2:1:1:{task}:1:{}:94000001:{value}", i * 100_000).unwrap();
    }
    let write = |more: &str| std::fs::write(&trace, format!("{body}{more}")).unwrap();
    let run = |args: &[&str]| likewise(&[args, &["-o", text(&out)]].concat());
    write("");
    let bursts = ["bursts", text(&trace), "--no-trace"];
    let call = run(&bursts);
    assert!(
        call.code == 1 && call.stderr.contains("those of 1 type have values and no ends"),
        "{}",
        call.stderr
    );
    assert!(!call.stderr.contains("--burst-events"), "{}", call.stderr);
    // Those that can be are named.
    write("2:1:1:1:1:8900000:8000000:3\n2:1:1:1:1:8950000:8000000:0\n");
    let call = run(&bursts);
    assert!(call.stderr.contains("begin and end something, here 8000000"), "{}", call.stderr);
    // A program may mark its iterations so: these are read, and no more is said of them than is known.
    let call = run(&[&bursts[..], &["--burst-events", "94000001"]].concat());
    assert!(call.stderr.contains("have values and no ends (1 of 89 are 0)"), "{}", call.stderr);
    assert!(call.stdout.contains("What to look at first is not said"), "{}", call.stdout);
    let call = likewise(&["ranks", text(&trace), "-o", text(&out), "--", "--burst-events", "94000001"]);
    assert!(call.code == 1 && call.stderr.contains("ranks cannot be compared"), "{}", call.stderr);
}

#[test]
fn of_one_task_with_bursts_among_several_imbalance_cannot_be_told() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (dir.path().join("one.prv"), dir.path().join("out"));
    let mut body = String::from(HEADER).replace("1000_ns", "400000_ns");
    for i in 0..4u64 {
        writeln!(body, "1:1:1:2:1:{}:{}:1", i * 100_000, (i + 1) * 100_000 - 10).unwrap();
    }
    std::fs::write(&trace, body).unwrap();
    let said = succeeds(&["bursts", text(&trace), "--no-trace", "-o", text(&out)]).stdout;
    assert!(said.contains("Only 1 of 2 tasks has bursts, so whether work is even cannot be told."), "{said}");
    assert!(!said.contains("Nothing stands out"), "{said}");
}

#[test]
fn one_burst_and_equal_bursts_are_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("t.csv");
    let out = dir.path().join("out");
    std::fs::write(&trace, "task,thread,begin_ns,duration_ns,A\n1,1,0,20000,5\n").unwrap();
    succeeds(&["bursts", text(&trace), "--eps", "0.1", "-q", "-o", text(&out)]);
    assert_eq!((summary(&out)["clusters"].as_u64(), summary(&out)["noise"].as_u64()), (Some(0), Some(1)));
    let rows: String = (0..50).map(|i| format!("1,1,{},20000,5\n", i * 30_000)).collect();
    std::fs::write(&trace, format!("task,thread,begin_ns,duration_ns,A\n{rows}")).unwrap();
    succeeds(&["bursts", text(&trace), "--eps", "0.1", "-q", "-o", text(&out)]);
    assert_eq!(summary(&out)["clusters"], 1);
}

#[test]
fn a_damaged_gzip_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 500);
    let status = std::process::Command::new("gzip").arg(&trace).status().unwrap();
    assert!(status.success());
    let packed = dir.path().join("synth.prv.gz");
    let bytes = std::fs::read(&packed).unwrap();
    std::fs::write(&packed, &bytes[..bytes.len() / 2]).unwrap();
    fails(&packed, &["synth.prv.gz", "gzip", "early", "; --lenient reads what is there"]);
    let compare =
        |file| likewise(&["compare", text(file), text(file), "-q", "-o", text(&dir.path().join("o"))]);
    let call = compare(&packed);
    assert!(call.stderr.contains("; -- --lenient reads what is there"), "{}", call.stderr);
    // Labels are all read, or none.
    let labels = dir.path().join("truth.csv.gz");
    assert!(std::process::Command::new("gzip").arg(dir.path().join("truth.csv")).status().unwrap().success());
    let packed_labels = std::fs::read(&labels).unwrap();
    std::fs::write(&labels, &packed_labels[..packed_labels.len() / 2]).unwrap();
    let call = likewise(&["compare", text(&labels), text(&labels)]);
    assert!(call.stderr.contains("early") && !call.stderr.contains("lenient"), "{}", call.stderr);
    // Nothing is there to be read.
    std::fs::write(&packed, &bytes[..5]).unwrap();
    let call = likewise(&["bursts", text(&packed), "-o", text(&dir.path().join("o"))]);
    assert!(call.stderr.contains("early") && !call.stderr.contains("lenient"), "{}", call.stderr);
}

#[test]
fn a_place_that_cannot_be_written_is_named_before_the_input_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("bad.prv");
    std::fs::write(&trace, format!("{HEADER}1:1:1:1:1:0:x:1\n")).unwrap();
    let bad = text(&trace);
    let calls: [&[&str]; 6] = [
        &["bursts", bad],
        &["cut", bad],
        &["compare", bad, bad],
        &["points", bad],
        &["align", bad],
        &["ranks", bad],
    ];
    for call in calls {
        let call = likewise(&[call, &["-o", "/proc/nowhere"]].concat());
        assert!(call.code == 1 && call.stderr.contains("/proc/nowhere"), "{}", call.stderr);
    }
}

#[test]
fn too_few_bursts_are_said_to_be() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (dir.path().join("t.csv"), dir.path().join("out"));
    std::fs::write(&trace, "task,thread,begin_ns,duration_ns,A\n1,1,0,20000,5\n").unwrap();
    let call = succeeds(&["bursts", text(&trace), "-o", text(&out)]);
    assert!(call.stdout.contains("refinement, min-points 2"), "{}", call.stdout);
    assert!(!read(&out, "report.html").contains("X-means"));
    let summary = summary(&out);
    assert!(summary["notes"].to_string().contains("too few bursts for a phase (1 burst; 3 are needed)"));
    let why = summary["period"]["why"].as_str().unwrap();
    assert_eq!(why, "no burst belongs to a phase");
}

#[test]
fn a_metric_takes_no_name_of_a_counter() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (synth(dir.path(), 500), dir.path().join("out"));
    let call = likewise(&["bursts", text(&trace), "-m", "PAPI_TOT_INS=PAPI_TOT_CYC", "-o", text(&out)]);
    assert!(call.code == 2 && call.stderr.contains("taken by a counter"), "{}", call.stderr);
}

#[test]
fn missing_files_and_unwritable_places_are_named() {
    fails(Path::new("/no/such/trace.prv"), &["/no/such/trace.prv", "cannot be read"]);
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 500);
    let call = likewise(&["bursts", text(&trace), "-o", "/proc/nowhere"]);
    assert_eq!(call.code, 1);
    assert!(call.stderr.contains("/proc/nowhere"), "{}", call.stderr);
}

#[test]
fn an_unknown_counter_lists_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 500);
    let call = likewise(&["bursts", text(&trace), "-m", "PAPI_TOT_INZ", "-o", text(&dir.path().join("out"))]);
    assert_eq!(call.code, 1);
    assert!(call.stderr.contains("PAPI_TOT_INS"), "{}", call.stderr);
}

#[test]
fn a_wrong_command_line_exits_with_two() {
    assert_eq!(likewise(&["bursts"]).code, 2);
    assert_eq!(likewise(&["bursts", "x.prv", "--keep-time", "nine"]).code, 2);
    assert_eq!(likewise(&["--help"]).code, 0);
    // Before the trace is even looked for.
    let wrong: [&[&str]; 7] = [
        &["--keep-time", "0%"],
        &["--eps", "0"],
        &["--k-max", "5"],
        &["--method", "xmeans", "--eps", "0.1"],
        &["--method", "xmeans", "--k-min", "9", "--k-max", "5"],
        &["-m", "cluster=PAPI_TOT_INS"],
        &["-m", "n_x=PAPI_TOT_INS"],
    ];
    for args in wrong {
        let call = likewise(&[&["bursts", "/no/such.prv"], args].concat());
        assert_eq!(call.code, 2, "{args:?}: {}", call.stderr);
    }
    assert_eq!(likewise(&["points", "x.npy", "--core", "--sample", "5"]).code, 2);
    assert_eq!(likewise(&["synth", "--name", "../x"]).code, 2);
}

/// Names in a trace are untrusted: gnuplot runs what stands between backticks
/// in double quotes, and a counter may have the name of a column.
#[test]
fn names_from_a_trace_run_nothing_and_hide_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("it's `touch x`.csv");
    let rows: String = (0..40).map(|i| format!("1,1,{},50,{},{i}\n", 100 * i, i % 2)).collect();
    std::fs::write(&trace, format!("task,thread,begin_ns,duration_ns,`id`,cluster_\n{rows}")).unwrap();
    let out = dir.path().join("out");
    succeeds(&["bursts", text(&trace), "--eps", "0.1", "-m", "`id`", "--no-trace", "-q", "-o", text(&out)]);
    let script = read(&out, "scatter.gnuplot");
    for line in script.lines().filter(|line| line.contains('`')) {
        assert!(!line.contains('"'), "{line}");
    }
    assert!(script.contains("set ylabel '`id`'"), "{script}");
    assert!(script.contains("it''s"), "{script}");
}

/// Every file appears, or none: a disk that fills up while writing.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 3_000);
    let out = dir.path().join("out");
    // The largest file may have 300 blocks; the labelled trace needs more.
    let script = format!(
        "ulimit -f 300; exec {} bursts {} -q -o {}",
        env!("CARGO_BIN_EXE_likewise"),
        trace.display(),
        out.display()
    );
    let call = finish(std::process::Command::new("bash").args(["-c", &script]).output().unwrap());
    assert_eq!(call.code, 1, "{}", call.stderr);
    assert!(call.stderr.contains("cannot be written"), "{}", call.stderr);
    assert!(!out.exists(), "nor the directory that was made for it");
}

/// Whenever it happens: before it is mapped, while it is read, or before it is copied.
#[test]
fn a_trace_that_is_cut_meanwhile_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 60_000);
    let whole = std::fs::read(&trace).unwrap();
    // Within a line, so that what is left is no whole trace.
    let middle = whole.len() / 2;
    let cut = middle + whole[middle..].iter().position(|&byte| byte == b'\n').unwrap() - 3;
    for after in [0, 20, 60, 120, 300, 600] {
        std::fs::write(&trace, &whole).unwrap();
        let out = dir.path().join("out");
        let mut command = command(&["bursts", text(&trace), "-q", "-o", text(&out)]);
        let child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(after));
        std::fs::OpenOptions::new().write(true).open(&trace).unwrap().set_len(cut as u64).unwrap();
        let call = finish(child.wait_with_output().unwrap());
        assert_eq!(call.code, 1, "after {after} ms: {}", call.stderr);
        assert_eq!(call.stderr.matches("error:").count(), 1, "after {after} ms: {}", call.stderr);
        let left = if out.exists() { names(&out) } else { Vec::new() };
        assert!(left.iter().all(|name| name.starts_with(".likewise")), "after {after} ms: {left:?}");
    }
}

#[test]
fn no_input_is_replaced_by_the_result() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 500);
    let out = dir.path().join("out");
    std::fs::create_dir(&out).unwrap();
    let definition = out.join("summary.json");
    std::fs::write(&definition, "eps = 0.03\n").unwrap();
    let call = likewise(&["bursts", text(&trace), "--definition", text(&definition), "-q", "-o", text(&out)]);
    assert_eq!(call.code, 1);
    assert!(call.stderr.contains("would be replaced"), "{}", call.stderr);
    assert_eq!(read(&out, "summary.json"), "eps = 0.03\n");
}

#[test]
fn a_cut_table_of_labels_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, cut) = (dir.path().join("whole.csv"), dir.path().join("cut.csv"));
    let rows = "task,thread,begin_ns,duration_ns,cluster\n1,1,0,5,1\n1,1,9,5,2\n";
    std::fs::write(&whole, rows).unwrap();
    std::fs::write(&cut, &rows[..rows.len() - 4]).unwrap();
    let call = likewise(&["compare", text(&cut), text(&whole)]);
    assert_eq!(call.code, 1);
    assert!(call.stderr.contains("cut.csv:3: expected 5 cells"), "{}", call.stderr);
}

/// Told to end, the program leaves nothing half-written.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_leaves_no_temporary_file() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let mut child =
        command(&["synth", "--tasks", "64", "--bursts", "50000000", "-q", "-o", text(&out)]).spawn().unwrap();
    let begun = || std::fs::read_dir(&out).is_ok_and(|files| files.count() > 0);
    while !begun() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let kill = format!("kill -TERM {}", child.id());
    assert!(std::process::Command::new("bash").args(["-c", &kill]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!out.exists(), "nor the directory that was made for it");
}
