//! Why the threads of a step are not done together.

use std::collections::{BTreeMap, BTreeSet};

use super::stretches::{Part, Stretches};
use super::{Cause, Finding, FindingKind, FindingsInput, LEAST_APART, LEAST_SHARE};
use crate::bursts::rates::instructions_and_cycles;
use crate::table::Nanos;

/// The others do less than this share of the one that computes alone.
const ALONE: f64 = 0.1;

/// A step of threads that are apart in two groups has its widest gap over
/// more than this share of the range of ln(time).
const GAP: f64 = 0.5;

/// Costs down to this share of what is told join a finding of the same
/// threads; of smaller ones, phases are not named.
const CANDIDATE: f64 = 0.1;

/// ln(instructions) rises by less than the first of ln(time) where speed is
/// the cause, and by more than the second where work is.
const SLOPES: (f64, f64) = (0.25, 0.75);

/// A thread that is slow over this share of its computing time is so in all
/// phases.
const EVERYWHERE: f64 = 0.9;

/// A phase with less than this share of the time of a step's largest is not
/// named.
const NAMED: f64 = 0.05;

/// Bursts of no phase are named where those of the slowest threads take this
/// share of the cost.
const ODD: f64 = 0.25;

/// A finding, in how many steps of an iteration it is, their labels, and the
/// mean time of the threads it names and of the others.
struct Told {
    finding: Finding,
    steps: usize,
    labels: BTreeSet<u32>,
    times: [f64; 2],
}

impl Told {
    fn one(finding: Finding, step: &Step<'_>, times: [f64; 2]) -> Self {
        let labels = step.parts.iter().flat_map(|part| part.labels.iter().copied()).collect();
        Self { finding, steps: 1, labels, times }
    }
}

/// The parts of one phase.
struct Step<'a> {
    parts: Vec<&'a Part>,
    gain: f64,
    mean: f64,
    /// Time and instructions of each thread; a negative count is unknown.
    times: Vec<f64>,
    instructions: Vec<f64>,
}

/// Where the threads are not done together, and why.
pub(super) fn uneven(
    stretches: &Stretches<'_>,
    parts: &[Part],
    input: &FindingsInput<'_>,
    whole: f64,
) -> Vec<Finding> {
    if stretches.n_threads() < 2 {
        return Vec::new();
    }
    let steps = steps(stretches, parts, input, whole);
    let mut found: Vec<Told> = Vec::new();
    for step in steps.values() {
        let next = finding(stretches, step, whole);
        match found.iter_mut().find(|told| is_same(&told.finding, &next.finding)) {
            Some(same) => merge(same, next),
            None => found.push(next),
        }
    }
    absorb_serial(&mut found);
    for told in &mut found {
        let in_most = told.steps > 1 && is_most(stretches, told);
        if let FindingKind::SlowThreads { everywhere, .. } = &mut told.finding.kind {
            *everywhere = in_most;
        }
    }
    found.into_iter().map(|told| told.finding).collect()
}

/// A thread that is slow in several phases is late there too where the others
/// have gone on already, and then computes alone.
fn absorb_serial(found: &mut Vec<Told>) {
    const SEVERAL: usize = 3;
    let is_slow =
        |told: &Told| matches!(told.finding.kind, FindingKind::SlowThreads { .. }) && told.steps >= SEVERAL;
    let Some(slow) = found.iter().position(is_slow) else { return };
    let mut slow = found.remove(slow);
    let (absorbed, rest): (Vec<Told>, Vec<Told>) = std::mem::take(found).into_iter().partition(|told| {
        matches!(told.finding.kind, FindingKind::Serial { .. })
            && told.finding.threads == slow.finding.threads
            && told.finding.share < slow.finding.share
    });
    absorbed.into_iter().for_each(|told| merge(&mut slow, told));
    *found = rest;
    found.push(slow);
}

/// Whether the steps of a finding are most of what its threads compute.
fn is_most(stretches: &Stretches<'_>, told: &Told) -> bool {
    let (mut inside, mut all) = (0.0, 0.0);
    for &burst in stretches.order() {
        if told.finding.threads.contains(&stretches.names(&[stretches.thread(burst)])[0]) {
            let time = stretches.duration(burst) as f64;
            all += time;
            inside += if told.labels.contains(&stretches.label(burst)) { time } else { 0.0 };
        }
    }
    inside >= EVERYWHERE * all
}

/// The phases whose cost is worth a look, by label.
fn steps<'a>(
    stretches: &Stretches<'_>,
    parts: &'a [Part],
    input: &FindingsInput<'_>,
    whole: f64,
) -> BTreeMap<u32, Step<'a>> {
    let n = stretches.n_threads();
    let mut steps: BTreeMap<u32, Step<'a>> = BTreeMap::new();
    for part in parts {
        let new =
            || Step { parts: Vec::new(), gain: 0.0, mean: 0.0, times: Vec::new(), instructions: Vec::new() };
        let step = steps.entry(part.key).or_insert_with(new);
        step.gain += part.gain;
        step.mean += part.mean;
        step.parts.push(part);
    }
    steps.retain(|_, step| {
        step.gain >= CANDIDATE * LEAST_SHARE * whole && step.gain >= LEAST_APART * step.mean
    });
    for step in steps.values_mut() {
        (step.times, step.instructions) = (vec![0.0; n], vec![0.0; n]);
    }
    let counter = instructions_and_cycles(&input.table.counters)[0];
    let counter = counter.map(|c| &input.table.counters[c].values);
    // Parts are in order of stretches.
    let mut rest = parts;
    for (stretch, bursts) in stretches.each().enumerate() {
        let of_stretch = rest.iter().take_while(|part| part.stretch as usize == stretch).count();
        let (here, after) = rest.split_at(of_stretch);
        rest = after;
        for &burst in bursts {
            let label = stretches.label(burst);
            let Some(part) = here.iter().find(|part| part.labels.contains(&label)) else { continue };
            let Some(step) = steps.get_mut(&part.key) else { continue };
            let thread = stretches.thread(burst) as usize;
            step.times[thread] += stretches.duration(burst) as f64;
            step.instructions[thread] += counter.map_or(f64::NAN, |values| values[burst as usize]);
        }
    }
    steps
}

/// What is to be said of one step.
fn finding(stretches: &Stretches<'_>, step: &Step<'_>, whole: f64) -> Told {
    let n = stretches.n_threads() as f64;
    let dear = step.parts.iter().max_by(|a, b| a.gain.total_cmp(&b.gain).then(b.stretch.cmp(&a.stretch)));
    let dear = dear.expect("a step has a part");
    let mut found = Finding {
        kind: FindingKind::Imbalance { apart: step.gain / step.mean, cause: Cause::Unknown, steady: false },
        share: step.gain / whole,
        phases: Vec::new(),
        noise: false,
        threads: Vec::new(),
        begin: stretches.begin(dear.longest),
        stretches: step.parts.iter().filter(|part| part.gain > 0.0).count() as u64,
    };
    (found.phases, found.noise) = named(stretches, step);
    let costly = || step.parts.iter().filter(|part| part.gain > 0.0);
    let own: f64 = costly().map(|part| part.own).sum();
    let others: f64 = costly().map(|part| stretches.others(part)).sum();
    if others < ALONE * own && step.gain >= 0.5 * own * (1.0 - 1.0 / n) {
        found.kind = FindingKind::Serial { time: Nanos(own as u64) };
        found.threads = stretches.names(&often(step));
        return Told::one(found, step, [0.0; 2]);
    }
    let most = step.times.iter().copied().fold(0.0, f64::max);
    let mean = step.times.iter().sum::<f64>() / n;
    if most - mean < 0.5 * step.gain {
        return Told::one(found, step, [0.0; 2]);
    }
    let cause = cause(step);
    found.kind = FindingKind::Imbalance { apart: step.gain / step.mean, cause, steady: true };
    let Some(slow) = upper_group(&step.times) else {
        let last = (0..step.times.len()).find(|&t| step.times[t] == most).unwrap_or(0);
        found.threads = stretches.names(&[last as u32]);
        return Told::one(found, step, [0.0; 2]);
    };
    found.threads = stretches.names(&slow);
    let slow_time = slow.iter().map(|&t| step.times[t as usize]).sum::<f64>() / slow.len() as f64;
    let rest = (step.times.iter().sum::<f64>() - slow_time * slow.len() as f64) / (n - slow.len() as f64);
    if cause == Cause::Speed && rest > 0.0 {
        let times = slow_time / rest;
        let of_slow = costly().filter(|part| slow.contains(&part.thread));
        found.share = of_slow.map(|part| part.own * (1.0 - 1.0 / times)).sum::<f64>() / whole;
        found.kind = FindingKind::SlowThreads { times, everywhere: false };
    }
    Told::one(found, step, [slow_time, rest])
}

/// The phases of a step, those with most time first, and whether noise is
/// part of it.
fn named(stretches: &Stretches<'_>, step: &Step<'_>) -> (Vec<crate::cluster::ClusterId>, bool) {
    let mut times: BTreeMap<u32, f64> = BTreeMap::new();
    for part in step.parts.iter().filter(|part| part.gain > 0.0) {
        for (&label, time) in part.labels.iter().zip(&part.times) {
            *times.entry(label).or_insert(0.0) += time;
        }
    }
    let most = times.values().copied().fold(0.0, f64::max);
    let mut times: Vec<(u32, f64)> = times.into_iter().filter(|&(_, time)| time >= NAMED * most).collect();
    times.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let odd: f64 = step.parts.iter().filter(|part| part.gain > 0.0).map(|part| part.own_noise).sum();
    let noise = times.iter().any(|&(label, _)| label == stretches.noise()) || odd >= ODD * step.gain;
    (stretches.phases(times.into_iter().map(|(label, _)| label)), noise)
}

/// The threads that are last in most of the cost; none where they are many.
fn often(step: &Step<'_>) -> Vec<u32> {
    let mut gains: BTreeMap<u32, f64> = BTreeMap::new();
    for part in &step.parts {
        *gains.entry(part.thread).or_insert(0.0) += part.gain;
    }
    let often: Vec<u32> =
        gains.iter().filter(|(_, gain)| **gain >= 0.1 * step.gain).map(|(&t, _)| t).collect();
    if often.len() <= 4 { often } else { Vec::new() }
}

/// The threads above the widest gap of ln(time), if that is most of the
/// range and they are at most half.
fn upper_group(times: &[f64]) -> Option<Vec<u32>> {
    let most = times.iter().copied().fold(0.0, f64::max);
    // A thread without the step is far below, but not infinitely.
    let height = |t: usize| times[t].max(1e-3 * most).ln();
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|&a, &b| height(a).total_cmp(&height(b)).then(a.cmp(&b)));
    let range = height(order[order.len() - 1]) - height(order[0]);
    let gap = |at: usize| height(order[at]) - height(order[at - 1]);
    let widest = (1..order.len()).max_by(|&a, &b| gap(a).total_cmp(&gap(b)).then(b.cmp(&a)))?;
    let mut upper: Vec<u32> = order[widest..].iter().map(|&t| t as u32).collect();
    upper.sort_unstable();
    (gap(widest) > GAP * range && 2 * upper.len() <= times.len()).then_some(upper)
}

/// Whether more instructions, or more time for each, make threads take longer.
fn cause(step: &Step<'_>) -> Cause {
    let pairs: Vec<(f64, f64)> = (step.times.iter().zip(&step.instructions))
        .filter(|&(&time, &instructions)| time > 0.0 && instructions > 0.0)
        .map(|(time, instructions)| (time.ln(), instructions.ln()))
        .collect();
    // All threads that compute have the count, or nothing is said.
    if pairs.len() < 2 || pairs.len() < step.times.iter().filter(|&&time| time > 0.0).count() {
        return Cause::Unknown;
    }
    let n = pairs.len() as f64;
    let (x, y) = (pairs.iter().map(|p| p.0).sum::<f64>() / n, pairs.iter().map(|p| p.1).sum::<f64>() / n);
    let spread: f64 = pairs.iter().map(|p| (p.0 - x).powi(2)).sum();
    let together: f64 = pairs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    match together / spread {
        slope if slope.is_nan() => Cause::Unknown,
        slope if slope.abs() <= SLOPES.0 => Cause::Speed,
        slope if slope >= SLOPES.1 => Cause::Work,
        _ => Cause::Both,
    }
}

/// Whether two findings are of the same threads, and of one kind or phase.
fn is_same(a: &Finding, b: &Finding) -> bool {
    let is_serial = |f: &Finding| matches!(f.kind, FindingKind::Serial { .. });
    let one_kind = is_serial(a) == is_serial(b);
    !a.threads.is_empty()
        && a.threads == b.threads
        && (one_kind || a.phases.iter().any(|phase| b.phases.contains(phase)))
}

/// Both lists as one, where a long burst of a thread that is told to compute
/// alone is part of that.
pub(super) fn without_serial(one_offs: Vec<Finding>, mut uneven: Vec<Finding>) -> Vec<Finding> {
    let mut list = Vec::new();
    for finding in one_offs {
        let serial = uneven
            .iter_mut()
            .find(|f| matches!(f.kind, FindingKind::Serial { .. }) && f.threads == finding.threads);
        match (serial, finding.kind) {
            (Some(serial), FindingKind::OneOff { duration, others: None }) => {
                serial.share += finding.share;
                serial.noise = true;
                if let FindingKind::Serial { time } = &mut serial.kind {
                    *time = time.saturating_add(duration);
                }
            }
            _ => list.push(finding),
        }
    }
    list.extend(uneven);
    list
}

/// Adds what costs less to what costs more: it is told as one, of the larger's
/// kind.
fn merge(told: &mut Told, mut more: Told) {
    if more.finding.share > told.finding.share {
        std::mem::swap(told, &mut more);
    }
    told.steps += more.steps;
    told.labels.extend(&more.labels);
    let (found, other) = (&mut told.finding, more.finding);
    let mean = |f: &Finding| match f.kind {
        FindingKind::Imbalance { apart, .. } => f.share / apart,
        _ => 0.0,
    };
    let means = mean(found) + mean(&other);
    let new = other.phases.iter().filter(|phase| !found.phases.contains(phase)).copied().collect::<Vec<_>>();
    if other.share >= CANDIDATE * found.share {
        found.phases.extend(new);
    }
    found.share += other.share;
    found.noise |= other.noise;
    found.stretches = found.stretches.max(other.stretches);
    match (&mut found.kind, other.kind) {
        (FindingKind::Imbalance { apart, cause, .. }, FindingKind::Imbalance { cause: second, .. }) => {
            *apart = found.share / means;
            *cause = if *cause == second { second } else { Cause::Both };
        }
        (FindingKind::Imbalance { cause, .. }, FindingKind::SlowThreads { .. }) if *cause != Cause::Speed => {
            *cause = Cause::Both;
        }
        (FindingKind::SlowThreads { times, .. }, FindingKind::SlowThreads { .. }) => {
            let [slow, rest] = [0, 1].map(|i| told.times[i] + more.times[i]);
            told.times = [slow, rest];
            *times = slow / rest;
        }
        (FindingKind::Serial { time }, FindingKind::Serial { time: second }) => {
            *time = time.saturating_add(second);
        }
        _ => {}
    }
}
