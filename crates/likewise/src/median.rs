//! Medians. Of an even number of values, three things are called so, and a
//! result depends on which: the lower of the two in the middle, the upper one,
//! or their mean. A lower or upper median is one of the values, so it can be
//! shown as a burst or a time that was measured.
//!
//! # Example
//! ```
//! use likewise::median;
//!
//! let times = median::sorted([4.0, 1.0, 8.0, 2.0]);
//! assert_eq!(median::lower(&times), Some(2.0));
//! assert_eq!(median::mean(&times), Some(3.0));
//! assert_eq!(median::upper(&times), Some(4.0));
//! // 8 has more than half of the weight.
//! assert_eq!(median::weighted(vec![(1.0, 1.0), (8.0, 3.0), (2.0, 1.0)]), Some(8.0));
//! ```

/// The values in ascending order, as the other functions want them.
#[must_use]
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The median, of an even number the lower of the two in the middle; none of
/// no values.
#[must_use]
pub fn lower<T: Copy>(sorted: &[T]) -> Option<T> {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

/// The median, of an even number the upper of the two in the middle; none of
/// no values.
#[must_use]
pub fn upper<T: Copy>(sorted: &[T]) -> Option<T> {
    sorted.get(sorted.len() / 2).copied()
}

/// The median, of an even number the mean of the two in the middle; none of
/// no values.
#[must_use]
pub fn mean(sorted: &[f64]) -> Option<f64> {
    let (lower, upper) = (lower(sorted)?, upper(sorted)?);
    Some(if sorted.len() % 2 == 1 { upper } else { (lower + upper) / 2.0 })
}

/// The least value, of pairs `(value, weight)`, such that it and those below
/// have at least half of all weight; none of no values.
#[must_use]
pub fn weighted(mut values: Vec<(f64, f64)>) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let reaches_half = |(_, weight): &(f64, f64)| {
        sum += weight;
        sum >= half
    };
    values.into_iter().find(reaches_half).map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_odd_number_all_are_the_one_in_the_middle() {
        let x = sorted([3.0, 1.0, 2.0]);
        assert_eq!([lower(&x), upper(&x), mean(&x)], [Some(2.0); 3]);
        assert_eq!(weighted(x.iter().map(|&x| (x, 1.0)).collect()), Some(2.0));
    }

    #[test]
    fn of_none_there_is_none() {
        assert_eq!([lower(&[]), upper(&[]), mean(&[]), weighted(Vec::new())], [None; 4]);
    }
}
