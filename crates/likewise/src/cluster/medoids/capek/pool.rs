//! Samples of the objects of all ranks, and medoids of them.

use std::collections::BTreeMap;

use super::super::subset::chance;
use super::super::{MedoidsError, Start, fasterpam, subset};
use crate::cluster::{Dissimilarities, DissimilaritiesError};
use crate::comm::{Communicator, Reduction};

use super::params::{CapekError, CapekParams, FAR};
use super::portable::{Portable, Sent};
use super::world::{World, first_least};

/// The objects of all samples; the same on all ranks.
pub(super) struct Pool<T> {
    /// By number; then those far from what the samples found, by number.
    pub(super) objects: Vec<Sent<T>>,
    /// How many of all objects each stands for.
    weights: Vec<f64>,
    /// Of each sample, places in `objects`, ascending.
    samples: Vec<Vec<usize>>,
}

/// Medoids by place in the pool, by number, per number of clusters.
pub(super) type Sets = BTreeMap<usize, Vec<Vec<usize>>>;

impl<T: Portable + Clone + Sync> Pool<T> {
    /// Draws the samples and gives all ranks their objects: no rank needs
    /// another to know who is in them.
    pub(super) fn draw<C, D>(world: &World<'_, C, T, D>, params: &CapekParams<T>) -> Result<Self, CapekError>
    where
        C: Communicator,
        D: Fn(&T, &T) -> f64 + Sync,
    {
        world.comm.phase("sample");
        let size = params.sample_size.unwrap_or(40 + 2 * params.most_clusters());
        let trials = 0..params.n_trials.max(1) as u64;
        let samples: Vec<Vec<u64>> = trials.map(|trial| subset(world.n, size, params.seed, trial)).collect();
        let mut indices = samples.concat();
        indices.sort_unstable();
        indices.dedup();
        world.comm.phase("gather");
        let mine = indices.iter().filter_map(|&index| Some((index, world.here(index)?)));
        let objects = world.share(mine)?;
        let place = |index: &u64| indices.binary_search(index).expect("of the pool");
        let samples = samples.iter().map(|sample| sample.iter().map(place).collect()).collect();
        let weights = vec![1.0; objects.len()];
        Ok(Self { objects, weights, samples })
    }

    /// For each number of clusters the medoids that each trial's rank finds in
    /// its sample; of a sample of fewer different objects, these.
    pub(super) fn trials<C, D>(
        &self,
        world: &World<'_, C, T, D>,
        params: &CapekParams<T>,
    ) -> Result<Sets, CapekError>
    where
        C: Communicator,
        D: Fn(&T, &T) -> f64 + Sync,
    {
        let mut found = Vec::new();
        for (trial, sample) in self.samples.iter().enumerate() {
            // A number that is none is told by who looks at all of the pool.
            let table =
                if world.works(trial, self.samples.len()) { self.table(world, sample).ok() } else { None };
            let Some(table) = table else { continue };
            for k in params.counts() {
                let (medoids, is_last) = distinct_medoids(&table, k);
                if !medoids.is_empty() {
                    found.push(medoids.len() as i64);
                    found.extend(medoids.iter().map(|&medoid| sample[medoid] as i64));
                }
                if is_last {
                    break;
                }
            }
        }
        Ok(by_length(&world.share_numbers(&found)?))
    }

    /// Adds objects that are far from the medoids of a trial: they may be of
    /// classes that no sample has a member of. The chance of each object grows
    /// with the square of its distance. Every object of the pool weighs the
    /// inverse of its chance to be there, so that the loss of the pool remains an
    /// estimate of that of all objects (Horvitz & Thompson, *JASA* 47, 1952).
    ///
    /// # Reference
    /// Bahmani et al., *PVLDB* 5(7), 2012 (k-means||), one round. Differs:
    /// added to samples, for medoids; so a chance for each object, not draws.
    pub(super) fn add_far<C, D>(
        &mut self,
        world: &World<'_, C, T, D>,
        params: &CapekParams<T>,
        trials: &Sets,
    ) -> Result<(), CapekError>
    where
        C: Communicator,
        D: Fn(&T, &T) -> f64 + Sync,
    {
        let Some((k, sets)) = trials.last_key_value() else { return Ok(()) };
        let found = world.solutions(&self.objects, &sets[..1])?.remove(0);
        let squares = || found.nearest.distance.iter().map(|d| d * d);
        let fixed = world.fixed(squares().enumerate())?;
        let mut sum = [squares().map(|square| fixed.of(square)).sum()];
        world.comm.all_reduce(Reduction::Sum, &mut sum)?;
        if sum[0] == 0 {
            // Everybody is like a medoid.
            return Ok(());
        }
        let share = (FAR + k) as f64 / fixed.value(sum[0]);
        let even = self.objects.len() as f64 / world.n as f64;
        let (mut far, mut weights) = (Vec::new(), Vec::new());
        for (at, (square, object)) in squares().zip(world.objects).enumerate() {
            let (index, likely) = (world.index(at), (share * square).min(1.0));
            let is_in = self.objects.binary_search_by_key(&index, |sent| sent.index).is_ok();
            let is_far = chance(params.seed, index) < likely;
            if is_far && !is_in {
                far.push((index, object));
            }
            if is_far || is_in {
                weights.extend([index as i64, (1.0 / (even + likely - even * likely)).to_bits() as i64]);
            }
        }
        let weights = world.share_numbers(&weights)?;
        let weights: BTreeMap<i64, f64> =
            weights.as_chunks().0.iter().map(|&[index, bits]| (index, f64::from_bits(bits as u64))).collect();
        self.objects.extend(world.share(far.into_iter())?);
        self.weights = self.objects.iter().map(|sent| weights[&(sent.index as i64)]).collect();
        Ok(())
    }

    /// For each number of clusters, several sets of medoids: those of the best
    /// trial after swaps over all of the pool; then those of every trial, if one
    /// of them groups the pool in another way. Each number is done by another
    /// rank.
    ///
    /// # Errors
    /// A dissimilarity in the pool is none.
    pub(super) fn swapped<C, D>(
        &self,
        world: &World<'_, C, T, D>,
        params: &CapekParams<T>,
        trials: &Sets,
    ) -> Result<Sets, CapekError>
    where
        C: Communicator,
        D: Fn(&T, &T) -> f64 + Sync,
    {
        let all: Vec<usize> = (0..self.objects.len()).collect();
        let mut found: Vec<i64> = Vec::new();
        let mut table = None;
        for (task, k) in params.counts().enumerate() {
            if !world.works(task, params.counts().count()) {
                continue;
            }
            let weighed = || {
                let mut table = self.table(world, &all)?;
                table.weigh(&self.weights);
                Ok(table)
            };
            let table = table.get_or_insert_with(weighed);
            match table {
                Ok(table) => {
                    let trials: &[Vec<usize>] = trials.get(&k).map_or(&[], Vec::as_slice);
                    let mut best = swap(table, k, trials);
                    best.sort_unstable_by_key(|&at| self.objects[at].index);
                    let rivals = rivals(table, &best, trials);
                    for set in [&best].into_iter().chain(rivals) {
                        found.extend([set.len()].iter().chain(set).map(|&number| number as i64));
                    }
                }
                Err(DissimilaritiesError::Invalid { a, .. }) => found.extend([-1, *a as i64]),
                Err(_) => {}
            }
        }
        let found = world.share_numbers(&found)?;
        if let [-1, place, ..] = found[..] {
            return Err(CapekError::NotFinite { index: self.objects[place as usize].index });
        }
        Ok(by_length(&found))
    }

    /// Of the objects at `places`.
    fn table<C, D>(
        &self,
        world: &World<'_, C, T, D>,
        places: &[usize],
    ) -> Result<Dissimilarities, DissimilaritiesError>
    where
        D: Fn(&T, &T) -> f64 + Sync,
    {
        let objects: Vec<&T> = places.iter().map(|&at| &self.objects[at].object).collect();
        Dissimilarities::new(&objects, |a, b| (world.dissimilarity)(a, b))
    }
}

/// The medoids that swaps lead to from the best of the sets. They are fewer where
/// there are fewer different objects.
fn swap(table: &Dissimilarities, k: usize, sets: &[Vec<usize>]) -> Vec<usize> {
    let best = sets.iter().min_by(|a, b| loss(table, a).total_cmp(&loss(table, b)));
    let Some(set) = best else { return distinct_medoids(table, k).0 };
    fasterpam(table, k, Start::Medoids(set)).map_or_else(|_| Vec::new(), |found| found.medoids)
}

/// So many medoids; as many as there are different objects, where that is
/// fewer, and whether it is.
fn distinct_medoids(table: &Dissimilarities, k: usize) -> (Vec<usize>, bool) {
    match fasterpam(table, k, Start::Build) {
        Ok(found) => (found.medoids, false),
        Err(MedoidsError::TooFewDistinct { distinct, .. }) => (
            fasterpam(table, distinct, Start::Build).map_or_else(|_| Vec::new(), |found| found.medoids),
            true,
        ),
        Err(_) => (Vec::new(), true),
    }
}

/// The sets, if one of them groups the objects in another way than `best`. Sets
/// that group them in the same way are kept too, as they may have better medoids:
/// where groups are merged, the medoid may be in any of them.
fn rivals<'s>(table: &Dissimilarities, best: &[usize], sets: &'s [Vec<usize>]) -> &'s [Vec<usize>] {
    let known = grouping(table, best);
    let is_other = |set: &Vec<usize>| set.len() == best.len() && grouping(table, set) != known;
    if sets.iter().any(is_other) { sets } else { &[] }
}

fn loss(table: &Dissimilarities, set: &[usize]) -> f64 {
    let nearest = |object| set.iter().map(|&m| table.get(m, object)).fold(f64::INFINITY, f64::min);
    (0..table.len()).map(nearest).sum()
}

/// Of each object, the first one that has the same medoid.
fn grouping(table: &Dissimilarities, set: &[usize]) -> Vec<usize> {
    let mut first = vec![usize::MAX; set.len()];
    let group = |object| {
        let place = first_least(set.iter().map(|&medoid| table.get(medoid, object)));
        first[place] = first[place].min(object);
        first[place]
    };
    (0..table.len()).map(group).collect()
}

/// Sets of places, each after its length, as they were sent.
fn by_length(mut numbers: &[i64]) -> Sets {
    let mut sets = Sets::new();
    while let Some((&length, rest)) = numbers.split_first() {
        let Some((set, rest)) = rest.split_at_checked(length as usize) else { break };
        let places = set.iter().map(|&place| place as usize).collect();
        sets.entry(length as usize).or_default().push(places);
        numbers = rest;
    }
    sets
}
