//! What is told of threads that compute alone.

use std::collections::{BTreeMap, BTreeSet};

use super::alone::alone;
use super::finding::{Finding, FindingKind, ThreadName};
use super::shape::above_mean;
use super::step::Step;
use super::stretches::Stretches;
use crate::bursts::serial::{Scope, is_nearly_all};
use crate::table::Nanos;

/// Of threads that compute alone, one is named if it costs at least this share of
/// what the most costly one does.
const OFTEN: f64 = 0.1;

/// That one unit computes while the others wait. Returns who is named.
pub(super) fn by_one(
    stretches: &Stretches<'_>,
    step: &Step<'_>,
    finding: &mut Finding,
    labels: &BTreeSet<u32>,
    whole: f64,
) -> Vec<u32> {
    let units = often(step);
    finding.threads = stretches.names(&units, labels);
    let own = step.costly().map(|part| part.own).sum();
    let alone = alone(stretches, step.costly(), &finding.threads, finding.scope);
    let [time, only] = [own, alone].map(|time| serial_time(time, &finding.threads, finding.scope));
    finding.kind = FindingKind::Serial { time, alone: only };
    let waited = step.costly().map(|part| part.own * (1.0 - 1.0 / part.n)).sum::<f64>();
    // Where others compute meanwhile, they would be done later with more to do.
    finding.share = if is_nearly_all(alone, own) { waited } else { waited.min(step.gain) } / whole;
    let mut times = vec![0.0; stretches.n_units()];
    step.costly().for_each(|part| times[part.unit as usize] += part.own);
    finding.at_other_times = is_spread(stretches, &times);
    units
}

/// Whether the bursts in which one unit computes alone are nearly all of a step.
pub(super) fn is_all_by_one(step: &Step<'_>) -> bool {
    let own = step.costly().map(|part| part.own).sum();
    is_nearly_all(own, step.parts.iter().map(|part| part.time()).sum())
}

/// That units do a step one at a time; in the share `alone` of its time no other computes. Where
/// one begins just before another ends, no moment parts them, and they look like two that do a
/// step together. Returns who is named.
pub(super) fn in_turn(
    stretches: &Stretches<'_>,
    step: &Step<'_>,
    finding: &mut Finding,
    labels: &BTreeSet<u32>,
    whole: f64,
    alone: f64,
) -> Vec<u32> {
    let parts = || step.parts.iter().filter(|part| part.n > 1.0);
    let time: f64 = parts().map(|part| part.time()).sum();
    let most = step.times.iter().copied().fold(0.0, f64::max);
    let is_named = |unit: &u32| stretches.peers(*unit) > 1.0 && step.times[*unit as usize] >= OFTEN * most;
    let units: Vec<u32> = (0..stretches.n_units() as u32).filter(is_named).collect();
    finding.threads = stretches.names(&units, labels);
    let [time, alone] =
        [time, (alone * time).round()].map(|time| serial_time(time, &finding.threads, finding.scope));
    finding.kind = FindingKind::Serial { time, alone };
    finding.at_other_times = is_spread(stretches, &step.times);
    finding.share = parts().map(|part| part.time() * (1.0 - 1.0 / part.n)).sum::<f64>() / whole;
    finding.stretches = parts().count() as u64;
    units
}

/// Whether these times, for which units compute alone, are spread already: done at the same time, each
/// for as long as it is, they would win nearly all that an even spread would.
fn is_spread(stretches: &Stretches<'_>, times: &[f64]) -> bool {
    let spread = |(unit, time): (u32, &f64)| time * (1.0 - 1.0 / stretches.peers(unit));
    let spread: f64 = (0..).zip(times).map(spread).sum();
    is_nearly_all(spread - above_mean(stretches, times), spread)
}

/// A time of the units that compute in turn; of the threads of each task, per task.
fn serial_time(time: f64, threads: &[ThreadName], scope: Scope) -> Nanos {
    let tasks = threads.chunk_by(|a, b| a.task == b.task).count().max(1);
    Nanos(if scope == Scope::Task { time / tasks as f64 } else { time } as u64)
}

/// The units that are last in most of the cost.
fn often(step: &Step<'_>) -> Vec<u32> {
    let mut gains: BTreeMap<u32, f64> = BTreeMap::new();
    for part in &step.parts {
        *gains.entry(part.unit).or_insert(0.0) += part.gain;
    }
    let most = gains.values().copied().fold(0.0, f64::max);
    gains.iter().filter(|(_, gain)| **gain >= OFTEN * most).map(|(&unit, _)| unit).collect()
}

/// Moves long single bursts into the finding that their thread computes alone, if
/// there is one. `n` threads could share them. Of others it is said whether they are alone.
pub(super) fn without_serial(
    one_offs: Vec<(Finding, Nanos)>,
    mut uneven: Vec<Finding>,
    whole: f64,
    n: usize,
) -> (Vec<Finding>, Vec<Finding>) {
    let mut rest = Vec::new();
    for (mut finding, only) in one_offs {
        let is_alone = matches!(finding.kind, FindingKind::OneOff { others: None, .. });
        let is_same = |f: &&mut Finding| is_alone && f.is_serial() && f.threads == finding.threads;
        match uneven.iter_mut().find(is_same) {
            Some(serial) => {
                let spread = 1.0 - 1.0 / n as f64;
                serial.share += finding.share * spread;
                serial.noise = true;
                serial.before = serial.before.saturating_add(finding.before);
                serial.behind = serial.behind.saturating_add(finding.behind);
                serial.take_place(&finding, spread);
                if let FindingKind::Serial { time, alone } = &mut serial.kind {
                    *time = time.saturating_add(Nanos((finding.share * whole) as u64));
                    *alone = alone.saturating_add(only).min(*time);
                }
            }
            None => {
                if let FindingKind::OneOff { others: None, alone, .. } = &mut finding.kind {
                    *alone = n > 1 && is_nearly_all(only.0 as f64, finding.share * whole);
                }
                rest.push(finding);
            }
        }
    }
    (rest, uneven)
}

/// What long bursts of no phase win while no other of `n` computes: `n` threads could share them. Several
/// of one thread are serial time: what the first thread of an OpenMP program does between its
/// regions may be unlike each time. So is one before the first burst of any other: it is how the
/// program starts. And so it is where threads have few bursts at all (`are_few`): nothing in that run
/// says what is usual. Another single one is something that happened once.
pub(super) fn as_serial(mut found: Finding, whole: f64, n: usize, are_few: bool) -> Finding {
    let FindingKind::OneOff { bursts, same, alone: true, others: None, .. } = found.kind else {
        return found;
    };
    let time = found.share * whole;
    let is_start = is_nearly_all(found.before.0 as f64, time);
    if same && found.threads.len() == 1 && (bursts > 1 || is_start || are_few) {
        let time = Nanos(time as u64);
        found.kind = FindingKind::Serial { time, alone: time };
    }
    let spread = 1.0 - 1.0 / n as f64;
    (found.share, found.most) = (found.share * spread, found.most * spread);
    found
}
