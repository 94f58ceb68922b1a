//! Clustering samples, each on one rank.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::cluster::medoids::{Dissimilarities, MedoidsError, Start, fasterpam, subset};
use crate::comm::{Communicator, Parcel};

use super::portable::{Portable, Sent};
use super::world::{Solution, World};
use super::{CapekError, CapekParams, ClusterCount};

/// For each number of clusters that samples allow, the best trial's medoids.
pub(super) fn solutions<C, T, D>(
    world: &World<'_, C, T, D>,
    params: &CapekParams<T>,
) -> Result<Vec<Solution<T>>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let samples = draw(world, params);
    let mut found = Vec::new();
    for (trial, sample) in collect(world, &samples)? {
        pack_trial(world, params, trial, &sample, &mut found);
    }
    let trials = share(world, &found)?;
    // A medoid of several trials is measured once.
    let mut pool: BTreeMap<u64, T> = BTreeMap::new();
    let mut sets: BTreeMap<(usize, u64), Vec<u64>> = BTreeMap::new();
    for trial in trials {
        let Trial { number, k, medoids } = trial;
        sets.insert((k, number), medoids.iter().map(|medoid| medoid.index).collect());
        pool.extend(medoids.into_iter().map(|medoid| (medoid.index, medoid.object)));
    }
    let pool: Vec<Sent<T>> = pool.into_iter().map(|(index, object)| Sent { index, object }).collect();
    let place = |index: &u64| pool.binary_search_by_key(index, |sent| sent.index).expect("of the pool");
    let places: Vec<Vec<usize>> = sets.values().map(|set| set.iter().map(place).collect()).collect();
    let measured = world.solutions(&pool, &places)?;
    let mut best: BTreeMap<usize, Solution<T>> = BTreeMap::new();
    for solution in measured {
        let k = solution.medoids.len();
        if best.get(&k).is_none_or(|best| solution.loss < best.loss) {
            best.insert(k, solution);
        }
    }
    let (wanted, distinct) = (params.most_clusters(), best.keys().last().copied().unwrap_or(0));
    let is_fixed = matches!(params.clusters, ClusterCount::Fixed(_));
    if distinct == 0 || (is_fixed && distinct < wanted) {
        return Err(CapekError::TooManyClusters { wanted, distinct });
    }
    Ok(best.into_iter().filter(|(k, _)| !is_fixed || *k == wanted).map(|(_, solution)| solution).collect())
}

/// The objects of every trial, by number, ascending: every rank draws the same.
pub(super) fn draw<C, T, D>(world: &World<'_, C, T, D>, params: &CapekParams<T>) -> Vec<Vec<u64>> {
    let size = params.sample_size.unwrap_or(40 + 2 * params.most_clusters());
    (0..params.n_trials.max(1) as u64).map(|trial| subset(world.n, size, params.seed, trial)).collect()
}

/// Sends the objects of each sample to the rank that is to cluster it. Returns
/// this rank's trials, and their objects by number.
fn collect<C, T, D>(
    world: &World<'_, C, T, D>,
    samples: &[Vec<u64>],
) -> Result<BTreeMap<usize, Vec<Sent<T>>>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let mut parcels: Vec<Parcel> = Vec::new();
    for (trial, sample) in samples.iter().enumerate() {
        let from = sample.partition_point(|&index| index < world.first);
        let mine = sample[from..].iter().map_while(|&index| Some((index, world.here(index)?)));
        let mut bytes = Vec::new();
        mine.for_each(|(index, object)| Sent::pack(index, object, &mut bytes));
        if !bytes.is_empty() {
            // Workers are spread over the ranks.
            let worker = trial * world.comm.size() / samples.len();
            bytes.extend((trial as u64).to_le_bytes());
            parcels.push((worker, bytes));
        }
    }
    let mut trials: BTreeMap<usize, Vec<Sent<T>>> = BTreeMap::new();
    for (_, bytes) in world.comm.route(parcels)? {
        let (objects, trial) = bytes.split_last_chunk().ok_or(CapekError::NotPortable)?;
        let objects = Sent::unpack_all(objects).ok_or(CapekError::NotPortable)?;
        trials.entry(u64::from_le_bytes(*trial) as usize).or_default().extend(objects);
    }
    trials.values_mut().for_each(|objects| objects.sort_by_key(|sent| sent.index));
    Ok(trials)
}

/// The medoids of a sample for each number of clusters, as ascending places;
/// as many as there are different objects, where that is fewer.
pub(super) fn cluster<C, T, D>(
    world: &World<'_, C, T, D>,
    sample: &[Sent<T>],
    counts: RangeInclusive<usize>,
) -> Vec<(usize, Vec<usize>)>
where
    T: Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let between = |a: &Sent<T>, b: &Sent<T>| (world.dissimilarity)(&a.object, &b.object);
    let Ok(table) = Dissimilarities::new(sample, between) else { return Vec::new() };
    let solve = |k| match fasterpam(&table, k, Start::Build) {
        Ok(found) => Some((k, found.medoids)),
        // So many at least: whoever asked for more is told.
        Err(MedoidsError::TooFewDistinct { distinct, .. }) => {
            Some((distinct, fasterpam(&table, distinct, Start::Build).ok()?.medoids))
        }
        Err(_) => None,
    };
    counts.filter_map(solve).collect()
}

/// The medoids that one trial found for one number of clusters.
struct Trial<T> {
    number: u64,
    k: usize,
    /// By index.
    medoids: Vec<Sent<T>>,
}

/// Clusters a sample for every number of clusters, and appends what it finds:
/// trial, k, bytes of the medoids, medoids. A dissimilarity that is no number
/// leaves the trial out; all ranks find it when they measure.
fn pack_trial<C, T, D>(
    world: &World<'_, C, T, D>,
    params: &CapekParams<T>,
    trial: usize,
    sample: &[Sent<T>],
    bytes: &mut Vec<u8>,
) where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    for (k, places) in cluster(world, sample, params.counts()) {
        let mut medoids = Vec::new();
        places.into_iter().for_each(|at| Sent::pack(sample[at].index, &sample[at].object, &mut medoids));
        for number in [trial, k, medoids.len()] {
            bytes.extend((number as u64).to_le_bytes());
        }
        bytes.extend(medoids);
    }
}

/// All trials, on all ranks.
fn share<C, T, D>(world: &World<'_, C, T, D>, found: &[u8]) -> Result<Vec<Trial<T>>, CapekError>
where
    C: Communicator,
    T: Portable,
{
    let mut all = world.comm.gather(0, found)?.concat();
    world.comm.broadcast(0, &mut all)?;
    let mut rest = all.as_slice();
    let mut trials = Vec::new();
    while !rest.is_empty() {
        let mut number = || -> Option<u64> {
            let (number, after) = rest.split_first_chunk()?;
            rest = after;
            Some(u64::from_le_bytes(*number))
        };
        let numbers = (number(), number(), number());
        let (Some(number), Some(k), Some(length)) = numbers else { return Err(CapekError::NotPortable) };
        let (medoids, after) = rest.split_at_checked(length as usize).ok_or(CapekError::NotPortable)?;
        rest = after;
        let medoids = Sent::unpack_all(medoids).ok_or(CapekError::NotPortable)?;
        trials.push(Trial { number, k: k as usize, medoids });
    }
    Ok(trials)
}
