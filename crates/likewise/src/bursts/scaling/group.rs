//! From places to phases.

use std::collections::BTreeMap;

use super::assign::assign;
use super::matched::{Evidence, MatchedPhase, PhaseInRun, RunBursts, RunMatch};
use super::neighbours::{AlikeBy, agreement, around, phases_between};
use super::places::Places;
use super::steps::{
    Centre, Likeness, Nature, SAME_TRAITS, SAME_WORK, WorkRange, figures_alike, label, traits_apart,
};
use crate::cluster::ClusterId;
use crate::median;

/// A burst without a place joins a phase only if its ln(work) is within this
/// distance of the phase's mean.
const NEAR_WORK: f64 = 0.5;
/// … and only if the phase has at least this share of the burst's cluster,
/// compared with the phase that has most of it. A phase with few bursts of a
/// cluster would be as near as the one that nearly all of them are in.
const GOOD_PART: f64 = 0.1;
/// A cluster without a place matches a phase by its figures from this likeness
/// on; below, it is a phase of its own.
const LEAST_LIKENESS: f64 = 0.5;

pub(super) struct Inputs<'a> {
    pub(super) runs: &'a [RunBursts<'a>],
    pub(super) natures: &'a [Nature],
    pub(super) threads: &'a [u64],
    pub(super) reference: usize,
    pub(super) places: &'a Places,
}

/// What stands at a place in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Nothing,
    Noise,
    Cluster(ClusterId),
}

/// A phase in the making: of each run, its complete bursts, ascending.
#[derive(Clone, Debug)]
struct Group {
    seen: Vec<Seen>,
    bursts: Vec<Vec<u32>>,
    /// Of each run, the likeness, where figures decided.
    by_figures: Vec<Option<f64>>,
}

impl Inputs<'_> {
    fn duration(&self, run: usize, burst: u32) -> f64 {
        let run = &self.runs[run];
        run.table.duration[run.complete.at(burst as usize) as usize].0 as f64
    }

    fn time(&self, run: usize, bursts: &[u32]) -> f64 {
        bursts.iter().map(|&burst| self.duration(run, burst)).sum()
    }

    /// The largest share that a group has of a run's time.
    fn share(&self, totals: &[f64], group: &Group) -> f64 {
        let share = |(r, bursts): (usize, &Vec<u32>)| self.time(r, bursts) / totals[r].max(1.0);
        group.bursts.iter().enumerate().map(share).fold(0.0, f64::max)
    }

    fn centres(&self, group: &Group) -> Vec<Option<Centre>> {
        group.bursts.iter().zip(self.natures).map(|(bursts, nature)| nature.centre(bursts)).collect()
    }

    /// The same of only those bursts that are in the group's cluster, in runs
    /// where it has one: bursts of the group that are noise are unlike them.
    fn centres_in_clusters(&self, group: &Group) -> Vec<Option<Centre>> {
        let centre = |(r, bursts): (usize, &Vec<u32>)| match group.seen[r] {
            Seen::Cluster(id) => {
                let of_cluster = |&&burst: &&u32| label(&self.runs[r], burst) == Some(id);
                self.natures[r].centre(&bursts.iter().filter(of_cluster).copied().collect::<Vec<_>>())
            }
            _ => None,
        };
        group.bursts.iter().enumerate().map(centre).collect()
    }

    /// How many of the bursts (ascending) each thread has that has any. Work
    /// that one thread does for all counts once, however many threads there are.
    fn per_thread(&self, run: usize, bursts: &[u32]) -> f64 {
        let RunBursts { table, complete, .. } = self.runs[run];
        let thread = |&burst: &u32| {
            let i = complete.at(burst as usize) as usize;
            table.thread_of(i)
        };
        let threads = bursts.chunk_by(|a, b| thread(a) == thread(b)).count();
        bursts.len() as f64 / threads.max(1) as f64
    }

    /// How many times as often as in the reference each run repeats its groups:
    /// the median over the groups, weighted by their time.
    fn times(&self, groups: &[Group]) -> Vec<f64> {
        let of_run = |r: usize| {
            let ratio = |group: &Group| {
                let (own, of) = (&group.bursts[r], &group.bursts[self.reference]);
                let ratio = self.per_thread(r, own) / self.per_thread(self.reference, of);
                (!own.is_empty() && !of.is_empty()).then(|| (ratio, self.time(r, own)))
            };
            median::weighted(groups.iter().filter_map(ratio).collect()).unwrap_or(1.0)
        };
        (0..self.runs.len()).map(of_run).collect()
    }
}

pub(super) fn phases(inputs: &Inputs<'_>) -> RunMatch {
    let all = |r: usize| -> Vec<u32> { (0..inputs.runs[r].complete.len() as u32).collect() };
    let totals: Vec<f64> = (0..inputs.runs.len()).map(|r| inputs.time(r, &all(r))).collect();
    let by_share = |groups: &mut Vec<Group>| {
        groups.sort_by_cached_key(|group| std::cmp::Reverse(Total(inputs.share(&totals, group))));
    };
    let mut groups = groups_of_places(inputs);
    by_share(&mut groups);
    let mut groups = join_same_code(inputs, groups);
    place_by_cluster(inputs, &mut groups);
    let times = inputs.times(&groups);
    match_leftovers(inputs, &times, &mut groups);
    place_between(inputs, &mut groups);
    by_share(&mut groups);
    let phase_of = phase_of(inputs, &groups);
    let witness = Witness::of(inputs, &times, &groups, &phase_of);
    let phases = (0..groups.len()).map(|p| matched(inputs, &witness, &groups, p)).collect();
    RunMatch { reference: inputs.reference, phases, phase_of }
}

/// Of each run and burst the place of its group.
fn phase_of(inputs: &Inputs<'_>, groups: &[Group]) -> Vec<Vec<Option<u32>>> {
    let mut phase_of: Vec<Vec<Option<u32>>> =
        inputs.runs.iter().map(|run| vec![None; run.complete.len()]).collect();
    for (p, group) in groups.iter().enumerate() {
        for (of_run, bursts) in phase_of.iter_mut().zip(&group.bursts) {
            bursts.iter().for_each(|&burst| of_run[burst as usize] = Some(p as u32));
        }
    }
    phase_of
}

/// Gives noise the group that stands between the same two phases otherwise.
fn place_between(inputs: &Inputs<'_>, groups: &mut [Group]) {
    for (r, phase_of) in phase_of(inputs, groups).iter().enumerate() {
        let run = &inputs.runs[r];
        let found = phases_between(run, phase_of, AlikeBy::Counters);
        for (burst, p) in found.into_iter().filter(|&(burst, _)| label(run, burst).is_none()) {
            groups[p as usize].bursts[r].push(burst);
        }
        groups.iter_mut().for_each(|group| group.bursts[r].sort_unstable());
    }
}

/// Numbers in their total order.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Total(pub(super) f64);

impl Eq for Total {}

impl Ord for Total {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Total {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Puts together the places that have the same cluster in each run. A place
/// that is noise in every run is a group by itself.
fn groups_of_places(inputs: &Inputs<'_>) -> Vec<Group> {
    let n_runs = inputs.runs.len();
    let mut bursts = vec![vec![Vec::new(); n_runs]; inputs.places.n];
    for (r, placed) in inputs.places.runs.iter().enumerate() {
        for (burst, place) in placed.place.iter().enumerate() {
            place.iter().for_each(|at| bursts[at.place as usize][r].push(burst as u32));
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut known: BTreeMap<Vec<Seen>, usize> = BTreeMap::new();
    for bursts in bursts {
        let seen: Vec<Seen> = bursts.iter().enumerate().map(|(r, of)| usual(&inputs.runs[r], of)).collect();
        let in_a_cluster = seen.iter().any(|seen| matches!(seen, Seen::Cluster(_)));
        let new = groups.len();
        let at = if in_a_cluster { *known.entry(seen.clone()).or_insert(new) } else { new };
        if at == new {
            groups.push(Group { seen, bursts, by_figures: vec![None; n_runs] });
        } else {
            let joined = groups[at].bursts.iter_mut().zip(bursts);
            joined.for_each(|(of_group, of_place)| of_group.extend(of_place));
        }
    }
    groups.iter_mut().flat_map(|group| &mut group.bursts).for_each(|bursts| bursts.sort_unstable());
    groups
}

/// The cluster that most of the bursts are in, if at least half of them are in
/// any cluster. A step with two modes may be in two clusters, with less than
/// half in each; that is no noise.
fn usual(run: &RunBursts<'_>, bursts: &[u32]) -> Seen {
    if bursts.is_empty() {
        return Seen::Nothing;
    }
    let counts = clusters_of(run, bursts);
    let in_clusters: usize = counts.iter().map(|(_, n)| n).sum();
    match counts.first() {
        Some(&(cluster, _)) if 2 * in_clusters >= bursts.len() => Seen::Cluster(cluster),
        _ => Seen::Noise,
    }
}

/// The clusters of bursts and how many are in each, the most first.
fn clusters_of(run: &RunBursts<'_>, bursts: &[u32]) -> Vec<(ClusterId, usize)> {
    let mut clusters: Vec<ClusterId> = bursts.iter().filter_map(|&burst| label(run, burst)).collect();
    clusters.sort_unstable();
    let mut counts: Vec<(ClusterId, usize)> =
        clusters.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    counts
}

/// What a group of places is in each run.
struct Member {
    seen: Vec<Seen>,
    centres: Vec<Option<Centre>>,
}

/// Joins groups that differ only in speed. Two groups join if they are alike, or
/// if both are like a third one (the modes of one step), and if no two of those
/// that would be joined do different work. Each group joins the first that fits.
fn join_same_code(inputs: &Inputs<'_>, groups: Vec<Group>) -> Vec<Group> {
    let mut kept: Vec<(Group, Vec<Member>)> = Vec::new();
    for group in groups {
        let members = vec![Member { seen: group.seen.clone(), centres: inputs.centres_in_clusters(&group) }];
        let fitting: Vec<usize> =
            (0..kept.len()).filter(|&k| same_code(&kept[k].1, &members, true)).collect();
        let Some((&first, others)) = fitting.split_first() else {
            kept.push((group, members));
            continue;
        };
        join(&mut kept[first], (group, members));
        for &other in others.iter().rev() {
            if same_code(&kept[first].1, &kept[other].1, false) {
                let joined = kept.remove(other);
                join(&mut kept[first], joined);
            }
        }
    }
    kept.into_iter().map(|(group, _)| group).collect()
}

fn join((group, members): &mut (Group, Vec<Member>), (more, of_more): (Group, Vec<Member>)) {
    for (bursts, more) in group.bursts.iter_mut().zip(more.bursts) {
        bursts.extend(more);
        bursts.sort_unstable();
    }
    members.extend(of_more);
}

/// Whether two lists of groups can be one phase: no group of one list does other
/// work than a group of the other, in any run that has both in clusters. With
/// `alike`, one pair must also share a cluster of some run and be alike there.
/// Groups that are noise say nothing.
fn same_code(some: &[Member], others: &[Member], alike: bool) -> bool {
    let mut alike_in_a_cluster = !alike;
    for (a, b) in some.iter().flat_map(|a| others.iter().map(move |b| (a, b))) {
        for (r, centres) in a.centres.iter().zip(&b.centres).enumerate() {
            let (Some(x), Some(y)) = centres else { continue };
            if (x.work - y.work).abs() >= SAME_WORK {
                return false;
            }
            alike_in_a_cluster |= a.seen[r] == b.seen[r] && traits_apart(&x.traits, &y.traits) < SAME_TRAITS;
        }
    }
    alike_in_a_cluster
}

/// Bursts without a place join the nearest phase that their cluster is seen in.
fn place_by_cluster(inputs: &Inputs<'_>, groups: &mut [Group]) {
    for (r, nature) in inputs.natures.iter().enumerate() {
        let run = &inputs.runs[r];
        let phases_of = phases_of_clusters(run, nature, groups, r);
        for (burst, place) in inputs.places.runs[r].place.iter().enumerate() {
            let Some(cluster) = label(run, burst as u32).filter(|_| place.is_none()) else { continue };
            let distance = |centre: &Centre| {
                let work = (nature.work[burst] - centre.work).abs();
                (work < NEAR_WORK)
                    .then(|| work + f64::from(traits_apart(nature.traits(burst), &centre.traits)))
            };
            let near = phases_of[cluster.index()].iter().filter_map(|(g, c)| Some((distance(c)?, *g)));
            if let Some((_, g)) = near.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))) {
                groups[g].bursts[r].push(burst as u32);
            }
        }
        groups.iter_mut().for_each(|group| group.bursts[r].sort_unstable());
    }
}

/// Of each cluster of a run, the phases that have a good part of it
/// ([`GOOD_PART`]), and what its bursts are like there.
fn phases_of_clusters(
    run: &RunBursts<'_>,
    nature: &Nature,
    groups: &[Group],
    r: usize,
) -> Vec<Vec<(usize, Centre)>> {
    let mut found: Vec<Vec<(usize, Vec<u32>)>> = vec![Vec::new(); run.clustering.n_clusters];
    for (g, group) in groups.iter().enumerate() {
        let mut by_cluster: BTreeMap<ClusterId, Vec<u32>> = BTreeMap::new();
        for &burst in &group.bursts[r] {
            label(run, burst).iter().for_each(|&id| by_cluster.entry(id).or_default().push(burst));
        }
        by_cluster.into_iter().for_each(|(id, bursts)| found[id.index()].push((g, bursts)));
    }
    let good_part = |phases: Vec<(usize, Vec<u32>)>| {
        let most = phases.iter().map(|(_, bursts)| bursts.len()).max().unwrap_or(0);
        let large = phases.into_iter().filter(|(_, bursts)| bursts.len() as f64 >= GOOD_PART * most as f64);
        large.filter_map(|(g, bursts)| Some((g, nature.centre(&bursts)?))).collect()
    };
    found.into_iter().map(good_part).collect()
}

/// Gives a phase to the clusters of which most bursts are in none yet: by their
/// figures, or else a new one.
fn match_leftovers(inputs: &Inputs<'_>, times: &[f64], groups: &mut Vec<Group>) {
    for r in 0..inputs.runs.len() {
        let left = leftovers(inputs, groups, r);
        let open: Vec<usize> = (0..groups.len()).filter(|&g| groups[g].bursts[r].is_empty()).collect();
        let centres: Vec<Vec<Option<Centre>>> = open.iter().map(|&g| inputs.centres(&groups[g])).collect();
        let alike =
            |bursts: &[u32], k: usize| by_figures(inputs, times, (r, bursts), &groups[open[k]], &centres[k]);
        let cost: Vec<f64> =
            left.iter().flat_map(|bursts| (0..open.len()).map(|k| 1.0 - alike(bursts, k))).collect();
        for (i, column) in assign(&cost, left.len(), open.len()).into_iter().enumerate() {
            let likeness = column.map_or(0.0, |k| 1.0 - cost[i * open.len() + k]);
            let seen = usual(&inputs.runs[r], &left[i]);
            let group = match column.filter(|_| likeness >= LEAST_LIKENESS) {
                Some(k) => &mut groups[open[k]],
                None => {
                    let n_runs = inputs.runs.len();
                    groups.push(Group {
                        seen: vec![Seen::Nothing; n_runs],
                        bursts: vec![Vec::new(); n_runs],
                        by_figures: vec![None; n_runs],
                    });
                    groups.last_mut().expect("one was pushed")
                }
            };
            group.bursts[r] = left[i].clone();
            group.seen[r] = seen;
            group.by_figures[r] = Some(likeness);
        }
    }
}

/// The bursts without a phase, of each cluster of the run of which most bursts
/// have none.
fn leftovers(inputs: &Inputs<'_>, groups: &[Group], r: usize) -> Vec<Vec<u32>> {
    let run = &inputs.runs[r];
    let mut free = vec![true; run.complete.len()];
    groups.iter().flat_map(|group| &group.bursts[r]).for_each(|&burst| free[burst as usize] = false);
    let mut all = vec![0; run.clustering.n_clusters];
    let mut left = vec![Vec::new(); run.clustering.n_clusters];
    for (burst, cluster) in run.clustering.labels.iter().enumerate() {
        let Some(cluster) = cluster else { continue };
        all[cluster.index()] += 1;
        if free[burst] {
            left[cluster.index()].push(burst as u32);
        }
    }
    left.into_iter().zip(all).filter(|(left, all)| 2 * left.len() > *all).map(|(left, _)| left).collect()
}

/// How alike bursts of a run are to a group, in the run it is best known in.
fn by_figures(
    inputs: &Inputs<'_>,
    times: &[f64],
    (r, bursts): (usize, &[u32]),
    group: &Group,
    centres: &[Option<Centre>],
) -> f64 {
    let with = std::iter::once(inputs.reference).chain(0..inputs.runs.len()).find(|&o| centres[o].is_some());
    let (Some(mine), Some(o)) = (inputs.natures[r].centre(bursts), with) else { return 0.0 };
    let Some(other) = &centres[o] else { return 0.0 };
    let range = WorkRange::between(inputs.threads[r].max(1), inputs.threads[o].max(1));
    let each = (inputs.per_thread(r, bursts), inputs.per_thread(o, &group.bursts[o]));
    figures_alike(&mine, other, range) * counts_alike((each.0, times[r]), (each.1, times[o]))
}

/// How well two numbers of bursts per thread agree, from 0 to 1. `times` says
/// how often each run repeats the loop: bursts of the loop grow with it, bursts
/// outside of it do not, and the better of both counts.
pub(super) fn counts_alike((a, times_a): (f64, f64), (b, times_b): (f64, f64)) -> f64 {
    let alike = |a: f64, b: f64| if a > 0.0 { a.min(b) / a.max(b) } else { 0.0 };
    alike(a, b).max(alike(a / times_a, b / times_b))
}

/// What is known of every phase of every run, for the confidence of its match.
struct Witness<'a> {
    times: &'a [f64],
    /// Of each run and phase, how alike it is to the reference at its places.
    at_places: Vec<Vec<Option<Likeness>>>,
    /// Of each run and phase, its place among the others, from 0 to 1.
    by_neighbours: Vec<Vec<f64>>,
}

impl<'a> Witness<'a> {
    fn of(inputs: &Inputs<'_>, times: &'a [f64], groups: &[Group], phase_of: &[Vec<Option<u32>>]) -> Self {
        let reference = inputs.reference;
        let of_run = |r: usize| -> Vec<Option<Likeness>> {
            groups.iter().map(|group| against_reference(inputs, group, r)).collect()
        };
        let at_places: Vec<Vec<Option<Likeness>>> = (0..inputs.runs.len()).map(of_run).collect();
        let by_neighbours = |r: usize| {
            let common: Vec<bool> = groups
                .iter()
                .map(|group| !group.bursts[r].is_empty() && !group.bursts[reference].is_empty())
                .collect();
            let around = |r: usize| {
                let aligned = &inputs.places.runs[r].aligned;
                around(&inputs.runs[r], (&phase_of[r], aligned), &common)
            };
            let same: Vec<f64> =
                at_places[r].iter().map(|alike| alike.map_or(0.0, |alike| alike.same)).collect();
            agreement(&around(r), &around(reference), &same)
        };
        let by_neighbours = (0..inputs.runs.len()).map(by_neighbours).collect();
        Self { times, at_places, by_neighbours }
    }

    /// The confidence of a phase of a run that has places; see
    /// [`match_runs`](super::match_runs).
    fn confidence(&self, inputs: &Inputs<'_>, group: &Group, (r, p): (usize, usize)) -> Option<f64> {
        let alike = self.at_places[r][p]?.all.max(self.by_neighbours[r][p]);
        let each = |r: usize| inputs.per_thread(r, &group.bursts[r]);
        Some(alike * counts_alike((each(r), self.times[r]), (each(inputs.reference), 1.0)))
    }
}

fn matched(inputs: &Inputs<'_>, witness: &Witness<'_>, groups: &[Group], p: usize) -> MatchedPhase {
    let group = &groups[p];
    let present = |&r: &usize| !group.bursts[r].is_empty();
    let reference = std::iter::once(inputs.reference)
        .chain(0..inputs.runs.len())
        .find(present)
        .unwrap_or(inputs.reference);
    let centres = inputs.centres(group);
    let in_run = |r: usize| {
        let bursts = &group.bursts[r];
        let clusters = clusters_of(&inputs.runs[r], bursts);
        let in_clusters: usize = clusters.iter().map(|(_, n)| n).sum();
        let (confidence, evidence) = match group.by_figures[r] {
            _ if r == reference => (1.0, Evidence::Reference),
            Some(likeness) => (likeness, Evidence::Figures),
            None => match witness.confidence(inputs, group, (r, p)) {
                Some(confidence) => (confidence, Evidence::Sequence),
                None => (by_figures(inputs, witness.times, (r, bursts), group, &centres), Evidence::Figures),
            },
        };
        (!bursts.is_empty()).then(|| PhaseInRun {
            clusters: clusters.into_iter().map(|(cluster, _)| cluster).collect(),
            noise: (bursts.len() - in_clusters) as u64,
            confidence,
            evidence,
        })
    };
    MatchedPhase { runs: (0..inputs.runs.len()).map(in_run).collect() }
}

/// How alike a run's bursts are to those of the places, against how alike the
/// reference's own are. `None` where the reference has none at its places.
fn against_reference(inputs: &Inputs<'_>, group: &Group, r: usize) -> Option<Likeness> {
    let of_reference = at_places(inputs, group, inputs.reference).filter(|alike| alike.all > 0.0)?;
    let own = at_places(inputs, group, r).unwrap_or_default();
    Some(Likeness {
        same: (own.same / of_reference.same).min(1.0),
        all: (own.all / of_reference.all).min(1.0),
    })
}

/// The mean likeness of a group's bursts on aligned threads, weighted by time.
/// A burst without a place counts 0.
fn at_places(inputs: &Inputs<'_>, group: &Group, r: usize) -> Option<Likeness> {
    let placed = &inputs.places.runs[r];
    let (mut total, mut same, mut all) = (0.0, 0.0, 0.0);
    for &burst in group.bursts[r].iter().filter(|&&burst| placed.aligned[burst as usize]) {
        let time = inputs.duration(r, burst);
        total += time;
        let alike = placed.place[burst as usize].map_or(Likeness::default(), |place| place.likeness);
        (same, all) = (same + time * alike.same, all + time * alike.all);
    }
    (total > 0.0).then(|| Likeness { same: same / total, all: all / total })
}

#[cfg(test)]
mod tests {
    use super::counts_alike;

    #[test]
    fn numbers_of_bursts_agree_in_the_loop_and_outside_of_it() {
        // A run of twice the iterations: a step of the loop, and a start.
        assert_eq!(counts_alike((60.0, 2.0), (30.0, 1.0)), 1.0);
        assert_eq!(counts_alike((1.0, 2.0), (1.0, 1.0)), 1.0);
        assert_eq!(counts_alike((10.0, 1.0), (40.0, 1.0)), 0.25);
        assert_eq!(counts_alike((0.0, 2.0), (30.0, 1.0)), 0.0);
    }
}
