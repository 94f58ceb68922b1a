use std::fs;

use proptest::prelude::*;

use super::*;
use crate::read::{ReadOptions, read_bursts};

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
    assert_eq!(trace.row.unwrap().labels("CPU"), ["x"]);

    fs::write(&input, format!("{TRACE}2:1:1:1:1:x\n")).unwrap();
    let error = write_cut(&input, &dir.path().join("bad"), &options).unwrap_err();
    assert!(error.to_string().contains("in.prv:18: expected a time, found 'x'"), "{error}");
    let lenient = CutOptions { lenient: true, ..options.clone() };
    assert!(write_cut(&input, &dir.path().join("bad"), &lenient).is_ok());
    fs::write(&input, "task,thread,begin_ns,duration_ns\n1,1,0,5\n").unwrap();
    let error = write_cut(&input, &dir.path().join("bad"), &options).unwrap_err();
    assert!(error.to_string().contains("expected a Paraver trace"), "{error}");
    assert!(write_cut(Path::new("-"), &dir.path().join("bad"), &options).is_err());
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
    }
}
