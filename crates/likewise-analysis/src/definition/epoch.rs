//! ClusteringSuite's own output for the EPOCH trace against ours from its
//! definition: normalised coordinates, and the statistics of its clusters.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use likewise::bursts::phase_stats;
use likewise::cluster::{ClusterId, Clustering};
use likewise::table::{BurstTable, Counter, CounterColumn, DurationFilter, Nanos, Preparation, prepare};

use super::read_definition;

fn epoch() -> Option<PathBuf> {
    Some(likewise_testing::real_data()?.join("epoch"))
}

fn gunzip(path: &Path) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(path).expect("opens");
    GzDecoder::new(file).read_to_string(&mut text).expect("unpacks");
    text
}

/// Rows in burst order, and the columns' names.
fn rows(text: &str) -> (Vec<&str>, Vec<Vec<f64>>) {
    let mut lines = text.lines();
    let names = lines.next().expect("a header").split(',').map(str::trim).collect();
    let number = |x: &str| x.trim().parse().expect("a number");
    let mut rows: Vec<Vec<f64>> = lines.map(|l| l.split(',').map(number).collect()).collect();
    rows.sort_by(|a, b| a[1].total_cmp(&b[1]).then(a[3].total_cmp(&b[3])));
    (names, rows)
}

fn table(names: &[&str], rows: &[Vec<f64>]) -> BurstTable {
    let types = [("PAPI_TOT_INS", 42_000_050), ("PAPI_TOT_CYC", 42_000_059)];
    let counter = |(at, name): (usize, &&str)| {
        let name = name.strip_prefix("x_")?.to_owned();
        let event_type = types.iter().find(|t| t.0 == name).map(|t| t.1);
        let values = rows.iter().map(|r| r[at]).collect();
        Some(CounterColumn { counter: Counter { event_type, name, description: String::new() }, values })
    };
    BurstTable {
        app: vec![1; rows.len()].into(),
        task: rows.iter().map(|r| r[1] as u32 + 1).collect(),
        thread: rows.iter().map(|r| r[2] as u32 + 1).collect(),
        begin: rows.iter().map(|r| Nanos(r[3] as u64)).collect(),
        duration: rows.iter().map(|r| Nanos(r[5] as u64)).collect(),
        counters: names.iter().enumerate().filter_map(counter).collect(),
        code: None,
    }
}

#[test]
fn normalises_and_sums_up_as_clusteringsuite_does() {
    let Some(epoch) = epoch() else { return };
    let text = gunzip(&epoch.join("bsc-dbscan.DATA.csv.gz"));
    let (names, rows) = rows(&text);
    let table = table(&names, &rows);
    let definition = read_definition(&epoch.join("cluster.xml")).expect("reads");
    let preparation = Preparation {
        metrics: definition.metrics.expect("metrics"),
        filter: definition.filter.unwrap_or(DurationFilter::Min(Nanos::ZERO)),
        scale: definition.scale.unwrap_or_default(),
        pca: definition.pca,
    };
    let prepared = prepare(&table, &preparation).expect("prepares");
    assert_eq!(prepared.complete.len(), 10_849);
    let column = |name: &str| names.iter().position(|n| *n == name).expect("a column");
    let normalised = [column("n_PAPI_TOT_INS"), column("n_IPC")];
    for (point, row) in prepared.points.chunks(2).zip(&rows) {
        for (x, &at) in point.iter().zip(&normalised) {
            // They print six decimals.
            assert!((x - row[at]).abs() <= 0.51e-6, "{x} is not {}", row[at]);
        }
    }
    // Theirs: 5 is noise, k + 5 is cluster k.
    let ids: Vec<usize> = rows.iter().map(|r| r[names.len() - 1] as usize).collect();
    let labels: Vec<_> = ids.iter().map(|id| id.checked_sub(6).map(ClusterId::from_index)).collect();
    let stats = phase_stats(&table, &prepared, &Clustering { labels, n_clusters: 51 });
    for line in gunzip(&epoch.join("bsc-dbscan.clusters_info.csv.gz")).lines().skip(1) {
        let (what, values) = line.split_once(',').expect("columns");
        let counter = table.counters.iter().position(|c| c.counter.name == what);
        // Noise goes first there, last here.
        let ours = stats[51..].iter().chain(&stats[..51]);
        for (value, phase) in values.trim_end_matches(',').split(',').zip(ours) {
            let theirs: f64 = value.trim().parse().expect("a number");
            let (found, off) = match (what, counter) {
                ("Density", _) => (phase.instances as f64, 0.0),
                ("Total Duration", _) => (phase.total.0 as f64, 0.0),
                ("Avg. Duration", _) => (phase.duration.mean, 1.0),
                ("% Total Duration", _) => (phase.share_of_complete, 0.51e-5),
                (_, Some(at)) => (phase.counters[at].mean, 1.0),
                _ => panic!("a row of {what}"),
            };
            assert!((found - theirs).abs() <= off, "{what}: {found} is not {theirs}");
        }
    }
}
