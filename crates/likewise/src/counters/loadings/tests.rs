use proptest::prelude::*;

use super::*;
use crate::linear::pca;

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn table(values: &[Vec<f64>]) -> Vec<Column<'_>> {
    values.iter().zip(NAMES).map(|(values, name)| Column { name, values }).collect()
}

/// `tests/oracle/loadings.py`.
fn oracle(kind: &str) -> Vec<Vec<f64>> {
    let lines = include_str!("../../../tests/oracle/loadings.csv").lines();
    let rows = lines.filter_map(|line| line.strip_prefix(kind)?.strip_prefix(','));
    rows.map(|row| row.split(',').map(|x| x.parse().expect("a number")).collect()).collect()
}

fn close<'a>(ours: impl IntoIterator<Item = &'a f64>, theirs: &[f64], tolerance: f64) {
    let ours: Vec<f64> = ours.into_iter().copied().collect();
    assert_eq!(ours.len(), theirs.len());
    let near = ours.iter().zip(theirs).all(|(a, b)| (a - b).abs() < tolerance);
    assert!(near, "{ours:?} is not {theirs:?}");
}

#[test]
fn equals_scikit_learn_where_nothing_is_missing() {
    let values = oracle("x");
    let found = factor_loadings(&table(&values)).expect("columns vary");
    close(found.factors.iter().map(|f| &f.eigenvalue), &oracle("eigenvalue")[0], 1e-9);
    close(found.factors.iter().map(|f| &f.explained), &oracle("explained")[0], 1e-9);
    let expected = oracle("loading");
    assert_eq!(found.factors.len(), expected.len());
    found.factors.iter().zip(&expected).for_each(|(f, row)| close(&f.loadings, row, 1e-8));
    assert_eq!((found.clipped, found.least_common), (0.0, 25));
}

#[test]
fn pairwise_correlations_are_those_of_pandas() {
    let values = oracle("gap");
    let found = factor_loadings(&table(&values)).expect("columns vary");
    close(&found.correlation, &oracle("r").concat(), 1e-9);
    let eigenvalues = &oracle("gapvalue")[0];
    let positive: Vec<f64> = eigenvalues.iter().map(|x| x.max(0.0)).collect();
    close(found.factors.iter().map(|f| &f.eigenvalue), &positive, 1e-9);
    let negative: f64 = eigenvalues.iter().map(|x| (-x).max(0.0)).sum();
    assert!(negative > 0.2 && (found.clipped - negative).abs() < 1e-9);
    let explained: f64 = found.factors.iter().map(|f| f.explained).sum();
    assert!((explained - 1.0).abs() < 1e-12);
}

#[test]
fn the_first_of_two_counters_decides_the_sign() {
    for shift in 0..20 {
        let a: Vec<f64> = (0..9).map(|i| f64::from(i * i + shift)).collect();
        let b: Vec<f64> = (0..9).map(|i| f64::from(-7 * i + 3 * (i % 3))).collect();
        let found = factor_loadings(&table(&[a, b])).expect("columns vary");
        let [first, second] = &found.factors[..] else { panic!("two factors") };
        assert!(first.loadings[0] > 0.0 && first.loadings[1] < 0.0);
        assert!(second.loadings.iter().all(|&x| x > 0.0));
    }
}

#[test]
fn constant_columns_are_left_out_and_pairs_without_rows_named() {
    let nan = f64::NAN;
    let values = [
        vec![1.0, 2.0, 4.0, 3.0, nan, nan, nan],
        vec![5.0; 7],
        vec![nan; 7],
        vec![2.0, 1.0, 3.0, 9.0, 4.0, 5.0, 1.0],
    ];
    let found = factor_loadings(&table(&values)).expect("columns vary");
    assert_eq!((found.used, found.constant, found.least_common), (vec![0, 3], vec![1, 2], 4));
    let apart = [values[0].clone(), vec![nan, nan, 1.0, 2.0, 3.0, 4.0, 5.0]];
    let error = factor_loadings(&table(&apart)).expect_err("two rows in common");
    assert_eq!(error, LoadingsError::Pair { first: "a".to_owned(), second: "b".to_owned(), rows: 2 });
    assert_eq!(factor_loadings(&[]), Err(LoadingsError::NothingVaries));
    let ragged = [vec![1.0, 2.0], vec![1.0]];
    assert!(factor_loadings(&table(&ragged)).is_err());
    assert!(factor_loadings(&table(&[vec![1.0, f64::INFINITY]])).is_err());
}

proptest! {
    #[test]
    fn complete_columns_have_the_components_of_their_z_scores(
        values in (1usize..5).prop_flat_map(|m| prop::collection::vec(
            prop::collection::vec(-10.0..10.0f64, 12), m))
    ) {
        let m = values.len();
        let found = factor_loadings(&table(&values)).expect("columns vary");
        let z = |column: &Vec<f64>| -> Vec<f64> {
            let mean = column.iter().sum::<f64>() / 12.0;
            let variance = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 11.0;
            column.iter().map(|x| (x - mean) / variance.sqrt()).collect()
        };
        let z: Vec<Vec<f64>> = values.iter().map(z).collect();
        let rows: Vec<f64> = (0..12).flat_map(|row| z.iter().map(move |c| c[row])).collect();
        let expected = pca(&rows, m, m);
        for (factor, variance) in found.factors.iter().zip(&expected.variance) {
            prop_assert!((factor.eigenvalue - variance).abs() < 1e-9);
        }
        // Loadings reproduce the correlations.
        for i in 0..m {
            for j in 0..m {
                let sum: f64 = found.factors.iter().map(|f| f.loadings[i] * f.loadings[j]).sum();
                prop_assert!((sum - found.correlation[i * m + j]).abs() < 1e-9);
            }
        }
    }
}
