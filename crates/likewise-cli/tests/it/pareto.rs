//! `likewise pareto`.

use crate::support::*;
use std::path::Path;

/// The partitions of Table 3 of Malard's paper, as it prints them.
const TABLE_3: &str = "\
partition,S1,H1,R75
P6,1.78,0.00,0.75
P5,1.96,0.33,0.45
P4,2.39,0.86,0.42
P3,3.03,1.92,0.35
P2,2.82,2.71,0.04
P1,N/A,5.43,0.25
";

fn ranks(table: &Path, options: &[&str]) -> Vec<(String, String)> {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    succeeds(&[&["pareto", text(table), "-q", "-o", text(&out)], options].concat());
    let csv = read(&out, "pareto.csv");
    let cells = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[0].to_owned(), cells[1].to_owned())
    };
    csv.lines().skip(1).map(cells).collect()
}

fn in_order(ranks: &[(String, String)]) -> Vec<&str> {
    ranks.iter().map(|(_, rank)| rank.as_str()).collect()
}

#[test]
fn table_4_of_the_paper() {
    let dir = tempfile::tempdir().unwrap();
    let table = dir.path().join("t.csv");
    std::fs::write(&table, TABLE_3).unwrap();
    for (options, expected) in [
        (&["--max", "S1", "--min", "H1,R75"][..], ["0", "0", "0", "0", "0", ""]),
        (&["--max", "S1", "--min", "H1"], ["0", "0", "0", "0", "1", ""]),
        (&["--max", "S1", "--min", "R75"], ["3", "2", "1", "0", "0", ""]),
        (&["--min", "H1", "--min", "R75"], ["0", "0", "0", "0", "0", "1"]),
    ] {
        let ranks = ranks(&table, options);
        assert_eq!(in_order(&ranks), expected, "{options:?}");
        assert!(ranks.iter().map(|(name, _)| name).eq(&["P6", "P5", "P4", "P3", "P2", "P1"]));
    }
}

#[test]
fn the_order_of_the_rows_is_kept_and_what_is_missing_has_no_rank() {
    let dir = tempfile::tempdir().unwrap();
    let table = dir.path().join("t.csv");
    std::fs::write(&table, "x,y\n3,3\n1,1\n2,NaN\n1,1\n2,1\n").unwrap();
    let found = ranks(&table, &["--min", "x,y"]);
    assert_eq!(in_order(&found), ["2", "0", "", "0", "1"]);
    assert_eq!(found[2].0, "2", "rows without a name have their number");
    let out = dir.path().join("out");
    succeeds(&["pareto", text(&table), "--min", "x,y", "-q", "-o", text(&out)]);
    let summary = summary(&out);
    assert_eq!(
        (&summary["unranked"], &summary["efficient"], &summary["ranks"]),
        (&1.into(), &2.into(), &3.into())
    );
    let csv = read(&out, "pareto.csv");
    assert_eq!(csv.lines().nth(1), Some("0,2,3"), "dominated by three");
}

#[test]
fn columns_that_are_not_there_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let table = dir.path().join("t.csv");
    std::fs::write(&table, "site,x,y\na,3,3\nb,1,1\n").unwrap();
    for (options, told) in [
        (&["--min", "z"][..], "no column 'z'; of numbers are: x, y"),
        (&["--max", "site"], "column 'site' is of texts"),
        (&["--max", "x", "--min", "x"], "named twice"),
        (&[], "at least one column"),
    ] {
        let out = dir.path().join("out");
        let call = likewise(&[&["pareto", text(&table), "-o", text(&out)], options].concat());
        assert_eq!(call.code, 2, "{options:?}");
        assert!(call.stderr.contains(told), "{options:?}: {}", call.stderr);
        assert!(!out.exists());
    }
}

#[test]
fn columns_of_npy_are_numbered() {
    let dir = tempfile::tempdir().unwrap();
    let table = dir.path().join("t.npy");
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }\n";
    let mut bytes =
        [b"\x93NUMPY\x01\x00".as_slice(), &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
    bytes.extend([2.0, 2.0, 1.0, 3.0, 3.0, 3.0].iter().flat_map(|x: &f64| x.to_le_bytes()));
    std::fs::write(&table, bytes).unwrap();
    assert_eq!(in_order(&ranks(&table, &["--min", "0,1"])), ["0", "0", "1"]);
}

/// The left half of Table 4 as the paper prints it, with who dominates whom.
#[test]
fn relations_are_table_4() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (dir.path().join("t.csv"), dir.path().join("out"));
    std::fs::write(&table, TABLE_3).unwrap();
    let call = ["pareto", text(&table), "--relations", "-q", "-o", text(&out), "--max", "S1", "--min"];
    succeeds(&[&call[..], &["H1,R75"]].concat());
    let printed = "\
record,P6,P5,P4,P3,P2,P1
P6,xxx,010,010,010,010,x10
P5,101,xxx,010,010,010,x10
P4,101,101,xxx,010,010,x10
P3,101,101,101,xxx,110,x10
P2,101,101,101,001,xxx,x11
P1,x01,x01,x01,x01,x00,xxx
";
    assert_eq!(read(&out, "relations.csv"), printed);
    succeeds(&[&call[..], &["H1"]].concat());
    let csv = read(&out, "relations.csv");
    assert!(csv.contains("P3,10,10,10,xx,11>,x1\n") && csv.contains("P2,10,10,10,00<,xx,x1\n"), "{csv}");
    let many = dir.path().join("many.csv");
    let rows: String = (0..2001).map(|i| format!("{i}\n")).collect();
    std::fs::write(&many, format!("x\n{rows}")).unwrap();
    let call = likewise(&["pareto", text(&many), "--min", "x", "--relations", "-o", text(&out)]);
    assert_eq!(call.code, 2);
    assert!(call.stderr.contains("at most 2000; take some by --where"), "{}", call.stderr);
}

/// Two sizes of a run; times rise with the rank in the larger alone.
fn sites() -> String {
    let mut csv = String::from("site,procs,sync,cache,init,done\n");
    for i in 0..40u32 {
        let (procs, step) = (if i % 2 == 0 { 4 } else { 16 }, i / 2);
        let init = if procs == 4 { 5 + step * 7 % 3 } else { 10 + 2 * step };
        csv += &format!("s{i},{procs},{},{},{init},{}\n", 10 + step, 20 + step * 3, init + 1);
    }
    csv
}

#[test]
fn responses_are_told_by_rank_and_group() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (dir.path().join("t.csv"), dir.path().join("out"));
    std::fs::write(&table, sites()).unwrap();
    let options = ["--min", "sync,cache", "--response", "init,done", "--groups", "procs"];
    let call = succeeds(&[&["pareto", text(&table), "-o", text(&out)], &options[..]].concat());
    assert!(call.stdout.contains("Goldberg's rank: procs 4 "), "{}", call.stdout);
    let csv = read(&out, "response_by_rank.csv");
    assert!(csv.starts_with("response,group,goldberg,rows,min,median,max\ninit,4,0,1,5,5,5\n"), "{csv}");
    assert!(csv.contains("\ndone,16,19,1,49,49,49\n"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 2 * 2 * 20);
    let by_rank = &summary(&out)["by_rank"][0];
    assert_eq!((&by_rank["response"], &by_rank["groups"][1]["group"]), (&"init".into(), &"16".into()));
    assert_eq!(by_rank["groups"][1]["spearman"], 1.0);
    assert!(by_rank["groups"][0]["spearman"].as_f64().unwrap().abs() < 0.2);
    let report = read(&out, "report.html");
    assert_eq!(report.matches("<svg class=\"by-rank\"").count(), 4);
    assert!(report.contains("sync⁻, cache⁻") && report.contains("procs 16: 20 rows, ρ 1<"), "the pictures");
    assert!(!report.contains("http://") && !report.contains("https://"), "nothing to fetch");
    for (options, told) in [
        (&["--response", "nothing"][..], "no column 'nothing'"),
        (&["--response", "site"], "column 'site' is of texts"),
        (&["--response", "init", "--groups", "nothing"], "no column 'nothing'"),
        (&["--groups", "procs"], "--response"),
    ] {
        let call =
            likewise(&[&["pareto", text(&table), "--min", "sync", "-o", text(&out)], options].concat());
        assert_eq!(call.code, 2, "{options:?}");
        assert!(call.stderr.contains(told), "{options:?}: {}", call.stderr);
    }
}

#[test]
fn rows_are_taken_by_condition_and_keep_their_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let table = dir.path().join("t.csv");
    std::fs::write(&table, "x,y,p\n3,3,1\n1,1,2\n2,2,2\n5,5,2\n").unwrap();
    let found = ranks(&table, &["--min", "x,y", "--where", "p >= 2 and x < 5"]);
    let expected = [("1", "0"), ("2", "1")].map(|(name, rank)| (name.to_owned(), rank.to_owned()));
    assert_eq!(found, expected, "rows 1 and 2 of the file, from 0");
    let out = dir.path().join("out");
    for (condition, code, told) in [
        ("p > 9", 1, "none of 4 rows meets"),
        ("q > 9", 2, "no column 'q'"),
        ("p >", 2, "expected a number or a text at character 4"),
    ] {
        let call = likewise(&["pareto", text(&table), "--min", "x", "--where", condition, "-o", text(&out)]);
        assert_eq!(call.code, code, "{condition}: {}", call.stderr);
        assert!(call.stderr.contains(told), "{condition}: {}", call.stderr);
        assert!(!out.exists());
    }
}
