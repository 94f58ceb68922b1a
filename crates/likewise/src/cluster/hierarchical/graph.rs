//! Complete linkage as far as a list of the nearest pairs decides it.
//!
//! Chains of nearest neighbours as in [`chain`](super::chain), on lists of
//! edges in place of rows. A merge writes nothing into the lists of others: an
//! edge knows of how many parts of a cluster it tells, and a list that is read
//! joins the edges that now lead to one cluster. Where they tell of less than
//! all its parts, some pair is not on the list, so the cluster is farther than
//! all that are, and the edge is dropped.

use std::cmp::Ordering;

use super::dendrogram::root;

/// How unlike two clusters are, `a` before `b`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) height: f64,
    pub(super) a: u32,
    pub(super) b: u32,
}

impl Pair {
    /// After every other.
    pub(super) const LAST: Self = Self { height: f64::INFINITY, a: u32::MAX, b: u32::MAX };

    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        self.height.total_cmp(&other.height).then((self.a, self.b).cmp(&(other.a, other.b)))
    }
}

/// An edge to a cluster, or to what was one.
#[derive(Clone, Copy, Debug)]
struct Edge {
    to: u32,
    /// Of how many parts it tells.
    parts: u32,
    height: f64,
}

/// Which clusters are near, and how near.
pub(super) struct Graph {
    edges: Vec<Vec<Edge>>,
    /// Parts of each cluster.
    parts: Vec<u32>,
    /// Into which each has merged, the lower one.
    pub(super) up: Vec<usize>,
    /// Where the edge to each cluster stands while a list is worked on.
    at: Vec<u32>,
}

/// Nowhere.
const NONE: u32 = u32::MAX;

impl Graph {
    /// That of `k` clusters and pairs of them.
    pub(super) fn new(k: usize, near: &[Pair]) -> Self {
        let mut degrees = vec![0; k];
        for pair in near {
            degrees[pair.a as usize] += 1;
            degrees[pair.b as usize] += 1;
        }
        let mut edges: Vec<Vec<Edge>> = degrees.into_iter().map(Vec::with_capacity).collect();
        for &Pair { height, a, b } in near {
            edges[a as usize].push(Edge { to: b, parts: 1, height });
            edges[b as usize].push(Edge { to: a, parts: 1, height });
        }
        Self { edges, parts: vec![1; k], up: (0..k).collect(), at: vec![NONE; k] }
    }

    /// Makes all merges that the edges decide, each after those it builds on.
    pub(super) fn merge_all(&mut self) -> Vec<Pair> {
        let mut merges = Vec::new();
        let mut chain: Vec<usize> = Vec::new();
        let mut first = 0;
        while first < self.up.len() {
            let last = *chain.last().unwrap_or(&first);
            if self.up[last] != last {
                first += 1;
                continue;
            }
            self.catch_up(last);
            let before = chain.len().checked_sub(2).map(|at| chain[at]);
            match self.nearest(last, before) {
                // Only the start of a chain has nobody near.
                None => {
                    chain.clear();
                    first += 1;
                }
                Some((nearest, height)) if before == Some(nearest) => {
                    chain.truncate(chain.len() - 2);
                    let (a, b) = (last.min(nearest), last.max(nearest));
                    self.merge(a, b);
                    merges.push(Pair { height, a: a as u32, b: b as u32 });
                }
                Some((nearest, _)) => {
                    if chain.is_empty() {
                        chain.push(last);
                    }
                    chain.push(nearest);
                }
            }
        }
        merges
    }

    /// Joins the edges of a list that lead to one cluster now, and drops those
    /// that do not tell of all of it.
    fn catch_up(&mut self, cluster: usize) {
        let Self { edges, parts, up, at } = self;
        let list = &mut edges[cluster];
        let mut kept = 0;
        for next in 0..list.len() {
            let Edge { to, parts, height } = list[next];
            let to = root(up, to as usize);
            if at[to] == NONE {
                at[to] = kept as u32;
                list[kept] = Edge { to: to as u32, parts, height };
                kept += 1;
            } else {
                let edge = &mut list[at[to] as usize];
                edge.parts += parts;
                edge.height = edge.height.max(height);
            }
        }
        list.truncate(kept);
        list.iter().for_each(|edge| at[edge.to as usize] = NONE);
        list.retain(|edge| edge.parts == parts[edge.to as usize]);
    }

    /// The nearest cluster: the one before in the chain, or else the lowest of
    /// equally near ones.
    fn nearest(&self, cluster: usize, before: Option<usize>) -> Option<(usize, f64)> {
        let rank = |edge: &Edge| (before != Some(edge.to as usize), edge.to);
        let order = |x: &&Edge, y: &&Edge| x.height.total_cmp(&y.height).then(rank(x).cmp(&rank(y)));
        self.edges[cluster].iter().min_by(order).map(|edge| (edge.to as usize, edge.height))
    }

    /// Makes two clusters one, `a`: near to whatever both were near to.
    fn merge(&mut self, a: usize, b: usize) {
        self.catch_up(a);
        self.catch_up(b);
        let others = std::mem::take(&mut self.edges[b]);
        let at = &mut self.at;
        others.iter().zip(0..).for_each(|(edge, place)| at[edge.to as usize] = place);
        self.edges[a].retain_mut(|edge| {
            let place = at[edge.to as usize];
            if place != NONE {
                edge.height = edge.height.max(others[place as usize].height);
            }
            place != NONE
        });
        others.iter().for_each(|edge| at[edge.to as usize] = NONE);
        self.parts[a] += self.parts[b];
        self.up[b] = a;
    }
}
