//! The places of the program's sequence, and which burst stands where.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::lone::Alone;
use super::matched::RunBursts;
use super::sequence::{Pair, align};
use super::steps::{Likeness, Nature, SAME_TRAITS, SAME_WORK, Steps, WorkRange, label, traits_apart};
use super::threads::Threads;
use crate::cluster::ClusterId;

/// At most so many threads of a run are aligned, at equal distances; and as many
/// again that have clusters which the first ones lack.
const MAX_THREADS: usize = 32;
/// A sequence is aligned so many times at most.
const MAX_PASSES: usize = 64;

/// Where a burst stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Place {
    /// The place, from 0.
    pub(super) place: u32,
    /// How alike the burst is to that of the reference.
    pub(super) likeness: Likeness,
}

/// The bursts of a run by place.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    /// Of each complete burst, if it has one.
    pub(super) place: Vec<Option<Place>>,
    /// Whether its thread was aligned at all.
    pub(super) aligned: Vec<bool>,
}

/// All places.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) n: usize,
    pub(super) runs: Vec<Placed>,
}

/// A run by itself: a thread with the most steps (the guide), and where the steps of its
/// other threads stand in that one.
struct Own<'a> {
    /// The threads that are aligned.
    chosen: Vec<usize>,
    /// The thread that the others are aligned to.
    guide: &'a Steps,
    /// Of each complete burst, the step of the guide.
    step: Vec<Option<u32>>,
    /// Of each step of the guide, the share of the threads that have it.
    part: Vec<f64>,
    /// Threads of which less than half of the bursts have a step of the guide.
    apart: Vec<usize>,
    /// Threads of the run.
    n_threads: f64,
}

impl<'a> Own<'a> {
    /// `None` of a run without complete bursts.
    ///
    /// A run that `is_alone`, with no other to be compared with, is aligned by the clock as
    /// well, and leaving out steps costs nothing in it. (Beside another run this was worse: of a
    /// serial step of few bursts, less was found.)
    fn of(
        run: &RunBursts<'_>,
        nature: &Nature,
        threads: &'a Threads,
        (range, is_alone): (WorkRange, bool),
    ) -> Option<Self> {
        let (first, threads) = (threads.guide?, &threads.steps);
        let guide = &threads[first];
        let chosen = chosen(run, threads, first);
        // Of steps as alike, those are one that begin at about one time.
        let begin = |burst: u32| run.table.begin[run.complete.at(burst as usize) as usize].0;
        let begins = || (0..run.complete.len() as u32).map(begin);
        let length = (begins().max()? - begins().min()?).max(1);
        let align_own = |&t: &usize| match t == first {
            true => (0..guide.bursts.len() as u32).map(|k| (k, k)).collect(),
            false => {
                let near = |a: usize, b: usize| {
                    if !is_alone {
                        return 1.0;
                    }
                    let apart = begin(threads[t].bursts[a]).abs_diff(begin(guide.bursts[b]));
                    1.0 - apart as f64 / length as f64
                };
                let pairs = align((nature, &threads[t]), (nature, guide), range, (true, is_alone), near);
                pairs.iter().map(|pair| (pair.a, pair.b)).collect()
            }
        };
        let pairs: Vec<Vec<(u32, u32)>> = chosen.par_iter().map(align_own).collect();
        let mut step = vec![None; run.complete.len()];
        let mut part = vec![0.0; guide.bursts.len()];
        let mut apart = Vec::new();
        for (&t, pairs) in chosen.iter().zip(&pairs) {
            let steps = &threads[t];
            if 2 * pairs.len() < steps.bursts.len() {
                apart.push(t);
            }
            for &(a, b) in pairs {
                step[steps.bursts[a as usize] as usize] = Some(b);
                part[b as usize] += 1.0 / chosen.len() as f64;
            }
        }
        Some(Self { chosen, guide, step, part, apart, n_threads: threads.len() as f64 })
    }

    /// How alike a step of this run and one of another are in how many threads
    /// run them: by their number or by their share of all, whichever is nearer.
    /// Work of one thread for all is on one of 4 threads and on one of 16; work
    /// of all is on 4 of 4 and on 16 of 16.
    fn part_alike(&self, a: usize, other: &Self, b: usize) -> f64 {
        let alike = |x: f64, y: f64| x.min(y) / x.max(y);
        let (x, y) = (self.part[a], other.part[b]);
        alike(x, y).max(alike(x * self.n_threads, y * other.n_threads))
    }
}

/// Aligns the threads of every run to the guide of that run, and this one to
/// the guide of the reference. The first step is the surer one: within a run, a
/// step does the same work on every thread that has it, while between runs the
/// work may differ by the ratio of the threads, so that one burst can pass for
/// another. Threads that do other things than the longest of their run are
/// aligned to the reference directly.
///
/// `ranges[r]` is how far ln(work) of run r may be above that of the reference.
pub(super) fn places(
    runs: &[RunBursts<'_>],
    natures: &[Nature],
    ranges: &[WorkRange],
    reference: usize,
) -> Places {
    let all: Vec<Threads> = runs.iter().map(Threads::of).collect();
    let own = |r: usize| Own::of(&runs[r], &natures[r], &all[r], (WorkRange::between(1, 1), runs.len() == 1));
    let own: Vec<Option<Own<'_>>> = (0..runs.len()).map(own).collect();
    let none = |r: usize| {
        let n = runs[r].complete.len();
        Placed { place: vec![None; n], aligned: vec![false; n] }
    };
    let Some(of_reference) = own.get(reference).and_then(Option::as_ref) else {
        return Places { n: 0, runs: (0..runs.len()).map(none).collect() };
    };
    let guide = (&natures[reference], of_reference.guide);
    let place_run = |r: usize| {
        let mut placed = none(r);
        let Some(own) = &own[r] else { return placed };
        for &t in &own.chosen {
            all[r].steps[t].bursts.iter().for_each(|&burst| placed.aligned[burst as usize] = true);
        }
        let n_steps = own.guide.bursts.len();
        let mut place_of: Vec<Option<u32>> = (0..n_steps as u32).map(Some).collect();
        if r != reference {
            let alike = |a: usize, b: usize| own.part_alike(a, of_reference, b);
            place_of = vec![None; n_steps];
            for pair in align_often((&natures[r], own.guide), guide, ranges[r], alike) {
                place_of[pair.a as usize] = Some(pair.b);
            }
        }
        let at = |burst: usize, place: u32| {
            let of_place = guide.1.bursts[place as usize];
            let likeness = natures[r].likeness(burst as u32, (guide.0, of_place), ranges[r]);
            Place { place, likeness }
        };
        for (burst, step) in own.step.iter().enumerate() {
            placed.place[burst] = step.and_then(|step| place_of[step as usize]).map(|place| at(burst, place));
        }
        if r != reference {
            let align_one =
                |&t: &usize| align_often((&natures[r], &all[r].steps[t]), guide, ranges[r], |_, _| 1.0);
            let pairs: Vec<Vec<Pair>> = own.apart.par_iter().map(align_one).collect();
            for (&t, pairs) in own.apart.iter().zip(pairs) {
                all[r].steps[t].bursts.iter().for_each(|&burst| placed.place[burst as usize] = None);
                for pair in pairs {
                    let burst = all[r].steps[t].bursts[pair.a as usize] as usize;
                    placed.place[burst] = Some(Place { place: pair.b, likeness: pair.likeness });
                }
            }
        }
        placed
    };
    let mut found = Places { n: guide.1.bursts.len(), runs: (0..runs.len()).map(place_run).collect() };
    drop_own_noise(runs, natures, (reference, guide.1), of_reference.chosen.len(), &mut found);
    found
}

/// Drops the places that are noise in the reference and are on less than half of
/// its threads: such a burst is a thread's own (it was interrupted, for instance)
/// and no step of the program.
///
/// A burst during which all others wait, for a part of the run that matters, is a step: one
/// thread reads the input for all. Such a place keeps what is serial in other runs too (where
/// one thread is all of a run, what is noise), and places of one such step are one.
fn drop_own_noise(
    runs: &[RunBursts<'_>],
    natures: &[Nature],
    (reference, guide): (usize, &Steps),
    n_threads: usize,
    found: &mut Places,
) {
    let mut seen = vec![0; found.n];
    let mut in_a_cluster = vec![false; found.n];
    let mut is_serial = vec![false; found.n];
    let alone: Vec<Alone> = runs.iter().map(Alone::of).collect();
    for (burst, place) in found.runs[reference].place.iter().enumerate() {
        if let Some(at) = place.map(|at| at.place as usize) {
            seen[at] += 1;
            in_a_cluster[at] |= label(&runs[reference], burst as u32).is_some();
            is_serial[at] |= alone[reference].is_long(burst);
        }
    }
    let is_own: Vec<bool> = (0..found.n).map(|at| 2 * seen[at] < n_threads && !in_a_cluster[at]).collect();
    let steps: Vec<usize> = (0..found.n).filter(|&at| is_own[at] && is_serial[at]).collect();
    let first = first_alike(&natures[reference], &steps, guide);
    for (r, placed) in found.runs.iter_mut().enumerate() {
        let several = runs[r].threads() > 1;
        for (burst, place) in placed.place.iter_mut().enumerate() {
            let Some(at) = place.filter(|at| is_own[at.place as usize]) else { continue };
            let is_step = alone[r].is_serial(burst) && (several || label(&runs[r], burst as u32).is_none());
            let step = first.get(&(at.place as usize)).filter(|_| is_step);
            *place = step.map(|&first| Place { place: first as u32, ..at });
        }
    }
}

/// Of each of some places, the first of them that does the same work at the same speed.
fn first_alike(nature: &Nature, places: &[usize], guide: &Steps) -> BTreeMap<usize, usize> {
    let burst = |at: usize| guide.bursts[at] as usize;
    let is_alike = |a: usize, b: usize| {
        (nature.work[burst(a)] - nature.work[burst(b)]).abs() < SAME_WORK
            && traits_apart(nature.traits(burst(a)), nature.traits(burst(b))) < SAME_TRAITS
    };
    let mut firsts: Vec<usize> = Vec::new();
    let mut found = BTreeMap::new();
    for &at in places {
        let first = firsts.iter().copied().find(|&first| is_alike(first, at)).unwrap_or(at);
        if first == at {
            firsts.push(at);
        }
        found.insert(at, first);
    }
    found
}

/// The threads to align: some at equal distances, the longest, and for each
/// cluster that these lack, the first thread that has it. A few slow tasks can
/// have such a cluster.
fn chosen(run: &RunBursts<'_>, threads: &[Steps], longest: usize) -> Vec<usize> {
    let mut chosen = spread(threads.len(), MAX_THREADS);
    if !chosen.contains(&longest) {
        chosen.push(longest);
    }
    if chosen.len() == threads.len() {
        return chosen;
    }
    let clusters = |t: usize| threads[t].bursts.iter().filter_map(|&burst| label(run, burst));
    let mut seen = vec![false; run.clustering.n_clusters];
    chosen.iter().flat_map(|&t| clusters(t)).for_each(|id: ClusterId| seen[id.index()] = true);
    for t in 0..threads.len() {
        if chosen.len() < 2 * MAX_THREADS && clusters(t).any(|id| !seen[id.index()]) {
            clusters(t).for_each(|id| seen[id.index()] = true);
            chosen.push(t);
        }
    }
    chosen.sort_unstable();
    chosen
}

/// Aligns a sequence that may be several times as long as the reference's: what
/// has found no place is aligned again, until nothing more does.
fn align_often(
    own: (&Nature, &Steps),
    reference: (&Nature, &Steps),
    range: WorkRange,
    part: impl Fn(usize, usize) -> f64,
) -> Vec<Pair> {
    let (nature, steps) = own;
    let times = steps.bursts.len() as f64 / reference.1.bursts.len().max(1) as f64;
    let passes = (times.round() as usize).clamp(1, MAX_PASSES);
    let mut pairs = align(own, reference, range, (true, false), &part);
    for _ in 1..passes {
        let mut placed = vec![false; steps.bursts.len()];
        pairs.iter().for_each(|pair| placed[pair.a as usize] = true);
        let left: Vec<usize> = (0..placed.len()).filter(|&i| !placed[i]).collect();
        let rest = steps.part(&left);
        let more = align((nature, &rest), reference, range, (false, false), |a, b| part(left[a], b));
        pairs.extend(more.into_iter().map(|pair| Pair { a: left[pair.a as usize] as u32, ..pair }));
    }
    pairs
}

/// At most `most` of `n` numbers, at equal distances, first and last included.
fn spread(n: usize, most: usize) -> Vec<usize> {
    if n <= most { (0..n).collect() } else { (0..most).map(|k| k * (n - 1) / (most - 1)).collect() }
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn threads_are_chosen_from_first_to_last() {
        assert_eq!(spread(3, 32), [0, 1, 2]);
        assert_eq!(spread(10, 4), [0, 3, 6, 9]);
    }
}
