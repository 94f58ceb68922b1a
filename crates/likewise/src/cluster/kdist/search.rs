//! The k nearest of all points of a leaf at once.

#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays at once")]

use super::tree::{Block, Boxes, FANOUT, LEAF, Tree};
use crate::simd::{Isa, LANES, Work};

/// A number for every point of the leaf that asks.
pub(super) type Row = [f64; LEAF];

/// From this many queries on that a leaf concerns, it is offered to all.
const MANY: u32 = 6;

/// After so many places an insertion looks whether it is done: most of what is
/// inserted belongs near the end of a long list.
const CHECK: usize = 8;

/// What one thread needs to search; reused from leaf to leaf.
pub(super) struct Search {
    /// The k smallest squared distances so far, ascending, of every query.
    nearest: Vec<Row>,
    /// Subtrees still to visit, the nearest last.
    pending: Vec<Pending>,
}

/// A subtree that is still to be visited.
#[derive(Clone, Copy)]
pub(in crate::cluster) struct Pending {
    /// No point in it is nearer (squared) to any query.
    pub(super) distance: f64,
    /// 0 is a leaf, otherwise a group of `levels[height - 1]`.
    pub(super) height: u32,
    pub(super) index: u32,
}

/// Looks for the k nearest of every point of leaf `leaf`, itself counted.
pub(super) struct Leaf<'a, const D: usize> {
    pub(super) search: &'a mut Search,
    pub(super) tree: &'a Tree<D>,
    pub(super) leaf: usize,
}

impl<const D: usize> Work for Leaf<'_, D> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, isa: I) {
        self.search.leaf(isa, self.tree, self.leaf);
    }
}

/// Offers each query one new distance.
struct Insert<'a>(&'a mut Search, &'a Row);

impl Work for Insert<'_> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, isa: I) {
        self.0.insert(isa, self.1);
    }
}

impl Search {
    pub(super) fn new(k: usize) -> Self {
        Self { nearest: vec![[f64::INFINITY; LEAF]; k], pending: Vec::new() }
    }

    /// The squared distance of every query to its `k`-th nearest; `k` is not more
    /// than was looked for.
    pub(super) fn nearest(&self, k: usize) -> &Row {
        &self.nearest[k - 1]
    }

    /// See [`Leaf`].
    #[inline(always)]
    fn leaf<I: Isa, const D: usize>(&mut self, isa: I, tree: &Tree<D>, leaf: usize) {
        let queries = queries(&tree.blocks[leaf], tree.rows_of(leaf).len());
        let hull = hull(&queries);
        self.nearest.fill([f64::INFINITY; LEAF]);
        self.pending.push(Pending { distance: 0.0, height: 0, index: leaf as u32 });
        let mut radius = f64::INFINITY;
        // Climb from the leaf: what is near in the tree mostly is near in
        // space, so far subtrees meet a small radius.
        let mut child = leaf;
        let mut levels = tree.levels.iter().enumerate();
        loop {
            while let Some(next) = self.pending.pop() {
                if next.distance >= radius {
                    continue;
                }
                let (height, index) = (next.height as usize, next.index as usize);
                let gaps = gaps(&tree.levels[height][index / FANOUT], index % FANOUT, &queries);
                let concerned = below(isa, &gaps, self.farthest());
                if concerned == 0 {
                    continue;
                }
                if height > 0 {
                    let distances = box_distances(&tree.levels[height - 1][index], &hull);
                    let near = isa.below(&distances, &[radius; FANOUT]);
                    push(&mut self.pending, &distances, near, height - 1, index);
                } else {
                    self.visit(isa, &tree.blocks[index], &queries, concerned);
                    radius = self.farthest().iter().fold(0.0, |a, &b| max(a, b));
                }
            }
            let Some((height, level)) = levels.next() else { return };
            let (parent, place) = (child / FANOUT, child % FANOUT);
            let distances = box_distances(&level[parent], &hull);
            let near = isa.below(&distances, &[radius; FANOUT]);
            push(&mut self.pending, &distances, near & !(1 << place), height, parent);
            child = parent;
        }
    }

    /// The k-th smallest squared distance so far of every query.
    #[inline(always)]
    fn farthest(&self) -> &Row {
        &self.nearest[self.nearest.len() - 1]
    }

    /// Offers the points of a leaf to the queries in the mask.
    #[inline(always)]
    fn visit<I: Isa, const D: usize>(
        &mut self,
        isa: I,
        block: &Block<D>,
        queries: &Block<D>,
        concerned: u32,
    ) {
        if concerned.count_ones() >= MANY {
            return self.offer_to_all(isa, queries, block);
        }
        for q in bits(concerned) {
            let new = distances(block, &queries.each_ref().map(|x| x[q]));
            let near = below(isa, &new, &[self.farthest()[q]; LEAF]);
            if near != 0 {
                self.offer(q, &new, near);
            }
        }
    }

    /// Offers every point of `block` to every query.
    #[inline(always)]
    fn offer_to_all<I: Isa, const D: usize>(&mut self, isa: I, queries: &Block<D>, block: &Block<D>) {
        for i in 0..LEAF {
            let new = distances(queries, &block.each_ref().map(|x| x[i]));
            if below(isa, &new, self.farthest()) != 0 {
                // Compiled by itself: long, and rarely reached.
                isa.run(Insert(self, &new));
            }
        }
    }

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

/// Notes the children of a group that are in the mask, the nearest last.
#[inline(always)]
pub(super) fn push(
    pending: &mut Vec<Pending>,
    distances: &[f64; FANOUT],
    near: u8,
    height: usize,
    group: usize,
) {
    let start = pending.len();
    for i in bits(u32::from(near)) {
        let distance = distances[i];
        let item = Pending { distance, height: height as u32, index: (group * FANOUT + i) as u32 };
        let mut at = pending.len();
        pending.push(item);
        while at > start && pending[at - 1].distance < distance {
            pending[at] = pending[at - 1];
            at -= 1;
        }
        pending[at] = item;
    }
}

/// Bit `i` says whether `a[i] < b[i]`.
#[inline(always)]
fn below<I: Isa>(isa: I, a: &Row, b: &Row) -> u32 {
    let mut mask = 0;
    for (i, (a, b)) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks().0).enumerate() {
        mask |= u32::from(isa.below(a, b)) << (i * LANES);
    }
    mask
}

/// The places of the ones in `mask`.
#[inline(always)]
fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (mask != 0).then_some(mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        place
    })
}

/// Squared distances of the points of `block` to `x`.
#[inline(always)]
pub(super) fn distances<const D: usize>(block: &Block<D>, x: &[f64; D]) -> Row {
    let mut sum = [0.0; LEAF];
    for d in 0..D {
        for i in 0..LEAF {
            let t = block[d][i] - x[d];
            sum[i] += t * t;
        }
    }
    sum
}

/// Lower bounds of the squared distance between each query and any point of
/// a child.
#[inline(always)]
fn gaps<const D: usize>(boxes: &Boxes<D>, child: usize, queries: &Block<D>) -> Row {
    let mut sum = [0.0; LEAF];
    for d in 0..D {
        let (low, high) = (boxes.low[d][child], boxes.high[d][child]);
        for q in 0..LEAF {
            let x = queries[d][q];
            let gap = max(max(low - x, x - high), 0.0);
            sum[q] += gap * gap;
        }
    }
    sum
}

/// The points of a leaf; places without a point repeat the first.
#[inline(always)]
fn queries<const D: usize>(block: &Block<D>, len: usize) -> Block<D> {
    let mut queries = *block;
    for row in &mut queries {
        let first = row[0];
        row[len..].fill(first);
    }
    queries
}

#[inline(always)]
fn hull<const D: usize>(queries: &Block<D>) -> [[f64; 2]; D] {
    queries.map(|row| {
        row.into_iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [min(low, x), max(high, x)])
    })
}

/// Lower bounds of the squared distance between any point of `hull` and any
/// point of each child.
///
/// Rounding is monotonic, and the sum runs in the same order as a distance's,
/// so the bound holds for the rounded distances too.
#[inline(always)]
pub(super) fn box_distances<const D: usize>(boxes: &Boxes<D>, hull: &[[f64; 2]; D]) -> [f64; FANOUT] {
    let mut sum = [0.0; FANOUT];
    for d in 0..D {
        let [low, high] = hull[d];
        for i in 0..FANOUT {
            let gap = max(max(boxes.low[d][i] - high, low - boxes.high[d][i]), 0.0);
            sum[i] += gap * gap;
        }
    }
    sum
}

/// One instruction, unlike `f64::min`, which minds NaN.
#[inline(always)]
fn min(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[inline(always)]
fn max(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
