//! Whether ranks differ steadily.

use statrs::distribution::{ChiSquared, ContinuousCDF, StudentsT};

/// Fewer ranks stand in some order too often by chance.
pub const LEAST_RANKS: usize = 6;

const CHANCE: f64 = 0.001;

/// Pearson's correlation; `None` where one of both does not vary.
#[must_use]
pub fn pearson(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let n = pairs.clone().count() as f64;
    let (sum_x, sum_y) = pairs.clone().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (mean_x, mean_y) = (sum_x / n, sum_y / n);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        let (x, y) = (x - mean_x, y - mean_y);
        (xx, yy, xy) = (xx + x * x, yy + y * y, xy + x * y);
    }
    (xx > 0.0 && yy > 0.0).then(|| (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}

/// Of each number, its place among all, the mean of equal ones.
fn places(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut places = vec![0.0; values.len()];
    let mut at = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let place = at as f64 + (equal.len() - 1) as f64 / 2.0;
        equal.iter().for_each(|&i| places[i] = place);
        at += equal.len();
    }
    places
}

/// Whether chance makes a correlation of that size less often than once in a
/// thousand, by Student's t. Of fewer than [`LEAST_RANKS`] nothing is.
#[must_use]
pub fn is_significant(r: f64, n: usize) -> bool {
    if n < LEAST_RANKS {
        return false;
    }
    let freedom = (n - 2) as f64;
    let t = r.abs() * (freedom / (1.0 - r * r).max(f64::MIN_POSITIVE)).sqrt();
    StudentsT::new(0.0, 1.0, freedom).is_ok_and(|student| 2.0 * student.sf(t) < CHANCE)
}

/// So many deviations from 0 none of `n` numbers is by chance, but for once in a thousand
/// times, where the deviation is known with `freedom` degrees of freedom (Student's t,
/// Bonferroni). Infinite without any freedom.
#[must_use]
pub fn beyond_chance(n: usize, freedom: f64) -> f64 {
    let chance = CHANCE / (2.0 * n.max(1) as f64);
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |student| -student.inverse_cdf(chance))
}

/// Whether what objects do in a part makes up for what they do in others: sums over all
/// parts vary less than those of parts that know nothing of one another, by more than chance
/// does once in a thousand times (χ²).
///
/// `of_sum` is the variance of the sums over `n` objects, `of_parts` the sum of the variances
/// of the parts, both with divisor n − 1.
#[must_use]
pub fn makes_up(of_sum: f64, of_parts: f64, n: usize) -> bool {
    let freedom = n.saturating_sub(1) as f64;
    let is_less = |chi: ChiSquared| chi.cdf(freedom * of_sum / of_parts) < CHANCE;
    of_parts > 0.0 && ChiSquared::new(freedom).is_ok_and(is_less)
}

/// Spearman's correlation of numbers with their places in the list; `None`
/// where nothing varies.
#[must_use]
pub fn spearman(values: &[f64]) -> Option<f64> {
    pearson(
        places(values)
            .into_iter()
            .enumerate()
            .map(|(i, place)| (i as f64, place))
            .collect::<Vec<_>>()
            .into_iter(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_equal_numbers_are_shared() {
        assert_eq!(places(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
        assert_eq!(pearson([(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)].into_iter()), Some(1.0));
        assert_eq!(pearson([(1.0, 2.0), (2.0, 2.0)].into_iter()), None);
        // As SciPy's spearmanr has it.
        assert_eq!(spearman(&[1.0, 2.0, 4.0, 3.0]), Some(0.8));
    }

    #[test]
    fn parts_make_up_where_sums_hardly_vary() {
        // As SciPy's t.ppf and chi2.cdf have it.
        assert!(
            (beyond_chance(1, 10.0) - 4.5869).abs() < 1e-3 && (beyond_chance(64, 1e6) - 4.3163).abs() < 0.01
        );
        assert_eq!(beyond_chance(3, 0.0), f64::INFINITY);
        assert!(makes_up(0.2, 1.0, 16) && !makes_up(0.3, 1.0, 16) && !makes_up(1.0, 1.0, 16));
        // Two or three ranks do not tell.
        assert!(!makes_up(0.01, 1.0, 2) && !makes_up(0.01, 1.0, 3));
        assert!(!makes_up(0.0, 0.0, 9) && !makes_up(0.0, 1.0, 1));
    }

    #[test]
    fn few_ranks_are_no_trend() {
        assert!(!is_significant(1.0, 5));
        assert!(is_significant(-0.97, 8) && !is_significant(0.8, 8));
        assert!(is_significant(0.2, 1000) && !is_significant(0.05, 1000));
    }
}
