//! Medoids found in samples, and made central.

use crate::comm::{Communicator, Reduction};

use super::contest::winner;
use super::params::{CapekError, CapekParams, ClusterCount};
use super::pool::Pool;
use super::portable::{Portable, Sent};
use super::vectors::{Centroids, Vectors};
use super::world::{Solution, World, first_least};
use crate::comm::order;

/// Rounds in which medoids are made central, at most.
const ROUNDS: usize = 4;

/// For each number of clusters that samples allow, the medoids of the pool.
pub(super) fn solutions<C, T, D>(
    world: &World<'_, C, T, D>,
    params: &CapekParams<T>,
    pool: &mut Pool<T>,
) -> Result<Vec<Solution<T>>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    world.comm.phase("trials");
    let trials = pool.trials(world, params)?;
    world.comm.phase("far");
    pool.add_far(world, params, &trials)?;
    world.comm.phase("swaps");
    let found = pool.swapped(world, params, &trials)?;
    let (wanted, distinct) = (params.most_clusters(), found.keys().last().copied().unwrap_or(0));
    let is_fixed = matches!(params.clusters, ClusterCount::Fixed(_));
    if distinct < *params.counts().start() || (is_fixed && distinct < wanted) {
        return Err(CapekError::TooManyClusters { wanted, distinct });
    }
    world.comm.phase("contest");
    let sets: Vec<Vec<usize>> = if is_fixed {
        vec![winner(world, pool, found.into_values().flatten().collect(), params.seed)?]
    } else {
        // With a wrong grouping, a number loses to another; it needs no rivals.
        found.into_values().flat_map(|sets| sets.into_iter().take(1)).collect()
    };
    world.comm.phase("measure");
    world.solutions(&pool.objects, &sets)
}

/// Makes the medoids central: where the object in the middle of each cluster
/// lowers the loss, it takes over, and clusters are formed anew.
///
/// The best object of a sample is seldom the best of all: in high dimension
/// the loss about it is some per cent more.
pub(super) fn central<C, T, D>(
    world: &World<'_, C, T, D>,
    mut best: Solution<T>,
    pool: &Pool<T>,
    vectors: Option<&Vectors<T>>,
) -> Result<Solution<T>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    for _ in 0..ROUNDS {
        world.comm.phase("centre");
        let middle = Middle::of(world, &best, pool, vectors)?;
        let medoids = nearest_to(world, &best, &middle)?;
        let same = medoids.iter().zip(&best.medoids).all(|(new, old)| new.index == old.index);
        if same {
            break;
        }
        world.comm.phase("measure");
        let next = world.solution(medoids)?;
        if next.loss >= best.loss {
            break;
        }
        best = next;
    }
    Ok(best)
}

/// Where the middle of a cluster is.
enum Middle<'p, T> {
    /// At its centroid.
    Vectors(&'p Vectors<T>, Centroids),
    /// Near to those of its members that are in the pool.
    Members(Vec<Vec<&'p T>>),
}

impl<'p, T: Portable + Clone + Sync> Middle<'p, T> {
    fn of<C, D>(
        world: &World<'_, C, T, D>,
        solution: &'p Solution<T>,
        pool: &'p Pool<T>,
        vectors: Option<&'p Vectors<T>>,
    ) -> Result<Self, CapekError>
    where
        C: Communicator,
        D: Fn(&T, &T) -> f64 + Sync,
    {
        let medoids = &solution.medoids;
        if let Some(vectors) = vectors {
            let found = vectors.centroids(world, &[(medoids.len(), &solution.nearest)])?.pop();
            return Ok(Self::Vectors(vectors, found.expect("of one grouping")));
        }
        let mut members: Vec<Vec<&T>> = vec![Vec::new(); medoids.len()];
        for sent in &pool.objects {
            let to = medoids.iter().map(|medoid| (world.dissimilarity)(&sent.object, &medoid.object));
            members[first_least(to)].push(&sent.object);
        }
        Ok(Self::Members(members))
    }

    /// The less, the nearer; all alike, where nothing is known of the cluster.
    fn far<D: Fn(&T, &T) -> f64>(&self, dissimilarity: &D, object: &T, cluster: u32) -> f64 {
        match self {
            Self::Vectors(vectors, centroids) => centroids.square(cluster, vectors.of(object)),
            Self::Members(members) => {
                members[cluster as usize].iter().map(|member| dissimilarity(object, member)).sum()
            }
        }
    }
}

/// Of each cluster, the object of all ranks that is nearest to its middle; of
/// equally near ones, the first.
fn nearest_to<C, T, D>(
    world: &World<'_, C, T, D>,
    solution: &Solution<T>,
    middle: &Middle<'_, T>,
) -> Result<Vec<Sent<T>>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let mut least = vec![i64::MAX; solution.medoids.len()];
    let mut at = vec![usize::MAX; solution.medoids.len()];
    for (place, (object, &label)) in world.objects.iter().zip(&solution.nearest.label).enumerate() {
        let far = order(middle.far(world.dissimilarity, object, label));
        if far < least[label as usize] {
            (least[label as usize], at[label as usize]) = (far, place);
        }
    }
    let own = least.clone();
    world.comm.all_reduce(Reduction::Min, &mut least)?;
    let candidate = |((&at, own), least): ((&usize, i64), &i64)| {
        if at < usize::MAX && own == *least { world.index(at) as i64 } else { i64::MAX }
    };
    let mut first: Vec<i64> = at.iter().zip(own).zip(&least).map(candidate).collect();
    world.comm.all_reduce(Reduction::Min, &mut first)?;
    first.sort_unstable();
    world.share(first.iter().filter_map(|&index| Some((index as u64, world.here(index as u64)?))))
}
