//! The period of a run by the order of its bursts alone.

use rayon::prelude::*;

use super::turns::{Turned, Turns};
use super::{NotPeriodic, Period, shared};
use crate::cluster::ClusterId;
use crate::median;
use crate::table::{BurstTable, Code, Nanos};

/// At most so many threads are looked at, spread evenly over all.
const THREADS: usize = 16;
/// Loops that explain this share of what the best one does explain as much. Below it lie the loops
/// within (9,030 planes of LU explain 0.98 of what its 300 steps do), and the same loop without its
/// first or last turn (0.97 to 0.99 of BT, LU and SP).
const AS_GOOD: f64 = 0.99;
/// The first turn begins with a burst that may have begun long before the loop: if it takes more
/// than so many times what is typical, only the typical time of it is in the turn.
const LONG_BEFORE: f64 = 2.0;

/// Finds the period of a run by the order in which each thread makes its calls,
/// whenever and however long it computes between them.
///
/// `labels` has the place of every burst, numbered by descending time as in
/// [`find_period`](super::find_period). A turn of a loop begins where one call is made, and
/// holds about the same calls, about as often, as the others: a loop within it may do some more
/// turns or some fewer. Each burst counts as the median of those that end with the same call, so
/// durations that vary, or are only drawn, blur nothing, and threads may drift apart. Of calls
/// that are made as often, once in each turn, turns begin with the first, or end with the last: both
/// are tried, as other calls may stand before the first turn or behind the last. Where the table knows
/// who calls, a call made by another path of callers begins other turns.
/// Where the table does not tell which calls these are, places stand for them. `are_drawn` says that
/// durations were drawn from histograms: then those of single turns are not compared.
///
/// # Returns
/// The period of which more than half of the threads have equally many turns: the one that
/// explains most of the run, and of those that explain as much the one with most turns. Each
/// boundary is the median of when these threads reach it, so single threads may
/// have done more or less by then.
///
/// # Errors
/// [`NotPeriodic`] says what is missing.
///
/// # Panics
/// If there is not one label for each burst.
///
/// # Complexity
/// O(n log n) for n bursts.
pub fn find_period_in_order(
    table: &BurstTable,
    labels: &[Option<ClusterId>],
    are_drawn: bool,
) -> Result<Period, NotPeriodic> {
    assert_eq!(table.len(), labels.len(), "a label for every burst");
    if labels.iter().all(Option::is_none) {
        return Err(NotPeriodic::NoPhase);
    }
    let calls = Calls::of(table, labels);
    let threads = threads(table);
    let n = threads.len().min(THREADS);
    let chosen: Vec<_> = (0..n).map(|i| threads[i * threads.len() / n].clone()).collect();
    let found: Vec<Thread> =
        chosen.into_par_iter().map(|bursts| Thread::of(table, labels, &calls, bursts, are_drawn)).collect();
    let n_turns = most_common(&found)?;
    let alike: Vec<Period> =
        found.iter().filter_map(|thread| thread.period(table, labels, n_turns)).collect();
    if alike.is_empty() {
        return Err(NotPeriodic::NothingRepeats);
    }
    shared::together(together(&alike), table, labels)
}

/// How many turns the run has: more than half of the threads have as many. These need
/// not begin with the same call: each of the four ranks of LU stands in another corner, and calls from
/// other lines.
fn most_common(threads: &[Thread]) -> Result<usize, NotPeriodic> {
    let mut counts: Vec<usize> = threads.iter().flat_map(|own| own.loops.iter().map(Turned::n)).collect();
    counts.sort_unstable();
    let numbers: Vec<(usize, usize)> =
        counts.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect();
    // Of equally frequent numbers the smallest.
    let often = numbers.iter().max_by_key(|(n, agree)| (agree, std::cmp::Reverse(n)));
    let &(iterations, agree) = often.ok_or(NotPeriodic::NothingRepeats)?;
    if 2 * agree <= threads.len() {
        return Err(NotPeriodic::Apart { threads: agree, of: threads.len(), iterations });
    }
    let score = |n: usize| {
        let own = threads.iter().filter_map(|own| own.with(n)).map(Turned::score);
        (n, own.clone().sum::<f64>() / own.count() as f64)
    };
    let of_most = numbers.iter().filter(|(_, agree)| 2 * agree > threads.len());
    let scores: Vec<(usize, f64)> = of_most.map(|&(n, _)| score(n)).collect();
    let best = scores.iter().map(|(_, score)| *score).fold(0.0, f64::max);
    let as_good = scores.iter().filter(|(_, score)| *score >= AS_GOOD * best);
    Ok(as_good.map(|(n, _)| *n).max().unwrap_or(iterations))
}

/// The calls that bursts end with, as numbers. Without meaning for bursts that have no place.
struct Calls {
    /// Whoever calls the function that makes the call; the place where the call is not known.
    all: Vec<u32>,
    /// The same, told apart by who calls.
    paths: Vec<u32>,
    /// From this number on, paths are known.
    first_known: u32,
}

impl Calls {
    fn of(table: &BurstTable, labels: &[Option<ClusterId>]) -> Self {
        let n_places = labels.iter().flatten().map(|id| id.index() + 1).max().unwrap_or(0);
        let places = labels.iter().map(|label| label.map_or(0, ClusterId::index));
        let Some(Code { regions, .. }) = &table.code else {
            let all: Vec<u32> = places.map(|place| place as u32).collect();
            return Self { paths: all.clone(), all, first_known: u32::MAX };
        };
        let call = |(i, place)| regions.get(i).after.map_or(place, |call| n_places + call.index()) as u32;
        let all: Vec<u32> = places.enumerate().map(call).collect();
        let first_known = all.iter().max().map_or(0, |most| most + 1);
        let path = |(i, &call): (usize, &u32)| regions.path(i).map_or(call, |path| first_known + path.0);
        Self { paths: all.iter().enumerate().map(path).collect(), all, first_known }
    }
}

/// A number for each place and the call that ends it: a place has several calls, if these are told
/// apart by who calls the function that makes them.
fn by_call(places: impl Iterator<Item = ClusterId>, calls: &[u32]) -> Vec<u32> {
    let all: Vec<(ClusterId, u32)> = places.zip(calls.iter().copied()).collect();
    let mut there = all.clone();
    there.sort_unstable();
    there.dedup();
    all.iter().map(|own| there.partition_point(|other| other < own) as u32).collect()
}

/// The median duration of each place, at least 1 ns: a burst without a length
/// has its place in the order too.
fn medians(places: &[usize], durations: &[f64]) -> Vec<f64> {
    let mut of_places = vec![Vec::new(); places.iter().max().map_or(0, |most| most + 1)];
    for (&place, &duration) in places.iter().zip(durations) {
        of_places[place].push(duration);
    }
    let median = |of_place: &mut Vec<f64>| {
        of_place.sort_unstable_by(f64::total_cmp);
        median::lower(of_place).unwrap_or(0.0).max(1.0)
    };
    of_places.iter_mut().map(median).collect()
}

/// A thread and its loops.
struct Thread {
    /// Its bursts that have a place.
    bursts: Vec<usize>,
    /// What each of them takes as a rule.
    typical: Vec<f64>,
    loops: Vec<Turned>,
}

impl Thread {
    fn of(
        table: &BurstTable,
        labels: &[Option<ClusterId>],
        calls: &Calls,
        bursts: std::ops::Range<usize>,
        are_drawn: bool,
    ) -> Self {
        let bursts: Vec<usize> = bursts.filter(|&i| labels[i].is_some()).collect();
        let of = |all: &[u32]| -> Vec<u32> { bursts.iter().map(|&i| all[i]).collect() };
        let (own, paths) = (of(&calls.all), of(&calls.paths));
        let durations: Vec<f64> = bursts.iter().map(|&i| table.duration[i].0 as f64).collect();
        let places: Vec<u32> = match table.code {
            Some(_) => by_call(bursts.iter().filter_map(|&i| labels[i]), &paths),
            None => own.clone(),
        };
        let of_places: Vec<usize> = bursts.iter().filter_map(|&i| labels[i]).map(ClusterId::index).collect();
        let medians = medians(&of_places, &durations);
        let typical: Vec<f64> = of_places.iter().map(|&place| medians[place]).collect();
        let turns = Turns {
            calls: &own,
            paths: &paths,
            first_known: calls.first_known,
            places: &places,
            typical: &typical,
            durations: (!are_drawn).then_some(&durations),
        };
        let loops = turns.loops();
        Self { bursts, typical, loops }
    }

    /// The loop of so many turns.
    fn with(&self, n: usize) -> Option<&Turned> {
        self.loops.iter().find(|own| own.n() == n)
    }

    /// The same as a period.
    fn period(&self, table: &BurstTable, labels: &[Option<ClusterId>], n: usize) -> Option<Period> {
        let found = self.with(n)?;
        let begin_of = |&at: &usize| match self.bursts.get(at) {
            Some(&i) => table.begin[i],
            None => self.bursts.last().map_or(Nanos::ZERO, |&i| table.end(i)),
        };
        let mut boundaries: Vec<Nanos> = found.begins.iter().map(begin_of).collect();
        let first = self.bursts[found.begins[0]];
        let mut own: Vec<f64> = found.begins[..n].iter().map(|&at| self.typical[at]).collect();
        own.sort_by(f64::total_cmp);
        let typical = median::lower(&own).unwrap_or(0.0);
        if table.duration[first].0 as f64 > LONG_BEFORE * typical {
            boundaries[0] = Nanos(table.end(first).0.saturating_sub(typical as u64));
        }
        let mut anchors: Vec<ClusterId> =
            found.begins[..n].iter().filter_map(|&at| labels[self.bursts[at]]).collect();
        anchors.sort_unstable();
        let often =
            anchors.chunk_by(|a, b| a == b).max_by_key(|same| (same.len(), std::cmp::Reverse(same[0])));
        let anchor = often.map_or_else(|| ClusterId::from_index(0), |same| same[0]);
        let (confidence, coverage) = (found.confidence, found.coverage);
        let ascend = boundaries.is_sorted_by(|a, b| a < b);
        ascend.then_some(Period { boundaries, confidence, coverage, anchor })
    }
}

/// One period for threads that repeat equally often.
fn together(threads: &[Period]) -> Period {
    let boundary = |k: usize| {
        let mut times: Vec<Nanos> = threads.iter().map(|period| period.boundaries[k]).collect();
        times.sort_unstable();
        median::lower(&times).unwrap_or(Nanos::ZERO)
    };
    let mean = |of: fn(&Period) -> f64| threads.iter().map(of).sum::<f64>() / threads.len() as f64;
    Period {
        boundaries: (0..threads[0].boundaries.len()).map(boundary).collect(),
        confidence: mean(|period| period.confidence),
        coverage: mean(|period| period.coverage),
        anchor: threads[0].anchor,
    }
}

/// The bursts of each thread.
fn threads(table: &BurstTable) -> Vec<std::ops::Range<usize>> {
    table.threads().map(|(_, bursts)| bursts).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::table;
    use super::*;

    /// Tasks that run their own sequences of places, with durations between a
    /// tenth and all of 1000 times (place + 1), each in its own time.
    fn run(sequences: &[Vec<usize>]) -> (BurstTable, Vec<Option<ClusterId>>) {
        let mut bursts = Vec::new();
        let mut noise = 1u64;
        for (task, sequence) in (1u32..).zip(sequences) {
            let mut now = 0;
            for &place in sequence {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let duration = (place as u64 + 1) * (100 + (noise >> 33) % 900);
                bursts.push((task, now, duration, place));
                now += duration + (noise >> 40) % 500;
            }
        }
        table(&bursts)
    }

    #[test]
    fn durations_that_vary_and_threads_that_drift_hide_no_period() {
        let sequence = [vec![4, 4, 5], [0, 1, 0, 2, 3].repeat(40), vec![5]].concat();
        let (table, labels) = run(&[sequence.clone(), sequence.clone(), sequence]);
        let period = find_period_in_order(&table, &labels, false).expect("a period");
        assert_eq!(period.n_iterations(), 40);
        assert!(period.confidence > 0.95, "{period:?}");
    }

    #[test]
    fn ranks_may_call_from_other_lines() {
        let (table, labels) = run(&[[0, 1, 2].repeat(30), [0, 3, 4, 2].repeat(30), [0, 1, 2].repeat(30)]);
        let period = find_period_in_order(&table, &labels, false).expect("a period");
        assert!((29..=30).contains(&period.n_iterations()), "{period:?}");
    }

    /// A stranger's loop of 3 ms, `MPI_Sendrecv` and `MPI_Allreduce` was told as 12 to 74
    /// iterations of 150: the burst between the calls was shorter than the signal can show.
    #[test]
    fn a_burst_that_takes_hardly_any_time_is_a_step() {
        for short in [0, 1, 30] {
            let bursts = (1..=2).flat_map(|task: u32| {
                (0..300u64).map(move |i| match i % 2 {
                    0 => (task, 5000 * i, 3000 + 7 * (i % 11) + u64::from(task), 0),
                    _ => (task, 5000 * i, short, 1),
                })
            });
            let (table, labels) = table(&bursts.collect::<Vec<_>>());
            let period = find_period_in_order(&table, &labels, false).expect("a period");
            assert!((149..=150).contains(&period.n_iterations()), "{short}: {}", period.n_iterations());
        }
    }

    #[test]
    fn a_loop_with_one_call_repeats_burst_by_burst() {
        let sequence = [vec![1, 2], vec![0; 40], vec![3]].concat();
        let (table, labels) = run(&[sequence.clone(), sequence]);
        let period = find_period_in_order(&table, &labels, false).expect("a period");
        assert_eq!((period.n_iterations(), period.anchor.index()), (40, 0));
        assert!(period.coverage > 0.5 && period.coverage < 1.0, "{period:?}");
        // However many short calls are before it.
        let calls = (0..200).map(|i| (1, 10 * i, 2, 1 + i as usize % 3));
        let steps = (0..60).map(|i| (1, 10_000 + 1_100 * i, 1_000 + i % 7, 0));
        let (table, labels) = super::super::tests::table(&calls.chain(steps).collect::<Vec<_>>());
        let period = find_period_in_order(&table, &labels, false).expect("a period");
        assert!((59..=60).contains(&period.n_iterations()) && period.coverage > 0.98, "{period:?}");
        // Every tenth burst is what an outer loop computes, and not a turn like the others.
        let turns = (0..400).map(|i| (1, 10_000 * i, if i % 10 == 0 { 5_000 } else { 50 }, 0));
        let (table, labels) = super::super::tests::table(&turns.collect::<Vec<_>>());
        assert!(find_period_in_order(&table, &labels, false).is_err());
        // Nine in a row may be chance, and forty among a hundred others.
        let few = [vec![1, 2], vec![0; 9]].concat();
        let (table, labels) = run(std::slice::from_ref(&few));
        assert!(find_period_in_order(&table, &labels, false).is_err());
        let thue_morse = (0..100u32).map(|i| 1 + (i.count_ones() % 2) as usize);
        let (table, labels) = run(&[thue_morse.chain([0; 40]).collect()]);
        assert!(find_period_in_order(&table, &labels, false).is_err());
    }

    #[test]
    fn nothing_is_claimed_of_threads_without_or_with_other_periods() {
        let thue_morse: Vec<usize> = (0..256u32).map(|i| (i.count_ones() % 2) as usize * 3).collect();
        let (table, labels) = run(&[thue_morse.clone(), thue_morse]);
        assert!(find_period_in_order(&table, &labels, false).is_err());
        let (table, labels) = run(&[[0, 1].repeat(20), [0, 1].repeat(50)]);
        let apart = find_period_in_order(&table, &labels, false);
        assert!(matches!(apart, Err(NotPeriodic::Apart { threads: 1, of: 2, .. })), "{apart:?}");
        // One of two is not most of them.
        let said = apart.map_err(|why| why.to_string()).expect_err("no period");
        assert!(said.contains("of 2 threads looked at, 1 have 20 iterations"), "{said}");
        assert_eq!(find_period_in_order(&BurstTable::default(), &[], false), Err(NotPeriodic::NoPhase));
        let once: Vec<usize> = (0..12).collect();
        let (table, labels) = run(&[once]);
        assert!(find_period_in_order(&table, &labels, false).is_err());
    }
}
