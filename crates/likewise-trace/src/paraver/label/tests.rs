use std::fs;

use super::*;
use crate::error::SpreadError;
use crate::output::{AtomicFile, PartFile, SharedFile};
use crate::paraver::header::TimeUnit;
use crate::read::read_bursts;
use crate::trace::ReadOptions;
use likewise::comm::wire::Taker;
use likewise::comm::{Communicator, run_on_threads};
use likewise::table::Nanos;

const TRACE: &str = "#Paraver (x):100_ns:1(2):1:2(1:1,1:1),1\nc:1:1:2:1:2\n\
    1:5:1:1:1:0:10:1\n1:6:1:2:1:0:10:15\n2:5:1:1:1:10:42000050:7\n1:5:1:1:1:10:30:1\n\
    2:5:1:1:1:30:42000050:9:90000001:3\n1:5:1:1:1:30:100:15\n2:5:1:1:1:99:90000001:3";

fn labelled(dir: &Path, name: &str, text: &[u8]) -> String {
    let input = dir.join(name);
    fs::write(&input, text).unwrap();
    let trace = read_bursts(&input, &ReadOptions::default()).unwrap();
    let values: Vec<u32> = (0..trace.table.len()).map(|i| 6 + i as u32 % 2).collect();
    let legend = legend(2, |_| [1, 2, 3]);
    for file in write_labelled(&input, &dir.join("out"), &trace.table, &values, &legend, false, None).unwrap()
    {
        file.commit().unwrap();
    }
    let of = ToLabel { stem: &dir.join("parts"), table: &trace.table, values: &values, legend: &legend };
    for (size, first_is_busy) in [(2, true), (2, false), (3, false), (8, true)] {
        by_parts(size, &input, of, first_is_busy);
        for ending in ["prv", "pcf"] {
            let [whole, parts] =
                ["out", "parts"].map(|stem| fs::read(dir.join(stem).with_extension(ending)).unwrap());
            assert!(whole == parts, "{ending} by {size}:\n{}", String::from_utf8_lossy(&parts));
        }
    }
    fs::read_to_string(dir.join("out.prv")).unwrap()
}

/// Labels a trace on so many processes.
fn by_parts(size: usize, input: &Path, of: ToLabel<'_>, first_is_busy: bool) {
    let files = run_on_threads(size, |comm| {
        let of = (comm.rank() == 0).then_some(of);
        match write_labelled_spread(comm, input, of, (false, first_is_busy), None) {
            Ok(files) => Ok(files),
            Err(SpreadError::Comm(error)) => Err(error),
            Err(error) => panic!("{error}"),
        }
    });
    for file in files.unwrap().into_iter().flatten() {
        file.commit().unwrap();
    }
}

#[test]
fn parts_of_a_trace_in_no_order_are_one_file() {
    let dir = tempfile::tempdir().unwrap();
    for (seed, last) in [(1u64, "\n"), (2, ""), (3, "\n# an end\n")] {
        let mut text = String::from("#Paraver (x):900_ns:1(2):1:2(1:1,1:1)\n");
        for i in 0..200 {
            let at = (i * 7919 * seed) % 97;
            let (task, from) = (1 + (i + seed) % 2, 4 * i + if i % 5 == 0 { 0 } else { at / 30 });
            let state = if at % 11 == 0 { 15 } else { 1 };
            text.push_str(&format!("1:{task}:1:{task}:1:{from}:{}:{state}\n", from + at % 4));
            if at % 13 == 0 {
                text.push_str(&format!("2:{task}:1:{task}:1:{}:42000050:{at}\n", 3 * i));
            }
        }
        let text = text.trim_end().to_owned() + last;
        assert!(labelled(dir.path(), "in.prv", text.as_bytes()).contains(":90000001:7"));
    }
}

#[test]
fn a_part_that_cannot_be_written_is_an_error_on_its_process() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let file = AtomicFile::create(&path).unwrap();
    let mut message = Vec::new();
    file.shared().put(&mut message);
    let shared = SharedFile::take(&mut Taker::new(&message)).expect("it has travelled");
    assert_eq!(shared, file.shared());
    assert_eq!(SharedFile::take(&mut Taker::new(&message[..message.len() - 1])), None);
    let mut part = PartFile::open(&shared, 2, 3).unwrap();
    part.write_all(b"abcd").expect_err("this would be another's");
    let mut part = PartFile::open(&shared, 2, 3).unwrap();
    part.write_all(b"ab").unwrap();
    let error = part.complete().expect_err("a byte is missing").to_string();
    assert!(error.starts_with(path.to_str().unwrap()), "the name that people know: {error}");
    drop(file);
    PartFile::open(&shared, 0, 0).expect_err("it is not there");
}

#[test]
fn events_stand_before_records_of_their_time() {
    let dir = tempfile::tempdir().unwrap();
    let expected = "#Paraver (x):100_ns:1(2):1:2(1:1,1:1),1\nc:1:1:2:1:2\n\
        2:5:1:1:1:0:90000001:6\n1:5:1:1:1:0:10:1\n1:6:1:2:1:0:10:15\n\
        2:5:1:1:1:10:90000001:0:90000001:7\n2:5:1:1:1:10:42000050:7\n1:5:1:1:1:10:30:1\n\
        2:5:1:1:1:30:90000001:0\n2:5:1:1:1:30:42000050:9\n1:5:1:1:1:30:100:15\n";
    assert_eq!(labelled(dir.path(), "in.prv", TRACE.as_bytes()), expected);
    assert!(!dir.path().join("out.row").exists());
    assert!(fs::read_to_string(dir.path().join("out.pcf")).unwrap().contains("Cluster 2"));
    assert_eq!(labelled(dir.path(), "in2.prv", expected.as_bytes()), expected);
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let plain = labelled(dir.path(), "plain.prv", TRACE.as_bytes());
    let marked = format!("\u{feff}{TRACE}");
    assert_eq!(labelled(dir.path(), "marked.prv", marked.as_bytes()), plain);
    assert_eq!(labelled(dir.path(), "marked.prv.gz", &gzip(marked.as_bytes())), plain);
    let csv = "\u{feff}task,thread,begin_ns,duration_ns\n1,1,0,5\n";
    assert!(labelled(dir.path(), "marked.csv", csv.as_bytes()).contains("1:1:1:1:1:0:5:1\n"));
}

#[test]
fn the_header_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (header, records) = TRACE.split_once('\n').expect("lines");
    for end in ["\r", " "] {
        let text = format!("{header}{end}\n{records}\n");
        let new = labelled(dir.path(), "in.prv", text.as_bytes());
        assert!(new.starts_with(&format!("{header}{end}\n")), "{new:?}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Labels what `read_bursts` finds in the file when lenient.
fn labelled_leniently(input: &Path) -> (BurstTable, String) {
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    let table = read_bursts(input, &options).unwrap().table;
    let values = vec![6; table.len()];
    let out = input.with_file_name("out");
    for file in write_labelled(input, &out, &table, &values, &legend(1, |_| [0; 3]), true, None).unwrap() {
        file.commit().unwrap();
    }
    (table, fs::read_to_string(out.with_extension("prv")).unwrap())
}

#[test]
fn a_cut_gzip_is_labelled_up_to_the_cut_if_lenient() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in.prv.gz");
    // One that fits the first look at the file, and one that does not.
    for n in [300u64, 600_000] {
        let records = (0..n).map(|i| format!("1:5:1:1:1:{}:{}:{}\n", 10 * i, 10 * i + 10, 1 + i % 3));
        let text = format!("#Paraver (x):{}_ns:1(5):1:1(1:1)\n{}", 10 * n, records.collect::<String>());
        let whole = gzip(text.as_bytes());
        fs::write(&path, &whole[..whole.len() * 2 / 3]).unwrap();
        let (table, out) = labelled_leniently(&path);
        assert!(table.len() as u64 > n / 9, "{} of {n}", table.len());
        let kept: Vec<&str> = out.lines().filter(|l| !l.contains(":90000001:")).collect();
        assert_eq!(kept, text.lines().take(kept.len()).collect::<Vec<_>>());
        let last = kept[kept.len() - 1].split(':').nth(5).unwrap().parse().unwrap();
        assert!(table.begin.last().is_some_and(|begin| begin.0 <= last));
        assert_eq!(out.matches(":90000001:6").count(), table.len());
        let strict =
            write_labelled(&path, &dir.path().join("b"), &table, &vec![6; table.len()], &[], false, None);
        assert!(matches!(*strict.unwrap_err().kind, ErrorKind::GzipEndsEarly(_)));
    }
}

#[test]
fn what_the_reader_skipped_is_not_copied() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in.prv");
    let bad = ["1:1:1:9:1:10:20:1\n", "1:1:1:1:1:10:2x:1\n", "2:1:1:1:1:30:42000050:x\n", "3:1:1\n"];
    // A state that ends before it begins is no burst, and is the trace's all the same.
    let good = ["1:1:1:1:1:0:10:1\n", "1:1:1:1:1:20:10:1\n", "9:9\n", "2:1:1:1:1:10:42000050:7\n"];
    let records: String = good.iter().zip(bad).flat_map(|(g, b)| [*g, b]).collect();
    let text = format!("#Paraver (x):100_ns:1(1):1:1(1:1)\n{records}2:1:1:1:1:50:420");
    fs::write(&path, &text).unwrap();
    let (table, out) = labelled_leniently(&path);
    assert_eq!(table.len(), 1);
    let kept: Vec<&str> = out.lines().skip(1).filter(|l| !l.contains(":90000001:")).collect();
    assert_eq!(kept, good.map(str::trim_end));
    let again = read_bursts(&dir.path().join("out.prv"), &ReadOptions::default()).unwrap();
    assert_eq!(format!("{:?}", again.table), format!("{table:?}"));
}

#[test]
fn a_table_of_bursts_becomes_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    let csv = b"task,thread,begin_ns,duration_ns\n1,1,0,5\n1,1,5,4\n3,2,1,8\n";
    let text = labelled(dir.path(), "in.csv", csv);
    let expected = "#Paraver (01/01/1970 at 00:00):9_ns:1(2):1:3(1:1,1:1,2:1)\n\
        2:1:1:1:1:0:90000001:6\n1:1:1:1:1:0:5:1\n2:2:1:3:2:1:90000001:6\n1:2:1:3:2:1:9:1\n\
        2:1:1:1:1:5:90000001:0:90000001:7\n1:1:1:1:1:5:9:1\n2:1:1:1:1:9:90000001:0\n2:2:1:3:2:9:90000001:0\n";
    assert_eq!(text, expected);
    for (ids, threads) in [
        ("1,4000000000,1", 4_000_000_000u64),
        ("1,1,4000000000", 4_000_000_000),
        ("4000000000,1,1", 4_000_000_000),
        ("2,65552,1", 65_553),
    ] {
        let path = dir.path().join("s.csv");
        fs::write(&path, format!("app,task,thread,begin_ns,duration_ns\n{ids},0,5\n")).unwrap();
        let table = read_bursts(&path, &ReadOptions::default()).unwrap().table;
        let error = write_labelled(&path, &dir.path().join("s"), &table, &[6], &[], false, None).unwrap_err();
        assert!(
            matches!(*error.kind, ErrorKind::SparseIds { threads: n, bursts: 1 } if n == threads),
            "{error}"
        );
        assert!(error.path == path, "{error}");
    }
    let near = labelled(dir.path(), "n.csv", b"task,thread,begin_ns,duration_ns\n65552,1,0,5\n");
    assert!(near.starts_with("#Paraver (01/01/1970 at 00:00):5_ns:1(1):1:65552(1:1,"));
    assert!(!dir.path().join("s.prv").exists() && !dir.path().join("s.pcf").exists());
}

#[test]
fn out_of_order_input_gets_every_event_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut lines = Vec::new();
    for piece in [2u64, 0, 1, 3] {
        for i in 0..20_000 {
            let t = (piece * 20_000 + i) * 10;
            lines.push(format!("1:1:1:1:1:{t}:{}:{}\n", t + 10, 1 + i % 2));
        }
    }
    let text = format!("#Paraver (x):800000_ns:1(1):1:1(1:1)\n{}", lines.concat());
    let out = labelled(dir.path(), "in.prv", text.as_bytes());
    let count = |needle: &str| out.matches(needle).count();
    assert_eq!(count(":90000001:0\n") + count(":90000001:0:"), 40_000);
    assert_eq!(count(":90000001:6") + count(":90000001:7"), 40_000);
    let events = ReadOptions { burst_events: vec![CLUSTER_EVENT], ..ReadOptions::default() };
    let back = read_bursts(&dir.path().join("out.prv"), &events).unwrap().table;
    let states = read_bursts(&dir.path().join("in.prv"), &ReadOptions::default()).unwrap().table;
    assert_eq!((back.begin, back.duration), (states.begin, states.duration));
}

#[test]
fn blocks_do_not_change_what_is_put_in() {
    let table = BurstTable {
        app: vec![1; 3].into(),
        task: vec![1, 1, 2].into(),
        thread: vec![1; 3].into(),
        begin: vec![Nanos(0), Nanos(4), Nanos(2)],
        duration: vec![Nanos(4), Nanos(0), Nanos(5)],
        counters: Vec::new(),
        code: None,
    };
    let (threads, marks) = marks(&table, &[6, 7, 8], TimeUnit::Nanoseconds.nanos());
    let times: Vec<(u64, u32, u32)> =
        marks.within(0..marks.len()).map(|m| (m.time, m.thread, m.value)).collect();
    assert_eq!(times, [(0, 0, 6), (2, 1, 8), (4, 0, 0), (4, 0, 7), (4, 0, 0), (7, 1, 0)]);
    let cpus: Vec<(u32, Who)> = (1..).zip(threads).collect();
    let mut out = Vec::new();
    push_marks(&mut out, marks.within(2..5), &cpus);
    assert_eq!(out, b"2:1:1:1:1:4:90000001:0:90000001:7:90000001:0\n");
}
