use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::*;
use crate::cluster::medoids::pam;
use crate::synth::effort::effort_traces;
use crate::synth::{BoxSpec, Boxed};

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// What PAM's classes explain, from two to `most`.
fn explained(objects: &[Vec<f64>], most: usize) -> Vec<(usize, f64)> {
    let matrix = Dissimilarities::new(objects, |a, b| euclidean(a, b)).expect("distances");
    let all = squared_error(objects, &vec![0; objects.len()], 1);
    let of = |k: usize| {
        let found = pam(&matrix, k).ok()?;
        Some((k, 1.0 - squared_error(objects, &found.labels, k) / all))
    };
    (2..=most.min(objects.len().div_ceil(2))).map_while(of).collect()
}

/// The number of classes of these objects; 1 where none are supported.
fn count(objects: &[Vec<f64>], seed: u64) -> usize {
    let all = support(objects, &explained(objects, 10), &mut rng(seed));
    let matrix = Dissimilarities::new(objects, |a, b| euclidean(a, b)).expect("distances");
    let is_apart = |k: &usize| {
        let found = pam(&matrix, *k).expect("classes");
        separation(objects, &found.labels).is_some_and(|apart| apart >= APART)
    };
    supported_counts(&all, 10).into_iter().find(is_apart).unwrap_or(1)
}

/// Nearly normal.
fn noise(rng: &mut impl Rng) -> f64 {
    (0..12).map(|_| uniform(rng)).sum::<f64>() - 6.0
}

const SIZES: [usize; 5] = [4, 6, 8, 16, 40];

/// Of how many of 20 tables of each size classes are found.
fn found(make: impl Fn(usize, &mut Xoshiro256PlusPlus) -> Vec<Vec<f64>>) -> Vec<(usize, usize)> {
    let of = |n: usize| {
        let seeds = (0..20u64).filter(|&seed| count(&make(n, &mut rng(1000 + seed)), seed) > 1);
        (n, seeds.count())
    };
    SIZES.map(of).to_vec()
}

#[test]
fn noise_has_no_classes() {
    // Some numbers vary much more than others, as regions do.
    let made =
        found(|n, rng| (0..n).map(|_| (0..42).map(|j| noise(rng) * 1.1f64.powi(j)).collect()).collect());
    assert!(made.iter().all(|&(_, found)| found == 0), "{made:?}");
    let made = found(|n, rng| (0..n).map(|_| vec![noise(rng)]).collect());
    assert!(made.iter().all(|&(_, found)| found == 0), "{made:?}");
}

#[test]
fn a_gradient_has_no_classes() {
    let series = |x: f64, rng: &mut Xoshiro256PlusPlus| -> Vec<f64> {
        (0..20).map(|step| x * f64::from(step % 5 + 1) + 0.002 * noise(rng)).collect()
    };
    let even = found(|n, rng| (0..n).map(|i| series(1.0 + 0.15 * i as f64 / n as f64, rng)).collect());
    assert!(even.iter().all(|&(_, found)| found == 0), "{even:?}");
    let random = found(|n, rng| {
        (0..n)
            .map(|_| {
                let x = 1.0 + uniform(rng);
                series(x, rng)
            })
            .collect()
    });
    assert!(random.iter().all(|&(_, found)| found == 0), "{random:?}");
    let bent = found(|n, rng| (0..n).map(|i| series(1.1f64.powf(20.0 * i as f64 / n as f64), rng)).collect());
    assert!(bent.iter().all(|&(_, found)| found == 0), "{bent:?}");
    let plane = found(|n, rng| (0..n).map(|_| vec![uniform(rng), uniform(rng)]).collect());
    assert!(plane.iter().all(|&(_, found)| found == 0), "{plane:?}");
}

/// Where one number goes with the other's square, straight axes are no match.
#[test]
fn a_curve_has_no_classes() {
    let curve = |x: f64, rng: &mut Xoshiro256PlusPlus| {
        vec![x, 2.0 * x * x, 0.3 * (6.0 * x).sin() + 1e-3 * noise(rng)]
    };
    let even = found(|n, rng| (0..n).map(|i| curve(i as f64 / n as f64, rng)).collect());
    assert!(even.iter().all(|&(_, found)| found == 0), "{even:?}");
    let random = found(|n, rng| {
        (0..n)
            .map(|_| {
                let x = uniform(rng);
                curve(x, rng)
            })
            .collect()
    });
    // Ranks at random places leave a gap now and then: in 6 of these 100.
    assert!(random.iter().map(|r| r.1).sum::<usize>() <= 6, "{random:?}");
}

#[test]
fn separation_is_the_shortest_step_between_classes() {
    let objects = [0.0, 1.0, 2.0, 7.0, 9.0].map(|x| vec![x]);
    assert_eq!(separation(&objects, &[0, 0, 0, 1, 1]), Some(2.5));
    assert_eq!(separation(&objects, &[0; 5]), None);
    assert_eq!(separation(&[vec![1.0], vec![1.0], vec![2.0]], &[0, 0, 1]), Some(f64::INFINITY));
}

/// Any halves of noise are much of what is left where one object is far from all others: 11 of 40
/// tables of 8 ranks had three or four classes.
#[test]
fn noise_beside_one_that_is_far_is_no_class() {
    let of = |levels: &[(usize, f64)], seed| -> Vec<Vec<f64>> {
        let mut rng = rng(seed);
        let levels = levels.iter().flat_map(|&(n, level)| vec![level; n]);
        levels.map(|level| vec![level * (1.0 + 0.03 * noise(&mut rng))]).collect()
    };
    let judged = |objects: &[Vec<f64>], k: usize, seed| {
        let matrix = Dissimilarities::new(objects, |a, b| euclidean(a, b)).expect("distances");
        let labels = pam(&matrix, k).expect("classes").labels;
        are_apart_in_pairs(objects, &labels, &mut rng(seed))
    };
    let far = |n: usize, k: usize| {
        (0..40).filter(|&seed| judged(&of(&[(n - 1, 1.0), (1, 2.0)], seed), k, seed)).count()
    };
    // That it is far is seen.
    assert_eq!((far(8, 2), far(12, 2)), (40, 40));
    let more = [far(8, 3), far(8, 4), far(12, 3), far(12, 4)];
    assert!(more.iter().all(|&found| found <= 1), "{more:?}");
    // Levels are, beside one that is far from them, too.
    for levels in
        [&[(6, 1.0), (6, 2.0)][..], &[(6, 1.0), (6, 2.0), (6, 3.5)], &[(12, 1.0), (3, 1.5), (1, 5.0)]]
    {
        let found = (0..40).filter(|&seed| judged(&of(levels, seed), levels.len(), seed)).count();
        assert!(found >= 38, "{levels:?} {found}");
    }
}

#[test]
fn alike_ranks_have_no_classes() {
    for n in SIZES {
        assert_eq!(count(&vec![vec![3.0, 4.0]; n], 1), 1);
        let rounded: Vec<Vec<f64>> = (0..n).map(|i| vec![1e6, 1e6 + 1e-6 * (i % 2) as f64]).collect();
        assert_eq!(count(&rounded, 1), 1, "but for rounding");
    }
}

#[test]
fn two_slow_ranks_are_a_class() {
    let slow = |n: usize, rng: &mut Xoshiro256PlusPlus| -> Vec<Vec<f64>> {
        let of = |i: usize| if i == 3 || i + 2 == n { 2.0 } else { 1.0 };
        (0..n).map(|i| (0..20).map(|_| of(i) + 0.02 * noise(rng)).collect()).collect()
    };
    let made = found(slow);
    assert!(made.iter().all(|&(n, found)| found == 20 || n == 4), "{made:?}");
}

#[test]
fn six_kinds_are_six_classes() {
    for n in [12, 16, 24, 60, 128] {
        for seed in 0..2 {
            assert_eq!(count(&effort_traces(n, 64, seed), seed), 6, "{n} ranks");
            let kind: Vec<Vec<f64>> = effort_traces(6 * n, 64, seed).into_iter().step_by(6).collect();
            assert_eq!(count(&kind, seed), 1, "{n} ranks of one kind");
        }
    }
}

#[test]
fn a_box_has_classes() {
    let Boxed { table, .. } = BoxSpec { sides: [5, 5, 5], ..BoxSpec::default() }.boxed(7);
    let objects: Vec<Vec<f64>> = (0..125).map(|r| table.row(r).to_vec()).collect();
    let found = count(&objects, 1);
    assert!((3..=5).contains(&found), "{found}");
}

#[test]
fn explained_is_what_lies_between_classes() {
    let class = |n_ranks, mean, variance| Moments {
        n_ranks,
        mean: vec![mean, 0.0],
        variance: vec![variance, 0.0],
        ..Moments::default()
    };
    // Two of 1 ± 1, two of 5 ± 1: 16 between, 4 within.
    let classes = [class(2, 1.0, 2.0), class(2, 5.0, 2.0)];
    assert_eq!(explained_by(&classes, |_| true), Some(0.8));
    assert_eq!(explained_by(&classes, |j| j == 1), None);
}
