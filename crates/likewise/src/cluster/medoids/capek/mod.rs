//! k-medoids of objects that are spread over ranks.

mod contest;
mod count;
mod exact;
mod fixed;
mod params;
mod pool;
mod portable;
mod sampled;
#[cfg(test)]
mod tests;
mod vectors;
mod world;

use crate::comm::Communicator;
pub use params::{Capek, CapekError, CapekParams, ClusterCount, Criterion, EXACT_OBJECTS, Medoid, Mode};

pub use portable::Portable;

use pool::Pool;
use vectors::Vectors;
use world::World;

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
