//! Columns of numbers as text that a browser decodes without a library.
//!
//! A column is unsigned integers, written as byte planes (all lowest bytes,
//! then all next ones; planes of mostly equal bytes shrink to nothing),
//! compressed with zlib, then base64. FORMAT, as `assets/data.js` reads it:
//! `value[i] = Σ plane[p][i] · 256^p`.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

/// Above this many bursts, begin times are rounded to a tick and durations to
/// 16 bits. Otherwise the file would become too large.
const EXACT_BURSTS: usize = 200_000;
/// If the largest value of a positive metric is more than this many times the
/// least, the metric is stored by its logarithm: equal steps would make the
/// small values equal.
const LOG_RANGE: f64 = 1e3;

/// An encoded column of integers.
pub struct Block {
    /// Bytes per value, from 1 to 8.
    pub width: usize,
    /// Base64 of the compressed byte planes.
    pub text: String,
}

/// Encodes integers. They are asked for again for each byte of the largest: those that are
/// looked up need not be in memory, where they would take eight bytes each.
pub fn block(values: impl Iterator<Item = u64> + Clone) -> io::Result<Block> {
    let (n, largest) = values.clone().fold((0, 0), |(n, largest), value| (n + 1, value.max(largest)));
    let width = (64 - largest.leading_zeros() as usize).div_ceil(8).max(1);
    // Level 6 takes twice the time for 2 % fewer bytes.
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::new(4));
    let mut plane = vec![0; n];
    for p in 0..width {
        for (byte, value) in plane.iter_mut().zip(values.clone()) {
            *byte = (value >> (8 * p)) as u8;
        }
        zlib.write_all(&plane)?;
    }
    Ok(Block { width, text: STANDARD.encode(zlib.finish()?) })
}

/// How codes of a quantised column stand for numbers.
///
/// Code 0 is missing. With `log`, code 1 is zero and code `c ≥ 2` is
/// `lo · (hi / lo)^((c - 2) / 65533)`; else code `c ≥ 1` is
/// `lo + (hi - lo) (c - 1) / 65534`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scale {
    /// The least of the values.
    pub lo: f64,
    /// The greatest of them.
    pub hi: f64,
    /// Whether codes go by the logarithm.
    pub log: bool,
}

const TOP: f64 = 65535.0;

/// Quantises to 16 bits: relative error below 0.03 % for nine decades by
/// logarithm, absolute error below 1/131068 of the range otherwise.
///
/// What is not finite is missing.
pub fn quantise(values: impl Iterator<Item = f64> + Clone) -> (Scale, Vec<u16>) {
    // In one pass: a value may be computed each time that it is asked for.
    let (mut lo, mut hi, mut least) = (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY);
    for v in values.clone().filter(|v| v.is_finite()) {
        (lo, hi) = (lo.min(v), hi.max(v));
        least = if v > 0.0 { least.min(v) } else { least };
    }
    if lo > hi {
        return (Scale { lo: 0.0, hi: 0.0, log: false }, values.map(|_| 0).collect());
    }
    if lo >= 0.0 && hi / least > LOG_RANGE {
        let span = (hi / least).ln();
        let code = |v: f64| match v {
            _ if !v.is_finite() => 0,
            0.0 => 1,
            _ => 2 + ((v / least).ln() / span * (TOP - 2.0)).round() as u16,
        };
        return (Scale { lo: least, hi, log: true }, values.map(code).collect());
    }
    // In halves, because the difference of two finite numbers may be infinite.
    let span = hi / 2.0 - lo / 2.0;
    let code = |v: f64| match v {
        _ if !v.is_finite() => 0,
        _ if span <= 0.0 => 1,
        _ => 1 + ((v / 2.0 - lo / 2.0) / span * (TOP - 1.0)).round() as u16,
    };
    (Scale { lo, hi, log: false }, values.map(code).collect())
}

/// Resolution of begin times in nanoseconds: 1 for a report of ordinary size.
/// For a large report, a power of ten that is small compared with the mean
/// distance between two bursts of a row.
pub fn tick(n_bursts: usize, n_rows: usize, length: u64) -> u64 {
    let mut tick = 1;
    if n_bursts > EXACT_BURSTS {
        let gap = u128::from(length) * n_rows as u128 / n_bursts as u128;
        while u128::from(tick) * 10 * 1000 <= gap {
            tick *= 10;
        }
    }
    tick
}

/// Whether durations are kept to the nanosecond.
pub fn exact_durations(n_bursts: usize) -> bool {
    n_bursts <= EXACT_BURSTS
}

/// What `data.js` does with a block of `n` values.
#[cfg(test)]
pub(crate) fn unblock(block: &Block, n: usize) -> Vec<u64> {
    let bytes = STANDARD.decode(&block.text).unwrap();
    let mut planes = Vec::new();
    io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(&bytes[..]), &mut planes).unwrap();
    assert_eq!(planes.len(), n * block.width);
    (0..n).map(|i| (0..block.width).map(|p| u64::from(planes[p * n + i]) << (8 * p)).sum()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(scale: &Scale, code: u64) -> f64 {
        let c = code as f64;
        match (code, scale.log) {
            (0, _) => f64::NAN,
            (1, true) => 0.0,
            (_, true) => scale.lo * (scale.hi / scale.lo).powf((c - 2.0) / (TOP - 2.0)),
            (_, false) => scale.lo + (scale.hi - scale.lo) * ((c - 1.0) / (TOP - 1.0)),
        }
    }

    proptest! {
        #[test]
        fn blocks_come_back(values in prop::collection::vec(any::<u64>(), 0..50), shift in 0_u32..64) {
            let values: Vec<u64> = values.into_iter().map(|v| v >> shift).collect();
            prop_assert_eq!(unblock(&block(values.iter().copied()).unwrap(), values.len()), values);
        }

        #[test]
        fn quantised_values_are_near(values in prop::collection::vec(-1e9..1e9_f64, 1..50), positive: bool) {
            let values: Vec<f64> = values.iter().map(|v| if positive { v.abs() } else { *v }).collect();
            let (scale, codes) = quantise(values.iter().copied());
            for (v, c) in values.iter().zip(codes) {
                prop_assert!(c > 0);
                let bound = if scale.log { v * 1e-3 } else { (scale.hi - scale.lo) / 131_000.0 };
                let again = value(&scale, c.into());
                prop_assert!((again - v).abs() <= bound, "{} {} {:?}", v, again, scale);
            }
        }
    }

    #[test]
    fn odd_values_have_codes() {
        let (scale, codes) = quantise([f64::NAN, 0.0, 1.0, 1e6, f64::INFINITY].into_iter());
        assert!(scale.log);
        assert_eq!(codes, [0, 1, 2, 65535, 0]);
        assert_eq!(quantise([7.0, 7.0].into_iter()).1, [1, 1]);
        assert_eq!(quantise([f64::NAN].into_iter()).1, [0]);
        assert_eq!(quantise([-f64::MAX, f64::MAX].into_iter()).1, [1, 65535]);
    }

    #[test]
    fn ticks_grow_only_for_large_reports() {
        assert_eq!(tick(200_000, 64, 100_000_000_000), 1);
        assert_eq!(tick(1_000_000, 64, 100_000_000_000), 1_000);
        assert_eq!(tick(1_000_000, 1, 1_000), 1);
    }
}
