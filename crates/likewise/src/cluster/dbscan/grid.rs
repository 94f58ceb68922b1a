//! Groups as cells of a regular grid, for up to three dimensions.

use super::frame::{Frame, REACH};
use super::geometry::{max2, min2};
use super::groups::{Cores, Groups, Index, Sorted, Went};
use super::params::{DbscanParams, PART};
use super::scatter::filled;
use super::subcells::ACROSS;
use super::union_find::UnionFind;
use crate::cluster::Along;
use crate::parallel;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// So many cells of a bucket are skipped one by one.
const FEW: usize = 16;

/// Occupied cells by ascending key.
pub(super) struct Grid {
    keys: Vec<u64>,
    /// Cells are found by their key's upper bits: `first[key >> shift]` is the
    /// first occupied cell with those bits or above.
    first: Vec<u32>,
    shift: u32,
    /// Neighbouring rows of cells, the nearest first.
    rows: Vec<Row>,
    eps2: f64,
}

/// Cells that differ in the last dimension only lie side by side.
struct Row {
    offset: i64,
    half_width: i64,
}

/// Where all rows are that hold a cell within eps, in cells, the nearest first.
/// The last dimension runs along the row and is 0.
pub(super) fn row_offsets<const D: usize>() -> Vec<[i64; D]> {
    let mut rows = vec![[0; D]];
    for k in 0..D - 1 {
        let along = |row: &[i64; D]| {
            let row = *row;
            (-REACH..=REACH).map(move |t| std::array::from_fn(|j| if j == k { t } else { row[j] }))
        };
        rows = rows.iter().flat_map(along).collect();
    }
    rows.retain(|row| gap2(row) <= D as i64);
    rows.sort_by_key(|row| (row.iter().map(|t| t * t).sum::<i64>(), row.map(i64::abs), *row));
    rows
}

/// The squared gap between two cells, in cells.
fn gap2<const D: usize>(offset: &[i64; D]) -> i64 {
    offset.iter().map(|t| (t.abs() - 1).max(0)).map(|gap| gap * gap).sum()
}

impl Grid {
    /// Over the occupied cells of a frame, whose keys ascend. With `shift`, cells
    /// are found by the upper bits of their keys.
    pub(super) fn new<const D: usize>(
        keys: Vec<u64>,
        frame: &Frame<D>,
        shift: u32,
        params: &DbscanParams,
    ) -> Self {
        let n_buckets = (frame.n_keys() >> shift) as usize + 1;
        let mut first = Vec::with_capacity(n_buckets + 1);
        for (c, &key) in keys.iter().enumerate() {
            first.resize((key >> shift) as usize + 1, c as u32);
        }
        first.resize(n_buckets + 1, keys.len() as u32);
        let row = |row: [i64; D]| {
            let offset = (0..D).map(|k| row[k] * frame.stride()[k] as i64).sum();
            let half_width = if gap2(&row) < D as i64 { REACH } else { REACH - 1 };
            Row { offset, half_width }
        };
        let rows = row_offsets().into_iter().map(row).collect();
        Self { keys, first, shift, rows, eps2: params.eps2() }
    }

    /// The occupied cell with that key.
    pub(super) fn cell_of(&self, key: u64) -> u32 {
        let bucket = (key >> self.shift) as usize;
        let (from, to) = (self.first[bucket], self.first[bucket + 1]);
        from + self.keys[from as usize..to as usize].partition_point(|&other| other < key) as u32
    }

    /// Calls `visit` with every occupied cell before `c` that may hold a point
    /// within eps of one of `c`, and the offset to it: its place in
    /// [`row_offsets`] times [`ACROSS`], and how far along the row.
    pub(super) fn each_before(&self, c: usize, mut visit: impl FnMut(usize, usize)) {
        for (r, row) in self.rows.iter().enumerate().filter(|(_, row)| row.offset <= 0) {
            self.visit_row(c, row, |h, along| {
                if h < c {
                    visit(h, r * ACROSS + along);
                }
                h < c
            });
        }
    }

    /// As [`Grid::each_before`], of all other cells.
    pub(super) fn each_near(&self, c: usize, mut visit: impl FnMut(usize, usize)) {
        for (r, row) in self.rows.iter().enumerate() {
            self.visit_row(c, row, |h, along| {
                if h != c {
                    visit(h, r * ACROSS + along);
                }
                true
            });
        }
    }

    /// Calls `visit` with the occupied cells of a row around cell `c`, and with
    /// where each is along the row, from 0 to `ACROSS - 1`.
    #[inline]
    fn visit_row(&self, c: usize, row: &Row, mut visit: impl FnMut(usize, usize) -> bool) -> bool {
        let middle = self.keys[c] as i64 + row.offset;
        let (low, high) = ((middle - row.half_width) as u64, (middle + row.half_width) as u64);
        let bucket = (low >> self.shift) as usize;
        let (mut from, end) = (self.first[bucket] as usize, self.first[bucket + 1] as usize);
        if end - from > FEW {
            from += self.keys[from..end].partition_point(|&key| key < low);
        }
        for (i, &key) in self.keys[from..].iter().enumerate() {
            if key > high {
                break;
            }
            if key >= low && !visit(from + i, (key as i64 - middle + REACH) as usize) {
                return false;
            }
        }
        true
    }
}

impl<const D: usize> Index<D> for Grid {
    fn near(&self, groups: &Groups<D>, g: usize, visit: &mut impl FnMut(usize) -> bool) {
        let own = &groups.boxes[g];
        for row in &self.rows {
            let go_on =
                self.visit_row(g, row, |h, _| h == g || min2(own, &groups.boxes[h]) > self.eps2 || visit(h));
            if !go_on {
                return;
            }
        }
    }

    fn join_all(
        &self,
        groups: &Groups<D>,
        cores: &Cores,
        components: &UnionFind,
        join: &(impl Fn(usize, usize) -> bool + Sync),
    ) {
        let join_before = |g: usize| {
            // Each pair once: from its later cell.
            for row in self.rows.iter().filter(|row| row.offset <= 0) {
                self.visit_row(g, row, |h, _| {
                    if h >= g {
                        return false;
                    }
                    let worth = cores.any(h)
                        && !components.same(g as u32, h as u32)
                        && min2(&groups.boxes[g], &groups.boxes[h]) <= self.eps2;
                    if worth && join(g, h) {
                        components.join(g as u32, h as u32);
                    }
                    true
                });
            }
        };
        parallel::each(groups.len(), 16, &|part| part.filter(|&g| cores.any(g)).for_each(join_before));
    }
}

/// Sorts `input` into cells. `None` if the grid would be too fine: then the
/// tree does better.
pub(super) fn sort<const D: usize>(
    input: &[[f64; D]],
    along: Option<&Along<'_>>,
    frame: &Frame<D>,
    params: &DbscanParams,
) -> Option<(Grid, Sorted<D>)> {
    let n = input.len() as u64;
    let (shift, cells) = if frame.n_keys() <= (2 * n).max(1 << 16) {
        (0, by_counting(input, frame))
    } else {
        let buckets = (n / 4).max(1 << 16);
        let shift = (frame.n_keys() / buckets).ilog2() + 1;
        // Along a curve, points that follow one another go to the same few buckets.
        let along = along.map(|along| (along.data().as_chunks().0, along.order()));
        let cells = match along.filter(|(points, _)| points.len() == input.len()) {
            Some((points, order)) => by_bucket(points, |at| order[at as usize], frame, shift),
            None => by_bucket(input, |row| row, frame, shift),
        };
        (shift, cells)
    };
    let Cells { keys, start, points, went } = cells;
    let groups = Groups::new(points, start);
    let (eps2, too_wide) = (params.eps2(), AtomicBool::new(false));
    parallel::each(groups.boxes.len(), PART, &|part| {
        if groups.boxes[part].iter().any(|around| max2(around, around) > eps2) {
            too_wide.store(true, Relaxed);
        }
    });
    if too_wide.into_inner() {
        return None;
    }
    Some((Grid::new(keys, frame, shift, params), Sorted { groups, went }))
}

struct Cells<const D: usize> {
    keys: Vec<u64>,
    start: Vec<u32>,
    points: Vec<[f64; D]>,
    went: Went,
}

/// How many counts each of the parallel parts may keep, so that together they
/// stay in proportion to the points.
fn part_len(n: usize, n_counts: usize) -> usize {
    let parts = (4 * n / n_counts).clamp(1, rayon::current_num_threads());
    n.div_ceil(parts)
}

/// Counting sort by key, for grids with few more cells than points.
fn by_counting<const D: usize>(input: &[[f64; D]], frame: &Frame<D>) -> Cells<D> {
    let n_keys = frame.n_keys() as usize;
    let part = part_len(input.len(), n_keys);
    let mut group_of = vec![0u32; input.len()];
    let mut counts: Vec<Vec<u32>> = group_of
        .par_chunks_mut(part)
        .zip(input.par_chunks(part))
        .map(|(keys, points)| {
            let mut count = vec![0u32; n_keys];
            for (key, p) in keys.iter_mut().zip(points) {
                *key = frame.key(p) as u32;
                count[*key as usize] += 1;
            }
            count
        })
        .collect();

    // Counts become places, part after part within each key.
    let (mut keys, mut start, mut cell_of) = (Vec::new(), Vec::new(), vec![0u32; n_keys]);
    let mut place = 0;
    for (key, cell) in cell_of.iter_mut().enumerate() {
        let before = place;
        for count in &mut counts {
            place += std::mem::replace(&mut count[key], place);
        }
        if place > before {
            *cell = keys.len() as u32;
            keys.push(key as u64);
            start.push(before);
        }
    }
    start.push(place);

    let scatter = |slots: &super::scatter::Slots<'_, [f64; D]>| {
        let parts = counts.into_par_iter().zip(group_of.par_chunks_mut(part)).zip(input.par_chunks(part));
        parts.for_each(|((mut place, keys), points)| {
            for (key, p) in keys.iter_mut().zip(points) {
                let at = &mut place[*key as usize];
                // SAFETY: each part fills, for each key, the places counted for it.
                unsafe { slots.put(*at as usize, *p) };
                *at += 1;
                *key = cell_of[*key as usize];
            }
        });
    };
    // SAFETY: the counts sum to the number of points, one place each.
    let points = unsafe { filled(input.len(), scatter) };
    Cells { keys, start, points, went: Went::To(group_of) }
}

/// Sort by the key's upper bits, then within each bucket by the `shift` lower ones, 32
/// at most, for grids with many more cells than points. `row_of` tells the row of each
/// place of the input.
fn by_bucket<const D: usize>(
    input: &[[f64; D]],
    row_of: impl Fn(u32) -> u32 + Sync,
    frame: &Frame<D>,
    shift: u32,
) -> Cells<D> {
    let n_buckets = (frame.n_keys() >> shift) as usize + 1;
    let part = part_len(input.len(), n_buckets);
    let mut counts: Vec<Vec<u32>> = input
        .par_chunks(part)
        .map(|points| {
            let mut count = vec![0u32; n_buckets];
            for p in points {
                count[(frame.key(p) >> shift) as usize] += 1;
            }
            count
        })
        .collect();
    let mut bucket_start = Vec::with_capacity(n_buckets + 1);
    let mut place = 0u32;
    for bucket in 0..n_buckets {
        bucket_start.push(place);
        for count in &mut counts {
            place += std::mem::replace(&mut count[bucket], place);
        }
    }
    bucket_start.push(place);

    // The lower bits of the key in the upper half, the index in the lower: sorting a
    // bucket makes runs of cells.
    let lower = (1 << shift) - 1;
    let scatter = |slots: &super::scatter::Slots<'_, u64>| {
        counts.into_par_iter().zip(input.par_chunks(part)).enumerate().for_each(
            |(i, (mut place, points))| {
                for (j, p) in points.iter().enumerate() {
                    let key = frame.key(p);
                    let at = &mut place[(key >> shift) as usize];
                    // SAFETY: each part fills, for each bucket, the places counted for it.
                    unsafe { slots.put(*at as usize, (key & lower) << 32 | (i * part + j) as u64) };
                    *at += 1;
                }
            },
        );
    };
    // SAFETY: the counts sum to the number of points, one place each.
    let mut sorted: Vec<u64> = unsafe { filled(input.len(), scatter) };
    sort_buckets(&mut sorted, &bucket_start);

    let mut points = crate::pages::large(vec![[0.0; D]; sorted.len()]);
    parallel::fill(&mut points, PART, &|first, part| {
        part.iter_mut().zip(&sorted[first..]).for_each(|(p, &entry)| *p = input[entry as u32 as usize]);
    });
    let (keys, mut start) = runs(&sorted, &bucket_start, shift);
    start.push(input.len() as u32);
    let rows = sorted.into_par_iter().map(|entry| row_of(entry as u32)).collect();
    Cells { keys, start, points, went: Went::From(rows) }
}

/// Buckets that a thread looks at together.
const BUCKETS: usize = 1 << 12;

/// The key of each cell, and where it begins.
fn runs(sorted: &[u64], bucket_start: &[u32], shift: u32) -> (Vec<u64>, Vec<u32>) {
    let n = bucket_start.len() - 1;
    let of_part = |number: usize| {
        let (mut keys, mut start) = (Vec::new(), Vec::new());
        for bucket in number * BUCKETS..n.min((number + 1) * BUCKETS) {
            for at in bucket_start[bucket]..bucket_start[bucket + 1] {
                let key = (bucket as u64) << shift | sorted[at as usize] >> 32;
                if keys.last() != Some(&key) {
                    keys.push(key);
                    start.push(at);
                }
            }
        }
        (keys, start)
    };
    let parts: Vec<_> = (0..n.div_ceil(BUCKETS)).into_par_iter().map(of_part).collect();
    let (keys, start): (Vec<Vec<u64>>, Vec<Vec<u32>>) = parts.into_iter().unzip();
    (keys.concat(), start.concat())
}

/// Sorts each bucket on its own, many at a time.
fn sort_buckets(entries: &mut [u64], bucket_start: &[u32]) {
    let n_buckets = bucket_start.len() - 1;
    let base = bucket_start[0];
    if n_buckets <= 256 || entries.len() <= 4096 {
        for range in bucket_start.windows(2) {
            entries[(range[0] - base) as usize..(range[1] - base) as usize].sort_unstable();
        }
        return;
    }
    let middle = n_buckets / 2;
    let (left, right) = entries.split_at_mut((bucket_start[middle] - base) as usize);
    rayon::join(
        || sort_buckets(left, &bucket_start[..=middle]),
        || sort_buckets(right, &bucket_start[middle..]),
    );
}
