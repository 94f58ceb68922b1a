//! `likewise ranks`: tables in, classes and a plan out.

use crate::support::{LAUNCHERS, finish, likewise, names, read, shared_data, succeeds, summary, text};
use likewise::synth::effort::effort_traces;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const STEPS: usize = 64;
const FILES: [&str; 5] = ["classes.csv", "ranks.csv", "report.html", "summary.json", "traces.csv"];

/// Six kinds of ranks, all efforts above 0.
fn traces(n: usize) -> Vec<Vec<f64>> {
    let mut all = effort_traces(n, STEPS, 3);
    all.iter_mut().flatten().for_each(|x| *x += 40.0);
    all
}

pub(crate) fn write_csv(dir: &Path, traces: &[Vec<f64>]) -> PathBuf {
    let row = |row: &Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    let path = dir.join("wide.csv");
    std::fs::write(&path, traces.iter().map(row).collect::<String>()).unwrap();
    path
}

fn write_long(dir: &Path, traces: &[Vec<f64>], region: &str) -> PathBuf {
    let mut out = "step,effort,rank,region\n".to_owned();
    for (rank, series) in traces.iter().enumerate().rev() {
        for (step, x) in series.iter().enumerate() {
            let _ = writeln!(out, "{step},{x},{rank},{region}");
        }
    }
    let path = dir.join("long.csv");
    std::fs::write(&path, out).unwrap();
    path
}

fn write_npy(dir: &Path, traces: &[Vec<f64>]) -> PathBuf {
    let header =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {STEPS}), }}", traces.len());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16 + 1).to_le_bytes());
    bytes.extend(header.bytes().chain(*b"\n"));
    bytes.extend(traces.iter().flatten().flat_map(|x| x.to_le_bytes()));
    let path = dir.join("table.npy");
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The classes of ranks, from `ranks.csv`.
pub(crate) fn classes(dir: &Path) -> Vec<u32> {
    let table = read(dir, "ranks.csv");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("rank,class,medoid,dissimilarity,sampled"));
    let class = |(rank, line): (usize, &str)| {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[0], rank.to_string());
        cells[1].parse().unwrap()
    };
    lines.enumerate().map(class).collect()
}

#[test]
fn six_kinds_are_six_classes_whatever_the_format() {
    let dir = tempfile::tempdir().unwrap();
    let traces = traces(300);
    let files = [
        write_csv(dir.path(), &traces),
        write_long(dir.path(), &traces, "x"),
        write_npy(dir.path(), &traces),
    ];
    let outs = [0, 1, 2].map(|i| dir.path().join(i.to_string()));
    for (file, out) in files.iter().zip(&outs) {
        let call = succeeds(&["ranks", text(file), "-o", text(out)]);
        assert!(call.stdout.contains("300 ranks behave in 6 ways: these classes explain"), "{}", call.stdout);
        assert_eq!(names(out), FILES);
        assert_eq!(read(out, "ranks.csv"), read(&outs[0], "ranks.csv"), "{}", file.display());
    }
    let found = classes(&outs[0]);
    for (rank, class) in found.iter().enumerate() {
        assert_eq!(*class, found[rank % 6], "rank {rank}");
    }
    let told = summary(&outs[0]);
    assert_eq!(told["criterion"], "bic");
    assert_eq!((&told["k"], &told["ranks"], &told["steps"]), (&6.into(), &300.into(), &64.into()));
    let bic = told["bic"].as_array().unwrap();
    let best = bic.iter().max_by(|a, b| a["bic"].as_f64().unwrap().total_cmp(&b["bic"].as_f64().unwrap()));
    assert_eq!((bic.len(), &best.unwrap()["k"]), (10, &6.into()));
    assert_eq!((&told["verdict"], &told["classes_found"]), (&"classes".into(), &true.into()));
    assert!(told["explained"].as_f64().unwrap() > told["explained_by_chance"].as_f64().unwrap());
    assert_eq!(told["stratification"]["pays"], true);
    let sampled = read(&outs[0], "ranks.csv").lines().filter(|line| line.ends_with(",1")).count();
    assert_eq!(told["sample_size"], sampled);
    let strata = told["strata"].as_array().unwrap();
    assert_eq!(strata.iter().map(|s| s["sample_size"].as_u64().unwrap()).sum::<u64>(), sampled as u64);
    assert!(told["expected_error"].as_f64().unwrap() <= 0.05);
}

#[test]
fn every_method_takes_the_number_that_is_given() {
    let dir = tempfile::tempdir().unwrap();
    let file = write_npy(dir.path(), &traces(120));
    for method in ["capek", "clara", "pam", "fasterpam"] {
        let out = dir.path().join(method);
        let call =
            succeeds(&["ranks", text(&file), "--method", method, "--k", "6", "--json", "-o", text(&out)]);
        let told: serde_json::Value = serde_json::from_str(&call.stdout).unwrap();
        assert_eq!((&told["k"], &told["method"]), (&6.into(), &method.into()));
        assert!(told["criterion"].is_null());
        assert_eq!(told["bic"].as_array().unwrap().len(), 0);
        let found = classes(&out);
        assert!(found.iter().enumerate().all(|(rank, class)| *class == found[rank % 6]), "{method}");
    }
}

#[test]
fn any_number_of_threads_and_processes_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let traces = traces(200);
    let file = write_npy(dir.path(), &traces);
    for mode in ["exact", "sampled"] {
        let one = dir.path().join(format!("{mode}-1"));
        let many = dir.path().join(format!("{mode}-16"));
        let call = ["ranks", text(&file), "-q", "--mode", mode];
        succeeds(&[&call[..], &["--threads", "1", "--ranks", "1", "-o", text(&one)]].concat());
        succeeds(&[&call[..], &["--ranks", "16", "-o", text(&many)]].concat());
        same_files(&one, &many);
        same_under_mpi(dir.path(), &file, &["--mode", mode], &one);
    }
}

#[test]
fn every_format_is_read_by_several_processes() {
    let dir = tempfile::tempdir().unwrap();
    // Of three ranks, one of four processes has none.
    for n in [3, 90] {
        let traces = traces(n);
        let files = [write_csv(dir.path(), &traces), write_long(dir.path(), &traces, "x")];
        for file in files {
            let one = dir.path().join(format!("{n}-{}", file.file_name().unwrap().display()));
            succeeds(&["ranks", text(&file), "-q", "--k", "2", "-o", text(&one)]);
            same_under_mpi(dir.path(), &file, &["--k", "2"], &one);
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_gives_what_csv_gives() {
    use likewise_trace::{ColumnData, write_parquet};
    let dir = tempfile::tempdir().unwrap();
    let traces = traces(60);
    let csv = dir.path().join("csv");
    succeeds(&["ranks", text(&write_csv(dir.path(), &traces)), "-q", "-o", text(&csv)]);
    let cells: Vec<(u32, i64)> = (0..60).rev().flat_map(|r| (0..STEPS as i64).map(move |s| (r, s))).collect();
    let effort: Vec<f64> = cells.iter().map(|&(r, s)| traces[r as usize][s as usize]).collect();
    let (ranks, steps): (Vec<u32>, Vec<i64>) = cells.into_iter().unzip();
    let long = [
        ("rank", ColumnData::U32(&ranks)),
        ("step", ColumnData::I64(&steps)),
        ("effort", ColumnData::F64(&effort)),
    ];
    let columns: Vec<Vec<f64>> = (0..STEPS).map(|s| traces.iter().map(|row| row[s]).collect()).collect();
    let names: Vec<String> = (0..STEPS).map(|s| format!("s{s}")).collect();
    let wide: Vec<_> =
        names.iter().zip(&columns).map(|(name, c)| (name.as_str(), ColumnData::F64(c))).collect();
    for (name, table) in [("long", &long[..]), ("wide", &wide)] {
        let file = dir.path().join(format!("{name}.parquet"));
        write_parquet(&file, table).unwrap().commit().unwrap();
        let out = dir.path().join(name);
        succeeds(&["ranks", text(&file), "-q", "-o", text(&out)]);
        for file in FILES.iter().filter(|file| file.ends_with(".csv")) {
            assert_eq!(read(&out, file), read(&csv, file), "{name}: {file}");
        }
        same_under_mpi(dir.path(), &file, &[], &out);
    }
}

/// All files but the one that holds times.
fn same_files(one: &Path, other: &Path) {
    for name in FILES.iter().filter(|name| **name != "summary.json") {
        assert_eq!(read(one, name), read(other, name), "{}: {name}", other.display());
    }
    let figures = |dir| {
        let mut told = summary(dir);
        for key in ["timings", "peak_memory_bytes"] {
            told[key] = serde_json::Value::Null;
        }
        told
    };
    assert_eq!(figures(one), figures(other), "{}", other.display());
}

/// Runs under every launcher that is there, and wants the files of `one`.
pub(crate) fn same_under_mpi(dir: &Path, file: &Path, more: &[&str], one: &Path) {
    for mpirun in LAUNCHERS {
        let out = dir.join(format!("{mpirun}-{}", one.file_name().unwrap().display()));
        let args = [&["ranks", text(file), "-q", "-o", text(&out)], more].concat();
        let Some(mut command) = under(mpirun, &args) else { continue };
        let call = finish(command.output().unwrap());
        assert_eq!(call.code, 0, "{mpirun}: {}", call.stderr);
        same_files(one, &out);
    }
}

/// The program on 4 processes; nothing where there is no such launcher.
pub(crate) fn under(mpirun: &str, args: &[&str]) -> Option<Command> {
    let mut command = likewise_testing::mpirun(&likewise_testing::IN_TIME, mpirun)?;
    command.args(["-n", "4", env!("CARGO_BIN_EXE_likewise")]).args(args);
    Some(command)
}

#[test]
fn names_of_regions_stay_text() {
    let dir = tempfile::tempdir().unwrap();
    let file = write_long(dir.path(), &traces(12), "</script><b>x");
    let other = read(dir.path(), "long.csv")
        .lines()
        .skip(1)
        .map(|line| line.replace("<b>", "<i>"))
        .fold(read(dir.path(), "long.csv"), |all, line| all + &line + "\n");
    std::fs::write(&file, other).unwrap();
    let out = dir.path().join("out");
    succeeds(&["ranks", text(&file), "-q", "-o", text(&out)]);
    let page = read(&out, "report.html");
    assert!(!page.contains("<b>x") && !page.contains("<i>x") && page.contains("&lt;b&gt;x"));
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing to fetch");
    assert_eq!(page.matches("</script>").count(), 5, "three columns, the meta data, the script");
}

#[test]
fn bad_input_is_named_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let fails = |content: &str, more: &[&str], code: i32, says: &str| {
        let file = dir.path().join("bad.csv");
        std::fs::write(&file, content).unwrap();
        let out = dir.path().join("out");
        let call = likewise(&[&["ranks", text(&file), "-o", text(&out)], more].concat());
        assert_eq!(call.code, code, "{content:?}: {}", call.stderr);
        assert!(call.stderr.contains(says), "{content:?}: {}", call.stderr);
        assert!(!out.exists(), "{content:?}");
    };
    fails("1,2\n1,2\n3,4\n", &["--k", "3"], 1, "3 classes were asked for, and 2 different ranks were found");
    for method in ["capek", "pam", "clara"] {
        let call = ["--method", method, "--k"];
        let more = |k| [&call[..], &[k]].concat();
        fails("1,2\n1,2\n3,4\n", &more("3"), 1, "3 classes were asked for, and 2 different ranks were found");
        fails("1,2\n1,2\n3,4\n", &more("4"), 1, "4 classes were asked for, and there are 3 ranks");
        fails("1e308\n-1e308\n", &more("1"), 1, "the efforts of rank 0 are so large");
    }
    fails("1,2\n3,nan\n", &[], 1, "bad.csv:2: column 2");
    fails("1,2\n3\n", &[], 1, "bad.csv:2: expected 2 numbers");
    fails("rank,step,effort\n0,0,1\n2,0,1\n", &[], 1, "rank 1 has no row");
    fails("rank,step,effort\n0,0,1\n0,1,1\n1,0,1\n", &[], 1, "rank");
    fails("1,2\n", &["--method", "pam", "--mode", "exact"], 2, "--mode is for capek");
    fails("1,2\n", &["--k", "0"], 2, "from 1");
    fails("1,2\n", &["--error", "0%"], 2, "more than 0%");
    fails("1,2\n", &["--", "--app", "1"], 2, "is for traces");
    fails("", &[], 1, "bad.csv");
}

#[test]
fn under_mpi_a_failure_is_told_once_and_as_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let (file, out) = (dir.path().join("bad.csv"), dir.path().join("out"));
    let rows = "1,2\n".repeat(40);
    let cases: [(String, &[&str]); 6] = [
        (format!("{rows}3,inf\n{rows}x,5\n"), &[]),
        (format!("{rows}3\n"), &[]),
        ("rank,step,effort\n0,0,1\n0,1,1\n1,0,1\n".to_owned(), &[]),
        ("rank,step,effort\n0,0,1\n2,0,1\n".to_owned(), &[]),
        (rows.clone(), &["--k", "2"]),
        (rows.clone(), &["--", "--app", "1"]),
    ];
    for (content, more) in cases {
        std::fs::write(&file, content).unwrap();
        let args = [&["ranks", text(&file), "-o", text(&out)], more].concat();
        let alone = likewise(&args);
        let said = alone.stderr.lines().find(|line| line.starts_with("error:")).expect("an error");
        for mpirun in LAUNCHERS {
            let Some(mut command) = under(mpirun, &args) else { continue };
            let call = finish(command.output().unwrap());
            assert_ne!((call.code, alone.code), (0, 0));
            assert_eq!(call.stderr.matches(said).count(), 1, "no {said} in {}", call.stderr);
            assert_eq!(call.stderr.matches("error:").count(), 1, "{}", call.stderr);
            assert!(!out.exists());
        }
    }
}

/// 8 GiB are 32,768 ranks on one process and 65,536 on four.
#[test]
fn distances_that_no_memory_holds_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("many.csv");
    let out = dir.path().join("out");
    let many = |n: u32| std::fs::write(&file, (0..n).fold(String::new(), |all, _| all + "1\n")).unwrap();
    let args = ["ranks", text(&file), "-o", text(&out)];
    many(32_800);
    for (options, told) in [
        (
            ["--method", "pam"],
            "the distances of every two of 32,800 ranks take 9 GiB, and --method pam holds",
        ),
        (["--method", "fasterpam"], "use --method capek --mode sampled"),
        (["--mode", "exact"], "--mode exact holds at most 8 GiB on a process: use --mode sampled"),
    ] {
        let call = likewise(&[&args[..], &options].concat());
        assert!(call.code == 2 && call.stderr.contains(told), "{}: {}", call.code, call.stderr);
        assert!(!out.exists());
    }
    succeeds(&[&args[..], &["--mode", "sampled", "--k", "1"]].concat());
    std::fs::remove_dir_all(&out).unwrap();
    many(65_600);
    for mpirun in LAUNCHERS {
        let Some(mut command) = under(mpirun, &[&args[..], &["--mode", "exact"]].concat()) else { continue };
        let call = finish(command.output().unwrap());
        assert_ne!(call.code, 0);
        assert_eq!(call.stderr.matches("65,600 ranks take 33 GiB").count(), 1, "{}", call.stderr);
        assert!(call.stderr.contains("use --mode sampled") && !out.exists(), "{}", call.stderr);
    }
}

#[test]
fn under_mpi_a_place_that_cannot_be_written_is_told_before_the_input_is_read() {
    for mpirun in LAUNCHERS {
        let Some(mut command) = under(mpirun, &["ranks", "/nowhere/e.csv", "-o", "/proc/nowhere"]) else {
            continue;
        };
        let call = finish(command.output().unwrap());
        assert_ne!(call.code, 0);
        assert_eq!(call.stderr.matches("error:").count(), 1, "{}", call.stderr);
        assert!(call.stderr.contains("/proc/nowhere") && !call.stderr.contains("e.csv"), "{}", call.stderr);
    }
}

#[test]
fn a_trace_is_shared_out_to_several_processes() {
    let dir = tempfile::tempdir().unwrap();
    let made = dir.path().join("made");
    succeeds(&["synth", "--tasks", "6", "--iterations", "20", "--seed", "4", "-q", "-o", text(&made)]);
    let mut traces = vec![made.join("synth.prv")];
    traces.extend(shared_data().map(|data| data.join("epoch/epoch_16proc.prv.gz")));
    for trace in traces {
        let one = dir.path().join(format!("{}-1", trace.file_name().unwrap().display()));
        succeeds(&["ranks", text(&trace), "-q", "-o", text(&one)]);
        same_under_mpi(dir.path(), &trace, &[], &one);
    }
    // What follows '--' is read by one process alone.
    for mpirun in LAUNCHERS {
        let Some(mut command) = under(mpirun, &["ranks", text(&made.join("synth.prv")), "--", "--no-such"])
        else {
            continue;
        };
        let call = finish(command.output().unwrap());
        assert_ne!(call.code, 0);
        assert_eq!(call.stderr.matches("unexpected argument '--no-such'").count(), 1, "{}", call.stderr);
    }
}

#[test]
fn a_trace_gives_regions_and_steps() {
    let dir = tempfile::tempdir().unwrap();
    let made = dir.path().join("made");
    succeeds(&["synth", "--tasks", "8", "--iterations", "20", "--seed", "4", "-q", "-o", text(&made)]);
    let out = dir.path().join("out");
    succeeds(&["ranks", text(&made.join("synth.prv")), "-q", "-o", text(&out)]);
    let told = summary(&out);
    assert_eq!((&told["ranks"], &told["unit"]), (&8.into(), &"s".into()));
    assert!(told["steps"].as_u64().unwrap() >= 15, "{}", told["steps"]);
    assert!(!told["regions"].as_array().unwrap().is_empty());
}
