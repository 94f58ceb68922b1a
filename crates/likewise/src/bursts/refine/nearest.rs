//! The nearest burst of the same group, where the groups change from level to
//! level.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use crate::cluster::{Along, Points, box_of, empty, with};
use crate::parallel;

use super::levels::NO_NODE;

/// So many points are looked at together.
const PART: usize = 1 << 14;

/// Rows of a leaf.
const LEAF: usize = 32;

/// Boxes of a group.
const FANOUT: usize = 8;

/// All points in boxes within boxes.
pub(super) struct Index<'a> {
    points: Points<'a>,
    along: &'a Along<'a>,
    /// Boxes of [`LEAF`] points each, then of [`FANOUT`] boxes each and so on, up to
    /// one. Of each dimension its low and its high end.
    levels: Vec<Vec<f64>>,
    /// Of each box the lowest row.
    lowest: Vec<Vec<u32>>,
}

/// Of a box: none of its points is in a group.
const NONE: u32 = NO_NODE;

/// Of a box: its points are in several groups.
const SEVERAL: u32 = NONE - 1;

/// Of which groups the points of two boxes are.
fn either(a: u32, b: u32) -> u32 {
    match (a, b) {
        (NONE, mark) | (mark, NONE) => mark,
        (a, b) if a == b => a,
        _ => SEVERAL,
    }
}

fn may_hold(mark: u32, group: u32) -> bool {
    mark == group || mark == SEVERAL
}

/// Of which groups the points are, and those in the boxes.
pub(super) enum Marked<F> {
    /// The group of each point in the index's order, and what boxes hold, level by
    /// level.
    All { groups: Vec<u32>, levels: Vec<Vec<u32>> },
    /// The group of a row; and of boxes of the lowest level what they hold, where
    /// somebody has looked.
    Asked { group_of: F, leaves: Vec<AtomicU32> },
}

/// If no more than one in so many points is asked about, what boxes hold is found
/// when it is asked.
const ASKED: usize = 2048;

/// Of a box: nobody has looked.
const UNKNOWN: u32 = SEVERAL - 1;

impl<F: Fn(u32) -> u32> Marked<F> {
    /// Whether what is known says that a box holds no point of the group.
    #[inline(always)]
    fn excludes(&self, level: usize, index: usize, group: u32) -> bool {
        matches!(self, Self::All { levels, .. } if !may_hold(levels[level][index], group))
    }

    /// Whether a box of the lowest level, with these rows, may hold a point of the
    /// group.
    #[inline(always)]
    fn leaf_may_hold(&self, index: usize, rows: &[u32], group: u32) -> bool {
        let Self::Asked { group_of, leaves } = self else {
            return !self.excludes(0, index, group);
        };
        // Who looks at the same time finds the same.
        let mut mark = leaves[index].load(Relaxed);
        if mark == UNKNOWN {
            mark = rows.iter().map(|&row| group_of(row)).fold(NONE, either);
            leaves[index].store(mark, Relaxed);
        }
        may_hold(mark, group)
    }

    /// The group of a point: its place in the index's order, and its row.
    #[inline(always)]
    fn group_of(&self, place: usize, row: u32) -> u32 {
        match self {
            Self::All { groups, .. } => groups[place],
            Self::Asked { group_of, .. } => group_of(row),
        }
    }
}

/// What one search leaves to the next among the same marks.
#[derive(Default)]
pub(super) struct Pending {
    /// Boxes that are still to be looked at: how far away, the level, the place.
    boxes: Vec<(f64, usize, usize)>,
    /// A group, and the point of it that was found last: it is not far from the next
    /// one either, if searches follow the curve.
    last: Option<(u32, u32)>,
}

impl<'a> Index<'a> {
    /// O(n) for n points, in parallel.
    pub(super) fn new(along: &'a Along<'a>) -> Self {
        let (points, order) = (along.points(), along.order());
        let dims = points.dims();
        let leaf = |rows: &[u32]| box_of(rows.iter().map(|&row| points.row(row as usize)), dims);
        let mut levels: Vec<Vec<f64>> = vec![order.par_chunks(LEAF).flat_map_iter(leaf).collect()];
        while let Some(below) = levels.last().filter(|level| level.len() > 2 * dims) {
            let group = |boxes: &[f64]| boxes.chunks(2 * dims).fold(empty(dims), with);
            let next = below.par_chunks(2 * dims * FANOUT).flat_map_iter(group).collect();
            levels.push(next);
        }
        let least = |rows: &[u32]| rows.iter().copied().min().unwrap_or(u32::MAX);
        let lowest = upwards(order.par_chunks(LEAF).map(least).collect(), least);
        Self { points, along, levels, lowest }
    }

    /// Marks points with the groups of their rows, and boxes; [`NO_NODE`] counts for
    /// nothing. So many will be asked about.
    ///
    /// # Complexity
    /// O(n) for n points, or O(1) and four bytes for each box where few are asked about.
    pub(super) fn mark<F: Fn(u32) -> u32 + Sync>(&self, group_of: F, n_asked: usize) -> Marked<F> {
        if n_asked * ASKED <= self.points.len() {
            let leaves = (0..self.lowest[0].len()).map(|_| AtomicU32::new(UNKNOWN)).collect();
            return Marked::Asked { group_of, leaves };
        }
        // Asked of one row after the other: in the index's order, what it reads would
        // be read here and there.
        let mut of_rows = crate::pages::large(vec![0; self.points.len()]);
        parallel::fill(&mut of_rows, PART, &|first, part| {
            part.iter_mut().zip(first as u32..).for_each(|(group, row)| *group = group_of(row));
        });
        let mut groups = crate::pages::large(vec![0; self.points.len()]);
        parallel::fill(&mut groups, PART, &|first, part| {
            part.iter_mut()
                .zip(&self.along.order()[first..])
                .for_each(|(group, &row)| *group = of_rows[row as usize]);
        });
        let all = |marks: &[u32]| marks.iter().copied().fold(NONE, either);
        let leaves = groups.par_chunks(LEAF).map(all).collect();
        Marked::All { groups, levels: upwards(leaves, all) }
    }

    /// The point nearest to that of `row`, the lowest of equally near ones, among
    /// those of `group`.
    pub(super) fn nearest<F: Fn(u32) -> u32>(
        &self,
        marked: &Marked<F>,
        row: u32,
        group: u32,
        pending: &mut Pending,
    ) -> Option<u32> {
        let x = self.points.row(row as usize);
        // Loops over two or three numbers cost more than what they do, unless the
        // compiler knows how many there are.
        match x.len() {
            1 => self.search(marked, &x[..1], group, pending),
            2 => self.search(marked, &x[..2], group, pending),
            3 => self.search(marked, &x[..3], group, pending),
            _ => self.search(marked, x, group, pending),
        }
    }

    #[inline(always)]
    fn search<F: Fn(u32) -> u32>(
        &self,
        marked: &Marked<F>,
        x: &[f64],
        group: u32,
        pending: &mut Pending,
    ) -> Option<u32> {
        let last = pending.last.filter(|(of, _)| *of == group);
        let from = |(_, row): (u32, u32)| (squared(x, &self.points.row(row as usize)[..x.len()]), row);
        let mut best = last.map_or((f64::INFINITY, u32::MAX), from);
        let open = &mut pending.boxes;
        open.clear();
        open.push((0.0, self.levels.len() - 1, 0));
        while let Some((distance, level, index)) = open.pop() {
            // An equally near box may hold an equally near point of lower number.
            if (distance, self.lowest[level][index]) >= best {
                continue;
            }
            if level == 0 {
                let first = index * LEAF;
                let order = self.along.order();
                let rows = &order[first..order.len().min(first + LEAF)];
                if !marked.leaf_may_hold(index, rows, group) {
                    continue;
                }
                for (place, &other) in (first..).zip(rows) {
                    if marked.group_of(place, other) == group {
                        let found = (squared(x, self.along.at(place, x.len())), other);
                        if found < best {
                            best = found;
                        }
                    }
                }
                continue;
            }
            let first = open.len();
            let boxes = self.levels[level - 1][index * FANOUT * 2 * x.len()..].chunks_exact(2 * x.len());
            for (place, ends) in boxes.take(FANOUT).enumerate() {
                if marked.excludes(level - 1, index * FANOUT + place, group) {
                    continue;
                }
                let distance = to_box(x, ends);
                if distance <= best.0 {
                    // The nearest is looked at first, and of equally near ones the first.
                    let farther = open[first..].iter().take_while(|(other, ..)| *other > distance);
                    let at = first + farther.count();
                    open.insert(at, (distance, level - 1, index * FANOUT + place));
                }
            }
        }
        pending.last = Some((group, best.1)).filter(|_| best.0.is_finite());
        pending.last.map(|(_, row)| row)
    }
}

/// All levels above the lowest, by what a group of boxes comes to.
fn upwards(lowest: Vec<u32>, of_group: impl Fn(&[u32]) -> u32) -> Vec<Vec<u32>> {
    let mut levels = vec![lowest];
    while let Some(below) = levels.last().filter(|level| level.len() > 1) {
        let next = below.chunks(FANOUT).map(&of_group).collect();
        levels.push(next);
    }
    levels
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
            for (copied, most, groups) in [(300, 0, 1), (0, 1, 1), (300, 20, 1), (0, 20, 4), (300, 20, 4), (299, 40, 2)] {
                let along = Along::with_copy_of(points, copied);
                let index = Index::new(&along);
                let counts = |row: u32| Some(counted[row as usize]).filter(|&x| x < most);
                let group_of = |row: u32| counts(row).map(|x| u32::from(x) % groups);
                let all: Vec<u32> = (0..300).map(|row| group_of(row).unwrap_or(NONE)).collect();
                for asked in [0, 300] {
                    let marked = index.mark(|row| all[row as usize], asked);
                    prop_assert_eq!(matches!(marked, Marked::Asked { .. }), asked == 0);
                    let mut pending = Pending::default();
                    for row in 0..300 {
                        let group = row % groups;
                        let distance = |other: u32| squared(points.row(row as usize), points.row(other as usize));
                        let expected = (0..300).filter(|&other| group_of(other) == Some(group))
                            .min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
                        prop_assert_eq!(index.nearest(&marked, row, group, &mut pending), expected);
                    }
                }
            }
        }
    }
}
