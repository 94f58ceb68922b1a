//! The directory of a result: what stands in it is of one run.

use crate::support::*;
use std::path::{Path, PathBuf};

/// A table of points in two groups.
fn points(path: &Path) {
    let row = |i: u32| format!("{},{}\n", f64::from(i % 2) + f64::from(i) * 1e-4, f64::from(i % 7) * 1e-4);
    std::fs::write(path, (0..60).map(row).collect::<String>()).unwrap();
}

#[test]
fn a_run_with_other_options_leaves_nothing_of_the_run_before() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (synth(&dir.path().join("in"), 500), dir.path().join("out"));
    let run = |more: &[&str]| succeeds(&[&["bursts", text(&trace), "-o", text(&out)], more].concat());
    run(&["--compat", "old"]);
    let (before, user) = (names(&out), out.join("notes.txt"));
    assert!(
        before.contains(&"synth.prv".to_owned()) && before.contains(&"old.DATA.csv".to_owned()),
        "{before:?}"
    );
    std::fs::write(&user, "a user's").unwrap();
    std::fs::write(out.join("regions.csv"), "changed by a user").unwrap();
    let call = run(&["--no-trace", "--eps", "0.05"]);
    let after = names(&out);
    for gone in ["synth.prv", "synth.pcf", "synth.row", "old.DATA.csv", "refinement.json"] {
        assert!(!after.contains(&gone.to_owned()), "{after:?}");
        assert!(call.stderr.contains(gone), "{}", call.stderr);
    }
    assert_eq!(read(&out, "notes.txt"), "a user's");
    // The same options again: nothing to tell.
    let call = run(&["--no-trace", "--eps", "0.05"]);
    assert!(!call.stderr.contains("earlier") && !call.stderr.contains("holds"), "{}", call.stderr);
    assert_eq!(names(&out), after);
    let manifest: serde_json::Value = serde_json::from_str(&read(&out, ".likewise.json")).unwrap();
    let run = &manifest["runs"][0];
    assert_eq!((&run["command"], manifest["runs"].as_array().unwrap().len()), (&"bursts".into(), 1));
    assert_eq!(run["inputs"][0], text(&trace.canonicalize().unwrap()));
    assert_eq!(run["arguments"][0], "bursts");
    assert_eq!(run["files"].as_array().unwrap().len() + 1, after.len());
}

#[test]
fn a_file_that_a_user_has_changed_stays() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (dir.path().join("t.csv"), dir.path().join("out"));
    points(&table);
    succeeds(&["points", text(&table), "--k-distances", "3", "-q", "-o", text(&out)]);
    std::fs::write(out.join("k_distances.csv"), "mine").unwrap();
    let call = succeeds(&["points", text(&table), "--eps", "0.1", "-o", text(&out)]);
    assert_eq!(read(&out, "k_distances.csv"), "mine");
    assert!(call.stderr.contains("and kept") && call.stderr.contains("k_distances.csv"), "{}", call.stderr);
}

/// What is read is not thrown away by the run that reads it.
#[test]
fn a_result_may_stand_beside_what_it_is_of() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (synth(&dir.path().join("in"), 500), dir.path().join("out"));
    succeeds(&["bursts", text(&trace), "-q", "-o", text(&out)]);
    let before = names(&out);
    succeeds(&["align", text(&out.join("bursts.csv")), "-q", "-o", text(&out)]);
    let after = names(&out);
    assert!(before.iter().all(|name| after.contains(name)), "{before:?} {after:?}");
    assert!(after.contains(&"aligned.seq".to_owned()), "{after:?}");
}

#[test]
fn a_trace_of_the_same_name_is_told_from_the_other() {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["a", "b"] {
        synth(&dir.path().join(folder), 500);
    }
    let run = |trace: &str| {
        let mut command = command(&["bursts", trace, "--eps", "0.05"]);
        finish(command.current_dir(dir.path()).output().unwrap())
    };
    let told = |call: &Call| call.stderr.contains("holds the result of");
    assert!(!told(&run("a/synth.prv")) && !told(&run("./a/../a/synth.prv")));
    let call = run("b/synth.prv");
    let path = |folder: &str| dir.path().canonicalize().unwrap().join(folder).join("synth.prv");
    for path in [path("a"), path("b")] {
        assert!(told(&call) && call.stderr.contains(text(&path)), "{}", call.stderr);
    }
    assert!(!told(&run("b/synth.prv")));
}

#[test]
fn each_demo_has_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    for kind in ["--counters", "--regimes"] {
        let call = finish(command(&["demo", kind, "-q"]).current_dir(dir.path()).output().unwrap());
        assert_eq!(call.code, 0, "{}", call.stderr);
    }
    assert_eq!(names(dir.path()), ["demo-counters.likewise", "demo-regimes.likewise"]);
}

/// Pairs of runs at once, into a directory that is there or is not: both
/// succeed, and all files are of one of them.
#[test]
fn two_runs_at_once_do_not_mix() {
    let dir = tempfile::tempdir().unwrap();
    let table = dir.path().join("t.csv");
    points(&table);
    let pairs: usize = std::env::var("LIKEWISE_PAIRS").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    for pair in 0..pairs {
        let out = dir.path().join(if pair % 2 == 0 { format!("new{pair}/x") } else { "same".to_owned() });
        let start = |options: [&str; 2]| {
            command(&["points", text(&table), options[0], options[1], "-q", "-o", text(&out)])
                .spawn()
                .unwrap()
        };
        // Their files have other names, so a mixture would be seen.
        let mut both = [start(["--k-distances", "3"]), start(["--eps", "0.1"])];
        for child in &mut both {
            assert!(child.wait().unwrap().success(), "pair {pair}");
        }
        let files = names(&out);
        let of_first = files == ["k_distances.csv", "summary.json"];
        assert!(of_first || files == ["labels.csv", "summary.json"], "pair {pair}: {files:?}");
        assert_eq!(summary(&out).get("clusters").is_none(), of_first, "pair {pair}");
    }
}

/// A process that was killed cannot clean up; the next run does.
#[cfg(target_os = "linux")]
#[test]
fn what_a_killed_run_left_goes_with_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let mut child =
        command(&["synth", "--tasks", "64", "--bursts", "50000000", "-q", "-o", text(&out)]).spawn().unwrap();
    let left = || -> Vec<PathBuf> {
        let files = std::fs::read_dir(&out).into_iter().flatten().flatten().map(|file| file.path());
        files.filter(|path| path.extension().is_some_and(|ending| ending == "tmp")).collect()
    };
    while left().len() < 4 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // Not those of a process that is alive: another run waits until it is dead.
    let call = command(&["synth", "--bursts", "100", "-o", text(&out), "--name", "next"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(left().len(), 4);
    child.kill().unwrap();
    child.wait().unwrap();
    let call = finish(call.wait_with_output().unwrap());
    assert!(call.code == 0 && call.stderr.contains("waiting for another likewise"), "{}", call.stderr);
    assert_eq!(names(&out), ["next.pcf", "next.prv", "next.row", "truth.csv"]);
}
