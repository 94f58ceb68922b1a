//! Objects that are vectors.

use crate::cluster::squared_euclidean;
use crate::comm::{Communicator, Reduction};

use super::fixed::Fixed;
use super::params::CapekError;
use super::portable::Portable;
use super::world::{Nearest, World};

/// How objects are read as vectors.
pub(super) struct Vectors<T> {
    coordinates: fn(&T) -> &[f64],
    dims: usize,
    /// For sums of their coordinates.
    fixed: Fixed,
}

/// The centroids and sizes of clusters.
pub(super) struct Centroids {
    dims: usize,
    coordinates: Vec<f64>,
    sizes: Vec<usize>,
}

impl<T: Portable + Clone + Sync> Vectors<T> {
    /// # Errors
    /// Objects are not equally long on all ranks, or a coordinate is no finite
    /// number.
    pub(super) fn new<C, D>(
        world: &World<'_, C, T, D>,
        coordinates: fn(&T) -> &[f64],
    ) -> Result<Self, CapekError>
    where
        C: Communicator,
        D: Fn(&T, &T) -> f64 + Sync,
    {
        let lengths = || world.objects.iter().map(|object| coordinates(object).len() as i64);
        let mut most = [lengths().max().unwrap_or(0), -lengths().min().unwrap_or(i64::MAX)];
        world.comm.all_reduce(Reduction::Max, &mut most)?;
        if most[0] != -most[1] {
            return Err(CapekError::Dimensions { least: -most[1] as usize, most: most[0] as usize });
        }
        let largest = |object| coordinates(object).iter().map(|x| x.abs()).fold(0.0, larger);
        let fixed = world.fixed(world.objects.iter().map(largest).enumerate())?;
        Ok(Self { coordinates, dims: most[0] as usize, fixed })
    }

    pub(super) fn of<'o>(&self, object: &'o T) -> &'o [f64] {
        (self.coordinates)(object)
    }

    /// The largest coordinate in size.
    pub(super) fn largest(&self) -> f64 {
        self.fixed.largest()
    }

    pub(super) fn dims(&self) -> usize {
        self.dims
    }

    /// The centroids of several groupings of all objects, each of so many
    /// clusters, by one reduction.
    pub(super) fn centroids<C, D>(
        &self,
        world: &World<'_, C, T, D>,
        groupings: &[(usize, &Nearest)],
    ) -> Result<Vec<Centroids>, CapekError>
    where
        C: Communicator,
        D: Fn(&T, &T) -> f64 + Sync,
    {
        // Per cluster, the sums of the coordinates, and the size.
        let width = self.dims + 1;
        let mut sums: Vec<Vec<i64>> = groupings.iter().map(|(k, _)| vec![0; k * width]).collect();
        let mut whole = vec![0i64; self.dims];
        for (at, object) in world.objects.iter().enumerate() {
            whole.iter_mut().zip(self.of(object)).for_each(|(whole, &x)| *whole = self.fixed.of(x));
            for (sums, (_, nearest)) in sums.iter_mut().zip(groupings) {
                let cluster = nearest.label[at] as usize;
                let sums = &mut sums[cluster * width..(cluster + 1) * width];
                sums.iter_mut().zip(&whole).for_each(|(sum, x)| *sum += x);
                sums[self.dims] += 1;
            }
        }
        let mut sums = sums.concat();
        world.comm.all_reduce(Reduction::Sum, &mut sums)?;
        let mut clusters = sums.chunks_exact(width);
        Ok(groupings.iter().map(|(k, _)| self.means(clusters.by_ref().take(*k))).collect())
    }

    fn means<'s>(&self, clusters: impl Iterator<Item = &'s [i64]>) -> Centroids {
        let mut centroids = Centroids { dims: self.dims, coordinates: Vec::new(), sizes: Vec::new() };
        for cluster in clusters {
            let size = cluster[self.dims].max(1) as f64;
            let mean = cluster[..self.dims].iter().map(|&sum| self.fixed.value(sum) / size);
            centroids.coordinates.extend(mean);
            centroids.sizes.push(cluster[self.dims] as usize);
        }
        centroids
    }
}

impl Centroids {
    /// The square of how far a vector is from a cluster's.
    pub(super) fn square(&self, cluster: u32, vector: &[f64]) -> f64 {
        let from = cluster as usize * self.dims;
        squared_euclidean(vector, &self.coordinates[from..from + self.dims])
    }

    pub(super) fn sizes(&self) -> &[usize] {
        &self.sizes
    }
}

/// The larger; NaN, if one is.
fn larger(a: f64, b: f64) -> f64 {
    if a >= b { a } else { b }
}
