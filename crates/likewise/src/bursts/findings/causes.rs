//! Why the threads of a step are not done together.

use std::collections::{BTreeMap, BTreeSet};

use super::stretches::{Part, Stretches};
use super::{Cause, Finding, FindingKind, Gradient, LEAST_APART, LEAST_SHARE, ThreadName};
use crate::bursts::rates::instructions_and_cycles;
use crate::bursts::serial::{Scope, is_nearly_all};
use crate::table::Nanos;

/// A step of threads that are apart in two groups has its widest gap over
/// more than this share of the range of ln(time).
const GAP: f64 = 0.5;

/// Costs down to this share of what is told join a finding of the same
/// threads; of smaller ones, phases are not named.
const CANDIDATE: f64 = 0.1;

/// ln(instructions) over ln(time) has a slope within this of 0 where speed is
/// the cause, and of at least 1 less this where work is.
const SLOPE: f64 = 0.25;

/// One computes alone in a step if balance would win this share of what that
/// would win if all others waited.
const WAITED: f64 = 0.5;

/// The same are last each time if, in sums over the run, the last is as far
/// from the mean as this share of what it is in each stretch.
const STEADY: f64 = 0.5;

/// A thread that is slow over this share of its computing time is so in all
/// phases.
const EVERYWHERE: f64 = 0.9;

/// A phase with less than this share of the time of a step's largest is not
/// named.
const NAMED: f64 = 0.05;

/// So few units do not tell a gradient from anything else.
const LEAST_UNITS: usize = 4;

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

impl Step<'_> {
    fn costly(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().copied().filter(|part| part.gain > 0.0)
    }
}

/// Where the units are not done together, and why.
pub(super) fn uneven(stretches: &Stretches<'_>, parts: &[Part], whole: f64, scope: Scope) -> Vec<Finding> {
    if stretches.n_units() < 2 {
        return Vec::new();
    }
    let steps = steps(stretches, parts, whole);
    let mut found: Vec<Told> = Vec::new();
    for step in steps.values() {
        let next = told(stretches, step, whole, scope);
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
    if let FindingKind::SlowThreads { times, everywhere } = &mut told.finding.kind {
        *times = ratio(stretches, &told.times, &told.units);
        *everywhere = in_all;
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

/// The phases whose cost is worth a look, by label.
fn steps<'a>(stretches: &Stretches<'_>, parts: &'a [Part], whole: f64) -> BTreeMap<u32, Step<'a>> {
    let n = stretches.n_units();
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
    let counter = instructions_and_cycles(&stretches.all.table.counters)[0];
    let counter = counter.map(|c| &stretches.all.table.counters[c].values);
    // Parts are in order of stretches.
    let mut rest = parts;
    for (stretch, bursts) in stretches.each().enumerate() {
        let of_stretch = rest.iter().take_while(|part| part.stretch as usize == stretch).count();
        let (here, after) = rest.split_at(of_stretch);
        rest = after;
        for &burst in bursts {
            let label = stretches.all.label(burst);
            let Some(part) = here.iter().find(|part| part.labels.contains(&label)) else { continue };
            let Some(step) = steps.get_mut(&part.key) else { continue };
            let unit = stretches.unit(burst) as usize;
            step.times[unit] += stretches.all.duration(burst) as f64;
            step.instructions[unit] += counter.map_or(f64::NAN, |values| values[burst as usize]);
        }
    }
    steps
}

/// What is to be said of one step.
fn told(stretches: &Stretches<'_>, step: &Step<'_>, whole: f64, scope: Scope) -> Told {
    let dear = step.parts.iter().max_by(|a, b| a.gain.total_cmp(&b.gain).then(b.stretch.cmp(&a.stretch)));
    let dear = dear.expect("a step has a part");
    let labels = step.parts.iter().flat_map(|part| part.labels.iter().copied()).collect();
    let (phases, noise) = named(stretches, step);
    let apart = step.gain / step.mean;
    let mut finding = Finding {
        kind: FindingKind::Imbalance { apart, cause: Cause::Unknown, steady: false },
        share: step.gain / whole,
        scope,
        phases,
        noise,
        threads: Vec::new(),
        gradient: None,
        begin: stretches.all.begin(dear.longest),
        stretches: step.costly().count() as u64,
    };
    let mut units = Vec::new();
    if is_serial(step) {
        units = often(step);
        finding.threads = stretches.names(&units, &labels);
        finding.kind = FindingKind::Serial { time: serial_time(step, &finding.threads, scope) };
    } else if is_steady(stretches, step) {
        let cause = cause(stretches, step);
        finding.kind = FindingKind::Imbalance { apart, cause, steady: true };
        let shape = shape(stretches, &step.times);
        units = match &shape {
            Shape::Late(late) => late.clone(),
            // One of all threads says nothing of the threads of a task.
            _ if scope == Scope::Task => Vec::new(),
            _ => vec![ends(&step.times).1],
        };
        finding.threads = stretches.names(&units, &labels);
        let times = ratio(stretches, &step.times, &units);
        if matches!(shape, Shape::Gradient) {
            let empty = Gradient { least: Vec::new(), least_time: Nanos::ZERO, most_time: Nanos::ZERO };
            finding.gradient = Some(empty);
        } else if matches!(shape, Shape::Late(_)) && cause == Cause::Speed && times.is_finite() {
            let slow = step.costly().filter(|part| units.contains(&part.unit));
            finding.share = slow.map(|part| part.own * (1.0 - 1.0 / times)).sum::<f64>() / whole;
            finding.kind = FindingKind::SlowThreads { times, everywhere: false };
        }
    }
    Told { finding, steps: 1, labels, units, times: step.times.clone() }
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

/// Whether the same units are last each time.
fn is_steady(stretches: &Stretches<'_>, step: &Step<'_>) -> bool {
    let mut most = vec![0.0f64; stretches.n_groups()];
    for (unit, &time) in step.times.iter().enumerate() {
        let most = &mut most[stretches.group_of(unit as u32)];
        *most = most.max(time);
    }
    let apart: f64 = most.iter().zip(means(stretches, &step.times)).map(|(most, mean)| most - mean).sum();
    apart >= STEADY * step.gain
}

/// Of each group, the mean over its units.
fn means(stretches: &Stretches<'_>, times: &[f64]) -> Vec<f64> {
    let mut sums = vec![[0.0; 2]; stretches.n_groups()];
    for (unit, &time) in times.iter().enumerate() {
        let [sum, n] = &mut sums[stretches.group_of(unit as u32)];
        (*sum, *n) = (*sum + time, *n + 1.0);
    }
    sums.into_iter().map(|[sum, n]| sum / n).collect()
}

/// The units with least and with most time.
fn ends(times: &[f64]) -> (u32, u32) {
    let by_time = |&a: &usize, &b: &usize| times[a].total_cmp(&times[b]).then(b.cmp(&a));
    let least = (0..times.len()).min_by(|a, b| times[*a].total_cmp(&times[*b]).then(a.cmp(b)));
    let most = (0..times.len()).max_by(by_time);
    (least.unwrap_or(0) as u32, most.unwrap_or(0) as u32)
}

/// Mean time of those units over that of the others of their groups.
fn ratio(stretches: &Stretches<'_>, times: &[f64], units: &[u32]) -> f64 {
    let groups: BTreeSet<usize> = units.iter().map(|&unit| stretches.group_of(unit)).collect();
    let mut sums = [[0.0; 2]; 2];
    for (unit, &time) in times.iter().enumerate() {
        if groups.contains(&stretches.group_of(unit as u32)) {
            let [sum, n] = &mut sums[usize::from(units.contains(&(unit as u32)))];
            (*sum, *n) = (*sum + time, *n + 1.0);
        }
    }
    let [others, slow] = sums.map(|[sum, n]| sum / n);
    slow / others
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
    let noise = times.iter().any(|&(label, _)| label == stretches.all.noise()) || odd >= ODD * step.gain;
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

/// How the times of units lie.
enum Shape {
    /// These are apart from the others, and at most half.
    Late(Vec<u32>),
    /// No gap parts them.
    Gradient,
    /// Most are apart from a few that are early; or they are too few to tell.
    Other,
}

/// The units above the widest gap of ln(time over the group's mean), if that
/// is most of the range.
fn shape(stretches: &Stretches<'_>, times: &[f64]) -> Shape {
    let means = means(stretches, times);
    let mean = |unit: usize| means[stretches.group_of(unit as u32)];
    let mut order: Vec<usize> = (0..times.len()).filter(|&unit| mean(unit) > 0.0).collect();
    let most = order.iter().map(|&unit| times[unit] / mean(unit)).fold(0.0, f64::max);
    // A unit without the step is far below, but not infinitely.
    let height = |unit: usize| (times[unit] / mean(unit)).max(1e-3 * most).ln();
    order.sort_by(|&a, &b| height(a).total_cmp(&height(b)).then(a.cmp(&b)));
    let gap = |at: usize| height(order[at]) - height(order[at - 1]);
    let widest = (1..order.len()).max_by(|&a, &b| gap(a).total_cmp(&gap(b)).then(b.cmp(&a)));
    let Some(widest) = widest else { return Shape::Other };
    let range = height(order[order.len() - 1]) - height(order[0]);
    match (gap(widest) > GAP * range, 2 * (order.len() - widest) <= times.len()) {
        (true, true) => {
            let mut late: Vec<u32> = order[widest..].iter().map(|&unit| unit as u32).collect();
            late.sort_unstable();
            Shape::Late(late)
        }
        (false, _) if order.len() >= LEAST_UNITS => Shape::Gradient,
        _ => Shape::Other,
    }
}

/// Whether more instructions, or more time for each, make units take longer
/// than the others of their group.
fn cause(stretches: &Stretches<'_>, step: &Step<'_>) -> Cause {
    let mut sums = vec![[0.0; 3]; stretches.n_groups()];
    let mut pairs = Vec::new();
    for (unit, (&time, &instructions)) in step.times.iter().zip(&step.instructions).enumerate() {
        let group = stretches.group_of(unit as u32);
        match (time > 0.0, instructions > 0.0) {
            (true, true) => pairs.push((group, time.ln(), instructions.ln())),
            // All that compute have the count, or nothing is said.
            (true, false) => return Cause::Unknown,
            _ => continue,
        }
        let (_, x, y) = pairs[pairs.len() - 1];
        sums[group] = [sums[group][0] + x, sums[group][1] + y, sums[group][2] + 1.0];
    }
    let (mut spread, mut together) = (0.0, 0.0);
    for (group, x, y) in pairs {
        let [sum_x, sum_y, n] = sums[group];
        let (x, y) = (x - sum_x / n, y - sum_y / n);
        (spread, together) = (spread + x * x, together + x * y);
    }
    match together / spread {
        slope if !slope.is_finite() => Cause::Unknown,
        slope if slope.abs() <= SLOPE => Cause::Speed,
        slope if slope >= 1.0 - SLOPE => Cause::Work,
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

/// Takes those long bursts out that are of a thread that is told to compute
/// alone: they are part of that.
pub(super) fn without_serial(
    one_offs: Vec<Finding>,
    mut uneven: Vec<Finding>,
) -> (Vec<Finding>, Vec<Finding>) {
    let mut rest = Vec::new();
    for finding in one_offs {
        let serial = uneven
            .iter_mut()
            .find(|f| matches!(f.kind, FindingKind::Serial { .. }) && f.threads == finding.threads);
        match (serial, finding.kind) {
            (Some(serial), FindingKind::OneOff { duration, others: None, .. }) => {
                serial.share += finding.share;
                serial.noise = true;
                if let FindingKind::Serial { time } = &mut serial.kind {
                    *time = time.saturating_add(duration);
                }
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
        _ => {}
    }
    // Of other kinds, the times are no part of what is said.
    if std::mem::discriminant(&found.kind) == std::mem::discriminant(&other.kind) {
        told.times.iter_mut().zip(more.times).for_each(|(time, more)| *time += more);
    }
}
