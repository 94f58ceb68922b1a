//! How many classes there are: what a criterion likes best, as far as the data
//! support it.

use super::find::{Figures, Mine};
use anyhow::{Context, Result};
use likewise::cluster::{CapekError, ClusterCount};
use likewise::comm::Communicator;
use likewise::ranks::{
    APART, MOST_OBJECTS, Moments, Support, explained_by, loudest_step, moments, separation, support,
    supported_counts,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Classes of the ranks of this process.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    pub(crate) medoids: Vec<u64>,
    pub(crate) labels: Vec<u32>,
    pub(crate) dissimilarities: Vec<f64>,
    /// Of all processes.
    pub(crate) loss: f64,
}

/// Ranks over processes.
pub(crate) struct AllRanks<'a, C> {
    pub(crate) comm: &'a C,
    pub(crate) mine: &'a Mine<'a>,
    /// What is compared of those of this process.
    pub(crate) objects: &'a [Vec<f64>],
    pub(crate) n_ranks: usize,
}

/// Numbers of classes that were tried.
pub(crate) struct Tried<'a> {
    pub(crate) clusters: ClusterCount,
    /// Squared errors about centroids.
    pub(crate) errors: &'a [(usize, f64)],
    pub(crate) seed: u64,
}

/// What speaks for classes, and against.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Evidence {
    /// Of each number of classes from two on that was looked at.
    pub(crate) support: Vec<Support>,
    /// The classes that were nearly taken, but are there in some steps only.
    pub(crate) passing: Option<Passing>,
    /// Whether the classes that were taken are supported.
    pub(crate) is_supported: bool,
}

/// Ranks that differ in few of the steps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Passing {
    pub(crate) figures: Figures,
    /// Of the smallest class, its ranks, if they are few.
    pub(crate) ranks: Vec<u64>,
}

/// Of so many steps, three can be left out and more than half are left.
pub(super) const MANY_STEPS: usize = 8;

/// The most classes that are looked for: fewer than two ranks to a class, on
/// the average, leave the spread within classes fewer degrees of freedom than
/// there are classes.
pub(crate) fn most_classes(n_ranks: usize) -> usize {
    n_ranks.div_ceil(2).max(1)
}

/// The classes that the data support, best those of `first`; one class where
/// they support none. A number that was given stays, and is judged.
pub(crate) fn settle<C: Communicator>(
    ranks: &AllRanks<'_, C>,
    tried: &Tried<'_>,
    first: Groups,
    mut fit: impl FnMut(usize) -> Result<Groups>,
) -> Result<(Groups, Figures, Evidence)> {
    let AllRanks { comm, mine, .. } = *ranks;
    let figures_of = |groups: &Groups| mine.figures(comm, &groups.labels, groups.medoids.len());
    let k = first.medoids.len();
    let figures = figures_of(&first)?;
    if k == 1 {
        return Ok((first, figures, Evidence::default()));
    }
    let explained = match tried.clusters {
        ClusterCount::Fixed(_) => vec![(k, ranks.explained(&first)?)],
        ClusterCount::UpTo(_) => shares(tried.errors),
    };
    let sample = ranks.sample(|i| ranks.objects[i].clone())?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(tried.seed);
    let mut evidence = Evidence { support: support(&sample, &explained, &mut rng), ..Evidence::default() };
    let n_steps = mine.table.n_steps();
    let is_lasting = |figures: &Figures, k: usize| {
        let by_chance = evidence.support.iter().find(|s| s.n_classes == k).map_or(1.0, |s| s.by_chance);
        lasts(&figures.classes, n_steps, by_chance)
    };
    let is_apart = |groups: &Groups| -> Result<bool> {
        let labels = ranks.sample(|i| vec![f64::from(groups.labels[i])])?;
        let labels: Vec<u32> = labels.iter().map(|label| label[0] as u32).collect();
        Ok(separation(&sample, &labels).is_some_and(|apart| apart >= APART))
    };
    let candidates = supported_counts(&evidence.support, k);
    if let ClusterCount::Fixed(_) = tried.clusters {
        evidence.is_supported = candidates.contains(&k) && is_apart(&first)? && is_lasting(&figures, k);
        return Ok((first, figures, evidence));
    }
    for count in candidates {
        let (groups, figures) = if count == k {
            (first.clone(), figures.clone())
        } else {
            let groups = fit(count)?;
            let figures = figures_of(&groups)?;
            (groups, figures)
        };
        if !is_apart(&groups)? {
            continue;
        }
        if is_lasting(&figures, count) {
            evidence.is_supported = true;
            return Ok((groups, figures, evidence));
        }
        if evidence.passing.is_none() {
            let ranks = ranks.of_smallest(&groups, &figures)?;
            evidence.passing = Some(Passing { figures, ranks });
        }
    }
    let one = fit(1)?;
    let figures = figures_of(&one)?;
    Ok((one, figures, evidence))
}

/// What each number of classes explains, from two on.
fn shares(errors: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let Some(&(_, all)) = errors.iter().find(|(k, _)| *k == 1).filter(|(_, all)| *all > 0.0) else {
        return Vec::new();
    };
    errors.iter().filter(|(k, _)| *k > 1).map(|&(k, error)| (k, 1.0 - error / all)).collect()
}

/// Whether classes are there in the steps of even number and in the others,
/// more than by chance, and without the step in which they differ most: what
/// happened once makes no class. Of a single step nobody can tell.
///
/// Where steps are many, the two beside that step are left out as well: the
/// steps of a trace are cut by its work, and what happened in one iteration can
/// lie on both sides of a cut.
fn lasts(classes: &[Moments], n_steps: usize, by_chance: f64) -> bool {
    let beside = usize::from(n_steps >= MANY_STEPS);
    let loudest = loudest_step(classes, n_steps).filter(|_| n_steps > 2);
    let is_quiet = |step: usize| loudest.is_none_or(|loudest| step.abs_diff(loudest) > beside);
    let of = |j: usize| (j % n_steps, j % n_steps % 2);
    let half = |odd: usize| explained_by(classes, |j| of(j).1 == odd && is_quiet(of(j).0)).unwrap_or(0.0);
    n_steps == 1 || (half(0) > by_chance && half(1) > by_chance)
}

impl<C: Communicator> AllRanks<'_, C> {
    /// The share of the variance of what is compared that lies between classes.
    fn explained(&self, groups: &Groups) -> Result<f64> {
        let dims = self.objects.first().map_or(0, Vec::len);
        let mut dims = [dims as i64];
        self.comm.all_reduce(likewise::comm::Reduction::Max, &mut dims)?;
        let values = self.objects.concat();
        let classes = moments(self.comm, &values, dims[0] as usize, &groups.labels, groups.medoids.len())?;
        Ok(explained_by(&classes, |_| true).unwrap_or(0.0))
    }

    /// The number of the first rank of this process.
    fn first(&self) -> Result<usize> {
        let parts = self.comm.all_gather(&(self.objects.len() as u64).to_le_bytes())?;
        let length = |part: &Vec<u8>| part.as_slice().try_into().map(u64::from_le_bytes);
        let lengths = parts.iter().take(self.comm.rank()).map(length).collect::<Result<Vec<u64>, _>>();
        Ok(lengths.ok().context(CapekError::NotPortable)?.iter().sum::<u64>() as usize)
    }

    /// What `of` says of some ranks at even distances, or of all if they are
    /// few; the same on every process. `of` is told the place of a rank on its
    /// process.
    fn sample(&self, of: impl Fn(usize) -> Vec<f64>) -> Result<Vec<Vec<f64>>> {
        let (n, first) = (self.n_ranks, self.first()?);
        let many = n.min(MOST_OBJECTS);
        let mine = first..first + self.objects.len();
        let mut bytes = Vec::new();
        for rank in (0..many).map(|i| i * n / many).filter(|rank| mine.contains(rank)) {
            let object = of(rank - first);
            bytes.extend((object.len() as u64).to_le_bytes());
            bytes.extend(object.iter().flat_map(|x| x.to_le_bytes()));
        }
        let mut all = Vec::with_capacity(many);
        for part in self.comm.all_gather(&bytes)? {
            let mut words = part.as_chunks().0.iter();
            while let Some(dims) = words.next() {
                let numbers = words.by_ref().take(u64::from_le_bytes(*dims) as usize);
                all.push(numbers.map(|&x| f64::from_le_bytes(x)).collect());
            }
        }
        Ok(all)
    }

    /// The ranks of the smallest class, on every process.
    fn of_smallest(&self, groups: &Groups, figures: &Figures) -> Result<Vec<u64>> {
        let smallest = (0..groups.medoids.len()).min_by_key(|&c| figures.classes[c].n_ranks).unwrap_or(0);
        let first = self.first()?;
        let of_class = groups.labels.iter().enumerate().filter(|(_, label)| **label as usize == smallest);
        let bytes: Vec<u8> = of_class
            .take(super::NAMED as usize + 1)
            .flat_map(|(i, _)| ((first + i) as u64).to_le_bytes())
            .collect();
        let parts = self.comm.all_gather(&bytes)?;
        Ok(parts.iter().flat_map(|part| part.as_chunks().0).map(|&rank| u64::from_le_bytes(rank)).collect())
    }
}
