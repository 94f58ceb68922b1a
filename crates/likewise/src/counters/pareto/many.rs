//! Ranks on many objectives.

use rayon::prelude::*;

use super::prepare::Ranked;
use crate::simd::{Isa, Work, widest};

/// Records looked at together.
const LANES: usize = 32;

/// Records as columns of few: of each objective the values of all.
struct Block {
    /// Per objective; the greatest number where there is no record.
    values: Vec<[u32; LANES]>,
    /// How many records each is.
    weights: [u32; LANES],
    len: usize,
}

impl Block {
    fn new(n_objectives: usize) -> Self {
        Self { values: vec![[u32::MAX; LANES]; n_objectives], weights: [0; LANES], len: 0 }
    }

    fn push(&mut self, record: &[u32], weight: u32) {
        self.values.iter_mut().zip(record).for_each(|(values, value)| values[self.len] = *value);
        self.weights[self.len] = weight;
        self.len += 1;
    }

    /// For each record of the block all bits set, if it is as good as this one on
    /// every objective, or else no bit. Nothing if no record is.
    #[inline(always)]
    fn as_good(&self, record: &[u32]) -> Option<[u32; LANES]> {
        let mut good = [u32::MAX; LANES];
        for (values, &value) in self.values.iter().zip(record) {
            let mut any = 0;
            for lane in 0..LANES {
                good[lane] &= u32::from(values[lane] <= value).wrapping_neg();
                any |= good[lane];
            }
            if any == 0 {
                return None;
            }
        }
        Some(good)
    }
}

/// Goes through the records in the order of the first objective. If a front
/// dominates a record, so does every earlier front; so a binary search finds the
/// first front that does not.
pub(super) fn goldberg(ranked: &Ranked) -> Vec<u32> {
    let mut fronts: Vec<Vec<Block>> = Vec::new();
    let rank_of = |record: Vec<u32>| {
        let rank = fronts.partition_point(|front| widest(AnyAsGood(front, &record)));
        if rank == fronts.len() {
            fronts.push(Vec::new());
        }
        put(&mut fronts[rank], &record, 1);
        rank as u32
    };
    (0..ranked.len()).map(|at| ranked.record(at)).map(rank_of).collect()
}

/// How many records dominate each of the different ones: those that are as
/// good, and came before.
pub(super) fn dominators(ranked: &Ranked) -> Vec<u32> {
    let mut blocks = Vec::new();
    (0..ranked.len()).for_each(|at| put(&mut blocks, &ranked.record(at), ranked.weights[at]));
    // Nobody later is as good, but the record itself is.
    let as_good = |at: usize| widest(AsGood(&blocks[..=at / LANES], &ranked.record(at)));
    let count = |at: usize| as_good(at) - ranked.weights[at];
    (0..ranked.len()).into_par_iter().with_min_len(LANES).map(count).collect()
}

fn put(blocks: &mut Vec<Block>, record: &[u32], weight: u32) {
    if blocks.last().is_none_or(|block| block.len == LANES) {
        blocks.push(Block::new(record.len()));
    }
    blocks.last_mut().expect("just pushed").push(record, weight);
}

/// Whether any record is as good on every objective. The latest first: who
/// came just before is the most alike.
struct AnyAsGood<'a>(&'a [Block], &'a [u32]);

impl Work for AnyAsGood<'_> {
    type Out = bool;

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, _: I) -> bool {
        let Self(blocks, record) = self;
        blocks.iter().rev().any(|block| block.as_good(record).is_some())
    }
}

/// How many records are as good on every objective.
struct AsGood<'a>(&'a [Block], &'a [u32]);

impl Work for AsGood<'_> {
    type Out = u32;

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, _: I) -> u32 {
        let Self(blocks, record) = self;
        let mut sums = [0; LANES];
        for block in blocks {
            if let Some(good) = block.as_good(record) {
                for lane in 0..LANES {
                    sums[lane] += good[lane] & block.weights[lane];
                }
            }
        }
        sums.iter().sum()
    }
}
