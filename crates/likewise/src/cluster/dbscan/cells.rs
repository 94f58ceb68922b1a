//! What is known of each cell after one pass over the points.

use super::frame::Frame;
use super::subcells::bits;
use crate::comm::wire::Taker;
use rayon::prelude::*;

/// Up to so many points, a cell keeps a list of their sub-cells.
const FEW: usize = 8;

/// What is known of the points in a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// How many they are.
    pub(super) count: u32,
    /// The row of the first.
    pub(super) first: u32,
    subs: Subs,
}

/// How many points are in each sub-cell. Most cells hold some noise only, and what
/// is kept of these should be little.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Subs {
    /// The sub-cell of each of up to [`FEW`] points, ascending.
    Few([u8; FEW]),
    Many(Box<[u32; 64]>),
}

impl Cell {
    fn add(&mut self, other: &Self) {
        self.subs = if (self.count + other.count) as usize <= FEW {
            let mut both: Vec<u8> = self.list().chain(other.list()).collect();
            both.sort_unstable();
            both.resize(FEW, 0);
            Subs::Few(std::array::from_fn(|i| both[i]))
        } else {
            let (a, b) = (self.counts(), other.counts());
            Subs::Many(Box::new(std::array::from_fn(|s| a[s] + b[s])))
        };
        self.count += other.count;
        self.first = self.first.min(other.first);
    }

    /// The sub-cells of the points of a cell that holds few.
    fn list(&self) -> impl Iterator<Item = u8> {
        let list = if let Subs::Few(list) = &self.subs { &list[..self.count as usize] } else { &[] };
        list.iter().copied()
    }

    fn counts(&self) -> [u32; 64] {
        match &self.subs {
            Subs::Few(_) => self.list().fold([0; 64], |mut counts, s| {
                counts[usize::from(s)] += 1;
                counts
            }),
            Subs::Many(counts) => **counts,
        }
    }

    /// How many points are in those sub-cells.
    pub(super) fn count_in(&self, subs: u64) -> u32 {
        match &self.subs {
            _ if subs == 0 => 0,
            Subs::Few(_) => self.list().map(|s| (subs >> s & 1) as u32).sum(),
            Subs::Many(counts) => bits(subs).map(|s| counts[s]).sum(),
        }
    }

    /// One bit for each sub-cell that holds a point.
    pub(super) fn occupied(&self) -> u64 {
        match &self.subs {
            Subs::Few(_) => self.list().fold(0, |mask, s| mask | 1 << s),
            Subs::Many(counts) => counts.iter().rev().fold(0, |mask, &n| mask << 1 | u64::from(n > 0)),
        }
    }
}

/// Occupied cells by ascending key.
///
/// Tables of parts of a cloud, counted in one frame, add up to the table of
/// the whole, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CellTable {
    pub(super) keys: Vec<u32>,
    pub(super) cells: Vec<Cell>,
}

impl CellTable {
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The sum of both; O(cells).
    pub(super) fn add(&self, other: &Self) -> Self {
        let most = self.len() + other.len();
        let mut sum = Self { keys: Vec::with_capacity(most), cells: Vec::with_capacity(most) };
        let mut rest = other.keys.iter().zip(&other.cells).peekable();
        for (&key, cell) in self.keys.iter().zip(&self.cells) {
            while let Some((&key, cell)) = rest.next_if(|(other, _)| **other < key) {
                sum.push(key, cell.clone());
            }
            sum.push(key, cell.clone());
            if let Some((_, same)) = rest.next_if(|(other, _)| **other == key) {
                sum.cells[sum.keys.len() - 1].add(same);
            }
        }
        rest.for_each(|(&key, cell)| sum.push(key, cell.clone()));
        sum
    }

    fn push(&mut self, key: u32, cell: Cell) {
        self.keys.push(key);
        self.cells.push(cell);
    }

    /// The table as a message: of each cell its key, its points, its first row, and
    /// the list of their sub-cells, or which ones there are and how often.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (key, cell) in self.keys.iter().zip(&self.cells) {
            [*key, cell.count, cell.first].iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
            match &cell.subs {
                Subs::Few(list) => bytes.extend_from_slice(&list[..cell.count as usize]),
                Subs::Many(counts) => {
                    bytes.extend_from_slice(&cell.occupied().to_le_bytes());
                    for n in counts.iter().filter(|n| **n > 0) {
                        bytes.extend_from_slice(&n.to_le_bytes());
                    }
                }
            }
        }
        bytes
    }

    /// The table that a message is; `None` if it is none.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        fn number(taker: &mut Taker<'_>) -> Option<u32> {
            Some(u32::from_le_bytes(taker.bytes(4)?.try_into().ok()?))
        }
        let (mut table, mut taker) = (Self::default(), Taker::new(bytes));
        while !taker.is_done() {
            let [key, count, first] = [number(&mut taker)?, number(&mut taker)?, number(&mut taker)?];
            let subs = if count as usize <= FEW {
                let mut list = [0; FEW];
                list[..count as usize].copy_from_slice(taker.bytes(count as usize)?);
                Subs::Few(list)
            } else {
                let mut counts = Box::new([0; 64]);
                for s in bits(taker.number()?) {
                    counts[s] = number(&mut taker)?;
                }
                Subs::Many(counts)
            };
            table.push(key, Cell { count, first, subs });
        }
        Some(table)
    }
}

/// A table, and where in it each point is.
pub(super) struct Counted {
    pub(super) table: CellTable,
    /// For each part of the rows, the cell in `table` of each of its places.
    pub(super) cell_of_place: Vec<Vec<u32>>,
    /// For each row, the place of its cell in the numbering of its part, and its
    /// sub-cell in the lower [`SUB_BITS`].
    pub(super) places: Vec<u32>,
    /// Rows in each part but the last.
    pub(super) part: usize,
}

impl Counted {
    /// The same places in a table that holds more.
    pub(super) fn within(mut self, table: &CellTable) -> Self {
        let mut at = 0;
        let place = |key: &u32| {
            at += table.keys[at..].partition_point(|other| other < key);
            at as u32
        };
        let new: Vec<u32> = self.table.keys.iter().map(place).collect();
        for cell in self.cell_of_place.iter_mut().flatten() {
            // Places that nobody has point to the first cell.
            *cell = new.get(*cell as usize).copied().unwrap_or(0);
        }
        self
    }
}

/// Bits that tell a sub-cell.
pub(super) const SUB_BITS: u32 = 6;

/// With so many keys, places can be told in the bits that are left.
pub(super) const MAX_KEYS: u64 = 1 << 24;

/// Counts points by cell; up to [`MAX_KEYS`]. O(n), and four bytes for each key and thread.
pub(super) fn count<const D: usize>(input: &[[f64; D]], frame: &Frame<D>) -> Counted {
    let part = input.len().div_ceil(rayon::current_num_threads()).max(1);
    let mut places = crate::pages::large(vec![0u32; input.len()]);
    let counters: Vec<Counter> = places
        .par_chunks_mut(part)
        .zip(input.par_chunks(part))
        .enumerate()
        .map(|(i, (places, points))| {
            let mut counter = Counter::new(frame.n_keys());
            let runs = places.chunks_mut(RUN).zip(points.chunks(RUN)).enumerate();
            runs.for_each(|(run, (places, points))| {
                counter.count(points, (i * part + run * RUN) as u32, frame, places);
            });
            counter
        })
        .collect();
    let tables: Vec<CellTable> = counters.par_iter().map(Counter::table).collect();
    let table = tables.into_iter().reduce(|a, b| a.add(&b)).unwrap_or_default();
    let cell_of_place = counters.par_iter().map(|counter| counter.cells_in(&table)).collect();
    Counted { table, cell_of_place, places, part }
}

/// Points that are taken at once: what is noted of them stays in the cache.
pub(super) const RUN: usize = 1024;

/// Counts the points of one part of the rows.
///
/// Cells have places in the order in which they come, so that those of a few tight
/// phases stay in the cache however many keys there are. A cell with more than
/// [`FEW`] points moves to a place where it has a count for each sub-cell.
struct Counter {
    /// The place of each key: 2i if it is `few[i]`, 2i + 1 if it is `many[i]`.
    /// `few[0]` and `many[0]` are nobody's.
    place_of: Vec<u32>,
    few: Vec<Few>,
    many: Vec<[u32; 64]>,
    /// Where each of `many` was in `few`.
    before: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Few {
    first: u32,
    count: u32,
    subs: [u8; FEW],
}

/// Whether a place is in `many`.
fn is_many(place: u32) -> bool {
    place % 2 == 1
}

impl Counter {
    fn new(n_keys: u64) -> Self {
        let place_of = crate::pages::large(vec![0; n_keys as usize]);
        Self { place_of, few: vec![Few::default()], many: vec![[0; 64]], before: vec![0] }
    }

    /// Counts up to [`RUN`] points, of which `row` is the first; rows come in
    /// ascending order. Notes their cells' places.
    ///
    /// Three short loops: one computes, one looks up, and one adds, which
    /// otherwise would wait for one another.
    fn count<const D: usize>(&mut self, points: &[[f64; D]], row: u32, frame: &Frame<D>, places: &mut [u32]) {
        let mut subs = [0u8; RUN];
        for ((p, place), sub) in points.iter().zip(&mut *places).zip(&mut subs) {
            let (key, at) = frame.key_and_sub(p);
            (*place, *sub) = (key, at as u8);
        }
        for ((out, row), &sub) in places.iter_mut().zip(row..).zip(&subs) {
            let key = *out as usize;
            let mut place = self.place_of[key];
            if !is_many(place) {
                place = self.count_few(key, row, sub);
            }
            *out = place << SUB_BITS | u32::from(sub);
        }
        for &place in &*places {
            // Those that are in few cells are counted already: nobody looks at `many[0]`.
            let place_of_cell = place >> SUB_BITS;
            let at = if is_many(place_of_cell) { place_of_cell / 2 } else { 0 };
            self.many[at as usize][place as usize % (1 << SUB_BITS)] += 1;
        }
    }

    /// Counts a point of a cell that is not in `many`. Its place; if that is in
    /// `many`, the point is still to be counted there.
    #[inline(never)]
    fn count_few(&mut self, key: usize, row: u32, sub: u8) -> u32 {
        let place = &mut self.place_of[key];
        if *place == 0 {
            *place = 2 * self.few.len() as u32;
            self.few.push(Few { first: row, ..Few::default() });
        }
        let few = &mut self.few[*place as usize / 2];
        if (few.count as usize) < FEW {
            few.subs[few.count as usize] = sub;
            few.count += 1;
            return *place;
        }
        self.before.push(*place / 2);
        *place = 2 * self.many.len() as u32 + 1;
        let mut counts = [0; 64];
        few.subs.iter().for_each(|&s| counts[usize::from(s)] += 1);
        self.many.push(counts);
        *place
    }

    /// Calls `visit` with key and place of every occupied cell, by ascending key.
    fn each(&self, mut visit: impl FnMut(u32, u32)) {
        for (key, &place) in (0..).zip(&self.place_of).filter(|(_, place)| **place != 0) {
            visit(key, place);
        }
    }

    fn table(&self) -> CellTable {
        let mut table = CellTable::default();
        self.each(|key, place| {
            let at = place as usize / 2;
            if is_many(place) {
                let (subs, first) = (self.many[at], self.few[self.before[at] as usize].first);
                let count = subs.iter().sum();
                table.push(key, Cell { count, first, subs: Subs::Many(Box::new(subs)) });
            } else {
                let Few { first, count, mut subs } = self.few[at];
                subs[..count as usize].sort_unstable();
                table.push(key, Cell { count, first, subs: Subs::Few(subs) });
            }
        });
        table
    }

    /// The cell in `table`, which holds all cells that are here, by place.
    fn cells_in(&self, table: &CellTable) -> Vec<u32> {
        let mut cells = vec![0; 2 * self.few.len().max(self.many.len())];
        let mut at = 0;
        self.each(|key, place| {
            while table.keys[at] < key {
                at += 1;
            }
            cells[place as usize] = at as u32;
            if is_many(place) {
                cells[2 * self.before[place as usize / 2] as usize] = at as u32;
            }
        });
        cells
    }
}
