//! Small runs whose phases are known.

use proptest::prelude::*;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::cluster::Points;
use crate::cluster::{ClusterId, DbscanParams, dbscan};
use crate::quality::adjusted_rand;
use crate::synth::{Run, RunSpec, Section};
use crate::table::{Nanos, Runs};

/// A run as the refinement sees it, and its true phases; noise is one more.
struct Made {
    points: Vec<f64>,
    thread: Runs,
    duration: Vec<Nanos>,
    truth: Vec<Option<ClusterId>>,
    n_threads: usize,
}

impl Made {
    /// ln(instructions) and IPC, each from 0 to 1.
    fn of(spec: RunSpec) -> Self {
        let run = Run::new(spec).expect("a run");
        let mut bursts = Vec::new();
        let all = |section: &Section| section.bursts.clone();
        run.for_each_section(all, |section| -> Result<(), std::convert::Infallible> {
            bursts.extend(section);
            Ok(())
        })
        .expect("nothing fails");
        bursts.sort_by_key(|b| (b.task, b.thread, b.begin));
        let raw: Vec<[f64; 2]> = bursts
            .iter()
            .map(|b| [(b.counters[0] as f64).ln(), b.counters[0] as f64 / b.counters[1] as f64])
            .collect();
        let range = |d: usize| {
            let values = || raw.iter().map(|x| x[d]);
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        };
        let ranges = [range(0), range(1)];
        let scaled = |x: &[f64; 2]| [0, 1].map(|d| (x[d] - ranges[d].0) / (ranges[d].1 - ranges[d].0));
        Self {
            points: raw.iter().flat_map(scaled).collect(),
            thread: bursts.iter().map(|b| b.task - 1).collect(),
            duration: bursts.iter().map(|b| b.duration).collect(),
            truth: bursts.iter().map(|b| with_noise(b.cluster)).collect(),
            n_threads: run.n_threads(),
        }
    }

    fn points(&self) -> Points<'_> {
        Points::new(&self.points, 2).expect("points")
    }

    fn refined(&self, direction: Direction) -> Refinement {
        let points = self.points();
        let input = RefineInput {
            points,
            thread: &self.thread,
            n_threads: self.n_threads,
            duration: &self.duration,
            code: &[],
            apart: &[],
        };
        let range = eps_range(points, &self.duration, self.n_threads, None).expect("enough points");
        refine(&input, range, direction, &RefineRules::default())
    }

    fn likeness(&self, labels: &[Option<ClusterId>]) -> f64 {
        let labels: Vec<_> = labels.iter().map(|&label| with_noise(label)).collect();
        adjusted_rand(&labels, &self.truth).expect("labels").value
    }
}

fn with_noise(label: Option<ClusterId>) -> Option<ClusterId> {
    label.or_else(|| Some(ClusterId::from_index(1_000_000)))
}

/// Where one phase is thirty times as dense as another, no radius finds both.
#[test]
fn phases_of_two_densities_are_found_where_no_radius_does() {
    let made = Made::of(RunSpec::densities(16, 50, 30.0, 1).expect("a ratio"));
    for direction in [Direction::Aggregative, Direction::Divisive] {
        let found = made.refined(direction);
        assert_eq!(found.clustering.n_clusters, 12, "{direction:?}");
        let likeness = made.likeness(&found.clustering.labels);
        assert!(likeness >= 0.98, "{direction:?} {likeness}");
    }
    let at = |step: i32| {
        let params = DbscanParams::new(0.0005 * 1.25f64.powi(step), 10).expect("parameters");
        made.likeness(&dbscan(made.points(), &params).clustering.labels)
    };
    let best = (0..30).map(at).fold(0.0, f64::max);
    assert!(best < 0.9, "{best}");
}

/// A step: how long it takes in ns, its IPC, its phase.
type Step = (f64, f64, usize);

/// `outer` steps of 10 ms, each with 20 iterations of two short ones; of so many bursts in a thousand one
/// is followed by noise of 1 to 100 ms.
fn nested(n_threads: usize, outer: usize, noise: u64) -> Made {
    let inner = || (0..20).flat_map(|_| [(1e6, 0.9, 1), (5e5, 0.1, 2)]);
    let steps: Vec<Step> = (0..outer).flat_map(|_| std::iter::once((1e7, 0.4, 0)).chain(inner())).collect();
    run_of(n_threads, &steps, (noise, 1e6, 100.0))
}

/// Every task does these steps. Of `noise` bursts in a thousand each is followed by noise, from so
/// many ns on up to so many times as long.
fn run_of(n_threads: usize, steps: &[Step], (noise, from, times): (u64, f64, f64)) -> Made {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut unit = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let (mut points, mut thread, mut duration, mut truth) =
        (Vec::new(), Runs::default(), Vec::new(), Vec::new());
    let mut push = |ns: f64, ipc: f64, phase: Option<usize>| {
        points.extend([ns.ln() / 10.0, ipc]);
        duration.push(Nanos(ns as u64));
        truth.push(with_noise(phase.map(ClusterId::from_index)));
    };
    for task in 0..n_threads {
        let mut n = 0;
        for &(ns, ipc, phase) in steps {
            // The sum of twelve is nearly normal.
            let mut normal = || (0..12).map(|_| unit()).sum::<f64>() - 6.0;
            push(ns * (0.02 * normal()).exp(), ipc + 0.002 * normal(), Some(phase));
            n += 1;
            if (unit() * 1000.0) < noise as f64 {
                push(from * times.powf(unit()), unit(), None);
                n += 1;
            }
        }
        thread.push_run(task as u32, n);
    }
    Made { points, thread, duration, truth, n_threads }
}

/// The long step has one burst of 41, a fifth of the time, and is sparse.
#[test]
fn a_long_step_of_few_bursts_is_a_phase() {
    for (n_threads, outer) in [(4, 20), (16, 20), (64, 6)] {
        let made = nested(n_threads, outer, 0);
        let found = made.refined(Direction::Aggregative);
        let Refinement { clustering, levels, .. } = &found;
        let all: u64 = made.duration.iter().map(|duration| duration.0).sum();
        let noise = levels.last().expect("levels").noise.0 as f64 / all as f64;
        // Of few tasks a piece of it may stay apart.
        let n = clustering.n_clusters;
        assert!((3..=4).contains(&n) && noise < 0.02, "{n_threads} {n} {noise}");
        assert!(made.likeness(&clustering.labels) > 0.99, "{n_threads}");
    }
}

/// Where much time is in noise, larger radii are tried, and join no two phases.
#[test]
fn noise_of_much_time_joins_no_phases() {
    for (n_threads, outer) in [(4, 20), (16, 10), (64, 6)] {
        let made = nested(n_threads, outer, 10);
        let labels = made.refined(Direction::Aggregative).clustering.labels;
        let noise = with_noise(None);
        let is_phase = |(label, truth): &(_, _)| *label != noise && *truth != noise;
        let all = labels.iter().copied().zip(made.truth.iter().copied());
        let (found, truth): (Vec<_>, Vec<_>) = all.filter(is_phase).unzip();
        assert!(adjusted_rand(&found, &truth).expect("labels").value > 0.999, "{n_threads}");
        assert!(made.likeness(&labels) > 0.97, "{n_threads}");
    }
}

/// Six in a hundred bursts are noise, of any length and IPC, with a third of the time: radii that
/// come from it connect everything, and the alignment of what has one name tells nothing.
#[test]
fn steps_that_alternate_stay_apart_among_noise() {
    for n_threads in [16, 64] {
        let body = [(3e6, 0.95, 0), (1e6, 0.7, 1), (5e5, 0.2, 2)];
        let steps: Vec<Step> = (0..15 * 20).flat_map(|_| body).collect();
        let made = run_of(n_threads, &steps, (60, 2e4, 1000.0));
        let found = made.refined(Direction::Aggregative);
        let likeness = made.likeness(&found.clustering.labels);
        assert!(likeness > 0.9, "{n_threads} {likeness} {}", found.clustering.n_clusters);
    }
}

/// A step that every task does once, two of eight a little more slowly, and which takes a third of
/// the time: no radius of the curve connects its eight bursts.
#[test]
fn a_sparse_step_in_pieces_is_one_phase() {
    let body = [(3e6, 0.95, 1), (1e6, 0.7, 2), (5e5, 0.2, 3)];
    let steps: Vec<Step> = std::iter::once((2e8, 0.5, 0)).chain((0..100).flat_map(|_| body)).collect();
    let mut made = run_of(8, &steps, (0, 0.0, 1.0));
    let firsts: Vec<usize> = (0..8).map(|task| task * steps.len()).collect();
    for (&first, task) in firsts.iter().zip(0..) {
        let slower = if task < 6 { 0.0 } else { 0.045 };
        made.points[2 * first..][..2]
            .copy_from_slice(&[2e8_f64.ln() / 10.0, 0.5 - slower + 0.004 * f64::from(task)]);
    }
    let found = made.refined(Direction::Aggregative).clustering;
    let all: Vec<_> = firsts.iter().map(|&first| found.labels[first]).collect();
    assert!(all[0].is_some() && all.iter().all(|label| *label == all[0]), "{all:?}");
    assert_eq!(found.n_clusters, 4);
}

/// A task that does the same loop far more often than the others stands alone in most columns;
/// its phases are no noise.
#[test]
fn phases_of_tasks_with_unequal_numbers_of_iterations_are_kept() {
    for iterations in [&[200, 4][..], &[400, 10, 10, 10], &[100, 100, 3, 50]] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let (mut points, mut thread, mut truth) = (Vec::new(), Runs::default(), Vec::new());
        for (task, &n) in (0..).zip(iterations) {
            thread.push_run(task, 3 * n);
            for phase in (0..n).flat_map(|_| 0..3) {
                let mut near = |x: f64| x + 0.01 * (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                points.extend([near(0.1 + 0.4 * f64::from(phase)), near(0.9 - 0.4 * f64::from(phase))]);
                truth.push(Some(ClusterId::from_index(phase as usize)));
            }
        }
        let duration = vec![Nanos(100_000); truth.len()];
        let made = Made { points, thread, duration, truth, n_threads: iterations.len() };
        let found = made.refined(Direction::Aggregative);
        let likeness = made.likeness(&found.clustering.labels);
        assert!(likeness >= 0.9, "{iterations:?} {likeness} {}", found.clustering.n_clusters);
    }
}

#[test]
fn equal_bursts_are_one_phase_at_once() {
    let (points, thread) = (vec![0.5; 40], (0..40).map(|i| i / 10).collect::<Runs>());
    let points = Points::new(&points, 1).expect("points");
    let input = RefineInput {
        points,
        thread: &thread,
        n_threads: 4,
        duration: &[Nanos(5); 40],
        code: &[],
        apart: &[],
    };
    let found = refine(
        &input,
        eps_range(points, &[Nanos(5); 40], 4, None).expect("enough"),
        Direction::Aggregative,
        &RefineRules::default(),
    );
    assert_eq!((found.clustering.n_clusters, found.nodes.len()), (1, 1));
    assert!(found.score.score == 1.0);
}

/// Two neighbouring steps in an order that is the program's, the same in every
/// task, stay two; bursts that fall to one or the other by chance are one phase.
#[test]
fn steps_that_take_turns_stay_apart_and_fragments_join() {
    const TASKS: u32 = 16;
    let phases = |by_chance: bool| {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut order = vec![false; 120];
        order.iter_mut().for_each(|second| *second = rng.next_u64() % 2 == 0);
        let (mut points, mut thread) = (Vec::new(), Runs::default());
        for task in 0..TASKS {
            for &second in &order {
                // One of twenty steps is missing, and then what comes before it stands alone.
                let missing = rng.next_u64() % 20 == 0;
                let second = if by_chance { rng.next_u64() % 2 == 0 } else { second };
                let jitter = (rng.next_u64() % 1000) as f64 * 4e-5;
                points.push(0.9 + jitter);
                thread.push(task);
                if !missing {
                    points.push(if second { 0.291 } else { 0.25 } + jitter);
                    thread.push(task);
                }
            }
        }
        let duration = vec![Nanos(1000); thread.len()];
        let points = Points::new(&points, 1).expect("points");
        let input = RefineInput {
            points,
            thread: &thread,
            n_threads: TASKS as usize,
            duration: &duration,
            code: &[],
            apart: &[],
        };
        let range = eps_range(points, &duration, TASKS as usize, Some(16)).expect("enough points");
        // The second radius bridges the gap of 0.001.
        let eps = vec![0.0006, 0.002];
        refine(
            &input,
            EpsRange { eps, reach: None, ..range },
            Direction::Aggregative,
            &RefineRules::default(),
        )
        .clustering
        .n_clusters
    };
    assert_eq!(phases(false), 3);
    assert_eq!(phases(true), 2);
}

/// One step of sixteen tasks, in which half of them compute more: one phase
/// where the code is the same and no task shows it twice; two modes where it
/// comes back, and two phases where the code is not known.
#[test]
fn what_no_task_shows_twice_is_one_step() {
    const TASKS: u32 = 16;
    let phases = |steps: u32, known: bool| {
        let (mut points, mut thread, mut code) = (Vec::new(), Runs::default(), Vec::new());
        for task in 0..TASKS {
            for step in 0..steps {
                let jitter = f64::from(task * 7 % 16 + step) * 1e-4;
                points.extend([0.9 + jitter, if (task + step) % 2 == 0 { 0.2 } else { 0.4 } + jitter]);
                thread.push_run(task, 2);
                code.extend([1, 2]);
            }
        }
        let code = if known { code } else { Vec::new() };
        let duration = vec![Nanos(1000); thread.len()];
        let points = Points::new(&points, 1).expect("points");
        let input = RefineInput {
            points,
            thread: &thread,
            n_threads: TASKS as usize,
            duration: &duration,
            code: &code,
            apart: &[],
        };
        let range = EpsRange {
            eps: vec![0.001],
            reach: None,
            ..eps_range(points, &duration, 16, None).expect("enough")
        };
        refine(&input, range, Direction::Aggregative, &RefineRules::default()).clustering.n_clusters
    };
    assert_eq!(phases(1, true), 2);
    assert_eq!(phases(1, false), 3);
    assert_eq!(phases(12, true), 3);
}

proptest! {
    #[test]
    fn every_part_of_the_result_agrees(
        (dims, bursts) in (1usize..4).prop_flat_map(|dims| {
            let burst = (prop::collection::vec(0u8..30, dims), 0u32..5, 1u64..100);
            (Just(dims), prop::collection::vec(burst, 10..150))
        }),
        divisive: bool,
    ) {
        let mut bursts = bursts;
        bursts.sort_by_key(|b| b.1);
        let data: Vec<f64> = bursts.iter().flat_map(|b| b.0.iter().map(|&x| f64::from(x) / 30.0)).collect();
        let points = Points::new(&data, dims).expect("points");
        let thread: Runs = bursts.iter().map(|b| b.1).collect();
        let duration: Vec<Nanos> = bursts.iter().map(|b| Nanos(b.2)).collect();
        let input = RefineInput { points, thread: &thread, n_threads: 5, duration: &duration, code: &[], apart: &[] };
        let range = eps_range(points, &duration, 5, None).expect("enough points");
        let direction = if divisive { Direction::Divisive } else { Direction::Aggregative };
        let found = refine(&input, range.clone(), direction, &RefineRules::default());
        let n = found.clustering.n_clusters;
        prop_assert_eq!(found.node_of_phase.len(), n);
        // Every phase has as many bursts as its node says, and every parent came before.
        for (place, &node) in found.node_of_phase.iter().enumerate() {
            let id = Some(ClusterId::from_index(place));
            let held = found.clustering.labels.iter().filter(|&&label| label == id).count() as u64;
            prop_assert!(held > 0);
            prop_assert_eq!(held, found.nodes[node as usize].instances);
        }
        for (i, node) in found.nodes.iter().enumerate() {
            prop_assert!(node.parents.iter().all(|&parent| (parent as usize) < i));
            prop_assert!(node.level < found.levels.len());
        }
        prop_assert!((0.0..=1.0 + 1e-12).contains(&found.score.score));
        // No burst is lost on the way up, before what is scattered goes: then phases only join.
        let last = if divisive { 0 } else { 1 + usize::from(range.reach.is_some()) };
        for pair in found.levels[..found.levels.len() - last].windows(2) {
            for &cohort in &found.cohort_of_burst {
                prop_assert!(pair[0].node_of(cohort) == NO_NODE || pair[1].node_of(cohort) != NO_NODE);
            }
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        let alone = pool.install(|| refine(&input, range.clone(), direction, &RefineRules::default()));
        prop_assert_eq!(alone.clustering, found.clustering);
        prop_assert_eq!(alone.nodes, found.nodes);
    }
}

/// Two parallel regions of the same work, and what one thread does between
/// them, are connected; what must keep apart is never one phase.
#[test]
fn what_must_keep_apart_is_no_phase() {
    let (mut points, mut thread, mut apart) = (Vec::new(), Runs::default(), Vec::new());
    for task in 0..4_u32 {
        for step in 0..10_u32 {
            points.push(0.5 + f64::from(task * 7 % 4 + step) * 1e-4);
            thread.push(task);
            apart.push(if task == 0 { step % 3 } else { step % 2 });
        }
    }
    let points = Points::new(&points, 1).expect("points");
    let range = eps_range(points, &[Nanos(9); 40], 4, None).expect("enough");
    let phases = |apart: &[u32], direction| {
        let input = RefineInput {
            points,
            thread: &thread,
            n_threads: 4,
            duration: &[Nanos(9); 40],
            code: &[],
            apart,
        };
        refine(&input, range.clone(), direction, &RefineRules::default()).clustering
    };
    let most_kinds = |keep: &[u32], direction| {
        let found = phases(keep, direction);
        assert!(found.labels.iter().any(Option::is_some));
        let mut kinds = vec![std::collections::BTreeSet::new(); found.n_clusters];
        for (label, kind) in found.labels.iter().zip(&apart) {
            if let Some(id) = label {
                kinds[id.index()].insert(kind);
            }
        }
        kinds.iter().map(std::collections::BTreeSet::len).max()
    };
    for direction in [Direction::Aggregative, Direction::Divisive] {
        assert!(most_kinds(&[], direction) > Some(1), "{direction:?}: they are connected");
        assert_eq!(most_kinds(&apart, direction), Some(1), "{direction:?}");
    }
}
