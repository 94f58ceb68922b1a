//! Phases of runs whose steps come in no order: by the work of a burst alone.

use super::group::counts_alike;
use super::matched::{Evidence, MatchedPhase, PhaseInRun, RunBursts, RunMatch};
use super::reference;
use super::steps::{Centre, Nature, SAME_TRAITS, SAME_WORK, instructions, label, traits_apart};
use crate::cluster::ClusterId;
use crate::median;

/// Clusters that do the same work per burst are the same phase in all runs. For programs whose
/// tasks are dealt out to whoever is free: a burst is then told by nothing that stands before or
/// after it, but a task does the same work wherever it runs.
///
/// Work is the same if instructions per burst differ by less than 10 %, and the counts of each
/// kind of instruction, where they are known, by less than 10 % on average. Clusters of one run
/// that are alike in all counters are taken together. What is alike in all counters is matched
/// first, then what does the same work however fast it goes: so a phase may be slow in one run.
/// A cluster is matched only if there is just one like it in the other run, and that one is like
/// no other of its run. If more than 5 % of each run finds nothing in the other, only what is as
/// fast is matched: where kinds do other work, one may do now what another one did. Noise is in
/// no phase. `None` where a run has no instructions: then a slow phase would be another one.
///
/// # Returns
/// As of [`match_runs`](super::match_runs). The confidence of a match is how alike the work
/// is, times how well the numbers of bursts per thread agree.
///
/// # Panics
/// If a clustering does not label just the complete bursts.
///
/// # Complexity
/// O(n (log n + d) + r² k² d) for n bursts, d counters, and r runs of k clusters.
#[must_use]
pub fn match_by_work(runs: &[RunBursts<'_>]) -> Option<RunMatch> {
    for run in runs {
        assert_eq!(run.complete.len(), run.clustering.labels.len(), "a label for every complete burst");
    }
    if runs.iter().any(|run| instructions(run).is_none()) {
        return None;
    }
    let natures = Nature::of_all(runs);
    let of_runs: Vec<Vec<Kind>> =
        runs.iter().zip(&natures).map(|(run, nature)| Kind::of_all(run, nature)).collect();
    let reference = reference(runs);
    let phases = phases(&of_runs, &natures, reference);
    let mut number: Vec<Vec<Option<u32>>> =
        runs.iter().map(|run| vec![None; run.clustering.n_clusters]).collect();
    for (p, phase) in (0..).zip(&phases) {
        for (r, kind) in phase.iter().enumerate() {
            let clusters = kind.iter().flat_map(|&k| &of_runs[r][k].clusters);
            clusters.for_each(|id| number[r][id.index()] = Some(p));
        }
    }
    let of_burst = |(run, number): (&RunBursts<'_>, &Vec<Option<u32>>)| -> Vec<Option<u32>> {
        run.clustering.labels.iter().map(|id| number[(*id)?.index()]).collect()
    };
    let phase_of = runs.iter().zip(&number).map(of_burst).collect();
    let times = times(&of_runs, &phases, reference);
    let phases = phases.iter().map(|phase| matched(phase, &of_runs, (&natures, reference, &times)));
    Some(RunMatch { reference, phases: phases.collect(), phase_of })
}

/// Kinds that hold no more than this share of a run's time are no reason to doubt the others.
const LITTLE: f64 = 0.05;

/// Clusters of a run that do the same work at the same speed, mostly one.
struct Kind {
    clusters: Vec<ClusterId>,
    centre: Option<Centre>,
    per_thread: f64,
    time: f64,
    /// Of the time of all bursts in clusters.
    share: f64,
}

impl Kind {
    fn of_all(run: &RunBursts<'_>, nature: &Nature) -> Vec<Self> {
        let mut bursts = vec![Vec::new(); run.clustering.n_clusters];
        for burst in 0..run.complete.len() as u32 {
            label(run, burst).iter().for_each(|id| bursts[id.index()].push(burst));
        }
        // Clusters come by descending time.
        let mut kinds: Vec<(Vec<ClusterId>, Vec<u32>, Option<Centre>)> = Vec::new();
        for (c, own) in bursts.into_iter().enumerate() {
            let (id, centre) = (ClusterId::from_index(c), nature.centre(&own));
            let same = kinds
                .iter_mut()
                .find(|kind| kind.2.as_ref().zip(centre.as_ref()).is_some_and(|(a, b)| a.is_alike(b)));
            match same {
                Some((clusters, of_kind, _)) => {
                    clusters.push(id);
                    of_kind.extend(own);
                }
                None => kinds.push((vec![id], own, centre)),
            }
        }
        let all: f64 = kinds.iter().map(|(_, own, _)| time(run, own)).sum();
        let one = |(clusters, mut own, _): (Vec<ClusterId>, Vec<u32>, _)| {
            own.sort_unstable();
            let threads = own.chunk_by(|&a, &b| thread(run, a) == thread(run, b)).count();
            let (per_thread, time) = (own.len() as f64 / threads.max(1) as f64, time(run, &own));
            Self { clusters, centre: nature.centre(&own), per_thread, time, share: time / all.max(1.0) }
        };
        kinds.into_iter().map(one).collect()
    }

    fn is_like(&self, other: &Self) -> bool {
        self.centre.as_ref().zip(other.centre.as_ref()).is_some_and(|(a, b)| a.is_alike(b))
    }

    fn does_the_same(&self, other: &Self, of_code: usize) -> bool {
        let (Some(a), Some(b)) = (&self.centre, &other.centre) else { return false };
        (a.work - b.work).abs() < SAME_WORK
            && traits_apart(&a.traits[..of_code], &b.traits[..of_code]) < SAME_TRAITS
    }
}

fn row(run: &RunBursts<'_>, burst: u32) -> usize {
    run.complete.at(burst as usize) as usize
}

fn thread(run: &RunBursts<'_>, burst: u32) -> (u32, u32, u32) {
    run.table.thread_of(row(run, burst))
}

fn time(run: &RunBursts<'_>, bursts: &[u32]) -> f64 {
    bursts.iter().map(|&burst| run.table.duration[row(run, burst)].0 as f64).sum()
}

/// Of each phase the kind in each run, by descending share of a run's time.
fn phases(of_runs: &[Vec<Kind>], natures: &[Nature], reference: usize) -> Vec<Vec<Option<usize>>> {
    let of_code = natures.first().map_or(0, Nature::of_code);
    let kinds = &of_runs[reference];
    let mut phases: Vec<Vec<Option<usize>>> = vec![vec![None; of_runs.len()]; kinds.len()];
    for (c, phase) in phases.iter_mut().enumerate() {
        phase[reference] = Some(c);
    }
    for (r, others) in of_runs.iter().enumerate().filter(|(r, _)| *r != reference) {
        let mut pairs = Vec::new();
        only_pairs((kinds, others), &mut pairs, |a, b| a.is_like(b));
        let as_fast = pairs.len();
        only_pairs((kinds, others), &mut pairs, |a, b| a.does_the_same(b, of_code));
        // If each run has something that the other lacks, kinds do other work there, and one may
        // do now what another one did.
        let own: Vec<usize> = pairs.iter().map(|pair| pair.0).collect();
        let there: Vec<usize> = pairs.iter().map(|pair| pair.1).collect();
        if left(kinds, &own) > LITTLE && left(others, &there) > LITTLE {
            pairs.truncate(as_fast);
        }
        pairs.iter().for_each(|&(c, d)| phases[c][r] = Some(d));
        let alone = (0..others.len()).filter(|d| pairs.iter().all(|pair| pair.1 != *d));
        let alone = alone.map(|d| (0..of_runs.len()).map(|other| (other == r).then_some(d)).collect());
        phases.extend(alone.collect::<Vec<Vec<Option<usize>>>>());
    }
    let share = |phase: &Vec<Option<usize>>| {
        let of = |(r, c): (usize, &Option<usize>)| c.map_or(0.0, |c| of_runs[r][c].share);
        phase.iter().enumerate().map(of).fold(0.0, f64::max)
    };
    phases.sort_by(|a, b| share(b).total_cmp(&share(a)));
    phases
}

/// Adds pairs of kinds of two runs that are the same, where each of the two is the same as no
/// other that is in no pair yet.
fn only_pairs(
    (kinds, others): (&[Kind], &[Kind]),
    pairs: &mut Vec<(usize, usize)>,
    is_same: impl Fn(&Kind, &Kind) -> bool,
) {
    let free = |n: usize, taken: Vec<usize>| (0..n).filter(|k| !taken.contains(k)).collect::<Vec<_>>();
    let own = free(kinds.len(), pairs.iter().map(|pair| pair.0).collect());
    let there = free(others.len(), pairs.iter().map(|pair| pair.1).collect());
    let only = |mut found: Vec<usize>| if found.len() == 1 { found.pop() } else { None };
    for &c in &own {
        let of_own = |d: usize| own.iter().copied().filter(|&c| is_same(&kinds[c], &others[d])).collect();
        let of_there = there.iter().copied().filter(|&d| is_same(&kinds[c], &others[d])).collect();
        let pair = only(of_there).filter(|&d| only(of_own(d)) == Some(c));
        pairs.extend(pair.map(|d| (c, d)));
    }
}

/// The share of a run's time in kinds that are not among these.
fn left(kinds: &[Kind], among: &[usize]) -> f64 {
    (0..kinds.len()).filter(|k| !among.contains(k)).map(|k| kinds[k].share).sum()
}

/// How many times as often as the reference each run does what it does: the median over the
/// phases, weighted by their time.
fn times(of_runs: &[Vec<Kind>], phases: &[Vec<Option<usize>>], reference: usize) -> Vec<f64> {
    let of_run = |r: usize| {
        let ratio = |phase: &Vec<Option<usize>>| {
            let (own, there) = (&of_runs[r][phase[r]?], &of_runs[reference][phase[reference]?]);
            Some((own.per_thread / there.per_thread, own.time))
        };
        median::weighted(phases.iter().filter_map(ratio).collect()).unwrap_or(1.0)
    };
    (0..of_runs.len()).map(of_run).collect()
}

fn matched(
    phase: &[Option<usize>],
    of_runs: &[Vec<Kind>],
    (natures, reference, times): (&[Nature], usize, &[f64]),
) -> MatchedPhase {
    let present = |&r: &usize| phase[r].is_some();
    let base = std::iter::once(reference).chain(0..phase.len()).find(present).unwrap_or(reference);
    let in_run = |r: usize| {
        let (own, there) = (&of_runs[r][phase[r]?], &of_runs[base][phase[base]?]);
        let of_code = natures[r].of_code();
        let alike = own.centre.as_ref().zip(there.centre.as_ref()).map_or(0.0, |(a, b)| {
            let code = traits_apart(&a.traits[..of_code], &b.traits[..of_code]);
            (-(a.work - b.work).abs() - f64::from(code)).exp()
        });
        let often = counts_alike((own.per_thread, times[r]), (there.per_thread, times[base]));
        let (confidence, evidence) = match r == base {
            true => (1.0, Evidence::Reference),
            false => (alike * often, Evidence::Figures),
        };
        Some(PhaseInRun { clusters: own.clusters.clone(), noise: 0, confidence, evidence })
    };
    MatchedPhase { runs: (0..phase.len()).map(in_run).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Made;
    use super::*;
    use crate::cluster::Clustering;
    use crate::table::{BurstTable, Counter, CounterColumn, Nanos, Rows};

    /// A run of bursts: the cluster, instructions and ns of each.
    fn run(bursts: &[(usize, f64, u64)]) -> Made {
        let n = bursts.len();
        let column = |name: &str, value: &dyn Fn(&(usize, f64, u64)) -> f64| CounterColumn {
            counter: Counter { event_type: None, name: name.to_owned(), description: String::new() },
            values: bursts.iter().map(value).collect(),
        };
        let counters =
            vec![column("PAPI_TOT_INS", &|burst| burst.1), column("PAPI_TOT_CYC", &|burst| burst.2 as f64)];
        let table = BurstTable {
            app: vec![1; n].into(),
            task: vec![1; n].into(),
            thread: vec![1; n].into(),
            begin: (0..n as u64).map(|k| Nanos(10_000 * k)).collect(),
            duration: bursts.iter().map(|burst| Nanos(burst.2)).collect(),
            counters,
            code: None,
        };
        let labels = bursts.iter().map(|burst| Some(ClusterId::from_index(burst.0))).collect();
        let n_clusters = bursts.iter().map(|burst| burst.0 + 1).max().unwrap_or(0);
        Made { table, complete: Rows::first(n), clustering: Clustering { labels, n_clusters } }
    }

    /// The clusters of each phase in two runs.
    fn pairs(a: &Made, b: &Made) -> Vec<(Option<usize>, Option<usize>)> {
        let found = match_by_work(&[a.bursts(), b.bursts()]).expect("there are instructions");
        let cluster =
            |phase: &MatchedPhase, r: usize| phase.runs[r].as_ref().map(|run| run.clusters[0].index());
        for (r, made) in [a, b].into_iter().enumerate() {
            for (id, phase) in made.clustering.labels.iter().zip(&found.phase_of[r]) {
                let phase = &found.phases[phase.expect("all are in clusters") as usize];
                assert_eq!(cluster(phase, r), id.map(ClusterId::index));
            }
        }
        found.phases.iter().map(|phase| (cluster(phase, 0), cluster(phase, 1))).collect()
    }

    #[test]
    fn clusters_of_the_same_work_are_one_phase_however_slow() {
        // In other orders, and the first takes four times as long in the second run.
        let a = run(&[(0, 9000.0, 500), (1, 4000.0, 400), (0, 9100.0, 510), (2, 1000.0, 100)]);
        let b = run(&[(2, 1010.0, 100), (0, 9050.0, 2000), (0, 9000.0, 2050), (1, 4100.0, 390)]);
        assert_eq!(pairs(&a, &b), [(Some(0), Some(0)), (Some(1), Some(1)), (Some(2), Some(2))]);
        let found = match_by_work(&[a.bursts(), b.bursts()]).expect("there are instructions");
        let least = found.phases.iter().flat_map(|p| p.runs.iter().flatten()).map(|run| run.confidence);
        assert!(least.fold(1.0, f64::min) > 0.95);
    }

    #[test]
    fn work_that_two_clusters_do_at_unlike_speed_tells_nothing() {
        let a = run(&[(0, 9000.0, 500), (1, 9300.0, 250), (2, 1000.0, 100)]);
        let b = run(&[(0, 9100.0, 400), (1, 1000.0, 100)]);
        assert_eq!(pairs(&a, &b), [(None, Some(0)), (Some(0), None), (Some(1), None), (Some(2), Some(1))]);
        let more = run(&[(0, 9100.0, 400), (1, 9200.0, 320), (2, 1000.0, 100)]);
        let only_last = pairs(&a, &more).into_iter().filter(|(a, b)| a.is_some() && b.is_some());
        assert_eq!(only_last.collect::<Vec<_>>(), [(Some(2), Some(2))]);
    }

    #[test]
    fn clusters_of_one_run_that_are_alike_are_one_phase() {
        let a = run(&[(0, 9000.0, 500), (1, 9300.0, 510), (2, 1000.0, 100)]);
        let b = run(&[(0, 9100.0, 500), (1, 1000.0, 100)]);
        let found = match_by_work(&[a.bursts(), b.bursts()]).expect("there are instructions");
        let clusters = |r: usize| found.phases[0].runs[r].as_ref().map(|run| run.clusters.len());
        assert_eq!((found.phases.len(), clusters(0), clusters(1)), (2, Some(2), Some(1)));
        assert_eq!(found.phase_of, [vec![Some(0), Some(0), Some(1)], vec![Some(0), Some(1)]]);
    }

    /// All kinds do twice the work, so that the one does now what the other did, at its own speed.
    #[test]
    fn a_kind_that_does_now_what_another_did_is_not_that_one() {
        let a = run(&[(0, 8000.0, 1600), (1, 4000.0, 400)]);
        let b = run(&[(0, 16000.0, 3200), (1, 8000.0, 800)]);
        assert!(pairs(&a, &b).iter().all(|(a, b)| a.is_none() || b.is_none()));
        // What is as fast as before is the same.
        let c = run(&[(0, 16000.0, 3200), (1, 4000.0, 410)]);
        assert!(pairs(&a, &c).contains(&(Some(1), Some(1))));
    }

    #[test]
    fn kinds_of_the_same_work_are_told_by_their_speed() {
        let a = run(&[(0, 9000.0, 900), (1, 9000.0, 500), (2, 1000.0, 100)]);
        let b = run(&[(0, 9000.0, 900), (1, 9000.0, 250), (2, 1000.0, 100)]);
        assert_eq!(pairs(&a, &b), [(Some(0), Some(0)), (Some(1), Some(1)), (Some(2), Some(2))]);
    }

    #[test]
    fn another_amount_of_work_is_another_phase_and_without_instructions_nothing_is_told() {
        let a = run(&[(0, 9000.0, 500), (1, 1000.0, 100)]);
        let b = run(&[(0, 18000.0, 1000), (1, 1000.0, 100)]);
        assert_eq!(pairs(&a, &b), [(None, Some(0)), (Some(0), None), (Some(1), Some(1))]);
        let mut without = b.clone();
        without.table.counters.clear();
        assert_eq!(match_by_work(&[a.bursts(), without.bursts()]), None);
    }
}
