//! Better alignments by taking sequences out and putting them back.

use std::cell::RefCell;
use std::ops::Range;

use rayon::prelude::*;

use super::chain::{Chain, Places};
use super::profile::Profile;
use super::table::Table;
use super::windows::WHOLE;

/// How many symbols back and forth a sequence may shift when it is put back.
const REACH: usize = 48;

/// Rounds over all sequences at most.
const ROUNDS: usize = 8;

/// Cells of all tables of all rounds at most, beyond the first round, and beyond
/// the third where sequences are placed in pieces.
const CELLS: usize = 1 << 33;

/// A round that saves less than one in so many columns is the last.
const LEAST_GAIN: usize = 500;

/// So many columns are worth being looked at by a thread of their own.
const MANY: usize = 1 << 12;

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
    let longest = profile.members.iter().map(|member| member.columns.len()).max().unwrap_or(0);
    let least = if longest > WHOLE { 3 } else { 1 };
    for round in 0..(CELLS / cells.max(1)).clamp(least, ROUNDS) {
        let before = profile.symbols.len();
        for first in (0..n).step_by(batch) {
            refine_batch(profile, worth, first..n.min(first + batch), round);
        }
        let saved = before.saturating_sub(profile.symbols.len());
        if saved * LEAST_GAIN < before && round + 1 >= least {
            return;
        }
    }
}

/// What it takes to place a piece.
#[derive(Default)]
struct Room {
    values: Vec<i32>,
    columns: Vec<u32>,
    rows: Vec<i32>,
    chain: Chain,
}

thread_local! {
    /// It is used again and again, because new memory must be cleared first,
    /// which takes as long as filling the table.
    static ROOM: RefCell<Room> = RefCell::default();
}

fn refine_batch(profile: &mut Profile, worth: &Worth, members: Range<usize>, round: usize) {
    let board = Board::of(profile, worth);
    let all: Vec<Vec<Range<usize>>> =
        members.clone().map(|m| pieces(profile.members[m].columns.len(), round)).collect();
    let jobs: Vec<(usize, &Range<usize>)> = members
        .clone()
        .zip(&all)
        .flat_map(|(m, pieces)| pieces.iter().map(move |piece| (m, piece)))
        .collect();
    let placed: Vec<Option<Placement>> = jobs
        .par_iter()
        .map(|&(m, piece)| ROOM.with_borrow_mut(|room| board.place(profile, (m, piece), room)))
        .collect();
    let mut placed = placed.into_iter();
    let mut change = Change::new(profile);
    for (m, pieces) in members.zip(all) {
        let placed: Vec<Option<Placement>> = placed.by_ref().take(pieces.len()).collect();
        if placed.iter().all(Option::is_none) {
            continue;
        }
        let columns = &profile.members[m].columns;
        let whole = pieces.into_iter().zip(placed).flat_map(|(piece, placed)| {
            placed.unwrap_or_else(|| columns[piece].iter().copied().map(Some).collect())
        });
        let whole: Placement = whole.collect();
        change.insert(profile, worth, m, &whole);
    }
    change.finish(profile);
}

/// The pieces in which a long sequence is placed, so that tables are of bounded
/// size. In every second round they begin in the middle of those of the first, so
/// that each symbol can go where it wants.
fn pieces(len: usize, round: usize) -> Vec<Range<usize>> {
    let is_short = len <= WHOLE;
    let first = if is_short { len } else { WHOLE - round % 2 * (WHOLE / 2) };
    let ends = (first..len).step_by(WHOLE).chain([len]);
    let starts = std::iter::once(0).chain((first..len).step_by(WHOLE));
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

/// Of each symbol, the column it joins; `None` is a column of its own.
type Placement = Vec<Option<u32>>;

/// What a column is worth to one that shows it, itself not counted.
fn kept(profile: &Profile, worth: &Worth, column: usize) -> i32 {
    worth.of(profile.symbols[column], profile.shown[column] - 1)
}

/// What a column is worth to one that does not show it.
fn gained(profile: &Profile, worth: &Worth, column: usize) -> i32 {
    worth.of(profile.symbols[column], profile.shown[column])
}

/// What columns are worth while a batch is placed, and where they are.
struct Board<'a> {
    places: Places<'a>,
    /// To one that does not show the column, and to one that does.
    gained: Vec<i32>,
    kept: Vec<i32>,
}

impl<'a> Board<'a> {
    fn of(profile: &'a Profile, worth: &Worth) -> Self {
        let columns = || (0..profile.symbols.len()).into_par_iter().with_min_len(MANY);
        let gained = || columns().map(|column| gained(profile, worth, column)).collect();
        let kept = || columns().map(|column| kept(profile, worth, column)).collect();
        let (places, (gained, kept)) =
            rayon::join(|| Places::of(&profile.symbols), || rayon::join(gained, kept));
        Self { places, gained, kept }
    }

    /// The best place of a piece of a member, if it is better than where it is.
    /// It stays before the first column of the next piece.
    fn place(
        &self,
        profile: &Profile,
        (member, piece): (usize, &Range<usize>),
        room: &mut Room,
    ) -> Option<Placement> {
        let all = &profile.members[member].columns;
        let low = if piece.start == 0 { 0 } else { all[piece.start] as usize };
        let high = all.get(piece.end).map_or(profile.symbols.len(), |&column| column as usize);
        let Room { values, columns, rows, chain } = room;
        values.clear();
        values.extend_from_slice(&self.gained[low..high]);
        columns.clear();
        columns.extend(all[piece.clone()].iter().map(|&column| column - low as u32));
        let mut sum = 0;
        for &column in &*columns {
            let column = column as usize;
            values[column] = self.kept[low + column];
            sum += i64::from(values[column]);
        }
        let reach = reach(all.len(), profile.symbols.len());
        let is_better = |best: i32| i64::from(best) > sum;
        let placed = if self.places.are_few(&all[piece.clone()]) {
            let best = chain.find(&self.places, low, columns, (values, reach));
            is_better(best).then(|| chain.placement(columns.len()))
        } else {
            let table = Table::new(&profile.symbols[low..high], columns, (values, reach), rows);
            is_better(table.best()).then(|| table.placement())
        };
        Some(placed?.into_iter().map(|column| column.map(|column| column + low as u32)).collect())
    }
}

/// How many of `columns` a sequence of `length` symbols may shift.
fn reach(length: usize, columns: usize) -> usize {
    (REACH * columns).div_ceil(length.max(1))
}

/// What a batch changes. Until all of it is in, columns keep their numbers, and
/// new ones have the numbers from there on.
struct Change {
    /// How many columns there were.
    n: usize,
    new: Vec<NewColumn>,
}

struct NewColumn {
    symbol: u32,
    /// How many of the old columns are before it.
    after: usize,
    /// The member whose it is.
    member: usize,
}

impl Change {
    fn new(profile: &Profile) -> Self {
        Self { n: profile.symbols.len(), new: Vec::new() }
    }

    /// Puts a member where `placement` says, if that is a gain.
    fn insert(&mut self, profile: &mut Profile, worth: &Worth, m: usize, placement: &[Option<u32>]) {
        let old = std::mem::take(&mut profile.members[m].columns);
        let before: i64 = old.iter().map(|&c| i64::from(kept(profile, worth, c as usize))).sum();
        old.iter().for_each(|&c| profile.shown[c as usize] -= 1);
        let value = |c: u32| i64::from(gained(profile, worth, c as usize));
        let after: i64 = placement.iter().flatten().map(|&c| value(c)).sum();
        let Profile { symbols, shown, members } = profile;
        let columns = &mut members[m].columns;
        *columns = old;
        if after <= before {
            columns.iter().for_each(|&c| shown[c as usize] += 1);
            return;
        }
        let mut after = 0;
        for (column, joined) in columns.iter_mut().zip(placement) {
            // A column that is nobody else's may be gone; the symbol then keeps
            // one of its own all the same.
            match joined.filter(|&c| shown[c as usize] > 0) {
                Some(c) => {
                    shown[c as usize] += 1;
                    after = c as usize + 1;
                    *column = c;
                }
                None => {
                    let symbol = symbols[*column as usize];
                    *column = (self.n + self.new.len()) as u32;
                    self.new.push(NewColumn { symbol, after, member: m });
                }
            }
        }
    }

    /// Numbers the columns that someone shows. New ones stand before the old
    /// ones that they were put before, those of later members first.
    fn finish(self, profile: &mut Profile) {
        if self.new.is_empty() && profile.shown.iter().all(|&shown| shown > 0) {
            return;
        }
        let mut order: Vec<usize> = (0..self.new.len()).collect();
        order.sort_by_key(|&i| (self.new[i].after, std::cmp::Reverse(self.new[i].member), i));
        let mut order = order.into_iter().peekable();
        let mut map = vec![0; self.n + self.new.len()];
        let (mut symbols, mut shown) = (Vec::with_capacity(map.len()), Vec::with_capacity(map.len()));
        for old in 0..=self.n {
            while let Some(i) = order.next_if(|&i| self.new[i].after == old) {
                map[self.n + i] = symbols.len() as u32;
                symbols.push(self.new[i].symbol);
                shown.push(1);
            }
            if profile.shown.get(old).is_some_and(|&shown| shown > 0) {
                map[old] = symbols.len() as u32;
                symbols.push(profile.symbols[old]);
                shown.push(profile.shown[old]);
            }
        }
        profile.renumber(&map);
        (profile.symbols, profile.shown) = (symbols, shown);
    }
}
