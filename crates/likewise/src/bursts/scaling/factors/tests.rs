use super::*;
use proptest::prelude::*;

fn run() -> impl Strategy<Value = RunFigures> {
    let counts = (1u64..200, 1u64..1_000_000_000, 1.0..1e12f64, 0.1..4.0f64, 0.0..1.0f64, 0u8..3);
    counts.prop_map(|(threads, total, instructions, ipc, imbalance, known)| {
        let mean = total as f64 / threads as f64;
        RunFigures {
            run_threads: threads,
            threads,
            total: Nanos(total),
            longest: Nanos((mean * (1.0 + imbalance)).ceil() as u64),
            instructions: (known > 0).then_some(instructions),
            cycles: (known > 1).then_some(instructions / ipc),
            ..RunFigures::default()
        }
    })
}

#[test]
fn what_a_few_repetitions_did_is_no_loss_of_balance() {
    let of = |longest: u64, usual| {
        let (threads, total) = (10, Nanos(9_500));
        let figures = RunFigures {
            run_threads: threads,
            threads,
            total,
            longest: Nanos(longest),
            ..RunFigures::default()
        };
        let mut measured = Measured::once(figures);
        measured.usual_balance = usual;
        measured
    };
    let (base, few) = (of(1_000, Some(0.95)), of(1_200, Some(0.94)));
    let slower = change(&base, &few, Scaling::Strong);
    assert!(!slower.is_below(0.95) && slower.may_be_chance(0.95));
    let faster = change(&few, &base, Scaling::Strong);
    assert!(!faster.is_above(0.95) && faster.may_be_chance(0.95));
    // Usual repetitions show it too, or there are too few of them to tell.
    for usual in [Some(0.79), None] {
        assert!(change(&base, &of(1_200, usual), Scaling::Strong).is_below(0.95), "{usual:?}");
    }
}

/// A phase at 0.005 and 0.058 cycles per ns was called faster by "more cycles per second, × 12.04".
#[test]
fn of_threads_that_hardly_run_no_speed_is_a_factor() {
    let of = |total: u64, cycles: f64| {
        let total = Nanos(total);
        let counts = RunFigures { instructions: Some(1e3), cycles: Some(cycles), ..RunFigures::default() };
        Measured::once(RunFigures { run_threads: 1, threads: 1, total, longest: total, ..counts })
    };
    let usual = change(&of(100_000, 500.0), &of(10_000, 600.0), Scaling::Strong);
    assert_eq!(usual.best().map(|f| f.kind), Some(FactorKind::Frequency));
    let efficiency = usual.efficiency;
    let told = usual.hardly_running();
    let kinds: Vec<FactorKind> = told.factors.iter().map(|f| f.kind).collect();
    assert!(told.hardly_runs && !kinds.contains(&FactorKind::Ipc) && !kinds.contains(&FactorKind::Frequency));
    let product: f64 = told.factors.iter().map(|f| f.value).product();
    assert!((product / efficiency - 1.0).abs() < 1e-12);
}

proptest! {
    #[test]
    fn factors_multiply_to_the_efficiency(runs in prop::collection::vec(run(), 1..5), weak: bool) {
        let scaling = if weak { Scaling::Weak } else { Scaling::Strong };
        let runs: Vec<Option<Measured>> = runs.into_iter().map(Measured::once).map(Some).collect();
        let found = phase_scaling(&runs, scaling, 0.8).expect("every run has it");
        for change in found.changes.iter().flatten() {
            let product: f64 = change.factors.iter().map(|f| f.value).product();
            prop_assert!((product / change.efficiency - 1.0).abs() < 1e-9, "{change:?}");
        }
        let base = found.changes[found.base].as_ref().expect("the base has it");
        prop_assert!((base.speedup - 1.0).abs() < 1e-12 || weak);
        prop_assert!((base.efficiency - 1.0).abs() < 1e-12);
        prop_assert!(found.stops_at.is_none_or(|r| r != found.base));
    }
}

fn figures(threads: u64, longest: u64, instructions: f64) -> RunFigures {
    RunFigures {
        run_threads: threads,
        threads,
        total: Nanos(longest * threads),
        longest: Nanos(longest),
        instructions: Some(instructions),
        cycles: Some(instructions / 2.0),
        ..RunFigures::default()
    }
}

#[test]
fn a_slower_run_of_as_many_threads_does_not_hide_what_more_threads_do() {
    let stops = |runs: &[RunFigures]| {
        let runs: Vec<Option<Measured>> = runs.iter().map(|&run| Some(Measured::once(run))).collect();
        phase_scaling(&runs, Scaling::Strong, 0.8).and_then(|found| found.stops_at)
    };
    let (fast, slow) = (figures(2, 100, 200.0), figures(2, 150, 200.0));
    assert_eq!(stops(&[fast, slow, figures(4, 75, 300.0)]), Some(2));
    assert_eq!(stops(&[fast, slow, figures(4, 50, 200.0)]), None);
    assert_eq!(stops(&[fast, slow]), Some(1));
}

#[test]
fn work_that_every_thread_repeats_stops_scaling_for_its_instructions() {
    let runs =
        [None, Some(figures(4, 100, 400.0)), Some(figures(1, 100, 100.0)), Some(figures(2, 100, 200.0))];
    let runs = runs.map(|figures| figures.map(Measured::once));
    let found = phase_scaling(&runs, Scaling::Strong, 0.8).expect("three have it");
    assert_eq!((found.base, found.stops_at, &found.changes[0]), (2, Some(3), &None));
    let four = found.changes[1].as_ref().expect("it has it");
    assert_eq!((four.speedup, four.efficiency), (1.0, 0.25));
    assert_eq!(four.worst(), Some(Factor { kind: FactorKind::Instructions, value: 0.25 }));
    // The same is ideal if each thread was to do as much.
    let weak = phase_scaling(&runs, Scaling::Weak, 0.8).expect("three have it");
    assert_eq!(weak.stops_at, None);
    assert_eq!(weak.changes[1].as_ref().map(|c| (c.speedup, c.efficiency)), Some((4.0, 1.0)));
    let runs: Vec<RunFigures> = runs.into_iter().flatten().map(|m| m.figures).collect();
    assert_eq!(scaling_of(&runs), Scaling::Weak);
    assert_eq!(scaling_of(&[figures(1, 100, 100.0), figures(8, 20, 150.0)]), Scaling::Strong);
}
