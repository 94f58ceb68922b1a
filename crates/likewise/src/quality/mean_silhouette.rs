//! How much nearer objects are to their own cluster than to the next.

use crate::cluster::Dissimilarities;

/// The mean silhouette: of every object `(b − a) / max(a, b)`, where `a` is
/// its mean dissimilarity to the others of its cluster and `b` that to the
/// nearest other cluster; 0 for an object that is alone, and where both are 0.
/// −1 to 1.
///
/// # Returns
/// `None` with less than two clusters.
///
/// # Panics
/// If there is not one label for each object.
///
/// # Complexity
/// O(n²).
///
/// # Reference
/// Rousseeuw, *J. Comput. Appl. Math.* 20, 1987.
///
/// # Example
/// ```
/// use likewise::cluster::Dissimilarities;
/// use likewise::quality::mean_silhouette;
///
/// let objects = [0.0, 1.0, 10.0, 11.0f64];
/// let matrix = Dissimilarities::new(&objects, |a, b| (a - b).abs())?;
/// let expected = (9.5 / 10.5 + 8.5 / 9.5) / 2.0;
/// assert!((mean_silhouette(&matrix, &[0, 0, 1, 1]).unwrap() - expected).abs() < 1e-12);
/// assert!(mean_silhouette(&matrix, &[0, 1, 0, 1]).unwrap() < 0.0);
/// assert_eq!(mean_silhouette(&matrix, &[0; 4]), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn mean_silhouette(dissimilarities: &Dissimilarities, labels: &[u32]) -> Option<f64> {
    let n = dissimilarities.len();
    assert_eq!(labels.len(), n, "a label for every object");
    let n_labels = labels.iter().max().map_or(0, |&most| most as usize + 1);
    let mut sizes = vec![0usize; n_labels];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    if sizes.iter().filter(|&&size| size > 0).count() < 2 {
        return None;
    }
    let width = |object: usize| {
        let own = labels[object] as usize;
        let mut sums = vec![0.0; n_labels];
        let to = dissimilarities.row(object).iter().zip(labels);
        to.for_each(|(d, &label)| sums[label as usize] += d);
        let others = (0..n_labels).filter(|&label| label != own && sizes[label] > 0);
        let next = others.map(|label| sums[label] / sizes[label] as f64).fold(f64::INFINITY, f64::min);
        // It is among its own cluster, at 0.
        let within = sums[own] / sizes[own].saturating_sub(1).max(1) as f64;
        let most = within.max(next);
        if sizes[own] > 1 && most > 0.0 { (next - within) / most } else { 0.0 }
    };
    Some((0..n).map(width).sum::<f64>() / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let matrix =
            |places: &[f64]| Dissimilarities::new(places, |a, b| (a - b).abs()).expect("dissimilarities");
        let line = matrix(&[0.0, 1.0, 10.0, 12.0, 30.0]);
        // To their own 1, 1, 2, 2; to the next 11, 10, 9.5, 11.5; and one alone.
        let expected = (10.0 / 11.0 + 9.0 / 10.0 + 7.5 / 9.5 + 9.5 / 11.5) / 5.0;
        let found = mean_silhouette(&line, &[0, 0, 3, 3, 1]).expect("three clusters");
        assert!((found - expected).abs() < 1e-15, "{found}");
        assert_eq!(mean_silhouette(&line, &[2; 5]), None);
        assert_eq!(mean_silhouette(&matrix(&[3.0; 4]), &[0, 0, 1, 1]), Some(0.0));
        let crossed = mean_silhouette(&matrix(&[0.0, 9.0, 1.0, 10.0]), &[0, 0, 1, 1]).expect("two clusters");
        assert!(crossed < -0.3, "{crossed}");
    }
}
