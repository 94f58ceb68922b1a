//! Classes of ranks, on one process or on many.

use super::settle::{AllRanks, Evidence, Groups, MANY_STEPS, Tried, half_of, settle};
use anyhow::{Context, anyhow};
use likewise::cluster::euclidean;
use likewise::cluster::medoids::capek::{Capek, CapekError, CapekParams, ClusterCount, capek};
use likewise::cluster::medoids::{ClaraParams, Medoids, MedoidsError, Start, clara, fasterpam, pam};
use likewise::cluster::{Dissimilarities, DissimilaritiesError};
use likewise::comm::wire::{Taker, put_number, put_reals};
use likewise::comm::{CommError, Communicator, Solo};
use likewise::quality::{SphericalFit, least_variance, spherical_bic};
use likewise::ranks::{EffortTable, Moments, Wavelet, makes_up, moments, signature};
use std::ops::Range;

/// What is compared of a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Signature {
    /// The efforts as they are.
    Whole,
    /// The low band after so many levels, and the energies of the others.
    Wavelet(Wavelet, usize),
    /// The mean effort in each half of the steps ([`half_of`]), without the greatest and
    /// the least steps ([`left_out`]): what ranks do all the time, of which chance in
    /// single steps is taken out.
    Halves,
}

/// With fewer steps than this, halves are not worth a look: each is the mean of ten at
/// most, and hardly quieter than the signature.
const LEAST_STEPS: usize = 24;

impl Signature {
    /// That of one rank: its regions' signatures, one after another.
    pub(super) fn of(self, table: &EffortTable, rank: usize) -> Vec<f64> {
        let regions = 0..table.regions().len();
        match self {
            Self::Whole => table.row(rank).to_vec(),
            Self::Wavelet(..) | Self::Halves => {
                regions.flat_map(|r| self.of_series(table.series(rank, r))).collect()
            }
        }
    }

    fn of_series(self, series: &[f64]) -> Vec<f64> {
        match self {
            Self::Whole => series.to_vec(),
            Self::Wavelet(wavelet, levels) => signature(series, levels, wavelet),
            Self::Halves => {
                let order = by_effort(series);
                let ends = left_out(series.len());
                mean_halves(series, order.get(ends..series.len() - ends).unwrap_or(&order)).to_vec()
            }
        }
    }

    /// How many numbers it has of each rank.
    pub(super) fn dims(self, table: &EffortTable) -> usize {
        table.regions().len() * self.of_series(&vec![0.0; table.n_steps()]).len()
    }
}

/// Ranks that a process works on.
#[derive(Clone, Debug)]
pub(super) struct Mine<'a> {
    pub(super) table: &'a EffortTable,
    /// Rows of the table.
    pub(super) ranks: Range<usize>,
    /// Its numbers are known within this factor; 1 where they are exact.
    pub(super) rounding: f64,
}

impl Mine<'_> {
    /// What is compared at another look; nothing where it is what the first look compares.
    fn objects_of(&self, other: Option<Signature>) -> Option<Vec<Vec<f64>>> {
        other.map(|signature| self.objects(signature))
    }

    pub(super) fn objects(&self, signature: Signature) -> Vec<Vec<f64>> {
        self.ranks.clone().map(|rank| signature.of(self.table, rank)).collect()
    }

    /// What the classes of all processes do, by `labels`.
    pub(super) fn figures<C: Communicator>(
        &self,
        comm: &C,
        labels: &[u32],
        n_classes: usize,
    ) -> Result<Figures, CommError> {
        let dims = self.table.dims();
        let values = &self.table.values()[self.ranks.start * dims..self.ranks.end * dims];
        let (n_regions, n_steps) = (self.table.regions().len(), self.table.n_steps());
        let regions: Vec<f64> = values.chunks_exact(n_steps).map(|series| series.iter().sum()).collect();
        let totals: Vec<f64> = regions.chunks_exact(n_regions).map(|row| row.iter().sum()).collect();
        let n_parts = n_steps.min(MOST_PARTS);
        let mut parts: Vec<f64> = Vec::with_capacity(labels.len() * n_parts * (n_regions + 1));
        for row in values.chunks_exact(dims) {
            for part in 0..n_parts {
                let steps = part * n_steps / n_parts..(part + 1) * n_steps / n_parts;
                let of_regions = row.chunks_exact(n_steps).map(|series| series[steps.clone()].iter().sum());
                let of_regions: Vec<f64> = of_regions.collect();
                parts.push(of_regions.iter().sum());
                parts.extend(of_regions);
            }
        }
        Ok(Figures {
            classes: moments(comm, values, dims, labels, n_classes)?,
            regions: moments(comm, &regions, n_regions, labels, n_classes)?,
            parts: moments(comm, &parts, n_parts * (n_regions + 1), labels, n_classes)?,
            totals: moments(comm, &totals, 1, labels, n_classes)?,
        })
    }

    /// What each rank did.
    fn totals(&self) -> impl Iterator<Item = Totals> {
        let n_steps = self.table.n_steps();
        let of_rank = move |rank: usize| {
            let mut steps = vec![0.0; n_steps];
            for series in self.table.row(rank).chunks_exact(n_steps) {
                steps.iter_mut().zip(series).for_each(|(sum, x)| *sum += x);
            }
            Totals::of(&steps)
        };
        self.ranks.clone().map(of_rank)
    }
}

/// What a rank did in all regions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Totals {
    pub(super) run: f64,
    /// The mean of each half of the steps ([`half_of`]), without the rank's
    /// greatest steps ([`left_out`]), so that an event that happened once is in
    /// neither.
    pub(super) halves: [f64; 2],
}

/// How many steps, the greatest of each rank, are left out to see what lasts.
pub(super) fn left_out(n_steps: usize) -> usize {
    match n_steps {
        n if n >= MANY_STEPS => 3,
        n if n > 3 => 1,
        _ => 0,
    }
}

impl Totals {
    fn of(steps: &[f64]) -> Self {
        let order = by_effort(steps);
        Self { run: steps.iter().sum(), halves: mean_halves(steps, &order[left_out(steps.len())..]) }
    }
}

/// The steps, the greatest first.
fn by_effort(steps: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by(|&a, &b| steps[b].total_cmp(&steps[a]).then(a.cmp(&b)));
    order
}

/// The mean of each half of some of the steps.
fn mean_halves(steps: &[f64], some: &[usize]) -> [f64; 2] {
    [0, 1].map(|half| {
        let of_half = some.iter().filter(|&&step| half_of(step) == half);
        let (sum, n) = of_half.fold((0.0, 0.0), |(sum, n), &step| (sum + steps[step], n + 1.0));
        if n > 0.0 { sum / n } else { 0.0 }
    })
}

/// What the ranks of each class do.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures {
    /// In every step and region.
    pub(super) classes: Vec<Moments>,
    /// In every region, over all steps.
    pub(super) regions: Vec<Moments>,
    /// In every part of the steps: in all regions, then in each.
    pub(super) parts: Vec<Moments>,
    /// In all regions and steps.
    pub(super) totals: Vec<Moments>,
}

impl Figures {
    /// Whether ranks differ in the single steps of some region in a way that makes up over
    /// the steps, as where they do more in turn. Signatures keep of quick changes how large
    /// they are, and not which rank does more when.
    fn make_up(&self, n_steps: usize) -> bool {
        let n: u64 = self.regions.iter().map(|class| class.n_ranks).sum();
        let variance = |classes: &[Moments], j: usize| variance(classes, j, n as usize);
        let n_regions = self.regions.first().map_or(0, |class| class.mean.len());
        (0..n_regions).any(|r| {
            let of_steps = (r * n_steps..(r + 1) * n_steps).map(|j| variance(&self.classes, j)).sum();
            makes_up(variance(&self.regions, r), of_steps, n as usize)
        })
    }
}

/// The variance of a number over the ranks of all classes.
fn variance(classes: &[Moments], j: usize, n: usize) -> f64 {
    let mean = classes.iter().map(|c| c.n_ranks as f64 * c.mean[j]).sum::<f64>() / n.max(1) as f64;
    let squares = |c: &Moments| {
        let ranks = c.n_ranks as f64;
        (ranks - 1.0).max(0.0) * c.variance[j] + ranks * (c.mean[j] - mean).powi(2)
    };
    classes.iter().map(squares).sum::<f64>() / n.saturating_sub(1).max(1) as f64
}

/// The spread of the ranks is measured in this many parts of the steps. They
/// are few enough that chance evens out within each, and enough to see effects
/// that grow or begin. With fewer steps, each step is a part.
const MOST_PARTS: usize = 4;

/// Classes of all ranks, by medoid.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) medoids: Vec<u64>,
    /// Of each rank, the place of its medoid.
    pub(super) labels: Vec<u32>,
    pub(super) dissimilarities: Vec<f64>,
    pub(super) totals: Vec<Totals>,
    pub(super) loss: f64,
    /// Of each number of classes that was tried; none where it was given.
    pub(super) bic: Vec<(usize, f64)>,
    pub(super) evidence: Evidence,
    /// By what there are classes, where by the signature that was to be taken there are none.
    pub(super) other: Option<Signature>,
    pub(super) is_exact: bool,
    pub(super) figures: Figures,
}

/// Classes by one look at the ranks.
struct Look {
    groups: Groups,
    figures: Figures,
    evidence: Evidence,
    bic: Vec<(usize, f64)>,
    other: Option<Signature>,
    is_exact: bool,
}

/// What the first look finds, at `signature`; but what another finds where only that finds
/// classes: one at halves of the steps, and one at all efforts, where what ranks do in single
/// steps makes up over the steps. The same on all processes.
fn best_look(
    clusters: ClusterCount,
    n_steps: usize,
    signature: Signature,
    mut look: impl FnMut(Option<Signature>) -> anyhow::Result<Look>,
) -> anyhow::Result<Look> {
    let first = look(None)?;
    let is_one = matches!(clusters, ClusterCount::Fixed(1) | ClusterCount::UpTo(1));
    if first.evidence.is_supported || is_one {
        return Ok(first);
    }
    let is_short = matches!(signature, Signature::Wavelet(..));
    let others = [
        (n_steps >= LEAST_STEPS).then_some(Signature::Halves),
        (is_short && first.figures.make_up(n_steps)).then_some(Signature::Whole),
    ];
    for other in others.into_iter().flatten() {
        let mut found = look(Some(other))?;
        if found.evidence.is_supported {
            // What happened in a few steps is seen step by step alone.
            found.evidence.passing = first.evidence.passing.or(found.evidence.passing);
            return Ok(found);
        }
    }
    Ok(first)
}

/// Euclid's.
#[expect(clippy::ptr_arg, reason = "objects are vectors, and this is a function of objects")]
pub(super) fn distance(a: &Vec<f64>, b: &Vec<f64>) -> f64 {
    euclidean(a, b)
}

/// Finds the classes with all processes, each of which has some of the ranks.
/// Nothing but on process 0, which gets the class of every rank; what classes
/// do is summed up on the way.
pub(super) fn by_capek<C: Communicator>(
    comm: &C,
    mine: &Mine<'_>,
    (objects, signature): (&[Vec<f64>], Signature),
    params: &CapekParams<Vec<f64>>,
) -> anyhow::Result<Option<Found>> {
    let groups = |found: Capek<Vec<f64>>| Groups {
        medoids: found.medoids.iter().map(|medoid| medoid.index).collect(),
        labels: found.labels,
        dissimilarities: found.dissimilarities,
        loss: found.loss,
    };
    let look = |other: Option<Signature>| {
        let by_halves = matches!(other, Some(Signature::Halves));
        let others = mine.objects_of(other);
        let objects = others.as_deref().unwrap_or(objects);
        let mut first = capek(comm, objects, &distance, params)?;
        let bic = std::mem::take(&mut first.criterion);
        let errors = std::mem::take(&mut first.squared_errors);
        let is_exact = first.is_exact;
        let fit = |k: usize| {
            let params = CapekParams { clusters: ClusterCount::Fixed(k), ..params.clone() };
            Ok(groups(capek(comm, objects, &distance, &params)?))
        };
        let tried = Tried { clusters: params.clusters, errors: &errors, seed: params.seed };
        let ranks = AllRanks { comm, mine, objects, by_halves, n_ranks: first.n_objects as usize };
        let (groups, figures, evidence) = settle(&ranks, &tried, groups(first), fit)?;
        Ok(Look { groups, figures, evidence, bic, other, is_exact })
    };
    let Look { groups, figures, evidence, bic, other, is_exact } =
        best_look(params.clusters, mine.table.n_steps(), signature, look)?;
    let mut bytes = Vec::with_capacity(objects.len() * 40);
    for ((label, distance), of) in groups.labels.iter().zip(&groups.dissimilarities).zip(mine.totals()) {
        put_number(&mut bytes, u64::from(*label));
        put_reals(&mut bytes, &[*distance, of.run, of.halves[0], of.halves[1]]);
    }
    let parts = comm.gather(0, &bytes)?;
    if comm.rank() != 0 {
        return Ok(None);
    }
    let (labels, dissimilarities, totals) = ranks_of(&parts).context(CapekError::NotPortable)?;
    let (medoids, loss) = (groups.medoids, groups.loss);
    Ok(Some(Found {
        medoids,
        labels,
        dissimilarities,
        totals,
        loss,
        bic,
        evidence,
        other,
        is_exact,
        figures,
    }))
}

/// Of all ranks what [`rank_of`] has of each.
fn ranks_of(parts: &[Vec<u8>]) -> Option<(Vec<u32>, Vec<f64>, Vec<Totals>)> {
    let (mut labels, mut dissimilarities, mut totals) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let mut taker = Taker::new(part);
        while !taker.is_done() {
            let (label, distance, of) = rank_of(&mut taker)?;
            labels.push(label);
            dissimilarities.push(distance);
            totals.push(of);
        }
    }
    Some((labels, dissimilarities, totals))
}

/// The class of a rank, how far it is from the medoid, and what it does in all.
fn rank_of(taker: &mut Taker<'_>) -> Option<(u32, f64, Totals)> {
    let label = u32::try_from(taker.number()?).ok()?;
    let (distance, run) = (taker.real()?, taker.real()?);
    Some((label, distance, Totals { run, halves: [taker.real()?, taker.real()?] }))
}

/// A method that one process does alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alone {
    Clara,
    Pam,
    Fasterpam,
}

/// Finds the classes on this process; the number of classes by the BIC, where
/// it is not given.
pub(super) fn alone(
    method: Alone,
    mine: &Mine<'_>,
    (objects, signature): (&[Vec<f64>], Signature),
    clusters: ClusterCount,
    seed: u64,
) -> anyhow::Result<Found> {
    let look = |other: Option<Signature>| {
        let others = mine.objects_of(other);
        look_alone(method, mine, (others.as_deref().unwrap_or(objects), other), clusters, seed)
    };
    let Look { groups, figures, evidence, bic, other, is_exact } =
        best_look(clusters, mine.table.n_steps(), signature, look)?;
    let Groups { medoids, labels, dissimilarities, loss } = groups;
    let totals = mine.totals().collect();
    Ok(Found { medoids, labels, dissimilarities, totals, loss, bic, evidence, other, is_exact, figures })
}

fn look_alone(
    method: Alone,
    mine: &Mine<'_>,
    (objects, other): (&[Vec<f64>], Option<Signature>),
    clusters: ClusterCount,
    seed: u64,
) -> anyhow::Result<Look> {
    let matrix = match method {
        Alone::Clara => None,
        Alone::Pam | Alone::Fasterpam => Some(Dissimilarities::new(objects, distance)?),
    };
    let solve = |k: usize| match (method, &matrix) {
        (Alone::Pam, Some(matrix)) => pam(matrix, k),
        (Alone::Fasterpam, Some(matrix)) => fasterpam(matrix, k, Start::Build),
        _ => clara(objects, distance, &ClaraParams::new(k, seed)),
    };
    let of = |found: &Medoids, rank: usize| {
        distance(&objects[rank], &objects[found.medoids[found.labels[rank] as usize]])
    };
    let groups = |found: Medoids| Groups {
        dissimilarities: (0..objects.len()).map(|rank| of(&found, rank)).collect(),
        medoids: found.medoids.iter().map(|&m| m as u64).collect(),
        labels: found.labels,
        loss: found.loss,
    };
    let (mut bic, mut errors) = (Vec::new(), Vec::new());
    let first = match clusters {
        ClusterCount::Fixed(k) => solve(k)?,
        ClusterCount::UpTo(most) => {
            let mut best: Option<(f64, Medoids)> = None;
            for k in 1..=most {
                let found = match solve(k) {
                    Ok(found) => found,
                    // No more objects differ.
                    Err(_) if best.is_some() => break,
                    Err(error) => return Err(error.into()),
                };
                let (value, error) = bic_about_centroids(objects, &found);
                bic.push((k, value));
                errors.push((k, error));
                // Of equal ones, the fewest classes.
                if best.as_ref().is_none_or(|(most, _)| value > *most) {
                    best = Some((value, found));
                }
            }
            best.context("no number of classes was tried")?.1
        }
    };
    let first = groups(first);
    let tried = Tried { clusters, errors: &errors, seed };
    let by_halves = matches!(other, Some(Signature::Halves));
    let ranks = AllRanks { comm: &Solo::default(), mine, objects, by_halves, n_ranks: objects.len() };
    let (groups, figures, evidence) = settle(&ranks, &tried, first, |k| Ok(groups(solve(k)?)))?;
    Ok(Look { groups, figures, evidence, bic, other, is_exact: method != Alone::Clara })
}

/// The BIC, and the squared error that it is made of.
fn bic_about_centroids(objects: &[Vec<f64>], found: &Medoids) -> (f64, f64) {
    let dims = objects.first().map_or(0, Vec::len);
    let mut sizes = vec![0usize; found.medoids.len()];
    let mut centroids = vec![vec![0.0; dims]; found.medoids.len()];
    for (object, &label) in objects.iter().zip(&found.labels) {
        sizes[label as usize] += 1;
        centroids[label as usize].iter_mut().zip(object).for_each(|(sum, x)| *sum += x);
    }
    for (centroid, &size) in centroids.iter_mut().zip(&sizes) {
        centroid.iter_mut().for_each(|sum| *sum /= size as f64);
    }
    let squares = |(object, &label): (&Vec<f64>, &u32)| {
        let centroid = &centroids[label as usize];
        object.iter().zip(centroid).map(|(x, c)| (x - c) * (x - c)).sum::<f64>()
    };
    let squared_error: f64 = objects.iter().zip(&found.labels).map(squares).sum();
    let largest = objects.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
    let least_variance = least_variance(largest);
    (spherical_bic(&SphericalFit { sizes: &sizes, squared_error, dims, least_variance }), squared_error)
}

/// What is wrong, in words of ranks: the methods speak of objects.
pub(super) fn of_ranks(error: anyhow::Error, n_ranks: usize) -> anyhow::Error {
    let too_many = |classes: usize, distinct: usize| match classes > n_ranks {
        true => anyhow!("{classes} classes were asked for, and there are {n_ranks} ranks"),
        false => anyhow!("{classes} classes were asked for, and {distinct} different ranks were found"),
    };
    let too_large = |rank: u64| {
        anyhow!("the efforts of rank {rank} are so large that distances to others are no numbers")
    };
    let of_medoids = error.downcast_ref::<MedoidsError>();
    let of_matrix = match of_medoids {
        Some(MedoidsError::Dissimilarities(error)) => Some(error),
        _ => error.downcast_ref::<DissimilaritiesError>(),
    };
    match (error.downcast_ref::<CapekError>(), of_medoids, of_matrix) {
        (Some(&CapekError::TooManyClusters { wanted, distinct }), ..) => too_many(wanted, distinct),
        (Some(&CapekError::NotFinite { index }), ..) => too_large(index),
        (_, Some(&MedoidsError::TooFewDistinct { n_clusters, distinct }), _) => {
            too_many(n_clusters, distinct)
        }
        (_, _, Some(&DissimilaritiesError::Invalid { a, .. })) => too_large(a as u64),
        _ => error,
    }
}

#[cfg(test)]
mod tests;
