//! The best places of a sequence in the columns near it, cell by cell.

use crate::simd::{Isa, LANES, Width, Work, up_to};

/// The values of the best placements of a sequence's first symbols in the
/// first columns, each row within reach of where the symbol is.
pub(super) struct Table<'a> {
    rows: &'a [i32],
    /// Of each row, its first boundary between columns.
    firsts: Vec<usize>,
    /// Boundaries per row.
    width: usize,
}

impl<'a> Table<'a> {
    /// Of a sequence that is in `columns`; columns have these `all` symbols.
    ///
    /// # Complexity
    /// O(n · reach) for n symbols, eight cells at a time.
    pub(super) fn new(
        all: &[u32],
        columns: &[u32],
        (values, reach): (&[i32], usize),
        rows: &'a mut Vec<i32>,
    ) -> Self {
        let (n, m) = (columns.len(), all.len());
        let width = m.min(2 * reach) + 1;
        let first = |&c: &u32| (c as usize).saturating_sub(reach).min(m + 1 - width);
        let mut firsts: Vec<usize> = vec![columns.first().map_or(0, first)];
        firsts.extend(columns.iter().map(first));
        // What an earlier table left is overwritten but for the first row.
        let size = (n + 1) * width;
        rows.resize(size.max(rows.len()), 0);
        let rows = &mut rows[..size];
        rows[..width].fill(0);
        let mut above = vec![0; width];
        for (i, &column) in columns.iter().enumerate() {
            let (done, open) = rows.split_at_mut((i + 1) * width);
            let shift = (firsts[i + 1] - firsts[i]).min(width);
            let kept = &done[i * width..][shift..];
            above[..kept.len()].copy_from_slice(kept);
            above[kept.len()..].fill(done[(i + 1) * width - 1]);
            let range = firsts[i + 1]..firsts[i + 1] + width - 1;
            let symbol = all[column as usize];
            let (symbols, values) = (&all[range.clone()], &values[range]);
            // A row is worked on in eights of 32 bits: AVX2 holds them.
            up_to(Width::Avx2, NextRow { above: &above, symbol, symbols, values, out: &mut open[..width] });
        }
        Self { rows, firsts, width }
    }

    /// What the best placement is worth.
    pub(super) fn best(&self) -> i32 {
        self.rows.last().copied().unwrap_or(0)
    }

    fn at(&self, row: usize, boundary: usize) -> i32 {
        let place = boundary.saturating_sub(self.firsts[row]).min(self.width - 1);
        self.rows[row * self.width + place]
    }

    /// Of each symbol, the column it joins; `None` is a column of its own.
    pub(super) fn placement(&self) -> Vec<Option<u32>> {
        let n = self.firsts.len() - 1;
        let mut placement = vec![None; n];
        let (mut i, mut boundary) = (n, self.firsts[n] + self.width - 1);
        while i > 0 {
            let value = self.at(i, boundary);
            if value == self.at(i - 1, boundary) {
                i -= 1;
            } else if boundary > self.firsts[i] && value == self.at(i, boundary - 1) {
                boundary -= 1;
            } else {
                i -= 1;
                boundary -= 1;
                placement[i] = Some(boundary as u32);
            }
        }
        placement
    }
}

/// A row of the table, from the one above it.
struct NextRow<'a> {
    above: &'a [i32],
    /// The symbol of this row, and those of the columns with their values.
    symbol: u32,
    symbols: &'a [u32],
    values: &'a [i32],
    out: &'a mut [i32],
}

impl Work for NextRow<'_> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, isa: I) {
        next_row(isa, self);
    }
}

#[inline(always)]
fn next_row<I: Isa>(isa: I, row: NextRow<'_>) {
    let NextRow { above, symbol, symbols, values, out } = row;
    let n = symbols.len();
    let (left, right, values, out) = (&above[..n], &above[1..=n], &values[..n], &mut out[..=n]);
    let joined =
        |left: i32, right: i32, s: u32, value: i32| right.max(left + if s == symbol { value } else { 0 });
    out[0] = above[0];
    let mut greatest = I::Greatest::default();
    isa.running_max([out[0]; LANES], &mut greatest);
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    let (symbols, symbols_rest) = symbols.as_chunks::<LANES>();
    let (values, values_rest) = values.as_chunks::<LANES>();
    let (blocks, rest) = out[1..].as_chunks_mut::<LANES>();
    for ((((left, right), symbols), values), out) in
        left.iter().zip(right).zip(symbols).zip(values).zip(&mut *blocks)
    {
        let row = std::array::from_fn(|i| joined(left[i], right[i], symbols[i], values[i]));
        *out = isa.running_max(row, &mut greatest);
    }
    let mut best = blocks.last().map_or(above[0], |block| block[LANES - 1]);
    let rest = left_rest.iter().zip(right_rest).zip(symbols_rest).zip(values_rest).zip(rest);
    for ((((&left, &right), &s), &value), out) in rest {
        best = best.max(joined(left, right, s, value));
        *out = best;
    }
}
