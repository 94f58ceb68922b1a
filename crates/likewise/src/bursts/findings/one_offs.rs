//! Bursts that take long once.

use std::collections::BTreeMap;

use super::stretches::{Part, Stretches};
use super::{Finding, FindingKind, LEAST_SHARE};
use crate::bursts::serial::Scope;
use crate::table::Nanos;

/// Of so many parts, one can stand out; and so many can be single.
const FEWEST: usize = 4;

/// Takes those parts out that cost much in one stretch and little in the
/// others of their phase.
pub(super) fn one_offs(stretches: &Stretches<'_>, parts: &mut Vec<Part>, whole: f64) -> Vec<Finding> {
    let noise = stretches.all.noise();
    let mut gains: Vec<Vec<f64>> = vec![Vec::new(); stretches.all.n_labels()];
    parts.iter().for_each(|part| gains[part.key as usize].push(part.gain));
    let limits: Vec<f64> = gains.iter_mut().map(|gains| limit(gains, LEAST_SHARE * whole)).collect();
    // A thread that does so again and again is no one-off, if there are others
    // that it can be compared with.
    let is_long = |part: &Part| part.key == noise && part.removal >= LEAST_SHARE * whole;
    let mut times = vec![0; stretches.n_units()];
    parts.iter().filter(|part| is_long(part)).for_each(|part| times[part.unit as usize] += 1);
    let is_rare = |part: &Part| stretches.n_units() == 1 || times[part.unit as usize] <= FEWEST;
    let mut found = Vec::new();
    parts.retain(|part| {
        let is_alone = is_long(part) && is_rare(part);
        let stands_out = part.key != noise && part.gain >= limits[part.key as usize];
        if is_alone || stands_out {
            found.push(one_off(stretches, part, is_alone, whole));
        }
        !(is_alone || stands_out)
    });
    found
}

/// From which gain on a part is a one-off: ten times what the phase's parts
/// cost as a rule (their median), unless more than a tenth of them do.
fn limit(gains: &mut [f64], least: f64) -> f64 {
    gains.sort_unstable_by(f64::total_cmp);
    let limit = least.max(gains.get(gains.len() / 2).map_or(0.0, |median| 10.0 * median));
    let over = gains.iter().filter(|&&gain| gain >= limit).count();
    if gains.len() >= FEWEST && over <= gains.len().div_ceil(10) { limit } else { f64::INFINITY }
}

fn one_off(stretches: &Stretches<'_>, part: &Part, is_alone: bool, whole: f64) -> Finding {
    let all = stretches.all;
    let (mut duration, mut others) = (part.own, part.others());
    let mut labels = part.labels.clone();
    let longest = all.duration(part.longest) as f64;
    if let Some((label, mean)) = in_place_of(stretches, part).filter(|_| !is_alone)
        && longest - mean >= 0.5 * (duration - others)
    {
        (duration, others, labels) = (longest, mean, vec![label, all.label(part.longest)]);
    }
    let mut threads = vec![all.name(part.longest)];
    if is_alone {
        (duration, labels) = (longest, Vec::new());
        threads = part.long.iter().map(|&burst| all.name(burst)).collect();
        threads.sort_unstable();
        threads.dedup();
    }
    let won = if is_alone { part.removal } else { (duration - others).min(part.ahead) };
    labels.dedup();
    Finding {
        kind: FindingKind::OneOff {
            bursts: if is_alone { part.long.len() as u64 } else { 1 },
            duration: Nanos(duration as u64),
            others: (!is_alone).then_some(Nanos(others as u64)),
        },
        share: won.max(0.0) / whole,
        scope: Scope::Run,
        phases: all.phases(labels.iter().copied()),
        noise: is_alone || labels.contains(&all.noise()),
        threads,
        gradient: None,
        begin: all.begin(part.longest),
        stretches: 1,
    }
}

/// The phase whose place the longest burst of the slowest unit has, and how
/// long a burst of it takes on the others: its own, or the one that most
/// others begin next to it.
fn in_place_of(stretches: &Stretches<'_>, part: &Part) -> Option<(u32, f64)> {
    let all = stretches.all;
    let others = || stretches.bursts(part).filter(|&burst| stretches.unit(burst) != part.unit);
    let own = all.label(part.longest);
    let mut votes: BTreeMap<u32, usize> = BTreeMap::new();
    if own == all.noise() {
        // Of each unit, the nearest begin, and the phase of that burst.
        let mut nearest: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
        for burst in others() {
            let apart = all.begin(burst).0.abs_diff(all.begin(part.longest).0);
            let best = nearest.entry(stretches.unit(burst)).or_insert((u64::MAX, own));
            *best = (*best).min((apart, all.label(burst)));
        }
        nearest.values().for_each(|&(_, label)| *votes.entry(label).or_insert(0) += 1);
    } else {
        votes.insert(own, 1);
    }
    let (&label, _) = votes.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)))?;
    let times: Vec<u64> =
        others().filter(|&burst| all.label(burst) == label).map(|burst| all.duration(burst)).collect();
    (label != all.noise() && !times.is_empty())
        .then(|| (label, times.iter().sum::<u64>() as f64 / times.len() as f64))
}

/// Those of one phase, and those of none, as one, which names the longest: a
/// list of many single bursts would leave no place for anything else.
pub(super) fn folded(one_offs: Vec<Finding>) -> Vec<Finding> {
    let place = |f: &Finding| match f.kind {
        FindingKind::OneOff { others: Some(_), .. } => f.phases.first().copied(),
        _ => None,
    };
    let mut folded: Vec<Finding> = Vec::new();
    for next in one_offs {
        match folded.iter_mut().find(|f| place(f) == place(&next)) {
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
    found.share += next.share;
    found.noise |= next.noise;
    found.stretches += next.stretches;
    let new: Vec<_> = next.phases.into_iter().filter(|phase| !found.phases.contains(phase)).collect();
    found.phases.extend(new);
    if let (FindingKind::OneOff { bursts, .. }, FindingKind::OneOff { bursts: more, .. }) =
        (&mut found.kind, next.kind)
    {
        *bursts += more;
    }
}
