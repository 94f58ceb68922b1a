//! What all threads, or most of them, take longer over in one stretch of time.
//!
//! Who is compared is the same thread at another time, so a slowdown of the
//! whole machine is seen, which leaves no thread behind the others.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;

use super::causes::EVERYWHERE;
use super::counted::Counted;
use super::finding::{Finding, FindingKind, LEAST_APART};
use super::since::{FEWEST, means_of, rise, stretch};
use crate::bursts::rates::instructions_and_cycles;
use crate::bursts::serial::Scope;
use crate::table::{Nanos, Values};

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
pub(super) fn is_known(all: &Counted<'_>) -> bool {
    let counters = &all.table.counters;
    let Some(counter) = instructions_and_cycles(counters)[0] else { return false };
    let values = &counters[counter].values;
    let mut times = [0.0; 2];
    for &burst in &all.order {
        times[usize::from(values.get(burst as usize) > 0.0)] += all.duration(burst) as f64;
    }
    times[1] >= times[0]
}

/// The slowdown that costs most: more than half of the threads take longer for the
/// same instructions in one stretch of time. All phases that are slow in that time
/// belong to it.
pub(super) fn slower(all: &Counted<'_>, whole: f64) -> Option<Finding> {
    let counters = &all.table.counters;
    let instructions = &counters[instructions_and_cycles(counters)[0]?].values;
    let found: Vec<Slower> =
        kinds(all, instructions).par_iter().filter_map(|kind| one(all, instructions, kind)).collect();
    let worst = found.iter().max_by(|a, b| a.more.total_cmp(&b.more))?;
    let is_near = |a: Option<Nanos>, b: Option<Nanos>, within: f64| match (a, b) {
        (Some(a), Some(b)) => a.0.abs_diff(b.0) as f64 <= within,
        (a, b) => a == b,
    };
    let mut same: Vec<&Slower> = (found.iter())
        .filter(|s| {
            let within = s.period.max(worst.period);
            // Where it begins, and by how much, is not the same to each phase that becomes slower.
            if s.by_degrees || worst.by_degrees {
                return s.by_degrees == worst.by_degrees;
            }
            is_near(s.from, worst.from, within) && is_near(s.until, worst.until, within)
        })
        .collect();
    same.sort_by(|a, b| b.time.total_cmp(&a.time).then(a.labels.cmp(&b.labels)));
    let sum = |of: &dyn Fn(&Slower) -> f64| same.iter().map(|s| of(s)).sum::<f64>();
    let (time, more) = (sum(&|s| s.time), sum(&|s| s.more));
    let from = same.iter().filter_map(|s| s.from).min();
    let until = same.iter().filter_map(|s| s.until).min();
    let is_within = |burst: &u32| {
        let at = all.begin(*burst);
        from.is_none_or(|from| at >= from) && until.is_none_or(|until| at < until)
    };
    let computed: f64 = all.order.iter().copied().filter(is_within).map(|b| all.duration(b) as f64).sum();
    let everywhere = same.len() > 1 && time >= EVERYWHERE * computed;
    // Two phases of another loop may have the same instructions by chance, and
    // so hardly all that is computed.
    if !everywhere && same.iter().any(|s| s.labels.len() > 1) {
        return None;
    }
    let threads = &worst.threads;
    let times = if worst.by_degrees {
        same.iter().map(|s| s.time * s.times).sum::<f64>() / time
    } else {
        time / (time - more)
    };
    Some(Finding {
        kind: FindingKind::Slower { times, everywhere, by_degrees: worst.by_degrees },
        share: more / all.names().len() as f64 / whole,
        scope: Scope::Run,
        phases: all.phases(same.iter().flat_map(|s| s.labels.iter().copied())),
        noise: false,
        threads: threads.iter().map(|&thread| all.names()[thread as usize]).collect(),
        gradient: None,
        from,
        until,
        begin: from.unwrap_or(all.begin(all.order[0])),
        most: 0.0,
        before: Nanos::ZERO,
        behind: Nanos::ZERO,
        stretches: 0,
        is_once: false,
        at_other_times: false,
    })
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
        (middle(bursts, &|b| all.duration(b) as f64), label, work)
    };
    let mut by_time: Vec<(f64, u32, f64)> =
        by_label.par_iter().map(measure).filter(|(.., work)| work.is_finite()).collect();
    by_time.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut kinds: Vec<Kind> = Vec::new();
    let mut taken = vec![false; all.n_labels()];
    for (at, &(_, label, own)) in by_time.iter().enumerate() {
        if taken[label as usize] {
            continue;
        }
        let near = by_time[at + 1..].iter().filter(|(.., work)| (work - own).abs() <= LEAST_APART);
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
    kinds
}

/// Of each phase that most threads do often enough, its bursts.
fn often(all: &Counted<'_>) -> BTreeMap<u32, Vec<u32>> {
    let n_threads = all.names().len();
    let counts = all.threads_by_label();
    let mut by_label: BTreeMap<u32, Vec<u32>> = (0..).zip(all.bursts_by_label()).collect();
    by_label.retain(|&label, bursts| {
        let threads = counts[label as usize];
        2 * threads > n_threads && bursts.len() >= FEWEST * threads
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

/// When a kind takes longer for the same instructions, and by how much.
fn one(all: &Counted<'_>, instructions: &Values, kind: &Kind) -> Option<Slower> {
    let n_threads = all.names().len();
    let counted: Vec<u32> =
        kind.bursts.iter().copied().filter(|&burst| instructions.get(burst as usize) > 0.0).collect();
    let value = |burst: u32| (all.duration(burst) as f64 / instructions.get(burst as usize)).ln();
    let mut is_of_kind = vec![false; n_threads];
    counted.iter().for_each(|&burst| is_of_kind[all.thread(burst) as usize] = true);
    let n_of_kind = is_of_kind.into_iter().filter(|&is_one| is_one).count();
    let rounds: Vec<&[u32]> = counted.chunks(n_of_kind.max(1)).collect();
    let mean = |round: &[u32], of: &dyn Fn(u32) -> f64| {
        round.iter().map(|&burst| of(burst)).sum::<f64>() / round.len() as f64
    };
    let values: Vec<f64> = rounds.iter().map(|round| mean(round, &value)).collect();
    let (place, last) = match stretch(&values) {
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
    if 2 * threads.len() <= n_threads {
        return None;
    }
    let begin = |round: usize| all.begin(rounds[round][0]);
    let n = rounds.len();
    let slow = rounds[place.clone()].iter().flat_map(|round| round.iter());
    let time: f64 = slow.map(|&burst| all.duration(burst) as f64).sum();
    let at_end = last.map_or(inside, |last| values[last..].iter().sum::<f64>() / (n - last) as f64);
    Some(Slower {
        labels: kind.labels.clone(),
        from: (place.start > 0).then(|| begin(place.start)),
        until: (place.end < n).then(|| begin(place.end)),
        period: begin(place.end - 1).saturating_sub(begin(place.start)).0 as f64 / (place.len() - 1) as f64,
        time,
        more: time * (1.0 - (others - inside).exp()),
        times: (at_end - others).exp(),
        by_degrees: last.is_some(),
        threads,
    })
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
