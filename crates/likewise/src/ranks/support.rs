//! Whether the data support classes: any method makes some of ranks that have
//! none.

use std::collections::BTreeMap;

use nalgebra::DMatrix;
use rand_core::Rng;
use rayon::prelude::*;

use super::Moments;
use crate::cluster::medoids::{Start, fasterpam};
use crate::cluster::{Dissimilarities, euclidean, squared_euclidean};
use crate::linear::{dot, principal_axes};

/// Objects that [`support`] looks at, at most; of more, give so many at even
/// distances. A table of fewer rows is grouped better by chance, so that of
/// more objects it asks for more than it had to.
pub const MOST_OBJECTS: usize = 128;

/// Tables without classes that the data are compared with. Not one of them may
/// be explained as well: by chance that is one time in 200 for each number of
/// classes.
const TABLES: usize = 199;

/// After so many tables, a number of classes that one of them has reached is
/// out, and if all are, no more are made.
const FIRST: usize = 19;

/// ...and what is left unexplained must be below that of the tables, on the
/// average, by so many of its deviations (in logarithms): one in 200 is too
/// often for who looks at many runs.
const DEVIATIONS: f64 = 3.0;

/// How much of the variance k classes explain, beside what k classes explain
/// of ranks that have none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    /// The number of classes.
    pub n_classes: usize,
    /// The share of the variance of all objects that lies between classes.
    pub explained: f64,
    /// The same of tables without classes: their mean.
    pub by_chance: f64,
    /// The greatest of any of these tables.
    pub at_most_by_chance: f64,
    /// ln of the share that is left unexplained: the tables' mean less that of
    /// the data. Tibshirani's gap, of shares.
    pub gap: f64,
    /// Its standard deviation over the tables.
    pub deviation: f64,
    /// Whether the classes are more than chance.
    pub is_supported: bool,
}

/// Compares what classes explain with what they explain where there are none.
///
/// `explained` has, for numbers of classes of at least two and below the
/// number of objects, the share of the variance that lies between classes
/// found about medoids. Each is compared with tables of as many objects that
/// have the data's principal axes and, along each, are spread evenly over a
/// range of the same variance: ranks on a gradient, in as many directions as
/// the data have. Nothing without classes is told apart better: where more
/// are in the middle than at the ends, as in noise, classes explain less.
///
/// # Returns
/// One [`Support`] for each number; nothing where no two objects differ.
///
/// # Complexity
/// O(t·(n²·(d + k) + k²·n)) for n objects, their min(n, d) principal axes, k
/// the sum of the numbers of classes and t = 199 tables, 19 where nothing is
/// found; in parallel.
///
/// # Reference
/// Tibshirani, Walther & Hastie, *J. Royal Stat. Soc. B* 63, 2001 (gap
/// statistic; reference of kind b). Differs: shares of the variance are
/// compared, so that the size of the reference does not matter, a uniform
/// number has the variance of its axis and not its range, which one odd rank
/// decides, and a gap must be significant by itself.
#[must_use]
pub fn support(objects: &[Vec<f64>], explained: &[(usize, f64)], rng: &mut impl Rng) -> Vec<Support> {
    let axes = principal_deviations(objects);
    let explained: Vec<(usize, f64)> =
        explained.iter().copied().filter(|(k, _)| (2..objects.len()).contains(k)).collect();
    if axes.is_empty() || explained.is_empty() {
        return Vec::new();
    }
    let mut rests: Vec<Vec<f64>> = Vec::new();
    for n_tables in [FIRST, TABLES - FIRST] {
        let mut table = || -> Vec<Vec<f64>> {
            let mut object = || axes.iter().map(|s| (uniform(rng) - 0.5) * s).collect();
            (0..objects.len()).map(|_| object()).collect()
        };
        let tables: Vec<Vec<Vec<f64>>> = (0..n_tables).map(|_| table()).collect();
        rests.par_extend(tables.par_iter().map(|table| unexplained(table, &explained)));
        let reached = |i: usize| rests.iter().any(|rest| rest[i] <= rest_of(explained[i].1));
        if (0..explained.len()).all(reached) {
            break;
        }
    }
    let of = |(i, &(n_classes, explained)): (usize, &(usize, f64))| {
        let logs: Vec<f64> = rests.iter().map(|rest| rest[i].ln()).collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let deviation = (logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        let least = rests.iter().map(|rest| rest[i]).fold(1.0, f64::min);
        let gap = mean - rest_of(explained).ln();
        Support {
            n_classes,
            explained,
            by_chance: 1.0 - rests.iter().map(|rest| rest[i]).sum::<f64>() / n,
            at_most_by_chance: 1.0 - least,
            gap,
            deviation,
            is_supported: rest_of(explained) < least && gap > DEVIATIONS * deviation,
        }
    };
    explained.iter().enumerate().map(of).collect()
}

/// Classes are apart if it is so many times as far from one to the next as
/// between neighbours within: ranks at even distances have 1, and of 100 tables
/// of ranks at random places of a curve 6 are beyond it.
pub const APART: f64 = 2.0;

/// How far apart classes are: the shortest step from one class to another over
/// the steps within classes, of which nine in ten are shorter. Steps are those
/// of the tree that joins all objects in the shortest way.
///
/// Ranks on a curve (one phase grows with the rank, another with its square)
/// are better explained than [`support`]'s tables, which know straight axes
/// only, but no class is apart from the next.
///
/// # Returns
/// Infinity where objects of a class do not differ; `None` of one class.
///
/// # Panics
/// If there is not one label for each object.
///
/// # Complexity
/// O(n²·d) for n objects of d numbers.
///
/// # Reference
/// The tree is Prim's (*Bell System Technical Journal* 36, 1957); to cut it at
/// steps that are long beside those near them is Zahn's (*IEEE Trans.
/// Computers* C-20, 1971).
#[must_use]
pub fn separation(objects: &[Vec<f64>], labels: &[u32]) -> Option<f64> {
    assert_eq!(objects.len(), labels.len(), "a label for every object");
    let mut nearest: Vec<(f64, usize)> = vec![(f64::INFINITY, 0); objects.len()];
    let mut waiting: Vec<usize> = (1..objects.len()).collect();
    let (mut within, mut between) = (Vec::new(), f64::INFINITY);
    let mut last = 0;
    while !waiting.is_empty() {
        for &i in &waiting {
            let step = euclidean(&objects[i], &objects[last]);
            if step < nearest[i].0 {
                nearest[i] = (step, last);
            }
        }
        let at =
            (0..waiting.len()).min_by(|&a, &b| nearest[waiting[a]].0.total_cmp(&nearest[waiting[b]].0))?;
        last = waiting.swap_remove(at);
        let (step, from) = nearest[last];
        if labels[last] == labels[from] {
            within.push(step);
        } else {
            between = between.min(step);
        }
    }
    within.sort_by(f64::total_cmp);
    let usual = within.get((within.len() * 9).div_ceil(10).saturating_sub(1)).copied().unwrap_or(0.0);
    between.is_finite().then(|| between / usual)
}

/// Whether classes are more than chance beside those next to them, whatever is further away.
///
/// One object far from all others makes nearly all of the spread that [`support`] compares
/// with, and any halves of the others are better explained than that. So classes are joined,
/// those with the nearest centroids first, and each time a class of one side and one of the
/// other must be supported by what their objects alone show. Classes of one object each tell
/// nothing of one another.
///
/// # Panics
/// If there is not one label for each object.
///
/// # Complexity
/// That of [`support`] for each two classes, at most.
#[must_use]
pub fn are_apart_in_pairs(objects: &[Vec<f64>], labels: &[u32], rng: &mut impl Rng) -> bool {
    assert_eq!(objects.len(), labels.len(), "a label for every object");
    let mut classes: BTreeMap<u32, Vec<Vec<f64>>> = BTreeMap::new();
    for (object, &label) in objects.iter().zip(labels) {
        classes.entry(label).or_default().push(object.clone());
    }
    let classes: Vec<Vec<Vec<f64>>> = classes.into_values().collect();
    let centroids: Vec<Vec<f64>> = classes.iter().map(|class| centroid(class)).collect();
    let pairs = (0..classes.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let mut pairs: Vec<(f64, usize, usize)> =
        pairs.map(|(a, b)| (euclidean(&centroids[a], &centroids[b]), a, b)).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut side: Vec<usize> = (0..classes.len()).collect();
    for &(_, a, b) in &pairs {
        let (from, to) = (side[b], side[a]);
        if from == to {
            continue;
        }
        let joins =
            |&&(_, a, b): &&(f64, usize, usize)| [[from, to], [to, from]].contains(&[side[a], side[b]]);
        if !pairs.iter().filter(joins).any(|&(_, a, b)| is_pair(&classes[a], &classes[b], rng)) {
            return false;
        }
        side.iter_mut().filter(|side| **side == from).for_each(|side| *side = to);
    }
    true
}

/// Whether two classes are supported by what their objects alone show.
fn is_pair(a: &[Vec<f64>], b: &[Vec<f64>], rng: &mut impl Rng) -> bool {
    let objects = [a, b].concat();
    let labels = [vec![0; a.len()], vec![1; b.len()]].concat();
    let all = squared_error(&objects, &vec![0; objects.len()], 1);
    let explained = 1.0 - squared_error(&objects, &labels, 2) / all;
    all > 0.0 && support(&objects, &[(2, explained)], rng).first().is_some_and(|found| found.is_supported)
}

fn centroid(objects: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; objects.first().map_or(0, Vec::len)];
    for object in objects {
        sum.iter_mut().zip(object).for_each(|(sum, x)| *sum += x / objects.len() as f64);
    }
    sum
}

/// The numbers of classes that the data support, the best first: the fewest
/// whose gap is within a deviation of the greatest, then the others by their
/// gap. Those above `most`, which a criterion set, are left out.
#[must_use]
pub fn supported_counts(all: &[Support], most: usize) -> Vec<usize> {
    let mut found: Vec<&Support> = all.iter().filter(|s| s.is_supported && s.n_classes <= most).collect();
    let enough = found.iter().map(|s| s.gap - s.deviation).fold(f64::NEG_INFINITY, f64::max);
    let best = found.iter().filter(|s| s.gap >= enough).map(|s| s.n_classes).min();
    found.sort_by(|a, b| b.gap.total_cmp(&a.gap).then(a.n_classes.cmp(&b.n_classes)));
    found.sort_by_key(|s| Some(s.n_classes) != best);
    found.iter().map(|s| s.n_classes).collect()
}

/// The share of the variance of some numbers of the feature vectors that lies
/// between classes; `None` where nothing varies.
#[must_use]
pub fn explained_by(classes: &[Moments], of: impl Fn(usize) -> bool) -> Option<f64> {
    let numbers = classes.first().map_or(0, |class| class.mean.len());
    let (between, within) = squares(classes.iter(), (0..numbers).filter(|&j| of(j)));
    (between + within > 0.0).then(|| between / (between + within))
}

/// What joining two of the classes would add to the squares within classes, and
/// what these are, over some numbers of the feature vectors.
///
/// # Panics
/// If one of the two is no class.
#[must_use]
pub fn joined(classes: &[Moments], [a, b]: [usize; 2], of: impl Fn(usize) -> bool) -> (f64, f64) {
    let numbers = || (0..classes[a].mean.len()).filter(|&j| of(j));
    let (added, _) = squares([&classes[a], &classes[b]].into_iter(), numbers());
    (added, squares(classes.iter(), numbers()).1)
}

/// The step in which classes differ most, by the squares between them over all
/// regions; `None` where they do not differ.
#[must_use]
pub fn loudest_step<'a>(classes: impl Iterator<Item = &'a Moments> + Clone, n_steps: usize) -> Option<usize> {
    let numbers = classes.clone().next().map_or(0, |class| class.mean.len());
    let of = |step: usize| squares(classes.clone(), (step..numbers).step_by(n_steps)).0;
    let loudest = (0..n_steps).map(|step| (step, of(step))).reduce(|a, b| if b.1 > a.1 { b } else { a });
    loudest.filter(|(_, between)| *between > 0.0).map(|(step, _)| step)
}

/// Sums of squares between and within classes, over some numbers of the
/// feature vectors.
fn squares<'a>(
    classes: impl Iterator<Item = &'a Moments> + Clone,
    numbers: impl Iterator<Item = usize>,
) -> (f64, f64) {
    let n: u64 = classes.clone().map(|class| class.n_ranks).sum();
    let (mut between, mut within) = (0.0, 0.0);
    for j in numbers {
        let mean = classes.clone().map(|c| c.n_ranks as f64 * c.mean[j]).sum::<f64>() / n as f64;
        for class in classes.clone() {
            between += class.n_ranks as f64 * (class.mean[j] - mean).powi(2);
            within += class.n_ranks.saturating_sub(1) as f64 * class.variance[j];
        }
    }
    (between, within)
}

/// What is left of 1; a table that is explained but for rounding has a
/// logarithm too.
fn rest_of(explained: f64) -> f64 {
    (1.0 - explained).max(1e-12)
}

/// Uniform in [0, 1).
fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// The shares of the variance that classes about medoids leave unexplained.
fn unexplained(objects: &[Vec<f64>], explained: &[(usize, f64)]) -> Vec<f64> {
    let Ok(matrix) = Dissimilarities::new(objects, |a, b| euclidean(a, b)) else {
        return vec![1.0; explained.len()];
    };
    let all = squared_error(objects, &vec![0; objects.len()], 1);
    let rest = |&(k, _): &(usize, f64)| match fasterpam(&matrix, k, Start::Build) {
        Ok(found) => rest_of(1.0 - squared_error(objects, &found.labels, k) / all),
        // Fewer differ than there are classes.
        Err(_) => rest_of(1.0),
    };
    explained.iter().map(rest).collect()
}

/// The sum of the squared distances to the centroids.
fn squared_error(objects: &[Vec<f64>], labels: &[u32], k: usize) -> f64 {
    let dims = objects.first().map_or(0, Vec::len);
    let mut sizes = vec![0.0; k];
    let mut centroids = vec![vec![0.0; dims]; k];
    for (object, &label) in objects.iter().zip(labels) {
        sizes[label as usize] += 1.0;
        centroids[label as usize].iter_mut().zip(object).for_each(|(sum, x)| *sum += x);
    }
    for (centroid, size) in centroids.iter_mut().zip(&sizes) {
        centroid.iter_mut().for_each(|sum| *sum /= size);
    }
    objects
        .iter()
        .zip(labels)
        .map(|(object, &label)| squared_euclidean(object, &centroids[label as usize]))
        .sum()
}

/// The deviations along the principal axes, up to a common factor; those that
/// are but rounding are left out.
fn principal_deviations(objects: &[Vec<f64>]) -> Vec<f64> {
    let n = objects.len();
    let dims = objects.first().map_or(0, Vec::len);
    let mean: Vec<f64> =
        (0..dims).map(|j| objects.iter().map(|object| object[j] / n as f64).sum::<f64>()).collect();
    let centred = |object: &Vec<f64>| object.iter().zip(&mean).map(|(x, m)| x - m).collect::<Vec<_>>();
    let mut centred: Vec<Vec<f64>> = objects.iter().map(centred).collect();
    let largest = centred.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
    let size = objects.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
    // Ranks that differ by rounding are alike.
    if largest <= size * 1e-9 {
        return Vec::new();
    }
    centred.iter_mut().flatten().for_each(|x| *x /= largest);
    // Of n objects and d numbers, the smaller matrix has all that the larger has.
    let matrix = if n <= dims {
        DMatrix::from_fn(n, n, |i, j| dot(&centred[i.min(j)], &centred[i.max(j)]))
    } else {
        let column = |j: usize| centred.iter().map(|row| row[j]).collect::<Vec<f64>>();
        let columns: Vec<Vec<f64>> = (0..dims).map(column).collect();
        DMatrix::from_fn(dims, dims, |i, j| dot(&columns[i.min(j)], &columns[i.max(j)]))
    };
    let values: Vec<f64> = principal_axes(matrix).iter().map(|axis| axis.value).collect();
    let first = values.first().copied().unwrap_or(0.0);
    values.into_iter().filter(|&value| value > first * 1e-12).map(f64::sqrt).collect()
}

#[cfg(test)]
mod tests;
