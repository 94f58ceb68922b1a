//! What stands before and after a phase: where it is, whatever it takes.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;

use super::matched::RunBursts;
use super::steps::{cycles, instructions};
use crate::bursts::serial::is_nearly_all;
use crate::table::CounterColumn;

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
/// Its ln(instructions) and ln(IPC), where they are known, are no farther than this from
/// those that stand there: half of a factor of e, as for bursts of a cluster.
const NEAR: f64 = 0.5;
/// The same of the first and the last burst of a thread: there one neighbour tells less, and
/// what a program does once, at its begin or end, may take about as long as a step of its loop.
const NEAR_AT_END: f64 = 0.1;

/// What tells whether a burst of no phase is one more of those in whose place it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlikeBy {
    /// How long it takes.
    Length,
    /// How long it takes, and its instructions and IPC, where they are known.
    Counters,
}

/// What stands in a place of a thread, as far as it is one phase.
#[derive(Clone, Copy, Debug)]
struct Usual {
    n: f64,
    time: f64,
    /// Least and greatest logarithms of what tells bursts apart ([`Told`]).
    ranges: [[f64; 2]; 3],
}

/// ln of the instructions, the instructions per cycle and the time of a burst; `NaN` where it
/// is not known.
type Told = [f64; 3];

impl Usual {
    const NOTHING: Self = Self { n: 0.0, time: 0.0, ranges: [[f64::INFINITY, f64::NEG_INFINITY]; 3] };

    fn of(time: f64, told: Told) -> Self {
        Self { n: 1.0, time, ranges: told.map(|x| [x, x]) }
    }

    fn add(&mut self, other: &Self) {
        (self.n, self.time) = (self.n + other.n, self.time + other.time);
        for (own, other) in self.ranges.iter_mut().zip(other.ranges) {
            *own = [own[0].min(other[0]), own[1].max(other[1])];
        }
    }

    /// Whether a burst may be one more of these. Counters tell more than lengths, so at the ends
    /// of a thread the length has to agree as well as counters do only if there are none.
    fn has(&self, time: f64, told: Told, at_end: bool) -> bool {
        let near = if at_end { NEAR_AT_END } else { NEAR };
        let agrees = |k: usize| {
            let [least, most] = self.ranges[k];
            let is_known = told[k].is_finite() && least <= most;
            !is_known || (least - near <= told[k] && told[k] <= most + near)
        };
        let is_counted = told[0].is_finite() && self.ranges[0][0] <= self.ranges[0][1];
        (LIKE_LENGTH..=1.0 / LIKE_LENGTH).contains(&(time * self.n / self.time))
            && agrees(0)
            && agrees(1)
            && (is_counted || !at_end || agrees(2))
    }
}

/// The phases beside a burst; [`END`] where its thread has no burst there.
type Beside = [u32; 2];

/// No phase has this number.
const END: u32 = u32::MAX;

/// Complete bursts of no phase, each with the phase that its thread does otherwise between
/// the two phases beside it: twice or more, not hardly ever, and about as long and with about
/// as many instructions and as high an IPC (where these are known), as nearly all that are so
/// there. For the first and the last burst of a thread the one phase beside it counts, and
/// counters must agree better. A phase of few bursts, as
/// one thread does it for all, may leave many of them to the noise of its run.
///
/// # Panics
/// If `phase_of` is not as long as the complete bursts.
///
/// # Complexity
/// O(n log p) for n bursts and p pairs of phases. In parallel, by thread of the run.
#[must_use]
pub fn phases_between(run: &RunBursts<'_>, phase_of: &[Option<u32>], by: AlikeBy) -> Vec<(u32, u32)> {
    assert_eq!(run.complete.len(), phase_of.len(), "a phase, or none, for every complete burst");
    let by_counters = by == AlikeBy::Counters;
    let columns = if by_counters { [instructions(run), cycles(run)] } else { [None; 2] };
    let of_thread = |rows: &Range<usize>| -> Vec<(u32, u32)> {
        let own = run.complete.before(rows.start)..run.complete.before(rows.end);
        let length = |k: usize| run.table.duration[run.complete.at(k) as usize].0 as f64;
        let beside = |k: Option<usize>| match k.filter(|k| own.contains(k)) {
            Some(k) => phase_of[k],
            None => Some(END),
        };
        let place = |k: usize| -> Option<Beside> { Some([beside(k.checked_sub(1))?, beside(Some(k + 1))?]) };
        let mut usual: BTreeMap<Beside, BTreeMap<u32, Usual>> = BTreeMap::new();
        for k in own.clone() {
            if let Some((phase, place)) = phase_of[k].zip(place(k)) {
                add(usual.entry(place).or_default(), phase, &Usual::of(length(k), told(run, columns, k)));
            }
        }
        let phase = |k: usize| {
            let place = place(k)?;
            let mut of_place = at_place(&usual, place);
            // Where two phases each come twice in a row, both stand between the same two.
            let here: f64 = of_place.values().map(|usual| usual.n).sum();
            let at_end = by_counters && place.contains(&END);
            of_place.retain(|_, usual| usual.has(length(k), told(run, columns, k), at_end));
            let all: f64 = of_place.values().map(|usual| usual.n).sum();
            let (&phase, &Usual { n, .. }) = of_place.iter().find(|(_, of)| is_nearly_all(of.n, all))?;
            (n >= 2.0 && !is_nearly_all(here - n, here)).then_some((k as u32, phase))
        };
        own.clone().filter(|&k| phase_of[k].is_none()).filter_map(phase).collect()
    };
    let threads: Vec<Range<usize>> = run.table.threads().map(|(_, rows)| rows).collect();
    threads.par_iter().map(of_thread).collect::<Vec<_>>().concat()
}

/// What a thread does in a place; where the thread begins or ends, one side tells.
fn at_place(usual: &BTreeMap<Beside, BTreeMap<u32, Usual>>, place: Beside) -> BTreeMap<u32, Usual> {
    if !place.contains(&END) {
        return usual.get(&place).cloned().unwrap_or_default();
    }
    let is_here = |other: &Beside| (0..2).all(|side| place[side] == END || place[side] == other[side]);
    let mut found = BTreeMap::new();
    for (_, phases) in usual.iter().filter(|(other, _)| is_here(other)) {
        phases.iter().for_each(|(&phase, usual)| add(&mut found, phase, usual));
    }
    found
}

fn add(to: &mut BTreeMap<u32, Usual>, phase: u32, usual: &Usual) {
    to.entry(phase).or_insert(Usual::NOTHING).add(usual);
}

fn told(run: &RunBursts<'_>, columns: [Option<&CounterColumn>; 2], k: usize) -> Told {
    let i = run.complete.at(k) as usize;
    let ln = |column: Option<&CounterColumn>| {
        column.map(|c| c.values.get(i)).filter(|x| *x > 0.0).map_or(f64::NAN, f64::ln)
    };
    let [work, cycles] = columns.map(ln);
    [work, work - cycles, (run.table.duration[i].0.max(1) as f64).ln()]
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
    use crate::table::{BurstTable, Counter, Nanos, Rows, Runs};

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
            phases_between(run, &some, AlikeBy::Counters)
                .into_iter()
                .filter(|&(k, _)| all[k as usize].is_some())
                .collect()
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
            phases_between(&run, &phases, AlikeBy::Counters)
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

    /// Two steps in turn, ten times, after a burst of no phase: `first` is its length and its
    /// instructions. Where bursts have none, these are not known.
    fn at_begin(first: (u64, f64), is_counted: bool, by: AlikeBy) -> Vec<(u32, u32)> {
        let steps = (0..10).flat_map(|_| [(100, 900.0), (50, 100.0)]);
        let (lengths, counts): (Vec<u64>, Vec<f64>) = [first].into_iter().chain(steps).unzip();
        let n = lengths.len();
        let phases: Vec<Option<u32>> = (0..n as u32).map(|k| (k > 0).then_some((k + 1) % 2)).collect();
        let clustering = Clustering { labels: vec![None; n], n_clusters: 0 };
        let (one, complete) = (Runs::repeat(1, n), Rows::first(n));
        let counter = Counter { event_type: None, name: "PAPI_TOT_INS".into(), description: String::new() };
        let column = CounterColumn { counter, values: counts.into_iter().collect() };
        let table = BurstTable {
            app: one.clone(),
            task: one.clone(),
            thread: one,
            begin: (0..n as u64).map(|k| Nanos(1_000 * k)).collect(),
            duration: lengths.into_iter().map(Nanos).collect(),
            counters: if is_counted { vec![column] } else { Vec::new() },
            code: None,
        };
        let run = RunBursts { table: &table, complete: &complete, clustering: &clustering };
        phases_between(&run, &phases, by)
    }

    #[test]
    fn the_first_burst_of_a_thread_is_no_step_for_its_length_alone() {
        // It stands before the first step, as the second does otherwise.
        assert_eq!(at_begin((60, 100.0), true, AlikeBy::Counters), [(0, 1)]);
        assert_eq!(at_begin((60, 140.0), true, AlikeBy::Counters), []);
        assert_eq!(at_begin((52, 0.0), false, AlikeBy::Counters), [(0, 1)]);
        assert_eq!(at_begin((60, 0.0), false, AlikeBy::Counters), []);
        assert_eq!(at_begin((60, 140.0), true, AlikeBy::Length), [(0, 1)]);
    }
}
