//! Made-up loops: what is known of how many iterations they have.

use super::ratios::{Ratio, Ratios};
use super::repeats::is_same;
use proptest::prelude::*;

/// A step of a loop: the time of a burst, and how often each run does it in an iteration.
type Step = (f64, [f64; 2]);

/// Two runs of so many iterations, and how many of these each own period has.
fn told(steps: &[Step], n: [f64; 2], own: [f64; 2]) -> Option<f64> {
    let time = |r: usize| steps.iter().map(|(time, often)| time * often[r]).sum::<f64>();
    let of_step = |(burst, often): &Step| Ratio {
        ratio: often[1] * n[1] / (often[0] * n[0]),
        weight: [0, 1].map(|r| burst * often[r] / time(r)).into_iter().fold(f64::INFINITY, f64::min),
        in_own: Some([1, 0].map(|r| often[r] * n[r] / own[r])),
    };
    Ratios(steps.iter().map(of_step).collect()).iterations(own[1] / own[0])
}

/// Two steps done once in an iteration, with the share `once` of the first run's time, and
/// two of an inner loop.
fn with_inner(once: f64, inner: [u32; 2]) -> Vec<Step> {
    let often = inner.map(f64::from);
    let within = (1.0 - once) / often[0];
    vec![(0.6 * once, [1.0; 2]), (0.75 * within, often), (0.25 * within, often), (0.4 * once, [1.0; 2])]
}

/// Numbers that are the same as counts go.
fn is_near(told: Option<f64>, expected: f64) -> bool {
    told.is_some_and(|told| is_same(told, expected))
}

proptest! {
    #[test]
    fn an_inner_loop_done_more_often_is_not_more_iterations(
        once in 0.15f64..0.9,
        inner in (2u32..30, 2u32..30),
        n in 3u32..50,
    ) {
        let n = [f64::from(n); 2];
        let steps = with_inner(once, [inner.0, inner.1]);
        let left: f64 = steps[1].0 * f64::from(inner.1) / 0.75;
        prop_assume!(once / (once + left) > 0.03);
        prop_assert!(is_near(told(&steps, n, n), 1.0));
    }

    #[test]
    fn with_as_many_iterations_no_other_number_is_told(
        once in 0.03f64..0.97,
        inner in (1u32..30, 1u32..30),
        n in 3u32..50,
    ) {
        let n = [f64::from(n); 2];
        let steps = with_inner(once, [inner.0, inner.1]);
        let left: f64 = steps[1].0 * f64::from(inner.1) / 0.75;
        prop_assume!(once / (once + left) > 0.03);
        let told = told(&steps, n, n);
        prop_assert!(told.is_none() || is_near(told, 1.0), "{told:?}");
    }

    #[test]
    fn another_number_of_iterations_is_told_whatever_the_periods_hold(
        once in 0.05f64..0.95,
        inner in 1u32..10,
        n in (3u32..50, 3u32..50),
        parts in (1u32..4, 1u32..4),
    ) {
        let n = [n.0, n.1].map(f64::from);
        let own = [n[0] / f64::from(parts.0), n[1] * f64::from(parts.1)];
        let steps = with_inner(once, [inner; 2]);
        prop_assert!(is_near(told(&steps, n, n), n[1] / n[0]));
        prop_assert!(is_near(told(&steps, n, own), n[1] / n[0]));
    }

    #[test]
    fn other_numbers_of_both_are_told_or_unknown(
        once in 0.1f64..0.9,
        inner in (2u32..12, 2u32..12),
        n in (3u32..40, 3u32..40),
    ) {
        let n = [n.0, n.1].map(f64::from);
        let steps = with_inner(once, [inner.0, inner.1]);
        let left: f64 = steps[1].0 * f64::from(inner.1) / 0.75;
        prop_assume!(once / (once + left) > 0.03);
        let told = told(&steps, n, n);
        prop_assert!(told.is_none() || is_near(told, n[1] / n[0]), "{told:?}");
    }
}

#[test]
fn a_step_in_two_halves_is_not_more_iterations() {
    // Half of the time; the other steps are as they were.
    for share in [0.2, 0.5, 0.75] {
        let steps =
            [(share / 2.0, [2.0, 1.0]), (0.6 * (1.0 - share), [1.0; 2]), (0.4 * (1.0 - share), [1.0; 2])];
        assert!(is_near(told(&steps, [15.0; 2], [15.0; 2]), 1.0), "{share}");
    }
}

#[test]
fn a_step_done_every_other_time_leaves_as_many_iterations() {
    // The period of the second run then holds two.
    for share in [0.1, 0.3, 0.45] {
        let steps = [(1.0 - share, [1.0; 2]), (share, [1.0, 0.5])];
        assert!(is_near(told(&steps, [20.0; 2], [20.0, 10.0]), 1.0), "{share}");
    }
    // Where both loops may be the inner one, or numbers of both changed, nobody knows.
    let steps = [(0.06, [1.0; 2]), (0.94, [1.0, 2.0])];
    assert_eq!(told(&steps, [20.0; 2], [20.0; 2]), None);
}
