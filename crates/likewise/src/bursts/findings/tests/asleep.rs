//! Threads that sleep in what the trace takes for bursts.

use super::*;

/// Of each of 2 tasks, the first thread waits in `pthread_join` for the others, which compute and
/// call MPI by themselves: no call shows that it waits.
#[test]
fn a_thread_that_sleeps_until_the_others_are_done_is_not_serial() {
    let mut bursts: Vec<(u32, Burst)> = Vec::new();
    for task in 1..=2 {
        bursts.push((1, (task, 0, 10_000, 2, f64::NAN, f64::NAN)));
        for thread in 2..=3 {
            let of_thread = (0..10).map(|step| (task, 1_000 * step, 600, 1, f64::NAN, f64::NAN));
            bursts.extend(of_thread.map(|burst| (thread, burst)));
        }
    }
    let awake = found_but_for(&bursts, 10_000, &[]);
    assert!(awake.list.iter().any(|finding| finding.phases.iter().any(|id| id.number() == 2)), "{awake:?}");
    let asleep = found_but_for(&bursts, 10_000, &[false, true]);
    assert!(asleep.list.is_empty(), "{asleep:?}");
    assert!(near(asleep.idle, 0.4) && near(asleep.balance, 0.0), "{asleep:?}");
}

/// "Threads compute for 0.1% of the run; until the last burst ends, none does in 29.9% of it" was told
/// of one that slept in a burst for the other 70%.
#[test]
fn a_burst_that_sleeps_is_time_in_which_none_computes() {
    let bursts = [
        (1, (1, 0, 100, 1, f64::NAN, f64::NAN)),
        (2, (1, 0, 100, 1, f64::NAN, f64::NAN)),
        (1, (1, 3_000, 6_500, 2, f64::NAN, f64::NAN)),
    ];
    let found = found_but_for(&bursts, 10_000, &[false, true]);
    assert!(near(found.idle, 0.94), "{found:?}");
}

/// What the first thread computes before it waits is serial as in any other run.
#[test]
fn a_thread_that_sleeps_for_most_of_the_time_computes_in_the_rest() {
    let mut bursts: Vec<(u32, Burst)> = Vec::new();
    for step in 0..10 {
        bursts.push((1, (1, 1_000 * step, 100, 3, f64::NAN, f64::NAN)));
        bursts.push((1, (1, 1_000 * step + 110, 880, 2, f64::NAN, f64::NAN)));
        for thread in 2..=3 {
            bursts.push((thread, (1, 1_000 * step + 120, 860, 1, f64::NAN, f64::NAN)));
        }
    }
    let found = found_but_for(&bursts, 10_000, &[false, true, false]);
    let serial = found.list.iter().find(|finding| finding.is_serial()).expect("the set-up");
    assert_eq!(serial.phases.iter().map(|id| id.number()).collect::<Vec<_>>(), [3]);
    assert!(found.idle < 0.05, "{found:?}");
}

/// "Nothing stands out" was told where a third of the threads had but a burst of hardly any cycles in
/// each step: that they sleep in it does not say that they need not work.
#[test]
fn a_thread_that_only_sleeps_for_a_moment_has_no_part_of_the_work() {
    let mut bursts: Vec<(u32, Burst)> = Vec::new();
    for step in 0..10 {
        for thread in 1..=2 {
            bursts.push((thread, (1, 1_000 * step, 800, 1, f64::NAN, f64::NAN)));
        }
        bursts.push((3, (1, 1_000 * step, 20, 2, f64::NAN, f64::NAN)));
    }
    let found = found_but_for(&bursts, 10_000, &[false, true]);
    let [imbalance] = &found.list[..] else { panic!("{found:?}") };
    assert!(matches!(imbalance.kind, FindingKind::Imbalance { .. }), "{imbalance:?}");
    assert!(near(imbalance.share, 0.8 / 3.0), "{imbalance:?}");
}

/// 4 tasks, 10 steps of 1,000 ns; in the sixth step these tasks have a burst of phase 2 of 900 ns after it,
/// while the others wait, and all go on after that.
fn with_sleep(of: std::ops::RangeInclusive<u32>, others: u64) -> Findings {
    let mut bursts: Vec<(u32, Burst)> = Vec::new();
    for task in 1..=4 {
        for step in 0..10 {
            let late = if step > 5 { 1_000 } else { 0 };
            bursts.push((1, (task, 1_000 * step + late, 980, 1, f64::NAN, f64::NAN)));
        }
        match of.contains(&task) {
            true => bursts.push((1, (task, 6_000, 980, 2, f64::NAN, f64::NAN))),
            false => bursts.push((1, (task, 6_000, others, 1, f64::NAN, f64::NAN))),
        }
    }
    found_but_for(&bursts, 11_000, &[false, true])
}

/// "Nothing stands out" was told where one task was off its core for 3% of the run, and all waited for it.
#[test]
fn a_long_burst_that_sleeps_while_none_computes_is_told() {
    let found = with_sleep(3..=3, 15);
    let [asleep] = &found.list[..] else { panic!("{found:?}") };
    let longest = ThreadName { task: 3, thread: 1 };
    let told = FindingKind::Asleep { bursts: 1, duration: Nanos(980), longest, by_cycles: true };
    assert_eq!((asleep.kind, &asleep.threads[..], asleep.begin), (told, &[longest][..], Nanos(6_000)));
    assert!(near(asleep.share, 965.0 / 11_000.0) && found.asleep.is_empty(), "{asleep:?}");
    // Of bursts at once the time counts once.
    let all = with_sleep(1..=4, 0);
    let [asleep] = &all.list[..] else { panic!("{all:?}") };
    assert!(matches!(asleep.kind, FindingKind::Asleep { bursts: 4, .. }), "{asleep:?}");
    assert!(near(asleep.share, 980.0 / 11_000.0), "{asleep:?}");
}

#[test]
fn who_sleeps_while_others_compute_is_not_told() {
    let found = with_sleep(3..=3, 300);
    assert!(
        !found.list.iter().any(|finding| matches!(finding.kind, FindingKind::Asleep { .. })),
        "{found:?}"
    );
}

/// Before its first burst a thread may not exist yet.
#[test]
fn who_sleeps_before_others_begin_is_not_told() {
    let of = |first: u64| {
        let bursts = [
            (1, (1, 0, 100, 1, f64::NAN, f64::NAN)),
            (1, (1, 100, 1_900, 2, f64::NAN, f64::NAN)),
            (1, (1, 2_000, 8_000, 1, f64::NAN, f64::NAN)),
            (1, (2, first, 20, 1, f64::NAN, f64::NAN)),
            (1, (2, 2_000, 8_000, 1, f64::NAN, f64::NAN)),
        ];
        found_but_for(&bursts, 10_000, &[false, true]).list.len()
    };
    assert_eq!((of(0), of(1_980)), (1, 0));
}

/// "Task 1 hardly takes part" was told of one that slept for nine tenths of the run.
#[test]
fn who_sleeps_for_most_of_the_run_need_not_take_part() {
    let of = |asleep: &[bool]| {
        let mut bursts: Vec<(u32, Burst)> = vec![(1, (1, 900, 9_000, 2, f64::NAN, f64::NAN))];
        bursts.push((1, (1, 0, 150, 1, f64::NAN, f64::NAN)));
        for task in 2..=5 {
            for step in 0..10 {
                bursts.push((1, (task, 1_000 * step, 50, 1, f64::NAN, f64::NAN)));
            }
        }
        found_but_for(&bursts, 10_000, asleep)
    };
    let found = of(&[false, true]);
    assert!(!found.list.iter().any(Finding::takes_less), "{found:?}");
    let [asleep] = &found.asleep[..] else { panic!("{found:?}") };
    assert!(near(asleep.share, (9_000.0 - 9.0 * 50.0) / 10_000.0), "{asleep:?}");
}
