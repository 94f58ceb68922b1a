//! `likewise counters`.

use crate::support::*;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Table 2 of Malard's paper, with names before the rows.
const TABLE_2: &str = "\
,BRU_IDL_B,L2_STM_B,BTAC_M_B,PRF_DM_B,BR_PRC_B,SYC_INS_B
BRU_IDL_B,0,3.08,3.86,2.74,1.86,2.61
L2_STM_B,3.08,0,1.63,2.17,3.52,4.59
BTAC_M_B,3.86,1.63,0,1.99,4.37,5.43
PRF_DM_B,2.74,2.17,1.99,0,3.20,4.20
BR_PRC_B,1.86,3.52,4.37,3.20,0,1.79
SYC_INS_B,2.61,4.59,5.43,4.20,1.79,0
";

/// Time and a follower, misses and a follower; one constant, one nearly empty.
fn sites() -> String {
    let mut csv = String::from("site,time,waits,misses,fills,mode,rare\n");
    for i in 0..40u32 {
        let (time, misses) = (i * 37 % 41, i * 29 % 40);
        let waits = if i == 7 { "NA".to_owned() } else { (3 * time + i % 2).to_string() };
        let rare = if i < 4 { i.to_string() } else { String::new() };
        csv += &format!("s{i},{time},{waits},{misses},{},5,{rare}\n", 2 * misses + i % 3);
    }
    csv
}

fn put(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("it can be written");
    path
}

fn dendrogram(dir: &Path) -> Value {
    serde_json::from_str(&read(dir, "dendrogram.json")).expect("JSON")
}

fn numbers(list: &Value, key: &str) -> Vec<Option<f64>> {
    list.as_array().expect("a list").iter().map(|entry| entry[key].as_f64()).collect()
}

fn rounded(values: Vec<Option<f64>>) -> Vec<Option<f64>> {
    values.into_iter().map(|x| x.map(|x| (x * 100.0).round() / 100.0)).collect()
}

#[test]
fn table_2_of_the_paper() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (put(dir.path(), "t.csv", TABLE_2), dir.path().join("out"));
    let call = succeeds(&["counters", "--dissimilarity", text(&table), "-o", text(&out)]);
    assert!(call.stdout.contains("1.63  L2_STM_B, BTAC_M_B"), "{}", call.stdout);
    let tree = dendrogram(&out);
    assert_eq!(tree["leaves"].as_array().unwrap().len(), 6);
    assert_eq!(numbers(&tree["merges"], "height"), [1.63, 1.79, 2.17, 2.61, 5.43].map(Some));
    assert_eq!(numbers(&tree["merges"], "members"), [2.0, 2.0, 3.0, 3.0, 6.0].map(Some));
    let partitions = &tree["partitions"];
    let some = |values: [f64; 5]| values.map(Some).to_vec();
    assert_eq!(numbers(partitions, "clusters"), [6.0, 5.0, 4.0, 3.0, 2.0, 1.0].map(Some));
    assert_eq!(
        rounded(numbers(partitions, "s1")),
        [some([1.78, 1.96, 2.39, 3.03, 5.43]), vec![None]].concat()
    );
    assert_eq!(rounded(numbers(partitions, "h1")), [0.0, 0.33, 0.86, 1.32, 2.39, 5.43].map(Some));
    assert_eq!(rounded(numbers(partitions, "r")), [0.0, 0.3, 0.33, 0.4, 0.48, 1.0].map(Some));
    assert_eq!(numbers(partitions, "goldberg"), [some([0.0; 5]), vec![None]].concat());
    assert_eq!(partitions[0]["strong"], false, "nothing was formed");
    assert_eq!(partitions[1]["strong"], true);
    assert_eq!(partitions[1]["formed"], 6);
    assert!(partitions[1]["log_min_density"].is_null());
    assert_eq!(names(&out), ["dendrogram.json", "dendrogram.nwk", "report.html", "summary.json"]);
}

#[test]
fn ranks_follow_the_objectives() {
    // Table 4, but for what its own Table 3 contradicts: docs/counters.md.
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (put(dir.path(), "t.csv", TABLE_2), dir.path().join("out"));
    for (objectives, ranks) in [
        ("s1,h1,r75", [Some(0.0), Some(0.0), Some(0.0), Some(0.0), Some(0.0), None]),
        ("s1,r75", [Some(4.0), Some(3.0), Some(2.0), Some(1.0), Some(0.0), None]),
        ("h1,r75", [Some(0.0); 6]),
    ] {
        let given = ["counters", "--dissimilarity", text(&table), "--objectives", objectives];
        succeeds(&[&given[..], &["-q", "-o", text(&out)]].concat());
        assert_eq!(numbers(&dendrogram(&out)["partitions"], "goldberg"), ranks, "{objectives}");
    }
}

#[test]
fn newick_is_balanced_and_its_branches_add_up() {
    let dir = tempfile::tempdir().unwrap();
    let table = put(dir.path(), "t.csv", &TABLE_2.replace("SYC_INS_B", "it's (b)"));
    let out = dir.path().join("out");
    succeeds(&["counters", "--dissimilarity", text(&table), "-q", "-o", text(&out)]);
    let newick = read(&out, "dendrogram.nwk");
    assert!(newick.ends_with(";\n") && newick.contains("'it''s (b)':1.79"), "{newick}");
    let bare = newick.replace("'it''s (b)'", "x");
    assert_eq!(bare.matches('(').count(), 5);
    assert_eq!(bare.matches(')').count(), 5);
    assert_eq!(bare.matches(',').count(), 5);
    // Every profile is as far from the root as the last merge is high.
    let mut above: Vec<f64> = Vec::new();
    let mut leaves = Vec::new();
    for (at, c) in bare.char_indices().rev() {
        let length = |from: usize| -> f64 {
            let rest = &bare[from..];
            rest[..rest.find([',', ')', ';']).unwrap()].parse().unwrap()
        };
        let so_far = above.last().copied().unwrap_or(0.0);
        match c {
            ')' if bare[at + 1..].starts_with(':') => above.push(so_far + length(at + 2)),
            ')' => above.push(0.0),
            '(' => _ = above.pop(),
            ':' if !bare[..at].ends_with(')') => leaves.push(so_far + length(at + 1)),
            _ => {}
        }
    }
    assert_eq!(leaves.len(), 6);
    assert!(leaves.iter().all(|depth| (depth - 5.43).abs() < 1e-12), "{leaves:?}");
    assert!(newick.contains("'BTAC_M_B':1.63)"), "{newick}");
}

#[test]
fn what_tells_nothing_is_named_and_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (put(dir.path(), "sites.csv", &sites()), dir.path().join("out"));
    let call = succeeds(&[
        "counters",
        text(&table),
        "--response",
        "time",
        "--rank-by",
        "time,misses",
        "-o",
        text(&out),
    ]);
    let summary = summary(&out);
    assert_eq!(summary["profiles"], 4);
    assert_eq!(summary["left_out"][0], serde_json::json!({ "name": "mode", "why": "constant: 5" }));
    assert_eq!(summary["left_out"][1], serde_json::json!({ "name": "rare", "why": "90.0% are missing" }));
    assert_eq!(summary["response"]["nearest"][0]["name"], "waits");
    assert_eq!(summary["best_silhouette"]["members"].to_string(), r#"[["time","waits"],["misses","fills"]]"#);
    assert!(call.stdout.contains("Nearest to time: waits"), "{}", call.stdout);
    let report = read(&out, "report.html");
    assert!(report.contains("left out: rare") && report.contains("90.0% are missing"));
    assert!(report.contains("id=\"h-records\""));
    let pareto = read(&out, "pareto.csv");
    assert_eq!(pareto.lines().next(), Some("site,goldberg,fonseca_fleming"));
    assert_eq!(pareto.lines().count(), 41);
    succeeds(&["counters", text(&table), "--max-missing", "95%", "-q", "-o", text(&out)]);
    assert_eq!(self::summary(&out)["profiles"], 5);
    let call = likewise(&["counters", text(&table), "--response", "mode", "-o", text(&out)]);
    assert_eq!(call.code, 2);
    assert!(call.stderr.contains("'mode' was left out: constant: 5"), "{}", call.stderr);
}

#[test]
fn columns_are_named_as_in_csv() {
    let dir = tempfile::tempdir().unwrap();
    let table = put(dir.path(), "t.csv", "\"a, b\",\"he\"\"llo\",c\n1,2,3\n4,1,2\n0,5,7\n");
    let out = dir.path().join("out");
    let call = succeeds(&["counters", text(&table), "--columns", "\"a, b\",he\"llo", "-v", "-o", text(&out)]);
    assert_eq!(dendrogram(&out)["leaves"].to_string(), r#"["a, b","he\"llo"]"#);
    assert_eq!(summary(&out)["parameters"]["columns"].to_string(), r#"["a, b","he\"llo"]"#);
    assert!(
        call.stderr.contains("3 rows, 3 columns") && call.stderr.contains("linkage: "),
        "{}",
        call.stderr
    );
    for (given, told) in [("\"a, b", "a quote is not closed"), ("c,", "a name is empty")] {
        let call = likewise(&["counters", text(&table), "--columns", given, "-o", text(&out)]);
        assert!(call.code == 2 && call.stderr.contains(told), "{}", call.stderr);
    }
}

#[test]
fn a_column_of_numbers_is_not_lost_for_its_first_cell() {
    let dir = tempfile::tempdir().unwrap();
    let table = put(dir.path(), "t.csv", "site,a,b,c\nx,?,2,3\ny,5,4,1\nz,7,9,7\nw,2,3,3\n");
    let out = dir.path().join("out");
    succeeds(&["counters", text(&table), "-q", "-o", text(&out)]);
    let call = succeeds(&["counters", text(&table), "-o", text(&out)]);
    assert!(call.stdout.contains("Left out: a (of texts, as its first value is '?'"), "{}", call.stdout);
    let left = &summary(&out)["left_out"][0];
    assert_eq!(left["name"], "a");
    assert!(left["why"].as_str().unwrap().contains("its first value is '?'"), "{left}");
}

#[test]
fn rounding_is_taken_off_dissimilarities() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let matrix =
        put(dir.path(), "m.csv", ",0,1,2\n0,2e-16,1,2\n1,1.0000000000000002,-1e-17,1.5\n2,2,1.5,0\n");
    succeeds(&["counters", "--dissimilarity", text(&matrix), "-q", "-o", text(&out)]);
    assert_eq!(numbers(&dendrogram(&out)["merges"], "height"), [1.0, 2.0].map(Some));
}

#[test]
fn groups_of_rows_are_compared() {
    // Ranks 1 to 9 in three groups of three: H = 12/90·(6² + 15² + 24²)/3 − 30 = 7.2, and 1 in 36.
    let dir = tempfile::tempdir().unwrap();
    let mut csv = String::from("cluster,up,flat,fuzz\n");
    for i in 0..9u32 {
        csv += &format!("{},{},{},{}\n", i / 3 + 1, 10 + i, i * 4 % 9, 100.0 + f64::from(i) / 1000.0);
    }
    csv += "noise,0,0,0\n";
    let (table, out) = (put(dir.path(), "t.csv", &csv), dir.path().join("out"));
    let options = ["--groups", "cluster", "--round", "fuzz=1,0.5"];
    let call = succeeds(&[&["counters", text(&table), "-o", text(&out)], &options[..]].concat());
    let lines = read(&out, "significance.csv");
    let cells: Vec<Vec<&str>> = lines.lines().map(|line| line.split(',').collect()).collect();
    let number = |row: usize, column: usize| cells[row][column].parse::<f64>().unwrap();
    assert_eq!(cells[1][0], "up");
    assert_eq!((cells[1][1], cells[1][2]), ("3", "9"), "noise is no group");
    assert!((number(1, 3) - 7.2).abs() < 1e-12);
    assert!((number(1, 5) - (-3.6f64).exp()).abs() < 1e-12, "χ² of two degrees of freedom");
    assert!((number(1, 6) - 3.0 * number(1, 5)).abs() < 1e-12, "three columns");
    assert!((number(1, 7) - 0.9).abs() < 1e-12);
    assert_eq!((cells[1][8], cells[1][9], cells[1][10]), ("1", "3", "1"));
    let fuzz = cells.iter().find(|row| row[0] == "fuzz").unwrap();
    assert_eq!((fuzz[3], fuzz[5]), ("0", "1"), "rounded to ones nothing differs");
    assert_eq!(read(&out, "dunn.csv").lines().count(), 10);
    assert!(call.stdout.contains("0 of 3 columns differ between groups of cluster"), "{}", call.stdout);
    assert!(read(&out, "report.html").contains("id=\"h-groups\""));
    for (options, told) in [
        (["--groups", "nothing"], "no column 'nothing'"),
        (["--round", "1"], "--groups"),
        (["--groups", "cluster=1"], "no column"),
    ] {
        let call = likewise(&[&["counters", text(&table), "-o", text(&out)], &options[..]].concat());
        assert_eq!(call.code, 2, "{}", call.stderr);
        assert!(call.stderr.contains(told), "{}", call.stderr);
    }
}

#[test]
fn what_varies_together_loads_on_one_factor() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (put(dir.path(), "sites.csv", &sites()), dir.path().join("out"));
    succeeds(&["counters", text(&table), "-q", "-o", text(&out)]);
    let loadings = read(&out, "loadings.csv");
    let rows: Vec<Vec<&str>> = loadings.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(
        rows.iter().map(|row| row[0]).collect::<Vec<_>>(),
        ["column", "time", "waits", "misses", "fills"]
    );
    let loading = |row: usize, factor: usize| rows[row][factor].parse::<f64>().unwrap();
    assert_eq!(rows[0].len(), 3, "two pairs of columns make two factors");
    // Each column on one factor, its pair on the same, the other pair on the other.
    let factor_of = |row: usize| match (loading(row, 1).abs(), loading(row, 2).abs()) {
        (one, other) if one > 0.95 && other < 0.3 => 1,
        (other, one) if one > 0.95 && other < 0.3 => 2,
        _ => 0,
    };
    let found = [1, 2, 3, 4].map(factor_of);
    assert!(found == [1, 1, 2, 2] || found == [2, 2, 1, 1], "{loadings}");
    let summary = summary(&out);
    assert_eq!(summary["loadings"]["explained"].as_array().unwrap().len(), 2);
    assert_eq!(summary["loadings"]["eigenvalues"].as_array().unwrap().len(), 4);
    assert!(read(&out, "report.html").contains("id=\"h-loadings\""));
}

#[test]
fn rows_are_profiles_too() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (put(dir.path(), "sites.csv", &sites()), dir.path().join("out"));
    for linkage in ["complete", "single", "average", "ward"] {
        let options = ["--rows", "--columns", "misses,fills", "--linkage", linkage, "--metric", "euclidean"];
        succeeds(&[&["counters", text(&table), "-q", "-o", text(&out)], &options[..]].concat());
        let tree = dendrogram(&out);
        assert_eq!(tree["leaves"][3], "s3");
        assert_eq!(tree["merges"].as_array().unwrap().len(), 39);
        let heights = numbers(&tree["merges"], "height");
        assert!(heights.windows(2).all(|two| two[0] <= two[1]), "{linkage}");
    }
    let half = put(dir.path(), "half.csv", "site,a,b,c\nx,1,2,3\ny,4,,\nz,2,5,1\nw,3,1,4\n");
    succeeds(&["counters", text(&half), "--rows", "-q", "-o", text(&out)]);
    let summary = summary(&out);
    assert_eq!(summary["profiles"], 3);
    assert_eq!(summary["left_out"][0], serde_json::json!({ "name": "y", "why": "66.7% are missing" }));
}

#[test]
fn tables_of_bursts_and_long_tables_are_understood() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 800);
    let run = dir.path().join("run");
    succeeds(&["bursts", text(&trace), "--eps", "0.02", "-q", "--no-trace", "-o", text(&run)]);
    let out = dir.path().join("out");
    succeeds(&["counters", text(&run.join("bursts.csv")), "-q", "-o", text(&out)]);
    let leaves = dendrogram(&out)["leaves"].to_string();
    assert!(leaves.contains("\"duration_ns\"") && leaves.contains("\"PAPI_TOT_CYC\""), "{leaves}");
    assert!(!leaves.contains("begin_ns") && !leaves.contains("\"n_") && !leaves.contains("task"), "{leaves}");
    succeeds(&["counters", text(&run.join("clusters.csv")), "-q", "-o", text(&out)]);
    let leaves = dendrogram(&out)["leaves"].to_string();
    assert!(leaves.contains("\"PAPI_TOT_CYC_mean\"") && leaves.contains("\"MIPS\""), "{leaves}");
    assert!(!leaves.contains("_sd") && !leaves.contains("total_ns"), "{leaves}");
    let long = "event,site,value\nA,x,1\nB,x,2\nA,y,3\nB,y,1\nC,x,5\nC,y,2\n";
    let long = put(dir.path(), "long.csv", long);
    succeeds(&["counters", text(&long), "-q", "-o", text(&out)]);
    assert_eq!(dendrogram(&out)["leaves"].to_string(), r#"["A","B","C"]"#);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_gives_what_csv_gives() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, run) = (synth(dir.path(), 800), dir.path().join("run"));
    let of = |format: &str| {
        let call = ["bursts", text(&trace), "--eps", "0.02", "-q", "--no-trace", "-o", text(&run)];
        succeeds(&[&call[..], &["--format", format]].concat());
        let (table, out) = (run.join(format!("bursts.{format}")), dir.path().join(format));
        let rank = ["--rank-by", "duration_ns,PAPI_TOT_CYC"];
        succeeds(&[&["counters", text(&table), "-q", "-o", text(&out)], &rank[..]].concat());
        let piped = dir.path().join("piped");
        let call = ["pareto", "-", "--min", "duration_ns", "--key", "begin_ns", "-q", "-o", text(&piped)];
        let file = std::fs::File::open(&table).unwrap();
        let call = finish(command(&call).stdin(file).output().unwrap());
        assert_eq!(call.code, 0, "{}", call.stderr);
        [read(&out, "dendrogram.json"), read(&out, "pareto.csv"), read(&piped, "pareto.csv")]
    };
    assert_eq!(of("parquet"), of("csv"));
}

#[test]
fn bad_input_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let matrices = [
        (",a,b\na,0,1\n", "1 rows and 3 columns are no square matrix"),
        (",a,b\na,0,1\nb,2,0\n", "'a' to 'b' is 1, but 2 the other way"),
        (",a,b\na,0,-1\nb,-1,0\n", "the dissimilarity of 'a' and 'b' is -1"),
        (",a,b\na,0,\nb,,0\n", "the dissimilarity of 'a' and 'b' is missing"),
        (",a,b\na,1,2\nb,2,0\n", "the dissimilarity of 'a' to itself is 1"),
        (",a,a\na,0,1\na,1,0\n", "two columns are called 'a'"),
        (",a,b\nb,0,1\na,1,0\n", "row 1 (from 1, without the names) is called 'b'"),
    ];
    for (matrix, told) in matrices {
        let path = put(dir.path(), "m.csv", matrix);
        let call = likewise(&["counters", "--dissimilarity", text(&path), "-o", text(&out)]);
        assert_eq!(call.code, 1, "{matrix}");
        assert!(call.stderr.contains(told) && call.stderr.contains("m.csv"), "{matrix}: {}", call.stderr);
        assert!(!out.exists());
    }
    let tables = [
        ("s,a,b\nx,1,2\ny,1,2\n", "no column is left; left out are a (constant: 1), b (constant: 2)"),
        ("s,a,b\nx,1,2\n", "the table has one row, in which nothing varies"),
        ("s,a,b\nx,1,2\ny,1,3\n", "only column 'b' is left, and 2 are needed"),
        ("s,t\nx,y\n", "no column is left; the table has none of numbers"),
        ("s:t\nx:1\ny:2\n", "Cells are separated by commas, semicolons, tabs, bars (|) or blanks"),
        ("s,a,b\nx,1,inf\ny,2,3\n", "column 'b', row 1 (from 1, without the names) is inf"),
        ("s,a,b\nx,1,\ny,2,\nz,,3\nw,,4\n", "'a' and 'b' are never known together"),
    ];
    for (table, told) in tables {
        let path = put(dir.path(), "t.csv", table);
        let call = likewise(&["counters", text(&path), "-o", text(&out)]);
        assert_eq!(call.code, 1, "{table}");
        assert!(call.stderr.contains(told) && call.stderr.contains("t.csv"), "{table}: {}", call.stderr);
        assert!(!out.exists());
    }
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (table, matrix) = (put(dir.path(), "sites.csv", &sites()), put(dir.path(), "m.csv", TABLE_2));
    let out = dir.path().join("out");
    let cases: [(&[&str], &str); 9] = [
        (&[], "required"),
        (&[text(&table), "--dissimilarity", text(&matrix)], "cannot be used with"),
        (&["--dissimilarity", text(&matrix), "--rows"], "cannot be used with"),
        (&["--dissimilarity", text(&matrix), "--objectives", "density"], "needs a table"),
        (&[text(&table), "--columns", "tim"], "no column 'tim'"),
        (&[text(&table), "--columns", "time,time"], "named twice"),
        (&[text(&table), "--response", "tim"], "no profile 'tim'"),
        (&[text(&table), "--rank-by", "time"], "two columns"),
        (&[text(&table), "--linkage", "best"], "invalid value"),
    ];
    for (options, told) in cases {
        let call = likewise(&[&["counters", "-o", text(&out)], options].concat());
        assert_eq!(call.code, 2, "{options:?}");
        assert!(call.stderr.contains(told), "{options:?}: {}", call.stderr);
    }
}

#[test]
fn names_are_text_in_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let table = sites().replace("waits", "<script>alert(1)</script>").replace("s3,", "<b>s3,");
    let (table, out) = (put(dir.path(), "t.csv", &table), dir.path().join("out"));
    let options = ["--response", "time", "--rank-by", "time,<script>alert(1)</script>"];
    succeeds(&[&["counters", text(&table), "-q", "-o", text(&out)], &options[..]].concat());
    let report = read(&out, "report.html");
    assert!(!report.contains("<script>alert") && !report.contains("<b>s3"));
    assert!(report.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_eq!(report.matches("</script>").count(), 1);
    let body = report.split("<script>").next().unwrap();
    assert!(!body.contains("NaN"), "no picture has a place that is none");
    assert!(!report.contains("http://") && !report.contains("https://"), "nothing to fetch");
}

#[test]
fn profiles_that_are_equal_can_be_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (put(dir.path(), "t.csv", "a,b,c\n1,2,10\n3,6,30\n2,4,20\n"), dir.path().join("out"));
    succeeds(&["counters", text(&table), "-q", "-o", text(&out)]);
    let body = read(&out, "report.html");
    let body = body.split("<script>").next().unwrap();
    assert!(!body.contains("NaN") && !body.contains("inf"), "{body}");
    let two = put(dir.path(), "two.csv", "a,b\n1,5\n3,6\n");
    succeeds(&["counters", text(&two), "-q", "-o", text(&out)]);
    assert_eq!(summary(&out)["best_silhouette"], Value::Null);
}

#[test]
fn many_rows_are_drawn_as_heaps_and_threads_change_no_byte() {
    let dir = tempfile::tempdir().unwrap();
    let mut csv = String::from("site,a,b,c\n");
    for i in 0..700u32 {
        csv += &format!("s{i},{},{},{}\n", i * 7919 % 1009, i * 104_729 % 997, (i * i) % 1013);
    }
    let table = put(dir.path(), "t.csv", &csv);
    let outputs: Vec<PathBuf> = ["1", "2"]
        .map(|threads| {
            let out = dir.path().join(threads);
            let options = ["--rows", "--rank-by", "a,b", "--threads", threads];
            succeeds(&[&["counters", text(&table), "-q", "-o", text(&out)], &options[..]].concat());
            out
        })
        .to_vec();
    for name in ["dendrogram.json", "dendrogram.nwk", "pareto.csv", "report.html"] {
        assert_eq!(read(&outputs[0], name), read(&outputs[1], name), "{name}");
    }
    let report = read(&outputs[0], "report.html");
    assert!(report.contains("Only the top of the tree is drawn, 240 clusters of 700 records"));
    assert!(report.contains("class=\"heap"));
}

#[test]
fn the_demo_finds_what_was_made_up() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("demo");
    let call = succeeds(&["demo", "--counters", "-o", text(&out)]);
    let verdict = "4 groups of events: 4 of them are strong clusters, and 4 are clusters of the partition with the \
                   greatest silhouette, which has 4.";
    assert!(call.stdout.contains(verdict), "{}", call.stdout);
    assert!(call.stdout.contains("Nearest to TOT_CYC: "), "{}", call.stdout);
    assert!(read(&out, "report.html").contains(verdict));
    let summary = summary(&out);
    assert_eq!(summary["left_out"][0]["name"], "HW_INT");
    assert_eq!(summary["left_out"][1]["why"], "constant: 0");
    assert_eq!(read(&out.join("input"), "truth.csv").lines().count(), 17);
}

/// Two sites on three processes, in five runs of each of two block sizes; with
/// larger blocks one process takes longer.
fn processes() -> String {
    let mut csv = String::from("run,nval,rank,time,misses\n");
    for run in 0..10u32 {
        let nval = if run < 5 { 1 } else { 8 };
        for rank in 0..3u32 {
            let late = if rank == 2 && nval == 8 { 90 + run } else { 0 };
            csv += &format!(
                "{run},{nval},{rank},{},{}\n",
                100 + run * 7 % 10 + rank + late,
                50 + run * 3 % 7 + 2 * rank
            );
        }
    }
    csv
}

/// The paper, §3: the variation across processes, as the largest over the mean,
/// has other distributions for other block sizes.
#[test]
fn balance_over_processes_is_a_column() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (put(dir.path(), "t.csv", &processes()), dir.path().join("out"));
    let call = ["counters", text(&table), "--per", "run", "--groups", "nval", "-o", text(&out)];
    let call = succeeds(&call);
    assert!(
        call.stderr.contains("30 rows became 10, one for each value of run, of 3 rows each."),
        "{}",
        call.stderr
    );
    let csv = read(&out, "significance.csv");
    assert!(
        csv.starts_with("column,groups,rows,h,") && csv.lines().next().unwrap().ends_with(",h_exact,p_exact")
    );
    let line = csv.lines().find(|line| line.starts_with("time:max/mean,")).expect("the column");
    let cells: Vec<&str> = line.split(',').collect();
    // Five against five without overlap: H = 12/110 (5·2.5² + 5·2.5²) = 6.818….
    assert_eq!((cells[1], cells[2]), ("2", "10"));
    assert!((cells[3].parse::<f64>().unwrap() - 750.0 / 110.0).abs() < 1e-12, "{line}");
    assert!(line.ends_with(",,"), "nothing was rounded: {line}");
    let parameters = &summary(&out)["parameters"];
    assert_eq!(parameters["per"][0], "run");
    assert_eq!(parameters["aggregate"].as_array().unwrap().len(), 2);
    let filtered =
        ["counters", text(&table), "--where", "rank<2", "--where", "nval=8", "-q", "-o", text(&out)];
    succeeds(&filtered);
    assert_eq!(summary(&out)["dims"], 10);
    assert_eq!(summary(&out)["parameters"]["where"][1], "nval=8");
    let wrong = likewise(&["counters", text(&table), "--aggregate", "max", "-o", text(&out)]);
    assert_eq!(wrong.code, 2, "without --per: {}", wrong.stderr);
}

#[test]
fn tests_are_repeated_in_all_digits() {
    let dir = tempfile::tempdir().unwrap();
    let mut csv = String::from("phase,cycles,other\n");
    for i in 0..24u32 {
        // The phases differ below the unit only.
        csv += &format!("{},10.{:03},{}\n", i % 2, 100 + 800 * (i % 2) + i, i * 7 % 24);
    }
    let (table, out) = (put(dir.path(), "t.csv", &csv), dir.path().join("out"));
    let cells = |options: &[&str]| -> Vec<String> {
        let call = ["counters", text(&table), "--groups", "phase", "-o", text(&out)];
        let call = succeeds(&[&call[..], options].concat());
        let csv = read(&out, "significance.csv");
        let line = csv.lines().find(|line| line.starts_with("cycles,")).expect("the column");
        line.split(',').map(str::to_owned).chain([call.stderr]).collect()
    };
    let exact = cells(&[]);
    let truncated = cells(&["--truncate", "cycles=1"]);
    let rounded = cells(&["--round", "1"]);
    assert_eq!((truncated[3].as_str(), truncated[5].as_str()), ("0", "1"), "the same whole numbers");
    assert_eq!((&truncated[11], &truncated[12]), (&exact[3], &exact[5]));
    assert_eq!((&rounded[11], &rounded[12]), (&exact[3], &exact[5]));
    assert_ne!(rounded[3], truncated[3]);
    assert!(exact[5].parse::<f64>().unwrap() < 1e-4, "{exact:?}");
    let note = "only by digits below the unit: cycles.";
    assert!(truncated[13].contains(note) && !rounded[13].contains(note), "{}", truncated[13]);
    assert_eq!(summary(&out)["parameters"]["round"][0], "1");
    let both = likewise(&["counters", text(&table), "--groups", "phase", "--round", "1", "--truncate", "2"]);
    assert_eq!(both.code, 2);
    assert!(both.stderr.contains("both name all columns"), "{}", both.stderr);
}

#[test]
fn partitions_have_their_relations() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (put(dir.path(), "t.csv", TABLE_2), dir.path().join("out"));
    let given =
        ["counters", "--dissimilarity", text(&table), "--objectives", "s1,h1,r75", "--relations", "-q"];
    succeeds(&[&given[..], &["-o", text(&out)]].concat());
    // As printed but for P2, whose S1 is 5.43: docs/counters.md.
    let expected = "\
record,6,5,4,3,2,1
6,xxx,010,010,010,010,x10
5,101,xxx,010,010,010,x10
4,101,101,xxx,010,010,x10
3,101,101,101,xxx,010,x10
2,101,101,101,101,xxx,x10
1,x01,x01,x01,x01,x01,xxx
";
    assert_eq!(read(&out, "relations.csv"), expected);
}

#[test]
fn the_response_is_shown_against_the_ranks() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (put(dir.path(), "t.csv", &sites()), dir.path().join("out"));
    let call = ["counters", text(&table), "--rank-by", "waits,fills", "--response", "time", "-o", text(&out)];
    let call = succeeds(&call);
    assert!(
        call.stdout.contains("Rank correlation of time with Goldberg's rank: all rows -"),
        "{}",
        call.stdout
    );
    assert!(
        read(&out, "response_by_rank.csv")
            .starts_with("response,group,goldberg,rows,min,median,max\ntime,,0,")
    );
    assert!(read(&out, "report.html").contains("<svg class=\"by-rank\""));
    let records = &summary(&out)["records"];
    assert_eq!(records["objectives"][0], "waits");
    assert!(records["by_rank"][0]["groups"][0]["spearman"].as_f64().unwrap() < 0.0, "{records}");
}
