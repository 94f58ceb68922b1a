//! k-medoids: clusters about objects that stand for them, where nothing is
//! known but how unlike two objects are.
//!
//! [`pam`] is the plain method and the oracle, [`fasterpam`] what to use where
//! the matrix fits, [`clara`] where it does not, and [`capek`](capek::capek)
//! where the objects are spread over ranks.
//!
//! **Ties.** An object belongs to the medoid of lowest index among equally
//! near ones, but a medoid always to itself. BUILD takes the object of lowest
//! index among equal gains; of equally good swaps the one of lowest object,
//! then of lowest medoid, is made. No sum depends on the number of threads.

pub mod capek;
mod clara;
mod fasterpam;
mod pam;
mod subset;
#[cfg(test)]
mod tests;

use super::{ClusterId, Clustering, Dissimilarities, DissimilaritiesError};

pub use clara::{ClaraParams, clara};
pub use fasterpam::{Start, fasterpam};
pub use pam::pam;
pub use subset::subset;

/// Objects grouped about medoids.
#[derive(Clone, Debug, PartialEq)]
pub struct Medoids {
    /// The objects that stand for their cluster, ascending.
    pub medoids: Vec<usize>,
    /// Of each object, the place of its medoid in `medoids`.
    pub labels: Vec<u32>,
    /// Sum of the dissimilarities of all objects to their medoid, added up in
    /// the objects' order.
    pub loss: f64,
    /// Swaps made after the start.
    pub n_swaps: usize,
}

impl Medoids {
    /// The same partition, as the measures of [`quality`](crate::quality)
    /// take it.
    #[must_use]
    pub fn clustering(&self) -> Clustering {
        let labels = self.labels.iter().map(|&label| Some(ClusterId::from_index(label as usize)));
        Clustering { labels: labels.collect(), n_clusters: self.medoids.len() }
    }
}

/// Why objects were not grouped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MedoidsError {
    /// No cluster was asked for.
    #[error("0 clusters are asked of {n_objects} objects; at least 1 is needed")]
    NoClusters {
        /// How many objects there are.
        n_objects: usize,
    },
    /// There are not as many objects that differ.
    #[error("{n_clusters} clusters are asked of {distinct} distinct objects")]
    TooFewDistinct {
        /// How many clusters were asked for.
        n_clusters: usize,
        /// How many objects differ from all before them that do; of the best
        /// sample, where samples are drawn.
        distinct: usize,
    },
    /// The medoids to start from are not that many distinct objects.
    #[error("the start holds {given:?}, which are not {n_clusters} distinct of {n_objects} objects")]
    Start {
        /// What was given.
        given: Vec<usize>,
        /// How many clusters were asked for.
        n_clusters: usize,
        /// How many objects there are.
        n_objects: usize,
    },
    /// No sample was asked for, or one smaller than the number of clusters.
    #[error("{n_samples} samples of {sample_size} objects cannot give {n_clusters} clusters")]
    Sampling {
        /// How many samples.
        n_samples: usize,
        /// Objects in each.
        sample_size: usize,
        /// How many clusters were asked for.
        n_clusters: usize,
    },
    /// A dissimilarity is not one.
    #[error(transparent)]
    Dissimilarities(#[from] DissimilaritiesError),
}

/// Whether as many objects as clusters differ from one another.
fn check(d: &Dissimilarities, n_clusters: usize) -> Result<(), MedoidsError> {
    if n_clusters == 0 {
        return Err(MedoidsError::NoClusters { n_objects: d.len() });
    }
    let mut chosen: Vec<usize> = Vec::new();
    for object in 0..d.len() {
        if chosen.len() == n_clusters {
            break;
        }
        if chosen.iter().all(|&other| d.get(object, other) > 0.0) {
            chosen.push(object);
        }
    }
    if chosen.len() < n_clusters {
        return Err(MedoidsError::TooFewDistinct { n_clusters, distinct: chosen.len() });
    }
    Ok(())
}

/// Every object at its nearest medoid.
fn assign(d: &Dissimilarities, mut medoids: Vec<usize>, n_swaps: usize) -> Medoids {
    medoids.sort_unstable();
    let mut nearest = d.row(medoids[0]).to_vec();
    let mut labels = vec![0; d.len()];
    for (place, &medoid) in medoids.iter().enumerate().skip(1) {
        for ((near, label), &distance) in nearest.iter_mut().zip(&mut labels).zip(d.row(medoid)) {
            if distance < *near {
                (*near, *label) = (distance, place as u32);
            }
        }
    }
    for (place, &medoid) in medoids.iter().enumerate() {
        labels[medoid] = place as u32;
    }
    Medoids { medoids, labels, loss: nearest.iter().sum(), n_swaps }
}
