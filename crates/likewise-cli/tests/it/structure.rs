//! How phases follow one another: `align`, and the refinement of `bursts`.

use crate::support::*;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

/// Columns of `clusters.csv`, by name, of each phase; the noise is last.
fn clusters(dir: &Path) -> Vec<HashMap<String, String>> {
    let csv = read(dir, "clusters.csv");
    let mut rows = csv.lines().map(|row| row.split(',').map(str::to_owned).collect::<Vec<_>>());
    let head = rows.next().expect("a header");
    rows.map(|row| head.iter().cloned().zip(row).collect()).collect()
}

fn number(row: &HashMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|e| panic!("{column}: {e}"))
}

#[test]
fn phases_of_epoch_by_clustering_suite_align() {
    let Some(data) = shared_data() else { return };
    let dir = tempfile::tempdir().unwrap();
    let input = data.join("epoch/bsc-dbscan.DATA.csv.gz");
    let call = succeeds(&["align", text(&input), "-o", text(dir.path())]);
    assert!(call.stdout.contains("Cluster Sequence Score"), "{}", call.stdout);
    assert_eq!(names(dir.path()), ["aligned.seq", "spmd.csv", "summary.json"]);

    let summary = summary(dir.path());
    let spmd = &summary["spmd"];
    assert!(spmd["score"].as_f64().unwrap() >= 0.93, "{spmd}");
    let n_columns = spmd["columns"].as_u64().unwrap() as usize;
    assert!(n_columns <= 1200, "{n_columns} columns");
    assert_eq!(spmd["sequences"], 16);
    assert_eq!(spmd["per_cluster"].as_array().unwrap().len(), summary["phases"].as_array().unwrap().len());

    // A name and as many cells as columns for each task; what the cells hold is what is counted.
    let aligned = read(dir.path(), "aligned.seq");
    let lines: Vec<&str> = aligned.lines().collect();
    assert_eq!(lines.len(), 2 * 16);
    let mut bursts: HashMap<&str, u64> = HashMap::new();
    for thread in lines.chunks(2) {
        assert!(thread[0].starts_with(">Thread_"), "{}", thread[0]);
        assert_eq!(thread[1].split(',').count(), n_columns, "{}", thread[0]);
        thread[1]
            .split(',')
            .filter(|&cell| cell != "-")
            .for_each(|cell| *bursts.entry(cell).or_default() += 1);
    }
    let scores = read(dir.path(), "spmd.csv");
    let mut rows = scores.lines();
    assert_eq!(rows.next(), Some("cluster,spmd_score,columns,bursts,total_ns"));
    for row in rows {
        let cells: Vec<&str> = row.split(',').collect();
        assert_eq!(cells[3].parse().ok(), bursts.remove(cells[0]), "{row}");
        let score: f64 = cells[1].parse().unwrap();
        let (columns, bursts): (f64, f64) = (cells[2].parse().unwrap(), cells[3].parse().unwrap());
        assert!((score - bursts / (16.0 * columns)).abs() < 1e-12, "{row}");
    }
    assert!(bursts.is_empty(), "{bursts:?} have no score");
}

#[test]
fn what_has_no_labels_is_not_aligned() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |name: &str, table: &str| {
        let (file, out) = (dir.path().join(name), dir.path().join("out"));
        std::fs::write(&file, table).unwrap();
        let call = likewise(&["align", text(&file), "-o", text(&out)]);
        assert_eq!(call.code, 1, "{}", call.stdout);
        assert!(call.stderr.contains(name), "{}", call.stderr);
        assert!(!out.exists(), "nothing is left behind");
        call.stderr
    };
    let unlabelled = "task,thread,begin_ns,duration_ns,PAPI_TOT_INS\n1,1,0,10,5\n";
    assert!(refused("unlabelled.csv", unlabelled).contains("no column 'cluster'"));
    assert!(refused("nowhen.csv", "cluster\n1\n2\n").contains("begin_ns"));
    let noise = "task,thread,begin_ns,duration_ns,cluster\n1,1,0,10,noise\n";
    assert!(refused("noise.csv", noise).contains("no burst is in a phase"));
}

/// Labelled bursts of 20 phases in 40 iterations; each task lacks exactly
/// `deleted` of its 800 bursts, drawn at random.
fn spmd_csv(tasks: u64, deleted: usize, seed: u64) -> String {
    const STEPS: usize = 800;
    // SplitMix64.
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut csv = "task,thread,begin_ns,duration_ns,cluster\n".to_owned();
    for task in 1..=tasks {
        let mut steps: Vec<usize> = (0..STEPS).collect();
        for _ in 0..deleted {
            steps.remove((random() % steps.len() as u64) as usize);
        }
        for step in steps {
            writeln!(csv, "{task},1,{},900,{}", 1000 * step, 1 + step % 20).unwrap();
        }
    }
    csv
}

#[test]
fn a_perfect_run_scores_one_and_one_in_twenty_bursts_gone_little_less() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("run.csv");
    let spmd = |tasks, deleted, seed| {
        std::fs::write(&file, spmd_csv(tasks, deleted, seed)).unwrap();
        let call = succeeds(&["align", "--json", text(&file), "-o", text(&dir.path().join("out"))]);
        let summary: serde_json::Value = serde_json::from_str(&call.stdout).unwrap();
        summary["spmd"].clone()
    };
    for tasks in [16, 64] {
        let perfect = spmd(tasks, 0, 1);
        assert_eq!((&perfect["score"], &perfect["columns"]), (&1.0.into(), &800.into()), "{tasks} tasks");
        for seed in 1..=3 {
            let found = spmd(tasks, 40, seed);
            let score = found["score"].as_f64().unwrap();
            println!("{tasks} tasks, seed {seed}: {score} in {} columns", found["columns"]);
            assert!(score >= 0.94, "{tasks} tasks, seed {seed}: {found}");
            assert!(score < 0.96, "one in twenty is gone: {found}");
        }
    }
}

#[test]
fn divisive_refinement_gives_a_tree() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 6_000);
    let out = dir.path().join("out");
    succeeds(&["bursts", text(&trace), "--refine=divisive", "--no-trace", "-q", "-o", text(&out)]);
    let tree: serde_json::Value = serde_json::from_str(&read(&out, "refinement.json")).unwrap();
    let (levels, nodes) = (tree["levels"].as_array().unwrap(), tree["nodes"].as_array().unwrap());
    let eps: Vec<f64> = levels.iter().map(|level| level["eps"].as_f64().unwrap()).collect();
    assert!(eps.len() > 1 && eps.is_sorted_by(|a, b| a > b), "from coarse to fine: {eps:?}");
    for (i, node) in nodes.iter().enumerate() {
        for parent in node["parents"].as_array().unwrap() {
            let parent = parent.as_u64().unwrap() as usize;
            assert!(parent < i && nodes[parent]["level"].as_u64() < node["level"].as_u64(), "{node}");
        }
    }
    let summary = summary(&out);
    let mut phases: Vec<u64> = nodes.iter().filter_map(|node| node["phase"].as_u64()).collect();
    phases.sort_unstable();
    assert_eq!(phases, (1..=summary["clusters"].as_u64().unwrap()).collect::<Vec<_>>());
    let dot = read(&out, "refinement.dot");
    assert!(dot.starts_with("digraph") && dot.trim_end().ends_with('}'));
    assert_eq!(dot.lines().filter(|line| line.contains("[label=")).count(), nodes.len());
}

#[test]
fn epoch_refines_to_its_phases_without_a_parameter() {
    let Some(data) = shared_data() else { return };
    let dir = tempfile::tempdir().unwrap();
    let trace = data.join("epoch/epoch_16proc.prv.gz");
    succeeds(&["bursts", text(&trace), "--no-trace", "-q", "-o", text(dir.path())]);
    let summary = summary(dir.path());
    assert!(summary["spmd"]["score"].as_f64().unwrap() >= 0.96, "{}", summary["spmd"]["score"]);
    assert!((25..=45).contains(&summary["clusters"].as_u64().unwrap()), "{}", summary["clusters"]);
    assert!(summary["noise_share"].as_f64().unwrap() <= 0.013, "{}", summary["noise_share"]);
    let (found, suite) = (dir.path().join("bursts.csv"), data.join("epoch/bsc-dbscan.DATA.csv.gz"));
    let compared = succeeds(&["compare", "--json", text(&found), text(&suite)]);
    let compared: serde_json::Value = serde_json::from_str(&compared.stdout).unwrap();
    assert!(compared["adjusted_rand"].as_f64().unwrap() >= 0.76, "{compared}");
    // The long start on its own, and what the iterations spend most of their time in.
    let clusters = clusters(dir.path());
    let (first, second) = (&clusters[0], &clusters[1]);
    assert!(number(first, "share") > 0.4 && number(second, "share") > 0.3);
    assert!(number(second, "mean_ns") > 5.0 * number(first, "mean_ns"));
    assert!(number(first, "IPC_mean") > 3.0 * number(second, "IPC_mean"));
}

/// Where one task runs, no other shows what is one step: code, neighbours and
/// values must do.
#[test]
fn few_tasks_have_no_more_phases_than_many() {
    for (tasks, seed) in [("1", "1"), ("1", "3"), ("2", "2"), ("4", "1")] {
        let dir = tempfile::tempdir().unwrap();
        let options = ["--tasks", tasks, "--seed", seed, "--iterations", "40", "-q", "-o", text(dir.path())];
        succeeds(&[&["synth"][..], &options].concat());
        let (trace, out) = (dir.path().join("synth.prv"), dir.path().join("out"));
        succeeds(&["bursts", text(&trace), "--no-trace", "-q", "-o", text(&out)]);
        let phases = summary(&out)["clusters"].as_u64().unwrap();
        assert!((8..=13).contains(&phases), "{tasks} tasks, seed {seed}: {phases} phases of 9");
        let (found, truth) = (out.join("bursts.csv"), dir.path().join("truth.csv"));
        let compared = succeeds(&["compare", "--json", "--noise", text(&found), text(&truth)]);
        let compared: serde_json::Value = serde_json::from_str(&compared.stdout).unwrap();
        assert!(
            compared["adjusted_rand"].as_f64().unwrap() >= 0.98,
            "{tasks} tasks, seed {seed}: {compared}"
        );
    }
}

#[test]
fn small_phases_are_folded_in_the_terminal_and_the_report() {
    let Some(data) = shared_data() else { return };
    let dir = tempfile::tempdir().unwrap();
    let trace = data.join("epoch/epoch_16proc.prv.gz");
    let args = ["bursts", text(&trace), "--no-trace", "-o", text(dir.path())];
    let folded =
        |text: &str| text.lines().filter(|line| line.split_whitespace().nth(1) == Some("more")).count();
    assert_eq!(folded(&succeeds(&args).stdout), 1);
    assert!(read(dir.path(), "report.html").contains("\"small\":true"));
    assert_eq!(folded(&succeeds(&[&args[..], &["-v"]].concat()).stdout), 0);
}

#[test]
fn phases_of_two_densities_come_back_without_a_parameter() {
    let dir = tempfile::tempdir().unwrap();
    succeeds(&["synth", "--densities", "30", "-q", "-o", text(dir.path())]);
    let (trace, out) = (dir.path().join("synth.prv"), dir.path().join("out"));
    succeeds(&["bursts", text(&trace), "--no-trace", "-q", "-o", text(&out)]);
    let (found, truth) = (out.join("bursts.csv"), dir.path().join("truth.csv"));
    let compared = succeeds(&["compare", "--json", text(&found), text(&truth)]);
    let compared: serde_json::Value = serde_json::from_str(&compared.stdout).unwrap();
    assert!(compared["adjusted_rand"].as_f64().unwrap() >= 0.98, "{compared}");
}
