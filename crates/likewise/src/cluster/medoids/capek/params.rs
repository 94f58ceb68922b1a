//! What is asked of CAPEK, and what it gives.

use crate::comm::CommError;

/// On average, so many far objects are added to the pool, and one more for each
/// cluster.
pub(super) const FAR: usize = 20;

/// How many clusters there are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterCount {
    /// So many.
    Fixed(usize),
    /// As many as the criterion likes best, from 1 to this.
    UpTo(usize),
}

/// What tells a good number of clusters.
#[derive(Clone, Debug)]
pub enum Criterion<T> {
    /// The BIC about centroids, for objects that are vectors under the
    /// [Euclidean distance](crate::cluster::euclidean). The function gives an
    /// object's coordinates, equally many for all objects.
    Bic(fn(&T) -> &[f64]),
    /// The medoid silhouette; for anything else. It knows no single cluster:
    /// the least number is 2.
    Silhouette,
}

/// Whether all objects are looked at, or samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Exact where there are at most [`EXACT_OBJECTS`].
    Auto,
    /// Samples, then medoids made central.
    Sampled,
    /// PAM over all objects, shared out over the ranks.
    Exact,
}

/// So many objects, at most, are clustered exactly by [`Mode::Auto`].
pub const EXACT_OBJECTS: u64 = 4096;

/// What CAPEK is to do.
#[derive(Clone, Debug)]
pub struct CapekParams<T> {
    /// How many clusters.
    pub clusters: ClusterCount,
    /// What decides between numbers of clusters.
    pub criterion: Criterion<T>,
    /// Exact or sampled.
    pub mode: Mode,
    /// Objects in a sample; 40 + 2k where not given.
    pub sample_size: Option<usize>,
    /// Samples drawn.
    pub n_trials: usize,
    /// What the samples are drawn by.
    pub seed: u64,
}

impl<T> CapekParams<T> {
    /// As the paper has it: five samples of 40 + 2k.
    #[must_use]
    pub fn new(clusters: ClusterCount, criterion: Criterion<T>) -> Self {
        Self { clusters, criterion, mode: Mode::Auto, sample_size: None, n_trials: 5, seed: 0 }
    }

    pub(super) fn most_clusters(&self) -> usize {
        match self.clusters {
            ClusterCount::Fixed(k) | ClusterCount::UpTo(k) => k,
        }
    }

    /// An estimate of the bytes of all dissimilarities that `here` of `size` ranks
    /// (those of one machine, say) hold at once, so that a caller can refuse what
    /// does not fit in memory. Exact: of their objects to all others, and on each
    /// of these ranks of all objects to the medoids. Sampled: of every two objects
    /// in a sample, or in all samples together with the far objects that are
    /// added.
    #[must_use]
    pub fn dissimilarity_bytes(&self, n_objects: u64, size: usize, here: usize) -> u128 {
        let (n, here, k) = (u128::from(n_objects), here as u128, self.most_clusters() as u128);
        if self.is_exact(n_objects) {
            let rows = (here * n.div_ceil(size.max(1) as u128)).min(n);
            return 8 * (rows * n + here * k.min(n) * n);
        }
        let sample = (self.sample_size.map_or(40 + 2 * k, |size| size as u128)).min(n);
        let trials = self.n_trials.max(1) as u128;
        let pool = (trials * sample + FAR as u128 + k).min(n);
        let counts = self.counts().count() as u128;
        8 * (here.min(trials) * sample * sample).max(here.min(counts) * pool * pool)
    }

    pub(super) fn is_exact(&self, n_objects: u64) -> bool {
        match self.mode {
            Mode::Auto => n_objects <= EXACT_OBJECTS,
            Mode::Sampled => false,
            Mode::Exact => true,
        }
    }

    pub(super) fn counts(&self) -> std::ops::RangeInclusive<usize> {
        match (self.clusters, &self.criterion) {
            (ClusterCount::Fixed(k), _) => k..=k,
            (ClusterCount::UpTo(k), Criterion::Bic(_)) => 1..=k,
            (ClusterCount::UpTo(k), Criterion::Silhouette) => 2..=k,
        }
    }
}

/// An object that stands for its cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Medoid<T> {
    /// Its number among the objects of all ranks, in the order of ranks.
    pub index: u64,
    /// The object.
    pub object: T,
    /// How many objects its cluster has.
    pub size: u64,
}

/// Clusters of the objects of all ranks, as this rank sees them.
#[derive(Clone, Debug, PartialEq)]
pub struct Capek<T> {
    /// The medoids, by index; the same on all ranks.
    pub medoids: Vec<Medoid<T>>,
    /// Of each object of this rank, the place of its medoid. The first of
    /// equally near ones; a medoid is always its own.
    pub labels: Vec<u32>,
    /// Of each object of this rank, its dissimilarity to its medoid.
    pub dissimilarities: Vec<f64>,
    /// The sum of the dissimilarities of all ranks.
    pub loss: f64,
    /// The criterion for each number of clusters that was tried; the larger,
    /// the better. Empty where the number was given.
    pub criterion: Vec<(usize, f64)>,
    /// For each number of clusters that was tried, the sum of the squared
    /// distances to the centroids. Empty where `criterion` is, and where
    /// objects are no vectors.
    pub squared_errors: Vec<(usize, f64)>,
    /// How many objects there are on all ranks.
    pub n_objects: u64,
    /// How many of them were on the ranks before this one.
    pub first_object: u64,
    /// Whether all objects were looked at.
    pub is_exact: bool,
}

/// Why objects could not be clustered. The same on every rank.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CapekError {
    /// No number of clusters, or more than there are different objects.
    #[error("{wanted} clusters were asked for, and there are {distinct} different objects")]
    TooManyClusters {
        /// How many were asked for.
        wanted: usize,
        /// How many objects differ, of those looked at.
        distinct: usize,
    },
    /// A dissimilarity is no number, or below 0.
    #[error("the dissimilarity of object {index} to another is not a number of at least 0")]
    NotFinite {
        /// The object's number among those of all ranks.
        index: u64,
    },
    /// The criterion compares vectors, and they are not equally long.
    #[error("objects have from {least} to {most} coordinates")]
    Dimensions {
        /// The fewest.
        least: usize,
        /// The most.
        most: usize,
    },
    /// An object did not survive its journey: `from_bytes` refused it.
    #[error("an object could not be read from the bytes that it was sent as")]
    NotPortable,
    /// The ranks could not work together.
    #[error(transparent)]
    Comm(#[from] CommError),
}
