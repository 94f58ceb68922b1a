//! Phases without parameters.

use super::grouping::{Curve, Grouped};
use super::options::{Grouping, MIN_POINTS, Method};
use super::search::Search;
use crate::{Stages, Watch};
use likewise::bursts::{
    Direction, EpsRange, NO_NODE, RefineInput, RefineRules, Refinement, default_min_points, refine_by,
};
use likewise::cluster::kdist::KDistError;
use likewise::cluster::{Along, ClusterId, Clustering, CoreRadii, DbscanParams, Points};
use rayon::prelude::*;
use std::cmp::Reverse;

/// Groups bursts by refinement, by radii up to the `farthest`, of so many threads that may do the
/// same step `at_once`. With too few to have neighbours, all are noise.
pub(super) fn refine_bursts(
    (input, (farthest, at_once)): (&RefineInput<'_>, (f64, usize)),
    direction: Direction,
    asked: &Grouping,
    search: &dyn Search,
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Grouped {
    let min_points = asked.min_points.unwrap_or_else(|| default_min_points(at_once));
    let mut grouped = Grouped::new(Method::Refine, min_points);
    let found = {
        let _bar = watch.spinner("Measuring distances");
        stages.time("k_distance", || distances(input.points, min_points, asked, search))
    };
    let Ok(Distances { own, one_density, core }) = found else {
        let labels = vec![None; input.points.len()];
        grouped.clustering = Clustering { labels, n_clusters: 0 };
        return grouped;
    };
    grouped.one_density = one_density;
    let (range, curve) = stages.time("k_distance", || EpsRange::of(own, input.duration, min_points));
    let range = range.within(farthest);
    grouped.curve = Some(Curve::of(&curve, min_points.saturating_add(1)));
    drop(curve);
    let _bar = watch.spinner("Refining");
    let radii = range.eps.iter().copied().chain(range.reach).collect();
    let cores = core.map(|core| CoreRadii::of(&core, min_points, radii));
    if direction == Direction::Aggregative {
        // What each radius connects does not depend on what became of the others.
        let params = |&eps: &f64| DbscanParams::new(eps, range.min_points).ok();
        // The period is sought at one density.
        let one = grouped.one_density.as_ref().and_then(|curve| curve.suggested(input.points.len()).ok());
        let all: Vec<_> = range.eps.iter().chain(&range.reach).filter_map(params).chain(one).collect();
        search.ahead(input.points, &all, cores.as_ref());
    }
    // Where others find what a radius connects, few points are looked at here.
    let along = stages.time("cluster", || match search.uses_cores() {
        true => Along::of(input.points),
        false => Along::in_place(input.points),
    });
    let connect = |params: &DbscanParams| {
        let found = match &cores {
            Some(cores) => search.dbscan_knowing(&along, params, cores),
            None => search.dbscan(input.points, params),
        };
        found.clustering.labels
    };
    let refinement = stages
        .time("cluster", || refine_by(input, &along, range, direction, &RefineRules::default(), &connect));
    grouped.clustering = refinement.clustering.clone();
    grouped.refinement = Some(refinement);
    grouped
}

/// What one search finds.
struct Distances {
    /// Of every point to its `min_points`-th other.
    own: Vec<f64>,
    /// The curve from which one radius for all is read, where none is given.
    one_density: Option<Curve>,
    /// Of every point to the one that makes it core, where that helps.
    core: Option<Vec<f64>>,
}

fn distances(
    points: Points<'_>,
    min_points: usize,
    asked: &Grouping,
    search: &dyn Search,
) -> Result<Distances, KDistError> {
    let k = asked.min_points.unwrap_or(MIN_POINTS);
    let has_curve = asked.eps.is_none() && asked.sample.is_none() && points.len() >= k;
    let curve_k = has_curve.then_some(k);
    let core_k = search.uses_cores().then_some(min_points);
    let all: Vec<usize> =
        std::iter::once(min_points.saturating_add(1)).chain(curve_k).chain(core_k).collect();
    let mut found = search.k_distances(points, &all)?.into_iter();
    let own = found.next().unwrap_or_default();
    let curve = curve_k.and_then(|_| found.next()).map(|mut curve| {
        curve.par_sort_unstable_by_key(|x| Reverse(x.to_bits()));
        Curve::of(&curve, k)
    });
    Ok(Distances { own, one_density: curve, core: core_k.and_then(|_| found.next()) })
}

/// So many bursts are looked at by one thread.
const AT_ONCE: usize = 1 << 18;

/// Of each node, the phase that it ended as.
pub fn phase_of_node(refinement: &Refinement, clustering: &Clustering) -> Vec<Option<ClusterId>> {
    let n = refinement.nodes.len();
    let Some(level) = refinement.levels.last() else { return vec![None; n] };
    let of_part = |(cohorts, labels): (&[u32], &[Option<ClusterId>])| {
        let mut phase = vec![None; n];
        for (&cohort, label) in cohorts.iter().zip(labels) {
            let node = level.node_of(cohort);
            if node != NO_NODE {
                phase[node as usize] = label.or(phase[node as usize]);
            }
        }
        phase
    };
    let last = |mut first: Vec<Option<ClusterId>>, then: Vec<Option<ClusterId>>| {
        first.iter_mut().zip(then).for_each(|(phase, then)| *phase = then.or(*phase));
        first
    };
    let labels = clustering.labels.par_chunks(AT_ONCE);
    refinement.cohort_of_burst.par_chunks(AT_ONCE).zip(labels).map(of_part).reduce(|| vec![None; n], last)
}

/// The phases that stand in for one another, by their numbers.
pub fn alternatives(refinement: &Refinement, clustering: &Clustering) -> Vec<Vec<u32>> {
    let phase = phase_of_node(refinement, clustering);
    let number =
        |&place: &u32| phase[refinement.node_of_phase[place as usize] as usize].map(ClusterId::number);
    let mut lists: Vec<Vec<u32>> =
        refinement.alternatives.iter().map(|list| list.iter().filter_map(number).collect()).collect();
    lists.iter_mut().for_each(|list| list.sort_unstable());
    lists.retain(|list| list.len() > 1);
    lists.sort_unstable();
    lists
}
