//! The bursts and tasks that stand for all others.

use std::ops::Range;

use rayon::prelude::*;

use crate::cluster::{ClusterId, Clustering, Points};
use crate::table::{BurstTable, Nanos, Prepared};

/// A medoid is exact up to so many members; beyond, it is the best of the
/// [`CANDIDATES`] nearest to the mean, by their distances to this many.
const EXACT: usize = 1024;
const CANDIDATES: usize = 64;
/// Tasks that may stand for others, and phases that tasks are compared by.
const TASK_CANDIDATES: usize = 512;
const TASK_PHASES: usize = 16;
/// How often each class's task is chosen anew.
const BALANCE_ROUNDS: usize = 4;

/// A burst that stands for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Representative {
    /// Its place in the table.
    pub burst: u32,
    /// How many bursts it stands for, itself among them.
    pub weight: u64,
}

/// The bursts that stand for a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseRepresentatives {
    /// Which phase.
    pub cluster: ClusterId,
    /// The burst with the least sum of distances to all of the phase, in the
    /// space that was clustered. It stands for them all.
    pub medoid: Representative,
    /// The bursts of median duration of as many parts of the phase, of equal
    /// numbers of bursts, from the shortest to the longest.
    pub strata: Vec<Representative>,
}

/// The bursts that stand for each phase, in the phases' order.
///
/// `clustering` labels the complete bursts of `prepared`, and every phase has
/// a member. A phase of fewer than `n_strata` bursts has as many strata as
/// bursts. Ties go to the earlier burst.
///
/// # Panics
/// If the clustering does not label just the complete bursts.
///
/// # Complexity
/// O(m²·d) for the medoid of m ≤ 1024 members in d dimensions: exact. Beyond,
/// O(m·d) for the best of the 64 members nearest to the mean, by their
/// distances to 1024 members evenly spaced in burst order. O(m) for each
/// stratum. Phases one after the other, members in parallel.
#[must_use]
pub fn representatives(
    table: &BurstTable,
    prepared: &Prepared,
    clustering: &Clustering,
    n_strata: usize,
) -> Vec<PhaseRepresentatives> {
    assert_eq!(prepared.complete.len(), clustering.labels.len(), "a label for every complete burst");
    let mut sizes = vec![0; clustering.n_clusters];
    clustering.labels.iter().flatten().for_each(|id| sizes[id.index()] += 1);
    let mut members: Vec<Vec<u32>> = sizes.into_iter().map(Vec::with_capacity).collect();
    for (i, label) in clustering.labels.iter().enumerate() {
        if let Some(id) = label {
            members[id.index()].push(i as u32);
        }
    }
    let Ok(points) = Points::new(&prepared.points, prepared.dims) else { return Vec::new() };
    let burst = |i: u32| prepared.complete.at(i as usize);
    let of_phase = |(phase, members): (usize, Vec<u32>)| {
        let medoid = medoid(points, &members)?;
        let by_duration = |&i: &u32| (table.duration[burst(i) as usize], burst(i));
        Some(PhaseRepresentatives {
            cluster: ClusterId::from_index(phase),
            medoid: Representative { burst: burst(medoid), weight: members.len() as u64 },
            strata: strata(members.par_iter().map(by_duration).collect(), n_strata),
        })
    };
    members.into_iter().enumerate().filter_map(of_phase).collect()
}

/// The middle burst of each of `n` equal parts, by duration, then burst.
fn strata(mut bursts: Vec<(Nanos, u32)>, n: usize) -> Vec<Representative> {
    let (n, all) = (n.min(bursts.len()), bursts.len());
    let mut strata = Vec::with_capacity(n);
    // Only the middles are put in their places: sorting all takes many times as long.
    let (mut rest, mut before) = (&mut bursts[..], 0);
    for k in 0..n {
        let (start, end) = (k * all / n, (k + 1) * all / n);
        let middle = start + (end - start - 1) / 2;
        let (_, &mut (_, burst), above) = rest.select_nth_unstable(middle - before);
        strata.push(Representative { burst, weight: (end - start) as u64 });
        (rest, before) = (above, middle + 1);
    }
    strata
}

/// The member with the least sum of distances to all, or nearly so.
fn medoid(points: Points<'_>, members: &[u32]) -> Option<u32> {
    if members.len() <= EXACT {
        return nearest_to_all(points, members, members);
    }
    let mut mean = vec![0.0; points.dims()];
    for &i in members {
        mean.iter_mut().zip(points.row(i as usize)).for_each(|(sum, x)| *sum += x);
    }
    mean.iter_mut().for_each(|sum| *sum /= members.len() as f64);
    let from_mean = |&i: &u32| (distance(points.row(i as usize), &mean), i);
    let mut by_distance: Vec<(f64, u32)> = members.par_iter().map(from_mean).collect();
    let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    by_distance.select_nth_unstable_by(CANDIDATES, order);
    let mut candidates: Vec<u32> = by_distance[..CANDIDATES].iter().map(|&(_, i)| i).collect();
    candidates.sort_unstable();
    let sample: Vec<u32> = (0..EXACT).map(|k| members[k * members.len() / EXACT]).collect();
    nearest_to_all(points, &candidates, &sample)
}

fn nearest_to_all(points: Points<'_>, candidates: &[u32], all: &[u32]) -> Option<u32> {
    let sum = |&i: &u32| {
        let row = points.row(i as usize);
        (all.iter().map(|&j| distance(row, points.row(j as usize))).sum::<f64>(), i)
    };
    let best = candidates.par_iter().map(sum).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    best.map(|(_, i)| i)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// A task that stands for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRepresentative {
    /// Its application, from 1.
    pub app: u32,
    /// The task, from 1.
    pub task: u32,
    /// How many tasks it stands for, itself among them.
    pub weight: u64,
}

/// At most `n` tasks that stand for all, in order; each task is stood for by
/// the one nearest to it. Only what is within `[from, to]` counts.
///
/// Tasks are compared by the time they take in each of the 16 longest phases
/// and in all else, as shares of a task's mean computing time, and by each
/// counter, as a share of its mean. The first is the medoid; each further one
/// is that which brings all tasks nearest to theirs. Then each gives way to
/// that of the tasks it stands for with which the weighted sum of all is
/// nearest to the sum over all tasks, one after the other.
///
/// # Panics
/// If there is not one label for each burst.
///
/// # Complexity
/// O(n·t·c) for t tasks and c candidates: all tasks up to 512, beyond that
/// 512 evenly spaced by computing time.
///
/// # Reference
/// The BUILD step of PAM: Kaufman & Rousseeuw, *Finding Groups in Data*, 1990.
/// Differs: the last step, since what is asked of the tasks are sums.
#[must_use]
pub fn representative_tasks(
    table: &BurstTable,
    labels: &[Option<ClusterId>],
    (from, to): (Nanos, Nanos),
    n: usize,
) -> Vec<TaskRepresentative> {
    assert_eq!(table.len(), labels.len(), "a label for every burst");
    let tasks: Vec<((u32, u32), Range<usize>)> = table.tasks().collect();
    let mut features: Vec<Vec<f64>> = tasks
        .par_iter()
        .map(|(_, bursts)| task_features(table, labels, (from, to), bursts.clone()))
        .collect();
    normalise(&mut features);
    let mut nearest = vec![(f64::INFINITY, 0); tasks.len()];
    let candidates = task_candidates(&features);
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < n.min(candidates.len()) {
        let cost = |&c: &usize| {
            let with = |(t, &(d, _)): (usize, &(f64, usize))| distance(&features[t], &features[c]).min(d);
            (nearest.iter().enumerate().map(with).sum::<f64>(), c)
        };
        let open = candidates.par_iter().filter(|c| !chosen.contains(c)).map(cost);
        let Some((_, best)) = open.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))) else { break };
        for (t, (d, by)) in nearest.iter_mut().enumerate() {
            let new = if t == best { -1.0 } else { distance(&features[t], &features[best]) };
            if new < *d {
                (*d, *by) = (new, best);
            }
        }
        chosen.push(best);
    }
    chosen.sort_unstable();
    let class_of = |c: usize| (0..tasks.len()).filter(|&t| nearest[t].1 == c).collect();
    let classes: Vec<Vec<usize>> = chosen.iter().map(|&c| class_of(c)).collect();
    balance(&features, &classes, &mut chosen);
    let representative = |(c, class): (usize, Vec<usize>)| {
        let (app, task) = tasks[c].0;
        TaskRepresentative { app, task, weight: class.len() as u64 }
    };
    let mut found: Vec<TaskRepresentative> = chosen.into_iter().zip(classes).map(representative).collect();
    found.sort_unstable_by_key(|t| (t.app, t.task));
    found
}

/// Puts in the place of each chosen task a member of its class with which the
/// weighted sum comes nearest to the sum over all tasks.
fn balance(features: &[Vec<f64>], classes: &[Vec<usize>], chosen: &mut [usize]) {
    let Some(width) = features.first().map(Vec::len) else { return };
    let add = |sum: &mut [f64], t: usize, weight: f64| {
        sum.iter_mut().zip(&features[t]).for_each(|(sum, x)| *sum += weight * x);
    };
    // Of the weighted sum, what it is above the sum over all tasks.
    let mut excess = vec![0.0; width];
    (0..features.len()).for_each(|t| add(&mut excess, t, -1.0));
    for (class, &c) in classes.iter().zip(&*chosen) {
        add(&mut excess, c, class.len() as f64);
    }
    for _ in 0..BALANCE_ROUNDS {
        for (class, c) in classes.iter().zip(&mut *chosen) {
            let weight = class.len() as f64;
            add(&mut excess, *c, -weight);
            let off = |&t: &usize| {
                let with = excess.iter().zip(&features[t]).map(|(e, x)| (e + weight * x).powi(2));
                (with.sum::<f64>(), t)
            };
            let best = class.par_iter().map(off).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            *c = best.map_or(*c, |(_, t)| t);
            add(&mut excess, *c, weight);
        }
    }
}

/// Time by phase and in all else, then the sum of each counter.
fn task_features(
    table: &BurstTable,
    labels: &[Option<ClusterId>],
    (from, to): (Nanos, Nanos),
    bursts: Range<usize>,
) -> Vec<f64> {
    let mut features = vec![0.0; TASK_PHASES + 1 + table.counters.len()];
    for i in bursts {
        let phase = labels[i].map_or(TASK_PHASES, |id| id.index().min(TASK_PHASES));
        features[phase] += time_within(table, i, from, to) as f64;
        if from < table.end(i) && table.end(i) <= to {
            let counters = table.counters.iter().map(|c| c.values.get(i));
            let sums = features[TASK_PHASES + 1..].iter_mut().zip(counters);
            sums.filter(|(_, x)| !x.is_nan()).for_each(|(sum, x)| *sum += x);
        }
    }
    features
}

/// Divides times by the mean computing time of a task, counters by their mean.
fn normalise(features: &mut [Vec<f64>]) {
    let Some(width) = features.first().map(Vec::len) else { return };
    let sum = |k: usize| features.iter().map(|f| f[k]).sum::<f64>();
    let time: f64 = (0..=TASK_PHASES).map(sum).sum();
    let sums: Vec<f64> = (0..width).map(|k| if k <= TASK_PHASES { time } else { sum(k).abs() }).collect();
    let n = features.len() as f64;
    for of_task in features.iter_mut() {
        let scaled = of_task.iter_mut().zip(&sums).filter(|(_, sum)| **sum > 0.0);
        scaled.for_each(|(x, sum)| *x *= n / sum);
    }
}

/// The tasks that may stand for others, ascending.
fn task_candidates(features: &[Vec<f64>]) -> Vec<usize> {
    let time = |t: usize| features[t][..=TASK_PHASES].iter().sum::<f64>();
    let mut by_time: Vec<usize> = (0..features.len()).collect();
    by_time.sort_by(|&a, &b| time(a).total_cmp(&time(b)).then(a.cmp(&b)));
    let n = TASK_CANDIDATES.min(features.len());
    let mut candidates: Vec<usize> = (0..n).map(|k| by_time[k * features.len() / n]).collect();
    candidates.sort_unstable();
    candidates
}

/// How long burst `i` runs within `[from, to)`, in ns.
pub(super) fn time_within(table: &BurstTable, i: usize, from: Nanos, to: Nanos) -> u64 {
    table.end(i).min(to).saturating_sub(table.begin[i].max(from)).0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn strata_are_of_equal_numbers() {
        let bursts = |durations: &[u64]| durations.iter().map(|&d| Nanos(d)).zip(0..).collect();
        let found = |durations: &[u64], n| -> Vec<(u32, u64)> {
            strata(bursts(durations), n).iter().map(|r| (r.burst, r.weight)).collect()
        };
        assert_eq!(found(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 3), [(1, 3), (4, 3), (7, 4)]);
        assert_eq!(found(&[9, 8, 7, 6, 5, 4, 3, 2, 1, 0], 3), [(8, 3), (5, 3), (2, 4)]);
        assert_eq!(found(&[5, 5, 4, 4], 2), [(2, 2), (0, 2)], "of equal ones, the earlier");
        assert_eq!(found(&[7, 8], 5).len(), 2);
        assert!(found(&[], 5).is_empty());
    }

    fn tasks(times: &[u64], n: usize) -> Vec<(u32, u64)> {
        let table = BurstTable {
            code: None,
            app: vec![1; times.len()].into(),
            task: (1..=times.len() as u32).collect(),
            thread: vec![1; times.len()].into(),
            begin: vec![Nanos(5); times.len()],
            duration: times.iter().map(|&t| Nanos(t)).collect(),
            counters: Vec::new(),
        };
        let labels = vec![Some(ClusterId::from_index(0)); times.len()];
        let found = representative_tasks(&table, &labels, (Nanos(0), Nanos(1000)), n);
        found.iter().map(|r| (r.task, r.weight)).collect()
    }

    #[test]
    fn tasks_stand_for_those_like_them() {
        assert_eq!(tasks(&[10, 11, 50, 13, 51], 1), [(4, 5)]);
        assert_eq!(tasks(&[10, 11, 50, 13, 51], 2), [(2, 3), (5, 2)], "33 + 102 of 135");
        assert_eq!(tasks(&[10, 10, 10], 3), [(1, 1), (2, 1), (3, 1)]);
        assert!(tasks(&[], 2).is_empty());
    }

    proptest! {
        #[test]
        fn the_medoid_is_that_of_the_definition(
            data in prop::collection::vec(0u8..20, 2..120), skip in 1usize..3
        ) {
            let data: Vec<f64> = data.iter().take(data.len() / 2 * 2).map(|&x| f64::from(x)).collect();
            let points = Points::new(&data, 2).expect("finite");
            let members: Vec<u32> = (0..points.len() as u32).step_by(skip).collect();
            let cost = |i: u32| -> f64 {
                members.iter().map(|&j| distance(points.row(i as usize), points.row(j as usize))).sum()
            };
            let found = medoid(points, &members).expect("members");
            for &i in &members {
                prop_assert!(cost(found) < cost(i) || (cost(found) == cost(i) && found <= i));
            }
        }

    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]
        #[test]
        fn a_sampled_medoid_is_nearly_one(seed in 1u64..1000) {
            // Points about a centre, and a far cloud.
            let mut state = seed;
            let mut draw = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 40) as f64 / f64::from(1 << 24)
            };
            let data: Vec<f64> = (0..5000).map(|i| draw() + draw() + if i % 50 < 2 { 30.0 } else { 0.0 }).collect();
            let points = Points::new(&data, 2).expect("finite");
            let members: Vec<u32> = (0..2500).collect();
            let cost = |i: u32| -> f64 { members.iter().map(|&j| distance(points.row(i as usize), points.row(j as usize))).sum() };
            let exact = nearest_to_all(points, &members, &members).expect("members");
            let found = medoid(points, &members).expect("members");
            prop_assert!(cost(found) <= 1.3 * cost(exact), "{} {}", cost(found), cost(exact));
        }
    }
}
