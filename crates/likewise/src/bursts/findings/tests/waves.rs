//! Where tasks wait only for their neighbours: waves that run through the tasks forth and back,
//! and a task that is behind the others.

use super::*;

/// 4 tasks in a row, 10 times a wave of 6 blocks of 100 ns forth and one back. The last task ends
/// the one and begins the other in one burst, which is a phase of its own; with `more` blocks to
/// do of its own before.
fn waves(more: u64) -> Findings {
    let mut bursts: Vec<Burst> = Vec::new();
    let turn = 8 * 110;
    let length = 2 * turn + 300 + 100 * more;
    let mut add = |task: u64, begin: u64, time: u64, phase: usize| {
        bursts.push((task as u32 + 1, begin, time, phase, time as f64, time as f64));
    };
    for begin in (0..10).map(|iteration| iteration * length) {
        for (task, block) in (0..4).flat_map(|task| (0..6).map(move |block| (task, block))) {
            let is_corner = |is_turn: bool| task == 3 && is_turn;
            let back = begin + turn + 100 + 100 * more;
            if !is_corner(block == 5) {
                add(task, begin + 110 * (task + block), 100, 1);
            }
            if !is_corner(block == 0) {
                add(task, back + 110 * (3 - task + block), 100, 1);
            }
        }
        add(3, begin + turn, 200 + 100 * more, 2);
    }
    found(&bursts, 10 * length)
}

#[test]
fn where_waves_turn_nothing_is_serial() {
    let even = waves(0);
    assert!(!even.list.iter().any(Finding::is_serial), "{even:?}");
    // Who does more than the others at that moment is told.
    let more = waves(4);
    let serial = more.list.iter().find(|finding| finding.is_serial());
    assert_eq!(serial.map(tasks), Some(vec![4]), "{more:?}");
}

/// A token of 100 ns goes from task to task; one burst of the first two is of no phase.
#[test]
fn what_is_missing_from_a_serial_phase_is_serial() {
    let step = |step: u64| {
        let token = (1..5).map(move |task: u32| {
            let phase = if task < 3 && step == 4 { 0 } else { 2 };
            (task, step * 1_000 + 500 + 110 * u64::from(task - 1), 100, phase, 100.0, 100.0)
        });
        (1..5).map(move |task| (task, step * 1_000, 400, 1, 400.0, 400.0)).chain(token)
    };
    let found = found(&(0..20).flat_map(step).collect::<Vec<Burst>>(), 20_000);
    let serial: Vec<f64> = found.list.iter().filter(|f| f.is_serial()).map(|f| f.share).collect();
    // Three quarters of 8,000 of 20,000 ns.
    assert!((serial.iter().sum::<f64>() - 0.3).abs() < 1e-9, "{found:?}");
}
