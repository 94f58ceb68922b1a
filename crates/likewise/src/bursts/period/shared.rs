//! Whether iterations are those of all threads that do what the loop does.

use super::iterations::MISSING;
use super::{NotPeriodic, Period};
use crate::cluster::ClusterId;
use crate::table::{BurstTable, Nanos};

/// A thread takes part if it begins bursts of the loop in this share of the iterations: in fewer
/// than half of them it mostly does not. And a phase is one of the loop if a thread does it in so
/// many.
const HALF: f64 = 0.5;

/// The period, unless more than one thread in [`MISSING`] does most of what the loop does at other
/// times.
///
/// Threads may do as many turns each, but not together: where a master hands out work to one
/// worker after the other, the turns of one would be told as the iterations of the run. A thread
/// that hardly takes part and has no more to do outside is no such thread: it does what comes
/// once in a while, or something else.
///
/// # Errors
/// [`NotPeriodic::NotTogether`], with how many threads these are.
///
/// # Complexity
/// O(n + i log k) for n bursts, and k iterations of which all threads together enter i.
pub(super) fn together(
    period: Period,
    table: &BurstTable,
    labels: &[Option<ClusterId>],
) -> Result<Period, NotPeriodic> {
    let n = period.n_iterations();
    let least = HALF * n as f64;
    let n_phases = labels.iter().flatten().map(|id| id.index() + 1).max().unwrap_or(0);
    // How many bursts of each phase the thread begins in the iterations.
    let mut begun = vec![0_usize; n_phases];
    let mut is_of_loop = vec![false; n_phases];
    for (_, bursts) in table.threads() {
        let inside = || Inside::of(&period.boundaries, table, bursts.clone());
        let phases = || inside().filter_map(|(i, _)| labels[i].map(ClusterId::index));
        phases().for_each(|phase| begun[phase] += 1);
        phases().for_each(|phase| is_of_loop[phase] |= begun[phase] as f64 >= least);
        phases().for_each(|phase| begun[phase] = 0);
    }
    let (mut threads, mut elsewhere) = (0, 0);
    for (_, bursts) in table.threads() {
        let is_turn = |i: usize| labels[i].is_some_and(|id| is_of_loop[id.index()]);
        let turns = bursts.clone().filter(|&i| is_turn(i)).count();
        let (mut there, mut last, mut iterations) = (0, None, 0);
        for (_, at) in Inside::of(&period.boundaries, table, bursts).filter(|&(i, _)| is_turn(i)) {
            there += 1;
            iterations += usize::from(last.replace(at) != Some(at));
        }
        threads += usize::from(turns > 0);
        elsewhere += usize::from((iterations as f64) < least && turns - there > there);
    }
    match elsewhere * MISSING > threads {
        false => Ok(period),
        true => Err(NotPeriodic::NotTogether { iterations: n, threads: elsewhere, of: threads }),
    }
}

/// The bursts of a thread that begin in an iteration, each with the number of that.
struct Inside<'a> {
    boundaries: &'a [Nanos],
    table: &'a BurstTable,
    bursts: std::ops::Range<usize>,
    at: usize,
}

impl<'a> Inside<'a> {
    fn of(boundaries: &'a [Nanos], table: &'a BurstTable, bursts: std::ops::Range<usize>) -> Self {
        Self { boundaries, table, bursts, at: 0 }
    }
}

impl Iterator for Inside<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let i = self.bursts.next()?;
            let begin = self.table.begin[i];
            // Bursts ascend, so the first boundary behind this one is not before the last.
            if self.boundaries.get(self.at).is_some_and(|next| *next <= begin) {
                self.at += self.boundaries[self.at..].partition_point(|boundary| *boundary <= begin);
            }
            if (1..self.boundaries.len()).contains(&self.at) {
                return Some((i, self.at - 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::table;
    use super::super::{find_period, find_period_in_order};
    use super::*;

    /// Bursts of (task, begin, duration, phase).
    type Burst = (u32, u64, u64, usize);

    /// What a task does in `n` turns of 1,000 from `from` on.
    fn turns(task: u32, from: u64, n: u64) -> impl Iterator<Item = Burst> {
        (0..n).flat_map(move |i| {
            let begin = from + 1_000 * i;
            [(task, begin, 600 + 7 * (i % 5), 0), (task, begin + 700, 200 + 3 * (i % 4), 1)]
        })
    }

    /// The workers of a master each do 60 turns, one worker after the other.
    #[test]
    fn as_many_turns_at_other_times_are_no_iterations() {
        let one_by_one: Vec<Burst> = (1..=3).flat_map(|t| turns(t, 60_000 * u64::from(t), 60)).collect();
        let (bursts, labels) = table(&one_by_one);
        let found = find_period_in_order(&bursts, &labels, false);
        assert!(matches!(found, Err(NotPeriodic::NotTogether { threads: 2, of: 3, .. })), "{found:?}");
        // Together they are 60 iterations, also where one of them is three turns ahead.
        let together: Vec<Burst> = (1..=3).flat_map(|t| turns(t, 3_000 * u64::from(t), 60)).collect();
        let (bursts, labels) = table(&together);
        let period = find_period_in_order(&bursts, &labels, false).expect("a period");
        assert!((59..=60).contains(&period.n_iterations()), "{period:?}");
    }

    /// The 60 turns of the first task from then on, as a period.
    fn of_first(from: u64) -> Period {
        let boundaries = (0..=60).map(|i| Nanos(from + 1_000 * i)).collect();
        Period { boundaries, confidence: 1.0, coverage: 0.4, anchor: ClusterId::from_index(0) }
    }

    /// The first worker does its 60 turns, and of two others each does 10 of 60 meanwhile. They do
    /// the rest with pauses and now one phase and now the other.
    #[test]
    fn what_one_thread_repeats_is_not_what_the_run_repeats() {
        let others = |task: u32| {
            let meanwhile = (0..10).map(move |i| (task, 6_000 * i + 300, 610 + i, 0));
            let rest = (0..50u64).map(move |i| {
                let odd = (i * i + u64::from(task) * i) % 7;
                (task, 70_000 + 1_300 * i, 590 + odd, usize::from(odd > 3))
            });
            meanwhile.chain(rest)
        };
        let bursts: Vec<Burst> = turns(1, 0, 60).chain(others(2)).chain(others(3)).collect();
        let (table, labels) = table(&bursts);
        let refused = together(of_first(0), &table, &labels);
        assert_eq!(refused, Err(NotPeriodic::NotTogether { iterations: 60, threads: 2, of: 3 }));
        assert!(!find_period(&table, &labels).is_ok_and(|p| p.region().1 <= Nanos(70_000)));
    }

    /// One writes in every tenth iteration, one has a loop of its own before, one is done after a
    /// third, one begins with a longer loop of other phases, and one of eleven is late.
    #[test]
    fn who_does_something_else_or_little_does_not_matter() {
        let writes = (0..6).map(|i| (12, 60_000 + 10_000 * i, 500, 2));
        let before = (0..40).map(|i| (13, 1_000 * i, 900, 3));
        let other = (0..40).map(|i| (1, 1_000 * i, 900, 3));
        let all = (1..=10).flat_map(|t| turns(t, 60_000, 60)).chain(turns(14, 60_000, 20));
        let bursts: Vec<Burst> = all.chain(writes).chain(before).chain(other).collect();
        let late: Vec<Burst> = bursts.iter().copied().chain(turns(15, 130_000, 60)).collect();
        for bursts in [bursts, late] {
            let (table, labels) = table(&bursts);
            assert_eq!(together(of_first(60_000), &table, &labels), Ok(of_first(60_000)));
        }
    }
}
