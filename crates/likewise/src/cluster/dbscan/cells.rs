//! What is known of each cell after one pass over the points.

use super::frame::Frame;
use rayon::prelude::*;

/// What is known of the points in a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// The row of the first.
    pub(super) first: u32,
    /// How many are in each sub-cell.
    pub(super) subs: [u32; 64],
}

impl Cell {
    fn add(&mut self, other: &Self) {
        self.first = self.first.min(other.first);
        self.subs.iter_mut().zip(other.subs).for_each(|(a, b)| *a += b);
    }

    pub(super) fn count(&self) -> u32 {
        self.subs.iter().sum()
    }

    /// One bit for each sub-cell that holds a point.
    pub(super) fn occupied(&self) -> u64 {
        self.subs.iter().rev().fold(0, |mask, &n| mask << 1 | u64::from(n > 0))
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
}

/// A table, and where in it each point is.
pub(super) struct Counted {
    pub(super) table: CellTable,
    /// For each part of the rows, the cell in `table` of each of its places.
    pub(super) cell_of_place: Vec<Vec<u32>>,
    /// The place of each row, in the numbering of its part.
    pub(super) places: Vec<u32>,
    /// Rows in each part but the last.
    pub(super) part: usize,
}

/// Counts points by cell. O(n), and four bytes for each key and thread.
pub(super) fn count<const D: usize>(input: &[[f64; D]], frame: &Frame<D>) -> Counted {
    let part = input.len().div_ceil(rayon::current_num_threads());
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
const RUN: usize = 1024;

/// Counts the points of one part of the rows.
///
/// Cells have places in the order in which they come, so that those of a few tight
/// phases stay in the cache however many keys there are.
struct Counter {
    /// The place of each key, from 1; 0 if no point came.
    place_of: Vec<u32>,
    /// By place, from 0.
    cells: Vec<Cell>,
}

impl Counter {
    fn new(n_keys: u64) -> Self {
        Self { place_of: crate::pages::large(vec![0; n_keys as usize]), cells: Vec::new() }
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
        for (place, row) in places.iter_mut().zip(row..) {
            let of_key = &mut self.place_of[*place as usize];
            if *of_key == 0 {
                self.cells.push(Cell { first: row, subs: [0; 64] });
                *of_key = self.cells.len() as u32;
            }
            *place = *of_key - 1;
        }
        for (&place, &sub) in places.iter().zip(&subs) {
            self.cells[place as usize].subs[usize::from(sub) % 64] += 1;
        }
    }

    /// Calls `visit` with key and place of every occupied cell, by ascending key.
    fn each(&self, mut visit: impl FnMut(u32, usize)) {
        for (key, &place) in (0..).zip(&self.place_of).filter(|(_, place)| **place != 0) {
            visit(key, place as usize - 1);
        }
    }

    fn table(&self) -> CellTable {
        let mut table = CellTable::default();
        self.each(|key, place| table.push(key, self.cells[place].clone()));
        table
    }

    /// The cell in `table`, which holds all cells that are here, by place.
    fn cells_in(&self, table: &CellTable) -> Vec<u32> {
        let (mut cells, mut at) = (vec![0; self.cells.len()], 0);
        self.each(|key, place| {
            while table.keys[at] < key {
                at += 1;
            }
            cells[place] = at as u32;
        });
        cells
    }
}
