//! Which step of one thread is which of another, of another run.

use super::steps::{Likeness, Nature, Steps, WorkRange};

/// Two steps that are the same place in the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair {
    /// Place in the first sequence.
    pub(super) a: u32,
    /// Place in the second.
    pub(super) b: u32,
    /// How alike they are, and the parts of the threads that have them.
    pub(super) likeness: Likeness,
}

/// The most that it costs to leave out steps between two pairs, however many they
/// are: half of what a pair of average steps is worth. Without a cost, a sequence
/// of few iterations would take its pairs from all over a sequence of many,
/// wherever they are worth most.
const BREAK: f64 = 1.0;

/// Steps that take less than this share of an average one, all together, cost less
/// to leave out, by their time: a step that is long enough to be a burst only at
/// times should not keep others from being paired. Above it, all steps cost the
/// same. Where long ones cost more, a new long step takes the partner of a short
/// one that has not changed, as leaving out the short one is cheaper.
const SHORT: f64 = 0.1;

/// Steps that are less alike than this are a pair only directly between two
/// pairs that are alike, or where both threads begin or end.
const ALIKE: f64 = 0.3;

/// The pairs, ascending in both sequences, that are worth most together. A pair is
/// worth its likeness, times 1 plus the lesser weight of its two steps; leaving
/// steps out between two pairs costs something ([`BREAK`]). Two steps that stand
/// alone between two pairs are a pair, however unlike they are: they are at the
/// same place.
///
/// Of two threads of one run that is alone (`same_run`), leaving out costs nothing: they have
/// the same iterations, and a step that one of them lacks keeps no others apart.
///
/// `whole` says that the sequences begin and end where their threads do. Then a
/// first pair of both beginnings, or a last pair of both ends, is worth more, by
/// its likeness times what a break costs: a run of fewer iterations should end
/// with the end of the other, and not with what is most like its end in some
/// iteration. `part` is how alike two steps are in how many threads run them,
/// from 0 to 1.
///
/// # Complexity
/// O(n·m·d) for n and m steps of d traits; n·m bytes.
///
/// # Reference
/// Needleman & Wunsch, *J. Mol. Biol.* 48, 1970; gaps as Gotoh, *J. Mol.
/// Biol.* 162, 1982, has them, at the lower of two prices, by their time or
/// one for any, and free at both ends.
pub(super) fn align(
    first: (&Nature, &Steps),
    second: (&Nature, &Steps),
    range: WorkRange,
    (whole, same_run): (bool, bool),
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
    let price = |steps: &Steps| -> Vec<f64> {
        steps.weight.iter().map(|weight| if same_run { 0.0 } else { BREAK * weight / SHORT }).collect()
    };
    let path = best_path(&price(a), &price(b), score);
    let pair = |&(i, j, _): &(usize, usize, bool)| {
        let (Likeness { same, all }, part) = (alike(i, j), part(i, j));
        Pair { a: i as u32, b: j as u32, likeness: Likeness { same: part * same, all: part * all } }
    };
    let pairs: Vec<Pair> = path.iter().map(pair).collect();
    let ends = if whole { Some((n, m)) } else { None };
    let mut first = 0;
    path.chunk_by(|_, next| !next.2)
        .flat_map(|block| {
            first += block.len();
            held(&pairs[first - block.len()..first], ends).to_vec()
        })
        .collect()
}

/// The part of a block of pairs that is held on both sides: by a pair of steps
/// that are alike, or by the ends of the sequences (`ends` has their lengths). A
/// block is a run of pairs with little left out between them.
fn held(block: &[Pair], ends: Option<(usize, usize)>) -> &[Pair] {
    let is_alike = |pair: &Pair| pair.likeness.all >= ALIKE;
    let begins = ends.is_some() && block.first().is_some_and(|p| (p.a, p.b) == (0, 0));
    let finishes = block.last().is_some_and(|p| ends == Some((p.a as usize + 1, p.b as usize + 1)));
    let from = if begins { Some(0) } else { block.iter().position(is_alike) };
    let to = if finishes { Some(block.len()) } else { block.iter().rposition(is_alike).map(|k| k + 1) };
    from.zip(to).map_or(&[], |(from, to)| &block[from..to.max(from)])
}

/// How a path ends: with a pair, or with steps left out after one, at the price
/// of each or at that of a break.
const PAIR: usize = 0;
const FEW: usize = 1;
const MANY: usize = 2;
/// A cell of the table says in one byte how the best path of each kind came
/// there: two bits for the kind before a pair; for each kind of gap, one bit for
/// whether its last step is of the first sequence, and one for whether a pair is
/// before that step.
const SKIP_A: [u8; 3] = [0, 1 << 2, 1 << 4];
const OPENS: [u8; 3] = [0, 1 << 3, 1 << 5];

/// The ascending pairs with the greatest sum of scores, less the cost of what is
/// left out between two neighbours: the prices of these steps, at most `BREAK`.
/// Each pair says whether a whole break was paid before it.
fn best_path(a: &[f64], b: &[f64], score: impl Fn(usize, usize) -> f64) -> Vec<(usize, usize, bool)> {
    let (n, m) = (a.len(), b.len());
    let width = m + 1;
    let mut moves = vec![0u8; (n + 1) * width];
    // The best path of each kind. Before the first pair all is left out freely.
    let none = f64::NEG_INFINITY;
    let start = || [vec![none; width], vec![none; width], vec![0.0; width]];
    let mut before = start();
    let mut best = (0.0, 0, 0);
    for i in 1..=n {
        let mut now = start();
        for j in 1..=m {
            let diagonal = [PAIR, FEW, MANY].map(|kind| before[kind][j - 1]);
            // The first kind of those with the most.
            let kind = (0..3).rev().max_by(|&x, &y| diagonal[x].total_cmp(&diagonal[y])).unwrap_or(MANY);
            now[PAIR][j] = diagonal[kind] + score(i - 1, j - 1);
            let mut how = kind as u8;
            let prices = [(FEW, [a[i - 1], b[j - 1]], [a[i - 1], b[j - 1]]), (MANY, [BREAK; 2], [0.0; 2])];
            for (kind, opened, longer) in prices {
                let ways = [
                    (before[kind][j] - longer[0], SKIP_A[kind]),
                    (now[kind][j - 1] - longer[1], 0),
                    (before[PAIR][j] - opened[0], SKIP_A[kind] | OPENS[kind]),
                    (now[PAIR][j - 1] - opened[1], OPENS[kind]),
                ];
                let mut most = ways[0];
                ways[1..].iter().for_each(|way| {
                    if way.0 > most.0 {
                        most = *way
                    }
                });
                now[kind][j] = most.0;
                how |= most.1;
            }
            moves[i * width + j] = how;
            if now[PAIR][j] > best.0 {
                best = (now[PAIR][j], i, j);
            }
        }
        before = now;
    }
    followed(&moves, width, (best.1, best.2))
}

/// The pairs of the path that ends with one, as the table of moves tells it.
fn followed(moves: &[u8], width: usize, (mut i, mut j): (usize, usize)) -> Vec<(usize, usize, bool)> {
    let mut pairs = Vec::new();
    let mut kind = PAIR;
    while i > 0 && j > 0 {
        let how = moves[i * width + j];
        if kind == PAIR {
            (i, j) = (i - 1, j - 1);
            kind = usize::from(how & 3);
            pairs.push((i, j, kind == MANY));
        } else {
            if how & SKIP_A[kind] != 0 {
                i -= 1
            } else {
                j -= 1
            }
            if how & OPENS[kind] != 0 {
                kind = PAIR;
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

    /// What it costs to leave out what is between two pairs.
    fn left_out(a: &[f64], b: &[f64], from: (usize, usize), to: (usize, usize)) -> f64 {
        let sum = |x: &[f64]| x.iter().sum::<f64>();
        (sum(&a[from.0 + 1..to.0]) + sum(&b[from.1 + 1..to.1])).min(BREAK)
    }

    /// The greatest sum over every set of ascending pairs after `last`.
    fn greatest(score: &[Vec<f64>], (a, b): (&[f64], &[f64]), last: Option<(usize, usize)>) -> f64 {
        let (from_i, from_j) = last.map_or((0, 0), |(i, j)| (i + 1, j + 1));
        let mut best = 0.0f64;
        for i in from_i..score.len() {
            for j in from_j..score[i].len() {
                let cost = last.map_or(0.0, |last| left_out(a, b, last, (i, j)));
                best = best.max(score[i][j] - cost + greatest(score, (a, b), Some((i, j))));
            }
        }
        best
    }

    proptest! {
        #[test]
        fn no_other_path_scores_more(
            n in 1usize..6,
            m in 1usize..6,
            numbers in prop::collection::vec(1u8..9, 36),
            weights in prop::collection::vec(0u8..9, 12),
        ) {
            let score: Vec<Vec<f64>> =
                (0..n).map(|i| (0..m).map(|j| f64::from(numbers[i * 6 + j]) / 4.0).collect()).collect();
            let weights: Vec<f64> = weights.iter().map(|&w| f64::from(w) / 8.0).collect();
            let (a, b) = (&weights[..n], &weights[6..6 + m]);
            let pairs = best_path(a, b, |i, j| score[i][j]);
            prop_assert!(pairs.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
            let cost = |w: &[(usize, usize, bool)]| left_out(a, b, (w[0].0, w[0].1), (w[1].0, w[1].1));
            let breaks: f64 = pairs.windows(2).map(cost).sum();
            let sum = pairs.iter().map(|&(i, j, _)| score[i][j]).sum::<f64>() - breaks;
            prop_assert_eq!(sum, greatest(&score, (a, b), None));
        }
    }

    #[test]
    fn short_steps_that_are_in_one_sequence_alone_are_left_out() {
        // Every seventh step of the one is short and not in the other.
        let is_short = |i: usize| i % 7 == 6;
        let a: Vec<f64> = (0..70).map(|i| if is_short(i) { 0.01 } else { 0.4 }).collect();
        let steps: Vec<usize> = (0..70).filter(|&i| !is_short(i)).collect();
        let score = |i: usize, j: usize| if i == steps[j] { 1.4 } else { 0.05 };
        let pairs = best_path(&a, &vec![0.4; steps.len()], score);
        let expected: Vec<(usize, usize)> = steps.iter().enumerate().map(|(j, &i)| (i, j)).collect();
        assert!(pairs[1..].iter().all(|pair| !pair.2), "{pairs:?}");
        assert_eq!(pairs.iter().map(|&(i, j, _)| (i, j)).collect::<Vec<_>>(), expected);
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
        let pairs = best_path(&[1.0; 12], &[1.0; 36], score);
        assert_eq!(pairs.len(), 12);
        assert!(pairs.iter().all(|&(i, j, _)| i % 4 == j % 4), "{pairs:?}");
    }
}
