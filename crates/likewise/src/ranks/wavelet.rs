//! Wavelet transforms of any length, and the short form of a series.

use super::EffortTable;

/// A wavelet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wavelet {
    /// Haar: orthogonal for even lengths.
    Haar,
    /// Cohen, Daubechies and Feauveau's, of 5 and 3 taps.
    Cdf53,
    /// Cohen, Daubechies and Feauveau's, of 9 and 7 taps.
    #[default]
    Cdf97,
}

/// The lifting of CDF 9/7: predict, update, predict, update; then its scale.
const CDF97: [f64; 4] =
    [-1.586_134_342_059_924, -0.052_980_118_572_961, 0.882_911_075_530_934, 0.443_506_852_043_971];
const CDF97_SCALE: f64 = 1.149_604_398_860_241;

impl Wavelet {
    /// Its lifting steps, alternately on the odd and on the even places.
    fn steps(self) -> &'static [f64] {
        match self {
            Wavelet::Haar => &[],
            Wavelet::Cdf53 => &[-0.5, 0.25],
            Wavelet::Cdf97 => &CDF97,
        }
    }

    /// What the low band is multiplied by and the high one divided by: a
    /// constant series then grows by √2, as it does in orthonormal transforms.
    fn scale(self) -> f64 {
        match self {
            Wavelet::Haar | Wavelet::Cdf53 => std::f64::consts::SQRT_2,
            Wavelet::Cdf97 => CDF97_SCALE,
        }
    }
}

/// A series as its bands.
#[derive(Clone, Debug, PartialEq)]
pub struct Decomposition {
    /// The lowest band.
    pub low: Vec<f64>,
    /// The other bands, the finest first.
    pub high: Vec<Vec<f64>>,
}

/// Splits a series into bands, `levels` times or until one number is left.
///
/// A band of n numbers gives one of ⌈n/2⌉ and one of ⌊n/2⌋. Beyond its ends
/// a band goes on as in a mirror that stands on the last number (for Haar:
/// behind it).
///
/// # Complexity
/// O(n).
///
/// # Reference
/// Daubechies & Sweldens, *Factoring wavelet transforms into lifting steps*,
/// 1998. Equal to PyWavelets' `haar`, `bior2.2` and `bior4.4` in mode
/// `reflect` (`symmetric` for Haar) where both have coefficients, up to the
/// sign of the high bands.
///
/// # Example
/// ```
/// use likewise::ranks::{Wavelet, decompose, reconstruct};
///
/// let series = [3.0, 1.0, 4.0, 1.0, 5.0];
/// let bands = decompose(&series, 2, Wavelet::Cdf97);
/// assert_eq!((bands.low.len(), bands.high[0].len(), bands.high[1].len()), (2, 2, 1));
/// let back = reconstruct(&bands, Wavelet::Cdf97);
/// assert!(back.iter().zip(series).all(|(a, b)| (a - b).abs() < 1e-12));
/// ```
#[must_use]
pub fn decompose(series: &[f64], levels: usize, wavelet: Wavelet) -> Decomposition {
    let mut low = series.to_vec();
    let mut high = Vec::new();
    while high.len() < levels && low.len() > 1 {
        let (next, band) = split(&low, wavelet);
        high.push(band);
        low = next;
    }
    Decomposition { low, high }
}

/// The series that has these bands.
///
/// # Panics
/// If a band is neither as long as the next lower one nor shorter by one.
#[must_use]
pub fn reconstruct(bands: &Decomposition, wavelet: Wavelet) -> Vec<f64> {
    bands.high.iter().rev().fold(bands.low.clone(), |low, high| join(&low, high, wavelet))
}

/// One level: low and high band of at least two numbers.
fn split(x: &[f64], wavelet: Wavelet) -> (Vec<f64>, Vec<f64>) {
    let mut even: Vec<f64> = x.iter().copied().step_by(2).collect();
    let mut odd: Vec<f64> = x.iter().copied().skip(1).step_by(2).collect();
    if wavelet == Wavelet::Haar {
        odd.iter_mut().zip(&even).for_each(|(d, s)| *d -= s);
        even.iter_mut().zip(&odd).for_each(|(s, d)| *s += d / 2.0);
    }
    for (i, &factor) in wavelet.steps().iter().enumerate() {
        if i % 2 == 0 { predict(&even, &mut odd, factor) } else { update(&mut even, &odd, factor) }
    }
    even.iter_mut().for_each(|s| *s *= wavelet.scale());
    odd.iter_mut().for_each(|d| *d /= wavelet.scale());
    (even, odd)
}

fn join(low: &[f64], high: &[f64], wavelet: Wavelet) -> Vec<f64> {
    assert!(low.len() == high.len() || low.len() == high.len() + 1, "bands of one series");
    let mut even: Vec<f64> = low.iter().map(|s| s / wavelet.scale()).collect();
    let mut odd: Vec<f64> = high.iter().map(|d| d * wavelet.scale()).collect();
    for (i, &factor) in wavelet.steps().iter().enumerate().rev() {
        if i % 2 == 0 { predict(&even, &mut odd, -factor) } else { update(&mut even, &odd, -factor) }
    }
    if wavelet == Wavelet::Haar {
        even.iter_mut().zip(&odd).for_each(|(s, d)| *s -= d / 2.0);
        odd.iter_mut().zip(&even).for_each(|(d, s)| *d += s);
    }
    let n = low.len() + high.len();
    (0..n).map(|i| if i % 2 == 0 { even[i / 2] } else { odd[i / 2] }).collect()
}

/// Adds to each odd place its even neighbours; behind the last stands the
/// one before.
fn predict(even: &[f64], odd: &mut [f64], factor: f64) {
    for (i, d) in odd.iter_mut().enumerate() {
        let right = if i + 1 < even.len() { i + 1 } else { i };
        *d += factor * (even[i] + even[right]);
    }
}

/// Adds to each even place its odd neighbours.
fn update(even: &mut [f64], odd: &[f64], factor: f64) {
    for (i, s) in even.iter_mut().enumerate() {
        let (left, right) = (i.saturating_sub(1), i.min(odd.len() - 1));
        *s += factor * (odd[left] + odd[right]);
    }
}

/// The short form of a series: its lowest band after `levels` levels, then
/// the energy of each dropped band, the finest first.
///
/// The energy is the root of the sum of squares, unscaled. Distances of
/// signatures then never exceed those of all coefficients, since
/// |‖a‖ − ‖b‖| ≤ ‖a − b‖ in each band; for Haar and even lengths the latter
/// are those of the series, by Parseval, and for the other wavelets nearly so.
/// What is lost is when within the series the quick changes happen, not how
/// strong they are.
///
/// # Reference
/// Gamblin et al., ICS 2010, §6. Differs: the energies, without which series
/// that differ in the dropped bands alone look the same.
///
/// # Example
/// ```
/// use likewise::ranks::{Wavelet, signature};
///
/// // Eight steps become two, and what was dropped in each of two bands: nothing.
/// let short = signature(&[1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 5.0], 2, Wavelet::Haar);
/// assert_eq!(short.iter().map(|x| x.round()).collect::<Vec<_>>(), [2.0, 10.0, 0.0, 0.0]);
/// ```
#[must_use]
pub fn signature(series: &[f64], levels: usize, wavelet: Wavelet) -> Vec<f64> {
    let bands = decompose(series, levels, wavelet);
    let energy = |band: &Vec<f64>| band.iter().map(|x| x * x).sum::<f64>().sqrt();
    bands.low.into_iter().chain(bands.high.iter().map(energy)).collect()
}

/// The signatures of all ranks, row-major, and their width: for each rank,
/// the signatures of its regions' series, one after another.
#[must_use]
pub fn signatures(table: &EffortTable, levels: usize, wavelet: Wavelet) -> (Vec<f64>, usize) {
    let of_rank = |rank: usize| {
        (0..table.regions().len()).flat_map(move |r| signature(table.series(rank, r), levels, wavelet))
    };
    let all: Vec<f64> = (0..table.n_ranks()).flat_map(of_rank).collect();
    let width = all.len() / table.n_ranks();
    (all, width)
}

#[cfg(test)]
mod tests;
