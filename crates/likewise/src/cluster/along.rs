//! Points in the order of a curve that fills space.

use rayon::prelude::*;

use super::{MAX_DIMS, Points};

/// So many points are looked at together.
const PART: usize = 1 << 14;

/// More points are not copied: 16 bytes for each, in two dimensions, would be among
/// what takes most memory of a refinement. Without the copy, that of 10,000,000
/// took 38 s instead of 33.
const COPIED: usize = 1 << 24;

/// Bits of a coordinate on the curve, at most.
const BITS: u32 = 24;

/// With at least so many bits of each coordinate, a place on the curve and its row
/// share one number: in one and two dimensions always, in three up to a few million
/// points.
const ENOUGH: u32 = 14;

/// Points along a curve that fills space: those that are near in its order are near one
/// another. Who looks at all points in this order finds what it reads in a core's cache.
#[derive(Debug)]
pub struct Along<'a> {
    points: Points<'a>,
    /// The box around all: of each dimension its low and its high end.
    around: Vec<f64>,
    order: Vec<u32>,
    /// Their coordinates in that order. Empty where they are not copied.
    data: Vec<f64>,
}

impl<'a> Along<'a> {
    /// Sorts points along the curve.
    ///
    /// # Complexity
    /// O(n log n) for n points, in parallel. A copy of the points, unless they are very
    /// many, and four bytes for each are kept.
    #[must_use]
    pub fn of(points: Points<'a>) -> Self {
        Self::with_copy_of(points, COPIED)
    }

    /// The same without a copy of the points, for who looks at few of them.
    ///
    /// # Complexity
    /// As [`Along::of`]; four bytes for each point are kept.
    #[must_use]
    pub fn in_place(points: Points<'a>) -> Self {
        Self::with_copy_of(points, 0)
    }

    /// The same, where `most` points are copied at most.
    pub(crate) fn with_copy_of(points: Points<'a>, most: usize) -> Self {
        let dims = points.dims();
        let around = points
            .data()
            .par_chunks(PART * dims)
            .map(|part| box_of(part.chunks_exact(dims), dims))
            .reduce(|| empty(dims), |a, b| with(a, &b));
        let order = ordered(points, &around);
        let mut data =
            crate::pages::large(vec![0.0; if order.len() > most { 0 } else { order.len() * dims }]);
        let copy = |(to, &row): (&mut [f64], &u32)| to.copy_from_slice(points.row(row as usize));
        data.par_chunks_mut(dims).zip(&order).for_each(copy);
        Self { points, around, order, data }
    }

    /// The points in their own order.
    #[must_use]
    pub fn points(&self) -> Points<'a> {
        self.points
    }

    /// The row of each point.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Their coordinates, or nothing where they are too many to be copied.
    pub(crate) fn data(&self) -> &[f64] {
        &self.data
    }

    /// The coordinates of the point at this place of the order.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize, dims: usize) -> &[f64] {
        match self.data.get(place * dims..(place + 1) * dims) {
            Some(copied) => copied,
            None => &self.points.row(self.order[place] as usize)[..dims],
        }
    }

    /// Sorts rows along the curve.
    pub(crate) fn sort(&self, rows: &mut [u32]) {
        let bits = bits_of(self.points.dims() as u32);
        rows.par_sort_by_cached_key(|&row| {
            (place_on_curve(self.points.row(row as usize), &self.around, bits), row)
        });
    }
}

/// The box of no point.
pub(crate) fn empty(dims: usize) -> Vec<f64> {
    [f64::INFINITY, f64::NEG_INFINITY].repeat(dims)
}

/// The box around points.
pub(crate) fn box_of<'a>(points: impl Iterator<Item = &'a [f64]>, dims: usize) -> Vec<f64> {
    let mut all = empty(dims);
    for point in points {
        for (ends, &x) in all.chunks_exact_mut(2).zip(point) {
            (ends[0], ends[1]) = (ends[0].min(x), ends[1].max(x));
        }
    }
    all
}

/// The box around two.
pub(crate) fn with(mut sum: Vec<f64>, other: &[f64]) -> Vec<f64> {
    for (ends, other) in sum.chunks_exact_mut(2).zip(other.chunks_exact(2)) {
        (ends[0], ends[1]) = (ends[0].min(other[0]), ends[1].max(other[1]));
    }
    sum
}

/// All rows along the curve.
fn ordered(points: Points<'_>, around: &[f64]) -> Vec<u32> {
    let rows = (0..points.len() as u32).into_par_iter();
    let place = |row: u32, bits: u32| place_on_curve(points.row(row as usize), around, bits);
    let (dims, of_row) = (points.dims() as u32, u64::BITS - (points.len() as u64).leading_zeros());
    let bits = (u64::BITS - of_row) / dims;
    if bits >= ENOUGH {
        // A place and its row are one number, which takes half of the memory.
        let mut keyed: Vec<u64> =
            rows.map(|row| place(row, bits.min(BITS)) << of_row | u64::from(row)).collect();
        keyed.par_sort_unstable();
        return keyed.into_par_iter().map(|key| (key & ((1 << of_row) - 1)) as u32).collect();
    }
    let mut keyed: Vec<(u64, u32)> = rows.map(|row| (place(row, bits_of(dims)), row)).collect();
    keyed.par_sort_unstable();
    keyed.into_par_iter().map(|(_, row)| row).collect()
}

/// As many bits of a coordinate as there is room for.
fn bits_of(dims: u32) -> u32 {
    BITS.min(64 / dims)
}

/// Where a point is on a curve through the box around all (the Z-order: bits of
/// all coordinates in turn).
fn place_on_curve(x: &[f64], around: &[f64], bits: u32) -> u64 {
    let cells = f64::from((1u32 << bits) - 1);
    let mut places = [0u32; MAX_DIMS];
    for ((place, x), ends) in places.iter_mut().zip(x).zip(around.chunks_exact(2)) {
        // A coordinate that is the same in all points is in cell 0.
        *place = ((x - ends[0]) / (ends[1] - ends[0]) * cells) as u32;
    }
    match x.len() {
        1 => places[0].into(),
        2 => spread(places[0]) << 1 | spread(places[1]),
        dims => in_turn(&places[..dims], bits),
    }
}

/// The bits of all numbers in turn, the highest first.
fn in_turn(numbers: &[u32], bits: u32) -> u64 {
    let mut key = 0;
    for bit in (0..bits).rev() {
        for number in numbers {
            key = key << 1 | u64::from(number >> bit & 1);
        }
    }
    key
}

/// The bits of a number with a zero before each.
fn spread(number: u32) -> u64 {
    const HALVES: [(u32, u64); 5] = [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ];
    HALVES.iter().fold(number.into(), |bits: u64, &(by, kept)| (bits | bits << by) & kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_of_two_numbers_come_in_turn() {
        for (a, b) in [(0, 0), (1, 0), (0, 1), (0x00ff_ffff, 0), (0x0012_3456, 0x00fe_dcba), (7, 0x0080_0001)]
        {
            assert_eq!(spread(a) << 1 | spread(b), in_turn(&[a, b], BITS), "{a:x} {b:x}");
        }
    }
}
