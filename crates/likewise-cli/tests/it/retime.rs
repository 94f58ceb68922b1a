//! `likewise retime`.

use crate::support::*;
use std::path::{Path, PathBuf};

fn put(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("it can be written");
    path
}

/// The trace as lines, those of one time in any order.
fn sorted(path: &Path) -> Vec<String> {
    let mut input = std::fs::File::open(path).expect("it is there");
    let mut text = String::new();
    let read: &mut dyn std::io::Read = &mut input;
    if path.extension().is_some_and(|end| end == "gz") {
        std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(read), &mut text).expect("text");
    } else {
        std::io::Read::read_to_string(read, &mut text).expect("text");
    }
    let mut lines: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.sort_unstable();
    lines
}

fn result(dir: &Path) -> serde_json::Value {
    serde_json::from_str(&read(dir, "retime.json")).expect("JSON")
}

#[test]
fn times_of_phases_go_back_into_the_trace() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 800);
    let (phases, out) = (dir.path().join("phases"), dir.path().join("out"));
    succeeds(&["bursts", text(&trace), "--no-trace", "-q", "-o", text(&phases)]);
    let bursts = phases.join("bursts.csv");
    let with = |times: &Path| {
        let call =
            ["retime", text(&trace), "--bursts", text(&bursts), "--times", text(times), "-o", text(&out)];
        (succeeds(&call), result(&out))
    };
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    // Simulated as they were: the same trace.
    let representatives = read(&phases, "representatives.csv");
    let simulated = |factor: u64| -> String {
        let line = |(at, line): (usize, &str)| match at {
            0 => format!("{line},simulated_ns\n"),
            _ => format!("{line},{}\n", factor * line.split(',').nth(5).unwrap().parse::<u64>().unwrap()),
        };
        representatives.lines().enumerate().map(line).collect()
    };
    let (call, same) = with(&put(dir.path(), "same.csv", &simulated(1)));
    assert!(call.stdout.contains("(× 1); computing"), "{}", call.stdout);
    assert_eq!(same["predicted_ns"], same["measured_ns"]);
    assert_eq!(sorted(&out.join("synth.prv")), sorted(&trace));
    // Twice as long: computing doubles but for what is noise or filtered.
    let (call, twice) = with(&put(dir.path(), "twice.csv", &simulated(2)));
    assert!(
        call.stderr.contains("of the computing time stays as it was: bursts of no phase."),
        "{}",
        call.stderr
    );
    assert!(number(&twice["predicted_ns"]) > 1.5 * number(&twice["measured_ns"]), "{twice}");
    let sum = |value: &serde_json::Value, of: &str| -> f64 {
        value["phases"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|phase| !phase["phase"].is_null())
            .map(|p| number(&p[of]))
            .sum()
    };
    assert_eq!(sum(&twice, "predicted_ns"), 2.0 * sum(&twice, "measured_ns"));
    // One phase alone, by its ratio: what is predicted is read as such.
    let (_, half) = with(&put(dir.path(), "half.csv", "phase,ratio\n1,0.5\n2,\n"));
    assert_eq!(half["phases"][1]["ratio"], 0.5);
    assert!(half["phases"][2]["ratio"].is_null());
    let again = dir.path().join("again");
    succeeds(&["bursts", text(&out.join("synth.prv")), "--no-trace", "-q", "-o", text(&again)]);
    let predicted: f64 =
        half["threads"].as_array().unwrap().iter().map(|t| number(&t["predicted_computing_ns"])).sum();
    assert_eq!(number(&summary(&again)["computing_time_ns"]), predicted);
    // From the first record to the end; both runs begin with the same one.
    let [begin, end] = ["trace_begin_ns", "trace_end_ns"].map(|key| number(&summary(&again)[key]));
    assert_eq!(end - begin, number(&half["predicted_ns"]));
    // And back by the same factor.
    let (_, mean) = with(&put(dir.path(), "mean.csv", "phase,simulated_ns\n1,1000\n"));
    let (phase, bursts) = (&mean["phases"][1], number(&mean["phases"][1]["bursts"]));
    assert!((number(&phase["predicted_ns"]) / bursts - 1000.0).abs() < 1.0, "{phase}");
}

#[test]
fn what_cannot_be_put_back_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 200);
    let (phases, out) = (dir.path().join("phases"), dir.path().join("out"));
    succeeds(&["bursts", text(&trace), "--no-trace", "-q", "-o", text(&phases)]);
    let bursts = phases.join("bursts.csv");
    for (times, told) in [
        ("phase\n1\n", "there are none of ratio and simulated_ns"),
        ("ratio\n1\n", "no column of numbers is called phase"),
        ("phase,ratio\n999,1\n", "row 1 (from 1, without the names): the table of bursts has no phase 999"),
        ("phase,ratio\n1.5,1\n", "has no phase 1.5"),
        ("phase,ratio\n1,-1\n", "-1 is no time"),
        ("phase,ratio\n1,NA\n", "it gives no time of any phase"),
        ("phase,simulated_ns,duration_ns\n1,5,0\n", "must be more than 0"),
        ("phase,ratio\n1,1e300\n", "longer than 2^62"),
    ] {
        let times = put(dir.path(), "times.csv", times);
        let call = retime([&trace, &bursts, &times, &out]);
        assert_eq!(call.code, 1, "{told}");
        assert!(call.stderr.contains(told), "{told}: {}", call.stderr);
        assert!(!out.exists());
    }
    let times = put(dir.path(), "times.csv", "phase,ratio\n1,1\n");
    let call = retime([Path::new("-"), &bursts, &times, &out]);
    assert!(call.code == 1 && call.stderr.contains("write it to a file first"), "{}", call.stderr);
    let labels = put(dir.path(), "labels.csv", "cluster\n1\n");
    let call = retime([&trace, &labels, &times, &out]);
    assert!(call.code == 1 && call.stderr.contains("does not say when bursts begin"), "{}", call.stderr);
}

/// With ratios of 1, real traces come out as they went in, and with 2 they are
/// no shorter than their longest thread.
#[test]
fn real_traces_are_themselves() {
    let Some(data) = shared_data() else { return };
    for trace in ["epoch/epoch_16proc.prv.gz", "lulesh/lulesh_7+1.prv.gz"] {
        let dir = tempfile::tempdir().unwrap();
        let trace = data.join(trace);
        let (phases, out) = (dir.path().join("phases"), dir.path().join("out"));
        succeeds(&["bursts", text(&trace), "--method", "dbscan", "--no-trace", "-q", "-o", text(&phases)]);
        let bursts = phases.join("bursts.csv");
        let with = |ratio: &str| {
            let times = put(dir.path(), "times.csv", &format!("phase,ratio\n1,{ratio}\n"));
            succeeds(&[
                "retime",
                text(&trace),
                "--bursts",
                text(&bursts),
                "--times",
                text(&times),
                "-q",
                "-o",
                text(&out),
            ]);
            result(&out)
        };
        let same = with("1");
        assert_eq!(same["predicted_ns"], same["measured_ns"]);
        assert!(same["messages"].as_u64().unwrap() > 0 && same["collectives"].as_u64().unwrap() > 0);
        let new = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
        let prv =
            new.into_iter().find(|path| path.extension().is_some_and(|end| end == "prv")).expect("a trace");
        let kept = |lines: Vec<String>| -> Vec<String> {
            lines.into_iter().filter(|line| !line.starts_with("4:")).collect()
        };
        assert_eq!(kept(sorted(&prv)), kept(sorted(&trace)));
        let twice = with("2");
        let (end, before) = (twice["predicted_ns"].as_u64().unwrap(), twice["measured_ns"].as_u64().unwrap());
        assert!(end > before, "{end} {before}");
        for thread in twice["threads"].as_array().unwrap() {
            assert!(thread["predicted_last_ns"].as_u64().unwrap() <= end);
            assert!(thread["predicted_computing_ns"].as_u64().unwrap() <= end);
        }
    }
}

/// Task and begin, duration, of each burst that was made up, in order.
fn truth(dir: &Path) -> Vec<(u32, u64, u64)> {
    let number = |cell: Option<&str>| -> u64 { cell.unwrap().parse().unwrap() };
    let burst = |line: &str| {
        let mut cells = line.split(',');
        let task = number(cells.next()) as u32;
        (task, number(cells.nth(1)), number(cells.next()))
    };
    let mut bursts: Vec<_> = read(dir, "truth.csv").lines().skip(1).map(burst).collect();
    bursts.sort_unstable();
    bursts
}

/// A run with a defect was made up of the same draws as the run without. Given
/// how long each of its bursts takes, the run without is timed anew as that.
#[test]
fn a_run_is_predicted_to_a_ten_thousandth() {
    let dir = tempfile::tempdir().unwrap();
    let with = |name: &str, more: &[&str]| {
        let out = dir.path().join(name);
        let call = [
            "synth",
            "--tasks",
            "8",
            "--iterations",
            "10",
            "--seed",
            "5",
            "-q",
            "-o",
            text(&out),
            "--defect",
        ];
        succeeds(&[&call[..], more].concat());
        out
    };
    let sound = with("none", &["none"]);
    for (kind, more) in [
        ("slow-ranks", &["--defect-phase", "5", "--defect-factor", "2", "--defect-tasks", "3,7"][..]),
        ("imbalance", &["--defect-phase", "4", "--defect-factor", "3"]),
        ("serial", &["--defect-phase", "6", "--defect-factor", "8"]),
    ] {
        let defect = with(kind, &[&[kind], more].concat());
        let (old, new) = (truth(&sound), truth(&defect));
        assert_eq!(old.len(), new.len());
        // Every burst is a phase of its own.
        let (mut bursts, mut times) =
            (String::from("task,thread,begin_ns,duration_ns,cluster\n"), String::from("phase,ratio\n"));
        for (at, ((task, begin, duration), (_, _, now))) in old.iter().zip(&new).enumerate() {
            bursts += &format!("{task},1,{begin},{duration},{}\n", at + 1);
            times += &format!("{},{:?}\n", at + 1, *now as f64 / (*duration).max(1) as f64);
        }
        let (bursts, times) = (put(dir.path(), "bursts.csv", &bursts), put(dir.path(), "times.csv", &times));
        let (trace, out) = (sound.join("synth.prv"), dir.path().join("out"));
        succeeds(&[
            "retime",
            text(&trace),
            "--bursts",
            text(&bursts),
            "--times",
            text(&times),
            "-q",
            "-o",
            text(&out),
        ]);
        let header = read(&defect, "synth.prv").lines().next().unwrap().to_owned();
        let end = header.split("):").nth(1).unwrap().split('_').next().unwrap().parse::<f64>().unwrap();
        let found = result(&out);
        let (measured, predicted) =
            (found["measured_ns"].as_f64().unwrap(), found["predicted_ns"].as_f64().unwrap());
        assert!(end > 1.01 * measured, "{kind}: the defect costs time");
        assert!((predicted / end - 1.0).abs() < 1e-4, "{kind}: {predicted} is not {end}");
    }
}
