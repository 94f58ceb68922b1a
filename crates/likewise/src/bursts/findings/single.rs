//! Long bursts that are compared with others of the same thread, where no other thread does the
//! step, or too few stretches have it.

use super::finding::LEAST_APART;
use super::one_offs::{FEWEST, in_place_of, limit};
use super::shape::NOISE;
use super::step::VAGUE;
use super::stretches::{Part, Stretches};
use crate::bursts::rates::instructions_and_cycles;
use crate::median;

/// A burst that takes far longer than its thread usually does.
pub(super) struct Stall {
    pub(super) label: u32,
    /// How long others take: the thread itself, if it is the only one.
    pub(super) others: f64,
    /// By how much the stretch would be shorter.
    pub(super) won: f64,
}

/// Leaves long bursts of no phase out of a run of one thread if they are as long as those of a
/// phase usually are: the grouping then missed a burst of the loop, and nothing happened once.
/// They are if they are within the middle half of the phase's bursts, or apart from it by no
/// more than is ever put down to chance.
pub(super) fn leave_usual(stretches: &Stretches<'_>, parts: &mut [Part]) {
    if stretches.n_units() != 1 || parts.iter().all(|part| part.long.is_empty()) {
        return;
    }
    let all = stretches.all;
    let chance = 1.0 + VAGUE * NOISE;
    let middle = |bursts: Vec<u32>| {
        let durations = median::sorted(bursts.into_iter().map(|burst| all.duration(burst) as f64));
        let n = durations.len();
        (n >= FEWEST).then(|| durations[n / 4] / chance..=durations[3 * n / 4] * chance)
    };
    let usual: Vec<_> = all.bursts_by_label().into_iter().filter_map(middle).collect();
    for part in parts.iter_mut().filter(|part| !part.long.is_empty()) {
        let time = |burst: u32| all.duration(burst) as f64;
        part.long.retain(|&burst| !usual.iter().any(|usual| usual.contains(&time(burst))));
        part.removal = part.long.iter().map(|&burst| time(burst)).sum();
        let longest = part.long.iter().copied().max_by_key(|&burst| (all.duration(burst), !burst));
        part.longest = longest.unwrap_or(part.longest);
    }
}

/// Whether the longest burst of the slowest unit takes `least` more than its thread usually does
/// for the same instructions: far more than its bursts of the phase usually differ, and hardly
/// any of them so.
pub(super) fn stall<'b>(
    stretches: &Stretches<'_>,
    part: &Part,
    least: f64,
    of_phase: impl FnOnce(u32) -> &'b [u32],
) -> Option<Stall> {
    let all = stretches.all;
    let label = all.label(part.longest);
    let duration = all.duration(part.longest) as f64;
    if label == all.noise() || duration < least {
        return None;
    }
    let counters = &all.table.counters;
    let instructions = &counters[instructions_and_cycles(counters)[0]?].values;
    let thread = all.thread(part.longest);
    let is_own = |burst: &u32| all.thread(*burst) == thread;
    let own: Vec<u32> = of_phase(label).iter().copied().filter(is_own).collect();
    let of_own = |of: &dyn Fn(u32) -> f64| median::upper(&median::sorted(own.iter().map(|&burst| of(burst))));
    let work = instructions.get(part.longest as usize) / of_own(&|b| instructions.get(b as usize))?;
    let usual = of_own(&|burst| all.duration(burst) as f64)?;
    let mut apart: Vec<f64> = own.iter().map(|&burst| (all.duration(burst) as f64 - usual).abs()).collect();
    // A count that is unknown is not the same.
    let is_same_work = work.ln().abs() <= LEAST_APART;
    if !is_same_work || duration - usual < limit(&mut apart, least) {
        return None;
    }
    let (won, others) = if stretches.n_units() == 1 {
        (duration - usual, usual)
    } else {
        ((duration - usual).min(ahead(stretches, part)), in_place_of(stretches, part)?.1)
    };
    (won >= least).then_some(Stall { label, others, won })
}

/// By how much the slowest unit of a stretch computes longer than the next.
fn ahead(stretches: &Stretches<'_>, part: &Part) -> f64 {
    let mut times = vec![0.0; stretches.n_units()];
    for &burst in stretches.of_stretch(part.stretch) {
        times[stretches.unit(burst) as usize] += stretches.all.duration(burst) as f64;
    }
    times[part.unit as usize] = 0.0;
    part.most - times.into_iter().fold(0.0, f64::max)
}
