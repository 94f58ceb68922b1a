//! Times of a broadcast in four regimes.

use super::draw::Stream;
use super::spec::{SpecError, check};

/// One regime: λ log₂ p + τh, or λ + τh on one process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BroadcastRegime {
    /// log₂ of its least and greatest number of processes.
    pub log2_processes: (u32, u32),
    /// log₂ of its least and greatest length.
    pub log2_length: (u32, u32),
    /// λ, in seconds.
    pub latency: f64,
    /// 1/τ, in bytes per second.
    pub bandwidth: f64,
}

/// Bytes of one number that is broadcast: lengths are counted in these.
pub const BYTES: f64 = 8.0;

/// Regions A to D of Malard, *A role for Pareto optimality in mining
/// performance data*, 2005, Table 1.
///
/// The table begins D at 2^18 numbers, the text where C ends: a length of
/// 2^17 is one of D here.
pub const BROADCAST_REGIMES: [BroadcastRegime; 4] = [
    BroadcastRegime { log2_processes: (0, 0), log2_length: (0, 24), latency: 0.334e-6, bandwidth: 875e12 },
    BroadcastRegime { log2_processes: (1, 1), log2_length: (0, 24), latency: 2.46e-3, bandwidth: 5.29e9 },
    BroadcastRegime { log2_processes: (2, 7), log2_length: (0, 16), latency: 966e-6, bandwidth: 215e6 },
    BroadcastRegime { log2_processes: (2, 7), log2_length: (17, 24), latency: 125e-3, bandwidth: 220e6 },
];

/// Measurements, one per row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BroadcastTable {
    /// How many processes took part.
    pub processes: Vec<f64>,
    /// How many numbers of [`BYTES`] were sent.
    pub length: Vec<f64>,
    /// How long that took.
    pub seconds: Vec<f64>,
    /// Which of [`BROADCAST_REGIMES`] it is.
    pub regime: Vec<usize>,
}

/// Times on 1 to 128 processes and 1 to 2^24 numbers, all powers of two, each
/// measured `repeats` times: that of the regime times 1 + `noise` × a nearly
/// normal number.
///
/// Every row draws from its own stream.
///
/// # Errors
/// `noise` is not from 0 to 0.2; above, a time could be negative.
pub fn broadcast_table(repeats: usize, noise: f64, seed: u64) -> Result<BroadcastTable, SpecError> {
    check("noise", noise, 0.0..=0.2, "from 0 to 0.2")?;
    let mut table = BroadcastTable::default();
    let cells = (0..8u32).flat_map(|p| (0..25u32).map(move |h| (p, h)));
    for ((log2_p, log2_h), repeat) in cells.flat_map(|cell| (0..repeats).map(move |r| (cell, r))) {
        let holds = |r: &BroadcastRegime| {
            (r.log2_processes.0..=r.log2_processes.1).contains(&log2_p)
                && (r.log2_length.0..=r.log2_length.1).contains(&log2_h)
        };
        let regime = BROADCAST_REGIMES.iter().position(holds).expect("regimes cover the grid");
        let BroadcastRegime { latency, bandwidth, .. } = BROADCAST_REGIMES[regime];
        let length = f64::from(1u32 << log2_h);
        let seconds = latency * f64::from(log2_p.max(1)) + length * BYTES / bandwidth;
        let stray = Stream::at(seed, [u64::from(log2_p), u64::from(log2_h), repeat as u64]).normal();
        table.processes.push(f64::from(1u32 << log2_p));
        table.length.push(length);
        table.seconds.push(seconds * (1.0 + noise * stray));
        table.regime.push(regime);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_regimes() {
        let exact = broadcast_table(1, 0.0, 1).expect("a table");
        assert_eq!(exact.seconds.len(), 200);
        // Four processes, 2^16 and 2^17 numbers.
        let at = |p: usize, h: usize| exact.seconds[p * 25 + h];
        assert!((at(2, 16) - (2.0 * 966e-6 + 524_288.0 / 215e6)).abs() < 1e-12);
        assert!((at(2, 17) - (0.25 + 1_048_576.0 / 220e6)).abs() < 1e-12);
        assert_eq!(at(0, 0), 0.334e-6 + 8.0 / 875e12);
        let noisy = broadcast_table(3, 0.2, 1).expect("a table");
        assert!(noisy.seconds.iter().all(|&s| s > 0.0));
        assert_ne!(noisy, broadcast_table(3, 0.2, 2).expect("a table"));
        assert!(broadcast_table(1, 0.3, 1).is_err());
    }
}
