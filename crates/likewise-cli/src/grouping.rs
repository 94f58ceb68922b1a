//! Which method groups the points, and with what parameters.

use crate::cli::Usage;
use crate::progress::Progress;
use crate::stages::Stages;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use likewise::bursts::{Refinement, downsample_curve, suggest_eps};
use likewise::cluster::{
    Clustering, DbscanParams, Points, XmeansParams, dbscan, kdist::k_distance_curve, label_by_nearest,
    stratified_sample, xmeans,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde_json::{Value, json};

/// The paper's choice for bursts: "usually 10" (González et al. 2009, §4).
const MIN_POINTS: usize = 10;

/// The numbers of clusters that X-means looks for.
const K_MIN: usize = 1;
const K_MAX: usize = 50;

/// Up to so many points the k-distance curve is shown beside a given eps too.
const CURVE_FOR_FREE: usize = 200_000;

/// How many points of the curve are kept for the eye.
const CURVE_POINTS: usize = 1_000;

/// How to group
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Grouping")]
pub(crate) struct GroupingArgs {
    /// Radius of a neighbourhood, in the units of what is grouped
    /// [default: the knee of the sorted k-distances; where bursts are refined,
    /// which is their default, all radii]
    #[arg(long, value_name = "EPS", allow_negative_numbers = true, value_parser = parse_eps)]
    pub(crate) eps: Option<f64>,
    /// Points within eps that make a point core, itself included [default: 10;
    /// where bursts are refined, a quarter of the threads]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) min_points: Option<usize>,
    /// Density (dbscan), or compact clusters whose number BIC chooses (xmeans)
    #[arg(long, value_enum)]
    pub(crate) method: Option<Method>,
    /// Fewest clusters that X-means looks for [default: 1]
    #[arg(long, value_name = "K", value_parser = parse_count)]
    pub(crate) k_min: Option<usize>,
    /// Most clusters that X-means looks for [default: 50]
    #[arg(long, value_name = "K", value_parser = parse_count)]
    pub(crate) k_max: Option<usize>,
    /// Group at most N of them, spread evenly (over the tasks, for bursts); the
    /// others take the label of their nearest neighbour within eps
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) sample: Option<usize>,
    /// Seed of the sample and of X-means
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

pub(crate) fn parse_count(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "expected a whole number from 1".to_owned())
}

fn parse_eps(text: &str) -> Result<f64, String> {
    let positive = |x: &f64| *x > 0.0 && x.is_finite();
    let eps = text.parse().ok().filter(positive).ok_or("expected a number above 0, such as 0.01")?;
    // Distances are compared by their squares.
    match (eps * eps).is_normal() {
        true => Ok(eps),
        false => {
            Err("its square leaves the range of a double: multiply all numbers, and eps, by a power of ten"
                .into())
        }
    }
}

impl GroupingArgs {
    /// Refuses parameters that do not go together, before anything is read.
    ///
    /// # Errors
    /// [`Usage`].
    pub(crate) fn check(&self) -> Result<()> {
        let xmeans = self.method == Some(Method::Xmeans);
        let wrong = if xmeans && (self.eps.is_some() || self.min_points.is_some()) {
            "X-means has no eps and no min-points; leave them out, or take --method dbscan"
        } else if !xmeans && (self.k_min.is_some() || self.k_max.is_some()) {
            "DBSCAN finds the number of clusters itself; --k-min and --k-max are for --method xmeans"
        } else if self.k_min.unwrap_or(K_MIN) > self.k_max.unwrap_or(K_MAX) {
            "the fewest clusters (--k-min) are more than the most (--k-max)"
        } else {
            return Ok(());
        };
        Err(Usage(wrong.to_owned()).into())
    }
}

/// A method of grouping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// See `refining.rs`: it needs to know which task runs a burst.
    #[value(skip)]
    Refine,
    Dbscan,
    Xmeans,
}

/// The sorted k-distances, thinned for the eye.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) k: usize,
    pub(crate) points: Vec<(usize, f64)>,
    /// The eps at its knee, and the rule that found it.
    pub(crate) knee: Option<(f64, &'static str)>,
}

/// A grouping and how it came about.
#[derive(Clone, Debug)]
pub(crate) struct Grouped {
    pub(crate) method: Method,
    pub(crate) clustering: Clustering,
    /// Which points are core, where the method knows.
    pub(crate) core: Option<Vec<bool>>,
    pub(crate) eps: Option<f64>,
    pub(crate) eps_is_suggested: bool,
    pub(crate) min_points: usize,
    pub(crate) curve: Option<Curve>,
    pub(crate) refinement: Option<Refinement>,
    sampled: Option<usize>,
    bic: Option<f64>,
    /// The most clusters that X-means was allowed, where that cut it short.
    ceiling: Option<usize>,
}

impl Grouped {
    /// Nothing grouped yet.
    pub(crate) fn new(method: Method, min_points: usize) -> Self {
        Self {
            method,
            clustering: Clustering::default(),
            core: None,
            eps: None,
            eps_is_suggested: false,
            min_points,
            curve: None,
            refinement: None,
            sampled: None,
            bic: None,
            ceiling: None,
        }
    }

    /// That X-means wanted more clusters than it was allowed.
    pub(crate) fn note(&self) -> Option<String> {
        let most = self.ceiling?;
        Some(format!(
            "X-means stopped at {most} clusters, the most that it may find, while its criterion (BIC) still favours \
             more; --k-max allows more."
        ))
    }

    /// The parameters for `summary.json`.
    pub(crate) fn to_json(&self) -> Value {
        let mut parameters = match self.method {
            Method::Dbscan => json!({
                "method": "dbscan", "eps": self.eps, "min_points": self.min_points,
                "eps_suggested": self.eps_is_suggested,
            }),
            Method::Xmeans => json!({
                "method": "xmeans", "bic": self.bic, "cut_short_at": self.ceiling,
            }),
            Method::Refine => json!({ "method": "refine", "min_points": self.min_points }),
        };
        if let Some((knee, rule)) = self.curve.as_ref().and_then(|curve| curve.knee) {
            parameters["eps_knee"] = json!(knee);
            parameters["eps_rule"] = json!(rule);
        }
        if let Some(n) = self.sampled {
            parameters["sample"] = json!(n);
        }
        parameters
    }
}

/// Groups the points; `stratum` names the task of each, tasks one after the
/// other.
pub(crate) fn group<S: PartialEq>(
    points: Points<'_>,
    stratum: &[S],
    args: &GroupingArgs,
    stages: &mut Stages,
    progress: Progress,
) -> Result<Grouped> {
    let n_sampled = args.sample.unwrap_or(usize::MAX).min(points.len());
    if n_sampled == points.len() {
        return group_all(points, args, stages, progress);
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(args.seed);
    let sample = stages.time("prepare", || stratified_sample(stratum, n_sampled, &mut rng));
    let rows: Vec<f64> = sample.iter().flat_map(|&i| points.row(i as usize)).copied().collect();
    let mut grouped = group_all(Points::new(&rows, points.dims())?, args, stages, progress)?;
    let _bar = progress.spinner("Labelling the rest");
    let reach = grouped.eps.unwrap_or(f64::INFINITY);
    let labels =
        stages.time("cluster", || label_by_nearest(&points, &sample, &grouped.clustering.labels, reach));
    grouped.clustering.labels = labels;
    grouped.core = None;
    grouped.sampled = Some(n_sampled);
    Ok(grouped)
}

fn group_all(
    points: Points<'_>,
    args: &GroupingArgs,
    stages: &mut Stages,
    progress: Progress,
) -> Result<Grouped> {
    let min_points = args.min_points.unwrap_or(MIN_POINTS);
    let method = args.method.unwrap_or(Method::Dbscan);
    let mut grouped = Grouped::new(method, min_points);
    grouped.eps = args.eps;
    if method == Method::Xmeans {
        let _bar = progress.spinner("Grouping");
        let most = args.k_max.unwrap_or(K_MAX);
        let params = XmeansParams::new(args.k_min.unwrap_or(K_MIN), most, 100)?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(args.seed);
        let found = stages.time("cluster", || xmeans(&points, &params, &mut rng));
        grouped.eps = None;
        grouped.bic = Some(found.bic);
        grouped.ceiling = found.is_cut_short.then_some(most);
        grouped.clustering = found.clustering;
        return Ok(grouped);
    }
    if args.eps.is_none() || points.len() <= CURVE_FOR_FREE {
        let _bar = progress.spinner("Measuring distances");
        grouped.curve = stages.time("k_distance", || curve(points, min_points));
    }
    let eps = match args.eps {
        Some(eps) => eps,
        None => {
            grouped.eps_is_suggested = true;
            let knee = grouped.curve.as_ref().and_then(|curve| curve.knee);
            knee.map(|(eps, _)| eps).with_context(|| {
                format!(
                    "no eps can be suggested for {} points with min-points {min_points}: their distances \
                     show no knee; give one with --eps",
                    points.len()
                )
            })?
        }
    };
    let params = DbscanParams::new(eps, min_points)?;
    let _bar = progress.spinner("Grouping");
    let found = stages.time("cluster", || dbscan(points, &params));
    grouped.eps = Some(eps);
    grouped.clustering = found.clustering;
    grouped.core = Some(found.core);
    Ok(grouped)
}

/// The curve of the distances to the `k`-th neighbour, if there are as many.
fn curve(points: Points<'_>, k: usize) -> Option<Curve> {
    Some(Curve::of(&k_distance_curve(points, k).ok()?, k))
}

impl Curve {
    /// `sorted` holds the distances, largest first.
    pub(crate) fn of(sorted: &[f64], k: usize) -> Self {
        let knee = suggest_eps(sorted, k).map(|suggestion| (suggestion.eps, suggestion.rule));
        Self { k, points: downsample_curve(sorted, CURVE_POINTS), knee }
    }
}
