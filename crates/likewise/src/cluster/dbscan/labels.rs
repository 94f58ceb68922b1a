//! Clusters get their numbers, and points their labels.

use super::geometry::{Aabb, distance2, min2};
use super::groups::{Cores, Groups, Index, Known, each_group, is_core, place_of};
use super::params::{Dbscan, PART};
use super::scatter::{Slots, filled};
use crate::cluster::{ClusterId, Clustering};
use crate::parallel;
use rayon::prelude::*;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The clusters and their numbers.
pub(super) struct Clusters {
    pub(super) n_clusters: usize,
    /// The cluster of the core points of each group.
    pub(super) of_group: Vec<Option<ClusterId>>,
}

/// Numbers clusters by their first core point, whose row `first` has for every root.
pub(super) fn number(first: &[u32], cores: &Cores, root: &[u32]) -> Clusters {
    let n = root.len();
    let mut roots: Vec<usize> = (0..n).filter(|&g| cores.any(g) && root[g] as usize == g).collect();
    roots.sort_by_key(|&r| first[r]);
    let mut number = vec![None; n];
    for (place, &r) in roots.iter().enumerate() {
        number[r] = Some(ClusterId::from_index(place));
    }
    let of_group = |g: usize| if cores.any(g) { number[root[g] as usize] } else { None };
    Clusters { n_clusters: roots.len(), of_group: (0..n).map(of_group).collect() }
}

/// For every root, the first row that is a core point of its component.
pub(super) fn first_of_places<const D: usize>(
    groups: &Groups<D>,
    rows: &[u32],
    cores: &Cores,
    root: &[u32],
) -> Vec<u32> {
    let first: Vec<AtomicU32> = root.iter().map(|_| AtomicU32::new(u32::MAX)).collect();
    parallel::each(groups.len(), 256, &|part| {
        for g in part.filter(|&g| cores.any(g)) {
            let members = rows[groups.range(g)].iter().zip(&cores.is_core[groups.range(g)]);
            let own = members.filter(|(_, core)| **core).map(|(row, _)| *row).min().unwrap_or(u32::MAX);
            let first = &first[root[g] as usize];
            if own < first.load(Relaxed) {
                first.fetch_min(own, Relaxed);
            }
        }
    });
    first.into_iter().map(AtomicU32::into_inner).collect()
}

/// For every root, the first row of `input` that is a core point of its
/// component; `u32::MAX` where there is none.
pub(super) fn first_rows<const D: usize>(
    input: &[[f64; D]],
    groups: &Groups<D>,
    group_of: &[u32],
    cores: &Cores,
    known: &Known,
    root: &[u32],
) -> Vec<u32> {
    let mut first = vec![u32::MAX; groups.len()];
    for (g, &row) in known.first.iter().enumerate().filter(|(g, _)| known.whole[*g]) {
        let first = &mut first[root[g] as usize];
        *first = row.min(*first);
    }
    let roots = (0..groups.len()).filter(|&g| cores.any(g) && root[g] as usize == g);
    // No row behind the last of those that are known can be the first of a cluster.
    let rows = roots.map(|r| first[r] as usize).max().map_or(0, |last| last.min(input.len()));
    let first: Vec<AtomicU32> = first.into_iter().map(AtomicU32::new).collect();
    parallel::each(rows, PART, &|part| {
        for (i, &g) in part.clone().zip(&group_of[part]) {
            let (g, first) = (g as usize, &first[root[g as usize] as usize]);
            if (i as u32) < first.load(Relaxed) && is_core(&input[i], g, groups, cores) {
                first.fetch_min(i as u32, Relaxed);
            }
        }
    });
    first.into_iter().map(AtomicU32::into_inner).collect()
}

/// No cluster has these numbers.
const OPEN: u32 = u32::MAX;
const NOISE: u32 = 0;

/// The number of the cluster of all points of a group, all core or all noise, or else
/// [`OPEN`]; and of the points of the open ones, place by place.
///
/// A core point takes its group's cluster, a border point the cluster that comes first
/// in burst order, as if the clusters had been grown one after the other.
fn settle<const D: usize>(
    groups: &Groups<D>,
    index: &impl Index<D>,
    cores: &Cores,
    clusters: &Clusters,
    eps2: f64,
) -> (Vec<u32>, Vec<u32>) {
    let of_group = &clusters.of_group;
    let number = |label: Option<ClusterId>| label.map_or(NOISE, ClusterId::number);
    // Most points are in groups that are all core, or far from any core point: one
    // look settles those. The others are labelled group by group: what is near one
    // point of a group is near all, and has just been read for the group before.
    let mut settled = vec![OPEN; groups.len()];
    let mut of_points = crate::pages::large(vec![NOISE; groups.points.len()]);
    each_group(groups, &mut of_points, &mut settled, &|g, of_points, settled, near| {
        if cores.all(g) {
            *settled = number(of_group[g]);
            return;
        }
        near.clear();
        index.near(groups, g, &mut |h| {
            if of_group[h].is_some() {
                near.push(h);
            }
            true
        });
        if near.is_empty() && !cores.any(g) {
            *settled = NOISE;
            return;
        }
        let flags = &cores.is_core[groups.range(g)];
        for ((label, p), core) in of_points.iter_mut().zip(groups.members(g)).zip(flags) {
            let label_of =
                if *core { of_group[g] } else { border(p, g, groups, near, cores, of_group, eps2) };
            *label = number(label_of);
        }
    });
    (settled, of_points)
}

/// Labels in the order of the input.
pub(super) fn label<const D: usize>(
    input: &[[f64; D]],
    groups: &Groups<D>,
    group_of: Vec<u32>,
    index: &impl Index<D>,
    cores: &Cores,
    clusters: &Clusters,
    eps2: f64,
) -> Dbscan {
    let (settled, of_points) = settle(groups, index, cores, clusters, eps2);
    let of_point = |p: &[f64; D], g: usize| {
        let place = place_of(p, g, groups);
        place.map_or((NOISE, false), |place| (of_points[place], cores.is_core[place]))
    };
    let mut core = crate::pages::large(vec![false; input.len()]);
    // A label takes the place of its point's group.
    let mut labels = group_of;
    let parts = labels.par_chunks_mut(PART).zip(core.par_chunks_mut(PART)).zip(input.par_chunks(PART));
    parts.for_each(|((labels, core), points)| {
        for ((label, core), p) in labels.iter_mut().zip(core).zip(points) {
            let g = *label as usize;
            (*label, *core) = match settled[g] {
                OPEN => of_point(p, g),
                number => (number, number != NOISE),
            };
        }
    });
    // Both are the same bytes, so this costs nothing.
    let labels = labels.into_iter().map(|number| NonZeroU32::new(number).map(ClusterId)).collect();
    Dbscan { clustering: Clustering { labels, n_clusters: clusters.n_clusters }, core }
}

/// The same where the row of each place is known.
pub(super) fn label_places<const D: usize>(
    groups: &Groups<D>,
    rows: &[u32],
    index: &impl Index<D>,
    cores: &Cores,
    clusters: &Clusters,
    eps2: f64,
) -> Dbscan {
    let (settled, of_points) = settle(groups, index, cores, clusters, eps2);
    let n = rows.len();
    let mut core = Vec::new();
    let fill = |labels: &Slots<'_, Option<ClusterId>>, cores_of_rows: &Slots<'_, bool>| {
        parallel::each(groups.len(), 256, &|part| {
            for (g, places) in part.map(|g| (g, groups.range(g))) {
                let points = of_points[places.clone()].iter().zip(&cores.is_core[places.clone()]);
                for (&row, (&of_point, &is_core)) in rows[places].iter().zip(points) {
                    let number = if settled[g] == OPEN { of_point } else { settled[g] };
                    let label = NonZeroU32::new(number).map(ClusterId);
                    // SAFETY: each of the `n` rows is in one place.
                    unsafe { labels.put(row as usize, label) };
                    // SAFETY: as above.
                    unsafe { cores_of_rows.put(row as usize, is_core) };
                }
            }
        });
    };
    let fill_both = |labels: &Slots<'_, Option<ClusterId>>| {
        // SAFETY: every row is filled, as all points are in groups.
        core = unsafe { filled(n, |cores_of_rows| fill(labels, cores_of_rows)) };
    };
    // SAFETY: as above.
    let labels = unsafe { filled(n, fill_both) };
    Dbscan { clustering: Clustering { labels, n_clusters: clusters.n_clusters }, core }
}

/// The first cluster with a core point within eps of `p`, a point of group `g`
/// that is not core; `near` are the groups near `g` with core points.
fn border<const D: usize>(
    p: &[f64; D],
    g: usize,
    groups: &Groups<D>,
    near: &[usize],
    cores: &Cores,
    of_group: &[Option<ClusterId>],
    eps2: f64,
) -> Option<ClusterId> {
    // A group's points are mutual neighbours, so its own cores reach `p`.
    let mut best = of_group[g];
    let at = Aabb::point(p);
    for &h in near {
        if let Some(cluster) = of_group[h]
            && best.is_none_or(|best| cluster < best)
            && min2(&at, &groups.boxes[h]) <= eps2
        {
            let mut members = groups.members(h).iter().zip(&cores.is_core[groups.range(h)]);
            if members.any(|(q, core)| *core && distance2(p, q) <= eps2) {
                best = Some(cluster);
            }
        }
    }
    best
}
