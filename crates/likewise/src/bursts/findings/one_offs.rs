//! Bursts that take long once.

use std::cell::OnceCell;

use super::alone::time_alone;
use super::causes::CANDIDATE;
use super::finding::{FEWEST, Finding, FindingKind, LEAST_SHARE};
use super::place::in_place_of;
use super::shape::{NOISE, Shape, by_chance, noise, shape};
use super::single::{Stall, is_once, stall};
use super::step::VAGUE;
use super::stretches::{Part, Stretches};
use crate::bursts::serial::Scope;
use crate::median;
use crate::table::Nanos;

/// A part is a one-off if it costs so many times what the parts of its phase usually do.
const OUT: f64 = 10.0;

/// Threads are as late in another part of a step if what they take longer than the others is at least
/// this much of what it is here, both as a share of their time: it is nearer to that than to none.
const AS_LATE: f64 = 0.5;

/// Takes out the parts that cost much in one stretch, while the other parts of
/// their phase cost little. With each comes for how much of its long bursts of no phase no
/// other computes.
pub(super) fn one_offs(
    stretches: &Stretches<'_>,
    parts: &mut Vec<Part>,
    whole: f64,
) -> Vec<(Finding, Nanos)> {
    let noise = stretches.all.noise();
    let mut gains: Vec<Vec<f64>> = vec![Vec::new(); stretches.all.n_labels()];
    parts.iter().for_each(|part| gains[part.key as usize].push(part.gain));
    let limits: Vec<f64> = gains.iter_mut().map(|gains| limit(gains, LEAST_SHARE * whole)).collect();
    let usually = usual_by_burst(stretches, parts);
    // A thread that does so again and again is no one-off, if there are others
    // that it can be compared with.
    let is_long = |part: &Part| part.key == noise && part.removal >= LEAST_SHARE * whole;
    let mut times = vec![0; stretches.n_units()];
    parts.iter().filter(|part| is_long(part)).for_each(|part| times[part.unit as usize] += 1);
    let is_alone = |part: &Part| is_long(part) && times[part.unit as usize] <= FEWEST;
    let least = CANDIDATE * LEAST_SHARE * whole;
    let bursts = OnceCell::new();
    let of_phase = |label: u32| &bursts.get_or_init(|| stretches.all.bursts_by_label())[label as usize][..];
    let late = |part: &Part| {
        if is_alone(part) {
            return Late::of(stretches, part);
        }
        let stands_out = part.key != noise
            && part.gain >= limits[part.key as usize]
            && gain_by_burst(stretches, part) >= OUT * usually[part.key as usize];
        let late = stands_out.then(|| Late::of(stretches, part)).flatten();
        // What the others never do is no step that takes long once.
        late.filter(|late| {
            late.others > 0.0
                && is_unusual(stretches, parts, (part, late), least)
                && is_once(stretches, part, &late.units, LEAST_SHARE * whole, of_phase)
        })
    };
    let all: Vec<Option<Late>> = parts.iter().map(late).collect();
    let mut all = all.into_iter();
    let mut found: Vec<(u32, Finding, Nanos)> = Vec::new();
    parts.retain(|part| {
        let Some(late) = all.next().flatten() else { return true };
        let next = one_off(stretches, part, &late, is_alone(part), whole);
        match found.last_mut() {
            Some((stretch, last, _)) if part.stretch - *stretch <= 1 && goes_on(last, &next) => {
                (*stretch, *last) = (part.stretch, one_after(last, next));
            }
            _ => {
                let is_other = |own, other| stretches.unit(own) != stretches.unit(other);
                let of_stretch = stretches.of_stretch(part.stretch);
                let alone = time_alone(stretches, &part.long, of_stretch, is_other);
                found.push((part.stretch, next, Nanos(alone as u64)));
            }
        }
        false
    });
    let n_parts: Vec<usize> = gains.iter().map(Vec::len).collect();
    let found = found.into_iter().map(|(_, finding, alone)| (finding, alone));
    found.chain(stalls(stretches, parts, &n_parts, whole)).collect()
}

/// The bursts that are too long beside others of their thread, and not by how much their step costs:
/// in a step that is often uneven, or is in few stretches. `n_parts` are those of each phase. If
/// more than a tenth of them have such a burst, the phase is just like that.
fn stalls(
    stretches: &Stretches<'_>,
    parts: &mut [Part],
    n_parts: &[usize],
    whole: f64,
) -> Vec<(Finding, Nanos)> {
    let bursts = OnceCell::new();
    let of_phase = |label: u32| &bursts.get_or_init(|| stretches.all.bursts_by_label())[label as usize][..];
    let mut found: Vec<(usize, Stall)> = Vec::new();
    let mut n_found = vec![0; n_parts.len()];
    for (place, part) in parts.iter().enumerate() {
        if let Some(stall) = stall(stretches, part, LEAST_SHARE * whole, of_phase) {
            n_found[part.key as usize] += 1;
            found.push((place, stall));
        }
    }
    let is_rare = |key: u32| {
        let (n, found) = (n_parts[key as usize], n_found[key as usize]);
        stretches.n_units() == 1 || n < FEWEST || found <= n.div_ceil(10)
    };
    found.retain(|(place, _)| is_rare(parts[*place].key));
    let told = |(place, stall): (usize, Stall)| {
        let part = &mut parts[place];
        let finding = stalled(stretches, part, &stall, whole);
        // The rest of the step may be uneven for another reason.
        part.without(stall.won, stall.more);
        (finding, Nanos::ZERO)
    };
    found.into_iter().map(told).collect()
}

/// Whether threads are late in a part as they usually are not: further than by chance, and in fewer
/// than four parts of the step by as large a share, or in a tenth at most of those that are about as
/// long. Where the size of a step grows, it costs more each time, because all have more to do; if
/// the same threads are late in it each time, nothing of it happened once. Of parts that cost less
/// than `least`, who is late says nothing.
fn is_unusual(stretches: &Stretches<'_>, parts: &[Part], (part, late): (&Part, &Late), least: f64) -> bool {
    let group = stretches.group_of(part.unit);
    let is_beside = |other: &&Part| other.key == part.key && stretches.group_of(other.unit) == group;
    let step: Vec<&Part> = parts.iter().filter(is_beside).collect();
    let mut is_late = vec![false; stretches.n_units()];
    late.units.iter().for_each(|&unit| is_late[unit as usize] = true);
    let n_late = late.units.len() as f64;
    // What they take longer than the others, over what they take.
    let apart = |other: &Part| {
        let is_own = |burst: &&u32| is_late[stretches.unit(**burst) as usize];
        let own: u64 = other.bursts.iter().filter(is_own).map(|&burst| stretches.all.duration(burst)).sum();
        let others = (other.time() - own as f64).max(0.0) / (other.n - n_late).max(1.0);
        1.0 - others * n_late / own as f64
    };
    let share = AS_LATE * apart(part);
    let n_as_late = step.iter().filter(|other| other.gain >= least && apart(other) >= share).count();
    let n_as_long = step.iter().filter(|other| OUT * other.time() >= part.time()).count();
    let chance = noise(stretches, &step).unwrap_or(NOISE).min(VAGUE * NOISE);
    (n_as_late < FEWEST || n_as_late <= n_as_long.div_ceil(10))
        && part.gain >= by_chance(part.n, 1.0, chance) * part.mean
}

/// What a part costs for each burst that its slowest unit has in it. Stretches may be of unlike
/// lengths: while a pipeline fills, they hold a burst or two, and then one holds all others. It
/// costs more because there is more in it.
fn gain_by_burst(stretches: &Stretches<'_>, part: &Part) -> f64 {
    let own = part.bursts.iter().filter(|&&burst| stretches.unit(burst) == part.unit).count();
    part.gain / own.max(1) as f64
}

/// Of each phase, what its parts usually cost for each burst.
fn usual_by_burst(stretches: &Stretches<'_>, parts: &[Part]) -> Vec<f64> {
    let mut gains: Vec<Vec<f64>> = vec![Vec::new(); stretches.all.n_labels()];
    parts.iter().for_each(|part| gains[part.key as usize].push(gain_by_burst(stretches, part)));
    gains.into_iter().map(|gains| median::upper(&median::sorted(gains)).unwrap_or(0.0)).collect()
}

/// Whether the same threads take long in two steps that follow one another.
fn goes_on(first: &Finding, second: &Finding) -> bool {
    let in_place = |f: &Finding| matches!(f.kind, FindingKind::OneOff { others: Some(_), itself: false, .. });
    in_place(first) && in_place(second) && first.threads == second.threads
}

/// Two steps in which the same threads take long, as one.
fn one_after(first: &Finding, second: Finding) -> Finding {
    let time = |f: &Finding| match f.kind {
        FindingKind::OneOff { duration, others: Some(others), .. } => (duration, others),
        _ => (Nanos::ZERO, Nanos::ZERO),
    };
    let ((long, short), (more, less)) = (time(first), time(&second));
    let (duration, others) = (long.saturating_add(more), Some(short.saturating_add(less)));
    let mut both = first.clone();
    both.kind = FindingKind::OneOff { bursts: 1, same: true, duration, others, itself: false, alone: false };
    join(&mut both, second);
    both
}

/// The gain from which on a part is a one-off: ten times what the parts of the
/// phase usually cost (their median). If more than a tenth of them cost that much,
/// there is no such limit, since the phase is just like that.
pub(super) fn limit(gains: &mut [f64], least: f64) -> f64 {
    gains.sort_unstable_by(f64::total_cmp);
    let limit = least.max(median::upper(gains).map_or(0.0, |median| OUT * median));
    let over = gains.iter().filter(|&&gain| gain >= limit).count();
    if gains.len() >= FEWEST && over <= gains.len().div_ceil(10) { limit } else { f64::INFINITY }
}

fn one_off(stretches: &Stretches<'_>, part: &Part, late: &Late, is_alone: bool, whole: f64) -> Finding {
    let all = stretches.all;
    let (mut duration, mut others, mut labels) = (part.own, late.others, part.labels.clone());
    let own = part.bursts.iter().find(|&&burst| stretches.unit(burst) == part.unit);
    let mut begin = own.map_or(all.begin(part.longest), |&burst| all.begin(burst));
    let longest = all.duration(part.longest) as f64;
    if let Some((label, mean)) = in_place_of(stretches, part, &late.units)
        .filter(|&(label, _)| label != all.noise() && !is_alone && late.units.len() == 1)
        && longest - mean >= 0.5 * (duration - others)
    {
        (duration, others, labels) = (longest, mean, vec![label, all.label(part.longest)]);
        begin = all.begin(part.longest);
    }
    let mut threads = stretches.names(&late.units, &labels.iter().copied().collect());
    if late.units.len() == 1 {
        threads = vec![all.name(part.longest)];
    }
    if is_alone {
        (duration, labels, begin) = (longest, Vec::new(), all.begin(part.longest));
        threads = part.long.iter().map(|&burst| all.name(burst)).collect();
        threads.sort_unstable();
        threads.dedup();
    }
    let won = if is_alone { part.removal } else { late.ahead.unwrap_or(part.gain).min(duration - others) };
    labels.dedup();
    let kind = FindingKind::OneOff {
        bursts: if is_alone { part.long.len() as u64 } else { 1 },
        same: threads.len() == 1 || !is_alone,
        duration: Nanos(duration as u64),
        others: (!is_alone).then_some(Nanos(others as u64)),
        itself: false,
        alone: false,
    };
    Finding {
        share: won.max(0.0) / whole,
        phases: all.phases(labels.iter().copied()),
        noise: is_alone || labels.contains(&all.noise()),
        threads,
        begin,
        most: if is_alone { won.min(longest) } else { won }.max(0.0) / whole,
        before: if is_alone { before_others(stretches, part) } else { Nanos::ZERO },
        behind: if is_alone { behind_one(stretches, part) } else { Nanos::ZERO },
        stretches: 1,
        is_once: true,
        ..Finding::of(kind, Scope::Run)
    }
}

/// How much of the long bursts of no phase is before the first burst of any other thread.
fn before_others(stretches: &Stretches<'_>, part: &Part) -> Nanos {
    let of_burst =
        |&burst: &u32| stretches.all.before_others(std::iter::once(burst), &[stretches.all.thread(burst)]);
    part.long.iter().map(of_burst).fold(Nanos::ZERO, Nanos::saturating_add)
}

/// How much of them is behind the last burst of some other thread.
fn behind_one(stretches: &Stretches<'_>, part: &Part) -> Nanos {
    let of_burst =
        |&burst: &u32| stretches.all.behind_one(std::iter::once(burst), &[stretches.all.thread(burst)]);
    part.long.iter().map(of_burst).fold(Nanos::ZERO, Nanos::saturating_add)
}

/// A burst that takes long beside others of its thread.
fn stalled(stretches: &Stretches<'_>, part: &Part, stall: &Stall, whole: f64) -> Finding {
    let all = stretches.all;
    Finding {
        share: stall.won / whole,
        phases: all.phases([stall.label].into_iter()),
        noise: all.label(part.longest) == all.noise(),
        threads: vec![all.name(part.longest)],
        begin: all.begin(part.longest),
        most: stall.won / whole,
        stretches: 1,
        is_once: true,
        ..Finding::of(
            FindingKind::OneOff {
                bursts: stall.bursts,
                same: true,
                duration: Nanos(all.duration(part.longest)),
                others: Some(Nanos(stall.others as u64)),
                itself: stretches.n_units() == 1,
                alone: false,
            },
            Scope::Run,
        )
    }
}

/// Who takes long in a part.
struct Late {
    units: Vec<u32>,
    /// Mean time of the others.
    others: f64,
    /// By how much the last is behind the last of the others, in the stretch;
    /// none where no gap parts them.
    ahead: Option<f64>,
}

impl Late {
    /// All above the widest gap, where there is one. None where the others are few: it may be these
    /// that did less; and none of a gradient, in which no thread is apart from the next.
    fn of(stretches: &Stretches<'_>, part: &Part) -> Option<Self> {
        let (mut times, mut whole) = (vec![0.0; stretches.n_units()], vec![0.0; stretches.n_units()]);
        for &burst in stretches.of_stretch(part.stretch) {
            let (unit, time) = (stretches.unit(burst) as usize, stretches.all.duration(burst) as f64);
            whole[unit] += time;
            times[unit] += if part.labels.contains(&stretches.all.label(burst)) { time } else { 0.0 };
        }
        let of_group = |&unit: &u32| stretches.group_of(unit) == stretches.group_of(part.unit);
        let all: Vec<u32> = (0..stretches.n_units() as u32).filter(of_group).collect();
        let (units, apart) = match shape(stretches, &times) {
            Shape::Late(late) if late.contains(&part.unit) => (late, true),
            Shape::Early(_) | Shape::Gradient if part.long.is_empty() => return None,
            _ => (vec![part.unit], false),
        };
        let rest = || all.iter().filter(|unit| !units.contains(unit)).map(|&unit| unit as usize);
        let others = rest().map(|unit| times[unit]).sum::<f64>() / (rest().count() as f64).max(1.0);
        let next = rest().map(|unit| whole[unit]).fold(0.0, f64::max);
        Some(Self { others, ahead: apart.then_some(part.most - next), units })
    }
}

/// Puts one-offs together: those of the same threads, those of one phase, and those
/// of no phase. Each finding names its longest burst. A list of many single bursts
/// would leave no place for anything else.
pub(super) fn folded(one_offs: Vec<Finding>) -> Vec<Finding> {
    let in_place = |f: &Finding| matches!(f.kind, FindingKind::OneOff { others: Some(_), .. });
    let alike = |f: &Finding, g: &Finding| match (in_place(f), in_place(g)) {
        (true, true) => f.threads == g.threads,
        (f, g) => f == g,
    };
    let by_threads = fold(one_offs, alike);
    let is_single = |f: &Finding| matches!(f.kind, FindingKind::OneOff { bursts: 1, .. });
    let of_phase = |f: &Finding, g: &Finding| {
        let single = is_single(f) || matches!(f.kind, FindingKind::OneOff { same: false, .. });
        in_place(f) && in_place(g) && single && is_single(g) && f.phases.first() == g.phases.first()
    };
    fold(by_threads, of_phase)
}

fn fold(findings: Vec<Finding>, is_one: impl Fn(&Finding, &Finding) -> bool) -> Vec<Finding> {
    let mut folded: Vec<Finding> = Vec::new();
    for next in findings {
        match folded.iter_mut().find(|f| is_one(f, &next)) {
            Some(found) => add(found, next),
            None => folded.push(next),
        }
    }
    folded
}

fn add(found: &mut Finding, mut next: Finding) {
    let length = |f: &Finding| match f.kind {
        FindingKind::OneOff { duration, .. } => duration,
        _ => Nanos::ZERO,
    };
    if length(&next) > length(found) {
        std::mem::swap(found, &mut next);
    }
    let is_same = found.threads == next.threads;
    if let (
        FindingKind::OneOff { bursts, same, alone, .. },
        FindingKind::OneOff { bursts: more, same: other, alone: also, .. },
    ) = (&mut found.kind, next.kind)
    {
        (*bursts, *same, *alone) = (*bursts + more, *same && other && is_same, *alone && also);
    }
    join(found, next);
}

/// Adds all but the times.
fn join(found: &mut Finding, next: Finding) {
    found.share += next.share;
    found.noise |= next.noise;
    found.before = found.before.saturating_add(next.before);
    found.behind = found.behind.saturating_add(next.behind);
    found.stretches += next.stretches;
    let new: Vec<_> = next.phases.into_iter().filter(|phase| !found.phases.contains(phase)).collect();
    found.phases.extend(new);
}
