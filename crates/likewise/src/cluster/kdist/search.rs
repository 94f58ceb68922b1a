//! The k nearest of all points of a leaf at once.

#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays at once")]

use super::tree::{Block, Boxes, FANOUT, LEAF, Tree};
use crate::simd::{Isa, LANES, Work};

/// A number for every point of the leaf that asks.
pub(super) type Row = [f64; LEAF];

/// What is kept of the distances that the queries of a leaf meet.
pub(super) trait Kept<const D: usize> {
    /// Forgets what other queries have met.
    fn begin(&mut self, queries: &Block<D>);

    /// No distance that is as large can be among the k smallest, for every query.
    fn farthest(&self) -> &Row;

    /// Offers the points of a leaf to the queries in the mask.
    fn visit<I: Isa>(&mut self, isa: I, block: &Block<D>, queries: &Block<D>, concerned: u32);

    /// After the walk: whether all must be met once more, by other bounds.
    fn must_repeat(&mut self, queries: &Block<D>) -> bool;

    /// After the walk: the squared distance of every query to its `k`-th nearest; `k` is
    /// not more than was looked for.
    fn nearest(&mut self, k: usize) -> Row;
}

/// What one thread needs to search; reused from leaf to leaf.
pub(super) struct Search<K> {
    pub(super) kept: K,
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
pub(super) struct Leaf<'a, K, const D: usize> {
    pub(super) search: &'a mut Search<K>,
    pub(super) tree: &'a Tree<D>,
    pub(super) leaf: usize,
}

impl<K: Kept<D>, const D: usize> Work for Leaf<'_, K, D> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, isa: I) {
        let Self { search, tree, leaf } = self;
        let queries = queries(&tree.blocks[leaf], tree.rows_of(leaf).len());
        search.kept.begin(&queries);
        loop {
            search.walk(isa, tree, (leaf, &queries));
            if !search.kept.must_repeat(&queries) {
                return;
            }
        }
    }
}

impl<K> Search<K> {
    pub(super) fn new(kept: K) -> Self {
        Self { kept, pending: Vec::new() }
    }

    /// Shows all leaves that are near enough.
    #[inline(always)]
    fn walk<I: Isa, const D: usize>(&mut self, isa: I, tree: &Tree<D>, (leaf, queries): (usize, &Block<D>))
    where
        K: Kept<D>,
    {
        let hull = hull(queries);
        self.pending.push(Pending { distance: 0.0, height: 0, index: leaf as u32 });
        let mut radius = self.kept.farthest().iter().fold(0.0, |a, &b| max(a, b));
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
                let gaps = gaps(&tree.levels[height][index / FANOUT], index % FANOUT, queries);
                let concerned = below(isa, &gaps, self.kept.farthest());
                if concerned == 0 {
                    continue;
                }
                if height > 0 {
                    let distances = box_distances(&tree.levels[height - 1][index], &hull);
                    let near = isa.below(&distances, &[radius; FANOUT]);
                    push(&mut self.pending, &distances, near, height - 1, index);
                } else {
                    self.kept.visit(isa, &tree.blocks[index], queries, concerned);
                    radius = self.kept.farthest().iter().fold(0.0, |a, &b| max(a, b));
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
pub(super) fn below<I: Isa>(isa: I, a: &Row, b: &Row) -> u32 {
    let mut mask = 0;
    for (i, (a, b)) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks().0).enumerate() {
        mask |= u32::from(isa.below(a, b)) << (i * LANES);
    }
    mask
}

/// The places of the ones in `mask`.
#[inline(always)]
pub(super) fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
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
pub(super) fn min(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[inline(always)]
pub(super) fn max(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
