//! The method on the points of one owner, step by step, so that owners can tell
//! each other in between what they found.

use super::super::frame::Frame;
use super::super::geometry::Aabb;
use super::super::groups::{Cores, Groups, Index, Known, find_cores, is_core, join};
use super::super::labels::{Clusters, label};
use super::super::params::{Dbscan, DbscanParams};
use super::super::sparse::Sparse;
use super::super::tree::Tree;
use super::super::{grid, rows, stands_alone};
use crate::cluster::{ClusterId, Clustering, Points};
use std::borrow::Cow;

/// Own points, and after them copies of others that are near. Components are
/// numbered below `n_components`, with gaps.
pub(super) trait Local {
    /// Whether a point is core: true or false of own points, and of copies that
    /// were not added perhaps false where it should be true.
    fn is_core(&self, point: usize) -> bool;

    /// Notes that a copy is core.
    fn add(&mut self, point: usize);

    /// Joins core points within eps, at least where one is an own point.
    fn join(&self);

    /// The component of a core point.
    fn component(&self, point: usize) -> u32;

    fn n_components(&self) -> usize;

    /// Labels own points by the cluster of every component.
    fn label(self: Box<Self>, clusters: &[Option<ClusterId>], n_clusters: usize) -> Dbscan;
}

/// The way that `dbscan` would take with these points.
pub(super) fn local<'a>(points: Points<'a>, n_own: usize, params: &DbscanParams) -> Box<dyn Local + 'a> {
    if points.is_empty() {
        return Box::new(Nothing);
    }
    match points.dims() {
        1 => by_grid::<1>(points, n_own, params),
        2 => by_grid::<2>(points, n_own, params),
        3 => by_grid::<3>(points, n_own, params),
        4 => by_tree::<4>(points, n_own, params),
        5..=8 => by_tree::<8>(points, n_own, params),
        _ => by_tree::<16>(points, n_own, params),
    }
}

fn by_grid<'a, const D: usize>(
    points: Points<'a>,
    n_own: usize,
    params: &DbscanParams,
) -> Box<dyn Local + 'a> {
    let input = rows::<D>(points);
    let sorted = Frame::new(&Aabb::of(&input), params.eps())
        .and_then(|frame| grid::sort(&input, None, &frame, params));
    match sorted {
        Some((_, sorted)) if stands_alone(&sorted.groups, params) => sparse::<D>(points, n_own, params),
        Some((grid, sorted)) => {
            let sorted = sorted.by_row();
            let known = asked_of(&sorted, n_own, params);
            Box::new(Grouped::new(input, n_own, sorted, known, grid, params))
        }
        None => by_tree::<4>(points, n_own, params),
    }
}

fn by_tree<'a, const D: usize>(
    points: Points<'a>,
    n_own: usize,
    params: &DbscanParams,
) -> Box<dyn Local + 'a> {
    let input = rows::<D>(points);
    let (tree, sorted) = Tree::new(&input, params);
    if stands_alone(&sorted.groups, params) {
        return sparse::<D>(points, n_own, params);
    }
    let sorted = sorted.by_row();
    let known = asked_of(&sorted, n_own, params);
    Box::new(Grouped::new(input, n_own, sorted, known, tree, params))
}

fn sparse<'a, const D: usize>(
    points: Points<'a>,
    n_own: usize,
    params: &DbscanParams,
) -> Box<dyn Local + 'a> {
    Box::new(Alone { method: Sparse::<D>::new(points, params, n_own), n_own })
}

/// Only groups with an own point are asked about.
fn asked_of<const D: usize>(
    (groups, group_of): &(Groups<D>, Vec<u32>),
    n_own: usize,
    params: &DbscanParams,
) -> Known {
    let mut known = Known::by_size(groups, params);
    known.asked.fill(false);
    group_of[..n_own].iter().for_each(|&g| known.asked[g as usize] = true);
    known
}

/// No point at all.
struct Nothing;

impl Local for Nothing {
    fn is_core(&self, _: usize) -> bool {
        false
    }

    fn add(&mut self, _: usize) {}

    fn join(&self) {}

    fn component(&self, _: usize) -> u32 {
        0
    }

    fn n_components(&self) -> usize {
        0
    }

    fn label(self: Box<Self>, _: &[Option<ClusterId>], n_clusters: usize) -> Dbscan {
        Dbscan { clustering: Clustering { labels: Vec::new(), n_clusters }, core: Vec::new() }
    }
}

/// Points in groups; a component is a group.
pub(super) struct Grouped<'a, const D: usize, I> {
    pub(super) input: Cow<'a, [[f64; D]]>,
    n_own: usize,
    pub(super) groups: Groups<D>,
    pub(super) group_of: Vec<u32>,
    pub(super) known: Known,
    pub(super) cores: Cores,
    index: I,
    eps2: f64,
}

impl<'a, const D: usize, I: Index<D>> Grouped<'a, D, I> {
    pub(super) fn new(
        input: Cow<'a, [[f64; D]]>,
        n_own: usize,
        (groups, group_of): (Groups<D>, Vec<u32>),
        known: Known,
        index: I,
        params: &DbscanParams,
    ) -> Self {
        let cores = find_cores(&groups, (&known, None), &index, params);
        Self { input, n_own, groups, group_of, known, cores, index, eps2: params.eps2() }
    }
}

impl<const D: usize, I: Index<D>> Local for Grouped<'_, D, I> {
    fn is_core(&self, point: usize) -> bool {
        is_core(&self.input[point], self.group_of[point] as usize, &self.groups, &self.cores)
    }

    fn add(&mut self, point: usize) {
        self.cores.add(&self.groups, self.group_of[point] as usize, &self.input[point]);
    }

    fn join(&self) {
        join(&self.groups, &self.cores, &self.known, &self.index, self.eps2);
    }

    fn component(&self, point: usize) -> u32 {
        self.known.components.find(self.group_of[point])
    }

    fn n_components(&self) -> usize {
        self.groups.len()
    }

    fn label(self: Box<Self>, clusters: &[Option<ClusterId>], n_clusters: usize) -> Dbscan {
        let Self { input, n_own, groups, mut group_of, known, cores, index, eps2 } = *self;
        let of_root = |(g, &root): (usize, &u32)| clusters[root as usize].filter(|_| cores.any(g));
        let of_group = known.roots().iter().enumerate().map(of_root).collect();
        group_of.truncate(n_own);
        let clusters = Clusters { n_clusters, of_group };
        label(&input[..n_own], &groups, group_of, &index, &cores, &clusters, eps2)
    }
}

/// Points that stand alone; a component is a place in the tree.
struct Alone<const D: usize> {
    method: Sparse<D>,
    n_own: usize,
}

impl<const D: usize> Local for Alone<D> {
    fn is_core(&self, point: usize) -> bool {
        self.method.is_core(point)
    }

    fn add(&mut self, point: usize) {
        self.method.add(point);
    }

    fn join(&self) {
        self.method.join();
    }

    fn component(&self, point: usize) -> u32 {
        self.method.component(point)
    }

    fn n_components(&self) -> usize {
        self.method.n_places()
    }

    fn label(self: Box<Self>, clusters: &[Option<ClusterId>], n_clusters: usize) -> Dbscan {
        self.method.label(clusters, n_clusters, self.n_own)
    }
}
