//! Extrapolation against its formulas written out, and on made-up phases.

use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::*;
use crate::table::{BurstClass, Counter, CounterColumn, Nanos};

/// Of a preparation, only which bursts are complete.
pub(in super::super) fn prepared_of(complete: &[u32]) -> Prepared {
    Prepared {
        class: vec![BurstClass::Complete; complete.len()],
        complete: complete.to_vec().into(),
        metrics: Vec::new(),
        normalisations: Vec::new(),
        points: Vec::new(),
        dims: 1,
        min_duration: Nanos::ZERO,
        pca: None,
        notes: Vec::new(),
    }
}

fn table(durations: &[u64], counters: &[Vec<f64>]) -> BurstTable {
    let n = durations.len();
    let column = |values: &Vec<f64>| CounterColumn {
        counter: Counter { event_type: None, name: String::new(), description: String::new() },
        values: values.clone().into(),
    };
    BurstTable {
        app: vec![1; n].into(),
        task: vec![1; n].into(),
        thread: vec![1; n].into(),
        begin: vec![Nanos(0); n],
        duration: durations.iter().map(|&d| Nanos(d)).collect(),
        counters: counters.iter().map(column).collect(),
        code: None,
    }
}

fn one_phase(n: usize) -> (Prepared, Clustering) {
    let complete: Vec<u32> = (0..n as u32).collect();
    let labels = vec![Some(ClusterId::from_index(0)); n];
    (prepared_of(&complete), Clustering { labels, n_clusters: 1 })
}

const NAN: f64 = f64::NAN;

#[test]
fn a_counter_in_proportion_is_found_exactly() {
    // Misses are a hundredth of the instructions; the long bursts lack them.
    let instructions: Vec<f64> = (1..=6).map(|i| 1000.0 * f64::from(i)).collect();
    let misses = vec![10.0, 20.0, 30.0, NAN, NAN, NAN];
    let table = table(&[7, 3, 9, 2, 8, 4], &[instructions, misses, vec![NAN; 6]]);
    let (prepared, clustering) = one_phase(6);
    let found = extrapolate(&table, &prepared, &clustering);
    let misses = found[0][1].unwrap();
    assert_eq!((misses.n, misses.estimator), (3, Estimator::PerCounter(0)));
    assert!((misses.mean - 35.0).abs() < 1e-12 && misses.standard_error.unwrap() < 1e-12, "{misses:?}");
    let observed = found[0][0].unwrap();
    assert_eq!(
        (observed.estimator, observed.mean, observed.standard_error),
        (Estimator::Observed, 3500.0, Some(0.0))
    );
    assert!((misses.deviation - observed.deviation / 100.0).abs() < 1e-12);
    assert_eq!(found[0][2], None, "carried by none");
    assert_eq!(found[1], [None; 3], "no noise");
}

/// A recorder reads the CPU time of long bursts alone.
#[test]
fn of_cpu_time_long_bursts_tell_their_share() {
    let found = |durations: &[u64], cpu: Vec<f64>| {
        let mut table = table(durations, &[cpu]);
        let Counter { name, description, .. } = &mut table.counters[0].counter;
        (*name, *description) = ("CPU time".to_owned(), "ns".to_owned());
        let (prepared, clustering) = one_phase(durations.len());
        extrapolate(&table, &prepared, &clustering)[0][0]
    };
    // Two of 40 have 80 of 118 and are on a core for three quarters of it, so that a burst has
    // 2.2 in the mean, and no more than it lasts. Their own mean is 30.
    let mut durations = vec![1; 40];
    durations[7..9].fill(40);
    let cpu: Vec<f64> = durations.iter().map(|&d| if d == 1 { NAN } else { 30.0 }).collect();
    let known = found(&durations, cpu.clone()).expect("more than half is known");
    assert_eq!((known.n, known.estimator, known.standard_error), (2, Estimator::PerDuration, None));
    assert!(known.deviation.is_nan());
    assert!((known.mean - 0.75 * 118.0 / 40.0).abs() < 1e-12, "{known:?}");
    // One of them has 40 of 79; where all others are longer, it tells nothing of them.
    durations[8] = 1;
    let one = found(
        &durations,
        cpu.iter().copied().enumerate().map(|(i, x)| if i == 8 { NAN } else { x }).collect(),
    );
    assert_eq!(one.map(|one| (one.n, one.standard_error)), Some((1, None)));
    durations[8] = 9;
    let one = found(&durations, (0..40).map(|i| if i == 7 { 30.0 } else { NAN }).collect());
    assert!(
        one.is_some_and(|one| one.n == 1 && one.mean.is_nan() && one.estimator == Estimator::PerDuration)
    );
    // Of all of them, it is what they have.
    let all = found(&[10, 20], vec![5.0, 7.0]).expect("all is known");
    assert_eq!((all.estimator, all.mean), (Estimator::Observed, 6.0));
}

#[test]
fn too_few_carriers_give_their_mean() {
    let table = table(&[1, 2, 3], &[vec![4.0, NAN, NAN], vec![4.0, 6.0, NAN]]);
    let (prepared, clustering) = one_phase(3);
    let found = &extrapolate(&table, &prepared, &clustering)[0];
    let (one, two) = (found[0].unwrap(), found[1].unwrap());
    assert_eq!((one.mean, one.estimator), (4.0, Estimator::Mean));
    assert_eq!(one.standard_error, None);
    // s² = 2, a third is missing: √(1/3 · 2 / 2).
    assert_eq!((two.mean, two.n), (5.0, 2));
    assert!((two.standard_error.unwrap() - (1.0f64 / 3.0).sqrt()).abs() < 1e-12);
}

#[test]
fn zeros_do_no_harm() {
    let table = table(&[0; 5], &[vec![0.0; 5], vec![0.0, 0.0, 0.0, NAN, NAN]]);
    let (prepared, clustering) = one_phase(5);
    let found = extrapolate(&table, &prepared, &clustering)[0][1].unwrap();
    assert_eq!((found.mean, found.deviation, found.estimator), (0.0, 0.0, Estimator::Mean));
}

/// Least residual of the mean and the ratios, by the book.
fn reference(y: &[f64], auxiliaries: &[Vec<f64>]) -> (f64, f64) {
    let at: Vec<usize> = (0..y.len()).filter(|&i| !y[i].is_nan()).collect();
    let n = at.len() as f64;
    let mean = at.iter().map(|&i| y[i]).sum::<f64>() / n;
    let mut best = (at.iter().map(|&i| (y[i] - mean).powi(2)).sum::<f64>(), mean);
    if at.len() < 3 || at.len() == y.len() {
        return best;
    }
    for x in auxiliaries {
        let ratio = at.iter().map(|&i| y[i]).sum::<f64>() / at.iter().map(|&i| x[i]).sum::<f64>();
        let residual = at.iter().map(|&i| (y[i] - ratio * x[i]).powi(2)).sum::<f64>();
        if residual < best.0 {
            best = (residual, ratio * x.iter().sum::<f64>() / x.len() as f64);
        }
    }
    best
}

proptest! {
    #[test]
    fn equals_the_formulas_written_out(
        bursts in prop::collection::vec((1u64..50, 1.0..9.0f64, prop::option::weighted(0.6, 1.0..9.0f64)), 1..30)
    ) {
        let durations: Vec<u64> = bursts.iter().map(|b| b.0).collect();
        let common: Vec<f64> = bursts.iter().map(|b| b.1).collect();
        let partial: Vec<f64> = bursts.iter().map(|b| b.2.unwrap_or(NAN)).collect();
        let table = table(&durations, &[common.clone(), partial.clone()]);
        let (prepared, clustering) = one_phase(bursts.len());
        let found = extrapolate(&table, &prepared, &clustering)[0][1];
        let n = bursts.iter().filter(|b| b.2.is_some()).count();
        prop_assert_eq!(found.map_or(0, |f| f.n), n as u64);
        if let Some(found) = found {
            let durations: Vec<f64> = durations.iter().map(|&d| d as f64).collect();
            let (squares, mean) = reference(&partial, &[common, durations]);
            prop_assert!((found.mean - mean).abs() <= 1e-9 * mean, "{:?} {}", found, mean);
            let left = 1.0 - n as f64 / bursts.len() as f64;
            let error = (left * squares / ((n as f64 - 1.0) * n as f64)).sqrt();
            let all = n == bursts.len();
            prop_assert_eq!(found.standard_error.is_some(), n > 1 || all);
            if let Some(found_error) = found.standard_error.filter(|_| !all) {
                prop_assert!((found_error - error).abs() <= 1e-9 + 1e-6 * error, "{:?} {}", found, error);
            }
        }
    }

    #[test]
    fn what_was_hidden_is_half_and_is_found(n in 2usize..40, seed in any::<u64>()) {
        let durations: Vec<u64> = (0..n as u64).map(|i| 100 + i % 7).collect();
        let common: Vec<f64> = (0..n).map(|i| 1000.0 + (i % 5) as f64).collect();
        let scaled = |by: f64| common.iter().map(|x| x * by).collect::<Vec<f64>>();
        let table = table(&durations, &[common.clone(), scaled(2.0), scaled(3.0), scaled(4.0)]);
        let (prepared, clustering) = one_phase(n);
        let check = |seed| {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            hold_out(&table, &prepared, &clustering, &[0], &mut rng)
        };
        let checked = check(seed);
        prop_assert_eq!(checked.len(), 3);
        for held in &checked {
            prop_assert!(held.hidden as usize == n / 2 || held.hidden as usize == n.div_ceil(2));
            prop_assert_eq!(held.hidden + held.found.n, n as u64);
            if held.found.n >= 3 {
                prop_assert!(held.error() < 1e-12, "{:?}", held);
            }
        }
        // Sets take turns.
        prop_assert_eq!(checked[0].hidden, checked[2].hidden);
        prop_assert_eq!(checked[0].hidden + checked[1].hidden, n as u64);
        prop_assert_eq!(checked, check(seed));
    }
}
