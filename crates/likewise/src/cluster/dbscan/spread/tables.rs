//! Tight clouds in up to three dimensions: tables of cells are added up, and only
//! points that distances are asked of travel.

use super::super::cells::{CellTable, count};
use super::super::frame::Frame;
use super::super::geometry::Aabb;
use super::super::groups::{Groups, Known};
use super::super::params::{Dbscan, DbscanParams};
use super::super::stay::{Decided, Stay, decide, has_tables, is_tight, sample_step, take};
use super::super::{params::PART, rows};
use super::local::{Grouped, Local};
use super::send_labels;
use crate::cluster::spread::halves::sampled;
use crate::cluster::spread::held::{Held, Rows};
use crate::cluster::{ClusterId, Clustering, Points};
use crate::comm::wire::{self, put_numbers};
use crate::comm::{CommError, Communicator, Reduction, Tree, from_order, order};
use crate::parallel;
use rayon::prelude::*;

/// A table of so many keys, 16 MB for each thread, costs less than that points travel.
const FEW_KEYS: u64 = 1 << 22;

/// The frame of the points of all ranks.
pub(super) fn frame<C: Communicator + ?Sized, const D: usize>(
    comm: &C,
    input: &[[f64; D]],
    eps: f64,
) -> Result<Option<Frame<D>>, CommError> {
    let around = input.par_chunks(1 << 15).map(Aabb::of).reduce(|| Aabb::EMPTY, |a, b| a.merge(&b));
    let mut least: Vec<i64> = around.lo.iter().copied().chain(around.hi.map(|x| -x)).map(order).collect();
    comm.all_reduce(Reduction::Min, &mut least)?;
    let lo = std::array::from_fn(|k| from_order(least[k]));
    let hi = std::array::from_fn(|k| -from_order(least[D + k]));
    Ok(Frame::new(&Aabb { lo, hi }, eps))
}

/// Whether cells pay, as on one rank; the same answer on all ranks. 64 KB go to all.
pub(super) fn pay<C: Communicator + ?Sized, const D: usize>(
    comm: &C,
    input: &[[f64; D]],
    frame: &Frame<D>,
    params: &DbscanParams,
    rows: &Rows,
) -> Result<bool, CommError> {
    let mut threads = [rayon::current_num_threads() as i64];
    comm.all_reduce(Reduction::Sum, &mut threads)?;
    let most_keys = (16 * rows.n() / threads[0] as u64).max(FEW_KEYS);
    if !has_tables(frame, rows.n(), most_keys) {
        return Ok(false);
    }
    let (mut bytes, step) = (Vec::new(), sample_step(rows.n()));
    for row in sampled(rows, comm.rank(), step) {
        bytes.extend_from_slice(&(frame.key(&input[row]) as u32).to_le_bytes());
    }
    comm.concatenate(&mut bytes)?;
    let keys = bytes.as_chunks().0.iter().map(|key| u32::from_le_bytes(*key)).collect();
    Ok(is_tight(keys, step, params))
}

/// The sum of the tables of all ranks, on all ranks. No message is longer than the
/// sum: they are added up along a tree.
fn sum<C: Communicator + ?Sized>(comm: &C, mut table: CellTable) -> Result<CellTable, CommError> {
    let out_of_step = || CommError::out_of_step("tables");
    let tree = Tree::new(comm.size(), comm.rank());
    for child in tree.children() {
        table = table.add(&CellTable::from_bytes(&comm.receive(child)?).ok_or_else(out_of_step)?);
    }
    if let Some(parent) = tree.parent() {
        comm.send(parent, &table.to_bytes())?;
    }
    let mut bytes = if comm.rank() == 0 { table.to_bytes() } else { Vec::new() };
    comm.broadcast(0, &mut bytes)?;
    CellTable::from_bytes(&bytes).ok_or_else(out_of_step)
}

/// Cells in ascending order go to owners, so that all have about as many needed
/// points.
fn owners(table: &CellTable, needed: &[u64], size: usize) -> Vec<u32> {
    let n: Vec<u64> = table.cells.iter().zip(needed).map(|(c, &subs)| c.count_in(subs).into()).collect();
    let (mut before, all) = (0, n.iter().sum::<u64>().max(1));
    let owner = |n: u64| {
        before += n;
        (u128::from(before - n) * size as u128 / u128::from(all)).min(size as u128 - 1) as u32
    };
    n.into_iter().map(owner).collect()
}

/// What all ranks know.
struct Shared {
    /// The sub-cells of each cell whose points travel.
    needed: Vec<u64>,
    owner: Vec<u32>,
}

impl Shared {
    /// For each cell of this rank, who needs copies of its points.
    fn copies<const D: usize>(&self, stay: &Stay<D>, rank: usize) -> Vec<Vec<usize>> {
        let mut copies = vec![Vec::new(); self.needed.len()];
        parallel::fill(&mut copies, 16, &|first, part| {
            for (c, ranks) in (first..).zip(part) {
                if self.owner[c] as usize == rank && self.needed[c] != 0 {
                    stay.each_near(c, |h| {
                        if self.needed[h] != 0 && self.owner[h] as usize != rank {
                            ranks.push(self.owner[h] as usize);
                        }
                    });
                    ranks.sort_unstable();
                    ranks.dedup();
                }
            }
        });
        copies
    }
}

/// Clusters by the tables of all ranks in one frame.
pub(super) fn cluster<C: Communicator + ?Sized, const D: usize>(
    input: &[[f64; D]],
    frame: Frame<D>,
    params: &DbscanParams,
    rows: &Rows,
    comm: &C,
) -> Result<Dbscan, CommError> {
    comm.phase("cells");
    let mut counted = count(input, &frame);
    let before = rows.first(comm.rank()) as u32;
    counted.table.cells.iter_mut().for_each(|cell| cell.first += before);
    let table = sum(comm, counted.table.clone())?;
    let counted = counted.within(&table);
    let Decided { stay, known, needed } = decide(&table, frame, params);
    let owner = owners(&table, &needed, comm.size());
    let shared = Shared { needed, owner };
    drop(table);

    comm.phase("points to owners");
    let (taken, cell_of) = take(counted, &shared.needed);
    let taken = taken.iter().flat_map(|part| &part.rows);
    let owned = taken.map(|&row| (row, shared.owner[cell_of[row as usize] as usize] as usize));
    let points = Points { data: input.as_flattened(), dims: D };
    let mut held = Held::at_owners(comm, points, rows, owned)?;
    comm.phase("copies");
    let copies = shared.copies(&stay, comm.rank());
    let cell = |p: &[f64]| stay.cell_of(&std::array::from_fn(|k| p[k])) as usize;
    held.give(comm, |p, visit| copies[cell(p)].iter().for_each(|&rank| visit(rank)))?;

    let numbered = Needed { held: &held, shared: &shared }.cluster(comm, stay, known, params)?;
    comm.phase("labels");
    let of_row = |&cell: &u32| numbered.of_cell[cell as usize];
    // Those that did not travel are core; the others are told.
    let (mut labels, mut core): (Vec<_>, _) =
        (cell_of.par_iter().map(of_row).collect(), vec![true; input.len()]);
    let found = &numbered.found;
    send_labels(comm, &held, found, |row, label, is_core| (labels[row], core[row]) = (label, is_core))?;
    Ok(Dbscan { clustering: Clustering { labels, n_clusters: found.clustering.n_clusters }, core })
}

/// Clusters, of cells and of own points.
struct Numbered {
    of_cell: Vec<Option<ClusterId>>,
    found: Dbscan,
}

/// The points that travelled.
struct Needed<'a> {
    held: &'a Held,
    shared: &'a Shared,
}

impl Needed<'_> {
    fn cluster<C: Communicator + ?Sized, const D: usize>(
        &self,
        comm: &C,
        stay: Stay<D>,
        mut known: Known,
        params: &DbscanParams,
    ) -> Result<Numbered, CommError> {
        let (held, n_own) = (self.held, self.held.n_own());
        known.asked = self.shared.owner.iter().map(|&owner| owner as usize == comm.rank()).collect();
        let before = known.roots();
        let input = rows::<D>(held.points());
        let sorted = by_cell(&input, &stay, before.len());
        let mut found = Box::new(Grouped::new(input, n_own, sorted, known, stay, params));
        comm.phase("core points");
        let told = held.tell(comm, |own| [u8::from(found.is_core(own))])?;
        for (copy, _) in (n_own..).zip(told).filter(|(_, [core])| *core != 0) {
            found.add(copy);
        }
        found.join();
        comm.phase("components");
        join_over_ranks(comm, &found.known, &before)?;
        let root = found.known.roots();
        let (number, n_clusters) = self.number(comm, &found, &root)?;
        let of_cell = root.iter().map(|&root| number[root as usize]).collect();
        Ok(Numbered { of_cell, found: found.label(&number, n_clusters) })
    }

    /// The cluster of each root, by its first core point, and how many there are.
    fn number<C: Communicator + ?Sized, const D: usize>(
        &self,
        comm: &C,
        found: &Grouped<'_, D, Stay<D>>,
        root: &[u32],
    ) -> Result<(Vec<Option<ClusterId>>, usize), CommError> {
        let mut first = vec![u64::MAX; root.len()];
        for (g, &row) in found.known.first.iter().enumerate().filter(|(g, _)| found.known.whole[*g]) {
            let first = &mut first[root[g] as usize];
            *first = u64::from(row).min(*first);
        }
        // All points of the other cells travelled. What they change, others need to know.
        let mut changed = Vec::new();
        for (own, &row) in self.held.rows().iter().enumerate() {
            let root = root[found.group_of[own] as usize];
            if row < first[root as usize] && found.is_core(own) {
                first[root as usize] = row;
                changed.push(root);
            }
        }
        changed.sort_unstable();
        changed.dedup();
        let mut bytes = Vec::new();
        changed.iter().for_each(|&root| put_numbers(&mut bytes, [root.into(), first[root as usize]]));
        comm.concatenate(&mut bytes)?;
        let changed: Vec<u64> = wire::numbers(&bytes).into_iter().flatten().collect();
        for &[root, row] in changed.as_chunks().0 {
            let first = &mut first[root as usize];
            *first = row.min(*first);
        }
        let mut roots: Vec<usize> = (0..root.len()).filter(|&g| first[g] < u64::MAX).collect();
        roots.sort_unstable_by_key(|&r| first[r]);
        let mut number = vec![None; root.len()];
        roots.iter().enumerate().for_each(|(i, &r)| number[r] = Some(ClusterId::from_index(i)));
        Ok((number, roots.len()))
    }
}

/// Joins cells on all ranks that any rank has joined since they had the roots `before`.
fn join_over_ranks<C: Communicator + ?Sized>(
    comm: &C,
    known: &Known,
    before: &[u32],
) -> Result<(), CommError> {
    let now = known.roots();
    let mut pairs: Vec<(u32, u32)> = before.iter().copied().zip(now).filter(|(a, b)| a != b).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut bytes: Vec<u8> =
        pairs.iter().flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()]).flatten().collect();
    comm.concatenate(&mut bytes)?;
    for [a, b] in bytes.as_chunks::<4>().0.as_chunks::<2>().0 {
        known.components.join(u32::from_le_bytes(*a), u32::from_le_bytes(*b));
    }
    Ok(())
}

/// Points sorted by cell, and the cell of each row.
fn by_cell<const D: usize>(input: &[[f64; D]], stay: &Stay<D>, n_cells: usize) -> (Groups<D>, Vec<u32>) {
    let mut group_of = vec![0u32; input.len()];
    parallel::fill(&mut group_of, PART, &|first, part| {
        part.iter_mut().zip(&input[first..]).for_each(|(cell, p)| *cell = stay.cell_of(p));
    });
    let mut start = vec![0u32; n_cells + 1];
    group_of.iter().for_each(|&cell| start[cell as usize + 1] += 1);
    for cell in 0..n_cells {
        start[cell + 1] += start[cell];
    }
    let (mut place, mut points) = (start.clone(), vec![[0.0; D]; input.len()]);
    for (p, &cell) in input.iter().zip(&group_of) {
        let at = &mut place[cell as usize];
        points[*at as usize] = *p;
        *at += 1;
    }
    (Groups::new(points, start), group_of)
}
