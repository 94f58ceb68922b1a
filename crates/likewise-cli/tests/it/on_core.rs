//! What CPU times of bursts say: who sleeps, and who waits for a core.

use crate::support::{read, succeeds, summary, text};
use std::fmt::Write;
use std::path::Path;

/// A burst: task, thread, begin and length in µs, CPU time in µs if it is known.
type Burst = (u32, u32, u64, u64, Option<u64>);

/// A Paraver trace of these bursts, with the recorder's counter of CPU time.
fn trace(dir: &Path, bursts: &[Burst]) -> std::path::PathBuf {
    let mut bursts = bursts.to_vec();
    bursts.sort_unstable();
    let (tasks, threads) =
        bursts.iter().fold((0, 0), |(tasks, threads), b| (b.0.max(tasks), b.1.max(threads)));
    let (mut prv, mut last) = (String::new(), 0);
    let mut lines: Vec<(u64, String)> = Vec::new();
    for &(task, thread, begin, length, cpu) in &bursts {
        let (who, begin, end) = (format!("1:1:{task}:{thread}"), 1_000 * begin, 1_000 * (begin + length));
        last = last.max(end);
        lines.push((begin, format!("1:{who}:{begin}:{end}:1")));
        if let Some(cpu) = cpu {
            lines.push((begin, format!("2:{who}:{begin}:44000000:0")));
            lines.push((end, format!("2:{who}:{end}:44000000:{}", 1_000 * cpu)));
        }
    }
    lines.sort();
    for (_, line) in lines {
        writeln!(prv, "{line}").unwrap();
    }
    let each = vec![format!("{threads}:1"); tasks as usize].join(",");
    let header = format!("#Paraver (01/01/26 at 00:00):{last}_ns:1(1):1:{tasks}({each}),0\n");
    let path = dir.join("run.prv");
    std::fs::write(&path, header + &prv).unwrap();
    std::fs::write(dir.join("run.pcf"), "EVENT_TYPE\n7 44000000 CPU time (ns)\n").unwrap();
    path
}

/// What `likewise bursts` says of it: findings, and notes.
fn said(bursts: &[Burst]) -> (Vec<String>, String) {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (trace(dir.path(), bursts), dir.path().join("out"));
    let call = succeeds(&["bursts", text(&trace), "--no-trace", "--eps", "0.1", "-o", text(&out)]);
    assert!(read(&out, "clusters.csv").contains("CPU time"), "the counter is read");
    let findings = summary(&out)["findings"].as_array().expect("a list").clone();
    let texts = findings.iter().map(|finding| finding["text"].as_str().unwrap().to_owned()).collect();
    (texts, call.stderr.replace('\n', " "))
}

/// In 40 steps of 10 ms the first thread of each of 2 tasks is on a core for `first` µs of 9 ms;
/// the second computes for 2.5 ms, and for 3.5 ms in which its CPU time is not known.
fn half_known(first: u64) -> Vec<Burst> {
    let step = |task: u32, i: u64| {
        let (begin, odd) = (10_000 * i, (7_919 * i + 31 * u64::from(task)) % 101);
        [
            (task, 1, begin, 9_000 + odd, Some(first)),
            (task, 2, begin + 100, 2_500 + odd, Some(2_490)),
            (task, 2, begin + 2_800 + odd, 3_500 + odd, None),
        ]
    };
    (1..=2).flat_map(|task| (0..40).flat_map(move |i| step(task, i))).collect()
}

/// Where the CPU time of a quarter of all bursts was not known, the first thread was told as the one
/// that computes longest, though it slept.
#[test]
fn who_sleeps_does_not_compute_where_the_cpu_time_of_others_is_not_known() {
    let (asleep, notes) = said(&half_known(20));
    assert!(asleep.is_empty(), "{asleep:?}");
    assert!(notes.contains("on a core for less than half of their time in: phase 1 (0.2%)."), "{notes}");
    let (awake, notes) = said(&half_known(8_990));
    assert!(awake[0].contains("thread 1 of each task takes longest. Even, 14."), "{awake:?}");
    assert!(!notes.contains("on a core"), "{notes}");
}

/// Where all bursts are on a core for little of their time, this is said of the run; where those of
/// one phase are, of that phase; else nothing.
#[test]
fn that_bursts_are_hardly_on_a_core_is_said() {
    let run = |short: u64, long: u64| {
        let step = |task: u32, i: u64| {
            let (begin, odd) = (10_000 * i, (7_919 * i + 31 * u64::from(task)) % 101);
            [(task, 1, begin, 2_000 + odd, Some(short)), (task, 1, begin + 2_500, 6_000 + odd, Some(long))]
        };
        said(&(1..=4).flat_map(|task| (0..40).flat_map(move |i| step(task, i))).collect::<Vec<_>>()).1
    };
    let crowded = run(500, 2_000);
    let expected = "By their CPU time, bursts are on a core for 30.9% of their time: their threads sleep in them, or \
                    wait for a core.";
    assert!(crowded.contains(expected), "{crowded}");
    let short = run(500, 5_990);
    assert!(short.contains("for less than half of their time in: phase 2 (24.4%). Their threads"), "{short}");
    let busy = run(1_990, 5_990);
    assert!(!busy.contains("on a core"), "{busy}");
}

/// The second phase has the CPU time of one burst of 80, as where a recorder reads it of long bursts
/// alone: nothing is told of the others. Of the first, three in four have it, and it is a share.
#[test]
fn the_cpu_time_of_few_bursts_is_not_that_of_all() {
    let step = |task: u32, i: u64| {
        let (begin, odd) = (10_000 * i, (7_919 * i + 31 * u64::from(task)) % 101);
        let known = (i == 7 && task == 1).then_some(1_900);
        let long = (!i.is_multiple_of(4)).then_some((6_000 + odd) / 2);
        [(task, 1, begin, 2_000 + odd, known), (task, 1, begin + 2_500, 6_000 + odd, long)]
    };
    let bursts: Vec<Burst> = (1..=2).flat_map(|task| (0..40).flat_map(move |i| step(task, i))).collect();
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (trace(dir.path(), &bursts), dir.path().join("out"));
    let call = succeeds(&["bursts", text(&trace), "--no-trace", "--eps", "0.1", "-o", text(&out)]);
    let note = "(of CPU time only where these bursts have half of the phase's time)";
    assert!(call.stderr.replace('\n', " ").contains(note), "{}", call.stderr);
    let csv = read(&out, "clusters.csv");
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let cell = |row: usize, name: &str| rows[row][rows[0].iter().position(|n| *n == name).expect(name)];
    let [mean, share] =
        ["mean_ns", "CPU time_mean"].map(|name| cell(1, name).parse::<f64>().expect("a number"));
    assert!((share / mean - 0.5).abs() < 1e-3, "{share} of {mean}");
    assert_eq!(["mean", "sd", "n", "se"].map(|of| cell(2, &format!("CPU time_{of}"))), ["", "", "1", ""]);
}

/// Two runs of 4 tasks, 40 steps of two phases: bursts of the second take 6 ms with a CPU time of
/// 5.99 ms in the first run, and in the other `long` and `cpu` µs.
fn compared(long: u64, cpu: Option<u64>) -> (String, serde_json::Value) {
    let run = |long: u64, cpu: Option<u64>| {
        let step = move |task: u32, i: u64| {
            let (begin, odd) = (16_000 * i, (7_919 * i + 31 * u64::from(task)) % 101);
            [(task, 1, begin, 2_000 + odd, Some(1_990 + odd)), (task, 1, begin + 2_500, long + odd, cpu)]
        };
        (1..=4).flat_map(|task| (0..40).flat_map(move |i| step(task, i))).collect::<Vec<Burst>>()
    };
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [first, second] = [(6_000, Some(5_990)), (long, cpu)];
    let traces =
        [trace(dirs[0].path(), &run(first.0, first.1)), trace(dirs[1].path(), &run(second.0, second.1))];
    let out = dirs[0].path().join("out");
    let call = succeeds(&["compare", text(&traces[0]), text(&traces[1]), "-o", text(&out)]);
    (call.stdout.replace('\n', " "), summary(&out))
}

/// "Phase 10 is faster, × 12.58: why cannot be told" was said of two runs of one program on busy
/// cores, though CPU times were known.
#[test]
fn what_differs_by_the_clock_alone_is_no_finding_of_a_comparison() {
    let phase = |summary: &serde_json::Value| {
        let of_second = summary["phases"][0]["runs"][1].clone();
        (of_second["by_the_clock_alone"] == true, of_second["factors"]["on_core_scalability"].as_f64())
    };
    let (waits, summary) = compared(9_000, Some(5_990));
    assert!(!waits.contains("is slower in") && waits.contains("By the clock, "), "{waits}");
    assert!(
        waits.contains("phase 1 (× 0.67)") && waits.contains("not in CPU time: threads waited"),
        "{waits}"
    );
    let (alone, on_core) = phase(&summary);
    assert!(alone && on_core.is_some_and(|factor| (factor - 0.667).abs() < 0.01), "{summary}");
    // Slower on a core; and slower, where nobody knows.
    let (slower, summary) = compared(9_000, Some(8_990));
    assert!(slower.contains("Phase 1 (up to ") && slower.contains("more CPU time, × 0.67"), "{slower}");
    assert!(!slower.contains("By the clock, "), "{slower}");
    assert!(!phase(&summary).0);
    let (unknown, summary) = compared(9_000, None);
    assert!(unknown.contains("× 0.67: why cannot be told, as there are no instructions."), "{unknown}");
    assert_eq!(phase(&summary), (false, None));
    let (alike, _) = compared(6_000, Some(5_990));
    assert!(alike.contains("No phase is slower or faster by ") && !alike.contains("By the clock"), "{alike}");
}
