//! Single long bursts that no other thread or stretch is there to compare with.

use super::*;

/// One task, 40 steps of 1,000 ns, each with a burst of 400 ns in phase 1 and one of 200 in
/// phase 2; `change` makes duration, phase and instructions of the first other than these.
fn alone(change: impl Fn(u64) -> Option<(u64, usize, f64)>) -> Findings {
    let mut begin = 0;
    let step = |step: u64| {
        let (duration, phase, instructions) = change(step).unwrap_or((400 + step % 3, 1, 800.0));
        let first = (1, begin, duration, phase, instructions, duration as f64);
        let second = (1, begin + duration + 100, 200 + step % 2, 2, 300.0, 200.0);
        begin += duration + 600;
        [first, second]
    };
    let bursts: Vec<Burst> = (0..40).flat_map(step).collect();
    found(&bursts, bursts[bursts.len() - 1].1 + 500)
}

#[test]
fn a_burst_that_takes_far_longer_than_its_thread_usually_does_is_told() {
    let found = alone(|step| (step == 20).then_some((6_400, 1, 800.0)));
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    let FindingKind::OneOff { bursts: 1, same: true, itself: true, alone: false, duration, others } =
        finding.kind
    else {
        panic!("{finding:?}")
    };
    assert_eq!((duration, others), (Nanos(6_400), Some(Nanos(401))));
    assert_eq!((tasks(finding), numbers(finding), finding.noise), (vec![1], vec![1], false));
    // 6,000 of 46,000 ns.
    assert!((finding.share - 6.0 / 46.0).abs() < 1e-3, "{finding:?}");
    // Several are one finding.
    let twice = alone(|step| [7, 20].contains(&step).then_some((6_400, 1, 800.0)));
    assert!(matches!(twice.list[..], [Finding { kind: FindingKind::OneOff { bursts: 2, .. }, .. }]));
}

#[test]
fn what_is_usual_or_has_more_to_do_or_is_not_counted_is_no_stall() {
    for instructions in [12_800.0, f64::NAN] {
        let found = alone(|step| (step == 20).then_some((6_400, 1, instructions)));
        assert_eq!(found.list, []);
    }
    assert_eq!(alone(|_| None).list, []);
    // Half of them are long: so they are.
    assert_eq!(alone(|step| (step % 2 == 0).then_some((1_200, 1, 800.0))).list, []);
}

/// A burst of the loop that the grouping missed, one that is longer, and ones that do something
/// else, of which nothing says how long they should be. ("A burst of 37.6 s on task 1 once, in no
/// phase: 99.8 % of the run" was told of runs of one thread.)
#[test]
fn a_burst_of_no_phase_is_told_of_one_thread_only_in_the_place_of_a_phase() {
    let cases = [
        (400, 800.0, false),
        (425, 800.0, false),
        (900, 800.0, true),
        (6_400, 800.0, true),
        (6_400, 300.0, false),
        (6_400, 12_800.0, false),
        (6_400, f64::NAN, false),
    ];
    for (duration, work, told) in cases {
        let found = alone(|step| (step == 20).then_some((duration, 0, work)));
        let one_off = |f: &Finding| matches!(f.kind, FindingKind::OneOff { itself: true, .. }) && f.noise;
        let is_told = matches!(&found.list[..], [one] if one_off(one) && numbers(one) == [1]);
        assert_eq!((is_told, found.list.len()), (told, usize::from(told)), "{duration} {work}: {found:?}");
    }
    // Not where its thread has nothing like it: at the begin.
    assert_eq!(alone(|step| (step == 0).then_some((6_400, 0, 800.0))).list, []);
}

/// What one thread does before all others begin is serial, in one burst or in two.
#[test]
fn a_start_that_one_thread_does_alone_is_serial_in_one_burst_as_in_two() {
    let steps =
        || (0..10).flat_map(|step| (1..5).map(move |t| (t, 3_000 + step * 500, 400, 1, 400.0, 400.0)));
    let told = |start: &[Burst]| {
        let found = found(&start.iter().copied().chain(steps()).collect::<Vec<_>>(), 8_000);
        let [finding] = &found.list[..] else { panic!("{found:?}") };
        assert!((finding.noise, tasks(finding)) == (true, vec![1]), "{finding:?}");
        (finding.kind, finding.before, (finding.share * 1e6).round())
    };
    let one = told(&[(1, 0, 2_000, 0, 2e3, 2e3)]);
    let two = told(&[(1, 0, 800, 0, 800.0, 800.0), (1, 900, 1_200, 0, 300.0, 1_200.0)]);
    let serial = FindingKind::Serial { time: Nanos(2_000), alone: Nanos(2_000) };
    // Three quarters of 2,000 of 8,000 ns.
    assert_eq!((one, two), ((serial, Nanos(2_000), 187_500.0), (serial, Nanos(2_000), 187_500.0)));
}

/// 16 tasks, 6 short steps and 4 whose size grows fourfold; `time` of who is late in steps of size 1.
fn growing(time: impl Fn(u32, usize) -> f64) -> Findings {
    let sizes = [10.0; 12].into_iter().chain([40.0, 160.0, 640.0, 2_560.0, 10_240.0]);
    let (mut begin, mut bursts) = (0, Vec::new());
    for (step, size) in sizes.enumerate() {
        let burst = |task: u32| {
            let time = size * 10.0 * time(task, step);
            (task, begin, time as u64, 1, time, time)
        };
        bursts.extend((1..17).map(burst));
        begin += (size * 20.0) as u64;
    }
    found(&bursts, begin)
}

/// "Task 16 takes long 2 times, longest 1.15 s, where the others take 355 ms" was told of a gradient
/// that is in every step, and "Tasks 2, 4, 6, ... take long 2 times, where the others take 37.7 us"
/// of tasks that do nearly all in every step.
#[test]
fn who_is_late_in_each_step_of_growing_size_is_uneven_and_not_late_once() {
    let gradient = growing(|task, _| f64::from(task) / 16.0);
    let [finding] = &gradient.list[..] else { panic!("{gradient:?}") };
    assert!(matches!(finding.kind, FindingKind::Imbalance { cause: Cause::Work, .. }), "{finding:?}");
    assert!(finding.gradient.is_some() && tasks(finding) == [16], "{finding:?}");
    let half = growing(|task, _| if task % 2 == 0 { 1.0 } else { 0.01 });
    let [finding] = &half.list[..] else { panic!("{half:?}") };
    assert!(
        matches!(finding.kind, FindingKind::Imbalance { .. }) && tasks(finding).len() == 8,
        "{finding:?}"
    );
    // The last of many that differ by chance is late by more, the longer the step is.
    let chance = |task: u32, step: usize| 1.0 + ((u64::from(task) * 7 + step as u64 * 5) % 16) as f64 / 160.0;
    let by_chance = growing(chance);
    assert!(!by_chance.list.iter().any(|f| matches!(f.kind, FindingKind::OneOff { .. })), "{by_chance:?}");
    // But one that is late in the longest alone is late once.
    let once = growing(|task, step| if (task, step) == (3, 16) { 0.8 } else { 0.4 });
    let [finding] = &once.list[..] else { panic!("{once:?}") };
    let FindingKind::OneOff { bursts: 1, others: Some(others), .. } = finding.kind else {
        panic!("{once:?}")
    };
    assert_eq!((tasks(finding), others), (vec![3], Nanos(40_960)), "{finding:?}");
}

/// Some task computes at every moment, so all of the run is one stretch.
#[test]
fn a_stall_is_told_in_a_run_of_one_stretch() {
    for stall in [0, 3_000] {
        let burst = |task: u32, step: u64| {
            let late = if task == 2 && step > 12 { stall } else { 0 };
            let more = if task == 2 && step == 12 { stall } else { 0 };
            (task, 1_000 * step + 100 * u64::from(task) + late, 900 + step % 3 + more, 1, 900.0, 900.0)
        };
        let bursts: Vec<Burst> = (0..40).flat_map(|step| (1..5).map(move |task| burst(task, step))).collect();
        let found = found(&bursts, 44_000);
        if stall == 0 {
            assert_eq!(found.list, []);
            continue;
        }
        let [finding] = &found.list[..] else { panic!("{found:?}") };
        let FindingKind::OneOff { bursts: 1, itself: false, duration, others: Some(others), .. } =
            finding.kind
        else {
            panic!("{finding:?}")
        };
        assert_eq!((tasks(finding), duration), (vec![2], Nanos(3_900)), "{finding:?}");
        assert!(others.0.abs_diff(900) < 3, "{finding:?}");
        assert!((finding.share - 3.0 / 44.0).abs() < 1e-3, "{finding:?}");
    }
}

#[test]
fn single_long_bursts_are_told_as_one() {
    let mut bursts: Vec<Burst> =
        (0..10).flat_map(|step| (1..5).map(move |task| (task, step * 500, 400, 1, 400.0, 400.0))).collect();
    bursts.extend([(1, 6_000, 2_000, 0, 2_000.0, 2_000.0), (2, 8_100, 500, 0, 500.0, 500.0)]);
    let found = found(&bursts, 10_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(
        finding.kind,
        FindingKind::OneOff {
            bursts: 2,
            same: false,
            duration: Nanos(2_000),
            others: None,
            itself: false,
            alone: true
        }
    );
    assert!(near(finding.share, 0.25 * 0.75) && finding.begin == Nanos(6_000), "{finding:?}");
    assert_eq!(tasks(finding), [1], "where the longest is");

    // Those of one thread are its serial time, which all four could share.
    bursts.iter_mut().for_each(|burst| burst.0 = if burst.1 > 5_000 { 1 } else { burst.0 });
    let found = super::tests::found(&bursts, 10_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, FindingKind::Serial { time: Nanos(2_500), alone: Nanos(2_500) });
    assert!(near(finding.share, 0.25 * 0.75) && finding.noise && tasks(finding) == [1], "{finding:?}");
}

/// A master that deals out chunks to 4 workers, each 40 of about 200 ns; the last of task 3 is as
/// asked for. Some worker computes at every moment.
fn dealt(late: Option<(u64, usize, f64)>) -> Findings {
    let mut bursts: Vec<Burst> = (0..40).map(|chunk| (1, 205 * chunk, 12, 2, 12.0, 12.0)).collect();
    for task in 2..6 {
        let mut begin = 20 + 40 * u64::from(task);
        for chunk in 0..40 {
            let usual = 190 + 7 * (chunk * u64::from(task) % 4);
            let late = late.filter(|_| task == 3 && chunk == 39);
            let (time, phase, work) = late.unwrap_or((usual, 1, usual as f64));
            bursts.push((task, begin, time, phase, work, time as f64));
            begin += time + 5;
        }
    }
    found(&bursts, 14_000)
}

#[test]
fn one_long_chunk_among_many_is_told_and_not_the_master_for_it() {
    let found = dealt(None);
    let master = |finding: &Finding| {
        let FindingKind::Imbalance { times: Some(times), .. } = finding.kind else { return false };
        tasks(finding) == [1] && times < 0.1
    };
    // 8,000 ns for each of 4 tasks, which 5 could share.
    assert!(matches!(&found.list[..], [one] if master(one) && (one.share - 0.107).abs() < 0.01), "{found:?}");
    for late in [(3_200, 1, 3_200.0), (3_200, 0, 3_200.0), (3_200, 0, 200.0), (3_200, 1, f64::NAN)] {
        let found = dealt(Some(late));
        let [long, rest] = &found.list[..] else { panic!("{late:?}: {found:?}") };
        let FindingKind::OneOff { bursts: 1, same: true, duration, others: Some(others), .. } = long.kind
        else {
            panic!("{late:?}: {long:?}")
        };
        assert_eq!((tasks(long), duration, long.noise), (vec![3], Nanos(3_200), late.1 == 0));
        assert!((195..206).contains(&others.0) && (long.share - 3.0 / 14.0).abs() < 0.005, "{long:?}");
        assert!(master(rest) && (rest.share - 0.107).abs() < 0.02, "{late:?}: {rest:?}");
    }
}

/// All tasks have a longer burst at times, and these differ less than they are longer.
#[test]
fn what_the_others_do_as_well_is_no_long_burst_of_one() {
    let mut bursts: Vec<Burst> = Vec::new();
    for task in 1..5 {
        let mut begin = 70 * u64::from(task);
        for step in 0..40 {
            let time = if step == 5 * u64::from(task) { 4_000 + u64::from(task) } else { 400 + step % 3 };
            bursts.push((task, begin, time, 1, time as f64, time as f64));
            begin += time + 30;
        }
    }
    assert_eq!(found(&bursts, 21_500).list, []);
}

/// A step that is done once, after 10 others: task 3 takes as long as asked for, for the same
/// instructions as the others, and its burst is of no phase.
#[test]
fn who_takes_far_longer_than_the_others_in_a_step_that_is_done_once_is_not_serial() {
    for (duration, work, is_once) in [(9_000, 300.0, true), (9_000, 9_000.0, false), (600, 300.0, false)] {
        let step = |step: u64| (1..17).map(move |task| (task, step * 1_000, 900, 1, 900.0, 900.0));
        let mut bursts: Vec<Burst> = (0..10).flat_map(step).collect();
        let last = |task: u32| match task {
            3 => (3, 10_000, duration, 0, work, duration as f64),
            _ => (task, 10_000, 300 + u64::from(task) % 3, 2, 300.0, 300.0),
        };
        bursts.extend((1..17).map(last));
        let found = found(&bursts, 10_000 + duration);
        let [finding] = &found.list[..] else { panic!("{found:?}") };
        assert_eq!(matches!(finding.kind, FindingKind::OneOff { bursts: 1, .. }), is_once, "{finding:?}");
        assert_eq!(tasks(finding), [3], "{finding:?}");
    }
}

/// 8 tasks, 12 steps of 30 short bursts and a long one; that of task 1 is twice as long each time.
/// "Task 1 takes long 8 times, longest 101 ms, where the others take 2.61 ms" was told.
#[test]
fn who_takes_longest_over_long_bursts_of_all_is_uneven() {
    let step = |step: u64| {
        (1..9).flat_map(move |task| {
            let begin = step * 200_000 + u64::from(task) * 37;
            let short = (0..30).map(move |i| (1_010 * i, 1_000 + (i * 7 + u64::from(task)) % 20));
            let long = if task == 1 { 100_000 } else { 50_000 + 100 * u64::from(task) };
            let of = move |(at, time)| (task, begin + at, time, 1, time as f64, time as f64);
            short.chain([(31_000, long)]).map(of)
        })
    };
    let found = found(&(0..12).flat_map(step).collect::<Vec<Burst>>(), 12 * 200_000);
    assert!(!found.list.iter().any(|f| matches!(f.kind, FindingKind::OneOff { .. })), "{found:?}");
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert!(matches!(finding.kind, FindingKind::Imbalance { .. }) && tasks(finding) == [1], "{found:?}");
}
