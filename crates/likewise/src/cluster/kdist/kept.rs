//! The smallest distances that the queries of a leaf have met: few in order, or many
//! in none.

#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays at once")]

use super::search::{Kept, Row, below, bits, distances, max, min};
use super::tree::{Block, LEAF};
use crate::simd::{Isa, Work};

/// From this many queries on that a leaf concerns, it is offered to all.
const MANY: u32 = 6;

/// After so many places an insertion looks whether it is done: most of what is
/// inserted belongs near the end of a long list.
const CHECK: usize = 8;

/// Few distances of every query, in order. A new one goes to its place, which takes
/// O(k).
pub(super) struct Sorted {
    /// The k smallest squared distances so far, ascending, of every query.
    nearest: Vec<Row>,
}

impl Sorted {
    pub(super) fn new(k: usize) -> Self {
        Self { nearest: vec![[f64::INFINITY; LEAF]; k] }
    }
}

/// Offers each query one new distance.
struct Insert<'a>(&'a mut Sorted, &'a Row);

impl Work for Insert<'_> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, isa: I) {
        self.0.insert(isa, self.1);
    }
}

impl<const D: usize> Kept<D> for Sorted {
    #[inline(always)]
    fn begin(&mut self, _: &Block<D>) {
        self.nearest.fill([f64::INFINITY; LEAF]);
    }

    #[inline(always)]
    fn farthest(&self) -> &Row {
        &self.nearest[self.nearest.len() - 1]
    }

    #[inline(always)]
    fn visit<I: Isa>(&mut self, isa: I, block: &Block<D>, queries: &Block<D>, concerned: u32) {
        if concerned.count_ones() >= MANY {
            for i in 0..LEAF {
                let new = distances(queries, &block.each_ref().map(|x| x[i]));
                if below(isa, &new, Kept::<D>::farthest(self)) != 0 {
                    // Compiled by itself: long, and rarely reached.
                    isa.run(Insert(self, &new));
                }
            }
            return;
        }
        for q in bits(concerned) {
            let new = distances(block, &queries.each_ref().map(|x| x[q]));
            let near = below(isa, &new, &[Kept::<D>::farthest(self)[q]; LEAF]);
            if near != 0 {
                self.offer(q, &new, near);
            }
        }
    }

    #[inline(always)]
    fn must_repeat(&mut self, _: &Block<D>) -> bool {
        false
    }

    fn nearest(&mut self, k: usize) -> Row {
        self.nearest[k - 1]
    }
}

impl Sorted {
    /// Offers to one query those of the new distances that are in the mask.
    fn offer(&mut self, query: usize, new: &Row, near: u32) {
        let last = self.nearest.len() - 1;
        for i in bits(near) {
            if new[i] >= self.nearest[last][query] {
                continue;
            }
            let mut at = last;
            while at > 0 && self.nearest[at - 1][query] > new[i] {
                self.nearest[at][query] = self.nearest[at - 1][query];
                at -= 1;
            }
            self.nearest[at][query] = new[i];
        }
    }

    /// Puts each query's new distance in its place and drops its largest.
    #[inline(always)]
    fn insert<I: Isa>(&mut self, isa: I, new: &Row) {
        for i in (1..self.nearest.len()).rev() {
            let before = self.nearest[i - 1];
            for q in 0..LEAF {
                self.nearest[i][q] = min(self.nearest[i][q], max(before[q], new[q]));
            }
            if i % CHECK == 0 && below(isa, new, &before) == 0 {
                return;
            }
        }
        for q in 0..LEAF {
            self.nearest[0][q] = min(self.nearest[0][q], new[q]);
        }
    }
}

/// Rounding changes a squared distance by less than this share.
const ROUNDED: f64 = 1e-9;

/// Many distances of every query. They are kept as they come, and only twice as many as
/// are wanted are looked through for the smallest, which takes O(k) for k new ones.
pub(super) struct Gathered<const D: usize> {
    k: usize,
    /// Of every query the squared distances so far, as bits: in the order of the
    /// distances, because none is below 0.
    met: Vec<Vec<u64>>,
    /// How many there are of each.
    len: [usize; LEAF],
    /// What is not less is not kept.
    limit: Row,
    /// Whether `limit` began with what is known of other queries.
    is_bounded: bool,
    /// The queries before, with the squared distance of each to its k-th nearest.
    before: Option<(Block<D>, Row)>,
    /// Of every query, the first so many are the smallest, and the last of these is the
    /// largest of them.
    in_order: usize,
}

impl<const D: usize> Gathered<D> {
    /// For the `k` nearest of `n` points.
    pub(super) fn new(k: usize, n: usize) -> Self {
        let room = k + k.min(n) + LEAF;
        Self {
            k,
            met: vec![vec![0; room]; LEAF],
            len: [0; LEAF],
            limit: [f64::INFINITY; LEAF],
            is_bounded: false,
            before: None,
            in_order: 0,
        }
    }

    /// Keeps the k smallest of a query.
    fn select(&mut self, query: usize) {
        let met = &mut self.met[query][..self.len[query]];
        let (_, &mut farthest, _) = met.select_nth_unstable(self.k - 1);
        self.len[query] = self.k;
        self.limit[query] = min(self.limit[query], f64::from_bits(farthest));
    }
}

impl<const D: usize> Kept<D> for Gathered<D> {
    /// A query that is `d` from another has its k nearest within what the other has
    /// them in, and `d`.
    #[inline(always)]
    fn begin(&mut self, queries: &Block<D>) {
        self.len = [0; LEAF];
        self.limit = [f64::INFINITY; LEAF];
        self.is_bounded = false;
        let Some((before, farthest)) = &self.before else { return };
        let reach = farthest.map(f64::sqrt);
        for other in 0..LEAF {
            let apart = distances(queries, &before.each_ref().map(|x| x[other]));
            for q in 0..LEAF {
                let within = apart[q].sqrt() + reach[other];
                self.limit[q] = min(self.limit[q], within * within);
            }
        }
        for limit in &mut self.limit {
            *limit = *limit * (1.0 + ROUNDED) + f64::MIN_POSITIVE;
            self.is_bounded |= limit.is_finite();
        }
    }

    #[inline(always)]
    fn farthest(&self) -> &Row {
        &self.limit
    }

    #[inline(always)]
    fn visit<I: Isa>(&mut self, _: I, block: &Block<D>, queries: &Block<D>, concerned: u32) {
        for q in bits(concerned) {
            let new = distances(block, &queries.each_ref().map(|x| x[q]));
            let (met, limit) = (&mut self.met[q][self.len[q]..][..LEAF], self.limit[q]);
            let mut n = 0;
            for distance in new {
                met[n] = distance.to_bits();
                n += usize::from(distance < limit);
            }
            self.len[q] += n;
            if self.len[q] + LEAF > self.met[q].len() {
                self.select(q);
            }
        }
    }

    /// Where a bound was too small by rounding, there are fewer than k.
    fn must_repeat(&mut self, queries: &Block<D>) -> bool {
        if self.is_bounded && self.len.iter().any(|&len| len < self.k) {
            self.before = None;
            self.begin(queries);
            return true;
        }
        self.in_order = self.k;
        for q in 0..LEAF {
            // Of others, the distance is beyond what a number can say.
            self.met[q][self.len[q].min(self.k)..self.k].fill(f64::INFINITY.to_bits());
            self.len[q] = self.len[q].max(self.k);
            self.select(q);
        }
        self.before = Some((*queries, self.limit));
        false
    }

    fn nearest(&mut self, k: usize) -> Row {
        let in_order = std::mem::replace(&mut self.in_order, k);
        std::array::from_fn(|q| {
            let met = &mut self.met[q];
            f64::from_bits(match in_order - k {
                0 => met[k - 1],
                // What stands before the largest is in no order.
                1 => {
                    let (at, &largest) = (0..k).zip(&*met).max_by_key(|(_, met)| **met).expect("k is not 0");
                    met.swap(at, k - 1);
                    largest
                }
                _ => *met[..in_order - 1].select_nth_unstable(k - 1).1,
            })
        })
    }
}
