//! k-medoids of objects that are spread over ranks.

mod contest;
mod count;
mod exact;
mod fixed;
mod pool;
mod portable;
mod sampled;
#[cfg(test)]
mod tests;
mod vectors;
mod world;

use crate::comm::{CommError, Communicator};

pub use portable::Portable;

use pool::Pool;
use vectors::Vectors;
use world::World;

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

    fn most_clusters(&self) -> usize {
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
        let pool = (trials * sample + pool::FAR as u128 + k).min(n);
        let counts = self.counts().count() as u128;
        8 * (here.min(trials) * sample * sample).max(here.min(counts) * pool * pool)
    }

    fn is_exact(&self, n_objects: u64) -> bool {
        match self.mode {
            Mode::Auto => n_objects <= EXACT_OBJECTS,
            Mode::Sampled => false,
            Mode::Exact => true,
        }
    }

    fn counts(&self) -> std::ops::RangeInclusive<usize> {
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

/// Groups objects about medoids, with the work shared by all ranks.
///
/// `objects` are this rank's, any number. Every rank gets the same medoids,
/// whatever the number of ranks that the objects are spread over.
///
/// Sampled:
///
/// 1. Each trial draws `sample_size` objects by their numbers, which takes no
///    communication. All ranks get the objects of all samples, and one rank per
///    trial clusters its sample.
/// 2. From the trial whose medoids are best for all samples together, swaps go on
///    among the objects of all samples; each number of clusters is done by a rank
///    of its own.
/// 3. The medoids are measured on all objects, and the number of clusters is
///    chosen.
/// 4. The medoids are made central: the object nearest to the middle of a cluster
///    takes over, as long as that lowers the loss. The middle is the centroid if
///    objects are vectors ([`Criterion::Bic`]), and otherwise the cluster's members
///    in the samples.
///
/// Exact: PAM over all objects; each rank tries its own objects as medoids.
///
/// # Errors
/// [`CapekError`].
///
/// # Complexity
/// n objects on P ranks, s in a sample, S trials: O(s²) dissimilarities on the
/// rank of a trial, O((S·s)²) on the rank of a number of clusters, O(k·n/P) on
/// each, O(log P) messages. Exact: O(n²/P) dissimilarities and as much memory,
/// O(k·n) a swap.
///
/// # Reference
/// Gamblin et al., *Clustering Performance Data Efficiently at Massive
/// Scales*, ICS 2010, §3. Differs: samples in O(s) instead of O(n); one sample
/// serves all numbers of clusters; trials are compared on the samples of all,
/// not on all objects, and go on from there; the BIC is about centroids;
/// medoids are made central; exact where n allows.
///
/// # Example
/// ```
/// use likewise::cluster::euclidean;
/// use likewise::cluster::medoids::capek::{CapekParams, ClusterCount, Criterion, capek};
/// use likewise::comm::Solo;
///
/// let objects: Vec<Vec<f64>> = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0].map(|x| vec![x]).to_vec();
/// let unlike = |a: &Vec<f64>, b: &Vec<f64>| euclidean(a, b);
/// let params = CapekParams::new(ClusterCount::Fixed(2), Criterion::Bic(|object: &Vec<f64>| object));
/// // One rank that has all objects; `run_on_threads` and MPI give several.
/// let found = capek(&Solo::default(), &objects, &unlike, &params)?;
/// assert_eq!(found.labels, [0, 0, 0, 1, 1, 1]);
/// assert_eq!(found.medoids.iter().map(|medoid| medoid.index).collect::<Vec<_>>(), [1, 4]);
/// assert_eq!(found.loss, 4.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn capek<C, T, D>(
    comm: &C,
    objects: &[T],
    dissimilarity: &D,
    params: &CapekParams<T>,
) -> Result<Capek<T>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    comm.phase("count");
    let world = World::new(comm, objects, dissimilarity)?;
    let wanted = params.most_clusters();
    if params.counts().is_empty()
        || *params.counts().start() == 0
        || world.n < *params.counts().start() as u64
    {
        return Err(CapekError::TooManyClusters { wanted, distinct: world.n as usize });
    }
    let is_exact = params.is_exact(world.n);
    let vectors = match params.criterion {
        Criterion::Bic(coordinates) => Some(Vectors::new(&world, coordinates)?),
        Criterion::Silhouette => None,
    };
    let (solutions, pool) = if is_exact {
        comm.phase("exact");
        (exact::solutions(&world, params)?, None)
    } else {
        let mut pool = Pool::draw(&world, params)?;
        (sampled::solutions(&world, params, &mut pool)?, Some(pool))
    };
    comm.phase("criterion");
    let (criterion, squared_errors) = count::criteria(&world, params, vectors.as_ref(), &solutions)?;
    // Of equal ones, the fewest clusters.
    let best = world::first_least(criterion.iter().map(|(_, value)| -value));
    let best = solutions.into_iter().nth(best).expect("a solution for every value of the criterion");
    let best = match &pool {
        Some(pool) => sampled::central(&world, best, pool, vectors.as_ref())?,
        None => best,
    };
    comm.phase("describe");
    Ok(Capek { squared_errors, ..world.describe(best, criterion, is_exact)? })
}
