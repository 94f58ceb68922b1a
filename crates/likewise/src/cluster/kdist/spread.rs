//! k-distances of points that are spread over ranks.

use super::nearest::Closest;
use super::tree::Tree;
use super::{KDistError, k_distances_of, nearest_in};
use crate::cluster::Points;
use crate::cluster::spread::halves::{Halves, Hulls};
use crate::cluster::spread::held::{Held, Rows, put_coordinates, take_coordinates};
use crate::comm::wire::Taker;
use crate::comm::{CommError, Communicator};
use crate::simd::{Width, widest};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Why there are no k-th neighbours on ranks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KDistSpreadError {
    /// There are none on one rank either.
    #[error(transparent)]
    KDist(#[from] KDistError),
    /// The ranks could not work together.
    #[error(transparent)]
    Comm(#[from] CommError),
}

/// As [`k_distances`](super::k_distances), of points that are spread over ranks: the distance of each of
/// this rank's own points to its `k`-th nearest among those of all ranks, bit for bit.
/// Collective; all points have as many dimensions, and a rank may have none.
///
/// Every point travels to the owner of its part of space, as in
/// [`dbscan_spread`](crate::cluster::dbscan_spread). An owner finds the k nearest of its
/// own, and asks those owners whose boxes are nearer than the k-th of these.
///
/// # Errors
/// [`KDistSpreadError`] if `k` is 0, there are fewer than `k` points on all ranks, or
/// the ranks could not work together.
///
/// # Complexity
/// As [`k_distances`](super::k_distances) of the points of an owner, and for those near its border once
/// more, here and at each owner that is asked. Every point is sent once, and once for
/// each question; up to `k` distances answer it. O(log P) messages of each of P ranks.
pub fn k_distances_spread<C: Communicator + ?Sized>(
    points: Points<'_>,
    k: usize,
    comm: &C,
) -> Result<Vec<f64>, KDistSpreadError> {
    let [found] = k_distances_spread_of(points, [k], comm)?;
    Ok(found)
}

/// As [`k_distances_spread`], for several `k` by one search.
///
/// # Errors
/// Those of [`k_distances_spread`].
pub fn k_distances_spread_of<C: Communicator + ?Sized, const N: usize>(
    points: Points<'_>,
    k: [usize; N],
    comm: &C,
) -> Result<[Vec<f64>; N], KDistSpreadError> {
    if comm.size() == 1 {
        return Ok(k_distances_of(points, k)?);
    }
    let rows = Rows::gather(comm, points.len())?;
    if k.contains(&0) {
        return Err(KDistError::Zero.into());
    }
    if let Some(&k) = k.iter().find(|&&k| rows.n() < k as u64) {
        return Err(KDistError::TooFewPoints { points: rows.n() as usize, k }.into());
    }
    let halves = Halves::of_sample(comm, points, &rows, 0.0)?;
    let owned = (0..points.len()).map(|row| (row as u32, halves.owner(points.row(row))));
    let held = Held::at_owners(comm, points, &rows, owned)?;
    let squared = match points.dims() {
        1 => at_owner::<C, 1, N>(&held, k, comm)?,
        2 => at_owner::<C, 2, N>(&held, k, comm)?,
        3 => at_owner::<C, 3, N>(&held, k, comm)?,
        4 => at_owner::<C, 4, N>(&held, k, comm)?,
        5..=8 => at_owner::<C, 8, N>(&held, k, comm)?,
        _ => at_owner::<C, 16, N>(&held, k, comm)?,
    };
    let mut found = [const { Vec::new() }; N];
    for (found, squared) in found.iter_mut().zip(squared) {
        *found = vec![0.0; points.len()];
        let of_own = |own: usize| squared[own].sqrt().to_le_bytes();
        held.send_home(comm, of_own, |row, distance| found[row] = f64::from_le_bytes(distance))?;
    }
    Ok(found)
}

/// For each k, the squared distance of each own point to its k-th nearest on all ranks.
fn at_owner<C: Communicator + ?Sized, const D: usize, const N: usize>(
    held: &Held,
    k: [usize; N],
    comm: &C,
) -> Result<[Vec<f64>; N], CommError> {
    let points = held.points();
    let hulls = Hulls::gather(comm, points)?;
    let tree = Tree::<D>::new(points.data(), points.dims());
    let mut kth = own(&tree, points.len(), k);
    // Who knows the most that are asked for knows the fewer.
    let most = (0..N).max_by_key(|&i| k[i]).unwrap_or(0);
    let farthest = kth[most].clone();
    let mut asked = vec![Vec::new(); comm.size()];
    for (point, &limit) in farthest.iter().enumerate().filter(|(_, limit)| **limit > 0.0) {
        hulls.near(points.row(point), limit, &mut |rank| {
            if rank != comm.rank() {
                asked[rank].push(point);
            }
        });
    }
    let parcel = |(to, asked): (usize, &Vec<usize>)| {
        let mut bytes = Vec::new();
        for &point in asked {
            put_coordinates(&mut bytes, points.row(point));
            put_coordinates(&mut bytes, &farthest[point..=point]);
        }
        (to, bytes)
    };
    let concerns = |(_, asked): &(usize, &Vec<usize>)| !asked.is_empty();
    let parcels = comm.route(asked.iter().enumerate().filter(concerns).map(parcel).collect())?;
    let answers = parcels.iter().map(|(from, bytes)| (*from, answers(&tree, points.dims(), k[most], bytes)));
    let mut found = vec![Vec::new(); points.len()];
    for (from, bytes) in comm.route(answers.collect())? {
        take_answers(&bytes, &asked[from], &mut found).ok_or_else(|| CommError::out_of_step("at_owner"))?;
    }
    found.par_iter_mut().enumerate().filter(|(_, found)| !found.is_empty()).for_each(|(point, all)| {
        all.extend(closest(&tree, points.row(point), farthest[point], k[most]));
        all.sort_unstable_by(f64::total_cmp);
    });
    for (kth, k) in kth.iter_mut().zip(k) {
        // Of those beyond the farthest none were asked for; there are no others nearer.
        kth.par_iter_mut().zip(&found).filter(|(_, all)| all.len() >= k).for_each(|(kth, all)| {
            *kth = kth.min(all[k - 1]);
        });
    }
    Ok(kth)
}

/// For each k, the k-th nearest of the tree itself; infinite if it has fewer.
fn own<const D: usize, const N: usize>(tree: &Tree<D>, n: usize, k: [usize; N]) -> [Vec<f64>; N] {
    let infinite = |_| (0..n).map(|_| AtomicU64::new(f64::INFINITY.to_bits())).collect::<Vec<_>>();
    let found = k.map(infinite);
    let (places, has): (Vec<usize>, Vec<usize>) = k.into_iter().enumerate().filter(|&(_, k)| k <= n).unzip();
    nearest_in(Width::Avx512, tree, has, |at, row, squared| {
        found[places[at]][row as usize].store(squared.to_bits(), Relaxed);
    });
    found.map(|all| all.into_iter().map(|x| f64::from_bits(x.into_inner())).collect())
}

/// The squared distances, below `limit`, of the up to `k` points of a tree that are
/// nearest to a point.
fn closest<const D: usize>(tree: &Tree<D>, point: &[f64], limit: f64, k: usize) -> Vec<f64> {
    let mut query = [0.0; D];
    query[..point.len()].copy_from_slice(point);
    widest(Closest { tree, query, limit, k })
}

/// Of each point that is asked about, how many distances there are, and these.
fn answers<const D: usize>(tree: &Tree<D>, dims: usize, k: usize, bytes: &[u8]) -> Vec<u8> {
    let mut numbers = Vec::new();
    take_coordinates(&mut numbers, bytes);
    let questions: Vec<&[f64]> = numbers.chunks_exact(dims + 1).collect();
    let parts: Vec<Vec<u8>> = questions
        .par_chunks(256)
        .map(|questions| {
            let mut bytes = Vec::new();
            for question in questions {
                let found = closest(tree, &question[..dims], question[dims], k);
                bytes.extend_from_slice(&(found.len() as u64).to_le_bytes());
                put_coordinates(&mut bytes, &found);
            }
            bytes
        })
        .collect();
    parts.concat()
}

fn take_answers(bytes: &[u8], asked: &[usize], found: &mut [Vec<f64>]) -> Option<()> {
    let mut taker = Taker::new(bytes);
    for &point in asked {
        let n = taker.index()?.checked_mul(8)?;
        take_coordinates(&mut found[point], taker.bytes(n)?);
    }
    taker.is_done().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::kdist::k_distances;
    use crate::comm::run_on_threads;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn distances_are_those_of_one_rank(
            dims in prop_oneof![1..=3usize, Just(5), Just(8), Just(9)],
            coordinates in prop::collection::vec(
                prop_oneof![(0..12i32).prop_map(|i| f64::from(i) * 0.1), 0.0..1.2f64, -1e200..1e200f64], 9..1800),
            k in prop_oneof![1..8usize, 1..200usize],
            cuts in prop::collection::vec(0..200usize, 16),
        ) {
            let n = coordinates.len() / dims;
            let points = Points::new(&coordinates[..n * dims], dims).expect("finite");
            for size in [1, 2, 3, 7, 16] {
                let mut cuts: Vec<usize> = cuts[1..size].iter().map(|cut| *cut.min(&n)).collect();
                cuts.extend([0, n]);
                cuts.sort_unstable();
                let found = run_on_threads(size, |comm| {
                    let own = &coordinates[cuts[comm.rank()] * dims..cuts[comm.rank() + 1] * dims];
                    let found = k_distances_spread(Points::new(own, dims).expect("finite"), k, comm);
                    Ok::<_, CommError>(found)
                });
                let three = run_on_threads(size, |comm| {
                    let own = &coordinates[cuts[comm.rank()] * dims..cuts[comm.rank() + 1] * dims];
                    let k = [k, 1, 2 * k];
                    Ok::<_, CommError>(k_distances_spread_of(Points::new(own, dims).expect("finite"), k, comm))
                });
                let three: Result<Vec<[Vec<f64>; 3]>, _> = three.expect("no rank fails").into_iter().collect();
                if let Ok(three) = three {
                    for (place, k) in [k, 1, 2 * k].into_iter().enumerate() {
                        let all: Vec<f64> = three.iter().flat_map(|of_rank| &of_rank[place]).copied().collect();
                        prop_assert_eq!(all, k_distances(points, k).expect("there are so many"));
                    }
                }
                let found: Result<Vec<Vec<f64>>, KDistSpreadError> = found.expect("no rank fails").into_iter().collect();
                let bits = |distances: Vec<f64>| distances.into_iter().map(f64::to_bits).collect::<Vec<u64>>();
                let expected = k_distances(points, k).map(bits).map_err(KDistSpreadError::from);
                // One rank says itself how many points there are.
                prop_assert_eq!(found.map(|parts| bits(parts.concat())), expected);
            }
        }
    }
}
