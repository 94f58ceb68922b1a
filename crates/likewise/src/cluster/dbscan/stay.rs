//! DBSCAN in which points stay where they are, for up to three dimensions.
//!
//! Phases are tight: most cells hold more than min-points points, and most
//! pairs of them are decided by the sub-cells that are occupied. One pass over
//! the points tells both. Only the points of thin cells, and of sub-cells that
//! may reach them or decide a pair, are gathered; `groups` does the rest.

use super::cells::{CellTable, Counted, count};
use super::frame::Frame;
use super::grid::{Grid, row_offsets};
use super::groups::{Groups, Known, Sorted};
use super::params::DbscanParams;
use super::scatter::{Slots, filled};
use super::subcells::{ACROSS, Reach, bits};
use super::union_find::UnionFind;
use crate::parallel;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Cells that a thread takes at once.
const CELLS_PER_TASK: usize = 16;

/// Counts `input` by cell and gathers the points that distances are asked of.
pub(super) fn sort<const D: usize>(
    input: &[[f64; D]],
    frame: &Frame<D>,
    params: &DbscanParams,
) -> (Grid, Sorted<D>) {
    let counted = count(input, frame);
    let grid = Grid::new(counted.table.keys.clone(), frame, params);
    let table = Table { cells: &counted.table, grid: &grid, reach: reaches::<D>() };
    let whole = table.whole(params.min_points());
    let components = UnionFind::new(whole.len());
    let needed = table.needed(&whole, &components);
    let known = Known { whole, first: counted.table.cells.iter().map(|cell| cell.first).collect(), components };
    let (groups, group_of) = gather(input, frame, counted, &needed);
    (grid, Sorted { groups, group_of, known })
}

/// What sub-cells tell, by the offset of [`Grid::each_near`].
fn reaches<const D: usize>() -> Vec<Reach> {
    let mut offsets = Vec::new();
    for mut offset in row_offsets::<D>() {
        for along in 0..ACROSS {
            offset[D - 1] = along as i64 - (ACROSS / 2) as i64;
            offsets.push(offset);
        }
    }
    offsets.into_par_iter().map(Reach::new).collect()
}

struct Table<'a> {
    cells: &'a CellTable,
    grid: &'a Grid,
    reach: Vec<Reach>,
}

impl Table<'_> {
    fn occupied(&self, c: usize) -> u64 {
        self.cells.cells[c].occupied
    }

    /// Cells of which every point is core, as far as sub-cells tell.
    fn whole(&self, min_points: usize) -> Vec<bool> {
        let mut whole = vec![false; self.cells.len()];
        parallel::fill(&mut whole, CELLS_PER_TASK, &|first, part| {
            for (c, whole) in (first..).zip(part) {
                *whole = self.cells.cells[c].count as usize >= min_points || self.is_whole(c, min_points);
            }
        });
        whole
    }

    /// Whether the points of each sub-cell of `c` have enough neighbours in cells
    /// that are wholly within eps.
    fn is_whole(&self, c: usize, min_points: usize) -> bool {
        let mut sure = [self.cells.cells[c].count as usize; 64];
        self.grid.each_near(c, |h, offset| {
            let cell = &self.cells.cells[h];
            for s in bits(self.occupied(c)) {
                if cell.occupied & !self.reach[offset].within[s] == 0 {
                    sure[s] += cell.count as usize;
                }
            }
        });
        bits(self.occupied(c)).all(|s| sure[s] >= min_points)
    }

    /// Joins whole cells as far as sub-cells tell. Returns the sub-cells of each
    /// cell whose points distances are asked of.
    fn needed(&self, whole: &[bool], components: &UnionFind) -> Vec<u64> {
        let undecided = Mutex::new(Vec::new());
        parallel::each(whole.len(), CELLS_PER_TASK, &|part| {
            let mut open = Vec::new();
            for c in part.filter(|&c| whole[c]) {
                self.grid.each_before(c, |h, offset| {
                    if !whole[h] || components.same(c as u32, h as u32) {
                        return;
                    }
                    match self.reach[offset].joins(self.occupied(c), self.occupied(h)) {
                        Some(true) => components.join(c as u32, h as u32),
                        Some(false) => {}
                        None => open.push((c, h, offset)),
                    }
                });
            }
            undecided.lock().unwrap_or_else(PoisonError::into_inner).extend(open);
        });
        let needed: Vec<AtomicU64> = (0..whole.len()).map(|_| AtomicU64::new(0)).collect();
        // Those that were joined through others meanwhile need no look.
        let undecided = undecided.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (c, h, offset) in undecided.into_iter().filter(|&(c, h, _)| !components.same(c as u32, h as u32)) {
            for s in bits(self.occupied(c)) {
                let near = self.reach[offset].near[s] & self.occupied(h);
                if near != 0 {
                    needed[c].fetch_or(1 << s, Relaxed);
                    needed[h].fetch_or(near, Relaxed);
                }
            }
        }
        parallel::each(whole.len(), CELLS_PER_TASK, &|part| {
            for c in part.filter(|&c| !whole[c]) {
                needed[c].store(u64::MAX, Relaxed);
                self.grid.each_near(c, |h, offset| {
                    if whole[h] {
                        let near = self.reach[offset].near_any(self.occupied(c), self.occupied(h));
                        needed[h].fetch_or(near, Relaxed);
                    }
                });
            }
        });
        needed.into_iter().map(AtomicU64::into_inner).collect()
    }
}

/// The points of needed sub-cells, sorted by cell, and the cell of every row.
fn gather<const D: usize>(
    input: &[[f64; D]],
    frame: &Frame<D>,
    counted: Counted,
    needed: &[u64],
) -> (Groups<D>, Vec<u32>) {
    let Counted { places: mut group_of, cell_of_place, part, .. } = counted;
    // Of each part: the rows taken, and how many from each cell.
    let mut taken: Vec<(Vec<u32>, Vec<u32>)> = group_of
        .par_chunks_mut(part)
        .zip(input.par_chunks(part))
        .zip(&cell_of_place)
        .enumerate()
        .map(|(i, ((places, points), cell_of_place))| {
            let (mut rows, mut count) = (Vec::new(), vec![0u32; needed.len()]);
            for ((place, p), row) in places.iter_mut().zip(points).zip((i * part) as u32..) {
                let cell = cell_of_place[*place as usize];
                *place = cell;
                let subs = needed[cell as usize];
                if subs != 0 && (subs == u64::MAX || subs >> frame.key_and_sub(p).1 & 1 == 1) {
                    rows.push(row);
                    count[cell as usize] += 1;
                }
            }
            (rows, count)
        })
        .collect();

    // Counts become places, part after part within each cell.
    let (mut start, mut end) = (Vec::with_capacity(needed.len() + 1), 0);
    for cell in 0..needed.len() {
        start.push(end);
        for (_, count) in &mut taken {
            end += std::mem::replace(&mut count[cell], end);
        }
    }
    start.push(end);
    let scatter = |slots: &Slots<'_, [f64; D]>| {
        taken.into_par_iter().for_each(|(rows, mut place)| {
            for row in rows {
                let at = &mut place[group_of[row as usize] as usize];
                // SAFETY: each part fills, for each cell, the places counted for it.
                unsafe { slots.put(*at as usize, input[row as usize]) };
                *at += 1;
            }
        });
    };
    // SAFETY: the counts sum to the number of rows taken, one place each.
    let points = unsafe { filled(end as usize, scatter) };
    (Groups::new(points, start), group_of)
}

/// Whether few points need be gathered, by the look of a sample.
pub(super) fn pays<const D: usize>(_input: &[[f64; D]], frame: &Frame<D>, _params: &DbscanParams) -> bool {
    frame.has_sub_cells() && std::env::var("OLDWAY").is_err()
}
