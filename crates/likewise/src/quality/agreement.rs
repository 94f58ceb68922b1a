//! How alike two partitions of the same objects are.

use rayon::prelude::*;

use crate::cluster::ClusterId;

/// How alike two partitions are, over the objects that have a label in both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// The measure.
    pub value: f64,
    /// How many objects have a label in both; the others are left out.
    pub compared: usize,
}

/// The adjusted Rand index: 1 for equal partitions, about 0 for independent
/// ones, negative for worse than chance. `None` if no object has both labels.
///
/// # Panics
/// If the label lists differ in length.
///
/// # Complexity
/// O(n log n) in parallel; 8 bytes per object.
///
/// # Reference
/// Hubert & Arabie, *Journal of Classification* 2, 1985, equation 5, in the
/// pair counts of Steinley 2004. Two partitions without any pair to
/// disagree on (one object, or all equal) give 1, as in scikit-learn.
///
/// # Example
/// ```
/// use likewise::cluster::ClusterId;
/// use likewise::quality::adjusted_rand;
///
/// let of = |numbers: [usize; 4]| numbers.map(|number| Some(ClusterId::from_index(number)));
/// // The same partition under other numbers.
/// let same = adjusted_rand(&of([0, 0, 1, 1]), &of([5, 5, 2, 2])).unwrap();
/// assert_eq!((same.value, same.compared), (1.0, 4));
/// // As alike as chance makes them.
/// assert_eq!(adjusted_rand(&of([0, 0, 1, 1]), &of([0, 0, 0, 1])).unwrap().value, 0.0);
/// ```
#[must_use]
pub fn adjusted_rand(a: &[Option<ClusterId>], b: &[Option<ClusterId>]) -> Option<Agreement> {
    let counts = Contingency::of(a, b)?;
    let square = |x: u128| x as f64;
    let n = u128::from(counts.compared);
    // Ordered pairs of distinct objects: together in both, in one, in none.
    let both = counts.cells - n;
    let only_a = counts.rows - counts.cells;
    let only_b = counts.columns - counts.cells;
    let none = n * n + counts.cells - counts.rows - counts.columns;
    let value = if only_a == 0 && only_b == 0 {
        1.0
    } else {
        let (tp, fp, fn_, tn) = (square(both), square(only_b), square(only_a), square(none));
        2.0 * (tp * tn - fn_ * fp) / ((tp + fn_) * (fn_ + tn) + (tp + fp) * (fp + tn))
    };
    Some(Agreement { value, compared: counts.compared as usize })
}

/// Mirkin's distance over n²: the share of ordered pairs of objects that one
/// partition puts together and the other apart. 0 for equal partitions. `None`
/// if no object has both labels.
///
/// # Panics
/// If the label lists differ in length.
///
/// # Complexity
/// As for [`adjusted_rand`].
///
/// # Reference
/// Mirkin, *Mathematical Classification and Clustering*, 1996; (Σ|C|² + Σ|C'|²
/// − 2ΣΣ|C∩C'|²)/n² as ClusteringSuite's `ClustersDiff` has it, over the
/// objects labelled by both. Gamblin et al., ICS 2010, equations 4 and 5, whose
/// print lost the square of the last term.
///
/// # Example
/// ```
/// use likewise::cluster::ClusterId;
/// use likewise::quality::mirkin;
///
/// let of = |numbers: [usize; 4]| numbers.map(|number| Some(ClusterId::from_index(number)));
/// // 6 of 16 ordered pairs are together in one partition only.
/// assert_eq!(mirkin(&of([0, 0, 1, 1]), &of([0, 0, 0, 1])).unwrap().value, 6.0 / 16.0);
/// ```
#[must_use]
pub fn mirkin(a: &[Option<ClusterId>], b: &[Option<ClusterId>]) -> Option<Agreement> {
    let counts = Contingency::of(a, b)?;
    let apart = counts.rows + counts.columns - 2 * counts.cells;
    let n = counts.compared as f64;
    Some(Agreement { value: apart as f64 / n / n, compared: counts.compared as usize })
}

/// Sums of squares of the contingency table of two label lists.
struct Contingency {
    compared: u64,
    /// Over its cells.
    cells: u128,
    /// Over its row sums: the clusters of `a`.
    rows: u128,
    /// Over its column sums: the clusters of `b`.
    columns: u128,
}

impl Contingency {
    fn of(a: &[Option<ClusterId>], b: &[Option<ClusterId>]) -> Option<Self> {
        assert_eq!(a.len(), b.len(), "two labels for every object");
        let pair = |(a, b): (&Option<ClusterId>, &Option<ClusterId>)| {
            Some((a.as_ref()?.number(), b.as_ref()?.number()))
        };
        let mut pairs: Vec<(u32, u32)> = a.par_iter().zip(b).filter_map(pair).collect();
        // Sorting by pairs makes cells and rows runs; by b alone, columns.
        pairs.par_sort_unstable();
        let (cells, rows) = (squared_runs(&pairs, |&p| p), squared_runs(&pairs, |p| p.0));
        pairs.par_sort_unstable_by_key(|p| p.1);
        let columns = squared_runs(&pairs, |p| p.1);
        (!pairs.is_empty()).then_some(Contingency { compared: pairs.len() as u64, cells, rows, columns })
    }
}

/// Sum of the squared lengths of runs of equal keys.
fn squared_runs<K: PartialEq>(pairs: &[(u32, u32)], key: impl Fn(&(u32, u32)) -> K) -> u128 {
    pairs.chunk_by(|a, b| key(a) == key(b)).map(|run| (run.len() as u128).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Labels = Vec<Option<ClusterId>>;

    /// 0 is noise.
    fn labels(numbers: &[usize]) -> Labels {
        numbers.iter().map(|&n| n.checked_sub(1).map(ClusterId::from_index)).collect()
    }

    /// `tests/oracle/agreement.py`: labels, labels, scikit-learn's index.
    const ORACLE: &str = include_str!("../../tests/oracle/agreement.csv");

    #[test]
    fn adjusted_rand_equals_scikit_learn() {
        for line in ORACLE.lines() {
            let fields: Vec<&str> = line.split(',').collect();
            let read = |text: &str| {
                labels(&text.split(' ').map(|n| n.parse().expect("a label")).collect::<Vec<usize>>())
            };
            let expected: f64 = fields[2].parse().expect("an index");
            let found = adjusted_rand(&read(fields[0]), &read(fields[1])).expect("labels");
            assert!((found.value - expected).abs() < 1e-12, "{} is not {expected}", found.value);
        }
    }

    #[test]
    fn objects_without_a_label_are_left_out_and_counted() {
        let (a, b) = (labels(&[1, 1, 0, 2, 2]), labels(&[2, 2, 1, 0, 1]));
        assert_eq!(adjusted_rand(&a, &b), Some(Agreement { value: 1.0, compared: 3 }));
        assert_eq!(mirkin(&a, &b), Some(Agreement { value: 0.0, compared: 3 }));
        assert_eq!(adjusted_rand(&labels(&[0, 1]), &labels(&[1, 0])), None);
        assert_eq!(mirkin(&[], &[]), None);
    }

    #[test]
    fn mirkin_of_one_cluster_against_singletons() {
        let (a, b) = (labels(&[1, 1, 1, 1]), labels(&[1, 2, 3, 4]));
        assert_eq!(mirkin(&a, &b).map(|m| m.value), Some(12.0 / 16.0));
    }

    /// Ordered pairs of distinct objects, counted one by one: together in
    /// both, in a alone, in b alone, in none.
    fn pairs(a: &Labels, b: &Labels) -> [f64; 4] {
        let mut counts = [0.0; 4];
        let both: Vec<usize> = (0..a.len()).filter(|&i| a[i].is_some() && b[i].is_some()).collect();
        for &i in &both {
            for &j in both.iter().filter(|&&j| j != i) {
                counts[2 * usize::from(a[i] != a[j]) + usize::from(b[i] != b[j])] += 1.0;
            }
        }
        counts
    }

    proptest! {
        #[test]
        fn both_measures_equal_counting_pairs(
            objects in prop::collection::vec((0usize..5, 0usize..4), 2..40)
        ) {
            let (a, b): (Vec<usize>, Vec<usize>) = objects.into_iter().unzip();
            let (a, b) = (labels(&a), labels(&b));
            let [both, only_a, only_b, none] = pairs(&a, &b);
            let Some(found) = mirkin(&a, &b) else { return Ok(()) };
            let n = found.compared as f64;
            prop_assert!((found.value - (only_a + only_b) / (n * n)).abs() < 1e-12);
            // Hubert & Arabie's form: (index − expected) / (mean of sums − expected).
            let (sum_a, sum_b, total) = (both + only_a, both + only_b, both + only_a + only_b + none);
            let expected = sum_a * sum_b / total;
            let bound = (sum_a + sum_b) / 2.0;
            let value = adjusted_rand(&a, &b).expect("labels").value;
            if total > 0.0 && bound != expected {
                prop_assert!((value - (both - expected) / (bound - expected)).abs() < 1e-9);
            } else {
                prop_assert_eq!(value, 1.0);
            }
        }
    }
}
