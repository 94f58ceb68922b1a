//! The places of the program's sequence, and which burst stands where.

use rayon::prelude::*;

use super::RunBursts;
use super::sequence::{Pair, align};
use super::steps::{Likeness, Nature, Steps, WorkRange, label, threads};
use crate::cluster::ClusterId;

/// Threads of a run that are aligned; of more, so many at equal distances, and
/// as many again that hold clusters of which those have nothing.
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

/// Aligns threads of every run to the longest of the reference's.
///
/// `ranges[r]` is how far ln(work) of run r may be above that of the reference.
pub(super) fn places(
    runs: &[RunBursts<'_>],
    natures: &[Nature],
    ranges: &[WorkRange],
    reference: usize,
) -> Places {
    let all: Vec<Vec<Steps>> = runs.iter().map(threads).collect();
    let longest = |steps: &&Steps| steps.bursts.len();
    // The first of those with the most.
    let Some(first) = all.get(reference).and_then(|threads| threads.iter().rev().max_by_key(longest)) else {
        let none = |run: &RunBursts<'_>| Placed {
            place: vec![None; run.complete.len()],
            aligned: vec![false; run.complete.len()],
        };
        return Places { n: 0, runs: runs.iter().map(none).collect() };
    };
    let place_run = |r: usize| {
        let chosen = chosen(&runs[r], &all[r]);
        let pairs: Vec<Vec<Pair>> = chosen
            .par_iter()
            .map(|&t| align_often((&natures[r], &all[r][t]), (&natures[reference], first), ranges[r]))
            .collect();
        let n = runs[r].complete.len();
        let mut placed = Placed { place: vec![None; n], aligned: vec![false; n] };
        for (&t, pairs) in chosen.iter().zip(pairs) {
            let steps = &all[r][t];
            steps.bursts.iter().for_each(|&burst| placed.aligned[burst as usize] = true);
            for pair in pairs {
                let burst = steps.bursts[pair.a as usize] as usize;
                placed.place[burst] = Some(Place { place: pair.b, likeness: pair.likeness });
            }
        }
        placed
    };
    let mut found = Places { n: first.bursts.len(), runs: (0..runs.len()).map(place_run).collect() };
    let n_aligned = chosen(&runs[reference], &all[reference]).len();
    drop_own_noise(&runs[reference], reference, n_aligned, &mut found);
    found
}

/// What is noise in the reference and at less than half of its threads is one
/// thread's own (it was interrupted, say): no place of the program.
fn drop_own_noise(run: &RunBursts<'_>, reference: usize, n_threads: usize, found: &mut Places) {
    let mut seen = vec![0; found.n];
    let mut in_a_cluster = vec![false; found.n];
    for (burst, place) in found.runs[reference].place.iter().enumerate() {
        if let Some(at) = place {
            seen[at.place as usize] += 1;
            in_a_cluster[at.place as usize] |= label(run, burst as u32).is_some();
        }
    }
    let is_own = |at: &Place| 2 * seen[at.place as usize] < n_threads && !in_a_cluster[at.place as usize];
    for place in found.runs.iter_mut().flat_map(|run| &mut run.place) {
        *place = place.filter(|at| !is_own(at));
    }
}

/// The threads to align: some at equal distances, and the first threads of
/// clusters that these have nothing of, of a few slow tasks for instance.
fn chosen(run: &RunBursts<'_>, threads: &[Steps]) -> Vec<usize> {
    let mut chosen = spread(threads.len(), MAX_THREADS);
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

/// The pairs of a sequence that may be several times as long as that of the
/// reference: what has no place yet is aligned again.
fn align_often(own: (&Nature, &Steps), reference: (&Nature, &Steps), range: WorkRange) -> Vec<Pair> {
    let (nature, steps) = own;
    let times = steps.bursts.len() as f64 / reference.1.bursts.len().max(1) as f64;
    let passes = (times.round() as usize).clamp(1, MAX_PASSES);
    let mut pairs = align(own, reference, range, true);
    for _ in 1..passes {
        let mut placed = vec![false; steps.bursts.len()];
        pairs.iter().for_each(|pair| placed[pair.a as usize] = true);
        let left: Vec<usize> = (0..placed.len()).filter(|&i| !placed[i]).collect();
        let rest = steps.part(&left);
        let more = align((nature, &rest), reference, range, false);
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
