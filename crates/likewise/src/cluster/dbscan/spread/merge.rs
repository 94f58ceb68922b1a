//! Components of owners become clusters of all ranks.
//!
//! Only components that have a point near another owner's are told to all: which
//! ones are the same, and the first row of each. The others get their numbers
//! from the ranks that have their first rows.

use super::super::union_find::UnionFind;
use super::local::Local;
use crate::cluster::ClusterId;
use crate::cluster::spread::held::{Held, Rows, in_step};
use crate::comm::wire::{self, put_numbers};
use crate::comm::{CommError, Communicator, Reduction};

/// The clusters of all ranks, as an owner knows them.
pub(super) struct Numbered {
    /// The cluster of each component here that has core points.
    pub(super) of_component: Vec<Option<ClusterId>>,
    pub(super) n_clusters: usize,
}

/// No row.
const NONE: u64 = u64::MAX;

/// Numbers clusters by their first core point among all rows.
pub(super) fn number<C: Communicator + ?Sized>(
    comm: &C,
    found: &dyn Local,
    held: &Held,
    rows: &Rows,
) -> Result<Numbered, CommError> {
    let mut first = vec![NONE; found.n_components()];
    // Own rows ascend.
    for (own, &row) in held.rows().iter().enumerate().filter(|(own, _)| found.is_core(*own)) {
        let first = &mut first[found.component(own) as usize];
        *first = row.min(*first);
    }
    merge(comm, found, held, &mut first)?;
    number_by_first(comm, &first, rows)
}

/// Components are told apart by their rank and their name there.
fn named(rank: usize, component: u32) -> u64 {
    (rank as u64) << 32 | u64::from(component)
}

/// Gives every component of this rank the first row of all that are joined with it
/// on any rank.
fn merge<C: Communicator + ?Sized>(
    comm: &C,
    found: &dyn Local,
    held: &Held,
    first: &mut [u64],
) -> Result<(), CommError> {
    let of_own = |own: usize| if found.is_core(own) { found.component(own) } else { u32::MAX };
    let told = held.tell(comm, |own| of_own(own).to_le_bytes())?;
    let (mut mine, mut pairs) = (Vec::new(), Vec::new());
    mine.extend(held.given().map(of_own).filter(|&component| component != u32::MAX));
    for ((copy, owner), theirs) in (held.n_own()..).zip(held.owners_of_copies()).zip(told) {
        let theirs = u32::from_le_bytes(theirs);
        if theirs != u32::MAX {
            let component = found.component(copy);
            mine.push(component);
            pairs.push((named(comm.rank(), component), named(owner, theirs)));
        }
    }
    mine.sort_unstable();
    mine.dedup();
    pairs.sort_unstable();
    pairs.dedup();

    let mut bytes = Vec::new();
    put_numbers(&mut bytes, [mine.len() as u64]);
    put_numbers(
        &mut bytes,
        mine.iter().flat_map(|&c| [named(comm.rank(), c), first[c as usize]]).collect::<Vec<u64>>(),
    );
    put_numbers(&mut bytes, pairs.iter().flat_map(|&(a, b)| [a, b]));
    let all = Merged::of(&comm.all_gather(&bytes)?).ok_or_else(|| CommError::out_of_step("merge"))?;
    for component in mine {
        let merged = all.first_of(named(comm.rank(), component));
        first[component as usize] = merged.ok_or_else(|| CommError::out_of_step("merge"))?;
    }
    Ok(())
}

/// Components of all ranks that may be joined with others.
struct Merged {
    /// Ascending.
    names: Vec<u64>,
    /// Of places in `names`.
    joined: UnionFind,
    /// The first row of the component of each root.
    first: Vec<u64>,
}

impl Merged {
    /// Of what each rank tells; `None` if that cannot be.
    fn of(parts: &[Vec<u8>]) -> Option<Self> {
        let (mut found, mut pairs) = (Vec::new(), Vec::new());
        for part in parts {
            let numbers: Vec<u64> = wire::numbers(part)?.collect();
            let (&n, numbers) = numbers.split_first()?;
            let (listed, joined) = numbers.split_at_checked(usize::try_from(n).ok()?.checked_mul(2)?)?;
            found.extend_from_slice(listed.as_chunks::<2>().0);
            pairs.extend_from_slice(joined.as_chunks::<2>().0);
        }
        // Ranks come in order, and of each its components ascend.
        let names: Vec<u64> = found.iter().map(|[name, _]| *name).collect();
        let joined = UnionFind::new(names.len());
        for [a, b] in pairs {
            joined.join(names.binary_search(&a).ok()? as u32, names.binary_search(&b).ok()? as u32);
        }
        let mut first = vec![NONE; names.len()];
        for (i, [_, row]) in found.iter().enumerate() {
            let first = &mut first[joined.find(i as u32) as usize];
            *first = (*row).min(*first);
        }
        Some(Self { names, joined, first })
    }

    fn first_of(&self, name: u64) -> Option<u64> {
        let at = self.names.binary_search(&name).ok()?;
        Some(self.first[self.joined.find(at as u32) as usize])
    }
}

/// Numbers clusters by their first rows, of which each rank counts its own.
fn number_by_first<C: Communicator + ?Sized>(
    comm: &C,
    first: &[u64],
    rows: &Rows,
) -> Result<Numbered, CommError> {
    // By rank, what is asked: components may have the same first row.
    let mut asked: Vec<(u64, usize)> =
        first.iter().zip(0..).filter(|(row, _)| **row != NONE).map(|(&row, c)| (row, c)).collect();
    asked.sort_unstable();
    let by_rank = |a: &(u64, usize), b: &(u64, usize)| rows.rank_of(a.0) == rows.rank_of(b.0);
    let parcel = |asked: &[(u64, usize)]| {
        let mut bytes = Vec::new();
        put_numbers(&mut bytes, asked.iter().map(|(row, _)| *row));
        (rows.rank_of(asked[0].0), bytes)
    };
    let parcels = comm.route(asked.chunk_by(by_rank).map(parcel).collect())?;

    let out_of_step = || CommError::out_of_step("number_by_first");
    let mut here = Vec::new();
    for (_, bytes) in &parcels {
        here.extend(wire::numbers(bytes).ok_or_else(out_of_step)?);
    }
    here.sort_unstable();
    here.dedup();
    let before = comm.sum_before(here.len() as i64)? as u64;
    let mut n_clusters = [here.len() as i64];
    comm.all_reduce(Reduction::Sum, &mut n_clusters)?;
    let answer = |(from, bytes): &(usize, Vec<u8>)| {
        let place = |row| before + here.partition_point(|&other| other < row) as u64;
        let mut answer = Vec::new();
        put_numbers(&mut answer, wire::numbers(bytes).into_iter().flatten().map(place));
        (*from, answer)
    };
    let answers = comm.route(parcels.iter().map(answer).collect())?;

    let mut of_component = vec![None; first.len()];
    let expected = asked.chunk_by(by_rank).map(|asked| (rows.rank_of(asked[0].0), 8 * asked.len()));
    let answers = in_step(&answers, expected, "number_by_first")?;
    let numbers = answers.filter_map(wire::numbers).flatten();
    for (number, (_, component)) in numbers.zip(&asked) {
        of_component[*component] = Some(ClusterId::from_index(number as usize));
    }
    Ok(Numbered { of_component, n_clusters: n_clusters[0] as usize })
}
