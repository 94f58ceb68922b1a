//! What one pass over the dissimilarities tells of every partition.

use rayon::prelude::*;

use super::super::Merge;
use crate::cluster::Dissimilarities;

/// Blocks of objects whose sums are added up in order; that they are so many
/// whatever the threads keeps every sum the same.
const BLOCKS: usize = 64;

/// What the rows tell.
pub(super) struct Rows {
    /// Of each merge, how unlike the most unlike objects of its two clusters
    /// are.
    pub(super) across: Vec<f64>,
    /// The mean silhouette before each merge.
    pub(super) silhouettes: Vec<f64>,
}

/// One pass over the rows, O(n) for each.
pub(super) fn rows(square: &Dissimilarities, merges: &[Merge]) -> Rows {
    let n = square.len();
    let tree = Tree::new(n, merges);
    let objects: Vec<usize> = (0..n).collect();
    let of_block = |objects: &[usize]| {
        let mut rows = Rows { across: vec![0.0; merges.len()], silhouettes: vec![0.0; merges.len()] };
        let mut scratch = Scratch { means: vec![0.0; tree.sizes.len()], path: Vec::new() };
        objects.iter().for_each(|&object| tree.add(object, square.row(object), &mut scratch, &mut rows));
        rows
    };
    let blocks: Vec<Rows> = objects.par_chunks(n.div_ceil(BLOCKS).max(1)).map(of_block).collect();
    let mut all = Rows { across: vec![0.0; merges.len()], silhouettes: vec![0.0; merges.len()] };
    for block in blocks {
        all.across.iter_mut().zip(block.across).for_each(|(all, x)| *all = all.max(x));
        all.silhouettes.iter_mut().zip(block.silhouettes).for_each(|(all, x)| *all += x);
    }
    all.silhouettes.iter_mut().for_each(|sum| *sum /= n as f64);
    all
}

/// The dendrogram, from the leaves up.
struct Tree<'a> {
    merges: &'a [Merge],
    /// Of each cluster, its objects.
    sizes: Vec<f64>,
    /// Of each cluster, the merge that ends it.
    ends: Vec<usize>,
    /// The objects, such that every cluster's stand together.
    order: Vec<usize>,
    /// Of each cluster, where its objects begin in `order`.
    starts: Vec<usize>,
}

/// Space for one row.
struct Scratch {
    /// Of each cluster, how unlike its objects are in the mean.
    means: Vec<f64>,
    /// The clusters that hold the object, from the root down: the merge that
    /// makes it, the other cluster, and how unlike the rest of the cluster
    /// that is left are in the mean, `None` if nothing is left.
    path: Vec<(usize, usize, Option<f64>)>,
}

impl<'a> Tree<'a> {
    fn new(n: usize, merges: &'a [Merge]) -> Self {
        let mut sizes = vec![1.0; n];
        sizes.extend(merges.iter().map(|merge| merge.size as f64));
        let mut ends = vec![usize::MAX; n + merges.len()];
        let mut starts = vec![0; n + merges.len()];
        for (at, merge) in merges.iter().enumerate().rev() {
            (ends[merge.a], ends[merge.b]) = (at, at);
            starts[merge.a] = starts[n + at];
            starts[merge.b] = starts[n + at] + sizes[merge.a] as usize;
        }
        let mut order = vec![0; n];
        (0..n).for_each(|object| order[starts[object]] = object);
        Self { merges, sizes, ends, order, starts }
    }

    /// Adds what the row of one object tells.
    fn add(&self, object: usize, row: &[f64], scratch: &mut Scratch, rows: &mut Rows) {
        let n = row.len();
        let Scratch { means, path } = scratch;
        means[..n].copy_from_slice(row);
        for (at, merge) in self.merges.iter().enumerate() {
            means[n + at] = means[merge.a] + means[merge.b];
        }
        self.climb(object, row, means, path, &mut rows.across);
        means.iter_mut().zip(&self.sizes).for_each(|(sum, &size)| *sum /= size);
        // Back from the root: the cluster of the object, and the nearest other.
        let mut other = f64::INFINITY;
        let mut own = 0.0;
        let mut splits = path.iter().rev();
        let mut next = splits.next();
        for (at, merge) in self.merges.iter().enumerate().rev() {
            match next {
                Some(&(split, sibling, rest)) if split == at => {
                    other = if means[sibling] < other { means[sibling] } else { other };
                    next = splits.next();
                    match rest {
                        Some(mean) => own = mean,
                        // Alone: 0 from here on.
                        None => return,
                    }
                }
                _ => {
                    let (a, b) = (means[merge.a], means[merge.b]);
                    let nearer = if a < b { a } else { b };
                    other = if nearer < other { nearer } else { other };
                }
            }
            let most = if own > other { own } else { other };
            rows.silhouettes[at] += if most > 0.0 { (other - own) / most } else { 0.0 };
        }
    }

    /// Notes the path from an object to the root, and how unlike the most
    /// unlike object is that each merge adds.
    fn climb(
        &self,
        object: usize,
        row: &[f64],
        sums: &[f64],
        path: &mut Vec<(usize, usize, Option<f64>)>,
        across: &mut [f64],
    ) {
        path.clear();
        let mut own = object;
        while let Some(merge) = self.merges.get(self.ends[own]) {
            let at = self.ends[own];
            let sibling = if merge.a == own { merge.b } else { merge.a };
            let others = self.sizes[own] - 1.0;
            path.push((at, sibling, (others > 0.0).then(|| sums[own] / others)));
            let start = self.starts[sibling];
            for &member in &self.order[start..start + self.sizes[sibling] as usize] {
                across[at] = if row[member] > across[at] { row[member] } else { across[at] };
            }
            own = row.len() + at;
        }
    }
}
