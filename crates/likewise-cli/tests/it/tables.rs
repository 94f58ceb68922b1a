//! Tables as people and programs write them: every command reads the same of
//! each, or says why not.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::*;

/// A table in memory: names, and rows of cells.
struct Table {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(names: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self { names: names.iter().map(|name| (*name).to_owned()).collect(), rows }
    }

    /// With a column before it that counts the rows, as `df.to_csv` writes.
    fn with_index(&self) -> Self {
        let names = std::iter::once(String::new()).chain(self.names.iter().cloned()).collect();
        let row = |(at, row): (usize, &Vec<String>)| {
            std::iter::once(at.to_string()).chain(row.iter().cloned()).collect()
        };
        Self { names, rows: self.rows.iter().enumerate().map(row).collect() }
    }

    fn text(&self, separator: &str, end: &str) -> String {
        let line = |cells: &Vec<String>| format!("{}{end}", cells.join(separator));
        std::iter::once(&self.names).chain(&self.rows).map(line).collect()
    }
}

/// The table in all the ways in which it may be written.
fn written(table: &Table) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for (name, table) in [("plain", table), ("index", &table.with_index())] {
        for (separator, what) in [(",", "comma"), (";", "semicolon"), ("\t", "tab"), (" ", "blank")] {
            // An empty name cannot be seen between blanks.
            if what == "blank" && name == "index" {
                continue;
            }
            all.push((format!("{name} {what}"), table.text(separator, "\n").into_bytes()));
        }
        all.push((format!("{name} crlf"), table.text(",", "\r\n").into_bytes()));
        let marked = ["\u{feff}# made by hand\n\n", &table.text(",", "\n")].concat();
        all.push((format!("{name} mark and comment"), marked.into_bytes()));
        let decimal = table.text(";", "\n").replace('.', ",");
        all.push((format!("{name} decimal comma"), decimal.into_bytes()));
        let quoted = |cells: &Vec<String>| cells.iter().map(|cell| format!("\"{cell}\"")).collect();
        let all_quoted = Table { names: quoted(&table.names), rows: table.rows.iter().map(quoted).collect() };
        all.push((format!("{name} quoted"), all_quoted.text(",", "\n").into_bytes()));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, table.text(",", "\n").as_bytes()).unwrap();
        all.push((format!("{name} gzip"), gzip.finish().unwrap()));
    }
    all
}

/// What a command finds in a table must not depend on how it is written.
fn same_for_all(table: &Table, args: &[&str], facts: impl Fn(&Path, &Value) -> Value) {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("t.csv"), dir.path().join("out"));
    let mut first: Option<(String, Value)> = None;
    for (how, bytes) in written(table) {
        std::fs::write(&path, bytes).unwrap();
        let call = succeeds(&[&args[..1], &[text(&path), "-o", text(&out)], &args[1..]].concat());
        let found = facts(&out, &summary(&out));
        let is_said = (call.stderr.clone() + &call.stdout).contains("it has no name");
        assert_eq!(
            is_said,
            how.starts_with("index") && args[0] != "bursts",
            "{args:?} {how}: {}",
            call.stderr
        );
        match &first {
            None => first = Some((how, found)),
            Some((other, expected)) => assert_eq!(&found, expected, "{args:?}: {how} and {other}"),
        }
    }
}

/// Two kinds of ranks: the second half works longer, and differently.
fn efforts() -> Table {
    let names: Vec<String> = (0..8).map(|step| format!("step{step}")).collect();
    let row = |rank: u32| {
        let effort = |step: u32| {
            f64::from(rank / 6) * f64::from(step + 1) + 10.0 + f64::from((7 * rank + 3 * step) % 11) / 100.0
        };
        (0..8).map(|step| format!("{:.4}", effort(step))).collect()
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Table::new(&names, (0..12).map(row).collect())
}

/// The same, a row for each number.
fn long_efforts(names: [&str; 3], first: u32) -> Table {
    let wide = efforts();
    let cell = |rank: usize, step: usize| {
        vec![(rank as u32 + first).to_string(), step.to_string(), wide.rows[rank][step].clone()]
    };
    Table::new(
        &names,
        (0..12).flat_map(|rank| (0..8).map(move |step| (rank, step))).map(|(r, s)| cell(r, s)).collect(),
    )
}

fn classes(out: &Path, summary: &Value) -> Value {
    assert_eq!((summary["ranks"].as_u64(), summary["steps"].as_u64()), (Some(12), Some(8)));
    assert_eq!(summary["k"], 2);
    read(out, "ranks.csv").into()
}

#[test]
fn ranks_reads_all_tables_alike() {
    same_for_all(&efforts(), &["ranks"], classes);
    for (names, first) in [
        (["rank", "step", "effort"], 0),
        (["Process", "Iteration", "TIME"], 0),
        (["task", "iter", "time_us"], 1),
    ] {
        same_for_all(&long_efforts(names, first), &["ranks"], classes);
    }
}

#[test]
fn points_reads_all_tables_alike() {
    let row = |i: u32| {
        vec![
            format!("{:.3}", f64::from(i % 2) + f64::from(i % 7) / 1000.0),
            format!("{:.3}", 0.5 + f64::from(i % 5) / 500.0),
        ]
    };
    let table = Table::new(&["x", "y"], (0..60).map(row).collect());
    same_for_all(&table, &["points", "--eps", "0.1"], |out, summary| {
        assert_eq!((summary["clusters"].as_u64(), summary["dims"].as_u64()), (Some(2), Some(2)));
        read(out, "labels.csv").into()
    });
}

/// Call sites whose first two events tell the same.
fn sites() -> Table {
    let row = |i: u32| {
        let (a, b) = (f64::from(i * i % 17), f64::from(i * 7 % 13));
        let missing = if i % 6 == 1 { "NA".to_owned() } else { format!("{:.2}", 3.0 * b + 0.5) };
        vec![format!("s{i}"), format!("{:.2}", a), format!("{:.2}", 2.0 * a + 1.0), missing]
    };
    Table::new(&["site", "CYC", "INS", "L2"], (0..18).map(row).collect())
}

#[test]
fn counters_and_pareto_read_all_tables_alike() {
    same_for_all(&sites(), &["counters"], |out, summary| {
        assert_eq!(summary["profiles"], 3);
        assert_eq!(summary["columns"]["names"], serde_json::json!(["site"]));
        read(out, "dendrogram.json").into()
    });
    same_for_all(&sites(), &["pareto", "--max", "CYC,L2"], |out, summary| {
        assert_eq!(summary["unranked"], 3);
        read(out, "pareto.csv").into()
    });
}

fn bursts() -> Table {
    let mut rows = Vec::new();
    for task in 1..=4 {
        for i in 0..40u32 {
            let long = i % 2 == 0;
            let duration = if long { 900_000 } else { 300_000 } + 13 * (i % 7) + task;
            let instructions = if long { 2.5e6 } else { 2.4e5 } + f64::from(i % 5) + 0.5;
            let misses = if i % 9 == 4 { "NaN".to_owned() } else { format!("{:.1}", instructions / 100.0) };
            rows.push(vec![
                task.to_string(),
                "1".to_owned(),
                (u64::from(i) * 1_000_000).to_string(),
                duration.to_string(),
                format!("{instructions:.1}"),
                misses,
            ]);
        }
    }
    Table::new(&["task", "thread", "begin_ns", "duration_ns", "PAPI_TOT_INS", "PAPI_L1_DCM"], rows)
}

#[test]
fn bursts_reads_all_tables_alike() {
    same_for_all(
        &bursts(),
        &["bursts", "--no-trace", "--method", "dbscan", "--eps", "0.1"],
        |out, summary| {
            assert_eq!((summary["bursts"].as_u64(), summary["clusters"].as_u64()), (Some(160), Some(2)));
            read(out, "bursts.csv").into()
        },
    );
}

/// A run has the same results whatever its clock counts from, and its times stay those of the table.
#[test]
fn a_clock_may_count_from_anywhere() {
    let dir = tempfile::tempdir().unwrap();
    let results = |from: u64| {
        let mut table = bursts();
        for row in &mut table.rows {
            // One task is slow, so that there is something to find.
            let duration: u64 = row[3].parse().unwrap();
            row[3] = if row[0] == "4" { (duration * 11 / 10).to_string() } else { row[3].clone() };
            row[2] = (row[2].parse::<u64>().unwrap() + from).to_string();
        }
        let (input, out) = (dir.path().join("t.csv"), dir.path().join("out"));
        let _ = std::fs::remove_dir_all(&out);
        std::fs::write(&input, table.text(",", "\n")).unwrap();
        let args = ["bursts", text(&input), "--no-trace", "-o", text(&out)];
        let call = succeeds(&[&args[..], &["--method", "dbscan", "--eps", "0.1"]].concat());
        let mut summary = summary(&out);
        for key in ["timings", "peak_memory_bytes"] {
            summary[key] = Value::Null;
        }
        let rows = read(&out, "bursts.csv");
        (summary, rows, read(&out, "representatives.csv"), call.stdout + &call.stderr)
    };
    let (plain, rows, representatives, _) = results(0);
    assert_eq!(plain["trace_begin_ns"], 0);
    let from = 1_700_000_000_000_000_000;
    let (mut other, other_rows, other_representatives, said) = results(from);
    let note = "the run is taken to begin with its first burst, at 1700000000000000000 ns of the table";
    assert!(said.contains(note), "{said}");
    let notes = other["notes"].as_array_mut().unwrap();
    assert_eq!(notes.iter().filter(|said| said.as_str().unwrap().starts_with(note)).count(), 1);
    notes.retain(|said| !said.as_str().unwrap().starts_with(note));
    assert_eq!(other["trace_begin_ns"], from);
    let back = |time: &mut Value| {
        if let Some(at) = time.as_u64() {
            *time = (at - from).into();
        }
    };
    ["trace_begin_ns", "trace_end_ns"].iter().for_each(|key| back(&mut other[key]));
    if let Some(region) = other["period"]["region_ns"].as_array_mut() {
        region.iter_mut().for_each(back);
    }
    let findings = other["findings"].as_array_mut().unwrap();
    assert!(!findings.is_empty());
    for finding in findings {
        for key in ["begin_ns", "from_ns", "until_ns"] {
            if let Some(time) = finding.get_mut(key) {
                back(time);
            }
        }
    }
    assert_eq!(other, plain);
    for (plain, other) in [(rows, other_rows), (representatives, other_representatives)] {
        let header: Vec<&str> = plain.lines().next().unwrap().split(',').collect();
        let at = header.iter().position(|name| *name == "begin_ns").unwrap();
        let back = |row: &str| {
            let mut cells: Vec<String> = row.split(',').map(str::to_owned).collect();
            cells[at] = cells[at].parse().map_or(cells[at].clone(), |time: u64| (time - from).to_string());
            cells.join(",") + "\n"
        };
        assert_eq!(other.lines().map(back).collect::<String>(), plain);
    }
}

/// Four phases in each iteration, after which all threads wait.
fn loop_of_four_phases(tasks: u64, iterations: u64) -> String {
    let mut text = "task,begin_ns,duration_ns,PAPI_TOT_INS,PAPI_TOT_CYC\n".to_owned();
    let mut begin = 0;
    for at in 0..iterations {
        for (phase, (instructions, ipc)) in (0..).zip([(20e6, 1.5), (5e6, 0.8), (60e6, 2.2), (1e6, 1.1)]) {
            for task in 0..tasks {
                // 0.3 % and 1 % more or less, by no order.
                let few = 0.003 * ((11 * (7 * at + 5 * phase + 3 * task) % 17) as f64 / 8.0 - 1.0);
                let more = 0.01 * ((13 * (5 * at + 3 * phase + 7 * task) % 19) as f64 / 9.0 - 1.0);
                let instructions = instructions * (1.0 + few);
                let cycles = instructions / (ipc * (1.0 + more));
                let (task, duration) = (task + 1, cycles / 2.5);
                text += &format!("{task},{begin},{duration:.0},{instructions:.0},{cycles:.0}\n");
            }
            begin += 12_000_000;
        }
    }
    text
}

/// Of few bursts, one density makes one phase of several: half of an iteration looked like all of it.
#[test]
fn an_iteration_has_all_phases() {
    let dir = tempfile::tempdir().unwrap();
    for (tasks, iterations) in [(1, 6), (1, 8), (2, 3), (2, 6), (3, 8)] {
        let (input, out) = (dir.path().join("t.csv"), dir.path().join("out"));
        std::fs::write(&input, loop_of_four_phases(tasks, iterations)).unwrap();
        succeeds(&["bursts", text(&input), "--no-trace", "-q", "-o", text(&out)]);
        assert_eq!(summary(&out)["period"]["iterations"], iterations, "{tasks} tasks");
    }
}

/// A folder with `bursts.csv` and `bursts.parquet` of the same run.
fn both(dir: &Path) -> [PathBuf; 2] {
    let table = dir.join("t.csv");
    std::fs::write(&table, bursts().text(",", "\n")).unwrap();
    ["csv", "parquet"].map(|format| {
        let out = dir.join(format);
        succeeds(&["bursts", text(&table), "--format", format, "--no-trace", "-q", "-o", text(&out)]);
        out.join(format!("bursts.{format}"))
    })
}

#[cfg(feature = "parquet")]
#[test]
fn our_own_parquet_is_read_where_csv_is() {
    let dir = tempfile::tempdir().unwrap();
    let [csv, parquet] = both(dir.path());
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    // Twice the same of everything that does not name the file.
    for args in [&["bursts", "--no-trace"][..], &["align"], &["ranks", "--k", "1"]] {
        for (input, out) in [(&csv, &a), (&parquet, &b)] {
            let _ = std::fs::remove_dir_all(out);
            let call = likewise(&[&args[..1], &[text(input), "-q", "-o", text(out)], &args[1..]].concat());
            // Two alternating phases need not be periodic; both say the same then.
            if args[0] != "ranks" {
                assert_eq!(call.code, 0, "{args:?}: {}", call.stderr);
            }
        }
        assert_eq!(a.exists(), b.exists());
        for name in if a.exists() { names(&a) } else { Vec::new() } {
            if name.ends_with(".csv") || name.ends_with(".seq") {
                assert_eq!(read(&a, &name), read(&b, &name), "{args:?} {name}");
            }
        }
    }
    let labels = succeeds(&["compare", text(&csv), text(&parquet), "--json"]);
    let labels: Value = serde_json::from_str(&labels.stdout).unwrap();
    assert_eq!((labels["adjusted_rand"].as_f64(), labels["matched"].as_u64()), (Some(1.0), Some(160)));
    let info = |path: &Path| -> Value {
        let mut info: Value =
            serde_json::from_str(&succeeds(&["info", "--json", text(path)]).stdout).unwrap();
        assert!(info["format"].as_str().unwrap().ends_with("of bursts"));
        for key in ["file", "format", "records"] {
            info[key] = Value::Null;
        }
        info
    };
    assert_eq!(info(&csv), info(&parquet));
}

#[test]
fn a_labelled_burst_table_is_no_table_of_efforts() {
    let dir = tempfile::tempdir().unwrap();
    let [csv, _] = both(dir.path());
    let out = dir.path().join("out");
    let call = likewise(&["ranks", text(&csv), "-o", text(&out)]);
    // As a trace: periodic, or said not to be.
    assert!(call.code == 0 || call.stderr.contains("no period was found"), "{}", call.stderr);
    let clusters = dir.path().join("csv/clusters.csv");
    let call = likewise(&["ranks", text(&clusters), "-o", text(&out)]);
    assert_eq!(call.code, 1);
    assert!(
        call.stderr.contains("it has a column 'cluster', as a result of likewise has"),
        "{}",
        call.stderr
    );
}

#[test]
fn a_first_row_with_an_odd_cell_is_no_header() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("t.csv"), dir.path().join("out"));
    for command in ["ranks", "points"] {
        std::fs::write(&path, "12.5x,13\n12,13\n11,14\n").unwrap();
        let call = likewise(&[command, text(&path), "-o", text(&out)]);
        assert_eq!(call.code, 1);
        assert!(
            call.stderr.contains("t.csv:1: column 1 (x1): expected a finite number, found '12.5x'"),
            "{}",
            call.stderr
        );
    }
}

#[test]
fn what_was_left_out_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("t.csv"), dir.path().join("out"));
    let rows: String = (0..20)
        .map(|i| {
            format!(
                "s{i},\"{},{:03}\",{}.5%,{} s,{}\n",
                i + 1,
                i * 37 % 1000,
                i * 3 % 7,
                i * 5 % 11,
                if i == 3 { "5 s" } else { "5 ms" }
            )
        })
        .collect();
    std::fs::write(&path, format!("site,cyc,miss,time,mixed\n{rows}")).unwrap();
    let call = succeeds(&["counters", text(&path), "-v", "-o", text(&out)]);
    let found = summary(&out);
    assert_eq!(found["profiles"], 3);
    assert_eq!(found["columns"]["units"], serde_json::json!({"miss": "%", "time": "s"}));
    assert_eq!(found["columns"]["left_out"][0]["name"], "mixed");
    let why = "mixed (of texts: not every number has the unit 'ms', such as '5 s')";
    assert!(call.stdout.contains(why), "{}", call.stdout);
    for told in [
        "Columns: numbers: cyc, miss, time; names: site; left out: mixed",
        "Commas between thousands",
        "Read without the unit behind each number: miss (%), time (s).",
    ] {
        assert!(call.stderr.contains(told), "{told}: {}", call.stderr);
    }
}

#[test]
fn long_counters_with_a_rank_have_a_row_for_each() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("t.csv"), dir.path().join("out"));
    let mut rows = String::new();
    for site in 0..5 {
        for rank in 0..4 {
            for (event, factor) in [("CYC", 3), ("INS", 6), ("L2", -1)] {
                rows += &format!("s{site},{rank},{event},{}\n", factor * (site * 7 + rank * rank) + 100);
            }
        }
    }
    std::fs::write(&path, format!("site,rank,event,value\n{rows}")).unwrap();
    let call = succeeds(&["counters", text(&path), "-o", text(&out), "--rank-by", "CYC,INS"]);
    let found = summary(&out);
    assert_eq!((found["profiles"].as_u64(), found["dims"].as_u64()), (Some(3), Some(20)));
    assert_eq!(found["columns"]["names"], serde_json::json!(["site", "rank"]));
    assert!(
        call.stdout.contains(
            "Rows ranked on CYC, INS: 20 ranks; 1 row that no other dominates:\n  s4 3: CYC 211, INS 322\n"
        ),
        "{}",
        call.stdout
    );
}

#[test]
fn other_formats_are_answered_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("t"), dir.path().join("out"));
    let zip = b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0[Content_Types].xml".as_slice();
    for (bytes, told) in [
        (b"\x28\xb5\x2f\xfd\x04\x00".as_slice(), "unpack it first: zstd -d"),
        (b"\xfd7zXZ\0\0\x04", "unpack it first: xz -dk"),
        (b"BZh91AY&SY", "unpack it first: bzip2 -dk"),
        (zip, "this is an Excel workbook (.xlsx); save the sheet as CSV"),
        (b"{\"papi_version\": \"7.1.0.0\"}", "this is PAPI's JSON; make a CSV of it"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        for args in
            [&["ranks"][..], &["points"], &["counters"], &["pareto", "--max", "a"], &["bursts"], &["align"]]
        {
            let call = likewise(&[&args[..1], &[text(&path), "-o", text(&out)], &args[1..]].concat());
            assert_eq!(call.code, 1, "{args:?}");
            assert!(call.stderr.contains(told), "{args:?}: {}", call.stderr);
        }
        for args in [&["info", text(&path)][..], &["compare", text(&path), text(&path)]] {
            let call = likewise(args);
            assert!(call.code == 1 && call.stderr.contains(told), "{args:?}: {}", call.stderr);
        }
    }
}

#[test]
fn numbers_at_the_ends_of_doubles_are_drawn_or_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("t.csv"), dir.path().join("out"));
    std::fs::write(&path, ",a,b,c\na,0,5e-324,5e-324\nb,5e-324,0,5e-324\nc,5e-324,5e-324,0\n").unwrap();
    succeeds(&["counters", "--dissimilarity", text(&path), "-o", text(&out)]);
    std::fs::write(&path, "site,x,y\na,0,1\nb,5e-324,0\nc,0,5e-324\n").unwrap();
    succeeds(&["counters", text(&path), "--rank-by", "x,y", "--scale", "none", "-o", text(&out)]);
    std::fs::write(&path, "1e-312\n5e-312\n9e-312\n").unwrap();
    let call = likewise(&["points", text(&path), "--eps", "3e-312", "--min-points", "1", "-o", text(&out)]);
    assert_eq!(call.code, 2);
    assert!(call.stderr.contains("its square leaves the range of a double"), "{}", call.stderr);
    let call = likewise(&["points", text(&path), "--k-distances", "3", "--eps", "1", "-o", text(&out)]);
    assert_eq!(call.code, 2);
    assert!(call.stderr.contains("does not go with --eps"), "{}", call.stderr);
}

#[test]
fn formulas_do_not_pass_into_csv() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("t.csv"), dir.path().join("out"));
    std::fs::write(&path, "site,x,y\n=cmd|' /C calc'!A0,1,2\n-5,2,1\n@a,0,0\n").unwrap();
    succeeds(&["pareto", text(&path), "--max", "x,y", "-q", "-o", text(&out)]);
    let written = read(&out, "pareto.csv");
    let lines: Vec<&str> = written.lines().collect();
    assert_eq!(lines[1..], ["'=cmd|' /C calc'!A0,0,0", "-5,0,0", "'@a,1,2"]);
}
