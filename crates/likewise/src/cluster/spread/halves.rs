//! Who owns which part of space.
//!
//! Ranks are halved, and space with them, across its widest dimension and where
//! a sample has as many points for every rank on both sides.

use super::held::{Rows, put_coordinates, take_coordinates};
use crate::cluster::Points;
use crate::comm::{CommError, Communicator};
use std::ops::Range;

/// Points of the sample for each owner.
const SAMPLE_PER_OWNER: u64 = 128;

/// Space, halved until each part has one owner.
pub(in crate::cluster) struct Halves {
    /// Where ranks up to `i - 1` and those from `i` on are told apart, by `i`:
    /// each `i` is the middle of one range of ranks. Points below the place in
    /// that dimension go to the lower half.
    cut: Vec<(usize, f64)>,
}

impl Halves {
    /// The same on all ranks. All get the sample: 128 points for each of them.
    pub(in crate::cluster) fn of_sample<C: Communicator + ?Sized>(
        comm: &C,
        points: Points<'_>,
        rows: &Rows,
        eps: f64,
    ) -> Result<Self, CommError> {
        let mut bytes = Vec::new();
        let step = rows.n() / (SAMPLE_PER_OWNER * comm.size() as u64);
        let some = sampled(rows, comm.rank(), step.max(1));
        some.for_each(|row| put_coordinates(&mut bytes, points.row(row)));
        comm.concatenate(&mut bytes)?;
        let mut data = Vec::new();
        take_coordinates(&mut data, &bytes);
        let mut sample: Vec<&[f64]> = data.chunks_exact(points.dims()).collect();
        let mut halves = Self { cut: vec![(0, f64::INFINITY); comm.size()] };
        halves.divide(0..comm.size(), &mut sample, eps);
        Ok(halves)
    }

    /// Points that are within 2 eps along every dimension stay together: each half
    /// would need copies of the other.
    fn divide(&mut self, ranks: Range<usize>, sample: &mut [&[f64]], eps: f64) {
        let Some((dim, width)) = widest(sample).filter(|_| ranks.len() > 1) else { return };
        if width <= 2.0 * eps {
            return;
        }
        let middle = middle(&ranks);
        sample.sort_unstable_by(|a, b| a[dim].total_cmp(&b[dim]));
        let target = sample.len() * (middle - ranks.start) / ranks.len();
        let n_low = gap(sample, dim, target, eps).unwrap_or_else(|| between(sample, dim, target));
        self.cut[middle] = (dim, sample[n_low][dim]);
        let (low, high) = sample.split_at_mut(n_low);
        self.divide(ranks.start..middle, low, eps);
        self.divide(middle..ranks.end, high, eps);
    }

    /// The owner of a point.
    pub(in crate::cluster) fn owner(&self, p: &[f64]) -> usize {
        let mut ranks = 0..self.cut.len();
        while ranks.len() > 1 {
            let middle = middle(&ranks);
            let (dim, at) = self.cut[middle];
            ranks = if p[dim] < at { ranks.start..middle } else { middle..ranks.end };
        }
        ranks.start
    }
}

fn middle(ranks: &Range<usize>) -> usize {
    ranks.start + ranks.len() / 2
}

/// How many sorted points, not all equal, are below a cut near `target`. Equal
/// coordinates stay on one side: all of them below or all above.
fn between(sample: &[&[f64]], dim: usize, target: usize) -> usize {
    let at = sample[target][dim];
    let below = sample.partition_point(|p| p[dim] < at);
    let above = sample.partition_point(|p| p[dim] <= at);
    let take_below = below > 0 && target - below <= above - target || above == sample.len();
    if take_below { below } else { above }
}

/// How many sorted points are below a gap near `target` that parts clouds: then no
/// point needs copies. It takes more than a quarter of the width of what is around,
/// so that chance does not make it where points are spread evenly.
fn gap(sample: &[&[f64]], dim: usize, target: usize, eps: f64) -> Option<usize> {
    let (from, to) = (target - target / 4, (target + target / 4).min(sample.len() - 1));
    let span = sample[to][dim] - sample[from][dim];
    let wide = |i: &usize| {
        let gap = sample[*i][dim] - sample[*i - 1][dim];
        gap > eps && gap > span / 4.0
    };
    (from + 1..=to).filter(wide).min_by_key(|i| i.abs_diff(target))
}

/// The dimension in which points are widest, and how wide; `None` without points.
fn widest(points: &[&[f64]]) -> Option<(usize, f64)> {
    let first = points.first()?;
    let width = |dim: usize| {
        let bounds = points
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (p[dim].min(low), p[dim].max(high)));
        (dim, bounds.1 - bounds.0)
    };
    (0..first.len()).map(width).reduce(|a, b| if b.1 > a.1 { b } else { a })
}

/// One of about `step` rows of a rank: which ones depends on nothing but the row.
/// They do not come at regular distances, because what runs record does.
pub(in crate::cluster) fn sampled(rows: &Rows, rank: usize, step: u64) -> impl Iterator<Item = usize> {
    let first = rows.first(rank);
    let here = (rows.first(rank + 1) - first) as usize;
    (0..here).filter(move |&row| scattered(first + row as u64) <= u64::MAX / step)
}

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
fn scattered(x: u64) -> u64 {
    let x = x.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// The tight boxes of the owners' points, and of halves of the owners.
pub(in crate::cluster) struct Hulls {
    n_owners: usize,
    dims: usize,
    /// Low and high coordinates of each node: the halves of node `i` are
    /// `2i + 1` and `2i + 2`. Nodes without a point are turned inside out.
    hulls: Vec<f64>,
}

impl Hulls {
    /// The same on all ranks; 16 bytes for each dimension and rank go to all.
    pub(in crate::cluster) fn gather<C: Communicator + ?Sized>(
        comm: &C,
        points: Points<'_>,
    ) -> Result<Self, CommError> {
        let dims = points.dims();
        let empty = [vec![f64::INFINITY; dims], vec![f64::NEG_INFINITY; dims]].concat();
        let mut hull = empty.clone();
        points.data().chunks_exact(dims).for_each(|p| grow(hull.split_at_mut(dims), p, p));
        let mut bytes = Vec::new();
        put_coordinates(&mut bytes, &hull);
        comm.concatenate(&mut bytes)?;
        let mut leaves = Vec::new();
        take_coordinates(&mut leaves, &bytes);
        let n_nodes = 2 * comm.size().next_power_of_two();
        let mut hulls = Self { n_owners: comm.size(), dims, hulls: empty.repeat(n_nodes) };
        hulls.merge(0, 0..comm.size(), &leaves);
        Ok(hulls)
    }

    fn merge(&mut self, node: usize, ranks: Range<usize>, leaves: &[f64]) {
        let width = 2 * self.dims;
        if ranks.len() == 1 {
            let leaf = &leaves[ranks.start * width..ranks.end * width];
            self.hulls[node * width..(node + 1) * width].copy_from_slice(leaf);
            return;
        }
        let middle = middle(&ranks);
        for (child, ranks) in [(2 * node + 1, ranks.start..middle), (2 * node + 2, middle..ranks.end)] {
            self.merge(child, ranks, leaves);
            let (before, from) = self.hulls.split_at_mut(child * width);
            let hull = before[node * width..(node + 1) * width].split_at_mut(self.dims);
            let (low, high) = from[..width].split_at(self.dims);
            grow(hull, low, high);
        }
    }

    /// Calls `visit` with the owners whose hulls are within √`eps2` of `p`.
    pub(in crate::cluster) fn near(&self, p: &[f64], eps2: f64, visit: &mut dyn FnMut(usize)) {
        self.near_in(0, 0..self.n_owners, p, eps2, visit);
    }

    fn near_in(&self, node: usize, ranks: Range<usize>, p: &[f64], eps2: f64, visit: &mut dyn FnMut(usize)) {
        let hull = &self.hulls[2 * self.dims * node..2 * self.dims * (node + 1)];
        if distance2(p, hull) > eps2 {
            return;
        }
        if ranks.len() == 1 {
            return visit(ranks.start);
        }
        let middle = middle(&ranks);
        self.near_in(2 * node + 1, ranks.start..middle, p, eps2, visit);
        self.near_in(2 * node + 2, middle..ranks.end, p, eps2, visit);
    }
}

/// Grows a hull around another one.
fn grow(hull: (&mut [f64], &mut [f64]), low: &[f64], high: &[f64]) {
    hull.0.iter_mut().zip(low).for_each(|(x, low)| *x = x.min(*low));
    hull.1.iter_mut().zip(high).for_each(|(x, high)| *x = x.max(*high));
}

/// No point in the hull is nearer than this, as distances are computed: see
/// `geometry`.
fn distance2(p: &[f64], hull: &[f64]) -> f64 {
    let (low, high) = hull.split_at(p.len());
    let gap = |((&x, &low), &high): ((&f64, &f64), &f64)| (low - x).max(x - high).max(0.0);
    p.iter().zip(low).zip(high).map(gap).map(|gap| gap * gap).sum()
}
