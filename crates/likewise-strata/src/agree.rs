//! What all ranks have to agree on before they compare their efforts.

use crate::StrataError;
use crate::effort::Effort;
use likewise_comm::wire::{self, Taker, put_block, put_number, put_numbers};
use likewise_comm::{CommError, Communicator, Reduction, Tree};

/// How many times more regions travel than are chosen: those with much effort on
/// few ranks are not lost on the way.
const SPARE: usize = 4;

/// Bytes of a name that are kept.
const LONGEST_NAME: usize = 1 << 14;

/// Sends `held` up a binomial tree; on rank 0, what `join` made of that of all
/// ranks, joined in their order. On others nothing.
fn up<C: Communicator + ?Sized>(
    comm: &C,
    mut held: Vec<u8>,
    mut join: impl FnMut(Vec<u8>, &[u8]) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, CommError> {
    let tree = Tree::new(comm.size(), comm.rank());
    for child in tree.children() {
        held = join(held, &comm.receive(child)?).ok_or_else(out_of_step)?;
    }
    let Some(parent) = tree.parent() else { return Ok(held) };
    comm.send(parent, &held)?;
    Ok(Vec::new())
}

pub(crate) fn out_of_step() -> CommError {
    CommError::out_of_step("adapt")
}

/// The number of steps of all ranks.
pub(crate) fn steps<C: Communicator + ?Sized>(comm: &C, n: usize) -> Result<usize, StrataError> {
    let mut most = [n as i64, -(n as i64)];
    comm.all_reduce(Reduction::Max, &mut most)?;
    if most[0] != -most[1] {
        return Err(StrataError::Steps { least: -most[1] as u64, most: most[0] as u64 });
    }
    Ok(n)
}

/// The regions of most effort over all ranks, that of most first; equal ones by
/// their number.
///
/// Up the tree each rank passes on [`SPARE`] times as many as are chosen, the
/// sums of its subtree. A region that is cut there has less effort in that
/// subtree than all that are passed on.
pub(crate) fn regions<C: Communicator + ?Sized>(
    comm: &C,
    effort: &Effort,
    most: usize,
) -> Result<Vec<u128>, CommError> {
    let mine = heaviest(effort.totals(), most.saturating_mul(SPARE));
    let bytes = up(comm, put_totals(&mine), |held, theirs| {
        let mut all = totals(&held)?;
        all.extend(totals(theirs)?);
        all.sort_unstable();
        all.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            is_same
        });
        Some(put_totals(&heaviest(all, most.saturating_mul(SPARE))))
    })?;
    let mut chosen = Vec::new();
    if comm.rank() == 0 {
        chosen = put_totals(&heaviest(totals(&bytes).ok_or_else(out_of_step)?, most));
    }
    comm.broadcast(0, &mut chosen)?;
    Ok(totals(&chosen).ok_or_else(out_of_step)?.into_iter().map(|(id, _)| id).collect())
}

fn heaviest(mut totals: Vec<(u128, u64)>, most: usize) -> Vec<(u128, u64)> {
    totals.retain(|(_, ns)| *ns > 0);
    totals.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    totals.truncate(most);
    totals
}

fn put_totals(totals: &[(u128, u64)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(24 * totals.len());
    for (id, ns) in totals {
        put_numbers(&mut bytes, [(id >> 64) as u64, *id as u64, *ns]);
    }
    bytes
}

fn totals(bytes: &[u8]) -> Option<Vec<(u128, u64)>> {
    let numbers: Vec<u64> = wire::numbers(bytes)?.collect();
    let (totals, rest) = numbers.as_chunks();
    let total = |&[high, low, ns]: &[u64; 3]| (u128::from(high) << 64 | u128::from(low), ns);
    rest.is_empty().then(|| totals.iter().map(total).collect())
}

/// On rank 0, the names of these regions, each told by the first rank that has
/// it.
pub(crate) fn names<C: Communicator + ?Sized>(
    comm: &C,
    regions: &[u128],
    effort: &Effort,
    name: impl Fn(u128) -> String,
) -> Result<Vec<String>, CommError> {
    let rank = comm.rank() as i64;
    let first = |id: &u128| if effort.has(*id) { rank } else { i64::MAX };
    let mut firsts: Vec<i64> = regions.iter().map(first).collect();
    comm.all_reduce(Reduction::Min, &mut firsts)?;
    let mut mine = Vec::new();
    for (at, id) in regions.iter().enumerate().filter(|(at, _)| firsts[*at] == rank) {
        let name = name(*id);
        let end = (0..=LONGEST_NAME.min(name.len())).rev().find(|end| name.is_char_boundary(*end));
        put_number(&mut mine, at as u64);
        put_block(&mut mine, &name.as_bytes()[..end.unwrap_or(0)]);
    }
    let all = up(comm, mine, |held, theirs| Some([&held, theirs].concat()))?;
    let mut names = vec![String::new(); regions.len()];
    let mut taker = Taker::new(&all);
    while !taker.is_done() {
        let at = taker.index().ok_or_else(out_of_step)?;
        *names.get_mut(at).ok_or_else(out_of_step)? = taker.text().ok_or_else(out_of_step)?.to_owned();
    }
    Ok(names)
}

/// On rank 0, the strata of all ranks: so many ranks in a row, from rank 0 on.
pub(crate) fn runs<C: Communicator + ?Sized>(comm: &C, stratum: u32) -> Result<Vec<(u32, u64)>, CommError> {
    let mut mine = Vec::new();
    put_numbers(&mut mine, [u64::from(stratum), 1]);
    let all = up(comm, mine, |mut held, mut theirs| {
        let last = *held.last_chunk::<16>()?;
        let (stratum, n) = last.split_at(8);
        if theirs.starts_with(stratum) {
            let number = |n: &[u8]| Some(u64::from_le_bytes(*n.first_chunk()?));
            let n = number(n)? + number(theirs.get(8..)?)?;
            theirs = theirs.get(16..)?;
            let at = held.len() - 8;
            held[at..].copy_from_slice(&n.to_le_bytes());
        }
        held.extend_from_slice(theirs);
        Some(held)
    })?;
    let numbers: Vec<u64> = wire::numbers(&all).ok_or_else(out_of_step)?.collect();
    let (runs, _) = numbers.as_chunks();
    Ok(runs.iter().map(|&[stratum, n]| (stratum as u32, n)).collect())
}
