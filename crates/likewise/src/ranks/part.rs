//! Effort tables whose ranks are spread over processes.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{EffortCell, EffortRegion, EffortTable};
use crate::comm::wire::{self, Taker, put_block, put_number};
use crate::comm::{CommError, Communicator, Reduction};

/// The ranks of a table that a process has; those of all processes, one after
/// the other, are the table's.
#[derive(Clone, Debug, PartialEq)]
pub struct EffortPart {
    /// They alone, counted from 0; there may be none.
    pub table: EffortTable,
    /// How many ranks there are on all processes.
    pub n_ranks: usize,
}

/// Which ranks of `n` process `rank` of `size` has.
#[must_use]
pub fn part(n: usize, rank: usize, size: usize) -> Range<usize> {
    let at = |r: usize| (n as u128 * r as u128 / size as u128) as usize;
    at(rank)..at(rank + 1)
}

/// Which of `size` processes has rank `at` of `n`.
fn owner(n: usize, at: u64, size: usize) -> usize {
    ((size as u128 * (u128::from(at) + 1) - 1) / n as u128) as usize
}

impl EffortPart {
    /// All ranks, on the only process.
    #[must_use]
    pub fn whole(table: EffortTable) -> Self {
        Self { n_ranks: table.n_ranks(), table }
    }

    /// Shares out the ranks of a table that process 0 has. Nothing anywhere,
    /// where it has none.
    ///
    /// # Errors
    /// The processes could not work together.
    pub fn share_out<C: Communicator>(
        comm: &C,
        table: Option<EffortTable>,
    ) -> Result<Option<Self>, CommError> {
        let mut head = Vec::new();
        if let Some(table) = table.as_ref().filter(|_| comm.rank() == 0) {
            put_number(&mut head, table.n_ranks() as u64);
            put_number(&mut head, table.n_steps() as u64);
            for region in table.regions() {
                put_block(&mut head, region.name.as_bytes());
                put_block(&mut head, region.unit.as_bytes());
            }
        }
        comm.broadcast(0, &mut head)?;
        if head.is_empty() {
            return Ok(None);
        }
        let parcel = |table: &EffortTable, to: usize| {
            let ranks = part(table.n_ranks(), to, comm.size());
            let values = &table.values()[ranks.start * table.dims()..ranks.end * table.dims()];
            let mut bytes = Vec::with_capacity(8 * values.len());
            wire::put_reals(&mut bytes, values);
            (to, bytes)
        };
        let parcels = table.iter().filter(|_| comm.rank() == 0);
        let parcels = parcels.flat_map(|table| (0..comm.size()).map(|to| parcel(table, to))).collect();
        drop(table);
        let bytes: Vec<u8> = comm.route(parcels)?.into_iter().flat_map(|(_, bytes)| bytes).collect();
        let values = wire::reals(&bytes).ok_or_else(|| CommError::out_of_step("share_out"))?.collect();
        let mut taker = Taker::new(&head);
        let made = taker.number().zip(taker.number()).and_then(|(n_ranks, n_steps)| {
            let regions = take_regions(taker)?;
            let table = EffortTable::of_some(regions, n_steps as usize, values).ok()?;
            Some(Self { table, n_ranks: n_ranks as usize })
        });
        made.map(Some).ok_or_else(|| CommError::out_of_step("share_out"))
    }

    /// The table of rows that each process has some of, in the order of
    /// processes. Nothing anywhere, where they are no table: where it is whole,
    /// [`EffortTable::new`] says why.
    ///
    /// # Errors
    /// The processes could not work together.
    pub fn of_rows<C: Communicator>(
        comm: &C,
        region: EffortRegion,
        n_steps: usize,
        values: Vec<f64>,
    ) -> Result<Option<Self>, CommError> {
        let mut n_ranks = [(values.len() / n_steps.max(1)) as i64];
        let table = EffortTable::of_some(vec![region], n_steps, values).ok();
        comm.all_reduce(Reduction::Sum, &mut n_ranks)?;
        if n_ranks[0] == 0 || !everywhere(comm, table.is_some())? {
            return Ok(None);
        }
        Ok(table.map(|table| Self { table, n_ranks: n_ranks[0] as usize }))
    }

    /// The table of cells in any order, of which each process has some.
    /// `names` are of the regions that the cells of this process are of; they
    /// need not be the same everywhere, and the table has them in their order.
    /// Nothing anywhere, where it is no table: where it is whole,
    /// [`EffortTable::from_cells`] says why.
    ///
    /// # Errors
    /// The processes could not work together.
    ///
    /// # Complexity
    /// O(c log c) for c cells of a process, which all may travel; O(log P)
    /// messages.
    pub fn of_cells<C: Communicator>(
        comm: &C,
        names: &[String],
        unit: &str,
        mut cells: Vec<EffortCell>,
    ) -> Result<Option<Self>, CommError> {
        let known = union(comm, names.iter().map(|name| name.as_bytes().to_vec()))?;
        let place = |name: &String| known.partition_point(|other| other.as_slice() < name.as_bytes());
        let places: Vec<usize> = names.iter().map(place).collect();
        cells.iter_mut().for_each(|cell| cell.region = places[cell.region]);
        let steps: BTreeSet<u64> = cells.iter().map(|cell| cell.step).collect();
        let steps = union(comm, steps.iter().map(|step| step.to_be_bytes().to_vec()))?;
        // A rank that no memory could hold is none of a table.
        let last = cells.iter().map(|cell| i64::try_from(cell.rank).unwrap_or(i64::MAX)).max().unwrap_or(-1);
        let (mut last, mut n_cells) = ([last], [cells.len() as i64]);
        comm.all_reduce(Reduction::Max, &mut last)?;
        comm.all_reduce(Reduction::Sum, &mut n_cells)?;
        let width = known.len() * steps.len();
        if last[0] < 0 || (i128::from(last[0]) + 1) * width as i128 != i128::from(n_cells[0]) {
            return Ok(None);
        }
        let n_ranks = last[0] as usize + 1;
        let cells = redistribute(comm, n_ranks, cells)?;
        let ranks = part(n_ranks, comm.rank(), comm.size());
        let table = Grid { ranks, names: &known, steps: &steps }.filled_by(cells, unit);
        if !everywhere(comm, table.is_some())? {
            return Ok(None);
        }
        Ok(table.map(|table| Self { table, n_ranks }))
    }
}

/// What a process has to have a number for.
struct Grid<'a> {
    ranks: Range<usize>,
    /// Of the regions.
    names: &'a [Vec<u8>],
    /// Big-endian, so that their bytes are in the order of the numbers.
    steps: &'a [Vec<u8>],
}

impl Grid<'_> {
    /// The table, if every place has one number and no cell is left.
    fn filled_by(&self, mut cells: Vec<EffortCell>, unit: &str) -> Option<EffortTable> {
        if cells.len() != self.ranks.len() * self.names.len() * self.steps.len() {
            return None;
        }
        cells.sort_unstable_by_key(|cell| (cell.rank, cell.region, cell.step));
        let mut found = cells.iter();
        for rank in self.ranks.clone() {
            for region in 0..self.names.len() {
                for step in self.steps {
                    let cell = found.next()?;
                    if (cell.rank, cell.region) != (rank as u64, region) || cell.step.to_be_bytes() != **step
                    {
                        return None;
                    }
                }
            }
        }
        let region = |name: &Vec<u8>| {
            let name = String::from_utf8(name.clone()).ok()?;
            Some(EffortRegion { name, unit: unit.to_owned() })
        };
        let regions: Option<Vec<EffortRegion>> = self.names.iter().map(region).collect();
        let values = cells.iter().map(|cell| cell.effort).collect();
        EffortTable::of_some(regions?, self.steps.len(), values).ok()
    }
}

/// Whether all processes can go on.
fn everywhere<C: Communicator>(comm: &C, here: bool) -> Result<bool, CommError> {
    let mut least = [i64::from(here)];
    comm.all_reduce(Reduction::Min, &mut least)?;
    Ok(least[0] == 1)
}

/// What any process has, once, in the order of bytes.
fn union<C: Communicator>(comm: &C, here: impl Iterator<Item = Vec<u8>>) -> Result<Vec<Vec<u8>>, CommError> {
    let mut bytes = Vec::new();
    here.for_each(|one| put_block(&mut bytes, &one));
    let mut all = BTreeSet::new();
    for part in comm.all_gather(&bytes)? {
        let mut taker = Taker::new(&part);
        while !taker.is_done() {
            all.insert(taker.block().ok_or_else(|| CommError::out_of_step("union"))?.to_vec());
        }
    }
    Ok(all.into_iter().collect())
}

/// Gives each process the cells of its ranks.
fn redistribute<C: Communicator>(
    comm: &C,
    n_ranks: usize,
    cells: Vec<EffortCell>,
) -> Result<Vec<EffortCell>, CommError> {
    let mut parcels = vec![Vec::new(); comm.size()];
    for cell in cells {
        let parcel = &mut parcels[owner(n_ranks, cell.rank, comm.size())];
        for number in [cell.rank, cell.step, cell.region as u64, cell.effort.to_bits()] {
            put_number(parcel, number);
        }
    }
    let parcels = parcels.into_iter().enumerate().filter(|(_, bytes)| !bytes.is_empty()).collect();
    let mut cells = Vec::new();
    for (_, bytes) in comm.route(parcels)? {
        let mut taker = Taker::new(&bytes);
        while !taker.is_done() {
            let cell = taker.number().zip(taker.number()).zip(taker.index()).zip(taker.real());
            let (((rank, step), region), effort) =
                cell.ok_or_else(|| CommError::out_of_step("redistribute"))?;
            cells.push(EffortCell { rank, step, region, effort });
        }
    }
    Ok(cells)
}

fn take_regions(mut taker: Taker<'_>) -> Option<Vec<EffortRegion>> {
    let mut regions = Vec::new();
    while !taker.is_done() {
        regions.push(EffortRegion { name: taker.text()?.to_owned(), unit: taker.text()?.to_owned() });
    }
    Some(regions)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::comm::{ThreadComm, run_on_threads};

    fn table(n_ranks: usize, names: &[&str], n_steps: usize) -> EffortTable {
        let region = |name: &&str| EffortRegion { name: (*name).to_owned(), unit: "s".to_owned() };
        let values = (0..n_ranks * names.len() * n_steps).map(|i| i as f64 / 3.0).collect();
        EffortTable::new(names.iter().map(region).collect(), n_steps, values).expect("a table")
    }

    fn cells_of(table: &EffortTable) -> Vec<EffortCell> {
        let place = |i: usize| (i / table.dims(), i % table.dims() / table.n_steps(), i % table.n_steps());
        let cell = |(i, &effort): (usize, &f64)| {
            let (rank, region, step) = place(i);
            EffortCell { rank: rank as u64, step: 7 + 300 * step as u64, region, effort }
        };
        table.values().iter().enumerate().map(cell).collect()
    }

    /// On every process the same answer; together, the whole table.
    fn on(
        size: usize,
        work: impl Fn(&ThreadComm) -> Result<Option<EffortPart>, CommError> + Sync,
    ) -> Option<EffortTable> {
        let parts = run_on_threads(size, |comm| work(comm)).expect("parts");
        let n = parts.iter().flatten().count();
        assert!(n == 0 || n == size, "{n} of {size} processes have a part");
        let parts: Vec<EffortPart> = parts.into_iter().flatten().collect();
        let first = parts.first()?;
        assert!(parts.iter().all(|part| part.n_ranks == first.n_ranks));
        let values: Vec<f64> = parts.iter().flat_map(|part| part.table.values().to_vec()).collect();
        let whole = EffortTable::new(first.table.regions().to_vec(), first.table.n_steps(), values);
        let whole = whole.expect("the parts are a table");
        assert_eq!(whole.n_ranks(), first.n_ranks);
        Some(whole)
    }

    #[test]
    fn parts_are_all_ranks_once_and_have_owners() {
        for n in [0, 1, 5, 64, 1000] {
            for size in [1, 2, 3, 16] {
                let all: Vec<usize> = (0..size).flat_map(|r| part(n, r, size)).collect();
                assert_eq!(all, (0..n).collect::<Vec<_>>());
                assert!(all.iter().all(|&at| part(n, owner(n, at as u64, size), size).contains(&at)));
            }
        }
    }

    proptest! {
        #[test]
        fn shared_out_and_joined_it_is_the_table(
            (n_ranks, n_regions, n_steps) in (1usize..9, 1usize..4, 1usize..4), size in 1usize..6, seed in 1usize..1000
        ) {
            let table = table(n_ranks, &["a", "a b", "b"][..n_regions], n_steps);
            let shared = on(size, |comm| {
                EffortPart::share_out(comm, (comm.rank() == 0).then(|| table.clone()))
            });
            prop_assert_eq!(shared.as_ref(), Some(&table));
            prop_assert_eq!(on(size, |comm| EffortPart::share_out(comm, None)), None);
            let names: Vec<String> = table.regions().iter().rev().map(|region| region.name.clone()).collect();
            let mut cells = cells_of(&table);
            cells.iter_mut().for_each(|cell| cell.region = n_regions - 1 - cell.region);
            cells.sort_by_key(|cell| ((cell.rank * 7919 + cell.step) as usize * seed) % 1009);
            let joined = |cells: &[EffortCell]| on(size, |comm| {
                let mine = part(cells.len(), comm.rank(), size);
                EffortPart::of_cells(comm, &names, "s", cells[mine].to_vec())
            });
            prop_assert_eq!(joined(&cells), Some(table.clone()));
            // One too few, one twice, one in the place of another, one that is no number.
            let changed = |change: &dyn Fn(&mut Vec<EffortCell>)| {
                let mut cells = cells.clone();
                change(&mut cells);
                joined(&cells)
            };
            prop_assert_eq!(changed(&|cells| cells.push(cells[0])), None);
            prop_assert_eq!(changed(&|cells| cells[0].rank = u64::MAX), None);
            prop_assert_eq!(changed(&|cells| cells[0].effort = f64::NAN), None);
            if n_ranks > 1 {
                let of_first = cells.iter().position(|cell| cell.rank == 0).expect("it has cells");
                prop_assert_eq!(changed(&|cells| { cells.remove(of_first); }), None);
                prop_assert_eq!(changed(&|cells| cells[0] = cells[1]), None);
            }
        }
    }

    #[test]
    fn rows_of_any_number_of_processes_are_a_table() {
        let whole = table(7, &["a"], 3);
        let region = || whole.regions()[0].clone();
        let joined = |values: &[f64], n_steps: usize| {
            on(3, |comm| {
                let ranks = [0..4, 4..4, 4..7][comm.rank()].clone();
                let last = values.len().min(ranks.end * n_steps);
                EffortPart::of_rows(
                    comm,
                    region(),
                    n_steps,
                    values[(ranks.start * n_steps).min(last)..last].to_vec(),
                )
            })
        };
        assert_eq!(joined(whole.values(), 3).as_ref(), Some(&whole));
        assert_eq!(joined(&[], 3), None);
        let mut wrong = whole.values().to_vec();
        wrong[20] = f64::INFINITY;
        assert_eq!(joined(&wrong, 3), None);
    }
}
