//! The parts of one phase, and what balance would win in them.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Cause, LEAST_APART};
use super::shape::{
    NOISE, Shape, TOGETHER, above_mean, by_chance, cause, ends, noise_of_single, ratio, shape,
};
use super::since::since;
use super::stretches::{Part, Stretches};
use crate::bursts::rates::instructions_and_cycles;
use crate::bursts::serial::is_nearly_all;
use crate::median;

/// One thread computes alone in a step if balance would win at least this share of
/// what it would win if all others waited for the thread.
const WAITED: f64 = 0.5;

/// The same threads are last each time if the distance of the last from the mean,
/// in sums over the run, is at least this share of its sum over the stretches.
/// Where it is another thread each time, the sums even out.
const STEADY: f64 = 0.5;

/// Where another thread is last in each stretch, the last must compute for at
/// least this share of the stretch; otherwise something else decides how long the
/// stretch takes.
const DECIDES: f64 = 0.5;

/// Units that take less of a step, or more, are not apart from the others if in the whole stretches
/// they take less, or more, by no more than this share of it.
const MADE_UP: f64 = 0.5;

/// Where a wave runs through the units, one in so many of them, or one, come or go from one
/// stretch to the next: in a square of 4 × 4 it is a diagonal.
const FEW_CHANGE: usize = 4;

/// How many times larger than usual chance is taken to be in a step that is done
/// seldom and whose times nothing explains. It is also the most that is ever put
/// down to chance: bursts that differ by more from one stretch to the next do
/// different work.
pub(super) const VAGUE: f64 = 3.0;

/// How the times of named units are taken.
#[derive(Clone, Copy)]
pub(super) enum Taken {
    /// As they are.
    Whole,
    /// As if they had the others' instructions, so that slowness is left.
    Speed,
    /// As if they were as fast as the others, so that work is left.
    Work,
}

/// The parts of one phase.
#[derive(Clone)]
pub(super) struct Step<'a> {
    pub(super) parts: Vec<&'a Part>,
    pub(super) gain: f64,
    pub(super) mean: f64,
    /// Time and instructions of each unit; a negative count is unknown.
    pub(super) times: Vec<f64>,
    pub(super) instructions: Vec<f64>,
    pub(super) taken: Taken,
    /// How far bursts differ by chance, if it is done often enough to say so; of all
    /// parts, where only some are taken.
    pub(super) noise: Option<f64>,
    /// Whether it is one part that is uneven, of a step that is even in all.
    pub(super) is_odd: bool,
}

impl<'a> Step<'a> {
    pub(super) fn of(stretches: &Stretches<'_>, parts: Vec<&'a Part>) -> Self {
        let n = stretches.n_units();
        let (mut times, mut instructions) = (vec![0.0; n], vec![0.0; n]);
        let counters = &stretches.all.table.counters;
        let counter = instructions_and_cycles(counters)[0].map(|c| &counters[c].values);
        for &burst in parts.iter().flat_map(|part| &part.bursts) {
            let unit = stretches.unit(burst) as usize;
            times[unit] += stretches.all.duration(burst) as f64;
            instructions[unit] += counter.map_or(f64::NAN, |values| values.get(burst as usize));
        }
        for part in &parts {
            let [time, work] = part.told;
            times[part.unit as usize] -= time;
            instructions[part.unit as usize] -= work;
        }
        let (gain, mean) = parts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.gain, sum.1 + part.mean));
        Self { parts, gain, mean, times, instructions, taken: Taken::Whole, noise: None, is_odd: false }
    }

    /// Some of its parts, taken alike.
    pub(super) fn only(&self, stretches: &Stretches<'_>, parts: Vec<&'a Part>) -> Self {
        Self { taken: self.taken, noise: self.noise, ..Self::of(stretches, parts) }
    }

    /// Whether those units have at most twice as many bursts of it as the others of their groups, and
    /// at least half as many: with as many instructions in far fewer or far more bursts, they do
    /// something else.
    pub(super) fn is_as_often(&self, stretches: &Stretches<'_>, units: &[u32]) -> bool {
        let mut counts = vec![0.0; stretches.n_units()];
        for &burst in self.parts.iter().flat_map(|part| &part.bursts) {
            counts[stretches.unit(burst) as usize] += 1.0;
        }
        (0.5..=2.0).contains(&ratio(stretches, &counts, units))
    }

    /// Whether it is done often enough that being slow in it is a trait of a unit, and the units are slow
    /// in most of it, by the time of the others, or from one moment to another. A few long bursts say nothing of a thread, however long they are: it is not slow in the
    /// rest. Nearer to how slow they are in all than to the others counts as slow.
    pub(super) fn is_slow(&self, stretches: &Stretches<'_>, units: &[u32]) -> bool {
        if !self.is_repeated() {
            return false;
        }
        let half = 0.5 * ratio(stretches, &self.times, units).ln();
        let is_named = named(stretches, units);
        let groups: BTreeSet<usize> = units.iter().map(|&unit| stretches.group_of(unit)).collect();
        let mut parts: Vec<&Part> = self.parts.clone();
        parts.retain(|part| groups.contains(&stretches.group_of(part.unit)));
        parts.sort_by_key(|part| part.stretch);
        let (mut factors, mut slow, mut all) = (Vec::new(), 0.0, 0.0);
        for part in parts {
            let one = self.only(stretches, vec![part]);
            let factor = ratio(stretches, &one.times, units).ln();
            let others: f64 = one
                .times
                .iter()
                .zip(&is_named)
                .filter(|(_, is_named)| !**is_named)
                .map(|(time, _)| time)
                .sum();
            all += others;
            slow += if factor >= half { others } else { 0.0 };
            factors.extend(Some(factor).filter(|factor| factor.is_finite()));
        }
        2.0 * slow >= all || since(&factors).is_some()
    }

    /// How much longer the units take for the same instructions.
    pub(super) fn slowness(&self, stretches: &Stretches<'_>, units: &[u32]) -> f64 {
        ratio(stretches, &self.times, units) / ratio(stretches, &self.instructions, units)
    }

    /// The times of all units, those of the named ones as they are taken.
    pub(super) fn taken(&self, stretches: &Stretches<'_>, units: &[u32]) -> Vec<f64> {
        let by = match self.taken {
            Taken::Whole => return self.times.clone(),
            Taken::Speed => ratio(stretches, &self.instructions, units),
            Taken::Work => self.slowness(stretches, units),
        };
        let mut times = self.times.clone();
        units.iter().for_each(|&unit| times[unit as usize] /= by);
        times
    }

    /// What balance would win of those times, where the same units are last each
    /// time: no more than the sums over the run tell. The rest is chance.
    pub(super) fn won(&self, stretches: &Stretches<'_>, times: &[f64]) -> f64 {
        above_mean(stretches, times).min(self.gain)
    }

    /// Leaves out what is only a matter of whose turn it is. Where a wave runs through the
    /// units, some do less of it in a stretch, and as much in the whole run. More even work
    /// would not make them do it earlier.
    pub(super) fn take_turns(&mut self, stretches: &Stretches<'_>) {
        if is_serial(self) || self.is_steady(stretches) {
            return;
        }
        let add = |[gain, mean]: [f64; 2], (_, own): (_, [f64; 2])| [gain + own[0], mean + own[1]];
        let [gain, mean] = self.by_turns(stretches).into_iter().fold([0.0; 2], add);
        self.gain = gain;
        if !self.is_steady(stretches) {
            self.mean = mean;
        }
    }

    /// The parts in order of time, and what balance would win in each and the mean that it is
    /// compared with; where a wave runs through the units, by the lengths of bursts.
    fn by_turns(&self, stretches: &Stretches<'_>) -> Vec<(&'a Part, [f64; 2])> {
        let mut counts = vec![0; stretches.n_units()];
        let mut parts = self.parts.clone();
        parts.sort_by_key(|part| part.stretch);
        let in_turn = in_turn(stretches, &parts);
        let mut cost = |(part, in_turn): (&'a Part, bool)| {
            let by_length = by_length(stretches, part, (in_turn, &mut counts));
            (part, by_length.unwrap_or([part.gain, part.mean]))
        };
        parts.into_iter().zip(in_turn).map(&mut cost).collect()
    }

    /// The parts that are uneven by themselves, each as a step, of one that is even in all (and none
    /// whose units wait for one another in turn): they cost `least` or more, and the last unit is later than chance makes the last of so many in any part.
    pub(super) fn odd(&self, stretches: &Stretches<'_>, usual: f64, least: f64) -> Vec<Self> {
        let is_in_turn = !self.is_steady(stretches) && self.is_beyond_chance(usual);
        if self.parts.len() < 2 || is_in_turn || !self.parts.iter().any(|part| part.gain >= least) {
            return Vec::new();
        }
        let draws = self.parts.iter().map(|part| part.n).sum();
        let limit = by_chance(draws, 1.0, self.chance(usual));
        let mut parts = self.by_turns(stretches);
        parts.retain(|&(_, [gain, mean])| gain >= least && gain >= limit * mean);
        let one = |(part, [gain, _]): (&'a Part, [f64; 2])| Self {
            gain,
            is_odd: true,
            ..self.only(stretches, vec![part])
        };
        parts.into_iter().map(one).filter(|step| step.is_uneven(stretches, usual)).collect()
    }

    /// Whether most of the cost is where half of the units or fewer do it: of a step of which another
    /// unit is last each time, not all do it at the same time.
    pub(super) fn is_at_other_times(&self, stretches: &Stretches<'_>) -> bool {
        let is_of_few = |part: &Part| {
            let units: BTreeSet<u32> = part.bursts.iter().map(|&burst| stretches.unit(burst)).collect();
            2.0 * units.len() as f64 <= part.n
        };
        let parts = self.by_turns(stretches).into_iter();
        let of_few: f64 = parts.filter(|(part, _)| is_of_few(part)).map(|(_, [gain, _])| gain).sum();
        2.0 * of_few >= self.gain
    }

    pub(super) fn costly(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().copied().filter(|part| part.gain > 0.0)
    }

    /// Whether who takes less of it, or more, does so much more else in the same stretches, or less,
    /// that half or less is left of what sets them apart.
    ///
    /// Who takes less is then not who the others have to wait for. Who takes more is hardly late
    /// in these stretches, if they are even: phases that others do more of belong to the step.
    pub(super) fn is_made_up(&self, stretches: &Stretches<'_>) -> bool {
        let (units, sign) = match shape(stretches, &self.times) {
            Shape::Early(units) => (units, 1.0),
            _ if is_serial(self) || !self.is_steady(stretches) => return false,
            _ if cause(stretches, &self.times, &self.instructions) == Cause::Speed => return false,
            Shape::Late(units) => (units, -1.0),
            _ => (ends(stretches, &self.times)[1].clone(), -1.0),
        };
        let (own, whole) = self.of_costly(stretches);
        let [apart, left] = [&own, &whole].map(|times| sign * lacking(stretches, times, &units));
        let is_even = || {
            let mean = |(unit, time): (u32, &f64)| time / stretches.peers(unit);
            above_mean(stretches, &whole) <= LEAST_APART * (0..).zip(&whole).map(mean).sum::<f64>()
        };
        apart > 0.0 && left < MADE_UP * apart && (sign > 0.0 || is_even())
    }

    /// The times of all units in the parts that cost something, and in the whole stretches of these.
    fn of_costly(&self, stretches: &Stretches<'_>) -> (Vec<f64>, Vec<f64>) {
        let mut at: Vec<u32> = self.costly().map(|part| part.stretch).collect();
        at.sort_unstable();
        at.dedup();
        let sum = |bursts: &mut dyn Iterator<Item = u32>| {
            let mut times = vec![0.0; stretches.n_units()];
            bursts.for_each(|burst| {
                times[stretches.unit(burst) as usize] += stretches.all.duration(burst) as f64;
            });
            times
        };
        let own = sum(&mut self.costly().flat_map(|part| part.bursts.iter().copied()));
        (own, sum(&mut at.iter().flat_map(|&stretch| stretches.of_stretch(stretch).iter().copied())))
    }

    /// Whether it is done often enough that being slow in it is a trait of a unit.
    pub(super) fn is_repeated(&self) -> bool {
        !noise_of_single(&self.parts)
    }

    /// Whether the same units are last each time.
    pub(super) fn is_steady(&self, stretches: &Stretches<'_>) -> bool {
        above_mean(stretches, &self.times) >= STEADY * self.gain
    }

    /// How far its bursts differ by chance.
    fn chance(&self, usual: f64) -> f64 {
        self.noise.unwrap_or(usual).min(VAGUE * NOISE)
    }

    /// Whether the last units of the stretches, whoever they are, are later than by chance.
    fn is_beyond_chance(&self, usual: f64) -> bool {
        let n = self.parts.iter().map(|part| part.n).fold(0.0, f64::max);
        self.gain >= by_chance(n, 1.0, self.chance(usual)) * self.mean
    }

    /// Whether the last unit is later than chance makes the last of so many. If
    /// it is the same unit each time, sums over the run are compared, and
    /// otherwise each stretch. `usual` is how far bursts of the run differ by
    /// chance.
    ///
    /// Where it is not the same unit, and the stretches take far longer than the
    /// last computes, the units wait for one another in turn, as in a pipeline;
    /// more even work would win nothing. Where a step is done only once, its times
    /// have no gap and the instructions are the same, chance explains it as well,
    /// and nothing tells how large chance is; it is then taken to be [`VAGUE`]
    /// times larger.
    pub(super) fn is_uneven(&self, stretches: &Stretches<'_>, usual: f64) -> bool {
        let n = self.parts.iter().map(|part| part.n).fold(0.0, f64::max);
        let squares: f64 = self.parts.iter().map(|part| part.mean * part.mean).sum();
        let noise = self.chance(usual);
        if self.is_steady(stretches) {
            let has_reason = || match shape(stretches, &self.times) {
                Shape::Late(_) | Shape::Early(_) => true,
                _ => cause(stretches, &self.times, &self.instructions) == Cause::Work,
            };
            let is_vague = noise_of_single(&self.parts) && !is_serial(self) && !has_reason();
            let noise = if is_vague { VAGUE * NOISE } else { noise };
            let bursts = self.mean * self.mean / squares / stretches.n_groups() as f64;
            return self.won(stretches, &self.times) >= by_chance(n, bursts, noise) * self.mean;
        }
        let [most, wall] = self
            .costly()
            .fold([0.0; 2], |sum, part| [sum[0] + part.gain * part.most, sum[1] + part.gain * part.wall]);
        self.is_beyond_chance(usual) && most >= DECIDES * wall
    }
}

/// How much less time those units have than as many of the others, each of its group.
fn lacking(stretches: &Stretches<'_>, times: &[f64], units: &[u32]) -> f64 {
    let is_named = named(stretches, units);
    let mut groups = vec![[[0.0; 2]; 2]; stretches.n_groups()];
    for (unit, &time) in times.iter().enumerate() {
        let group = &mut groups[stretches.group_of(unit as u32)];
        let [sum, n] = &mut group[usize::from(is_named[unit])];
        (*sum, *n) = (*sum + time, *n + 1.0);
    }
    let lacks = |[[others, n_others], [own, n]]: [[f64; 2]; 2]| {
        if n == 0.0 || n_others == 0.0 { 0.0 } else { n * others / n_others - own }
    };
    groups.into_iter().map(lacks).sum()
}

/// Of each unit whether it is one of these.
fn named(stretches: &Stretches<'_>, units: &[u32]) -> Vec<bool> {
    let mut is_named = vec![false; stretches.n_units()];
    units.iter().for_each(|&unit| is_named[unit as usize] = true);
    is_named
}

/// Of each part whether a wave explains who is in it: all are, or those that are have just
/// come or soon go (before or behind it is a part of the step with hardly any other units),
/// or they are the same ones more often than chance makes them. A wave takes in one after the
/// other, and leaves the same ones last. Where many stop at the same moment, and each unit
/// goes on at times, that one has more to do.
fn in_turn(stretches: &Stretches<'_>, parts: &[&Part]) -> Vec<bool> {
    let units = |part: &&Part| -> Vec<u32> {
        let mut units: Vec<u32> = part.bursts.iter().map(|&burst| stretches.unit(burst)).collect();
        units.sort_unstable();
        units.dedup();
        units
    };
    let sets: Vec<Vec<u32>> = parts.iter().map(units).collect();
    let runs: Vec<&[Vec<u32>]> = sets.chunk_by(|a, b| a == b).collect();
    let beside =
        |at: usize| [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| runs.get(at));
    let mut in_turn = Vec::with_capacity(parts.len());
    for (at, run) in runs.iter().enumerate() {
        let n = parts[in_turn.len()].n;
        let is_near = |other: &&[Vec<u32>]| apart(&run[0], &other[0]) <= (n as usize / FEW_CHANGE).max(1);
        let is_turn = run[0].len() as f64 >= n || beside(at).any(is_near);
        in_turn.extend(std::iter::repeat_n(is_turn, run.len()));
    }
    let odd = sets.iter().zip(&in_turn).filter(|(_, in_turn)| !**in_turn).map(|(units, _)| units);
    if are_the_same_ones(stretches, odd) {
        in_turn.fill(true);
    }
    in_turn
}

/// How many units are in one of two sets alone, which ascend.
fn apart(a: &[u32], b: &[u32]) -> usize {
    let common = a.iter().filter(|unit| b.binary_search(unit).is_ok()).count();
    a.len() + b.len() - 2 * common
}

/// Whether some units of a group are in these sets more often than others, by more than
/// chance: χ² is above its mean, the degrees of freedom, by three standard deviations.
fn are_the_same_ones<'s>(stretches: &Stretches<'_>, sets: impl Iterator<Item = &'s Vec<u32>>) -> bool {
    let mut often = vec![0.0; stretches.n_units()];
    let mut groups = vec![[0.0; 2]; stretches.n_groups()];
    sets.flatten().for_each(|&unit| often[unit as usize] += 1.0);
    for (unit, &n) in often.iter().enumerate() {
        let [sum, n_units] = &mut groups[stretches.group_of(unit as u32)];
        (*sum, *n_units) = (*sum + n, *n_units + 1.0);
    }
    let mean = |unit: usize| {
        let [sum, n_units] = groups[stretches.group_of(unit as u32)];
        sum / n_units
    };
    let known = || often.iter().enumerate().filter(|&(unit, _)| mean(unit) > 0.0);
    let square = |(unit, n): (usize, &f64)| (n - mean(unit)).powi(2) / mean(unit);
    let n_groups = groups.iter().filter(|[sum, _]| *sum > 0.0).count();
    let freedom = (known().count() - n_groups) as f64;
    known().map(square).sum::<f64>() > freedom + 3.0 * (2.0 * freedom).sqrt()
}

/// What balance of the lengths of bursts would win in a part, and the time of as many
/// mean bursts as the last unit has; where a wave has come further in some units than in
/// others. Then some have more and more bursts, each hardly more than another, in three
/// steps at least; or the part is in turn. `None` where some have far more than others.
/// `counts` has a 0 for each unit, and is left so.
fn by_length(
    stretches: &Stretches<'_>,
    part: &Part,
    (in_turn, counts): (bool, &mut [u32]),
) -> Option<[f64; 2]> {
    part.bursts.iter().for_each(|&burst| counts[stretches.unit(burst) as usize] += 1);
    let own = f64::from(counts[part.unit as usize]);
    let taken = part.bursts.iter().map(|&burst| std::mem::take(&mut counts[stretches.unit(burst) as usize]));
    let mut steps: Vec<u32> = taken.filter(|&count| count > 0).collect();
    if (steps.len() as f64) < part.n {
        steps.push(0);
    }
    steps.sort_unstable();
    steps.dedup();
    let is_wave = steps.windows(2).all(|two| two[1] == two[0] + 1) && (in_turn || steps.len() > 2);
    let even = own * part.time() / part.bursts.len() as f64;
    (is_wave && own > 0.0).then(|| [part.gain.min(part.own - even).max(0.0), even])
}

/// Whether one unit computes alone in a step: the others have, on average, hardly any time
/// in it, none has half of its time, and they wait. (Of two units that take turns, each is
/// alone for a while, but neither waits. If few of many compute at once, the mean of the
/// others is small, but each of the few is far from alone.)
///
/// It does not matter that others may still run at that moment: they finish the
/// step before it, and then wait too.
pub(super) fn is_serial(step: &Step<'_>) -> bool {
    let [own, others, next, waited] = step.costly().fold([0.0; 4], |[own, others, next, waited], part| {
        let all_wait = part.own * (1.0 - 1.0 / part.n);
        [own + part.own, others + part.others(), next + part.next, waited + all_wait]
    });
    is_nearly_all(own - others, own) && next < TOGETHER * own && step.gain >= WAITED * waited
}

/// Whether units that compute alone have so much less to do of a phase at other times, in time and
/// in instructions, which all do: they do no more than the others (than the middle one of these:
/// one of them may be slow, or do another phase instead). So it is where waves run
/// through the units forth and back. In the corner, one wave ends and the next begins in one
/// burst, and each unit has its turn.
/// A phase that is `serial` too is none of which all do their part at once.
pub(super) fn is_done_elsewhere(
    stretches: &Stretches<'_>,
    (steps, units): (&[Step<'_>], &[u32]),
    serial: &BTreeSet<u32>,
) -> bool {
    let all = stretches.all;
    let counters = &all.table.counters;
    let counter = instructions_and_cycles(counters)[0].map(|c| &counters[c].values);
    let size = |burst: u32| {
        [all.duration(burst) as f64, counter.map_or(0.0, |values| values.get(burst as usize).max(0.0))]
    };
    let add = |sum: &mut [f64; 2], size: [f64; 2], sign: f64| {
        sum.iter_mut().zip(size).for_each(|(sum, size)| *sum += sign * size);
    };
    let mut alone: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
    let mut of_units: BTreeMap<(u32, u32), [f64; 2]> = BTreeMap::new();
    for part in steps.iter().flat_map(|step| step.costly()) {
        for &burst in part.bursts.iter().filter(|&&burst| stretches.unit(burst) == part.unit) {
            add(alone.entry(part.unit).or_default(), size(burst), 1.0);
            // Not at another time.
            add(of_units.entry((part.unit, all.label(burst))).or_default(), size(burst), -1.0);
        }
    }
    let is_named = named(stretches, units);
    let mut of_others: BTreeMap<u32, Vec<[f64; 2]>> = BTreeMap::new();
    for &burst in stretches.order().iter().filter(|&&burst| is_named[stretches.unit(burst) as usize]) {
        let label = all.label(burst);
        add(of_units.entry((stretches.unit(burst), label)).or_default(), size(burst), 1.0);
        if label != all.noise() && !serial.contains(&label) {
            of_others.entry(label).or_insert_with(|| vec![[0.0; 2]; stretches.n_units()]);
        }
    }
    for &burst in stretches.order() {
        let unit = stretches.unit(burst);
        if let Some(times) = of_others.get_mut(&all.label(burst)).filter(|_| !is_named[unit as usize]) {
            add(&mut times[unit as usize], size(burst), 1.0);
        }
    }
    // Of one that does another phase instead, nothing follows for the others.
    let middle = |times: &Vec<[f64; 2]>| {
        let others = || times.iter().zip(&is_named).filter(|(_, is_named)| !**is_named);
        [0, 1].map(|which| {
            let of_others = others().map(|(sizes, _)| sizes[which]);
            median::upper(&median::sorted(of_others)).unwrap_or(0.0)
        })
    };
    let of_others: BTreeMap<u32, [f64; 2]> =
        of_others.iter().map(|(&label, times)| (label, middle(times))).collect();
    let is_alike = |a: f64, b: f64| a == b || is_nearly_all(a.min(b), a.max(b));
    units.iter().all(|unit| {
        let Some(&[time, work]) = alone.get(unit) else { return false };
        of_units.range((*unit, 0)..=(*unit, all.noise())).any(|(&(_, label), &[own, own_work])| {
            let Some(&[others, others_work]) = of_others.get(&label) else { return false };
            let is_shared = 2.0 * own >= others;
            is_shared && is_alike(others - own, time) && is_alike(others_work - own_work, work)
        })
    })
}
