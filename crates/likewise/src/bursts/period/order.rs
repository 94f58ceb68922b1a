//! The period of a run by the order of its bursts alone.

use rayon::prelude::*;

use super::{LEAST_COVERAGE, NotPeriodic, Period, find_period, shared};
use crate::cluster::ClusterId;
use crate::median;
use crate::table::{BurstTable, Nanos, Runs};

/// At most so many threads are looked at, spread evenly over all.
const THREADS: usize = 16;
/// A burst counts at least this part of the mean of its thread: each is a step of the
/// program, however short.
const LEAST_OF_MEAN: u64 = 4;
/// So many bursts of one place in a row are a loop, if they are half of the thread's work: of a
/// random sequence hardly so many are, and who polls does hardly any work.
const IN_A_ROW: usize = 10;

/// Finds the period of a run by the order in which each thread runs its bursts,
/// whenever and for how long it does.
///
/// `labels` has the place of every burst, numbered by descending time as in
/// [`find_period`]. Each thread is looked at by itself, as if each burst took the
/// median of its place and nothing lay between bursts: so durations that vary,
/// or are only drawn, blur nothing, and threads may drift apart.
///
/// # Returns
/// The period if more than half of the threads repeat equally often. Each
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
/// That of [`find_period`], for each of at most 16 threads.
pub fn find_period_in_order(table: &BurstTable, labels: &[Option<ClusterId>]) -> Result<Period, NotPeriodic> {
    assert_eq!(table.len(), labels.len(), "a label for every burst");
    let typical = medians(table, labels);
    let threads = threads(table);
    let n = threads.len().min(THREADS);
    let chosen: Vec<_> = (0..n).map(|i| threads[i * threads.len() / n].clone()).collect();
    let found: Vec<_> =
        chosen.into_par_iter().map(|thread| period_of_thread(table, labels, &typical, thread)).collect();
    let counts: Vec<usize> = found.iter().flatten().map(Period::n_iterations).collect();
    let agree = |n: usize| counts.iter().filter(|&&other| other == n).count();
    // Of equally frequent numbers the smallest, whatever the threads' order.
    let Some(often) = counts.iter().copied().max_by_key(|&n| (agree(n), std::cmp::Reverse(n))) else {
        return Err(found.into_iter().find_map(Result::err).unwrap_or(NotPeriodic::NoPhase));
    };
    if 2 * agree(often) <= n {
        return Err(NotPeriodic::Apart { threads: agree(often), of: n, iterations: often });
    }
    let alike: Vec<Period> = found.into_iter().flatten().filter(|p| p.n_iterations() == often).collect();
    shared::together(together(&alike), table, labels)
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

/// The period of one thread, by the clock of the run.
fn period_of_thread(
    table: &BurstTable,
    labels: &[Option<ClusterId>],
    typical: &[u64],
    thread: std::ops::Range<usize>,
) -> Result<Period, NotPeriodic> {
    let labelled: Vec<usize> = thread.filter(|&i| labels[i].is_some()).collect();
    let typical_of = |&i: &usize| labels[i].map_or(0, |id| typical[id.index()]);
    let all: u128 = labelled.iter().map(|i| u128::from(typical_of(i))).sum();
    let least = (all / (labelled.len().max(1) as u128 * u128::from(LEAST_OF_MEAN))) as u64;
    let mut now = 0u64;
    let mut laid = BurstTable::default();
    for &i in &labelled {
        let duration = typical_of(&i).max(least);
        laid.begin.push(Nanos(now));
        laid.duration.push(Nanos(duration));
        now = now.saturating_add(duration);
    }
    if let Some(&first) = labelled.first() {
        let n = labelled.len();
        (laid.app, laid.task) = (Runs::repeat(table.app[first], n), Runs::repeat(table.task[first], n));
        laid.thread = Runs::repeat(table.thread[first], n);
    }
    let own: Vec<Option<ClusterId>> = labelled.iter().map(|&i| labels[i]).collect();
    let mut period = find_period(&laid, &own)
        .or_else(|why| burst_by_burst(&laid, &own, |at| table.duration[labelled[at]].0).ok_or(why))?;
    let next_of = |boundary: &Nanos| laid.begin.partition_point(|begin| begin < boundary);
    // What short bursts count as is for the signal alone.
    let (first, last) = (next_of(&period.boundaries[0]), next_of(&period.boundaries[period.n_iterations()]));
    let work = |bursts: &[usize]| bursts.iter().map(|i| typical_of(i) as f64).sum::<f64>();
    period.coverage = work(&labelled[first..last]) / work(&labelled);
    if period.coverage < LEAST_COVERAGE {
        return Err(NotPeriodic::NothingRepeats);
    }
    for boundary in &mut period.boundaries {
        // Where the next burst begins; behind the last burst, where that ends.
        let next = next_of(boundary);
        *boundary = match labelled.get(next) {
            Some(&i) => table.begin[i],
            None => labelled.last().map_or(Nanos::ZERO, |&i| table.end(i)),
        };
    }
    if period.boundaries.is_sorted_by(|a, b| a < b) { Ok(period) } else { Err(NotPeriodic::NothingRepeats) }
}

/// Bursts of a loop with one call may take up to so many times their median, or as much less ...
const ALIKE: u64 = 2;
/// ... but for this share of them, and this share of their time: more are what each turn of an
/// outer loop does, which calls from that place several times.
const ODD: (f64, f64) = (0.05, 0.25);

/// The longest run of bursts of one place, each of which is an iteration: a loop with one call.
/// `durations` has what they took.
fn burst_by_burst(
    laid: &BurstTable,
    labels: &[Option<ClusterId>],
    durations: impl Fn(usize) -> u64,
) -> Option<Period> {
    let mut start = 0;
    let runs = labels.chunk_by(|a, b| a == b).map(|run| {
        start += run.len();
        start - run.len()..start
    });
    // The first of equally long ones.
    let run = runs.max_by_key(|run| (run.len(), std::cmp::Reverse(run.start)))?;
    let work = |bursts: &[Nanos]| bursts.iter().map(|duration| duration.0 as f64).sum::<f64>();
    let begins = laid.begin[run.clone()].iter().copied();
    let coverage = work(&laid.duration[run.clone()]) / work(&laid.duration);
    let typical = laid.duration[run.start].0;
    let is_odd = |&i: &usize| {
        let duration = durations(i);
        duration > ALIKE.saturating_mul(typical) || duration.saturating_mul(ALIKE) < typical
    };
    let time = |bursts: &mut dyn Iterator<Item = usize>| bursts.map(|i| durations(i) as f64).sum::<f64>();
    let n_odd = run.clone().filter(is_odd).count() as f64 / run.len() as f64;
    let odd_time = time(&mut run.clone().filter(is_odd)) / time(&mut run.clone());
    let is_loop = run.len() >= IN_A_ROW && coverage >= 0.5 && (n_odd <= ODD.0 || odd_time <= ODD.1);
    is_loop.then(|| Period {
        boundaries: begins.chain([laid.end(run.end - 1)]).collect(),
        confidence: 1.0 - n_odd,
        coverage,
        anchor: labels[run.start].unwrap_or_else(|| ClusterId::from_index(0)),
    })
}

/// The median duration of each place, at least 1 ns: a burst without a length
/// has its place in the order too.
fn medians(table: &BurstTable, labels: &[Option<ClusterId>]) -> Vec<u64> {
    let n = labels.iter().flatten().map(|id| id.index() + 1).max().unwrap_or(0);
    let mut durations = vec![Vec::new(); n];
    for (label, duration) in labels.iter().zip(&table.duration) {
        if let Some(id) = label {
            durations[id.index()].push(duration.0);
        }
    }
    let median = |of_place: &mut Vec<u64>| {
        of_place.sort_unstable();
        median::lower(of_place).unwrap_or(0).max(1)
    };
    durations.par_iter_mut().map(median).collect()
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
        let period = find_period_in_order(&table, &labels).expect("a period");
        assert_eq!(period.n_iterations(), 40);
        assert!(period.confidence > 0.95, "{period:?}");
    }

    #[test]
    fn ranks_may_call_from_other_lines() {
        let (table, labels) = run(&[[0, 1, 2].repeat(30), [0, 3, 4, 2].repeat(30), [0, 1, 2].repeat(30)]);
        let period = find_period_in_order(&table, &labels).expect("a period");
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
            let period = find_period_in_order(&table, &labels).expect("a period");
            assert!((149..=150).contains(&period.n_iterations()), "{short}: {}", period.n_iterations());
        }
    }

    #[test]
    fn a_loop_with_one_call_repeats_burst_by_burst() {
        let sequence = [vec![1, 2], vec![0; 40], vec![3]].concat();
        let (table, labels) = run(&[sequence.clone(), sequence]);
        let period = find_period_in_order(&table, &labels).expect("a period");
        assert_eq!((period.n_iterations(), period.anchor.index()), (40, 0));
        assert!(period.coverage > 0.5 && period.coverage < 1.0, "{period:?}");
        // However many short calls are before it.
        let calls = (0..200).map(|i| (1, 10 * i, 2, 1 + i as usize % 3));
        let steps = (0..60).map(|i| (1, 10_000 + 1_100 * i, 1_000 + i % 7, 0));
        let (table, labels) = super::super::tests::table(&calls.chain(steps).collect::<Vec<_>>());
        let period = find_period_in_order(&table, &labels).expect("a period");
        assert!((59..=60).contains(&period.n_iterations()) && period.coverage > 0.98, "{period:?}");
        // Every tenth burst is what an outer loop computes, and not a turn like the others.
        let turns = (0..400).map(|i| (1, 10_000 * i, if i % 10 == 0 { 5_000 } else { 50 }, 0));
        let (table, labels) = super::super::tests::table(&turns.collect::<Vec<_>>());
        assert!(find_period_in_order(&table, &labels).is_err());
        // Nine in a row may be chance, and forty among a hundred others.
        let few = [vec![1, 2], vec![0; 9]].concat();
        let (table, labels) = run(std::slice::from_ref(&few));
        assert!(find_period_in_order(&table, &labels).is_err());
        let thue_morse = (0..100u32).map(|i| 1 + (i.count_ones() % 2) as usize);
        let (table, labels) = run(&[thue_morse.chain([0; 40]).collect()]);
        assert!(find_period_in_order(&table, &labels).is_err());
    }

    #[test]
    fn nothing_is_claimed_of_threads_without_or_with_other_periods() {
        let thue_morse: Vec<usize> = (0..256u32).map(|i| (i.count_ones() % 2) as usize * 3).collect();
        let (table, labels) = run(&[thue_morse.clone(), thue_morse]);
        assert!(find_period_in_order(&table, &labels).is_err());
        let (table, labels) = run(&[[0, 1].repeat(20), [0, 1].repeat(50)]);
        let apart = find_period_in_order(&table, &labels);
        assert!(matches!(apart, Err(NotPeriodic::Apart { threads: 1, of: 2, .. })), "{apart:?}");
        // One of two is not most of them.
        let said = apart.map_err(|why| why.to_string()).expect_err("no period");
        assert!(said.contains("of 2 threads looked at, 1 have 20 iterations"), "{said}");
        assert_eq!(find_period_in_order(&BurstTable::default(), &[]), Err(NotPeriodic::NoPhase));
        let once: Vec<usize> = (0..12).collect();
        let (table, labels) = run(&[once]);
        assert!(find_period_in_order(&table, &labels).is_err());
    }
}
