//! In which order sequences join.

use rayon::prelude::*;

use super::lcs::Lengths;

/// Words that comparing all pairs may touch, in all windows together; more, and
/// sequences are compared by their ends.
const WORDS: usize = 1 << 30;

/// So many sequences are compared with all others to find the centre. More than
/// these hardly change which it is.
const COMPARED: usize = 16;

/// The order in which sequences join a profile: the one most like all others
/// first, then by how much they are like it.
///
/// `share` is that of these sequences in the time that there is, 1 at most. With
/// more than [`COMPARED`] sequences, the centre is one of so many, evenly
/// spaced: then this compares a multiple of the sequences, and not all pairs.
pub(super) fn joining_order(sequences: &[&[u32]], weights: &[u32], share: f64) -> Vec<usize> {
    let n = sequences.len();
    let n_compared = n.min(COMPARED);
    let compared: Vec<usize> = (0..n_compared).map(|i| i * n / n_compared).collect();
    let ends = ends(sequences, n_compared * n, (WORDS as f64 * share) as usize);
    let to_all = |&i: &usize| -> Vec<f64> {
        let mut lengths = Lengths::of(&ends[i]);
        ends.iter().map(|other| distance(&mut lengths, ends[i].len(), other)).collect()
    };
    let distances: Vec<Vec<f64>> = compared.par_iter().map(to_all).collect();
    let far = |list: &Vec<f64>| list.iter().zip(weights).map(|(x, &n)| x * f64::from(n)).sum::<f64>();
    let far: Vec<f64> = distances.iter().map(far).collect();
    let Some(best) = (0..n_compared).min_by(|&i, &j| far[i].total_cmp(&far[j])) else { return Vec::new() };
    let (centre, distance) = (compared[best], &distances[best]);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| {
        let nearer = distance[i].total_cmp(&distance[j]);
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
fn ends(sequences: &[&[u32]], pairs: usize, words: usize) -> Vec<Vec<u32>> {
    let longest = sequences.iter().map(|s| s.len()).max().unwrap_or(0);
    let most = (64 * words / pairs.max(1)).isqrt();
    let shorten = |s: &&[u32]| {
        if longest <= most || s.len() <= most {
            return s.to_vec();
        }
        let half = most / 2;
        [&s[..half], &s[s.len() - half..]].concat()
    };
    sequences.iter().map(shorten).collect()
}
