//! Which method groups the points, and with what parameters.

use super::options::{Grouping, K_MAX, K_MIN, MIN_POINTS, Method};
use super::search::{Here, Search};
use crate::{Stages, Usage, Watch};
use anyhow::{Context, Result};
use likewise::bursts::{Refinement, downsample_curve, suggest_eps};
use likewise::cluster::{
    Clustering, DbscanParams, Points, XmeansParams, label_by_nearest, stratified_sample, xmeans,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rayon::prelude::*;
use std::cmp::Reverse;

/// With at most this many points, the k-distance curve is shown even if eps is
/// given: it costs hardly any time.
const CURVE_FOR_FREE: usize = 200_000;

/// How many points of the curve are kept for the eye.
const CURVE_POINTS: usize = 1_000;

/// The sorted k-distances, thinned for the eye.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Which neighbour is meant, the point itself counted.
    pub k: usize,
    /// Rank and distance, the largest first.
    pub points: Vec<(usize, f64)>,
    /// The eps at its knee, and the rule that found it.
    pub knee: Option<(f64, &'static str)>,
}

/// A grouping and how it came about.
#[derive(Clone, Debug)]
pub struct Grouped {
    /// How it was grouped.
    pub method: Method,
    /// Labels of the points.
    pub clustering: Clustering,
    /// Which points are core, where the method knows.
    pub core: Option<Vec<bool>>,
    /// Radius of the neighbourhood, where there was one.
    pub eps: Option<f64>,
    /// Whether nobody gave eps.
    pub eps_is_suggested: bool,
    /// Points within eps that make a point core, itself included.
    pub min_points: usize,
    /// The distances, where they were measured.
    pub curve: Option<Curve>,
    /// Those from which one radius for all would be read, if bursts were refined.
    pub one_density: Option<Curve>,
    /// Its levels, if bursts were refined. In an analysis without the clustering and
    /// the alignment, which have moved to where they are shown.
    pub refinement: Option<Refinement>,
    /// How many points were grouped, where it was not all.
    pub sampled: Option<usize>,
    /// Of X-means.
    pub bic: Option<f64>,
    /// The most clusters that X-means was allowed, where that cut it short.
    pub ceiling: Option<usize>,
}

impl Grouped {
    /// Nothing grouped yet.
    pub fn new(method: Method, min_points: usize) -> Self {
        Self {
            method,
            clustering: Clustering::default(),
            core: None,
            eps: None,
            eps_is_suggested: false,
            min_points,
            curve: None,
            one_density: None,
            refinement: None,
            sampled: None,
            bic: None,
            ceiling: None,
        }
    }

    /// That X-means wanted more clusters than it was allowed.
    pub fn note(&self) -> Option<String> {
        let most = self.ceiling?;
        Some(format!(
            "X-means stopped at {most} clusters, the most that it may find, while its criterion (BIC) still favours \
             more; --k-max allows more."
        ))
    }
}

/// Groups the points; `stratum` names the task of each, tasks one after the
/// other. `search` finds the neighbours among all points.
pub fn group<S: PartialEq>(
    points: Points<'_>,
    stratum: &[S],
    asked: &Grouping,
    search: &dyn Search,
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Result<Grouped> {
    let n_sampled = asked.sample.unwrap_or(usize::MAX).min(points.len());
    if n_sampled == points.len() {
        return group_all(points, asked, search, stages, watch);
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(asked.seed);
    let sample = stages.time("prepare", || stratified_sample(stratum, n_sampled, &mut rng));
    let rows: Vec<f64> = sample.iter().flat_map(|&i| points.row(i as usize)).copied().collect();
    let mut grouped = group_all(Points::new(&rows, points.dims())?, asked, &Here, stages, watch)?;
    let _bar = watch.spinner("Labelling the rest");
    // X-means has no radius: then every point takes the nearest label.
    let reach = grouped.eps.unwrap_or(f64::INFINITY);
    let labels =
        stages.time("cluster", || label_by_nearest(points, &sample, &grouped.clustering.labels, reach));
    grouped.clustering.labels = labels;
    // Only for the sampled points is it known whether they are core.
    grouped.core = None;
    grouped.sampled = Some(n_sampled);
    Ok(grouped)
}

fn group_all(
    points: Points<'_>,
    asked: &Grouping,
    search: &dyn Search,
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Result<Grouped> {
    let min_points = asked.min_points.unwrap_or(MIN_POINTS);
    let method = asked.method.unwrap_or(Method::Dbscan);
    if method == Method::Places {
        return Err(Usage("--method places is for bursts, which lie between calls".to_owned()).into());
    }
    let mut grouped = Grouped::new(method, min_points);
    grouped.eps = asked.eps;
    if method == Method::Xmeans {
        let _bar = watch.spinner("Grouping");
        let most = asked.k_max.unwrap_or(K_MAX);
        let params = XmeansParams::new(asked.k_min.unwrap_or(K_MIN), most, 100)?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(asked.seed);
        let found = stages.time("cluster", || xmeans(points, &params, &mut rng));
        grouped.eps = None;
        grouped.bic = Some(found.bic);
        grouped.ceiling = found.is_cut_short.then_some(most);
        grouped.clustering = found.clustering;
        return Ok(grouped);
    }
    if asked.eps.is_none() || points.len() <= CURVE_FOR_FREE {
        let _bar = watch.spinner("Measuring distances");
        grouped.curve = stages.time("k_distance", || curve(points, min_points, search));
    }
    let eps = match asked.eps {
        Some(eps) => eps,
        None => {
            grouped.eps_is_suggested = true;
            suggested(grouped.curve.as_ref(), points.len(), min_points)?
        }
    };
    let params = DbscanParams::new(eps, min_points)?;
    let _bar = watch.spinner("Grouping");
    let found = stages.time("cluster", || search.dbscan(points, &params));
    grouped.eps = Some(eps);
    grouped.clustering = found.clustering;
    grouped.core = Some(found.core);
    Ok(grouped)
}

/// The eps at the knee of the distances of `n` points.
fn suggested(curve: Option<&Curve>, n: usize, min_points: usize) -> Result<f64> {
    curve.and_then(|curve| curve.knee).map(|(eps, _)| eps).with_context(|| {
        format!(
            "no eps can be suggested for {n} points with min-points {min_points}: their distances show no knee; \
             give one with --eps"
        )
    })
}

/// The curve of the distances to the `k`-th neighbour, if there are as many.
fn curve(points: Points<'_>, k: usize, search: &dyn Search) -> Option<Curve> {
    let mut distances = search.k_distances(points, &[k]).ok()?.pop()?;
    distances.par_sort_unstable_by_key(|x| Reverse(x.to_bits()));
    Some(Curve::of(&distances, k))
}

impl Curve {
    /// `sorted` holds the distances, largest first.
    pub fn of(sorted: &[f64], k: usize) -> Self {
        let knee = suggest_eps(sorted, k).map(|suggestion| (suggestion.eps, suggestion.rule));
        Self { k, points: downsample_curve(sorted, CURVE_POINTS), knee }
    }

    /// The one radius for all that the distances of `n` points suggest.
    pub(super) fn suggested(&self, n: usize) -> Result<DbscanParams> {
        Ok(DbscanParams::new(suggested(Some(self), n, self.k)?, self.k)?)
    }
}
