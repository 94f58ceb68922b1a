//! Lloyd's iteration, the engine of X-means.

use rayon::prelude::*;

/// Rows per partial sum; partial sums are added in this fixed order, so that
/// centroids do not depend on the thread count.
const CHUNK: usize = 1 << 12;

/// Points assigned to their nearest centroids.
pub(super) struct Assignment {
    /// Of each point, the nearest centroid; the first of equally near ones.
    pub(super) labels: Vec<u32>,
    /// Row-major centroids.
    pub(super) centroids: Vec<f64>,
    /// Members of each centroid; may be 0.
    pub(super) sizes: Vec<usize>,
    /// Sum of squared distances of points to their centroids.
    pub(super) squared_error: f64,
}

/// Moves centroids to the means of their points until no point changes its
/// centroid, or `max_iterations` times.
///
/// A centroid that loses all its points stays where it is.
pub(super) fn kmeans(rows: &[f64], dims: usize, centroids: Vec<f64>, max_iterations: usize) -> Assignment {
    let k = centroids.len() / dims;
    let labels = vec![u32::MAX; rows.len() / dims];
    let mut state = Assignment { labels, centroids, sizes: vec![0; k], squared_error: 0.0 };
    for _ in 0..max_iterations {
        let sums = state.assign(rows, dims);
        if !sums.changed {
            return state;
        }
        for (c, &size) in state.sizes.iter().enumerate().filter(|(_, size)| **size > 0) {
            let at = c * dims..(c + 1) * dims;
            let mean = sums.coordinates[at.clone()].iter().map(|x| x / size as f64);
            state.centroids[at].iter_mut().zip(mean).for_each(|(to, x)| *to = x);
        }
    }
    state.assign(rows, dims);
    state
}

/// What an assignment adds up to.
struct Sums {
    coordinates: Vec<f64>,
    sizes: Vec<usize>,
    squared_error: f64,
    changed: bool,
}

impl Sums {
    fn zero(k: usize, dims: usize) -> Self {
        Sums { coordinates: vec![0.0; k * dims], sizes: vec![0; k], squared_error: 0.0, changed: false }
    }

    fn add(mut self, other: &Sums) -> Self {
        self.coordinates.iter_mut().zip(&other.coordinates).for_each(|(a, b)| *a += b);
        self.sizes.iter_mut().zip(&other.sizes).for_each(|(a, b)| *a += b);
        self.squared_error += other.squared_error;
        self.changed |= other.changed;
        self
    }
}

impl Assignment {
    fn assign(&mut self, rows: &[f64], dims: usize) -> Sums {
        let centroids = &self.centroids;
        let k = centroids.len() / dims;
        let partial: Vec<Sums> = rows
            .par_chunks(CHUNK * dims)
            .zip(self.labels.par_chunks_mut(CHUNK))
            .map(|(rows, labels)| assign_chunk(rows, labels, centroids, dims))
            .collect();
        let mut sums = partial.iter().fold(Sums::zero(k, dims), Sums::add);
        self.squared_error = sums.squared_error;
        self.sizes = std::mem::take(&mut sums.sizes);
        sums
    }
}

fn assign_chunk(rows: &[f64], labels: &mut [u32], centroids: &[f64], dims: usize) -> Sums {
    let mut sums = Sums::zero(centroids.len() / dims, dims);
    for (row, label) in rows.chunks_exact(dims).zip(labels) {
        let (nearest, distance) = nearest(row, centroids);
        sums.changed |= *label != nearest as u32;
        *label = nearest as u32;
        sums.sizes[nearest] += 1;
        sums.squared_error += distance;
        let sum = &mut sums.coordinates[nearest * dims..(nearest + 1) * dims];
        sum.iter_mut().zip(row).for_each(|(s, x)| *s += x);
    }
    sums
}

/// The nearest centroid, and the squared distance to it.
fn nearest(row: &[f64], centroids: &[f64]) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for (c, centroid) in centroids.chunks_exact(row.len()).enumerate() {
        let distance = squared_distance(row, centroid);
        if distance < best.1 {
            best = (c, distance);
        }
    }
    best
}

pub(super) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Lloyd's iteration in one dimension, cluster by cluster.
    fn reference(points: &[f64], mut centroids: Vec<f64>) -> (Vec<u32>, Vec<f64>) {
        let mut labels = Vec::new();
        loop {
            let distance = |p: f64, c: usize| (p - centroids[c]).abs();
            let label = |&p: &f64| {
                (0..centroids.len()).min_by(|&a, &b| distance(p, a).total_cmp(&distance(p, b))).unwrap_or(0)
                    as u32
            };
            let next: Vec<u32> = points.iter().map(label).collect();
            if next == labels {
                return (labels, centroids);
            }
            labels = next;
            for (c, centroid) in centroids.iter_mut().enumerate() {
                let members = || points.iter().zip(&labels).filter(|(_, l)| **l == c as u32);
                if members().count() > 0 {
                    *centroid = members().map(|(p, _)| p).sum::<f64>() / members().count() as f64;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn equals_the_iteration_written_out(
            points in prop::collection::vec(-100i32..100, 1..60), start in prop::collection::vec(-100i32..100, 1..5)
        ) {
            // Whole numbers, so that sums are exact in any order.
            let points: Vec<f64> = points.into_iter().map(f64::from).collect();
            let start: Vec<f64> = start.into_iter().map(f64::from).collect();
            let (labels, centroids) = reference(&points, start.clone());
            let found = kmeans(&points, 1, start, 1000);
            prop_assert_eq!(&found.labels, &labels);
            prop_assert_eq!(&found.centroids, &centroids);
            let error: f64 = points.iter().zip(&labels).map(|(p, &l)| (p - centroids[l as usize]).powi(2)).sum();
            prop_assert!((found.squared_error - error).abs() <= 1e-9 * error);
            prop_assert_eq!(found.sizes.iter().sum::<usize>(), points.len());
        }
    }
}
