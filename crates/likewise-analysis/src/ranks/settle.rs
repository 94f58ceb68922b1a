//! How many classes there are: what a criterion likes best, as far as the data
//! support it.

use super::find::{Figures, Mine};
use anyhow::{Context, Result};
use likewise::cluster::medoids::capek::{CapekError, ClusterCount};
use likewise::comm::{Communicator, Solo, wire};
use likewise::ranks::{
    APART, MOST_OBJECTS, Moments, Support, are_apart_in_pairs, explained_by, joined, loudest_step, moments,
    separation, support, supported_counts,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Ranks that are named one by one, at most.
pub const NAMED: u64 = 8;

/// Classes of the ranks of this process.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    pub(super) medoids: Vec<u64>,
    pub(super) labels: Vec<u32>,
    pub(super) dissimilarities: Vec<f64>,
    /// Of all processes.
    pub(super) loss: f64,
}

/// Ranks over processes.
pub(super) struct AllRanks<'a, C> {
    pub(super) comm: &'a C,
    pub(super) mine: &'a Mine<'a>,
    /// What is compared of those of this process.
    pub(super) objects: &'a [Vec<f64>],
    /// Whether these are means of halves of the steps.
    pub(super) by_halves: bool,
    pub(super) n_ranks: usize,
}

/// Numbers of classes that were tried.
pub(super) struct Tried<'a> {
    pub(super) clusters: ClusterCount,
    /// Squared errors about centroids.
    pub(super) errors: &'a [(usize, f64)],
    pub(super) seed: u64,
}

/// What speaks for classes, and against.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Evidence {
    /// Of each number of classes from two on that was looked at.
    pub(super) support: Vec<Support>,
    /// The classes that were nearly taken, but some of which do not last.
    pub(super) passing: Option<Passing>,
    /// Whether the classes that were taken are supported.
    pub(super) is_supported: bool,
}

/// Classes some of which do not last.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Passing {
    pub(super) figures: Figures,
    /// Which do not, and their ranks, the first few of them.
    pub(super) classes: Vec<(usize, Vec<u64>)>,
}

/// With this many steps or more, three are left out: more than half of the steps
/// remain.
pub(super) const MANY_STEPS: usize = 8;

/// The most classes that are looked for: fewer than two ranks to a class, on
/// the average, leave the spread within classes fewer degrees of freedom than
/// there are classes.
pub(super) fn most_classes(n_ranks: usize) -> usize {
    n_ranks.div_ceil(2).max(1)
}

/// The classes that the data support, best those of `first`; one class where
/// they support none. A number that was given stays, and is judged.
pub(super) fn settle<C: Communicator>(
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
    // What this many classes explain by chance. If the number was given, the
    // figure for one class less is not known yet.
    let known = evidence.support.clone();
    let by_chance = |k: usize, rng: &mut Xoshiro256PlusPlus| match known.iter().find(|s| s.n_classes == k) {
        _ if k < 2 => 0.0,
        Some(s) => s.by_chance,
        None => support(&sample, &[(k, 1.0)], rng).first().map_or(1.0, |s| s.by_chance),
    };
    let mut fleeting_of = |groups: &Groups, figures: &Figures| -> Result<Vec<usize>> {
        let k = groups.medoids.len();
        let chance = [by_chance(k - 1, &mut rng), by_chance(k, &mut rng)];
        Ok(match ranks.by_halves {
            true => fleeting_by_halves(&ranks.moments(groups)?, chance),
            false => fleeting(&figures.classes, n_steps, chance),
        })
    };
    let logs_of = |groups: &Groups| ranks.are_supported_in_logs(groups, tried.seed);
    let is_apart = |groups: &Groups| -> Result<bool> {
        let labels = ranks.sample(|i| vec![f64::from(groups.labels[i])])?;
        let labels: Vec<u32> = labels.iter().map(|label| label[0] as u32).collect();
        // What lasts over the steps is no chance; of a single step nobody can tell that.
        let are_more = || {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(tried.seed);
            n_steps > 1 || are_apart_in_pairs(&sample, &labels, &mut rng)
        };
        Ok(separation(&sample, &labels).is_some_and(|apart| apart >= APART) && are_more())
    };
    let candidates = supported_counts(&evidence.support, k);
    if let ClusterCount::Fixed(_) = tried.clusters {
        evidence.is_supported = candidates.contains(&k)
            && are_beyond_rounding(&figures, mine.rounding)
            && is_apart(&first)?
            && logs_of(&first)?
            && fleeting_of(&first, &figures)?.is_empty();
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
        if !are_beyond_rounding(&figures, mine.rounding) || !is_apart(&groups)? || !logs_of(&groups)? {
            continue;
        }
        let fleeting = fleeting_of(&groups, &figures)?;
        if fleeting.is_empty() {
            evidence.is_supported = true;
            return Ok((groups, figures, evidence));
        }
        if evidence.passing.is_none() {
            let of = |class: usize| Ok((class, ranks.of_class(&groups, class)?));
            let classes = fleeting.into_iter().map(of).collect::<Result<_>>()?;
            evidence.passing = Some(Passing { figures, classes });
        }
    }
    let one = fit(1)?;
    let figures = figures_of(&one)?;
    Ok((one, figures, evidence))
}

/// Whether each two classes differ in some region by more than rounding can do, and by more
/// than it can do to all that a rank does on average. Rounded numbers are equal where the true
/// ones are not: nothing is left of the spread within classes, beside which chance is judged.
fn are_beyond_rounding(figures: &Figures, rounding: f64) -> bool {
    let ranks = |figures: &Moments| figures.n_ranks as f64;
    let all: f64 = figures.totals.iter().map(ranks).sum();
    let mean = figures.totals.iter().map(|class| ranks(class) * class.mean[0]).sum::<f64>() / all.max(1.0);
    let least_apart = (rounding - 1.0) * mean;
    let is_beyond = |a: &Moments, b: &Moments| {
        let apart = |low: f64, high: f64| low / rounding - high * rounding;
        (0..a.mean.len())
            .map(|r| apart(a.least[r], b.most[r]).max(apart(b.least[r], a.most[r])))
            .any(|apart| apart > least_apart)
    };
    let classes = &figures.regions;
    rounding <= 1.0 || (0..classes.len()).all(|a| (0..a).all(|b| is_beyond(&classes[a], &classes[b])))
}

/// What each number of classes explains, from two on.
fn shares(errors: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let Some(&(_, all)) = errors.iter().find(|(k, _)| *k == 1).filter(|(_, all)| *all > 0.0) else {
        return Vec::new();
    };
    errors.iter().filter(|(k, _)| *k > 1).map(|&(k, error)| (k, 1.0 - error / all)).collect()
}

/// The half of the steps that a step belongs to, by the parity of the ones in
/// its number (Thue and Morse). Effects that last, or come every second or
/// fourth step, are in both halves; an event that happened once is in one.
pub(super) fn half_of(step: usize) -> usize {
    step.count_ones() as usize % 2
}

/// The same by the parity of the number itself. Multiples of three mostly have
/// an even number of ones, so the other way would put them into one half; here
/// they are in both.
fn parity_of(step: usize) -> usize {
    step % 2
}

/// The classes that do not last, but for the largest. Each must be there in
/// both halves of the steps, by either way to halve them, without the step in which it differs
/// most from another: joined with any other class, what is left unexplained
/// must grow by more than one class less makes it grow by chance. What happened
/// once makes no class, whatever other classes there are. Of a single step
/// nobody can tell.
///
/// Where steps are many, the two beside that step are left out as well: the
/// steps of a trace are cut by its work, and what happened in one iteration can
/// lie on both sides of a cut.
///
/// `by_chance` is what one class less and what all these explain by chance.
fn fleeting(classes: &[Moments], n_steps: usize, by_chance: [f64; 2]) -> Vec<usize> {
    let beside = usize::from(n_steps >= MANY_STEPS);
    // Without the step in which they differ most, a class may be like any of the others, and
    // need not be the nearest to it in all steps.
    let lasts_beside = |pair: [usize; 2]| {
        let loudest = loudest_step(pair.iter().map(|&c| &classes[c]), n_steps).filter(|_| n_steps > 3);
        let is_quiet = |step: usize| loudest.is_none_or(|loudest| step.abs_diff(loudest) > beside);
        let is_in_both = |half_of: fn(usize) -> usize| {
            (0..2).all(|half| {
                let of = |j: usize| half_of(j % n_steps) == half && is_quiet(j % n_steps);
                let (added, within) = joined(classes, pair, of);
                (within + added) * (1.0 - by_chance[1]) > within * (1.0 - by_chance[0])
            })
        };
        is_in_both(half_of) || is_in_both(parity_of)
    };
    if n_steps == 1 { Vec::new() } else { not_beside_all(classes, lasts_beside) }
}

/// The same of classes of means of halves, which are the numbers in turn: what happened
/// in a few steps is not in these.
fn fleeting_by_halves(classes: &[Moments], by_chance: [f64; 2]) -> Vec<usize> {
    not_beside_all(classes, |pair| {
        (0..2).all(|half| {
            let (added, within) = joined(classes, pair, |j| j % 2 == half);
            (within + added) * (1.0 - by_chance[1]) > within * (1.0 - by_chance[0])
        })
    })
}

/// The classes for which something does not hold beside some other, but for the largest.
fn not_beside_all(classes: &[Moments], holds: impl Fn([usize; 2]) -> bool) -> Vec<usize> {
    let holds = |c: usize| (0..classes.len()).filter(|&other| other != c).all(|other| holds([c, other]));
    // The first of equal ones: `max_by_key` takes the last.
    let largest = (0..classes.len()).rev().max_by_key(|&c| classes[c].n_ranks);
    let all = (0..classes.len()).filter(|&c| Some(c) != largest || classes.len() == 1);
    all.filter(|&c| !holds(c)).collect()
}

impl<C: Communicator> AllRanks<'_, C> {
    /// The share of the variance of what is compared that lies between classes.
    fn explained(&self, groups: &Groups) -> Result<f64> {
        Ok(explained_by(&self.moments(groups)?, |_| true).unwrap_or(0.0))
    }

    /// What the classes have of what is compared.
    fn moments(&self, groups: &Groups) -> Result<Vec<Moments>> {
        // A process without ranks learns from the others how many numbers a
        // rank has.
        let dims = self.objects.first().map_or(0, Vec::len);
        let mut dims = [dims as i64];
        self.comm.all_reduce(likewise::comm::Reduction::Max, &mut dims)?;
        let values = self.objects.concat();
        Ok(moments(self.comm, &values, dims[0] as usize, &groups.labels, groups.medoids.len())?)
    }

    /// Whether classes are supported in the logarithms of what is compared, too. Efforts
    /// of a skew distribution, with a long tail, look like classes beside tables that are
    /// spread evenly, and their logarithms do not; what is in classes is so by both. 0 counts
    /// as if it were one e-th of the least that is above: ranks that never do a step are apart
    /// from those that do. Numbers that are below 0 for some rank have no part in it.
    fn are_supported_in_logs(&self, groups: &Groups, seed: u64) -> Result<bool> {
        let sample = self.sample(|i| {
            std::iter::once(f64::from(groups.labels[i])).chain(self.objects[i].iter().copied()).collect()
        })?;
        let dims = sample.first().map_or(0, Vec::len);
        let has_log = |j: &usize| sample.iter().all(|row| row[*j] >= 0.0);
        let least = |j: usize| {
            let above = sample.iter().map(|row| row[j]).filter(|x| *x > 0.0);
            above.reduce(f64::min).map(|least| (j, least))
        };
        let numbers: Vec<(usize, f64)> = (1..dims).filter(has_log).filter_map(least).collect();
        // By the mean of each number, so that what ranks hardly do weighs as little as it
        // does without logarithms.
        let mean = |j: usize| sample.iter().map(|row| row[j]).sum::<f64>() / sample.len() as f64;
        let means: Vec<f64> = numbers.iter().map(|&(j, _)| mean(j)).collect();
        let ln = |x: f64, least: f64| if x > 0.0 { x.ln() } else { least.ln() - 1.0 };
        let log = |row: &Vec<f64>| {
            numbers.iter().zip(&means).map(|(&(j, least), mean)| mean * ln(row[j], least)).collect()
        };
        let logs: Vec<Vec<f64>> = sample.iter().map(log).collect();
        let labels: Vec<u32> = sample.iter().map(|row| row[0] as u32).collect();
        let classes =
            moments(&Solo::default(), &logs.concat(), numbers.len(), &labels, groups.medoids.len())?;
        // Where ranks are very many, a small class may not be in the sample.
        let is_whole = classes.iter().all(|class| class.n_ranks > 0);
        let Some(explained) = explained_by(&classes, |_| true).filter(|_| is_whole) else { return Ok(true) };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let found = support(&logs, &[(groups.medoids.len(), explained)], &mut rng);
        Ok(found.first().is_none_or(|found| found.is_supported))
    }

    /// The number of the first rank of this process.
    fn first(&self) -> Result<usize> {
        Ok(self.comm.sum_before(self.objects.len() as i64)? as usize)
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
            wire::put_number(&mut bytes, object.len() as u64);
            wire::put_reals(&mut bytes, &object);
        }
        let mut all = Vec::with_capacity(many);
        for part in self.comm.all_gather(&bytes)? {
            let mut taker = wire::Taker::new(&part);
            while !taker.is_done() {
                let dims = taker.number().context(CapekError::NotPortable)?;
                let object: Option<Vec<f64>> = (0..dims).map(|_| taker.real()).collect();
                all.push(object.context(CapekError::NotPortable)?);
            }
        }
        Ok(all)
    }

    /// The first ranks of a class, one more than are named, on every process.
    fn of_class(&self, groups: &Groups, class: usize) -> Result<Vec<u64>> {
        let first = self.first()?;
        let of_class = groups.labels.iter().enumerate().filter(|(_, label)| **label as usize == class);
        let mut bytes = Vec::new();
        let some = of_class.take(NAMED as usize + 1).map(|(i, _)| (first + i) as u64);
        wire::put_numbers(&mut bytes, some);
        let parts = self.comm.all_gather(&bytes)?.concat();
        Ok(wire::numbers(&parts).context(CapekError::NotPortable)?.collect())
    }
}
