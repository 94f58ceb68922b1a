//! The method itself, over points that are already sorted into groups.
//!
//! The points of a group are mutual neighbours. A group with `min_points`
//! members is therefore all core without computing a distance; core groups
//! that hold a pair within eps are joined; and a point's label follows from
//! its group's. The cost depends on the number of groups, not on the size of
//! the neighbourhoods, which on bursts is nearly quadratic in total.

use super::core_radii::CoreAt;
use super::geometry::{Aabb, any_within, count_within, max2, min2};
use super::labels::{first_of_places, first_rows, label, label_places, number};
use super::params::{Dbscan, DbscanParams, PART};
use super::scatter::{Slots, filled};
use super::union_find::UnionFind;
use crate::parallel;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

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
        let n = start.len() - 1;
        let around = |slots: &Slots<'_, Aabb<D>>| {
            parallel::each(n, 64, &|part| {
                for g in part {
                    let around = Aabb::of(&points[start[g] as usize..start[g + 1] as usize]);
                    // SAFETY: each group is in one part.
                    unsafe { slots.put(g, around) };
                }
            });
        };
        // SAFETY: every group is in a part.
        let boxes = unsafe { filled(n, around) };
        Self { points, start, boxes }
    }

    pub(super) fn len(&self) -> usize {
        self.boxes.len()
    }

    #[inline]
    pub(super) fn range(&self, g: usize) -> std::ops::Range<usize> {
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
    pub(super) is_core: Vec<bool>,
    share: Vec<Share>,
}

impl Cores {
    #[inline]
    pub(super) fn any(&self, g: usize) -> bool {
        self.share[g] != Share::None
    }

    #[inline]
    pub(super) fn all(&self, g: usize) -> bool {
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
    let mut is_core = crate::pages::large(vec![false; groups.points.len()]);
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
pub(super) fn each_group<A: Send, B: Send, const D: usize>(
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

/// Whether a point of group `g` is core. Equal points are core together, so it is
/// found again by its coordinates.
pub(super) fn is_core<const D: usize>(p: &[f64; D], g: usize, groups: &Groups<D>, cores: &Cores) -> bool {
    if !cores.any(g) || cores.all(g) {
        return cores.any(g);
    }
    place_of(p, g, groups).is_some_and(|place| cores.is_core[place])
}

/// The place of a point of group `g`, or of one that is equal to it.
pub(super) fn place_of<const D: usize>(p: &[f64; D], g: usize, groups: &Groups<D>) -> Option<usize> {
    let at = groups.members(g).iter().position(|q| q == p)?;
    Some(groups.start[g] as usize + at)
}
