use proptest::prelude::*;

use super::*;
use crate::counters::Column;
use crate::counters::loadings::factor_loadings;
use crate::synth::counter_table;

fn factors(loadings: &[Vec<f64>]) -> Vec<Factor> {
    let factor = |loadings: &Vec<f64>| {
        let eigenvalue: f64 = loadings.iter().map(|x| x * x).sum();
        let explained = eigenvalue / loadings.len() as f64;
        let component = loadings.iter().map(|x| x / eigenvalue.sqrt()).collect();
        Factor { eigenvalue, explained, component, loadings: loadings.clone() }
    };
    loadings.iter().map(factor).collect()
}

fn rotated(loadings: &[Vec<f64>]) -> Vec<Vec<f64>> {
    varimax(&factors(loadings)).into_iter().map(|factor| factor.loadings).collect()
}

fn communality(loadings: &[Vec<f64>], column: usize) -> f64 {
    loadings.iter().map(|factor| factor[column].powi(2)).sum()
}

/// Kaiser's criterion by its definition: the variances of squared loadings, of
/// columns of communality 1, summed over the factors.
fn criterion(loadings: &[Vec<f64>]) -> f64 {
    let counted: Vec<usize> = (0..loadings[0].len()).filter(|&j| communality(loadings, j) > 1e-24).collect();
    let m = counted.len().max(1) as f64;
    let variance = |factor: &Vec<f64>| {
        let squares: Vec<f64> =
            counted.iter().map(|&j| factor[j].powi(2) / communality(loadings, j)).collect();
        let mean = squares.iter().sum::<f64>() / m;
        squares.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / m
    };
    loadings.iter().map(variance).sum()
}

/// Two of the factors turned by an angle.
fn turned(loadings: &[Vec<f64>], [a, b]: [usize; 2], angle: f64) -> Vec<Vec<f64>> {
    let mut turned = loadings.to_vec();
    let (sin, cos) = angle.sin_cos();
    for (j, (x, y)) in loadings[a].iter().zip(&loadings[b]).enumerate() {
        turned[a][j] = x * cos + y * sin;
        turned[b][j] = y * cos - x * sin;
    }
    turned
}

/// The obvious twin: no angle of any pair is better, near or far.
fn no_turn_is_better(loadings: &[Vec<f64>]) {
    let here = criterion(loadings);
    for b in 0..loadings.len() {
        for a in 0..b {
            let far = (0..180).map(|degree| f64::from(degree).to_radians());
            let near = (-8..0).flat_map(|power| [10_f64.powi(power), -(10_f64.powi(power))]);
            for angle in far.chain(near) {
                let there = criterion(&turned(loadings, [a, b], angle));
                assert!(there <= here + 1e-12, "{there} > {here} at {angle} of {a} and {b}");
            }
        }
    }
}

/// `tests/oracle/varimax.py`.
fn oracle(kind: &str) -> Vec<Vec<f64>> {
    let lines = include_str!("../../../../tests/oracle/varimax.csv").lines();
    let rows = lines.filter_map(|line| line.strip_prefix(kind)?.strip_prefix(','));
    rows.map(|row| row.split(',').map(|x| x.parse().expect("a number")).collect()).collect()
}

fn distance(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    assert_eq!(a.len(), b.len());
    let of = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    a.iter().zip(b).map(of).fold(0.0, f64::max)
}

#[test]
fn equals_factor_analyzer() {
    for (before, after) in [("groups", "groups_rotated"), ("random", "random_rotated")] {
        let off = distance(&rotated(&oracle(before)), &oracle(after));
        println!("{before}: within {off:e} of factor_analyzer");
        assert!(off < 1e-9, "{before}: {off}");
    }
}

#[test]
fn where_the_factors_came_from_does_not_matter() {
    let given = oracle("groups");
    let expected = rotated(&given);
    for step in 1..40 {
        let angle = f64::from(step);
        let other = turned(&turned(&turned(&given, [0, 1], angle), [0, 2], 2.0 * angle), [1, 2], angle);
        assert!(distance(&rotated(&other), &expected) < 1e-9, "{step}");
    }
}

#[test]
fn one_factor_is_left_as_it_is() {
    let given = factors(&[vec![0.3, 0.0, -0.1, 0.7]]);
    let Factor { explained, loadings, .. } = given[0].clone();
    assert_eq!(varimax(&given), [Rotated { explained, loadings }]);
    assert_eq!(varimax(&[]), []);
    assert_eq!(varimax(&factors(&[vec![], vec![]])).len(), 2);
}

/// Columns that follow one of two quantities, and noise.
fn two_groups() -> Vec<Vec<f64>> {
    let wave = |row: u32, speed: f64| (f64::from(row) * speed).sin();
    let column = |j: u32| {
        let drive = if j < 4 { 0.11 } else { 0.47 };
        let noise = |row: u32| 0.15 * wave(row * row, 1.0 + f64::from(j));
        (0..200).map(|row| wave(row, drive) + noise(row)).collect()
    };
    (0..7).map(column).collect()
}

#[test]
fn two_groups_load_on_a_factor_each() {
    let values = two_groups();
    let columns: Vec<Column<'_>> = values.iter().map(|values| Column { name: "x", values }).collect();
    let found = factor_loadings(&columns).expect("columns vary");
    assert_eq!(n_above_one(&found.factors), 2);
    let after = varimax(&found.factors[..2]);
    for j in 0..7 {
        let of = usize::from(j >= 4);
        assert!(after[of].loadings[j] > 0.9 && after[1 - of].loadings[j].abs() < 0.2, "{j}: {after:?}");
    }
}

#[test]
fn events_load_on_the_factor_of_their_group_alone() {
    let (mut least, mut most, mut unrotated) = (1.0_f64, 0.0_f64, 1.0_f64);
    for seed in 0..20 {
        let mut table = counter_table(300, seed);
        table.events.retain(|event| event.group.is_some());
        let column = |e: usize| Column { name: table.events[e].name, values: &table.events[e].counts };
        let columns: Vec<Column<'_>> = (0..table.events.len()).map(column).collect();
        let found = factor_loadings(&columns).expect("columns vary");
        assert_eq!(n_above_one(&found.factors), 4);
        let after: Vec<Vec<f64>> = varimax(&found.factors[..4]).into_iter().map(|f| f.loadings).collect();
        let of = |e: usize| (0..4).max_by(|&a, &b| after[a][e].abs().total_cmp(&after[b][e].abs()));
        for (e, event) in table.events.iter().enumerate() {
            for (f, factor) in after.iter().enumerate() {
                let size = factor[e].abs();
                if of(e) == Some(f) { least = least.min(size) } else { most = most.max(size) }
            }
            let largest = found.factors[..4].iter().map(|f| f.loadings[e].abs()).fold(0.0, f64::max);
            unrotated = unrotated.min(largest);
            for (other, same) in table.events.iter().enumerate() {
                assert_eq!(of(e) == of(other), event.group == same.group);
            }
        }
    }
    println!("own factor: {least} or more, others: {most} or less; unrotated, the largest: {unrotated}");
    assert!(least > 0.9 && most < 0.25, "{least} {most}");
}

#[test]
fn columns_that_no_factor_explains_stay_and_change_nothing() {
    let given = oracle("groups");
    let expected = rotated(&given);
    let zeros: Vec<Vec<f64>> = given.iter().map(|factor| [&[0.0, 1e-17], &factor[..]].concat()).collect();
    let after = varimax(&factors(&zeros));
    for (factor, expected) in after.iter().zip(&expected) {
        assert_eq!((factor.loadings[0], &factor.loadings[2..]), (0.0, &expected[..]));
        assert!(factor.loadings[1].abs() < 1e-16);
    }
    assert!(rotated(&vec![vec![0.0; 5]; 3]).concat().iter().all(|&x| x == 0.0));
}

#[test]
fn where_every_angle_is_as_good_nothing_turns() {
    for given in [vec![vec![0.5; 6]; 3], vec![vec![0.8], vec![0.3], vec![0.1]]] {
        assert_eq!(rotated(&given), given);
    }
    let mixed = vec![vec![0.5, 0.5, 0.5, 0.5], vec![0.5, 0.5, -0.5, -0.5]];
    let half = 0.5_f64.sqrt();
    let expected = vec![vec![half, half, 0.0, 0.0], vec![0.0, 0.0, half, half]];
    assert!(distance(&rotated(&mixed), &expected) < 1e-15);
}

#[test]
fn eigenvalues_above_one_are_counted() {
    let of = |eigenvalues: &[f64]| {
        let factor =
            |&eigenvalue: &f64| Factor { eigenvalue, explained: 0.0, component: vec![], loadings: vec![] };
        n_above_one(&eigenvalues.iter().map(factor).collect::<Vec<Factor>>())
    };
    assert_eq!([of(&[3.0, 1.5, 1.0 + 1e-12, 0.2]), of(&[1.0, 1.0]), of(&[])], [2, 1, 0]);
}

prop_compose! {
    fn some_loadings()(m in 1usize..12, k in 1usize..6)(
        loadings in prop::collection::vec(
            prop::collection::vec(prop_oneof![4 => -1.0..1.0f64, 1 => Just(0.0), 1 => Just(0.5)], m), k)
    ) -> Vec<Vec<f64>> {
        loadings
    }
}

proptest! {
    #[test]
    fn the_criterion_is_greatest_and_nothing_is_lost(given in some_loadings()) {
        let m = given[0].len();
        let found = varimax(&factors(&given));
        let after: Vec<Vec<f64>> = found.iter().map(|factor| factor.loadings.clone()).collect();
        prop_assert_eq!(after.len(), given.len());
        for j in 0..m {
            prop_assert!((communality(&after, j) - communality(&given, j)).abs() < 1e-12);
        }
        for factor in &found {
            let squares: f64 = factor.loadings.iter().map(|x| x * x).sum();
            prop_assert!((factor.explained - squares / m as f64).abs() < 1e-12);
            let largest = factor.loadings.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            let leading = factor.loadings.iter().find(|x| x.abs() >= largest * (1.0 - 1e-9));
            prop_assert!(leading.is_some_and(|&x| x >= 0.0));
        }
        prop_assert!(found.is_sorted_by(|a, b| a.explained >= b.explained));
        prop_assert!(criterion(&after) >= criterion(&given) - 1e-12);
        no_turn_is_better(&after);
        prop_assert_eq!(found, varimax(&factors(&given)));
    }
}
