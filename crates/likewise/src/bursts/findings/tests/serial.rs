//! What one thread does while the others wait, or several do in turn.

use super::*;

/// 4 tasks, 10 steps: all compute for 500 ns, then task 2 for `alone`.
fn after_steps(alone: impl Fn(u64) -> u64) -> Vec<Burst> {
    let bursts = |step: u64| {
        let even = (1..5).map(move |task| (task, step * 1_000, 500, 1, 500.0, 500.0));
        let duration = alone(step);
        even.chain([(2, step * 1_000 + 600, duration, 2, duration as f64, duration as f64)])
    };
    (0..10).flat_map(bursts).collect()
}

/// On OpenMP traces the begin was that of a burst of 1.5 ms, where one of 173 ms costs most.
#[test]
fn serial_time_costs_most_in_its_longest_burst_in_a_phase_or_in_none() {
    let begin = |bursts: &[Burst]| {
        let found = found(bursts, 12_000);
        let [finding] = &found.list[..] else { panic!("{found:?}") };
        assert!(finding.is_serial(), "{finding:?}");
        finding.begin
    };
    let mut bursts = after_steps(|step| if step == 7 { 350 } else { 300 });
    assert_eq!(begin(&bursts), Nanos(7_600));
    // A long burst of no phase, which becomes a part of it.
    bursts.push((2, 10_000, 1_000, 0, 9.0, 9.0));
    assert_eq!(begin(&bursts), Nanos(10_000));
    // One that is shorter than the longest of the phase does not tell where.
    let last = bursts.len() - 1;
    bursts[last].2 = 320;
    assert_eq!(begin(&bursts), Nanos(7_600));
}

/// Two threads that compute one after the other; where `overlap` is above 0, the second ends
/// after the first begins again.
fn two(overlap: u64) -> Findings {
    let bursts = [(1, 0, 1_400), (2, 2_700, 1_400), (1, 4_100 - overlap, 1_500)];
    found(&bursts.map(|(task, begin, time)| (task, begin, time, 1, time as f64, time as f64)), 5_800)
}

/// A program with two pthreads: a note called a phase serial, and of two threads of which never two
/// compute it was told that one takes longest, and that evenness would win 12.1 %.
#[test]
fn what_is_done_one_at_a_time_is_serial_also_where_one_begins_before_another_ends() {
    for overlap in [0, 1, 100] {
        let found = two(overlap);
        let [finding] = &found.list[..] else { panic!("{overlap}: {found:?}") };
        let FindingKind::Serial { time, alone } = finding.kind else { panic!("{overlap}: {finding:?}") };
        assert_eq!((time, alone), (Nanos(4_300), Nanos(4_300 - 2 * overlap)), "{overlap}");
        assert!(near(finding.share, 4.3 / 5.8 / 2.0) && tasks(finding) == [1, 2], "{finding:?}");
        assert_eq!(finding.begin, Nanos(4_100 - overlap), "the longest burst");
    }
    // Also where one thread is last in all stretches but those in which the other is, too.
    let turns: Vec<Burst> =
        (0..10).map(|step| (1 + step as u32 % 2, 500 * step, 400, 1, 400.0, 400.0)).collect();
    let found = super::found(&turns[..9], 4_500);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, FindingKind::Serial { time: Nanos(3_600), alone: Nanos(3_600) }, "{finding:?}");
    // Two that do most of it together are not.
    let found = two(1_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert!(matches!(finding.kind, FindingKind::Imbalance { .. }), "{finding:?}");
}

/// Threads of an OpenMP program are made when the first region begins.
#[test]
fn time_before_the_others_begin_is_told() {
    let before = |first: Option<Burst>| {
        let mut bursts = after_steps(|_| 300);
        bursts.iter_mut().for_each(|burst| burst.1 += 5_000);
        bursts.extend([(2, 0, 4_000, 2, 4e3, 4e3)].into_iter().chain(first));
        let found = found(&bursts, 15_000);
        let [finding] = &found.list[..] else { panic!("{found:?}") };
        assert!(finding.is_serial(), "{finding:?}");
        finding.before
    };
    assert_eq!(before(None), Nanos(4_000));
    // However short it is, another has begun.
    assert_eq!(before(Some((3, 1_000, 5, 0, 1.0, 1.0))), Nanos(1_000));
    assert_eq!(before(Some((3, 0, 5, 0, 1.0, 1.0))), Nanos(0));
    let in_none = found(&[&after_steps(|_| 300)[..], &[(2, 10_000, 900, 0, 9.0, 9.0)]].concat(), 12_000);
    assert_eq!(in_none.list[0].before, Nanos::ZERO);
}

/// 32 tasks, 4 steps: all compute for 500 ns, then some, in a phase of their own, for 5,000.
fn written_by(writers: &[u32], apart: u64) -> Finding {
    let step = |step: u64| {
        let even = (1..33).map(move |task| (task, step * 20_000, 500, 1, 500.0, 500.0));
        let writes = writers.iter().zip(0..).map(move |(&task, place)| {
            let time = 5_000 + (u64::from(task) + step) % 3;
            (task, step * 20_000 + 600 + apart * place, time, 2, 5e3, time as f64)
        });
        even.chain(writes)
    };
    let found = found(&(0..4).flat_map(step).collect::<Vec<Burst>>(), 80_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    finding.clone()
}

/// Aggregators of a checkpoint: "tasks 1 and 25 compute, one at a time" was told of four at once.
#[test]
fn few_of_many_that_compute_at_once_are_not_serial() {
    for writers in [&[1, 9][..], &[1, 9, 17], &[1, 9, 17, 25]] {
        let finding = written_by(writers, 0);
        let FindingKind::Imbalance { steady: true, times: None, .. } = finding.kind else {
            panic!("{finding:?}")
        };
        assert_eq!((tasks(&finding), numbers(&finding)), (writers.to_vec(), vec![2]));
        let share = 4.0 * 5_001.0 * (1.0 - writers.len() as f64 / 32.0) / 80_000.0;
        assert!((finding.share - share).abs() < 1e-3, "{finding:?}");
    }
    assert!(written_by(&[9], 0).is_serial());
    // One after the other, they are.
    let turns = written_by(&[1, 9, 17], 5_100);
    assert!(turns.is_serial() && tasks(&turns) == [1, 9, 17], "{turns:?}");
}

/// "A burst of 539 ms once" was told of a run of seven bursts, "while all others wait" of threads that have
/// no burst any more.
#[test]
fn of_few_bursts_none_is_something_that_happened_once() {
    let run = |n: u64| {
        let first = (0..n).map(|i| (1, 24 * i, 24, 1, 1.0, 1.0));
        let rest =
            [(2, 24, 20, 1, 1.0, 1.0), (3, 500, 100_000, 0, 1.0, 1.0), (4, 100_500, 539_000, 0, 1.0, 1.0)];
        found(&first.chain(rest).collect::<Vec<_>>(), 640_000)
    };
    let few = run(4);
    let [long, short] = &few.list[..] else { panic!("{few:?}") };
    assert!(long.is_serial() && short.is_serial(), "{few:?}");
    assert_eq!((tasks(long), tasks(short)), (vec![4], vec![3]));
    assert_eq!((long.behind, short.behind), (Nanos(539_000), Nanos(100_000)), "{few:?}");
    assert!(matches!(run(20).list[0].kind, FindingKind::OneOff { .. }));
}

/// Eight tasks that do as much in turn: "Spread over all" was told of what is spread already.
#[test]
fn what_each_does_at_another_time_is_not_to_be_spread() {
    let told = |time: &dyn Fn(u64) -> u64| {
        let begin = (1..9).map(|task| (task, 0, 400, 2, 400.0, 400.0));
        let bursts = (0..32).map(|step| {
            let (task, time) = (1 + step as u32 % 8, time(step));
            (task, (step + 1) * 1_000, time, 1, time as f64, time as f64)
        });
        let found = found(&begin.chain(bursts).collect::<Vec<Burst>>(), 33_000);
        let [finding] = &found.list[..] else { panic!("{found:?}") };
        assert!(finding.is_serial(), "{finding:?}");
        (finding.at_other_times, finding.share)
    };
    let (at_other_times, share) = told(&|_| 800);
    assert!(at_other_times && near(share, 0.875 * 25_600.0 / 33_000.0), "{share}");
    // One has three eighths of it: spread, more would be won than at the same time.
    let (at_other_times, share) = told(&|step| if step % 8 == 2 { 960 } else { 228 });
    assert!(!at_other_times && near(share, 0.875 * 10_224.0 / 33_000.0), "{share}");
}

/// Quicksort on 4 tasks: most of what is uneven are the last bursts, of which each task has one, alone.
#[test]
fn what_most_do_at_other_times_is_not_uneven() {
    let burst = |task, begin, time: u64| (task, begin, time, 1, time as f64, time as f64);
    let together = |step: u64| {
        (1..5u32).map(move |task| (task, step * 1_000, if u64::from(task) == 1 + step { 900 } else { 600 }))
    };
    let alone = |task: u32| (task, 4_000 + 2_000 * u64::from(task), 700);
    let told = |n_alone: u32| {
        let bursts = (0..4).flat_map(together).chain((1..5).filter(|&task| task <= n_alone).map(alone));
        let bursts: Vec<Burst> = bursts.map(|(task, begin, time)| burst(task, begin, time)).collect();
        found(&bursts, 14_000)
    };
    let found = told(4);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    let FindingKind::Imbalance { steady: false, apart, .. } = finding.kind else { panic!("{finding:?}") };
    // In each of 4 steps 900 of 675, and 700 of 175 alone; all have 3,400.
    let (gain, mean) = (4.0 * (225.0 + 525.0), 4.0 * (675.0 + 175.0));
    assert!(near(apart, gain / mean) && near(finding.share, gain / 14_000.0), "{finding:?}");
    assert!(finding.at_other_times, "{finding:?}");
    // Where all take part, and one is last by chance, it is to be even.
    let found = told(0);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert!(!finding.at_other_times, "{finding:?}");
}
