//! Sentences of made-up findings.

use super::*;
use likewise::bursts::ThreadName;
use std::collections::BTreeSet;

fn names(of: &[(u32, u32)]) -> Vec<ThreadName> {
    of.iter().map(|&(task, thread)| ThreadName { task, thread }).collect()
}

/// What is said of these among 4 tasks of 3 threads, or one task of 2 where `scope` is the run.
fn said(kind: FindingKind, scope: Scope, threads: &[(u32, u32)]) -> String {
    said_before(kind, scope, threads, Nanos::ZERO)
}

/// The same, of which so much is before the others begin.
fn said_before(kind: FindingKind, scope: Scope, threads: &[(u32, u32)], before: Nanos) -> String {
    said_of(kind, scope, threads, [before, Nanos::ZERO], false)
}

/// The same, of which so much is before the others begin, and behind the end of one of them; of an OpenMP
/// program or not.
fn said_of(
    kind: FindingKind,
    scope: Scope,
    threads: &[(u32, u32)],
    [before, behind]: [Nanos; 2],
    in_parallel: bool,
) -> String {
    let all: BTreeSet<ThreadName> = match scope {
        Scope::Run => names(&[(1, 1), (1, 2)]).into_iter().collect(),
        Scope::Task => (1..5).flat_map(|task| names(&[(task, 1), (task, 2), (task, 3)])).collect(),
    };
    let finding = Finding { scope, threads: names(threads), before, behind, ..made(kind) };
    let is_hybrid = scope == Scope::Task;
    sentence(&finding, &Names { all, with_threads: true, is_hybrid, in_parallel })
}

fn made(kind: FindingKind) -> Finding {
    Finding {
        share: 0.36,
        phases: vec![ClusterId::from_index(0)],
        stretches: 1,
        ..Finding::of(kind, Scope::Run)
    }
}

#[test]
fn what_is_done_at_different_times_is_not_to_be_spread() {
    let told = |kind: FindingKind, threads: &[(u32, u32)]| {
        let all: BTreeSet<ThreadName> = names(&[(1, 1), (1, 2)]).into_iter().collect();
        let names_of_run = Names { all, with_threads: true, is_hybrid: false, in_parallel: false };
        let finding = Finding { threads: names(threads), at_other_times: true, ..made(kind) };
        sentence(&finding, &names_of_run)
    };
    let serial = told(FindingKind::Serial { time: Nanos(4_000), alone: Nanos(4_000) }, &[(1, 1), (1, 2)]);
    assert!(
        serial.ends_with("one at a time. Done at the same time, and evenly, 36.0% of the run would be won."),
        "{serial}"
    );
    let kind =
        FindingKind::Imbalance { apart: 0.5, cause: Cause::Unknown, steady: false, times: None, only: false };
    let uneven = told(kind, &[]);
    let why = "another is last each time, as not all do it at the same time. Done at the same time, and evenly, 36.0% of";
    assert!(uneven.contains(why), "{uneven}");
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

/// "While all others wait" was told of the end of a run in which some threads have ended.
#[test]
fn who_has_no_burst_any_more_is_not_said_to_wait() {
    let of = |kind: FindingKind, behind: u64| {
        said_of(kind, Scope::Run, &[(1, 1)], [Nanos::ZERO, Nanos(behind)], false)
    };
    let serial = FindingKind::Serial { time: Nanos(4_000), alone: Nanos(4_000) };
    assert!(of(serial, 300).contains("computes for 4.00 µs while all others wait."));
    assert!(of(serial, 2_000).contains("computes for 4.00 µs while no other does."));
    let partly = FindingKind::Serial { time: Nanos(4_000), alone: Nanos(3_000) };
    assert!(of(partly, 2_000).contains("for 4.00 µs, and for 3.00 µs of that no other does."));
    let (duration, others) = (Nanos(4_000), None);
    let long = FindingKind::OneOff { bursts: 1, same: true, duration, others, itself: false, alone: true };
    assert!(of(long, 4_000).contains("in no phase, while no other computes."));
}

/// "A gradient … with more instructions. Even, 21.1% of the run would be won" was told of even work: the
/// last threads of a wavefront count the instructions with which they wait for those before.
#[test]
fn threads_of_openmp_may_have_more_instructions_because_they_wait() {
    let of = |cause: Cause, scope: Scope, in_parallel: bool| {
        let kind = FindingKind::Imbalance { apart: 0.2, cause, steady: true, times: None, only: false };
        let said = said_of(kind, scope, &[(1, 2)], [Nanos::ZERO; 2], in_parallel);
        assert!(said.contains("Even, 36.0% of the run would be won"), "{said}");
        said.contains("threads that spin while they wait")
    };
    assert!(of(Cause::Work, Scope::Run, true) && of(Cause::Work, Scope::Task, true));
    assert!(!of(Cause::Work, Scope::Run, false) && !of(Cause::Speed, Scope::Run, true));
}

#[test]
fn who_does_a_step_alone_does_not_take_longest() {
    let (cause, times) = (Cause::Unknown, None);
    let kind = FindingKind::Imbalance { apart: 0.9, cause, steady: true, times, only: true };
    let said = said(kind, Scope::Run, &[(1, 2)]);
    assert!(said.contains("thread 1.2 does it (1 of 2), the others hardly any of it."), "{said}");
}

#[test]
fn phases_of_one_function_have_a_low_ipc_together() {
    let of = |phases: usize, noise: bool, among: bool| {
        let kind = FindingKind::LowIpc { ipc: 0.3, others: 2.0, among };
        let finding =
            Finding { kind, phases: (0..phases).map(ClusterId::from_index).collect(), noise, ..made(kind) };
        low_ipc(&finding)
    };
    assert!(of(1, false, false).starts_with("Phase 1 has an IPC of 0.30, all else 2.00."));
    assert!(
        of(2, false, true)
            .starts_with("Phases 1 and 2, of one function, have an IPC of 0.30, all that is not low 2.00.")
    );
    assert!(of(1, true, false).starts_with("Phase 1 and noise of the same function have an IPC of 0.30,"));
    assert!(of(0, true, false).starts_with("Bursts of no phase, of one function, have an IPC of 0.30,"));
}

/// Most of a region was spent waiting for a lock, and nothing but a note told of it.
#[test]
fn time_in_locks_is_told_from_the_least_share_on() {
    let of = |runtime: u64| in_locks(Nanos(runtime), 4, &(Nanos(1_000)..Nanos(2_000)));
    assert_eq!(of(16), None);
    let said = of(200).expect("a twentieth");
    assert!(said.contains("for 50 ns, as long as 5.0% of the run,"), "{said}");
}

/// What is said of 4 tasks that start up until MPI_Init, in 10 ms, and then do so many steps until
/// MPI_Finalize, in which task 4 takes twice as long as the others.
fn behind_init(steps: u64) -> (usize, String) {
    let dir = tempfile::tempdir().expect("a place for files");
    let trace = dir.path().join("made.prv");
    let (init, step) = (10_000_000, 250_000);
    let end = init + steps * step;
    let mut text = format!("#Paraver (28/11/2026 at 10:00):{end}_ns:1(4):1:4(1:1,1:1,1:1,1:1),0\n");
    for task in 1..5 {
        let who = format!("{task}:1:{task}:1");
        text += &format!("1:{who}:0:{init}:1\n2:{who}:{init}:50000003:31\n2:{who}:{init}:50000003:0\n");
        for begin in (0..steps).map(|number| init + number * step) {
            let last = begin + if task == 4 { 200_000 } else { 100_000 + 1_000 * task };
            text += &format!("1:{who}:{begin}:{last}:1\n1:{who}:{last}:{}:13\n", begin + step);
        }
        text += &format!("2:{who}:{end}:50000003:32\n");
    }
    std::fs::write(&trace, text).expect("a file");
    let options = crate::phases::Options::default();
    let labelled =
        crate::phases::label_bursts(&trace, &options, &mut crate::Stages::default(), &crate::Silent);
    let labelled = std::sync::Arc::new(labelled.expect("a trace"));
    let analysis = labelled.analysed(&mut crate::Stages::default(), &crate::Silent);
    (sentences(&analysis).len(), verdict(&analysis))
}

/// "Tasks 1–2 take longest. Even, 22.6% of the run would be won" was told of one burst of each task, in
/// 103 µs of 7.15 ms.
#[test]
fn a_little_part_of_a_trace_is_told_first_and_nothing_of_what_is_done_once() {
    let (found, said) = behind_init(1);
    assert!(said.starts_with("Of a trace of 10.2 ms only 250 µs are looked at. “The run” is"), "{said}");
    assert!(found == 0 && said.ends_with("too little to say what to look at first."), "{said}");
    let (found, said) = behind_init(4);
    assert!(found > 0 && said.starts_with("Of a trace of 11.0 ms only 1.00 ms are looked at."), "{said}");
    let (found, said) = behind_init(41);
    assert!(found > 0 && said.starts_with("“The run” is the time"), "{said}");
}
