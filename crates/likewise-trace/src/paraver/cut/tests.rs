use std::fs;

use proptest::prelude::*;

use super::*;
use crate::bytes::tests::gzip;
use crate::read::{inspect, read_bursts};
use crate::trace::ReadOptions;

const TRACE: &str = "\
#Paraver (01/01/24 at 10:00):1000_ns:1(2):1:2(1:1,1:1),1
c:1:1:2:1:2
1:1:1:1:1:0:150:1
1:2:1:2:1:0:90:1
2:2:1:2:1:90:42000050:9
1:2:1:2:1:90:130:5
3:1:1:1:1:95:96:2:1:2:1:100:120:8:1
2:1:1:1:1:100:50000001:0
2:1:1:1:1:150:42000050:7:50000001:5
1:1:1:1:1:150:200:5
3:1:1:1:1:150:151:2:1:2:1:-1:190:8:1
1:2:1:2:1:130:300:1
2:1:1:1:1:200:50000001:0
1:1:1:1:1:200:260:1
3:2:1:2:1:210:211:1:1:1:1:215:260:8:1
2:1:1:1:1:260:42000050:5
2:2:1:2:1:300:42000050:11
";

fn cut(trace: &str, options: &CutOptions) -> (String, CutReport) {
    let header = Header::parse(trace.lines().next().expect("a header").as_bytes()).expect("reads");
    let (first, rest) = trace.split_once('\n').expect("lines");
    let part = Part::new(&header, options);
    let block = part.block(rest.as_bytes());
    assert!(block.problem.is_none(), "{:?}", block.problem);
    let head = with_end(first.as_bytes(), part.to - part.origin);
    (String::from_utf8([head, block.text].concat()).expect("UTF-8"), block.report)
}

#[test]
fn records_are_clipped_shifted_and_dropped() {
    let options = CutOptions { from: Nanos(100), to: Nanos(260), ..CutOptions::default() };
    let (text, report) = cut(TRACE, &options);
    assert_eq!(
        text,
        "\
#Paraver (01/01/24 at 10:00):160_ns:1(2):1:2(1:1,1:1),1
c:1:1:2:1:2
1:1:1:1:1:0:50:1
1:2:1:2:1:0:30:5
2:1:1:1:1:0:50000001:0
2:1:1:1:1:50:42000050:7:50000001:5
1:1:1:1:1:50:100:5
3:1:1:1:1:50:51:2:1:2:1:-1:90:8:1
1:2:1:2:1:30:160:1
2:1:1:1:1:100:50000001:0
1:1:1:1:1:100:160:1
3:2:1:2:1:110:111:1:1:1:1:115:160:8:1
2:1:1:1:1:160:42000050:5
"
    );
    assert_eq!((report.read.total(), report.kept.total()), (15, 11));
    assert_eq!((report.clipped_states, report.dropped_communications), (3, 1));
    assert_eq!(report.kept.event_pairs, 5);
}

#[test]
fn tasks_and_times_can_be_kept() {
    let one = Some(vec![(1, 2)]);
    let options =
        CutOptions { from: Nanos(100), to: Nanos(260), tasks: one, keep_times: true, lenient: false };
    let (text, report) = cut(TRACE, &options);
    assert_eq!(
        text,
        "\
#Paraver (01/01/24 at 10:00):260_ns:1(2):1:2(1:1,1:1),1
c:1:1:2:1:2
1:2:1:2:1:100:130:5
1:2:1:2:1:130:260:1
"
    );
    assert_eq!(report.dropped_communications, 3, "with a task that is left out, or begun before");
}

#[test]
fn the_whole_is_what_there_was() {
    let (text, report) = cut(TRACE, &CutOptions { to: Nanos(u64::MAX), ..CutOptions::default() });
    assert_eq!(text, TRACE);
    assert_eq!((report.read, report.bytes_read), (report.kept, report.bytes_kept));
}

#[test]
fn open_states_and_units() {
    let trace = "#Paraver (x): 9:1(1):1:1(1:1)\n1:1:1:1:1:0:-1:1\n1:1:1:1:1:4:-1:7\n1:1:1:1:1:5:5:2\n";
    let options = CutOptions { from: Nanos(2_999), to: Nanos(8_000), ..CutOptions::default() };
    let (text, report) = cut(trace, &options);
    assert_eq!(text, "#Paraver (x):6:1(1):1:1(1:1)\n1:1:1:1:1:2:-1:7\n1:1:1:1:1:3:3:2\n");
    assert_eq!(report.dropped_open_states, 1);
}

#[test]
fn files_appear_beside_and_errors_have_lines() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("in.prv");
    let options = CutOptions { from: Nanos(100), to: Nanos(260), ..CutOptions::default() };
    fs::write(&input, TRACE).unwrap();
    fs::write(input.with_extension("row"), "LEVEL CPU SIZE 1\nx\n").unwrap();
    let (files, _) = write_cut(&input, &dir.path().join("out"), &options).unwrap();
    files.into_iter().try_for_each(AtomicFile::commit).unwrap();
    let trace = read_bursts(&dir.path().join("out.prv"), &ReadOptions::default()).unwrap();
    assert_eq!(trace.table.duration, [50, 60, 130].map(Nanos));
    assert_eq!(fs::read_to_string(dir.path().join("out.row")).unwrap(), "LEVEL CPU SIZE 1\nx\n");

    fs::write(&input, format!("{TRACE}2:1:1:1:1:x\n")).unwrap();
    let error = write_cut(&input, &dir.path().join("bad"), &options).unwrap_err();
    assert!(error.to_string().contains("in.prv:18: expected a time, found 'x'"), "{error}");
    let lenient = CutOptions { lenient: true, ..options.clone() };
    assert!(write_cut(&input, &dir.path().join("bad"), &lenient).is_ok());
    fs::write(&input, "task,thread,begin_ns,duration_ns\n1,1,0,5\n").unwrap();
    let error = write_cut(&input, &dir.path().join("bad"), &options).unwrap_err();
    assert!(error.to_string().contains("expected a Paraver trace"), "{error}");
    assert!(write_cut(Path::new("-"), &dir.path().join("bad"), &options).is_err());
    let error = write_cut(dir.path(), &dir.path().join("bad"), &options).unwrap_err();
    assert!(error.to_string().contains("is a directory"), "{error}");
    fs::write(&input, format!("{TRACE}2:1:1:3:1:310:50000001:0\n")).unwrap();
    let error = write_cut(&input, &dir.path().join("bad"), &options).unwrap_err();
    assert!(error.to_string().contains("in.prv:18: thread 1.3.1"), "{error}");
    fs::write(&input, format!("{TRACE}2:1:1:1:1:31")).unwrap();
    let error = write_cut(&input, &dir.path().join("bad"), &options).unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Truncated(_)), "{error}");
}

/// What a lenient cut of those bytes has, and says.
fn lenient_cut(bytes: &[u8], from: u64) -> (String, CutReport) {
    let dir = tempfile::tempdir().unwrap();
    let (input, stem) = (dir.path().join("in.prv.gz"), dir.path().join("out"));
    fs::write(&input, bytes).unwrap();
    // No file at all, so one that cannot be read.
    fs::create_dir(dir.path().join("in.pcf")).unwrap();
    let options =
        CutOptions { from: Nanos(from), to: Nanos(u64::MAX), lenient: true, ..CutOptions::default() };
    let (files, report) = write_cut(&input, &stem, &options).unwrap();
    files.into_iter().try_for_each(AtomicFile::commit).unwrap();
    (fs::read_to_string(dir.path().join("out.prv")).unwrap(), report)
}

#[test]
fn what_is_missing_is_a_warning() {
    let packed = gzip(TRACE.as_bytes());
    let (text, report) = lenient_cut(&[&packed[..], b"garbage"].concat(), 0);
    assert_eq!((text.as_str(), report.warnings.len()), (TRACE, 2));
    assert!(report.warnings[0].contains("what follows is not gzip"), "{report:?}");
    assert!(report.warnings[1].contains("in.pcf") && report.warnings[1].contains("not copied"), "{report:?}");
    // Without its last line end too, the text is whole.
    let packed = gzip(TRACE.trim_end().as_bytes());
    assert_eq!(lenient_cut(&[&packed[..], b"garbage"].concat(), 0).0, TRACE);
    let (text, report) = lenient_cut(&gzip(TRACE.as_bytes())[..packed.len() - 40], 900);
    assert!(text.lines().count() <= 2, "{text}");
    assert!(report.warnings[0].contains("end early"), "{report:?}");
    assert!(report.warnings[1].contains("is in the part"), "{report:?}");
    let (_, report) = lenient_cut(&gzip(format!("{TRACE}2:1:1:3:1:310:5:0\n").as_bytes()), 0);
    assert_eq!(report.read.skipped, 1);
}

#[test]
fn a_state_of_no_length_at_the_end_is_kept() {
    let trace = "#Paraver (x):9_ns:1(1):1:1(1:1)\n1:1:1:1:1:0:9:1\n1:1:1:1:1:9:9:2\n1:1:1:1:1:9:-1:3\n";
    let (text, _) = cut(trace, &CutOptions { to: Nanos(u64::MAX), ..CutOptions::default() });
    assert_eq!(text, trace);
    let (text, _) = cut(trace, &CutOptions { to: Nanos(8), ..CutOptions::default() });
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn a_part_has_whole_units() {
    let dir = tempfile::tempdir().unwrap();
    let (input, stem) = (dir.path().join("in.prv"), dir.path().join("out"));
    fs::write(&input, "#Paraver (x):9_us:1(1):1:1(1:1)\n1:1:1:1:1:0:9:1\n").unwrap();
    let part = |from, to| CutOptions { from: Nanos(from), to: Nanos(to), ..CutOptions::default() };
    let error = write_cut(&input, &stem, &part(500, 800)).unwrap_err();
    assert!(error.to_string().contains("from 500 ns to 800 ns") && error.to_string().contains("1000 ns"));
    let (_, report) = write_cut(&input, &stem, &part(1_500, u64::MAX)).unwrap();
    assert_eq!((report.from, report.to), (Nanos(1_000), Nanos(9_000)));
}

/// A line that looks like a record; most are good.
fn record() -> impl Strategy<Value = String> {
    let time = || prop_oneof![8 => 0i64..130, 1 => Just(-1i64)];
    let who = || (1u32..3, 1u32..3).prop_map(|(cpu, task)| format!("{cpu}:1:{task}:1"));
    prop_oneof![
        (who(), time(), time(), 0u32..9).prop_map(|(who, a, b, s)| format!(
            "1:{who}:{}:{}:{s}\n",
            a.min(b),
            a.max(b)
        )),
        (who(), time(), time(), 0u32..9).prop_map(|(who, a, b, s)| format!("1:{who}:{a}:{b}:{s}\n")),
        (who(), time(), -9i64..9).prop_map(|(who, t, v)| format!("2:{who}:{t}:42000050:{v}:7:1\n")),
        (who(), time(), time(), who(), time(), time())
            .prop_map(|(a, s, t, b, u, v)| format!("3:{a}:{s}:{t}:{b}:{u}:{v}:8:1\n")),
        Just("2:1:1:3:1:5:7:1\n".to_owned()),
        Just("c:1:1:2:1:2\n".to_owned()),
        Just("\n".to_owned()),
    ]
}

proptest! {
    /// Two parts that meet have all the time of the whole.
    #[test]
    fn parts_add_up(mid in 1u64..300) {
        let running = |from: u64, to: u64| -> u64 {
            let (text, _) = cut(TRACE, &CutOptions { from: Nanos(from), to: Nanos(to), ..CutOptions::default() });
            let states = text.lines().filter(|l| l.starts_with("1:") && l.ends_with(":1"));
            states.map(|l| {
                let f: Vec<u64> = l.split(':').map(|x| x.parse().unwrap()).collect();
                f[6] - f[5]
            }).sum()
        };
        prop_assert_eq!(running(0, mid) + running(mid, 1000), running(0, 1000));
    }

    #[test]
    fn arbitrary_lines_never_panic(lines in "([123c#]:[0-9:-]{0,40}\n){0,6}", from in 0u64..50, to in 0u64..200) {
        let header = Header::parse(b"#Paraver (x):9999:1(1):1:1(1:1)").expect("reads");
        let options = CutOptions { from: Nanos(from * 1000), to: Nanos(to * 1000), lenient: true, ..CutOptions::default() };
        let _ = Part::new(&header, &options).block(lines.as_bytes());
        let strict = CutOptions { lenient: false, ..options };
        let _ = Part::new(&header, &strict).block(lines.as_bytes());
    }

    /// What is kept of records is as good as they were.
    #[test]
    fn records_of_any_numbers_are_cut(
        lines in prop::collection::vec(record(), 0..8), from in 0u64..50, length in 1u64..200,
        keep_times: bool, lenient: bool,
    ) {
        let header = Header::parse(b"#Paraver (x):120:1(1):1:2(1:1,1:1)").expect("reads");
        let (from, to) = (Nanos(from * 1000), Nanos((from + length) * 1000));
        let options = CutOptions { from, to, keep_times, lenient, tasks: None };
        let part = Part::new(&header, &options);
        let block = part.block(lines.concat().as_bytes());
        prop_assert!(!lenient || block.problem.is_none());
        prop_assert!(lenient || block.problem.is_some() || block.lines == lines.len() as u64);
        let again = CutOptions { from: Nanos(0), to: Nanos(u64::MAX), ..options };
        let kept = Part::new(&header, &again).block(&block.text);
        prop_assert!(kept.problem.is_none(), "{:?}", kept.problem);
        prop_assert_eq!(kept.report.read.total(), block.report.kept.total());
    }
}

/// The header says 1 µs, and records go on to 3 µs.
#[test]
fn a_part_may_lie_after_the_end_that_the_header_gives() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.prv");
    let later = "1:1:1:1:1:2000:3000:1\n2:1:1:1:1:3000:42000050:5\n";
    fs::write(&path, format!("{TRACE}{later}")).expect("written");
    let cut = |from: u64, to: u64| {
        let options = CutOptions { from: Nanos(from), to: Nanos(to), ..CutOptions::default() };
        write_cut(&path, &dir.path().join("part"), &options).map(|(_, report)| report)
    };
    let part = cut(2_500, u64::MAX).expect("it is there");
    assert_eq!((part.from, part.to, part.kept.states, part.kept.events), (Nanos(2_500), Nanos(3_000), 1, 1));
    let whole = cut(0, u64::MAX).expect("it is there");
    assert_eq!((whole.to, whole.read.total()), (Nanos(3_000), whole.kept.total()));
    let info = inspect(&path, &ReadOptions::default()).expect("reads");
    assert_eq!(info.end, Nanos(3_000));
    let said = info.report.warnings.iter().find(|said| said.contains("records go on until 3.00 µs"));
    assert!(
        said.is_some_and(|said| said.contains("3.00 µs, 2.00 µs after the end of the trace")),
        "{said:?}"
    );
    let error = cut(3_000, u64::MAX).expect_err("nothing is there");
    assert!(matches!(*error.kind, ErrorKind::BeyondEnd { end: Nanos(3_000), .. }), "{error}");
    // One that ends where its header says is read once, and nothing is added.
    fs::write(&path, TRACE).expect("written");
    assert_eq!(cut(100, u64::MAX).expect("it is there").to, Nanos(1_000));
}
