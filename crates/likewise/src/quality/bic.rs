//! The Bayesian information criterion of a k-means clustering.

/// What the criterion needs to know of a clustering.
#[derive(Clone, Copy, Debug)]
pub struct SphericalFit<'a> {
    /// Members of each cluster.
    pub sizes: &'a [usize],
    /// Sum of squared distances of all members to their centroids.
    pub squared_error: f64,
    /// Coordinates of each point.
    pub dims: usize,
    /// The least variance per coordinate that is believed; keeps clusters of
    /// equal points from a likelihood without bound. Positive.
    pub least_variance: f64,
}

/// The least variance to believe of coordinates of at most `largest` in size:
/// that of a deviation of 10⁻⁹ of it.
#[must_use]
pub fn least_variance(largest: f64) -> f64 {
    (largest * 1e-9).powi(2).max(f64::MIN_POSITIVE)
}

/// BIC of a clustering as a mixture of identical spherical Gaussians: the
/// larger, the better.
///
/// With `R` points of `M` coordinates in `K` clusters of `Rₙ` members,
///
/// > σ² = Σ‖x − μ‖² / (M(R − K))
/// > l = Σ Rₙ ln(Rₙ/R) − RM/2 · ln(2πσ²) − M(R − K)/2
/// > BIC = l − p/2 · ln R, p = (K − 1) + MK + 1
///
/// `−∞` where `R ≤ K`, which leaves no variance to estimate.
///
/// # Reference
/// Pelleg & Moore, *X-means*, ICML 2000, §3.2. Differs where the paper is at
/// odds with its own density: its σ² lacks the divisor M, its 2π the
/// exponent M, and its last term the factor M; for M = 1 both are equal.
/// pyclustering has the paper's 2π and last term without M; Weka sums the
/// likelihood per cluster, each with a σ² of its own.
///
/// # Example
/// ```
/// use likewise::quality::{SphericalFit, least_variance, spherical_bic};
///
/// // The points 0.0, 0.1, 9.0 and 9.1 as one cluster and as two.
/// let bic = |sizes: &[usize], squared_error: f64| {
///     spherical_bic(&SphericalFit { sizes, squared_error, dims: 1, least_variance: least_variance(9.1) })
/// };
/// assert!(bic(&[2, 2], 0.01) > bic(&[4], 81.01));
/// assert_eq!(bic(&[1, 1, 1, 1], 0.0), f64::NEG_INFINITY);
/// ```
#[must_use]
pub fn spherical_bic(fit: &SphericalFit<'_>) -> f64 {
    let k = fit.sizes.len();
    let total: usize = fit.sizes.iter().sum();
    if total <= k {
        return f64::NEG_INFINITY;
    }
    let (r, m) = (total as f64, fit.dims as f64);
    let freedom = m * (total - k) as f64;
    let variance = (fit.squared_error / freedom).max(fit.least_variance);
    let shares = fit.sizes.iter().filter(|&&size| size > 0).map(|&size| size as f64);
    let mixing: f64 = shares.map(|size| size * (size / r).ln()).sum();
    let scatter = r * m / 2.0 * (2.0 * std::f64::consts::PI * variance).ln();
    let likelihood = mixing - scatter - fit.squared_error / variance / 2.0;
    let parameters = (k - 1 + fit.dims * k + 1) as f64;
    likelihood - parameters / 2.0 * r.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The logarithm of the density, point by point.
    fn direct(clusters: &[Vec<[f64; 2]>]) -> f64 {
        let centroid = |c: &Vec<[f64; 2]>| {
            let sum = c.iter().fold([0.0; 2], |s, p| [s[0] + p[0], s[1] + p[1]]);
            [sum[0] / c.len() as f64, sum[1] / c.len() as f64]
        };
        let distance = |p: &[f64; 2], q: &[f64; 2]| (p[0] - q[0]).powi(2) + (p[1] - q[1]).powi(2);
        let (r, k) = (clusters.iter().map(Vec::len).sum::<usize>() as f64, clusters.len() as f64);
        let error: f64 = clusters.iter().flat_map(|c| c.iter().map(|p| distance(p, &centroid(c)))).sum();
        let variance = error / (2.0 * (r - k));
        let mut likelihood = 0.0;
        for cluster in clusters {
            for point in cluster {
                let density = (-distance(point, &centroid(cluster)) / (2.0 * variance)).exp()
                    / (2.0 * std::f64::consts::PI * variance);
                likelihood += (cluster.len() as f64 / r * density).ln();
            }
        }
        likelihood - (k - 1.0 + 2.0 * k + 1.0) / 2.0 * r.ln()
    }

    #[test]
    fn equals_the_density_taken_point_by_point() {
        let clusters =
            [vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.5]], vec![[9.0, 9.0], [9.5, 9.0], [9.0, 8.0]]];
        let sizes: Vec<usize> = clusters.iter().map(Vec::len).collect();
        // Squared errors about the centroids (.5, .625) and (55/6, 26/3).
        let squared_error = 1.0 + 1.6875 + 1.0 / 6.0 + 2.0 / 3.0;
        let fit = SphericalFit { sizes: &sizes, squared_error, dims: 2, least_variance: 1e-12 };
        assert!((spherical_bic(&fit) - direct(&clusters)).abs() < 1e-9);
    }

    #[test]
    fn equal_points_are_not_infinitely_likely() {
        let fit =
            |squared_error| SphericalFit { sizes: &[5, 5], squared_error, dims: 1, least_variance: 1e-6 };
        assert!(spherical_bic(&fit(0.0)).is_finite());
        assert!(spherical_bic(&fit(0.0)) > spherical_bic(&fit(1.0)));
        assert_eq!(spherical_bic(&SphericalFit { sizes: &[1, 1], ..fit(0.0) }), f64::NEG_INFINITY);
    }
}
