//! How the times of threads lie, and whether chance would do.

use std::collections::BTreeSet;

use super::finding::{Cause, LEAST_APART};
use super::stretches::{Part, Stretches};
use crate::{Gap, gap, median};

/// The slope of ln(instructions) over ln(time) says what makes threads slow: up to
/// this it is speed, from 1 less this on it is work, and between it is both.
pub(super) const SLOPE: f64 = 0.25;

/// With fewer units than this, a gradient cannot be told from anything else.
const LEAST_UNITS: usize = 4;

/// The relative standard deviation of bursts with the same work, where nothing is
/// repeated and so it cannot be measured: the system, caches and memory disturb
/// them.
pub(super) const NOISE: f64 = 0.03;

/// From so many parts on, it is measured how far bursts of the same work differ.
pub(super) const REPEATED: usize = 4;

/// How the times of units lie.
pub(super) enum Shape {
    /// These are apart from the others, and at most half.
    Late(Vec<u32>),
    /// These take less, and are fewer than half: who is late is nearly all. They are most of why
    /// the slowest is above the mean.
    Early(Vec<u32>),
    /// No gap parts them.
    Gradient,
    /// They are too few to tell; or few take less, but are not most of why the slowest is above
    /// the mean, and no gap parts those that are.
    Other,
}

/// Units take longest together if each takes at least this share of the longest time: one that
/// takes less is nearer to none at all.
pub(super) const TOGETHER: f64 = 0.5;

/// The smaller side of the gap of ln(time over the group's mean), if there is
/// one. Where some have no time, all others may be above the gap, however much they
/// differ; then it is sought again among these. So it is where few take less, and the slowest is
/// further above the others than these are above the mean of all.
pub(super) fn shape(stretches: &Stretches<'_>, times: &[f64]) -> Shape {
    let means = means(stretches, times);
    let mean = |unit: usize| means[stretches.group_of(unit as u32)];
    let units: Vec<usize> = (0..times.len()).filter(|&unit| mean(unit) > 0.0).collect();
    let most = units.iter().map(|&unit| times[unit] / mean(unit)).fold(0.0, f64::max);
    // A unit without the step is far below, but not infinitely.
    let height = |&unit: &usize| (times[unit] / mean(unit)).max(1e-3 * most).ln();
    let side = |places: &[usize]| {
        let mut side: Vec<u32> = places.iter().map(|&place| units[place] as u32).collect();
        side.sort_unstable();
        side
    };
    let heights: Vec<f64> = units.iter().map(height).collect();
    let no_gap = || if units.len() >= LEAST_UNITS { Shape::Gradient } else { Shape::Other };
    match gap(&heights) {
        Some(Gap { low, high }) if high.len() <= low.len() => {
            together(&heights, high).map_or_else(no_gap, |late| Shape::Late(side(&late)))
        }
        Some(Gap { low, high }) => {
            let value = |places: &[usize]| -> Vec<f64> {
                places.iter().map(|&place| times[units[place]] / mean(units[place])).collect()
            };
            let all: Vec<usize> = (0..units.len()).collect();
            match above(&value(&high), mean_of(&value(&all))) {
                [slowest, by_few] if slowest <= by_few => Shape::Early(side(&low)),
                _ => among(&heights, &high).map_or(Shape::Other, |late| Shape::Late(side(&late))),
            }
        }
        None => no_gap(),
    }
}

/// By how much the greatest of some times is above their mean, and that above the mean of all.
fn above(times: &[f64], of_all: f64) -> [f64; 2] {
    let mean = mean_of(times);
    [times.iter().copied().fold(0.0, f64::max) - mean, mean - of_all]
}

fn mean_of(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len().max(1) as f64
}

/// Of some of the units, by place, those that take longest together, and are at most half of all.
fn among(heights: &[f64], places: &[usize]) -> Option<Vec<usize>> {
    let longest = above_gap(heights, places)?;
    (2 * longest.len() <= heights.len()).then(|| together(heights, longest)).flatten()
}

/// Of units that take longest, by place, those that do so together; `None` where no gap parts
/// them from the rest.
fn together(heights: &[f64], mut longest: Vec<usize>) -> Option<Vec<usize>> {
    loop {
        let own = || longest.iter().map(|&place| heights[place]);
        let most = own().fold(f64::NEG_INFINITY, f64::max);
        if own().all(|height| height >= most + TOGETHER.ln()) {
            return Some(longest);
        }
        longest = above_gap(heights, &longest)?;
    }
}

/// Those of some units, by place, that are above the widest gap among them.
fn above_gap(heights: &[f64], places: &[usize]) -> Option<Vec<usize>> {
    let own: Vec<f64> = places.iter().map(|&place| heights[place]).collect();
    Some(gap(&own)?.high.into_iter().map(|place| places[place]).collect())
}

/// How far above the mean the last of `n` units is by chance, as a share of the
/// mean, if each has about `bursts` bursts whose relative standard deviation is
/// `noise`. The largest of n draws from a normal distribution is expected at most
/// √(2 ln n) standard deviations above the mean.
pub(super) fn by_chance(n: f64, bursts: f64, noise: f64) -> f64 {
    let apart = noise * (2.0 * n.max(1.0).ln()).sqrt() / bursts.max(1.0).sqrt();
    apart.max(LEAST_APART)
}

/// Whether a step is done too seldom to say how far its bursts differ.
pub(super) fn noise_of_single(parts: &[&Part]) -> bool {
    parts.len() < REPEATED
}

/// How far the same unit differs from itself by chance: the standard deviation of
/// ln(time of the unit over the mean of all) from one part of a step to the next,
/// if there are enough parts. It is taken from the median, because a stall or a
/// lasting change is no chance.
pub(super) fn noise(stretches: &Stretches<'_>, parts: &[&Part]) -> Option<f64> {
    let mut apart = changes(stretches, parts)?;
    let middle = apart.len() / 2;
    let order = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0);
    (!apart.is_empty()).then(|| apart.select_nth_unstable_by(middle, order).1.0 / OF_MEDIAN)
}

/// The same for what is judged by sums over all parts: each difference weighs as much as the shorter
/// of its two parts takes. Where a step grows, its long parts decide over the sums, and short ones
/// differ by more.
pub(super) fn noise_of_sums(stretches: &Stretches<'_>, parts: &[&Part]) -> Option<f64> {
    median::weighted(changes(stretches, parts)?).map(|median| median / OF_MEDIAN)
}

/// Of a normal distribution, half of the draws are within 0.6745 standard deviations, and a
/// difference of two has √2 times as much.
const OF_MEDIAN: f64 = 0.6745 * std::f64::consts::SQRT_2;

/// By how much ln(time over the mean) of each unit changes from one part to the next, and the mean
/// time in the shorter of both. `None` of few parts.
fn changes(stretches: &Stretches<'_>, parts: &[&Part]) -> Option<Vec<(f64, f64)>> {
    if noise_of_single(parts) {
        return None;
    }
    let mut last: Vec<Option<[f64; 2]>> = vec![None; stretches.n_units()];
    let mut times: Vec<Option<f64>> = vec![None; stretches.n_units()];
    let (mut units, mut apart) = (Vec::new(), Vec::new());
    for part in parts {
        for &burst in &part.bursts {
            let unit = stretches.unit(burst);
            *times[unit as usize].get_or_insert_with(|| {
                units.push(unit);
                0.0
            }) += stretches.all.duration(burst) as f64;
        }
        units.sort_unstable();
        let sum: f64 = units.iter().filter_map(|&unit| times[unit as usize]).sum();
        let mean = sum / units.len().max(1) as f64;
        for unit in units.drain(..) {
            let now = (times[unit as usize].take().unwrap_or_default() / mean).ln();
            let before = last[unit as usize].replace([now, mean]);
            apart.extend(before.map(|[last, mean_before]| ((now - last).abs(), mean.min(mean_before))));
        }
    }
    Some(apart)
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

/// By how much the last of each group is above its mean, in all.
pub(super) fn above_mean(stretches: &Stretches<'_>, times: &[f64]) -> f64 {
    let mut most = vec![0.0f64; stretches.n_groups()];
    for (unit, &time) in times.iter().enumerate() {
        let most = &mut most[stretches.group_of(unit as u32)];
        *most = most.max(time);
    }
    most.iter().zip(means(stretches, times)).map(|(most, mean)| most - mean).sum()
}

/// Of several groups, one names its ends if it costs at least this share of what the most costly
/// one does.
const COSTS: f64 = 0.1;

/// The units with least and with most time, of each group in which these are apart.
pub(super) fn ends(stretches: &Stretches<'_>, times: &[f64]) -> [Vec<u32>; 2] {
    let mut units: Vec<Vec<u32>> = vec![Vec::new(); stretches.n_groups()];
    (0..times.len() as u32).for_each(|unit| units[stretches.group_of(unit)].push(unit));
    let time = |unit: u32| times[unit as usize];
    let of_group = |units: Vec<u32>, mean: f64| {
        let least = units.iter().copied().min_by(|&a, &b| time(a).total_cmp(&time(b)).then(a.cmp(&b)))?;
        let most = units.iter().copied().max_by(|&a, &b| time(a).total_cmp(&time(b)).then(b.cmp(&a)))?;
        Some((time(most) - mean, least, most))
    };
    let means = means(stretches, times);
    let found: Vec<(f64, u32, u32)> =
        units.into_iter().zip(means).filter_map(|(units, mean)| of_group(units, mean)).collect();
    let dearest = found.iter().map(|found| found.0).fold(0.0, f64::max);
    let costly = || found.iter().filter(|found| found.0 >= COSTS * dearest);
    [costly().map(|found| found.1).collect(), costly().map(|found| found.2).collect()]
}

/// Mean time of those units over that of the others of their groups.
pub(super) fn ratio(stretches: &Stretches<'_>, times: &[f64], units: &[u32]) -> f64 {
    let groups: BTreeSet<usize> = units.iter().map(|&unit| stretches.group_of(unit)).collect();
    let mut sums = [[0.0; 2]; 2];
    for (unit, &time) in times.iter().enumerate() {
        if groups.contains(&stretches.group_of(unit as u32)) {
            let [sum, n] = &mut sums[usize::from(units.contains(&(unit as u32)))];
            (*sum, *n) = (*sum + time, *n + 1.0);
        }
    }
    let [others, named] = sums.map(|[sum, n]| sum / n);
    named / others
}

/// Whether more instructions, or more time for each, make units take longer
/// than the others of their group.
pub(super) fn cause(stretches: &Stretches<'_>, times: &[f64], instructions: &[f64]) -> Cause {
    let means = means(stretches, times);
    let mut sums = vec![[0.0; 3]; stretches.n_groups()];
    let mut pairs = Vec::new();
    for (unit, (&time, &instructions)) in times.iter().zip(instructions).enumerate() {
        let group = stretches.group_of(unit as u32);
        match (time > 0.0, instructions > 0.0) {
            (true, true) => pairs.push((group, time.ln(), instructions.ln())),
            (false, _) if means[group] == 0.0 => continue,
            // All take part and have the count, or nothing is said: what is
            // between some of them need not be why the others take less.
            _ => return Cause::Unknown,
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
