//! Phases of two runs whose steps come in no order: by the work of a burst alone.

use super::matched::{Evidence, MatchedPhase, PhaseInRun, RunBursts, RunMatch};
use super::steps::{Nature, SAME_TRAITS, SAME_WORK, instructions, label, traits_apart};
use crate::cluster::ClusterId;

/// Kinds that hold no more than this share of a run's time are no reason to doubt the others.
const LITTLE: f64 = 0.05;
/// Kinds of fewer bursts are not matched: by so few, chance cannot be told.
const LEAST_BURSTS: usize = 5;

/// Clusters that do the same work per burst are the same phase in two runs. For programs whose
/// tasks are dealt out to whoever is free: a burst is then told by nothing that stands before or
/// after it, but a task does the same work wherever it runs.
///
/// Work is the same if instructions per burst differ by less than 10 %, and the counts of each
/// kind of instruction, where they are known, by less than 10 % on average; it is as fast if the
/// time per instruction differs by less than that. Clusters of one run that do the same work as
/// fast are taken together, as a *kind*. A kind is matched with the only one of the other run that
/// does the same work, however fast, if no other kind of its own run does it, either. Where
/// several do, they are told by their speed, if that tells all of them. If each run has a kind that
/// the other lacks, and one of the runs has more than 5 % of its time in such, only what is as fast
/// is matched: where kinds do other work, one may do now what another one did. Noise is in no
/// phase. `None` where a run has no instructions (then a slow phase would be another one), and of
/// more or fewer runs than two.
///
/// # Returns
/// As of [`match_runs`](super::match_runs). The confidence of a match is how alike the work is.
///
/// # Panics
/// If a clustering does not label just the complete bursts.
///
/// # Complexity
/// O(n (log n + d) + k² d) for n bursts, d counters and k clusters.
#[must_use]
pub fn match_by_work(runs: &[RunBursts<'_>]) -> Option<RunMatch> {
    let [one, other] = runs else { return None };
    for run in runs {
        assert_eq!(run.complete.len(), run.clustering.labels.len(), "a label for every complete burst");
    }
    if runs.iter().any(|run| instructions(run).is_none()) {
        return None;
    }
    let natures = Nature::of_all(runs);
    let kinds = [Kind::of_all(one, &natures[0]), Kind::of_all(other, &natures[1])];
    let phases = phases(&kinds);
    let mut phase_of: Vec<Vec<Option<u32>>> = runs.iter().map(|run| vec![None; run.complete.len()]).collect();
    for (p, phase) in (0..).zip(&phases) {
        for (r, kind) in phase.iter().enumerate() {
            let bursts = kind.iter().flat_map(|&k| &kinds[r][k].bursts);
            bursts.for_each(|&burst| phase_of[r][burst as usize] = Some(p));
        }
    }
    let phases = phases.iter().map(|phase| matched(*phase, &kinds)).collect();
    Some(RunMatch { reference: 0, phases, phase_of })
}

/// Clusters of a run that do the same work at the same speed, mostly one.
struct Kind {
    clusters: Vec<ClusterId>,
    /// Ascending.
    bursts: Vec<u32>,
    /// The mean of ln(instructions).
    work: f64,
    /// Means of ln(count per instruction), of each kind of instruction.
    code: Vec<f32>,
    /// The mean of ln(time per instruction).
    speed: f64,
    /// Of the time of all bursts in clusters.
    share: f64,
}

impl Kind {
    fn of_all(run: &RunBursts<'_>, nature: &Nature) -> Vec<Self> {
        let mut of_clusters = vec![Vec::new(); run.clustering.n_clusters];
        for burst in 0..run.complete.len() as u32 {
            label(run, burst).iter().for_each(|id| of_clusters[id.index()].push(burst));
        }
        let mut kinds: Vec<Self> = Vec::new();
        for (c, bursts) in of_clusters.into_iter().enumerate() {
            let id = ClusterId::from_index(c);
            let Some(own) = Self::of(vec![id], bursts, (run, nature)) else { continue };
            match kinds.iter().position(|kind| kind.is_as_fast(&own)) {
                Some(k) => {
                    let first = kinds.swap_remove(k);
                    let clusters = first.clusters.into_iter().chain([id]).collect();
                    let bursts = first.bursts.into_iter().chain(own.bursts).collect();
                    kinds.extend(Self::of(clusters, bursts, (run, nature)));
                }
                None => kinds.push(own),
            }
        }
        let all: f64 = kinds.iter().map(|kind| kind.share).sum();
        kinds.iter_mut().for_each(|kind| kind.share /= all.max(1.0));
        kinds
    }

    /// With its time for its share; `None` of no bursts.
    fn of(
        clusters: Vec<ClusterId>,
        mut bursts: Vec<u32>,
        (run, nature): (&RunBursts<'_>, &Nature),
    ) -> Option<Self> {
        bursts.sort_unstable();
        let centre = nature.centre(&bursts)?;
        let times =
            bursts.iter().map(|&burst| run.table.duration[run.complete.at(burst as usize) as usize].0);
        let speed = times.clone().map(|time| (time.max(1) as f64).ln()).sum::<f64>() / bursts.len() as f64;
        let share = times.sum::<u64>() as f64;
        let code = centre.traits[..nature.of_code()].to_vec();
        Some(Self { clusters, work: centre.work, code, speed: speed - centre.work, share, bursts })
    }

    fn does_the_same(&self, other: &Self) -> bool {
        (self.work - other.work).abs() < SAME_WORK && traits_apart(&self.code, &other.code) < SAME_TRAITS
    }

    fn is_as_fast(&self, other: &Self) -> bool {
        self.does_the_same(other) && (self.speed - other.speed).abs() < f64::from(SAME_TRAITS)
    }
}

/// Of each phase the kind in each run, by descending share of a run's time.
fn phases(kinds: &[Vec<Kind>; 2]) -> Vec<[Option<usize>; 2]> {
    let [ours, theirs] = kinds;
    let in_none = |pairs: &[Pair]| {
        let of_ours = alone(ours.len(), pairs.iter().map(|pair| pair.0));
        (of_ours, alone(theirs.len(), pairs.iter().map(|pair| pair.1)))
    };
    let by_speed = only_pairs(kinds, Kind::is_as_fast);
    let by_work = only_pairs(kinds, Kind::does_the_same);
    // All that do this work are told by their speed.
    let (untold, unmet) = in_none(&by_speed);
    let all_told = |kind: &Kind| {
        !untold.iter().any(|&c| kind.does_the_same(&ours[c]))
            && !unmet.iter().any(|&d| kind.does_the_same(&theirs[d]))
    };
    let told = by_speed.iter().filter(|&&(c, d)| all_told(&ours[c]) && all_told(&theirs[d]));
    let mut pairs: Vec<Pair> = told.copied().collect();
    let as_fast = pairs.len();
    // Nobody else does this work.
    let is_only = |kind: &Kind| {
        let n = |of: &[Kind]| of.iter().filter(|other| kind.does_the_same(other)).count();
        n(ours) == 1 && n(theirs) == 1
    };
    let only = by_work.into_iter().filter(|&(c, d)| is_only(&ours[c]) && is_only(&theirs[d]));
    let only: Vec<Pair> = only.filter(|pair| !pairs.contains(pair)).collect();
    pairs.extend(only);
    let (of_ours, of_theirs) = in_none(&pairs);
    let time_of = |left: &[usize], of: &[Kind]| left.iter().map(|&k| of[k].share).sum::<f64>();
    let (of_ours, of_theirs) = (time_of(&of_ours, ours), time_of(&of_theirs, theirs));
    if of_ours.min(of_theirs) > 0.0 && of_ours.max(of_theirs) > LITTLE {
        pairs.truncate(as_fast);
    }
    let (only_ours, only_theirs) = in_none(&pairs);
    let mut phases: Vec<[Option<usize>; 2]> = pairs.iter().map(|&(c, d)| [Some(c), Some(d)]).collect();
    phases.extend(only_ours.into_iter().map(|c| [Some(c), None]));
    phases.extend(only_theirs.into_iter().map(|d| [None, Some(d)]));
    let share = |phase: &[Option<usize>; 2]| {
        let of = |(kind, of_run): (&Option<usize>, &Vec<Kind>)| kind.map_or(0.0, |k| of_run[k].share);
        phase.iter().zip(kinds).map(of).fold(0.0, f64::max)
    };
    phases.sort_by(|a, b| share(b).total_cmp(&share(a)));
    phases
}

/// A kind of each run.
type Pair = (usize, usize);

/// Those of `n` kinds that are in no pair.
fn alone(n: usize, in_pairs: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut is_alone = vec![true; n];
    in_pairs.for_each(|k| is_alone[k] = false);
    (0..n).filter(|&k| is_alone[k]).collect()
}

/// Pairs of kinds of two runs that are the same, and the same as no other of the other run.
fn only_pairs([ours, theirs]: &[Vec<Kind>; 2], is_same: fn(&Kind, &Kind) -> bool) -> Vec<Pair> {
    let only = |kind: &Kind, of: &[Kind]| {
        let mut found = (0..of.len()).filter(|&k| is_same(kind, &of[k]));
        found.next().filter(|_| found.next().is_none())
    };
    let is_enough = |kind: &Kind| kind.bursts.len() >= LEAST_BURSTS;
    let pair = |c: usize| {
        let d = only(&ours[c], theirs).filter(|&d| is_enough(&ours[c]) && is_enough(&theirs[d]))?;
        (only(&theirs[d], ours) == Some(c)).then_some((c, d))
    };
    (0..ours.len()).filter_map(pair).collect()
}

fn matched(phase: [Option<usize>; 2], [ours, theirs]: &[Vec<Kind>; 2]) -> MatchedPhase {
    let [one, other] = [phase[0].map(|k| &ours[k]), phase[1].map(|k| &theirs[k])];
    let alike = one
        .zip(other)
        .map(|(a, b)| (-(a.work - b.work).abs() - f64::from(traits_apart(&a.code, &b.code))).exp());
    let reference = (1.0, Evidence::Reference);
    let in_run = |kind: Option<&Kind>, (confidence, evidence): (f64, Evidence)| {
        kind.map(|kind| PhaseInRun { clusters: kind.clusters.clone(), noise: 0, confidence, evidence })
    };
    let of_other = alike.map_or(reference, |alike| (alike, Evidence::Figures));
    MatchedPhase { runs: vec![in_run(one, reference), in_run(other, of_other)] }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Made;
    use super::*;
    use crate::cluster::Clustering;
    use crate::table::{BurstTable, Counter, CounterColumn, Nanos, Rows};

    /// A run of five bursts each: the cluster, instructions and ns.
    fn run(bursts: &[(usize, f64, u64)]) -> Made {
        let bursts = bursts.repeat(5);
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
        let first = (&found.phase_of[0][..3], &found.phase_of[1][..2]);
        assert_eq!(first, (&[Some(0), Some(0), Some(1)][..], &[Some(0), Some(1)][..]));
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
        let same = run(&[(0, 9000.0, 910), (1, 9000.0, 510), (2, 1000.0, 200)]);
        assert_eq!(pairs(&a, &same), [(Some(0), Some(0)), (Some(1), Some(1)), (Some(2), Some(2))]);
        // Where not all are, the one that is as fast may be another one.
        let known = |b: &Made| pairs(&a, b).into_iter().filter(|(a, b)| a.is_some() && b.is_some());
        for times in [[900, 250], [1800, 900]] {
            let b = run(&[(0, 9000.0, times[0]), (1, 9000.0, times[1]), (2, 1000.0, 100)]);
            assert_eq!(known(&b).collect::<Vec<_>>(), [(Some(2), Some(2))], "{times:?}");
        }
    }

    #[test]
    fn another_amount_of_work_is_another_phase_and_without_instructions_nothing_is_told() {
        let a = run(&[(0, 9000.0, 500), (1, 1000.0, 100)]);
        let b = run(&[(0, 18000.0, 1000), (1, 1000.0, 100)]);
        assert_eq!(pairs(&a, &b), [(None, Some(0)), (Some(0), None), (Some(1), Some(1))]);
        let few = Made { complete: Rows::first(7), ..b.clone() };
        let labels = b.clustering.labels[..7].to_vec();
        let few = Made { clustering: Clustering { labels, n_clusters: 2 }, ..few };
        assert!(pairs(&a, &few).iter().all(|(a, b)| a.is_none() || b.is_none()), "few bursts");
        assert_eq!(match_by_work(&[a.bursts(), b.bursts(), b.bursts()]), None, "three runs");
        let mut without = b.clone();
        without.table.counters.clear();
        assert_eq!(match_by_work(&[a.bursts(), without.bursts()]), None);
    }
}
