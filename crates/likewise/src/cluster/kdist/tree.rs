//! A kd-tree without pointers: leaves of equal size in order, and above them
//! groups of eight, of groups of eight, and so on.

#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays at once")]

use crate::parallel;

/// Points in a leaf.
pub(in crate::cluster) const LEAF: usize = 16;

/// Children of a group.
pub(in crate::cluster) const FANOUT: usize = 8;

/// Below this many points a subtree is built by one thread.
const SERIAL: usize = 1 << 13;

/// Objects that a thread takes at once.
const PART: usize = 1 << 12;

/// How many points choose the direction of a split.
const SAMPLE: usize = 64;

/// The coordinates of a leaf, by dimension. Places without a point hold
/// infinity, which is near nothing.
pub(in crate::cluster) type Block<const D: usize> = [[f64; LEAF]; D];

/// The bounding boxes of the children of a group, by dimension. A missing
/// child's box is turned inside out, which is near nothing as well.
#[derive(Clone)]
pub(in crate::cluster) struct Boxes<const D: usize> {
    pub(in crate::cluster) low: [[f64; FANOUT]; D],
    pub(in crate::cluster) high: [[f64; FANOUT]; D],
}

impl<const D: usize> Boxes<D> {
    const NONE: Self = Self { low: [[f64::INFINITY; FANOUT]; D], high: [[f64::NEG_INFINITY; FANOUT]; D] };

    /// The box around all children.
    fn hull(&self) -> ([f64; D], [f64; D]) {
        (self.low.map(|x| x.into_iter().fold(f64::INFINITY, f64::min)), self.high.map(highest))
    }
}

fn highest(values: [f64; FANOUT]) -> f64 {
    values.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

/// All points, near ones together.
///
/// Every subtree of a binary split holds a number of leaves that is a power
/// of two, but for the last one at each depth; so each aligned run of
/// `FANOUT^i` leaves is a subtree, and its place says who its parent is.
pub(in crate::cluster) struct Tree<const D: usize> {
    /// The leaves.
    pub(in crate::cluster) blocks: Vec<Block<D>>,
    /// The row that each place of each leaf came from.
    pub(in crate::cluster) rows: Vec<u32>,
    /// `levels[0]` groups the leaves, `levels[i]` the groups of `levels[i-1]`;
    /// the last has one group.
    pub(in crate::cluster) levels: Vec<Vec<Boxes<D>>>,
}

/// A point and the row it came from.
#[derive(Clone, Copy)]
struct Entry<const D: usize> {
    at: [f64; D],
    row: u32,
}

impl<const D: usize> Tree<D> {
    /// Builds the tree over `data`, rows of `dims` coordinates; dimensions
    /// from `dims` to `D` are zero.
    pub(in crate::cluster) fn new(data: &[f64], dims: usize) -> Self {
        let mut entries = vec![Entry { at: [0.0; D], row: 0 }; data.len() / dims];
        parallel::fill(&mut entries, PART, &|first, part| {
            for (row, entry) in (first..).zip(part) {
                entry.at[..dims].copy_from_slice(&data[row * dims..(row + 1) * dims]);
                entry.row = row as u32;
            }
        });
        arrange(&mut entries);
        let mut blocks = vec![[[f64::INFINITY; LEAF]; D]; entries.len().div_ceil(LEAF)];
        parallel::fill(&mut blocks, PART / LEAF, &|first, part| {
            let leaves = entries[first * LEAF..].chunks(LEAF);
            part.iter_mut().zip(leaves).for_each(|(block, entries)| fill_block(block, entries));
        });
        let rows = entries.iter().map(|entry| entry.row).collect();
        drop(entries);
        let hulls = hulls(&blocks, block_hull);
        Self { blocks, rows, levels: levels(hulls) }
    }

    /// Which children a group of `levels[height - 1]` has, one bit each.
    pub(in crate::cluster) fn children(&self, height: usize, index: usize) -> u8 {
        let all = if height == 1 { self.blocks.len() } else { self.levels[height - 2].len() };
        let n = (all - index * FANOUT).min(FANOUT);
        u8::MAX >> (FANOUT - n)
    }

    /// The rows that the points of a leaf came from.
    pub(in crate::cluster) fn rows_of(&self, leaf: usize) -> &[u32] {
        &self.rows[leaf * LEAF..self.rows.len().min((leaf + 1) * LEAF)]
    }
}

/// Puts each subtree's points side by side: splits at the median of the
/// widest dimension until a leaf's worth is left.
///
/// The split is by position, not by value, so equal points cannot unbalance
/// the tree.
fn arrange<const D: usize>(entries: &mut [Entry<D>]) {
    if entries.len() <= LEAF {
        return;
    }
    let Some(dim) = widest(entries) else { return };
    let leaves = entries.len().div_ceil(LEAF);
    let middle = LEAF * (leaves.next_power_of_two() / 2);
    entries.select_nth_unstable_by(middle, |a, b| a.at[dim].total_cmp(&b.at[dim]));
    let (left, right) = entries.split_at_mut(middle);
    if left.len() < SERIAL {
        arrange(left);
        arrange(right);
    } else {
        parallel::both(&mut || arrange(left), &mut || arrange(right));
    }
}

/// The dimension in which the points differ most; none if all are equal.
fn widest<const D: usize>(entries: &[Entry<D>]) -> Option<usize> {
    let spread = |step: usize| {
        let (mut low, mut high) = ([f64::INFINITY; D], [f64::NEG_INFINITY; D]);
        for e in entries.iter().step_by(step) {
            for d in 0..D {
                low[d] = low[d].min(e.at[d]);
                high[d] = high[d].max(e.at[d]);
            }
        }
        let best = (0..D).max_by(|&a, &b| (high[a] - low[a]).total_cmp(&(high[b] - low[b])))?;
        (high[best] > low[best]).then_some(best)
    };
    spread(entries.len().div_ceil(SAMPLE)).or_else(|| spread(1))
}

/// What is not filled stays infinite.
fn fill_block<const D: usize>(block: &mut Block<D>, entries: &[Entry<D>]) {
    for (i, e) in entries.iter().enumerate() {
        for d in 0..D {
            block[d][i] = e.at[d];
        }
    }
}

/// A box around each of some objects, lowest and highest by dimension.
type Hull<const D: usize> = ([f64; D], [f64; D]);

fn hulls<T: Sync, const D: usize>(of: &[T], hull: impl Fn(&T) -> Hull<D> + Sync) -> Vec<Hull<D>> {
    let mut hulls = vec![([0.0; D], [0.0; D]); of.len()];
    parallel::fill(&mut hulls, PART / LEAF, &|first, part| {
        part.iter_mut().zip(&of[first..]).for_each(|(to, from)| *to = hull(from));
    });
    hulls
}

fn block_hull<const D: usize>(block: &Block<D>) -> Hull<D> {
    let finite = |x: &f64| x.is_finite();
    (
        block.map(|x| x.into_iter().fold(f64::INFINITY, f64::min)),
        block.map(|x| x.into_iter().filter(finite).fold(f64::NEG_INFINITY, f64::max)),
    )
}

/// Groups boxes by eight until one group holds all.
fn levels<const D: usize>(mut around: Vec<Hull<D>>) -> Vec<Vec<Boxes<D>>> {
    let mut levels = Vec::new();
    loop {
        let mut level = vec![Boxes::NONE; around.len().div_ceil(FANOUT)];
        parallel::fill(&mut level, PART / LEAF, &|first, part| {
            for (boxes, children) in part.iter_mut().zip(around[first * FANOUT..].chunks(FANOUT)) {
                for (i, (low, high)) in children.iter().enumerate() {
                    for d in 0..D {
                        boxes.low[d][i] = low[d];
                        boxes.high[d][i] = high[d];
                    }
                }
            }
        });
        around = hulls(&level, Boxes::hull);
        levels.push(level);
        if around.len() <= 1 {
            return levels;
        }
    }
}
