//! Small histograms of times and counts, and what they were on each rank.

/// Two bins for each power of two.
const BINS: usize = 128;

/// How many steps there are to a power of two where a sum is rounded: of a
/// rank's computing time or counters it is kept within 4.4 %,
pub(crate) const STEPS: f64 = 8.0;
/// of a rank's time in MPI within 9.1 %,
pub(crate) const COARSE: f64 = 4.0;
/// and of all ranks within 1.1 %.
pub(crate) const FINE: f64 = 32.0;

/// A rank's sum that was not kept: its share of that of all ranks.
pub(crate) const NOT_KEPT: u64 = u64::MAX;

/// Whole numbers, counted in bins of half a power of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Histogram {
    pub(crate) sum: u64,
    pub(crate) bins: Box<[u64; BINS]>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { sum: 0, bins: Box::new([0; BINS]) }
    }
}

/// The bin of a number.
#[inline]
fn bin_of(value: u64) -> usize {
    let power = 63 - (value | 1).leading_zeros();
    let half = if power == 0 { 0 } else { value >> (power - 1) & 1 };
    (power << 1) as usize | half as usize
}

/// The least number of a bin, and of the next.
fn edges(bin: usize) -> (f64, f64) {
    let least = |bin: usize| {
        let (power, half) = ((bin >> 1) as i32, bin & 1);
        if bin == 0 { 0.0 } else { 2_f64.powi(power) * if half == 1 { 1.5 } else { 1.0 } }
    };
    // Bin 1 is empty: there is nothing between 1 and 2.
    (least(bin), least(if bin == 0 { 2 } else { bin + 1 }))
}

impl Histogram {
    #[inline]
    pub(crate) fn add(&mut self, value: u64) {
        self.sum = self.sum.saturating_add(value);
        self.bins[bin_of(value)] += 1;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.sum = self.sum.saturating_add(other.sum);
        self.bins.iter_mut().zip(other.bins.iter()).for_each(|(bin, more)| *bin = bin.saturating_add(*more));
    }

    pub(crate) fn n(&self) -> u64 {
        self.bins.iter().fold(0, |n, bin| n.saturating_add(*bin))
    }

    pub(crate) fn mean(&self) -> u64 {
        self.sum / self.n().max(1)
    }

    /// The sum if each number were in the middle of its bin.
    pub(crate) fn likely_sum(&self) -> u64 {
        let of = |(bin, n): (usize, &u64)| *n as f64 * (edges(bin).0 + edges(bin).1) / 2.0;
        self.bins.iter().enumerate().filter(|(_, n)| **n > 0).map(of).sum::<f64>() as u64
    }

    /// One of which only the mean is known.
    pub(crate) fn of_mean(mean: u64, n: u64) -> Self {
        let mut histogram = Self { sum: mean.saturating_mul(n), ..Self::default() };
        histogram.bins[bin_of(mean)] = n;
        histogram
    }

    /// The number that a share of all (0 to 1) is below, evenly within bins.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let mut before = share * self.n() as f64;
        let mut last = 0.0;
        for (bin, n) in self.bins.iter().enumerate().filter(|(_, n)| **n > 0) {
            let (low, high) = edges(bin);
            if before < *n as f64 {
                return low + (high - low) * before / *n as f64;
            }
            before -= *n as f64;
            last = high;
        }
        last
    }
}

/// A sum in one small number; 0 is none.
pub(crate) fn code(sum: u64, steps: f64) -> i64 {
    if sum == 0 { 0 } else { 1 + ((sum as f64).log2() * steps).round() as i64 }
}

/// The sum that a code stands for.
pub(crate) fn decode(code: i64, steps: f64) -> u64 {
    if code <= 0 { 0 } else { (((code - 1) as f64) / steps).exp2().round() as u64 }
}

/// A histogram over ranks, with the sum of each rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) all: Histogram,
    /// In the order of the ranks.
    pub(crate) sums: Vec<(u32, u64)>,
}

impl Cell {
    pub(crate) fn of_rank(rank: u32, all: Histogram) -> Self {
        Self { sums: vec![(rank, all.sum)], all }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        self.sums.extend(&other.sums);
        self.sums.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_lies_in_its_bin() {
        for value in (0..10_000).chain([1 << 40, u64::MAX / 3, u64::MAX]) {
            let (low, high) = edges(bin_of(value));
            assert!(low <= value as f64 && value as f64 <= high, "{value}: {low} to {high}");
        }
    }

    #[test]
    fn quantiles_follow_the_bins() {
        let mut histogram = Histogram::default();
        (0..1000).for_each(|value| histogram.add(value));
        assert_eq!(histogram.n(), 1000);
        assert!((histogram.quantile(0.5) - 500.0).abs() < 20.0);
    }

    #[test]
    fn sums_are_kept_within_their_steps() {
        for (steps, error) in [(COARSE, 0.091), (STEPS, 0.0443), (FINE, 0.011)] {
            for sum in [0, 1, 2, 100, 12_345, 1 << 50] {
                let kept = decode(code(sum, steps), steps);
                assert!((kept as f64 - sum as f64).abs() <= error * sum as f64 + 0.5, "{sum}: {kept}");
            }
        }
    }
}
