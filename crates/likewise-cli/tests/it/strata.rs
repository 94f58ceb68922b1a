//! `likewise ranks` of a recording by strata.

use crate::support::{likewise, read, succeeds, summary, text};
use likewise_recording::{Choice, EffortRegion, SampledRank, Window, file};
use std::path::Path;

/// 90 ranks do 10 ms in each step, 10 others 50 ms; three and two are sampled.
fn window(first_step: u64) -> Window {
    let rank = |rank: u32, ms: u64| SampledRank { rank, effort: [ms * 1_000_000, 500_000].repeat(4) };
    let name = if first_step == 0 { "solve <b>".to_owned() } else { String::new() };
    Window {
        first_step,
        n_steps: 4,
        regions: vec![EffortRegion { id: 3, name }],
        strata: vec![(0, 90), (1, 10)],
        choice: Choice::Stratified,
        is_redrawn: first_step == 0,
        error: 0.05,
        confidence: 0.95,
        expected_error: 0.01,
        equation2: (1e15, 1e12),
        whole: vec![1_450_000_000; 4],
        deviations: vec![vec![100_000.0; 5], vec![0.0; 5]],
        sampled: vec![rank(4, 10), rank(40, 10), rank(77, 10), rank(91, 50), rank(99, 50)],
    }
}

fn recording(dir: &Path, windows: &[Window]) {
    let sections: Vec<Vec<u8>> =
        windows.iter().map(|window| file::strata_section(&window.encode())).collect();
    let sizes: Vec<usize> = sections.iter().map(Vec::len).collect();
    let bytes = [file::head(), sections.concat(), file::foot(&sizes)].concat();
    std::fs::write(dir.join(likewise_recording::FILE), bytes).unwrap();
}

#[test]
fn the_mean_of_all_ranks_is_estimated_from_those_that_were_sampled() {
    let dir = tempfile::tempdir().unwrap();
    recording(dir.path(), &[window(0), window(4)]);
    let out = dir.path().join("out");
    let call = succeeds(&["ranks", text(dir.path()), "-o", text(&out)]);
    assert!(call.stdout.contains("from 5 of 100 ranks on average (5.0%)"), "{}", call.stdout);
    assert!(call.stdout.contains("3 of 90, 2 of 10"), "{}", call.stdout);
    assert!(call.stderr.contains("Only the effort of sampled ranks was recorded"), "{}", call.stderr);
    let told = summary(&out);
    let mean = told["effort"]["mean"].as_f64().unwrap();
    assert!((mean - 8.0 * 0.0145).abs() < 1e-12, "{mean}");
    let all = told["all_ranks"].as_f64().unwrap();
    assert!((all - mean).abs() < 1e-12 && told["steps_within_interval"] == 8);
    assert_eq!(
        (&told["ranks"], &told["sampled_share"], &told["steps"]),
        (&100.into(), &0.05.into(), &8.into())
    );
    assert_eq!(told["regions"][0]["region"], "solve <b>");
    assert_eq!(read(&out, "trace.csv").lines().count(), 9);
    assert_eq!(read(&out, "estimates.csv").lines().count(), 1 + 2 * 2 * 4);
    assert_eq!(read(&out, "windows.csv").lines().nth(1).unwrap().split(',').count(), 18);
    assert_eq!(
        read(&out, "strata.csv"),
        "window,first_rank,last_rank,stratum\n1,0,89,1\n1,90,99,2\n2,0,89,1\n2,90,99,2\n"
    );
    assert!(read(&out, "efforts.csv").contains("\n91,5,solve <b>,0.05\n"));
    let page = read(&out, "report.html");
    assert!(page.contains("h-trace") && page.contains("solve &lt;b&gt;") && !page.contains("NaN"));
}

#[test]
fn info_tells_what_was_sampled_and_events_are_not_made_up() {
    let dir = tempfile::tempdir().unwrap();
    recording(dir.path(), &[window(0), window(4)]);
    let shown = succeeds(&["info", text(dir.path())]).stdout;
    assert!(shown.contains("effort in 8 steps of 2 windows, on 5 ranks in the mean"), "{shown}");
    let told: serde_json::Value =
        serde_json::from_str(&succeeds(&["info", text(dir.path()), "--json"]).stdout).unwrap();
    assert_eq!((&told["size"], &told["events"], &told["steps"]), (&100.into(), &0.into(), &8.into()));
    assert_eq!(told["leads"], serde_json::json!([4, 40, 77, 91, 99]));
    let out = dir.path().join("out");
    for command in ["bursts", "cut", "convert"] {
        let call = likewise(&[command, text(dir.path()), "-o", text(&out)]);
        assert!(call.code != 0 && !out.exists(), "{command}");
        assert!(
            call.stderr.contains("which `likewise ranks` reads") || command == "convert",
            "{}",
            call.stderr
        );
    }
    assert_eq!(likewise(&["info", text(dir.path()), "-o", text(&out)]).code, 2);
}

#[test]
fn what_is_not_for_strata_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    recording(dir.path(), &[window(0)]);
    let out = dir.path().join("out");
    let call = likewise(&["ranks", text(dir.path()), "--k", "3", "-o", text(&out)]);
    assert_eq!(call.code, 2, "{}", call.stderr);
    assert!(call.stderr.contains("made while it ran") && !out.exists(), "{}", call.stderr);
    let unknown = Window { sampled: window(0).sampled[..3].to_vec(), ..window(0) };
    recording(dir.path(), &[unknown]);
    let call = likewise(&["ranks", text(dir.path()), "-o", text(&out)]);
    assert!(call.code != 0 && call.stderr.contains("of stratum 2 no rank was sampled"), "{}", call.stderr);
}
