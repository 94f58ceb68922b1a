//! Steps of ranks that drift apart.

use std::collections::BTreeMap;

use super::EffortRegions;
use super::from_bursts::key_of;
use crate::median;
use crate::table::{BurstTable, Nanos};

/// The iterations of each rank by its own bursts.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnSteps {
    /// Of each task, from task 1 on, when each of its iterations begins and when the last one
    /// ends; as many of each.
    pub boundaries: Vec<Vec<Nanos>>,
    /// By how many steps a rank falls behind the middle one, or gets ahead of it, over the run.
    pub drift: f64,
}

/// Ranks that all wait for one another at some point of each iteration are never apart by more
/// than an iteration. (Those that wait for their neighbours alone may be, for some time.)
const IN_STEP: f64 = 1.0;

/// How far ranks are apart is the median over one in so many of their iterations, and over
/// three at least: one burst that takes long is no drift.
const ENDS: usize = 10;
const FEWEST: usize = 3;

/// A rank drifts all of the time: each half of the run has at least this part of it. What one
/// does before the others, or how far neighbours can be apart, comes in one of them.
const OF_HALF: f64 = 0.25;

/// How far from a whole number the bursts in an iteration may be.
const NEARLY_WHOLE: f64 = 0.1;

/// When the bursts of each task begin that tell its iterations apart.
struct Beats {
    /// In ns, ascending; as many of each task.
    begins: Vec<Vec<u64>>,
    /// How many there are in an iteration.
    in_one: usize,
    /// What they take in all.
    time: u64,
}

/// The iterations of each rank, if ranks do not end theirs together; `None` if they do, or if
/// that cannot be told.
///
/// `boundaries` are the steps of the run by the clock. They are the iterations of all ranks
/// only as long as these wait for one another. Of tasks that do not, one that is slower is
/// busy all of the time just as the others are, and only gets less far. What tells iterations
/// apart is a region in which each task has as many bursts in all of the run; of several, the
/// one with the fewest in an iteration, then with the most time. If there is none, it is all
/// bursts, where each task has as many. Of a task with several threads, its first one counts.
///
/// # Complexity
/// O(n log n) for n bursts.
#[must_use]
pub fn own_steps(table: &BurstTable, regions: EffortRegions<'_>, boundaries: &[Nanos]) -> Option<OwnSteps> {
    let Beats { begins, in_one, .. } = beats(table, regions, boundaries)?;
    let (from, to) = (boundaries.first()?.0, boundaries.last()?.0);
    let step = (to - from) as f64 / (boundaries.len() - 1) as f64;
    let drift = drift(&begins) / step;
    if drift <= IN_STEP {
        return None;
    }
    let of_task = |begins: &Vec<u64>| begins.iter().step_by(in_one).map(|&begin| Nanos(begin)).collect();
    let boundaries: Vec<Vec<Nanos>> = begins.iter().map(of_task).collect();
    (boundaries[0].len() > 1).then_some(OwnSteps { boundaries, drift })
}

fn beats(table: &BurstTable, regions: EffortRegions<'_>, boundaries: &[Nanos]) -> Option<Beats> {
    let key = key_of(table, regions).ok()?;
    let n_tasks = table.tasks().count();
    if !(1..).zip(table.tasks()).all(|(number, ((_, task), _))| task == number) {
        return None;
    }
    // `None` is all bursts.
    let mut all: BTreeMap<_, (Vec<Vec<u64>>, u64)> = BTreeMap::new();
    for (at, (_, bursts)) in table.tasks().enumerate() {
        for i in table.threads_within(bursts).next().map_or(0..0, |(_, bursts)| bursts) {
            for key in [key(i).map(Some), Some(None)].into_iter().flatten() {
                let (begins, time) = all.entry(key).or_insert_with(|| (vec![Vec::new(); n_tasks], 0));
                begins[at].push(table.begin[i].0);
                *time += table.duration[i].0;
            }
        }
    }
    let whole = all.remove(&None);
    let beats = |(begins, time)| Beats::of(begins, time, boundaries);
    let regions = all.into_values().filter_map(beats);
    let best = regions.min_by_key(|beats| (beats.in_one, std::cmp::Reverse(beats.time)));
    best.or_else(|| whole.and_then(beats))
}

impl Beats {
    /// `None` unless each task has as many, and one or more in each step of the clock.
    fn of(begins: Vec<Vec<u64>>, time: u64, boundaries: &[Nanos]) -> Option<Self> {
        let (n_steps, n) = (boundaries.len().checked_sub(1)?, begins.first()?.len());
        let is_even = |begins: &Vec<u64>| begins.len() == n && begins.is_sorted_by(|a, b| a < b);
        if begins.len() < 2 || !begins.iter().all(is_even) {
            return None;
        }
        let within = boundaries.first()?.0..boundaries.last()?.0;
        let in_steps =
            |begins: &Vec<u64>| begins.iter().filter(|begin| within.contains(begin)).count() as f64;
        let middle = median::lower(&median::sorted(begins.iter().map(in_steps)))?;
        let in_one = middle / n_steps.max(1) as f64;
        let is_whole = (in_one - in_one.round()).abs() <= NEARLY_WHOLE && in_one.round() > 0.0;
        is_whole.then_some(Self { begins, in_one: in_one.round() as usize, time })
    }
}

/// By how many ns the begins of a task fall behind those of the middle one, or get ahead of
/// them, from the first ones to the last.
fn drift(begins: &[Vec<u64>]) -> f64 {
    let n = begins[0].len();
    let middle =
        |at: usize| median::lower(&median::sorted(begins.iter().map(|of| of[at] as f64))).unwrap_or(0.0);
    let middles: Vec<f64> = (0..n).map(middle).collect();
    let few = n.div_ceil(ENDS).max(FEWEST);
    if n < 3 * few {
        return 0.0;
    }
    let behind = |of: &Vec<u64>, from: usize| {
        let apart = (from..from + few).map(|at| of[at] as f64 - middles[at]);
        median::mean(&median::sorted(apart)).unwrap_or(0.0)
    };
    let of_task = |of: &Vec<u64>| {
        let [begin, half, end] = [0, (n - few) / 2, n - few].map(|from| behind(of, from));
        let (all, least) = ((end - begin).abs(), OF_HALF * (end - begin).abs());
        let goes_on = (half - begin).signum() == (end - half).signum();
        if goes_on && (half - begin).abs() >= least && (end - half).abs() >= least { all } else { 0.0 }
    };
    begins.iter().map(of_task).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four tasks of 20 iterations of two bursts, 4 and 1 ms, with 1 ms between; task 3 takes
    /// `times` as long for the longer one. With a barrier all wait for it.
    fn run(times: f64, waits: bool) -> (BurstTable, Vec<Option<u32>>) {
        let (mut table, mut labels) = (BurstTable::default(), Vec::new());
        let long = |task: u32| if task == 3 { 4.0 * times } else { 4.0 };
        let (mut tasks, mut begins, mut durations) = (Vec::new(), Vec::new(), Vec::new());
        for task in 1..=4 {
            let step = if waits { long(3) } else { long(task) } + 3.0;
            for (begin, duration, label) in (0..20).flat_map(|k| {
                let begin = f64::from(k) * step;
                [(begin, long(task), 0), (begin + step - 2.0, 1.0, 1)]
            }) {
                tasks.push(task);
                begins.push(Nanos((begin * 1e6) as u64));
                durations.push(Nanos((duration * 1e6) as u64));
                labels.push(Some(label));
            }
        }
        table.app = vec![1; tasks.len()].into();
        table.thread = vec![1; tasks.len()].into();
        table.task = tasks.into();
        table.begin = begins;
        table.duration = durations;
        (table, labels)
    }

    fn steps(step: f64) -> Vec<Nanos> {
        (0..=20).map(|k| Nanos((f64::from(k) * step * 1e6) as u64)).collect()
    }

    /// "8 ranks are alike within 0.4%" was told of tasks of which one takes 1.3 times as long.
    #[test]
    fn a_rank_that_falls_behind_has_steps_of_its_own() {
        let names = ["a".to_owned(), "b".to_owned()];
        let (table, labels) = run(1.5, false);
        let regions = EffortRegions::Named(&labels, &names);
        let own = own_steps(&table, regions, &steps(7.0)).expect("steps of their own");
        assert_eq!((own.boundaries.len(), own.boundaries[2].len()), (4, 20));
        assert_eq!(own.boundaries[2][..2], [Nanos(0), Nanos(9_000_000)]);
        assert!((4.0..6.0).contains(&own.drift), "{}", own.drift);
        let efforts = super::super::effort_in_own_steps(&table, regions, &own.boundaries).expect("efforts");
        assert_eq!((efforts.n_steps(), efforts.row(0)[0], efforts.row(2)[18]), (19, 0.004, 0.006));
    }

    #[test]
    fn ranks_that_wait_have_the_steps_of_the_clock() {
        let names = ["a".to_owned(), "b".to_owned()];
        for times in [1.0, 1.5, 20.0] {
            let (table, labels) = run(times, true);
            let steps = steps(4.0 * times + 3.0);
            assert_eq!(own_steps(&table, EffortRegions::Named(&labels, &names), &steps), None, "{times}");
        }
        // What a rank does before the others, once, is no drift.
        let (mut table, labels) = run(1.0, false);
        table.begin.iter_mut().skip(46).take(34).for_each(|begin| begin.0 += 50_000_000);
        assert_eq!(own_steps(&table, EffortRegions::Named(&labels, &names), &steps(7.0)), None);
        // No region has as many bursts on all, so it is all bursts.
        let (table, mut labels) = run(1.5, false);
        labels.iter_mut().skip(77).take(8).for_each(|label| *label = None);
        assert!(own_steps(&table, EffortRegions::Named(&labels, &names), &steps(7.0)).is_some());
    }
}
