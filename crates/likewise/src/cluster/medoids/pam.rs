//! Partitioning around medoids, as plainly as it can be said.

use rayon::prelude::*;

use super::{Medoids, MedoidsError, assign, check};
use crate::cluster::Dissimilarities;

/// Groups objects about `n_clusters` medoids: BUILD, then the best swap of a
/// medoid and another object while one lowers the loss.
///
/// The loss of each possible swap is summed anew, so that nothing but the
/// definition is computed; where the time matters, take
/// [`fasterpam`](super::fasterpam).
///
/// # Errors
/// [`MedoidsError`] if there are no clusters, or more than distinct objects.
///
/// # Complexity
/// O(k n²) for each of the k steps of BUILD and for each swap, in parallel.
///
/// # Reference
/// Kaufman & Rousseeuw, *Finding Groups in Data*, 1990, chapter 2. Differs:
/// ties go to the lowest index.
///
/// # Example
/// ```
/// use likewise::cluster::Dissimilarities;
/// use likewise::cluster::medoids::pam;
///
/// let objects = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0f64];
/// let matrix = Dissimilarities::new(&objects, |a, b| (a - b).abs())?;
/// assert_eq!(pam(&matrix, 2)?.medoids, [1, 4]);
/// assert!(pam(&matrix, 7).is_err(), "there are six objects");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pam(dissimilarities: &Dissimilarities, n_clusters: usize) -> Result<Medoids, MedoidsError> {
    let d = dissimilarities;
    check(d, n_clusters)?;
    let mut medoids = build(d, n_clusters);
    let mut n_swaps = 0;
    let mut loss = total(d, &medoids);
    while let Some((better, candidate, place)) = best_swap(d, &medoids, loss) {
        medoids[place] = candidate;
        medoids.sort_unstable();
        loss = better;
        n_swaps += 1;
    }
    Ok(assign(d, medoids, n_swaps))
}

/// One medoid after the other, each the one that lowers the loss most.
fn build(d: &Dissimilarities, k: usize) -> Vec<usize> {
    let mut medoids = Vec::with_capacity(k);
    let mut nearest = vec![f64::INFINITY; d.len()];
    for _ in 0..k {
        let loss_with =
            |c: usize| -> f64 { d.row(c).iter().zip(&nearest).map(|(x, near)| x.min(*near)).sum() };
        let open = |c: &usize| !medoids.contains(c);
        let losses: Vec<(f64, usize)> =
            (0..d.len()).into_par_iter().filter(open).map(|c| (loss_with(c), c)).collect();
        let &(_, best) = losses
            .iter()
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .expect("fewer medoids than objects");
        medoids.push(best);
        nearest.iter_mut().zip(d.row(best)).for_each(|(near, x)| *near = near.min(*x));
    }
    medoids.sort_unstable();
    medoids
}

/// Sum of the dissimilarities of all objects to the nearest medoid.
fn total(d: &Dissimilarities, medoids: &[usize]) -> f64 {
    let near = |o: usize| medoids.iter().map(|&m| d.get(m, o)).fold(f64::INFINITY, f64::min);
    (0..d.len()).map(near).sum()
}

/// The loss after the best swap, if it is lower: the object that comes, the
/// place of the medoid that goes.
fn best_swap(d: &Dissimilarities, medoids: &[usize], loss: f64) -> Option<(f64, usize, usize)> {
    // Of each place, every object's dissimilarity to the nearest other medoid.
    let without: Vec<Vec<f64>> = (0..medoids.len())
        .into_par_iter()
        .map(|place| {
            let rest = medoids.iter().enumerate().filter(|&(at, _)| at != place);
            let mut nearest = vec![f64::INFINITY; d.len()];
            for (_, &m) in rest {
                nearest.iter_mut().zip(d.row(m)).for_each(|(near, x)| *near = near.min(*x));
            }
            nearest
        })
        .collect();
    let best_place = |c: usize| {
        let loss = |rest: &Vec<f64>| -> f64 { d.row(c).iter().zip(rest).map(|(x, near)| x.min(*near)).sum() };
        let losses = without.iter().map(loss).enumerate().map(|(place, loss)| (loss, c, place));
        losses.min_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)))
    };
    let best = (0..d.len()).into_par_iter().filter(|c| !medoids.contains(c)).filter_map(best_place);
    let best = best.min_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))))?;
    (best.0 < loss).then_some(best)
}
