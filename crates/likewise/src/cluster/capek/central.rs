//! Medoids of samples made central.
//!
//! The best object of a sample is seldom the best of all: in high dimension
//! the loss about it is some per cent more. Two things mend it. First, a
//! clustering of all samples together. Then, per cluster, the objects that are
//! nearest to its sampled members (few dissimilarities each) are candidates,
//! whose sums over the whole cluster are exact.

use crate::comm::{Communicator, Reduction};

use super::fixed::order;
use super::portable::{Portable, Sent};
use super::sampled::{cluster, draw};
use super::world::{Solution, World};
use super::{CapekError, CapekParams};

/// Sampled members of a cluster that its objects are compared with.
const GUIDES: usize = 24;

/// Objects that may take over a cluster.
const CANDIDATES: usize = 8;

/// Rounds, at most. Each costs one dissimilarity per object and guide, and per
/// object and candidate.
const ROUNDS: usize = 4;

/// Makes the medoids of the best trial central.
pub(super) fn central<C, T, D>(
    world: &World<'_, C, T, D>,
    best: Solution<T>,
    params: &CapekParams<T>,
) -> Result<Solution<T>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let pool = pool(world, params)?;
    let k = best.medoids.len();
    let together = match cluster(world, &pool, k..=k).pop() {
        Some((_, places)) => Some(world.solution(places.iter().map(|&at| pool[at].clone()).collect())?),
        None => None,
    };
    let mut best = together.filter(|other| other.loss < best.loss).unwrap_or(best);
    for _ in 0..ROUNDS {
        let medoids = take_over(world, &best, &pool)?;
        let same = medoids.iter().zip(&best.medoids).all(|(new, old)| new.index == old.index);
        if same {
            break;
        }
        let next = world.solution(medoids)?;
        if next.loss >= best.loss {
            break;
        }
        best = next;
    }
    Ok(best)
}

/// The objects of all samples, by number, everywhere.
fn pool<C, T, D>(world: &World<'_, C, T, D>, params: &CapekParams<T>) -> Result<Vec<Sent<T>>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let mut indices = draw(world, params).concat();
    indices.sort_unstable();
    indices.dedup();
    let mut bytes = Vec::new();
    for (index, object) in indices.iter().filter_map(|&index| Some((index, world.here(index)?))) {
        Sent::pack(index, object, &mut bytes);
    }
    // Ranks hold objects in the order of their numbers.
    let mut all = world.comm.gather(0, &bytes)?.concat();
    world.comm.broadcast(0, &mut all)?;
    Sent::unpack_all(&all).ok_or(CapekError::NotPortable)
}

/// Of each cluster, the object that its members are nearest to, of the medoid
/// and the candidates of all ranks.
fn take_over<C, T, D>(
    world: &World<'_, C, T, D>,
    solution: &Solution<T>,
    pool: &[Sent<T>],
) -> Result<Vec<Sent<T>>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let near = solution.medoids.len();
    let guides = guides(world, solution, pool);
    let mut candidates: Vec<Vec<Candidate<T>>> = (0..near).map(|_| Vec::new()).collect();
    for (at, (object, &label)) in world.objects.iter().zip(&solution.nearest.label).enumerate() {
        let guides = &guides[label as usize];
        let score: f64 = guides.iter().map(|guide| (world.dissimilarity)(object, guide)).sum();
        keep(&mut candidates[label as usize], (order(score), world.index(at)), || object.clone());
    }
    let candidates = best_of_all(world, candidates)?;
    let of_cluster = |(medoid, found): (&Sent<T>, Vec<Candidate<T>>)| {
        let mut all: Vec<Sent<T>> =
            found.into_iter().map(|c| Sent { index: c.key.1, object: c.object }).collect();
        if all.iter().all(|sent| sent.index != medoid.index) {
            all.push(medoid.clone());
        }
        all.sort_by_key(|sent| sent.index);
        all
    };
    let candidates: Vec<Vec<Sent<T>>> = solution.medoids.iter().zip(candidates).map(of_cluster).collect();
    let sums = sums(world, solution, &candidates)?;
    let width = CANDIDATES + 1;
    let choose = |(cluster, mut all): (usize, Vec<Sent<T>>)| {
        let sums = &sums[cluster * width..cluster * width + all.len()];
        let least = (0..all.len()).min_by_key(|&at| (sums[at], at)).expect("the medoid at least");
        all.swap_remove(least)
    };
    Ok(candidates.into_iter().enumerate().map(choose).collect())
}

/// Of each cluster, objects of the pool that belong to it; the medoid, where
/// there is none. The same on all ranks.
fn guides<'p, C, T, D>(
    world: &World<'_, C, T, D>,
    solution: &'p Solution<T>,
    pool: &'p [Sent<T>],
) -> Vec<Vec<&'p T>>
where
    D: Fn(&T, &T) -> f64 + Sync,
{
    let mut guides: Vec<Vec<&T>> = vec![Vec::new(); solution.medoids.len()];
    for sent in pool {
        let to = solution.medoids.iter().map(|medoid| (world.dissimilarity)(&sent.object, &medoid.object));
        let guides = &mut guides[super::world::first_least(to)];
        if guides.len() < GUIDES {
            guides.push(&sent.object);
        }
    }
    for (guides, medoid) in guides.iter_mut().zip(&solution.medoids) {
        if guides.is_empty() {
            guides.push(&medoid.object);
        }
    }
    guides
}

/// The sum of the dissimilarities of a cluster's objects to each of its
/// candidates; [`CANDIDATES`] + 1 places per cluster.
fn sums<C, T, D>(
    world: &World<'_, C, T, D>,
    solution: &Solution<T>,
    candidates: &[Vec<Sent<T>>],
) -> Result<Vec<i64>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let to_all = |(object, &label): (&T, &u32)| {
        let row = candidates[label as usize].iter().map(|sent| (world.dissimilarity)(object, &sent.object));
        row.collect::<Vec<f64>>()
    };
    let rows: Vec<Vec<f64>> = world.objects.iter().zip(&solution.nearest.label).map(to_all).collect();
    let values = rows.iter().enumerate().flat_map(|(at, row)| row.iter().map(move |&d| (at, d)));
    let fixed = world.fixed(values)?;
    let width = CANDIDATES + 1;
    let mut sums = vec![0i64; candidates.len() * width];
    for (row, &label) in rows.iter().zip(&solution.nearest.label) {
        let sums = &mut sums[label as usize * width..];
        sums.iter_mut().zip(row).for_each(|(sum, &d)| *sum += fixed.of(d));
    }
    world.comm.all_reduce(Reduction::Sum, &mut sums)?;
    Ok(sums)
}

/// An object that may become a medoid: its score and number, the less the
/// better.
struct Candidate<T> {
    key: (i64, u64),
    object: T,
}

/// Keeps the [`CANDIDATES`] of least key, ascending.
fn keep<T>(list: &mut Vec<Candidate<T>>, key: (i64, u64), object: impl FnOnce() -> T) {
    let at = list.partition_point(|other| other.key < key);
    if at < CANDIDATES {
        list.insert(at, Candidate { key, object: object() });
        list.truncate(CANDIDATES);
    }
}

/// The best candidates of all ranks, on all: merged on the way up a binomial
/// tree, so that no rank gets more than one list from each of log P others.
fn best_of_all<C, T, D>(
    world: &World<'_, C, T, D>,
    mut lists: Vec<Vec<Candidate<T>>>,
) -> Result<Vec<Vec<Candidate<T>>>, CapekError>
where
    C: Communicator,
    T: Portable,
{
    let (comm, rank) = (world.comm, world.comm.rank());
    let mut step = 1;
    while step < comm.size() {
        if rank & step != 0 {
            comm.send(rank - step, &pack(&lists))?;
            break;
        }
        if rank + step < comm.size() {
            for (list, other) in lists.iter_mut().zip(unpack::<T>(&comm.receive(rank + step)?)?) {
                other.into_iter().for_each(|c| keep(list, c.key, || c.object));
            }
        }
        step *= 2;
    }
    let mut bytes = if rank == 0 { pack(&lists) } else { Vec::new() };
    comm.broadcast(0, &mut bytes)?;
    unpack(&bytes)
}

/// Per list its length in bytes, then per candidate its score and the object.
fn pack<T: Portable>(lists: &[Vec<Candidate<T>>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for list in lists {
        let mut objects = Vec::new();
        for candidate in list {
            Sent::pack(candidate.key.1, &candidate.object, &mut objects);
        }
        bytes.extend((list.len() as u64).to_le_bytes());
        bytes.extend((objects.len() as u64).to_le_bytes());
        list.iter().for_each(|candidate| bytes.extend(candidate.key.0.to_le_bytes()));
        bytes.extend(objects);
    }
    bytes
}

fn unpack<T: Portable>(mut bytes: &[u8]) -> Result<Vec<Vec<Candidate<T>>>, CapekError> {
    let mut lists = Vec::new();
    while !bytes.is_empty() {
        let mut read = || -> Option<Vec<Candidate<T>>> {
            let (n, rest) = bytes.split_first_chunk()?;
            let (length, rest) = rest.split_first_chunk()?;
            let n = usize::try_from(u64::from_le_bytes(*n)).ok()?;
            let (scores, rest) = rest.split_at_checked(n.checked_mul(8)?)?;
            let (objects, rest) =
                rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
            bytes = rest;
            let scores = scores.as_chunks::<8>().0.iter().map(|&score| i64::from_le_bytes(score));
            let sent = Sent::unpack_all(objects)?;
            Some(scores.zip(sent).map(|(s, o)| Candidate { key: (s, o.index), object: o.object }).collect())
        };
        lists.push(read().ok_or(CapekError::NotPortable)?);
    }
    Ok(lists)
}
