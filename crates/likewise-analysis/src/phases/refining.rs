//! Phases without parameters.

use super::grouping::{Curve, Grouped};
use super::options::Method;
use crate::{Stages, Watch};
use likewise::bursts::{
    Direction, NO_NODE, RefineInput, RefineRules, Refinement, default_min_points, eps_range, refine,
};
use likewise::cluster::{ClusterId, Clustering};
use rayon::prelude::*;

/// Groups bursts by refinement. With too few to have neighbours, all are noise.
pub(super) fn refine_bursts(
    input: &RefineInput<'_>,
    direction: Direction,
    min_points: Option<usize>,
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Grouped {
    let n = input.points.len();
    let range = {
        let _bar = watch.spinner("Measuring distances");
        stages.time("k_distance", || eps_range(input.points, input.n_threads, min_points))
    };
    let Ok(range) = range else {
        let min_points = min_points.unwrap_or_else(|| default_min_points(input.n_threads));
        let mut grouped = Grouped::new(Method::Refine, min_points);
        grouped.clustering = Clustering { labels: vec![None; n], n_clusters: 0 };
        return grouped;
    };
    let _bar = watch.spinner("Refining");
    let refinement = stages.time("cluster", || refine(input, &range, direction, &RefineRules::default()));
    let mut grouped = Grouped::new(Method::Refine, range.min_points);
    let mut sorted = range.distances;
    sorted.par_sort_unstable_by(|a, b| b.total_cmp(a));
    grouped.curve = Some(Curve::of(&sorted, range.min_points + 1));
    grouped.clustering = refinement.clustering.clone();
    grouped.refinement = Some(refinement);
    grouped
}

/// Of each node, the phase that it ended as.
pub fn phase_of_node(refinement: &Refinement, clustering: &Clustering) -> Vec<Option<ClusterId>> {
    let mut phase = vec![None; refinement.nodes.len()];
    if let Some(level) = refinement.levels.last() {
        for (&node, label) in level.node_of_burst.iter().zip(&clustering.labels) {
            if node != NO_NODE {
                phase[node as usize] = label.or(phase[node as usize]);
            }
        }
    }
    phase
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
