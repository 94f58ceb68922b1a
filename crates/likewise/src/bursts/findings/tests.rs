//! Runs of a few bursts whose defect is known.

use super::*;
use crate::table::{Counter, CounterColumn};

/// Bursts of (task, begin, duration, phase from 1 or 0, instructions, cycles).
type Burst = (u32, u64, u64, usize, f64, f64);

fn found(bursts: &[Burst], end: u64) -> Findings {
    let mut bursts = bursts.to_vec();
    bursts.sort_by_key(|b| (b.0, b.1));
    let n = bursts.len();
    let counter = |name: &str, values: Vec<f64>| CounterColumn {
        counter: Counter { event_type: None, name: name.to_owned(), description: String::new() },
        values,
    };
    let table = BurstTable {
        app: vec![1; n],
        task: bursts.iter().map(|b| b.0).collect(),
        thread: vec![1; n],
        begin: bursts.iter().map(|b| Nanos(b.1)).collect(),
        duration: bursts.iter().map(|b| Nanos(b.2)).collect(),
        counters: vec![
            counter("PAPI_TOT_INS", bursts.iter().map(|b| b.4).collect()),
            counter("PAPI_TOT_CYC", bursts.iter().map(|b| b.5).collect()),
        ],
        code: None,
    };
    let phase: Vec<Option<ClusterId>> =
        bursts.iter().map(|b| b.3.checked_sub(1).map(ClusterId::from_index)).collect();
    findings(&FindingsInput { table: &table, phase: &phase, shortest: Nanos(10), end: Nanos(end) })
}

/// 4 tasks, 10 steps of 1,000 ns with a barrier after each; `change` makes
/// duration, phase and instructions of (task, step) other than 900, 1, 900.
fn steps(change: impl Fn(u32, u64) -> (u64, usize, f64)) -> Findings {
    let burst = |task: u32, step: u64| {
        let (duration, phase, instructions) = change(task, step);
        (task, step * 1_000, duration, phase, instructions, duration as f64)
    };
    let bursts: Vec<Burst> = (0..10).flat_map(|step| (1..5).map(move |task| burst(task, step))).collect();
    found(&bursts, 10_000)
}

fn tasks(finding: &Finding) -> Vec<u32> {
    finding.threads.iter().map(|name| name.task).collect()
}

fn numbers(finding: &Finding) -> Vec<u32> {
    finding.phases.iter().map(|id| id.number()).collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn even_steps_are_no_finding() {
    let found = steps(|_, _| (900, 1, 900.0));
    assert_eq!(found.list, []);
    assert!(near(found.idle, 0.1) && near(found.balance, 0.0), "{found:?}");
    // One thread has nobody to wait for, and no run at all has nothing.
    let alone = [(1, 0, 900, 1, 1.0, 1.0), (1, 950, 20, 2, 1.0, 1.0)];
    assert_eq!(super::tests::found(&alone, 1_000).list, []);
    assert_eq!(super::tests::found(&[], 0), Findings::default());
}

#[test]
fn work_that_rises_over_the_tasks_is_imbalance() {
    let found = steps(|task, _| (500 + 100 * u64::from(task), 1, 500.0 + 100.0 * f64::from(task)));
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    let FindingKind::Imbalance { apart, cause, steady } = finding.kind else { panic!("{finding:?}") };
    // 900 is the most, 750 the mean.
    assert!(near(apart, 0.2) && near(finding.share, 0.15) && near(found.balance, 0.15), "{found:?}");
    assert_eq!((cause, steady, tasks(finding), finding.stretches), (Cause::Work, true, vec![4], 10));
}

#[test]
fn a_slow_task_is_told_with_its_factor_also_where_its_bursts_are_another_phase() {
    for other in [1, 2] {
        let found = steps(|task, _| if task == 3 { (900, other, 450.0) } else { (450, 1, 450.0) });
        let [finding] = &found.list[..] else { panic!("{found:?}") };
        let FindingKind::SlowThreads { times, everywhere } = finding.kind else { panic!("{finding:?}") };
        assert!(near(times, 2.0) && !everywhere && tasks(finding) == [3], "{finding:?}");
        // The run would be as long as without: half of 900 in each step of 1,000.
        assert!(near(finding.share, 0.45), "{finding:?}");
        assert_eq!(finding.phases.len(), other);
    }
}

#[test]
fn a_task_that_is_slow_in_all_phases_is_told_once() {
    let found = steps(|task, step| {
        let phase = 1 + (step % 2) as usize;
        if task == 2 { (900, phase, 600.0) } else { (600, phase, 600.0) }
    });
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    let FindingKind::SlowThreads { times, everywhere: true } = finding.kind else { panic!("{finding:?}") };
    assert!(near(times, 1.5) && tasks(finding) == [2] && numbers(finding).len() == 2, "{finding:?}");
}

#[test]
fn one_task_that_computes_while_others_wait_is_serial() {
    let bursts = |step: u64| {
        let even = (1..5).map(move |task| (task, step * 1_000, 500, 1, 500.0, 500.0));
        even.chain([(2, step * 1_000 + 600, 300, 2, 300.0, 300.0)])
    };
    let found = found(&(0..10).flat_map(bursts).collect::<Vec<_>>(), 10_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, FindingKind::Serial { time: Nanos(3_000) });
    // On four tasks it would take a quarter.
    assert!(near(finding.share, 0.225), "{finding:?}");
    assert_eq!((tasks(finding), numbers(finding)), (vec![2], vec![2]));
}

#[test]
fn a_stall_is_named_instead_of_being_noise() {
    let found = steps(|task, step| if (task, step) == (4, 7) { (950, 0, 300.0) } else { (300, 1, 300.0) });
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, FindingKind::OneOff { duration: Nanos(950), others: Some(Nanos(300)) });
    assert!(near(finding.share, 0.065) && finding.noise, "{finding:?}");
    assert_eq!((tasks(finding), numbers(finding), finding.begin), (vec![4], vec![1], Nanos(7_000)));
}

#[test]
fn a_long_burst_between_steps_is_named_too() {
    let mut bursts: Vec<Burst> =
        (0..10).flat_map(|step| (1..5).map(move |task| (task, step * 500, 400, 1, 400.0, 400.0))).collect();
    bursts.push((1, 6_000, 2_000, 0, 2_000.0, 2_000.0));
    let found = found(&bursts, 10_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, FindingKind::OneOff { duration: Nanos(2_000), others: None });
    assert!(near(finding.share, 0.2) && finding.begin == Nanos(6_000), "{finding:?}");
}

#[test]
fn a_phase_of_low_ipc_is_compared_with_all_else() {
    let bursts = |step: u64| {
        (1..5).flat_map(move |task| {
            [(task, step * 1_000, 400, 1, 800.0, 400.0), (task, step * 1_000 + 500, 400, 2, 200.0, 400.0)]
        })
    };
    let found = found(&(0..10).flat_map(bursts).collect::<Vec<_>>(), 10_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, FindingKind::LowIpc { ipc: 0.5, others: 2.0 });
    assert!(near(finding.share, 0.4 * 0.75) && numbers(finding) == [2], "{finding:?}");
}

/// Issue 11: 8 ranks of EPOCH at one step, whose columns of the alignment
/// were packed to the front.
#[test]
fn phases_and_noise_at_one_step_are_one_step() {
    let mut bursts: Vec<Burst> = Vec::new();
    for task in 1..9u32 {
        bursts.push((task, 0, 5_000, 1, 5e3, 5e3));
        let (duration, phase) = match task {
            3 | 6 => (256, 3),
            7 => (241, 0),
            _ => (217, 2),
        };
        bursts.push((task, 6_000, duration, phase, duration as f64, duration as f64));
        bursts.push((task, 7_000, 500, 1, 500.0, 500.0));
    }
    let found = found(&bursts, 5_000);
    let finding = found.list.first().expect("one");
    let FindingKind::Imbalance { apart, cause: Cause::Work, .. } = finding.kind else {
        panic!("{finding:?}")
    };
    assert!(near(apart, 256.0 / 229.75 - 1.0) && near(finding.share, 26.25 / 5_000.0), "{finding:?}");
    assert_eq!((numbers(finding), finding.noise, finding.begin), (vec![2, 3], true, Nanos(6_000)));
}

/// Tasks that wait for their neighbours only: at 800 nobody computes, and
/// task 1 has not begun what task 2 has done.
#[test]
fn a_moment_without_computing_is_no_barrier_where_tasks_are_steps_apart() {
    let bursts: Vec<Burst> = (0..10u64)
        .flat_map(|step| {
            let at = step * 2_000;
            [
                (1, at, 800, 1, 300.0, 800.0),
                (2, at, 300, 1, 300.0, 300.0),
                (2, at + 350, 400, 2, 400.0, 400.0),
                (1, at + 850, 400, 2, 400.0, 400.0),
            ]
        })
        .collect();
    let found = found(&bursts, 20_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert!(matches!(finding.kind, FindingKind::SlowThreads { .. }), "{finding:?}");
    assert_eq!((tasks(finding), numbers(finding)), (vec![1], vec![1]));
}
