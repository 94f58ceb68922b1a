//! From fine to coarse.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::cluster::{ClusterId, DbscanParams, Points, dbscan, label_by_nearest};

use super::levels::{Level, NO_NODE, RefineInput, Refinement};
use super::partition::{Partition, Scored, Tasks};
use super::substitution::Substitution;
use super::{Connect, EpsRange, RefineRules};

/// So many bursts are counted at once.
const PART: usize = 1 << 16;

/// What stays the same from level to level.
struct Setting<'a> {
    input: &'a RefineInput<'a>,
    range: &'a EpsRange,
    rules: &'a RefineRules,
    tasks: Tasks,
}

pub(super) fn aggregate(
    input: &RefineInput<'_>,
    range: &EpsRange,
    rules: &RefineRules,
    connect: Connect<'_>,
) -> Refinement {
    let setting = Setting { input, range, rules, tasks: Tasks::some(input) };
    let mut partition = Partition::new(input.points.len());
    let mut levels = Vec::new();
    let radii: Vec<f64> = range.eps.iter().copied().chain(range.reach).collect();
    let regrouped =
        |place: usize| radii.get(place).map(|&eps| regroup_all(input, (eps, range.min_points), connect));
    let mut found = regrouped(0);
    let mut before = None;
    for (level, &eps) in range.eps.iter().enumerate() {
        let now = found.take().unwrap_or_default();
        let step = || {
            let parts = join(&setting, &mut partition, (level, eps), &now, before.as_ref());
            grow(&setting, &mut partition, (level, eps), &now, &parts);
            let scored = partition.score(input, &setting.tasks);
            levels.push(partition.close(input, eps, &scored));
            scored
        };
        // What the next radius connects does not depend on what becomes of it.
        let (scored, next) = rayon::join(step, || regrouped(level + 1));
        (before, found) = (Some(scored), next);
    }
    join_last(&setting, &mut partition, &mut levels, found);
    finish(input, rules, partition, levels)
}

/// The last levels. First scattered groups are dropped, so that no noise joins a
/// phase; then the rest joins once more where it is connected (`found` has how, if
/// there is a larger radius); then groups that are one step of the same code join.
fn join_last(
    setting: &Setting<'_>,
    partition: &mut Partition,
    levels: &mut Vec<Level>,
    found: Option<Vec<Option<ClusterId>>>,
) {
    let Setting { input, range, rules, tasks } = setting;
    let scored = partition.score(input, tasks);
    let mut scored = drop_scattered((input, rules), tasks, partition, scored);
    let mut eps = range.eps.last().copied().unwrap_or_default();
    if let (Some(reach), Some(found)) = (range.reach, found) {
        eps = reach;
        join(setting, partition, (levels.len(), eps), &found, Some(&scored));
        scored = partition.score(input, tasks);
        levels.push(partition.close(input, eps, &scored));
    }
    let lists = Substitution::of_nodes(input, tasks, &scored, &partition.node_of).one_step(rules);
    partition.merge(levels.len(), lists);
    let scored = partition.score(input, tasks);
    levels.push(partition.close(input, eps, &scored));
}

pub(super) fn finish(
    input: &RefineInput<'_>,
    rules: &RefineRules,
    mut partition: Partition,
    levels: Vec<Level>,
) -> Refinement {
    let all = Tasks::all(input.n_threads);
    let scored = partition.score(input, &all);
    let scored = drop_scattered((input, rules), &all, &mut partition, scored);
    let lists = Substitution::of_nodes(input, &all, &scored, &partition.node_of).alternatives(rules.always);
    let place = |node: &u32| scored.live.binary_search(node).unwrap_or(0) as u32;
    let alternatives = lists.iter().map(|nodes| nodes.iter().map(place).collect()).collect();
    Refinement {
        clustering: partition.clustering(&scored.live),
        node_of_phase: scored.live,
        alignment: scored.alignment,
        score: scored.score,
        levels,
        nodes: partition.nodes,
        alternatives,
    }
}

/// Drops groups whose bursts stand anywhere, hardly two of them at the same step:
/// they are noise that happens to be near one another. A phase of a single task
/// stays.
fn drop_scattered(
    (input, rules): (&RefineInput<'_>, &RefineRules),
    aligned: &Tasks,
    partition: &mut Partition,
    scored: Scored,
) -> Scored {
    let mut tasks = vec![0usize; partition.nodes.len()];
    let mut last = vec![u32::MAX; partition.nodes.len()];
    for (&node, &thread) in partition.node_of.iter().zip(input.thread) {
        if node != NO_NODE && last[node as usize] != thread && aligned.place(thread).is_some() {
            last[node as usize] = thread;
            tasks[node as usize] += 1;
        }
    }
    let is_scattered = |node: u32| {
        let tasks = tasks[node as usize] as f64;
        let per_column = partition.nodes[node as usize].score * aligned.len() as f64;
        tasks > 1.0 && (per_column - 1.0) / (tasks - 1.0) < rules.scattered
    };
    let scattered: Vec<u32> = scored.live.iter().copied().filter(|&node| is_scattered(node)).collect();
    if scattered.is_empty() {
        return scored;
    }
    let gone = |node: &&mut u32| scattered.binary_search(node).is_ok();
    partition.node_of.iter_mut().filter(gone).for_each(|node| *node = NO_NODE);
    partition.score(input, aligned)
}

/// The cluster of each of some bursts, by DBSCAN of these alone. A cluster with
/// bursts that must be kept apart is split by what keeps them apart.
pub(super) fn regroup(
    input: &RefineInput<'_>,
    bursts: &[u32],
    eps: f64,
    min_points: usize,
) -> Vec<Option<ClusterId>> {
    let rows: Vec<f64> = bursts.iter().flat_map(|&i| input.points.row(i as usize)).copied().collect();
    let points = Points::new(&rows, input.points.dims()).expect("rows of points are points");
    let apart: Vec<u32> = bursts.iter().filter_map(|&i| input.apart.get(i as usize)).copied().collect();
    split(dbscan(points, &params(eps, min_points)).clustering.labels, &apart)
}

/// The same of all bursts.
fn regroup_all(
    input: &RefineInput<'_>,
    (eps, min_points): (f64, usize),
    connect: Connect<'_>,
) -> Vec<Option<ClusterId>> {
    split(connect(&params(eps, min_points)), input.apart)
}

fn params(eps: f64, min_points: usize) -> DbscanParams {
    DbscanParams::new(eps, min_points).expect("a radius above 0, and a point at least")
}

/// Splits clusters by what keeps their bursts apart.
fn split(labels: Vec<Option<ClusterId>>, apart: &[u32]) -> Vec<Option<ClusterId>> {
    if apart.is_empty() {
        return labels;
    }
    let kind = |(&apart, label): (&u32, &Option<ClusterId>)| label.map(|id| (id, apart));
    let kinds: Vec<_> = apart.iter().zip(&labels).map(kind).collect();
    let mut all: Vec<_> = kinds.iter().flatten().collect();
    all.sort_unstable();
    all.dedup();
    let place = |kind: &(ClusterId, u32)| ClusterId::from_index(all.partition_point(|k| *k < kind));
    kinds.iter().map(|kind| kind.as_ref().map(place)).collect()
}

/// Lets nodes join that `found` connects; returns the nodes in each cluster.
/// `before` is how the nodes were aligned, as they are.
fn join(
    setting: &Setting<'_>,
    partition: &mut Partition,
    level: (usize, f64),
    found: &[Option<ClusterId>],
    before: Option<&Scored>,
) -> BTreeMap<ClusterId, Vec<u32>> {
    let home = homes(partition, found);
    let mut parts: BTreeMap<ClusterId, Vec<u32>> = BTreeMap::new();
    home.iter().for_each(|(&node, &cluster)| parts.entry(cluster).or_default().push(node));
    if parts.values().all(|parts| parts.len() == 1) {
        return parts;
    }
    let lists = fragments(setting, partition, level.1, (&home, &parts), before);
    let first = partition.nodes.len() as u32;
    let target: BTreeMap<u32, u32> = lists
        .iter()
        .zip(first..)
        .flat_map(|(list, node)| list.iter().map(move |&part| (part, node)))
        .collect();
    partition.merge(level.0, lists);
    for nodes in parts.values_mut() {
        nodes.iter_mut().for_each(|node| *node = *target.get(node).unwrap_or(node));
        nodes.sort_unstable();
        nodes.dedup();
    }
    parts
}

/// Bursts that were in no node become new ones, or part of those that they
/// are connected to, unless these are far denser.
fn grow(
    setting: &Setting<'_>,
    partition: &mut Partition,
    (level, eps): (usize, f64),
    found: &[Option<ClusterId>],
    parts: &BTreeMap<ClusterId, Vec<u32>>,
) {
    let spacing = spacing(setting.range, partition);
    let grows = |node: u32| eps <= setting.rules.sparse * spacing[node as usize];
    let mut new: BTreeMap<ClusterId, u32> = BTreeMap::new();
    let mut open: BTreeMap<ClusterId, Vec<u32>> = BTreeMap::new();
    for (i, cluster) in found.iter().enumerate() {
        let (NO_NODE, Some(cluster)) = (partition.node_of[i], cluster) else { continue };
        match parts.get(cluster).map(Vec::as_slice) {
            None => {
                let node = *new.entry(*cluster).or_insert_with(|| partition.add(level, Vec::new()));
                partition.node_of[i] = node;
            }
            Some(&[only]) if grows(only) => partition.node_of[i] = only,
            Some(nodes) if nodes.iter().any(|&node| grows(node)) => {
                open.entry(*cluster).or_default().push(i as u32);
            }
            Some(_) => {}
        }
    }
    for (cluster, bursts) in open {
        let members = found.iter().zip(0..).filter(|(c, _)| **c == Some(cluster)).map(|(_, i)| i);
        share_out(setting.input, partition, members.collect(), &bursts);
        for i in bursts {
            let node = &mut partition.node_of[i as usize];
            if !grows(*node) {
                *node = NO_NODE;
            }
        }
    }
}

/// The cluster of each live node: that of most of its bursts. A border burst
/// may be another's now.
fn homes(partition: &Partition, found: &[Option<ClusterId>]) -> BTreeMap<u32, ClusterId> {
    let count = |nodes: &[u32], found: &[Option<ClusterId>]| {
        let mut votes: FxHashMap<(u32, ClusterId), usize> = FxHashMap::default();
        for (&node, cluster) in nodes.iter().zip(found) {
            if let (Some(cluster), true) = (cluster, node != NO_NODE) {
                *votes.entry((node, *cluster)).or_insert(0) += 1;
            }
        }
        votes
    };
    let add = |mut votes: FxHashMap<_, usize>, others: FxHashMap<_, usize>| {
        others.into_iter().for_each(|(key, n)| *votes.entry(key).or_insert(0) += n);
        votes
    };
    let parts = partition.node_of.par_chunks(PART).zip(found.par_chunks(PART));
    let votes = parts.map(|(nodes, found)| count(nodes, found)).reduce(FxHashMap::default, add);
    let mut votes: Vec<_> = votes.into_iter().collect();
    // Of equally many, the first cluster.
    votes.sort_unstable_by_key(|&((node, cluster), n)| (node, std::cmp::Reverse(n), cluster));
    votes.dedup_by_key(|&mut ((node, _), _)| node);
    votes.into_iter().map(|(key, _)| key).collect()
}

/// Connected nodes that are one phase in pieces.
fn fragments(
    setting: &Setting<'_>,
    partition: &Partition,
    eps: f64,
    (home, parts): (&BTreeMap<u32, ClusterId>, &BTreeMap<ClusterId, Vec<u32>>),
    before: Option<&Scored>,
) -> Vec<Vec<u32>> {
    // All that is connected goes by the name of its first part.
    let mut name: Vec<u32> = (0..partition.nodes.len() as u32).collect();
    home.iter().for_each(|(&node, cluster)| name[node as usize] = parts[cluster][0]);
    let named = |&node: &u32| name.get(node as usize).copied().unwrap_or(NO_NODE);
    let group_of: Vec<u32> = partition.node_of.par_iter().map(named).collect();
    let Setting { input, range, rules, tasks } = setting;
    let spacing = spacing(range, partition);
    let reaches = |node: u32| eps <= rules.sparse * spacing[node as usize];
    let near = |a: u32, b: u32| reaches(a) || reaches(b);
    // Where none of the parts may join there is nothing to look at.
    let asked: BTreeSet<u32> = parts
        .values()
        .filter(|parts| parts.len() > 1 && parts.iter().any(|&part| reaches(part)))
        .map(|parts| parts[0])
        .collect();
    if asked.is_empty() {
        return Vec::new();
    }
    let scored = Scored::of(input, tasks, &group_of, partition.nodes.len(), before);
    let of = (&partition.node_of[..], &group_of[..]);
    Substitution::measure(input, tasks, &scored, of, |group| asked.contains(&group)).fragments(rules, near)
}

/// How dense each node is: nine in ten of its bursts have their `min_points`-th
/// neighbour within this distance.
fn spacing(range: &EpsRange, partition: &Partition) -> Vec<f64> {
    let mut distances = vec![Vec::new(); partition.nodes.len()];
    for (&node, &distance) in partition.node_of.iter().zip(&range.distances) {
        if let Some(list) = distances.get_mut(node as usize) {
            list.push(distance);
        }
    }
    let high = |mut list: Vec<f64>| {
        let at = (list.len() * 9 / 10).min(list.len().checked_sub(1)?);
        Some(*list.select_nth_unstable_by(at, f64::total_cmp).1)
    };
    distances.into_par_iter().map(|list| high(list).unwrap_or(0.0)).collect()
}

/// Bursts that were in no node and are connected to several: each joins that
/// of its nearest neighbour.
pub(super) fn share_out(
    input: &RefineInput<'_>,
    partition: &mut Partition,
    members: Vec<u32>,
    bursts: &[u32],
) {
    let rows: Vec<f64> = members.iter().flat_map(|&i| input.points.row(i as usize)).copied().collect();
    let points = Points::new(&rows, input.points.dims()).expect("rows of points are points");
    let node = |at: u32| partition.node_of[members[at as usize] as usize];
    let known: Vec<u32> = (0..members.len() as u32).filter(|&at| node(at) != NO_NODE).collect();
    let labels: Vec<_> = known.iter().map(|&at| Some(ClusterId::from_index(node(at) as usize))).collect();
    let nearest = label_by_nearest(points, &known, &labels, f64::INFINITY);
    for (&i, label) in members.iter().zip(nearest) {
        if bursts.binary_search(&i).is_ok() {
            partition.node_of[i as usize] = label.map_or(NO_NODE, |id| id.index() as u32);
        }
    }
}
