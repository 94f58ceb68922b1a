//! Why the threads of a step are not done together.

use std::collections::{BTreeMap, BTreeSet};

use super::shape::{Shape, above_mean, by_chance, cause, ends, ratio, shape};
use super::stretches::{Part, Stretches};
use super::{Cause, Finding, FindingKind, Gradient, LEAST_APART, LEAST_SHARE, ThreadName};
use crate::bursts::rates::instructions_and_cycles;
use crate::bursts::serial::{Scope, is_nearly_all};
use crate::cluster::ClusterId;
use crate::table::Nanos;

/// Costs down to this share of what is told join a finding of the same
/// threads; of smaller ones, phases are not named.
const CANDIDATE: f64 = 0.1;

/// One computes alone in a step if balance would win this share of what that
/// would win if all others waited.
const WAITED: f64 = 0.5;

/// The same are last each time if, in sums over the run, the last is as far
/// from the mean as this share of what it is in each stretch.
const STEADY: f64 = 0.5;

/// Where the last of each stretch is another, it must compute for this share
/// of the stretch, or something else decides how long that takes.
const DECIDES: f64 = 0.5;

/// Threads are slow from a moment on if there are so many steps on either side ...
const FEWEST: usize = 4;

/// ... and the squares between are so many times the variance within: four
/// standard errors, as the best of all moments is taken.
const SURE: f64 = 16.0;

/// A thread that is slow over this share of its computing time is so in all
/// phases.
const EVERYWHERE: f64 = 0.9;

/// A phase with less than this share of the time of a step's largest is not
/// named.
const NAMED: f64 = 0.05;

/// A thread that is last in less than this share of what the first costs by
/// computing alone is not named.
const OFTEN: f64 = 0.1;

/// Bursts of no phase are named where those of the slowest threads take this
/// share of the cost.
const ODD: f64 = 0.25;

/// A finding, in how many steps of an iteration it is, their labels, the units
/// that it names, and the time of each unit.
struct Told {
    finding: Finding,
    steps: usize,
    labels: BTreeSet<u32>,
    units: Vec<u32>,
    times: Vec<f64>,
}

/// The parts of one phase.
struct Step<'a> {
    parts: Vec<&'a Part>,
    gain: f64,
    mean: f64,
    /// Time and instructions of each unit; a negative count is unknown.
    times: Vec<f64>,
    instructions: Vec<f64>,
}

impl<'a> Step<'a> {
    fn of(stretches: &Stretches<'_>, parts: Vec<&'a Part>) -> Self {
        let n = stretches.n_units();
        let (mut times, mut instructions) = (vec![0.0; n], vec![0.0; n]);
        let counters = &stretches.all.table.counters;
        let counter = instructions_and_cycles(counters)[0].map(|c| &counters[c].values);
        for burst in parts.iter().flat_map(|part| stretches.bursts(part)) {
            let unit = stretches.unit(burst) as usize;
            times[unit] += stretches.all.duration(burst) as f64;
            instructions[unit] += counter.map_or(f64::NAN, |values| values[burst as usize]);
        }
        let (gain, mean) = parts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.gain, sum.1 + part.mean));
        Self { parts, gain, mean, times, instructions }
    }

    fn costly(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().copied().filter(|part| part.gain > 0.0)
    }

    /// Whether the same units are last each time.
    fn is_steady(&self, stretches: &Stretches<'_>) -> bool {
        above_mean(stretches, &self.times) >= STEADY * self.gain
    }

    /// Whether the last is later than chance makes the last of so many, in
    /// sums over the run where it is the same each time, and in each stretch
    /// where it is not.
    ///
    /// Where it is not the same, and the stretches take far longer than the
    /// last computes, the units wait for one another in turn as in a
    /// pipeline; more even work would win nothing.
    fn is_uneven(&self, stretches: &Stretches<'_>) -> bool {
        let n = self.parts.iter().map(|part| part.n).fold(0.0, f64::max);
        let squares: f64 = self.parts.iter().map(|part| part.mean * part.mean).sum();
        if self.is_steady(stretches) {
            let bursts = self.mean * self.mean / squares / stretches.n_groups() as f64;
            return above_mean(stretches, &self.times).min(self.gain) >= by_chance(n, bursts) * self.mean;
        }
        let [most, wall] = self
            .costly()
            .fold([0.0; 2], |sum, part| [sum[0] + part.gain * part.most, sum[1] + part.gain * part.wall]);
        self.gain >= by_chance(n, 1.0) * self.mean && most >= DECIDES * wall
    }
}

/// Where the units are not done together, and why.
pub(super) fn uneven(stretches: &Stretches<'_>, parts: &[Part], whole: f64, scope: Scope) -> Vec<Finding> {
    if stretches.n_units() < 2 {
        return Vec::new();
    }
    let steps = steps(stretches, parts, whole);
    let mut found: Vec<Told> = Vec::new();
    for step in steps {
        let next = told(stretches, &step, whole, scope);
        match found.iter_mut().find(|told| is_same(&told.finding, &next.finding)) {
            Some(same) => merge(same, next),
            None => found.push(next),
        }
    }
    found.iter_mut().for_each(|told| complete(stretches, told));
    found.into_iter().map(|told| told.finding).collect()
}

/// What is known only of all steps of a finding together.
fn complete(stretches: &Stretches<'_>, told: &mut Told) {
    let time = |unit: u32| told.times[unit as usize];
    if let Some(gradient) = &mut told.finding.gradient {
        let (least, most) = ends(&told.times);
        gradient.least = stretches.names(&[least], &told.labels);
        (gradient.least_time, gradient.most_time) = (Nanos(time(least) as u64), Nanos(time(most) as u64));
    }
    let in_all = told.steps > 1 && is_most(stretches, told);
    let factor = ratio(stretches, &told.times, &told.units);
    match &mut told.finding.kind {
        FindingKind::SlowThreads { times, everywhere, .. } => (*times, *everywhere) = (factor, in_all),
        FindingKind::Imbalance { times: Some(times), .. } => *times = factor,
        _ => {}
    }
}

/// Whether the steps of a finding are most of what its threads compute.
fn is_most(stretches: &Stretches<'_>, told: &Told) -> bool {
    let (mut inside, mut all) = (0.0, 0.0);
    for &burst in stretches.order() {
        if told.units.contains(&stretches.unit(burst)) {
            let time = stretches.all.duration(burst) as f64;
            all += time;
            inside += if told.labels.contains(&stretches.all.label(burst)) { time } else { 0.0 };
        }
    }
    inside >= EVERYWHERE * all
}

/// The phases whose cost is worth a look, and more than chance.
fn steps<'a>(stretches: &Stretches<'_>, parts: &'a [Part], whole: f64) -> Vec<Step<'a>> {
    let mut by_key: BTreeMap<u32, Vec<&Part>> = BTreeMap::new();
    parts.iter().for_each(|part| by_key.entry(part.key).or_default().push(part));
    // Phases that are done instead of one another, now more of one and now of
    // the other, are one step.
    let mut found: Vec<(Vec<ClusterId>, Vec<&Part>)> = Vec::new();
    for parts in by_key.into_values() {
        if parts.iter().map(|part| part.gain).sum::<f64>() < CANDIDATE * LEAST_SHARE * whole {
            continue;
        }
        let mut phases = named(stretches, &parts).0;
        phases.sort_unstable();
        match found.iter_mut().find(|(other, _)| phases.len() > 1 && *other == phases) {
            Some((_, same)) => same.extend(parts),
            None => found.push((phases, parts)),
        }
    }
    let mut steps: Vec<Step<'_>> = found.into_iter().map(|(_, parts)| Step::of(stretches, parts)).collect();
    steps.retain(|step| step.is_uneven(stretches));
    steps
}

/// What is to be said of one step.
fn told(stretches: &Stretches<'_>, step: &Step<'_>, whole: f64, scope: Scope) -> Told {
    let dear = step.parts.iter().max_by(|a, b| a.gain.total_cmp(&b.gain).then(b.stretch.cmp(&a.stretch)));
    let dear = dear.expect("a step has a part");
    let labels = step.parts.iter().flat_map(|part| part.labels.iter().copied()).collect();
    let (phases, noise) = named(stretches, &step.parts);
    let apart = step.gain / step.mean;
    let mut finding = Finding {
        kind: FindingKind::Imbalance { apart, cause: Cause::Unknown, steady: false, times: None },
        share: step.gain / whole,
        scope,
        phases,
        noise,
        threads: Vec::new(),
        gradient: None,
        begin: stretches.all.begin(dear.longest),
        stretches: step.costly().count() as u64,
    };
    let (mut units, mut times) = (Vec::new(), step.times.clone());
    if is_serial(step) {
        units = often(step);
        finding.threads = stretches.names(&units, &labels);
        finding.kind = FindingKind::Serial { time: serial_time(step, &finding.threads, scope) };
        finding.share = step.costly().map(|part| part.own * (1.0 - 1.0 / part.n)).sum::<f64>() / whole;
    } else if step.is_steady(stretches) {
        let cause = cause(stretches, &step.times, &step.instructions);
        let shape = shape(stretches, &step.times);
        units = match &shape {
            Shape::Late(units) | Shape::Early(units) => units.clone(),
            // One of all threads says nothing of the threads of a task.
            _ if scope == Scope::Task => Vec::new(),
            _ => vec![ends(&step.times).1],
        };
        finding.threads = stretches.names(&units, &labels);
        let less = matches!(shape, Shape::Early(_)).then(|| ratio(stretches, &step.times, &units));
        finding.kind = FindingKind::Imbalance { apart, cause, steady: true, times: less };
        if matches!(shape, Shape::Gradient) {
            let empty = Gradient { least: Vec::new(), least_time: Nanos::ZERO, most_time: Nanos::ZERO };
            finding.gradient = Some(empty);
        } else if matches!(shape, Shape::Late(_)) && cause == Cause::Speed {
            let (slow, from, until) = while_slow(stretches, step, &units);
            let factor = ratio(stretches, &slow.times, &units);
            if factor.is_finite() {
                let last = slow.costly().filter(|part| units.contains(&part.unit));
                finding.share = last.map(|part| part.own * (1.0 - 1.0 / factor)).sum::<f64>() / whole;
                finding.kind = FindingKind::SlowThreads { times: factor, everywhere: false, from, until };
                times = slow.times;
            }
        }
    }
    Told { finding, steps: 1, labels, units, times }
}

/// The parts of a step in which those units are slow, and from and until when,
/// if not in all of the run: where the mean of ln(their time over that of the
/// others) changes most, if they are as fast as the others on one side. Who
/// becomes slower little by little is slow in all of the run.
fn while_slow<'a>(
    stretches: &Stretches<'_>,
    step: &Step<'a>,
    units: &[u32],
) -> (Step<'a>, Option<Nanos>, Option<Nanos>) {
    let begin = |part: &Part| stretches.bursts(part).map(|burst| stretches.all.begin(burst)).min();
    let slowness = |part: &&'a Part| {
        let one = Step::of(stretches, vec![part]);
        let factor = ratio(stretches, &one.times, units).ln();
        factor.is_finite().then_some((begin(part)?, factor, *part))
    };
    let mut parts: Vec<(Nanos, f64, &Part)> = step.parts.iter().filter_map(slowness).collect();
    parts.sort_by_key(|&(begin, ..)| begin);
    let n = parts.len();
    let (sum, squares) = parts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.1, sum.1 + part.1 * part.1));
    let (mut best, mut before) = ((0.0, 0, 0.0, 0.0), 0.0);
    for (at, part) in parts.iter().enumerate() {
        let (left, right) = (at as f64, (n - at) as f64);
        let (first, second) = (before / left, (sum - before) / right);
        let between = left * right / n as f64 * (second - first) * (second - first);
        if at >= FEWEST && n - at >= FEWEST && between > best.0 {
            best = (between, at, first, second);
        }
        before += part.1;
    }
    let (between, at, first, second) = best;
    let within = (squares - sum * sum / n as f64 - between).max(0.0) / n as f64;
    let changes = at > 0
        && first.min(second) <= LEAST_APART
        && first.max(second) > LEAST_APART
        && between >= SURE * within;
    let of =
        |parts: &[(Nanos, f64, &'a Part)]| Step::of(stretches, parts.iter().map(|part| part.2).collect());
    match changes {
        true if second > first => (of(&parts[at..]), Some(parts[at].0), None),
        true => (of(&parts[..at]), None, Some(parts[at].0)),
        false => (Step::of(stretches, step.parts.clone()), None, None),
    }
}

/// Whether nearly all that a unit takes longer than the others is all that it
/// takes, and they wait for it: of two that take turns, neither waits.
///
/// What else runs at that moment does not matter: others that still finish the
/// step before it are about to wait, too.
fn is_serial(step: &Step<'_>) -> bool {
    let [own, others, waited] = step.costly().fold([0.0; 3], |sum, part| {
        [sum[0] + part.own, sum[1] + part.others(), sum[2] + part.own * (1.0 - 1.0 / part.n)]
    });
    is_nearly_all(own - others, own) && step.gain >= WAITED * waited
}

/// How long one unit alone computes; of the threads of each task, per task.
fn serial_time(step: &Step<'_>, threads: &[ThreadName], scope: Scope) -> Nanos {
    let own: f64 = step.costly().map(|part| part.own).sum();
    let tasks = threads.chunk_by(|a, b| a.task == b.task).count().max(1);
    Nanos(if scope == Scope::Task { own / tasks as f64 } else { own } as u64)
}

/// The phases of a step, those with most time first, and whether noise is
/// part of it.
fn named(stretches: &Stretches<'_>, parts: &[&Part]) -> (Vec<ClusterId>, bool) {
    let costly = || parts.iter().filter(|part| part.gain > 0.0);
    let gain: f64 = costly().map(|part| part.gain).sum();
    let mut times: BTreeMap<u32, f64> = BTreeMap::new();
    for part in costly() {
        for (&label, time) in part.labels.iter().zip(&part.times) {
            *times.entry(label).or_insert(0.0) += time;
        }
    }
    let most = times.values().copied().fold(0.0, f64::max);
    let mut times: Vec<(u32, f64)> = times.into_iter().filter(|&(_, time)| time >= NAMED * most).collect();
    times.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let odd: f64 = costly().map(|part| part.own_noise).sum();
    let noise = times.iter().any(|&(label, _)| label == stretches.all.noise()) || odd >= ODD * gain;
    (stretches.all.phases(times.into_iter().map(|(label, _)| label)), noise)
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

/// Whether two findings are of the same threads, and of one kind or phase.
fn is_same(a: &Finding, b: &Finding) -> bool {
    let is_serial = |f: &Finding| matches!(f.kind, FindingKind::Serial { .. });
    let takes_less = |f: &Finding| matches!(f.kind, FindingKind::Imbalance { times: Some(_), .. });
    let one_kind = is_serial(a) == is_serial(b);
    !a.threads.is_empty()
        && a.threads == b.threads
        && takes_less(a) == takes_less(b)
        && (one_kind || a.phases.iter().any(|phase| b.phases.contains(phase)))
}

/// Takes those long bursts out that are of a thread that is told to compute
/// alone: they are part of that. `n` threads could share them.
pub(super) fn without_serial(
    one_offs: Vec<Finding>,
    mut uneven: Vec<Finding>,
    whole: f64,
    n: usize,
) -> (Vec<Finding>, Vec<Finding>) {
    let mut rest = Vec::new();
    for finding in one_offs {
        let is_alone = matches!(finding.kind, FindingKind::OneOff { others: None, .. });
        let same = uneven.iter_mut().find(|f| is_alone && f.threads == finding.threads);
        match same.map(|serial| (&mut serial.kind, &mut serial.share, &mut serial.noise)) {
            Some((FindingKind::Serial { time }, share, noise)) => {
                *time = time.saturating_add(Nanos((finding.share * whole) as u64));
                *share += finding.share * (1.0 - 1.0 / n as f64);
                *noise = true;
            }
            _ => rest.push(finding),
        }
    }
    (rest, uneven)
}

/// What is lost between tasks, and inside of them: as one where it is the
/// same threads and phases.
pub(super) fn together(mut of_run: Vec<Finding>, of_tasks: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut alone = Vec::new();
    for mut next in of_tasks {
        match of_run.iter_mut().find(|found| is_same(found, &next)) {
            Some(found) => {
                if next.share > found.share {
                    std::mem::swap(found, &mut next);
                }
                add(found, &next);
            }
            None => alone.push(next),
        }
    }
    of_run.extend(alone);
    of_run
}

/// Adds the share of what costs less, and its phases unless that is little.
fn add(found: &mut Finding, other: &Finding) {
    if other.share >= CANDIDATE * found.share {
        let new = other.phases.iter().filter(|phase| !found.phases.contains(phase));
        let new: Vec<_> = new.copied().collect();
        found.phases.extend(new);
    }
    found.share += other.share;
    found.noise |= other.noise;
    found.stretches = found.stretches.max(other.stretches);
}

/// Adds what costs less to what costs more: it is told as one, of the larger's
/// kind.
fn merge(told: &mut Told, mut more: Told) {
    if more.finding.share > told.finding.share {
        std::mem::swap(told, &mut more);
    }
    told.steps += more.steps;
    told.labels.extend(&more.labels);
    let mean = |f: &Finding| match f.kind {
        FindingKind::Imbalance { apart, .. } => f.share / apart,
        _ => 0.0,
    };
    let (found, other) = (&mut told.finding, more.finding);
    let means = mean(found) + mean(&other);
    add(found, &other);
    match (&mut found.kind, other.kind) {
        (FindingKind::Imbalance { apart, cause, .. }, FindingKind::Imbalance { cause: second, .. }) => {
            *apart = found.share / means;
            *cause = if *cause == second { second } else { Cause::Both };
        }
        (FindingKind::Imbalance { cause, .. }, FindingKind::SlowThreads { .. }) if *cause != Cause::Speed => {
            *cause = Cause::Both;
        }
        (FindingKind::Serial { time }, FindingKind::Serial { time: second }) => {
            *time = time.saturating_add(second);
        }
        (
            FindingKind::SlowThreads { from, until, .. },
            FindingKind::SlowThreads { from: other_from, until: other_until, .. },
        ) => {
            *from = from.map(|from| other_from.map_or(from, |other| from.min(other)));
            *until = until.map(|until| other_until.map_or(until, |other| until.max(other)));
        }
        _ => {}
    }
    // Of other kinds, the times are no part of what is said.
    if std::mem::discriminant(&found.kind) == std::mem::discriminant(&other.kind) {
        told.times.iter_mut().zip(more.times).for_each(|(time, more)| *time += more);
    }
}
