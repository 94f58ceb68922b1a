//! In whose place a long burst stands: what the others do there.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::stretches::{Part, Stretches};
use crate::bursts::serial::is_nearly_all;
use crate::table::Nanos;

/// A long burst stands in the place of what at least this share of the others do meanwhile. That few
/// others have a long burst at the same time may be chance.
const MEANWHILE: f64 = 0.25;

/// What the others do in place of the slowest unit's longest burst: the phase, and how long they take.
/// It is what the unit lacks and they do meanwhile, where that takes them more than a tenth of the
/// burst: those of a slow unit may be of another phase than theirs, or of none. If there is nothing
/// of that kind, it is the burst's own phase or, where none of the others has that, the one that most
/// of them begin next to it; then the burst of it counts that begins nearest on each of them. Noise,
/// if the others have long bursts of no phase meanwhile. `units` are those that are late together.
pub(super) fn in_place_of(stretches: &Stretches<'_>, part: &Part, units: &[u32]) -> Option<(u32, f64)> {
    let all = stretches.all;
    let own = all.label(part.longest);
    let place = meanwhile(stretches, part, units);
    if let Some(place) = place.filter(|&(label, _)| label != own || own == all.noise()) {
        return Some(place);
    }
    let is_other = |burst: &u32| stretches.unit(*burst) != part.unit;
    let has_own = own != all.noise() && part.bursts.iter().any(|b| is_other(b) && all.label(*b) == own);
    // Where only the unit has the phase, the others may do another one instead.
    let pool =
        if has_own || own == all.noise() { &part.bursts[..] } else { stretches.of_stretch(part.stretch) };
    let others = || pool.iter().copied().filter(is_other);
    let mut votes: BTreeMap<u32, usize> = BTreeMap::new();
    if has_own {
        votes.insert(own, 1);
    } else {
        let nearest = nearest(stretches, others(), part.longest);
        nearest.values().for_each(|&(_, burst)| *votes.entry(all.label(burst)).or_insert(0) += 1);
    }
    let label = most(&votes)?;
    let of_phase = nearest(stretches, others().filter(|&burst| all.label(burst) == label), part.longest);
    let times: f64 = of_phase.values().map(|&(_, burst)| all.duration(burst) as f64).sum();
    (label != all.noise() && !of_phase.is_empty()).then(|| (label, times / of_phase.len() as f64))
}

/// What the others do while the longest burst lasts, and its unit lacks: of each its longest burst
/// that takes more than a tenth as long. The unit lacks what it does less often in the stretch than
/// they do, or what it does at another moment, if it computes less than they do around its longest
/// burst. Returns the phase (or noise) of most of these and their mean time, if enough of the others
/// have one.
fn meanwhile(stretches: &Stretches<'_>, part: &Part, units: &[u32]) -> Option<(u32, f64)> {
    let (all, long) = (stretches.all, part.longest);
    let duration = all.duration(long) as f64;
    let bursts = stretches.of_stretch(part.stretch);
    let is_at_once = |a: u32, b: u32| all.begin(a) < all.end(b) && all.end(a) > all.begin(b);
    let is_large = |burst: u32| !is_nearly_all(duration - all.duration(burst) as f64, duration);
    let is_beside =
        |burst: u32| !units.contains(&stretches.unit(burst)) && is_at_once(burst, long) && is_large(burst);
    let mut beside: Vec<u32> = bursts.iter().copied().filter(|&burst| is_beside(burst)).collect();
    if beside.is_empty() {
        return None;
    }
    // What they do shortly before and after, as long as the burst itself. Short bursts do not stand for it.
    let around = Nanos(all.duration(long));
    let (from, until) = (all.begin(long).saturating_sub(around), all.end(long).saturating_add(around));
    let mut counts: FxHashMap<(u32, u32), usize> = FxHashMap::default();
    let mut times = vec![0.0; stretches.n_units()];
    for &burst in bursts.iter().filter(|&&burst| burst != long) {
        *counts.entry((stretches.unit(burst), all.label(burst))).or_insert(0) += 1;
        if all.end(burst) > from && all.begin(burst) < until && is_large(burst) {
            times[stretches.unit(burst) as usize] += all.duration(burst) as f64;
        }
    }
    let count = |unit: u32, burst: u32| counts.get(&(unit, all.label(burst))).copied().unwrap_or(0);
    let is_own = |&burst: &u32| stretches.unit(burst) == part.unit && burst != long;
    let own: Vec<u32> = bursts.iter().copied().filter(is_own).collect();
    let does_too =
        |burst: u32| own.iter().any(|&own| all.label(own) == all.label(burst) && is_at_once(own, burst));
    beside.retain(|&burst| {
        let unit = stretches.unit(burst);
        let lacks = times[unit as usize] - times[part.unit as usize];
        count(unit, burst) > count(part.unit, burst)
            || (!does_too(burst) && !is_nearly_all(duration - lacks, duration))
    });
    beside.sort_by_key(|&burst| (all.duration(burst), burst));
    let found: BTreeMap<u32, u32> = beside.into_iter().map(|burst| (stretches.unit(burst), burst)).collect();
    let n_others = stretches.peers(part.unit) - units.len() as f64;
    if (found.len() as f64) < MEANWHILE * n_others || found.is_empty() {
        return None;
    }
    let mut votes: BTreeMap<u32, usize> = BTreeMap::new();
    found.values().for_each(|&burst| *votes.entry(all.label(burst)).or_insert(0) += 1);
    let label = most(&votes)?;
    let times = found.values().filter(|&&burst| all.label(burst) == label).map(|&b| all.duration(b) as f64);
    Some((label, times.sum::<f64>() / votes[&label] as f64))
}

/// What has most votes; of several, the least.
fn most(votes: &BTreeMap<u32, usize>) -> Option<u32> {
    votes.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0))).map(|(&label, _)| label)
}

/// Of the units of some bursts, which begins nearest to another burst, and how far from it.
fn nearest(
    stretches: &Stretches<'_>,
    bursts: impl Iterator<Item = u32>,
    to: u32,
) -> BTreeMap<u32, (u64, u32)> {
    let mut nearest: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
    for burst in bursts {
        let apart = stretches.all.begin(burst).0.abs_diff(stretches.all.begin(to).0);
        let best = nearest.entry(stretches.unit(burst)).or_insert((apart, burst));
        *best = (*best).min((apart, burst));
    }
    nearest
}
