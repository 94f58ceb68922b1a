//! Real traces, against what an independent program made of them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};

use likewise::table::{BurstTable, Nanos};
use likewise_trace::{
    Apps, CLUSTER_EVENT, ReadOptions, RowLabel, inspect, legend, read_bursts, read_labels, write_labelled,
};

use likewise_testing::real_data;

fn gunzip(path: &std::path::Path) -> String {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn epoch_has_the_bursts_that_clustering_suite_found() {
    let Some(data) = real_data() else { return };
    let trace = read_bursts(&data.join("epoch/epoch_16proc.prv.gz"), &ReadOptions::default()).unwrap();
    let table = &trace.table;
    assert_eq!(table.len(), 30_712);
    assert_eq!(trace.report.warnings, Vec::<String>::new());
    let names: Vec<&str> = table.counters.iter().map(|c| c.counter.name.as_str()).collect();
    assert_eq!(names.len(), 8, "{names:?}");
    let place: BTreeMap<(u32, u64), usize> =
        (0..table.len()).map(|i| ((table.task[i], table.begin[i].0), i)).collect();
    let text = gunzip(&data.join("epoch/bsc-dbscan.DATA.csv.gz"));
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').map(str::trim).collect();
    let mut found = 0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let cell = |name: &str| cells[head.iter().position(|h| *h == name).unwrap()];
        let key = (cell("TaskId").parse::<u32>().unwrap() + 1, cell("Begin_Time").parse().unwrap());
        let i = *place.get(&key).unwrap_or_else(|| panic!("no burst {key:?}"));
        assert_eq!(table.duration[i], Nanos(cell("Duration").parse().unwrap()));
        let counters = head.iter().filter_map(|h| h.strip_prefix("x_"));
        for name in counters.clone() {
            let value: f64 = cell(&format!("x_{name}")).parse().unwrap();
            assert_eq!(table.counter(name).unwrap().values.get(i), value, "{name} of {key:?}");
        }
        assert_eq!(counters.count(), 8);
        found += 1;
    }
    let has = |name: &str, i: usize| !table.counter(name).unwrap().values.get(i).is_nan();
    let complete = (0..table.len())
        .filter(|&i| table.duration[i] >= Nanos(5_000) && has("PAPI_TOT_INS", i) && has("PAPI_TOT_CYC", i));
    assert_eq!((found, complete.count()), (10_849, 10_849));
}

#[test]
fn lulesh_has_two_applications_and_bursts_in_the_first() {
    let Some(data) = real_data() else { return };
    let path = data.join("lulesh/lulesh_7+1.prv.gz");
    let table = read_bursts(&path, &ReadOptions::default()).unwrap().table;
    assert_eq!(table.len(), 848);
    assert!(table.app.iter().all(|&a| a == 1));
    assert_eq!(table.task.iter().max(), Some(&8));
    let all = read_bursts(&path, &ReadOptions { apps: Apps::All, ..ReadOptions::default() }).unwrap();
    assert_eq!(all.table.len(), 848);
    assert!(table.counter("PAPI_TOT_INS").is_some() && table.counter("LONGEST_LAT_CACHE:MISS").is_some());
    let info = inspect(&path, &ReadOptions::default()).unwrap();
    let topology = info.topology.unwrap();
    assert_eq!(topology.apps.iter().map(Vec::len).collect::<Vec<_>>(), [8, 12]);
    let running = info.states.iter().find(|s| s.value == 1).unwrap();
    assert_eq!(
        (running.name.as_str(), running.count, running.time),
        ("Running", 848, table.computing_time())
    );
    assert!(info.compressed && info.event_types.iter().any(|t| t.event_type / 1_000_000 == 46 && t.counter));
    assert_eq!((topology.n_threads(), info.report.warnings.len()), (20, 0));
}

fn values_of(table: &BurstTable) -> Vec<u32> {
    (0..table.len()).map(|i| 1 + (i as u32 * 7) % 9).collect()
}

#[test]
fn a_labelled_trace_gives_the_same_bursts_back() {
    let Some(data) = real_data() else { return };
    let dir = tempfile::tempdir().unwrap();
    for name in ["epoch/epoch_4proc", "lulesh/lulesh_7+1"] {
        let input = data.join(format!("{name}.prv.gz"));
        let before = read_bursts(&input, &ReadOptions::default()).unwrap().table;
        let values = values_of(&before);
        let legend = legend(4, |_| [9, 9, 9]);
        let files =
            write_labelled(&input, &dir.path().join("out"), &before, &values, &legend, false, None).unwrap();
        files.into_iter().for_each(|file| file.commit().unwrap());
        let out = dir.path().join("out.prv");
        let after = read_bursts(&out, &ReadOptions::default()).unwrap();
        assert_eq!(format!("{:?}", after.table), format!("{before:?}"), "{name}");
        let names = fs::read_to_string(dir.path().join("out.pcf")).unwrap();
        let ours = names.split(&CLUSTER_EVENT.to_string()).nth(1).unwrap();
        assert!(ours.lines().any(|line| line.split_whitespace().eq(["9", "Cluster", "4"])), "{ours}");
        let events = ReadOptions { burst_events: vec![CLUSTER_EVENT], ..ReadOptions::default() };
        let by_event = read_bursts(&out, &events).unwrap().table;
        assert_eq!(format!("{by_event:?}"), format!("{before:?}"), "{name}");
        // What was not put in is as it was.
        let text = fs::read_to_string(&out).unwrap();
        let rest: Vec<&str> = text.lines().filter(|l| !l.contains(":90000001:")).collect();
        assert_eq!(rest, gunzip(&input).lines().collect::<Vec<_>>());
        let row = data.join(format!("{name}.row"));
        assert_eq!(fs::read(dir.path().join("out.row")).unwrap(), fs::read(row).unwrap());
    }
}

#[test]
fn labels_of_clustering_suite_are_read() {
    let Some(data) = real_data() else { return };
    let table = read_labels(&data.join("epoch/bsc-dbscan.DATA.csv.gz")).unwrap();
    let count = |label: RowLabel| table.labels.iter().filter(|&&l| l == label).count();
    let clusters =
        table.labels.iter().filter_map(|l| if let RowLabel::Cluster(k) = l { Some(*k) } else { None });
    assert_eq!((table.labels.len(), count(RowLabel::Noise)), (10_849, 625));
    assert_eq!(clusters.max(), Some(51));
    assert_eq!(table.keys.unwrap().len(), 10_849);
}

#[test]
fn a_cut_gzip_is_an_error_and_lenient_reads_what_is_there() {
    let Some(data) = real_data() else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.prv.gz");
    let whole = fs::read(data.join("epoch/epoch_4proc.prv.gz")).unwrap();
    fs::File::create(&path).unwrap().write_all(&whole[..whole.len() / 2]).unwrap();
    let error = read_bursts(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("the gzip data end early"), "{error}");
    let lenient = ReadOptions { lenient: true, ..ReadOptions::default() };
    let trace = read_bursts(&path, &lenient).unwrap();
    assert!(trace.table.len() > 1000 && trace.report.warnings[0].contains("end early"));
}
