//! X-means: k-means that finds k by itself.

use rand_core::Rng;
use rayon::prelude::*;

use super::kmeans::{Assignment, kmeans, squared_distance};
use super::{ClusterId, Clustering, Points};
use crate::linear::pca;
use crate::quality::{SphericalFit, spherical_bic};

/// Between how many clusters to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XmeansParams {
    k_min: usize,
    k_max: usize,
    max_iterations: usize,
}

/// Why numbers are not X-means parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum XmeansParamsError {
    /// No cluster at least, or fewer at most than at least.
    #[error(
        "X-means looks for {k_min} to {k_max} clusters; it needs at least 1, and no more at least than at most"
    )]
    Clusters {
        /// At least so many.
        k_min: usize,
        /// At most so many.
        k_max: usize,
    },
    /// No iteration at all.
    #[error("X-means needs at least one iteration")]
    Iterations,
}

impl XmeansParams {
    /// Looks for `k_min` to `k_max` clusters, moving centroids
    /// `max_iterations` times at most for each number tried.
    ///
    /// # Errors
    /// [`XmeansParamsError`] unless `1 ≤ k_min ≤ k_max` and there is an iteration.
    pub fn new(k_min: usize, k_max: usize, max_iterations: usize) -> Result<Self, XmeansParamsError> {
        if k_min == 0 || k_min > k_max {
            return Err(XmeansParamsError::Clusters { k_min, k_max });
        }
        if max_iterations == 0 {
            return Err(XmeansParamsError::Iterations);
        }
        Ok(Self { k_min, k_max, max_iterations })
    }
}

impl Default for XmeansParams {
    /// 1 to 50 clusters, 100 iterations.
    fn default() -> Self {
        Self { k_min: 1, k_max: 50, max_iterations: 100 }
    }
}

/// What X-means finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Xmeans {
    /// Every point has a cluster; numbered by first appearance.
    pub clustering: Clustering,
    /// Centroids in the order of the clusters, row-major.
    pub centroids: Vec<f64>,
    /// The criterion that chose them ([`spherical_bic`]); `−∞` where there
    /// are no more points than clusters.
    pub bic: f64,
    /// Whether the search ended at `k_max` though the criterion favours the
    /// split of a cluster there: more clusters may describe the points better.
    pub is_cut_short: bool,
}

/// A variance is not believed below this share of that of all points
/// together: a deviation of 10⁻⁹ of the spread.
const LEAST_VARIANCE: f64 = 1e-18;

/// How many numbers of clusters in a row may be worse than the best so far
/// before the search ends.
const PATIENCE: usize = 3;

/// Groups points around centroids, as many as the Bayesian information
/// criterion finds worth their while.
///
/// Starts from `k_min` clusters seeded by k-means++. Each round lets k-means
/// converge, then tries to split each cluster in two: the children start one
/// deviation to either side of the centroid along the cluster's first principal
/// component, converge among its own points, and stay if their BIC there
/// exceeds the parent's. The best clustering of all rounds by BIC over all
/// points is returned. It has no noise.
///
/// # Complexity
/// O(n·k·d) per iteration, in parallel.
///
/// # Reference
/// Pelleg & Moore, *X-means*, ICML 2000, §3, without their kd-tree. Seeds:
/// Arthur & Vassilvitskii, SODA 2007. Differs: the paper splits in a random
/// direction, which leaves two groups together where it happens to pass between
/// them; the principal component is that of Hamerly & Elkan, *G-means*, NIPS
/// 2003. Where no cluster is worth splitting, the one that loses least is split
/// all the same, for at most three rounds without gain: of a grid of nine groups
/// in one cluster, two halves need not be better than the whole, although nine
/// parts are. If `k_max` leaves no room for all splits, those with the largest
/// gain go first. For the BIC, and how it differs, see [`spherical_bic`].
///
/// # Example
/// ```
/// use likewise::cluster::{Points, XmeansParams, xmeans};
/// use rand_xoshiro::Xoshiro256PlusPlus;
/// use rand_xoshiro::rand_core::SeedableRng;
///
/// // Twenty points about 0 and twenty about 9.
/// let data: Vec<f64> = (0..40).map(|i| f64::from(i % 2) * 9.0 + f64::from(i) * 0.01).collect();
/// let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
/// let found = xmeans(Points::new(&data, 1)?, &XmeansParams::default(), &mut rng);
/// assert_eq!(found.clustering.n_clusters, 2);
/// assert!((found.centroids[0] - 0.19).abs() < 1e-9 && (found.centroids[1] - 9.2).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn xmeans(points: Points<'_>, params: &XmeansParams, rng: &mut impl Rng) -> Xmeans {
    let (rows, dims) = (points.data(), points.dims());
    if points.is_empty() {
        let clustering = Clustering { labels: Vec::new(), n_clusters: 0 };
        let bic = f64::NEG_INFINITY;
        return Xmeans { clustering, centroids: Vec::new(), bic, is_cut_short: false };
    }
    let least_variance = least_variance(rows, dims);
    let bic = |a: &Assignment| {
        let (sizes, squared_error) = (&a.sizes, a.squared_error);
        spherical_bic(&SphericalFit { sizes, squared_error, dims, least_variance })
    };
    let mut centroids = seed(rows, dims, params.k_min, rng);
    let mut best: Option<(f64, Assignment)> = None;
    let mut without_gain = 0;
    let is_cut_short = loop {
        let found = kmeans(rows, dims, centroids, params.max_iterations);
        let k = found.sizes.len();
        let room = params.k_max.saturating_sub(k);
        // Without room, they tell whether there should be some.
        let splits = splits(rows, dims, &found, params, bic);
        let gains = splits.iter().any(|split| split.gain > 0.0);
        centroids = split_centroids(&found.centroids, dims, splits, room);
        let score = bic(&found);
        without_gain += 1;
        if best.as_ref().is_none_or(|(best, _)| score > *best) {
            best = Some((score, found));
            without_gain = 0;
        }
        if centroids.len() / dims == k || without_gain > PATIENCE {
            break room == 0 && gains && without_gain <= PATIENCE;
        }
    };
    let (bic, assignment) = best.expect("at least one round");
    number(assignment, dims, bic, is_cut_short)
}

/// The floor of [`LEAST_VARIANCE`], above 0 even where all points are equal.
fn least_variance(rows: &[f64], dims: usize) -> f64 {
    let whole = kmeans(rows, dims, rows[..dims].to_vec(), 1);
    (whole.squared_error / rows.len() as f64 * LEAST_VARIANCE).max(f64::MIN_POSITIVE)
}

/// A number from [0, 1).
fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// At most `k` distinct points, each drawn with a probability that grows with
/// the square of its distance to those before (k-means++).
fn seed(rows: &[f64], dims: usize, k: usize, rng: &mut impl Rng) -> Vec<f64> {
    const CHUNK: usize = 1 << 14;
    let n = rows.len() / dims;
    let first = ((uniform(rng) * n as f64) as usize).min(n - 1);
    let mut centroids = rows[first * dims..(first + 1) * dims].to_vec();
    let mut distance = vec![f64::INFINITY; n];
    while centroids.len() < k * dims {
        let newest = &centroids[centroids.len() - dims..];
        let nearer = |(d, row): (&mut f64, &[f64])| *d = d.min(squared_distance(row, newest));
        distance.par_iter_mut().zip(rows.par_chunks_exact(dims)).with_min_len(CHUNK).for_each(nearer);
        let sums: Vec<f64> = distance.par_chunks(CHUNK).map(|chunk| chunk.iter().sum()).collect();
        let total: f64 = sums.iter().sum();
        if total == 0.0 {
            break;
        }
        let chosen = draw(&distance, &sums, CHUNK, uniform(rng) * total);
        centroids.extend_from_slice(&rows[chosen * dims..(chosen + 1) * dims]);
    }
    centroids
}

/// The first index at which the running sum of `weights` exceeds `target`;
/// `sums` are those of chunks. Where rounding leaves none, the last weight
/// that is not zero.
fn draw(weights: &[f64], sums: &[f64], chunk: usize, mut target: f64) -> usize {
    let mut start = 0;
    for &sum in sums {
        if target < sum {
            break;
        }
        target -= sum;
        start += chunk;
    }
    for (i, &weight) in weights.iter().enumerate().skip(start) {
        if target < weight {
            return i;
        }
        target -= weight;
    }
    weights.iter().rposition(|&w| w > 0.0).unwrap_or(0)
}

/// A cluster's two children, and by how much they are better.
struct Split {
    cluster: usize,
    gain: f64,
    children: Vec<f64>,
}

/// What becomes of each cluster when it is split among its own points; those
/// that cannot be split are left out.
fn splits(
    rows: &[f64],
    dims: usize,
    found: &Assignment,
    params: &XmeansParams,
    bic: impl Fn(&Assignment) -> f64,
) -> Vec<Split> {
    let mut members: Vec<Vec<u32>> = found.sizes.iter().map(|&size| Vec::with_capacity(size)).collect();
    for (i, &label) in found.labels.iter().enumerate() {
        members[label as usize].push(i as u32);
    }
    let mut splits = Vec::new();
    for (cluster, members) in members.into_iter().enumerate() {
        let region: Vec<f64> =
            members.iter().flat_map(|&i| &rows[i as usize * dims..][..dims]).copied().collect();
        let centroid = &found.centroids[cluster * dims..(cluster + 1) * dims];
        if let Some((gain, children)) = split(&region, dims, centroid, params.max_iterations, &bic) {
            splits.push(Split { cluster, gain, children });
        }
    }
    splits
}

/// Two children of a region and their gain in BIC; `None` if it cannot be
/// split.
fn split(
    region: &[f64],
    dims: usize,
    centroid: &[f64],
    max_iterations: usize,
    bic: impl Fn(&Assignment) -> f64,
) -> Option<(f64, Vec<f64>)> {
    if region.len() < 3 * dims {
        return None;
    }
    let parent = kmeans(region, dims, centroid.to_vec(), 1);
    let axis = pca(region, dims, 1);
    let (step, direction) = (axis.variance[0].sqrt(), &axis.components[0]);
    let side = |sign: f64| centroid.iter().zip(direction).map(move |(c, d)| c + sign * step * d);
    let start = side(1.0).chain(side(-1.0)).collect();
    let children = kmeans(region, dims, start, max_iterations);
    if children.sizes.contains(&0) {
        return None;
    }
    Some((bic(&children) - bic(&parent), children.centroids))
}

/// Centroids with the children of those that gain by a split in their place;
/// of the best split alone if none gains; at most `room` splits.
fn split_centroids(centroids: &[f64], dims: usize, mut splits: Vec<Split>, room: usize) -> Vec<f64> {
    splits.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.cluster.cmp(&b.cluster)));
    let gaining = splits.iter().filter(|s| s.gain > 0.0).count();
    splits.truncate(gaining.max(1).min(room));
    let mut next = centroids.to_vec();
    for split in &splits {
        next[split.cluster * dims..(split.cluster + 1) * dims].copy_from_slice(&split.children[..dims]);
        next.extend_from_slice(&split.children[dims..]);
    }
    next
}

/// Clusters by first appearance, without those that lost all their points.
fn number(found: Assignment, dims: usize, bic: f64, is_cut_short: bool) -> Xmeans {
    let mut place: Vec<Option<ClusterId>> = vec![None; found.sizes.len()];
    let mut centroids = Vec::with_capacity(found.centroids.len());
    let mut n_clusters = 0;
    let mut labels = Vec::with_capacity(found.labels.len());
    for &label in &found.labels {
        let c = label as usize;
        if place[c].is_none() {
            place[c] = Some(ClusterId::from_index(n_clusters));
            centroids.extend_from_slice(&found.centroids[c * dims..(c + 1) * dims]);
            n_clusters += 1;
        }
        labels.push(place[c]);
    }
    Xmeans { clustering: Clustering { labels, n_clusters }, centroids, bic, is_cut_short }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;
    use crate::quality::adjusted_rand;

    fn rng(seed: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(seed)
    }

    /// Blobs of deviation 1 (sums of uniforms) around centres.
    fn blobs(centres: &[Vec<f64>], each: usize, rng: &mut impl Rng) -> (Vec<f64>, Vec<Option<ClusterId>>) {
        let mut rows = Vec::new();
        let mut truth = Vec::new();
        for _ in 0..each {
            for (c, centre) in centres.iter().enumerate() {
                rows.extend(centre.iter().map(|x| x + (0..12).map(|_| uniform(rng)).sum::<f64>() - 6.0));
                truth.push(Some(ClusterId::from_index(c)));
            }
        }
        (rows, truth)
    }

    fn check(centres: &[Vec<f64>], params: &XmeansParams, seed: u64) {
        let mut rng = rng(seed);
        let (rows, truth) = blobs(centres, 150, &mut rng);
        let points = Points::new(&rows, centres[0].len()).expect("points");
        let found = xmeans(points, params, &mut rng);
        assert_eq!(found.clustering.n_clusters, centres.len());
        let agreement = adjusted_rand(&found.clustering.labels, &truth).expect("labels");
        assert!(agreement.value > 0.999, "{agreement:?}");
        assert_eq!(found.centroids.len(), rows.len() / truth.len() * centres.len());
    }

    #[test]
    fn finds_well_separated_blobs() {
        let scattered: Vec<Vec<f64>> =
            [[0.0, 0.0], [40.0, 5.0], [10.0, 60.0], [90.0, 80.0], [120.0, 10.0]].map(|c| c.to_vec()).to_vec();
        check(&scattered, &XmeansParams::default(), 1);
        check(&scattered, &XmeansParams::new(3, 20, 50).expect("parameters"), 2);
        let axes: Vec<Vec<f64>> =
            (0..4).map(|i| (0..6).map(|j| if i == j { 50.0 } else { 0.0 }).collect()).collect();
        check(&axes, &XmeansParams::default(), 3);
        check(&[vec![3.0, 4.0]], &XmeansParams::default(), 4);
    }

    #[test]
    fn finds_a_grid_whose_halves_are_no_better_than_the_whole() {
        let grid: Vec<Vec<f64>> =
            (0..9).map(|i| vec![f64::from(i % 3) * 30.0, f64::from(i / 3) * 30.0]).collect();
        check(&grid, &XmeansParams::default(), 5);
    }

    #[test]
    fn a_ceiling_that_is_too_low_is_known() {
        let centres: Vec<Vec<f64>> =
            (0..6).map(|i| vec![f64::from(i) * 40.0, f64::from(i % 2) * 50.0]).collect();
        let mut rng = rng(6);
        let (rows, _) = blobs(&centres, 100, &mut rng);
        let points = Points::new(&rows, 2).expect("points");
        for (k_max, is_cut_short) in [(2, true), (5, true), (6, false), (50, false)] {
            let params = XmeansParams::new(1, k_max, 100).expect("parameters");
            let found = xmeans(points, &params, &mut rng);
            assert_eq!(found.is_cut_short, is_cut_short, "at most {k_max}");
            assert!(found.clustering.n_clusters <= k_max);
        }
        let same = Points::new(&[1.0; 40], 1).expect("points");
        let one = XmeansParams::new(1, 1, 10).expect("parameters");
        assert!(!xmeans(same, &one, &mut rng).is_cut_short, "nothing to split");
    }

    #[test]
    fn degenerate_points_have_a_result() {
        let on = |rows: &[f64], k_min, k_max| {
            let params = XmeansParams::new(k_min, k_max, 10).expect("parameters");
            xmeans(Points::new(rows, 1).expect("points"), &params, &mut rng(1))
        };
        assert_eq!(on(&[], 1, 5).clustering.n_clusters, 0);
        assert_eq!(on(&[1.0], 3, 5).clustering.n_clusters, 1);
        assert_eq!(on(&[1.0; 50], 2, 5).clustering.n_clusters, 1);
        let two: Vec<f64> = (0..50).map(|i| f64::from(i % 2)).collect();
        assert_eq!(on(&two, 1, 5).clustering.n_clusters, 2);
        assert!(XmeansParams::new(0, 5, 1).is_err() && XmeansParams::new(3, 2, 1).is_err());
        assert!(XmeansParams::new(1, 2, 0).is_err());
    }

    #[test]
    fn does_not_depend_on_the_thread_count() {
        let (rows, _) = blobs(&[vec![0.0, 0.0], vec![3.0, 0.0], vec![0.0, 4.0]], 10_000, &mut rng(8));
        let points = Points::new(&rows, 2).expect("points");
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| xmeans(points, &XmeansParams::default(), &mut rng(9)))
        };
        assert_eq!(on(1), on(3));
    }

    proptest! {
        #[test]
        fn a_split_gains_what_the_criterion_says(
            region in prop::collection::vec(-100.0..100.0f64, 6..60)
        ) {
            let region = &region[..region.len() / 2 * 2];
            let n = (region.len() / 2) as f64;
            let centroid: Vec<f64> =
                (0..2).map(|j| region.chunks(2).map(|p| p[j]).sum::<f64>() / n).collect();
            let fit = |sizes: &[usize], squared_error| {
                spherical_bic(&SphericalFit { sizes, squared_error, dims: 2, least_variance: 1e-12 })
            };
            let bic = |a: &Assignment| fit(&a.sizes, a.squared_error);
            let Some((gain, children)) = split(region, 2, &centroid, 100, bic) else { return Ok(()) };
            let distance = |p: &[f64], c: &[f64]| (p[0] - c[0]).powi(2) + (p[1] - c[1]).powi(2);
            let alone: f64 = region.chunks(2).map(|p| distance(p, &centroid)).sum();
            let (mut sizes, mut error) = ([0, 0], 0.0);
            for p in region.chunks(2) {
                let (a, b) = (distance(p, &children[..2]), distance(p, &children[2..]));
                sizes[usize::from(b < a)] += 1;
                error += a.min(b);
            }
            let expected = fit(&sizes, error) - fit(&[n as usize], alone);
            prop_assert!((gain - expected).abs() < 1e-6 * expected.abs().max(1.0), "{} is not {}", gain, expected);
        }
    }
}
