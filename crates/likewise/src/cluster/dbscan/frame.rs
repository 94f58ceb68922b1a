//! Where a point's cell is, and where in the cell.

#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays at once")]

use super::geometry::Aabb;

/// How many cells away a neighbour can be: with a side of eps/√D or a little
/// less, two suffice for D ≤ 4.
pub(super) const REACH: i64 = 2;

/// Cells are this much smaller than eps/√D, which absorbs the rounding of a
/// coordinate into its cell while there are fewer than 2^31 cells a side.
const SHRINK: f64 = 1.0 - 1.0 / (1 << 20) as f64;

/// With fewer sub-cells a side than this, a coordinate's place is off by less
/// than 2^-26 of a sub-cell.
const MAX_SUBS: u32 = 1 << 26;

/// More cells are not numbered: buckets of a grid tell them apart by 32 bits.
const MAX_CELLS: u64 = 1 << 47;

/// Between these radii, neither the square of eps nor the square of a gap as
/// wide as a sub-cell leaves the numbers of full precision.
const PLAIN_EPS: std::ops::Range<f64> = 1e-140..1e140;

/// Parts every cell into 64 sub-cells: 64, 8 × 8 or 4 × 4 × 4.
pub(super) const fn subs_per_side(dims: usize) -> u32 {
    1 << (6 / dims)
}

/// Origin and side of the cells. Tables of cells can be added if they were
/// counted in the same frame.
pub(super) struct Frame<const D: usize> {
    lo: [f64; D],
    per_side: f64,
    stride: [u64; D],
    n_keys: u64,
    has_sub_cells: bool,
}

impl<const D: usize> Frame<D> {
    /// `None` if there are more than [`MAX_CELLS`] cells.
    pub(super) fn new(around: &Aabb<D>, eps: f64) -> Option<Self> {
        let per_side = 1.0 / (eps / (D as f64).sqrt() * SHRINK);
        let mut stride = [0; D];
        let mut n_keys = 1u64;
        let mut has_sub_cells = PLAIN_EPS.contains(&eps);
        for k in (0..D).rev() {
            stride[k] = n_keys;
            let cells = (around.hi[k] - around.lo[k]) * per_side;
            if cells.is_nan() || cells >= f64::from(1u32 << 31) {
                return None;
            }
            has_sub_cells &= cells < f64::from(MAX_SUBS / subs_per_side(D) - 1);
            // Two empty cells on either side keep rows from running into each other.
            n_keys = n_keys.checked_mul(cells as u64 + 1 + 2 * REACH as u64)?;
            if n_keys > MAX_CELLS {
                return None;
            }
        }
        Some(Self { lo: around.lo, per_side, stride, n_keys, has_sub_cells })
    }

    /// Keys are below this.
    pub(super) fn n_keys(&self) -> u64 {
        self.n_keys
    }

    /// How far apart the keys of neighbours are, by dimension.
    pub(super) fn stride(&self) -> &[u64; D] {
        &self.stride
    }

    /// Whether sub-cells tell of computed distances: see `subcells`.
    pub(super) fn has_sub_cells(&self) -> bool {
        self.has_sub_cells
    }

    #[inline]
    pub(super) fn key(&self, p: &[f64; D]) -> u64 {
        let mut key = 0;
        for k in 0..D {
            let cell = (p[k] - self.lo[k]) * self.per_side;
            // SAFETY: `Frame::new` made sure that it is finite and below 2^31, for
            // the farthest point. A checked cast costs as much as the rest.
            let cell = unsafe { cell.to_int_unchecked::<i32>() } as u32;
            key += u64::from(cell + REACH as u32) * self.stride[k];
        }
        key
    }

    /// The same key, and which of the cell's 64 sub-cells; only if
    /// [`Frame::has_sub_cells`], and where keys fit 32 bits.
    #[inline(always)]
    pub(super) fn key_and_sub(&self, p: &[f64; D]) -> (u32, u32) {
        let subs = const { subs_per_side(D) };
        let (mut key, mut sub) = (0, 0);
        for k in 0..D {
            // A power of two more scales without rounding.
            let at = (p[k] - self.lo[k]) * (self.per_side * f64::from(subs));
            // SAFETY: `Frame::new` made sure that it is finite and below 2^26, for
            // the farthest point.
            let at = unsafe { at.to_int_unchecked::<i32>() } as u32;
            key += (at / subs + REACH as u32) * self.stride[k] as u32;
            sub = sub * subs + at % subs;
        }
        (key, sub)
    }
}
