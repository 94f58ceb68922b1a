//! Small traces whose new times are known.

use std::path::PathBuf;

use super::*;

/// Two tasks; the first sends at 11, then both meet in a barrier that the
/// second enters last.
const TRACE: &str = "\
#Paraver (01/01/26 at 00:00):40_ns:1(2):1:2(1:1,1:1),1
c:1:1:2:1:2
1:1:1:1:1:0:10:1
1:2:1:2:1:0:10:1
2:1:1:1:1:10:50000001:1
3:1:1:1:1:10:11:2:1:2:1:10:13:8:5
1:1:1:1:1:10:12:4
1:2:1:2:1:10:13:3
1:1:1:1:1:12:20:1
1:2:1:2:1:13:24:1
2:1:1:1:1:20:50000002:8:50100004:1
2:2:1:2:1:24:50000002:8:50100004:1
2:1:1:1:1:26:50000002:0
2:2:1:2:1:26:50000002:0
1:1:1:1:1:20:26:5
1:2:1:2:1:24:26:5
1:1:1:1:1:26:40:1
1:2:1:2:1:26:39:1
1:2:1:2:1:39:40:0
";

fn trace(text: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("t.prv");
    std::fs::write(&path, text).expect("it can be written");
    (dir, path)
}

/// The running states of the trace, with the new durations in order.
fn bursts(now: &[u64]) -> Vec<RetimedBurst> {
    let states = [(1, 0, 10), (2, 0, 10), (1, 12, 20), (2, 13, 24), (1, 26, 40), (2, 26, 39)];
    let burst = |(&(task, begin, end), &now): (&(u32, u64, u64), &u64)| RetimedBurst {
        app: 1,
        task,
        thread: 1,
        begin: Nanos(begin),
        duration: Nanos(end - begin),
        now: Nanos(now),
    };
    states.iter().zip(now).map(burst).collect()
}

fn retime(text: &str, now: &[u64]) -> Result<(String, RetimeReport)> {
    let (dir, path) = trace(text);
    let stem = dir.path().join("new");
    let (files, report) = write_retimed(&path, &stem, &bursts(now), false)?;
    files.into_iter().try_for_each(AtomicFile::commit)?;
    Ok((std::fs::read_to_string(dir.path().join("new.prv")).expect("it is there"), report))
}

#[test]
fn old_durations_give_the_old_records() {
    let (new, report) = retime(TRACE, &[10, 10, 8, 11, 14, 13]).expect("a trace");
    let mut old: Vec<&str> = TRACE.lines().collect();
    // Only the order by time is new.
    old[2..].sort_by_key(|line| time_of(line.as_bytes()));
    assert_eq!(new.lines().collect::<Vec<_>>(), old);
    assert_eq!((report.end, report.new_end), (Nanos(40), Nanos(40)));
    assert_eq!((report.messages, report.collectives), (1, 1));
    assert_eq!(report.warnings, [""; 0]);
}

#[test]
fn a_run_begins_with_its_first_record() {
    let late: String = TRACE.lines().map(|line| line.replace(":0:10:1", ":3:10:1") + "\n").collect();
    // What is before the thread is there does not count.
    let (dir, path) = trace(&late.replace("c:1:1:2:1:2\n", "c:1:1:2:1:2\n1:1:1:1:1:0:3:2\n"));
    let (_, report) = write_retimed(&path, &dir.path().join("new"), &[], false).expect("a trace");
    assert_eq!((report.begin, report.end, report.new_end), (Nanos(3), Nanos(40), Nanos(40)));
}

#[test]
fn waits_are_found_anew() {
    // The sender takes 30 instead of 10; the receiver waits for it, then is the
    // first in the barrier, as its second burst takes 1 instead of 11.
    let (new, report) = retime(TRACE, &[30, 10, 8, 1, 14, 13]).expect("a trace");
    let expected = "\
#Paraver (01/01/26 at 00:00):56_ns:1(2):1:2(1:1,1:1),1
c:1:1:2:1:2
1:1:1:1:1:0:30:1
1:2:1:2:1:0:10:1
1:2:1:2:1:10:33:3
2:1:1:1:1:30:50000001:1
1:1:1:1:1:30:32:4
3:1:1:1:1:30:31:2:1:2:1:10:33:8:5
1:1:1:1:1:32:40:1
1:2:1:2:1:33:34:1
2:2:1:2:1:34:50000002:8:50100004:1
1:2:1:2:1:34:42:5
2:1:1:1:1:40:50000002:8:50100004:1
1:1:1:1:1:40:42:5
2:1:1:1:1:42:50000002:0
2:2:1:2:1:42:50000002:0
1:1:1:1:1:42:56:1
1:2:1:2:1:42:55:1
1:2:1:2:1:55:56:0
";
    assert_eq!(new, expected);
    assert_eq!(report.threads.len(), 2);
    let second = report.threads[1];
    assert_eq!((second.computing, second.last), ([Nanos(34), Nanos(24)], [Nanos(39), Nanos(55)]));
}

#[test]
fn what_is_no_burst_of_the_trace_is_refused() {
    let said = |text: &str| retime(text, &[10, 10, 8, 11, 14, 13]).expect_err("an error").to_string();
    assert!(said(&TRACE.replace(":40_ns:", ":30_ns:")).contains("the trace ends at 30 ns"));
    let alone: String = TRACE
        .lines()
        .filter(|l| !l.contains(":2:1:2:1:") && !l.starts_with("1:2:") && !l.starts_with("2:2:"))
        .map(|l| format!("{l}\n"))
        .collect();
    assert!(said(&alone).contains("no record is of thread 1.2.1"), "{}", said(&alone));
    assert!(
        said(&TRACE.replace("1:1:1:1:1:12:20:1", "1:1:1:1:1:12:x:1")).contains(":9: expected an end time")
    );
    let threads = TRACE.replace("2(1:1,1:1)", "2(2:1,1:1)").replace("1:2:1:2:1:0:10:1", "1:2:1:1:2:0:10:1");
    let (_dir, path) = trace(&threads);
    let mut two = bursts(&[10, 10]);
    (two[1].task, two[1].thread) = (1, 2);
    let error = write_retimed(&path, &path.with_extension("new"), &two, false).expect_err("two threads");
    assert!(error.to_string().contains("task 1.1 computes on several threads"), "{error}");
}

#[test]
fn roots_and_unequal_counts_are_known() {
    let bcast = TRACE.replace("50000002:8:50100004:1", "50000002:7:50100004:1");
    let bcast = bcast.replacen("50000002:7:50100004:1", "50000002:7:50100003:1:50100004:1", 1);
    // Task 1 is the root: it waits for nobody, however late the other is.
    let (_, report) = retime(&bcast, &[10, 10, 8, 100, 14, 13]).expect("a trace");
    assert_eq!(report.threads[0].last, [Nanos(40), Nanos(40)]);
    assert_eq!(report.threads[1].last, [Nanos(39), Nanos(128)]);
    let once = TRACE.replace("2:2:1:2:1:24:50000002:8:50100004:1\n", "");
    let (_, report) = retime(&once, &[10, 10, 8, 11, 14, 13]).expect("a trace");
    assert_eq!(report.collectives, 0, "one member alone");
    assert_eq!(report.new_end, Nanos(40));
    let twice = TRACE.replace(
        "2:2:1:2:1:26:50000002:0\n",
        "2:2:1:2:1:25:50000002:0\n2:2:1:2:1:25:50000002:10:50100004:1\n2:2:1:2:1:26:50000002:0\n",
    );
    let (_, report) = retime(&twice, &[10, 10, 8, 11, 14, 13]).expect("a trace");
    assert_eq!(report.collectives, 1);
    assert!(report.warnings[0].starts_with("1 entries into collective operations"), "{:?}", report.warnings);
}
