//! `likewise compare` of several runs.

use crate::support::{likewise, names, read, shared_data, succeeds, summary, synth, text};
use serde_json::Value;
use std::path::Path;

fn phase_with(summary: &Value, test: impl Fn(&Value) -> bool) -> Option<&Value> {
    summary["phases"].as_array().unwrap().iter().find(|phase| test(phase))
}

fn of_run<'a>(phase: &'a Value, run: &str) -> &'a Value {
    phase["runs"].as_array().unwrap().iter().find(|r| r["run"] == run).unwrap_or(&Value::Null)
}

fn product(run: &Value) -> f64 {
    run["factors"].as_object().unwrap().values().map(|x| x.as_f64().unwrap()).product()
}

#[test]
fn epoch_on_1_4_and_16_tasks_scales() {
    let Some(data) = shared_data() else { return };
    let dir = tempfile::tempdir().unwrap();
    let traces = [16, 1, 4].map(|n| data.join(format!("epoch/epoch_{n}proc.prv.gz")));
    let files: Vec<&str> = traces.iter().map(|path| text(path)).collect();
    let call = succeeds(&[&["compare"], &files[..], &["-o", text(dir.path())]].concat());
    assert_eq!(names(dir.path()), ["report.html", "scaling.csv", "summary.json"]);
    let found = summary(dir.path());
    assert_eq!((&found["scaling"], &found["reference"]), (&"strong".into(), &"epoch_16proc".into()));
    let tasks: Vec<u64> =
        found["runs"].as_array().unwrap().iter().map(|r| r["tasks"].as_u64().unwrap()).collect();
    assert_eq!(tasks, [1, 4, 16]);

    // The main loop: ten bursts per task, most of the time, and it scales.
    let main =
        phase_with(&found, |phase| of_run(phase, "epoch_1proc")["share"].as_f64() > Some(0.7)).unwrap();
    for (run, instances) in [("epoch_1proc", 10), ("epoch_4proc", 40), ("epoch_16proc", 160)] {
        assert_eq!(of_run(main, run)["instances"], instances);
    }
    assert!(of_run(main, "epoch_16proc")["efficiency"].as_f64() > Some(0.95));
    assert_eq!(main["stops_at"], Value::Null);

    // The start, 35 % of the time of 16 tasks, is before MPI_Init has ended, and no part of it.
    let start = phase_with(&found, |phase| {
        let run = of_run(phase, "epoch_16proc");
        run["share"].as_f64() > Some(0.3) && run["instances"] == 16
    });
    assert!(start.is_none(), "{start:?}");
    let all = &found["runs"][2];
    assert!(all["efficiency"].as_f64() > Some(0.92), "{all}");
    for phase in found["phases"].as_array().unwrap() {
        for run in phase["runs"].as_array().unwrap().iter().filter(|run| run["efficiency"].is_number()) {
            let ratio = product(run) / run["efficiency"].as_f64().unwrap();
            assert!((ratio - 1.0).abs() < 1e-9, "{run}");
        }
    }
    assert!(call.stdout.contains("stops scaling at 16 tasks, with an efficiency of 6"), "{}", call.stdout);
    assert!(read(dir.path(), "report.html").contains("stops scaling"));
}

#[test]
fn made_up_runs_match_and_any_number_of_threads_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let made = |tasks: &str| {
        let out = dir.path().join(tasks);
        let args = ["--iterations", "12", "--phases", "5", "--seed", "4", "-q", "--name", "<b>&run"];
        succeeds(&[&["synth", "--tasks", tasks, "-o", text(&out)], &args[..]].concat());
        out.join("<b>&run.prv")
    };
    let traces = ["2", "8"].map(made);
    let files: Vec<&str> = traces.iter().map(|path| text(path)).collect();
    let compared = |threads: &str| {
        let out = dir.path().join("out").join(threads);
        let more = ["--threads", threads, "-q", "-o", text(&out), "--", "--eps", "0.03"];
        succeeds(&[&["compare"], &files[..], &more].concat());
        out
    };
    let (one, three) = (compared("1"), compared("3"));
    for name in ["report.html", "scaling.csv"] {
        assert_eq!(read(&one, name), read(&three, name), "{name}");
    }
    let without_times = |dir| {
        let mut summary = summary(dir);
        assert!(summary["timings"].take()["match"].is_f64());
        assert!(summary["peak_memory_bytes"].take().is_u64());
        summary
    };
    assert_eq!(without_times(&one), without_times(&three));
    // Each task does as much on 8 as on 2: weak scaling, told by itself.
    let found = summary(&one);
    assert_eq!((&found["scaling"], &found["scaling_is_given"]), (&"weak".into(), &false.into()));
    let phases = found["phases"].as_array().unwrap().iter();
    let both = phases.filter(|phase| phase["runs"].as_array().unwrap().len() == 2);
    let matched: f64 = both.map(|phase| phase["runs"][1]["share"].as_f64().unwrap()).sum();
    assert!(matched > 0.95, "{matched}");
    let page = read(&one, "report.html");
    assert!(!page.contains("<b>") && page.contains("&lt;b&gt;&amp;run"));
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing to fetch");
    assert_eq!(page.matches("</script>").count(), 1);
}

#[test]
fn the_content_tells_runs_from_groupings() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 800);
    let out = dir.path().join("out");
    succeeds(&["bursts", text(&trace), "-q", "-o", text(&out)]);
    let grouped = out.join("bursts.csv");
    let mixed = likewise(&["compare", text(&trace), text(&grouped)]);
    assert_eq!(mixed.code, 2);
    assert!(mixed.stderr.contains("cannot be compared"), "{}", mixed.stderr);
    let three = likewise(&["compare", text(&grouped), text(&grouped), text(&grouped)]);
    assert_eq!(three.code, 2);
    let one = likewise(&["compare", text(&grouped)]);
    assert_eq!(one.code, 2);
    // Bursts without clusters are a run, and a run is like itself.
    let bare = dir.path().join("bare.csv");
    let labelled = read(&out, "bursts.csv");
    let without = labelled.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned() + "\n");
    std::fs::write(&bare, without.collect::<String>()).unwrap();
    // A table does not tell when MPI_Init has ended; nor may the trace then.
    let whole = dir.path().join("whole.prv");
    let calls = std::fs::read_to_string(&trace).unwrap();
    std::fs::write(
        &whole,
        calls.replace(":50000003:31:", ":50000003:20:").replace(":50000003:32:", ":50000003:20:"),
    )
    .unwrap();
    std::fs::copy(trace.with_extension("pcf"), whole.with_extension("pcf")).unwrap();
    let compared = dir.path().join("compared");
    succeeds(&["compare", text(&bare), text(&whole), "-q", "-o", text(&compared)]);
    assert_efficient(&compared);
}

#[test]
fn options_that_do_not_apply_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 800);
    let out = dir.path().join("out");
    succeeds(&["bursts", text(&trace), "-q", "-o", text(&out)]);
    let (trace, grouped) = (text(&trace), out.join("bursts.csv"));
    let refused = |file: &str, more: &[&str], name: &str| {
        let call = likewise(&[&["compare", file, file], more].concat());
        assert_eq!(call.code, 2, "{more:?}: {}", call.stdout);
        assert!(call.stderr.contains(name), "{more:?}: {}", call.stderr);
    };
    refused(text(&grouped), &["-o", "x"], "--output");
    refused(text(&grouped), &["--scaling", "weak"], "--scaling");
    refused(text(&grouped), &["--threshold", "80%"], "--threshold");
    refused(text(&grouped), &["--total"], "--total");
    refused(text(&grouped), &["--", "-o"], "'-- -o'");
    refused(trace, &["--noise"], "--noise");
    // Not of what is written, nor one more trace.
    refused(trace, &["--", "-o"], "'-o'");
    refused(trace, &["--", "--compat", "x"], "'--compat'");
    refused(trace, &["--", "--no-trace"], "'--no-trace'");
    refused(trace, &["--", "x.prv"], "'x.prv'");
}

#[test]
fn versions_on_as_many_tasks_are_faster_or_slower_and_do_not_scale() {
    let dir = tempfile::tempdir().unwrap();
    let made = |name: &str, duration: u64| {
        let rows: String = (0..60u64)
            .flat_map(|i| (1..=4).map(move |task| (i, task)))
            .map(|(i, task)| {
                let (duration, instructions) =
                    if i % 2 == 0 { (100_000, 100_000) } else { (duration, 500_000) };
                let noise = (i * 7 + task * 3) % 100;
                format!(
                    "{task},1,{},{},{},{}\n",
                    i * 1_000_000,
                    duration + noise,
                    instructions + noise,
                    duration * 2
                )
            })
            .collect();
        let path = dir.path().join(name);
        std::fs::write(&path, format!("task,thread,begin_ns,duration_ns,PAPI_TOT_INS,PAPI_TOT_CYC\n{rows}"))
            .unwrap();
        path
    };
    let (old, new) = (made("old.csv", 400_000), made("new.csv", 300_000));
    let compared = |a: &Path, b: &Path| {
        let out = dir.path().join("out");
        let call = succeeds(&["compare", text(a), text(b), "-o", text(&out), "--", "--eps", "0.05"]);
        let page = read(&out, "report.html");
        for said in [&call.stdout, &page] {
            for of_scaling in ["scaling (", "stops scaling", "stops at", "Strong scaling"] {
                assert!(!said.contains(of_scaling), "{of_scaling}: {said}");
            }
        }
        (call.stdout, summary(&out))
    };
    let (said, found) = compared(&old, &new);
    assert!(said.contains("2 runs of 4 tasks each"), "{said}");
    assert!(said.contains("is faster in new than in old, × 1.33: higher IPC, × 1.33"), "{said}");
    assert_eq!(found["scaling"], Value::Null);
    let (said, found) = compared(&new, &old);
    assert!(said.contains("is slower in old than in new, × 0.75: lower IPC, × 0.75"), "{said}");
    let slower = phase_with(&found, |phase| phase["slower_in"] == "old").unwrap();
    assert_eq!(slower["cause"], "ipc_scalability");
    let (said, _) = compared(&old, &old);
    assert!(said.contains("No phase is slower or faster by 5.0% or more."), "{said}");
}

/// A made-up trace; `args` are those of `likewise synth`.
fn made(dir: &Path, name: &str, args: &[&str]) -> std::path::PathBuf {
    let out = dir.join(name);
    succeeds(&[&["synth", "-q", "--tasks", "12", "--name", name, "-o", text(&out)], args].concat());
    out.join(format!("{name}.prv"))
}

#[test]
fn runs_of_30_and_60_iterations_are_compared_per_iteration() {
    let dir = tempfile::tempdir().unwrap();
    let few = made(dir.path(), "few", &["--iterations", "30"]);
    let many = made(dir.path(), "many", &["--iterations", "60"]);
    let out = dir.path().join("out");
    let call = succeeds(&["compare", text(&few), text(&many), "-o", text(&out)]);
    let found = summary(&out);
    let iterations: Vec<&Value> = (0..2).map(|r| &found["runs"][r]["iterations"]).collect();
    assert_eq!(iterations, [30, 60]);
    assert_eq!(found["compared_per"], "iteration");
    let page = read(&out, "report.html");
    for said in [&call.stdout, &page, &found["findings"].to_string()] {
        assert!(said.contains("60 iterations against 30"), "{said}");
        assert!(!said.contains("is slower in") && !said.contains("is faster in"), "{said}");
    }
    assert!(found["match"].as_f64() > Some(0.9), "{}", found["match"]);
    for phase in found["phases"].as_array().unwrap() {
        assert_eq!((&phase["slower_in"], &phase["stops_at"]), (&Value::Null, &Value::Null), "{phase}");
    }
    // Whole runs only where asked for.
    let call = succeeds(&["compare", "--total", text(&few), text(&many), "-o", text(&out)]);
    assert!(
        call.stdout.contains("Whole runs are compared, as asked, 60 iterations against 30"),
        "{}",
        call.stdout
    );
    assert!(call.stdout.contains("more instructions, × 0.50"), "{}", call.stdout);
    assert_eq!(summary(&out)["total"], true);
}

#[test]
fn a_run_compared_with_itself_matches() {
    let dir = tempfile::tempdir().unwrap();
    let run = made(dir.path(), "run", &["--iterations", "12"]);
    let out = dir.path().join("out");
    let call = succeeds(&["compare", text(&run), text(&run), "-o", text(&out)]);
    let found = summary(&out);
    assert_eq!(found["match"], 1.0);
    assert!(call.stdout.contains("No phase is slower or faster"), "{}", call.stdout);
    for phase in found["phases"].as_array().unwrap() {
        assert_eq!(phase["match"], 1.0, "{phase}");
    }
    assert_efficient(&out);
}

#[test]
fn few_iterations_are_compared_per_burst_or_iteration() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let runs = [("1", Value::Null), ("2", 2.into()), ("5", 5.into())]
        .map(|(n, known)| (made(dir.path(), n, &["--iterations", n, "--seed", "3"]), known));
    for (a, b) in [(1, 2), (2, 1)] {
        let call = succeeds(&["compare", text(&runs[a].0), text(&runs[b].0), "-o", text(&out)]);
        let found = summary(&out);
        assert!(
            !call.stdout.contains("is slower in") && !call.stdout.contains("is faster in"),
            "{}",
            call.stdout
        );
        assert!(call.stdout.contains("5 iterations against 2 ("), "{}", call.stdout);
        assert_eq!(
            (&found["runs"][0]["iterations"], &found["runs"][1]["iterations"]),
            (&runs[a].1, &runs[b].1)
        );
    }
    let call = succeeds(&["compare", text(&runs[0].0), text(&runs[1].0), "-o", text(&out)]);
    assert!(
        !call.stdout.contains("is slower in") && !call.stdout.contains("is faster in"),
        "{}",
        call.stdout
    );
    assert!(call.stdout.contains("cannot be told"), "{}", call.stdout);
    let found = summary(&out);
    assert_eq!((&found["compared_per"], &found["runs"][0]["efficiency"]), (&Value::Null, &Value::Null));
}

#[test]
fn tasks_that_are_slow_in_one_phase_are_named_with_what_they_lose() {
    let dir = tempfile::tempdir().unwrap();
    for seed in 0..10 {
        let seed = &seed.to_string();
        let args = |kind| ["--iterations", "20", "--phases", "5", "--seed", seed, "--defect", kind];
        let none = made(dir.path(), "none", &args("none"));
        let more = ["--defect-phase", "3", "--defect-tasks", "4,9", "--defect-factor", "2"];
        let slow = made(dir.path(), "slow", &[&args("slow-ranks")[..], &more].concat());
        let out = dir.path().join("out");
        let call = succeeds(&["compare", text(&none), text(&slow), "-o", text(&out)]);
        let found = summary(&out);
        let phases = found["phases"].as_array().unwrap();
        let with: Vec<&Value> =
            phases.iter().filter(|phase| !of_run(phase, "slow")["slow_tasks"].is_null()).collect();
        assert_eq!(with.len(), 1, "{}", call.stdout);
        assert_eq!(with[0]["slower_in"], "slow");
        let slow = &of_run(with[0], "slow")["slow_tasks"];
        assert_eq!(slow["tasks"], serde_json::json!([4, 9]));
        let near = |x: &Value, expected: f64| (x.as_f64().unwrap() / expected - 1.0).abs() < 0.05;
        assert!(near(&slow["factor"], 2.0) && near(&slow["factor_of_others"], 1.0), "{slow}");
        // A slow task loses what it took before, once more.
        let before = of_run(with[0], "none")["mean_ns_per_thread"].as_f64().unwrap() / 20.0;
        assert!(near(&slow["lost_ns_per_iteration"], before), "{slow}, {before}");
        assert!(near(&slow["factors"]["ipc_scalability"], 0.5), "{slow}");
        let said = "tasks 4 and 9 take 2.0";
        assert!(call.stdout.contains(said) && read(&out, "report.html").contains(said), "{}", call.stdout);
        let slower = phases.iter().filter(|phase| !phase["slower_in"].is_null()).count();
        assert_eq!(slower, 1, "{}", call.stdout);
    }
}

#[test]
fn a_serial_phase_is_called_serial_and_grows_with_the_tasks() {
    let dir = tempfile::tempdir().unwrap();
    let run = |name: &str, tasks: &str| {
        let out = dir.path().join(name);
        let args = ["--iterations", "12", "--phases", "5", "--seed", "2", "--defect", "serial"];
        // As long on any number of tasks.
        let more = ["--defect-phase", "3", "--defect-factor", tasks, "--tasks", tasks];
        succeeds(&[&["synth"], &args[..], &more, &["--name", name, "-q", "-o", text(&out)]].concat());
        out.join(format!("{name}.prv"))
    };
    let traces = [run("four", "4"), run("sixteen", "16")];
    let out = dir.path().join("out");
    let call = succeeds(&["compare", text(&traces[0]), text(&traces[1]), "-o", text(&out)]);
    assert!(
        call.stdout.contains("is serial, one task computes while no other does; of the wall time it has"),
        "{}",
        call.stdout
    );
    let found = summary(&out);
    let serial = phase_with(&found, |phase| of_run(phase, "sixteen")["serial"] == true).unwrap();
    let share = |run: &str| of_run(serial, run)["serial_share"].as_f64().unwrap();
    assert!(share("sixteen") > share("four") + 0.1, "{} {}", share("four"), share("sixteen"));
    assert_eq!((&serial["stops_at"], &serial["cause"]), (&"sixteen".into(), &"serial".into()));
}

#[test]
fn files_that_are_neither_are_named_and_bursts_without_time_are_no_panic() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    let (empty, garbage) = (file("empty.csv", ""), file("garbage", "hello world\n"));
    let run = file("run.csv", "task,thread,begin_ns,duration_ns\n1,1,0,100\n");
    for (bad, why) in [(&empty, "the file is empty"), (&garbage, "hello world")] {
        for files in [[bad, &run], [&run, bad], [bad, bad]] {
            let call = likewise(&["compare", text(files[0]), text(files[1])]);
            assert_eq!(call.code, 1, "{}", call.stderr);
            let named = call.stderr.contains(text(bad)) && call.stderr.contains(why);
            assert!(named && call.stderr.contains("a column 'cluster'"), "{}", call.stderr);
        }
    }
    let still = file("still.csv", "task,thread,begin_ns,duration_ns\n1,1,0,0\n");
    let out = dir.path().join("out");
    let call = likewise(&["compare", text(&still), text(&still), "-o", text(&out)]);
    assert!(call.code == 0 || call.code == 1, "{}", call.stderr);
    assert!(!call.stderr.contains("panicked"), "{}", call.stderr);
    let header = "task,thread,begin_ns,cluster\n";
    let twice = file("twice.csv", &format!("{header}1,1,0,1\n1,1,0,2\n2,1,0,1\n"));
    let call = likewise(&["compare", text(&twice), text(&twice)]);
    assert_eq!(call.code, 1);
    assert!(call.stderr.contains("rows 1 and 2 are the same burst"), "{}", call.stderr);
}

fn assert_efficient(dir: &Path) {
    let found = summary(dir);
    for phase in found["phases"].as_array().unwrap() {
        for run in phase["runs"].as_array().unwrap() {
            assert_eq!(run["efficiency"], 1.0, "{phase}");
        }
    }
}
