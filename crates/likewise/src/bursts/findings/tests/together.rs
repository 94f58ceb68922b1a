//! Who takes longest.

use super::*;

/// 8 tasks that do a step for these times, 10 times; those without a time hardly anything.
fn of(times: [u64; 8]) -> Findings {
    let burst = |step: u64, task: u32| {
        let time = times[task as usize - 1];
        let (time, phase) = if time > 0 { (time, 1) } else { (20, 2) };
        (task, step * 2_000, time, phase, time as f64, time as f64)
    };
    let bursts: Vec<Burst> = (0..10).flat_map(|step| (1..9).map(move |task| burst(step, task))).collect();
    found(&bursts, 20_000)
}

/// An OpenMP program: threads with 1,380 and 1,363 ms were named with others of 296
/// and 282, because the rest have nothing to do.
#[test]
fn who_takes_longest_takes_about_as_long_as_the_others_that_do() {
    let slowest = of([0, 0, 296, 1_380, 1_363, 282, 0, 0]);
    assert_eq!(tasks(&slowest.list[0]), [4, 5], "{slowest:?}");
    let as_long = of([0, 0, 1_290, 1_380, 1_363, 1_280, 0, 0]);
    assert_eq!(tasks(&as_long.list[0]), [3, 4, 5, 6], "{as_long:?}");
    // Where no gap parts those that have something to do, their times are a gradient.
    let gradient = of([0, 0, 1_380, 900, 600, 300, 0, 0]);
    assert!(gradient.list[0].gradient.is_some() && tasks(&gradient.list[0]) == [3], "{gradient:?}");
}
