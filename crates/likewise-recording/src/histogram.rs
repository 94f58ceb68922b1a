//! Small histograms of times and counts, and what they were on each rank.

/// Bins of a power of two, as they are counted. They are written coarser where
/// numbers spread far.
const PARTS: usize = 16;

/// Bins of a histogram that is written, if so few do.
const MOST_WRITTEN: usize = 8;

/// A rank's computing time, or a counter, over all of its bursts between two calls is known
/// within this factor where times are kept in histograms.
pub const ROUNDING: f64 = 1.0443;

/// How many steps there are to a power of two where a sum is rounded: of a
/// rank's computing time or counters it is kept within 4.4 % ([`ROUNDING`]),
pub(crate) const STEPS: f64 = 8.0;
/// of a rank's time in MPI within 9.1 %,
pub(crate) const COARSE: f64 = 4.0;
/// and of all ranks within 1.1 %.
pub(crate) const FINE: f64 = 32.0;

/// A rank's sum that was not kept: its share of that of all ranks.
pub(crate) const NOT_KEPT: u64 = u64::MAX;

/// Whole numbers, counted in bins of a sixteenth of a power of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Histogram {
    pub(crate) sum: u64,
    /// For each power of two its page, from 1; 0 where there is none.
    places: [u8; 64],
    pages: Vec<[u64; PARTS]>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { sum: 0, places: [0; 64], pages: Vec::new() }
    }
}

/// The power of two of a number, and which part of it.
#[inline]
fn place_of(value: u64) -> (usize, usize) {
    let power = 63 - (value | 1).leading_zeros();
    let part = if power >= 4 { value >> (power - 4) } else { value << (4 - power) };
    (power as usize, part as usize % PARTS)
}

/// The least number of a bin; bins go on over powers of two.
fn least(bin: usize) -> f64 {
    if bin == 0 {
        return 0.0;
    }
    2_f64.powi((bin / PARTS) as i32) * (1.0 + (bin % PARTS) as f64 / PARTS as f64)
}

impl Histogram {
    #[inline]
    pub(crate) fn add(&mut self, value: u64) {
        self.sum = self.sum.saturating_add(value);
        let (power, part) = place_of(value);
        self.page(power)[part] += 1;
    }

    #[inline]
    fn page(&mut self, power: usize) -> &mut [u64; PARTS] {
        if self.places[power] == 0 {
            self.pages.push([0; PARTS]);
            self.places[power] = self.pages.len() as u8;
        }
        &mut self.pages[usize::from(self.places[power]) - 1]
    }

    /// The bins that are not empty, with their numbers, in order.
    pub(crate) fn bins(&self) -> impl Iterator<Item = (usize, u64)> {
        let pages = (0..64).filter(|power| self.places[*power] > 0);
        pages.flat_map(|power| {
            let page = &self.pages[usize::from(self.places[power]) - 1];
            let full = page.iter().enumerate().filter(|(_, n)| **n > 0);
            full.map(move |(part, n)| (power * PARTS + part, *n))
        })
    }

    fn put(&mut self, bin: usize, n: u64) {
        let place = &mut self.page(bin / PARTS)[bin % PARTS];
        *place = place.saturating_add(n);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.sum = self.sum.saturating_add(other.sum);
        other.bins().for_each(|(bin, n)| self.put(bin, n));
    }

    pub(crate) fn n(&self) -> u64 {
        self.pages.iter().flatten().fold(0, |n, bin| n.saturating_add(*bin))
    }

    pub(crate) fn mean(&self) -> u64 {
        self.sum / self.n().max(1)
    }

    /// One of which only the mean is known.
    pub(crate) fn of_mean(mean: u64, n: u64) -> Self {
        let mut histogram = Self { sum: mean.saturating_mul(n), ..Self::default() };
        let (power, part) = place_of(mean);
        histogram.page(power)[part] = n;
        histogram
    }

    /// How many bins make one that is written: so many that few are left.
    pub(crate) fn joined(&self) -> usize {
        let first = self.bins().next().map_or(0, |(bin, _)| bin);
        let last = self.bins().last().map_or(0, |(bin, _)| bin);
        let fits = |joined: &usize| last / joined - first / joined < MOST_WRITTEN;
        [1, 2, 4, 8].into_iter().find(fits).unwrap_or(PARTS)
    }

    /// The first of the bins that so many make, and their counts up to the last.
    pub(crate) fn coarse(&self, joined: usize) -> (usize, Vec<u64>) {
        let first = self.bins().next().map_or(0, |(bin, _)| bin / joined);
        let mut counts = Vec::new();
        for (bin, n) in self.bins() {
            counts.resize(counts.len().max(bin / joined - first + 1), 0);
            counts[bin / joined - first] += n;
        }
        (first, counts)
    }

    /// From such bins: what each holds is spread over those that make it. None
    /// if there is no such bin.
    pub(crate) fn of_coarse(joined: usize, first: usize, counts: &[u64]) -> Option<Self> {
        let mut histogram = Self::default();
        for (at, n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            let begin = first.checked_add(at)?.checked_mul(joined).filter(|bin| *bin < 64 * PARTS)?;
            // The middle one has the rest.
            histogram.put(begin + joined / 2, n % joined as u64);
            if *n >= joined as u64 {
                (begin..begin + joined).for_each(|bin| histogram.put(bin, n / joined as u64));
            }
        }
        Some(histogram)
    }

    /// The sum if each number were in the middle of its bin.
    pub(crate) fn likely_sum(&self) -> u64 {
        self.bins().map(|(bin, n)| n as f64 * (least(bin) + least(bin + 1)) / 2.0).sum::<f64>() as u64
    }

    /// For [`quantile`]: how many numbers lie before each bin that is not
    /// empty, and where it begins and ends.
    pub(crate) fn steps(&self) -> Vec<(f64, f64, f64)> {
        let mut before = 0.0;
        let step = |(bin, n): (usize, u64)| {
            let at = before;
            before += n as f64;
            (at, least(bin), least(bin + 1))
        };
        self.bins().map(step).collect()
    }
}

/// The number that a share of all `n` (0 to 1) is below, evenly within bins.
pub(crate) fn quantile(steps: &[(f64, f64, f64)], n: f64, share: f64) -> f64 {
    let before = share * n;
    let next = steps.partition_point(|(at, ..)| *at <= before);
    let Some((at, low, high)) = next.checked_sub(1).and_then(|step| steps.get(step)) else { return 0.0 };
    let end = steps.get(next).map_or(n, |(at, ..)| *at);
    low + (high - low) * (before - at) / (end - at).max(1.0)
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
            let mut histogram = Histogram::default();
            histogram.add(value);
            let (bin, n) = histogram.bins().next().unwrap();
            let (low, high) = (least(bin), least(bin + 1));
            assert!(n == 1 && low <= value as f64 && value as f64 <= high, "{value}: {low} to {high}");
        }
    }

    #[test]
    fn quantiles_follow_the_bins() {
        let mut histogram = Histogram::default();
        (0..1000).for_each(|value| histogram.add(value));
        assert_eq!(histogram.n(), 1000);
        let steps = histogram.steps();
        assert!((quantile(&steps, 1000.0, 0.5) - 500.0).abs() < 20.0);
        assert!((quantile(&steps, 1000.0, 0.999) - 1000.0).abs() < 30.0);
    }

    #[test]
    fn what_spreads_little_is_written_finely() {
        let of = |values: &[u64]| {
            let mut histogram = Histogram::default();
            values.iter().for_each(|value| histogram.add(*value));
            histogram
        };
        assert_eq!(of(&[1000, 1010, 1100]).joined(), 1);
        assert_eq!(of(&[1000, 1_000_000]).joined(), PARTS);
        for values in [&[1000, 1010, 1100][..], &[5, 70, 900], &[0, 1, 2, 3]] {
            let histogram = of(values);
            let (first, counts) = histogram.coarse(histogram.joined());
            let again = Histogram::of_coarse(histogram.joined(), first, &counts).unwrap();
            assert_eq!(again.n(), histogram.n());
            assert_eq!(again.coarse(histogram.joined()), (first, counts));
        }
        assert_eq!(Histogram::of_coarse(16, 64, &[1]), None);
    }

    #[test]
    fn sums_are_kept_within_their_steps() {
        for (steps, error) in [(COARSE, 0.091), (STEPS, 0.0443), (FINE, 0.011)] {
            assert!(steps != STEPS || error < ROUNDING - 1.0 + 1e-9);
            for sum in [0, 1, 2, 100, 12_345, 1 << 50] {
                let kept = decode(code(sum, steps), steps);
                assert!((kept as f64 - sum as f64).abs() <= error * sum as f64 + 0.5, "{sum}: {kept}");
            }
        }
    }
}
