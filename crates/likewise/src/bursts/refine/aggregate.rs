//! From fine to coarse.

use std::sync::OnceLock;

use crate::cluster::{Along, ClusterId};

use super::density::Density;
use super::far;
use super::levels::{Level, NO_NODE, RefineInput, Refinement};
use super::partition::{Partition, Scored, Tasks};
use super::step::{Setting, drop_scattered, join, level, params, split};
use super::substitution::{Detail, Substitution};
use super::{Connect, EpsRange, RefineRules};

pub(super) fn aggregate(
    input: &RefineInput<'_>,
    along: &Along<'_>,
    mut range: EpsRange,
    rules: &RefineRules,
    connect: Connect<'_>,
) -> Refinement {
    let near: Vec<f64> = range.eps.iter().copied().chain(range.reach).collect();
    let radii = [&near[..], &range.far].concat();
    let mut density = Density::new(std::mem::take(&mut range.distances), rules.sparse, &radii);
    let range = &range;
    let (tasks, first_far) = (Tasks::some(input), near.len());
    let setting = Setting { input, range, rules, tasks, first_far, along, index: OnceLock::new() };
    let mut partition = Partition::new(input);
    let mut levels = Vec::new();
    let regrouped =
        |place: usize| near.get(place).map(|&eps| regroup_all(input, (eps, range.min_points), connect));
    let mut found = regrouped(0);
    let mut before = None;
    for (radius, &eps) in range.eps.iter().enumerate() {
        let now = found.take().unwrap_or_default();
        let parts = (&mut partition, &mut density);
        let step = || level(&setting, parts, &mut levels, (radius, eps), &now, before.as_ref());
        // What the next radius connects does not depend on what becomes of it.
        let (scored, next) = rayon::join(step, || regrouped(radius + 1));
        (before, found) = (Some(scored), next);
    }
    let before = before.unwrap_or_else(|| partition.score(&setting.tasks, None));
    let before = far::group_the_rest(&setting, (&mut partition, &mut density), &mut levels, before);
    join_last(&setting, (&mut partition, &density), &mut levels, (found, before));
    drop(setting);
    finish(input, rules, partition, levels)
}

/// The last levels; `before` is how the partition is aligned. First scattered groups
/// are dropped, so that no noise joins a phase; then the rest joins once more where it
/// is connected (`found` has how, if there is a larger radius); then groups that are
/// one step of the same code join.
fn join_last(
    setting: &Setting<'_>,
    (partition, density): (&mut Partition, &Density),
    levels: &mut Vec<Level>,
    (found, scored): (Option<Vec<Option<ClusterId>>>, Scored),
) {
    let Setting { input, range, rules, tasks, .. } = setting;
    let n_dropped = drop_scattered(rules, tasks, partition, &scored);
    let mut scored = if n_dropped == 0 { scored } else { partition.score(tasks, Some(&scored)) };
    let mut eps = range.eps.last().copied().unwrap_or_default();
    if let (Some(reach), Some(found)) = (range.reach, found) {
        eps = reach;
        let place = (levels.len(), range.eps.len());
        join(setting, (partition, density), place, &found, Some(&scored));
        scored = partition.score(tasks, Some(&scored));
        levels.push(partition.close(eps, &scored));
    }
    let lists = Substitution::of_nodes(input, tasks, &scored, partition, Detail::Code).one_step(rules);
    partition.merge(levels.len(), lists);
    let scored = partition.score(tasks, Some(&scored));
    levels.push(partition.close(eps, &scored));
}

pub(super) fn finish(
    input: &RefineInput<'_>,
    rules: &RefineRules,
    mut partition: Partition,
    mut levels: Vec<Level>,
) -> Refinement {
    let all = Tasks::all(input);
    let scored = partition.score(&all, None);
    let n_dropped = drop_scattered(rules, &all, &mut partition, &scored);
    let scored = match n_dropped {
        0 => scored,
        _ if scored.stands_without(n_dropped) => partition.score_rest(&scored),
        _ => partition.score(&all, None),
    };
    let lists =
        Substitution::of_nodes(input, &all, &scored, &partition, Detail::Columns).alternatives(rules.always);
    let place = |node: &u32| scored.live.binary_search(node).unwrap_or(0) as u32;
    let alternatives = lists.iter().map(|nodes| nodes.iter().map(place).collect()).collect();
    // Cohorts of later levels were in no node before.
    let n_cohorts = partition.node_of_cohort.len();
    levels.iter_mut().for_each(|level| level.node_of_cohort.resize(n_cohorts, NO_NODE));
    Refinement {
        clustering: partition.clustering(&scored.live),
        node_of_phase: scored.live,
        alignment: scored.alignment,
        score: scored.score,
        levels,
        cohort_of_burst: partition.cohort_of,
        nodes: partition.nodes,
        alternatives,
    }
}

/// The same of all bursts.
fn regroup_all(
    input: &RefineInput<'_>,
    (eps, min_points): (f64, usize),
    connect: Connect<'_>,
) -> Vec<Option<ClusterId>> {
    split(connect(&params(eps, min_points)), input.apart)
}
