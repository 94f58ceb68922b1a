//! The method itself, over points that are already sorted into groups.
//!
//! The points of a group are mutual neighbours. A group with `min_points`
//! members is therefore all core without computing a distance; core groups
//! that hold a pair within eps are joined; and a point's label follows from
//! its group's. The cost depends on the number of groups, not on the size of
//! the neighbourhoods, which on bursts is nearly quadratic in total.

use super::geometry::{Aabb, any_within, count_within, distance2, max2, min2};
use super::params::{Dbscan, DbscanParams, PART};
use super::union_find::UnionFind;
use crate::cluster::{ClusterId, Clustering};
use crate::parallel;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Points sorted by group.
pub(super) struct Groups<const D: usize> {
    /// Coordinates, group by group.
    pub(super) points: Vec<[f64; D]>,
    /// Where each group starts in `points`, and the end of the last.
    pub(super) start: Vec<u32>,
    /// The tight box of each group.
    pub(super) boxes: Vec<Aabb<D>>,
    /// The group of each point, in the order of the input.
    pub(super) group_of: Vec<u32>,
}

impl<const D: usize> Groups<D> {
    pub(super) fn len(&self) -> usize {
        self.boxes.len()
    }

    #[inline]
    fn range(&self, g: usize) -> std::ops::Range<usize> {
        self.start[g] as usize..self.start[g + 1] as usize
    }

    #[inline]
    pub(super) fn size(&self, g: usize) -> usize {
        (self.start[g + 1] - self.start[g]) as usize
    }

    #[inline]
    pub(super) fn members(&self, g: usize) -> &[[f64; D]] {
        &self.points[self.range(g)]
    }
}

/// The group of each row of the input: of group `g` are the places `start[g]`
/// to `start[g + 1]`, and `row` has the row of each.
pub(super) fn group_of_rows(start: &[u32], row: &(dyn Fn(usize) -> u32 + Sync)) -> Vec<u32> {
    let n = start.last().map_or(0, |&end| end as usize);
    let group_of: Vec<AtomicU32> = (0..n).map(|_| AtomicU32::new(0)).collect();
    parallel::each(start.len().saturating_sub(1), 256, &|groups| {
        for g in groups {
            for at in start[g] as usize..start[g + 1] as usize {
                group_of[row(at) as usize].store(g as u32, Relaxed);
            }
        }
    });
    group_of.into_iter().map(AtomicU32::into_inner).collect()
}

/// Finds the groups near a group.
pub(super) trait Index<const D: usize>: Sync {
    /// Calls `visit` with every group but `g` whose box is within eps of the
    /// box of `g`, until `visit` returns false.
    fn near(&self, groups: &Groups<D>, g: usize, visit: &mut impl FnMut(usize) -> bool);

    /// Calls `join` with pairs of groups, at least so many that the true
    /// answers connect what all near pairs with core points would connect.
    fn join_all(
        &self,
        groups: &Groups<D>,
        cores: &Cores,
        components: &UnionFind,
        join: &(impl Fn(usize, usize) -> bool + Sync),
    );
}

/// Which points are core, in group order, and how many in each group.
pub(super) struct Cores {
    is_core: Vec<bool>,
    count: Vec<u32>,
}

impl Cores {
    #[inline]
    pub(super) fn any(&self, g: usize) -> bool {
        self.count[g] > 0
    }
}

pub(super) fn cluster<const D: usize>(
    input: &[[f64; D]],
    groups: &Groups<D>,
    index: &impl Index<D>,
    params: &DbscanParams,
) -> Dbscan {
    let cores = find_cores(groups, index, params);
    let components = UnionFind::new(groups.len());
    let eps2 = params.eps2();
    index.join_all(groups, &cores, &components, &|a, b| touch(groups, &cores, a, b, eps2));
    label(input, groups, index, &cores, &components, eps2)
}

fn find_cores<const D: usize>(groups: &Groups<D>, index: &impl Index<D>, params: &DbscanParams) -> Cores {
    let mut is_core = vec![false; groups.points.len()];
    let mut count = vec![0u32; groups.len()];
    // Groups are runs of points, so a block of groups owns a slice of flags.
    let mut blocks = Vec::new();
    let (mut flags_left, mut count_left, mut g) = (&mut is_core[..], &mut count[..], 0);
    let per_block = (groups.len() / 512).clamp(16, 1024);
    while g < groups.len() {
        let next = (g + per_block).min(groups.len());
        let (flags, rest) = flags_left.split_at_mut((groups.start[next] - groups.start[g]) as usize);
        let (counts, rest_counts) = count_left.split_at_mut(next - g);
        blocks.push((g, flags, counts));
        (flags_left, count_left, g) = (rest, rest_counts, next);
    }
    blocks.into_par_iter().for_each(|(first, flags, counts)| {
        let mut near = Vec::new();
        let base = groups.start[first];
        for (i, n_core) in counts.iter_mut().enumerate() {
            let g = first + i;
            let own = (groups.start[g] - base) as usize..(groups.start[g + 1] - base) as usize;
            *n_core = cores_of_group(groups, index, g, params, &mut flags[own], &mut near);
        }
    });
    Cores { is_core, count }
}

/// Flags the core points of group `g`; returns how many.
fn cores_of_group<const D: usize>(
    groups: &Groups<D>,
    index: &impl Index<D>,
    g: usize,
    params: &DbscanParams,
    flags: &mut [bool],
    near: &mut Vec<usize>,
) -> u32 {
    let (eps2, min_points) = (params.eps2(), params.min_points());
    // `sure` counts neighbours that every point of the group has.
    let (mut sure, mut possible) = (groups.size(g), groups.size(g));
    near.clear();
    if sure < min_points {
        index.near(groups, g, &mut |h| {
            possible += groups.size(h);
            if max2(&groups.boxes[g], &groups.boxes[h]) <= eps2 {
                sure += groups.size(h);
            } else {
                near.push(h);
            }
            sure < min_points
        });
    }
    if sure >= min_points {
        flags.fill(true);
        return flags.len() as u32;
    }
    if possible < min_points {
        return 0;
    }
    let mut n_core = 0;
    for (p, flag) in groups.members(g).iter().zip(flags) {
        let mut count = sure;
        let at = Aabb::point(p);
        for &h in near.iter() {
            let around = &groups.boxes[h];
            if min2(&at, around) > eps2 {
                continue;
            }
            count += if max2(&at, around) <= eps2 {
                groups.size(h)
            } else {
                count_within(p, groups.members(h), eps2, min_points - count)
            };
            if count >= min_points {
                *flag = true;
                n_core += 1;
                break;
            }
        }
    }
    n_core
}

/// Whether a core point of `a` is within eps of one of `b`.
fn touch<const D: usize>(groups: &Groups<D>, cores: &Cores, a: usize, b: usize, eps2: f64) -> bool {
    const PROBE: usize = 16;
    let (box_a, box_b) = (&groups.boxes[a], &groups.boxes[b]);
    let all = |g: usize| cores.count[g] as usize == groups.size(g);
    if all(a) && all(b) && max2(box_a, box_b) <= eps2 {
        return true;
    }
    let core = |g: usize| {
        let all = all(g);
        let flags = &cores.is_core[groups.range(g)];
        groups.members(g).iter().zip(flags).filter(move |(_, core)| all || **core).map(|(p, _)| p)
    };
    // Most pairs that touch do so between any few points of each.
    let mut probe = [[0.0; D]; PROBE];
    let mut probes = 0;
    for (slot, p) in probe.iter_mut().zip(core(b)) {
        *slot = *p;
        probes += 1;
    }
    if core(a).take(PROBE).any(|p| count_within(p, &probe[..probes], eps2, 1) > 0) {
        return true;
    }
    if groups.size(a) <= PROBE && groups.size(b) <= PROBE {
        return false;
    }
    let mut from_a: Vec<_> = core(a).filter(|p| min2(&Aabb::point(p), box_b) <= eps2).copied().collect();
    let box_a = Aabb::of(&from_a);
    let mut from_b: Vec<_> = core(b).filter(|p| min2(&Aabb::point(p), &box_a) <= eps2).copied().collect();
    let box_b = Aabb::of(&from_b);
    any_within((&mut from_a, box_a), (&mut from_b, box_b), eps2)
}

/// Labels in the order of the input: a core point takes its group's cluster,
/// a border point the cluster that comes first in burst order, as if the
/// clusters had been grown one after the other.
fn label<const D: usize>(
    input: &[[f64; D]],
    groups: &Groups<D>,
    index: &impl Index<D>,
    cores: &Cores,
    components: &UnionFind,
    eps2: f64,
) -> Dbscan {
    let mut root = vec![0u32; groups.len()];
    parallel::fill(&mut root, PART, &|first, part| {
        (first as u32..).zip(part).for_each(|(g, root)| *root = components.find(g));
    });
    let all = |g: usize| cores.count[g] as usize == groups.size(g);
    // Equal points are core together, so a point is found again by its coordinates.
    let is_core = |i: usize, g: usize| {
        let at = groups.members(g).iter().position(|p| *p == input[i]);
        at.is_some_and(|at| cores.is_core[groups.start[g] as usize + at])
    };

    // Clusters are numbered by their first core point.
    let first: Vec<AtomicU32> = (0..groups.len()).map(|_| AtomicU32::new(u32::MAX)).collect();
    parallel::each(input.len(), PART, &|part| {
        for (i, &g) in part.clone().zip(&groups.group_of[part]) {
            let (g, first) = (g as usize, &first[root[g as usize] as usize]);
            if (i as u32) < first.load(Relaxed) && cores.any(g) && (all(g) || is_core(i, g)) {
                first.fetch_min(i as u32, Relaxed);
            }
        }
    });
    let mut roots: Vec<usize> =
        (0..groups.len()).filter(|&g| cores.any(g) && root[g] as usize == g).collect();
    roots.sort_by_key(|&r| first[r].load(Relaxed));
    let n_clusters = roots.len();
    let mut number = vec![None; groups.len()];
    for (place, &r) in roots.iter().enumerate() {
        number[r] = Some(ClusterId::from_index(place));
    }
    let of_group: Vec<Option<ClusterId>> =
        (0..groups.len()).map(|g| if cores.any(g) { number[root[g] as usize] } else { None }).collect();

    // Most points are in groups that are all core: one look settles those.
    let settled: Vec<Option<ClusterId>> =
        (0..groups.len()).map(|g| if all(g) { of_group[g] } else { None }).collect();
    let label = |i: usize| {
        let g = groups.group_of[i] as usize;
        if settled[g].is_some() {
            return (settled[g], true);
        }
        let core = cores.any(g) && is_core(i, g);
        let label =
            if core { of_group[g] } else { border(&input[i], g, groups, index, cores, &of_group, eps2) };
        (label, core)
    };
    let mut found = vec![(None, false); input.len()];
    parallel::fill(&mut found, PART, &|first, part| {
        (first..).zip(part).for_each(|(i, found)| *found = label(i));
    });
    let (labels, core) = found.into_iter().unzip();
    Dbscan { clustering: Clustering { labels, n_clusters }, core }
}

/// The first cluster with a core point within eps of `p`, a point of group `g`
/// that is not core.
fn border<const D: usize>(
    p: &[f64; D],
    g: usize,
    groups: &Groups<D>,
    index: &impl Index<D>,
    cores: &Cores,
    of_group: &[Option<ClusterId>],
    eps2: f64,
) -> Option<ClusterId> {
    // A group's points are mutual neighbours, so its own cores reach `p`.
    let mut best = of_group[g];
    let at = Aabb::point(p);
    index.near(groups, g, &mut |h| {
        if let Some(cluster) = of_group[h]
            && best.is_none_or(|best| cluster < best)
            && min2(&at, &groups.boxes[h]) <= eps2
        {
            let flags = &cores.is_core[groups.range(h)];
            let mut members = groups.members(h).iter().zip(flags);
            if members.any(|(q, core)| *core && distance2(p, q) <= eps2) {
                best = Some(cluster);
            }
        }
        true
    });
    best
}
