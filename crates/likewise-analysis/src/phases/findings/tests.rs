//! Sentences of made-up findings.

use super::*;

fn names(of: &[(u32, u32)]) -> Vec<ThreadName> {
    of.iter().map(|&(task, thread)| ThreadName { task, thread }).collect()
}

/// What is said of these among 4 tasks of 3 threads, or one task of 2 where `scope` is the run.
fn said(kind: FindingKind, scope: Scope, threads: &[(u32, u32)]) -> String {
    said_before(kind, scope, threads, Nanos::ZERO)
}

/// The same, of which so much is before the others begin.
fn said_before(kind: FindingKind, scope: Scope, threads: &[(u32, u32)], before: Nanos) -> String {
    let all: BTreeSet<ThreadName> = match scope {
        Scope::Run => names(&[(1, 1), (1, 2)]).into_iter().collect(),
        Scope::Task => (1..5).flat_map(|task| names(&[(task, 1), (task, 2), (task, 3)])).collect(),
    };
    let finding = Finding {
        kind,
        share: 0.36,
        scope,
        phases: vec![ClusterId::from_index(0)],
        noise: false,
        threads: names(threads),
        gradient: None,
        from: None,
        until: None,
        begin: Nanos::ZERO,
        most: 0.0,
        before,
        stretches: 1,
        is_once: false,
    };
    let is_hybrid = scope == Scope::Task;
    sentence(&finding, &Names { all, with_threads: true, is_hybrid })
}

#[test]
fn who_waits_for_several_threads_are_the_others_of_their_tasks() {
    let serial = FindingKind::Serial { time: Nanos(4_000), alone: Nanos(4_000) };
    let of = |threads: &[(u32, u32)]| said(serial, Scope::Task, threads);
    let each = of(&[(1, 2), (2, 2), (3, 2), (4, 2)]);
    assert!(
        each.contains("Thread 2 of each task computes for 4.00 µs while the others of its task wait."),
        "{each}"
    );
    let one = of(&[(2, 1)]);
    assert!(one.contains("Thread 2.1 computes for 4.00 µs while the others of its task wait."), "{one}");
    let several = of(&[(2, 1), (3, 1)]);
    assert!(
        several.contains("Threads 2.1 and 3.1 compute for 4.00 µs while the others of their tasks wait."),
        "{several}"
    );
    let in_turn = of(&[(2, 1), (2, 2)]);
    let turn = "compute for 4.00 µs while the others of their task wait, one thread of a task at a time.";
    assert!(in_turn.contains(turn), "{in_turn}");
    let slow = FindingKind::SlowThreads { times: 1.5, everywhere: false, how: How::Clock };
    let slow = said(slow, Scope::Task, &[(1, 2), (3, 1)]);
    assert!(slow.contains("take 1.50 times as long as the others of their tasks in phase 1"), "{slow}");
}

#[test]
fn who_has_not_begun_is_not_said_to_wait() {
    let serial = FindingKind::Serial { time: Nanos(4_000), alone: Nanos(4_000) };
    let of = |before: u64| said_before(serial, Scope::Run, &[(1, 1)], Nanos(before));
    assert!(of(300).contains("computes for 4.00 µs while all others wait. Spread"), "{}", of(300));
    let partly = "computes for 4.00 µs while no other does, for 2.00 µs of that before the first burst of any \
                  other. Spread";
    assert!(of(2_000).contains(partly), "{}", of(2_000));
    assert!(
        of(4_000).contains("computes for 4.00 µs before the first burst of any other. Spread"),
        "{}",
        of(4_000)
    );
    let (duration, others) = (Nanos(4_000), None);
    let long = FindingKind::OneOff { bursts: 1, same: true, duration, others, itself: false, alone: true };
    let of = |before: u64| said_before(long, Scope::Run, &[(1, 1)], Nanos(before));
    assert!(of(0).contains("in no phase, while all others wait. Spread over all, "), "{}", of(0));
    assert!(
        of(4_000).contains("in no phase, before the first burst of any other. Spread over all, "),
        "{}",
        of(4_000)
    );
}

#[test]
fn threads_that_take_turns_have_no_others_where_they_are_all() {
    let serial = FindingKind::Serial { time: Nanos(4_000), alone: Nanos(4_000) };
    let all = said(serial, Scope::Run, &[(1, 1), (1, 2)]);
    assert!(
        all.contains("Threads 1.1–1.2 compute for 4.00 µs, one at a time. Spread over all, 36.0%"),
        "{all}"
    );
    let one = said(serial, Scope::Run, &[(1, 1)]);
    assert!(one.contains("Thread 1.1 computes for 4.00 µs while all others wait. Spread"), "{one}");
    let task = said(serial, Scope::Task, &[(1, 1), (1, 2), (1, 3)]);
    assert!(task.contains("Task 1 computes for 4.00 µs, one thread of a task at a time."), "{task}");
}
