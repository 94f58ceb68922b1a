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
    /// One more point: as [`Self::add`] of it alone.
    pub(super) fn push(&mut self, point: &[f64]) {
        // Loops over two or three numbers cost more than what they do, unless the
        // compiler knows how many there are.
        match point.len() {
            1 => self.push_within(&point[..1]),
            2 => self.push_within(&point[..2]),
            3 => self.push_within(&point[..3]),
            _ => self.push_within(point),
        }
    }

    #[inline(always)]
    fn push_within(&mut self, point: &[f64]) {
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
    use super::*;

    #[test]
    fn groups_merge_to_what_all_points_give() {
        let points = [[1e9, 2.0], [1e9 + 1.0, 5.0], [1e9 + 4.0, 1.0], [1e9 + 2.0, 8.0], [1e9 - 3.0, 0.5]];
        let of = |points: &[[f64; 2]]| {
            let mut moments = Moments::default();
            points.iter().for_each(|point| moments.push(point));
            moments
        };
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
            let mut moments = Moments::default();
            for (a, b) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
                moments.push(&[x + a, b * wide]);
            }
            moments
        };
        // Both deviate by 1 along the line, whatever they do across it.
        assert!((square(0.0, 1.0).separation(&square(3.0, 50.0)) - 3.0).abs() < 1e-12);
        assert_eq!(square(0.0, 1.0).separation(&square(0.0, 7.0)), 0.0);
    }
}
