//! What chance makes of equal work.

use super::*;

#[test]
fn what_chance_makes_of_equal_work_is_no_finding() {
    for n in [4, 8, 16, 64] {
        let found = disturbed_steps(n, 2_400, |_, _| 1.0);
        assert_eq!(found.list, [], "{n} tasks");
        // Beyond the least share: it is the chance that is not told.
        assert!(found.balance > 2.0 * LEAST_SHARE, "{found:?}");
    }
    // Another task is last each time, by more than that.
    let moving =
        disturbed_steps(8, 2_400, |task, step| if u64::from(task) == 1 + step % 8 { 1.3 } else { 1.0 });
    let [finding] = &moving.list[..] else { panic!("{moving:?}") };
    assert!(matches!(finding.kind, FindingKind::Imbalance { steady: false, .. }), "{finding:?}");
}

/// What is done once, by some percent and degrees, for the same instructions,
/// may be chance; with more instructions it is not. Noise is that of the run.
#[test]
fn chance_is_measured_and_what_is_done_once_is_no_gradient() {
    for (work, n) in [(0.0, 0), (1.0, 1)] {
        let mut bursts: Vec<Burst> = Vec::new();
        for task in 1..9u32 {
            let size = 20_000.0 + 500.0 * f64::from(task);
            bursts.push((task, 0, size as u64, 2, 2e4 + work * (size - 2e4), size));
            let step = |step: u64| (task, 30_000 + step * 1_000, 900, 1, 900.0, 900.0);
            bursts.extend((0..20).map(step));
        }
        assert_eq!(found(&bursts, 50_000).list.len(), n);
    }
    // 10 % from time to time, and the same task is last by chance alone.
    for n in [4, 8, 16, 64] {
        let found = disturbed_steps(n, 8_000, |_, _| 1.0);
        assert_eq!(found.list, [], "{n} tasks");
        assert!(found.balance > 2.0 * LEAST_SHARE, "{found:?}");
    }
}

/// "As the same bursts differ from time to time" was told of a run with one burst of each thread.
#[test]
fn of_what_is_done_once_chance_is_not_known() {
    let burst = |task: u32, step: u64| (task, step * 1_000, 900, 1, 900.0, 900.0);
    let of = |n: u64| {
        found(&(0..n).flat_map(|step| (1..5).map(move |task| burst(task, step))).collect::<Vec<_>>(), 10_000)
    };
    assert!(!of(1).knows_chance && !of(3).knows_chance && of(4).knows_chance);
}

/// "The same bursts differ from time to time" was told of a step that grows, in which four tasks
/// of 16 take 0.88 times as long as the others in each long stretch. Only the short ones differ.
#[test]
fn chance_is_measured_where_the_time_is() {
    let (mut begin, mut bursts): (u64, Vec<Burst>) = (0, Vec::new());
    let sizes = [2_000.0; 30].into_iter().chain([8e3, 32e3, 128e3, 512e3, 2048e3]);
    for (step, size) in (0..).zip(sizes) {
        for task in 1..17u32 {
            let chance = if step < 30 { 8_000 } else { 200 };
            let time = size / 2e4 * disturbed(task, step, chance) as f64 * if task > 12 { 0.88 } else { 1.0 };
            bursts.push((task, begin, time as u64, 1, size, time));
        }
        begin += (1.5 * size) as u64;
    }
    let found = found(&bursts, begin);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    let FindingKind::Imbalance { cause: Cause::Speed, times: Some(times), .. } = finding.kind else {
        panic!("{finding:?}")
    };
    assert!((times / 0.88 - 1.0).abs() < 0.01 && tasks(finding) == [13, 14, 15, 16], "{finding:?}");
}

/// EPOCH on 8 tasks: three tasks take 1.15 times as long in the first push, which costs 0.9 % of the
/// run; in all pushes together the slowest is 1.7 % above the mean, so nothing was told of it.
#[test]
fn a_stretch_that_is_uneven_by_itself_is_told_of_a_step_that_is_even_in_all() {
    let told = |factor: f64| {
        let is_late = |task: u32, step: u64| step == 3 && (3..6).contains(&task);
        disturbed_steps(8, 2_400, |task, step| if is_late(task, step) { factor } else { 1.0 })
    };
    let odd = told(1.55);
    let [finding] = &odd.list[..] else { panic!("{odd:?}") };
    let FindingKind::Imbalance { apart, steady: true, .. } = finding.kind else { panic!("{finding:?}") };
    assert_eq!((tasks(finding), finding.stretches, finding.is_once), (vec![3, 4, 5], 1, true));
    assert_eq!(finding.from, Some(Nanos(120_000)));
    assert!(finding.until.is_some_and(|until| until < Nanos(160_000)), "{finding:?}");
    // 0.55 × 5 / 8 of 20,000 are 0.57 % of the run, and up to 6 % of chance come to it.
    assert!((0.25..0.36).contains(&apart) && (0.0055..0.0075).contains(&finding.share), "{finding:?}");
    assert_eq!(told(1.3).list, [], "too little");
}
