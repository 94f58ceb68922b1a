//! How much nearer objects are to their own medoid than to the next.

use crate::cluster::Dissimilarities;

/// The medoid silhouette: the mean over all objects of `1 − d₁/d₂`, where
/// `d₁` is the dissimilarity to the nearest medoid and `d₂` that to the second
/// nearest; 0 where both are 0, as of any object between two clusters. 0 to 1.
///
/// # Returns
/// `None` with less than two medoids: there is no second.
///
/// # Panics
/// If a medoid is none of the objects.
///
/// # Complexity
/// O(n k).
///
/// # Reference
/// Van der Laan, Pollard & Bryan, *J. Stat. Comput. Simul.* 73, 2003; Lenssen
/// & Schubert, SISAP 2022. Differs: 0/0 counts as 1 there, which would reward
/// two medoids at one place.
///
/// # Example
/// ```
/// use likewise::cluster::Dissimilarities;
/// use likewise::quality::medoid_silhouette;
///
/// let objects = [0.0, 1.0, 10.0, 11.0f64];
/// let matrix = Dissimilarities::new(&objects, |a, b| (a - b).abs())?;
/// // Medoids have 1; the others are ten times as near to theirs as to the next.
/// assert!((medoid_silhouette(&matrix, &[0, 3]).unwrap() - 0.95).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn medoid_silhouette(dissimilarities: &Dissimilarities, medoids: &[usize]) -> Option<f64> {
    if medoids.len() < 2 {
        return None;
    }
    let mut nearest = vec![(f64::INFINITY, f64::INFINITY); dissimilarities.len()];
    for &medoid in medoids {
        for ((first, second), &x) in nearest.iter_mut().zip(dissimilarities.row(medoid)) {
            *second = second.min(first.max(x));
            *first = first.min(x);
        }
    }
    let width = |&(first, second): &(f64, f64)| if second > 0.0 { 1.0 - first / second } else { 0.0 };
    Some(nearest.iter().map(width).sum::<f64>() / nearest.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_one_where_clusters_are_far_apart_and_defined_where_they_coincide() {
        let matrix =
            |places: &[f64]| Dissimilarities::new(places, |a, b| (a - b).abs()).expect("dissimilarities");
        let line = matrix(&[0.0, 1.0, 10.0, 12.0]);
        // d₁/d₂: 0, 1/9, 0, 2/12.
        let expected = 1.0 - (1.0 / 9.0 + 2.0 / 12.0) / 4.0;
        let found = medoid_silhouette(&line, &[0, 2]).expect("two medoids");
        assert!((found - expected).abs() < 1e-12, "{found}");
        assert_eq!(medoid_silhouette(&line, &[1]), None);
        assert_eq!(medoid_silhouette(&matrix(&[3.0, 3.0, 3.0]), &[0, 1]), Some(0.0));
    }
}
