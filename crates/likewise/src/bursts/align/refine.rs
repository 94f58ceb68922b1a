//! Better alignments by taking sequences out and putting them back.

use rayon::prelude::*;

use super::profile::Profile;
use crate::simd::{Isa, Width, Work, up_to};

/// How many symbols back and forth a sequence may shift when it is put back.
const REACH: usize = 48;

/// Rounds over all sequences at most.
const ROUNDS: usize = 8;

/// Cells of all tables of all rounds at most, beyond the first round.
const CELLS: usize = 1 << 33;

/// A round that saves less than one in so many columns is the last.
const LEAST_GAIN: usize = 500;

/// What joining a column is worth: the column saved, and up to as much again
/// for a column that many others show.
pub(super) struct Worth {
    /// Of a column of each symbol.
    symbols: Vec<u64>,
    n_sequences: u64,
}

impl Worth {
    /// `symbols` in any unit: only ratios matter.
    pub(super) fn new(symbols: &[f64], sequences: &[&[u32]]) -> Self {
        let sum = |s: &&[u32]| s.iter().map(|&c| symbols[c as usize]).sum::<f64>();
        let most = sequences.iter().map(sum).fold(0.0, f64::max);
        // Sums of twice the worth, rounded up, must fit the table's numbers.
        let longest = sequences.iter().map(|s| s.len()).max().unwrap_or(0) as f64;
        let unit = (f64::from(i32::MAX / 2) - longest) / most.max(f64::MIN_POSITIVE);
        let symbols = symbols.iter().map(|&s| (s * unit.min(256.0)).ceil() as u64).collect();
        Self { symbols, n_sequences: sequences.len() as u64 }
    }

    /// For a sequence to join a column that `others` show.
    fn of(&self, symbol: u32, others: u32) -> i32 {
        if others == 0 {
            return 0;
        }
        let saved = self.symbols[symbol as usize];
        (saved + saved * u64::from(others) / self.n_sequences) as i32
    }
}

/// Takes sequences out and puts them back where they are worth most, until
/// a round saves hardly a column, or [`ROUNDS`] or [`CELLS`] are used up.
///
/// Batches are placed side by side and then joined one after the other; one
/// that is no gain any more stays where it was. So every change is a gain.
pub(super) fn refine(profile: &mut Profile, worth: &Worth) {
    let n = profile.members.len();
    let batch = (n / 32).max(1);
    let places: usize = profile.members.iter().map(|member| member.columns.len()).sum();
    let cells = places * 2 * reach(places / n.max(1), profile.symbols.len());
    for _ in 0..(CELLS / cells.max(1)).clamp(1, ROUNDS) {
        let before = profile.symbols.len();
        for first in (0..n).step_by(batch) {
            refine_batch(profile, worth, first..n.min(first + batch));
        }
        let saved = before.saturating_sub(profile.symbols.len());
        if saved * LEAST_GAIN < before {
            return;
        }
    }
}

fn refine_batch(profile: &mut Profile, worth: &Worth, members: std::ops::Range<usize>) {
    let placed: Vec<Option<Placement>> = members
        .clone()
        .into_par_iter()
        .map_init(Vec::new, |rows, m| place(profile, worth, m, rows))
        .collect();
    let mut map: Vec<Option<u32>> = Vec::new();
    let mut moved = false;
    for (m, placement) in members.zip(placed) {
        let Some(mut placement) = placement else { continue };
        if moved {
            placement.iter_mut().for_each(|c| *c = c.and_then(|c| map[c as usize]));
        }
        let Some(change) = insert(profile, worth, m, &placement) else { continue };
        map = if moved {
            map.into_iter().map(|c| c.and_then(|c| change[c as usize])).collect()
        } else {
            change
        };
        moved = true;
    }
}

/// Of each symbol, the column it joins; `None` is a column of its own.
type Placement = Vec<Option<u32>>;

/// What each column is worth to a member, itself not counted.
fn worth_to(profile: &Profile, worth: &Worth, member: usize) -> Vec<i32> {
    let member = &profile.members[member];
    let of = |(&symbol, &shown): (&u32, &u32)| worth.of(symbol, shown);
    let mut values: Vec<i32> = profile.symbols.iter().zip(&profile.shown).map(of).collect();
    for &column in &member.columns {
        let column = column as usize;
        values[column] = worth.of(profile.symbols[column], profile.shown[column] - 1);
    }
    values
}

/// The best place of a member, if it is better than where it is.
fn place(profile: &Profile, worth: &Worth, member: usize, rows: &mut Vec<i32>) -> Option<Placement> {
    let columns = &profile.members[member].columns;
    let values = worth_to(profile, worth, member);
    let sum: i64 = columns.iter().map(|&c| i64::from(values[c as usize])).sum();
    let table = Table::new(profile, columns, &values, rows);
    (i64::from(table.best()) > sum).then(|| table.trace())
}

/// How many of `columns` a sequence of `length` symbols may shift.
fn reach(length: usize, columns: usize) -> usize {
    REACH * columns.div_ceil(length.max(1))
}

/// The values of the best placements of a sequence's first symbols in the
/// first columns, each row within reach of where the symbol is.
struct Table<'a> {
    rows: &'a [i32],
    /// Of each row, its first boundary between columns.
    firsts: Vec<usize>,
    /// Boundaries per row.
    width: usize,
}

impl<'a> Table<'a> {
    fn new(profile: &Profile, columns: &[u32], values: &[i32], rows: &'a mut Vec<i32>) -> Self {
        let (n, m) = (columns.len(), profile.symbols.len());
        let reach = reach(n, m);
        let width = m.min(2 * reach) + 1;
        let first = |&c: &u32| (c as usize).saturating_sub(reach).min(m + 1 - width);
        let mut firsts: Vec<usize> = vec![columns.first().map_or(0, first)];
        firsts.extend(columns.iter().map(first));
        // What an earlier table left is overwritten but for the first row.
        rows.resize((n + 1) * width, 0);
        rows[..width].fill(0);
        let mut above = vec![0; width];
        for (i, &column) in columns.iter().enumerate() {
            let (done, open) = rows.split_at_mut((i + 1) * width);
            let shift = (firsts[i + 1] - firsts[i]).min(width);
            let kept = &done[i * width..][shift..];
            above[..kept.len()].copy_from_slice(kept);
            above[kept.len()..].fill(done[(i + 1) * width - 1]);
            let range = firsts[i + 1]..firsts[i + 1] + width - 1;
            let symbol = profile.symbols[column as usize];
            let (symbols, values) = (&profile.symbols[range.clone()], &values[range]);
            // A row is worked on in eights of 32 bits: AVX2 holds them.
            up_to(Width::Avx2, NextRow { above: &above, symbol, symbols, values, out: &mut open[..width] });
        }
        Self { rows, firsts, width }
    }

    fn best(&self) -> i32 {
        self.rows.last().copied().unwrap_or(0)
    }

    fn at(&self, row: usize, boundary: usize) -> i32 {
        let place = boundary.saturating_sub(self.firsts[row]).min(self.width - 1);
        self.rows[row * self.width + place]
    }

    fn trace(&self) -> Placement {
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
    fn run<I: Isa, const SIDE: usize>(self, _: I) {
        next_row(self.above, self.symbol, self.symbols, self.values, self.out);
    }
}

/// Numbers at once.
const LANES: usize = 8;

#[inline(always)]
fn next_row(above: &[i32], symbol: u32, symbols: &[u32], values: &[i32], out: &mut [i32]) {
    let n = symbols.len();
    let (left, right, values, out) = (&above[..n], &above[1..=n], &values[..n], &mut out[..=n]);
    let joined =
        |left: i32, right: i32, s: u32, value: i32| right.max(left + if s == symbol { value } else { 0 });
    let mut best = above[0];
    out[0] = best;
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    let (symbols, symbols_rest) = symbols.as_chunks::<LANES>();
    let (values, values_rest) = values.as_chunks::<LANES>();
    let (blocks, rest) = out[1..].as_chunks_mut::<LANES>();
    for ((((left, right), symbols), values), out) in
        left.iter().zip(right).zip(symbols).zip(values).zip(blocks)
    {
        let mut row = [0; LANES];
        for i in 0..LANES {
            row[i] = joined(left[i], right[i], symbols[i], values[i]);
        }
        // The running maximum in three steps.
        for step in [1, 2, 4] {
            let before = row;
            for i in step..LANES {
                row[i] = before[i].max(before[i - step]);
            }
        }
        for i in 0..LANES {
            out[i] = row[i].max(best);
        }
        best = out[LANES - 1];
    }
    let rest = left_rest.iter().zip(right_rest).zip(symbols_rest).zip(values_rest).zip(rest);
    for ((((&left, &right), &s), &value), out) in rest {
        best = best.max(joined(left, right, s, value));
        *out = best;
    }
}

/// Puts a member where `placement` says, if that is a gain; returns where
/// each old column is now.
fn insert(
    profile: &mut Profile,
    worth: &Worth,
    m: usize,
    placement: &[Option<u32>],
) -> Option<Vec<Option<u32>>> {
    let values = worth_to(profile, worth, m);
    let value = |c: u32| i64::from(values[c as usize]);
    let before: i64 = profile.members[m].columns.iter().map(|&c| value(c)).sum();
    let after: i64 = placement.iter().flatten().map(|&c| value(c)).sum();
    if after <= before {
        return None;
    }
    let member = &mut profile.members[m];
    let old = std::mem::take(&mut member.columns);
    let own: Vec<u32> = old.iter().map(|&c| profile.symbols[c as usize]).collect();
    old.iter().for_each(|&c| profile.shown[c as usize] -= 1);
    let mut rebuilt = Rebuilt::new(profile);
    let mut columns = Vec::with_capacity(own.len());
    let mut open = 0;
    for (&symbol, joined) in own.iter().zip(placement) {
        // A column that is nobody else's may be gone; the symbol then keeps
        // one of its own all the same.
        match joined.filter(|&c| profile.shown[c as usize] > 0) {
            Some(c) => {
                rebuilt.copy(profile, open..c as usize + 1);
                open = c as usize + 1;
                *rebuilt.shown.last_mut().expect("just copied") += 1;
            }
            None => {
                rebuilt.symbols.push(symbol);
                rebuilt.shown.push(1);
            }
        }
        columns.push(rebuilt.symbols.len() as u32 - 1);
    }
    rebuilt.copy(profile, open..profile.symbols.len());
    Some(rebuilt.finish(profile, m, columns))
}

/// The columns after a change.
struct Rebuilt {
    symbols: Vec<u32>,
    shown: Vec<u32>,
    map: Vec<Option<u32>>,
}

impl Rebuilt {
    fn new(profile: &Profile) -> Self {
        let n = profile.symbols.len();
        Self { symbols: Vec::with_capacity(n), shown: Vec::with_capacity(n), map: Vec::with_capacity(n) }
    }

    /// Takes over the columns that someone still shows.
    fn copy(&mut self, profile: &Profile, columns: std::ops::Range<usize>) {
        for c in columns {
            if profile.shown[c] == 0 {
                self.map.push(None);
                continue;
            }
            self.map.push(Some(self.symbols.len() as u32));
            self.symbols.push(profile.symbols[c]);
            self.shown.push(profile.shown[c]);
        }
    }

    fn finish(self, profile: &mut Profile, member: usize, columns: Vec<u32>) -> Vec<Option<u32>> {
        let places: Vec<u32> = self.map.iter().map(|c| c.unwrap_or(u32::MAX)).collect();
        profile.renumber(&places);
        profile.members[member].columns = columns;
        profile.symbols = self.symbols;
        profile.shown = self.shown;
        self.map
    }
}
