//! DBSCAN in which points stay where they are, for up to three dimensions.
//!
//! Phases are tight: most cells hold more than min-points points, and most
//! pairs of them are decided by the sub-cells that are occupied. One pass over
//! the points tells both. Only the points of thin cells, and of sub-cells that
//! may reach them or decide a pair, are gathered; `groups` does the rest.

use super::cells::{Cell, CellTable, Counted, MAX_KEYS, RUN, SUB_BITS, count};
use super::frame::Frame;
use super::grid::{Grid, row_offsets};
use super::groups::{Cores, Groups, Index, Known, Sorted, Went};
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

/// With fewer points, sorting them all costs less than tables.
const LEAST_POINTS: u64 = 1 << 17;

/// Counts `input` by cell and gathers the points that distances are asked of.
pub(super) fn sort<const D: usize>(
    input: &[[f64; D]],
    frame: Frame<D>,
    params: &DbscanParams,
) -> (Stay<D>, Sorted<D>, Known) {
    let counted = count(input, &frame);
    let Decided { stay, known, needed } = decide(&counted.table, frame, params);
    let (groups, group_of) = gather(input, counted, &needed);
    (stay, Sorted { groups, went: Went::To(group_of) }, known)
}

/// What a table of cells tells.
pub(super) struct Decided<const D: usize> {
    pub(super) stay: Stay<D>,
    pub(super) known: Known,
    /// The sub-cells of each cell whose points distances are asked of.
    pub(super) needed: Vec<u64>,
}

/// Decides what the counts of a table can. Only the table matters, not how many
/// threads there are.
pub(super) fn decide<const D: usize>(
    table: &CellTable,
    frame: Frame<D>,
    params: &DbscanParams,
) -> Decided<D> {
    let keys: Vec<u64> = table.keys.iter().map(|&key| key.into()).collect();
    let shift = (frame.n_keys() / (2 * keys.len() as u64)).max(1).ilog2();
    let grid = Grid::new(keys, &frame, shift, params);
    let cells = &table.cells;
    let occupied: Vec<u64> = cells.par_iter().map(Cell::occupied).collect();
    let table = Table { cells, occupied: &occupied, grid: &grid, reach: reaches::<D>() };
    let sure = table.sure(params.min_points());
    let components = UnionFind::new(cells.len());
    let needed = table.needed(&sure, &components);
    let whole = sure.iter().zip(&occupied).map(|(sure, occupied)| sure.core == *occupied).collect();
    let first = cells.iter().map(|cell| cell.first).collect();
    let known = Known { whole, first, components, asked: vec![true; cells.len()] };
    Decided { stay: Stay { grid, frame, sure }, known, needed }
}

/// The sub-cells of a cell of which every point is core, and of which none is.
#[derive(Clone, Copy, Default)]
struct Sure {
    core: u64,
    not_core: u64,
}

/// The index of cells, with what sub-cells tell of the points.
pub(super) struct Stay<const D: usize> {
    grid: Grid,
    frame: Frame<D>,
    sure: Vec<Sure>,
}

impl<const D: usize> Stay<D> {
    /// The cell of a point; only if it is one of the table's.
    pub(super) fn cell_of(&self, p: &[f64; D]) -> u32 {
        self.grid.cell_of(self.frame.key(p))
    }

    /// Calls `visit` with all other cells that may hold a point within eps of one
    /// of `c`.
    pub(super) fn each_near(&self, c: usize, mut visit: impl FnMut(usize)) {
        self.grid.each_near(c, |h, _| visit(h));
    }
}

impl<const D: usize> Index<D> for Stay<D> {
    fn near(&self, groups: &Groups<D>, g: usize, visit: &mut impl FnMut(usize) -> bool) {
        self.grid.near(groups, g, visit);
    }

    fn join_all(
        &self,
        groups: &Groups<D>,
        cores: &Cores,
        components: &UnionFind,
        join: &(impl Fn(usize, usize) -> bool + Sync),
    ) {
        self.grid.join_all(groups, cores, components, join);
    }

    fn is_core(&self, g: usize, p: &[f64; D]) -> Option<bool> {
        let (_, sub) = self.frame.key_and_sub(p);
        let Sure { core, not_core } = self.sure[g];
        if (core | not_core) >> sub & 1 == 1 { Some(core >> sub & 1 == 1) } else { None }
    }
}

/// What sub-cells tell, by the offset of [`Grid::each_near`].
pub(super) fn reaches<const D: usize>() -> Vec<Reach> {
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
    cells: &'a [Cell],
    occupied: &'a [u64],
    grid: &'a Grid,
    reach: Vec<Reach>,
}

impl Table<'_> {
    /// What the counts of sub-cells tell of every cell's points.
    fn sure(&self, min_points: usize) -> Vec<Sure> {
        let mut sure = vec![Sure::default(); self.cells.len()];
        parallel::fill(&mut sure, CELLS_PER_TASK, &|first, part| {
            for (c, sure) in (first..).zip(part) {
                *sure = if self.cells[c].count as usize >= min_points {
                    Sure { core: self.occupied[c], not_core: 0 }
                } else {
                    self.sure_of(c, min_points)
                };
            }
        });
        sure
    }

    fn sure_of(&self, c: usize, min_points: usize) -> Sure {
        let count = self.cells[c].count as usize;
        let mut around = count;
        self.grid.each_near(c, |h, offset| {
            let near = self.reach[offset].near_any(self.occupied[c], self.occupied[h]);
            around += self.cells[h].count_in(near) as usize;
        });
        if around < min_points {
            return Sure { core: 0, not_core: self.occupied[c] };
        }
        let (mut least, mut most) = ([count; 64], [count; 64]);
        self.grid.each_near(c, |h, offset| {
            let reach = &self.reach[offset];
            for s in bits(self.occupied[c]) {
                if least[s] < min_points {
                    least[s] += self.points_in(h, reach.within[s]);
                    most[s] += self.points_in(h, reach.near[s]);
                }
            }
        });
        let mut sure = Sure::default();
        for s in bits(self.occupied[c]) {
            let core = least[s] >= min_points;
            sure.core |= u64::from(core) << s;
            sure.not_core |= u64::from(!core && most[s] < min_points) << s;
        }
        sure
    }

    /// How many points of a cell are in those sub-cells, by counting these or the
    /// others, whichever are fewer.
    fn points_in(&self, h: usize, subs: u64) -> usize {
        let (cell, occupied) = (&self.cells[h], self.occupied[h]);
        let (inside, outside) = (subs & occupied, occupied & !subs);
        let few = inside.count_ones() <= outside.count_ones();
        if few { cell.count_in(inside) as usize } else { (cell.count - cell.count_in(outside)) as usize }
    }

    /// Joins cells as far as their sure core points tell. Returns the sub-cells of
    /// each cell whose points distances are asked of.
    fn needed(&self, sure: &[Sure], components: &UnionFind) -> Vec<u64> {
        let undecided = Mutex::new(Vec::new());
        parallel::each(sure.len(), CELLS_PER_TASK, &|part| {
            let mut open = Vec::new();
            for c in part.filter(|&c| sure[c].core != 0) {
                self.grid.each_before(c, |h, offset| {
                    if sure[h].core == 0 || components.same(c as u32, h as u32) {
                        return;
                    }
                    match self.reach[offset].joins(sure[c].core, sure[h].core) {
                        Some(true) => components.join(c as u32, h as u32),
                        Some(false) => {}
                        None => open.push((c, h, offset)),
                    }
                });
            }
            undecided.lock().unwrap_or_else(PoisonError::into_inner).extend(open);
        });
        let needed: Vec<AtomicU64> = (0..sure.len()).map(|_| AtomicU64::new(0)).collect();
        // Those that were joined through others meanwhile need no look.
        let undecided = undecided.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (c, h, offset) in undecided.into_iter().filter(|&(c, h, _)| !components.same(c as u32, h as u32))
        {
            for s in bits(sure[c].core) {
                let near = self.reach[offset].near[s] & sure[h].core;
                if near != 0 {
                    needed[c].fetch_or(1 << s, Relaxed);
                    needed[h].fetch_or(near, Relaxed);
                }
            }
        }
        parallel::each(sure.len(), CELLS_PER_TASK, &|part| {
            for c in part {
                let open = self.occupied[c] & !sure[c].core;
                if open != 0 {
                    needed[c].store(u64::MAX, Relaxed);
                    self.grid.each_near(c, |h, offset| {
                        let near = self.reach[offset].near_any(open, self.occupied[h]);
                        if near != 0 {
                            needed[h].fetch_or(near, Relaxed);
                        }
                    });
                }
            }
        });
        needed.into_iter().map(AtomicU64::into_inner).collect()
    }
}

/// Rows of needed sub-cells, from one part of all rows.
pub(super) struct Taken {
    /// Ascending.
    pub(super) rows: Vec<u32>,
    /// How many there are from each cell.
    count: Vec<u32>,
}

/// The rows of needed sub-cells, in parts, and the cell of every row.
pub(super) fn take(counted: Counted, needed: &[u64]) -> (Vec<Taken>, Vec<u32>) {
    let Counted { places: mut group_of, cell_of_place, part, .. } = counted;
    let taken = group_of
        .par_chunks_mut(part)
        .zip(&cell_of_place)
        .enumerate()
        .map(|(i, (places, cell_of_place))| {
            let (mut rows, mut count) = (Vec::new(), vec![0u32; needed.len()]);
            let look = |&cell: &u32| (cell, needed[cell as usize]);
            let look: Vec<(u32, u64)> = cell_of_place.iter().map(look).collect();
            for (run, places) in places.chunks_mut(RUN).enumerate() {
                // Noted for all, and kept for those that are needed: a jump that is
                // taken now and then costs more.
                let (mut kept, mut n) = ([0u32; RUN], 0);
                for (place, at) in places.iter_mut().zip(0u32..) {
                    let (cell, needed) = look[(*place >> SUB_BITS) as usize];
                    kept[n] = at;
                    n += (needed >> (*place % (1 << SUB_BITS)) & 1) as usize;
                    *place = cell;
                }
                let first = (i * part + run * RUN) as u32;
                rows.extend(kept[..n].iter().map(|at| first + at));
                kept[..n].iter().for_each(|&at| count[places[at as usize] as usize] += 1);
            }
            Taken { rows, count }
        })
        .collect();
    (taken, group_of)
}

/// The points of needed sub-cells, sorted by cell, and the cell of every row.
fn gather<const D: usize>(input: &[[f64; D]], counted: Counted, needed: &[u64]) -> (Groups<D>, Vec<u32>) {
    let (mut taken, group_of) = take(counted, needed);
    // Counts become places, part after part within each cell.
    let (mut start, mut end) = (Vec::with_capacity(needed.len() + 1), 0);
    for cell in 0..needed.len() {
        start.push(end);
        for part in &mut taken {
            end += std::mem::replace(&mut part.count[cell], end);
        }
    }
    start.push(end);
    let scatter = |slots: &Slots<'_, [f64; D]>| {
        taken.into_par_iter().for_each(|Taken { rows, count: mut place }| {
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

/// Points of the sample that tells whether a cloud is tight.
const SAMPLE: u64 = 1 << 14;

/// Every how many-th of `n` points is in the sample.
pub(super) fn sample_step(n: u64) -> u64 {
    (n / SAMPLE).max(8)
}

/// Whether a cloud is such that few points lie in thin cells, by the look of a
/// sample: then it pays to leave points where they are.
pub(super) fn pays<const D: usize>(input: &[[f64; D]], frame: &Frame<D>, params: &DbscanParams) -> bool {
    let n = input.len() as u64;
    // Every thread has a table of keys.
    if !has_tables(frame, n, 16 * n / rayon::current_num_threads() as u64) {
        return false;
    }
    let step = sample_step(n);
    is_tight(input.iter().step_by(step as usize).map(|p| frame.key(p) as u32).collect(), step, params)
}

/// Whether tables of up to `most_keys` cost little beside `n` points.
pub(super) fn has_tables<const D: usize>(frame: &Frame<D>, n: u64, most_keys: u64) -> bool {
    n >= LEAST_POINTS && frame.has_sub_cells() && frame.n_keys() <= most_keys.min(MAX_KEYS)
}

/// Whether few points lie in thin cells, by the keys of every `step`-th.
pub(super) fn is_tight(mut keys: Vec<u32>, step: u64, params: &DbscanParams) -> bool {
    keys.sort_unstable();
    let few = (params.min_points() / step as usize).max(1);
    let thin: usize = keys.chunk_by(|a, b| a == b).map(<[u32]>::len).filter(|&n| n <= few).sum();
    thin * 4 < keys.len()
}
