//! The collective functions of a [`Communicator`], over `send` and `receive`.
//!
//! All work for any number of ranks, not only for powers of two.

use super::tree::Tree;
use super::wire::{self, Taker, put_block, put_number};
use super::{CommError, Communicator, Parcel, Reduction};
use std::ops::{Deref, Range};

/// A broadcast of more bytes than this is cut into parts.
const LONG: usize = 4 << 10;

/// With fewer ranks than this, a broadcast is never cut: all ranks have the
/// bytes after as many messages anyway.
const FEW: usize = 8;

/// Up a binomial tree to rank 0, and from there to all: at most 2 log P
/// messages on a rank, 2 (P − 1) in all.
pub(super) fn all_reduce<C: Communicator + ?Sized>(
    comm: &C,
    reduction: Reduction,
    values: &mut [i64],
) -> Result<(), CommError> {
    let tree = Rooted::new(comm, 0);
    for child in tree.children() {
        let theirs = comm.receive(tree.rank(child))?;
        let theirs = numbers("all_reduce", &theirs, values.len())?;
        for (value, other) in values.iter_mut().zip(theirs) {
            *value = reduction.of(*value, other);
        }
    }
    let mut bytes = Vec::with_capacity(8 * values.len());
    wire::put_numbers(&mut bytes, values.iter().map(|&value| value as u64));
    if let Some(parent) = tree.parent() {
        comm.send(tree.rank(parent), &bytes)?;
    }
    broadcast(comm, 0, &mut bytes)?;
    let reduced = numbers("all_reduce", &bytes, values.len())?;
    for (value, all) in values.iter_mut().zip(reduced) {
        *value = all;
    }
    Ok(())
}

/// As [`Communicator::broadcast`], for a message that may be long in coming: a
/// rank that waits for it leaves its core to others, where an MPI library's own
/// broadcast would spin.
///
/// Down a binomial tree, the largest subtree first, which has most steps to
/// go. Of more than 4 KiB, on 8 ranks or more, only the length goes this way.
///
/// # Errors
/// See [`CommError`].
pub fn broadcast<C: Communicator + ?Sized>(
    comm: &C,
    root: usize,
    bytes: &mut Vec<u8>,
) -> Result<(), CommError> {
    let tree = Rooted::new(comm, root);
    let is_long = |length: usize| length > LONG && tree.size() >= FEW;
    let mut head = Vec::new();
    match tree.parent() {
        Some(parent) => head = comm.receive(tree.rank(parent))?,
        None => {
            put_number(&mut head, bytes.len() as u64);
            head.extend_from_slice(if is_long(bytes.len()) { &[] } else { bytes });
        }
    }
    tree.children().rev().try_for_each(|child| comm.send(tree.rank(child), &head))?;
    let mut taker = Taker::new(&head);
    let length = taker.index().ok_or_else(|| CommError::out_of_step("broadcast"))?;
    if is_long(length) {
        return broadcast_long(comm, &tree, length, bytes);
    }
    if taker.rest().len() != length {
        return Err(CommError::out_of_step("broadcast"));
    }
    if tree.number() > 0 {
        *bytes = taker.rest().to_vec();
    }
    Ok(())
}

/// Each rank gets its own part from the root, down the tree, and then the
/// parts of the others: each step doubles how many parts a rank holds. If all
/// bytes went down the tree, the root would send them log P times.
///
/// # Reference
/// Barnett et al., Supercomputing 1994 (scatter, then collect). Differs:
/// collects as Bruck et al. do, for any number of ranks.
fn broadcast_long<C: Communicator + ?Sized>(
    comm: &C,
    tree: &Rooted,
    length: usize,
    bytes: &mut Vec<u8>,
) -> Result<(), CommError> {
    let (number, size) = (tree.number(), tree.size());
    // `edge` is where a part begins; in 128 bits, because the product may not
    // fit into 64. `width` is the size of `count` parts from `from` on, around
    // the end.
    let edge = |part: usize| (part as u128 * length as u128 / size as u128) as usize;
    let width = |from: usize, count: usize| {
        let to = from + count;
        if to <= size { edge(to) - edge(from) } else { length - edge(from) + edge(to - size) }
    };
    let mut held = match tree.parent() {
        Some(parent) => comm.receive(tree.rank(parent))?,
        None => std::mem::take(bytes),
    };
    for child in tree.children().rev() {
        let to = (2 * child - number).min(size);
        let gone = held.split_off(width(number, child - number).min(held.len()));
        if gone.len() != edge(to) - edge(child) {
            return Err(CommError::out_of_step("broadcast"));
        }
        comm.send(tree.rank(child), &gone)?;
    }
    for distance in doublings(size) {
        let count = distance.min(size - distance);
        comm.send(tree.rank((number + size - distance) % size), &held[..width(number, count)])?;
        let theirs = comm.receive(tree.rank((number + distance) % size))?;
        if theirs.len() != width((number + distance) % size, count) {
            return Err(CommError::out_of_step("broadcast"));
        }
        held.extend(theirs);
    }
    held.rotate_right(edge(number));
    *bytes = held;
    Ok(())
}

/// A prefix sum: each step doubles how many ranks before this one `window`
/// covers.
///
/// # Reference
/// Hillis and Steele, CACM 1986.
pub(super) fn sum_before<C: Communicator + ?Sized>(comm: &C, value: i64) -> Result<i64, CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let (mut before, mut window) = (0_i64, value);
    for distance in doublings(size) {
        if rank + distance < size {
            comm.send(rank + distance, &window.to_le_bytes())?;
        }
        if rank >= distance {
            let theirs = comm.receive(rank - distance)?;
            for theirs in numbers("sum_before", &theirs, 1)? {
                before = before.wrapping_add(theirs);
                window = window.wrapping_add(theirs);
            }
        }
    }
    Ok(before)
}

/// Up a binomial tree to rank 0, and from there to all. No lengths travel, so
/// a rank with nothing to send adds nothing to what the root receives.
pub(super) fn concatenate<C: Communicator + ?Sized>(comm: &C, bytes: &mut Vec<u8>) -> Result<(), CommError> {
    let tree = Rooted::new(comm, 0);
    // The ranks of a subtree follow its root, so appending keeps their order.
    for child in tree.children() {
        bytes.extend(comm.receive(tree.rank(child))?);
    }
    if let Some(parent) = tree.parent() {
        comm.send(tree.rank(parent), bytes)?;
    }
    comm.broadcast(0, bytes)
}

/// Up a binomial tree.
pub(super) fn gather<C: Communicator + ?Sized>(
    comm: &C,
    root: usize,
    bytes: &[u8],
) -> Result<Vec<Vec<u8>>, CommError> {
    let tree = Rooted::new(comm, root);
    // The blocks of this subtree, in the tree's order, each after its length.
    let mut held = Vec::new();
    put_block(&mut held, bytes);
    for child in tree.children() {
        held.extend(comm.receive(tree.rank(child))?);
    }
    if let Some(parent) = tree.parent() {
        comm.send(tree.rank(parent), &held)?;
        return Ok(Vec::new());
    }
    let mut blocks = blocks("gather", &held, comm.size())?;
    blocks.rotate_right(root);
    Ok(blocks)
}

/// Each step doubles how many blocks are held: the block of this rank and
/// those of the next ranks.
///
/// # Reference
/// Bruck et al., TPDS 1997.
pub(super) fn all_gather<C: Communicator + ?Sized>(
    comm: &C,
    bytes: &[u8],
) -> Result<Vec<Vec<u8>>, CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let mut held = Vec::new();
    put_block(&mut held, bytes);
    // Where each block ends in `held`.
    let mut ends = vec![held.len()];
    for distance in doublings(size) {
        let n_wanted = distance.min(size - distance);
        comm.send((rank + size - distance) % size, &held[..ends[n_wanted - 1]])?;
        let theirs = comm.receive((rank + distance) % size)?;
        let mut taker = Taker::new(&theirs);
        for _ in 0..n_wanted {
            taker.block().ok_or_else(|| CommError::out_of_step("all_gather"))?;
            ends.push(held.len() + theirs.len() - taker.rest().len());
        }
        held.extend_from_slice(&theirs);
    }
    let mut blocks = blocks("all_gather", &held, size)?;
    blocks.rotate_right(rank);
    Ok(blocks)
}

/// A crystal router. The ranks are halved until each is alone. At every step,
/// the parcels for the other half go to a partner there. With an odd number
/// of ranks, the last rank of the first half shares the partner of the rank
/// before it, and gets nothing back.
///
/// # Reference
/// Fox et al., Solving Problems on Concurrent Processors, 1988, §22. Differs:
/// any number of ranks.
pub(super) fn route<C: Communicator + ?Sized>(
    comm: &C,
    parcels: Vec<Parcel>,
) -> Result<Vec<Parcel>, CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let mut held = Vec::new();
    for (to, message) in parcels {
        assert!(to < size, "a parcel for rank {to} of {size}");
        put_parcel(&mut held, to, rank, &message);
    }
    let mut ranks = 0..size;
    while ranks.len() > 1 {
        let (mine, partners) = halves(ranks, rank);
        let gone = split_off(&mut held, &mine)?;
        comm.send(partners.to, &gone)?;
        for from in partners.from {
            held.extend(comm.receive(from)?);
        }
        ranks = mine;
    }
    let mut delivered = Vec::new();
    let mut taker = Taker::new(&held);
    while !taker.is_done() {
        let parcel = take_parcel(&mut taker)?;
        delivered.push((parcel.from, parcel.message.to_vec()));
    }
    // Parcels from one source to one rank travel together and stay in order,
    // so a stable sort by source is enough.
    delivered.sort_by_key(|(from, _)| *from);
    Ok(delivered)
}

/// Whom a rank sends to and receives from in one step of [`route`].
struct Partners {
    to: usize,
    from: Range<usize>,
}

/// The half of `ranks` that holds `rank`, and its partners in the other.
fn halves(ranks: Range<usize>, rank: usize) -> (Range<usize>, Partners) {
    let middle = ranks.start + ranks.len().div_ceil(2);
    let half = middle - ranks.start;
    let n_upper = ranks.end - middle;
    if rank < middle {
        let partner = rank + half;
        let from = partner.min(ranks.end)..(partner + 1).min(ranks.end);
        return (ranks.start..middle, Partners { to: partner.min(ranks.end - 1), from });
    }
    let partner = rank - half;
    let is_last = rank + 1 == ranks.end;
    let n_from = if is_last { 1 + half - n_upper } else { 1 };
    (middle..ranks.end, Partners { to: partner, from: partner..partner + n_from })
}

/// Takes from `held` the parcels that are not for `mine`.
fn split_off(held: &mut Vec<u8>, mine: &Range<usize>) -> Result<Vec<u8>, CommError> {
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    let mut taker = Taker::new(held);
    while !taker.is_done() {
        let before = taker.rest();
        let to = take_parcel(&mut taker)?.to;
        let parcel = &before[..before.len() - taker.rest().len()];
        if mine.contains(&to) { &mut kept } else { &mut gone }.extend_from_slice(parcel);
    }
    *held = kept;
    Ok(gone)
}

/// The tree over all ranks below a root.
struct Rooted {
    tree: Tree,
    root: usize,
}

impl Rooted {
    fn new<C: Communicator + ?Sized>(comm: &C, root: usize) -> Self {
        let (rank, size) = (comm.rank(), comm.size());
        assert!(root < size, "the root is rank {root} of {size}");
        Self { tree: Tree::new(size, (rank + size - root) % size), root }
    }

    fn rank(&self, number: usize) -> usize {
        (number + self.root) % self.tree.size()
    }
}

impl Deref for Rooted {
    type Target = Tree;

    fn deref(&self) -> &Tree {
        &self.tree
    }
}

/// 1, 2, 4, … below `size`.
fn doublings(size: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1_usize), |distance| distance.checked_mul(2))
        .take_while(move |distance| *distance < size)
}

fn put_parcel(bytes: &mut Vec<u8>, to: usize, from: usize, message: &[u8]) {
    put_number(bytes, to as u64);
    put_number(bytes, from as u64);
    put_block(bytes, message);
}

struct InTransit<'a> {
    to: usize,
    from: usize,
    message: &'a [u8],
}

fn take_parcel<'a>(taker: &mut Taker<'a>) -> Result<InTransit<'a>, CommError> {
    let parcel = taker.index().zip(taker.index()).zip(taker.block());
    let ((to, from), message) = parcel.ok_or_else(|| CommError::out_of_step("route"))?;
    Ok(InTransit { to, from, message })
}

/// Exactly `n_blocks` blocks; anything else is an error.
fn blocks(call: &'static str, bytes: &[u8], n_blocks: usize) -> Result<Vec<Vec<u8>>, CommError> {
    let mut taker = Taker::new(bytes);
    let blocks: Option<_> = (0..n_blocks).map(|_| taker.block().map(<[u8]>::to_vec)).collect();
    blocks.filter(|_| taker.is_done()).ok_or_else(|| CommError::out_of_step(call))
}

fn numbers(
    call: &'static str,
    bytes: &[u8],
    n_numbers: usize,
) -> Result<impl Iterator<Item = i64>, CommError> {
    let numbers = wire::numbers(bytes).filter(|numbers| numbers.len() == n_numbers);
    Ok(numbers.ok_or_else(|| CommError::out_of_step(call))?.map(|number| number as i64))
}
