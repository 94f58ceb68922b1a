//! Which number of clusters is right.

use crate::comm::Communicator;
use crate::quality::{SphericalFit, least_variance, spherical_bic};

use super::params::{CapekError, CapekParams, ClusterCount};
use super::portable::Portable;
use super::vectors::{Centroids, Vectors};
use super::world::{Nearest, Solution, World};

/// A value for each number of clusters.
type ByCount = Vec<(usize, f64)>;

/// The criterion of each solution, in their order, and where objects are
/// vectors the squared error about centroids; nothing where the number of
/// clusters was given.
pub(super) fn criteria<C, T, D>(
    world: &World<'_, C, T, D>,
    params: &CapekParams<T>,
    vectors: Option<&Vectors<T>>,
    solutions: &[Solution<T>],
) -> Result<(ByCount, ByCount), CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    if matches!(params.clusters, ClusterCount::Fixed(_)) {
        return Ok((Vec::new(), Vec::new()));
    }
    let (values, errors) = match vectors {
        Some(vectors) => bic(world, vectors, solutions)?,
        None => (silhouette(world, solutions)?, Vec::new()),
    };
    let by_count = |values: Vec<f64>| solutions.iter().map(|s| s.medoids.len()).zip(values).collect();
    Ok((by_count(values), by_count(errors)))
}

/// The BIC about centroids, of every solution: one reduction for the
/// centroids of all, and one for the squares about them, which are the second
/// result.
fn bic<C, T, D>(
    world: &World<'_, C, T, D>,
    vectors: &Vectors<T>,
    solutions: &[Solution<T>],
) -> Result<(Vec<f64>, Vec<f64>), CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let groupings: Vec<(usize, &Nearest)> =
        solutions.iter().map(|solution| (solution.medoids.len(), &solution.nearest)).collect();
    let centroids = vectors.centroids(world, &groupings)?;
    let squares = |((_, nearest), centroids): (&(usize, &Nearest), &Centroids)| -> Vec<f64> {
        let square = |(object, &label)| centroids.square(label, vectors.of(object));
        world.objects.iter().zip(&nearest.label).map(square).collect()
    };
    let squares: Vec<Vec<f64>> = groupings.iter().zip(&centroids).map(squares).collect();
    let errors = world.sums(&squares, |at| at)?;
    let least_variance = least_variance(vectors.largest());
    let fit = |(centroids, &squared_error): (&Centroids, &f64)| {
        let (sizes, dims) = (centroids.sizes(), vectors.dims());
        spherical_bic(&SphericalFit { sizes, squared_error, dims, least_variance })
    };
    Ok((centroids.iter().zip(&errors).map(fit).collect(), errors))
}

/// The mean over all objects of 1 − d₁/d₂, the dissimilarities to the nearest
/// and the second medoid; 0 where both are 0.
fn silhouette<C, T, D>(world: &World<'_, C, T, D>, solutions: &[Solution<T>]) -> Result<Vec<f64>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let width = |solution: &Solution<T>| -> Vec<f64> {
        let own = solution.nearest.label.iter().zip(&solution.nearest.distance);
        let one = |(object, (&label, &nearest)): (&T, (&u32, &f64))| {
            let others = solution.medoids.iter().enumerate().filter(|(at, _)| *at != label as usize);
            let second = others.map(|(_, other)| (world.dissimilarity)(object, &other.object));
            let second = second.fold(f64::INFINITY, f64::min);
            if second > 0.0 { (1.0 - nearest / second).max(0.0) } else { 0.0 }
        };
        world.objects.iter().zip(own).map(one).collect()
    };
    let widths: Vec<Vec<f64>> = solutions.iter().map(width).collect();
    let sums = world.sums(&widths, |at| at)?;
    Ok(sums.into_iter().map(|sum| sum / world.n as f64).collect())
}
