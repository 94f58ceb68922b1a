//! Dissimilarities of many pairs at once.
//!
//! A block is a rectangle of pairs, walked in square tiles whose sums stay in
//! registers: of 4 + 4 vectors read, 16 sums come, so reading profiles is not
//! what limits. Every sum runs over the columns in eight lanes and folds them
//! in one order, on every instruction set and for every side of the tile.

use std::ops::Range;

use super::Dissimilarity;
use super::correlation::{self, Scratch, at_most_two};
use super::profiles::Profiles;
use crate::simd::{self, Isa, LANES, Width, Work};

/// Takes the dissimilarities of a block, tile by tile.
pub(super) trait Sink {
    /// Whether any pair of these rows and columns is of interest.
    fn wants(&mut self, rows: Range<usize>, columns: Range<usize>) -> bool;

    /// `values[i][j]` is that of profiles `rows.start + i` and
    /// `columns.start + j`. What lies outside the ranges has no meaning.
    fn take<const SIDE: usize>(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        values: &[[f64; SIDE]; SIDE],
    );
}

/// One block of pairs. `order` says which profile stands where. Profiles are
/// as [`correlation::comparable`] makes them.
pub(super) struct Block<'a, S> {
    pub(super) profiles: &'a Profiles,
    pub(super) dissimilarity: Dissimilarity,
    pub(super) order: Option<&'a [u32]>,
    pub(super) rows: Range<usize>,
    pub(super) columns: Range<usize>,
    pub(super) sink: &'a mut S,
}

impl<S: Sink> Block<'_, S> {
    /// Gives the sink what it wants of the block.
    pub(super) fn compute(self) {
        self.compute_up_to(Width::Avx512);
    }

    /// The same with vectors no wider than `most`.
    pub(super) fn compute_up_to(self, most: Width) {
        let missing = self.profiles.has_missing();
        match (self.dissimilarity, missing) {
            (Dissimilarity::Manhattan, false) => simd::up_to(most, Compute(self, Manhattan::<false>)),
            (Dissimilarity::Manhattan, true) => simd::up_to(most, Compute(self, Manhattan::<true>)),
            (Dissimilarity::Euclidean, false) => simd::up_to(most, Compute(self, Euclidean::<false>)),
            (Dissimilarity::Euclidean, true) => simd::up_to(most, Compute(self, Euclidean::<true>)),
            (Dissimilarity::Correlation, false) => simd::up_to(most, Compute(self, HalfSquares)),
            (Dissimilarity::Correlation, true) => self.correlate(),
        }
    }

    /// Correlations with missing values, pair by pair.
    fn correlate(self) {
        let Block { profiles, order, rows, columns, sink, .. } = self;
        let row_at = |place: usize| profiles.row(order.map_or(place, |order| order[place] as usize));
        let mut scratch = Scratch::default();
        for row in rows {
            for column in columns.clone() {
                let (a, b) = (row..row + 1, column..column + 1);
                if row != column && sink.wants(a.clone(), b.clone()) {
                    let value = correlation::pair(row_at(row), row_at(column), &mut scratch);
                    sink.take(a, b, &[[value]]);
                }
            }
        }
    }
}

/// How values become a dissimilarity.
trait Kernel {
    /// Whether values may be missing.
    const MISSING: bool;

    /// What each two values add; NaN where one is missing.
    fn term<I: Isa>(isa: I, x: I::Vector, y: I::Vector) -> I::Vector;

    /// What the sum of all terms means.
    fn finish(sum: f64) -> f64;
}

struct Manhattan<const MISSING: bool>;

impl<const MISSING: bool> Kernel for Manhattan<MISSING> {
    const MISSING: bool = MISSING;

    #[inline(always)]
    fn term<I: Isa>(isa: I, x: I::Vector, y: I::Vector) -> I::Vector {
        isa.abs(isa.sub(x, y))
    }

    #[inline(always)]
    fn finish(sum: f64) -> f64 {
        sum
    }
}

struct Euclidean<const MISSING: bool>;

impl<const MISSING: bool> Kernel for Euclidean<MISSING> {
    const MISSING: bool = MISSING;

    #[inline(always)]
    fn term<I: Isa>(isa: I, x: I::Vector, y: I::Vector) -> I::Vector {
        let t = isa.sub(x, y);
        isa.mul(t, t)
    }

    #[inline(always)]
    fn finish(sum: f64) -> f64 {
        sum.sqrt()
    }
}

/// Of profiles centred and of length 1: 1 − r is half their squared distance.
struct HalfSquares;

impl Kernel for HalfSquares {
    const MISSING: bool = false;

    #[inline(always)]
    fn term<I: Isa>(isa: I, x: I::Vector, y: I::Vector) -> I::Vector {
        Euclidean::<false>::term(isa, x, y)
    }

    #[inline(always)]
    fn finish(sum: f64) -> f64 {
        at_most_two(sum / 2.0)
    }
}

/// A block and its kernel, as work.
struct Compute<'a, S, K>(Block<'a, S>, K);

impl<S: Sink, K: Kernel> Work for Compute<'_, S, K> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, isa: I) {
        let Block { profiles, order, rows, columns, sink, .. } = self.0;
        let at = |place: usize, end: usize| {
            let place = place.min(end - 1);
            order.map_or(place, |order| order[place] as usize)
        };
        for row in rows.clone().step_by(SIDE) {
            let own_rows = row..(row + SIDE).min(rows.end);
            let a: [usize; SIDE] = std::array::from_fn(|i| at(row + i, rows.end));
            for column in columns.clone().step_by(SIDE) {
                let own_columns = column..(column + SIDE).min(columns.end);
                if !sink.wants(own_rows.clone(), own_columns.clone()) {
                    continue;
                }
                let b: [usize; SIDE] = std::array::from_fn(|j| at(column + j, columns.end));
                let values = tile::<I, K, SIDE>(isa, profiles, &a, &b);
                sink.take(own_rows.clone(), own_columns, &values);
            }
        }
    }
}

/// The dissimilarities of `SIDE` profiles to as many others.
#[inline(always)]
fn tile<I: Isa, K: Kernel, const SIDE: usize>(
    isa: I,
    profiles: &Profiles,
    a: &[usize; SIDE],
    b: &[usize; SIDE],
) -> [[f64; SIDE]; SIDE] {
    let lines_a = a.map(|i| profiles.vectors(i));
    let lines_b = b.map(|j| profiles.vectors(j));
    let len = lines_a[0].len();
    assert!(lines_a.iter().chain(&lines_b).all(|line| line.len() == len), "rows of one length");
    let zero = isa.load(&[0.0; LANES]);
    let mut lanes = [[zero; SIDE]; SIDE];
    for k in 0..len {
        let x: [I::Vector; SIDE] = std::array::from_fn(|i| isa.load(&lines_a[i][k]));
        for j in 0..SIDE {
            let y = isa.load(&lines_b[j][k]);
            for i in 0..SIDE {
                let term = K::term(isa, x[i], y);
                // NaN becomes 0.
                let term = if K::MISSING { isa.max(term, zero) } else { term };
                lanes[i][j] = isa.add(lanes[i][j], term);
            }
        }
    }
    let mut values = [[0.0; SIDE]; SIDE];
    for i in 0..SIDE {
        for j in 0..SIDE {
            let s = isa.store(lanes[i][j]);
            let sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
            let share = if K::MISSING { share(profiles, a[i], b[j]) } else { 1.0 };
            values[i][j] = K::finish(sum / share);
        }
    }
    values
}

/// The share of columns where both have a value.
#[inline(always)]
fn share(profiles: &Profiles, a: usize, b: usize) -> f64 {
    let (a, b) = (profiles.known(a), profiles.known(b));
    let common: u32 = a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum();
    f64::from(common) / profiles.dims() as f64
}
