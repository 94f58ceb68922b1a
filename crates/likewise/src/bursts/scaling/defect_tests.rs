//! Runs with one known defect, beside runs without any.

use super::tests::{Made, made};
use super::*;
use crate::bursts::find_period;
use crate::bursts::period::Period;
use crate::synth::{Defect, DefectKind, RunSpec};

const TASKS: usize = 12;
const SEEDS: u64 = 5;
const THRESHOLD: f64 = 0.95;

/// What is said of two runs: of each phase of the first run's truth, how the
/// second is against it.
struct Compared {
    repeats: Repeats,
    /// By the truth's phase in the first run.
    phases: Vec<(PhaseScaling, Option<SlowTasks>)>,
}

fn compared(base: &Made, now: &Made) -> Compared {
    let runs = [base.bursts(), now.bursts()];
    let found = match_runs(&runs);
    let periods: Vec<Option<Period>> =
        runs.iter().map(|run| find_period(run.table, &run.clustering.labels).ok()).collect();
    let repeats = repeats(&runs, &found, &periods, false);
    let measures = Measures::of(&runs, &found, &repeats);
    let of_cluster = |c: usize| {
        let is_of = |run: &Option<PhaseInRun>| {
            run.as_ref().is_some_and(|run| run.clusters.first() == Some(&ClusterId::from_index(c)))
        };
        let p = found.phases.iter().position(|phase| is_of(&phase.runs[0]))?;
        let measured = measures.phase(p);
        let scaling = phase_scaling(&measured, Scaling::Strong, THRESHOLD).expect("it takes time");
        Some((scaling, measures.slow_tasks(p, (0, 1), &measured, THRESHOLD)))
    };
    // Two modes of one step may be one phase where bursts are few.
    let phases: Vec<_> = (0..base.clustering.n_clusters).filter_map(of_cluster).collect();
    assert!(phases.len() >= 5, "every step is found");
    Compared { repeats, phases }
}

impl Compared {
    fn change(&self, p: usize) -> &Change {
        self.phases[p].0.changes[1].as_ref().expect("it is in both")
    }

    fn slower(&self) -> Vec<usize> {
        (0..self.phases.len()).filter(|&p| self.change(p).is_below(THRESHOLD)).collect()
    }

    fn factor(&self, p: usize, kind: FactorKind) -> f64 {
        self.change(p).factors.iter().find(|f| f.kind == kind).map_or(f64::NAN, |f| f.value)
    }
}

fn spec(iterations: usize, seed: u64) -> RunSpec {
    RunSpec::balanced(TASKS, iterations, 5, seed).expect("few phases")
}

fn with(kind: DefectKind, tasks: &[u32], factor: f64, seed: u64) -> Made {
    let mut spec = spec(12, seed);
    spec.defect = Some(Defect { kind, phase: Some(2), tasks: tasks.to_vec(), factor });
    made(spec)
}

fn is_near(x: f64, expected: f64) -> bool {
    (x / expected - 1.0).abs() < 0.02
}

#[test]
fn nothing_is_slower_where_only_iterations_differ() {
    for seed in 0..SEEDS {
        for (few, many) in [(12, 24), (5, 7), (2, 5), (24, 11)] {
            let run = |n| made(spec(n, seed));
            let found = compared(&run(few), &run(many));
            assert_eq!(found.slower(), [0; 0], "{few} against {many}, seed {seed}");
            let odd = found.phases.iter().filter(|(_, slow)| slow.is_some()).count();
            assert_eq!(odd, 0, "{few} against {many}, seed {seed}");
            let iterations: Vec<Option<u64>> =
                found.repeats.iterations.iter().map(|known| known.map(|(n, _)| n)).collect();
            assert_eq!(iterations, [Some(few as u64), Some(many as u64)], "seed {seed}");
        }
    }
}

#[test]
fn without_a_period_phases_are_compared_per_burst() {
    for seed in 0..SEEDS {
        let (one, two) = (made(spec(1, seed)), made(spec(2, seed)));
        let found = compared(&one, &two);
        assert_eq!(found.repeats.iterations, [None, None]);
        assert_eq!(found.repeats.whole, None);
        assert!(found.repeats.phases.iter().any(|phase| phase.per == Per::Burst));
        assert_eq!(found.slower(), [0; 0], "seed {seed}");
    }
}

#[test]
fn a_run_is_like_itself() {
    for seed in 0..SEEDS {
        let run = made(RunSpec::plausible(TASKS, 10, 6, seed).expect("few phases"));
        let runs = [run.bursts(), run.bursts()];
        for phase in match_runs(&runs).phases {
            // A place of one thread alone is in no run.
            assert_eq!(phase.runs[0].is_some(), phase.runs[1].is_some());
            for run in phase.runs.into_iter().flatten() {
                assert_eq!(run.confidence.to_bits(), 1.0f64.to_bits(), "seed {seed}");
            }
        }
        let found = compared(&run, &run);
        assert!(found.phases.iter().all(|(scaling, slow)| slow.is_none() && scaling.stops_at.is_none()));
    }
}

#[test]
fn every_defect_is_the_cause_and_nothing_else_is_slower() {
    for seed in 0..SEEDS {
        let none = made(spec(12, seed));
        let low_ipc = compared(&none, &with(DefectKind::LowIpc, &[], 1.0 / 0.7, seed));
        assert_eq!(low_ipc.slower(), [2], "seed {seed}");
        assert!(is_near(low_ipc.factor(2, FactorKind::Ipc), 0.7));

        let mut more = spec(12, seed);
        more.phases[2].instructions *= 1.3;
        let more = compared(&none, &made(more));
        assert_eq!(more.slower(), [2], "seed {seed}");
        assert_eq!(more.change(2).worst().map(|f| f.kind), Some(FactorKind::Instructions));
        assert!(is_near(more.factor(2, FactorKind::Instructions), 1.0 / 1.3));

        let uneven = compared(&none, &with(DefectKind::Imbalance, &[], 1.6, seed));
        assert_eq!(uneven.slower(), [2], "seed {seed}");
        assert_eq!(uneven.change(2).worst().map(|f| f.kind), Some(FactorKind::LoadBalance));
        assert!(!uneven.change(2).is_serial);

        let serial = compared(&none, &with(DefectKind::Serial, &[3], 2.0, seed));
        assert_eq!(serial.slower(), [2], "seed {seed}");
        assert!(serial.change(2).is_serial, "seed {seed}");
        assert!(!low_ipc.change(2).is_serial && !more.change(2).is_serial);

        let mut slow_clock = spec(12, seed);
        slow_clock.frequency_ghz *= 0.8;
        let slow_clock = compared(&none, &made(slow_clock));
        assert_eq!(slow_clock.slower(), [0, 1, 2, 3, 4], "seed {seed}");
        for p in 0..5 {
            assert_eq!(slow_clock.change(p).worst().map(|f| f.kind), Some(FactorKind::Frequency));
            assert!(is_near(slow_clock.factor(p, FactorKind::Frequency), 0.8));
        }
    }
}

#[test]
fn slow_tasks_are_found_with_what_they_lose() {
    for seed in 0..SEEDS {
        for iterations in [12, 24] {
            let none = made(spec(iterations, seed));
            let found = compared(&none, &with(DefectKind::SlowTasks, &[4, 9], 2.0, seed));
            assert_eq!(found.slower(), [2], "seed {seed}");
            for (p, (_, slow)) in found.phases.iter().enumerate() {
                assert_eq!(slow.is_some(), p == 2, "seed {seed}, phase {p}");
            }
            let slow = found.phases[2].1.as_ref().expect("they are found");
            assert_eq!(slow.odd.tasks, [(1, 4), (1, 9)]);
            assert!(is_near(slow.odd.factor, 2.0) && is_near(slow.odd.others, 1.0), "{slow:?}");
            let ipc = slow.factors.iter().find(|f| f.kind == FactorKind::Ipc).map(|f| f.value);
            assert!(ipc.is_some_and(|ipc| is_near(ipc, 0.5)), "{slow:?}");
            // What a task takes in an iteration is lost once more.
            let time: u64 = none
                .table
                .duration
                .iter()
                .zip(&none.clustering.labels)
                .filter(|(_, label)| **label == Some(ClusterId::from_index(2)))
                .map(|(duration, _)| duration.0)
                .sum();
            let each = time as f64 / (TASKS * iterations) as f64;
            let n = if found.repeats.phases.iter().any(|p| p.per == Per::Iteration) { 1.0 } else { 12.0 };
            assert!((slow.odd.lost / n / each - 1.0).abs() < 0.03, "{slow:?}, {each}");
        }
    }
}

#[test]
fn without_counters_no_cause_is_known() {
    let bare = |mut made: Made| {
        made.table.counters.clear();
        made
    };
    let found = compared(&bare(made(spec(12, 3))), &bare(with(DefectKind::LowIpc, &[], 1.5, 3)));
    assert_eq!(found.slower(), [2]);
    assert_eq!(found.change(2).worst().map(|f| f.kind), Some(FactorKind::Time));
}

#[test]
fn more_tasks_scale_where_nothing_is_wrong() {
    for seed in 0..SEEDS {
        let run = |tasks: usize, iterations: usize| {
            made(RunSpec::balanced(tasks, iterations, 5, seed).expect("few phases"))
        };
        let (small, large) = (run(4, 12), run(16, 12));
        let runs = [small.bursts(), large.bursts()];
        let found = match_runs(&runs);
        let periods: Vec<Option<Period>> =
            runs.iter().map(|run| find_period(run.table, &run.clustering.labels).ok()).collect();
        let repeats = repeats(&runs, &found, &periods, false);
        let measures = Measures::of(&runs, &found, &repeats);
        assert_eq!(measures.scaling(), Scaling::Strong, "seed {seed}");
        let whole = measures.whole().expect("iterations are known");
        let whole = phase_scaling(&whole, Scaling::Strong, 0.8).expect("they take time");
        let efficiency = whole.changes[1].as_ref().map(|change| change.efficiency);
        assert!(efficiency.is_some_and(|x| (0.95..1.02).contains(&x)), "seed {seed}: {efficiency:?}");
    }
}
