//! Runs with one known defect, beside runs without any.

use super::tests::{Made, made};
use super::*;
use crate::bursts::find_period;
use crate::bursts::period::Period;
use crate::cluster::ClusterId;
use crate::synth::{Defect, DefectKind, RunSpec, START_STEPS};
use crate::table::{Nanos, Rows, Runs};

const TASKS: usize = 12;
const THRESHOLD: f64 = 0.95;
/// Of less, the program says that it cannot tell.
const LEAST_MATCH: f64 = 0.5;

/// Those of a few made-up runs; the rules were written with `LIKEWISE_SEEDS=20`.
fn seeds() -> std::ops::Range<u64> {
    0..std::env::var("LIKEWISE_SEEDS").map_or(6, |seeds| seeds.parse().expect("LIKEWISE_SEEDS is a number"))
}

/// What is said of two runs: of each phase of the first run's truth, how the
/// second is against it.
struct Compared {
    repeats: Repeats,
    /// By the truth's phase in the first run.
    phases: Vec<(PhaseScaling, Option<SlowTasks>)>,
    /// Of the second run in each.
    confidence: Vec<f64>,
    /// Whether strays leave it the same phase.
    unmixed: Vec<bool>,
    /// All computation.
    whole: Option<PhaseScaling>,
    scaling: Scaling,
    told: ToldScaling,
}

fn compared(base: &Made, now: &Made) -> Compared {
    compared_by(base, now, THRESHOLD)
}

fn compared_by(base: &Made, now: &Made, threshold: f64) -> Compared {
    let runs = [base.bursts(), now.bursts()];
    let found = match_runs(&runs);
    let periods: Vec<Option<Period>> =
        runs.iter().map(|run| find_period(run.table, &run.clustering.labels).ok()).collect();
    let repeats = repeats(&runs, &found, &periods, false);
    let end = |run: &RunBursts<'_>| (0..run.table.len()).map(|i| run.table.end(i)).max().expect("bursts");
    let calms: Vec<Calm> =
        runs.iter().zip(&found.phase_of).map(|(run, of)| calm(run, of, end(run))).collect();
    let calm_run = |(run, calm): (&RunBursts<'_>, &Calm)| {
        let table = calm.table.clone().unwrap_or_else(|| run.table.clone());
        Made { table, complete: run.complete.clone(), clustering: run.clustering.clone() }
    };
    let calmed: Vec<Made> = runs.iter().zip(&calms).map(calm_run).collect();
    let before = runs;
    let runs: Vec<RunBursts<'_>> = calmed.iter().map(Made::bursts).collect();
    let measures = Measures::of(&runs, &before, &found, &repeats);
    let told = measures.scaling();
    let scaling = told.scaling;
    let of_cluster = |c: usize| {
        let is_of = |run: &Option<PhaseInRun>| {
            run.as_ref().is_some_and(|run| run.clusters.first() == Some(&ClusterId::from_index(c)))
        };
        let p = found.phases.iter().position(|phase| is_of(&phase.runs[0]))?;
        let measured = measures.phase(p);
        let scaled = phase_scaling(&measured, scaling, threshold).expect("it takes time");
        let confidence = found.phases[p].runs[1].as_ref().map_or(0.0, |run| run.confidence);
        let unmixed = measures.mixed(p, 0, 1) <= 1.0 - threshold;
        let is_sure = |_: &SlowTasks| unmixed && confidence >= LEAST_MATCH;
        let slow = measures.slow_tasks(p, (0, 1), &measured, threshold).filter(is_sure);
        Some(((scaled, slow), (confidence, unmixed)))
    };
    // Two modes of one step may be one phase where bursts are few.
    let (phases, known): (Vec<_>, Vec<_>) = (0..base.clustering.n_clusters).filter_map(of_cluster).unzip();
    let (confidence, unmixed) = known.into_iter().unzip();
    assert!(phases.len() >= 5, "every step is found");
    let whole = measures.whole().and_then(|whole| phase_scaling(&whole, scaling, threshold));
    Compared { repeats, phases, confidence, unmixed, whole, scaling, told }
}

impl Compared {
    fn change(&self, p: usize) -> &Change {
        self.phases[p].0.changes[1].as_ref().expect("it is in both")
    }

    fn said(&self, test: impl Fn(&Change) -> bool) -> Vec<usize> {
        let is_told = |&p: &usize| {
            let change = self.phases[p].0.changes[1].as_ref();
            self.confidence[p] >= LEAST_MATCH && self.unmixed[p] && change.is_some_and(&test)
        };
        (0..self.phases.len()).filter(is_told).collect()
    }

    /// The phases that are said to be slower.
    fn slower(&self) -> Vec<usize> {
        self.said(|change| change.is_below(THRESHOLD))
    }

    /// Those that are said to be slower or faster.
    fn other(&self) -> Vec<usize> {
        self.said(|change| change.is_below(THRESHOLD) || change.is_above(THRESHOLD))
    }

    fn iterations(&self) -> Vec<Option<u64>> {
        self.repeats.iterations.iter().map(|known| known.map(|(n, _)| n)).collect()
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

/// The same program, run again: other bursts of the same phases. A run of
/// twice the iterations, of which the first half is left out.
fn again(mut spec: RunSpec) -> Made {
    let steps: usize = spec.phases.iter().map(|phase| phase.repeats).sum();
    let left_out = START_STEPS..START_STEPS + spec.iterations * steps;
    spec.iterations *= 2;
    without(made(spec), |_, step| left_out.contains(&step))
}

/// Without the bursts of some tasks at some of their steps.
fn without(mut run: Made, is_left_out: impl Fn(u32, usize) -> bool) -> Made {
    let table = &mut run.table;
    let mut step = 0;
    let is_kept = |i: usize| {
        step = if i > 0 && table.task[i] == table.task[i - 1] { step + 1 } else { 0 };
        !is_left_out(table.task[i], step)
    };
    let kept: Vec<bool> = (0..table.len()).map(is_kept).collect();
    let kept: Vec<usize> = (0..kept.len()).filter(|&i| kept[i]).collect();
    let pick = |values: &Runs| -> Runs { kept.iter().map(|&i| values[i]).collect() };
    (table.app, table.task, table.thread) = (pick(&table.app), pick(&table.task), pick(&table.thread));
    let nanos = |values: &[Nanos]| -> Vec<Nanos> { kept.iter().map(|&i| values[i]).collect() };
    (table.begin, table.duration) = (nanos(&table.begin), nanos(&table.duration));
    for column in &mut table.counters {
        column.values = kept.iter().map(|&i| column.values.get(i)).collect();
    }
    run.clustering.labels = kept.iter().map(|&i| run.clustering.labels[i]).collect();
    run.complete = Rows::first(kept.len());
    run
}

fn is_near(x: f64, expected: f64) -> bool {
    (x / expected - 1.0).abs() < 0.02
}

#[test]
fn nothing_is_slower_where_only_iterations_differ() {
    for seed in seeds() {
        for (few, many) in [(12, 12), (12, 24), (5, 7), (2, 5), (24, 11), (30, 60), (10, 25)] {
            let found = compared(&made(spec(few, seed)), &again(spec(many, seed)));
            assert_eq!(found.other(), [0; 0], "{few} against {many}, seed {seed}");
            let odd = found.phases.iter().filter(|(_, slow)| slow.is_some()).count();
            assert_eq!(odd, 0, "{few} against {many}, seed {seed}");
            assert_eq!(found.iterations(), [Some(few as u64), Some(many as u64)], "seed {seed}");
            let least = found.confidence.iter().copied().fold(1.0, f64::min);
            assert!(least > 0.7, "{few} against {many}, seed {seed}: {:?}", found.confidence);
        }
    }
}

#[test]
fn nothing_is_slower_where_phases_are_uneven_or_of_two_modes() {
    for seed in seeds() {
        for (few, many) in [(12, 12), (12, 24), (5, 7), (24, 11), (30, 60)] {
            let plain = |n: usize| RunSpec::plausible(TASKS, n, 5, seed).expect("few phases");
            let found = compared(&made(plain(few)), &again(plain(many)));
            assert_eq!(found.other(), [0; 0], "{few} against {many}, seed {seed}");
            let odd = found.phases.iter().filter(|(_, slow)| slow.is_some()).count();
            assert_eq!(odd, 0, "{few} against {many}, seed {seed}: {:?}", found.phases);
            for (known, n) in found.iterations().into_iter().zip([few, many]) {
                assert!(known.is_none_or(|known| known == n as u64), "{few}, {many}, {seed}: {known:?}");
            }
        }
    }
}

#[test]
fn without_a_period_phases_are_compared_per_burst() {
    for seed in seeds() {
        let (one, two) = (made(spec(1, seed)), made(spec(2, seed)));
        let found = compared(&one, &two);
        assert_eq!(found.repeats.iterations, [None, None]);
        assert_eq!(found.repeats.whole, None);
        assert!(found.repeats.phases.iter().any(|phase| phase.per == Per::Burst));
        assert_eq!(found.slower(), [0; 0], "seed {seed}");
    }
}

#[test]
fn per_burst_threads_that_have_fewer_make_no_phase_slower() {
    for seed in seeds() {
        let few = spec(2, seed);
        let steps: usize = few.phases.iter().map(|phase| phase.repeats).sum();
        let second = START_STEPS + steps..START_STEPS + 2 * steps;
        // Half of the tasks do one iteration of two.
        let run = without(made(few), |task, step| task % 2 == 0 && second.contains(&step));
        let found = compared(&made(spec(1, seed)), &run);
        assert_eq!(found.repeats.iterations, [None, None]);
        assert!(found.repeats.phases.iter().any(|phase| phase.per == Per::Burst));
        assert_eq!(found.slower(), [0; 0], "seed {seed}");
        // Bursts differ by chance; half as many on half of the threads would make it 0.75.
        let balance = (0..found.phases.len()).map(|p| found.factor(p, FactorKind::LoadBalance));
        let least = balance.fold(1.0, f64::min);
        assert!(least > 0.85, "seed {seed}: {least}");
    }
}

#[test]
fn a_run_is_like_itself() {
    for seed in seeds() {
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
    for seed in seeds() {
        let none = made(spec(12, seed));
        for factor in [1.0 / 0.7, 2.0, 3.0, 10.0] {
            let low_ipc = compared(&none, &with(DefectKind::LowIpc, &[], factor, seed));
            assert_eq!(low_ipc.slower(), [2], "seed {seed}, × {factor}");
            assert!(is_near(low_ipc.factor(2, FactorKind::Ipc), 1.0 / factor));
            assert!(low_ipc.confidence[2] > 0.9, "seed {seed}, × {factor}: {:?}", low_ipc.confidence);
        }

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
        assert!(!more.change(2).is_serial);

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
    for seed in seeds() {
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

/// A program on so many tasks, that shares out its work or has as much for
/// each.
fn sized(tasks: usize, iterations: usize, scaling: Scaling, seed: u64) -> RunSpec {
    let mut spec = RunSpec::balanced(tasks, iterations, 5, seed).expect("few phases");
    if scaling == Scaling::Weak {
        spec.phases.iter_mut().for_each(|phase| phase.instructions *= tasks as f64 / 16.0);
    }
    spec
}

#[test]
fn more_tasks_scale_where_nothing_is_wrong() {
    for seed in seeds() {
        for scaling in [Scaling::Strong, Scaling::Weak] {
            for (few, many) in
                [((4, 12), (16, 12)), ((4, 10), (16, 25)), ((4, 30), (16, 12)), ((8, 12), (64, 12))]
            {
                let which = format!("seed {seed}, {scaling:?}, {few:?} against {many:?}");
                let run = |(tasks, n): (usize, usize)| sized(tasks, n, scaling, seed);
                let found = compared_by(&made(run(few)), &again(run(many)), 0.8);
                assert_eq!(found.scaling, scaling, "{which}");
                assert_eq!(found.iterations(), [Some(few.1 as u64), Some(many.1 as u64)], "{which}");
                let least = found.confidence.iter().copied().fold(1.0, f64::min);
                assert!(least > 0.7, "{which}: {:?}", found.confidence);
                let all = found.whole.as_ref().expect("iterations are known");
                let changes = (0..found.phases.len()).map(|p| found.change(p)).chain(&all.changes[1]);
                for change in changes {
                    assert!((0.93..1.07).contains(&change.efficiency), "{which}: {change:?}");
                }
            }
        }
    }
}

#[test]
fn a_phase_that_grows_with_the_tasks_is_the_one_that_stops_scaling() {
    for seed in seeds() {
        for (tasks, factor) in [(16, 1.0), (16, 1.3), (64, 1.0), (64, 1.3)] {
            let run = |tasks: usize| {
                let mut spec = sized(tasks, 12, Scaling::Strong, seed);
                spec.defect =
                    Some(Defect { kind: DefectKind::Grows, phase: Some(2), tasks: Vec::new(), factor });
                made(spec)
            };
            let found = compared_by(&run(4), &run(tasks), 0.8);
            let which = format!("seed {seed}, {tasks} tasks, × {factor}");
            assert_eq!(found.scaling, Scaling::Strong, "{which}");
            assert_eq!(found.said(|change| change.is_below(0.8)), [2], "{which}");
            assert_eq!(found.change(2).worst().map(|f| f.kind), Some(FactorKind::Instructions), "{which}");
            let times = tasks as f64 / 4.0;
            let expected = 1.0 / (times * factor.powf(times.log2()));
            assert!(is_near(found.factor(2, FactorKind::Instructions), expected), "{which}");
        }
    }
}

#[test]
fn a_stall_is_told_as_one_burst_and_not_as_load_balance() {
    for seed in seeds() {
        let none = made(spec(12, seed));
        let stalled = with(DefectKind::Stall, &[5], 200.0, seed);
        let found = compared(&none, &stalled);
        assert_eq!(found.other(), [0; 0], "seed {seed}");
        let runs = [none.bursts(), stalled.bursts()];
        let matched = match_runs(&runs);
        let one_offs =
            |r: usize| calm(&runs[r], &matched.phase_of[r], runs[r].table.end(runs[r].table.len() - 1));
        assert_eq!(one_offs(0).one_offs, []);
        let [one] = &one_offs(1).one_offs[..] else { panic!("seed {seed}: {:?}", one_offs(1).one_offs) };
        assert_eq!(one.thread, (1, 5, 1));
        assert!((one.duration.0 as f64 / one.usual.0 as f64 / 200.0 - 1.0).abs() < 0.05, "{one:?}");
    }
}

#[test]
fn mixed_work_is_strong_scaling_or_cannot_be_told() {
    for seed in seeds() {
        let share = |p: usize| {
            let run = made(sized(4, 12, Scaling::Strong, seed));
            let time = |is_one: &dyn Fn(Option<ClusterId>) -> bool| -> f64 {
                let bursts = run.table.duration.iter().zip(&run.clustering.labels);
                bursts.filter(|(_, label)| is_one(**label)).map(|(duration, _)| duration.0 as f64).sum()
            };
            time(&|label| label == Some(ClusterId::from_index(p))) / time(&|label| label.is_some())
        };
        for divided in 0..5 {
            // Every task repeats all phases but one.
            let run = |tasks: usize| {
                let mut spec = sized(tasks, 12, Scaling::Strong, seed);
                for (_, phase) in spec.phases.iter_mut().enumerate().filter(|(p, _)| *p != divided) {
                    phase.instructions *= tasks as f64 / 4.0;
                }
                made(spec)
            };
            let (found, share) = (compared_by(&run(4), &run(16), 0.8), share(divided));
            let which = format!("seed {seed}, phase {divided} with {share} is divided: {:?}", found.told);
            let divided = found.told.divided.expect("iterations are known");
            assert!((divided - share).abs() < 0.03, "{which}");
            assert_eq!(found.told.is_sure(), divided >= 0.2 || divided <= 0.025, "{which}");
            assert_eq!(found.scaling == Scaling::Strong, divided >= 0.2, "{which}");
        }
    }
}

/// The run with CPU times: of each phase, the share of its time that it would be on a core, if
/// `wait` did not make its bursts so many times as long. A burst in eight has no CPU time.
fn on_core(mut run: Made, share: f64, wait: impl Fn(usize) -> f64) -> Made {
    let cpu: Vec<f64> = run.table.duration.iter().map(|duration| share * duration.0 as f64).collect();
    let of_burst = |i: usize| run.clustering.labels[i].map_or(1.0, |id| wait(id.index()));
    let longer: Vec<Nanos> =
        (0..run.table.len()).map(|i| Nanos((run.table.duration[i].0 as f64 * of_burst(i)) as u64)).collect();
    run.table.duration = longer;
    let counter =
        crate::table::Counter { event_type: None, name: "CPU time".to_owned(), description: "ns".to_owned() };
    let values = cpu.iter().enumerate().map(|(i, &cpu)| if i % 8 == 3 { f64::NAN } else { cpu }).collect();
    run.table.counters.push(crate::table::CounterColumn { counter, values });
    run
}

/// Ranks that wait for a core are not slower: where CPU times are known, the clock alone says
/// nothing of the program.
#[test]
fn what_waits_for_a_core_is_not_slower() {
    let waits = |p: usize| if p == 2 { 2.5 } else { 1.0 };
    for seed in seeds() {
        let sound = || on_core(made(spec(12, seed)), 0.98, |_| 1.0);
        let waiting = on_core(again(spec(12, seed)), 0.98, waits);
        let found = compared(&sound(), &waiting);
        assert_eq!(
            (found.other(), found.said(|c| c.is_off_core(THRESHOLD))),
            (vec![], vec![2]),
            "seed {seed}"
        );
        assert!(found.factor(2, FactorKind::OnCore) < 0.45, "seed {seed}: {:?}", found.change(2));
        assert_eq!(found.change(2).worst().map(|f| f.kind), Some(FactorKind::OnCore));
        let product: f64 = found.change(2).factors.iter().map(|f| f.value).product();
        assert!(is_near(product, found.change(2).efficiency));
        // The other way round it is not faster.
        let back = compared(&waiting, &sound());
        assert_eq!((back.other(), back.said(|c| c.is_off_core(THRESHOLD))), (vec![], vec![2]), "seed {seed}");
        // Without CPU times nobody knows.
        let mut bare = on_core(again(spec(12, seed)), 0.98, waits);
        bare.table.counters.pop();
        assert_eq!(compared(&sound(), &bare).slower(), [2], "seed {seed}");
    }
}

/// And what is slower is so on a core, too, whether or not it waits for one besides.
#[test]
fn what_is_slower_on_a_core_is_told() {
    for seed in seeds() {
        let sound = on_core(made(spec(12, seed)), 0.98, |_| 1.0);
        for wait in [1.0, 1.5] {
            let slow = on_core(with(DefectKind::LowIpc, &[], 2.0, seed), 0.98, |_| wait);
            let found = compared(&sound, &slow);
            assert_eq!(found.slower(), [2], "seed {seed}, waiting × {wait}");
            assert!(is_near(found.factor(2, FactorKind::Ipc), 0.5));
            assert!((found.factor(2, FactorKind::OnCore) * wait - 1.0).abs() < 0.1, "{:?}", found.change(2));
        }
    }
}
