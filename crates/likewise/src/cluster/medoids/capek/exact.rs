//! PAM over the objects of all ranks.

use crate::comm::{Communicator, Reduction};

use super::params::{CapekError, CapekParams, ClusterCount};
use super::portable::{Portable, Sent};
use super::world::{Solution, World};
use crate::comm::{from_order, order};

/// A change counts if it lowers the loss by more than this share: less is
/// rounding.
const LEAST_GAIN: f64 = 1e-12;

/// All objects, everywhere; of this rank's, the dissimilarities to all.
struct Table<'w, 'a, C, T, D> {
    world: &'w World<'a, C, T, D>,
    all: Vec<Sent<T>>,
    rows: Vec<f64>,
}

/// Of each object, of all ranks, the dissimilarities to its nearest and second
/// nearest medoid, and the slot of the nearest.
struct Cover {
    slot: Vec<usize>,
    nearest: Vec<f64>,
    second: Vec<f64>,
}

/// A solution for every number of clusters that is wanted and possible.
pub(super) fn solutions<C, T, D>(
    world: &World<'_, C, T, D>,
    params: &CapekParams<T>,
) -> Result<Vec<Solution<T>>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let table = Table::new(world)?;
    let built = table.build(params.most_clusters())?;
    let (wanted, distinct) = (params.most_clusters(), built.len());
    let is_fixed = matches!(params.clusters, ClusterCount::Fixed(_));
    if distinct < *params.counts().start() || (is_fixed && distinct < wanted) {
        return Err(CapekError::TooManyClusters { wanted, distinct });
    }
    let counts = params.counts().take_while(|&k| k <= distinct);
    counts
        .map(|k| {
            let medoids = table.swap(built[..k].to_vec())?;
            world.solution(medoids.into_iter().map(|at| table.all[at].clone()).collect())
        })
        .collect()
}

impl<'w, 'a, C, T, D> Table<'w, 'a, C, T, D>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    fn new(world: &'w World<'a, C, T, D>) -> Result<Self, CapekError> {
        let mut bytes = Vec::new();
        for (at, object) in world.objects.iter().enumerate() {
            Sent::pack(world.index(at), object, &mut bytes);
        }
        let parts = world.comm.all_gather(&bytes)?;
        let mut all = Vec::new();
        for part in parts {
            all.extend(Sent::<T>::unpack_all(&part).ok_or(CapekError::NotPortable)?);
        }
        let mut rows = Vec::with_capacity(world.objects.len() * all.len());
        for object in world.objects {
            rows.extend(all.iter().map(|other: &Sent<T>| (world.dissimilarity)(object, &other.object)));
        }
        let n = all.len();
        world.fixed(rows.iter().enumerate().map(|(at, &value)| (at / n, value)))?;
        Ok(Self { world, all, rows })
    }

    fn n(&self) -> usize {
        self.all.len()
    }

    /// This rank's objects: place among all, and dissimilarities to all.
    fn mine(&self) -> impl Iterator<Item = (usize, &[f64])> {
        let first = self.world.first as usize;
        self.rows.chunks_exact(self.n()).enumerate().map(move |(at, row)| (first + at, row))
    }

    /// The least of all ranks' `found`: value, then code.
    fn least(&self, found: Option<(f64, u64)>) -> Result<Option<(f64, u64)>, CapekError> {
        let comm = self.world.comm;
        let mut value = [found.map_or(i64::MAX, |(value, _)| order(value))];
        let own = value[0];
        comm.all_reduce(Reduction::Min, &mut value)?;
        let mut code = [found.filter(|_| own == value[0]).map_or(i64::MAX, |(_, code)| code as i64)];
        comm.all_reduce(Reduction::Min, &mut code)?;
        Ok((code[0] < i64::MAX).then(|| (from_order(value[0]), code[0] as u64)))
    }

    /// The medoids that lower the loss most, one after the other; fewer than
    /// `k` where every object equals one of them.
    fn build(&self, k: usize) -> Result<Vec<usize>, CapekError> {
        let mut medoids = Vec::new();
        let mut nearest = vec![f64::INFINITY; self.n()];
        while medoids.len() < k && nearest.iter().any(|&d| d > 0.0) {
            let loss = |row: &[f64]| row.iter().zip(&nearest).map(|(d, near)| d.min(*near)).sum::<f64>();
            let mut best: Option<(f64, u64)> = None;
            for (at, row) in self.mine().filter(|(at, _)| nearest[*at] > 0.0) {
                let loss = loss(row);
                if best.is_none_or(|(least, _)| loss < least) {
                    best = Some((loss, at as u64));
                }
            }
            let Some((_, medoid)) = self.least(best)? else { break };
            medoids.push(medoid as usize);
            nearest.iter_mut().zip(self.row(medoid as usize)).for_each(|(near, d)| *near = near.min(d));
        }
        Ok(medoids)
    }

    /// The dissimilarities of all objects to one of them.
    fn row(&self, medoid: usize) -> impl Iterator<Item = f64> {
        let to = &self.all[medoid].object;
        self.all.iter().map(move |sent| (self.world.dissimilarity)(&sent.object, to))
    }

    /// Swaps a medoid for another object, the best swap each time, until none
    /// lowers the loss. A swap is made only if the loss, summed anew, is lower:
    /// what it is computed from may be so much larger that rounding alone seems
    /// a gain, and that could go on for ever.
    fn swap(&self, mut medoids: Vec<usize>) -> Result<Vec<usize>, CapekError> {
        let k = medoids.len();
        let mut columns: Vec<Vec<f64>> = medoids.iter().map(|&medoid| self.row(medoid).collect()).collect();
        let mut cover = Cover::of(&columns);
        loop {
            let loss = cover.loss();
            let best = self.least(self.best_swap(&medoids, &cover))?;
            let Some((_, code)) = best.filter(|(change, _)| *change < -LEAST_GAIN * loss) else {
                return Ok(medoids);
            };
            let (candidate, slot) = ((code / k as u64) as usize, (code % k as u64) as usize);
            columns[slot] = self.row(candidate).collect();
            cover = Cover::of(&columns);
            if cover.loss() >= loss {
                return Ok(medoids);
            }
            medoids[slot] = candidate;
        }
    }

    /// Of this rank's objects, the one that lowers the loss most, and the slot
    /// that it would take: the change, and `object · k + slot`.
    fn best_swap(&self, medoids: &[usize], cover: &Cover) -> Option<(f64, u64)> {
        let k = medoids.len();
        let mut removal = vec![0.0; k];
        for ((&slot, nearest), second) in cover.slot.iter().zip(&cover.nearest).zip(&cover.second) {
            removal[slot] += second - nearest;
        }
        let mut best: Option<(f64, u64)> = None;
        let mut change = vec![0.0; k];
        for (at, row) in self.mine().filter(|(at, _)| !medoids.contains(at)) {
            change.copy_from_slice(&removal);
            let mut shared = 0.0;
            if k == 1 {
                // There is no second: the candidate takes all.
                change[0] = row.iter().zip(&cover.nearest).map(|(d, nearest)| d - nearest).sum();
            } else {
                shared = cover.exchange(row, &mut change);
            }
            let slot = super::world::first_least(change.iter().copied());
            let total = shared + change[slot];
            if best.is_none_or(|(least, _)| total < least) {
                best = Some((total, (at * k + slot) as u64));
            }
        }
        best
    }
}

impl Cover {
    fn of(columns: &[Vec<f64>]) -> Self {
        let n = columns.first().map_or(0, Vec::len);
        let mut cover =
            Self { slot: vec![0; n], nearest: vec![f64::INFINITY; n], second: vec![f64::INFINITY; n] };
        for (slot, column) in columns.iter().enumerate() {
            for (j, &d) in column.iter().enumerate() {
                if d < cover.nearest[j] {
                    cover.second[j] = cover.nearest[j];
                    (cover.slot[j], cover.nearest[j]) = (slot, d);
                } else if d < cover.second[j] {
                    cover.second[j] = d;
                }
            }
        }
        if columns.len() == 1 {
            cover.second.copy_from_slice(&cover.nearest);
        }
        cover
    }

    fn loss(&self) -> f64 {
        self.nearest.iter().sum()
    }

    /// What a candidate, `row` away from all objects, changes: whichever
    /// medoid goes (returned), and if it is the one of a slot (added there).
    fn exchange(&self, row: &[f64], change: &mut [f64]) -> f64 {
        let mut shared = 0.0;
        for (j, &d) in row.iter().enumerate() {
            let (nearest, second) = (self.nearest[j], self.second[j]);
            if d < nearest {
                shared += d - nearest;
                change[self.slot[j]] += nearest - second;
            } else if d < second {
                change[self.slot[j]] += d - second;
            }
        }
        shared
    }
}
