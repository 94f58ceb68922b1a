//! From fine to coarse.

use std::collections::BTreeMap;

use crate::cluster::{ClusterId, DbscanParams, Points, dbscan, label_by_nearest};

use super::partition::{Partition, Scored, Tasks};
use super::substitution::Substitution;
use super::{EpsRange, NO_NODE, RefineInput, Refinement};

/// Parts are no fragments of one phase where the radius that connects them is
/// so many times the distances within both.
const FAR: f64 = 8.0;

/// Nor does a phase grow at a radius so many times the distances within it:
/// what is connected then is noise nearby.
const SPARSE: f64 = 12.0;

/// A group is scattered, not a step of the program, if of the tasks that show
/// it, beyond the first, less than this share do so in the same column.
const SCATTERED: f64 = 0.1;

/// The share of its places at which a phase stands in for another that it is
/// the alternative of.
const ALWAYS: f64 = 0.9;

/// What stays the same from level to level.
struct Setting<'a> {
    input: &'a RefineInput<'a>,
    range: &'a EpsRange,
    tasks: Tasks,
}

pub(super) fn aggregate(input: &RefineInput<'_>, range: &EpsRange) -> Refinement {
    let setting = Setting { input, range, tasks: Tasks::some(input) };
    let mut partition = Partition::new(input.points.len());
    let mut levels = Vec::new();
    for (level, &eps) in range.eps.iter().enumerate() {
        let pool = partition.pool();
        if pool.is_empty() {
            break;
        }
        let found = regroup(input, &pool, eps, range.min_points);
        join(&setting, &mut partition, level, &pool, &found);
        let scored = partition.score(input, &setting.tasks);
        levels.push(partition.close(input, eps, &scored));
    }
    finish(input, partition, levels)
}

pub(super) fn finish(
    input: &RefineInput<'_>,
    mut partition: Partition,
    levels: Vec<super::Level>,
) -> Refinement {
    let all = Tasks::all(input.n_threads);
    let scored = partition.score(input, &all);
    let scored = drop_scattered(input, &all, &mut partition, scored);
    let alternatives = alternatives(input, &all, &partition, &scored);
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

/// Groups whose bursts stand anywhere, hardly two of them at the same step,
/// are noise that happens to be near. A phase of one task stays.
fn drop_scattered(input: &RefineInput<'_>, all: &Tasks, partition: &mut Partition, scored: Scored) -> Scored {
    let mut tasks = vec![0usize; partition.nodes.len()];
    let mut last = vec![u32::MAX; partition.nodes.len()];
    for (&node, &thread) in partition.node_of.iter().zip(input.thread) {
        if node != NO_NODE && last[node as usize] != thread {
            last[node as usize] = thread;
            tasks[node as usize] += 1;
        }
    }
    let is_scattered = |node: u32| {
        let tasks = tasks[node as usize] as f64;
        let per_column = partition.nodes[node as usize].score * input.n_threads as f64;
        tasks > 1.0 && (per_column - 1.0) / (tasks - 1.0) < SCATTERED
    };
    let scattered: Vec<u32> = scored.live.iter().copied().filter(|&node| is_scattered(node)).collect();
    if scattered.is_empty() {
        return scored;
    }
    let gone = |node: &&mut u32| scattered.binary_search(node).is_ok();
    partition.node_of.iter_mut().filter(gone).for_each(|node| *node = NO_NODE);
    partition.score(input, all)
}

/// DBSCAN of the pool alone: of each of its bursts, the cluster.
pub(super) fn regroup(
    input: &RefineInput<'_>,
    pool: &[u32],
    eps: f64,
    min_points: usize,
) -> Vec<Option<ClusterId>> {
    let rows: Vec<f64> = pool.iter().flat_map(|&i| input.points.row(i as usize)).copied().collect();
    let points = Points::new(&rows, input.points.dims()).expect("rows of points are points");
    let params = DbscanParams::new(eps, min_points).expect("a radius above 0, and a point at least");
    dbscan(points, &params).clustering.labels
}

/// Lets nodes grow and join as `found` connects the pool.
fn join(
    setting: &Setting<'_>,
    partition: &mut Partition,
    level: usize,
    pool: &[u32],
    found: &[Option<ClusterId>],
) {
    let home = homes(partition, pool, found);
    let mut parts: BTreeMap<ClusterId, Vec<u32>> = BTreeMap::new();
    home.iter().for_each(|(&node, &cluster)| parts.entry(cluster).or_default().push(node));
    let target = if parts.values().any(|parts| parts.len() > 1) {
        targets(setting, partition, level, &home, &parts)
    } else {
        BTreeMap::new()
    };
    for node in &mut partition.node_of {
        *node = *target.get(node).unwrap_or(node);
    }
    for nodes in parts.values_mut() {
        nodes.iter_mut().for_each(|node| *node = *target.get(node).unwrap_or(node));
        nodes.sort_unstable();
        nodes.dedup();
    }
    grow(setting, partition, level, (pool, found), &parts);
}

/// Bursts that were in no node become new ones, or part of those that they
/// are connected to, unless these are far denser.
fn grow(
    setting: &Setting<'_>,
    partition: &mut Partition,
    level: usize,
    (pool, found): (&[u32], &[Option<ClusterId>]),
    parts: &BTreeMap<ClusterId, Vec<u32>>,
) {
    let eps = setting.range.eps[level];
    let spacing = spacing(setting.range, partition);
    let grows = |node: u32| eps <= SPARSE * spacing[node as usize];
    let mut new: BTreeMap<ClusterId, u32> = BTreeMap::new();
    let mut open: BTreeMap<ClusterId, Vec<u32>> = BTreeMap::new();
    for (&i, cluster) in pool.iter().zip(found) {
        let (NO_NODE, Some(cluster)) = (partition.node_of[i as usize], cluster) else { continue };
        match parts.get(cluster).map(Vec::as_slice) {
            None => {
                let node = *new.entry(*cluster).or_insert_with(|| partition.add(level, Vec::new()));
                partition.node_of[i as usize] = node;
            }
            Some(&[only]) if grows(only) => partition.node_of[i as usize] = only,
            Some(nodes) if nodes.iter().any(|&node| grows(node)) => open.entry(*cluster).or_default().push(i),
            Some(_) => {}
        }
    }
    for (cluster, bursts) in open {
        let members = pool.iter().zip(found).filter(|(_, c)| **c == Some(cluster)).map(|(&i, _)| i);
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
fn homes(partition: &Partition, pool: &[u32], found: &[Option<ClusterId>]) -> BTreeMap<u32, ClusterId> {
    let mut votes: BTreeMap<(u32, ClusterId), usize> = BTreeMap::new();
    for (&i, cluster) in pool.iter().zip(found) {
        let node = partition.node_of[i as usize];
        if let (Some(cluster), true) = (cluster, node != NO_NODE) {
            *votes.entry((node, *cluster)).or_insert(0) += 1;
        }
    }
    let mut best: BTreeMap<u32, (usize, ClusterId)> = BTreeMap::new();
    for ((node, cluster), n) in votes {
        let most = best.entry(node).or_insert((0, cluster));
        if n > most.0 {
            *most = (n, cluster);
        }
    }
    best.into_iter().map(|(node, (_, cluster))| (node, cluster)).collect()
}

/// The node that each node becomes part of, where connected ones stand in for
/// one another.
fn targets(
    setting: &Setting<'_>,
    partition: &mut Partition,
    level: usize,
    home: &BTreeMap<u32, ClusterId>,
    parts: &BTreeMap<ClusterId, Vec<u32>>,
) -> BTreeMap<u32, u32> {
    // All that is connected goes by the name of its first part.
    let name = |node: u32| home.get(&node).map_or(node, |cluster| parts[cluster][0]);
    let named = |&node: &u32| if node == NO_NODE { NO_NODE } else { name(node) };
    let group_of: Vec<u32> = partition.node_of.iter().map(named).collect();
    let Setting { input, range, tasks } = setting;
    let scored = Scored::of(input, tasks, &group_of, partition.nodes.len());
    let spacing = spacing(range, partition);
    let eps = range.eps[level];
    let near = |a: u32, b: u32| eps <= FAR * spacing[a as usize].max(spacing[b as usize]);
    let fragments =
        Substitution::measure(input, tasks, &scored, &partition.node_of, &group_of).fragments(near);
    let mut target = BTreeMap::new();
    for joined in fragments {
        let node = partition.add(level, joined.clone());
        target.extend(joined.into_iter().map(|part| (part, node)));
    }
    target
}

/// Of each node, the distance that nine of ten of its bursts have at most to
/// their `min_points`-th neighbour.
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
    distances.into_iter().map(|list| high(list).unwrap_or(0.0)).collect()
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
    let nearest = label_by_nearest(&points, &known, &labels, f64::INFINITY);
    for (&i, label) in members.iter().zip(nearest) {
        if bursts.binary_search(&i).is_ok() {
            partition.node_of[i as usize] = label.map_or(NO_NODE, |id| id.index() as u32);
        }
    }
}

/// Phases of one column, wherever they lie.
fn alternatives(
    input: &RefineInput<'_>,
    all: &Tasks,
    partition: &Partition,
    scored: &Scored,
) -> Vec<Vec<u32>> {
    let all_one: Vec<u32> =
        partition.node_of.iter().map(|&n| if n == NO_NODE { NO_NODE } else { 0 }).collect();
    let lists = Substitution::measure(input, all, scored, &partition.node_of, &all_one).alternatives(ALWAYS);
    let place = |node: &u32| scored.live.binary_search(node).unwrap_or(0) as u32;
    lists.iter().map(|nodes| nodes.iter().map(place).collect()).collect()
}
