//! Complete linkage without the matrix.
//!
//! Complete linkage up to a height needs only the pairs below that height:
//! two clusters merge there if every pair between them is among these. So the
//! nearest pairs of clusters are listed, as many as memory holds, and all
//! merges that they decide are made; then the nearest pairs of what is left
//! are listed, and so on, until all pairs fit and [`chain`] does the rest.
//! Each listing computes dissimilarities anew. On most tables two or three
//! suffice: few clusters are left where the first list ends.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::chain::{self, Complete};
use super::dendrogram::{Dendrogram, Join, root};
use super::graph::{Graph, Pair};
use super::profiles::{Profiles, ProfilesError};
use super::tiles::{Block, Sink};
use super::{Dissimilarity, correlation};
use crate::cluster::Dissimilarities;

/// Pairs listed at least, for each object, however few values it has.
const LEAST_PAIRS: usize = 64;

/// Objects in the rows of a task, and in its columns, if clusters are small.
const ROWS: usize = 64;
const COLUMNS: usize = 256;

/// Complete linkage of profiles in memory for a few tables of them: O(n·d)
/// instead of O(n²). The tree is that of [`linkage`](super::linkage), where no
/// two pairs of clusters are equally unlike.
///
/// **Ties** are broken as there, but chains start elsewhere, and of equally
/// near pairs a list may hold only some: it may be another of the trees that
/// they allow.
///
/// # Errors
/// As [`dissimilarities`](super::dissimilarities).
///
/// # Complexity
/// O(n²·d) for each list, in parallel, and about O(n·d) for the merges that it
/// decides. Lists are few where the nearest pairs are spread over many
/// objects; where they all meet in a few objects there can be O(n).
/// Memory: about 120 bytes for each value, or for each of 64 in shorter rows.
///
/// # Reference
/// Malard, *A role for Pareto optimality in mining performance data*, §2.1,
/// whose variant needs no matrix either. Differs: the paper takes the longest
/// side of a cluster's box for its L₁ diameter, but that is its diameter in
/// the maximum norm; ours is exact for every dissimilarity. And it points each
/// cluster to a random near one, which may change the clusters; ours does not.
///
/// # Example
/// ```
/// use likewise::cluster::hierarchical::{Dissimilarity, Profiles, complete_linkage};
///
/// // Four profiles of one column.
/// let profiles = Profiles::new(&[0.0, 1.0, 5.0, 7.0], 1)?;
/// let tree = complete_linkage(&profiles, Dissimilarity::Manhattan)?;
/// assert_eq!(tree.merges().iter().map(|merge| merge.height).collect::<Vec<_>>(), [1.0, 2.0, 7.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn complete_linkage(profiles: &Profiles, how: Dissimilarity) -> Result<Dendrogram, ProfilesError> {
    let capacity = profiles.len() * profiles.dims().max(LEAST_PAIRS);
    with_capacity(profiles, how, capacity)
}

/// The same with lists of so many pairs, up to twice that.
pub(super) fn with_capacity(
    profiles: &Profiles,
    how: Dissimilarity,
    capacity: usize,
) -> Result<Dendrogram, ProfilesError> {
    profiles.check_common()?;
    let n = profiles.len();
    let compared: Cow<'_, Profiles> = correlation::comparable(profiles, how);
    let mut clusters = Clusters::single(n);
    let mut joins = Vec::with_capacity(n.saturating_sub(1));
    loop {
        let lister = Lister { profiles: &compared, how, clusters: &clusters, capacity };
        let near = lister.nearest().map_err(|(a, b)| correlation::undefined(profiles, a, b))?;
        let k = clusters.len();
        if near.len() == k * k.saturating_sub(1) / 2 {
            let object = |cluster: u32| clusters.lowest(cluster as usize);
            let last = chain::joins(square(k, &near), Complete);
            joins.extend(last.into_iter().map(|join| Join { a: object(join.a), b: object(join.b), ..join }));
            return Ok(Dendrogram::new(n, &joins));
        }
        clusters = clusters.merged(near, &mut joins);
    }
}

/// All pairs as a square.
fn square(k: usize, pairs: &[Pair]) -> Dissimilarities {
    let mut data = vec![0.0; k * k];
    for pair in pairs {
        let (a, b) = (pair.a as usize, pair.b as usize);
        data[a * k + b] = pair.height;
        data[b * k + a] = pair.height;
    }
    Dissimilarities { n: k, data }
}

/// Clusters by their lowest object.
struct Clusters {
    /// The objects, cluster by cluster.
    objects: Vec<u32>,
    /// Where each cluster begins, and the end.
    starts: Vec<u32>,
    /// The cluster of each place in `objects`.
    cluster_at: Vec<u32>,
}

impl Clusters {
    fn single(n: usize) -> Self {
        let all: Vec<u32> = (0..n as u32).collect();
        Self { objects: all.clone(), starts: (0..=n as u32).collect(), cluster_at: all }
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn lowest(&self, cluster: usize) -> u32 {
        self.objects[self.starts[cluster] as usize]
    }

    /// Where the objects of some clusters stand.
    fn places(&self, clusters: &Range<usize>) -> Range<usize> {
        self.starts[clusters.start] as usize..self.starts[clusters.end] as usize
    }

    /// The clusters from `from` on in runs of at most `most` objects, or one
    /// cluster.
    fn runs(&self, from: usize, most: usize) -> Vec<Range<usize>> {
        let mut runs = Vec::new();
        let mut start = from;
        while start < self.len() {
            let limit = self.starts[start] as usize + most;
            let fit = self.starts[start + 1..].partition_point(|&end| end as usize <= limit);
            let end = start + fit.max(1);
            runs.push(start..end);
            start = end;
        }
        runs
    }

    /// What is left after all merges that the nearest pairs decide.
    fn merged(&self, near: Vec<Pair>, joins: &mut Vec<Join>) -> Self {
        let k = self.len();
        let mut graph = Graph::new(k, &near);
        drop(near);
        for Pair { height, a, b } in graph.merge_all() {
            joins.push(Join { a: self.lowest(a as usize), b: self.lowest(b as usize), height });
        }
        let mut up = graph.up;
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); k];
        (0..k).for_each(|cluster| parts[root(&mut up, cluster)].push(cluster));
        let (mut objects, mut starts, mut cluster_at) = (Vec::new(), vec![0], Vec::new());
        for (at, parts) in parts.iter().filter(|parts| !parts.is_empty()).enumerate() {
            for &part in parts {
                objects.extend_from_slice(&self.objects[self.places(&(part..part + 1))]);
            }
            starts.push(objects.len() as u32);
            cluster_at.resize(objects.len(), at as u32);
        }
        Self { objects, starts, cluster_at }
    }
}

/// Lists the nearest pairs.
struct Lister<'a> {
    profiles: &'a Profiles,
    how: Dissimilarity,
    clusters: &'a Clusters,
    capacity: usize,
}

/// Rows and columns of clusters.
type Task = (Range<usize>, Range<usize>);

impl Lister<'_> {
    /// The nearest of all pairs, `capacity` to twice as many, or all. An error
    /// is the first pair of objects that has no dissimilarity.
    fn nearest(&self) -> Result<Vec<Pair>, (usize, usize)> {
        let k = self.clusters.len();
        let runs = self.clusters.runs(0, ROWS);
        let (mut near, mut last) = (Vec::new(), Pair::LAST);
        let mut rest = &runs[..];
        while !rest.is_empty() {
            // Rows whose pairs would fit, if all were near, at least one run.
            let most_rows = rest[0].start + (self.capacity / k).max(1);
            let (batch, later) = rest.split_at(rest.partition_point(|run| run.end <= most_rows).max(1));
            rest = later;
            let tasks: Vec<Task> = batch.iter().flat_map(|rows| self.tasks(rows)).collect();
            let found: Vec<_> = tasks.par_iter().map(|task| self.list(task, &last)).collect();
            if let Some(undefined) = found.iter().filter_map(|found| found.as_ref().err()).min() {
                return Err(*undefined);
            }
            near.extend(found.into_iter().flatten().flatten());
            if near.len() > 2 * self.capacity {
                let (_, kept, _) = near.select_nth_unstable_by(self.capacity - 1, Pair::cmp);
                last = *kept;
                near.truncate(self.capacity);
            }
        }
        Ok(near)
    }

    /// The tasks of some rows: all columns from there on.
    fn tasks(&self, rows: &Range<usize>) -> Vec<Task> {
        let columns = self.clusters.runs(rows.start, COLUMNS);
        columns.into_iter().map(|columns| (rows.clone(), columns)).collect()
    }

    /// The pairs of a task that do not come after `last`.
    fn list(&self, (rows, columns): &Task, last: &Pair) -> Result<Vec<Pair>, (usize, usize)> {
        let cells = vec![0.0; rows.len() * columns.len()];
        let (first_row, first_column) = (rows.start, columns.start);
        let mut farthest = Farthest {
            cluster_at: &self.clusters.cluster_at,
            first_row,
            first_column,
            width: columns.len(),
            limit: last.height,
            cells,
        };
        Block {
            profiles: self.profiles,
            dissimilarity: self.how,
            order: Some(&self.clusters.objects),
            rows: self.clusters.places(rows),
            columns: self.clusters.places(columns),
            sink: &mut farthest,
        }
        .compute();
        let mut pairs = Vec::new();
        for (a, cells) in rows.clone().zip(farthest.cells.chunks_exact(columns.len())) {
            for (b, &height) in columns.clone().zip(cells).filter(|&(b, _)| b > a) {
                let pair = Pair { height, a: a as u32, b: b as u32 };
                if height.is_nan() {
                    return Err((self.clusters.lowest(a) as usize, self.clusters.lowest(b) as usize));
                }
                if height <= last.height && pair.cmp(last).is_le() {
                    pairs.push(pair);
                }
            }
        }
        Ok(pairs)
    }
}

/// How unlike the most unlike objects of each two clusters are; once above
/// the limit, by how much does not matter.
struct Farthest<'a> {
    cluster_at: &'a [u32],
    first_row: usize,
    first_column: usize,
    width: usize,
    limit: f64,
    cells: Vec<f64>,
}

impl Sink for Farthest<'_> {
    #[inline(always)]
    fn wants(&mut self, rows: Range<usize>, columns: Range<usize>) -> bool {
        let clusters = |places: Range<usize>| {
            self.cluster_at[places.start] as usize..=self.cluster_at[places.end - 1] as usize
        };
        let (rows, columns) = (clusters(rows), clusters(columns));
        if rows.start() >= columns.end() {
            return false;
        }
        rows.into_iter().any(|row| {
            let start = (row - self.first_row) * self.width;
            let cells = columns.start() - self.first_column..=columns.end() - self.first_column;
            self.cells[start..][cells].iter().any(|&cell| cell <= self.limit)
        })
    }

    #[inline(always)]
    fn take<const SIDE: usize>(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        values: &[[f64; SIDE]; SIDE],
    ) {
        for (row, values) in rows.zip(values) {
            let start = (self.cluster_at[row] as usize - self.first_row) * self.width;
            for (column, &value) in columns.clone().zip(values) {
                let cell = &mut self.cells[start + self.cluster_at[column] as usize - self.first_column];
                // NaN is kept, too.
                if value > *cell || value.is_nan() {
                    *cell = value;
                }
            }
        }
    }
}
