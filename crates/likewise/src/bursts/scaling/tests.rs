//! Runs that are made up, so that every phase is known.

use super::factors::{alone, phase_figures};
use super::*;
use crate::cluster::{ClusterId, Clustering};
use crate::synth::{COUNTERS, Run, RunSpec};
use crate::table::{BurstTable, Counter, CounterColumn, Rows};

/// A run, and the truth as its clustering.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) table: BurstTable,
    pub(super) complete: Rows,
    pub(super) clustering: Clustering,
}

impl Made {
    pub(super) fn bursts(&self) -> RunBursts<'_> {
        RunBursts { table: &self.table, complete: &self.complete, clustering: &self.clustering }
    }

    /// The same bursts with other labels.
    fn relabelled(mut self, label: impl Fn(ClusterId) -> Option<usize>) -> Self {
        let mut names: Vec<usize> = self.clustering.labels.iter().filter_map(|&l| label(l?)).collect();
        names.sort_unstable();
        names.dedup();
        let place = |name: usize| names.binary_search(&name).ok().map(ClusterId::from_index);
        for l in &mut self.clustering.labels {
            *l = l.and_then(&label).and_then(place);
        }
        self.clustering.n_clusters = names.len();
        self
    }
}

pub(super) fn made(spec: RunSpec) -> Made {
    let run = Run::new(spec).expect("a spec that can be");
    let mut bursts = Vec::new();
    let all = |section: &crate::synth::Section| section.bursts.clone();
    run.for_each_section(all, |section| -> Result<(), std::convert::Infallible> {
        bursts.extend(section);
        Ok(())
    })
    .expect("nothing fails");
    bursts.sort_by_key(|b| (b.task, b.thread, b.begin));
    let column = |k: usize| CounterColumn {
        counter: Counter {
            event_type: Some(COUNTERS[k].event_type),
            name: COUNTERS[k].name.to_owned(),
            description: String::new(),
        },
        values: bursts.iter().map(|b| b.counters[k] as f64).collect(),
    };
    let table = BurstTable {
        app: vec![1; bursts.len()].into(),
        task: bursts.iter().map(|b| b.task).collect(),
        thread: bursts.iter().map(|b| b.thread).collect(),
        begin: bursts.iter().map(|b| b.begin).collect(),
        duration: bursts.iter().map(|b| b.duration).collect(),
        counters: (0..COUNTERS.len()).map(column).collect(),
        code: None,
    };
    Made {
        complete: Rows::first(bursts.len()),
        clustering: Clustering {
            labels: bursts.iter().map(|b| b.cluster).collect(),
            n_clusters: run.n_clusters(),
        },
        table,
    }
}

/// One program on so many tasks. Each task has its part of the work, but
/// `repeated` phases, which all do whole.
fn program(tasks: usize, phases: usize, repeated: &[usize]) -> RunSpec {
    let mut spec = RunSpec::plausible(16, 12, phases, 5).expect("few phases");
    spec.tasks = tasks;
    for (p, phase) in spec.phases.iter_mut().enumerate() {
        phase.second_mode = None;
        phase.imbalance = 0.0;
        if !repeated.contains(&p) {
            phase.instructions /= tasks as f64;
        }
    }
    spec
}

/// Of each cluster of the last run: the phase that most of its bursts are in,
/// and the cluster that most of that phase's are in, run by run.
fn phases_of_clusters(found: &RunMatch, runs: &[Made]) -> Vec<(usize, Vec<Option<ClusterId>>)> {
    let last = runs.len() - 1;
    let (phase_of, labels) = (&found.phase_of[last], &runs[last].clustering.labels);
    let usual = |c: usize| {
        let mut counts = vec![0; found.phases.len()];
        for (phase, label) in phase_of.iter().zip(labels) {
            if let (Some(p), true) = (phase, *label == Some(ClusterId::from_index(c))) {
                counts[*p as usize] += 1;
            }
        }
        (0..counts.len()).max_by_key(|&p| counts[p]).expect("there are phases")
    };
    let cluster = |run: &Option<PhaseInRun>| run.as_ref().and_then(|run| run.clusters.first().copied());
    let of = |p: usize| (p, found.phases[p].runs.iter().map(cluster).collect());
    (0..runs[last].clustering.n_clusters).map(|c| of(usual(c))).collect()
}

#[test]
fn every_phase_is_found_on_1_2_4_and_8_tasks() {
    let runs: Vec<Made> = [1, 2, 4, 8].map(|tasks| made(program(tasks, 8, &[]))).into();
    let bursts: Vec<RunBursts<'_>> = runs.iter().map(Made::bursts).collect();
    let found = match_runs(&bursts);
    assert_eq!(found.reference, 3);
    let clusters = phases_of_clusters(&found, &runs);
    for (c, (p, clusters)) in clusters.iter().enumerate() {
        assert_eq!(*clusters, vec![Some(ClusterId::from_index(c)); 4]);
        let phase = &found.phases[*p];
        assert!(phase.runs.iter().flatten().all(|run| run.confidence > 0.8), "{phase:?}");
        for (made, phase_of) in runs.iter().zip(&found.phase_of) {
            let members = || made.clustering.labels.iter().zip(phase_of).filter(|(l, _)| **l == clusters[0]);
            let right = members().filter(|(_, phase)| **phase == Some(*p as u32)).count();
            assert!(
                right as f64 > 0.95 * members().count() as f64,
                "cluster {c}: {right} of {}",
                members().count()
            );
        }
    }
    assert_eq!(found, match_runs(&bursts), "the same again");
}

#[test]
fn clusters_that_merge_or_are_noise_in_one_run_are_told_apart_by_place() {
    // The smallest run knows one cluster and noise, the second numbers in reverse.
    let runs = vec![
        made(program(1, 6, &[])).relabelled(|id| (id.index() < 4).then_some(0)),
        made(program(2, 6, &[])).relabelled(|id| Some(9 - id.index())),
        made(program(8, 6, &[])),
    ];
    let bursts: Vec<RunBursts<'_>> = runs.iter().map(Made::bursts).collect();
    let found = match_runs(&bursts);
    let clusters: Vec<_> =
        phases_of_clusters(&found, &runs).into_iter().map(|(_, clusters)| clusters).collect();
    let id = ClusterId::from_index;
    let expected: Vec<_> =
        (0..6).map(|c| vec![(c < 4).then_some(id(0)), Some(id(5 - c)), Some(id(c))]).collect();
    assert_eq!(clusters, expected);
    // And what was noise is there.
    let noise =
        found.phases.iter().filter_map(|phase| phase.runs[0].as_ref()).map(|run| run.noise).sum::<u64>();
    assert!(noise > 0);
}

/// The share of the bursts of each run and cluster that are in the phase of
/// that cluster; the least.
fn least_right(runs: &[Made]) -> f64 {
    let found = match_runs(&runs.iter().map(Made::bursts).collect::<Vec<_>>());
    let mut least = 1.0f64;
    for (c, (p, _)) in phases_of_clusters(&found, runs).into_iter().enumerate() {
        for (made, phase_of) in runs.iter().zip(&found.phase_of) {
            let members = || {
                made.clustering.labels.iter().zip(phase_of).filter(|(l, _)| l.is_some_and(|l| l.index() == c))
            };
            let right = members().filter(|(_, phase)| **phase == Some(p as u32)).count();
            least = least.min(right as f64 / members().count() as f64);
        }
    }
    least
}

#[test]
fn strong_and_weak_scaling_match_whatever_the_seed() {
    for seed in 0..6 {
        let strong = [1, 4, 16].map(|tasks| {
            let mut spec = program(tasks, 7, &[1]);
            spec.seed = seed;
            made(spec)
        });
        let right = least_right(&strong);
        assert!(right > 0.95, "strong, seed {seed}: {right}");
        // More threads than are aligned, one phase imbalanced, one of two modes.
        let weak = [2, 40].map(|tasks| made(RunSpec::plausible(tasks, 8, 6, seed).expect("few phases")));
        let right = least_right(&weak);
        // Of its two modes, one of few bursts may be apart where it is alone.
        assert!(right > 0.85, "weak, seed {seed}: {right}");
    }
}

#[test]
fn a_phase_that_every_task_repeats_is_the_one_that_stops_scaling() {
    // Without a start, which every task repeats as well.
    let without_start = |tasks: usize| RunSpec { start: false, ..program(tasks, 6, &[2]) };
    let runs: Vec<Made> = [1, 2, 4, 8].map(|tasks| made(without_start(tasks))).into();
    let bursts: Vec<RunBursts<'_>> = runs.iter().map(Made::bursts).collect();
    let found = match_runs(&bursts);
    let n = found.phases.len();
    let figures: Vec<Vec<RunFigures>> = bursts
        .iter()
        .zip(&found.phase_of)
        .map(|(run, of)| phase_figures(run, &alone(run.table), of, n))
        .collect();
    let mut stopping = Vec::new();
    for p in (0..n).filter(|&p| figures.iter().any(|run| run[p].share > 0.02)) {
        let of_runs: Vec<Option<Measured>> = figures.iter().map(|run| Some(Measured::once(run[p]))).collect();
        let scaling = phase_scaling(&of_runs, Scaling::Strong, 0.8).expect("it is in every run");
        if let Some(at) = scaling.stops_at {
            let worst = scaling.changes[at].as_ref().and_then(Change::worst).map(|factor| factor.kind);
            stopping.push((at, worst, found.phases[p].runs[0].as_ref().map(|run| run.clusters.clone())));
        }
    }
    let third = Some(vec![ClusterId::from_index(2)]);
    assert_eq!(stopping, [(1, Some(FactorKind::Instructions), third)]);
}

#[test]
fn without_a_common_sequence_figures_match() {
    // Threads of the first run hold one burst of each phase, in reverse.
    let one = |tasks: usize, reverse: bool| {
        let mut spec = program(tasks, 5, &[]);
        if reverse {
            spec.phases.reverse();
        }
        spec.noise_share = 0.0;
        spec.start = false;
        spec.iterations = 1;
        spec
    };
    let runs = [made(one(4, true)), made(one(4, false))];
    let found = match_runs(&runs.each_ref().map(Made::bursts));
    let both: Vec<&MatchedPhase> =
        found.phases.iter().filter(|p| p.runs.iter().all(Option::is_some)).collect();
    assert!(both.len() >= 3, "{:?}", found.phases);
    for phase in both {
        let cluster = |r: usize| phase.runs[r].as_ref().map(|run| run.clusters[0].index());
        assert_eq!(cluster(0), cluster(1).map(|c| 4 - c), "{phase:?}");
    }
}

#[test]
fn runs_without_bursts_have_no_phase() {
    let table = BurstTable::default();
    let clustering = Clustering::default();
    let empty = RunBursts { table: &table, complete: &Rows::default(), clustering: &clustering };
    assert_eq!(match_runs(&[empty, empty]).phases, []);
    assert_eq!(match_runs(&[]).phases, []);
}
