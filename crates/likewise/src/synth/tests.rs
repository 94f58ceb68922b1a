//! What must hold of any run.

use proptest::prelude::*;

use super::spec::{COUNTERS, Call, RunSpec, SpecError};
use super::{Burst, Defect, DefectKind, Message, Run};
use crate::table::Nanos;

fn all(run: &Run) -> (Vec<Burst>, Vec<Message>) {
    let (mut bursts, mut messages) = (Vec::new(), Vec::new());
    let mut last = Nanos::ZERO;
    let _: Result<(), ()> = run.for_each_section(Clone::clone, |section| {
        assert_eq!(section.begin, last);
        assert!(section.bursts.iter().all(|b| section.begin <= b.begin && b.end() < section.end));
        assert!(section.messages.iter().all(|m| section.begin < m.called && m.received < section.end));
        last = section.end;
        bursts.extend(section.bursts);
        messages.extend(section.messages);
        Ok(())
    });
    assert_eq!(last, run.end());
    (bursts, messages)
}

fn specs() -> impl Strategy<Value = RunSpec> {
    (1usize..9, 1usize..4, 1usize..13, 0u64..1500, any::<u64>()).prop_map(
        |(tasks, threads, n_phases, more, seed)| {
            let mut spec = RunSpec::plausible(tasks, 1, n_phases, seed).unwrap();
            spec.threads_per_task = threads;
            spec.with_bursts((tasks * threads) as u64 + more)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn threads_go_from_burst_to_call_to_burst(spec in specs()) {
        let run = Run::new(spec).unwrap();
        let (bursts, _) = all(&run);
        prop_assert_eq!(bursts.len() as u64, run.n_bursts());
        for task in 1..=run.spec().tasks as u32 {
            for thread in 1..=run.spec().threads_per_task as u32 {
                let own: Vec<&Burst> =
                    bursts.iter().filter(|b| (b.task, b.thread) == (task, thread)).collect();
                prop_assert!(own[0].preceding.is_none());
                for pair in own.windows(2) {
                    prop_assert_eq!(pair[0].call_end, pair[1].begin);
                    let time = pair[0].call_end.saturating_sub(pair[0].end());
                    prop_assert_eq!(pair[1].preceding, Some((pair[0].call, time)));
                    prop_assert!(time > Nanos::ZERO);
                }
                let last = own[own.len() - 1];
                prop_assert_eq!(last.call_end, run.end());
                prop_assert_eq!(last.call, if thread == 1 { Call::Finalize } else { Call::Join });
            }
        }
    }

    #[test]
    fn counters_and_time_fit_together(spec in specs()) {
        let run = Run::new(spec).unwrap();
        for burst in all(&run).0 {
            let [instructions, cycles, l1, l2, l3, branches, mispredicted, stalls] = burst.counters;
            prop_assert!(l3 <= l2 && l2 <= l1 && l1 <= instructions);
            prop_assert!(mispredicted <= branches && branches <= instructions && stalls <= cycles);
            let time = cycles as f64 / run.spec().frequency_ghz;
            let measured = burst.duration.0 as f64;
            prop_assert!((measured / time - 1.0).abs() < 0.003, "{} ns for {} cycles", measured, cycles);
            prop_assert!(burst.duration > Nanos(5_000), "the usual filter would leave it out");
        }
    }

    #[test]
    fn messages_take_time(spec in specs()) {
        for m in all(&Run::new(spec).unwrap()).1 {
            prop_assert!(m.called < m.sent && m.sent < m.received && m.posted < m.received);
        }
    }
}

#[test]
fn a_synchronising_call_lets_nobody_go_before_the_last_has_come() {
    let mut spec = RunSpec::plausible(6, 2, 5, 9).unwrap();
    spec.phases.iter_mut().for_each(|phase| phase.call = Call::Allreduce);
    let run = Run::new(spec).unwrap();
    for step in all(&run).0.chunks(6) {
        let last = step.iter().map(Burst::end).max().unwrap();
        assert!(step.iter().all(|b| b.call.synchronises() && b.call_end > last));
    }
}

#[test]
fn truth_has_every_cluster_and_the_share_of_noise_asked_for() {
    let run = Run::new(RunSpec::demo()).unwrap();
    let bursts = all(&run).0;
    let mut counts = vec![0usize; run.n_clusters()];
    let mut noise = 0;
    for burst in &bursts {
        match burst.cluster {
            Some(id) => counts[id.index()] += 1,
            None => noise += 1,
        }
    }
    assert_eq!(run.n_clusters(), 9);
    assert!(counts.iter().all(|&n| n > 500), "{counts:?}");
    let share = noise as f64 / bursts.len() as f64;
    assert!((0.012..0.02).contains(&share), "{share} of the bursts are noise");
}

#[test]
fn work_rises_over_the_tasks_where_it_is_imbalanced() {
    let run = Run::new(RunSpec::demo()).unwrap();
    let phase = run.spec().phases.iter().position(|p| p.imbalance > 0.0).unwrap();
    let bursts = all(&run).0;
    let mean = |task: u32| {
        let own: Vec<f64> = (bursts.iter())
            .filter(|b| b.task == task && b.cluster == Some(run.cluster_of_phase(phase)))
            .map(|b| b.counters[0] as f64)
            .collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let means: Vec<f64> = (1..=16).map(mean).collect();
    assert!(means.windows(2).all(|pair| pair[0] < pair[1]), "{means:?}");
    let expected = (run.spec().phases[phase].imbalance * 15.0 / 16.0).exp();
    assert!((means[15] / means[0] / expected - 1.0).abs() < 0.01);
}

#[test]
fn the_seed_and_nothing_else_decides() {
    let run = |seed| Run::new(RunSpec::plausible(5, 3, 6, seed).unwrap()).unwrap();
    assert_eq!(all(&run(1)).0, all(&run(1)).0);
    assert_ne!(all(&run(1)).0, all(&run(2)).0);
    let on = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let long = Run::new(RunSpec::plausible(2, 1, 3, 4).unwrap().with_bursts(300_000)).unwrap();
    assert_eq!(on(1).install(|| all(&long).0), on(3).install(|| all(&long).0));
}

#[test]
fn exactly_as_many_bursts_as_asked() {
    let spec = RunSpec::plausible(4, 1, 3, 1).unwrap();
    for bursts in (4..300).chain([10_000_000, 12_345_679]) {
        let run = Run::new(spec.clone().with_bursts(bursts)).unwrap();
        assert_eq!(run.n_bursts(), bursts);
        if bursts < 300 {
            assert_eq!(all(&run).0.len() as u64, bursts);
        }
    }
}

#[test]
fn sink_errors_stop_the_run() {
    let run = Run::new(RunSpec::plausible(4, 50, 3, 1).unwrap()).unwrap();
    let mut seen = 0;
    let result = run.for_each_section(
        |section| section.index,
        |index| {
            seen += 1;
            if index == 3 { Err("full") } else { Ok(()) }
        },
    );
    assert_eq!((result, seen), (Err("full"), 4));
}

#[test]
fn specs_that_cannot_be_name_the_field() {
    let good = RunSpec::plausible(4, 2, 3, 1).unwrap();
    let error = |change: &dyn Fn(&mut RunSpec)| {
        let mut spec = good.clone();
        change(&mut spec);
        Run::new(spec).unwrap_err().to_string()
    };
    assert!(error(&|s| s.tasks = 0).contains("0 tasks of 1 threads"));
    assert!(error(&|s| s.tasks = usize::MAX).contains("threads in all"));
    assert!(error(&|s| s.phases.clear()).contains("no phase"));
    assert!(error(&|s| s.phases[1].repeats = 0).contains(&good.phases[1].name));
    assert!(error(&|s| s.phases[0].repeats = usize::MAX).contains("bursts"));
    assert!(error(&|s| s.iterations = usize::MAX).contains("bursts"));
    assert!(error(&|s| s.phases[0].ipc = f64::NAN).contains("ipc is NaN"));
    assert!(error(&|s| s.phases[0].instructions = -1.0).contains("instructions is -1"));
    assert!(error(&|s| s.noise_share = 1.5).contains("noise_share is 1.5"));
    assert!(error(&|s| s.frequency_ghz = 0.0).contains("frequency_ghz"));
    assert!(error(&|s| s.extra_bursts = 1 << 20).contains("extra bursts"));
    assert!(error(&|s| s.phases[0].call = Call::Finalize).contains("exchange or a collective"));
    let few = Run::new(good.clone().with_bursts(3)).unwrap_err();
    assert_eq!(few, SpecError::TooFewBursts { bursts: 3, threads: 4 });
    assert_eq!(RunSpec::plausible(4, 2, 0, 1), Err(SpecError::Phases(0)));
    assert_eq!(RunSpec::plausible(4, 2, 41, 1), Err(SpecError::Phases(41)));
}

#[test]
fn counters_are_in_the_order_of_the_real_traces() {
    assert_eq!(COUNTERS.map(|c| c.event_type).map(|t| t % 10_000), [50, 59, 0, 2, 8, 55, 46, 1047]);
}

/// A balanced run with that defect.
fn with_defect(kind: DefectKind, tasks: usize, seed: u64) -> Run {
    let mut spec = RunSpec::balanced(tasks, 6, 5, seed).unwrap();
    spec.defect = Some(Defect::drawn(kind, &spec, None).unwrap());
    Run::new(spec).unwrap()
}

/// Time of each task in that phase, in ns.
fn times(run: &Run, phase: usize) -> Vec<f64> {
    let mut times = vec![0.0; run.spec().tasks];
    for burst in all(run).0.iter().filter(|b| b.phase == Some(phase as u32)) {
        times[burst.task as usize - 1] += burst.duration.0 as f64;
    }
    times
}

fn near(value: f64, expected: f64, within: f64) -> bool {
    (value / expected - 1.0).abs() < within
}

#[test]
fn a_balanced_run_has_even_phases_that_scale() {
    for seed in 1..6 {
        let [few, many] =
            [4, 16].map(|tasks| Run::new(RunSpec::balanced(tasks, 6, 5, seed).unwrap()).unwrap());
        for phase in 0..5 {
            let (few, many) = (times(&few, phase), times(&many, phase));
            let mean = few.iter().sum::<f64>() / 4.0;
            assert!(few.iter().all(|&t| near(t, mean, 0.01)), "{few:?}");
            assert!(many.iter().all(|&t| near(t, mean / 4.0, 0.01)), "{many:?}");
        }
        let bursts = all(&many).0;
        assert!(bursts.iter().all(|b| b.phase.is_none() == b.cluster.is_none()), "no noise");
        let start = bursts.iter().filter(|b| b.phase.is_none()).map(|b| b.duration.0);
        assert!(start.clone().max().unwrap() as f64 / start.min().unwrap() as f64 <= 1.03);
    }
}

#[test]
fn every_defect_is_as_large_as_it_says_and_nowhere_else() {
    let kinds = [
        DefectKind::Imbalance,
        DefectKind::Serial,
        DefectKind::SlowTasks,
        DefectKind::LowIpc,
        DefectKind::Grows,
        DefectKind::Stall,
    ];
    for (kind, seed) in kinds.into_iter().flat_map(|kind| (1..5).map(move |seed| (kind, seed))) {
        let run = with_defect(kind, 8, seed);
        let defect = run.spec().defect.clone().unwrap();
        let mut spec = run.spec().clone();
        spec.defect = None;
        let healthy = Run::new(spec).unwrap();
        let wrong = defect.phase.unwrap();
        for phase in (0..5).filter(|&p| p != wrong) {
            assert_eq!(times(&run, phase), times(&healthy, phase), "{kind:?}");
        }
        let ratios: Vec<f64> =
            times(&run, wrong).iter().zip(times(&healthy, wrong)).map(|(now, then)| now / then).collect();
        let is_of = |task: usize| defect.tasks.contains(&(task as u32 + 1));
        let first = defect.tasks.first().map_or(0, |&task| task as usize - 1);
        match kind {
            DefectKind::Imbalance => assert!(near(ratios[7] / ratios[0], defect.factor, 1e-3), "{ratios:?}"),
            DefectKind::LowIpc => assert!(ratios.iter().all(|&r| near(r, defect.factor, 1e-3))),
            // Twice the tasks of the base.
            DefectKind::Grows => assert!(ratios.iter().all(|&r| near(r, 2.0 * defect.factor, 1e-3))),
            DefectKind::SlowTasks => {
                assert!((0..8).all(|t| near(ratios[t], if is_of(t) { defect.factor } else { 1.0 }, 1e-3)));
            }
            DefectKind::Serial => {
                assert!(near(ratios[first], defect.factor, 1e-3));
                assert!((0..8).all(|t| is_of(t) || ratios[t] < 0.01), "{ratios:?}");
            }
            DefectKind::Stall => {
                let bursts = all(&run).0;
                let noise: Vec<&Burst> =
                    bursts.iter().filter(|b| b.phase.is_some() && b.cluster.is_none()).collect();
                assert!(noise.len() == 1 && is_of(noise[0].task as usize - 1));
                let share = noise[0].duration.0 as f64 / run.end().0 as f64;
                assert!((0.02..0.2).contains(&share), "{share}");
            }
        }
    }
}

#[test]
fn defects_that_cannot_be_are_refused() {
    let spec = RunSpec::balanced(4, 6, 5, 1).unwrap();
    let error = |kind, change: &dyn Fn(&mut Defect)| {
        let mut defect = Defect::drawn(kind, &spec, Some(2)).unwrap();
        assert_eq!(defect.phase, Some(2));
        change(&mut defect);
        let spec = RunSpec { defect: Some(defect), ..spec.clone() };
        Run::new(spec).unwrap_err().to_string()
    };
    assert!(error(DefectKind::Stall, &|d| d.phase = Some(5)).contains("defect phase is 6"));
    assert!(error(DefectKind::SlowTasks, &|d| d.tasks = vec![1, 5]).contains("defect task is 5"));
    assert!(error(DefectKind::SlowTasks, &|d| d.tasks.clear()).contains("slow tasks"));
    assert!(error(DefectKind::LowIpc, &|d| d.phase = None).contains("all phases"));
    assert!(error(DefectKind::LowIpc, &|d| d.tasks = vec![1]).contains("of all tasks"));
    assert!(error(DefectKind::Serial, &|d| d.tasks = vec![1, 2]).contains("one task"));
    assert!(error(DefectKind::Grows, &|d| d.factor = f64::NAN).contains("factor is NaN"));
    assert!(error(DefectKind::Imbalance, &|d| d.factor = 0.0).contains("factor is 0"));
    let slow_in_all = Defect { kind: DefectKind::SlowTasks, phase: None, tasks: vec![2], factor: 2.0 };
    let run = Run::new(RunSpec { defect: Some(slow_in_all), ..spec }).unwrap();
    for phase in 0..5 {
        let times = times(&run, phase);
        assert!(near(times[1], 2.0 * times[0], 0.02), "{times:?}");
    }
}
