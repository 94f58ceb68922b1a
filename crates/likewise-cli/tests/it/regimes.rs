//! `likewise counters --parameters`: where which model holds.

use crate::support::*;
use likewise_trace::{ColumnTable, read_columns};
use std::path::{Path, PathBuf};

/// What `regimes.csv` has.
struct Regions(ColumnTable);

impl Regions {
    fn of(dir: &Path) -> Self {
        Self(read_columns(&dir.join("regimes.csv"), &[], None).expect("a table"))
    }

    fn len(&self) -> usize {
        self.0.n_rows
    }

    /// NaN where the cell is empty.
    fn number(&self, region: usize, name: &str) -> f64 {
        let (_, values) = self.0.numbers().find(|(known, _)| *known == name).expect(name);
        values[region]
    }

    /// Whether a number is within 5% of what it should be.
    fn is_near(&self, region: usize, name: &str, truth: f64) -> bool {
        (self.number(region, name) / truth - 1.0).abs() < 0.05
    }
}

fn put(dir: &Path, csv: &str) -> PathBuf {
    let path = dir.join("t.csv");
    std::fs::write(&path, csv).expect("it can be written");
    path
}

/// Twelve lengths, each four times; beyond 64 it is another law. Every
/// seventh time is five times too long if there are strays.
fn messages(unit: f64, strays: bool) -> String {
    let mut csv = String::from("run,bytes,wait_us\n");
    for i in 0..96u32 {
        let bytes = f64::from(1u32 << (i % 24));
        let seconds = if bytes <= 4096.0 { 2e-6 + bytes / 1e9 } else { 50e-6 + bytes / 4e9 };
        let wiggle = 1.0 + 0.01 * f64::from(i * 7 % 5).mul_add(0.5, -1.0);
        let stray = if strays && i % 7 == 0 { 5.0 } else { 1.0 };
        csv += &format!("r{i},{bytes},{}\n", seconds * wiggle * stray / unit);
    }
    csv
}

#[test]
fn the_regimes_of_a_broadcast_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("demo");
    let call = succeeds(&["demo", "--regimes", "-o", text(&out)]);
    assert!(call.stdout.contains("4 regimes and 2% noise: all were found, to the row"), "{}", call.stdout);
    assert!(call.stdout.contains("C  processes > 2, length ≤ 65536: lambda*log2(processes) + tau*8*length"));
    let found = Regions::of(&out);
    let truth =
        [(0.334e-6, 875e12, 400), (2.46e-3, 5.29e9, 400), (966e-6, 215e6, 1632), (125e-3, 220e6, 768)];
    assert_eq!(found.len(), truth.len());
    for (at, (latency, bandwidth, rows)) in truth.into_iter().enumerate() {
        assert!(found.is_near(at, "latency_s", latency));
        assert!(found.is_near(at, "bandwidth_bytes_per_s", bandwidth));
        assert!(found.number(at, "latency_low_s") < latency && latency < found.number(at, "latency_high_s"));
        assert_eq!(found.number(at, "rows"), f64::from(rows));
    }
    assert_eq!(found.number(3, "length_above"), 65_536.0);
    assert!(found.number(3, "length_at_most").is_nan());
    let summary = summary(&out);
    let regimes = &summary["regimes"];
    assert_eq!(regimes["points"], 200);
    assert_eq!(regimes["regions"][0]["ranges"]["processes"]["at_most"], 1.0);
    assert!(regimes["bic"].as_f64() > regimes["bic_of_one"].as_f64());
    let report = read(&out, "report.html");
    assert_eq!(summary["profiles"], 3, "too few are left without the parameters");
    assert!(report.contains("id=\"h-regimes\"") && report.matches("class=\"region c").count() == 4);
    assert_eq!(read(&out.join("input"), "truth.csv").lines().count(), 5);
}

#[test]
fn one_parameter_is_the_length_and_disturbed_times_do_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (put(dir.path(), &messages(1e-6, true)), dir.path().join("out"));
    let options = ["--response", "wait_us", "--parameters", "bytes", "-o", text(&out)];
    let call = succeeds(&[&["counters", text(&table)], &options[..]].concat());
    assert!(call.stdout.contains("24 points (medians of 96 rows)"), "{}", call.stdout);
    let found = Regions::of(&out);
    assert_eq!(found.len(), 2, "{}", call.stdout);
    for (at, (latency, bandwidth)) in [(2e-6, 1e9), (50e-6, 4e9)].into_iter().enumerate() {
        assert!(found.is_near(at, "latency_s", latency), "{}", call.stdout);
        assert!(found.is_near(at, "bandwidth_bytes_per_s", bandwidth), "{}", call.stdout);
    }
    assert_eq!(found.number(0, "bytes_at_most"), 4096.0);
    let body = read(&out, "report.html");
    assert!(!body.split("<script>").next().unwrap().contains("NaN"));
    let each = ["--repeats", "each", "-q"];
    succeeds(&[&["counters", text(&table)], &options[..], &each[..]].concat());
    assert_eq!(summary(&out)["regimes"]["points"], 96);
    assert!(Regions::of(&out).number(0, "spread") > 0.2, "each stray time is taken at its word");
}

#[test]
fn formulas_are_fitted_with_their_own_names() {
    let dir = tempfile::tempdir().unwrap();
    let mut csv = String::from("m,n,ops\n");
    for i in 0..60u32 {
        let (m, n) = (i % 6 + 1, i / 6 + 1);
        let gap = if i == 7 { "NA".to_owned() } else { (100 + 3 * m * n + i * i % 7 % 3).to_string() };
        csv += &format!("{m},{n},{gap}\n");
    }
    let (table, out) = (put(dir.path(), &csv), dir.path().join("out"));
    let options = ["--formula", "start", "--formula", "start + per*m*n", "--response-unit", "none"];
    let call = succeeds(
        &[
            &["counters", text(&table), "--response", "ops", "--parameters", "m,n", "-o", text(&out)],
            &options[..],
        ]
        .concat(),
    );
    let found = Regions::of(&out);
    assert_eq!(found.len(), 1, "{}", call.stdout);
    assert!((found.number(0, "coef_per") - 3.0).abs() < 0.05);
    assert!((found.number(0, "coef_start") - 101.0).abs() < 1.0);
    assert!(found.number(0, "latency").is_nan());
    assert_eq!(found.number(0, "rows"), 59.0);
    assert!(
        call.stdout.contains("One model of ops holds everywhere (m, n): start + per*m*n"),
        "{}",
        call.stdout
    );
    assert!(call.stderr.contains("because a value is missing: 1 row"), "{}", call.stderr);
}

/// "latency 2.0 s, bandwidth 1.0 kB/s" was told of microseconds where the name ends otherwise
/// than in `_us`.
#[test]
fn units_are_read_from_names_or_said_to_be_taken() {
    let dir = tempfile::tempdir().unwrap();
    let told = |at: usize, name: &str, unit: f64| {
        let csv = messages(unit, false).replace("wait_us", name);
        let (table, out) = (put(dir.path(), &csv), dir.path().join(at.to_string()));
        let options = ["--response", name, "--parameters", "bytes", "-o", text(&out)];
        let call = succeeds(&[&["counters", text(&table)], &options[..]].concat());
        (call.stdout, call.stderr, Regions::of(&out))
    };
    let names =
        [("t[usec]", 1e-6), ("time_us_avg", 1e-6), ("elapsed_msec", 1e-3), ("t (sec)", 1.0), ("time", 1.0)];
    for (at, (name, unit)) in names.into_iter().enumerate() {
        let (stdout, stderr, found) = told(at, name, unit);
        assert!(found.is_near(0, "latency_s", 2e-6), "{name}: {stdout}");
        let is_taken = name == "time";
        assert_eq!(
            stderr.contains("Nothing tells the unit of 'time': it is taken as seconds"),
            is_taken,
            "{stderr}"
        );
        assert_eq!(stdout.contains("Regimes of time (taken as seconds) over"), is_taken, "{stdout}");
    }
    let (stdout, _, found) = told(names.len(), "rate (MB/s)", 1.0);
    assert!(found.number(0, "latency") > 0.0 && !stdout.contains("B/s;"), "{stdout}");
}

/// "One model of it holds everywhere: lambda + tau*bytes; tau -5.247e-7 (-0.000001303 to
/// 2.537e-7)" was told of a time that depends on nothing.
#[test]
fn a_slope_that_may_be_0_is_no_dependence() {
    let dir = tempfile::tempdir().unwrap();
    let out = |name: &str| dir.path().join(name);
    let told = |name: &str, slope: f64| {
        let row = |i: u32| {
            let noise = f64::from(i * 7919 % 101) / 101.0;
            let bytes = 1u32 << (3 + i % 10);
            format!("{bytes},{}\n", 10.0 + 0.1 * noise + slope * f64::from(bytes))
        };
        let csv = format!("bytes,time_us\n{}", (0..60).map(row).collect::<String>());
        let options = ["--response", "time_us", "--parameters", "bytes", "--formula", "lambda + tau*bytes"];
        let (table, out) = (put(dir.path(), &csv), out(name));
        succeeds(&[&["counters", text(&table), "-o", text(&out)], &options[..]].concat()).stdout
    };
    let flat = told("flat", 0.0);
    assert!(flat.contains("No dependence of time_us on bytes is seen"), "{flat}");
    assert!(flat.contains("and its tau may be 0; latency 10."), "{flat}");
    let steep = told("steep", 0.01);
    assert!(steep.contains("One model of time_us holds everywhere"), "{steep}");
}

/// Of two regimes of 7 and 6 points, which `--min-points` forbids to part, and of a time that
/// falls as the length grows, "One model holds everywhere" was told.
#[test]
fn a_model_that_does_not_fit_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let told = |name: &str, repetitions: u32, noise: f64, time: fn(f64) -> f64, more: &[&str]| {
        let row = |i: u32| {
            let (bytes, wiggle) = (f64::from(1u32 << (i % 13)), f64::from(i * 7919 % 101) / 50.0 - 1.0);
            format!("{bytes},{}\n", time(bytes) * (1.0 + noise * wiggle))
        };
        let csv = format!("bytes,t_us\n{}", (0..13 * repetitions).map(row).collect::<String>());
        let (table, out) = (put(dir.path(), &csv), dir.path().join(name));
        let options = ["--response", "t_us", "--parameters", "bytes", "-o", text(&out)];
        let call = succeeds(&[&["counters", text(&table)], &options[..], more].concat());
        (call.stdout, summary(&out)["regimes"]["regions"][0]["fits"].clone())
    };
    let two = |bytes: f64| if bytes <= 64.0 { 2.0 } else { 60.0 + bytes / 1e4 };
    let (stdout, fits) = told("two", 5, 0.004, two, &[]);
    assert!(
        stdout.contains("No model of t_us holds everywhere (bytes). The best is lambda + tau*bytes;"),
        "{stdout}"
    );
    assert!(stdout.contains("none of the models fits: the best strays by"), "{stdout}");
    assert!(stdout.contains("at 13 of 13 points all repetitions lie on one side of it"), "{stdout}");
    assert_eq!(fits, false);
    let falls = |bytes: f64| 100.0 - 0.01 * bytes;
    // It fits, but is not what its name says.
    let (stdout, fits) = told("falls", 1, 0.004, falls, &[]);
    assert!(fits == true && stdout.contains("One model of t_us holds everywhere"), "{stdout}");
    assert!(stdout.contains("Beware: tau of A is below 0 and so no reciprocal of a bandwidth."), "{stdout}");
    // Parts that are allowed, and a model that is right, with much noise and little.
    let one = |bytes: f64| 2.0 + bytes / 100.0;
    for (at, noise) in [0.3, 0.004].into_iter().enumerate() {
        let (stdout, fits) = told(&format!("one{at}"), 5, noise, one, &[]);
        assert!(
            stdout.contains("One model of t_us holds everywhere") && !stdout.contains("Beware"),
            "{stdout}"
        );
        assert_eq!(fits, true);
    }
    let (stdout, _) = told("parted", 5, 0.004, two, &["--min-points", "5"]);
    assert!(stdout.contains("2 regimes") && !stdout.contains("Beware"), "{stdout}");
}

/// "One model of time holds everywhere, latency 1.443 (1.322 to 1.563) µs" was told of 1 or
/// 2 µs, by a column that is no parameter, where nothing was measured twice.
#[test]
fn columns_are_told_that_decide_between_models() {
    let dir = tempfile::tempdir().unwrap();
    let told = |name: &str, factor: f64| {
        let row = |i: u32| {
            let (p, bytes, node) = (2u32 << (i / 24), f64::from(1u32 << (i % 24)), i * 7919 % 13 % 2);
            let time = (1e-6 + bytes / 1e9) * if node == 1 { factor } else { 1.0 };
            let wiggle = 1.0 + 0.02 * (f64::from(i * 104_729 % 101) / 50.0 - 1.0);
            format!("{p},{bytes},{},{},{node}\n", time * wiggle, i % 24)
        };
        let csv = format!("p,bytes,t_s,log2_bytes,node\n{}", (0..168).map(row).collect::<String>());
        let (table, out) = (put(dir.path(), &csv), dir.path().join(name));
        let options = ["--response", "t_s", "--parameters", "p,bytes", "-o", text(&out)];
        succeeds(&[&["counters", text(&table)], &options[..]].concat()).stdout
    };
    let stdout = told("two", 2.0);
    let beware = "Beware: what is no parameter decides how far t_s is from its model. 'node' tells ";
    assert!(stdout.contains(beware), "{stdout}");
    let stdout = told("one", 1.0);
    assert!(!stdout.contains("Beware"), "{stdout}");
}

#[test]
fn what_cannot_be_fitted_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let table = put(dir.path(), &messages(1.0, false).replace("r3,8,", "r3,8,-"));
    let asked = |more: &[&str]| {
        let call = likewise(&[&["counters", text(&table), "-o", text(&out)], more].concat());
        assert!(!out.exists(), "{}", call.stderr);
        (call.code, call.stderr)
    };
    let response = ["--response", "wait_us"];
    let cases: [(&[&str], i32, &str); 8] = [
        (&["--parameters", "bytes"], 2, "--response"),
        (&[&response[..], &["--formula", "a"]].concat(), 2, "--parameters"),
        (&[&response[..], &["--parameters", "run"]].concat(), 2, "column 'run' is of texts"),
        (&[&response[..], &["--parameters", "byte"]].concat(), 2, "no column 'byte'"),
        (&[&response[..], &["--parameters", "bytes,bytes"]].concat(), 2, "named twice"),
        (&[&response[..], &["--parameters", "bytes", "--formula", "a*b"]].concat(), 2, "character 3"),
        (
            &[&response[..], &["--parameters", "bytes", "--repeats", "each"]].concat(),
            1,
            "row 4 (from 1, without the names), is -",
        ),
        (&[&response[..], &["--parameters", "bytes", "--min-points", "50"]].concat(), 1, "at least 50"),
    ];
    for (options, code, told) in cases {
        let (found, stderr) = asked(options);
        assert_eq!(found, code, "{options:?}: {stderr}");
        assert!(stderr.contains(told), "{options:?}: {stderr}");
    }
}

#[test]
fn what_medians_hide_is_noted_with_the_column_that_tells_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut csv = String::from("p,h,nodes,t\n");
    for i in 0..480u32 {
        let (p, h, nodes) = (2u32 << (i % 5), 1u32 << (i / 5 % 12), 1 + i / 60 % 2);
        let seconds = 5e-6 * f64::from(nodes) + 1e-9 * f64::from(h);
        csv += &format!("{p},{h},{nodes},{}\n", seconds * (1.0 + 0.01 * f64::from(i * 31 % 7) - 0.03));
    }
    let (table, out) = (put(dir.path(), &csv), dir.path().join("out"));
    let told = |parameters: &str| {
        let options = ["--response", "t", "--parameters", parameters, "-o", text(&out)];
        succeeds(&[&["counters", text(&table)], &options[..]].concat()).stdout
    };
    let stdout = told("p,h");
    assert!(
        stdout.contains("'nodes' tells 100% of it") && stdout.contains("add it to --parameters"),
        "{stdout}"
    );
    assert_eq!(summary(&out)["profiles"], 2, "nodes and t");
    let stdout = told("p,h,nodes");
    assert!(!stdout.contains("Beware"), "{stdout}");
    assert_eq!(summary(&out)["regimes"]["repeats"], "median");
}

#[test]
fn texts_are_told_to_decide_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut csv = String::from("h,alg,host,t\n");
    for i in 0..320u32 {
        let (h, repeat) = (1u32 << (i % 20), i / 20);
        let is_slow = repeat % 8 < 3;
        let seconds = (5e-6 + 1e-9 * f64::from(h)) * if is_slow { 3.0 } else { 1.0 };
        let alg = if is_slow { "tree" } else { "ring" };
        csv +=
            &format!("{h},{alg},n{},{}\n", repeat % 8, seconds * (1.0 + 0.01 * f64::from(i * 31 % 7) - 0.03));
    }
    let (table, out) = (put(dir.path(), &csv), dir.path().join("out"));
    let call =
        succeeds(&["counters", text(&table), "--response", "t", "--parameters", "h", "-o", text(&out)]);
    assert!(call.stdout.contains("'alg' tells 100% of it, by a factor of up to 3"), "{}", call.stdout);
    assert!(call.stdout.contains("or take each by itself"), "{}", call.stdout);
    assert!(read(&out, "report.html").contains("Beware: "));
}

#[test]
fn columns_of_the_table_are_no_unknowns() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (put(dir.path(), &messages(1.0, false)), dir.path().join("out"));
    let asked = |formula: &str| {
        let options = ["--response", "wait_us", "--parameters", "bytes", "--formula", formula];
        let call = likewise(&[&["counters", text(&table), "-q", "-o", text(&out)], &options[..]].concat());
        (call.code, call.stderr)
    };
    let (code, stderr) = asked("wait_us + c*bytes");
    assert!(
        code == 2 && stderr.contains("'wait_us' is a column of the table and none of --parameters"),
        "{stderr}"
    );
    let (code, stderr) = asked("a + b*log2(run)");
    assert!(code == 2 && stderr.contains("'run' is a column of the table"), "{stderr}");
    assert_eq!(asked("-a + b*bytes").0, 0);
}

#[test]
fn no_fit_is_closer_than_is_believed() {
    let dir = tempfile::tempdir().unwrap();
    let rows: String = (1..60).map(|h| format!("{h},{}\n", if h < 30 { 1e-6 } else { 2e-6 })).collect();
    let (table, out) = (put(dir.path(), &format!("h,t\n{rows}")), dir.path().join("out"));
    let call =
        succeeds(&["counters", text(&table), "--response", "t", "--parameters", "h", "-o", text(&out)]);
    assert!(call.stdout.contains("29 points, stray 0%"), "{}", call.stdout);
    let found = Regions::of(&out);
    assert_eq!(found.len(), 2);
    // 0.1% of 2 µs, and not the rounding of an exact fit.
    assert!(
        found.number(1, "latency_low_s") < 2e-6 - 1e-9 && found.number(1, "latency_high_s") > 2e-6 + 1e-9
    );
}

/// The paper's Table 1 has estimates of boxes that overlap others, such as its
/// region E: rows are then taken by hand.
#[test]
fn a_box_of_the_readers_own_is_fitted_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (put(dir.path(), &messages(1e-6, false)), dir.path().join("out"));
    let call = |more: &[&str]| {
        let call = ["counters", text(&table), "--response", "wait_us", "--parameters", "bytes", "-q"];
        succeeds(&[&call[..], &["-o", text(&out)], more].concat());
        Regions::of(&out)
    };
    assert_eq!(call(&[]).len(), 2);
    let small = call(&["--where", "bytes <= 4096"]);
    assert_eq!((small.len(), small.number(0, "rows")), (1, 52.0));
    assert!(small.is_near(0, "latency_s", 2e-6) && small.is_near(0, "bandwidth_bytes_per_s", 1e9));
    assert!(read(&out, "report.html").contains("bytes &lt;= 4096"));
}
