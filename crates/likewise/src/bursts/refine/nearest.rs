//! The nearest of some bursts to another, where which ones may change from level
//! to level.

use rayon::prelude::*;

use crate::cluster::{MAX_DIMS, Points};

/// Rows of a leaf.
const LEAF: usize = 32;

/// Boxes of a group.
const FANOUT: usize = 8;

/// Bits of a coordinate on the curve, at most.
const BITS: u32 = 24;

/// All points in boxes within boxes.
pub(super) struct Index<'a> {
    points: Points<'a>,
    /// The points along a curve that fills space, so that neighbours in it are near.
    order: Vec<u32>,
    /// Boxes of [`LEAF`] points each, then of [`FANOUT`] boxes each and so on, up to
    /// one. Of each dimension its low and its high end.
    levels: Vec<Vec<f64>>,
}

/// Which boxes hold a point that counts, level by level.
pub(super) struct Marked(Vec<Vec<bool>>);

impl<'a> Index<'a> {
    /// O(n log n) for n points, in parallel; four bytes for each are kept.
    pub(super) fn new(points: Points<'a>) -> Self {
        let dims = points.dims();
        let rows = 0..points.len() as u32;
        let around = rows
            .clone()
            .into_par_iter()
            .fold(|| empty(dims), |around, row| with(around, &of_point(points, row)))
            .reduce(|| empty(dims), |a, b| with(a, &b));
        let mut keyed: Vec<(u64, u32)> = rows
            .into_par_iter()
            .map(|row| (place_on_curve(points.row(row as usize), &around), row))
            .collect();
        keyed.par_sort_unstable();
        let order: Vec<u32> = keyed.par_iter().map(|&(_, row)| row).collect();
        drop(keyed);
        let leaf =
            |rows: &[u32]| rows.iter().fold(empty(dims), |sum, &row| with(sum, &of_point(points, row)));
        let mut levels: Vec<Vec<f64>> = vec![order.par_chunks(LEAF).flat_map_iter(leaf).collect()];
        while let Some(below) = levels.last().filter(|level| level.len() > 2 * dims) {
            let group = |boxes: &[f64]| boxes.chunks(2 * dims).fold(empty(dims), with);
            let next = below.par_chunks(2 * dims * FANOUT).flat_map_iter(group).collect();
            levels.push(next);
        }
        Self { points, order, levels }
    }

    /// Marks the boxes that hold a point that `counts`.
    pub(super) fn mark(&self, counts: impl Fn(u32) -> bool + Sync) -> Marked {
        let any = |rows: &[u32]| rows.iter().any(|&row| counts(row));
        let mut marked: Vec<Vec<bool>> = vec![self.order.par_chunks(LEAF).map(any).collect()];
        while let Some(below) = marked.last().filter(|level| level.len() > 1) {
            let next = below.chunks(FANOUT).map(|group| group.contains(&true)).collect();
            marked.push(next);
        }
        Marked(marked)
    }

    /// The point nearest to that of `row`, the lowest of equally near ones, among
    /// those that `counts` is true of; all of them are marked.
    pub(super) fn nearest(&self, marked: &Marked, row: u32, counts: impl Fn(u32) -> bool) -> Option<u32> {
        let x = self.points.row(row as usize);
        let mut best = (f64::INFINITY, None);
        let mut pending = vec![(0.0, self.levels.len() - 1, 0)];
        while let Some((distance, level, index)) = pending.pop() {
            // An equally near box may hold an equally near point of lower number.
            if distance > best.0 || !marked.0[level][index] {
                continue;
            }
            if level == 0 {
                for &other in self.order[index * LEAF..].iter().take(LEAF) {
                    let found = (squared(x, self.points.row(other as usize)), Some(other));
                    let is_nearer = found.0 < best.0 || (found.0 == best.0 && found.1 < best.1);
                    if is_nearer && counts(other) {
                        best = found;
                    }
                }
                continue;
            }
            let first = pending.len();
            let boxes = self.levels[level - 1].chunks(2 * x.len()).enumerate();
            for (child, ends) in boxes.skip(index * FANOUT).take(FANOUT) {
                let distance = to_box(x, ends);
                if distance <= best.0 && marked.0[level - 1][child] {
                    pending.push((distance, level - 1, child));
                }
            }
            // The nearest is looked at first.
            pending[first..].sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.2.cmp(&a.2)));
        }
        best.1
    }
}

/// The box of no point.
fn empty(dims: usize) -> Vec<f64> {
    [f64::INFINITY, f64::NEG_INFINITY].repeat(dims)
}

/// The box of one point; the rest of the space is not used.
fn of_point(points: Points<'_>, row: u32) -> [f64; 2 * MAX_DIMS] {
    let mut ends = [0.0; 2 * MAX_DIMS];
    ends.chunks_exact_mut(2).zip(points.row(row as usize)).for_each(|(ends, &x)| ends.fill(x));
    ends
}

/// The box around two.
fn with(mut sum: Vec<f64>, other: &[f64]) -> Vec<f64> {
    for (ends, other) in sum.chunks_exact_mut(2).zip(other.chunks_exact(2)) {
        (ends[0], ends[1]) = (ends[0].min(other[0]), ends[1].max(other[1]));
    }
    sum
}

/// Where a point is on a curve through the box around all (the Z-order: bits of
/// all coordinates in turn).
fn place_on_curve(x: &[f64], around: &[f64]) -> u64 {
    let bits = BITS.min(64 / x.len() as u32);
    let cells = f64::from((1u32 << bits) - 1);
    let mut places = [0u32; MAX_DIMS];
    for ((place, x), ends) in places.iter_mut().zip(x).zip(around.chunks_exact(2)) {
        // A coordinate that is the same in all points is in cell 0.
        *place = ((x - ends[0]) / (ends[1] - ends[0]) * cells) as u32;
    }
    let mut key = 0;
    for bit in (0..bits).rev() {
        for place in &places[..x.len()] {
            key = key << 1 | u64::from(place >> bit & 1);
        }
    }
    key
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// No point in the box is nearer (squared), also in rounded numbers.
fn to_box(x: &[f64], ends: &[f64]) -> f64 {
    let gap = |(x, ends): (&f64, &[f64])| (ends[0] - x).max(x - ends[1]).max(0.0);
    x.iter().zip(ends.chunks_exact(2)).map(gap).map(|gap| gap * gap).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equals_looking_at_every_point(
            (dims, grid, counted) in (1usize..=5).prop_flat_map(|dims| (
                Just(dims),
                // Few distinct coordinates, so that ties are common.
                prop::collection::vec(0u8..9, dims * 300),
                prop::collection::vec(0u8..40, 300),
            ))
        ) {
            let data: Vec<f64> = grid.into_iter().map(|x| f64::from(x) * 0.5).collect();
            let points = Points::new(&data, dims).expect("points");
            let index = Index::new(points);
            for most in [0, 1, 20, 40] {
                let counts = |row: u32| counted[row as usize] < most;
                let marked = index.mark(counts);
                for row in 0..300 {
                    let distance = |other: u32| squared(points.row(row as usize), points.row(other as usize));
                    let expected = (0..300).filter(|&other| counts(other))
                        .min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
                    prop_assert_eq!(index.nearest(&marked, row, counts), expected);
                }
            }
        }
    }
}
