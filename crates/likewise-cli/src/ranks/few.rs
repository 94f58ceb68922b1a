//! How many classes there are, where there are too few ranks for the BIC.

use super::find::distance;
use likewise::cluster::medoids::pam;
use likewise::cluster::{Dissimilarities, DissimilaritiesError};
use likewise::quality::mean_silhouette;

/// The least silhouette that stands for any classes at all.
///
/// # Reference
/// Kaufman & Rousseeuw, *Finding Groups in Data*, 1990, table 4: "no
/// substantial structure" up to 0.25.
pub(crate) const LEAST_SILHOUETTE: f64 = 0.25;

/// So many classes, at most, leave the spread within classes as many degrees
/// of freedom as there are classes: two ranks each, on average.
pub(crate) fn most_classes(n_ranks: usize) -> usize {
    n_ranks.div_ceil(2)
}

/// The number of classes whose mean silhouette is the greatest, and the
/// silhouettes from two classes on. One class where none is above
/// [`LEAST_SILHOUETTE`].
pub(crate) fn by_silhouette(
    objects: &[Vec<f64>],
    most: usize,
) -> Result<(usize, Vec<(usize, f64)>), DissimilaritiesError> {
    let matrix = Dissimilarities::new(objects, distance)?;
    let silhouette = |k: usize| {
        // No more objects differ.
        let found = pam(&matrix, k).ok()?;
        Some((k, mean_silhouette(&matrix, &found.labels)?))
    };
    let all: Vec<(usize, f64)> = (2..=most.min(most_classes(objects.len()))).map_while(silhouette).collect();
    let mut best = (1, LEAST_SILHOUETTE);
    for &(k, silhouette) in &all {
        // Of equal ones, the fewest classes.
        if silhouette > best.1 {
            best = (k, silhouette);
        }
    }
    Ok((best.0, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_found_among_few_ranks_and_none_where_there_are_none() {
        // Kinds that differ by more than their noise.
        let objects = likewise::synth::effort::effort_traces(12, 64, 3);
        let (k, all) = by_silhouette(&objects, 10).unwrap();
        assert_eq!((k, all.len()), (6, 5), "{all:?}");
        let same = vec![vec![1.0, 2.0]; 4];
        assert_eq!(by_silhouette(&same, 10).unwrap(), (1, Vec::new()));
        assert_eq!(by_silhouette(&objects[..1], 10).unwrap(), (1, Vec::new()));
        let kind: Vec<Vec<f64>> =
            likewise::synth::effort::effort_traces(48, 64, 9).into_iter().step_by(6).collect();
        assert_eq!(by_silhouette(&kind, 10).unwrap().0, 1, "eight of one kind");
    }
}
