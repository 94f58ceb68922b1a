//! Ranks on many objectives.

use rayon::prelude::*;

use super::prepare::Ranked;

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

    /// Of each record all bits, if it is as good as this on every objective,
    /// or none; nothing if none is.
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

/// Goes through the records by the first objective. A record that a front
/// dominates, every earlier front does too, so the search among them halves.
pub(super) fn goldberg(ranked: &Ranked) -> Vec<u32> {
    let mut fronts: Vec<Vec<Block>> = Vec::new();
    let rank_of = |record: Vec<u32>| {
        let rank = fronts.partition_point(|front| any_as_good(front, &record));
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
    let count = |at: usize| n_as_good(&blocks[..=at / LANES], &ranked.record(at)) - ranked.weights[at];
    (0..ranked.len()).into_par_iter().with_min_len(LANES).map(count).collect()
}

fn put(blocks: &mut Vec<Block>, record: &[u32], weight: u32) {
    if blocks.last().is_none_or(|block| block.len == LANES) {
        blocks.push(Block::new(record.len()));
    }
    blocks.last_mut().expect("just pushed").push(record, weight);
}

/// One function for the machine at hand: wider vectors change no result.
macro_rules! on_any_machine {
    ($(#[$doc:meta])* fn $name:ident($blocks:ident, $record:ident) -> $result:ty $body:block) => {
        $(#[$doc])*
        fn $name($blocks: &[Block], $record: &[u32]) -> $result {
            #[inline(always)]
            fn plain($blocks: &[Block], $record: &[u32]) -> $result $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2(blocks: &[Block], record: &[u32]) -> $result {
                    plain(blocks, record)
                }
                #[target_feature(enable = "avx512f,avx512bw")]
                fn avx512(blocks: &[Block], record: &[u32]) -> $result {
                    plain(blocks, record)
                }
                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                    // SAFETY: the instructions were just detected.
                    return unsafe { avx512($blocks, $record) };
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the instructions were just detected.
                    return unsafe { avx2($blocks, $record) };
                }
            }
            plain($blocks, $record)
        }
    };
}

on_any_machine! {
    /// Whether any record is as good on every objective. The latest first: who
    /// came just before is the most alike.
    fn any_as_good(blocks, record) -> bool {
        blocks.iter().rev().any(|block| block.as_good(record).is_some())
    }
}

on_any_machine! {
    /// How many records are as good on every objective.
    fn n_as_good(blocks, record) -> u32 {
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
