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
    assert_eq!(finding.kind, FindingKind::LowIpc { ipc: 0.5, others: 2.0 });
    assert!(near(finding.share, 0.4 * 0.75) && numbers(finding) == [2], "{finding:?}");
    // Where every other burst has no counters, the phase takes as long.
    let half = counted(|burst| (burst.1 / 1_000).is_multiple_of(2));
    assert_eq!(half.list[0].kind, finding.kind);
    assert!(near(half.list[0].share, finding.share), "{half:?}");
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
