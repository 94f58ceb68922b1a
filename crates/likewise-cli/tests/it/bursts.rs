//! `likewise bursts`, `demo`, `compare`, `info`, `synth`.

use crate::support::*;
use std::io::Write;
use std::process::Stdio;

#[test]
fn a_synthetic_run_gives_every_file_and_its_truth_back() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 6_000);
    let out = dir.path().join("out");
    let call = succeeds(&["bursts", text(&trace), "-o", text(&out)]);
    assert!(call.stdout.contains("noise"), "{}", call.stdout);
    assert!(!call.stdout.contains('\x1b'), "no colours into a pipe");
    let files = [
        "bursts.csv",
        "clusters.csv",
        "refinement.dot",
        "refinement.json",
        "regions.csv",
        "report.html",
        "representatives.csv",
        "scatter.gnuplot",
        "summary.json",
        "synth.pcf",
        "synth.prv",
        "synth.row",
    ];
    assert_eq!(names(&out), files);
    let summary = summary(&out);
    assert_eq!(summary["bursts"], 6_000);
    for stage in ["read", "prepare", "k_distance", "cluster", "write"] {
        assert!(summary["timings"][stage].is_f64(), "{stage}");
    }
    let bursts = read(&out, "bursts.csv");
    assert!(bursts.starts_with("task,thread,begin_ns,duration_ns,PAPI_TOT_INS,IPC,"));
    assert_eq!(bursts.lines().count(), 6_001);
    let n_clusters = summary["clusters"].as_u64().unwrap() as usize;
    assert_eq!(read(&out, "clusters.csv").lines().count(), n_clusters + 2, "header, clusters, noise");

    let truth = dir.path().join("truth.csv");
    let compared = succeeds(&["compare", "--json", text(&out.join("bursts.csv")), text(&truth)]);
    let compared: serde_json::Value = serde_json::from_str(&compared.stdout).unwrap();
    assert!(compared["adjusted_rand"].as_f64().unwrap() > 0.99, "{compared}");
    assert_eq!(compared["matched"], 6_000);
}

#[test]
fn the_labelled_trace_holds_the_same_bursts_and_their_phases() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 2_000);
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    succeeds(&["bursts", text(&trace), "--eps", "0.02", "-q", "-o", text(&a)]);
    let labelled = a.join("synth.prv");
    // The phases come back as bursts made from event 90000001.
    let events = ["bursts", text(&labelled), "--burst-events", "90000001", "--eps", "0.02", "-q"];
    succeeds(&[&events[..], &["-o", text(&b)]].concat());
    assert_eq!(read(&a, "bursts.csv"), read(&b, "bursts.csv"));
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 3_000);
    let out = |threads: &str| {
        let out = dir.path().join(threads);
        succeeds(&["bursts", text(&trace), "--threads", threads, "-q", "-o", text(&out)]);
        out
    };
    let (one, four) = (out("1"), out("4"));
    for name in [
        "bursts.csv",
        "clusters.csv",
        "regions.csv",
        "scatter.gnuplot",
        "synth.prv",
        "synth.pcf",
        "synth.row",
    ] {
        assert_eq!(read(&one, name), read(&four, name), "{name}");
    }
    let without_times = |dir| {
        let mut summary = summary(dir);
        summary["timings"].take();
        summary["peak_memory_bytes"].take();
        summary
    };
    assert_eq!(without_times(&one), without_times(&four));
}

#[test]
fn a_trace_comes_through_a_pipe_and_out_as_csv_again() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 1_000);
    let (piped, again) = (dir.path().join("piped"), dir.path().join("again"));
    let pipe = |more: &[&str]| {
        let args = ["bursts", "-", "--eps", "0.02", "-q", "-o", text(&piped)];
        let mut child = command(&[&args[..], more].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&std::fs::read(&trace).unwrap()).unwrap();
        let call = finish(child.wait_with_output().unwrap());
        assert_eq!(call.code, 0, "{}", call.stderr);
        read(&piped, "bursts.csv").lines().next().unwrap().to_owned()
    };
    let pcf = trace.with_extension("pcf");
    assert!(pipe(&["--pcf", text(&pcf)]).starts_with("task,thread,begin_ns,duration_ns,PAPI_TOT_INS,IPC,"));
    // Without its .pcf, names are numbers; so name the metrics by number.
    let csv = piped.join("bursts.csv");
    assert!(pipe(&[]).contains("42000059"));
    let metrics = ["-m", "42000050,log", "-m", "IPC=42000050/42000059"];
    succeeds(&[&["bursts", text(&csv), "--eps", "0.02", "-q", "-o", text(&again)], &metrics[..]].concat());
    let compared = succeeds(&["compare", "--json", text(&csv), text(&again.join("bursts.csv"))]);
    let compared: serde_json::Value = serde_json::from_str(&compared.stdout).unwrap();
    assert_eq!(compared["adjusted_rand"], 1.0);
}

#[test]
fn a_definition_in_toml_says_all_and_the_command_line_wins() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 1_500);
    let (definition, out) = (dir.path().join("d.toml"), dir.path().join("out"));
    let toml = "metrics = ['L1=PAPI_L1_DCM', 'PAPI_TOT_INS']\nextrapolate = ['MPKI=PAPI_L3_TCM/PAPI_TOT_INS']\n\
                eps = 0.03\nmin_points = 7\nall_plots = true\n[[plot]]\nx = 'L1'\n";
    std::fs::write(&definition, toml).unwrap();
    let call = likewise(&[
        "bursts",
        text(&trace),
        "--definition",
        text(&definition),
        "--eps",
        "0.05",
        "-q",
        "-o",
        text(&out),
    ]);
    assert_eq!(call.code, 0, "{}", call.stderr);
    let parameters = &summary(&out)["parameters"];
    assert_eq!((parameters["eps"].as_f64(), parameters["min_points"].as_u64()), (Some(0.05), Some(7)));
    assert_eq!(parameters["metrics"][0]["name"], "L1");
    assert!(read(&out, "clusters.csv").contains(",MPKI_mean,"));
    assert!(names(&out).contains(&"scatter_2.gnuplot".to_owned()));
}

#[test]
fn other_methods_and_reductions_run() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 4_000);
    let out = dir.path().join("out");
    let base = ["bursts", text(&trace), "-q", "--no-trace", "-o", text(&out)];
    let with = |more: &[&str]| {
        succeeds(&[&base[..], more].concat());
        summary(&out)
    };
    let xmeans = with(&["--method", "xmeans", "--k-max", "12"]);
    assert!((2..=12).contains(&xmeans["clusters"].as_u64().unwrap()), "{xmeans}");
    assert_eq!(xmeans["noise"], 0);
    let sampled = with(&["--sample", "1000", "--eps", "0.03"]);
    assert_eq!(sampled["parameters"]["sample"], 1000);
    let reduced = with(&["-m", "PAPI_TOT_INS", "-m", "PAPI_L1_DCM", "-m", "PAPI_BR_INS", "--pca", "2"]);
    let explained = reduced["parameters"]["pca_explained_variance"].as_array().unwrap();
    assert_eq!(explained.len(), 2);
    assert!(explained[0].as_f64() >= explained[1].as_f64());
    let loadings = reduced["parameters"]["pca_loadings"].as_array().unwrap();
    assert_eq!((loadings.len(), loadings[0].as_array().unwrap().len()), (2, 3));
    let square = |of: usize| loadings.iter().map(|l| l[of].as_f64().unwrap().powi(2)).sum::<f64>();
    assert!((0..3).all(|of| square(of) > 0.0 && square(of) <= 1.0 + 1e-12), "{loadings:?}");
    assert!(read(&out, "report.html").contains("Component 1, loadings"));
    let said = |k: &str| {
        let call = succeeds(&[
            "bursts",
            text(&trace),
            "--no-trace",
            "-o",
            text(&out),
            "--method",
            "xmeans",
            "--k-max",
            k,
        ]);
        (
            call.stderr.contains("note: X-means stopped at"),
            summary(&out)["parameters"]["cut_short_at"].clone(),
        )
    };
    assert_eq!(said("2"), (true, 2.into()));
    assert_eq!(said("500"), (false, serde_json::Value::Null));
    let z = with(&["--scale", "z-score", "--eps", "0.2"]);
    assert!(z["clusters"].as_u64().unwrap() > 1);
    let kept = with(&["--keep-time", "90%"]);
    assert!(kept["filtered_duration"].as_u64().unwrap() > 0);
}

#[test]
fn clustering_suites_files_have_its_names_and_columns() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 1_000);
    let (out, prefix) = (dir.path().join("out"), dir.path().join("suite"));
    succeeds(&["bursts", text(&trace), "--compat", text(&prefix), "-q", "-o", text(&out)]);
    let data = read(dir.path(), "suite.DATA.csv");
    assert!(data.starts_with(
        "# Instance,TaskId,ThreadId,Begin_Time,End_Time,Duration, Line, d_PAPI_TOT_INS, d_IPC, n_"
    ));
    assert!(data.lines().next().unwrap().ends_with(",ClusterID"));
    assert!(read(dir.path(), "suite.clusters_info.csv").starts_with("Cluster Name,NOISE,Cluster 1,"));
    assert!(read(dir.path(), "suite.seq").starts_with(">Thread_1.1\n"));
    assert!(names(dir.path()).contains(&"suite.IPC.PAPI_TOT_INS.gnuplot".to_owned()));
    // And it is read back as labels.
    let compared = succeeds(&[
        "compare",
        "--json",
        text(&out.join("bursts.csv")),
        text(&dir.path().join("suite.DATA.csv")),
    ]);
    let compared: serde_json::Value = serde_json::from_str(&compared.stdout).unwrap();
    assert_eq!(compared["adjusted_rand"], 1.0);
}

#[test]
fn lulesh_gives_the_ranks_of_its_first_application() {
    let Some(data) = shared_data() else { return };
    let dir = tempfile::tempdir().unwrap();
    let trace = data.join("lulesh/lulesh_7+1.prv.gz");
    succeeds(&["bursts", text(&trace), "-q", "-o", text(dir.path())]);
    let found = summary(dir.path());
    assert_eq!((found["bursts"].as_u64(), found["tasks"].as_u64()), (Some(848), Some(8)));
    // Counters of all three ranges are named.
    let info = succeeds(&["info", "--json", text(&trace)]);
    let info: serde_json::Value = serde_json::from_str(&info.stdout).unwrap();
    assert_eq!(info["applications"][1]["tasks"], 12);
    let second = likewise(&["bursts", text(&trace), "--app", "2", "-q", "-o", text(dir.path())]);
    assert_eq!(second.code, 1);
    assert!(second.stderr.contains("no CPU burst"), "{}", second.stderr);
}

#[test]
fn demo_finds_what_it_made_up() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("demo");
    let call = succeeds(&["demo", "--json", "-o", text(&out)]);
    let result: serde_json::Value = serde_json::from_str(&call.stdout).unwrap();
    assert!(result["truth"]["adjusted_rand"].as_f64().unwrap() >= 0.99, "{result}");
    assert!(out.join("report.html").exists());
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_holds_the_columns_of_the_csv() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 1_000);
    let out = dir.path().join("out");
    succeeds(&["bursts", text(&trace), "--format", "parquet", "-q", "-o", text(&out)]);
    let bytes = std::fs::read(out.join("bursts.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    assert!(!out.join("bursts.csv").exists());
}

#[test]
fn synth_makes_the_defect_that_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let made = |arguments: &[&str]| {
        let common = ["synth", "--tasks", "4", "--iterations", "3", "--json", "-o", text(dir.path())];
        let call = succeeds(&[&common[..], arguments].concat());
        serde_json::from_str::<serde_json::Value>(&call.stdout).unwrap()["defect"].clone()
    };
    assert_eq!(made(&[]), serde_json::Value::Null);
    assert_eq!(made(&["--defect", "none"])["kind"], "none");
    let drawn = made(&["--defect", "low-ipc", "--seed", "5"]);
    assert!(drawn["factor"].as_f64().unwrap() > 2.0 && drawn["phase"].is_u64(), "{drawn}");
    let options = ["--defect-phase", "2", "--defect-tasks", "3,4", "--defect-factor", "2"];
    let slow = made(&[&["--defect", "slow-ranks"][..], &options].concat());
    assert_eq!((&slow["phase"], &slow["tasks"]), (&2.into(), &vec![3, 4].into()));
    let refused = |arguments: &[&str]| {
        let call = likewise(&[&["synth", "-o", text(dir.path())][..], arguments].concat());
        assert_ne!(call.code, 0);
        call.stderr
    };
    assert!(refused(&["--defect", "none", "--defect-phase", "1"]).contains("has no phase"));
    assert!(refused(&["--defect", "low-ipc", "--defect-tasks", "1"]).contains("of all tasks"));
    assert!(refused(&["--defect", "stall", "--defect-phase", "9"]).contains("defect phase is 9"));
}
