//! Which number of clusters is right.

use crate::comm::{Communicator, Reduction};
use crate::quality::{SphericalFit, least_variance, spherical_bic};

use super::portable::Portable;
use super::world::{Solution, World};
use super::{CapekError, CapekParams, ClusterCount, Criterion};

/// The criterion of each solution, in their order; nothing where the number
/// of clusters was given.
pub(super) fn criteria<C, T, D>(
    world: &World<'_, C, T, D>,
    params: &CapekParams<T>,
    solutions: &[Solution<T>],
) -> Result<Vec<(usize, f64)>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    if matches!(params.clusters, ClusterCount::Fixed(_)) {
        return Ok(Vec::new());
    }
    let values = match params.criterion {
        Criterion::Bic(coordinates) => bic(world, coordinates, solutions)?,
        Criterion::Silhouette => silhouette(world, solutions)?,
    };
    Ok(solutions.iter().map(|s| s.medoids.len()).zip(values).collect())
}

/// The BIC about centroids, of every solution: one reduction for the
/// centroids of all, and one for the squares about them.
fn bic<C, T, D>(
    world: &World<'_, C, T, D>,
    coordinates: fn(&T) -> &[f64],
    solutions: &[Solution<T>],
) -> Result<Vec<f64>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let dims = dims(world, coordinates)?;
    let largest = |object| coordinates(object).iter().map(|x| x.abs()).fold(0.0, f64::max);
    let fixed = world.fixed(world.objects.iter().map(largest).enumerate())?;
    let per_cluster = dims + 1;
    let n_clusters: usize = solutions.iter().map(|s| s.medoids.len()).sum();
    let mut sums = vec![0i64; n_clusters * per_cluster];
    let starts: Vec<usize> = solutions
        .iter()
        .scan(0, |next, s| {
            *next += s.medoids.len();
            Some(*next - s.medoids.len())
        })
        .collect();
    for (at, object) in world.objects.iter().enumerate() {
        let x: Vec<i64> = coordinates(object).iter().map(|&x| fixed.of(x)).collect();
        for (solution, start) in solutions.iter().zip(&starts) {
            let cluster = start + solution.nearest.label[at] as usize;
            let sums = &mut sums[cluster * per_cluster..(cluster + 1) * per_cluster];
            sums.iter_mut().zip(&x).for_each(|(sum, x)| *sum += x);
            sums[dims] += 1;
        }
    }
    world.comm.all_reduce(Reduction::Sum, &mut sums)?;
    let centroid = |cluster: &[i64]| -> Vec<f64> {
        cluster[..dims].iter().map(|&sum| fixed.value(sum) / cluster[dims].max(1) as f64).collect()
    };
    let centroids: Vec<Vec<f64>> = sums.chunks_exact(per_cluster).map(centroid).collect();
    let squares = |solution: &Solution<T>, start: &usize| -> Vec<f64> {
        let square = |(object, &label): (&T, &u32)| {
            let about = &centroids[start + label as usize];
            coordinates(object).iter().zip(about).map(|(x, c)| (x - c) * (x - c)).sum()
        };
        world.objects.iter().zip(&solution.nearest.label).map(square).collect()
    };
    let squares: Vec<Vec<f64>> = solutions.iter().zip(&starts).map(|(s, start)| squares(s, start)).collect();
    let errors = sum_each(world, &squares)?;
    let least_variance = least_variance(fixed.largest());
    let fit = |((solution, start), squared_error): ((&Solution<T>, &usize), f64)| {
        let counts = sums[start * per_cluster..].chunks_exact(per_cluster).take(solution.medoids.len());
        let sizes: Vec<usize> = counts.map(|cluster| cluster[dims] as usize).collect();
        spherical_bic(&SphericalFit { sizes: &sizes, squared_error, dims, least_variance })
    };
    Ok(solutions.iter().zip(&starts).zip(errors).map(fit).collect())
}

/// The number of coordinates of every object.
fn dims<C, T, D>(world: &World<'_, C, T, D>, coordinates: fn(&T) -> &[f64]) -> Result<usize, CapekError>
where
    C: Communicator,
{
    let lengths = || world.objects.iter().map(|object| coordinates(object).len() as i64);
    let mut most = [lengths().max().unwrap_or(0), -lengths().min().unwrap_or(i64::MAX)];
    world.comm.all_reduce(Reduction::Max, &mut most)?;
    if most[0] == -most[1] {
        Ok(most[0] as usize)
    } else {
        Err(CapekError::Dimensions { least: -most[1] as usize, most: most[0] as usize })
    }
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
    let sums = sum_each(world, &widths)?;
    Ok(sums.into_iter().map(|sum| sum / world.n as f64).collect())
}

/// The sum over all ranks' objects of each list of values of at least 0.
fn sum_each<C, T, D>(world: &World<'_, C, T, D>, lists: &[Vec<f64>]) -> Result<Vec<f64>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let fixed = world.fixed(lists.iter().flat_map(|list| list.iter().copied().enumerate()))?;
    let mut sums: Vec<i64> = lists.iter().map(|list| list.iter().map(|&x| fixed.of(x)).sum()).collect();
    world.comm.all_reduce(Reduction::Sum, &mut sums)?;
    Ok(sums.into_iter().map(|sum| fixed.value(sum)).collect())
}
