//! What is known of each cell after one pass over the points.

use super::frame::Frame;
use rayon::prelude::*;

/// What is known of the points in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// How many they are.
    pub(super) count: u32,
    /// The row of the first.
    pub(super) first: u32,
    /// How many are in each sub-cell; 255 stands for that or more.
    pub(super) subs: [u8; 64],
}

impl Cell {
    const EMPTY: Self = Self { count: 0, first: u32::MAX, subs: [0; 64] };

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.first = self.first.min(other.first);
        self.subs.iter_mut().zip(other.subs).for_each(|(a, b)| *a = a.saturating_add(b));
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
                sum.push(key, *cell);
            }
            sum.push(key, *cell);
            if let Some((_, same)) = rest.next_if(|(other, _)| **other == key) {
                sum.cells[sum.keys.len() - 1].add(same);
            }
        }
        rest.for_each(|(&key, cell)| sum.push(key, *cell));
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

/// Counts points by cell. O(n), and a byte for each key and thread.
pub(super) fn count<const D: usize>(input: &[[f64; D]], frame: &Frame<D>) -> Counted {
    let part = input.len().div_ceil(rayon::current_num_threads());
    let mut places = crate::pages::large(vec![0u32; input.len()]);
    let counters: Vec<Counter> = places
        .par_chunks_mut(part)
        .zip(input.par_chunks(part))
        .enumerate()
        .map(|(i, (places, points))| {
            let mut counter = Counter::new(frame.n_keys());
            for ((place, p), row) in places.iter_mut().zip(points).zip((i * part) as u32..) {
                let (key, sub) = frame.key_and_sub(p);
                *place = counter.count(key, sub, row);
            }
            counter
        })
        .collect();
    let tables: Vec<CellTable> = counters.par_iter().map(Counter::table).collect();
    let table = tables.into_iter().reduce(|a, b| a.add(&b)).unwrap_or_default();
    let cell_of_place = counters.par_iter().map(|counter| counter.cells_in(&table)).collect();
    Counted { table, cell_of_place, places, part }
}

/// How many cells that follow each other share a block.
const BLOCK: usize = 4;

/// Counts the points of one part of the rows.
///
/// Cells are in blocks, and blocks are made where a point comes: the cells of a few
/// tight phases stay in the cache however many keys there are.
struct Counter {
    /// Where the block of `key / BLOCK` starts in `cells`; 0 if it has none.
    block_of: Vec<u32>,
    /// The first block is nobody's.
    cells: Vec<Cell>,
}

impl Counter {
    fn new(n_keys: u64) -> Self {
        Self { block_of: vec![0; n_keys as usize / BLOCK + 1], cells: vec![Cell::EMPTY; BLOCK] }
    }

    /// Counts a point; rows come in ascending order. Returns its cell's place.
    #[inline(always)]
    fn count(&mut self, key: u32, sub: u32, row: u32) -> u32 {
        let block = &mut self.block_of[key as usize / BLOCK];
        if *block == 0 {
            *block = self.cells.len() as u32;
            self.cells.resize(self.cells.len() + BLOCK, Cell::EMPTY);
        }
        let place = *block + key % BLOCK as u32;
        let cell = &mut self.cells[place as usize];
        if cell.count == 0 {
            cell.first = row;
        }
        cell.count += 1;
        let n = &mut cell.subs[sub as usize % 64];
        // Most are full, and then there is nothing to write.
        if *n < u8::MAX {
            *n += 1;
        }
        place
    }

    /// Calls `visit` with key and place of every occupied cell, by ascending key.
    fn each(&self, mut visit: impl FnMut(u32, usize)) {
        for (i, &block) in self.block_of.iter().enumerate().filter(|(_, block)| **block != 0) {
            for j in (0..BLOCK).filter(|j| self.cells[block as usize + j].count > 0) {
                visit((i * BLOCK + j) as u32, block as usize + j);
            }
        }
    }

    fn table(&self) -> CellTable {
        let mut table = CellTable::default();
        self.each(|key, place| table.push(key, self.cells[place]));
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
