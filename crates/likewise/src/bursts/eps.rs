//! The radius of DBSCAN from the data: the knee of the sorted k-distance
//! curve.
//!
//! `docs/eps.md` compares the rule with others.

/// Where the line under which the knee is sought starts, as a share of the
/// points: the few most distant ones would only flatten it.
const START: f64 = 0.005;

/// Where that line reaches zero. In data worth clustering, clusters hold more than
/// half of the points, so what lies to the right of it is their inside.
const END: f64 = 0.5;

/// A radius for DBSCAN, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct EpsSuggestion {
    /// The radius, in the units of the curve; greater than zero.
    pub eps: f64,
    /// Which neighbour the curve is of, the point itself counted: the
    /// `min_points` that goes with `eps`.
    pub k: usize,
    /// Its place on the descending curve, from 0: how many points have a
    /// k-th neighbour farther away or as far, and so start outside of the
    /// clusters.
    pub rank: usize,
    /// The rule in words, for reports.
    pub rule: &'static str,
}

/// Suggests a radius from the curve of `k`-distances, sorted from the largest
/// to the smallest.
///
/// The knee: a straight line falls from the curve at 0.5 % of the points to
/// zero at half of them, and where the curve lies farthest below it, there is
/// the knee; the first of several. The radius is the k-distance of that
/// point, so the point itself is the last core point. Zeros (k duplicates)
/// and infinities (distances beyond `f64`) are never the radius.
///
/// # Returns
/// `None` if no distance is finite and greater than zero: there is nothing to
/// separate.
///
/// # Complexity
/// O(n), no memory.
///
/// # Reference
/// Ester et al., KDD 1996, §4.2: the threshold is the first valley of the
/// sorted k-dist graph, found by eye. Farthest from the chord is how Kneedle
/// finds a knee (Satopää et al., ICDCSW 2011); the two ends of the line are
/// those of ClusteringSuite's automatic parameters (Gonzalez et al.), which
/// does not count the point itself in `k` and derives a series of radii from
/// the knee. Differs from it where the curve is zero or infinite.
///
/// # Example
/// ```
/// use likewise::bursts::suggest_eps;
///
/// // Four points far out, the rest in clusters.
/// let curve = [9.0, 8.0, 7.0, 6.0, 0.3, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1];
/// assert_eq!(suggest_eps(&curve, 2).map(|s| (s.eps, s.rank)), Some((0.3, 4)));
/// ```
#[must_use]
pub fn suggest_eps(curve: &[f64], k: usize) -> Option<EpsSuggestion> {
    let rank = knee(curve)?;
    Some(EpsSuggestion {
        eps: curve[rank],
        k,
        rank,
        rule: "farthest below the line from 0.5% of the points to zero at 50%",
    })
}

/// The curve at no more than `points` ranks, for a picture: `(rank, value)`
/// with ranks from 0, ascending. The first, the last and the knee are among
/// them, the others spaced evenly in the logarithm of the rank, where the
/// curve bends most. With `points` below 3 some of those are left out.
#[must_use]
pub fn downsample_curve(curve: &[f64], points: usize) -> Vec<(usize, f64)> {
    let n = curve.len();
    let mut ranks: Vec<usize> = Vec::new();
    if n <= points {
        ranks.extend(0..n);
    } else {
        let knee = knee(curve).filter(|_| points > 2);
        let others = points - usize::from(knee.is_some());
        ranks.extend((0..others).map(|i| spaced_rank(i, others, n)));
        ranks.extend(knee);
        ranks.sort_unstable();
        ranks.dedup();
    }
    ranks.into_iter().map(|rank| (rank, curve[rank])).collect()
}

/// The `i`-th of `count` ranks, evenly spaced in their logarithm, but at
/// least one apart where there are enough.
fn spaced_rank(i: usize, count: usize, n: usize) -> usize {
    if i + 1 == count && i > 0 {
        return n - 1;
    }
    let share = i as f64 / (count.max(2) - 1) as f64;
    ((n as f64).powf(share).round() as usize - 1).max(i).min(n - 1)
}

fn knee(curve: &[f64]) -> Option<usize> {
    let n = curve.len();
    let first = curve.partition_point(|x| x.is_infinite());
    let end = first + curve[first..].partition_point(|&x| x > 0.0);
    if first == end {
        return None;
    }
    let place = |share: f64| (share * n as f64) as usize;
    let start = if place(START) < end { place(START).max(first) } else { first };
    let zero = place(END).max(start + 1);
    let drop = |rank: usize| {
        let left = (zero - rank) as f64 / (zero - start) as f64;
        curve[start] * left - curve[rank]
    };
    (start..end.min(zero)).max_by(|&a, &b| drop(a).total_cmp(&drop(b)).then(b.cmp(&a)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn eps(curve: &[f64]) -> Option<f64> {
        suggest_eps(curve, 10).map(|s| s.eps)
    }

    /// `outside` points of distances from 1 down to 0.5, then a slow decline
    /// from `inside`.
    fn elbow(outside: usize, n: usize, inside: f64) -> Vec<f64> {
        let far = (0..outside).map(|i| 1.0 - 0.5 * i as f64 / outside as f64);
        let near = (outside..n).map(|i| inside * (1.0 - 0.5 * (i - outside) as f64 / n as f64));
        far.chain(near).collect()
    }

    #[test]
    fn knee_is_where_noise_ends_at_every_size() {
        for n in [50, 1_000, 30_000, 1_000_000] {
            let outside = n / 50;
            let found = suggest_eps(&elbow(outside, n, 0.01), 10).expect("a knee");
            assert_eq!((found.rank, found.eps, found.k), (outside, 0.01, 10));
        }
    }

    #[test]
    fn far_outliers_do_not_raise_it() {
        let mut curve = elbow(200, 10_000, 0.01);
        curve[..40].fill(1e6);
        assert_eq!(eps(&curve), Some(0.01));
    }

    #[test]
    fn duplicates_do_not_make_it_zero() {
        let mut curve = vec![0.0; 1000];
        curve[..100].fill(0.02);
        assert_eq!(eps(&curve), Some(0.02));
        // Fewer are apart than the line leaves out at its start.
        let mut curve = vec![0.0; 10_000];
        curve[..3].copy_from_slice(&[0.3, 0.2, 0.2]);
        assert!(eps(&curve).is_some_and(|x| x > 0.0));
    }

    #[test]
    fn nothing_to_separate_gives_none() {
        assert_eq!(eps(&[]), None);
        assert_eq!(eps(&[0.0; 100]), None);
        assert_eq!(eps(&[f64::INFINITY; 100]), None);
    }

    #[test]
    fn few_points_and_infinite_distances_still_have_one() {
        assert_eq!(eps(&[0.5]), Some(0.5));
        assert_eq!(eps(&[f64::INFINITY, 0.5, 0.0]), Some(0.5));
        assert_eq!(eps(&[2.0, 2.0]), Some(2.0));
    }

    #[test]
    fn downsampling_keeps_the_ends_and_the_knee() {
        let curve = elbow(2_000, 100_000, 0.01);
        let picture = downsample_curve(&curve, 200);
        assert!(picture.len() <= 200 && picture.len() > 190, "{}", picture.len());
        assert_eq!(picture.first(), Some(&(0, curve[0])));
        assert_eq!(picture.last(), Some(&(99_999, curve[99_999])));
        assert!(picture.contains(&(2_000, 0.01)));
        assert!(picture.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn downsampling_a_short_curve_keeps_all() {
        assert_eq!(downsample_curve(&[2.0, 1.0], 2), [(0, 2.0), (1, 1.0)]);
        assert_eq!(downsample_curve(&[], 10), []);
        assert_eq!(downsample_curve(&[2.0, 1.0], 0), []);
    }

    fn curves() -> impl Strategy<Value = Vec<f64>> {
        let value = prop_oneof![4 => 0.0..1.0f64, 1 => 0.0..1e6f64, 1 => Just(0.0), 1 => Just(f64::INFINITY)];
        prop::collection::vec(value, 0..400).prop_map(|mut curve| {
            curve.sort_by(|a, b| b.total_cmp(a));
            curve
        })
    }

    proptest! {
        #[test]
        fn eps_is_a_positive_value_of_the_curve(curve in curves()) {
            let positive = curve.iter().any(|x| *x > 0.0 && x.is_finite());
            let found = suggest_eps(&curve, 4);
            prop_assert_eq!(found.is_some(), positive);
            if let Some(found) = found {
                prop_assert_eq!(found.eps, curve[found.rank]);
                prop_assert!(found.eps > 0.0 && found.eps.is_finite());
            }
        }

        #[test]
        fn units_do_not_matter(curve in curves()) {
            let scaled: Vec<f64> = curve.iter().map(|x| x * 8.0).collect();
            prop_assert_eq!(eps(&scaled), eps(&curve).map(|x| x * 8.0));
        }

        #[test]
        fn pictures_hold_the_ends_and_the_knee(curve in curves(), points in 0..500usize) {
            let picture = downsample_curve(&curve, points);
            prop_assert!(picture.len() <= points);
            prop_assert!(picture.is_sorted_by(|a, b| a.0 < b.0));
            prop_assert!(picture.iter().all(|&(rank, value)| curve[rank] == value));
            if points > 2 && !curve.is_empty() {
                prop_assert_eq!(picture[0].0, 0);
                prop_assert_eq!(picture[picture.len() - 1].0, curve.len() - 1);
                if let Some(found) = suggest_eps(&curve, 4) {
                    prop_assert!(picture.iter().any(|p| p.0 == found.rank));
                }
            }
        }
    }
}
