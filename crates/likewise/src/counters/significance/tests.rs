use proptest::prelude::*;

use super::*;

fn close(ours: f64, theirs: f64) {
    assert!((ours - theirs).abs() <= 1e-9 * theirs.abs() + 1e-300, "{ours:e} is not {theirs:e}");
}

/// `tests/oracle/ranktests.py`: groups, H and p, Dunn's p-values.
#[test]
fn equals_scipy_and_scikit_posthocs() {
    let mut groups: Vec<Vec<f64>> = Vec::new();
    let mut test = None;
    let mut checked = 0;
    for line in include_str!("../../../tests/oracle/ranktests.csv").lines() {
        let (kind, rest) = line.split_once(',').expect("a kind");
        let values: Vec<f64> = rest.split(',').map(|x| x.parse().expect("a number")).collect();
        let adjustment = match kind {
            "x" => {
                if test.take().is_some() {
                    groups.clear();
                }
                groups.push(values);
                continue;
            }
            "kruskal" => {
                let slices: Vec<&[f64]> = groups.iter().map(Vec::as_slice).collect();
                let found = kruskal_wallis(&slices, Precision::Full).expect("groups");
                close(found.h, values[0]);
                close(found.p, values[1]);
                test = Some(found);
                continue;
            }
            "dunn" => Adjustment::Unadjusted,
            "holm" => Adjustment::Holm,
            _ => Adjustment::Bonferroni,
        };
        let pairs = dunn(test.as_ref().expect("a test"), adjustment);
        assert_eq!(pairs.len(), values.len());
        pairs.iter().zip(values).for_each(|(pair, theirs)| close(pair.p_adjusted, theirs));
        checked += 1;
    }
    assert_eq!(checked, 30);
}

#[test]
fn units_make_ties_of_what_low_bits_tell_apart() {
    let (a, b) = ([1.9876, 10.777, 4.04], [2.0123, 10.81, 3.96]);
    let test = |precision| kruskal_wallis(&[&a, &b], precision).expect("groups");
    assert_eq!(test(Precision::Full).ties, 1.0);
    let rounded = test(Precision::Rounded(0.1));
    assert_eq!((rounded.h, rounded.p), (0.0, 1.0));
    assert!((rounded.ties - (1.0 - 3.0 * 6.0 / 210.0)).abs() < 1e-15);
    // 1.98 and 2.01, 10.77 and 10.81, 4.04 and 3.96 differ as they did.
    assert_eq!(test(Precision::Truncated(0.01)), test(Precision::Full));
    assert_eq!(test(Precision::Rounded(100.0)).ties, 0.0);
}

/// `--truncate v=0.1` made 0.2 of 0.3, for 0.3 / 0.1 is 2.9999999999999996: p was 1 and not 0.19.
#[test]
fn a_multiple_of_the_unit_stays_as_it_is() {
    for tenths in -2000..2000 {
        let (value, whole) = (f64::from(tenths) / 10.0, f64::from(tenths));
        assert_eq!(in_units(value, 0.1), whole);
        // Halves go away from 0, and what is below a multiple stays below.
        let half = f64::from(10 * tenths + 5) / 100.0;
        assert_eq!(in_units(half, 0.1), whole + 0.5);
        assert!(tenths == 0 || in_units(value.abs() * (1.0 - 1e-14), 0.1) < whole.abs());
    }
    let test = |a: &[f64], b: &[f64], precision| kruskal_wallis(&[a, b], precision).expect("groups").h;
    let (a, b) = ([0.3, 0.6, 0.7], [0.25, 0.55, 0.75]);
    let (whole_a, whole_b) = ([3.0, 6.0, 7.0], [2.0, 5.0, 7.0]);
    assert_eq!(test(&a, &b, Precision::Truncated(0.1)), test(&whole_a, &whole_b, Precision::Full));
}

#[test]
fn nothing_differs_where_all_is_equal() {
    let test = kruskal_wallis(&[&[2.0, 2.0], &[2.0, f64::NAN], &[2.0]], Precision::Full).expect("groups");
    assert_eq!((test.h, test.p, test.ties, test.n_missing), (0.0, 1.0, 0.0, 1));
    assert!(dunn(&test, Adjustment::Holm).iter().all(|pair| (pair.z, pair.p_adjusted) == (0.0, 1.0)));
}

#[test]
fn says_what_cannot_be_compared() {
    let error = |groups: &[&[f64]], precision| kruskal_wallis(groups, precision).expect_err("an error");
    assert_eq!(error(&[&[1.0]], Precision::Full), SignificanceError::TooFewGroups(1));
    assert_eq!(error(&[&[1.0], &[f64::NAN]], Precision::Full), SignificanceError::EmptyGroup(1));
    assert_eq!(error(&[&[1.0], &[2.0]], Precision::Rounded(0.0)), SignificanceError::Unit(0.0));
    let infinite = error(&[&[1.0], &[3.0, f64::INFINITY]], Precision::Full);
    assert_eq!(infinite, SignificanceError::NotFinite { group: 1, index: 1 });
}

/// Ranks by counting; H as the share of their variance that lies between
/// groups, which needs no correction.
fn slow_h(groups: &[Vec<f64>]) -> f64 {
    let all: Vec<f64> = groups.concat();
    let rank = |x: f64| {
        let count = |test: &dyn Fn(f64) -> bool| all.iter().filter(|&&y| test(y)).count() as f64;
        count(&|y| y < x) + (count(&|y| y == x) + 1.0) / 2.0
    };
    let mean = (all.len() as f64 + 1.0) / 2.0;
    let total: f64 = all.iter().map(|&x| (rank(x) - mean).powi(2)).sum();
    let between = |group: &Vec<f64>| {
        let n = group.len() as f64;
        n * (group.iter().map(|&x| rank(x)).sum::<f64>() / n - mean).powi(2)
    };
    (all.len() as f64 - 1.0) * groups.iter().map(between).sum::<f64>() / total
}

proptest! {
    #[test]
    fn h_is_a_share_of_the_variance_of_ranks(
        groups in prop::collection::vec(prop::collection::vec((-3i8..4).prop_map(f64::from), 1..9), 2..5)
    ) {
        let slices: Vec<&[f64]> = groups.iter().map(Vec::as_slice).collect();
        let found = kruskal_wallis(&slices, Precision::Full).expect("groups");
        let slow = slow_h(&groups);
        prop_assert!((found.h - slow).abs() < 1e-9 || (slow.is_nan() && found.h == 0.0));
        let (holm, bonferroni) = (dunn(&found, Adjustment::Holm), dunn(&found, Adjustment::Bonferroni));
        for (holm, bonferroni) in holm.iter().zip(&bonferroni) {
            prop_assert!(holm.p <= holm.p_adjusted && holm.p_adjusted <= bonferroni.p_adjusted);
        }
    }
}
