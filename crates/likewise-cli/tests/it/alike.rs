//! `likewise counters` where columns tell the same, or nothing.

use crate::support::*;
use std::path::{Path, PathBuf};

fn put(dir: &Path, csv: &str) -> PathBuf {
    let path = dir.join("t.csv");
    std::fs::write(&path, csv).expect("it can be written");
    path
}

/// "The silhouette is greatest (0) with 2 clusters: a, b; c" was told of three columns that are
/// the same.
#[test]
fn columns_that_are_the_same_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let told = |table: &str| {
        let path = put(dir.path(), table);
        let call = succeeds(&["counters", text(&path), "-o", text(&out)]);
        (call.stdout, summary(&out)["best_silhouette"].is_null())
    };
    let (stdout, is_none) = told("a,b,c\n1,1,10\n2,2,20\n4,4,40\n");
    assert!(
        stdout.contains("All events are the same, by Manhattan distance of columns scaled to 0–1: a, b, c."),
        "{stdout}"
    );
    assert!(
        is_none && !stdout.contains("silhouette") && !stdout.to_lowercase().contains("strong"),
        "{stdout}"
    );
    let (stdout, _) = told("a,b,c,d\n1,1,7,7\n2,2,5,5\n4,4,6,6\n");
    assert!(stdout.contains("The silhouette is greatest (1) with 2 clusters: a, b; c, d."), "{stdout}");
    let (stdout, _) = told("a,b,c\n1,1,7\n2,2,5\n4,4,6\n");
    assert!(stdout.contains("with 2 clusters: a, b; c."), "{stdout}");
    // Each as far from one other as from the third.
    let (stdout, is_none) = told("a,b,c\n1,0,0\n0,1,0\n0,0,1\n");
    assert!(
        is_none && stdout.contains("No partition stands out: none has a mean silhouette above 0."),
        "{stdout}"
    );
}

/// "only column 'time' is left" was told where the other column is constant.
#[test]
fn parameters_stay_where_others_tell_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let rows = |p: fn(u32) -> u32| -> String {
        (0..36).map(|i| format!("{},{},{}\n", p(i), 1 << (i % 12), 10 + (1 << (i % 12)) + i % 3)).collect()
    };
    let call = |rows: &str| {
        let path = put(dir.path(), &format!("p,bytes,t_us\n{rows}"));
        let options = ["--response", "t_us", "--parameters", "bytes", "-q", "-o", text(&out)];
        succeeds(&[&["counters", text(&path)], &options[..]].concat());
        summary(&out)["profiles"].clone()
    };
    assert_eq!(call(&rows(|_| 4)), 2, "bytes and t_us");
    assert_eq!(call(&rows(|i| i % 5)), 2, "p and t_us");
}
