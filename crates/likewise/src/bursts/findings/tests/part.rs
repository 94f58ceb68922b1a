//! Of which part of a run it is known who waits, and on how many CPUs.

use super::*;

/// What is found of bursts of one phase, each of a task, with begin and duration.
fn found_in(bursts: &[(u32, u64, u64)], part: [u64; 2], most_at_once: Option<u32>) -> Findings {
    let n = bursts.len();
    let table = BurstTable {
        app: vec![1; n].into(),
        task: bursts.iter().map(|b| b.0).collect(),
        thread: vec![1; n].into(),
        begin: bursts.iter().map(|b| Nanos(b.1)).collect(),
        duration: bursts.iter().map(|b| Nanos(b.2)).collect(),
        ..BurstTable::default()
    };
    findings(&FindingsInput {
        table: &table,
        phase: &vec![Some(ClusterId::from_index(0)); n],
        shortest: Nanos(10),
        grouped_from: Nanos(10),
        asleep: &[],
        part: Nanos(part[0])..Nanos(part[1]),
        most_at_once,
    })
}

/// 4 tasks that compute one after the other, 250 ns each and a little more, in each of 10 steps.
fn in_turn(most_at_once: Option<u32>, more: u64) -> Findings {
    let burst = |task: u32, step: u64| (task, 1_000 * step + 250 * u64::from(task - 1), 250 + more);
    let bursts: Vec<_> = (1..5).flat_map(|task| (0..10).map(move |step| burst(task, step))).collect();
    found_in(&bursts, [0, 10_000 + more], most_at_once)
}

#[test]
fn who_may_wait_for_a_cpu_is_not_said_to_wait_for_others() {
    let known = in_turn(Some(4), 0);
    assert!(known.few_cpus.is_none() && !known.list.is_empty() && known.balance > 0.5, "{known:?}");
    assert_eq!(in_turn(None, 0), known);
    let one = in_turn(Some(1), 0);
    assert_eq!((one.few_cpus, &one.list[..]), (Some(FewCpus { cpus: 1, at_once: 1 }), &[][..]));
    // More compute at once than there are CPUs, so the trace says nothing of these.
    assert_eq!(in_turn(Some(1), 10), in_turn(None, 10));
}

/// Task 3 takes twice as long as the others; in the first half it is not traced.
#[test]
fn only_the_part_counts_in_which_all_are_traced() {
    let burst = |task: u32, step: u64| (task, 1_000 * step, if task == 3 { 800 } else { 400 });
    let bursts: Vec<_> = (1..5)
        .flat_map(|task| (0..20).map(move |step| burst(task, step)))
        .filter(|&(task, begin, _)| task != 3 || begin >= 10_000)
        .collect();
    let share = |found: &Findings| found.list.first().map_or(0.0, |finding| finding.share);
    let (all, half) = (found_in(&bursts, [0, 20_000], None), found_in(&bursts, [10_000, 20_000], None));
    // 300 ns of each 1,000: 800 less the mean of 500.
    assert!(near(share(&half), 0.3) && share(&all) < 0.25, "{half:?} {all:?}");
    // 200 ns after each of the first nine.
    assert!(near(half.idle, 0.18), "{}", half.idle);
}

/// "Threads compute for 5.1% of the run; until the last burst ends, none does in 98.1% of it" was told
/// where the one counts bursts that reach over the end of the part, and the other does not.
#[test]
fn who_computes_for_a_moment_or_over_the_end_of_the_part_computes() {
    let found = found_in(&[(1, 0, 100), (1, 110, 5), (2, 0, 100), (2, 150, 100)], [0, 200], None);
    assert!(near(found.idle, (10.0 + 35.0) / 200.0), "{found:?}");
    let found = found_in(&[(1, 0, 100), (2, 0, 40), (2, 80, 100)], [50, 200], None);
    assert!(near(found.idle, 0.0), "{found:?}");
}
