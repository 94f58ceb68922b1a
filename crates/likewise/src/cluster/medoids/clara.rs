//! Medoids of samples, for more objects than a matrix can hold.

use rayon::prelude::*;

use super::{Medoids, MedoidsError, Start, fasterpam, subset};
use crate::cluster::matrix::valid;
use crate::cluster::{Dissimilarities, DissimilaritiesError};

/// How [`clara`] samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaraParams {
    /// How many clusters; k.
    pub n_clusters: usize,
    /// Objects in each sample.
    pub sample_size: usize,
    /// How many samples.
    pub n_samples: usize,
    /// Of the samples.
    pub seed: u64,
}

impl ClaraParams {
    /// Five samples of 40 + 2k, as Kaufman and Rousseeuw advise.
    #[must_use]
    pub fn new(n_clusters: usize, seed: u64) -> Self {
        let sample_size = n_clusters.saturating_mul(2).saturating_add(40);
        Self { n_clusters, sample_size, n_samples: 5, seed }
    }
}

/// Groups `objects` about medoids of samples: each [`subset`] is solved by
/// [`fasterpam`] from BUILD, and of the medoids found those are kept that have
/// the least loss over all objects (the first of equal ones).
///
/// `dissimilarity` is called with the earlier object first, and never for an
/// object and itself.
///
/// # Errors
/// [`MedoidsError`] if the parameters make no sense, if no sample holds as
/// many distinct objects as clusters are asked for, or if a dissimilarity
/// that is needed is NaN, infinite or negative. A sample of too few distinct
/// objects is passed over where another has enough.
///
/// # Complexity
/// O(S(s² + k n)) calls, in parallel.
///
/// # Reference
/// Kaufman & Rousseeuw, *Finding Groups in Data*, 1990, chapter 3, as Gamblin
/// et al., ICS 2010, figure 1, has it. Differs: `n_swaps` and samples are of
/// the trial kept, and each trial has a stream of its own.
///
/// # Example
/// ```
/// use likewise::cluster::medoids::{ClaraParams, clara};
///
/// // A thousand objects in two groups; five samples of 44 are looked at.
/// let objects: Vec<f64> = (0..1000).map(|i| f64::from(i % 2) * 9.0 + f64::from(i) * 1e-4).collect();
/// let found = clara(&objects, |a, b| (a - b).abs(), &ClaraParams::new(2, 1))?;
/// assert!(found.labels.iter().enumerate().all(|(i, &label)| label == found.labels[i % 2]));
/// assert_ne!(found.labels[0], found.labels[1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn clara<T: Sync>(
    objects: &[T],
    dissimilarity: impl Fn(&T, &T) -> f64 + Sync,
    params: &ClaraParams,
) -> Result<Medoids, MedoidsError> {
    let &ClaraParams { n_clusters, sample_size, n_samples, seed } = params;
    if n_clusters == 0 {
        return Err(MedoidsError::NoClusters { n_objects: objects.len() });
    }
    if n_samples == 0 || sample_size < n_clusters {
        return Err(MedoidsError::Sampling { n_samples, sample_size, n_clusters });
    }
    let mut best: Option<Medoids> = None;
    let mut most_distinct = 0;
    for trial in 0..n_samples as u64 {
        let sample = subset(objects.len() as u64, sample_size, seed, trial);
        match solve(objects, &dissimilarity, &sample, n_clusters) {
            Ok(found) if best.as_ref().is_none_or(|best| found.loss < best.loss) => best = Some(found),
            Ok(_) => {}
            Err(MedoidsError::TooFewDistinct { distinct, .. }) => most_distinct = most_distinct.max(distinct),
            Err(error) => return Err(error),
        }
        if sample.len() == objects.len() {
            break;
        }
    }
    best.ok_or(MedoidsError::TooFewDistinct { n_clusters, distinct: most_distinct })
}

/// The medoids of a sample, and all objects about them.
fn solve<T: Sync>(
    objects: &[T],
    dissimilarity: &(impl Fn(&T, &T) -> f64 + Sync),
    sample: &[u64],
    n_clusters: usize,
) -> Result<Medoids, MedoidsError> {
    let sampled: Vec<&T> = sample.iter().map(|&at| &objects[at as usize]).collect();
    let matrix = Dissimilarities::new(&sampled, |a, b| dissimilarity(a, b)).map_err(|e| named(e, sample))?;
    let found = fasterpam(&matrix, n_clusters, Start::Build)?;
    let medoids: Vec<usize> = found.medoids.iter().map(|&at| sample[at] as usize).collect();
    let nearest = |o: usize| {
        let mut best = (f64::INFINITY, 0);
        for (place, &m) in medoids.iter().enumerate() {
            let (a, b) = (o.min(m), o.max(m));
            if a == b {
                return Ok((0.0, place as u32));
            }
            let value = valid(a, b, dissimilarity(&objects[a], &objects[b]))?;
            if value < best.0 {
                best = (value, place as u32);
            }
        }
        Ok(best)
    };
    let all: Vec<Result<(f64, u32), DissimilaritiesError>> =
        (0..objects.len()).into_par_iter().with_min_len(256).map(nearest).collect();
    let mut labels = Vec::with_capacity(objects.len());
    let mut loss = 0.0;
    for object in all {
        let (value, label) = object?;
        loss += value;
        labels.push(label);
    }
    Ok(Medoids { medoids, labels, loss, n_swaps: found.n_swaps })
}

/// The error with the objects' places among all, not in the sample.
fn named(error: DissimilaritiesError, sample: &[u64]) -> DissimilaritiesError {
    match error {
        DissimilaritiesError::Invalid { a, b, value } => {
            DissimilaritiesError::Invalid { a: sample[a] as usize, b: sample[b] as usize, value }
        }
        other => other,
    }
}
