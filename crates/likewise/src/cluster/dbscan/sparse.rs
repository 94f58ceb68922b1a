//! The method for points that stand alone: where a group of mutual
//! neighbours would hold hardly more than one point, there is nothing to gain
//! from groups, and distances are computed, sixteen by sixteen.
//!
//! The tree is the one of the k-distances: leaves of sixteen points stored by
//! coordinate, boxes in groups of eight.

#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays at once")]

use super::union_find::UnionFind;
use super::{Dbscan, DbscanParams};
use crate::cluster::kdist::tree::{Block, FANOUT, LEAF, Tree};
use crate::cluster::{ClusterId, Clustering, Points};
use rayon::prelude::*;

/// Beyond this radius its square is infinite, and so near to the places in a
/// leaf that hold no point.
pub(super) const MAX_EPS: f64 = 1e150;

/// One flag for each place of a leaf.
type Mask = u16;

pub(super) fn cluster<const D: usize>(points: Points<'_>, params: &DbscanParams) -> Dbscan {
    let tree = Tree::<D>::new(points.data(), points.dims());
    let eps2 = params.eps2();
    let leaves = 0..tree.blocks.len();
    let cores: Vec<Mask> = leaves
        .clone()
        .into_par_iter()
        .with_min_len(16)
        .map(|leaf| run(Count { tree: &tree, leaf, eps2, min_points: params.min_points() }))
        .collect();
    let components = UnionFind::new(leaves.len() * LEAF);
    leaves.clone().into_par_iter().with_min_len(16).filter(|&leaf| cores[leaf] != 0).for_each(|leaf| {
        run(Join { tree: &tree, leaf, eps2, cores: &cores, components: &components });
    });

    let mut place = vec![0u32; points.len()];
    for (at, &row) in tree.rows.iter().enumerate() {
        place[row as usize] = at as u32;
    }
    let is_core = |at: u32| cores[at as usize / LEAF] >> (at as usize % LEAF) & 1 == 1;
    let mut number = vec![None; leaves.len() * LEAF];
    let mut n_clusters = 0;
    for &at in place.iter().filter(|&&at| is_core(at)) {
        let root = components.find(at) as usize;
        if number[root].is_none() {
            number[root] = Some(ClusterId::from_index(n_clusters));
            n_clusters += 1;
        }
    }
    let of_core: Vec<Option<ClusterId>> = (0..leaves.len() as u32 * LEAF as u32)
        .into_par_iter()
        .map(|at| if is_core(at) { number[components.find(at) as usize] } else { None })
        .collect();
    let of_leaf: Vec<[Option<ClusterId>; LEAF]> = leaves
        .into_par_iter()
        .with_min_len(16)
        .map(|leaf| run(Label { tree: &tree, leaf, eps2, cores: &cores, of_core: &of_core }))
        .collect();
    let labels = place.par_iter().map(|&at| of_leaf[at as usize / LEAF][at as usize % LEAF]).collect();
    let core = place.par_iter().map(|&at| is_core(at)).collect();
    Dbscan { clustering: Clustering { labels, n_clusters }, core }
}

/// Work on one leaf, compiled for several sets of vector instructions.
trait Work {
    type Output;
    fn run(self) -> Self::Output;
}

/// Does the work with the widest vectors there are. Wider vectors change no
/// bit: nothing here fuses a multiplication with an addition.
fn run<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
        fn avx512<W: Work>(work: W) -> W::Output {
            work.run()
        }
        #[target_feature(enable = "avx2")]
        fn avx2<W: Work>(work: W) -> W::Output {
            work.run()
        }
        let has_512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        if has_512 {
            // SAFETY: the instructions were just detected.
            return unsafe { avx512(work) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the instructions were just detected.
            return unsafe { avx2(work) };
        }
    }
    work.run()
}

/// Which points of a leaf have enough neighbours.
struct Count<'a, const D: usize> {
    tree: &'a Tree<D>,
    leaf: usize,
    eps2: f64,
    min_points: usize,
}

impl<const D: usize> Work for Count<'_, D> {
    type Output = Mask;

    #[inline(always)]
    fn run(self) -> Mask {
        let Self { tree, leaf, eps2, min_points } = self;
        let own = &tree.blocks[leaf];
        let n_own = tree.rows_of(leaf).len();
        // Counts stop to matter at `min_points`, far below 2^64.
        let mut counts = [0u64; LEAF];
        let enough = |counts: &[u64; LEAF]| counts[..n_own].iter().all(|&c| c >= min_points as u64);
        near_leaves(tree, leaf, eps2, |other| {
            let block = &tree.blocks[other];
            for j in 0..tree.rows_of(other).len() {
                let distances = distances(own, block, j);
                for i in 0..LEAF {
                    counts[i] += u64::from(distances[i] <= eps2);
                }
            }
            !enough(&counts)
        });
        let mut mask = 0;
        for (i, &count) in counts[..n_own].iter().enumerate() {
            mask |= Mask::from(count >= min_points as u64) << i;
        }
        mask
    }
}

/// Joins the core points of a leaf with those before them.
struct Join<'a, const D: usize> {
    tree: &'a Tree<D>,
    leaf: usize,
    eps2: f64,
    cores: &'a [Mask],
    components: &'a UnionFind,
}

impl<const D: usize> Work for Join<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { tree, leaf, eps2, cores, components } = self;
        let own = &tree.blocks[leaf];
        near_leaves(tree, leaf, eps2, |other| {
            // Each pair of leaves once.
            if other <= leaf {
                let block = &tree.blocks[other];
                for j in bits(cores[other]) {
                    let near = within(&distances(own, block, j), eps2) & cores[leaf];
                    for i in bits(near) {
                        components.join((leaf * LEAF + i) as u32, (other * LEAF + j) as u32);
                    }
                }
            }
            true
        });
    }
}

/// The labels of a leaf: a core point's own, a border point's first.
struct Label<'a, const D: usize> {
    tree: &'a Tree<D>,
    leaf: usize,
    eps2: f64,
    cores: &'a [Mask],
    of_core: &'a [Option<ClusterId>],
}

impl<const D: usize> Work for Label<'_, D> {
    type Output = [Option<ClusterId>; LEAF];

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { tree, leaf, eps2, cores, of_core } = self;
        let mut labels = [None; LEAF];
        let n_own = tree.rows_of(leaf).len();
        labels[..n_own].copy_from_slice(&of_core[leaf * LEAF..leaf * LEAF + n_own]);
        let rest = !cores[leaf] & (Mask::MAX >> (LEAF - n_own));
        if rest == 0 {
            return labels;
        }
        let own = &tree.blocks[leaf];
        near_leaves(tree, leaf, eps2, |other| {
            let block = &tree.blocks[other];
            for j in bits(cores[other]) {
                let near = within(&distances(own, block, j), eps2) & rest;
                for i in bits(near) {
                    let cluster = of_core[other * LEAF + j];
                    if labels[i].is_none() || cluster < labels[i] {
                        labels[i] = cluster;
                    }
                }
            }
            true
        });
        labels
    }
}

/// Squared distances of a leaf's points to one point of another; infinite
/// where either place holds none.
#[inline(always)]
fn distances<const D: usize>(own: &Block<D>, other: &Block<D>, j: usize) -> [f64; LEAF] {
    let mut sums = [0.0; LEAF];
    for d in 0..D {
        let x = other[d][j];
        for i in 0..LEAF {
            let t = own[d][i] - x;
            sums[i] += t * t;
        }
    }
    sums
}

#[inline(always)]
fn within(distances: &[f64; LEAF], eps2: f64) -> Mask {
    let mut mask = 0;
    for i in 0..LEAF {
        mask |= Mask::from(distances[i] <= eps2) << i;
    }
    mask
}

/// The places of the flags that are set.
fn bits(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let i = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (i < LEAF).then_some(i)
    })
}

/// Calls `visit` with the leaf itself, then with the others whose box is
/// within √`eps2` of its box, until `visit` returns false.
#[inline(always)]
fn near_leaves<const D: usize>(tree: &Tree<D>, leaf: usize, eps2: f64, mut visit: impl FnMut(usize) -> bool) {
    if !visit(leaf) {
        return;
    }
    let group = &tree.levels[0][leaf / FANOUT];
    let (mut low, mut high) = ([0.0; D], [0.0; D]);
    for d in 0..D {
        (low[d], high[d]) = (group.low[d][leaf % FANOUT], group.high[d][leaf % FANOUT]);
    }
    // Eight children a level: few levels hold all points that there can be.
    let mut pending = [(0u8, 0u32, 0u8); 16];
    let mut depth = 0;
    let top = tree.levels.len() - 1;
    let near = |level: usize, index: usize| -> u8 {
        let boxes = &tree.levels[level][index];
        let mut sums = [0.0; FANOUT];
        for d in 0..D {
            for c in 0..FANOUT {
                let (left, right) = (boxes.low[d][c] - high[d], low[d] - boxes.high[d][c]);
                let gap = if left > right { left } else { right };
                let gap = if gap > 0.0 { gap } else { 0.0 };
                sums[c] += gap * gap;
            }
        }
        let mut mask = 0;
        for c in 0..FANOUT {
            mask |= u8::from(sums[c] <= eps2) << c;
        }
        mask
    };
    pending[0] = (top as u8, 0, near(top, 0));
    loop {
        let (level, index, mask) = pending[depth];
        if mask == 0 {
            if depth == 0 {
                return;
            }
            depth -= 1;
            continue;
        }
        pending[depth].2 = mask & (mask - 1);
        let child = index as usize * FANOUT + mask.trailing_zeros() as usize;
        if level == 0 {
            if child != leaf && !visit(child) {
                return;
            }
        } else {
            depth += 1;
            let level = level as usize - 1;
            pending[depth] = (level as u8, child as u32, near(level, child));
        }
    }
}
