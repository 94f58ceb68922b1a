//! Why threads take longer.

use super::*;

/// 4 tasks, 10 steps of two phases with a barrier after each.
fn two_phases(of: impl Fn(u32, u64, usize) -> Burst) -> Findings {
    let steps = (0..10).flat_map(|step| (1..5).flat_map(move |task| [(task, step, 1), (task, step, 2)]));
    let bursts: Vec<Burst> = steps.map(|(task, step, phase)| of(task, step, phase)).collect();
    found(&bursts, 20_000)
}

/// Of EPOCH on 16 processes, one × 1.6 in time and all counters, no cause was told: one small phase of
/// many has another.
#[test]
fn the_cause_of_several_phases_is_that_of_their_sums() {
    let found = two_phases(|task, step, phase| {
        let by = if task == 3 { 1.6 } else { 1.0 };
        let size = [500.0, 50.0][phase - 1];
        let time = size * by;
        // The instructions of a burst of each are not known.
        let work = if (task, step) == (2, 4) { f64::NAN } else { time };
        (task, step * 2_000 + (phase as u64 - 1) * 1_000, time as u64, phase, work, time)
    });
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!((tasks(finding), numbers(finding)), (vec![3], vec![1, 2]));
    assert!(matches!(finding.kind, FindingKind::Imbalance { cause: Cause::Work, .. }), "{finding:?}");
}

/// Of a program whose work is a gradient, "a gradient … to 4.09 s on task 9 with more instructions" was
/// told: task 9 is five times as slow for the same work.
#[test]
fn who_is_slower_than_others_of_a_gradient_is_named() {
    for (slow, by) in [(3, 3.0), (5, 2.0), (9, 1.0)] {
        let burst = |task: u32, step: u64| {
            let work = 200.0 + 50.0 * f64::from(task);
            let time = work * if task == slow { by } else { 1.0 } + (step % 3) as f64;
            (task, step * 4_000, time as u64, 1, work, time)
        };
        let bursts: Vec<Burst> = (0..10).flat_map(|step| (1..9).map(move |task| burst(task, step))).collect();
        let found = found(&bursts, 40_000);
        let is_slow = |f: &&Finding| matches!(f.kind, FindingKind::SlowThreads { .. });
        let Some(finding) = found.list.iter().find(is_slow) else {
            assert_eq!(slow, 9, "{found:?}");
            continue;
        };
        let FindingKind::SlowThreads { times, how: How::Ipc, .. } = finding.kind else {
            panic!("{finding:?}")
        };
        assert!(tasks(finding) == [slow] && (times - by).abs() < 0.05, "{finding:?}");
        // What is left is the gradient of the work, with no share twice.
        let work = found.list.iter().find(|f| matches!(f.kind, FindingKind::Imbalance { .. }));
        let work = work.unwrap_or_else(|| panic!("{found:?}"));
        // 600 ns on task 8, 425 the mean, in each step of 4,000.
        assert!(tasks(work) == [8] && (work.share - 0.04375).abs() < 1e-3, "{found:?}");
    }
}
