//! What threads do instead of a phase that only some of them have.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::counts::{Counts, evens_out, sum};
use super::finding::LEAST_APART;
use super::stretches::{Stretches, Sum};
use crate::bursts::rates::instructions_and_cycles;
use crate::bursts::serial::is_nearly_all;
use crate::median;

/// A thread does one label instead of another if it does it at least so many times
/// more often than the mean thread, in one stretch.
const MORE: f64 = 0.25;

impl Stretches<'_> {
    /// What others do next to some phases: for each of their bursts, the phase that
    /// begins nearest to it in the stretch, among those that the burst's unit does
    /// at most half as often as the mean. Returns the time of each phase's bursts by that
    /// other.
    pub(super) fn others_begin(&self, wanted: &[bool], counts: &Counts) -> Vec<BTreeMap<u32, f64>> {
        let mut lacks: Vec<Vec<u32>> = vec![Vec::new(); self.n_units()];
        for (&label, of) in counts {
            let half = 0.5 * sum(of) / self.n_units() as f64;
            let mut known = of.iter().peekable();
            for (unit, lacks) in (0..).zip(&mut lacks) {
                let count = known.next_if(|(other, _)| *other == unit).map_or(0.0, |(_, count)| *count);
                if count <= half {
                    lacks.push(label);
                }
            }
        }
        let is_wanted = |burst: &u32| wanted.get(self.all.label(*burst) as usize) == Some(&true);
        let mut times = vec![BTreeMap::new(); self.all.n_labels()];
        for bursts in self.each().filter(|bursts| bursts.iter().any(is_wanted)) {
            let mut begins: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
            for &burst in bursts.iter().filter(|&&burst| self.all.label(burst) != self.all.noise()) {
                begins.entry(self.all.label(burst)).or_default().push(self.all.begin(burst).0);
            }
            for &burst in bursts.iter().filter(|burst| is_wanted(burst)) {
                let lacked = lacks[self.unit(burst) as usize].iter();
                let apart =
                    |other: &u32| Some((nearest(begins.get(other)?, self.all.begin(burst).0), *other));
                if let Some((_, other)) = lacked.filter_map(apart).min() {
                    let label = self.all.label(burst) as usize;
                    *times[label].entry(other).or_insert(0.0) += self.all.duration(burst) as f64;
                }
            }
        }
        times
    }

    /// A step that more than half of the units do equally often in a stretch, and what the others do
    /// instead: steps (and noise) that only units have which lack it, each just as often as it does.
    /// Empty where these have more or less.
    pub(super) fn only_of_lacking(&self, bursts: &[u32], (most, often): (u32, f64)) -> Vec<u32> {
        let step = |burst: u32| self.step[self.all.label(burst) as usize];
        let mut lacks: BTreeMap<u32, f64> = BTreeMap::new();
        for &burst in bursts {
            *lacks.entry(self.unit(burst)).or_insert(often) -= f64::from(u8::from(step(burst) == most));
        }
        let n = lacks.len();
        let n_full = lacks.values().filter(|lacks| **lacks == 0.0).count();
        if n < self.peers(self.unit(bursts[0])) as usize || 2 * n_full <= n {
            return Vec::new();
        }
        let (of_lacking, of_full): (Vec<u32>, Vec<u32>) =
            bursts.iter().partition(|&&burst| lacks[&self.unit(burst)] > 0.0);
        let of_full: BTreeSet<u32> = of_full.into_iter().map(step).collect();
        let others: BTreeSet<u32> = of_lacking
            .into_iter()
            .map(step)
            .filter(|step| *step != most && !of_full.contains(step))
            .collect();
        for &burst in bursts.iter().filter(|&&burst| others.contains(&step(burst))) {
            *lacks.entry(self.unit(burst)).or_default() -= 1.0;
        }
        if lacks.into_values().any(|lacks| lacks != 0.0) {
            return Vec::new();
        }
        others.into_iter().chain([most]).collect()
    }

    /// What most others do in the place of each phase: where most units do as many bursts one
    /// after the other in a round, what most of these do as their first is one step, what they
    /// do as their second another. A phase stands in the place of another one as far as its units
    /// do that one less often than most. Returns the time of each phase by the other.
    pub(super) fn in_place(&self) -> Vec<BTreeMap<u32, f64>> {
        let mut times = vec![BTreeMap::new(); self.all.n_labels()];
        for (round, units) in self.rounds() {
            let n = self.peers(units[0]) as usize;
            let rows = round.chunk_by(|&a, &b| self.unit(a) == self.unit(b));
            let rows: Vec<&[u32]> =
                rows.filter(|row| units.binary_search(&self.unit(row[0])).is_ok()).collect();
            let Some(length) = most(rows.iter().map(|row| row.len())) else { continue };
            let rows: Vec<&[u32]> = rows.into_iter().filter(|row| row.len() == length).collect();
            if rows.len() < 3 || 2 * rows.len() <= n {
                continue;
            }
            let label = |row: &[u32], place: usize| self.all.label(row[place]);
            let usual = (0..length).map(|place| most(rows.iter().map(|row| label(row, place))));
            let usual: Vec<u32> = usual.map(|label| label.unwrap_or(self.all.noise())).collect();
            for row in rows {
                let lacks = |other: u32| {
                    let own = row.iter().filter(|&&burst| self.all.label(burst) == other).count();
                    other != self.all.noise() && own < usual.iter().filter(|&&usual| usual == other).count()
                };
                for (place, &other) in usual.iter().enumerate() {
                    let own = label(row, place);
                    if own != other && lacks(other) {
                        *times[own as usize].entry(other).or_insert(0.0) +=
                            self.all.duration(row[place]) as f64;
                    }
                }
            }
        }
        times
    }

    /// The bursts of each round, by unit: a stretch in which more than half of the units of a group
    /// compute, and those behind it in which at most half do; and the units of that first stretch.
    /// One of these that does more of several steps does the last of them alone.
    fn rounds(&self) -> Vec<(Vec<u32>, Vec<u32>)> {
        let mut rounds: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
        for bursts in self.each() {
            let mut units: Vec<u32> = bursts.iter().map(|&burst| self.unit(burst)).collect();
            units.sort_unstable();
            units.dedup();
            let is_of_few = 2 * units.len() <= self.peers(units[0]) as usize;
            match rounds.last_mut() {
                Some((round, _)) if is_of_few && self.group(round[0]) == self.group(bursts[0]) => {
                    round.extend(bursts);
                }
                _ => rounds.push((bursts.to_vec(), units)),
            }
        }
        rounds.iter_mut().for_each(|(round, _)| round.sort_by_key(|&burst| self.unit(burst)));
        rounds
    }

    /// The phase that is the same step on other units: the only one that has the same
    /// instructions, and with which all do the step about as often. A slow unit may do a step
    /// alone, when the others have done it long ago. Of two such phases nothing tells which it
    /// is. `work` keeps what is found out once.
    pub(super) fn same_work(&self, label: u32, counts: &Counts, work: &OnceCell<Work>) -> Option<u32> {
        let Work { of_label, ascending } = work.get_or_init(|| self.work());
        let least = of_label.get(label as usize)? - LEAST_APART;
        let first = ascending.partition_point(|&(work, _)| work < least);
        let near = ascending[first..].iter().take_while(|(work, _)| *work <= least + 2.0 * LEAST_APART);
        let own = counts.get(&label)?;
        let n = self.n_units() as f64;
        let is_one =
            |other: &u32| *other != label && counts.get(other).is_some_and(|of| evens_out(own, of, n));
        let mut same = near.map(|&(_, other)| other).filter(is_one);
        same.next().filter(|_| same.next().is_none())
    }

    /// Whether a phase has the same instructions as another, and no unit does both: if they are done at
    /// the same time, it is the other that is done instead, and not what stands in its place of the
    /// sequence.
    pub(super) fn is_same_work(&self, [a, b]: [u32; 2], counts: &Counts, work: &OnceCell<Work>) -> bool {
        let Work { of_label, .. } = work.get_or_init(|| self.work());
        let work = |label: u32| of_label.get(label as usize).copied().unwrap_or(f64::NAN);
        let (Some(of_a), Some(of_b)) = (counts.get(&a), counts.get(&b)) else { return false };
        let does = |unit: u32| of_b.binary_search_by_key(&unit, |of| of.0).is_ok();
        (work(a) - work(b)).abs() <= LEAST_APART && !of_a.iter().any(|&(unit, _)| does(unit))
    }

    /// Of each label, how long the bursts are in which its time is: the mean length, by time.
    pub(super) fn lengths(&self) -> Vec<f64> {
        let mut sums = vec![[0.0; 2]; self.all.n_labels()];
        for &burst in self.order() {
            let time = self.all.duration(burst) as f64;
            let [squares, times] = &mut sums[self.all.label(burst) as usize];
            (*squares, *times) = (*squares + time * time, *times + time);
        }
        sums.into_iter().map(|[squares, times]| squares / times).collect()
    }

    /// Whether each unit has just as many bursts of no phase as it lacks of a step: others have
    /// these for another reason. If that is not so of all of them, those count that take about as long
    /// as bursts of the step.
    pub(super) fn is_missing(&self, bursts: &[u32], of: &Sum) -> bool {
        let is_noise = |burst: u32| self.all.label(burst) == self.all.noise();
        let n_missing = self.peers(self.unit(bursts[0])) * of.most_count - of.count;
        let has_just = |is_like: &dyn Fn(u32) -> bool| {
            let n_odd = bursts.iter().filter(|&&burst| is_noise(burst) && is_like(burst)).count();
            if n_odd as f64 != n_missing {
                return false;
            }
            let mut lacks: BTreeMap<u32, f64> = BTreeMap::new();
            for &burst in bursts {
                let own = match is_noise(burst) {
                    true => is_like(burst),
                    false => self.step[self.all.label(burst) as usize] == of.label,
                };
                *lacks.entry(self.unit(burst)).or_insert(of.most_count) -= f64::from(u8::from(own));
            }
            lacks.into_values().all(|lacks| lacks == 0.0)
        };
        let mean = of.time / of.count;
        has_just(&|_| true) || has_just(&|burst| is_near(self.all.duration(burst) as f64, mean))
    }

    /// Of each phase, the median instructions of its bursts.
    fn work(&self) -> Work {
        let counters = &self.all.table.counters;
        let Some(counter) = instructions_and_cycles(counters)[0] else { return Work::default() };
        let instructions = &counters[counter].values;
        let mut of_phase: Vec<Vec<f64>> = vec![Vec::new(); self.all.noise() as usize];
        for &burst in self.order().iter().filter(|&&burst| self.all.label(burst) != self.all.noise()) {
            of_phase[self.all.label(burst) as usize].push(instructions.get(burst as usize));
        }
        let middle = |values: Vec<f64>| median::upper(&median::sorted(values)).unwrap_or(f64::NAN).ln();
        let of_label: Vec<f64> = of_phase.into_iter().map(middle).collect();
        let known = of_label.iter().copied().zip(0..).filter(|(work, _)| work.is_finite());
        let mut ascending: Vec<(f64, u32)> = known.collect();
        ascending.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Work { of_label, ascending }
    }
}

/// What phases have to do: ln of the median instructions. Empty where they are not counted.
#[derive(Default)]
pub(super) struct Work {
    of_label: Vec<f64>,
    ascending: Vec<(f64, u32)>,
}

/// What there is most of; of several, the least.
fn most<T: Ord>(of: impl Iterator<Item = T>) -> Option<T> {
    let mut times: BTreeMap<T, usize> = BTreeMap::new();
    of.for_each(|one| *times.entry(one).or_insert(0) += 1);
    let order = |a: &(T, usize), b: &(T, usize)| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0));
    times.into_iter().max_by(order).map(|(one, _)| one)
}

/// Whether two times are about as long: each is more than a tenth of the other.
pub(super) fn is_near(a: f64, b: f64) -> bool {
    !is_nearly_all((a - b).abs(), a.max(b))
}

/// How far the nearest of ascending moments is.
fn nearest(moments: &[u64], at: u64) -> u64 {
    let after = moments.partition_point(|&moment| moment < at);
    let around = moments[after.saturating_sub(1)..].iter().take(2);
    around.map(|moment| moment.abs_diff(at)).min().unwrap_or(u64::MAX)
}

/// The labels that threads do one instead of the other in a stretch: those that
/// the slowest thread does more often than the mean thread, and those that it does
/// less often. Empty if there are not both. Bursts of no phase count too, if there are at least as
/// many as some threads lack of a phase, and `is_missing` says that they are theirs; with that phase they
/// are another step than other labels.
pub(super) fn instead(sums: &[Sum], noise: u32, n: f64, is_missing: impl Fn(&Sum) -> bool) -> [Vec<u32>; 2] {
    let times_more = |sum: &Sum| sum.own_count - sum.count / n;
    let side = |is_one: &dyn Fn(&Sum) -> bool| {
        sums.iter().filter(|sum| is_one(sum)).map(|sum| sum.label).collect::<Vec<u32>>()
    };
    let more = side(&|sum| times_more(sum) >= MORE && sum.own > sum.time / n);
    let less = side(&|sum| times_more(sum) < 0.0);
    let mut joined = if more.is_empty() || less.is_empty() { Vec::new() } else { [more, less].concat() };
    // Where no more bursts are missing than there are of no phase.
    let odd = sums.iter().find(|sum| sum.label == noise).map_or(0.0, |sum| sum.count);
    let missing = |sum: &&Sum| {
        let lacks = n * sum.most_count - sum.count;
        sum.label != noise && lacks > 0.0 && lacks <= odd
    };
    let lacking =
        sums.iter().filter(missing).filter(|sum| is_missing(sum)).max_by(|a, b| a.time.total_cmp(&b.time));
    match lacking.map(|sum| [sum.label, noise]) {
        Some(both) if joined.is_empty() || joined.contains(&both[0]) => joined.extend(both),
        Some(both) if !joined.contains(&noise) => return [joined, both.to_vec()],
        _ => {}
    }
    [joined, Vec::new()]
}

/// The step with most time, if some units do it less often than others.
pub(super) fn lacking(sums: &[Sum], noise: u32, n: f64) -> Option<&Sum> {
    let most = sums.iter().filter(|sum| sum.label != noise).max_by(|a, b| a.time.total_cmp(&b.time));
    most.filter(|sum| n * sum.most_count > sum.count)
}
