//! Threads that begin one after the other.

use super::*;

/// 8 tasks begin 600 ns apart, each with a burst of 400 ns, of which two are in no phase; then 10
/// steps of 1,000 ns for all. `first` may change the first burst of a task.
fn staggered(first: impl Fn(u32) -> u64) -> Findings {
    let mut bursts: Vec<Burst> = Vec::new();
    for task in 1..9 {
        let (begin, duration) = (600 * u64::from(task - 1), first(task));
        let phase = if task == 3 || task == 5 { 0 } else { 2 };
        bursts.push((task, begin, duration, phase, duration as f64, duration as f64));
        bursts.extend((5..15).map(|step| (task, 1_000 * step, 900, 1, 900.0, 900.0)));
    }
    found(&bursts, 15_000)
}

/// Of 16 such tasks it was told that 14 compute one at a time, beside two long bursts of no phase.
#[test]
fn who_does_the_same_at_its_own_begin_is_neither_serial_nor_late() {
    let found = staggered(|_| 400);
    assert_eq!(found.list, [], "{found:?}");
    let begun = TaskBegins { first: Nanos(0), last: Nanos(4_200), task: 8 };
    assert_eq!(found.begun, Some(begun));
}

#[test]
fn what_one_does_before_all_others_begin_is_serial() {
    let found = staggered(|task| if task == 1 { 590 } else { 20 });
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert!(finding.is_serial() && tasks(finding) == [1], "{finding:?}");
    assert_eq!(finding.before, Nanos(590));
}

/// All have begun: each has a short burst at time 0.
#[test]
fn who_has_begun_and_waits_for_its_turn_is_serial() {
    let mut bursts: Vec<Burst> = Vec::new();
    for task in 1..9 {
        bursts.push((task, 0, 5, 0, 5.0, 5.0));
        bursts.push((task, 100 + 600 * u64::from(task - 1), 400, 2, 400.0, 400.0));
        bursts.extend((5..15).map(|step| (task, 1_000 * step, 900, 1, 900.0, 900.0)));
    }
    let found = found(&bursts, 15_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert!(finding.is_serial() && finding.threads.len() == 8, "{finding:?}");
}

/// Task 1 computes before it starts the others, in a phase of its own or in none: as long as each of
/// them does when it begins, and faster or slower.
#[test]
fn what_one_computes_before_it_starts_the_others_is_serial() {
    for (phase, instructions) in [(2, 500.0), (2, 2_000.0), (0, 500.0)] {
        let mut bursts: Vec<Burst> = vec![(1, 0, 1_000, phase, instructions, 1_000.0)];
        for task in 1..9 {
            let own = if task == 1 { vec![] } else { vec![(task, 1_010, 1_000, 3, 1_000.0, 1_000.0)] };
            bursts.extend(own);
            bursts.extend((3..13).map(|step| (task, 1_000 * step, 900, 1, 900.0, 900.0)));
        }
        let found = found(&bursts, 13_000);
        let told = found.list.iter().find(|finding| tasks(finding) == [1] && finding.before == Nanos(1_000));
        assert!(told.is_some(), "{phase}, {instructions}: {found:?}");
    }
}
