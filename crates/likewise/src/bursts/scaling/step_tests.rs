//! Runs of a few steps of which one run has one more, or does one serially.

use super::tests::Made;
use super::*;
use crate::cluster::{ClusterId, Clustering};
use crate::table::{BurstTable, Counter, CounterColumn, Nanos, Rows};

/// Iterations of each run.
const ITERATIONS: usize = 12;

/// A step of each iteration: its name, millions of instructions, IPC, and whether one task does
/// it while the others wait.
#[derive(Clone, Copy, Debug)]
struct Step(char, f64, f64, bool);

/// A run of `tasks` that all do the same steps. Each burst has up to 1 % more or fewer cycles, and
/// a cluster of its step: names in the order of the alphabet.
fn run_of(steps: &[Step], tasks: u32) -> Made {
    run_with(steps, tasks, |_, _| 1.0)
}

/// The same, where a task does so many times as much of a step.
fn run_with(steps: &[Step], tasks: u32, times: impl Fn(char, u32) -> f64) -> Made {
    run_often(ITERATIONS, steps, tasks, times)
}

/// The same of a run of so many iterations.
fn run_often(iterations: usize, steps: &[Step], tasks: u32, times: impl Fn(char, u32) -> f64) -> Made {
    let mut names: Vec<char> = steps.iter().map(|step| step.0).collect();
    names.sort_unstable();
    names.dedup();
    let (mut table, mut labels) = (BurstTable::default(), Vec::new());
    let mut counts = [Vec::new(), Vec::new()];
    let mut of_task = Vec::new();
    for task in 1..=tasks {
        let mut now = 0;
        for k in 0..iterations * steps.len() {
            let Step(name, instructions, ipc, is_serial) = steps[k % steps.len()];
            let noise = 1.0 + 0.01 * (((k * 37 + task as usize * 101) % 21) as f64 - 10.0) / 10.0;
            let own = instructions * 1e6 * times(name, task);
            let cycles = own / ipc * noise;
            if !is_serial || task == 1 {
                of_task.push(task);
                table.begin.push(Nanos(now));
                table.duration.push(Nanos((cycles / 2.5) as u64));
                counts[0].push(own);
                counts[1].push(cycles);
                labels.push(names.binary_search(&name).ok().map(ClusterId::from_index));
            }
            now += (instructions * 1e6 / ipc / 2.5 * 1.02) as u64 + 10_000;
        }
    }
    let n = labels.len();
    (table.app, table.task, table.thread) = (vec![1; n].into(), of_task.into(), vec![1; n].into());
    let column = |(name, values): (&str, Vec<f64>)| CounterColumn {
        counter: Counter { event_type: None, name: name.to_owned(), description: String::new() },
        values: values.into_iter().collect(),
    };
    table.counters = ["PAPI_TOT_INS", "PAPI_TOT_CYC"].into_iter().zip(counts).map(column).collect();
    Made { table, complete: Rows::first(n), clustering: Clustering { labels, n_clusters: names.len() } }
}

/// The names of the steps that each phase holds in each of two runs.
fn phases_of(runs: [(&[Step], u32); 2]) -> Vec<[String; 2]> {
    let made = runs.map(|(steps, tasks)| run_of(steps, tasks));
    phases_in(&made, runs.map(|(steps, _)| steps))
}

fn phases_in(made: &[Made; 2], steps: [&[Step]; 2]) -> Vec<[String; 2]> {
    let found = match_runs(&[made[0].bursts(), made[1].bursts()]);
    let names = |r: usize, p: usize| -> String {
        let mut names: Vec<char> = steps[r].iter().map(|step| step.0).collect();
        names.sort_unstable();
        names.dedup();
        let mut held = vec![0; names.len()];
        for (label, phase) in made[r].clustering.labels.iter().zip(&found.phase_of[r]) {
            if let Some(id) = label.filter(|_| *phase == Some(p as u32)) {
                held[id.index()] += 1;
            }
        }
        // A burst or two at the ends say nothing.
        names.into_iter().zip(held).filter(|(_, n)| *n > 4).map(|(name, _)| name).collect()
    };
    let mut phases: Vec<[String; 2]> = (0..found.phases.len()).map(|p| [names(0, p), names(1, p)]).collect();
    phases.retain(|names| names.iter().any(|of| !of.is_empty()));
    phases.sort();
    phases
}

fn pairs(names: &[[&str; 2]]) -> Vec<[String; 2]> {
    let mut pairs: Vec<[String; 2]> = names.iter().map(|pair| pair.map(str::to_owned)).collect();
    pairs.sort();
    pairs
}

const A: Step = Step('A', 100.0, 1.6, false);
const B: Step = Step('B', 50.0, 0.9, false);
const C: Step = Step('C', 25.0, 2.2, false);
const D: Step = Step('D', 10.0, 1.2, false);

/// A long new step that did about as much as the short one beside it took its partner, and the
/// short one, which had not changed, was not found.
#[test]
fn a_new_step_does_not_take_the_partner_of_an_unchanged_one() {
    let known = [["A", "A"], ["B", "B"], ["C", "C"], ["D", "D"]];
    for (instructions, ipc) in [(18.0, 0.5), (60.0, 1.0)] {
        for at in 0..=4 {
            let mut steps = vec![A, B, C, D];
            assert_eq!(phases_of([(&steps, 6), (&steps, 6)]), pairs(&known));
            steps.insert(at, Step('X', instructions, ipc, false));
            let mut expected = known.to_vec();
            expected.push(["", "X"]);
            let found = phases_of([(&[A, B, C, D], 6), (&steps, 6)]);
            assert_eq!(found, pairs(&expected), "X of {instructions} and {ipc} at {at}");
            // The step is gone in the second run.
            let found = phases_of([(&steps, 6), (&[A, B, C, D], 6)]);
            expected[4] = ["X", ""];
            assert_eq!(found, pairs(&expected), "X of {instructions} and {ipc} at {at}");
        }
    }
}

/// A step that one task does for all is about as long as one that all do. It stood in its place
/// in half of the iterations.
#[test]
fn a_serial_step_does_not_take_the_partner_of_one_that_all_do() {
    let steps = |tasks: f64| {
        let part = |Step(name, instructions, ipc, is_serial): Step| {
            Step(name, if is_serial { instructions } else { instructions / tasks }, ipc, is_serial)
        };
        [Step('A', 1500.0, 1.9, false), Step('S', 58.0, 0.6, true), Step('C', 160.0, 1.1, false)].map(part)
    };
    let known = pairs(&[["A", "A"], ["C", "C"], ["S", "S"]]);
    assert_eq!(phases_of([(&steps(8.0), 8), (&steps(32.0), 32)]), known);
    assert_eq!(phases_of([(&steps(8.0), 8), (&steps(8.0), 8)]), known);
}

/// The first of eight tasks does a tenth of the uneven step, and that is like another step.
#[test]
fn an_uneven_step_stands_where_it_is_even() {
    let steps = [Step('A', 55.6, 1.1, false), Step('B', 8.9, 1.3, false), Step('C', 6.4, 1.2, false)];
    let uneven =
        |name: char, task: u32| if name == 'A' { 0.1 + 1.8 * f64::from(task - 1) / 7.0 } else { 1.0 };
    let made = [run_of(&steps, 2), run_with(&steps, 8, uneven)];
    assert_eq!(phases_in(&made, [&steps; 2]), pairs(&[["A", "A"], ["B", "B"], ["C", "C"]]));
    let made = [run_of(&steps, 2), run_of(&steps, 8)];
    assert_eq!(phases_in(&made, [&steps; 2]), pairs(&[["A", "A"], ["B", "B"], ["C", "C"]]));
}

/// A step that is slower, or does more, in one run keeps its partner.
#[test]
fn a_changed_step_is_the_same_step() {
    let known = pairs(&[["A", "A"], ["B", "B"], ["C", "C"], ["D", "D"]]);
    for changed in [Step('B', 50.0, 0.3, false), Step('B', 80.0, 0.9, false), Step('B', 30.0, 1.2, false)] {
        assert_eq!(phases_of([(&[A, B, C, D], 6), (&[A, changed, C, D], 6)]), known, "{changed:?}");
    }
    let few = [A, B, C, D].map(|Step(name, instructions, ipc, _)| Step(name, instructions / 4.0, ipc, false));
    assert_eq!(phases_of([(&[A, B, C, D], 4), (&few, 16)]), known);
}

/// Of 4,800 bursts of a thread, the longest were aligned: those of another step where one was slower,
/// and both steps were not found.
#[test]
fn a_changed_step_of_a_long_run_is_the_same_step() {
    let usual = run_often(1_200, &[A, B, C, D], 1, |_, _| 1.0);
    let slow = [A, B, C, Step('D', 10.0, 0.5, false)];
    let known = pairs(&[["A", "A"], ["B", "B"], ["C", "C"], ["D", "D"]]);
    for iterations in [1_200, 1_900] {
        let made = [usual.clone(), run_often(iterations, &slow, 1, |_, _| 1.0)];
        assert_eq!(phases_in(&made, [&slow; 2]), known, "{iterations} iterations");
    }
}

/// Where a new step stands in the place of one that is unchanged, nothing is to be said of it.
#[test]
fn a_phase_that_the_other_run_lacks_may_be_the_same() {
    let made = [run_of(&[A, B, C, D], 6), run_of(&[A, Step('X', 60.0, 1.0, false), B, C, D], 6)];
    let runs = [made[0].bursts(), made[1].bursts()];
    let right = match_runs(&runs);
    let phase = |r: usize, cluster: usize| {
        let of_cluster = Some(ClusterId::from_index(cluster));
        let at = made[r].clustering.labels.iter().position(|label| *label == of_cluster);
        right.phase_of[r][at.expect("it has bursts")].expect("it has a phase")
    };
    let (b, x) = (phase(0, 1), phase(1, 4));
    let mut wrong = right.clone();
    for phase in wrong.phase_of[1].iter_mut().flatten() {
        *phase = if *phase == b {
            x
        } else if *phase == x {
            b
        } else {
            *phase
        };
    }
    let of_b = wrong.phases[b as usize].runs[1].take();
    wrong.phases[b as usize].runs[1] = wrong.phases[x as usize].runs[1].take();
    wrong.phases[x as usize].runs[1] = of_b;
    let may_be_other = |found: &RunMatch, p: u32| {
        let repeats = repeats(&runs, found, &[None, None], true);
        let measures = Measures::of(&runs, &runs, found, &repeats);
        [(0, 1), (1, 0)].map(|of| measures.may_be_other(p as usize, of, 1.0, 0.05))
    };
    assert_eq!(may_be_other(&wrong, b), [true; 2]);
    for p in 0..right.phases.len() as u32 {
        assert_eq!(may_be_other(&right, p), [false; 2], "phase {p}");
    }
    // A step that is slower, with nothing new beside it; or with a step of two and a half times the work.
    let new = Step('X', 125.0, 0.9, false);
    for steps in [&[A, Step('B', 50.0, 0.7, false), C, D][..], &[A, Step('B', 50.0, 0.3, false), C, D, new]] {
        let slower = run_of(steps, 6);
        let runs = [made[0].bursts(), slower.bursts()];
        let found = match_runs(&runs);
        let repeats = repeats(&runs, &found, &[None, None], true);
        let measures = Measures::of(&runs, &runs, &found, &repeats);
        assert!((0..found.phases.len()).all(|p| !measures.may_be_other(p, (0, 1), 1.0, 0.05)), "{steps:?}");
    }
}
