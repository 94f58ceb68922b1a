//! Why the threads of a step are not done together.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::finding::{Cause, Finding, FindingKind, Gradient, How, LEAST_APART, LEAST_SHARE, ThreadName};
use super::serial::{by_one, in_turn, is_all_by_one};
use super::shape::{NOISE, SLOPE, Shape, above_mean, cause, ends, noise_of_sums, ratio, shape};
use super::since::{FEWEST, since};
use super::speed::{cause_in_all, has_more, how, slow_for_work};
use super::step::{Step, Taken, is_done_elsewhere, is_serial};
use super::stretches::{Part, Stretches};
use super::turns::Turns;
use crate::bursts::serial::{Scope, is_nearly_all};
use crate::cluster::ClusterId;
use crate::median;
use crate::table::Nanos;

/// A phase that costs at least this share of the least cost that is reported can
/// join a finding of the same threads; one that costs less is not named there.
pub(super) const CANDIDATE: f64 = 0.1;

/// A thread that is slow over at least this share of its computing time is
/// reported as slow in all phases.
pub(super) const EVERYWHERE: f64 = 0.9;

/// A phase with less than this share of the time of a step's largest is not
/// named.
const NAMED: f64 = 0.05;

/// Bursts of no phase are named if those of the slowest threads take at least this
/// share of the cost.
const ODD: f64 = 0.25;

/// A finding, the steps of an iteration in which it is, their labels, and the
/// units that it names.
struct Told<'a> {
    finding: Finding,
    steps: Vec<Step<'a>>,
    labels: BTreeSet<u32>,
    units: Vec<u32>,
    /// Whether the units are apart from the others, and take longer.
    late: bool,
}

/// Where the units are not done together, and why.
pub(super) fn uneven(stretches: &Stretches<'_>, parts: &[Part], whole: f64, scope: Scope) -> Vec<Finding> {
    if stretches.n_units() < 2 {
        return Vec::new();
    }
    let steps = steps(stretches, parts, whole);
    let turns = Turns::of(stretches);
    let all: Vec<Told<'_>> = steps.into_iter().map(|step| told(&turns, step, whole, scope)).collect();
    let mut found: Vec<Told<'_>> = Vec::new();
    for next in two_causes(&turns, all, whole, scope) {
        let when = |finding: &Finding| (finding.from, finding.until);
        let is_same = |told: &&mut Told<'_>| {
            is_same(&told.finding, &next.finding) && when(&told.finding) == when(&next.finding)
        };
        match found.iter_mut().find(is_same) {
            Some(same) => merge(same, next),
            None => found.push(next),
        }
    }
    let serial = || found.iter().filter(|told| told.finding.is_serial());
    let labels: BTreeSet<u32> = serial().flat_map(|told| told.labels.iter().copied()).collect();
    found.retain(|told| {
        !told.finding.is_serial() || !is_done_elsewhere(stretches, (&told.steps, &told.units), &labels)
    });
    found.iter_mut().for_each(|told| complete(stretches, told, whole));
    found.into_iter().map(|told| told.finding).collect()
}

/// Reports a phase twice if it has two causes: units that are slow in other phases
/// too also have more instructions in this one. The slowness joins the finding of
/// the slow units, and what is left is an imbalance of work.
fn two_causes<'a>(turns: &Turns<'_, '_>, all: Vec<Told<'a>>, whole: f64, scope: Scope) -> Vec<Told<'a>> {
    let stretches = turns.stretches;
    let is_slow = |told: &&Told<'_>| matches!(told.finding.kind, FindingKind::SlowThreads { .. });
    let factor = |told: &Told<'_>| told.steps[0].slowness(stretches, &told.units).ln();
    let slow: Vec<(Vec<u32>, f64)> =
        all.iter().filter(is_slow).map(|told| (told.units.clone(), factor(told))).collect();
    let mut apart = Vec::new();
    for next in all {
        let is_imbalance = matches!(next.finding.kind, FindingKind::Imbalance { .. });
        let own = factor(&next);
        // About as slow as there: what is slower by its own has another reason.
        let is_alike = |(units, other): &(Vec<u32>, f64)| {
            *units == next.units && (own - other).abs() <= SLOPE * other.abs() + LEAST_APART
        };
        let is_both = is_imbalance && next.late && own > LEAST_APART && next.steps[0].is_repeated();
        let by_own = slow_for_work(stretches, &next.steps[0], next.finding.kind);
        if by_own.is_none() && !(is_both && slow.iter().any(is_alike)) {
            apart.push(next);
            continue;
        }
        let units = by_own.unwrap_or_else(|| next.units.clone());
        apart.extend(speed_and_work(turns, next, units, whole, scope));
    }
    apart
}

/// The slowness of those units in a step, and what is left as an imbalance of work.
fn speed_and_work<'a>(
    turns: &Turns<'_, '_>,
    next: Told<'a>,
    units: Vec<u32>,
    whole: f64,
    scope: Scope,
) -> Vec<Told<'a>> {
    let stretches = turns.stretches;
    let mut found = Vec::new();
    let as_taken = |taken: Taken| Step { taken, ..next.steps[0].clone() };
    let (speed, work) = (as_taken(Taken::Speed), as_taken(Taken::Work));
    let times = work.taken(stretches, &units);
    let even = Step { times, ..work.clone() };
    if even.is_uneven(stretches, LEAST_APART) && has_more(stretches, &even) {
        let mut of_work = told(turns, work, whole, scope);
        let last = ends(stretches, &even.times)[1].clone();
        of_work.late = next.late && next.units == units;
        let named = if of_work.late { &units } else { &last };
        of_work.finding.threads = stretches.names(named, &of_work.labels);
        let empty = Gradient { least: Vec::new(), least_time: Nanos::ZERO, most_time: Nanos::ZERO };
        let is_gradient = matches!(shape(stretches, &even.times), Shape::Gradient);
        of_work.finding.gradient = is_gradient.then_some(empty);
        of_work.finding.kind =
            FindingKind::Imbalance { apart: 0.0, cause: Cause::Work, steady: true, times: None, only: false };
        of_work.units.clone_from(&units);
        found.push(of_work);
    }
    let mut of_speed = Told { steps: vec![speed], units, late: true, ..next };
    of_speed.finding.threads = stretches.names(&of_speed.units, &of_speed.labels);
    of_speed.finding.gradient = None;
    let times = of_speed.steps[0].slowness(stretches, &of_speed.units);
    of_speed.finding.kind = FindingKind::SlowThreads { times, everywhere: false, how: How::Unknown };
    found.push(of_speed);
    found
}

/// Fills in what is known only once all steps of a finding are together.
fn complete(stretches: &Stretches<'_>, told: &mut Told<'_>, whole: f64) {
    if told.late {
        place(stretches, told);
    }
    let (begin, most) = dearest(stretches, told);
    (told.finding.begin, told.finding.most) = (begin, most / whole);
    if told.finding.is_serial() && told.finding.scope == Scope::Run {
        let is_named = |burst: &u32| told.units.contains(&stretches.unit(*burst));
        let own = told.steps.iter().flat_map(|step| step.costly()).flat_map(|part| &part.bursts);
        let own: Vec<u32> = own.copied().filter(is_named).collect();
        told.finding.before = stretches.all.before_others(own.iter().copied(), &told.units);
        told.finding.behind = stretches.all.behind_one(own.into_iter(), &told.units);
    }
    let mut times = vec![0.0; stretches.n_units()];
    let (mut above, mut mean, mut won) = (0.0, 0.0, 0.0);
    for step in &told.steps {
        let own = step.taken(stretches, &told.units);
        times.iter_mut().zip(&own).for_each(|(time, own)| *time += own);
        above += above_mean(stretches, &own);
        mean += own.iter().sum::<f64>() * step.mean / step.times.iter().sum::<f64>();
        won += step.won(stretches, &own);
    }
    if told.finding.gradient.is_some() {
        told.finding.gradient = gradient(stretches, told, &times);
    }
    let in_all = told.steps.len() > 1 && is_most(stretches, told);
    let factor = ratio(stretches, &times, &told.units);
    let own: f64 = told.units.iter().map(|&unit| times[unit as usize]).sum();
    let is_theirs = told.late && is_nearly_all(own, times.iter().sum());
    let own_how = how(stretches, &told.steps, &told.units);
    if let FindingKind::Imbalance { cause, steady: true, .. } = told.finding.kind {
        let of_all = cause_in_all(stretches, &told.steps, &told.units, cause);
        if let FindingKind::Imbalance { cause, .. } = &mut told.finding.kind {
            *cause = of_all;
        }
    }
    match &mut told.finding.kind {
        FindingKind::SlowThreads { times, everywhere, how } => {
            (*times, *everywhere, *how) = (factor, in_all, own_how);
            told.finding.share = as_fast(stretches, &told.steps, &told.units) / whole;
        }
        FindingKind::Imbalance { apart, times, steady: true, only, .. } => {
            (*apart, *only) = (above / mean, is_theirs);
            *times = times.map(|_| factor);
            told.finding.share = won / whole;
        }
        FindingKind::Imbalance { apart, .. } => *apart = told.finding.share * whole / mean,
        _ => {}
    }
}

/// Both ends of a gradient; of the threads of tasks, the mean over the tasks. `None` where it does not
/// begin or end with the same thread in all of these.
fn gradient(stretches: &Stretches<'_>, told: &Told<'_>, times: &[f64]) -> Option<Gradient> {
    let [least, most] = ends(stretches, times);
    let mean = |units: &[u32]| {
        let sum: f64 = units.iter().map(|&unit| times[unit as usize]).sum();
        Nanos((sum / units.len().max(1) as f64) as u64)
    };
    let [least_time, most_time] = [mean(&least), mean(&most)];
    let [least, most] = [least, most].map(|units| stretches.names(&units, &told.labels));
    let is_same = || most == told.finding.threads && is_one_number(&least);
    (told.finding.scope == Scope::Run || is_same()).then_some(Gradient { least, least_time, most_time })
}

/// Whether it is the thread of one number in each task.
fn is_one_number(threads: &[ThreadName]) -> bool {
    threads.windows(2).all(|two| two[0].thread == two[1].thread)
}

/// If the units are slow in one stretch of time only, and not in the whole run,
/// keeps the parts of that stretch.
fn place(stretches: &Stretches<'_>, told: &mut Told<'_>) {
    let begin = |part: &Part| part.bursts.first().map(|&burst| stretches.all.begin(burst));
    let mut parts: Vec<(Nanos, f64)> = Vec::new();
    for (step, part) in told.steps.iter().flat_map(|step| step.parts.iter().map(move |part| (step, *part))) {
        let one = step.only(stretches, vec![part]);
        let factor = ratio(stretches, &one.taken(stretches, &told.units), &told.units).ln();
        parts.extend(begin(part).filter(|_| factor.is_finite()).map(|begin| (begin, factor)));
    }
    parts.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let factors: Vec<f64> = parts.iter().map(|part| part.1).collect();
    let Some(slow) = since(&factors) else { return };
    let from = (slow.start > 0).then(|| parts[slow.start].0);
    let until = parts.get(slow.end).map(|part| part.0);
    let is_within = |part: &&Part| {
        begin(part)
            .is_some_and(|at| from.is_none_or(|from| at >= from) && until.is_none_or(|until| at < until))
    };
    // Many phases of one iteration are no stretch of time.
    let is_on_both_sides = |step: &Step<'_>| {
        let within = step.parts.iter().filter(|part| is_within(part)).count();
        within >= FEWEST && step.parts.len() - within >= FEWEST
    };
    if !told.steps.iter().any(is_on_both_sides) {
        return;
    }
    (told.finding.from, told.finding.until) = (from, until);
    for step in &mut told.steps {
        *step = step.only(stretches, step.parts.iter().copied().filter(is_within).collect());
    }
    told.steps.retain(|step| !step.parts.is_empty());
}

/// What would be won were those units as fast as the others, in ns: each
/// stretch would end with them, or with the last of the others.
fn as_fast(stretches: &Stretches<'_>, steps: &[Step<'_>], units: &[u32]) -> f64 {
    let groups: BTreeSet<usize> = units.iter().map(|&unit| stretches.group_of(unit)).collect();
    let mut by_stretch: BTreeMap<u32, Vec<(&Step<'_>, &Part)>> = BTreeMap::new();
    for step in steps {
        step.parts.iter().for_each(|part| by_stretch.entry(part.stretch).or_default().push((step, *part)));
    }
    let mut won = 0.0;
    for (stretch, parts) in by_stretch {
        let mut before = vec![0.0; stretches.n_units()];
        for &burst in stretches.of_stretch(stretch) {
            before[stretches.unit(burst) as usize] += stretches.all.duration(burst) as f64;
        }
        let mut after = before.clone();
        for (step, part) in parts {
            let one = step.only(stretches, vec![part]);
            for &unit in units {
                let of_others = |of: &[f64]| mean_of_others(stretches, of, units, stretches.group_of(unit));
                // One of them may have more to do than another.
                let work = step.instructions[unit as usize] / of_others(&step.instructions);
                let work = if work.is_finite() { work } else { 1.0 };
                let mean = of_others(&one.times);
                let more = one.times[unit as usize] - work * mean;
                after[unit as usize] -= more.max(0.0);
            }
        }
        let last = |times: &[f64], group: usize| {
            let of_group = (0..times.len()).filter(|&unit| stretches.group_of(unit as u32) == group);
            of_group.map(|unit| times[unit]).fold(0.0, f64::max)
        };
        won += groups.iter().map(|&group| last(&before, group) - last(&after, group)).sum::<f64>();
    }
    won
}

/// Mean time of those of a group that are not among `units`.
fn mean_of_others(stretches: &Stretches<'_>, times: &[f64], units: &[u32], group: usize) -> f64 {
    let is_other =
        |unit: &usize| stretches.group_of(*unit as u32) == group && !units.contains(&(*unit as u32));
    let others: Vec<f64> = (0..times.len()).filter(is_other).map(|unit| times[unit]).collect();
    others.iter().sum::<f64>() / others.len().max(1) as f64
}

/// Whether the steps of a finding are most of what its threads compute.
fn is_most(stretches: &Stretches<'_>, told: &Told<'_>) -> bool {
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
    let step = |(_, parts)| {
        let mut step = Step::of(stretches, parts);
        step.noise = noise_of_sums(stretches, &step.parts);
        step.take_turns(stretches);
        step
    };
    let steps: Vec<Step<'_>> = found.into_par_iter().map(step).collect();
    let mut noises: Vec<f64> = steps.iter().filter_map(|step| step.noise).collect();
    noises.sort_unstable_by(f64::total_cmp);
    let usual = median::upper(&noises).map_or(NOISE, |usual| usual.max(NOISE));
    let uneven = |step: Step<'a>| match step.is_uneven(stretches, usual) {
        true => vec![step],
        // One part may cost much where the others are even.
        false => step.odd(stretches, usual, LEAST_SHARE * whole),
    };
    steps.into_iter().flat_map(uneven).filter(|step| !step.is_made_up(stretches)).collect()
}

/// Whether it is in one stretch, and there each thread has one burst of a label at most.
fn is_once(stretches: &Stretches<'_>, step: &Step<'_>) -> bool {
    let mut seen = BTreeSet::new();
    let mut costly = step.costly();
    let (Some(part), None) = (costly.next(), costly.next()) else { return false };
    let all = stretches.all;
    part.bursts.iter().all(|&b| all.label(b) == all.noise() || seen.insert((all.label(b), all.thread(b))))
}

/// Where a finding costs most, and how much, in ns: the longest burst of who computes alone, and
/// else, of the stretch that costs most, the longest burst of the slowest unit.
fn dearest(stretches: &Stretches<'_>, told: &Told<'_>) -> (Nanos, f64) {
    let all = stretches.all;
    let parts = || told.steps.iter().flat_map(|step| step.parts.iter());
    let longest = |bursts: &mut dyn Iterator<Item = u32>| {
        bursts.max_by_key(|&burst| (all.duration(burst), Reverse(all.begin(burst))))
    };
    if told.finding.is_serial() {
        let is_named = |burst: &u32| told.units.contains(&stretches.unit(*burst));
        let of_named = |least: f64| {
            let parts = parts().filter(|part| part.gain >= least);
            longest(&mut parts.flat_map(|part| part.bursts.iter().copied()).filter(is_named))
        };
        let own = of_named(f64::MIN_POSITIVE).or_else(|| of_named(0.0));
        let own = own.expect("who computes alone has a burst");
        let spread = 1.0 - 1.0 / stretches.peers(stretches.unit(own));
        return (all.begin(own), all.duration(own) as f64 * spread);
    }
    let dear = parts().max_by(|a, b| a.gain.total_cmp(&b.gain).then(b.stretch.cmp(&a.stretch)));
    let dear = dear.expect("a finding has a step, and that a part");
    let is_own = |burst: &u32| stretches.unit(*burst) == dear.unit;
    let own = longest(&mut dear.bursts.iter().copied().filter(is_own));
    (all.begin(own.unwrap_or(dear.longest)), dear.gain)
}

/// What a step costs, before it is known why.
fn unexplained(stretches: &Stretches<'_>, step: &Step<'_>, whole: f64, scope: Scope) -> Finding {
    let (phases, noise) = named(stretches, &step.parts);
    let odd =
        || step.parts.iter().filter(|_| step.is_odd).flat_map(|part| stretches.of_stretch(part.stretch));
    Finding {
        share: step.gain / whole,
        phases,
        noise,
        from: odd().map(|&burst| stretches.all.begin(burst)).min(),
        until: odd().map(|&burst| stretches.all.end(burst)).max(),
        stretches: step.costly().count() as u64,
        is_once: is_once(stretches, step),
        ..Finding::of(
            FindingKind::Imbalance {
                apart: 0.0,
                cause: Cause::Unknown,
                steady: false,
                times: None,
                only: false,
            },
            scope,
        )
    }
}

/// What is to be said of one step.
fn told<'a>(turns: &Turns<'_, '_>, step: Step<'a>, whole: f64, scope: Scope) -> Told<'a> {
    let stretches = turns.stretches;
    let labels = step.parts.iter().flat_map(|part| part.labels.iter().copied()).collect();
    let mut finding = unexplained(stretches, &step, whole, scope);
    let (mut units, mut late) = (Vec::new(), false);
    let is_serial = is_serial(&step);
    // One that computes alone may be one of several that do so in turn.
    let is_by_one = is_serial && is_all_by_one(&step);
    if let Some(alone) = (!is_by_one).then(|| turns.alone(&labels)).flatten() {
        units = in_turn(stretches, &step, &mut finding, &labels, whole, alone);
    } else if is_serial {
        units = by_one(stretches, &step, &mut finding, &labels, whole);
    } else if step.is_steady(stretches) {
        let mut cause = cause(stretches, &step.times, &step.instructions);
        let shape = shape(stretches, &step.times);
        let is_early = matches!(shape, Shape::Early(_));
        units = match &shape {
            Shape::Late(units) | Shape::Early(units) => units.clone(),
            _ => ends(stretches, &step.times)[1].clone(),
        };
        late = matches!(shape, Shape::Late(_));
        if cause == Cause::Speed && !units.is_empty() && !step.is_as_often(stretches, &units) {
            cause = Cause::Unknown;
        }
        finding.threads = stretches.names(&units, &labels);
        if scope == Scope::Task && !late && !is_early && !is_one_number(&finding.threads) {
            // One in each task, and not the same one.
            (units, finding.threads) = (Vec::new(), Vec::new());
        }
        let factor = ratio(stretches, &step.times, &units);
        let less = is_early.then_some(factor);
        finding.kind = FindingKind::Imbalance { apart: 0.0, cause, steady: true, times: less, only: false };
        finding.share = step.won(stretches, &step.times) / whole;
        if matches!(shape, Shape::Gradient) {
            let empty = Gradient { least: Vec::new(), least_time: Nanos::ZERO, most_time: Nanos::ZERO };
            finding.gradient = Some(empty);
        } else if late && cause == Cause::Speed && factor.is_finite() && step.is_slow(stretches, &units) {
            finding.share = as_fast(stretches, std::slice::from_ref(&step), &units) / whole;
            finding.kind = FindingKind::SlowThreads { times: factor, everywhere: false, how: How::Unknown };
        }
    } else {
        finding.at_other_times = step.is_at_other_times(stretches);
    }
    Told { finding, steps: vec![step], labels, units, late }
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

/// Whether two findings are of the same threads, and of one kind.
fn is_same(a: &Finding, b: &Finding) -> bool {
    let one_kind = std::mem::discriminant(&a.kind) == std::mem::discriminant(&b.kind);
    !a.threads.is_empty() && a.threads == b.threads && a.takes_less() == b.takes_less() && one_kind
}

/// Puts together what is lost between tasks and what is lost inside of them: as
/// one finding, where it is about the same threads.
pub(super) fn together(mut of_run: Vec<Finding>, of_tasks: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut alone = Vec::new();
    for mut next in of_tasks {
        match of_run.iter_mut().find(|found| is_same(found, &next) && may_be_one(found, &next)) {
            Some(found) => {
                if next.share > found.share {
                    std::mem::swap(found, &mut next);
                }
                // As fast as the others, threads end earlier in their task and in the
                // run: of the same phases, both are one time.
                let is_slow = matches!(found.kind, FindingKind::SlowThreads { .. });
                let is_noise = found.noise && next.noise;
                if !(is_slow && (is_noise || next.phases.iter().any(|phase| found.phases.contains(phase)))) {
                    add(found, &next);
                }
                if let (FindingKind::Serial { alone, .. }, FindingKind::Serial { alone: only, .. }) =
                    (&mut found.kind, next.kind)
                {
                    *alone = only.min(*alone);
                }
            }
            None => alone.push(next),
        }
    }
    of_run.extend(alone);
    of_run
}

/// Whether what is lost between tasks and inside of them is lost in the same time, where it is
/// serial. The others of a task may wait for far more bursts than the other tasks do: the
/// shares of both are not shares of one time.
fn may_be_one(of_run: &Finding, of_tasks: &Finding) -> bool {
    let (FindingKind::Serial { time, .. }, FindingKind::Serial { time: per_task, .. }) =
        (of_run.kind, of_tasks.kind)
    else {
        return true;
    };
    let n_tasks = of_tasks.threads.chunk_by(|a, b| a.task == b.task).count() as f64;
    let (time, of_tasks) = (time.0 as f64, per_task.0 as f64 * n_tasks);
    is_nearly_all(time.min(of_tasks), time.max(of_tasks))
}

/// Adds the share of what costs less, and its phases: those of which the share
/// is are all named.
fn add(found: &mut Finding, other: &Finding) {
    let new: Vec<_> = other.phases.iter().filter(|phase| !found.phases.contains(phase)).copied().collect();
    found.phases.extend(new);
    found.share += other.share;
    found.take_place(other, 1.0);
    found.noise |= other.noise;
    found.is_once &= other.is_once;
    found.at_other_times &= other.at_other_times;
    found.stretches = found.stretches.max(other.stretches);
}

/// Adds what costs less to what costs more.
fn merge<'a>(told: &mut Told<'a>, mut more: Told<'a>) {
    if more.finding.share > told.finding.share {
        std::mem::swap(told, &mut more);
    }
    told.steps.extend(more.steps);
    told.labels.extend(&more.labels);
    told.late &= more.late;
    let at: BTreeSet<u32> =
        told.steps.iter().flat_map(|step| step.costly()).map(|part| part.stretch).collect();
    told.finding.is_once &= at.len() == 1;
    let (found, other) = (&mut told.finding, more.finding);
    add(found, &other);
    match (&mut found.kind, other.kind) {
        (FindingKind::Imbalance { cause, .. }, FindingKind::Imbalance { cause: second, .. }) => {
            *cause = if *cause == second { second } else { Cause::Both };
        }
        (FindingKind::Serial { time, alone }, FindingKind::Serial { time: second, alone: only }) => {
            (*time, *alone) = (time.saturating_add(second), alone.saturating_add(only));
        }
        _ => {}
    }
}
