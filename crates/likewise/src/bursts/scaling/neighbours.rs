//! What stands before and after a phase: where it is, whatever it takes.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;

use super::matched::RunBursts;
use crate::bursts::serial::is_nearly_all;

/// Of each phase, which phases stand before and after it, and how often, of 1;
/// `None` is where a thread begins or ends.
pub(super) type Around = Vec<BTreeMap<[Option<u32>; 2], f64>>;

/// The neighbours of each phase of a run. Only `common` phases count; others are
/// passed over, and so are the bursts of threads that were not aligned. Several
/// bursts of one phase in a row count as one.
pub(super) fn around(
    run: &RunBursts<'_>,
    (phase_of, aligned): (&[Option<u32>], &[bool]),
    common: &[bool],
) -> Around {
    let table = run.table;
    let mut found: Around = vec![BTreeMap::new(); common.len()];
    for (_, rows) in table.threads() {
        let own = run.complete.before(rows.start)..run.complete.before(rows.end);
        let seen = own.filter(|&k| aligned[k]).filter_map(|k| phase_of[k]);
        let mut sequence: Vec<u32> = seen.filter(|&p| common[p as usize]).collect();
        sequence.dedup();
        for (k, &p) in sequence.iter().enumerate() {
            let before = k.checked_sub(1).map(|k| sequence[k]);
            *found[p as usize].entry([before, sequence.get(k + 1).copied()]).or_default() += 1.0;
        }
    }
    for of_phase in &mut found {
        let n: f64 = of_phase.values().sum();
        of_phase.values_mut().for_each(|share| *share /= n);
    }
    found
}

/// A burst of no phase takes at least this share of the mean time of those in whose place
/// it stands, and at most the inverse of it. One that takes twice as long is told of by
/// itself, if it costs much (`one_off`).
const LIKE_LENGTH: f64 = 0.5;

/// The phases beside a burst; [`END`] where its thread has no burst there.
type Beside = [u32; 2];

/// No phase has this number.
const END: u32 = u32::MAX;

/// Complete bursts of no phase, each with the phase that its thread does otherwise between
/// the two phases beside it: twice or more, not hardly ever, and about as long, as nearly all
/// that are about as long there. For the first and the last burst of a thread the one phase
/// beside it counts. A phase of few bursts, as
/// one thread does it for all, may leave many of them to the noise of its run.
///
/// # Panics
/// If `phase_of` is not as long as the complete bursts.
///
/// # Complexity
/// O(n log p) for n bursts and p pairs of phases. In parallel, by thread of the run.
#[must_use]
pub fn phases_between(run: &RunBursts<'_>, phase_of: &[Option<u32>]) -> Vec<(u32, u32)> {
    assert_eq!(run.complete.len(), phase_of.len(), "a phase, or none, for every complete burst");
    let of_thread = |rows: &Range<usize>| -> Vec<(u32, u32)> {
        let own = run.complete.before(rows.start)..run.complete.before(rows.end);
        let length = |k: usize| run.table.duration[run.complete.at(k) as usize].0 as f64;
        let beside = |k: Option<usize>| match k.filter(|k| own.contains(k)) {
            Some(k) => phase_of[k],
            None => Some(END),
        };
        let place = |k: usize| -> Option<Beside> { Some([beside(k.checked_sub(1))?, beside(Some(k + 1))?]) };
        let mut usual: BTreeMap<Beside, BTreeMap<u32, [f64; 2]>> = BTreeMap::new();
        for k in own.clone() {
            if let Some((phase, place)) = phase_of[k].zip(place(k)) {
                add(usual.entry(place).or_default(), phase, [1.0, length(k)]);
            }
        }
        let phase = |k: usize| {
            let place = place(k)?;
            let is_here =
                |other: &Beside| (0..2).all(|side| place[side] == END || place[side] == other[side]);
            let mut of_place = BTreeMap::new();
            let sum_up = |phases: &BTreeMap<u32, [f64; 2]>| {
                phases.iter().for_each(|(&phase, &sums)| add(&mut of_place, phase, sums));
            };
            if place.contains(&END) {
                usual.iter().filter(|(other, _)| is_here(other)).map(|(_, phases)| phases).for_each(sum_up);
            } else {
                usual.get(&place).into_iter().for_each(sum_up);
            }
            // Where two phases each come twice in a row, both stand between the same two.
            let here: f64 = of_place.values().map(|[n, _]| n).sum();
            of_place
                .retain(|_, [n, time]| (LIKE_LENGTH..=1.0 / LIKE_LENGTH).contains(&(length(k) * *n / *time)));
            let all: f64 = of_place.values().map(|[n, _]| n).sum();
            let (&phase, &[n, _]) = of_place.iter().find(|(_, [n, _])| is_nearly_all(*n, all))?;
            (n >= 2.0 && !is_nearly_all(here - n, here)).then_some((k as u32, phase))
        };
        own.clone().filter(|&k| phase_of[k].is_none()).filter_map(phase).collect()
    };
    let threads: Vec<Range<usize>> = run.table.threads().map(|(_, rows)| rows).collect();
    threads.par_iter().map(of_thread).collect::<Vec<_>>().concat()
}

fn add(to: &mut BTreeMap<u32, [f64; 2]>, phase: u32, [n, time]: [f64; 2]) {
    let sums = to.entry(phase).or_default();
    *sums = [sums[0] + n, sums[1] + time];
}

/// How well the neighbours of each phase agree in two runs, from 0 to 1: the
/// share of its occurrences that stand between the same two phases. Each counts
/// as far as the phase itself is the same in both runs (`same`, 0 to 1, by
/// phase) or as both neighbours are, whichever is more: a phase between two
/// known ones is known, even if it does more work than in the other run.
pub(super) fn agreement(a: &Around, b: &Around, same: &[f64]) -> Vec<f64> {
    let known = |p: &Option<u32>| p.map_or(1.0, |p| same[p as usize]);
    let of_phase = |p: usize| {
        let shares = a[p].iter().map(|(around, share)| {
            let both = share.min(b[p].get(around).copied().unwrap_or(0.0));
            both * same[p].max(known(&around[0]).min(known(&around[1])))
        });
        shares.sum::<f64>().min(1.0)
    };
    (0..same.len()).map(of_phase).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::made;
    use super::*;
    use crate::cluster::Clustering;
    use crate::synth::RunSpec;
    use crate::table::{BurstTable, Nanos, Rows, Runs};

    #[test]
    fn bursts_of_no_phase_are_what_stands_there_otherwise() {
        let run = made(RunSpec::balanced(4, 12, 5, 3).expect("few phases"));
        let all: Vec<Option<u32>> =
            run.clustering.labels.iter().map(|label| label.map(|id| id.index() as u32)).collect();
        // Every seventh is noise, and none of those beside it is.
        let some: Vec<Option<u32>> =
            all.iter().enumerate().map(|(k, &phase)| phase.filter(|_| k % 7 != 3)).collect();
        // The run has noise of its own, of which nothing is known.
        let of_known = |run: &RunBursts<'_>| -> Vec<(u32, u32)> {
            phases_between(run, &some).into_iter().filter(|&(k, _)| all[k as usize].is_some()).collect()
        };
        let found = of_known(&run.bursts());
        let n_noise = some.iter().zip(&all).filter(|(some, all)| some != all).count();
        assert!(found.len() * 3 >= n_noise * 2, "{} of {n_noise}", found.len());
        assert!(found.iter().all(|&(k, phase)| all[k as usize] == Some(phase) && some[k as usize].is_none()));
        // A burst that takes three times as long is none of them.
        let mut long = run.table.clone();
        found.iter().for_each(|&(k, _)| long.duration[run.complete.at(k as usize) as usize].0 *= 3);
        assert!(of_known(&RunBursts { table: &long, ..run.bursts() }).is_empty());
    }

    /// Each iteration has a step twice and then a longer one twice: some of these are noise,
    /// and stand between the same two phases as the second of the others.
    #[test]
    fn steps_that_come_twice_in_a_row_are_told_by_their_lengths() {
        let steps = [(0, 100), (0, 110), (1, 800), (1, 760), (2, 50)];
        let run = |noise: fn(usize) -> bool, long: u64| {
            // Two of forty last steps are another phase, and long.
            let step = |(k, step)| (k, if k == 24 || k == 44 { (3, 750) } else { step });
            let all = (0..40).flat_map(|_| steps).enumerate().map(step);
            let (phases, durations): (Vec<Option<u32>>, Vec<Nanos>) = all
                .map(|(k, (phase, length))| match noise(k) {
                    true => (None, Nanos(length * long)),
                    false => (Some(phase), Nanos(length)),
                })
                .unzip();
            let n = phases.len();
            let begin = (0..n as u64).map(|k| Nanos(10_000 * k)).collect();
            let clustering = Clustering { labels: vec![None; n], n_clusters: 0 };
            let (one, complete) = (Runs::repeat(1, n), Rows::first(n));
            let (app, task, thread, duration) = (one.clone(), one.clone(), one, durations);
            let table = BurstTable { app, task, thread, begin, duration, counters: Vec::new(), code: None };
            let run = RunBursts { table: &table, complete: &complete, clustering: &clustering };
            phases_between(&run, &phases)
        };
        // Now and then the first of the long ones, and once a second.
        fn noise(k: usize) -> bool {
            k % 15 == 2 || k == 8
        }
        let found: Vec<u32> = (0..200).filter(|&k| noise(k as usize)).collect();
        assert_eq!(run(noise, 1), found.iter().map(|&k| (k, 1)).collect::<Vec<_>>());
        // As long as neither.
        assert_eq!(run(noise, 4), []);
        // One that takes as long as what is hardly ever there is none of that.
        assert_eq!(run(|k| k == 4, 1), [(4, 2)]);
        assert_eq!(run(|k| k == 4, 15), []);
    }
}
