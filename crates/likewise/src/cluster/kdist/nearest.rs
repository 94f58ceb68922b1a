//! The nearest of a tree's points to a point that need not be one of them.

use super::search::{Pending, box_distances, distances, push};
use super::tree::{FANOUT, Tree};
use crate::simd::{Isa, Work};

/// Looks for the row nearest to `query`, the lowest of equally near ones;
/// nothing if none is within a squared distance of `limit`.
pub(in crate::cluster) struct Nearest<'a, const D: usize> {
    pub(in crate::cluster) tree: &'a Tree<D>,
    pub(in crate::cluster) query: [f64; D],
    pub(in crate::cluster) limit: f64,
    /// Space to work in, empty.
    pub(in crate::cluster) pending: &'a mut Vec<Pending>,
}

impl<const D: usize> Work for Nearest<'_, D> {
    type Out = Option<u32>;

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, _: I) -> Option<u32> {
        let Self { tree, query, limit, pending } = self;
        if tree.blocks.is_empty() {
            return None;
        }
        let hull = query.map(|x| [x, x]);
        let mut best = (limit, u32::MAX);
        pending.push(Pending { distance: 0.0, height: tree.levels.len() as u32, index: 0 });
        while let Some(next) = pending.pop() {
            // An equally near subtree may hold an equally near row of lower number.
            if next.distance > best.0 {
                continue;
            }
            let (height, index) = (next.height as usize, next.index as usize);
            if height == 0 {
                let found = distances(&tree.blocks[index], &query);
                for (&distance, &row) in found.iter().zip(tree.rows_of(index)) {
                    if distance < best.0 || (distance == best.0 && row < best.1) {
                        best = (distance, row);
                    }
                }
                continue;
            }
            let found = box_distances(&tree.levels[height - 1][index], &hull);
            let near = within(&found, best.0) & tree.children(height, index);
            push(pending, &found, near, height - 1, index);
        }
        (best.1 != u32::MAX).then_some(best.1)
    }
}

/// Bit `i` says whether `distances[i]` is at most `limit`.
#[inline(always)]
fn within(distances: &[f64; FANOUT], limit: f64) -> u8 {
    let mut mask = 0;
    for (i, &distance) in distances.iter().enumerate() {
        mask |= u8::from(distance <= limit) << i;
    }
    mask
}

/// The squared distances of the `k` points nearest to `query`, in no order; fewer if
/// fewer are nearer than `limit`.
pub(super) struct Closest<'a, const D: usize> {
    pub(super) tree: &'a Tree<D>,
    pub(super) query: [f64; D],
    pub(super) limit: f64,
    pub(super) k: usize,
}

impl<const D: usize> Work for Closest<'_, D> {
    type Out = Vec<f64>;

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, _: I) -> Vec<f64> {
        let Self { tree, query, mut limit, k } = self;
        let (hull, mut closest, mut pending) = (query.map(|x| [x, x]), Vec::new(), Vec::new());
        if !tree.blocks.is_empty() {
            pending.push(Pending { distance: 0.0, height: tree.levels.len() as u32, index: 0 });
        }
        while let Some(next) = pending.pop() {
            if next.distance >= limit {
                continue;
            }
            let (height, index) = (next.height as usize, next.index as usize);
            if height > 0 {
                let found = box_distances(&tree.levels[height - 1][index], &hull);
                let near = within(&found, limit) & tree.children(height, index);
                push(&mut pending, &found, near, height - 1, index);
                continue;
            }
            for &distance in &distances(&tree.blocks[index], &query)[..tree.rows_of(index).len()] {
                if distance < limit {
                    closest.push(distance);
                    if closest.len() == 2 * k {
                        limit = keep_least(&mut closest, k);
                    }
                }
            }
        }
        if closest.len() > k {
            keep_least(&mut closest, k);
        }
        closest
    }
}

/// Keeps the `k` least, of which there are as many, and tells the largest of these.
fn keep_least(distances: &mut Vec<f64>, k: usize) -> f64 {
    let (_, &mut farthest, _) = distances.select_nth_unstable_by(k - 1, f64::total_cmp);
    distances.truncate(k);
    farthest
}
