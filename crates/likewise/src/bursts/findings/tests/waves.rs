//! Where tasks wait only for their neighbours: waves that run through the tasks forth and back,
//! and a task that is behind the others.

use super::*;

/// 4 tasks in a row, 10 times a wave of 6 blocks of 100 ns forth and one back. The last task ends
/// the one and begins the other in one burst, which is a phase of its own; with `more` blocks to
/// do of its own before.
/// The blocks of the second task are 104 ns and another phase, if it is `slow`.
fn waves(more: u64, slow: bool) -> Findings {
    let mut bursts: Vec<Burst> = Vec::new();
    let turn = 8 * 110;
    let length = 2 * turn + 300 + 100 * more;
    let mut add = |task: u64, begin: u64, time: u64, phase: usize| {
        let (time, phase) = if slow && task == 1 { (time + 4, 3) } else { (time, phase) };
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
    for slow in [false, true] {
        let even = waves(0, slow);
        assert!(!even.list.iter().any(Finding::is_serial), "{slow}: {even:?}");
    }
    // Who does more than the others at that moment is told.
    let more = waves(4, false);
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

/// Task 4 takes twice as long as the others, and does its second burst when these are done with
/// theirs; it has `work` instructions, those of the others 100. Or it does that one beside theirs.
fn behind(work: f64, is_more: bool) -> Findings {
    let step = |step: u64| {
        let others = (1..4).flat_map(move |task| {
            [(task, step * 1_000, 300, 1, 300.0, 300.0), (task, step * 1_000 + 310, 100, 2, 100.0, 100.0)]
        });
        let behind = [(4, step * 1_000, 600, 3, 300.0, 600.0), (4, step * 1_000 + 610, 200, 4, work, 200.0)];
        let more = is_more.then_some((4, step * 1_000 + 820, 100, 2, 100.0, 100.0));
        others.chain(behind).chain(more)
    };
    found(&(0..10).flat_map(step).collect::<Vec<Burst>>(), 10_000)
}

#[test]
fn a_slow_task_that_does_a_step_alone_is_slow_and_not_serial() {
    let same = behind(100.0, false);
    let [finding] = &same.list[..] else { panic!("{same:?}") };
    let FindingKind::SlowThreads { times, everywhere: true, .. } = finding.kind else {
        panic!("{finding:?}")
    };
    assert!(near(times, 2.0) && tasks(finding) == [4], "{finding:?}");
    // 400 instead of 800 in each step of 1,000.
    assert!(near(finding.share, 0.4), "{finding:?}");
    // With other instructions it has the same place in their sequence.
    let more = behind(170.0, false);
    assert!(!more.list.iter().any(Finding::is_serial), "{more:?}");
    assert!(more.list.iter().all(|finding| tasks(finding) == [4]), "{more:?}");
    // Unless task 4 does the second step, too: then it is another one, which task 4 alone has.
    let other = behind(170.0, true);
    let serial = other.list.iter().find(|finding| finding.is_serial());
    assert_eq!(serial.map(|finding| (tasks(finding), numbers(finding)[0])), Some((vec![4], 4)), "{other:?}");
}

/// In two steps task 4 is slow. Its first burst is of no phase there, the second of a phase of
/// its own, and stands in the place of the second one of the others.
#[test]
fn what_is_slow_is_compared_with_the_step_of_the_same_instructions() {
    for slow in [false, true] {
        let step = |step: u64| {
            (1..5).flat_map(move |task| {
                let [first, second] = if slow && task == 4 && step % 10 == 5 {
                    [(560, 0), (390, 3)]
                } else {
                    [(400 + step % 3, 1), (300 + step % 2, 2)]
                };
                let begin = step * 1_000;
                [
                    (task, begin, first.0, first.1, 400.0, first.0 as f64),
                    (task, begin + first.0 + 10, second.0, second.1, 300.0, second.0 as f64),
                ]
            })
        };
        let found = found(&(0..20).flat_map(step).collect::<Vec<Burst>>(), 20_000);
        assert_eq!(found.list.len(), usize::from(slow), "{found:?}");
        for finding in &found.list {
            let FindingKind::OneOff { bursts: 2, duration, others: Some(others), .. } = finding.kind else {
                panic!("{finding:?}")
            };
            // 560 beside 400.
            assert!((150..200).contains(&(duration.0 - others.0)) && tasks(finding) == [4], "{finding:?}");
        }
    }
}

/// Two phases of the same instructions; those of task 4 take twice as long, and are two others.
#[test]
fn of_phases_with_the_same_instructions_the_order_says_which_is_which() {
    for swapped in [false, true] {
        let burst = |step: u64, task: u32| {
            [(0, 1, 200), (450, 2, 100)].map(|(at, phase, time)| {
                let own = if swapped { 5 - phase } else { 2 + phase };
                let (phase, time) = if task == 4 { (own, 2 * time) } else { (phase, time) };
                (task, step * 1_000 + at, time, phase, 300.0, time as f64)
            })
        };
        let bursts: Vec<Burst> =
            (0..20).flat_map(|step| (1..5).flat_map(move |task| burst(step, task))).collect();
        let found = found(&bursts, 20_000);
        let [finding] = &found.list[..] else { panic!("{swapped}: {found:?}") };
        let FindingKind::SlowThreads { times, everywhere: true, .. } = finding.kind else {
            panic!("{finding:?}")
        };
        assert!(near(times, 2.0) && tasks(finding) == [4] && near(finding.share, 0.3), "{finding:?}");
    }
}

/// 40 items go through 6 tasks, which take 100 ns for each, task 3 `time`.
fn pipeline(time: u64) -> Findings {
    let mut bursts: Vec<Burst> = Vec::new();
    let mut done = [0_u64; 6];
    for _ in 0..40 {
        let mut from = 0;
        for (task, done) in (1..).zip(&mut done) {
            let own = if task == 3 { time } else { 100 };
            let begin = from.max(*done) + 10;
            bursts.push((task, begin, own, 1, own as f64, own as f64));
            (*done, from) = (begin + own, begin + own);
        }
    }
    found(&bursts, done[5])
}

/// While a pipeline fills, stretches hold a burst or two; "task 3 takes 108 ms once" was told.
#[test]
fn a_task_of_a_pipeline_that_takes_longer_for_each_item_does_not_do_so_once() {
    let slow = pipeline(200);
    let [finding] = &slow.list[..] else { panic!("{slow:?}") };
    let FindingKind::Imbalance { steady: true, cause: Cause::Work, .. } = finding.kind else {
        panic!("{finding:?}")
    };
    assert!(tasks(finding) == [3] && (0.3..0.5).contains(&finding.share), "{finding:?}");
    let even = pipeline(100);
    assert!(even.list.iter().all(|finding| finding.share < 0.05), "{even:?}");
}

/// A master with 60 bursts deals out 10 chunks to each of 4 workers. It computes twice as long, with
/// as many instructions as one of these.
#[test]
fn with_as_many_instructions_in_far_more_bursts_a_task_is_not_slow() {
    let mut bursts: Vec<Burst> = Vec::new();
    for round in 0..6_u64 {
        let begin = round * 10_000;
        bursts.extend((0..60).map(|item| (1, begin + 130 * item, 100, 2, 50.0, 100.0)));
        let chunks = (2..6).flat_map(|task| (0..10).map(move |chunk| (task, chunk)));
        bursts.extend(chunks.map(|(task, chunk)| (task, begin + 650 * chunk, 300, 1, 300.0, 300.0)));
    }
    let found = found(&bursts, 60_000);
    let is_slow = |f: &Finding| matches!(f.kind, FindingKind::SlowThreads { .. });
    assert!(!found.list.iter().any(is_slow) && tasks(&found.list[0]) == [1], "{found:?}");
}
