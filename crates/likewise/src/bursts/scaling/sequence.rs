//! Which step of one thread is which of another, of another run.

use super::steps::{Likeness, Nature, Steps, WorkRange};

/// Two steps that are the same place in the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair {
    /// Place in the first sequence.
    pub(super) a: u32,
    /// Place in the second.
    pub(super) b: u32,
    /// How alike they are.
    pub(super) likeness: Likeness,
}

/// What it costs to leave steps out between two pairs, however many: half of
/// what a pair of average steps counts for. Without it a sequence of few
/// iterations takes its pairs from all over one of many, wherever they count
/// for most.
const BREAK: f64 = 1.0;

/// Steps that are alike by less are a pair only between two that are, one step
/// after the other, or where both threads begin or end.
const ALIKE: f64 = 0.3;

/// The pairs, ascending in both sequences, that count for most in all: each
/// for its likeness, times 1 plus the lesser weight of its steps, less what it
/// costs to leave steps out between them. What stands alone between two pairs
/// is a pair, however little it is alike: it is at the same place. `whole` says
/// that the sequences begin and end where their threads do: then a first pair
/// of both beginnings, or a last one of both ends, counts for as much more as
/// it costs to leave steps out, by their likeness. A run of fewer iterations
/// ends with its end, and not with what is most like it in the next iteration.
/// `part` is how alike the parts of the threads are that have two steps, from 0
/// to 1.
///
/// # Complexity
/// O(n·m·d) for n and m steps of d traits; n·m bytes.
///
/// # Reference
/// Needleman & Wunsch, *J. Mol. Biol.* 48, 1970; gaps as Gotoh, *J. Mol.
/// Biol.* 162, 1982, has them, at one price whatever their length, and free
/// at both ends.
pub(super) fn align(
    first: (&Nature, &Steps),
    second: (&Nature, &Steps),
    range: WorkRange,
    whole: bool,
    part: impl Fn(usize, usize) -> f64,
) -> Vec<Pair> {
    let ((of_a, a), (of_b, b)) = (first, second);
    let (n, m) = (a.bursts.len(), b.bursts.len());
    let alike = |i: usize, j: usize| of_a.likeness(a.bursts[i], (of_b, b.bursts[j]), range);
    let at_an_end = |i: usize, j: usize| whole && ((i, j) == (0, 0) || (i + 1, j + 1) == (n, m));
    let score = |i: usize, j: usize| {
        let more = if at_an_end(i, j) { BREAK } else { 0.0 };
        alike(i, j).all * part(i, j) * (1.0 + a.weight[i].min(b.weight[j]) + more)
    };
    let pair = |(i, j): (usize, usize)| Pair { a: i as u32, b: j as u32, likeness: alike(i, j) };
    let pairs: Vec<Pair> = best_path(n, m, score).into_iter().map(pair).collect();
    let ends = if whole { Some((n, m)) } else { None };
    pairs
        .chunk_by(|x, y| (x.a + 1, x.b + 1) == (y.a, y.b))
        .flat_map(|block| held(block, ends))
        .copied()
        .collect()
}

/// The part of a block of pairs, one step after the other, that is held on
/// both sides: by pairs that are alike, or by the ends of sequences of so many
/// steps.
fn held(block: &[Pair], ends: Option<(usize, usize)>) -> &[Pair] {
    let is_alike = |pair: &Pair| pair.likeness.all >= ALIKE;
    let begins = ends.is_some() && block.first().is_some_and(|p| (p.a, p.b) == (0, 0));
    let finishes = block.last().is_some_and(|p| ends == Some((p.a as usize + 1, p.b as usize + 1)));
    let from = if begins { Some(0) } else { block.iter().position(is_alike) };
    let to = if finishes { Some(block.len()) } else { block.iter().rposition(is_alike).map(|k| k + 1) };
    from.zip(to).map_or(&[], |(from, to)| &block[from..to.max(from)])
}

/// What is before a cell of the table: `PAIR` of it, or steps left out.
const AFTER_PAIR: u8 = 1;
/// Steps are left out, and the last that is, is of the first sequence.
const SKIP_A: u8 = 2;
/// Before the steps that are left out there is a pair, directly.
const OPENS: u8 = 4;

/// The ascending pairs with the greatest sum of scores, less `BREAK` for each
/// two neighbours that are not one step apart in both sequences.
fn best_path(n: usize, m: usize, score: impl Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
    let width = m + 1;
    let mut moves = vec![0u8; (n + 1) * width];
    // The best that ends with a pair, and that ends with steps left out.
    let none = f64::NEG_INFINITY;
    let (mut paired, mut left) = (vec![none; width], vec![0.0; width]);
    let mut best = (0.0, 0, 0);
    for i in 1..=n {
        let (mut paired_now, mut left_now) = (vec![none; width], vec![0.0; width]);
        for j in 1..=m {
            let mut how = 0;
            let before = if paired[j - 1] > left[j - 1] {
                how |= AFTER_PAIR;
                paired[j - 1]
            } else {
                left[j - 1]
            };
            paired_now[j] = before + score(i - 1, j - 1);
            let skips = [
                (left[j], SKIP_A),
                (left_now[j - 1], 0),
                (paired[j] - BREAK, SKIP_A | OPENS),
                (paired_now[j - 1] - BREAK, OPENS),
            ];
            let mut most = skips[0];
            skips[1..].iter().for_each(|skip| {
                if skip.0 > most.0 {
                    most = *skip
                }
            });
            left_now[j] = most.0;
            moves[i * width + j] = how | most.1;
            if paired_now[j] > best.0 {
                best = (paired_now[j], i, j);
            }
        }
        (paired, left) = (paired_now, left_now);
    }
    let (_, mut i, mut j) = best;
    let mut pairs = Vec::new();
    let mut is_pair = true;
    while i > 0 && j > 0 {
        let how = moves[i * width + j];
        if is_pair {
            (i, j) = (i - 1, j - 1);
            pairs.push((i, j));
            is_pair = how & AFTER_PAIR != 0;
        } else {
            if how & SKIP_A != 0 {
                i -= 1
            } else {
                j -= 1
            }
            is_pair = how & OPENS != 0;
        }
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The greatest sum over every set of ascending pairs after `last`.
    fn greatest(score: &[Vec<f64>], last: Option<(usize, usize)>) -> f64 {
        let (from_i, from_j) = last.map_or((0, 0), |(i, j)| (i + 1, j + 1));
        let mut best = 0.0f64;
        for i in from_i..score.len() {
            for j in from_j..score[i].len() {
                let breaks = last.is_some() && (i, j) != (from_i, from_j);
                let cost = if breaks { BREAK } else { 0.0 };
                best = best.max(score[i][j] - cost + greatest(score, Some((i, j))));
            }
        }
        best
    }

    proptest! {
        #[test]
        fn no_other_path_scores_more(n in 1usize..6, m in 1usize..6, numbers in prop::collection::vec(1u8..9, 36)) {
            let score: Vec<Vec<f64>> =
                (0..n).map(|i| (0..m).map(|j| f64::from(numbers[i * 6 + j]) / 4.0).collect()).collect();
            let pairs = best_path(n, m, |i, j| score[i][j]);
            prop_assert!(pairs.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
            let breaks = pairs.windows(2).filter(|w| (w[0].0 + 1, w[0].1 + 1) != w[1]).count();
            let sum = pairs.iter().map(|&(i, j)| score[i][j]).sum::<f64>() - BREAK * breaks as f64;
            prop_assert_eq!(sum, greatest(&score, None));
        }
    }

    #[test]
    fn what_is_little_alike_is_held_on_both_sides() {
        let block = |likeness: &[f64]| -> Vec<Pair> {
            let pair = |(k, &all): (usize, &f64)| {
                let k = k as u32;
                Pair { a: k, b: k, likeness: Likeness { same: all, all } }
            };
            likeness.iter().enumerate().map(pair).collect()
        };
        let held = |likeness: &[f64], ends| {
            let block = block(likeness);
            held(&block, ends).iter().map(|pair| pair.a).collect::<Vec<_>>()
        };
        assert_eq!(held(&[0.1, 0.9, 0.1, 0.8, 0.2], None), [1, 2, 3]);
        assert_eq!(held(&[0.1, 0.9, 0.1, 0.8, 0.2], Some((9, 9))), [0, 1, 2, 3]);
        assert_eq!(held(&[0.1, 0.9, 0.1, 0.8, 0.2], Some((5, 5))), [0, 1, 2, 3, 4]);
        assert_eq!(held(&[0.1, 0.2], None), [0; 0]);
        assert_eq!(held(&[0.1, 0.2], Some((9, 9))), [0; 0], "nothing holds the other side");
    }

    #[test]
    fn few_iterations_stand_together_in_many() {
        // Three iterations of four steps in nine of them; the third is heavy.
        let score = |i: usize, j: usize| {
            if i % 4 == j % 4 {
                2.0
            } else if j % 4 == 2 {
                2.5
            } else {
                0.1
            }
        };
        let pairs = best_path(12, 36, score);
        assert_eq!(pairs.len(), 12);
        assert!(pairs.iter().all(|&(i, j)| i % 4 == j % 4), "{pairs:?}");
    }
}
