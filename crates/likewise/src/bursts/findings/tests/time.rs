//! What is slow in a part of the run.

use super::*;

/// The reader's t12: a node is slow from the middle of the run on.
#[test]
fn tasks_that_become_slow_are_told_with_their_factor_and_since_when() {
    for first in [6, 15, 25] {
        let found = disturbed_steps(8, 2_400, |task, step| if task > 6 && step >= first { 1.4 } else { 1.0 });
        let [finding] = &found.list[..] else { panic!("{found:?}") };
        let FindingKind::SlowThreads { times, .. } = finding.kind else { panic!("{finding:?}") };
        assert_eq!(
            (tasks(finding), finding.from, finding.until),
            (vec![7, 8], Some(Nanos(first * 40_000)), None)
        );
        assert!((times - 1.4).abs() < 0.02, "{finding:?}");
        // 0.4 of 20,000 of the 40,000 ns of each slow step, less what the last of the
        // others is later than their mean: they are disturbed by 6 %.
        let truth = 0.2 * (30 - first) as f64 / 30.0;
        assert!((finding.share / truth - 0.95).abs() < 0.08, "{truth}: {finding:?}");
    }
    let until = disturbed_steps(8, 2_400, |task, step| if task > 6 && step < 12 { 1.4 } else { 1.0 });
    assert_eq!((until.list[0].from, until.list[0].until), (None, Some(Nanos(12 * 40_000))));
    // Slow in all of the run, and slower little by little.
    for change in [|_| 1.3, |step| 1.0 + 0.02 * step as f64] {
        let found = disturbed_steps(8, 2_400, |task, step: u64| if task == 3 { change(step) } else { 1.0 });
        assert!(matches!(found.list[0].kind, FindingKind::SlowThreads { .. }), "{found:?}");
        assert_eq!((found.list[0].from, found.list[0].until), (None, None));
    }
}

/// A reader's p03: some tasks are slow from the tenth step to the twentieth.
#[test]
fn tasks_that_are_slow_for_a_time_are_told_with_its_begin_end_factor_and_share() {
    for (first, last) in [(10, 20), (4, 9), (18, 26)] {
        let slow = |task: u32, step: u64| task > 6 && (first..last).contains(&step);
        let found = disturbed_steps(8, 1_200, |task, step| if slow(task, step) { 1.3 } else { 1.0 });
        let [finding] = &found.list[..] else { panic!("{found:?}") };
        let FindingKind::SlowThreads { times, .. } = finding.kind else { panic!("{finding:?}") };
        assert!((times - 1.3).abs() < 0.015 && tasks(finding) == [7, 8], "{finding:?}");
        let moments = (Some(Nanos(first * 40_000)), Some(Nanos(last * 40_000)));
        assert_eq!((finding.from, finding.until), moments);
        let truth = 0.15 * (last - first) as f64 / 30.0;
        assert!((finding.share / truth - 1.0).abs() < 0.1, "{truth}: {finding:?}");
    }
}

/// A reader's n04 and p09: all tasks, in one phase of the grouping or in two.
#[test]
fn what_all_tasks_take_longer_over_in_a_part_of_the_run_is_told() {
    for (first, last, split) in [(15, 30, false), (15, 30, true), (8, 18, true), (0, 9, false)] {
        let is_slow = |step: u64| (first..last).contains(&step);
        let burst = |task: u32, step: u64| {
            let of = |phase: usize, size: f64| {
                let time = disturbed(task, step, 400) as f64 * size * if is_slow(step) { 1.3 } else { 1.0 };
                let other = if split && is_slow(step) { 2 } else { 0 };
                let begin = step * 80_000 + (phase as u64 - 1) * 40_000;
                (task, begin, time as u64, phase + other, 2e4 * (1.0 + size), time)
            };
            [of(1, 1.0), of(2, 0.5)]
        };
        let bursts: Vec<Burst> =
            (0..30).flat_map(|step| (1..9).flat_map(move |task| burst(task, step))).collect();
        let found = found(&bursts, 30 * 80_000);
        let [finding] = &found.list[..] else { panic!("{split}: {found:?}") };
        let FindingKind::Slower { times, everywhere: true, by_degrees: false, .. } = finding.kind else {
            panic!("{finding:?}")
        };
        assert!((times - 1.3).abs() < 0.01 && tasks(finding).len() == 8, "{finding:?}");
        let from = (first > 0).then_some(Nanos(first * 80_000));
        assert_eq!((finding.from, finding.until), (from, (last < 30).then_some(Nanos(last * 80_000))));
        // 0.3 of 30,000 in each slow step of 80,000.
        let truth = 9.0 / 80.0 * (last - first) as f64 / 30.0;
        assert!((finding.share / truth - 1.0).abs() < 0.03, "{truth}: {finding:?}");
    }
    // With more instructions: no slowness.
    let more = steps(|_, step| if step > 5 { (900, 1, 900.0) } else { (600, 1, 600.0) });
    assert_eq!(more.list, []);
}

/// Of a run in which all become slower until they take 1.67 times as long, nothing was told.
#[test]
fn all_that_become_slower_by_degrees_are_told_so() {
    let steps = |step: u64| [1.0, 1.1, 1.4][usize::from(step >= 8) + usize::from(step >= 20)];
    let slowly = |step: u64| 1.0 + 0.02 * step as f64;
    for (factor, won) in [(&steps as &dyn Fn(u64) -> f64, 5.2 / 30.0), (&slowly, 8.7 / 30.0)] {
        let burst = |task: u32, step: u64| {
            let time = disturbed(task, step, 400) as f64 * factor(step);
            (task, step * 40_000, time as u64, 1, 2e4, time)
        };
        let bursts: Vec<Burst> = (0..30).flat_map(|step| (1..9).map(move |task| burst(task, step))).collect();
        let found = found(&bursts, 30 * 40_000);
        let [finding] = &found.list[..] else { panic!("{found:?}") };
        let FindingKind::Slower { times, by_degrees: true, .. } = finding.kind else { panic!("{finding:?}") };
        assert!((1.3..1.65).contains(&times) && tasks(finding).len() == 8, "{finding:?}");
        // Of 20,000 ns in each step of 40,000; what is slower before it shows is not counted.
        let truth = won / 2.0;
        assert!((0.6 * truth..1.1 * truth).contains(&finding.share), "{truth}: {finding:?}");
        assert!(found.knows_slower && finding.until.is_none() && finding.from.is_some(), "{finding:?}");
    }
}

/// Two phases of the same instructions, of 20,000 and 12,000 ns, which become two others; the
/// grouping numbers these by their time or not.
#[test]
fn phases_of_the_same_instructions_become_slow_in_their_order_of_time() {
    for (first, swapped) in [(15, false), (15, true), (20, true)] {
        for factor in [1.0, 1.3] {
            let is_slow = |step: u64| step >= first && factor > 1.0;
            let burst = |task: u32, step: u64| {
                let of = |phase: usize, size: f64| {
                    let by = if is_slow(step) { factor } else { 1.0 };
                    let time = disturbed(task, step, 400) as f64 * size * by;
                    let slow = if swapped { 5 - phase } else { 2 + phase };
                    let begin = step * 80_000 + (phase as u64 - 1) * 40_000;
                    (task, begin, time as u64, if is_slow(step) { slow } else { phase }, 2e4, time)
                };
                [of(1, 1.0), of(2, 0.6)]
            };
            let bursts: Vec<Burst> =
                (0..30).flat_map(|step| (1..9).flat_map(move |task| burst(task, step))).collect();
            let found = found(&bursts, 30 * 80_000);
            if factor == 1.0 {
                assert_eq!(found.list, []);
                continue;
            }
            let [finding] = &found.list[..] else { panic!("{swapped}: {found:?}") };
            let FindingKind::Slower { times, everywhere: true, by_degrees: false, .. } = finding.kind else {
                panic!("{finding:?}")
            };
            assert!((times - 1.3).abs() < 0.01, "{finding:?}");
            assert_eq!(finding.from, Some(Nanos(first * 80_000)));
        }
    }
}

/// `n` steps of a phase of 20,000 ns on 8 tasks, by `factor` slower and another phase from `first` on;
/// by more cycles, or not. `beside` makes each step end in a phase of that share, which is as ever.
fn slower_from(n: u64, first: u64, beside: f64, more_cycles: bool) -> Vec<Burst> {
    let step = move |task: u32, step: u64| {
        let usual = disturbed(task, step, 400) as f64;
        let is_slow = step >= first;
        let time = usual * if is_slow { 1.5 } else { 1.0 };
        let cycles = if more_cycles { time } else { usual };
        let begin = step * 80_000;
        let own = (task, begin, time as u64, 1 + usize::from(is_slow), 2e4, cycles);
        let other = disturbed(task, step + 99, 400) as f64 * beside;
        let beside = (task, begin + 40_000, other as u64, 3, 4e4, other);
        [own, beside].into_iter().filter(|burst| burst.2 > 0)
    };
    (0..n).flat_map(|at| (1..9).flat_map(move |task| step(task, at))).collect()
}

/// Of EPOCH on 8 processes, × 1.5 from the middle on by more cycles, nothing was told: what is done once
/// at the end is of no time to compare with.
#[test]
fn a_phase_that_ends_where_another_with_the_same_instructions_begins_is_slower() {
    for (n, first, more_cycles) in [(10, 4, true), (10, 4, false), (10, 2, true), (10, 7, false)] {
        let mut bursts = slower_from(n, first, 0.0, more_cycles);
        bursts.extend((1..9).map(|task| (task, n * 80_000, 80_000, 4, 9e4, 8e4)));
        let found = found(&bursts, (n + 1) * 80_000);
        let slower = found.list.iter().find(|f| matches!(f.kind, FindingKind::Slower { .. }));
        let finding = slower.unwrap_or_else(|| panic!("{first}: {found:?}"));
        let FindingKind::Slower { times, everywhere: false, how, .. } = finding.kind else {
            panic!("{finding:?}")
        };
        assert!((times - 1.5).abs() < 0.01 && numbers(finding) == [1, 2], "{finding:?}");
        assert_eq!((finding.from, finding.until), (Some(Nanos(first * 80_000)), None));
        assert_eq!(how, if more_cycles { How::Ipc } else { How::Clock });
    }
    // Once before, or after: it may be another step.
    for first in [1, 9] {
        let found = found(&slower_from(10, first, 0.0, true), 800_000);
        assert_eq!(found.list, []);
    }
    // Too few in all: that is said.
    assert!(found(&slower_from(6, 2, 0.0, true), 480_000).knows_slower);
    assert!(!found(&slower_from(5, 2, 0.0, true), 400_000).knows_slower);
    // Another loop of the same instructions: what both do beside it takes as long as before.
    let other = found(&slower_from(10, 4, 0.5, true), 800_000);
    assert!(!other.list.iter().any(|f| matches!(f.kind, FindingKind::Slower { .. })), "{other:?}");
}

/// Of EPOCH on 8 processes it was told one iteration early, as a burst is in another phase.
#[test]
fn a_burst_that_is_missing_does_not_move_the_time_from_which_all_are_slower() {
    for missing in [1, 3] {
        let mut bursts = slower_from(10, 4, 0.0, false);
        bursts.iter_mut().for_each(|burst| burst.3 = 1);
        (0..missing).for_each(|at| bursts[at * 8 + at].3 = 0);
        let found = found(&bursts, 800_000);
        let [finding] = &found.list[..] else { panic!("{found:?}") };
        let FindingKind::Slower { times, .. } = finding.kind else { panic!("{finding:?}") };
        assert_eq!(finding.from, Some(Nanos(4 * 80_000)), "{finding:?}");
        assert!((times - 1.5).abs() < 0.01, "{finding:?}");
    }
}

/// Of BT-MZ one phase of many was told, 4.8 % of 19.9.
#[test]
fn phases_that_are_slower_in_the_time_that_another_tells_belong_to_it() {
    // The second phase is in no phase half of the time: it has too few rounds of its own.
    let mut bursts = slower_from(12, 6, 0.0, false);
    for step in (0..12).step_by(3) {
        let second = |task: u32| {
            let time = disturbed(task, step + 50, 400) as f64 * if step >= 6 { 1.5 } else { 1.0 };
            (task, step * 80_000 + 40_000, time as u64, 3, 5e4, 2e4)
        };
        bursts.extend((1..9).map(second));
    }
    let found = found(&bursts, 12 * 80_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert!(matches!(finding.kind, FindingKind::Slower { everywhere: true, .. }), "{finding:?}");
    let mut phases = numbers(finding);
    phases.sort_unstable();
    assert_eq!(phases, [1, 2, 3]);
}
