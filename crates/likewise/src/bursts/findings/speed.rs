//! Whether units take longer because they have more to do, or because they are slower.

use std::collections::BTreeSet;

use super::finding::{Cause, FindingKind, How};
use super::how::{Work, counters, instructions};
use super::shape::{NOISE, SLOPE, Shape, by_chance, cause, ends, ratio, shape};
use super::since::FEWEST;
use super::step::{Step, Taken};
use super::stretches::Stretches;

/// The bursts of a finding whose instructions are known are at least this share of its time.
const KNOWN: f64 = 0.9;

/// The units that are far slower than the others for the same instructions, apart from them, where
/// one of them is the last of a step that is uneven as their work is too.
pub(super) fn slow_for_work(
    stretches: &Stretches<'_>,
    step: &Step<'_>,
    kind: FindingKind,
) -> Option<Vec<u32>> {
    let FindingKind::Imbalance { steady: true, cause, times: None, .. } = kind else { return None };
    if cause == Cause::Speed || !has_both(step) {
        return None;
    }
    let speed = |(time, work): (&f64, &f64)| if *work > 0.0 { time / work } else { 0.0 };
    let speeds: Vec<f64> = step.times.iter().zip(&step.instructions).map(speed).collect();
    let Shape::Late(units) = shape(stretches, &speeds) else { return None };
    let mut n = vec![0; stretches.n_units()];
    let bursts = step.parts.iter().flat_map(|part| &part.bursts);
    bursts.for_each(|&burst| n[stretches.unit(burst) as usize] += 1);
    let is_often = units.iter().all(|&unit| n[unit as usize] >= FEWEST);
    let is_last = ends(stretches, &step.times)[1].iter().any(|unit| units.contains(unit));
    let chance = by_chance(stretches.n_units() as f64, 1.0, step.noise.unwrap_or(NOISE).max(NOISE));
    let is_slow = step.slowness(stretches, &units) > 1.0 + chance;
    (is_often && is_last && is_slow && step.is_as_often(stretches, &units)).then_some(units)
}

/// Whether the last of a step has more instructions than the mean in the whole stretches too, by half
/// of what it has more in the step: else it does there what others do in other phases.
pub(super) fn has_more(stretches: &Stretches<'_>, step: &Step<'_>) -> bool {
    let Some(instructions) = instructions(stretches.all.table) else { return true };
    let mut at: Vec<u32> = step.costly().map(|part| part.stretch).collect();
    at.sort_unstable();
    at.dedup();
    let mut all = vec![0.0; stretches.n_units()];
    for &burst in at.iter().flat_map(|&stretch| stretches.of_stretch(stretch)) {
        all[stretches.unit(burst) as usize] += instructions.get(burst as usize).max(0.0);
    }
    let last = &ends(stretches, &step.times)[1];
    let more = |work: &[f64]| -> f64 {
        let mean = work.iter().sum::<f64>() / work.len().max(1) as f64;
        last.iter().map(|&unit| work[unit as usize] - mean).sum()
    };
    more(&all) >= 0.5 * more(&step.instructions)
}

/// By which of clock and IPC the units of a finding are slower than the others of their groups.
pub(super) fn how(stretches: &Stretches<'_>, steps: &[Step<'_>], units: &[u32]) -> How {
    let Some(counters) = counters(stretches.all.table) else { return How::Unknown };
    let groups: BTreeSet<usize> = units.iter().map(|&unit| stretches.group_of(unit)).collect();
    let mut sums = [Work::default(); 2];
    for &burst in steps.iter().flat_map(|step| &step.parts).flat_map(|part| &part.bursts) {
        let unit = stretches.unit(burst);
        if groups.contains(&stretches.group_of(unit)) {
            let time = stretches.all.duration(burst) as f64;
            sums[usize::from(units.contains(&unit))].add(counters, burst, time);
        }
    }
    let [others, slow] = sums;
    slow.against(&others)
}

/// Why, of an imbalance: by the sums of the bursts of all steps whose instructions are known, if these
/// are nearly all of it. Small steps may have other causes, and a burst in which nothing was counted is
/// no reason to say nothing of the others. Who is named must have as much more to do as it takes longer.
pub(super) fn cause_in_all(
    stretches: &Stretches<'_>,
    steps: &[Step<'_>],
    units: &[u32],
    own: Cause,
) -> Cause {
    // Where slowness is taken out, what is left is work.
    let is_whole = |step: &&Step<'_>| matches!(step.taken, Taken::Whole);
    if own == Cause::Speed || !steps.iter().any(|step| is_whole(&step)) {
        return own;
    }
    let Some(instructions) = instructions(stretches.all.table) else { return own };
    let n = stretches.n_units();
    let (mut times, mut work, mut whole) = (vec![0.0; n], vec![0.0; n], 0.0);
    for part in steps.iter().filter(is_whole).flat_map(|step| &step.parts) {
        for &burst in &part.bursts {
            let (unit, time) = (stretches.unit(burst) as usize, stretches.all.duration(burst) as f64);
            whole += time;
            let own = instructions.get(burst as usize);
            if own >= 0.0 {
                (times[unit], work[unit]) = (times[unit] + time, work[unit] + own);
            }
        }
        // What is told as a single long burst is no part of it.
        let ([time, own], unit) = (part.told, part.unit as usize);
        if own.is_finite() {
            (times[unit], work[unit]) = (times[unit] - time, work[unit] - own);
        }
    }
    let is_known = times.iter().sum::<f64>() >= KNOWN * whole;
    let slope = ratio(stretches, &work, units).ln() / ratio(stretches, &times, units).ln();
    let is_of_named = units.is_empty() || slope >= 1.0 - SLOPE;
    match cause(stretches, &times, &work) {
        Cause::Work if is_known && is_of_named => Cause::Work,
        // Steps of unlike causes, or others' work.
        _ if own == Cause::Work => Cause::Both,
        _ => own,
    }
}

/// Whether the instructions of all units that take part are known.
fn has_both(step: &Step<'_>) -> bool {
    step.times
        .iter()
        .zip(&step.instructions)
        .all(|(&time, &work)| (time > 0.0) == (work > 0.0) && !work.is_nan())
}
