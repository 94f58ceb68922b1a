//! Where a group of points lies, and how wide it is.

use crate::cluster::MAX_DIMS;

/// Mean and spread of points that come one by one.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    n: f64,
    mean: Vec<f64>,
    /// Sums of products of deviations, row by row.
    scatter: Vec<f64>,
}

impl Moments {
    /// Of points of `dims` dimensions.
    pub(super) fn of<'p>(points: impl Iterator<Item = &'p [f64]>, dims: usize) -> Self {
        // Loops over two or three numbers cost more than what they do, unless the
        // compiler knows how many there are.
        match dims {
            1 => Self::from_first::<1>(points),
            2 => Self::from_first::<2>(points),
            3 => Self::from_first::<3>(points),
            _ => {
                let mut moments = Self::default();
                points.for_each(|point| moments.push(point));
                moments
            }
        }
    }

    /// By sums of what points deviate from the first, which needs no division for each. Points of
    /// a group are near one another, so hardly a digit is lost; if the first is far from n others,
    /// log10(n) digits are.
    fn from_first<'p, const D: usize>(mut points: impl Iterator<Item = &'p [f64]>) -> Self {
        let Some(first) = points.next().and_then(|point| point.first_chunk::<D>()) else {
            return Self::default();
        };
        let (mut n, mut sums, mut products) = (1.0, [0.0; D], [[0.0; D]; D]);
        for point in points.filter_map(|point| point.first_chunk::<D>()) {
            let from_first: [f64; D] = std::array::from_fn(|i| point[i] - first[i]);
            for i in 0..D {
                sums[i] += from_first[i];
                (0..D).for_each(|j| products[i][j] += from_first[i] * from_first[j]);
            }
            n += 1.0;
        }
        let mean = (0..D).map(|i| first[i] + sums[i] / n).collect();
        let scatter = |(i, j): (usize, usize)| products[i][j] - sums[i] * sums[j] / n;
        Self { n, mean, scatter: (0..D * D).map(|at| scatter((at / D, at % D))).collect() }
    }

    /// One more point: as [`Self::add`] of it alone.
    fn push(&mut self, point: &[f64]) {
        let d = point.len();
        if self.n == 0.0 {
            *self = Self { n: 1.0, mean: point.to_vec(), scatter: vec![0.0; d * d] };
            return;
        }
        let n = self.n + 1.0;
        let (mean, scatter) = (&mut self.mean[..d], &mut self.scatter[..d * d]);
        for i in 0..d {
            for j in 0..d {
                let (a, b) = (point[i] - mean[i], point[j] - mean[j]);
                scatter[i * d + j] += a * b * self.n / n;
            }
        }
        mean.iter_mut().zip(point).for_each(|(mean, x)| *mean += (x - *mean) / n);
        self.n = n;
    }

    /// The points of another group.
    ///
    /// # Reference
    /// Chan, Golub & LeVeque, *The American Statistician* 37, 1983: no digit is
    /// lost where the mean is far from zero.
    pub(super) fn add(&mut self, other: &Self) {
        if self.n == 0.0 || other.n == 0.0 {
            if self.n == 0.0 {
                self.clone_from(other);
            }
            return;
        }
        let n = self.n + other.n;
        let d = self.mean.len();
        for i in 0..d {
            for j in 0..d {
                let (a, b) = (other.mean[i] - self.mean[i], other.mean[j] - self.mean[j]);
                self.scatter[i * d + j] += other.scatter[i * d + j] + a * b * self.n * other.n / n;
            }
        }
        for (mean, other_mean) in self.mean.iter_mut().zip(&other.mean) {
            *mean += (other_mean - *mean) * other.n / n;
        }
        self.n = n;
    }

    /// Ashman's D along the line through both means: their distance over the
    /// root mean square of both standard deviations.
    ///
    /// # Reference
    /// Ashman, Bird & Zepf, *The Astronomical Journal* 108, 1994, equation 3:
    /// above 2, two groups are cleanly apart.
    pub(super) fn separation(&self, other: &Self) -> f64 {
        // This is asked of very many pairs, so nothing is allocated.
        let (mut way, d) = ([0.0; MAX_DIMS], self.mean.len());
        way.iter_mut().zip(&self.mean).zip(&other.mean).for_each(|((way, a), b)| *way = b - a);
        let way = &way[..d];
        let length = way.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length == 0.0 {
            return 0.0;
        }
        let variance = |moments: &Self| {
            let along = |i: usize| (0..d).map(|j| way[i] * way[j] * moments.scatter[i * d + j]).sum::<f64>();
            ((0..d).map(along).sum::<f64>() / (length * length * moments.n)).max(0.0)
        };
        length / ((variance(self) + variance(other)) / 2.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn groups_merge_to_what_all_points_give() {
        let points = [[1e9, 2.0], [1e9 + 1.0, 5.0], [1e9 + 4.0, 1.0], [1e9 + 2.0, 8.0], [1e9 - 3.0, 0.5]];
        let of = |points: &[[f64; 2]]| Moments::of(points.iter().map(|point| &point[..]), 2);
        let (mut merged, all) = (of(&points[..2]), of(&points));
        merged.add(&of(&points[2..]));
        let mean = |d: usize| points.iter().map(|p| p[d] - points[0][d]).sum::<f64>() / 5.0 + points[0][d];
        for d in 0..2 {
            assert!((merged.mean[d] - mean(d)).abs() < 1e-6 && (all.mean[d] - mean(d)).abs() < 1e-6);
            for e in 0..2 {
                let sum = |p: &[f64; 2]| (p[d] - mean(d)) * (p[e] - mean(e));
                let expected = points.iter().map(sum).sum::<f64>();
                assert!((merged.scatter[d * 2 + e] - expected).abs() < 1e-5, "{merged:?}");
                assert!((all.scatter[d * 2 + e] - expected).abs() < 1e-5, "{all:?}");
            }
        }
    }

    #[test]
    fn only_the_spread_towards_the_other_counts() {
        let square = |x: f64, wide: f64| {
            let corners = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)];
            let corners = corners.map(|(a, b)| [x + a, b * wide]);
            Moments::of(corners.iter().map(|point| &point[..]), 2)
        };
        // Both deviate by 1 along the line, whatever they do across it.
        assert!((square(0.0, 1.0).separation(&square(3.0, 50.0)) - 3.0).abs() < 1e-12);
        assert_eq!(square(0.0, 1.0).separation(&square(0.0, 7.0)), 0.0);
    }

    proptest! {
        /// The points of a phase may lie anywhere between 0 and 1, one of them far from the rest.
        #[test]
        fn sums_from_the_first_are_as_good_as_one_after_the_other(
            at in 0.0..1.0_f64,
            wide in prop::sample::select(vec![0.0, 1e-9, 1e-5, 1e-2]),
            values in prop::collection::vec(-1.0..1.0_f64, 6..600),
            far: bool,
        ) {
            for dims in 1..=3 {
                let mut rows: Vec<f64> = values.iter().map(|x| at + wide * x).collect();
                rows.truncate(rows.len() / dims * dims);
                if far {
                    rows[..dims].fill(0.5);
                }
                let points = || rows.chunks_exact(dims);
                let mut expected = Moments::default();
                points().for_each(|point| expected.push(point));
                let found = Moments::of(points(), dims);
                prop_assert_eq!(found.n, expected.n);
                let most = expected.scatter.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                // Where the first is far from all, `n` times as much is added up and taken away
                // again; and a deviation from the running mean is as exact as numbers near 1.
                let bound = f64::EPSILON * (found.n * found.n * most + 8.0 * (found.n * most).sqrt()) + 1e-28;
                for (a, b) in found.mean.iter().zip(&expected.mean) {
                    prop_assert!((a - b).abs() <= 1e-14, "{a} for {b}");
                }
                for (a, b) in found.scatter.iter().zip(&expected.scatter) {
                    prop_assert!((a - b).abs() <= bound, "{a} for {b}, {dims} dimensions");
                }
            }
        }
    }
}
