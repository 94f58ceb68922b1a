//! Streams of accelerators, which are threads of the trace.

use super::*;
use crate::trace::Streams;

/// Two tasks of a thread and a stream: it is not traced before it is made, idle, and busy twice.
const TEXT: &str = "#Paraver (x):100_us:0:1:2(2:1,2:1),1\n\
    1:1:1:1:1:0:10:1\n1:1:1:1:1:10:50:5\n1:1:1:1:1:50:100:1\n\
    1:2:1:1:2:0:10:14\n1:2:1:1:2:10:20:0\n2:2:1:1:2:20:63000006:7\n1:2:1:1:2:20:40:1\n2:2:1:1:2:40:63000006:0\n\
    1:3:1:2:1:0:30:1\n1:3:1:2:1:30:50:5\n1:3:1:2:1:50:100:1\n\
    1:4:1:2:2:0:30:14\n2:4:1:2:2:30:63000006:7\n1:4:1:2:2:30:45:1\n2:4:1:2:2:45:63000006:0\n";

fn read_at(path: &Path, options: &ReadOptions<'_>, block: usize) -> Trace {
    read(Input::open_text(path).unwrap(), options, block).unwrap()
}

fn threads(trace: &Trace) -> Vec<(u32, u32)> {
    trace.table.threads().map(|((_, task, thread), _)| (task, thread)).collect()
}

#[test]
fn streams_are_left_out_by_their_events_or_by_their_names() {
    let dir = tempfile::tempdir().unwrap();
    let with_events = dir.path().join("a.prv");
    let with_names = dir.path().join("b.prv");
    let without: String =
        TEXT.lines().filter(|l| !l.contains("63000006")).map(|l| format!("{l}\n")).collect();
    std::fs::write(&with_events, TEXT).unwrap();
    std::fs::write(&with_names, without).unwrap();
    let labels = "LEVEL THREAD SIZE 4\nTHREAD 1.1.1\nCUDA-D1.S1-n\nTHREAD 1.2.1\nCUDA-D2.S1-n\n";
    std::fs::write(dir.path().join("b.row"), labels).unwrap();
    let time = Some(Nanos(35_000));
    let (least, most) = (Some((2, Nanos(15_000))), Some((1, Nanos(20_000))));
    for (path, name, kernels) in
        [(&with_events, "thread 1.2", Some(63_000_006)), (&with_names, "CUDA-D1.S1-n", None)]
    {
        let trace = read_at(path, &ReadOptions::default(), 64);
        assert_eq!(threads(&trace), [(1, 1), (2, 1)]);
        assert_eq!(trace.table.len(), 4);
        let streams = {
            let (name, with_counters, are_read) = (name.to_owned(), 0, false);
            Streams { count: 2, name, time, least, most, with_counters, kernels, are_read }
        };
        assert_eq!(trace.report.streams, Some(streams));
        assert_eq!(trace.report.untraced, None, "before a stream is made, nothing of it is missing");
        let topology = trace.topology.as_ref().unwrap();
        assert_eq!(topology.apps[0].iter().map(|task| task.streams).collect::<Vec<_>>(), [1, 1]);
        let whole = format!("{trace:?}");
        for size in [2, 5] {
            assert_eq!(spread_over(size, path, &ReadOptions::default()).as_deref(), Some(&*whole), "{size}");
        }
    }
}

#[test]
fn streams_are_read_if_they_are_asked_for_or_are_all_there_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.prv");
    std::fs::write(&path, TEXT).unwrap();
    let kernels = ReadOptions { burst_events: vec![63_000_006], ..ReadOptions::default() };
    let trace = read_at(&path, &kernels, BLOCK);
    assert_eq!((threads(&trace), trace.table.len()), (vec![(1, 2), (2, 2)], 2));
    assert!(trace.report.streams.as_ref().is_some_and(|streams| streams.are_read));
    let kept = |line: &&str| line.starts_with('#') || line.contains(":2:") && !line.starts_with("1:3:");
    let only: String = TEXT.lines().filter(kept).map(|l| format!("{l}\n")).collect();
    std::fs::write(&path, only.replace(":50:100:1", ":50:100:2")).unwrap();
    let trace = read_at(&path, &ReadOptions::default(), BLOCK);
    let streams = trace.report.streams.as_ref();
    assert!(streams.is_some_and(|streams| streams.are_read), "{:?}", threads(&trace));
}

#[test]
fn events_that_threads_have_too_make_no_bursts_of_streams() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.prv");
    let more = "2:1:1:1:1:60:9200:1\n2:2:1:1:2:60:9200:1\n2:1:1:1:1:70:9200:0\n2:2:1:1:2:70:9200:0\n";
    std::fs::write(&path, format!("{TEXT}{more}")).unwrap();
    let of = |types: &[u32]| {
        let options = ReadOptions { burst_events: types.to_vec(), ..ReadOptions::default() };
        let trace = read_at(&path, &options, BLOCK);
        let streams = trace.report.streams.as_ref().unwrap();
        (threads(&trace), streams.are_read, streams.time.is_some())
    };
    // How long they are busy these events do not tell.
    assert_eq!(of(&[9_200]), (vec![(1, 1)], false, false));
    assert_eq!(of(&[9_200, 63_000_006]), (vec![(1, 1), (1, 2), (2, 2)], true, true));
}

#[test]
fn the_first_application_is_the_first_whose_threads_compute() {
    // Application 1 has a thread that only waits, and two streams of which one is never used.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.prv");
    let text = "#Paraver (x):100_us:0:2:2(2:1,2:1):1(2:1)\n\
        1:1:1:1:1:0:100:5\n2:2:1:1:2:10:63000006:7\n1:2:1:1:2:10:30:1\n2:2:1:1:2:30:63000006:0\n\
        1:3:1:2:1:0:100:5\n2:4:1:2:2:10:63000006:0\n\
        1:5:2:1:1:0:40:1\n2:5:2:1:1:0:42000050:0\n2:6:2:1:2:0:42000050:0\n\
        2:6:2:1:2:50:63000006:7\n1:6:2:1:2:50:60:1\n2:6:2:1:2:60:63000006:0:42000050:9\n";
    std::fs::write(&path, text).unwrap();
    let of = |apps| read_at(&path, &ReadOptions { apps, ..ReadOptions::default() }, BLOCK);
    let first = of(Apps::First);
    let ids: Vec<_> = first.table.threads().map(|(ids, _)| ids).collect();
    assert_eq!(ids, [(2, 1, 1)]);
    let streams = first.report.streams.unwrap();
    assert_eq!((streams.count, streams.with_counters), (1, 1));
    // Of application 1 streams are all there is; one of them is never busy.
    let one = of(Apps::One(1)).report.streams.unwrap();
    let (least, most) = (Some((2, Nanos::ZERO)), Some((1, Nanos(20_000))));
    assert_eq!((one.count, one.are_read, one.least, one.most), (2, true, least, most));
    let all = of(Apps::All).report.streams.unwrap();
    assert_eq!((all.count, all.are_read, all.least), (3, false, None));
}
