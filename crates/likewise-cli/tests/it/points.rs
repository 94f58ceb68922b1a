//! `likewise points`.

use crate::support::*;

#[test]
fn csv_and_raw_numbers_give_the_same_labels() {
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<[f64; 2]> =
        (0..400).map(|i| [f64::from(i % 2) + 0.001 * f64::from(i % 7), 0.002 * f64::from(i % 5)]).collect();
    let csv: String = rows.iter().map(|[x, y]| format!("{x},{y}\n")).collect();
    std::fs::write(dir.path().join("t.csv"), format!("x,y\n{csv}")).unwrap();
    let raw: Vec<u8> = rows.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(dir.path().join("t.f64"), raw).unwrap();
    let labels = |table: &str, more: &[&str]| {
        let (table, out) = (dir.path().join(table), dir.path().join("out"));
        let args = ["points", text(&table), "--eps", "0.1", "-q", "-o", text(&out)];
        succeeds(&[&args[..], more].concat());
        assert_eq!(summary(&out)["clusters"], 2);
        read(&out, "labels.csv")
    };
    let from_csv = labels("t.csv", &[]);
    assert_eq!(from_csv.lines().take(3).collect::<Vec<_>>(), ["cluster", "1", "2"]);
    assert_eq!(from_csv, labels("t.f64", &["--dims", "2"]));
}

#[test]
fn a_bad_number_is_named_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let table = dir.path().join("t.csv");
    for (cell, what) in [("inf", "finite"), ("abc", "number"), ("NaN", "")] {
        std::fs::write(&table, format!("x,y\n1,2\n3,{cell}\n")).unwrap();
        let out = dir.path().join("out");
        let call = likewise(&["points", text(&table), "--eps", "0.1", "-o", text(&out)]);
        assert_eq!(call.code, 1, "{cell}");
        let place = call.stderr.contains("t.csv:3") || call.stderr.contains("row 1");
        assert!(place && call.stderr.contains(what), "{cell}: {}", call.stderr);
        assert!(!out.join("labels.csv").exists());
    }
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let table = dir.path().join("t.csv");
    std::fs::write(&table, "1,2\n3,4\n").unwrap();
    for (args, what) in [
        (["--eps", "0"], "a number above 0"),
        (["--eps", "-1"], "a number above 0"),
        (["--eps", "nan"], "a number above 0"),
        (["--min-points", "0"], "a whole number from 1"),
    ] {
        let out = dir.path().join("out");
        let eps: &[&str] = if args[0] == "--eps" { &[] } else { &["--eps", "1"] };
        let call = likewise(&[&["points", text(&table), "-o", text(&out)], &args[..], eps].concat());
        assert_eq!(call.code, 2, "{args:?}");
        assert!(call.stderr.contains(what), "{args:?}: {}", call.stderr);
    }
}

/// "their distances show no knee" was told of values whose squares no number holds.
#[test]
fn values_that_are_too_far_apart_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (dir.path().join("t.csv"), dir.path().join("out"));
    let call = |factor: f64, more: &[&str]| {
        let rows: String = (0..40).map(|i| format!("{},{}\n", i % 4, f64::from(i % 2) * factor)).collect();
        std::fs::write(&table, format!("x,y\n{rows}")).unwrap();
        let call = likewise(&[&["points", text(&table), "-o", text(&out)], more].concat());
        (call.code, call.stderr)
    };
    let (code, told) = call(1e300, &[]);
    assert!(code == 1 && told.contains("column 'y' has values from 0 to 1.000e300"), "{told}");
    assert_eq!(call(1e300, &["--k-distances", "4"]).0, 1);
    assert_eq!(call(1e300, &["--eps", "0.5"]).0, 0);
    assert_eq!(call(1e100, &["--k-distances", "4"]).0, 0);
}
