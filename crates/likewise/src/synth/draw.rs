//! One burst from its own stream of random numbers.

use super::defect::{Defect, DefectKind};
use super::spec::{N_COUNTERS, PhaseSpec};
use crate::cluster::ClusterId;

/// A stream of random numbers that starts at any place at the same cost:
/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), begun at a hash of the
/// place.
pub(super) struct Stream(u64);

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Stream {
    /// The stream of that place.
    pub(super) fn at(seed: u64, place: [u64; 3]) -> Self {
        Self(place.iter().fold(mix(seed.wrapping_add(GOLDEN)), |h, &p| mix(h.wrapping_add(GOLDEN) ^ mix(p))))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// Uniform in [0, 1).
    pub(super) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `0..n`, for small `n`.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// Nearly normal: the sum of eight uniform numbers, scaled to mean 0 and
    /// deviation 1. Never beyond 4.9, so that no stray of a phase is farther
    /// out than noise may be, and no library's logarithm has a say in it.
    pub(super) fn normal(&mut self) -> f64 {
        let sum = |x: u64| (x & 0xffff) + (x >> 16 & 0xffff) + (x >> 32 & 0xffff) + (x >> 48);
        let total = sum(self.next()) + sum(self.next());
        // A uniform 16-bit number has variance (2^32 − 1)/12.
        const SCALE: f64 = 1.0 / 53_509.919_921_450_1;
        (total as f64 - 8.0 * 32_767.5) * SCALE
    }
}

/// A phase as bursts are drawn from it.
#[derive(Clone, Debug)]
pub(super) struct PhaseModel {
    ln_instructions: f64,
    instructions_spread: f64,
    imbalance: f64,
    ipc: f64,
    ipc_spread: f64,
    /// IPC and share of the second mode; a share of 0 where there is none.
    second: (f64, f64),
    has_second: bool,
    first_cluster: usize,
    texture: Texture,
    /// Tasks that are slow, and how many times.
    slow: (Vec<u32>, f64),
    /// The task that does the work alone.
    alone: Option<u32>,
}

/// What a piece of code does to the other counters, whatever its IPC.
#[derive(Clone, Copy, Debug)]
struct Texture {
    branches: f64,
    misses: f64,
}

impl PhaseModel {
    pub(super) fn new(phase: &PhaseSpec, seed: u64, index: usize, first_cluster: usize) -> Self {
        let mut stream = Stream::at(seed, [u64::MAX, index as u64, 0]);
        Self {
            ln_instructions: phase.instructions.ln(),
            instructions_spread: phase.instructions_spread,
            imbalance: phase.imbalance,
            ipc: phase.ipc,
            ipc_spread: phase.ipc_spread,
            second: phase.second_mode.map_or((phase.ipc, 0.0), |m| (m.ipc, m.share)),
            has_second: phase.second_mode.is_some(),
            first_cluster,
            texture: Texture {
                branches: 0.08 + 0.12 * stream.uniform(),
                misses: 0.75 + 0.5 * stream.uniform(),
            },
            slow: (Vec::new(), 1.0),
            alone: None,
        }
    }

    /// The phase with that defect, on so many tasks.
    pub(super) fn suffer(&mut self, defect: &Defect, tasks: usize) {
        let factor = defect.factor;
        match defect.kind {
            // From the middle of the first task's place to that of the last.
            DefectKind::Imbalance => {
                self.imbalance += factor.ln() * tasks as f64 / (tasks.max(2) - 1) as f64;
            }
            DefectKind::Serial => {
                self.ln_instructions += factor.ln();
                self.alone = defect.tasks.first().copied();
            }
            DefectKind::SlowTasks => self.slow = (defect.tasks.clone(), factor),
            DefectKind::LowIpc => {
                self.ipc /= factor;
                self.ipc_spread /= factor;
                self.second.0 /= factor;
            }
            DefectKind::Grows => self.ln_instructions += defect.growth(tasks).ln(),
            DefectKind::Stall => {}
        }
    }

    pub(super) fn works_alone(&self) -> bool {
        self.alone.is_some()
    }

    pub(super) fn n_clusters(&self) -> usize {
        1 + usize::from(self.has_second || !self.slow.0.is_empty())
    }

    pub(super) fn cluster(&self, second: bool) -> ClusterId {
        ClusterId::from_index(self.first_cluster + usize::from(second && self.n_clusters() > 1))
    }
}

/// The least width of [`Range`], in ln(instructions) and in IPC.
const NARROWEST: (f64, f64) = (4.5, 2.0);

/// Where noise lies: a little beyond all phases, on every side.
#[derive(Clone, Debug)]
pub(super) struct Range {
    ln_instructions: (f64, f64),
    ipc: (f64, f64),
}

impl Range {
    pub(super) fn of(phases: &[PhaseSpec]) -> Self {
        let mut ln = (f64::INFINITY, f64::NEG_INFINITY);
        let mut ipc = ln;
        for phase in phases {
            let centre = phase.instructions.ln();
            let half = phase.imbalance.abs() / 2.0;
            ln = (ln.0.min(centre - half), ln.1.max(centre + half));
            let second = phase.second_mode.map_or(phase.ipc, |m| m.ipc);
            ipc = (ipc.0.min(phase.ipc.min(second)), ipc.1.max(phase.ipc.max(second)));
        }
        // One or two phases alone would fill a narrow range, noise and all.
        let widen = (NARROWEST.0 - 0.6 - (ln.1 - ln.0)).max(0.0) / 2.0;
        let (low, high) = (ipc.0 * 0.6, ipc.1 * 1.1);
        Self {
            ln_instructions: (ln.0 - 0.3 - widen, ln.1 + 0.3 + widen),
            ipc: (low, high.max(low + NARROWEST.1)),
        }
    }
}

/// The lowest IPC that is ever drawn.
pub(super) const LEAST_IPC: f64 = 0.001;

impl Drawn {
    /// The same instructions, `factor` times as slow: in no cluster.
    pub(super) fn stalled(mut self, factor: f64) -> Self {
        self.cycles *= factor;
        // Cycles, and those that were stalled.
        for i in [1, 7] {
            self.counters[i] = (self.counters[i] as f64 * factor).round() as u64;
        }
        self.cluster = None;
        self
    }
}

/// What was drawn.
pub(super) struct Drawn {
    pub(super) counters: [u64; N_COUNTERS],
    pub(super) cycles: f64,
    pub(super) cluster: Option<ClusterId>,
}

/// A burst of the start: no two alike.
pub(super) fn draw_start(range: &Range, stream: &mut Stream) -> Drawn {
    let (ln_instructions, ipc) = anywhere(range, stream);
    drawn(ln_instructions, ipc, Texture { branches: 0.18, misses: 1.0 }, None, stream)
}

/// A burst of an even start: like no phase's, and alike on all tasks.
pub(super) fn draw_even_start(range: &Range, stream: &mut Stream) -> Drawn {
    let ipc = (range.ipc.0 + range.ipc.1) / 2.0;
    let ln_instructions = range.ln_instructions.0 + EVEN * stream.normal();
    drawn(ln_instructions, ipc * (1.0 + EVEN * stream.normal()), EVEN_TEXTURE, None, stream)
}

/// Deviation of ln(instructions) and of ln(IPC) in an even start.
const EVEN: f64 = 0.003;

const EVEN_TEXTURE: Texture = Texture { branches: 0.18, misses: 1.0 };

/// Instructions of a task that has nothing to do.
const IDLE: f64 = 3_000.0;

/// A burst of a phase on `task`, or the noise that stands in its place.
///
/// `place` is the task's place among the tasks, from −½ to ½.
pub(super) fn draw_phase(
    model: &PhaseModel,
    range: &Range,
    noise_share: f64,
    task: u32,
    place: f64,
    stream: &mut Stream,
) -> Drawn {
    if model.alone.is_some_and(|alone| alone != task) {
        return drawn(IDLE.ln() + EVEN * stream.normal(), model.ipc, model.texture, None, stream);
    }
    let kind = stream.uniform();
    let second = stream.uniform() < model.second.1;
    let centre = if second { model.second.0 } else { model.ipc };
    let ln_instructions =
        model.ln_instructions + model.imbalance * place + model.instructions_spread * stream.normal();
    let is_slow = model.slow.0.contains(&task);
    let slowdown = if is_slow { model.slow.1 } else { 1.0 };
    let ipc = ((centre + model.ipc_spread * stream.normal()) / slowdown).max(LEAST_IPC);
    if kind >= noise_share {
        return drawn(ln_instructions, ipc, model.texture, Some(model.cluster(second || is_slow)), stream);
    }
    // A third of the noise is bursts that were pre-empted: the system's
    // cycles count, and some of its instructions.
    let (ln_instructions, ipc) = if kind < noise_share / 3.0 {
        (ln_instructions + 0.5 * stream.uniform(), ipc * (0.2 + 0.65 * stream.uniform()))
    } else {
        anywhere(range, stream)
    };
    drawn(ln_instructions, ipc, model.texture, None, stream)
}

fn anywhere(range: &Range, stream: &mut Stream) -> (f64, f64) {
    let mut between = |(low, high): (f64, f64)| low + (high - low) * stream.uniform();
    (between(range.ln_instructions), between(range.ipc))
}

/// Counters that fit together: misses fall from level to level, and fewer of
/// them make a higher IPC.
fn drawn(
    ln_instructions: f64,
    ipc: f64,
    texture: Texture,
    cluster: Option<ClusterId>,
    stream: &mut Stream,
) -> Drawn {
    let instructions = ln_instructions.exp();
    let cycles = instructions / ipc.max(LEAST_IPC);
    let mut bits = stream.next();
    // Within 2 % of `x`.
    let mut about = |x: f64| {
        let unit = (bits & 0x3ff) as f64 * (1.0 / 1024.0);
        bits >>= 10;
        x * (0.98 + 0.04 * unit)
    };
    let waiting = 1.0 / (1.0 + ipc);
    let l1 = about(instructions * texture.misses * 0.06 * waiting * waiting);
    let l2 = about(l1 * 0.45);
    let l3 = about(l2 * 0.3);
    let branches = about(instructions * texture.branches);
    let mispredicted = about(branches * 0.012);
    let stalls = about(cycles * 0.6 * waiting);
    let counters = [instructions, cycles, l1, l2, l3, branches, mispredicted, stalls];
    Drawn { counters: counters.map(|x| x.round() as u64), cycles, cluster }
}

#[cfg(test)]
mod tests {
    use super::Stream;

    #[test]
    fn normal_has_mean_0_and_deviation_1() {
        let mut stream = Stream::at(1, [2, 3, 4]);
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        let fourth = draws.iter().map(|x| (x - mean).powi(4)).sum::<f64>() / n as f64;
        assert!(mean.abs() < 0.01, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.02, "variance {variance}");
        // A normal's is 3; eight uniform numbers give 3 − 1.2/8.
        assert!((fourth - 2.85).abs() < 0.1, "fourth moment {fourth}");
        assert!(draws.iter().all(|x| x.abs() < 4.9));
    }

    #[test]
    fn streams_of_near_places_are_unlike() {
        let mut first = std::collections::BTreeSet::new();
        for section in 0..20 {
            for step in 0..20 {
                for lane in 0..20 {
                    first.insert(Stream::at(7, [section, step, lane]).next());
                }
            }
        }
        assert_eq!(first.len(), 8000, "a stream was given twice");
    }
}
