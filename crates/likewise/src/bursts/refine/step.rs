//! What a radius does to the groups.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::cluster::{Along, ClusterId, DbscanParams, Points, dbscan};

use super::density::Density;
use super::levels::{Level, NO_NODE, RefineInput};
use super::nearest::{Index, Pending};
use super::partition::{NodeCounts, Partition, Scored, Tasks};
use super::substitution::{Detail, Names, Substitution};
use super::{EpsRange, RefineRules};

/// Two tasks show a group unequally often if their counts differ by more than so many
/// standard deviations of the difference of two counts that are equal but for chance; and
/// groups alternate on the tasks if what speaks against it is so far below chance.
pub(super) const BY_CHANCE: f64 = 3.0;

/// So many bursts are counted at once.
const PART: usize = 1 << 16;

/// What stays the same from level to level.
pub(super) struct Setting<'a> {
    pub(super) input: &'a RefineInput<'a>,
    pub(super) range: &'a EpsRange,
    pub(super) rules: &'a RefineRules,
    pub(super) tasks: Tasks,
    /// The place of the first radius that is far, among all of the range: before these are
    /// the others and its reach.
    pub(super) first_far: usize,
    pub(super) along: &'a Along<'a>,
    /// Made when it is first asked.
    pub(super) index: OnceLock<Index<'a>>,
}

/// Goes through one level: groups join that `found` connects, and bursts that were in none come into
/// them. `radius` is the place of `eps`, and `before` how the groups are aligned; returns how
/// they are then.
pub(super) fn level(
    setting: &Setting<'_>,
    (partition, density): (&mut Partition, &mut Density),
    levels: &mut Vec<Level>,
    (radius, eps): (usize, f64),
    found: &[Option<ClusterId>],
    before: Option<&Scored>,
) -> Scored {
    let place = (levels.len(), radius);
    let (parts, open) = join(setting, (partition, density), place, found, before);
    let entries = entries(setting, (partition, density), place, found, (&parts, &open));
    partition.enter(setting.input, &entries);
    density.enter(partition, &entries);
    let scored = partition.score(&setting.tasks, before);
    levels.push(partition.close(eps, &scored));
    scored
}

/// Drops groups whose bursts stand anywhere, hardly two of them at the same step:
/// they are noise that happens to be near one another. A phase of a single task
/// stays. Returns how many bursts they had.
///
/// A column has one burst of a task at most. So where one task does it more often than any
/// other, it is alone in as many columns as it has more bursts than the next, wherever
/// they stand. These columns and bursts tell nothing, if they are more than chance makes.
pub(super) fn drop_scattered(
    rules: &RefineRules,
    aligned: &Tasks,
    partition: &mut Partition,
    scored: &Scored,
) -> u64 {
    let scattered = scattered(rules, aligned, partition, scored);
    let gone = |node: &&mut u32| scattered.binary_search(node).is_ok();
    partition.node_of_cohort.iter_mut().filter(gone).for_each(|node| *node = NO_NODE);
    scattered.iter().map(|&node| partition.nodes[node as usize].instances).sum()
}

/// The groups that [`drop_scattered`] drops, ascending.
pub(super) fn scattered(
    rules: &RefineRules,
    aligned: &Tasks,
    partition: &Partition,
    scored: &Scored,
) -> Vec<u32> {
    let counts = partition.counts_by_node(aligned);
    let is_scattered = |node: u32| {
        let NodeCounts { tasks, bursts, most, next } = counts[node as usize];
        let columns = bursts as f64 / (partition.nodes[node as usize].score * aligned.len() as f64);
        let (more, both) = ((most - next) as f64, (most + next) as f64);
        let alone = if more > BY_CHANCE * both.sqrt() { more } else { 0.0 };
        let per_column = (bursts as f64 - alone) / (columns - alone);
        tasks > 1 && (per_column - 1.0) / (tasks as f64 - 1.0) < rules.scattered
    };
    scored.live.iter().copied().filter(|&node| is_scattered(node)).collect()
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

pub(super) fn params(eps: f64, min_points: usize) -> DbscanParams {
    DbscanParams::new(eps, min_points).expect("a radius above 0, and a point at least")
}

/// Splits clusters by what keeps their bursts apart.
pub(super) fn split(labels: Vec<Option<ClusterId>>, apart: &[u32]) -> Vec<Option<ClusterId>> {
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

/// Lets nodes join that `found` connects; returns the nodes in each cluster, and
/// the bursts that are in a cluster and were never in a node, ascending.
/// `level` and `radius` are their places; `before` is how the nodes were aligned,
/// as they are.
pub(super) fn join(
    setting: &Setting<'_>,
    (partition, density): (&mut Partition, &Density),
    (level, radius): (usize, usize),
    found: &[Option<ClusterId>],
    before: Option<&Scored>,
) -> (BTreeMap<ClusterId, Vec<u32>>, Vec<u32>) {
    let (home, open) = homes(partition, found);
    let mut parts: BTreeMap<ClusterId, Vec<u32>> = BTreeMap::new();
    home.iter().for_each(|(&node, &cluster)| parts.entry(cluster).or_default().push(node));
    if parts.values().all(|parts| parts.len() == 1) {
        return (parts, open);
    }
    let reaches = density.reaches(partition, radius);
    let lists = fragments(setting, partition, &reaches, (&home, &parts), before);
    let first = partition.nodes.len() as u32;
    let target: BTreeMap<u32, u32> = lists
        .iter()
        .zip(first..)
        .flat_map(|(list, node)| list.iter().map(move |&part| (part, node)))
        .collect();
    partition.merge(level, lists);
    for nodes in parts.values_mut() {
        nodes.iter_mut().for_each(|node| *node = *target.get(node).unwrap_or(node));
        nodes.sort_unstable();
        nodes.dedup();
    }
    (parts, open)
}

/// What becomes of the bursts of a cluster that never were in a node.
#[derive(Clone, Copy)]
enum Fate {
    /// They are a new node, once there is one.
    New,
    Node(u32),
    /// Each joins that of its nearest burst that is in one.
    Shared,
    Outside,
}

/// Bursts that were in no node become new ones, or part of those that they
/// are connected to, unless these are far denser. Returns them, each with its
/// node.
fn entries(
    setting: &Setting<'_>,
    (partition, density): (&mut Partition, &Density),
    (level, radius): (usize, usize),
    found: &[Option<ClusterId>],
    (parts, open): (&BTreeMap<ClusterId, Vec<u32>>, &[u32]),
) -> Vec<(u32, u32)> {
    let reaches = density.reaches(partition, radius);
    let cluster_of = |burst: u32| found[burst as usize].map_or(0, ClusterId::index);
    let n = found.par_iter().flatten_iter().map(|id| id.index() + 1).max().unwrap_or(0);
    let mut fates = vec![Fate::New; n];
    for (cluster, nodes) in parts {
        fates[cluster.index()] = match nodes[..] {
            [only] if reaches[only as usize] => Fate::Node(only),
            _ if nodes.len() > 1 && nodes.iter().any(|&node| reaches[node as usize]) => Fate::Shared,
            _ => Fate::Outside,
        };
    }
    let mut entries = Vec::with_capacity(open.len());
    let mut shared = Vec::new();
    for &burst in open {
        let cluster = cluster_of(burst);
        if let Fate::New = fates[cluster] {
            fates[cluster] = Fate::Node(partition.add(level, Vec::new()));
        }
        match fates[cluster] {
            Fate::Node(node) => entries.push((burst, node)),
            Fate::Shared => shared.push(burst),
            Fate::New | Fate::Outside => {}
        }
    }
    if !shared.is_empty() {
        let node_of = |burst: u32| Some(partition.node_of(burst)).filter(|&node| node != NO_NODE);
        let group_of = |burst: u32| {
            let cluster = found[burst as usize].filter(|id| matches!(fates[id.index()], Fate::Shared))?;
            node_of(burst).map(|_| cluster.index() as u32)
        };
        let index = setting.index.get_or_init(|| Index::new(setting.along));
        let marked = index.mark(|burst| group_of(burst).unwrap_or(NO_NODE), shared.len());
        let entry = |pending: &mut Pending, &burst: &u32| {
            let cluster = cluster_of(burst) as u32;
            let node = node_of(index.nearest(&marked, burst, cluster, pending)?)?;
            reaches[node as usize].then_some((burst, node))
        };
        setting.along.sort(&mut shared);
        let mut joined: Vec<(u32, u32)> =
            shared.par_iter().map_init(Pending::default, entry).flatten().collect();
        joined.par_sort_unstable();
        entries.append(&mut joined);
    }
    entries
}

/// The cluster of each live node: that of most of its bursts. A border burst
/// may be another's now. Also returns the bursts that are in a cluster and never
/// were in a node, ascending.
fn homes(partition: &Partition, found: &[Option<ClusterId>]) -> (BTreeMap<u32, ClusterId>, Vec<u32>) {
    let n_cohorts = partition.node_of_cohort.len();
    let count = |(start, (cohorts, found)): (usize, (&[u32], &[Option<ClusterId>]))| {
        // Nearly all bursts of a cohort are in one cluster.
        let mut first: Vec<(Option<ClusterId>, usize)> = vec![(None, 0); n_cohorts];
        let mut others: FxHashMap<(u32, ClusterId), usize> = FxHashMap::default();
        let mut open = Vec::new();
        for (i, (&cohort, cluster)) in cohorts.iter().zip(found).enumerate() {
            let Some(cluster) = cluster else { continue };
            let Some((first, n)) = first.get_mut(cohort as usize) else {
                open.push((start + i) as u32);
                continue;
            };
            if first.get_or_insert(*cluster) == cluster {
                *n += 1;
            } else {
                *others.entry((cohort, *cluster)).or_insert(0) += 1;
            }
        }
        let node = |cohort: u32| partition.node_of_cohort[cohort as usize];
        let first = (0..).zip(first).filter_map(|(cohort, (cluster, n))| Some((node(cohort), cluster?, n)));
        let others = others.into_iter().map(|((cohort, cluster), n)| (node(cohort), cluster, n));
        let votes = first.chain(others).filter(|(node, ..)| *node != NO_NODE);
        (votes.collect::<Vec<_>>(), open)
    };
    let part = PART.max(8 * n_cohorts);
    let parts = partition.cohort_of.par_chunks(part).zip(found.par_chunks(part)).enumerate();
    let (votes, open): (Vec<_>, Vec<_>) = parts.map(|(at, part_of)| count((at * part, part_of))).unzip();
    let mut votes = votes.concat();
    votes.sort_unstable_by_key(|&(node, cluster, _)| (node, cluster));
    let mut sums: Vec<(u32, ClusterId, usize)> = Vec::new();
    for (node, cluster, n) in votes {
        match sums.last_mut() {
            Some(last) if (last.0, last.1) == (node, cluster) => last.2 += n,
            _ => sums.push((node, cluster, n)),
        }
    }
    // Of equally many, the first cluster.
    sums.sort_unstable_by_key(|&(node, cluster, n)| (node, std::cmp::Reverse(n), cluster));
    sums.dedup_by_key(|&mut (node, ..)| node);
    (sums.into_iter().map(|(node, cluster, _)| (node, cluster)).collect(), open.concat())
}

/// Connected nodes that are one phase in pieces; `reaches` tells which nodes may
/// join at this radius.
fn fragments(
    setting: &Setting<'_>,
    partition: &Partition,
    reaches: &[bool],
    (home, parts): (&BTreeMap<u32, ClusterId>, &BTreeMap<ClusterId, Vec<u32>>),
    before: Option<&Scored>,
) -> Vec<Vec<u32>> {
    let Setting { input, rules, tasks, .. } = setting;
    let reaches = |node: u32| reaches[node as usize];
    let near = |a: u32, b: u32| reaches(a) || reaches(b);
    // Where none of the parts may join there is nothing to look at.
    let n = partition.nodes.len();
    let mut is_asked = vec![false; n];
    for parts in parts.values().filter(|parts| parts.len() > 1 && parts.iter().any(|&part| reaches(part))) {
        is_asked[parts[0] as usize] = true;
    }
    if !is_asked.contains(&true) {
        return Vec::new();
    }
    // All that is connected goes by the name of its first part.
    let mut name: Vec<u32> = (0..n as u32).collect();
    home.iter().for_each(|(&node, cluster)| name[node as usize] = parts[cluster][0]);
    let named = |&node: &u32| name.get(node as usize).copied().unwrap_or(NO_NODE);
    let group_of_cohort: Vec<u32> = partition.node_of_cohort.iter().map(named).collect();
    let held = partition.held_by(&group_of_cohort, n);
    let scored = Scored::of(tasks, &partition.cohort_of, (&group_of_cohort, &held), before);
    let names = Names {
        n_parts: n,
        part_of: |burst| partition.node_of(burst),
        group_of: |burst| named(&partition.node_of(burst)),
        detail: Detail::All,
    };
    Substitution::measure(input, tasks, &scored, &names, |group| is_asked[group as usize])
        .fragments(rules, near)
}
