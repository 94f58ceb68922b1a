//! Groups as the leaves of a tree, for any number of dimensions.
//!
//! Boxes are split at the middle of their widest side and shrunk to their
//! points, until the diagonal is at most eps. Unlike cells of a fixed side,
//! leaves adapt to phases that are long in one dimension and thin in the
//! others, so there are far fewer of them in eight dimensions.

use super::geometry::{Aabb, max2, min2, partition};
use super::groups::{Cores, Groups, Index, Sorted, Went};
use super::params::DbscanParams;
use super::union_find::UnionFind;
use crate::parallel;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Splits at the middle are given up this deep: a cloud with a few points
/// very far away would make a chain of splits as long as its range has bits.
const MAX_MIDDLE_SPLITS: u32 = 64;

/// The component of a node whose leaves are in several, or not yet known.
const MIXED: u32 = u32::MAX;
/// The component of a node without a core point.
const NO_CORE: u32 = u32::MAX - 1;

struct Node<const D: usize> {
    around: Aabb<D>,
    /// Nodes in its subtree, itself included; a leaf has 1.
    size: u32,
    /// The first of its leaves.
    first_leaf: u32,
    /// The component of all its leaves, [`MIXED`] or [`NO_CORE`].
    component: AtomicU32,
}

/// Nodes in preorder: the left child follows its parent, the right child
/// follows the left one's subtree.
pub(super) struct Tree<const D: usize> {
    nodes: Vec<Node<D>>,
    eps2: f64,
}

/// A point and its place in the input.
type Entry<const D: usize> = ([f64; D], u32);

impl<const D: usize> Tree<D> {
    pub(super) fn new(input: &[[f64; D]], params: &DbscanParams) -> (Self, Sorted<D>) {
        let mut entries: Vec<Entry<D>> = input.iter().zip(0u32..).map(|(p, i)| (*p, i)).collect();
        let eps2 = params.eps2();
        let mut built = build(&mut entries, eps2, 0);
        let (mut start, mut boxes) = (vec![0], Vec::new());
        number_leaves(&mut built, &mut start, &mut boxes);

        let rows = entries.iter().map(|(_, row)| *row).collect();
        let points = entries.iter().map(|(p, _)| *p).collect();
        let nodes = built.into_iter().map(|(node, _)| node).collect();
        let groups = Groups { points, start, boxes };
        (Self { nodes, eps2 }, Sorted { groups, went: Went::From(rows) })
    }

    fn children(&self, i: usize) -> Option<(usize, usize)> {
        let left = i + 1;
        (self.nodes[i].size > 1).then(|| (left, left + self.nodes[left].size as usize))
    }

    /// Calls `visit` with the leaves before `g` that are near its box and not
    /// already known to be in its component, the nearest in order first.
    fn visit_before(&self, i: usize, g: usize, seek: &Seek<'_, D>, visit: &mut impl FnMut(usize)) {
        let node = &self.nodes[i];
        if node.first_leaf as usize >= g || min2(&node.around, seek.around) > self.eps2 {
            return;
        }
        let component = node.component.load(Relaxed);
        if component == NO_CORE || (component != MIXED && seek.components.same(component, g as u32)) {
            return;
        }
        match self.children(i) {
            None => visit(node.first_leaf as usize),
            Some((left, right)) => {
                self.visit_before(right, g, seek, visit);
                self.visit_before(left, g, seek, visit);
            }
        }
    }

    /// Notes for every node whether all its leaves are in one component.
    fn note_components(&self, i: usize, cores: &Cores, components: &UnionFind) -> u32 {
        let node = &self.nodes[i];
        let component = match self.children(i) {
            None if cores.any(node.first_leaf as usize) => components.find(node.first_leaf),
            None => NO_CORE,
            Some((left, right)) => {
                let note = |child| self.note_components(child, cores, components);
                let (a, b) = if node.size > 4096 {
                    rayon::join(|| note(left), || note(right))
                } else {
                    (note(left), note(right))
                };
                match (a, b) {
                    (a, NO_CORE) => a,
                    (NO_CORE, b) => b,
                    (a, b) if a == b => a,
                    _ => MIXED,
                }
            }
        };
        node.component.store(component, Relaxed);
        component
    }
}

/// What a descent compares nodes with.
struct Seek<'a, const D: usize> {
    around: &'a Aabb<D>,
    components: &'a UnionFind,
}

/// The subtree over `entries`, in preorder; each leaf with its number of
/// points, inner nodes with 0.
fn build<const D: usize>(entries: &mut [Entry<D>], eps2: f64, depth: u32) -> Vec<(Node<D>, u32)> {
    let mut nodes = Vec::new();
    if entries.len() < 1 << 13 {
        build_into(entries, eps2, depth, &mut nodes);
        return nodes;
    }
    let around = tight(entries);
    if max2(&around, &around) <= eps2 {
        nodes.push(leaf(around, entries.len()));
        return nodes;
    }
    let (left, right) = split(entries, &around, depth);
    let (left, right) = rayon::join(|| build(left, eps2, depth + 1), || build(right, eps2, depth + 1));
    nodes.reserve_exact(1 + left.len() + right.len());
    nodes.push(inner(around));
    nodes.extend(left);
    nodes.extend(right);
    nodes[0].0.size = nodes.len() as u32;
    nodes
}

fn build_into<const D: usize>(
    entries: &mut [Entry<D>],
    eps2: f64,
    depth: u32,
    nodes: &mut Vec<(Node<D>, u32)>,
) {
    let around = tight(entries);
    if max2(&around, &around) <= eps2 {
        nodes.push(leaf(around, entries.len()));
        return;
    }
    let at = nodes.len();
    nodes.push(inner(around));
    let (left, right) = split(entries, &around, depth);
    build_into(left, eps2, depth + 1, nodes);
    build_into(right, eps2, depth + 1, nodes);
    nodes[at].0.size = (nodes.len() - at) as u32;
}

fn leaf<const D: usize>(around: Aabb<D>, n_points: usize) -> (Node<D>, u32) {
    let mut node = inner(around).0;
    node.size = 1;
    (node, n_points as u32)
}

fn inner<const D: usize>(around: Aabb<D>) -> (Node<D>, u32) {
    (Node { around, size: 0, first_leaf: 0, component: AtomicU32::new(MIXED) }, 0)
}

fn tight<const D: usize>(entries: &[Entry<D>]) -> Aabb<D> {
    let mut around = Aabb::EMPTY;
    for (p, _) in entries {
        around.add(p);
    }
    around
}

/// Parts entries that do not all lie in one place.
fn split<'a, const D: usize>(
    entries: &'a mut [Entry<D>],
    around: &Aabb<D>,
    depth: u32,
) -> (&'a mut [Entry<D>], &'a mut [Entry<D>]) {
    let (k, _) = around.widest();
    let middle = 0.5 * around.lo[k] + 0.5 * around.hi[k];
    if depth > MAX_MIDDLE_SPLITS {
        let half = entries.len() / 2;
        entries.select_nth_unstable_by(half, |a, b| a.0[k].total_cmp(&b.0[k]).then(a.1.cmp(&b.1)));
        return entries.split_at_mut(half);
    }
    let mut at = partition(entries, |(p, _)| p[k] <= middle);
    if at == entries.len() {
        // The middle of two neighbouring numbers is one of them.
        at = partition(entries, |(p, _)| p[k] <= around.lo[k]);
    }
    entries.split_at_mut(at)
}

fn number_leaves<const D: usize>(
    nodes: &mut [(Node<D>, u32)],
    start: &mut Vec<u32>,
    boxes: &mut Vec<Aabb<D>>,
) {
    let mut end = 0;
    for (node, n_points) in nodes.iter_mut() {
        node.first_leaf = boxes.len() as u32;
        if node.size == 1 {
            end += *n_points;
            start.push(end);
            boxes.push(node.around);
        }
    }
}

impl<const D: usize> Index<D> for Tree<D> {
    fn near(&self, groups: &Groups<D>, g: usize, visit: &mut impl FnMut(usize) -> bool) {
        let own = &groups.boxes[g];
        let mut i = 0;
        while i < self.nodes.len() {
            let node = &self.nodes[i];
            if min2(own, &node.around) > self.eps2 {
                i += node.size as usize;
                continue;
            }
            let leaf = node.first_leaf as usize;
            if node.size == 1 && leaf != g && !visit(leaf) {
                return;
            }
            i += 1;
        }
    }

    fn join_all(
        &self,
        groups: &Groups<D>,
        cores: &Cores,
        components: &UnionFind,
        join: &(impl Fn(usize, usize) -> bool + Sync),
    ) {
        let n = groups.len();
        let try_join = |g: usize, h: usize| {
            if !components.same(g as u32, h as u32) && join(g, h) {
                components.join(g as u32, h as u32);
            }
        };
        // Leaves that follow each other are often near: join those first, so
        // that whole subtrees can be passed over afterwards.
        let join_last = |g: usize| {
            for h in (g.saturating_sub(4)..g).rev().filter(|&h| cores.any(h)) {
                if min2(&groups.boxes[g], &groups.boxes[h]) <= self.eps2 {
                    try_join(g, h);
                }
            }
        };
        parallel::each(n, 256, &|part| part.filter(|&g| cores.any(g)).for_each(join_last));
        let (mut from, mut step) = (0, (n / 64).max(1024));
        while from < n {
            self.note_components(0, cores, components);
            let to = (from + step).min(n);
            let join_before = |g: usize| {
                let seek = Seek { around: &groups.boxes[g], components };
                self.visit_before(0, g, &seek, &mut |h| {
                    if cores.any(h) {
                        try_join(g, h);
                    }
                });
            };
            parallel::each(to - from, 16, &|part| {
                part.map(|i| from + i).filter(|&g| cores.any(g)).for_each(join_before);
            });
            (from, step) = (to, step * 2);
        }
    }
}
