//! Values in two groups, told by the gap between them.

/// A gap parts two groups where it is more than this share of the range: it
/// is wider than all that lies on either side of it together.
const MOST: f64 = 0.5;

/// The two sides of a gap, each in ascending order of the values; neither is
/// empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Places of the values below.
    pub low: Vec<usize>,
    /// Places of the values above.
    pub high: Vec<usize>,
}

/// The gap that is more than half of the range of the values; `None` where
/// there is no such gap. At most one gap can be that.
///
/// Values without such a gap differ by degrees. The scale is the caller's:
/// of logarithms, a gap is a ratio.
///
/// # Complexity
/// O(n log n) for n values.
///
/// # Example
/// ```
/// let gap = likewise::gap(&[1.0, 5.0, 1.2, 1.1]).unwrap();
/// assert_eq!((gap.low, gap.high), (vec![0, 3, 2], vec![1]));
/// assert_eq!(likewise::gap(&[1.0, 2.0, 3.0, 4.0]), None);
/// ```
#[must_use]
pub fn gap(values: &[f64]) -> Option<Gap> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
    let range = values[*order.last()?] - values[order[0]];
    let is_gap = |at: &usize| values[order[*at]] - values[order[*at - 1]] > MOST * range;
    let at = (1..order.len()).find(is_gap)?;
    let high = order.split_off(at);
    Some(Gap { low: order, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_wider_than_all_else_together() {
        let sides = |values: &[f64]| gap(values).map(|gap| (gap.low, gap.high));
        assert_eq!(sides(&[9.0, 1.0, 9.5, 1.5, 9.2]), Some((vec![1, 3], vec![0, 4, 2])));
        // Equal values are in order of their places.
        assert_eq!(sides(&[2.0, 1.0, 2.0, 1.0]), Some((vec![1, 3], vec![0, 2])));
        // Half is not most.
        assert_eq!(sides(&[0.0, 1.0, 2.0]), None);
        assert_eq!((sides(&[1.0, 1.0]), sides(&[3.0]), sides(&[])), (None, None, None));
    }
}
