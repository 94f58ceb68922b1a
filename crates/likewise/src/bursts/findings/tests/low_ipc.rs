//! Phases of low IPC.

use super::*;

/// Of a step: a phase at an IPC of 2 and one at 0.5, on 4 tasks.
fn step(step: u64) -> impl Iterator<Item = Burst> {
    (1..5).flat_map(move |task| {
        [(task, step * 1_000, 400, 1, 800.0, 400.0), (task, step * 1_000 + 500, 400, 2, 200.0, 400.0)]
    })
}

/// 10 such steps, where the bursts have their counters that `is_counted` says.
fn counted(is_counted: impl Fn(&Burst) -> bool) -> Findings {
    let burst = |b: Burst| if is_counted(&b) { b } else { (b.0, b.1, b.2, b.3, f64::NAN, f64::NAN) };
    found(&(0..10).flat_map(step).map(burst).collect::<Vec<_>>(), 10_000)
}

#[test]
fn a_phase_of_low_ipc_is_compared_with_all_else() {
    let found = counted(|_| true);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, FindingKind::LowIpc { ipc: 0.5, others: 2.0, among: false });
    assert!(near(finding.share, 0.4 * 0.75) && numbers(finding) == [2], "{finding:?}");
    // Where every other burst has no counters, the phase takes as long.
    let half = counted(|burst| (burst.1 / 1_000).is_multiple_of(2));
    assert_eq!(half.list[0].kind, finding.kind);
    assert!(near(half.list[0].share, finding.share), "{half:?}");
}

/// 12.0% were told of a phase at half of the clock of all else, which waits in half of its time.
#[test]
fn who_waits_in_a_burst_does_not_wait_less_at_another_ipc() {
    let waiting = |b: Burst| if b.3 == 2 { (b.0, b.1, b.2, b.3, b.4 / 2.0, b.5 / 2.0) } else { b };
    let found = found(&(0..10).flat_map(step).map(waiting).collect::<Vec<_>>(), 10_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, FindingKind::LowIpc { ipc: 0.5, others: 2.0, among: false });
    assert!(near(finding.share, 0.2 * 0.75), "{finding:?}");
}

/// Four ranks with counters in few bursts: 61.1 % of a run were told of 4 of 163 bursts.
#[test]
fn few_counted_bursts_say_nothing_of_a_phase_nor_of_all_else() {
    for phase in [1, 2] {
        let few = |steps: u64| counted(move |burst| burst.3 != phase || burst.1 < 1_000 * steps);
        assert_eq!(few(4).list, [], "{phase}");
        assert_eq!(few(5).list.len(), 1, "{phase}");
    }
}

#[test]
fn it_costs_most_in_its_longest_burst() {
    let mut bursts: Vec<Burst> = (0..10).flat_map(step).collect();
    let longest = &mut bursts[8 * 4 + 5];
    (longest.2, longest.4, longest.5) = (440, 220.0, 440.0);
    let begin = Nanos(longest.1);
    let found = found(&bursts, 10_000);
    let low = found.list.iter().find(|finding| matches!(finding.kind, FindingKind::LowIpc { .. }));
    assert_eq!(low.expect("a low IPC").begin, begin);
}

/// Phase 1, two thirds of the computing of all 8 threads at a tenth of the IPC, was not told, because
/// four of them are slower in it than the others.
#[test]
fn a_phase_in_which_some_are_slow_too_is_of_low_ipc_by_the_others() {
    let found = |low: f64| {
        let step = |step: u64| {
            (1..9).flat_map(move |task| {
                let slow = if task > 4 { 1.4 } else { 1.0 };
                let cycles = 400.0 * slow;
                [
                    (task, step * 1_000, 300, 1, 600.0, 300.0),
                    (task, step * 1_000 + 310, cycles as u64, 2, low, cycles),
                ]
            })
        };
        found(&(0..10).flat_map(step).collect::<Vec<_>>(), 10_000)
    };
    let both = found(200.0);
    let slow = both.list.iter().find(|f| matches!(f.kind, FindingKind::SlowThreads { .. }));
    assert_eq!(tasks(slow.expect("slow tasks")), [5, 6, 7, 8], "{both:?}");
    let low = both.list.iter().find(|f| matches!(f.kind, FindingKind::LowIpc { .. })).expect("a low IPC");
    // The IPC is that of the phase. As the others, the slow ones would take 400, too.
    let FindingKind::LowIpc { ipc, others, .. } = low.kind else { panic!("{low:?}") };
    assert!(near(ipc, 200.0 / 480.0) && near(others, 2.0), "{low:?}");
    assert!(near(low.share, 0.4 * 0.75) && numbers(low) == [2], "{low:?}");
    // At 1.2 where all else has 2, only the slow ones are below half.
    let slow = found(480.0);
    assert!(!slow.list.iter().any(|f| matches!(f.kind, FindingKind::LowIpc { .. })), "{slow:?}");
}

/// "Phase 1 has an IPC of 0.16, all else 0.43" was told where all else is 0.03 % of the computing.
#[test]
fn next_to_nothing_is_no_yardstick() {
    for (length, told) in [(6, false), (100, true)] {
        let step = |step: u64| {
            let own = (1..5).map(move |task| (task, step * 1_000, 800, 1, 200.0, 800.0));
            let rest =
                move |task| (task, step * 1_000 + 850, 2 * length, 2, 2.0 * length as f64, length as f64);
            own.chain((1..5).filter(move |_| step.is_multiple_of(2)).map(rest))
        };
        let found = found(&(0..10).flat_map(step).collect::<Vec<_>>(), 10_000);
        let is_told = found.list.iter().any(|f| matches!(f.kind, FindingKind::LowIpc { .. }));
        assert_eq!(is_told, told, "{length}: {found:?}");
    }
}

/// The low ones of a run, of which each function is the burst's phase but for those of `of_noise`.
fn low(bursts: &[Burst], of_noise: usize) -> Findings {
    let function = |burst: &Burst| if burst.3 == 0 { of_noise } else { burst.3 };
    let bursts: Vec<(u32, Burst)> = bursts.iter().map(|&burst| (1, burst)).collect();
    let mut found = found_in_code(&bursts, 10_000, &[], Some(&function));
    found.list.retain(|finding| matches!(finding.kind, FindingKind::LowIpc { .. }));
    found
}

/// "Nothing is worth 0.5% of the run" was told of a function at a tenth of the IPC of all else, because
/// the bursts of two of four threads, and three more, are of no phase.
#[test]
fn bursts_of_no_phase_in_the_same_function_count() {
    let part = |burst: Burst| {
        let is_odd = burst.3 == 2 && (burst.0 > 2 || burst.1 == 3_500);
        if is_odd { (burst.0, burst.1, burst.2, 0, burst.4, burst.5) } else { burst }
    };
    let bursts: Vec<Burst> = (0..10).flat_map(step).filter(|b| b.3 == 1 || b.0 > 1).map(part).collect();
    let found = low(&bursts, 2);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, FindingKind::LowIpc { ipc: 0.5, others: 2.0, among: false });
    assert!(near(finding.share, 0.3 * 0.75) && numbers(finding) == [2] && finding.noise, "{finding:?}");
    // Those of another function do not make it one of most threads: they are what is told.
    let other = low(&bursts, 3);
    let [finding] = &other.list[..] else { panic!("{other:?}") };
    assert!(numbers(finding).is_empty() && finding.noise, "{finding:?}");
}

/// One function was told three times, each time beside an IPC of all else that held the other two.
#[test]
fn phases_of_one_function_are_one_and_what_is_low_is_no_yardstick() {
    let of_step = |step: u64| {
        (1..5).flat_map(move |task| {
            [
                (task, step * 1_000, 300, 1, 600.0, 300.0),
                (task, step * 1_000 + 310, 300, 2, 30.0, 300.0),
                (task, step * 1_000 + 620, 200, 3, 30.0, 200.0),
                (task, step * 1_000 + 830, 100, 4, 40.0, 100.0),
            ]
        })
    };
    let bursts: Vec<Burst> = (0..10).flat_map(of_step).collect();
    let function = |burst: &Burst| if burst.3 == 3 { 2 } else { burst.3 };
    let of_task = |&burst: &Burst| (1, burst);
    let with = |function: Option<&dyn Fn(&Burst) -> usize>| {
        found_in_code(&bursts.iter().map(of_task).collect::<Vec<_>>(), 10_000, &[], function).list
    };
    let list = with(Some(&function));
    let [first, second] = &list[..] else { panic!("{list:?}") };
    assert_eq!(first.kind, FindingKind::LowIpc { ipc: 60.0 / 500.0, others: 2.0, among: true });
    assert_eq!((numbers(first), numbers(second)), (vec![2, 3], vec![4]));
    assert!(near(first.share, 0.5 * 0.94) && near(second.share, 0.1 * 0.8), "{list:?}");
    // Without code, each is a phase.
    let list = with(None);
    assert_eq!(list.iter().map(numbers).collect::<Vec<_>>(), [[2], [3], [4]], "{list:?}");
    assert!(list.iter().all(|f| matches!(f.kind, FindingKind::LowIpc { others: 2.0, among: true, .. })));
}

/// A phase with half of the computing was not told, because most threads were slower in it in a part of
/// the run.
#[test]
fn threads_that_are_slower_for_a_time_do_not_count_in_that_time_only() {
    let of_step = |step: u64| {
        (1..9).flat_map(move |task| {
            let slow = if task < 7 && step < 5 { 1.3 } else { 1.0 };
            let cycles = 300.0 * slow;
            [
                (task, step * 1_000, 300, 1, 600.0, 300.0),
                (task, step * 1_000 + 310, cycles as u64, 2, 30.0, cycles),
            ]
        })
    };
    let found = found(&(0..20).flat_map(of_step).collect::<Vec<_>>(), 20_000);
    assert!(found.list.iter().any(|f| matches!(f.kind, FindingKind::Slower { .. })), "{found:?}");
    let low = found.list.iter().find(|f| matches!(f.kind, FindingKind::LowIpc { .. })).expect("a low IPC");
    assert!(near(low.share, 0.3 * 0.95) && numbers(low) == [2], "{low:?}");
}
