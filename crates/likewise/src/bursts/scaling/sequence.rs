//! Which step of one thread is which of another, of another run.

use super::steps::{Nature, Steps, WorkRange, likeness};

/// Two steps that are the same place in the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair {
    /// Place in the first sequence.
    pub(super) a: u32,
    /// Place in the second.
    pub(super) b: u32,
    /// How alike they are, from 0 to 1.
    pub(super) likeness: f64,
}

/// The pairs, ascending in both sequences, whose likeness sums to the most. A
/// pair counts 1, plus its share of time over the share of an average step.
///
/// # Complexity
/// O(n·m·d) for n and m steps of d traits; n·m bytes.
///
/// # Reference
/// Needleman & Wunsch, *J. Mol. Biol.* 48, 1970, with gaps that cost nothing.
pub(super) fn align(first: (&Nature, &Steps), second: (&Nature, &Steps), range: WorkRange) -> Vec<Pair> {
    let ((of_a, a), (of_b, b)) = (first, second);
    let (n, m) = (a.bursts.len(), b.bursts.len());
    let average = (n + m) as f64 / 2.0;
    let alike = |i: usize, j: usize| {
        let (x, y) = (a.bursts[i] as usize, b.bursts[j] as usize);
        likeness(of_a.work[x], of_b.work[y], range, of_a.traits(x), of_b.traits(y))
    };
    let score = |i: usize, j: usize| alike(i, j) * (1.0 + average * (a.share[i] * b.share[j]).sqrt());
    best_path(n, m, score)
        .into_iter()
        .map(|(i, j)| Pair { a: i as u32, b: j as u32, likeness: alike(i, j) })
        .collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Move {
    SkipA,
    SkipB,
    Pair,
}

/// The ascending pairs of positive score with the greatest sum; where a step
/// may be left out as well, it is.
fn best_path(n: usize, m: usize, score: impl Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
    let mut moves = vec![Move::SkipA; n * m];
    let mut above = vec![0.0; m + 1];
    for i in 0..n {
        let mut row = vec![0.0; m + 1];
        for j in 0..m {
            let mut best = (above[j + 1], Move::SkipA);
            if row[j] > best.0 {
                best = (row[j], Move::SkipB);
            }
            let score = score(i, j);
            if score > 0.0 && above[j] + score > best.0 {
                best = (above[j] + score, Move::Pair);
            }
            (row[j + 1], moves[i * m + j]) = best;
        }
        above = row;
    }
    let (mut i, mut j) = (n, m);
    let mut pairs = Vec::new();
    while i > 0 && j > 0 {
        match moves[(i - 1) * m + j - 1] {
            Move::SkipA => i -= 1,
            Move::SkipB => j -= 1,
            Move::Pair => {
                (i, j) = (i - 1, j - 1);
                pairs.push((i, j));
            }
        }
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The greatest sum over every set of ascending pairs.
    fn greatest(score: &[Vec<f64>], i: usize, j: usize) -> f64 {
        if i == score.len() || j == score[i].len() {
            return 0.0;
        }
        let skip = greatest(score, i + 1, j).max(greatest(score, i, j + 1));
        if score[i][j] > 0.0 { skip.max(score[i][j] + greatest(score, i + 1, j + 1)) } else { skip }
    }

    proptest! {
        #[test]
        fn no_other_path_scores_more(n in 1usize..6, m in 1usize..6, numbers in prop::collection::vec(0u8..5, 36)) {
            let score: Vec<Vec<f64>> =
                (0..n).map(|i| (0..m).map(|j| f64::from(numbers[i * 6 + j])).collect()).collect();
            let pairs = best_path(n, m, |i, j| score[i][j]);
            prop_assert!(pairs.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
            prop_assert_eq!(pairs.iter().map(|&(i, j)| score[i][j]).sum::<f64>(), greatest(&score, 0, 0));
        }
    }
}
