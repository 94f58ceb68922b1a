//! The objects of all ranks, and what is measured on them together.

use crate::comm::{Communicator, Reduction, from_order, order, wire};

use super::fixed::Fixed;
use super::params::{Capek, CapekError, Medoid};
use super::portable::{Portable, Sent};

/// This rank's objects, and where they stand among all.
pub(super) struct World<'a, C, T, D> {
    pub(super) comm: &'a C,
    pub(super) objects: &'a [T],
    pub(super) dissimilarity: &'a D,
    /// How many objects are on the ranks before this one.
    pub(super) first: u64,
    /// How many there are on all.
    pub(super) n: u64,
}

/// Of each of this rank's objects its nearest medoid, and how near.
#[derive(Clone, Debug)]
pub(super) struct Nearest {
    pub(super) label: Vec<u32>,
    pub(super) distance: Vec<f64>,
}

impl Nearest {
    fn of(n: usize) -> Self {
        Self { label: Vec::with_capacity(n), distance: Vec::with_capacity(n) }
    }
}

/// Medoids, and what they are to all objects.
#[derive(Clone, Debug)]
pub(super) struct Solution<T> {
    /// By index.
    pub(super) medoids: Vec<Sent<T>>,
    pub(super) nearest: Nearest,
    pub(super) loss: f64,
}

impl<'a, C, T, D> World<'a, C, T, D>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    pub(super) fn new(comm: &'a C, objects: &'a [T], dissimilarity: &'a D) -> Result<Self, CapekError> {
        let here = objects.len() as i64;
        let first = comm.sum_before(here)? as u64;
        let mut n = [here];
        comm.all_reduce(Reduction::Sum, &mut n)?;
        Ok(Self { comm, objects, dissimilarity, first, n: n[0] as u64 })
    }

    pub(super) fn index(&self, at: usize) -> u64 {
        self.first + at as u64
    }

    /// This rank's object of that number, if it has it.
    pub(super) fn here(&self, index: u64) -> Option<&'a T> {
        let at = index.checked_sub(self.first)?;
        self.objects.get(usize::try_from(at).ok()?)
    }

    /// Whether a task is this rank's: tasks are spread evenly over the ranks.
    pub(super) fn works(&self, task: usize, n_tasks: usize) -> bool {
        task * self.comm.size() / n_tasks == self.comm.rank()
    }

    /// Gives all ranks the objects that each of them gives, in the order of their
    /// numbers.
    pub(super) fn share<'o>(
        &self,
        objects: impl Iterator<Item = (u64, &'o T)>,
    ) -> Result<Vec<Sent<T>>, CapekError>
    where
        T: 'o,
    {
        let mut bytes = Vec::new();
        objects.for_each(|(index, object)| Sent::pack(index, object, &mut bytes));
        // Ranks hold objects in the order of their numbers.
        self.comm.concatenate(&mut bytes)?;
        Sent::unpack_all(&bytes).ok_or(CapekError::NotPortable)
    }

    /// Gives all ranks the numbers of all, in the order of the ranks.
    pub(super) fn share_numbers(&self, numbers: &[i64]) -> Result<Vec<i64>, CapekError> {
        let mut bytes = Vec::with_capacity(8 * numbers.len());
        wire::put_numbers(&mut bytes, numbers.iter().map(|&number| number as u64));
        self.comm.concatenate(&mut bytes)?;
        let numbers = wire::numbers(&bytes).ok_or(CapekError::NotPortable)?;
        Ok(numbers.map(|number| number as i64).collect())
    }

    /// The fixed point in which values of all ranks, one per object, can be summed
    /// without overflow. `values` are this rank's, each with the place of its
    /// object, for the error.
    ///
    /// # Errors
    /// A value on any rank is no finite number of at least 0.
    pub(super) fn fixed(&self, values: impl Iterator<Item = (usize, f64)>) -> Result<Fixed, CapekError> {
        let (mut largest, mut bad) = (0f64, None);
        for (at, value) in values {
            if !(value >= 0.0 && value.is_finite()) {
                bad = bad.or(Some(self.index(at)));
            }
            largest = largest.max(value);
        }
        // The first bad one has the greatest number.
        let mut most = [order(largest), bad.map_or(-1, |index| i64::MAX - index as i64)];
        self.comm.all_reduce(Reduction::Max, &mut most)?;
        if most[1] >= 0 {
            return Err(CapekError::NotFinite { index: (i64::MAX - most[1]) as u64 });
        }
        Ok(Fixed::new(self.n, from_order(most[0])))
    }

    /// The sum over all ranks of each list of values of at least 0; `place`
    /// tells whose a value is.
    ///
    /// # Errors
    /// That of [`World::fixed`].
    pub(super) fn sums(
        &self,
        lists: &[Vec<f64>],
        place: impl Fn(usize) -> usize,
    ) -> Result<Vec<f64>, CapekError> {
        let values = lists.iter().flat_map(|list| list.iter().copied().enumerate());
        let fixed = self.fixed(values.map(|(at, value)| (place(at), value)))?;
        let mut sums: Vec<i64> = lists.iter().map(|list| list.iter().map(|&x| fixed.of(x)).sum()).collect();
        self.comm.all_reduce(Reduction::Sum, &mut sums)?;
        Ok(sums.into_iter().map(|sum| fixed.value(sum)).collect())
    }

    /// Measures sets of medoids on all objects. `sets` name places in `pool`,
    /// each by ascending index.
    pub(super) fn solutions(
        &self,
        pool: &[Sent<T>],
        sets: &[Vec<usize>],
    ) -> Result<Vec<Solution<T>>, CapekError> {
        let used = {
            let mut used: Vec<usize> = sets.concat();
            used.sort_unstable();
            used.dedup();
            used
        };
        let mut nearest: Vec<Nearest> = sets.iter().map(|_| Nearest::of(self.objects.len())).collect();
        let mut to_pool = vec![0.0; pool.len()];
        for object in self.objects {
            for &place in &used {
                to_pool[place] = (self.dissimilarity)(object, &pool[place].object);
            }
            for (set, nearest) in sets.iter().zip(&mut nearest) {
                let label = first_least(set.iter().map(|&place| to_pool[place]));
                nearest.label.push(label as u32);
                nearest.distance.push(to_pool[set[label]]);
            }
        }
        // A medoid is its own, whichever others equal it.
        for (set, nearest) in sets.iter().zip(&mut nearest) {
            for (label, sent) in set.iter().map(|&place| &pool[place]).enumerate() {
                if let Some(object) = self.here(sent.index) {
                    let at = (sent.index - self.first) as usize;
                    nearest.label[at] = label as u32;
                    nearest.distance[at] = (self.dissimilarity)(object, &sent.object);
                }
            }
        }
        let fixed = self.fixed(nearest.iter().flat_map(|n| n.distance.iter().copied().enumerate()))?;
        let sum = |n: &Nearest| n.distance.iter().map(|&d| fixed.of(d)).sum();
        let mut losses: Vec<i64> = nearest.iter().map(sum).collect();
        self.comm.all_reduce(Reduction::Sum, &mut losses)?;
        let medoids = |set: &Vec<usize>| set.iter().map(|&place| pool[place].clone()).collect();
        let all = sets.iter().zip(nearest).zip(losses);
        Ok(all
            .map(|((set, nearest), loss)| Solution {
                medoids: medoids(set),
                nearest,
                loss: fixed.value(loss),
            })
            .collect())
    }

    /// Measures one set of medoids.
    pub(super) fn solution(&self, mut medoids: Vec<Sent<T>>) -> Result<Solution<T>, CapekError> {
        medoids.sort_by_key(|medoid| medoid.index);
        let all = vec![(0..medoids.len()).collect()];
        Ok(self.solutions(&medoids, &all)?.remove(0))
    }

    /// What is told of a solution.
    pub(super) fn describe(
        &self,
        solution: Solution<T>,
        criterion: Vec<(usize, f64)>,
        is_exact: bool,
    ) -> Result<Capek<T>, CapekError> {
        let mut sizes = vec![0i64; solution.medoids.len()];
        solution.nearest.label.iter().for_each(|&label| sizes[label as usize] += 1);
        self.comm.all_reduce(Reduction::Sum, &mut sizes)?;
        let medoids = solution.medoids.into_iter().zip(sizes);
        Ok(Capek {
            medoids: medoids
                .map(|(sent, size)| Medoid { index: sent.index, object: sent.object, size: size as u64 })
                .collect(),
            labels: solution.nearest.label,
            dissimilarities: solution.nearest.distance,
            loss: solution.loss,
            criterion,
            squared_errors: Vec::new(),
            n_objects: self.n,
            first_object: self.first,
            is_exact,
        })
    }
}

/// The place of the first of the least; NaN is greater than all.
pub(super) fn first_least(values: impl Iterator<Item = f64>) -> usize {
    let mut least = (f64::INFINITY, 0);
    for (at, value) in values.enumerate() {
        if value < least.0 {
            least = (value, at);
        }
    }
    least.1
}
