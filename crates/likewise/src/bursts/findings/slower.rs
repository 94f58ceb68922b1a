//! What all threads, or most of them, take longer over in one stretch of time.
//!
//! Who is compared is the same thread at another time, so a slowdown of the
//! whole machine is seen, which leaves no thread behind the others.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;

use super::causes::{CANDIDATE, EVERYWHERE};
use super::counted::Counted;
use super::finding::{Finding, FindingKind, How, LEAST_APART};
use super::how::{Work, counters};
use super::since::{FEWEST, TWICE, means_of, rise, stretch};
use crate::bursts::rates::instructions_and_cycles;
use crate::bursts::serial::Scope;
use crate::table::{Nanos, Values};

/// By so many standard deviations a phase must be slower in a time that another one tells.
const SURE: f64 = 3.0;

/// A phase, or two of which each thread does now the one and then the other.
struct Kind {
    labels: Vec<u32>,
    /// By begin.
    bursts: Vec<u32>,
}

/// A kind that takes longer in a stretch of time.
struct Slower {
    labels: Vec<u32>,
    /// Since and until when; the run's begin and end where it is so from or to these.
    from: Option<Nanos>,
    until: Option<Nanos>,
    /// From one round of the threads to the next, while they are slow.
    period: f64,
    /// Time in it, of all threads, and what of it is more than at other times.
    time: f64,
    more: f64,
    /// Their time for the same instructions over that at other times, and whether it rises by degrees:
    /// then that at the end over that before.
    times: f64,
    by_degrees: bool,
    /// The threads that take longer.
    threads: Vec<u32>,
}

/// Whether the instructions of half of the time or more are known.
fn is_known(all: &Counted<'_>) -> bool {
    let counters = &all.table.counters;
    let Some(counter) = instructions_and_cycles(counters)[0] else { return false };
    let values = &counters[counter].values;
    let mut times = [0.0; 2];
    for &burst in &all.order {
        times[usize::from(values.get(burst as usize) > 0.0)] += all.duration(burst) as f64;
    }
    times[1] >= times[0]
}

/// The slowdown that costs most, and whether one can be seen: the instructions of half of the time are
/// known, and a phase has as many rounds of the threads as it takes.
pub(super) fn slower(all: &Counted<'_>, whole: f64) -> (Option<Finding>, bool) {
    let counters = &all.table.counters;
    let Some(counter) = instructions_and_cycles(counters)[0] else { return (None, false) };
    let instructions = &counters[counter].values;
    let kinds = kinds(all, instructions);
    let rounds = |kind: &Kind| kind.bursts.len().div_ceil(n_threads(all, &kind.bursts).max(1));
    let is_seen = is_known(all) && kinds.iter().any(|kind| rounds(kind) >= FEWEST + TWICE);
    (dearest(all, instructions, &kinds, whole), is_seen)
}

/// The slowdown that costs most: more than half of the threads take longer for the
/// same instructions in one stretch of time. All phases that are slow in that time
/// belong to it.
fn dearest(all: &Counted<'_>, instructions: &Values, kinds: &[Kind], whole: f64) -> Option<Finding> {
    let mut found: Vec<Slower> = kinds.par_iter().filter_map(|kind| one(all, instructions, kind)).collect();
    let worst = found.iter().max_by(|a, b| a.more.total_cmp(&b.more))?;
    let (by_degrees, threads) = (worst.by_degrees, worst.threads.clone());
    let (mut from, mut until) = time_of(&found, worst);
    let mut compared = f64::INFINITY;
    let mut same: Vec<Slower> = if by_degrees {
        // Where it begins, and by how much, is not the same to each phase that becomes slower.
        found.retain(|s| s.by_degrees);
        from = found.iter().filter_map(|s| s.from).min();
        until = None;
        found
    } else {
        let both = |kind| in_time(all, instructions, kind, (from, until));
        let measured: Vec<(f64, Option<Slower>)> = kinds.par_iter().filter_map(both).collect();
        compared = measured.iter().map(|(time, _)| time).sum();
        measured.into_iter().filter_map(|(_, slower)| slower).collect()
    };
    same.sort_by(|a, b| b.time.total_cmp(&a.time).then(a.labels.cmp(&b.labels)));
    let sum = |of: &dyn Fn(&Slower) -> f64| same.iter().map(of).sum::<f64>();
    let (time, more) = (sum(&|s| s.time), sum(&|s| s.more));
    // Two phases of another loop may have the same instructions by chance. Then what else is done in
    // that time and at others is not slower.
    if same.is_empty() || (time < EVERYWHERE * compared && same.iter().any(|s| s.labels.len() > 1)) {
        return None;
    }
    let computed: f64 =
        all.order.iter().filter(|&&b| is_in(all, b, (from, until))).map(|&b| all.duration(b) as f64).sum();
    let compared = (compared / computed).min(1.0);
    let everywhere = same.len() > 1 && time >= EVERYWHERE * computed;
    let times = if by_degrees {
        same.iter().map(|s| s.time * s.times).sum::<f64>() / time
    } else {
        time / (time - more)
    };
    let how = how(all, &same, (from, until));
    Some(Finding {
        share: more / all.names().len() as f64 / whole,
        phases: all.phases(same.iter().flat_map(|s| s.labels.iter().copied())),
        threads: threads.iter().map(|&thread| all.names()[thread as usize]).collect(),
        from,
        until,
        begin: from.unwrap_or(all.begin(all.order[0])),
        ..Finding::of(FindingKind::Slower { times, everywhere, by_degrees, compared, how }, Scope::Run)
    })
}

/// From when until when, `None` for the run's begin and end.
type Time = (Option<Nanos>, Option<Nanos>);

fn is_in(all: &Counted<'_>, burst: u32, (from, until): Time) -> bool {
    let at = all.begin(burst);
    from.is_none_or(|from| at >= from) && until.is_none_or(|until| at < until)
}

/// The time of the worst, and of those that are slow in the same time, to one round, and cost
/// enough to tell when.
fn time_of(found: &[Slower], worst: &Slower) -> Time {
    let is_near = |a: Option<Nanos>, b: Option<Nanos>, within: f64| match (a, b) {
        (Some(a), Some(b)) => a.0.abs_diff(b.0) as f64 <= within,
        (a, b) => a == b,
    };
    let same = || {
        found.iter().filter(|s| {
            let within = s.period.max(worst.period);
            let is_same = is_near(s.from, worst.from, within) && is_near(s.until, worst.until, within);
            is_same && !s.by_degrees && s.more >= CANDIDATE * worst.more
        })
    };
    (same().filter_map(|s| s.from).min(), same().filter_map(|s| s.until).min())
}

/// By which of clock and IPC those phases are slower in that time.
fn how(all: &Counted<'_>, same: &[Slower], time: Time) -> How {
    let Some(counters) = counters(all.table) else { return How::Unknown };
    let mut is_slow = vec![false; all.n_labels()];
    same.iter().flat_map(|s| &s.labels).for_each(|&label| is_slow[label as usize] = true);
    let mut sums = [Work::default(); 2];
    for &burst in all.order.iter().filter(|&&burst| is_slow[all.label(burst) as usize]) {
        sums[usize::from(is_in(all, burst, time))].add(counters, burst, all.duration(burst) as f64);
    }
    let [others, slow] = sums;
    slow.against(&others)
}

/// The phases that most threads do often enough for a stretch of time to be seen.
/// Two phases are one kind if they have the same instructions and each thread
/// changes between them at most twice: a slowdown can make another phase of the
/// same step.
///
/// Several phases may have the same instructions, and as many after a slowdown. All become
/// slower, and keep their order: the fastest is still the fastest.
fn kinds(all: &Counted<'_>, instructions: &Values) -> Vec<Kind> {
    let mut by_label = often(all);
    let middle = |bursts: &[u32], of: &dyn Fn(u32) -> f64| {
        let mut values: Vec<f64> = bursts.iter().map(|&b| of(b)).collect();
        let middle = values.len() / 2;
        *values.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    let measure = |(&label, bursts): (&u32, &Vec<u32>)| {
        let work = middle(bursts, &|b| instructions.get(b as usize)).ln();
        (middle(bursts, &|b| all.duration(b) as f64), label, (work, code(all, bursts)))
    };
    let mut by_time: Vec<(f64, u32, (f64, Option<u32>))> =
        by_label.par_iter().map(measure).filter(|(.., (work, _))| work.is_finite()).collect();
    by_time.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut kinds: Vec<Kind> = Vec::new();
    let mut taken = vec![false; all.n_labels()];
    for (at, &(_, label, (own, own_code))) in by_time.iter().enumerate() {
        if taken[label as usize] {
            continue;
        }
        let near = by_time[at + 1..]
            .iter()
            .filter(|(.., (work, code))| (work - own).abs() <= LEAST_APART && *code == own_code);
        let mut free = near.map(|&(_, other, _)| other).filter(|&other| !taken[other as usize]);
        let both = |other: u32| in_order(all, &by_label[&label], &by_label[&other]);
        let n = |other: u32| by_label[&label].len() + by_label[&other].len();
        let second = free.find(|&other| is_in_turn(all, both(other), n(other)));
        taken[label as usize] = true;
        kinds.push(match second {
            Some(other) => {
                taken[other as usize] = true;
                Kind { labels: vec![label, other], bursts: both(other).collect() }
            }
            None => Kind { labels: vec![label], bursts: by_label.remove(&label).unwrap_or_default() },
        });
    }
    kinds.retain(|kind| kind.bursts.len() >= FEWEST * n_threads(all, &kind.bursts));
    kinds
}

/// How many threads have some bursts.
fn n_threads(all: &Counted<'_>, bursts: &[u32]) -> usize {
    let mut has = vec![false; all.names().len()];
    bursts.iter().for_each(|&burst| has[all.thread(burst) as usize] = true);
    has.into_iter().filter(|has| *has).count()
}

/// The code that most of some bursts run, where it is known: what runs other code is another step.
fn code(all: &Counted<'_>, bursts: &[u32]) -> Option<u32> {
    let regions = &all.table.code.as_ref()?.regions;
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for &burst in bursts {
        *counts.entry(regions.place(burst as usize) as u32).or_default() += 1;
    }
    counts.into_iter().max_by_key(|&(place, n)| (n, Reverse(place))).map(|(place, _)| place)
}

/// Whether each thread does something twice, though one burst in four may be in no phase, or
/// another.
fn is_twice(n: usize, threads: usize) -> bool {
    2 * n >= 3 * threads
}

/// Of each phase that most threads do often enough, its bursts.
fn often(all: &Counted<'_>) -> BTreeMap<u32, Vec<u32>> {
    let n_threads = all.names().len();
    let counts = all.threads_by_label();
    let mut by_label: BTreeMap<u32, Vec<u32>> = (0..).zip(all.bursts_by_label()).collect();
    by_label.retain(|&label, bursts| {
        let threads = counts[label as usize];
        2 * threads > n_threads && is_twice(bursts.len(), threads)
    });
    by_label
}

/// Bursts of two phases, by begin.
fn in_order<'b>(all: &'b Counted<'_>, a: &'b [u32], b: &'b [u32]) -> impl Iterator<Item = u32> + 'b {
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    let place = |burst: &u32| (all.begin(*burst), *burst);
    std::iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some(first), Some(second)) if place(first) <= place(second) => a.next(),
        (Some(_), None) => a.next(),
        _ => b.next(),
    })
}

/// Whether the threads change between two phases at most twice each; one in
/// twenty of the `n` bursts may be in the wrong one.
fn is_in_turn(all: &Counted<'_>, bursts: impl Iterator<Item = u32>, n: usize) -> bool {
    let mut last: Vec<Option<u32>> = vec![None; all.names().len()];
    let (mut threads, mut changes) = (0, 0);
    for burst in bursts {
        let label = all.label(burst);
        match last[all.thread(burst) as usize].replace(label) {
            None => threads += 1,
            Some(before) => changes += usize::from(before != label),
        }
        if changes > 2 * last.len() + n / 20 {
            return false;
        }
    }
    changes <= 2 * threads + n / 20
}

/// ln of the time that a burst takes for an instruction.
fn slowness(all: &Counted<'_>, instructions: &Values, burst: u32) -> f64 {
    (all.duration(burst) as f64 / instructions.get(burst as usize)).ln()
}

/// The bursts of a kind whose instructions are known.
fn counted(instructions: &Values, kind: &Kind) -> Vec<u32> {
    kind.bursts.iter().copied().filter(|&burst| instructions.get(burst as usize) > 0.0).collect()
}

/// When a kind takes longer for the same instructions, and by how much.
fn one(all: &Counted<'_>, instructions: &Values, kind: &Kind) -> Option<Slower> {
    let counted = counted(instructions, kind);
    let value = |burst: u32| slowness(all, instructions, burst);
    let width = n_threads(all, &counted).max(1);
    let rounds: Vec<&[u32]> = counted.chunks(width).collect();
    let mean = |round: &[u32], of: &dyn Fn(u32) -> f64| {
        round.iter().map(|&burst| of(burst)).sum::<f64>() / round.len() as f64
    };
    let values: Vec<f64> = rounds.iter().map(|round| mean(round, &value)).collect();
    let (place, last) = match stretch(&values, TWICE) {
        Some(place) => (place, None),
        None => rise(&values).map(|[first, last]| (first..values.len(), Some(last)))?,
    };
    let (inside, others) = means_of(&values, &place);
    let work: Vec<f64> =
        rounds.iter().map(|round| mean(round, &|burst| instructions.get(burst as usize).ln())).collect();
    let (work_inside, work_others) = means_of(&work, &place);
    if (work_inside - work_others).abs() > LEAST_APART {
        return None;
    }
    let threads = slow_threads(all, &rounds, &place, 0.5 * (inside - others), &value);
    if 2 * threads.len() <= all.names().len() {
        return None;
    }
    let mut is_slow = vec![false; all.names().len()];
    threads.iter().for_each(|&thread| is_slow[thread as usize] = true);
    let begin = |round: usize| all.begin(rounds[round][0]);
    let n = rounds.len();
    let edge = |round: usize, rises: bool| match last {
        Some(_) => begin(round),
        None => {
            let [before, after] = if rises { [others, inside] } else { [inside, others] };
            // Who is never slow tells no moment.
            let near = counted[round.saturating_sub(1) * width..].iter().take(2 * width).copied();
            let near: Vec<u32> = near.filter(|&burst| is_slow[all.thread(burst) as usize]).collect();
            let own: Vec<f64> = near.iter().map(|&burst| value(burst)).collect();
            let at = change(&own, before, after).min(own.len().saturating_sub(1));
            near.get(at).map_or_else(|| begin(round), |&burst| all.begin(burst))
        }
    };
    let slow = rounds[place.clone()].iter().flat_map(|round| round.iter());
    let time: f64 = slow.map(|&burst| all.duration(burst) as f64).sum();
    let at_end = last.map_or(inside, |last| values[last..].iter().sum::<f64>() / (n - last) as f64);
    Some(Slower {
        labels: kind.labels.clone(),
        from: (place.start > 0).then(|| edge(place.start, true)),
        until: (place.end < n).then(|| edge(place.end, false)),
        period: begin(place.end - 1).saturating_sub(begin(place.start)).0 as f64 / (place.len() - 1) as f64,
        time,
        more: time * (1.0 - (others - inside).exp()),
        times: (at_end - others).exp(),
        by_degrees: last.is_some(),
        threads,
    })
}

/// How many of some values come before those that are about `after`: the others are about `before`.
/// A round of as many bursts as there are threads may have some of two iterations.
fn change(values: &[f64], before: f64, after: f64) -> usize {
    let (mut sum, mut least, mut found) = (0.0, 0.0, 0);
    for (at, value) in values.iter().enumerate() {
        sum += (value - before).powi(2) - (value - after).powi(2);
        if sum < least {
            (least, found) = (sum, at + 1);
        }
    }
    found
}

/// Of a kind that threads do twice or more in a time, and at other times, with the same instructions:
/// how long it takes in that time, and whether it takes longer there for the same instructions.
fn in_time(
    all: &Counted<'_>,
    instructions: &Values,
    kind: &Kind,
    time: Time,
) -> Option<(f64, Option<Slower>)> {
    let counted = counted(instructions, kind);
    let threads = n_threads(all, &counted);
    // Of the other times and of this one: number, ln(instructions), value, its square, and time.
    let mut sums = [[0.0; 5]; 2];
    for &burst in &counted {
        let value = slowness(all, instructions, burst);
        let own =
            [1.0, instructions.get(burst as usize).ln(), value, value * value, all.duration(burst) as f64];
        let sum = &mut sums[usize::from(is_in(all, burst, time))];
        sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }
    if sums.iter().any(|sum| !is_twice(sum[0] as usize, threads)) {
        return None;
    }
    let [others, inside] = sums.map(|sum| [sum[1] / sum[0], sum[2] / sum[0]]);
    if (inside[0] - others[0]).abs() > LEAST_APART {
        return None;
    }
    let within = |sum: &[f64; 5]| (sum[3] / sum[0] - (sum[2] / sum[0]).powi(2)).max(0.0) / sum[0];
    let chance = SURE * sums.iter().map(within).sum::<f64>().sqrt();
    let apart = inside[1] - others[1];
    let time = sums[1][4];
    let slower = (apart > LEAST_APART.max(chance)).then(|| Slower {
        labels: kind.labels.clone(),
        from: None,
        until: None,
        period: 0.0,
        time,
        more: time * (1.0 - (-apart).exp()),
        times: apart.exp(),
        by_degrees: false,
        threads: Vec::new(),
    });
    Some((time, slower))
}

/// The threads whose own mean rises by more than `least` in those rounds.
fn slow_threads(
    all: &Counted<'_>,
    rounds: &[&[u32]],
    place: &Range<usize>,
    least: f64,
    value: &dyn Fn(u32) -> f64,
) -> Vec<u32> {
    let mut sums = vec![[[0.0; 2]; 2]; all.names().len()];
    for (at, &burst) in rounds.iter().enumerate().flat_map(|(at, round)| round.iter().map(move |b| (at, b))) {
        let [sum, n] = &mut sums[all.thread(burst) as usize][usize::from(place.contains(&at))];
        (*sum, *n) = (*sum + value(burst), *n + 1.0);
    }
    let is_slow = |thread: &u32| {
        let [others, inside] = sums[*thread as usize].map(|[sum, n]| sum / n);
        inside - others > least
    };
    (0..sums.len() as u32).filter(is_slow).collect()
}
