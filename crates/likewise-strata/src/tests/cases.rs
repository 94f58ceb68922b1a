//! What is at the edge.

use super::coverage::three_classes;
use super::*;
use likewise::ranks::Moments;

#[test]
fn the_same_input_gives_the_same_bytes() {
    let once = || run(96, 21, &Options { every: 7, ..Options::default() }, &|r, s| three_classes(3, r, s));
    let first = once();
    for _ in 0..5 {
        assert_eq!(once(), first);
    }
    assert_eq!(first.iter().map(|window| window.first_step).collect::<Vec<_>>(), [0, 7, 14]);
    // Names are told once.
    assert_eq!(first[0].regions[0].name, "region 70");
    assert!(first[1].regions.iter().all(|region| region.name.is_empty()));
}

#[test]
fn few_ranks_are_all_sampled_where_they_differ() {
    for size in [1, 2, 3, 7] {
        let windows = run(size, 9, &Options { every: 4, ..Options::default() }, &|rank, step| {
            vec![(1, 1_000 * (1 + rank as u64 * rank as u64) + step * rank as u64 * 100)]
        });
        assert_eq!(windows.len(), 3);
        assert!(windows.iter().all(|window| window.sampled.len() == size), "{windows:?}");
        assert!(windows.iter().all(|window| window.expected_error == 0.0));
    }
}

#[test]
fn equal_ranks_give_two() {
    let windows = run(64, 8, &Options { every: 4, ..Options::default() }, &|_, _| vec![(1, 5_000_000)]);
    for window in windows {
        assert_eq!((window.choice, window.n_strata(), window.sampled.len()), (Choice::Alike, 1, 2));
        assert_eq!((window.expected_error, mean_trace(&window)), (0.0, vec![5e6; 4]));
    }
}

#[test]
fn who_does_nothing_is_a_rank_too() {
    // Rank 5 never computes; in odd steps nobody does; at last nobody ever.
    let program = |rank: usize, step: u64| match step {
        0..8 if rank != 5 && step.is_multiple_of(2) => vec![(1, 1_000_000), (1, 500_000)],
        _ => Vec::new(),
    };
    let windows = run(40, 12, &Options { every: 4, ..Options::default() }, &program);
    assert!(windows[0].expected_error <= 0.05);
    let trace = mean_trace(&windows[0]);
    assert!((trace[0] / 1.5e6 - 39.0 / 40.0).abs() <= 0.05 && trace[1] == 0.0, "{trace:?}");
    assert_eq!((windows[2].whole.clone(), windows[2].regions.len()), (vec![0; 4], 0));
    assert_eq!((windows[2].expected_error, mean_trace(&windows[2])), (0.0, vec![0.0; 4]));
}

#[test]
fn no_step_is_no_window() {
    assert!(run(5, 0, &Options::default(), &|_, _| Vec::new()).is_empty());
}

#[test]
fn regions_beyond_the_bound_are_together() {
    let program = |rank: usize, step: u64| {
        let own = (0..50).map(|region| (1000 + region, 10 * (1 + region as u64)));
        own.chain([(rank as u128, 1), (7, 1_000_000 + step)]).collect::<Vec<_>>()
    };
    let options = Options { every: 3, regions: 4, ..Options::default() };
    let windows = run(33, 3, &options, &program);
    let ids: Vec<u128> = windows[0].regions.iter().map(|region| region.id).collect();
    assert_eq!(ids, [7, 1049, 1048, 1047]);
    let others = (0..47).map(|region| 10 * (1 + region)).sum::<u64>() + 1;
    for sampled in windows[0].sampled.iter().filter(|sampled| sampled.rank != 7) {
        assert_eq!(sampled.effort[4], others);
    }
}

#[test]
fn more_regions_than_a_rank_tells_apart_are_together() {
    let windows = run(2, 2, &Options::default(), &|_, step| {
        (0..3000).map(|region| (u128::from(step * 3000 + region), u64::MAX / 20_000)).collect()
    });
    assert!(windows[0].expected_error.is_finite());
}

#[test]
fn unequal_numbers_of_steps_are_told_and_gone_on_from() {
    let found = run_on_threads(4, |comm| {
        let mut sampler = Sampler::new(Options::default())?;
        (0..2 + comm.rank()).for_each(|_| {
            sampler.step(&[(1, 5)]);
        });
        assert_eq!(sampler.adapt(comm, |_| String::new()), Err(StrataError::Steps { least: 2, most: 5 }));
        sampler.step(&[(1, 5)]);
        sampler.finish(comm, |_| String::new())
    });
    assert!(found.unwrap()[0].window.is_some());
}

#[test]
fn what_is_impossible_is_refused() {
    let bad = [
        Options { error: f64::NAN, ..Options::default() },
        Options { confidence: 1.0, ..Options::default() },
        Options { every: 0, ..Options::default() },
        Options { k_max: 0, ..Options::default() },
    ];
    for options in bad {
        assert!(matches!(Sampler::new(options), Err(StrataError::Option { .. })));
    }
}

#[test]
fn equation_1_is_asked_in_each_stratum() {
    let of = |n_ranks, mean: f64, deviation: f64| Moments {
        n_ranks,
        mean: vec![mean, mean],
        variance: vec![deviation * deviation; 2],
        ..Moments::default()
    };
    let promise = crate::plan::Promise::of(&Options::default());
    // 5% of spread within 5%: 1.96² ranks (docs/ranks.md).
    let decision = crate::plan::decide(&[of(1000, 10.0, 0.5), of(1000, 30.0, 1.5)], &promise);
    assert_eq!(decision.sizes.of_strata, [2, 4]);
    assert_eq!(decision.choice, Choice::Stratified);
    let decision = crate::plan::decide(&[of(1000, 10.0, 0.5), of(1000, 10.0, 0.5)], &promise);
    assert_eq!((decision.choice, decision.sizes.of_strata), (Choice::DoesNotPay, vec![4]));
    // Classes that are nearer than 5% are one stratum.
    let decision =
        crate::plan::decide(&[of(900, 10.0, 0.1), of(900, 90.0, 0.1), of(900, 11.0, 0.1)], &promise);
    assert_eq!((decision.stratum, decision.sizes.of_strata), (vec![0, 1, 0], vec![2, 2]));
    let decision = crate::plan::decide(&[of(1000, 10.0, 0.01), of(1000, 10.1, 0.01)], &promise);
    assert_eq!((decision.choice, decision.sizes.of_strata), (Choice::TakesMore, vec![2]));
}
