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
