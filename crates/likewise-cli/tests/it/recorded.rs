//! Recordings, through the commands that read them.

use crate::support::{likewise, names, read, succeeds, text};
use likewise_testing::recorded::Program;

fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&succeeds(args).stdout).expect("JSON")
}

#[test]
fn info_tells_what_was_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let log = Program::default().write(&run);
    let n: usize = log.iter().map(Vec::len).sum();
    let info = json(&["info", text(&run), "--json"]);
    assert_eq!((info["ranks"].as_u64(), info["events"].as_u64()), (Some(4), Some(n as u64)));
    assert_eq!(info["bytes"].as_u64(), Some(run.join("recording.likewise").metadata().unwrap().len()));
    assert_eq!((info["call_paths"].as_u64(), info["complete"].as_bool()), (Some(8), Some(true)));
    assert_eq!(info["calls"]["MPI_Recv"], serde_json::json!([12, 0, 0, 0]));
    assert_eq!(info["calls"]["MPI_Send"], serde_json::json!([0, 4, 4, 4]));
    let shown = succeeds(&["info", text(&run), "--rank", "1"]).stdout;
    for part in [
        "Loop nest of rank 1",
        "loop: 4 iterations",
        "MPI_Waitall",
        "app+0x230 < app+0x120",
        "Times           of every event",
    ] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
    let none = likewise(&["info", text(&run), "--rank", "9"]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("rank 9 is not recorded"), "{}", none.stderr);
}

#[test]
fn a_recording_and_its_paraver_trace_give_the_same_phases() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    Program { steps: 60, ..Program::default() }.write(&path("run"));
    succeeds(&["convert", text(&path("run")), "--to", "prv", "-o", text(&path("prv"))]);
    assert_eq!(names(&path("prv")), ["convert.json", "run.pcf", "run.prv", "run.row"]);
    succeeds(&["bursts", text(&path("run")), "-o", text(&path("a"))]);
    succeeds(&["bursts", text(&path("prv/run.prv")), "-o", text(&path("b"))]);
    for file in ["bursts.csv", "clusters.csv", "regions.csv", "run.prv", "run.pcf", "run.row"] {
        assert_eq!(read(&path("a"), file), read(&path("b"), file), "{file}");
    }
    assert!(read(&path("a"), "regions.csv").contains("app+0x240,app+0x210"));
}

#[test]
fn phases_of_a_recording_are_its_places_unless_asked_otherwise() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    Program { steps: 60, with_counters: false, ..Program::default() }.write(&path("run"));
    let method = |options: &[&str]| {
        let told =
            json(&[&["bursts", text(&path("run")), "-o", text(&path("out")), "--json"], options].concat());
        told["parameters"]["method"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(method(&[]), "places");
    // Each cluster has bursts of one region, and each region is in one cluster.
    let regions = read(&path("out"), "regions.csv");
    let rows: Vec<&str> = regions.lines().skip(1).filter(|row| !row.starts_with("noise")).collect();
    assert!(rows.len() > 3, "{regions}");
    for row in rows {
        let mut cells = row.rsplit(',').skip(1);
        assert_eq!((cells.next(), cells.next()), (Some("1"), Some("1")), "{row}");
    }
    assert_eq!(method(&["--method", "places"]), "places");
    assert_eq!(method(&["--refine"]), "refine");
    assert_eq!(method(&["--eps", "0.1"]), "dbscan");
    assert_eq!(method(&["-m", "duration"]), "refine");
    let both = likewise(&["bursts", text(&path("run")), "--method", "places", "--eps", "0.1"]);
    assert_eq!(both.code, 2, "{}", both.stderr);
    let points = path("points.csv");
    std::fs::write(&points, "a,b\n1,2\n3,4\n").unwrap();
    assert_eq!(likewise(&["points", text(&points), "--method", "places"]).code, 2);
}

#[test]
fn events_are_written_as_tables() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let n: usize = Program::default().write(&run).iter().map(Vec::len).sum();
    let out = dir.path().join("out");
    let told = json(&["convert", text(&run), "--to", "csv", "-o", text(&out), "--json"]);
    assert_eq!(told["events"].as_u64(), Some(n as u64));
    assert_eq!(names(&out), ["convert.json", "events.csv", "paths.csv"]);
    assert_eq!(read(&out, "events.csv").lines().count(), n + 1);
    assert!(read(&out, "paths.csv").starts_with("path,depth,function,file,line,module,offset\n"));
    if cfg!(feature = "parquet") {
        succeeds(&["convert", text(&run), "--to", "parquet", "-o", text(&out)]);
        assert_eq!(names(&out), ["convert.json", "events.parquet", "paths.parquet"]);
        assert!(std::fs::read(out.join("events.parquet")).unwrap().ends_with(b"PAR1"));
    }
}

#[test]
fn a_recording_is_cut_and_timed_anew_as_a_paraver_trace() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    Program { steps: 60, ..Program::default() }.write(&path("run"));
    succeeds(&["cut", text(&path("run")), "--from", "1ms", "--to", "2ms", "-o", text(&path("cut"))]);
    assert!(read(&path("cut"), "run.prv").starts_with("#Paraver"));
    succeeds(&["bursts", text(&path("run")), "-o", text(&path("out"))]);
    std::fs::write(path("half.csv"), "phase,ratio\n1,0.5\n").unwrap();
    let (bursts, half) = (path("out/bursts.csv"), path("half.csv"));
    let args =
        ["retime", text(&path("run")), "--bursts", text(&bursts), "--times", text(&half)].map(str::to_owned);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let told = json(&[&args[..], &["-o", text(&path("faster")), "--json"]].concat());
    assert!(told["predicted_ns"].as_u64() < told["measured_ns"].as_u64(), "{told}");
    assert!(told["messages"].as_u64() > Some(240), "{told}");
}

#[test]
fn what_is_no_recording_is_told_with_what_was_expected() {
    let dir = tempfile::tempdir().unwrap();
    for command in [&["info"][..], &["bursts"], &["cut"], &["convert", "--to", "csv"], &["ranks"]] {
        let call = likewise(&[command, &[text(dir.path())]].concat());
        assert_eq!(call.code, 1, "{command:?}: {}", call.stderr);
        assert!(call.stderr.contains("recording.likewise"), "{command:?}: {}", call.stderr);
    }
}

#[test]
fn of_a_cut_recording_what_is_complete_is_used_and_that_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    Program::default().write(&run);
    let file = run.join("recording.likewise");
    let whole = std::fs::read(&file).unwrap();
    // Its sections, and half of another one.
    let section = &whole[8..];
    std::fs::write(&file, [&whole[..], &section[..section.len() / 2]].concat()).unwrap();
    let call = likewise(&["info", text(&run)]);
    assert!(call.code == 0 || call.stderr.contains("recording.likewise"), "{}", call.stderr);
}
