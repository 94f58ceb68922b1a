//! How much nearer points are to their own cluster than to the next.

use rayon::prelude::*;

use crate::cluster::{Clustering, Points};

/// So many points are measured side by side, and then summed in their order.
const BLOCK: usize = 1 << 16;

/// Silhouettes about centroids.
#[derive(Clone, Debug, PartialEq)]
pub struct Silhouette {
    /// The means of the clusters, weighted by the points' weight; −1 to 1.
    pub mean: f64,
    /// The mean over the points of each cluster.
    pub per_cluster: Vec<f64>,
}

/// The simplified silhouette: of each point in a cluster `(b − a) / max(a, b)`,
/// where `a` is its distance to the centroid of its own cluster and `b` that to
/// the nearest other centroid; 0 where both are 0.
///
/// A grouping that is finer or coarser than the data scores lower, so it says
/// what the SPMD score cannot: one single cluster would be perfect there.
/// Clusters that are not round score lower than they are good. `weight` tells
/// how much a point counts by its place: for bursts, its duration. Points of
/// weight 0 do not count in the mean over clusters; where all weigh 0, every
/// point counts alike.
///
/// # Returns
/// `None` with less than two clusters: there is no other.
///
/// # Panics
/// If there is not one label per point.
///
/// # Complexity
/// O(n·k·d) for `n` points in `k` clusters of `d` dimensions, in parallel;
/// summed in a fixed order.
///
/// # Reference
/// Rousseeuw, *J. Comput. Appl. Math.* 20, 1987; with centroids in place of all
/// pairs as Hruschka, de Castro and Campello, ICDM 2004.
///
/// # Example
/// ```
/// use likewise::cluster::{ClusterId, Clustering, Points};
/// use likewise::quality::centroid_silhouette;
///
/// let points = Points::new(&[0.0, 1.0, 10.0, 11.0], 1)?;
/// let labels = [0, 0, 1, 1].map(|cluster| Some(ClusterId::from_index(cluster))).to_vec();
/// let found = centroid_silhouette(points, &Clustering { labels, n_clusters: 2 }, |_| 1).unwrap();
/// assert!((found.mean - (10.0 / 10.5 + 9.0 / 9.5) / 2.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn centroid_silhouette(
    points: Points<'_>,
    clustering: &Clustering,
    weight: impl Fn(usize) -> u64,
) -> Option<Silhouette> {
    assert_eq!(points.len(), clustering.labels.len(), "a label for every point");
    if clustering.n_clusters < 2 {
        return None;
    }
    let (centroids, counts) = centroids(points, clustering);
    let d = points.dims();
    let squared = |x: &[f64], centre: &[f64]| -> f64 {
        x.iter().zip(centre).map(|(x, c)| (x - c) * (x - c)).sum::<f64>()
    };
    let silhouette = |i: usize| {
        let own = clustering.labels[i]?.index();
        let x = points.row(i);
        let (mut a, mut b) = (0.0, f64::INFINITY);
        for (c, centre) in centroids.chunks_exact(d).enumerate() {
            let squared = squared(x, centre);
            if c == own {
                a = squared;
            } else {
                b = b.min(squared);
            }
        }
        // The root of the least square is the least root, to the last bit: roots are
        // rounded in order.
        let (a, b) = (a.sqrt(), b.sqrt());
        let most = a.max(b);
        Some(if most > 0.0 { (b - a) / most } else { 0.0 })
    };
    let mut sums = vec![0.0; clustering.n_clusters];
    let mut weights = vec![0u128; clustering.n_clusters];
    // Block by block, so that not all are held at once.
    for first in (0..points.len()).step_by(BLOCK) {
        let block = first..(first + BLOCK).min(points.len());
        let each: Vec<Option<f64>> = block.clone().into_par_iter().map(silhouette).collect();
        for (i, s) in block.zip(each) {
            if let (Some(s), Some(id)) = (s, clustering.labels[i]) {
                sums[id.index()] += s;
                weights[id.index()] += u128::from(weight(i));
            }
        }
    }
    let per_cluster: Vec<f64> = sums.iter().zip(&counts).map(|(sum, &n)| sum / n as f64).collect();
    let mut total: u128 = weights.iter().sum();
    if total == 0 {
        weights = counts.iter().map(|&n| n as u128).collect();
        total = weights.iter().sum();
    }
    let weighted = per_cluster.iter().zip(&weights).map(|(s, &w)| s * w as f64);
    Some(Silhouette { mean: weighted.sum::<f64>() / total as f64, per_cluster })
}

/// The centroid of each cluster, row-major, and how many points it has.
fn centroids(points: Points<'_>, clustering: &Clustering) -> (Vec<f64>, Vec<usize>) {
    let d = points.dims();
    let mut sums = vec![0.0; clustering.n_clusters * d];
    let mut counts = vec![0usize; clustering.n_clusters];
    for (i, label) in clustering.labels.iter().enumerate() {
        if let Some(id) = label {
            counts[id.index()] += 1;
            let sum = &mut sums[id.index() * d..(id.index() + 1) * d];
            sum.iter_mut().zip(points.row(i)).for_each(|(sum, x)| *sum += x);
        }
    }
    for (sum, &n) in sums.chunks_exact_mut(d).zip(&counts) {
        sum.iter_mut().for_each(|x| *x /= n as f64);
    }
    (sums, counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ClusterId;

    #[test]
    fn far_apart_is_near_one_and_swapped_is_negative() {
        let points = Points::new(&[0.0, 1.0, 10.0, 11.0, 5.0], 1).expect("points");
        let labels = |ids: [usize; 4]| Clustering {
            labels: ids.iter().map(|&i| Some(ClusterId::from_index(i))).chain([None]).collect(),
            n_clusters: 2,
        };
        // Centroids 0.5 and 10.5: (10.5 − 0.5) / 10.5 and (9.5 − 0.5) / 9.5.
        let good = centroid_silhouette(points, &labels([0, 0, 1, 1]), |_| 2).expect("two clusters");
        let expected = (10.0 / 10.5 + 9.0 / 9.5) / 2.0;
        assert!((good.mean - expected).abs() < 1e-12, "{good:?}");
        let bad = centroid_silhouette(points, &labels([0, 1, 0, 1]), |_| 1).expect("two clusters");
        assert!(bad.mean < 0.2, "{bad:?}");
        let one = Clustering { labels: vec![Some(ClusterId::from_index(0)); 5], n_clusters: 1 };
        assert_eq!(centroid_silhouette(points, &one, |_| 1), None);
    }

    #[test]
    fn weights_are_those_given_and_none_at_all_count_alike() {
        let points = Points::new(&[0.0, 1.0, 10.0, 11.0, 14.0], 1).expect("points");
        let labels = [0, 0, 1, 1, 1].map(|i| Some(ClusterId::from_index(i)));
        let clustering = Clustering { labels: labels.to_vec(), n_clusters: 2 };
        let mean = |weights: [u64; 5]| {
            centroid_silhouette(points, &clustering, |i| weights[i]).expect("two clusters")
        };
        let per_cluster = mean([1; 5]).per_cluster;
        let of = |a: f64, b: f64| (a * per_cluster[0] + b * per_cluster[1]) / (a + b);
        assert!((mean([0, 3, 0, 1, 0]).mean - of(3.0, 1.0)).abs() < 1e-15);
        assert!((mean([0, 7, 0, 0, 0]).mean - per_cluster[0]).abs() < 1e-15, "the other weighs nothing");
        assert!((mean([0; 5]).mean - of(2.0, 3.0)).abs() < 1e-15, "as many as there are");
    }
}
