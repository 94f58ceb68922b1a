//! Groups as cells of a regular grid, for up to three dimensions.

#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays at once")]

use super::geometry::{Aabb, max2, min2};
use super::groups::{Cores, Groups, Index, group_of_rows};
use super::params::{DbscanParams, PART};
use super::scatter::filled;
use super::union_find::UnionFind;
use crate::parallel;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How many cells away a neighbour can be: with a side of eps/√D or a little
/// less, two suffice for D ≤ 4.
const REACH: i64 = 2;

/// Cells are this much smaller than eps/√D, which absorbs the rounding of a
/// coordinate into its cell while there are fewer than 2^31 cells a side.
const SHRINK: f64 = 1.0 - 1.0 / (1 << 20) as f64;

/// Occupied cells by ascending key.
pub(super) struct Grid {
    keys: Vec<u32>,
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

/// Where a point's cell is.
struct Frame<const D: usize> {
    lo: [f64; D],
    per_side: f64,
    stride: [u32; D],
    n_keys: u64,
}

impl<const D: usize> Frame<D> {
    /// `None` if the cells cannot be numbered in 32 bits.
    fn new(around: &Aabb<D>, eps: f64) -> Option<Self> {
        let per_side = 1.0 / (eps / (D as f64).sqrt() * SHRINK);
        let mut stride = [0; D];
        let mut n_keys = 1u64;
        for k in (0..D).rev() {
            stride[k] = n_keys as u32;
            let cells = (around.hi[k] - around.lo[k]) * per_side;
            if cells.is_nan() || cells >= f64::from(1u32 << 31) {
                return None;
            }
            // Two empty cells on either side keep rows from running into each other.
            n_keys = n_keys.checked_mul(cells as u64 + 1 + 2 * REACH as u64)?;
            if n_keys >= u64::from(u32::MAX) {
                return None;
            }
        }
        Some(Self { lo: around.lo, per_side, stride, n_keys })
    }

    #[inline]
    fn key(&self, p: &[f64; D]) -> u32 {
        let mut key = 0;
        for k in 0..D {
            let cell = (p[k] - self.lo[k]) * self.per_side;
            // SAFETY: `Frame::new` made sure that it is finite and below 2^31, for
            // the farthest point. A checked cast costs as much as the rest.
            let cell = unsafe { cell.to_int_unchecked::<i32>() } as u32;
            key += (cell + REACH as u32) * self.stride[k];
        }
        key
    }

    /// Offsets of all rows that hold a cell within eps.
    fn rows(&self) -> Vec<Row> {
        // Per row: squared gap and squared distance in cells, offset.
        let mut rows = vec![(0i64, 0i64, 0i64)];
        for k in 0..D - 1 {
            let mut next = Vec::new();
            for &(gap, distance, offset) in &rows {
                for t in -REACH..=REACH {
                    let between = (t.abs() - 1).max(0);
                    next.push((
                        gap + between * between,
                        distance + t * t,
                        offset + t * i64::from(self.stride[k]),
                    ));
                }
            }
            rows = next;
        }
        rows.retain(|row| row.0 <= D as i64);
        rows.sort_by_key(|row| (row.1, row.2.abs(), row.2));
        let wide = |gap| if gap < D as i64 { REACH } else { REACH - 1 };
        rows.into_iter().map(|(gap, _, offset)| Row { offset, half_width: wide(gap) }).collect()
    }
}

impl Grid {
    /// Sorts `input` into cells. `None` if the grid would be too fine: then
    /// the tree does better.
    pub(super) fn new<const D: usize>(
        input: &[[f64; D]],
        params: &DbscanParams,
    ) -> Option<(Self, Groups<D>)> {
        let around = input.par_chunks(1 << 15).map(Aabb::of).reduce(|| Aabb::EMPTY, |a, b| a.merge(&b));
        let frame = Frame::new(&around, params.eps())?;
        let n = input.len() as u64;
        let (shift, cells) = if frame.n_keys <= (2 * n).max(1 << 16) {
            (0, by_counting(input, &frame))
        } else {
            let buckets = (n / 4).max(1 << 16);
            let shift = (frame.n_keys / buckets).ilog2() + 1;
            (shift, by_bucket(input, &frame, shift))
        };
        let Cells { keys, start, points, group_of } = cells;

        let (eps2, too_wide) = (params.eps2(), AtomicBool::new(false));
        let mut boxes = vec![Aabb::EMPTY; keys.len()];
        parallel::fill(&mut boxes, 64, &|first, part| {
            for (c, around) in (first..).zip(part) {
                *around = Aabb::of(&points[start[c] as usize..start[c + 1] as usize]);
                if max2(around, around) > eps2 {
                    too_wide.store(true, Relaxed);
                }
            }
        });
        if too_wide.into_inner() {
            return None;
        }
        let n_buckets = (frame.n_keys >> shift) as usize + 1;
        let mut first = Vec::with_capacity(n_buckets + 1);
        for (c, &key) in keys.iter().enumerate() {
            first.resize((key >> shift) as usize + 1, c as u32);
        }
        first.resize(n_buckets + 1, keys.len() as u32);
        let grid = Self { keys, first, shift, rows: frame.rows(), eps2 };
        Some((grid, Groups { points, start, boxes, group_of }))
    }

    /// Calls `visit` with the occupied cells of a row around cell `c`.
    #[inline]
    fn visit_row(&self, c: usize, row: &Row, mut visit: impl FnMut(usize) -> bool) -> bool {
        let middle = i64::from(self.keys[c]) + row.offset;
        let (low, high) = ((middle - row.half_width) as u32, (middle + row.half_width) as u32);
        let from = self.first[(low >> self.shift) as usize] as usize;
        for (i, &key) in self.keys[from..].iter().enumerate() {
            if key > high {
                break;
            }
            if key >= low && !visit(from + i) {
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
                self.visit_row(g, row, |h| h == g || min2(own, &groups.boxes[h]) > self.eps2 || visit(h));
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
                self.visit_row(g, row, |h| {
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

struct Cells<const D: usize> {
    keys: Vec<u32>,
    start: Vec<u32>,
    points: Vec<[f64; D]>,
    group_of: Vec<u32>,
}

/// How many counts each of the parallel parts may keep, so that together they
/// stay in proportion to the points.
fn part_len(n: usize, n_counts: usize) -> usize {
    let parts = (4 * n / n_counts).clamp(1, rayon::current_num_threads());
    n.div_ceil(parts)
}

/// Counting sort by key, for grids with few more cells than points.
fn by_counting<const D: usize>(input: &[[f64; D]], frame: &Frame<D>) -> Cells<D> {
    let n_keys = frame.n_keys as usize;
    let part = part_len(input.len(), n_keys);
    let mut group_of = vec![0u32; input.len()];
    let mut counts: Vec<Vec<u32>> = group_of
        .par_chunks_mut(part)
        .zip(input.par_chunks(part))
        .map(|(keys, points)| {
            let mut count = vec![0u32; n_keys];
            for (key, p) in keys.iter_mut().zip(points) {
                *key = frame.key(p);
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
            keys.push(key as u32);
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
    Cells { keys, start, points, group_of }
}

/// Sort by the key's upper bits, then within each bucket, for grids with many
/// more cells than points.
fn by_bucket<const D: usize>(input: &[[f64; D]], frame: &Frame<D>, shift: u32) -> Cells<D> {
    let n_buckets = (frame.n_keys >> shift) as usize + 1;
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

    // Key in the upper half, index in the lower: sorting makes runs of cells.
    let scatter = |slots: &super::scatter::Slots<'_, u64>| {
        counts.into_par_iter().zip(input.par_chunks(part)).enumerate().for_each(
            |(i, (mut place, points))| {
                for (j, p) in points.iter().enumerate() {
                    let key = frame.key(p);
                    let at = &mut place[(key >> shift) as usize];
                    // SAFETY: each part fills, for each bucket, the places counted for it.
                    unsafe { slots.put(*at as usize, u64::from(key) << 32 | (i * part + j) as u64) };
                    *at += 1;
                }
            },
        );
    };
    // SAFETY: the counts sum to the number of points, one place each.
    let mut sorted: Vec<u64> = unsafe { filled(input.len(), scatter) };
    sort_buckets(&mut sorted, &bucket_start);

    let mut points = vec![[0.0; D]; sorted.len()];
    parallel::fill(&mut points, PART, &|first, part| {
        part.iter_mut().zip(&sorted[first..]).for_each(|(p, &entry)| *p = input[entry as u32 as usize]);
    });
    let (mut keys, mut start) = (Vec::new(), Vec::new());
    for (i, &entry) in sorted.iter().enumerate() {
        let key = (entry >> 32) as u32;
        if keys.last() != Some(&key) {
            keys.push(key);
            start.push(i as u32);
        }
    }
    start.push(input.len() as u32);
    let group_of = group_of_rows(&start, &|at| sorted[at] as u32);
    Cells { keys, start, points, group_of }
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
