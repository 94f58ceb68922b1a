use proptest::prelude::*;

use super::*;
use crate::cluster::ClusterId;
use crate::quality::mirkin;

const ALL: [Wavelet; 3] = [Wavelet::Haar, Wavelet::Cdf53, Wavelet::Cdf97];

/// Taps of the low filter from its middle on, and of the high one; both are
/// symmetric.
fn taps(wavelet: Wavelet) -> (Vec<f64>, Vec<f64>) {
    let root = std::f64::consts::SQRT_2;
    match wavelet {
        Wavelet::Haar => unreachable!("Haar has no middle tap"),
        Wavelet::Cdf53 => (vec![0.75 * root, 0.25 * root, -0.125 * root], vec![0.5 * root, -0.25 * root]),
        Wavelet::Cdf97 => (
            vec![
                0.852_698_679_009_403_4,
                0.377_402_855_612_653_8,
                -0.110_624_404_418_423_4,
                -0.023_849_465_019_380_2,
                0.037_828_455_506_995_46,
            ],
            vec![
                0.788_485_616_405_664_4,
                -0.418_092_273_222_212_1,
                -0.040_689_417_609_558_44,
                0.064_538_882_628_938_44,
            ],
        ),
    }
}

/// The slow twin: convolution with the series mirrored at its ends.
fn convolve(x: &[f64], wavelet: Wavelet) -> (Vec<f64>, Vec<f64>) {
    let n = x.len() as i64;
    if wavelet == Wavelet::Haar {
        let at = |i: usize| x[i.min(x.len() - 1)];
        let root = std::f64::consts::SQRT_2;
        let low = (0..x.len().div_ceil(2)).map(|i| (at(2 * i) + at(2 * i + 1)) / root).collect();
        return (low, (0..x.len() / 2).map(|i| (x[2 * i + 1] - x[2 * i]) / root).collect());
    }
    let at = |i: i64| {
        let i = i.rem_euclid(2 * (n - 1));
        x[i.min(2 * (n - 1) - i) as usize]
    };
    let (low, high) = taps(wavelet);
    let filter = |taps: &[f64], middle: i64| -> f64 {
        (1..)
            .zip(&taps[1..])
            .fold(taps[0] * at(middle), |sum, (k, t)| sum + t * (at(middle - k) + at(middle + k)))
    };
    let low = (0..(n + 1) / 2).map(|i| filter(&low, 2 * i)).collect();
    (low, (0..n / 2).map(|i| filter(&high, 2 * i + 1)).collect())
}

fn near(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
}

/// `tests/oracle/wavelet.py`: name, `x`, `low` or `high`, numbers.
#[test]
fn equals_pywavelets() {
    let mut lines = include_str!("../../../tests/oracle/wavelet.csv").lines();
    let mut numbers = |kind: &str| -> Option<(Wavelet, Vec<f64>)> {
        let mut fields = lines.next()?.split(',');
        let wavelet = match fields.next()? {
            "haar" => Wavelet::Haar,
            "bior2.2" => Wavelet::Cdf53,
            _ => Wavelet::Cdf97,
        };
        assert_eq!(fields.next(), Some(kind));
        Some((wavelet, fields.map(|f| f.parse().expect("a number")).collect()))
    };
    let mut compared = 0;
    while let Some((wavelet, x)) = numbers("x") {
        let (low, high) = (numbers("low").expect("low").1, numbers("high").expect("high").1);
        let bands = decompose(&x, 1, wavelet);
        // PyWavelets has eleven digits of the 9/7's taps.
        assert!(
            near(&bands.low, &low, 1e-10) && near(&bands.high[0], &high, 1e-10),
            "{wavelet:?} {}",
            x.len()
        );
        compared += 1;
    }
    assert_eq!(compared, 24);
}

/// Mean normalised Mirkin distance between PAM's partitions of all numbers
/// and of signatures, with and without energies.
fn lost(n: usize, k: usize, wavelet: Wavelet) -> (f64, f64) {
    let mut state = n as u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let value = |kind: usize, c: f64| match kind {
        0 => 10.0 * (c / 5.0).sin(),
        1 => (c / 5.0).sin(),
        2 => 10.0 * (c / 5.0).sin().powi(2) * c.cos(),
        3 => 2.0 * c,
        4 => 20.0 * (10.0 * c).cos() * (c / 2.0).sin(),
        _ => 8.0,
    };
    let traces: Vec<Vec<f64>> =
        (0..n).map(|i| (0..64).map(|c| value(i % 6, f64::from(c)) + uniform()).collect()).collect();
    let with: Vec<Vec<f64>> = traces.iter().map(|t| signature(t, 2, wavelet)).collect();
    let without: Vec<Vec<f64>> = with.iter().map(|s| s[..16].to_vec()).collect();
    assert!(with.iter().all(|s| s.len() == 18));
    let exact = pam(&traces, k);
    let distance = |rows: &[Vec<f64>]| mirkin(&exact, &pam(rows, k)).expect("labels").value;
    (distance(&with), distance(&without))
}

/// Partitioning around medoids as the textbook has it: BUILD, then the best
/// swap until none helps.
fn pam(rows: &[Vec<f64>], k: usize) -> Vec<Option<ClusterId>> {
    let n = rows.len();
    let euclid = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
    let d: Vec<Vec<f64>> = rows.iter().map(|a| rows.iter().map(|b| euclid(a, b)).collect()).collect();
    let loss = |medoids: &[usize]| -> f64 {
        (0..n).map(|j| medoids.iter().map(|&m| d[m][j]).fold(f64::INFINITY, f64::min)).sum()
    };
    let mut medoids: Vec<usize> = Vec::new();
    while medoids.len() < k {
        let with = |m: usize| loss(&[medoids.as_slice(), &[m]].concat());
        medoids.push((0..n).min_by(|&a, &b| with(a).total_cmp(&with(b))).expect("an object"));
    }
    let mut best = loss(&medoids);
    loop {
        let mut swap = None;
        for slot in 0..k {
            for m in 0..n {
                let mut trial = medoids.clone();
                trial[slot] = m;
                let found = loss(&trial);
                if found < best - 1e-9 {
                    (best, swap) = (found, Some(trial));
                }
            }
        }
        let Some(better) = swap else { break };
        medoids = better;
    }
    let nearest = |j: usize| (0..k).min_by(|&a, &b| d[medoids[a]][j].total_cmp(&d[medoids[b]][j]));
    (0..n).map(|j| nearest(j).map(ClusterId::from_index)).collect()
}

#[test]
fn energies_keep_what_pam_finds() {
    for wavelet in ALL {
        let (with, without) = lost(96, 4, wavelet);
        assert!(with < 0.1 && without > 0.2, "k = 4, {wavelet:?}: {with} with, {without} without");
        let (with, _) = lost(96, 6, wavelet);
        assert!(with <= 0.02, "k = 6, {wavelet:?}: {with}");
    }
}

#[test]
fn short_series_have_bands_too() {
    for wavelet in ALL {
        assert_eq!(decompose(&[3.0], 5, wavelet), Decomposition { low: vec![3.0], high: vec![] });
        assert_eq!(signature(&[], 2, wavelet), Vec::<f64>::new());
        assert_eq!(decompose(&[1.0; 64], 99, wavelet).high.len(), 6);
        assert!(decompose(&[1.0; 61], 3, wavelet).high.concat().iter().all(|x| x.abs() < 1e-12));
    }
}

proptest! {
    #[test]
    fn equals_convolution(x in prop::collection::vec(-100.0f64..100.0, 2..200)) {
        for wavelet in ALL {
            let bands = decompose(&x, 1, wavelet);
            let (low, high) = convolve(&x, wavelet);
            prop_assert!(near(&bands.low, &low, 1e-9), "{:?}", wavelet);
            prop_assert!(near(&bands.high[0], &high, 1e-9), "{:?}", wavelet);
        }
    }

    #[test]
    fn the_series_comes_back(x in prop::collection::vec(-100.0f64..100.0, 1..200), levels in 0usize..9) {
        for wavelet in ALL {
            prop_assert!(near(&reconstruct(&decompose(&x, levels, wavelet), wavelet), &x, 1e-9));
        }
    }

    #[test]
    fn distances_of_signatures_are_never_longer(
        (x, y) in (1usize..=16).prop_flat_map(|n| (
            prop::collection::vec(-9.0f64..9.0, 8 * n), prop::collection::vec(-9.0f64..9.0, 8 * n)
        ))
    ) {
        let euclid = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
        let (a, b) = (signature(&x, 3, Wavelet::Haar), signature(&y, 3, Wavelet::Haar));
        prop_assert!(euclid(&a, &b) <= euclid(&x, &y) + 1e-9);
    }
}
