//! In which order sequences join.

use rayon::prelude::*;

use super::lcs::Lengths;

/// Words that comparing all pairs may touch; more, and sequences are compared
/// by their ends.
const WORDS: usize = 1 << 30;

/// The order in which sequences join a profile: the one most like all others
/// first, then by how much they are like it.
pub(super) fn joining_order(sequences: &[&[u32]], weights: &[u32]) -> Vec<usize> {
    let n = sequences.len();
    let ends = ends(sequences);
    let to_earlier = |i: usize| {
        let mut lengths = Lengths::of(&ends[i]);
        ends[..i].iter().map(|other| distance(&mut lengths, ends[i].len(), other)).collect()
    };
    let distances: Vec<Vec<f64>> = (0..n).into_par_iter().map(to_earlier).collect();
    let between = |i: usize, j: usize| if i == j { 0.0 } else { distances[i.max(j)][i.min(j)] };
    let far = |i: usize| (0..n).map(|j| between(i, j) * f64::from(weights[j])).sum::<f64>();
    let far: Vec<f64> = (0..n).map(far).collect();
    let Some(centre) = (0..n).min_by(|&i, &j| far[i].total_cmp(&far[j])) else { return Vec::new() };
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| {
        let nearer = between(centre, i).total_cmp(&between(centre, j));
        (i != centre).cmp(&(j != centre)).then(nearer).then(i.cmp(&j))
    });
    order
}

/// The share of symbols that a longest common subsequence leaves out.
fn distance(lengths: &mut Lengths, len: usize, other: &[u32]) -> f64 {
    let all = len + other.len();
    if all == 0 { 0.0 } else { 1.0 - 2.0 * lengths.with(other) as f64 / all as f64 }
}

/// The sequences, or as many symbols of both their ends as there is time to
/// compare.
fn ends(sequences: &[&[u32]]) -> Vec<Vec<u32>> {
    let pairs = sequences.len() * sequences.len() / 2;
    let longest = sequences.iter().map(|s| s.len()).max().unwrap_or(0);
    let most = (64 * WORDS / pairs.max(1)).isqrt();
    let shorten = |s: &&[u32]| {
        if longest <= most || s.len() <= most {
            return s.to_vec();
        }
        let half = most / 2;
        [&s[..half], &s[s.len() - half..]].concat()
    };
    sequences.iter().map(shorten).collect()
}
