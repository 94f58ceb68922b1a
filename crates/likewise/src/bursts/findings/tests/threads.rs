//! Tasks of several threads.

use super::*;

/// 3 tasks of 4 threads, 10 iterations of 1,000 ns: the first thread computes
/// alone for `serial` in phase 2, then all for `region` in phase 1.
fn hybrid(serial: impl Fn(u32) -> u64, region: impl Fn(u32, u32) -> u64) -> Findings {
    let mut bursts: Vec<(u32, Burst)> = Vec::new();
    let mut add = |thread: u32, task: u32, begin: u64, duration: u64, phase: usize| {
        bursts.push((thread, (task, begin, duration, phase, duration as f64, duration as f64)));
    };
    for (step, task) in (0..10).flat_map(|step| (1..4).map(move |task| (step, task))) {
        let begin = 1_000 * step;
        add(1, task, begin, serial(task), 2);
        (1..5).for_each(|t| add(t, task, begin + serial(task) + 10, region(task, t), 1));
    }
    found_of_threads(&bursts, 10_000)
}

fn names(finding: &Finding) -> Vec<(u32, u32)> {
    finding.threads.iter().map(|name| (name.task, name.thread)).collect()
}

#[test]
fn what_one_thread_of_each_task_does_is_serial_in_the_tasks() {
    let found = hybrid(|_| 200, |_, _| 600);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(
        (finding.kind, finding.scope),
        (FindingKind::Serial { time: Nanos(2_000), alone: Nanos(2_000) }, Scope::Task)
    );
    // On the four threads of its task it would take a quarter.
    assert!(near(finding.share, 0.15) && near(found.balance, 0.15), "{found:?}");
    assert_eq!((names(finding), numbers(finding)), (vec![(1, 1), (2, 1), (3, 1)], vec![2]));
}

#[test]
fn imbalance_between_tasks_and_between_threads_of_a_task_are_two_things() {
    // Task 3 takes 660 where the others take 600, and thread 2 of each 100 more.
    let found = hybrid(|_| 5, |task, thread| 600 + 60 * u64::from(task == 3) + 100 * u64::from(thread == 2));
    let [within, between] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!((within.scope, names(within)), (Scope::Task, vec![(1, 2), (2, 2), (3, 2)]));
    assert_eq!((between.scope, names(between)), (Scope::Run, vec![(3, 1), (3, 2), (3, 3), (3, 4)]));
    // 75 of 1,000 ns in each task; 760 less the mean of 720 in the run.
    assert!(near(within.share, 0.075) && near(between.share, 0.04), "{found:?}");
}

#[test]
fn a_slow_thread_of_one_task_is_told_once_and_a_slow_task_as_a_task() {
    let found = hybrid(|_| 5, |task, thread| if (task, thread) == (2, 3) { 900 } else { 600 });
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!((finding.scope, names(finding)), (Scope::Run, vec![(2, 3)]));
    // 900 less the mean of 700 in the run, and less that of 675 in one of three tasks.
    assert!(near(finding.share, 0.2 + 0.225 / 3.0), "{finding:?}");
    // Another thread of task 2 is last each time.
    let turn = std::cell::Cell::new(0);
    let region = |task: u32, _: u32| {
        turn.set(turn.get() + 1);
        600 + turn.get() % 7 + if task == 2 { 200 } else { 0 }
    };
    let found = hybrid(|_| 5, region);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!((finding.scope, names(finding)), (Scope::Run, vec![(2, 1), (2, 2), (2, 3), (2, 4)]));
}

/// Work that rises from thread to thread. (Of four tasks in which it is thread 4, it was told that
/// it is "not the same one in all tasks".)
#[test]
fn a_gradient_over_the_threads_of_each_task_names_its_ends() {
    let found = hybrid(|_| 5, |_, thread| 500 + 50 * u64::from(thread));
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!((finding.scope, names(finding)), (Scope::Task, vec![(1, 4), (2, 4), (3, 4)]));
    assert!(near(finding.share, 0.075), "{finding:?}");
    let gradient = finding.gradient.clone().expect("a gradient");
    assert_eq!(gradient.least, [1, 2, 3].map(|task| ThreadName { task, thread: 1 }));
    assert_eq!((gradient.least_time, gradient.most_time), (Nanos(5_500), Nanos(7_000)));
    // In one task alone, the others are even but for chance.
    let found = hybrid(
        |_| 5,
        |task, thread| 600 + u64::from(thread) * if task == 2 { 60 } else { u64::from(task == thread) },
    );
    assert_eq!(names(&found.list[0]), [(2, 4)], "{found:?}");
}

#[test]
fn where_it_is_another_thread_in_each_task_none_is_named() {
    let found = hybrid(|_| 5, |task, thread| 500 + 50 * u64::from(1 + (thread + task) % 4));
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!((finding.scope, names(finding), &finding.gradient), (Scope::Task, vec![], &None));
}

/// Threads that are as fast as the others end their task and the run earlier: one time.
#[test]
fn what_a_slow_thread_costs_its_task_and_the_run_is_counted_once() {
    for tasks in [2, 3] {
        let mut bursts: Vec<(u32, Burst)> = Vec::new();
        for (step, task, thread) in
            (0..10).flat_map(|s| (1..=tasks).flat_map(move |t| (1..5).map(move |thread| (s, t, thread))))
        {
            let duration = if (task, thread) == (2, 3) { 900 } else { 600 };
            bursts.push((thread, (task, 1_000 * step, duration, 1, 600.0, duration as f64)));
        }
        let found = found_of_threads(&bursts, 10_000);
        let [finding] = &found.list[..] else { panic!("{found:?}") };
        assert!(matches!(finding.kind, FindingKind::SlowThreads { .. }), "{finding:?}");
        assert_eq!(names(finding), [(2, 3)]);
        assert!(near(finding.share, 0.3), "{finding:?}");
    }
}

/// One task computes alone for 500 ns of each step, but for 200 of these the others still
/// finish what they did before.
#[test]
fn time_in_which_another_computes_is_not_alone() {
    let step = |step: u64| {
        let before = move |task: u32| if task == 1 { 100 } else { 300 };
        let even = (1..5).map(move |task| (task, 1_000 * step, before(task), 2, 300.0, 300.0));
        even.chain([(1, 1_000 * step + 100, 500, 1, 500.0, 500.0)])
    };
    let found = found(&(0..10).flat_map(step).collect::<Vec<Burst>>(), 10_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, FindingKind::Serial { time: Nanos(5_000), alone: Nanos(3_000) });
    // Even, each computes for 375 of 600; were the 500 spread and all else as it is, 375 less
    // would be left, but the others would have more to do by then.
    assert!(near(finding.share, 0.225), "{finding:?}");
}

/// In task 1 all four threads compute, in turn the slowest, while the other tasks wait.
#[test]
fn who_computes_beside_its_own_task_is_not_alone() {
    let mut bursts: Vec<(u32, Burst)> = Vec::new();
    for (step, task, thread) in
        (0..10).flat_map(|s| (1..4).flat_map(move |t| (1..5).map(move |thread| (s, t, thread))))
    {
        let begin = 1_000 * step;
        bursts.push((thread, (task, begin, 100, 1, 100.0, 100.0)));
        let more = 600 + 5 * u64::from(thread == 1);
        bursts.extend((task == 1).then_some((thread, (task, begin + 150, more, 2, 600.0, 600.0))));
    }
    let found = found_of_threads(&bursts, 10_000);
    let serial = found.list.iter().find(|finding| finding.is_serial());
    let Some(Finding { kind: FindingKind::Serial { time, alone }, .. }) = serial else { panic!("{found:?}") };
    assert_eq!((time.0, alone.0), (6_050, 50), "{found:?}");
}

/// After each region, the first thread of task 3 is serial in phase 3; in so many of ten steps
/// all threads of the other tasks compute meanwhile.
#[test]
fn what_is_serial_in_a_task_and_less_often_in_the_run_is_not_one_time() {
    for often in [0, 4] {
        let mut bursts: Vec<(u32, Burst)> = Vec::new();
        for (step, task) in (0..10).flat_map(|step| (1..5).map(move |task| (step, task))) {
            let begin = 1_000 * step;
            (1..5).for_each(|thread| bursts.push((thread, (task, begin, 600, 1, 600.0, 600.0))));
            if task == 3 {
                bursts.push((1, (task, begin + 650, 300, 3, 200.0, 300.0)));
            } else if step < often {
                (1..5).for_each(|thread| bursts.push((thread, (task, begin + 650, 300, 1, 300.0, 300.0))));
            }
        }
        let found = found_of_threads(&bursts, 10_000);
        let of_third: Vec<&Finding> = found.list.iter().filter(|f| names(f) == [(3, 1)]).collect();
        for finding in &of_third {
            let FindingKind::Serial { time, alone } = finding.kind else { panic!("{finding:?}") };
            // Spread over all 16 threads.
            let most = time.0 as f64 * (1.0 - 1.0 / 16.0) / 10_000.0;
            assert!(finding.share <= most + 1e-9 && alone == time, "{finding:?}");
        }
        let times = |scope: Scope| {
            let of_scope = of_third.iter().find(|finding| finding.scope == scope);
            of_scope.map(|finding| match finding.kind {
                FindingKind::Serial { time, .. } => time.0,
                _ => 0,
            })
        };
        let expected = if often == 0 { (Some(3_000), None) } else { (Some(1_800), Some(3_000)) };
        assert_eq!((times(Scope::Run), times(Scope::Task)), expected, "{found:?}");
    }
}

/// The first thread of each task computes alone before the others begin, and has less to do than
/// these in the first region: this is serial, though the sums are about even.
#[test]
fn what_the_first_thread_does_before_the_others_begin_is_serial() {
    let mut bursts: Vec<(u32, Burst)> = Vec::new();
    for (step, task) in (0..10).flat_map(|step| (1..4).map(move |task| (step, task))) {
        if step == 0 {
            bursts.push((1, (task, 0, 300, 2, 300.0, 300.0)));
        }
        for thread in 1..5 {
            let time = if thread == 1 { 200 } else { 500 };
            bursts.push((thread, (task, 1_000 * step + 310, time, 1, time as f64, time as f64)));
        }
    }
    let found = found_of_threads(&bursts, 10_000);
    let serial = found.list.iter().find(|finding| finding.is_serial()).expect("serial time");
    assert_eq!((names(serial), numbers(serial)), (vec![(1, 1), (2, 1), (3, 1)], vec![2]));
}

/// 3 tasks of 4 threads, of which the fourth has less to do; and tasks that do hardly anything, which
/// say nothing of it.
#[test]
fn tasks_of_another_size_do_not_hide_what_threads_of_a_task_lack() {
    for small in 0..3 {
        let mut bursts: Vec<(u32, Burst)> = Vec::new();
        for (step, task) in (0..10).flat_map(|step| (1..4 + small).map(move |task| (step, task))) {
            for thread in 1..5 {
                let (time, phase) =
                    if task > 3 { (300, 2) } else { (if thread == 4 { 600 } else { 1_000 }, 1) };
                let time = time + (7 * step + u64::from(task * thread)) % 5;
                bursts.push((thread, (task, step * 1_200, time, phase, time as f64, time as f64)));
            }
        }
        let found = found_of_threads(&bursts, 12_000);
        let is_of_threads = |finding: &&Finding| names(finding) == [(1, 4), (2, 4), (3, 4)];
        assert!(found.list.iter().any(|finding| is_of_threads(&finding)), "{small}: {found:?}");
    }
}
