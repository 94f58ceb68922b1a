//! The method itself, over points that are already sorted into groups.
//!
//! The points of a group are mutual neighbours. A group with `min_points`
//! members is therefore all core without computing a distance; core groups
//! that hold a pair within eps are joined; and a point's label follows from
//! its group's. The cost depends on the number of groups, not on the size of
//! the neighbourhoods, which on bursts is nearly quadratic in total.

use super::core_radii::CoreAt;
use super::geometry::{Aabb, any_within, count_within, distance2, max2, min2};
use super::params::{Dbscan, DbscanParams, PART};
use super::union_find::UnionFind;
use crate::cluster::{ClusterId, Clustering};
use crate::parallel;
use rayon::prelude::*;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Points sorted by group. Those that no distance is asked of may be left out.
pub(super) struct Groups<const D: usize> {
    /// Coordinates, group by group.
    pub(super) points: Vec<[f64; D]>,
    /// Where each group starts in `points`, and the end of the last.
    pub(super) start: Vec<u32>,
    /// The tight box of each group.
    pub(super) boxes: Vec<Aabb<D>>,
}

/// What is known of groups before any distance is computed.
pub(super) struct Known {
    /// Groups of which every point is core.
    pub(super) whole: Vec<bool>,
    /// The first row of each whole group; `u32::MAX` if not known.
    pub(super) first: Vec<u32>,
    /// Groups that are joined.
    pub(super) components: UnionFind,
    /// Groups whose points are asked about. Of others, only what is core of them
    /// without a distance is found, and no two of them are joined.
    pub(super) asked: Vec<bool>,
}

impl Known {
    /// The points of a group are mutual neighbours.
    pub(super) fn by_size<const D: usize>(groups: &Groups<D>, params: &DbscanParams) -> Self {
        let n = groups.len();
        Self {
            whole: (0..n).map(|g| groups.size(g) >= params.min_points()).collect(),
            first: vec![u32::MAX; n],
            components: UnionFind::new(n),
            asked: vec![true; n],
        }
    }

    /// The component of every group.
    pub(super) fn roots(&self) -> Vec<u32> {
        let mut root = vec![0u32; self.whole.len()];
        parallel::fill(&mut root, PART, &|first, part| {
            (first as u32..).zip(part).for_each(|(g, root)| *root = self.components.find(g));
        });
        root
    }
}

/// Points in groups, and where each row of the input went.
pub(super) struct Sorted<const D: usize> {
    pub(super) groups: Groups<D>,
    pub(super) went: Went,
}

/// Where each row of the input went.
pub(super) enum Went {
    /// The group of each row, whose point may be left out of `groups`.
    To(Vec<u32>),
    /// The row of each place in `groups`, which holds all points.
    From(Vec<u32>),
}

impl<const D: usize> Sorted<D> {
    /// The groups, and the group of each row.
    pub(super) fn by_row(self) -> (Groups<D>, Vec<u32>) {
        let group_of = match self.went {
            Went::To(group_of) => group_of,
            Went::From(rows) => group_of_rows(&self.groups.start, &rows),
        };
        (self.groups, group_of)
    }
}

impl<const D: usize> Groups<D> {
    /// Group `g` has `start[g]` to `start[g + 1]` of `points`.
    pub(super) fn new(points: Vec<[f64; D]>, start: Vec<u32>) -> Self {
        let mut boxes = vec![Aabb::EMPTY; start.len() - 1];
        parallel::fill(&mut boxes, 64, &|first, part| {
            for (g, around) in (first..).zip(part) {
                *around = Aabb::of(&points[start[g] as usize..start[g + 1] as usize]);
            }
        });
        Self { points, start, boxes }
    }

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
/// to `start[g + 1]`, and `rows` has the row of each.
fn group_of_rows(start: &[u32], rows: &[u32]) -> Vec<u32> {
    let group_of: Vec<AtomicU32> = rows.iter().map(|_| AtomicU32::new(0)).collect();
    parallel::each(start.len().saturating_sub(1), 256, &|groups| {
        for g in groups {
            for &row in &rows[start[g] as usize..start[g + 1] as usize] {
                group_of[row as usize].store(g as u32, Relaxed);
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

    /// Whether a point of group `g` is core, where that is known without a
    /// distance. Of a point where it is not, all that may be within eps is in
    /// `groups`.
    fn is_core(&self, _g: usize, _p: &[f64; D]) -> Option<bool> {
        None
    }

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

/// How many points of a group are core.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    None,
    Some,
    All,
}

impl Share {
    /// Of a group, each of whose points is core or not.
    fn of(flags: &[bool]) -> Self {
        match flags.iter().filter(|flag| **flag).count() {
            0 => Self::None,
            n if n == flags.len() => Self::All,
            _ => Self::Some,
        }
    }
}

/// Which points are core, in group order, and how many in each group.
pub(super) struct Cores {
    is_core: Vec<bool>,
    share: Vec<Share>,
}

impl Cores {
    #[inline]
    pub(super) fn any(&self, g: usize) -> bool {
        self.share[g] != Share::None
    }

    #[inline]
    fn all(&self, g: usize) -> bool {
        self.share[g] == Share::All
    }

    /// Notes that a point of group `g` is core, and with it all that are equal to it.
    pub(super) fn add<const D: usize>(&mut self, groups: &Groups<D>, g: usize, p: &[f64; D]) {
        if self.all(g) {
            return;
        }
        let flags = &mut self.is_core[groups.range(g)];
        for (flag, _) in flags.iter_mut().zip(groups.members(g)).filter(|(_, q)| *q == p) {
            *flag = true;
        }
        let all = flags.iter().all(|flag| *flag);
        self.share[g] = if all { Share::All } else { Share::Some };
    }
}

pub(super) fn cluster<const D: usize>(
    input: &[[f64; D]],
    sorted: Sorted<D>,
    (known, told): (&Known, Option<CoreAt<'_>>),
    index: &impl Index<D>,
    params: &DbscanParams,
) -> Dbscan {
    let Sorted { groups, went } = sorted;
    let told = match &went {
        Went::From(rows) => told.map(|told| (&rows[..], told)),
        Went::To(_) => None,
    };
    let cores = find_cores(&groups, (known, told), index, params);
    let eps2 = params.eps2();
    join(&groups, &cores, known, index, eps2);
    let root = known.roots();
    match went {
        Went::To(group_of) => {
            let clusters =
                number(&first_rows(input, &groups, &group_of, &cores, known, &root), &cores, &root);
            label(input, &groups, group_of, index, &cores, &clusters, eps2)
        }
        Went::From(rows) => {
            let clusters = number(&first_of_places(&groups, &rows, &cores, &root), &cores, &root);
            label_places(&groups, &rows, index, &cores, &clusters, eps2)
        }
    }
}

/// Joins the groups that hold core points within eps of each other.
pub(super) fn join<const D: usize>(
    groups: &Groups<D>,
    cores: &Cores,
    known: &Known,
    index: &impl Index<D>,
    eps2: f64,
) {
    index.join_all(groups, cores, &known.components, &|a, b| {
        (known.asked[a] || known.asked[b]) && touch(groups, cores, a, b, eps2)
    });
}

pub(super) fn find_cores<const D: usize>(
    groups: &Groups<D>,
    (known, told): (&Known, Option<(&[u32], CoreAt<'_>)>),
    index: &impl Index<D>,
    params: &DbscanParams,
) -> Cores {
    let told = |g: usize, flags: &mut [bool]| {
        let (rows, told) = told?;
        for (flag, &row) in flags.iter_mut().zip(&rows[groups.range(g)]) {
            *flag = told.is_core(row)?;
        }
        Some(Share::of(flags))
    };
    let mut is_core = vec![false; groups.points.len()];
    let mut share = vec![Share::None; groups.len()];
    each_group(groups, &mut is_core, &mut share, &|g, flags, share, near| {
        if known.whole[g] {
            flags.fill(true);
            *share = Share::All;
        } else if known.asked[g] {
            *share = told(g, flags).unwrap_or_else(|| cores_of_group(groups, index, g, params, flags, near));
        }
    });
    Cores { is_core, share }
}

/// Calls `work` with every group, what there is of its points, what there is of
/// itself, and room for a list of groups.
fn each_group<A: Send, B: Send, const D: usize>(
    groups: &Groups<D>,
    of_points: &mut [A],
    of_groups: &mut [B],
    work: &(impl Fn(usize, &mut [A], &mut B, &mut Vec<usize>) + Sync),
) {
    // Groups are runs of points, so a block of groups owns a slice of them.
    let mut blocks = Vec::new();
    let (mut points_left, mut groups_left, mut g) = (of_points, of_groups, 0);
    let per_block = (groups.len() / 512).clamp(16, 1024);
    while g < groups.len() {
        let next = (g + per_block).min(groups.len());
        let (points, rest) = points_left.split_at_mut((groups.start[next] - groups.start[g]) as usize);
        let (own, rest_groups) = groups_left.split_at_mut(next - g);
        blocks.push((g, points, own));
        (points_left, groups_left, g) = (rest, rest_groups, next);
    }
    blocks.into_par_iter().for_each(|(first, mut points, own)| {
        let mut room = Vec::new();
        for (g, own) in (first..).zip(own) {
            let (here, rest) = points.split_at_mut(groups.size(g));
            work(g, here, own, &mut room);
            points = rest;
        }
    });
}

/// Flags the core points of group `g`, which is not known to be whole.
fn cores_of_group<const D: usize>(
    groups: &Groups<D>,
    index: &impl Index<D>,
    g: usize,
    params: &DbscanParams,
    flags: &mut [bool],
    near: &mut Vec<usize>,
) -> Share {
    let (eps2, min_points) = (params.eps2(), params.min_points());
    // `sure` counts neighbours that every point of the group has.
    let (mut sure, mut possible) = (groups.size(g), groups.size(g));
    near.clear();
    index.near(groups, g, &mut |h| {
        possible += groups.size(h);
        if max2(&groups.boxes[g], &groups.boxes[h]) <= eps2 {
            sure += groups.size(h);
        } else {
            near.push(h);
        }
        sure < min_points
    });
    let all = match () {
        () if sure >= min_points => Some(true),
        () if possible < min_points => Some(false),
        () => None,
    };
    for (p, flag) in groups.members(g).iter().zip(&mut *flags) {
        let known = index.is_core(g, p).or(all);
        *flag = known.unwrap_or_else(|| has_enough(groups, p, sure, near, params));
    }
    Share::of(flags)
}

/// Whether `p` has enough neighbours: `sure` ones and those in the groups `near`.
fn has_enough<const D: usize>(
    groups: &Groups<D>,
    p: &[f64; D],
    sure: usize,
    near: &[usize],
    params: &DbscanParams,
) -> bool {
    let (eps2, min_points) = (params.eps2(), params.min_points());
    let (mut count, at) = (sure, Aabb::point(p));
    for &h in near {
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
            return true;
        }
    }
    false
}

/// Whether a core point of `a` is within eps of one of `b`.
fn touch<const D: usize>(groups: &Groups<D>, cores: &Cores, a: usize, b: usize, eps2: f64) -> bool {
    const PROBE: usize = 16;
    let (box_a, box_b) = (&groups.boxes[a], &groups.boxes[b]);
    if cores.all(a) && cores.all(b) && max2(box_a, box_b) <= eps2 {
        return true;
    }
    let core = |g: usize| {
        let all = cores.all(g);
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

/// The clusters and their numbers.
pub(super) struct Clusters {
    pub(super) n_clusters: usize,
    /// The cluster of the core points of each group.
    pub(super) of_group: Vec<Option<ClusterId>>,
}

/// Whether a point of group `g` is core. Equal points are core together, so it is
/// found again by its coordinates.
pub(super) fn is_core<const D: usize>(p: &[f64; D], g: usize, groups: &Groups<D>, cores: &Cores) -> bool {
    if !cores.any(g) || cores.all(g) {
        return cores.any(g);
    }
    place_of(p, g, groups).is_some_and(|place| cores.is_core[place])
}

/// The place of a point of group `g`, or of one that is equal to it.
fn place_of<const D: usize>(p: &[f64; D], g: usize, groups: &Groups<D>) -> Option<usize> {
    let at = groups.members(g).iter().position(|q| q == p)?;
    Some(groups.start[g] as usize + at)
}

/// Numbers clusters by their first core point, whose row `first` has for every root.
fn number(first: &[u32], cores: &Cores, root: &[u32]) -> Clusters {
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
fn first_of_places<const D: usize>(
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
    let mut of_points = vec![NOISE; groups.points.len()];
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
fn label_places<const D: usize>(
    groups: &Groups<D>,
    rows: &[u32],
    index: &impl Index<D>,
    cores: &Cores,
    clusters: &Clusters,
    eps2: f64,
) -> Dbscan {
    let (settled, of_points) = settle(groups, index, cores, clusters, eps2);
    let labels: Vec<AtomicU32> = rows.iter().map(|_| AtomicU32::new(NOISE)).collect();
    let core: Vec<AtomicBool> = rows.iter().map(|_| AtomicBool::new(false)).collect();
    parallel::each(groups.len(), 256, &|part| {
        for (g, places) in part.map(|g| (g, groups.range(g))) {
            let own = rows[places.clone()].iter().zip(&of_points[places.clone()]).zip(&cores.is_core[places]);
            for ((&row, &of_point), &is_core) in own {
                let label = if settled[g] == OPEN { of_point } else { settled[g] };
                if label != NOISE {
                    labels[row as usize].store(label, Relaxed);
                    core[row as usize].store(is_core, Relaxed);
                }
            }
        }
    });
    let labels = labels.into_iter().map(|label| NonZeroU32::new(label.into_inner()).map(ClusterId)).collect();
    let core = core.into_iter().map(AtomicBool::into_inner).collect();
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
