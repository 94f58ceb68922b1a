//! Figures of classes whose ranks are spread over processes.

use crate::comm::{CommError, Communicator, Reduction, from_order, order};

/// What the ranks of a class do, number by number of their feature vectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments {
    /// How many ranks the class has.
    pub n_ranks: u64,
    /// Their mean; 0 where there is none.
    pub mean: Vec<f64>,
    /// Their variance, with divisor n − 1; 0 for a single rank.
    pub variance: Vec<f64>,
    /// The least of any rank.
    pub least: Vec<f64>,
    /// The greatest of any rank.
    pub most: Vec<f64>,
}

/// The figures of every class, over the ranks of all processes; the same on
/// each of them, and the same however ranks are spread.
///
/// `values` has `dims` numbers of each rank of this process, all finite, and
/// `labels` its class, below `n_classes`.
///
/// Sums of reals depend on their order, so whole numbers are added: with the
/// least of a class taken off, and in units of the power of two below its
/// range, a real has 61 bits behind the point, and sums of up to 2³² of them
/// are exact.
///
/// # Errors
/// The processes could not work together.
///
/// # Panics
/// If there is not one label for `dims` numbers.
///
/// # Complexity
/// O(n·d) for n ranks of this process and d numbers; O(log P) messages of k·d
/// numbers for k classes.
pub fn moments<C: Communicator + ?Sized>(
    comm: &C,
    values: &[f64],
    dims: usize,
    labels: &[u32],
    n_classes: usize,
) -> Result<Vec<Moments>, CommError> {
    assert_eq!(values.len(), dims * labels.len(), "a label for every rank");
    let rows = Rows { values, dims, labels, n_classes };
    let mut n_ranks = vec![0i64; n_classes];
    labels.iter().for_each(|&label| n_ranks[label as usize] += 1);
    comm.all_reduce(Reduction::Sum, &mut n_ranks)?;
    let (least, most) = rows.range(comm)?;
    let units: Vec<Unit> = least.iter().zip(&most).map(|(low, high)| Unit::of(high - low)).collect();
    let n_of = |place: usize| n_ranks[place / dims.max(1)];
    let sums = rows.sums(comm, |place, x| units[place].share(x - least[place]))?;
    let mean = |(place, sum): (usize, f64)| least[place] + units[place].0 * (sum / n_of(place).max(1) as f64);
    let means: Vec<f64> = sums.into_iter().enumerate().map(mean).collect();
    let squares = rows.sums(comm, |place, x| units[place].share(x - means[place]).powi(2))?;
    let variance = |(place, sum): (usize, f64)| {
        units[place].0 * (units[place].0 * (sum / (n_of(place) - 1).max(1) as f64))
    };
    let variances: Vec<f64> = squares.into_iter().enumerate().map(variance).collect();
    let of_class = |(class, &n): (usize, &i64)| {
        let part = |all: &[f64]| all[class * dims..(class + 1) * dims].to_vec();
        match n {
            0 => Moments { mean: vec![0.0; dims], variance: vec![0.0; dims], ..Moments::default() },
            n => Moments {
                n_ranks: n as u64,
                mean: part(&means),
                variance: part(&variances),
                least: part(&least),
                most: part(&most),
            },
        }
    };
    Ok(n_ranks.iter().enumerate().map(of_class).collect())
}

/// The ranks of this process. A place is class · dims + number.
struct Rows<'a> {
    values: &'a [f64],
    dims: usize,
    labels: &'a [u32],
    n_classes: usize,
}

impl Rows<'_> {
    fn places(&self) -> impl Iterator<Item = (usize, f64)> {
        let rows = self.values.chunks_exact(self.dims.max(1)).zip(self.labels);
        rows.flat_map(|(row, &label)| (label as usize * self.dims..).zip(row.iter().copied()))
    }

    /// The least and the greatest of each place; 0 where there are none.
    fn range<C: Communicator + ?Sized>(&self, comm: &C) -> Result<(Vec<f64>, Vec<f64>), CommError> {
        let n = self.n_classes * self.dims;
        // The greatest are the least of what is turned round.
        let mut keys = vec![i64::MAX; 2 * n];
        for (place, x) in self.places() {
            keys[place] = keys[place].min(order(x));
            keys[n + place] = keys[n + place].min(!order(x));
        }
        comm.all_reduce(Reduction::Min, &mut keys)?;
        let value = |key: i64| if key == i64::MAX { 0.0 } else { from_order(key) };
        let turned = |&key: &i64| if key == i64::MAX { 0.0 } else { from_order(!key) };
        Ok((keys[..n].iter().map(|&key| value(key)).collect(), keys[n..].iter().map(turned).collect()))
    }

    /// The sum, at each place, of a share below 4 of every number there.
    fn sums<C: Communicator + ?Sized>(
        &self,
        comm: &C,
        share: impl Fn(usize, f64) -> f64,
    ) -> Result<Vec<f64>, CommError> {
        const POINT: f64 = (1u64 << 61) as f64;
        const LOW: i64 = (1 << 31) - 1;
        let mut halves = vec![0i64; 2 * self.n_classes * self.dims];
        for (place, x) in self.places() {
            let whole = (share(place, x) * POINT).round_ties_even() as i64;
            halves[2 * place] += whole >> 31;
            halves[2 * place + 1] += whole & LOW;
        }
        comm.all_reduce(Reduction::Sum, &mut halves)?;
        let sum = |pair: &[i64]| ((i128::from(pair[0]) << 31) + i128::from(pair[1])) as f64 / POINT;
        Ok(halves.chunks_exact(2).map(sum).collect())
    }
}

/// The greatest power of two that is not above a range.
#[derive(Clone, Copy)]
struct Unit(f64);

impl Unit {
    fn of(range: f64) -> Self {
        const EXPONENT: u64 = 0x7ff << 52;
        Self(f64::from_bits(range.to_bits() & EXPONENT).max(f64::MIN_POSITIVE))
    }

    /// How many units that is: below 2 in size, for what lies within the range.
    fn share(self, x: f64) -> f64 {
        x / self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::comm::run_on_threads;

    /// Of one class, in one pass that does not cancel: the mean, and the
    /// variance.
    ///
    /// # Reference
    /// Welford, *Technometrics* 4, 1962.
    fn moments_reference(values: &[f64]) -> (f64, f64) {
        let (mut mean, mut squares) = (0.0, 0.0);
        for (n, x) in (1..).zip(values) {
            let off = x - mean;
            mean += off / f64::from(n);
            squares += off * (x - mean);
        }
        (mean, squares / (values.len() as f64 - 1.0).max(1.0))
    }

    fn on(size: usize, values: &[f64], dims: usize, labels: &[u32], n_classes: usize) -> Vec<Moments> {
        let found = run_on_threads(size, |comm| {
            let part = crate::ranks::part(labels.len(), comm.rank(), size);
            let values = &values[part.start * dims..part.end * dims];
            moments(comm, values, dims, &labels[part], n_classes)
        });
        let found = found.expect("figures");
        assert!(found.iter().all(|other| *other == found[0]), "all processes have the same");
        found[0].clone()
    }

    #[test]
    fn what_is_the_same_has_no_spread() {
        let found = on(3, &[0.1, 7.0, 0.1, 9.0, 0.1, 8.0], 2, &[1, 1, 1], 3);
        assert_eq!(
            (found[1].mean.as_slice(), found[1].variance.as_slice()),
            ([0.1, 8.0].as_slice(), [0.0, 1.0].as_slice())
        );
        assert_eq!(
            (found[1].least.as_slice(), found[1].most.as_slice()),
            ([0.1, 7.0].as_slice(), [0.1, 9.0].as_slice())
        );
        assert_eq!((found[0].n_ranks, found[1].n_ranks, found[2].n_ranks), (0, 3, 0));
        assert_eq!(found[0].mean, [0.0, 0.0]);
    }

    #[test]
    fn a_great_common_part_does_not_cancel() {
        let values: Vec<f64> = (0..1000).map(|i| 1e9 + f64::from(i % 2)).collect();
        let found = on(4, &values, 1, &[0; 1000], 1);
        assert_eq!(found[0].mean, [1e9 + 0.5]);
        assert!((found[0].variance[0] - 250.0 / 999.0).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn figures_are_those_of_one_pass_whoever_has_the_ranks(
            rows in prop::collection::vec((0u32..3, -1e3f64..1e3, 0f64..1e-200), 1..60), size in 2usize..9
        ) {
            let labels: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let values: Vec<f64> = rows.iter().flat_map(|row| [row.1, row.2]).collect();
            let one = on(1, &values, 2, &labels, 3);
            prop_assert_eq!(&on(size, &values, 2, &labels, 3), &one);
            for (class, found) in (0..).zip(&one).filter(|(_, found)| found.n_ranks > 0) {
                for j in 0..2 {
                    let all: Vec<f64> = rows.iter().filter(|row| row.0 == class)
                        .map(|row| if j == 0 { row.1 } else { row.2 }).collect();
                    let (mean, variance) = moments_reference(&all);
                    prop_assert_eq!(found.n_ranks, all.len() as u64);
                    prop_assert!((found.mean[j] - mean).abs() <= 1e-13 * found.most[j].abs().max(found.least[j].abs()));
                    prop_assert!((found.variance[j] - variance).abs() <= 1e-12 * variance + 1e-300);
                    prop_assert_eq!(found.least[j], all.iter().copied().fold(f64::INFINITY, f64::min));
                    prop_assert_eq!(found.most[j], all.iter().copied().fold(f64::NEG_INFINITY, f64::max));
                }
            }
        }
    }
}
