//! Ranks beside their definitions.

use proptest::prelude::*;

use super::*;

fn objectives<'a>(columns: &'a [Vec<f64>], goals: &[Goal]) -> Vec<Objective<'a>> {
    columns.iter().zip(goals).map(|(values, &goal)| Objective { values, goal }).collect()
}

/// Whether record `a` dominates `b`, by the definition.
fn dominates(objectives: &[Objective<'_>], a: usize, b: usize) -> bool {
    let better = |o: &Objective<'_>, a: usize, b: usize| match o.goal {
        Goal::Max => o.values[a] > o.values[b],
        Goal::Min => o.values[a] < o.values[b],
    };
    let missing = objectives.iter().any(|o| o.values[a].is_nan() || o.values[b].is_nan());
    !missing && objectives.iter().all(|o| !better(o, b, a)) && objectives.iter().any(|o| better(o, a, b))
}

fn plain_goldberg(objectives: &[Objective<'_>]) -> Vec<Option<u32>> {
    let n = objectives[0].values.len();
    let mut ranks = vec![None; n];
    let mut left: Vec<usize> = (0..n).filter(|&r| objectives.iter().all(|o| !o.values[r].is_nan())).collect();
    for rank in 0.. {
        let best = |&b: &usize| !left.iter().any(|&a| dominates(objectives, a, b));
        let (front, rest): (Vec<usize>, Vec<usize>) = left.iter().partition(|b| best(b));
        if front.is_empty() {
            break;
        }
        front.into_iter().for_each(|record| ranks[record] = Some(rank));
        left = rest;
    }
    ranks
}

fn plain_fonseca_fleming(objectives: &[Objective<'_>]) -> Vec<Option<u32>> {
    let n = objectives[0].values.len();
    let count = |b: usize| (0..n).filter(|&a| dominates(objectives, a, b)).count() as u32;
    let is_whole = |b: usize| objectives.iter().all(|o| !o.values[b].is_nan());
    (0..n).map(|b| is_whole(b).then(|| count(b))).collect()
}

/// Few values, so that many tie; some are missing, some infinite, some zeros
/// negative.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        20 => (-4i32..5).prop_map(f64::from),
        8 => -1e3f64..1e3,
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        1 => Just(-0.0),
    ]
}

fn table() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<Goal>)> {
    (1usize..7, 0usize..120).prop_flat_map(|(h, n)| {
        let goal = prop_oneof![Just(Goal::Max), Just(Goal::Min)];
        (prop::collection::vec(prop::collection::vec(value(), n), h), prop::collection::vec(goal, h))
    })
}

proptest! {
    #[test]
    fn ranks_are_their_definitions((columns, goals) in table()) {
        let objectives = objectives(&columns, &goals);
        prop_assert_eq!(goldberg(&objectives).unwrap(), plain_goldberg(&objectives));
        prop_assert_eq!(fonseca_fleming(&objectives).unwrap(), plain_fonseca_fleming(&objectives));
    }

    /// Of all pairs, those that dominate make both ranks.
    #[test]
    fn relations_agree_with_ranks((columns, goals) in table()) {
        let objectives = objectives(&columns, &goals);
        let n = columns[0].len();
        let counts = fonseca_fleming(&objectives).unwrap();
        for (b, count) in counts.iter().enumerate() {
            let of = |a: usize| relation(&objectives, a, b).dominance;
            let dominators = (0..n).filter(|&a| of(a) == Dominance::Dominates).count() as u32;
            prop_assert_eq!(count.unwrap_or(0), dominators);
            for a in (0..n).filter(|&a| of(a) == Dominance::Dominates) {
                prop_assert!(dominates(&objectives, a, b));
                prop_assert_eq!(relation(&objectives, b, a).dominance, Dominance::Dominated);
            }
        }
    }

    /// Many different values: long fronts.
    #[test]
    fn ranks_on_a_trade_off_are_their_definitions(
        records in prop::collection::vec((0.0f64..1.0, 0.0f64..1.0, 0.0f64..0.3), 1..300),
        h in 2usize..5,
    ) {
        let of = |f: fn(&(f64, f64, f64)) -> f64| records.iter().map(f).collect::<Vec<f64>>();
        let columns =
            [of(|r| r.0), of(|r| -r.0 + r.2), of(|r| r.1 * r.1 - r.0), of(|r| (r.1 * 8.0).floor())];
        let objectives = objectives(&columns[..h], &[Goal::Min; 4]);
        prop_assert_eq!(goldberg(&objectives).unwrap(), plain_goldberg(&objectives));
        prop_assert_eq!(fonseca_fleming(&objectives).unwrap(), plain_fonseca_fleming(&objectives));
    }
}

/// The left half of Table 4 as printed, of Table 3 as printed.
#[test]
fn relations_of_table_3_are_table_4() {
    const NONE: f64 = f64::NAN;
    let s1 = vec![1.78, 1.96, 2.39, 3.03, 2.82, NONE];
    let h1 = vec![0.00, 0.33, 0.86, 1.92, 2.71, 5.43];
    let r = vec![0.75, 0.45, 0.42, 0.35, 0.04, 0.25];
    let columns = [s1, h1, r];
    let objectives = objectives(&columns, &[Goal::Max, Goal::Min, Goal::Min]);
    let printed = "\
xxx 010 010 010 010 x10
101 xxx 010 010 010 x10
101 101 xxx 010 010 x10
101 101 101 xxx 110 x10
101 101 101 001 xxx x11
x01 x01 x01 x01 x00 xxx";
    for (a, line) in printed.lines().enumerate() {
        for (b, cell) in line.split(' ').enumerate().filter(|(b, _)| *b != a) {
            let digit = |better: &Option<bool>| better.map_or('x', |better| if better { '1' } else { '0' });
            let found: String = relation(&objectives, a, b).better.iter().map(digit).collect();
            assert_eq!(found, cell, "P{} and P{}", 6 - a, 6 - b);
        }
    }
    let two = &objectives[..2];
    assert_eq!(relation(two, 3, 4).dominance, Dominance::Dominates, "P3 and P2");
    assert_eq!(relation(two, 4, 3).dominance, Dominance::Dominated);
    assert_eq!(relation(two, 0, 5).dominance, Dominance::Unknown);
    assert_eq!(relation(&objectives, 3, 4).dominance, Dominance::Neither);
}

/// So many that several threads count.
#[test]
fn dominators_of_many_records_are_their_definition() {
    let n = 70_000u64;
    let columns =
        [1, 2].map(|way| (0..n).map(|i| (i * 7919 * way % 60_013 / way) as f64).collect::<Vec<f64>>());
    let objectives = objectives(&columns, &[Goal::Min, Goal::Max]);
    let counts = fonseca_fleming(&objectives).unwrap();
    for record in (0..n as usize).step_by(3571) {
        let dominators = (0..n as usize).filter(|&other| dominates(&objectives, other, record)).count();
        assert_eq!(counts[record], Some(dominators as u32));
    }
}

/// Table 3 of the paper as printed, and Table 4.
#[test]
fn goldberg_ranks_of_table_3_are_table_4() {
    const NONE: f64 = f64::NAN;
    let s1 = vec![1.78, 1.96, 2.39, 3.03, 2.82, NONE];
    let h1 = vec![0.00, 0.33, 0.86, 1.92, 2.71, 5.43];
    let r = vec![0.75, 0.45, 0.42, 0.35, 0.04, 0.25];
    let max = |values| Objective { values, goal: Goal::Max };
    let min = |values| Objective { values, goal: Goal::Min };
    let some = |ranks: [i32; 6]| ranks.map(|rank| u32::try_from(rank).ok()).to_vec();
    let all = goldberg(&[max(&s1), min(&h1), min(&r)]);
    assert_eq!(all.unwrap(), some([0, 0, 0, 0, 0, -1]));
    assert_eq!(goldberg(&[max(&s1), min(&h1)]).unwrap(), some([0, 0, 0, 0, 1, -1]));
    assert_eq!(goldberg(&[max(&s1), min(&r)]).unwrap(), some([3, 2, 1, 0, 0, -1]));
    assert_eq!(goldberg(&[min(&h1), min(&r)]).unwrap(), some([0, 0, 0, 0, 0, 1]));
}

#[test]
fn what_cannot_be_ranked_is_told() {
    assert_eq!(goldberg(&[]), Err(ParetoError::NoObjective));
    let (one, two) = ([1.0], [1.0, 2.0]);
    let objectives =
        [Objective { values: &one, goal: Goal::Max }, Objective { values: &two, goal: Goal::Min }];
    let error = ParetoError::Lengths { objective: 1, len: 2, expected: 1 };
    assert_eq!(goldberg(&objectives), Err(error.clone()));
    assert_eq!(fonseca_fleming(&objectives), Err(error));
    assert_eq!(goldberg(&[Objective { values: &[], goal: Goal::Max }]), Ok(Vec::new()));
}
