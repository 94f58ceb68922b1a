//! Clustering a sample, and labelling the rest by it.

use rand_core::Rng;
use rayon::prelude::*;

use super::kdist::nearest::Nearest;
use super::kdist::search::Pending;
use super::kdist::tree::Tree;
use super::{ClusterId, Points};
use crate::simd::widest;

/// Chooses at most `n_max` objects, from each stratum in proportion to its
/// size, spread over its length. Returns their indices, ascending; all, if
/// there are no more.
///
/// `stratum` names each object's stratum (for bursts: the task); equal names
/// must be consecutive. A stratum of `m` of all `n` objects gives `m·n_max/n`,
/// rounded so that the sum is `n_max` (largest remainders; the first of equal
/// ones). It is cut into as many stretches of equal length, and one object is
/// drawn from each: evenly spaced choices would fall into step with the
/// iterations of the program and miss whole phases.
///
/// # Complexity
/// O(n).
///
/// # Example
/// ```
/// use likewise::cluster::stratified_sample;
/// use rand_xoshiro::Xoshiro256PlusPlus;
/// use rand_xoshiro::rand_core::SeedableRng;
///
/// let task_of_burst = [1, 1, 1, 1, 1, 1, 2, 2, 2];
/// let sample = stratified_sample(&task_of_burst, 3, &mut Xoshiro256PlusPlus::seed_from_u64(1));
/// assert_eq!(sample.iter().map(|&i| task_of_burst[i as usize]).collect::<Vec<_>>(), [1, 1, 2]);
/// ```
#[must_use]
pub fn stratified_sample<S: PartialEq>(stratum: &[S], n_max: usize, rng: &mut impl Rng) -> Vec<u32> {
    let n = stratum.len();
    if n <= n_max {
        return (0..n as u32).collect();
    }
    let sizes: Vec<usize> = stratum.chunk_by(PartialEq::eq).map(<[S]>::len).collect();
    let mut chosen = Vec::with_capacity(n_max);
    let mut start = 0;
    for (&size, quota) in sizes.iter().zip(quotas(&sizes, n_max)) {
        for j in 0..quota {
            let (from, to) = (j * size / quota, (j + 1) * size / quota);
            let within = (u128::from(rng.next_u64()) * (to - from) as u128) >> 64;
            chosen.push((start + from + within as usize) as u32);
        }
        start += size;
    }
    chosen
}

/// `n_max` shared out in proportion to `sizes`.
fn quotas(sizes: &[usize], n_max: usize) -> Vec<usize> {
    let n: usize = sizes.iter().sum();
    let share = |size: usize| (size as u128 * n_max as u128, n as u128);
    let mut quotas: Vec<usize> = sizes.iter().map(|&size| (share(size).0 / share(size).1) as usize).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(share(sizes[i]).0 % share(sizes[i]).1), i));
    let left = n_max - quotas.iter().sum::<usize>();
    order.iter().take(left).for_each(|&i| quotas[i] += 1);
    quotas
}

/// Labels every point by a clustered sample: a sampled point keeps its label,
/// any other takes that of its nearest sampled point within `eps` (noise if
/// that is noise; the one of lowest index among equally near ones), and is
/// noise if there is none.
///
/// `sample` holds indices of points, ascending; `labels` their labels. A
/// point at a squared distance of exactly `eps²` is within.
///
/// # Panics
/// If there is not one label per sampled point, or an index is out of bounds.
///
/// # Complexity
/// O(s log s) to build a tree on `s` sampled points, O(log s) expected per
/// point, in parallel; memory for two copies of the sampled points.
///
/// # Reference
/// ClusteringSuite's `-m`; the tree is the one of the
/// [k-distances](super::kdist::k_distances).
///
/// # Example
/// ```
/// use likewise::cluster::{ClusterId, Points, label_by_nearest};
///
/// let points = Points::new(&[0.0, 0.1, 5.0, 5.2, 9.0], 1)?;
/// let (first, second) = (ClusterId::from_index(0), ClusterId::from_index(1));
/// // Points 0 and 2 were clustered; 4 is too far from both.
/// let labels = label_by_nearest(points, &[0, 2], &[Some(first), Some(second)], 1.0);
/// assert_eq!(labels, [Some(first), Some(first), Some(second), Some(second), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn label_by_nearest(
    points: Points<'_>,
    sample: &[u32],
    labels: &[Option<ClusterId>],
    eps: f64,
) -> Vec<Option<ClusterId>> {
    assert_eq!(sample.len(), labels.len(), "a label for every sampled point");
    // A dimension of zeros changes no sum, so a few widths serve all.
    match points.dims() {
        1 | 2 => label::<2>(points, sample, labels, eps),
        3 | 4 => label::<4>(points, sample, labels, eps),
        5..=8 => label::<8>(points, sample, labels, eps),
        _ => label::<16>(points, sample, labels, eps),
    }
}

fn label<const D: usize>(
    points: Points<'_>,
    sample: &[u32],
    labels: &[Option<ClusterId>],
    eps: f64,
) -> Vec<Option<ClusterId>> {
    let dims = points.dims();
    let rows: Vec<f64> = sample.iter().flat_map(|&i| points.row(i as usize)).copied().collect();
    let tree = Tree::<D>::new(&rows, dims);
    drop(rows);
    let label = |pending: &mut Vec<Pending>, i: usize| match sample.binary_search(&(i as u32)) {
        Ok(at) => labels[at],
        Err(_) => {
            let mut query = [0.0; D];
            query[..dims].copy_from_slice(points.row(i));
            let nearest = widest(Nearest { tree: &tree, query, limit: eps * eps, pending });
            nearest.and_then(|at| labels[at as usize])
        }
    };
    (0..points.len()).into_par_iter().with_min_len(256).map_init(Vec::new, label).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn each_stratum_gives_its_share() {
        let stratum: Vec<u32> =
            [(1, 700), (2, 200), (3, 100)].iter().flat_map(|&(s, n)| vec![s; n]).collect();
        let chosen = stratified_sample(&stratum, 50, &mut Xoshiro256PlusPlus::seed_from_u64(3));
        let of = |s: u32| chosen.iter().filter(|&&i| stratum[i as usize] == s).count();
        assert_eq!((of(1), of(2), of(3)), (35, 10, 5));
        assert!(chosen.is_sorted_by(|a, b| a < b));
        // One from each stretch of 20.
        assert!(chosen[..35].iter().enumerate().all(|(j, &i)| i as usize / 20 == j));
    }

    #[test]
    fn a_sample_of_at_least_all_is_all() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        assert_eq!(stratified_sample(&[1, 1, 2], 3, &mut rng), [0, 1, 2]);
        assert!(stratified_sample(&[1, 1, 2], 0, &mut rng).is_empty());
        assert!(stratified_sample::<u32>(&[], 0, &mut rng).is_empty());
    }

    /// By looking at every sampled point.
    fn reference(
        points: Points<'_>,
        sample: &[u32],
        labels: &[Option<ClusterId>],
        eps: f64,
    ) -> Vec<Option<ClusterId>> {
        let label = |i: usize| {
            if let Some(at) = sample.iter().position(|&s| s as usize == i) {
                return labels[at];
            }
            let distance = |at: usize| -> f64 {
                let other = points.row(sample[at] as usize);
                points.row(i).iter().zip(other).map(|(x, y)| (x - y) * (x - y)).sum()
            };
            let nearest = (0..sample.len()).min_by(|&a, &b| distance(a).total_cmp(&distance(b)))?;
            if distance(nearest) <= eps * eps { labels[nearest] } else { None }
        };
        (0..points.len()).map(label).collect()
    }

    proptest! {
        #[test]
        fn every_quota_is_met_and_distinct(
            sizes in prop::collection::vec(1usize..40, 1..10), n_max in 0usize..200, seed: u64
        ) {
            let stratum: Vec<usize> = sizes.iter().enumerate().flat_map(|(s, &n)| vec![s; n]).collect();
            let chosen = stratified_sample(&stratum, n_max, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
            prop_assert_eq!(chosen.len(), n_max.min(stratum.len()));
            prop_assert!(chosen.is_sorted_by(|a, b| a < b));
            for (s, &size) in sizes.iter().enumerate() {
                let exact = (size * n_max) as f64 / stratum.len() as f64;
                let count = chosen.iter().filter(|&&i| stratum[i as usize] == s).count() as f64;
                prop_assert!(n_max >= stratum.len() || (count - exact).abs() < 1.0);
            }
        }

        #[test]
        fn the_tree_equals_looking_at_every_point(
            (dims, grid, taken, eps) in (1usize..=16).prop_flat_map(|dims| (
                Just(dims),
                // Few distinct coordinates, so that ties are common.
                prop::collection::vec(0u8..6, dims * 150),
                prop::collection::vec(any::<bool>(), 150),
                0.0..4.0f64,
            ))
        ) {
            let data: Vec<f64> = grid.into_iter().map(|x| f64::from(x) * 0.5).collect();
            let points = Points::new(&data, dims).expect("points");
            let sample: Vec<u32> = (0..150).filter(|&i| taken[i as usize]).collect();
            let labels: Vec<_> = sample.iter().map(|&i| (i % 5 > 0).then(|| ClusterId::from_index(i as usize))).collect();
            for eps in [eps, 1.0, f64::INFINITY] {
                prop_assert_eq!(
                    label_by_nearest(points, &sample, &labels, eps),
                    reference(points, &sample, &labels, eps)
                );
            }
        }
    }
    /// Enough points for groups of groups, in clumps; distances beyond `f64`
    /// are infinite, and the first of these is the nearest.
    #[test]
    fn deep_trees_and_infinite_distances_equal_looking_at_every_point() {
        let value = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 20) / 64.0;
        let clumps: Vec<f64> = (0..6000).map(|i| value(i).floor() + value(i + 7) * 1e-3).collect();
        let far: Vec<f64> = (0..900).map(|i| (value(i) - 32.0) * 1e306).collect();
        for (data, dims) in [(&clumps, 1), (&clumps, 2), (&clumps, 3), (&far, 3)] {
            let points = Points::new(data, dims).expect("points");
            let sample: Vec<u32> = (0..points.len() as u32).filter(|i| i % 3 > 0).collect();
            let labels: Vec<_> = sample.iter().map(|&i| Some(ClusterId::from_index(i as usize))).collect();
            for eps in [0.01, 1.0, f64::INFINITY] {
                let expected = reference(points, &sample, &labels, eps);
                assert_eq!(label_by_nearest(points, &sample, &labels, eps), expected);
            }
        }
        let points = Points::new(&clumps, 2).expect("points");
        assert!(label_by_nearest(points, &[], &[], 1.0).iter().all(Option::is_none));
    }
}
