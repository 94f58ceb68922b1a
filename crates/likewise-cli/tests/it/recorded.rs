//! Recordings, through the commands that read them.

use crate::support::{likewise, names, read, succeeds, text};
use likewise_recording::{Clustering, Led, Log, Mode, ROUNDING, State, Times};
use likewise_testing::recorded::Program;
use std::path::Path;

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

/// What happened on line in a made-up run of four ranks.
fn log() -> Log {
    let led = vec![
        Led { lead: 0, ranks: vec![0], call_path: 0 },
        Led { lead: 2, ranks: vec![1, 2, 3], call_path: 1 },
    ];
    Log {
        mode: Mode::Leads,
        marker: "MPI_Allreduce@01234567".to_owned(),
        states: vec![
            (State::AllTracing, 2, 100_000),
            (State::Clustering, 1, 300_000),
            (State::Lead, 16, 400_000),
            (State::Final, 1, 2_000_000),
        ],
        clusterings: vec![Clustering { marker: 3, at: 300_000, led }],
        bytes: vec![900, 100, 800, 120],
        peaks: vec![50_000, 20_000, 40_000, 20_000],
        costs: vec![1_000, 2_000, 3_000, 1_000],
        notes: vec!["a note".to_owned()],
    }
}

#[test]
fn info_tells_how_a_run_was_recorded_by_leads() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    Program::default().write_with_log(&run, Some(&log()));
    let info = json(&["info", text(&run), "--json"]);
    assert_eq!(info["mode"], "leads");
    assert_eq!(info["states"], serde_json::json!({ "AT": 2, "C": 1, "L": 16, "F": 1 }));
    assert_eq!((info["clusterings"].as_u64(), &info["leads"]), (Some(1), &serde_json::json!([0, 2])));
    assert_eq!(info["bytes_by_rank"], serde_json::json!([900, 100, 800, 120]));
    assert_eq!(info["peak_bytes_by_rank"][0], 50_000);
    assert_eq!(info["marker_cost_ns_by_rank"][2], 3_000);
    assert_eq!((&info["marker"], &info["notes"][0]), (&"MPI_Allreduce@01234567".into(), &"a note".into()));
    assert_eq!(info["clustered"][0]["leads"][1]["ranks"], serde_json::json!([1, 2, 3]));
    assert_eq!(info["stood_by_rank"], serde_json::json!([0, 0, 0, 0]));
    let shown = succeeds(&["info", text(&run)]).stdout;
    for part in [
        "Mode            leads",
        "Markers         19: AT 2 · C 1 · L 16",
        "Leads           2 of 4 ranks: 0, 2",
        "Written         850 bytes by a lead and 110 bytes by another rank, in the mean",
        "Overhead        markers took 3.00 µs on rank 2",
        "       2       3          1  1–3",
        "Note: a note",
    ] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
    // Of a full recording nothing is said that nobody measured.
    Program::default().write(&dir.path().join("full"));
    let full = json(&["info", text(&dir.path().join("full")), "--json"]);
    assert_eq!((&full["mode"], &full["leads"]), (&"full".into(), &serde_json::json!([0, 1, 2, 3])));
    for key in
        ["states", "clusterings", "marker", "bytes_by_rank", "peak_bytes_by_rank", "marker_cost_ns_by_rank"]
    {
        assert!(full[key].is_null(), "{key}: {}", full[key]);
    }
    assert!(!succeeds(&["info", text(&dir.path().join("full"))]).stdout.contains("Mode "));
}

/// What all ranks of a run do together is not what two of four do.
#[test]
fn runs_of_which_some_ranks_are_known_are_compared_with_their_like() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let program = Program { steps: 60, ..Program::default() };
    program.write(&path("all"));
    program.write_led(&path("led"), 5, 15);
    program.write_led(&path("again"), 5, 15);
    let compare =
        |a: &str, b: &str| likewise(&["compare", text(&path(a)), text(&path(b)), "-o", text(&path("out"))]);
    let refused = compare("all", "led");
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    let told = "'all' those of all its ranks, 'led' has the bursts of 2 of 4 ranks";
    assert!(refused.stderr.contains(told), "{}", refused.stderr);
    assert!(!path("out").exists());
    let compared = compare("led", "again");
    assert_eq!(compared.code, 0, "{}", compared.stderr);
}

/// A run of 16 ranks that is kept in histograms, whose longest bursts take so long. Returns how
/// long all bursts of each rank take.
fn rounded(path: &Path, burst: impl Fn(u64) -> u64) -> Vec<u64> {
    let (times, bursts) = (Times::Histogram, (0..16).map(burst).collect());
    let program = Program { ranks: 16, steps: 60, times, with_counters: false, bursts, ..Program::default() };
    program.write(path).iter().map(|rank| rank.iter().map(|event| event.gap).sum()).collect()
}

/// Between 97 and 103 in no order.
fn about_100(rank: u64) -> u64 {
    97_000 + rank * 7919 % 6001
}

/// Wherever sums lie between two steps of the rounding.
#[test]
fn histograms_keep_the_sum_of_each_rank() {
    let dir = tempfile::tempdir().unwrap();
    let (run, out) = (dir.path().join("run"), dir.path().join("out"));
    for base in 0..9 {
        let truth = rounded(&run, |rank| about_100(rank) * (100 + base) / 100);
        succeeds(&["bursts", text(&run), "-o", text(&out)]);
        let mut sums = vec![0.0; truth.len()];
        let rows = read(&out, "bursts.csv");
        let (head, rows) = rows.split_once('\n').unwrap();
        let at = |name: &str| head.split(',').position(|cell| cell == name).unwrap();
        let (task, duration) = (at("task"), at("duration_ns"));
        for row in rows.lines() {
            let cells: Vec<&str> = row.split(',').collect();
            sums[cells[task].parse::<usize>().unwrap() - 1] += cells[duration].parse::<f64>().unwrap();
        }
        for (rank, (sum, truth)) in sums.iter().zip(truth).enumerate() {
            let off = sum / truth as f64;
            assert!((1.0 / ROUNDING..ROUNDING).contains(&off), "{base}, rank {rank}: {sum} of {truth}");
        }
    }
}

#[test]
fn what_rounding_does_is_no_finding() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    rounded(&path("even"), about_100);
    rounded(&path("again"), |rank| about_100(15 - rank));
    rounded(&path("slow"), |rank| 140 * about_100(rank) / 100);
    rounded(&path("two"), |rank| if rank % 2 == 0 { about_100(rank) } else { 160 * about_100(rank) / 100 });
    let out = path("out");
    let ranks = |name: &str| succeeds(&["ranks", text(&path(name)), "-o", text(&out)]).stdout;
    let even = ranks("even");
    assert!(even.contains("No classes: 16 ranks are alike within "), "{even}");
    assert!(ranks("two").contains("16 ranks behave in 2 ways"), "{}", ranks("two"));
    let compare = |other: &str| {
        let files = [text(&path("even")), text(&path(other))].map(str::to_owned);
        succeeds(&["compare", &files[0], &files[1], "-o", text(&out)]).stdout
    };
    let again = compare("again");
    assert!(again.contains("No phase is slower or faster"), "{again}");
    let slow = compare("slow");
    assert!(slow.contains("Phase 1 (up to") && slow.contains("is slower in slow than in even"), "{slow}");
}

/// Of drawn times no iteration's length is known, and no error of an extrapolation.
#[test]
fn a_cut_of_histograms_states_no_lengths() {
    let dir = tempfile::tempdir().unwrap();
    let (run, out) = (dir.path().join("run"), dir.path().join("out"));
    rounded(&run, |_| 100_000);
    let cut = succeeds(&["cut", text(&run), "-o", text(&out)]).stdout;
    assert!(cut.contains("Period: of unknown length, ") && cut.contains("from it: not known"), "{cut}");
    let told: serde_json::Value = serde_json::from_str(&read(&out, "cut.json")).unwrap();
    assert!(told["period"]["iterations"].as_u64() > Some(10), "{told}");
    assert!(told["period"]["median_ns"].is_null() && told["error"].is_null(), "{told}");
    assert!(told["within_limits"].is_null(), "{told}");
    assert_eq!(told["estimates"], serde_json::json!([]));
}

/// Two runs of one program on one input, by the calls, however noisy.
#[test]
fn bursts_between_the_same_calls_are_the_same_phase() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let program = |burst: u64, steps: u32| Program {
        steps,
        bursts: vec![burst; 4],
        with_counters: false,
        ..Program::default()
    };
    program(100_000, 20).write(&path("one"));
    // Now the longest burst takes as long as another one did.
    program(30_000, 40).write(&path("other"));
    succeeds(&["compare", text(&path("one")), text(&path("other")), "-o", text(&path("out"))]);
    program(60_000, 20).write(&path("same"));
    let same =
        succeeds(&["compare", text(&path("one")), text(&path("same")), "-o", text(&path("two"))]).stdout;
    assert!(!same.contains("iterations against"), "{same}");
    let rows = read(&path("out"), "scaling.csv");
    let (head, rows) = rows.split_once('\n').unwrap();
    let at = |name: &str| head.split(',').position(|cell| cell == name).unwrap();
    let cells = |row: &str| row.split(',').map(str::to_owned).collect::<Vec<_>>();
    let longest: Vec<Vec<String>> = rows.lines().map(cells).filter(|row| row[at("phase")] == "1").collect();
    assert_eq!(longest.len(), 2, "{rows}");
    // Before every fifth step another call comes, and the first has none of the loop before it.
    assert_eq!(longest[0][at("instances")], (4 * 16).to_string(), "{rows}");
    assert_eq!(longest[1][at("instances")], (4 * 32).to_string(), "{rows}");
    let evidence: Vec<&str> = longest.iter().map(|row| row[at("evidence")].as_str()).collect();
    assert!(evidence.contains(&"calls"), "{rows}");
}

/// What the runs have in common tells how the work grows, and without instructions its time.
#[test]
fn runs_with_nothing_in_common_tell_no_scaling() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let program = |ranks: u32| Program { ranks, steps: 40, with_counters: false, ..Program::default() };
    program(2).write(&path("two"));
    program(4).write(&path("four"));
    let addresses = [0x510, 0x520, 0x530, 0x610, 0x620, 0x630, 0x640, 0x710];
    Program { addresses, ..program(4) }.write(&path("other"));
    let compare = |other: &str| {
        let files = [text(&path("two")), text(&path(other))].map(str::to_owned);
        succeeds(&["compare", &files[0], &files[1], "-o", text(&path("out"))]).stdout
    };
    let like = compare("four");
    assert!(like.contains("weak scaling (by the computing time, as there are no instructions)"), "{like}");
    let unlike = compare("other");
    assert!(unlike.contains("scaling (cannot be told, see below)"), "{unlike}");
    assert!(unlike.contains("on all tasks, hold less than half of a run's time"), "{unlike}");
    assert!(unlike.contains("Which phases scale cannot be told: none is known to be the same"), "{unlike}");
}

#[test]
fn runs_that_are_not_there_are_told() {
    let none = likewise(&["compare", "no/such/run", "nor/this"]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("no/such/run: cannot be read: No such file"), "{}", none.stderr);
}

#[test]
fn what_is_a_leads_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let all: Vec<u64> =
        Program::default().write_led(&run, 5, 15).iter().map(|rank| rank.len() as u64).collect();
    let info = json(&["info", text(&run), "--json"]);
    assert_eq!(info["events"].as_u64(), Some(all.iter().sum()));
    let stood: Vec<u64> = serde_json::from_value(info["stood_by_rank"].clone()).unwrap();
    assert!(stood[2] > 0 && stood[2] < all[2] && stood[2] == stood[3], "{stood:?}");
    assert_eq!((stood[0], stood[1]), (0, 0));
    let shown = succeeds(&["info", text(&run)]).stdout;
    let row = "of the events of 2 ranks: their order and times are their leads', their parameters their own as \
               far as";
    assert!(shown.contains(row), "{shown}");
}

#[test]
fn call_paths_have_hashes_that_choose_a_marker() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    Program::default().write(&run);
    let info = json(&["info", text(&run), "--json"]);
    let sites = info["sites"].as_array().unwrap();
    let hashes: std::collections::BTreeSet<&str> =
        sites.iter().map(|site| site["hash"].as_str().unwrap()).collect();
    assert_eq!(hashes.len(), sites.len());
    assert!(hashes.iter().all(|hash| hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())));
    let all = succeeds(&["info", text(&run), "-v"]).stdout;
    assert!(hashes.iter().all(|hash| all.contains(hash)), "{all}");
}

#[test]
fn info_writes_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let (run, out) = (dir.path().join("run"), dir.path().join("out"));
    Program::default().write_with_log(&run, Some(&log()));
    let told = succeeds(&["info", text(&run), "-o", text(&out)]).stdout;
    assert!(told.contains("Report: "), "{told}");
    assert_eq!(names(&out), ["report.html", "summary.json"]);
    let page = read(&out, "report.html");
    let parts =
        ["States over time", "Leads, and the ranks that each stands for", "Loop nest of rank 0", "app+0x230"];
    parts.iter().for_each(|part| assert!(page.contains(part), "{part}"));
    let summary: serde_json::Value = serde_json::from_str(&read(&out, "summary.json")).unwrap();
    assert_eq!(summary["states"]["L"], 16);
    let points = dir.path().join("bursts.csv");
    std::fs::write(&points, "task,begin,duration\n1,0,5\n1,9,5\n").unwrap();
    let call = likewise(&["info", text(&points), "-o", text(&out)]);
    assert!(call.code == 2 && call.stderr.contains("page of a recording"), "{}", call.stderr);
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
    // Of these it is not known who waits for whom.
    Program { steps: 60, times: Times::Histogram, ..Program::default() }.write(&path("drawn"));
    Program { steps: 60, ..Program::default() }.write_led(&path("led"), 5, 15);
    for (name, why) in [("drawn", "record with --times all"), ("led", "by leads")] {
        let call = likewise(&[&["retime", text(&path(name))][..], &args[2..]].concat());
        assert!(call.code == 1 && call.stderr.contains(why), "{name}: {}", call.stderr);
    }
    let cut =
        likewise(&["cut", text(&path("drawn")), "--from", "1ms", "--to", "2ms", "-o", text(&path("part"))]);
    assert!(cut.code == 0 && cut.stderr.contains("are drawn from the histograms"), "{}", cut.stderr);
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
    let told = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        let call = likewise(&["info", text(&run)]);
        assert_eq!(call.code, 0, "{}", call.stderr);
        call.stdout + &call.stderr
    };
    assert!(!told(&whole).contains("not complete"));
    // Without its foot, as what a killed run has left is put together.
    let (foot, lost) = ("not every rank reached MPI_Finalize", "what follows is lost: byte");
    let section = |n: usize| whole.len() - likewise_recording::file::head().len() - n;
    let of_foot = (1..64)
        .find(|&n| whole.ends_with(&likewise_recording::file::foot(&[section(n)])))
        .expect("one section, and a foot");
    let sections = &whole[..whole.len() - of_foot];
    let ended = told(sections);
    assert!(ended.contains(foot) && !ended.contains(lost), "{ended}");
    // Something else behind it.
    let damaged = told(&[sections, b"??"].concat());
    assert!(damaged.contains(lost) && !damaged.contains(foot), "{damaged}");
    // Its sections, and half of another one.
    let section = &whole[8..];
    std::fs::write(&file, [&whole[..], &section[..section.len() / 2]].concat()).unwrap();
    let call = likewise(&["info", text(&run)]);
    assert!(call.code == 0 || call.stderr.contains("recording.likewise"), "{}", call.stderr);
}
