//! Which clusters merge, in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::cluster::{ClusterId, Clustering};

/// Two clusters made one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merge {
    /// The cluster of lower number.
    pub a: usize,
    /// The other.
    pub b: usize,
    /// How unlike they are, as the linkage has it.
    pub height: f64,
    /// Objects in the new cluster.
    pub size: usize,
}

/// A tree of clusters: object `i` is cluster `i`, and what merge `i` makes of
/// `n` objects is cluster `n + i`, as SciPy numbers them.
///
/// Merges come by height, which never decreases; of equal heights the one
/// comes first that holds the lowest object in its first cluster, then in its
/// second, after those it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Dendrogram {
    n_objects: usize,
    merges: Vec<Merge>,
}

/// A merge as the methods find it: an object of each of the two clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Join {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) height: f64,
}

/// A height that is never NaN, in a total order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Height(f64);

impl Eq for Height {}

impl PartialOrd for Height {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Height {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Dendrogram {
    /// The tree that `n_objects − 1` joins make, each after those that it
    /// builds on and none lower than they are.
    pub(super) fn new(n_objects: usize, joins: &[Join]) -> Self {
        assert_eq!(joins.len() + 1, n_objects.max(1), "joins of all objects into one cluster");
        let tree = Tree::new(n_objects, joins);
        let key = |join: usize| Reverse((Height(joins[join].height), tree.lowest(join), join));
        let mut waits: Vec<usize> = tree.children.iter().map(|pair| below(pair, n_objects).count()).collect();
        let mut ready: BinaryHeap<_> = (0..joins.len()).filter(|&join| waits[join] == 0).map(key).collect();
        // Numbers and sizes of the tree's nodes.
        let mut numbers: Vec<usize> = (0..n_objects + joins.len()).collect();
        let mut sizes = vec![1; n_objects + joins.len()];
        let mut merges = Vec::with_capacity(joins.len());
        while let Some(Reverse((height, _, join))) = ready.pop() {
            let [first, second] = tree.children[join];
            let size = sizes[first] + sizes[second];
            numbers[n_objects + join] = n_objects + merges.len();
            sizes[n_objects + join] = size;
            let (a, b) = (numbers[first].min(numbers[second]), numbers[first].max(numbers[second]));
            merges.push(Merge { a, b, height: height.0, size });
            if let Some(parent) = tree.parents[join] {
                waits[parent] -= 1;
                if waits[parent] == 0 {
                    ready.push(key(parent));
                }
            }
        }
        Self { n_objects, merges }
    }

    /// Number of objects.
    #[must_use]
    pub fn n_objects(&self) -> usize {
        self.n_objects
    }

    /// The merges, in order: one less than there are objects.
    #[must_use]
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The partition into `n_clusters` clusters: all but the last
    /// `n_clusters − 1` merges made. Clusters are numbered by their first
    /// object.
    ///
    /// # Panics
    /// If there are fewer objects, or no cluster is asked for.
    ///
    /// # Complexity
    /// O(n).
    #[must_use]
    pub fn cut(&self, n_clusters: usize) -> Clustering {
        let n = self.n_objects;
        assert!((1..=n).contains(&n_clusters), "1 to {n} clusters, not {n_clusters}");
        // From the root down, so that each node knows the cluster it is in.
        let made = n - n_clusters;
        let mut top: Vec<usize> = (0..2 * n - 1).collect();
        for (at, merge) in self.merges[..made].iter().enumerate().rev() {
            top[merge.a] = top[n + at];
            top[merge.b] = top[n + at];
        }
        let mut ids = vec![None; 2 * n - 1];
        let mut found = 0;
        let mut label = |object: usize| {
            *ids[top[object]].get_or_insert_with(|| {
                found += 1;
                ClusterId::from_index(found - 1)
            })
        };
        let labels = (0..n).map(|object| Some(label(object))).collect();
        Clustering { labels, n_clusters }
    }
}

/// Which joins are made of which.
struct Tree {
    /// Of each join, its two nodes, the one with the lower object first: an
    /// object, or `n` and the join that made it.
    children: Vec<[usize; 2]>,
    /// Of each join, the one that takes it in.
    parents: Vec<Option<usize>>,
    /// Of each node, its lowest object.
    lowest: Vec<usize>,
}

impl Tree {
    fn new(n: usize, joins: &[Join]) -> Self {
        let mut lowest: Vec<usize> = (0..n).collect();
        let mut node_of: Vec<usize> = (0..n).collect();
        let mut up: Vec<usize> = (0..n).collect();
        let mut children = Vec::with_capacity(joins.len());
        let mut parents = vec![None; joins.len()];
        for (at, join) in joins.iter().enumerate() {
            let (a, b) = (root(&mut up, join.a as usize), root(&mut up, join.b as usize));
            let (a, b) = (a.min(b), a.max(b));
            let pair = [node_of[a], node_of[b]];
            below(&pair, n).for_each(|child| parents[child] = Some(at));
            children.push(pair);
            // The root of a set is its lowest object.
            up[b] = a;
            node_of[a] = n + at;
            lowest.push(a);
        }
        Self { children, parents, lowest }
    }

    /// The lowest objects of a join's two clusters.
    fn lowest(&self, join: usize) -> [usize; 2] {
        self.children[join].map(|node| self.lowest[node])
    }
}

/// The joins among two nodes.
fn below(pair: &[usize; 2], n: usize) -> impl Iterator<Item = usize> {
    pair.iter().filter(move |&&node| node >= n).map(move |&node| node - n)
}

/// The lowest object of the set that holds `of`.
pub(super) fn root(up: &mut [usize], mut of: usize) -> usize {
    while up[of] != of {
        up[of] = up[up[of]];
        of = up[of];
    }
    of
}
