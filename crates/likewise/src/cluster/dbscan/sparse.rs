//! The method for points that stand alone: where a group of mutual
//! neighbours would hold hardly more than one point, there is nothing to gain
//! from groups, and distances are computed, sixteen by sixteen.
//!
//! The tree is the one of the k-distances: leaves of sixteen points stored by
//! coordinate, boxes in groups of eight.

#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays at once")]

use super::params::{Dbscan, DbscanParams, PART};
use super::union_find::UnionFind;
use crate::cluster::kdist::tree::{Block, FANOUT, LEAF, Tree};
use crate::cluster::{ClusterId, Clustering, Points};
use crate::parallel;
use crate::simd::{Isa, Work, widest};

/// Beyond this radius its square is infinite, and so near to the places in a
/// leaf that hold no point.
pub(super) const MAX_EPS: f64 = 1e150;

/// Leaves that a thread takes at once.
const LEAVES_PER_TASK: usize = 16;

/// One flag for each place of a leaf.
type Mask = u16;

pub(super) fn cluster<const D: usize>(points: Points<'_>, params: &DbscanParams) -> Dbscan {
    let found = Sparse::<D>::new(points, params, points.len());
    found.join();
    let mut number = vec![None; found.n_places()];
    let mut n_clusters = 0;
    for row in (0..points.len()).filter(|&row| found.is_core(row)) {
        let root = found.component(row) as usize;
        if number[root].is_none() {
            number[root] = Some(ClusterId::from_index(n_clusters));
            n_clusters += 1;
        }
    }
    found.label(&number, n_clusters, points.len())
}

/// The method, step by step. The points have places in the leaves of the tree.
pub(super) struct Sparse<const D: usize> {
    tree: Tree<D>,
    /// The core points of each leaf.
    cores: Vec<Mask>,
    /// Of places.
    components: UnionFind,
    /// The place of each row.
    place: Vec<u32>,
    eps2: f64,
}

impl<const D: usize> Sparse<D> {
    /// Finds the core points among the first `asked` rows, and maybe others.
    pub(super) fn new(points: Points<'_>, params: &DbscanParams, asked: usize) -> Self {
        let tree = Tree::<D>::new(points.data(), points.dims());
        let (eps2, min_points) = (params.eps2(), params.min_points() as u64);
        let n_leaves = tree.blocks.len();
        let mut cores: Vec<Mask> = vec![0; n_leaves];
        parallel::fill(&mut cores, LEAVES_PER_TASK, &|first, part| {
            for (leaf, cores) in (first..).zip(part) {
                if tree.rows_of(leaf).iter().any(|&row| (row as usize) < asked) {
                    let mut visit = Count { tree: &tree, leaf, eps2, min_points, counts: [0; LEAF] };
                    search(&mut visit, &tree, leaf, eps2);
                    *cores = visit.enough() & tree_mask(&tree, leaf);
                }
            }
        });
        let components = UnionFind::new(n_leaves * LEAF);
        let mut place = vec![0u32; points.len()];
        for (at, &row) in tree.rows.iter().enumerate() {
            place[row as usize] = at as u32;
        }
        Self { tree, cores, components, place, eps2 }
    }

    pub(super) fn n_places(&self) -> usize {
        self.cores.len() * LEAF
    }

    fn core_at(&self, place: u32) -> bool {
        self.cores[place as usize / LEAF] >> (place as usize % LEAF) & 1 == 1
    }

    pub(super) fn is_core(&self, row: usize) -> bool {
        self.core_at(self.place[row])
    }

    /// Notes that a row is core.
    pub(super) fn add(&mut self, row: usize) {
        let place = self.place[row] as usize;
        self.cores[place / LEAF] |= 1 << (place % LEAF);
    }

    /// Joins the core points that are within eps of each other.
    pub(super) fn join(&self) {
        let Self { tree, cores, components, eps2, .. } = self;
        parallel::each(cores.len(), LEAVES_PER_TASK, &|leaves| {
            for leaf in leaves.filter(|&leaf| cores[leaf] != 0) {
                let mut visit = Join { tree, leaf, eps2: *eps2, cores, components };
                search(&mut visit, tree, leaf, *eps2);
            }
        });
    }

    /// The component of a row that is core: a place.
    pub(super) fn component(&self, row: usize) -> u32 {
        self.components.find(self.place[row])
    }

    /// Labels the first `n_rows` rows by the number of each component.
    pub(super) fn label(&self, number: &[Option<ClusterId>], n_clusters: usize, n_rows: usize) -> Dbscan {
        let Self { tree, cores, .. } = self;
        let mut of_core: Vec<Option<ClusterId>> = vec![None; self.n_places()];
        parallel::fill(&mut of_core, PART, &|first, part| {
            for (at, label) in (first as u32..).zip(part).filter(|(at, _)| self.core_at(*at)) {
                *label = number[self.components.find(at) as usize];
            }
        });
        let mut of_leaf: Vec<[Option<ClusterId>; LEAF]> = vec![[None; LEAF]; cores.len()];
        parallel::fill(&mut of_leaf, LEAVES_PER_TASK, &|first, part| {
            for (leaf, labels) in (first..).zip(part) {
                labels.copy_from_slice(&of_core[leaf * LEAF..(leaf + 1) * LEAF]);
                let rest = !cores[leaf] & tree_mask(tree, leaf);
                let wanted = tree.rows_of(leaf).iter().any(|&row| (row as usize) < n_rows);
                if rest != 0 && wanted {
                    let (of_core, eps2) = (&of_core, self.eps2);
                    let mut visit = Label { tree, leaf, eps2, cores, of_core, rest, labels: *labels };
                    search(&mut visit, tree, leaf, eps2);
                    *labels = visit.labels;
                }
            }
        });
        let place = &self.place[..n_rows];
        let mut labels = vec![None; n_rows];
        parallel::fill(&mut labels, PART, &|first, part| {
            for (label, &at) in part.iter_mut().zip(&place[first..]) {
                *label = of_leaf[at as usize / LEAF][at as usize % LEAF];
            }
        });
        let core = place.iter().map(|&at| self.core_at(at)).collect();
        Dbscan { clustering: Clustering { labels, n_clusters }, core }
    }
}

/// The places of a leaf that hold points.
fn tree_mask<const D: usize>(tree: &Tree<D>, leaf: usize) -> Mask {
    Mask::MAX >> (LEAF - tree.rows_of(leaf).len())
}

/// What is done with the leaves near a leaf.
trait Visit {
    /// Looks at those points of one of them that are near the leaf's box;
    /// false ends the search.
    fn visit(&mut self, other: usize, near: Mask) -> bool;
}

/// Which points of a leaf have enough neighbours.
struct Count<'a, const D: usize> {
    tree: &'a Tree<D>,
    leaf: usize,
    eps2: f64,
    min_points: u64,
    counts: [u64; LEAF],
}

impl<const D: usize> Count<'_, D> {
    #[inline(always)]
    fn enough(&self) -> Mask {
        let mut mask = 0;
        for i in 0..LEAF {
            mask |= Mask::from(self.counts[i] >= self.min_points) << i;
        }
        mask
    }
}

impl<const D: usize> Visit for Count<'_, D> {
    #[inline(always)]
    fn visit(&mut self, other: usize, near: Mask) -> bool {
        let (own, block) = (&self.tree.blocks[self.leaf], &self.tree.blocks[other]);
        for j in bits(near) {
            let distances = distances(own, block, j);
            for i in 0..LEAF {
                self.counts[i] += u64::from(distances[i] <= self.eps2);
            }
        }
        let n_own = self.tree.rows_of(self.leaf).len();
        self.counts[..n_own].iter().any(|&count| count < self.min_points)
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

impl<const D: usize> Visit for Join<'_, D> {
    #[inline(always)]
    fn visit(&mut self, other: usize, near: Mask) -> bool {
        let Self { tree, leaf, eps2, cores, components } = *self;
        // Each pair of leaves once.
        if other <= leaf {
            let (own, block) = (&tree.blocks[leaf], &tree.blocks[other]);
            for j in bits(cores[other] & near) {
                let pairs = within(&distances(own, block, j), eps2) & cores[leaf];
                for i in bits(pairs) {
                    components.join((leaf * LEAF + i) as u32, (other * LEAF + j) as u32);
                }
            }
        }
        true
    }
}

/// The labels of a leaf: a core point's own, a border point's first.
struct Label<'a, const D: usize> {
    tree: &'a Tree<D>,
    leaf: usize,
    eps2: f64,
    cores: &'a [Mask],
    of_core: &'a [Option<ClusterId>],
    /// Points that are not core.
    rest: Mask,
    labels: [Option<ClusterId>; LEAF],
}

impl<const D: usize> Visit for Label<'_, D> {
    #[inline(always)]
    fn visit(&mut self, other: usize, near: Mask) -> bool {
        let (own, block) = (&self.tree.blocks[self.leaf], &self.tree.blocks[other]);
        for j in bits(self.cores[other] & near) {
            let reached = within(&distances(own, block, j), self.eps2) & self.rest;
            let cluster = self.of_core[other * LEAF + j];
            for i in bits(reached) {
                if self.labels[i].is_none() || cluster < self.labels[i] {
                    self.labels[i] = cluster;
                }
            }
        }
        true
    }
}

/// Visits the leaves near a leaf with the widest vectors there are.
fn search<const D: usize>(visit: &mut impl Visit, tree: &Tree<D>, leaf: usize, eps2: f64) {
    widest(Search { visit, tree, leaf, eps2 });
}

struct Search<'a, V, const D: usize> {
    visit: &'a mut V,
    tree: &'a Tree<D>,
    leaf: usize,
    eps2: f64,
}

impl<V: Visit, const D: usize> Work for Search<'_, V, D> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, _: I) {
        visit_near(self.visit, self.tree, self.leaf, self.eps2);
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
fn within<const N: usize>(distances: &[f64; N], eps2: f64) -> Mask {
    let mut mask = 0;
    for i in 0..N {
        mask |= Mask::from(distances[i] <= eps2) << i;
    }
    mask
}

/// The places of the flags that are set.
#[inline(always)]
fn bits(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let i = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (i < LEAF).then_some(i)
    })
}

/// Visits the leaf itself, then the others whose box is within √`eps2` of its
/// box.
#[inline(always)]
fn visit_near<const D: usize>(visit: &mut impl Visit, tree: &Tree<D>, leaf: usize, eps2: f64) {
    let group = &tree.levels[0][leaf / FANOUT];
    let mut hull = [(0.0, 0.0); D];
    for d in 0..D {
        hull[d] = (group.low[d][leaf % FANOUT], group.high[d][leaf % FANOUT]);
    }
    // What is left of each group on the way down; with eight children a level,
    // sixteen levels hold more points than there can be.
    let mut pending = [(0usize, 0u8); 16];
    let mut level = tree.levels.len() - 1;
    pending[level] = (0, near(&tree.levels[level][0].low, &tree.levels[level][0].high, &hull, eps2) as u8);
    let mut next = Some(leaf);
    loop {
        if let Some(found) = next.take()
            && !visit.visit(found, near(&tree.blocks[found], &tree.blocks[found], &hull, eps2))
        {
            return;
        }
        let (index, mask) = pending[level];
        if mask == 0 {
            level += 1;
            if level == tree.levels.len() {
                return;
            }
            continue;
        }
        pending[level].1 = mask & (mask - 1);
        let child = index * FANOUT + mask.trailing_zeros() as usize;
        if level == 0 {
            next = (child != leaf).then_some(child);
        } else {
            level -= 1;
            pending[level] = (
                child,
                near(&tree.levels[level][child].low, &tree.levels[level][child].high, &hull, eps2) as u8,
            );
        }
    }
}

/// Which of `N` boxes, stored by dimension, are within √`eps2` of another
/// box; points are boxes too.
#[inline(always)]
fn near<const D: usize, const N: usize>(
    low: &[[f64; N]; D],
    high: &[[f64; N]; D],
    hull: &[(f64, f64); D],
    eps2: f64,
) -> Mask {
    let mut sums = [0.0; N];
    for d in 0..D {
        for i in 0..N {
            let (left, right) = (low[d][i] - hull[d].1, hull[d].0 - high[d][i]);
            let gap = if left > right { left } else { right };
            let gap = if gap > 0.0 { gap } else { 0.0 };
            sums[i] += gap * gap;
        }
    }
    within(&sums, eps2)
}
