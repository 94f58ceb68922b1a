//! When each phase runs, as signals, and at which lags they repeat.

use rayon::prelude::*;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

/// A lag is a peak of the autocorrelation only above this.
const LEAST_PEAK: f64 = 0.05;
/// Peaks nearer than so many cells are the width of one burst.
const LEAST_LAG: usize = 4;
/// Peaks that are looked at for each phase, and for all phases together.
const PEAKS: (usize, usize) = (4, 6);
/// Of a peak, these parts are looked at too: it may be a multiple of the period. Among so
/// many multiples, one lies within a 64th of a cell of a whole one (Dirichlet), so hardly
/// a higher one is the highest.
const TIMES: usize = 64;
/// If they are at least this share as high. A lag lies up to half a cell beside the
/// period, which takes as much from narrow peaks.
const AS_HIGH: f64 = 0.5;

/// What runs in each cell of the work clock.
pub(super) struct Signals {
    /// Work of one cell.
    pub(super) cell: f64,
    /// Per phase, what ran before each cell, in work; one entry more.
    sums: Vec<Vec<f64>>,
}

impl Signals {
    /// The signals, and of each phase the lags, in work, at which it or all phases
    /// together repeat; ascending.
    ///
    /// `bursts` holds, for each phase, begin and end of its bursts.
    ///
    /// # Complexity
    /// O(b + p·n log n) for p phases of n cells and b bursts; 8 bytes for each cell of
    /// each phase, and a few times as much for two phases on each thread.
    pub(super) fn of(bursts: &[Vec<(f64, f64)>], end: f64, n_cells: usize) -> (Self, Vec<Vec<f64>>) {
        let cell = end / n_cells as f64;
        let transforms = Transforms::new(n_cells);
        let mut sums: Vec<Vec<f64>> = Vec::with_capacity(bursts.len());
        let (mut own, mut all, mut weight) = (Vec::new(), vec![0.0; n_cells / 3], 0.0);
        let of_pair = |pair: &[Vec<(f64, f64)>]| {
            let mut signals: Vec<Vec<f64>> =
                pair.iter().map(|of_phase| signal(of_phase, cell, n_cells)).collect();
            let correlations = transforms.autocorrelations(&signals);
            signals.iter_mut().for_each(running_sum);
            (signals, correlations)
        };
        for pairs in bursts.chunks(2 * rayon::current_num_threads()) {
            let found: Vec<_> = pairs.par_chunks(2).map(of_pair).collect();
            let found =
                found.into_iter().flat_map(|(signals, correlations)| signals.into_iter().zip(correlations));
            for (of_phase, correlation) in found {
                let work = of_phase[n_cells];
                weight += work;
                all.iter_mut().zip(&correlation).for_each(|(sum, r)| *sum += work * r);
                own.push(peaks(&correlation, PEAKS.0));
                sums.push(of_phase);
            }
        }
        all.iter_mut().for_each(|r| *r /= weight.max(f64::MIN_POSITIVE));
        let together = peaks(&all, PEAKS.1);
        let lags = |mut lags: Vec<usize>| {
            lags.extend(&together);
            lags.sort_unstable();
            lags.dedup();
            lags.into_iter().map(|lag| lag as f64 * cell).collect()
        };
        (Self { cell, sums }, own.into_iter().map(lags).collect())
    }

    pub(super) fn n_phases(&self) -> usize {
        self.sums.len()
    }

    /// How much of a phase ran before `work`.
    pub(super) fn before(&self, phase: usize, work: f64) -> f64 {
        let sums = &self.sums[phase];
        let place = (work / self.cell).clamp(0.0, (sums.len() - 1) as f64);
        let i = (place as usize).min(sums.len() - 2);
        sums[i] + (place - i as f64) * (sums[i + 1] - sums[i])
    }
}

/// Makes a signal what ran before each cell; one entry more.
fn running_sum(signal: &mut Vec<f64>) {
    let mut sum = 0.0;
    for x in &mut *signal {
        sum += std::mem::replace(x, sum);
    }
    signal.push(sum);
}

/// Work of bursts in each cell. Each ends and begins as two steps of the
/// integral, so that a long burst costs no more than a short one.
fn signal(bursts: &[(f64, f64)], cell: f64, n_cells: usize) -> Vec<f64> {
    let mut change = crate::pages::large(vec![0.0; n_cells + 2]);
    let mut step = |at: f64, by: f64| {
        let place = (at / cell).clamp(0.0, n_cells as f64);
        let i = place as usize;
        let part = place - i as f64;
        change[i] += by * (1.0 - part);
        change[i + 1] += by * part;
    };
    for &(begin, end) in bursts {
        step(begin, cell);
        step(end, -cell);
    }
    let mut running = 0.0;
    change.truncate(n_cells);
    for x in &mut change {
        running += *x;
        *x = running;
    }
    change
}

struct Transforms {
    forward: std::sync::Arc<dyn Fft<f64>>,
    inverse: std::sync::Arc<dyn Fft<f64>>,
}

impl Transforms {
    /// For signals of `n` cells: half as long again, so that none wraps round
    /// within the lags.
    fn new(n: usize) -> Self {
        let (mut planner, length) = (FftPlanner::new(), n + n.div_ceil(2));
        Self { forward: planner.plan_fft_forward(length), inverse: planner.plan_fft_inverse(length) }
    }

    /// `r[k] = Σ (x[i] − x̄)(x[i + k] − x̄) / Σ (x[i] − x̄)²` for lags up to a
    /// third of the signal; all 0 for a constant one. Of one signal or of two:
    /// these are the real and the imaginary part of one, which takes the time of
    /// a single transform. The transform of the first is the half that is
    /// conjugate to itself when mirrored, that of the second the other; both have
    /// real autocorrelations, so these come apart by themselves.
    ///
    /// # Reference
    /// Wiener–Khinchin, by way of the fast Fourier transform.
    fn autocorrelations(&self, signals: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let n = signals[0].len();
        let length = self.forward.len();
        // Of equal energy, so that none is lost in the rounding of the other.
        let scaled = |x: &Vec<f64>| {
            let mean = x.iter().sum::<f64>() / n as f64;
            let energy: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
            (mean, if energy > 0.0 { 1.0 / energy.sqrt() } else { 0.0 })
        };
        let scales: Vec<(f64, f64)> = signals.iter().map(scaled).collect();
        let cell = |signal: usize, i: usize| {
            signals.get(signal).map_or(0.0, |x| (x[i] - scales[signal].0) * scales[signal].1)
        };
        let mut x = crate::pages::large(Vec::with_capacity(length));
        x.extend((0..n).map(|i| Complex::new(cell(0, i), cell(1, i))));
        x.resize(length, Complex::default());
        let most = self.forward.get_inplace_scratch_len().max(self.inverse.get_inplace_scratch_len());
        let mut room = crate::pages::large(Vec::with_capacity(most));
        room.resize(most, Complex::default());
        self.forward.process_with_scratch(&mut x, &mut room);
        for i in 0..=length / 2 {
            let mirror = (length - i) % length;
            let (a, b) = (x[i], x[mirror].conj());
            let power = Complex::new((a + b).norm_sqr() / 4.0, (a - b).norm_sqr() / 4.0);
            (x[i], x[mirror]) = (power, power);
        }
        self.inverse.process_with_scratch(&mut x, &mut room);
        let correlation = |signal: usize| {
            let part = |x: &Complex<f64>| if signal == 0 { x.re } else { x.im };
            let energy = part(&x[0]);
            let scale = if scales[signal].1 > 0.0 && energy > 0.0 { 1.0 / energy } else { 0.0 };
            x[..n / 3].iter().map(|x| part(x) * scale).collect()
        };
        (0..signals.len()).map(correlation).collect()
    }
}

/// The highest local maxima; the first that is half as high as the highest; and those of
/// which the highest may be multiples, if these are half as high.
///
/// Where a run repeats often, its period and all multiples have about the same
/// correlation, and the highest are those that come nearest to whole cells: the period
/// itself need not be among them.
fn peaks(correlation: &[f64], n: usize) -> Vec<usize> {
    let is_peak = |&k: &usize| {
        let r = correlation[k];
        r > LEAST_PEAK && r > correlation[k - 1] && correlation.get(k + 1).is_none_or(|&next| r >= next)
    };
    let mut found: Vec<usize> = (LEAST_LAG..correlation.len()).filter(is_peak).collect();
    let Some(highest) = found.iter().map(|&k| correlation[k]).reduce(f64::max) else { return found };
    let first = found.iter().copied().find(|&k| correlation[k] >= AS_HIGH * highest);
    found.sort_by(|&a, &b| correlation[b].total_cmp(&correlation[a]).then(a.cmp(&b)));
    found.truncate(n);
    let of_multiple = |&lag: &usize| {
        let is_as_high = move |&k: &usize| k >= LEAST_LAG && correlation[k] >= AS_HIGH * correlation[lag];
        let part = move |times: usize| {
            let middle = (lag + times / 2) / times;
            (middle.saturating_sub(1)..=middle + 1).filter(is_as_high).find(is_peak)
        };
        (2..=TIMES.min(lag / LEAST_LAG)).filter_map(part)
    };
    let parts: Vec<usize> = found.iter().flat_map(of_multiple).collect();
    found.extend(first.into_iter().chain(parts));
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By definition.
    fn autocorrelation_reference(x: &[f64]) -> Vec<f64> {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let energy: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
        let at = |k: usize| (0..x.len() - k).map(|i| (x[i] - mean) * (x[i + k] - mean)).sum::<f64>();
        (0..x.len() / 3).map(|k| if energy > 0.0 { at(k) / energy } else { 0.0 }).collect()
    }

    proptest! {
        #[test]
        fn equals_the_definition(
            signals in (12usize..200).prop_flat_map(|n| {
                prop::collection::vec(prop::collection::vec(0.0..10.0f64, n), 1..=2)
            })
        ) {
            let found = Transforms::new(signals[0].len()).autocorrelations(&signals);
            prop_assert_eq!(found.len(), signals.len());
            for (found, x) in found.iter().zip(&signals) {
                let expected = autocorrelation_reference(x);
                prop_assert_eq!(found.len(), expected.len());
                for (a, b) in found.iter().zip(expected) {
                    prop_assert!((a - b).abs() < 1e-9, "{a} {b}");
                }
            }
        }

        #[test]
        fn signals_hold_all_work(bursts in prop::collection::vec((0.0..90.0f64, 0.0..10.0f64), 1..30)) {
            let bursts: Vec<(f64, f64)> = bursts.into_iter().map(|(begin, d)| (begin, begin + d)).collect();
            let (signals, _) = Signals::of(std::slice::from_ref(&bursts), 100.0, 50);
            for work in [0.0, 7.0, 20.0, 100.0] {
                // Exact at cells that no burst begins or ends in; within one else.
                let exact: f64 = bursts.iter().map(|&(b, e)| (work - b).clamp(0.0, e - b)).sum();
                prop_assert!((signals.before(0, work) - exact).abs() <= 2.0 * bursts.len() as f64);
            }
            let all: f64 = bursts.iter().map(|&(b, e)| e - b).sum();
            prop_assert!((signals.before(0, 100.0) - all).abs() < 2.0 * bursts.len() as f64);
        }
    }

    #[test]
    fn the_period_is_looked_at_where_multiples_are_higher() {
        // Bursts of one cell every 16.4 cells: five of these are 82 cells.
        let bursts: Vec<(f64, f64)> =
            (0..600).map(|i| 16.4 * f64::from(i)).map(|at| (at, at + 1.0)).collect();
        let found = Transforms::new(9840).autocorrelations(&[signal(&bursts, 1.0, 9840)]);
        let found = peaks(&found[0], 4);
        assert!(found[..4].iter().all(|lag| lag.is_multiple_of(82)), "{found:?}");
        assert!(found.contains(&16), "{found:?}");
    }

    #[test]
    fn a_constant_signal_has_no_peak() {
        let pulses: Vec<f64> = (0..64).map(|i| f64::from(u8::from(i % 8 == 0))).collect();
        let found = Transforms::new(64).autocorrelations(&[pulses, vec![3.0; 64]]);
        assert_eq!(peaks(&found[0], 1), [8, 8]);
        assert!(peaks(&found[1], 4).is_empty());
    }
}
