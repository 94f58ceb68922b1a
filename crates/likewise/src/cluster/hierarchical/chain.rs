//! Linkage on the full square, by chains of nearest neighbours.
//!
//! A chain goes from a cluster to its nearest, from there to its nearest, and
//! so on, until two are nearest to each other; these merge. For linkages by
//! which a merged cluster is no nearer to others than the nearer of its parts
//! was, the merges so found are those of the greedy method in another order.
//!
//! A merge changes one number in every row. Going there would cost a miss of
//! the cache each, so it is written into a log, and a row catches up when it
//! is read next. When a quarter of the columns belongs to clusters that are
//! gone, all rows are squeezed, several at a time.

use rayon::prelude::*;

use super::Linkage;
use super::dendrogram::{Dendrogram, Join};
use crate::cluster::Dissimilarities;
use crate::simd::{Isa, LANES, Work, widest};

/// Squeezing is worth while down to here.
const LEAST_COLUMNS: usize = 64;

/// Numbers whose least is sought before its place is.
const STRETCH: usize = 64 * LANES;

/// Stands for clusters that are gone, and for a cluster itself.
const GONE: f64 = f64::INFINITY;

/// The squares of dissimilarities above its root are this, so that Ward's sums
/// stay finite.
const MAX_SQUARE: f64 = 1e290;

/// Groups objects into clusters, and these into larger ones, until one is
/// left: always the two that are nearest.
///
/// The square is used up. For [`Linkage::Ward`], dissimilarities should be
/// Euclidean distances; above 1e145 they count as that.
///
/// **Ties.** Among equally near clusters a chain goes back to where it came
/// from, and else to the one that holds the lowest object; it starts at the
/// cluster of the lowest object. Each merge is of two clusters than which no
/// two are nearer, but with ties there are several such trees, and others may
/// take another. The result does not depend on the number of threads.
///
/// # Complexity
/// O(n²), mostly on one thread. No memory but the square.
///
/// # Reference
/// Murtagh, *The Computer Journal* 26, 1983; Müllner, arXiv:1109.2378, 2011.
/// Differs: updates wait in a log and the square shrinks. Averages and Ward's
/// sums are kept from falling, by rounding, below the lesser of their parts,
/// so that heights never decrease.
///
/// # Example
/// ```
/// use likewise::cluster::Dissimilarities;
/// use likewise::cluster::hierarchical::{Linkage, linkage};
///
/// let objects = [0.0, 1.0, 5.0, 7.0f64];
/// let square = Dissimilarities::new(&objects, |a, b| (a - b).abs())?;
/// let tree = linkage(square, Linkage::Complete);
/// assert_eq!(tree.merges().iter().map(|merge| merge.height).collect::<Vec<_>>(), [1.0, 2.0, 7.0]);
/// let two = tree.cut(2);
/// assert!(two.labels[0] == two.labels[1] && two.labels[2] == two.labels[3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn linkage(square: Dissimilarities, linkage: Linkage) -> Dendrogram {
    let n = square.len();
    let joins = match linkage {
        Linkage::Complete => joins(square, Complete),
        Linkage::Single => joins(square, Single),
        Linkage::Average => joins(square, Average),
        Linkage::Ward => ward(square),
    };
    Dendrogram::new(n, &joins)
}

/// What Ward's sums are made of.
pub(crate) fn to_squares(square: &mut Dissimilarities) {
    square.data.par_iter_mut().for_each(|x| *x = (*x * *x).min(MAX_SQUARE));
}

fn ward(mut square: Dissimilarities) -> Vec<Join> {
    to_squares(&mut square);
    let mut joins = joins(square, Ward);
    joins.iter_mut().for_each(|join| join.height = join.height.sqrt());
    joins
}

/// The merges, each after those it builds on.
pub(super) fn joins<U: Update>(square: Dissimilarities, update: U) -> Vec<Join> {
    let n = square.len();
    let mut chain: Vec<usize> = Vec::new();
    let mut joins = Vec::with_capacity(n.saturating_sub(1));
    let mut rows = Rows::new(square, update);
    let mut first = 0;
    while joins.len() + 1 < n {
        if chain.is_empty() {
            while rows.sizes[first] == 0 {
                first += 1;
            }
            chain.push(first);
        }
        let last = chain[chain.len() - 1];
        rows.catch_up(last);
        let (mut nearest, height) = widest(Least(rows.row(last)));
        if let Some(&before) = chain.len().checked_sub(2).and_then(|at| chain.get(at)) {
            if rows.row(last)[before] <= height {
                nearest = before;
            }
            if nearest == before {
                chain.truncate(chain.len() - 2);
                let (a, b) = (last.min(before), last.max(before));
                joins.push(Join { a: rows.objects[a], b: rows.objects[b], height });
                rows.merge(a, b, height);
                if let Some(places) = rows.squeeze() {
                    chain.iter_mut().for_each(|slot| *slot = places[*slot]);
                    first = 0;
                }
                continue;
            }
        }
        chain.push(nearest);
    }
    joins
}

/// How near a merged cluster is to a third: the rules of Lance and Williams.
pub(crate) trait Update: Copy + Sync {
    /// From how near its parts are to it, the sizes of the parts and of the
    /// third, and how near the parts are to each other. Where both are
    /// infinite, infinite.
    fn merged(self, parts: [f64; 2], sizes: [f64; 3], height: f64) -> f64;
}

#[derive(Clone, Copy)]
pub(crate) struct Complete;
#[derive(Clone, Copy)]
pub(crate) struct Single;
#[derive(Clone, Copy)]
pub(crate) struct Average;
/// Of squares.
#[derive(Clone, Copy)]
pub(crate) struct Ward;

impl Update for Complete {
    #[inline(always)]
    fn merged(self, [a, b]: [f64; 2], _: [f64; 3], _: f64) -> f64 {
        if a > b { a } else { b }
    }
}

impl Update for Single {
    #[inline(always)]
    fn merged(self, [a, b]: [f64; 2], _: [f64; 3], _: f64) -> f64 {
        if a < b { a } else { b }
    }
}

impl Update for Average {
    #[inline(always)]
    fn merged(self, [a, b]: [f64; 2], [n_a, n_b, _]: [f64; 3], _: f64) -> f64 {
        let n = n_a + n_b;
        let mean = a * (n_a / n) + b * (n_b / n);
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        let mean = if mean < low { low } else { mean };
        if mean > high { high } else { mean }
    }
}

impl Update for Ward {
    #[inline(always)]
    fn merged(self, [a, b]: [f64; 2], [n_a, n_b, n_c]: [f64; 3], height: f64) -> f64 {
        let n = n_a + n_b + n_c;
        let sum = a * ((n_a + n_c) / n) + b * ((n_b + n_c) / n) - height * (n_c / n);
        let low = if a < b { a } else { b };
        if sum < low { low } else { sum }
    }
}

/// A merge as rows see it that have not been read since.
#[derive(Clone, Copy)]
struct Change {
    kept: u32,
    gone: u32,
    sizes: [u32; 2],
    height: f64,
}

/// The rows of the clusters there are. A cluster has the slot of its lowest
/// object; slots keep the objects' order.
pub(crate) struct Rows<U> {
    data: Vec<f64>,
    /// Numbers from one row to the next; a row may use fewer.
    stride: usize,
    update: U,
    /// Of each slot, its row in `data`.
    places: Vec<u32>,
    /// Of each slot, its lowest object.
    objects: Vec<u32>,
    /// Of each slot, the objects in its cluster; 0 where it is gone.
    sizes: Vec<u32>,
    /// Of each slot, how much of the log its row has seen.
    seen: Vec<u32>,
    log: Vec<Change>,
    n_living: usize,
}

impl<U: Update> Rows<U> {
    pub(crate) fn new(square: Dissimilarities, update: U) -> Self {
        let Dissimilarities { n, mut data } = square;
        (0..n).for_each(|i| data[i * n + i] = GONE);
        Self {
            data,
            stride: n,
            update,
            places: (0..n as u32).collect(),
            objects: (0..n as u32).collect(),
            sizes: vec![1; n],
            seen: vec![0; n],
            log: Vec::new(),
            n_living: n,
        }
    }

    /// The row of a slot: how near its cluster is to all others.
    pub(crate) fn row(&self, slot: usize) -> &[f64] {
        let start = self.places[slot] as usize * self.stride;
        &self.data[start..start + self.places.len()]
    }

    /// Does to a row what it missed.
    pub(crate) fn catch_up(&mut self, slot: usize) {
        let start = self.places[slot] as usize * self.stride;
        let row = &mut self.data[start..start + self.places.len()];
        replay(row, &self.log[self.seen[slot] as usize..], self.sizes[slot], self.update);
        self.seen[slot] = self.log.len() as u32;
    }

    /// Makes the clusters in slots `a < b` one, in slot `a`. The row of `b`
    /// then holds, of its two parts, how near the nearer one was to each
    /// cluster.
    pub(crate) fn merge(&mut self, a: usize, b: usize, height: f64) {
        self.catch_up(a);
        self.catch_up(b);
        let n = self.places.len();
        let (start, other) = (self.places[a] as usize * self.stride, self.places[b] as usize * self.stride);
        let (head, tail) = self.data.split_at_mut(other);
        let sizes = [self.sizes[a], self.sizes[b]];
        let (kept, gone) = (&mut head[start..start + n], &mut tail[..n]);
        widest(Union { kept, gone, sizes, all: &self.sizes, height, update: self.update });
        self.data[start + a] = GONE;
        self.data[start + b] = GONE;
        self.sizes[a] += self.sizes[b];
        self.sizes[b] = 0;
        self.n_living -= 1;
        self.log.push(Change { kept: a as u32, gone: b as u32, sizes, height });
        self.seen[a] = self.log.len() as u32;
    }

    /// Leaves out the columns of what is gone, if that is a quarter. Returns
    /// the new slot of each old one.
    fn squeeze(&mut self) -> Option<Vec<usize>> {
        let n = self.places.len();
        if self.n_living * 4 >= n * 3 || n <= LEAST_COLUMNS {
            return None;
        }
        let living: Vec<u32> = (0..n as u32).filter(|&slot| self.sizes[slot as usize] > 0).collect();
        let mut slot_of = vec![usize::MAX; self.stride];
        living.iter().for_each(|&slot| slot_of[self.places[slot as usize] as usize] = slot as usize);
        let Self { data, stride, seen, sizes, log, update, .. } = self;
        data.par_chunks_exact_mut(*stride).zip(&slot_of).for_each(|(row, &slot)| {
            if slot < n {
                replay(&mut row[..n], &log[seen[slot] as usize..], sizes[slot], *update);
                living.iter().enumerate().for_each(|(to, &from)| row[to] = row[from as usize]);
            }
        });
        let mut places = vec![usize::MAX; n];
        living.iter().enumerate().for_each(|(to, &from)| places[from as usize] = to);
        let of_living = |all: &[u32]| living.iter().map(|&slot| all[slot as usize]).collect();
        self.objects = of_living(&self.objects);
        self.sizes = of_living(&self.sizes);
        self.places = of_living(&self.places);
        self.seen = vec![0; living.len()];
        self.log.clear();
        Some(places)
    }
}

/// Does to a row of a cluster of `size` objects what a log tells.
fn replay<U: Update>(row: &mut [f64], log: &[Change], size: u32, update: U) {
    for change in log {
        let (kept, gone) = (change.kept as usize, change.gone as usize);
        let sizes = [change.sizes[0], change.sizes[1], size].map(f64::from);
        row[kept] = update.merged([row[kept], row[gone]], sizes, change.height);
        row[gone] = GONE;
    }
}

/// The row of a merged cluster, and what was nearer before.
struct Union<'a, U> {
    kept: &'a mut [f64],
    gone: &'a mut [f64],
    sizes: [u32; 2],
    all: &'a [u32],
    height: f64,
    update: U,
}

impl<U: Update> Work for Union<'_, U> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, _: I) {
        let [a, b] = self.sizes.map(f64::from);
        for ((kept, gone), &size) in self.kept.iter_mut().zip(self.gone).zip(self.all) {
            let nearer = if *kept < *gone { *kept } else { *gone };
            *kept = self.update.merged([*kept, *gone], [a, b, f64::from(size)], self.height);
            *gone = nearer;
        }
    }
}

/// The place of the least number, the first of equal ones, and the number;
/// place 0 if all are infinite.
struct Least<'a>(&'a [f64]);

impl Work for Least<'_> {
    type Out = (usize, f64);

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, isa: I) -> (usize, f64) {
        let (mut stretch, mut least) = (0, f64::INFINITY);
        for (at, numbers) in self.0.chunks(STRETCH).enumerate() {
            let here = least_of(isa, numbers);
            if here < least {
                (stretch, least) = (at, here);
            }
        }
        let from = stretch * STRETCH;
        let place = self.0[from..].iter().position(|&x| x == least).unwrap_or(0);
        (from + place, least)
    }
}

#[inline(always)]
fn least_of<I: Isa>(isa: I, numbers: &[f64]) -> f64 {
    let (quads, rest) = numbers.as_chunks::<{ 4 * LANES }>();
    let mut lanes = [isa.load(&[f64::INFINITY; LANES]); 4];
    for quad in quads {
        let (vectors, _) = quad.as_chunks::<LANES>();
        for (lane, vector) in lanes.iter_mut().zip(vectors) {
            *lane = isa.min(*lane, isa.load(vector));
        }
    }
    let low = isa.min(isa.min(lanes[0], lanes[1]), isa.min(lanes[2], lanes[3]));
    isa.store(low).into_iter().chain(rest.iter().copied()).fold(f64::INFINITY, f64::min)
}
