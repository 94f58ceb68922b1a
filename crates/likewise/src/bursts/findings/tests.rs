//! Runs of a few bursts whose defect is known.

mod asleep;
mod causes;
mod chance;
mod instead;
mod launch;
mod low_ipc;
mod part;
mod place;
mod serial;
mod single;
mod threads;
mod time;
mod together;
mod waves;

use super::*;
use crate::cluster::ClusterId;
use crate::table::{BurstTable, Code, Counter, CounterColumn, Nanos, PlaceId, Region};

/// Bursts of (task, begin, duration, phase from 1 or 0, instructions, cycles).
type Burst = (u32, u64, u64, usize, f64, f64);

fn found(bursts: &[Burst], end: u64) -> Findings {
    found_of_threads(&bursts.iter().map(|&burst| (1, burst)).collect::<Vec<_>>(), end)
}

/// The same with the thread of each burst before it.
fn found_of_threads(bursts: &[(u32, Burst)], end: u64) -> Findings {
    found_but_for(bursts, end, &[])
}

/// The same, where phases are asleep.
fn found_but_for(bursts: &[(u32, Burst)], end: u64, asleep: &[bool]) -> Findings {
    found_in_code(bursts, end, asleep, None)
}

/// The same, where the function of each burst is known.
fn found_in_code(
    bursts: &[(u32, Burst)],
    end: u64,
    asleep: &[bool],
    function: Option<&dyn Fn(&Burst) -> usize>,
) -> Findings {
    let mut bursts = bursts.to_vec();
    bursts.sort_by_key(|(thread, b)| (b.0, *thread, b.1));
    let (thread, bursts): (Vec<u32>, Vec<Burst>) = bursts.into_iter().unzip();
    let n = bursts.len();
    let counter = |name: &str, values: Vec<f64>| CounterColumn {
        counter: Counter { event_type: None, name: name.to_owned(), description: String::new() },
        values: values.into(),
    };
    let table = BurstTable {
        app: vec![1; n].into(),
        task: bursts.iter().map(|b| b.0).collect(),
        thread: thread.into(),
        begin: bursts.iter().map(|b| Nanos(b.1)).collect(),
        duration: bursts.iter().map(|b| Nanos(b.2)).collect(),
        counters: vec![
            counter("PAPI_TOT_INS", bursts.iter().map(|b| b.4).collect()),
            counter("PAPI_TOT_CYC", bursts.iter().map(|b| b.5).collect()),
        ],
        code: function.map(|function| code(bursts.iter().map(function))),
    };
    let phase: Vec<Option<ClusterId>> =
        bursts.iter().map(|b| b.3.checked_sub(1).map(ClusterId::from_index)).collect();
    let is_asleep = |phase: &Option<ClusterId>| {
        phase.is_some_and(|id| asleep.get(id.index()).is_some_and(|asleep| *asleep))
    };
    let of_bursts: Vec<bool> = phase.iter().map(is_asleep).collect();
    findings(&FindingsInput {
        table: &table,
        phase: &phase,
        shortest: Nanos(10),
        grouped_from: Nanos(10),
        asleep: &of_bursts,
        part: Nanos::ZERO..Nanos(end),
        most_at_once: None,
    })
}

/// The code of bursts by the numbers of their functions.
fn code(functions: impl Iterator<Item = usize>) -> Code {
    let region = |function| Region { function: PlaceId::from_index(function), ..Region::default() };
    Code { regions: functions.map(region).collect(), ..Code::default() }
}

/// 4 tasks, 10 steps of 1,000 ns with a barrier after each; `change` makes
/// duration, phase and instructions of (task, step) other than 900, 1, 900.
fn steps(change: impl Fn(u32, u64) -> (u64, usize, f64)) -> Findings {
    let burst = |task: u32, step: u64| {
        let (duration, phase, instructions) = change(task, step);
        (task, step * 1_000, duration, phase, instructions, duration as f64)
    };
    let bursts: Vec<Burst> = (0..10).flat_map(|step| (1..5).map(move |task| burst(task, step))).collect();
    found(&bursts, 10_000)
}

fn tasks(finding: &Finding) -> Vec<u32> {
    finding.threads.iter().map(|name| name.task).collect()
}

fn numbers(finding: &Finding) -> Vec<u32> {
    finding.phases.iter().map(|id| id.number()).collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn even_steps_are_no_finding() {
    let found = steps(|_, _| (900, 1, 900.0));
    assert_eq!(found.list, []);
    assert!(near(found.idle, 0.09) && near(found.balance, 0.0), "{found:?}");
    // One thread has nobody to wait for, and no run at all has nothing.
    let alone = [(1, 0, 900, 1, 1.0, 1.0), (1, 950, 20, 2, 1.0, 1.0)];
    assert_eq!(super::tests::found(&alone, 1_000).list, []);
    assert_eq!(super::tests::found(&[], 0), Findings::default());
}

#[test]
fn work_that_rises_over_the_tasks_is_imbalance() {
    let found = steps(|task, _| (500 + 100 * u64::from(task), 1, 500.0 + 100.0 * f64::from(task)));
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    let FindingKind::Imbalance { apart, cause, steady, .. } = finding.kind else { panic!("{finding:?}") };
    // 900 is the most, 750 the mean.
    assert!(near(apart, 0.2) && near(finding.share, 0.15) && near(found.balance, 0.15), "{found:?}");
    assert_eq!((cause, steady, tasks(finding), finding.stretches), (Cause::Work, true, vec![4], 10));
    let gradient = finding.gradient.clone().expect("a gradient");
    assert_eq!(gradient.least, [ThreadName { task: 1, thread: 1 }]);
    assert_eq!((gradient.least_time, gradient.most_time), (Nanos(6_000), Nanos(9_000)));
}

#[test]
fn two_groups_of_tasks_are_no_gradient_and_few_that_take_less_are_named() {
    let late = steps(|task, _| if task > 2 { (900, 1, 900.0) } else { (700, 1, 700.0) });
    assert_eq!((tasks(&late.list[0]), &late.list[0].gradient), (vec![3, 4], &None));
    let early = steps(|task, _| if task == 2 { (500, 1, 500.0) } else { (900, 1, 900.0) });
    assert_eq!((tasks(&early.list[0]), &early.list[0].gradient), (vec![2], &None));
    let FindingKind::Imbalance { times: Some(times), cause: Cause::Work, .. } = early.list[0].kind else {
        panic!("{early:?}")
    };
    assert!(near(times, 5.0 / 9.0), "{early:?}");
    // Two of the three that are late take longer for the same instructions.
    let fast = steps(|task, _| (if task == 2 { 600 } else { 900 }, 1, 600.0));
    let FindingKind::Imbalance { times: Some(_), cause: Cause::Speed, .. } = fast.list[0].kind else {
        panic!("{fast:?}")
    };
    assert_eq!(tasks(&fast.list[0]), [2]);
    // Of who takes no part, what is between the others is not why.
    let idle = steps(|task, step| match task {
        2 => (20, 2, 20.0),
        _ => (800 + 40 * u64::from(task) + step % 2, 1, 800.0 + 40.0 * f64::from(task)),
    });
    assert_eq!((idle.list.len(), tasks(&idle.list[0])), (1, vec![2]), "{idle:?}");
}

/// Few that take less are named only if they are most of why the slowest is above the mean.
#[test]
fn one_that_hardly_takes_part_is_not_named_for_what_another_takes_longer() {
    let named = |times: [u64; 8]| {
        let bursts = (0..10).flat_map(|step| {
            let burst = move |task: u32| {
                let time = times[task as usize - 1];
                (task, step * 1_000, time, 1, time as f64, time as f64)
            };
            (1..9).map(burst)
        });
        let found = found(&bursts.collect::<Vec<Burst>>(), 10_000);
        let [finding] = &found.list[..] else { panic!("{found:?}") };
        let FindingKind::Imbalance { times, .. } = finding.kind else { panic!("{finding:?}") };
        (tasks(finding), times.is_some())
    };
    assert_eq!(named([30, 500, 500, 500, 500, 500, 500, 520]), (vec![1], true));
    assert_eq!(named([30, 500, 500, 500, 500, 500, 500, 900]), (vec![8], false));
    // Without a gap among the others, the slowest.
    assert_eq!(named([30, 400, 480, 560, 640, 720, 800, 900]), (vec![8], false));
}

/// 20,000, more or less by at most half of `range`, without order.
fn disturbed(task: u32, step: u64, range: u64) -> u64 {
    let mut x =
        u64::from(task).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (step + 1).wrapping_mul(0xD1B5_4A32_D192_ED03);
    x = (x ^ (x >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    20_000 - range / 2 + (x >> 40) % range
}

/// `n` tasks, 30 steps of 40,000 ns with a barrier after each.
fn disturbed_steps(n: u32, range: u64, change: impl Fn(u32, u64) -> f64) -> Findings {
    let burst = |task: u32, step: u64| {
        let duration = (disturbed(task, step, range) as f64 * change(task, step)) as u64;
        (task, step * 40_000, duration, 1, 2e4, duration as f64)
    };
    let bursts: Vec<Burst> =
        (0..30).flat_map(|step| (1..=n).map(move |task| (task, step))).map(|(t, s)| burst(t, s)).collect();
    found(&bursts, 30 * 40_000)
}

/// The reader's t33: some tasks together, in steps that follow one another.
#[test]
fn tasks_that_are_held_up_together_once_are_one_finding() {
    for late in 1..=3 {
        let slow = |task: u32, step: u64| task <= late && (12..14).contains(&step);
        let found = disturbed_steps(8, 400, |task, step| if slow(task, step) { 1.95 } else { 1.0 });
        let [finding] = &found.list[..] else { panic!("{late}: {found:?}") };
        let FindingKind::OneOff { bursts: 1, same: true, duration, others: Some(others), .. } = finding.kind
        else {
            panic!("{finding:?}")
        };
        assert_eq!((tasks(finding), finding.begin), ((1..=late).collect(), Nanos(12 * 40_000)));
        assert!(
            (77_000..79_000).contains(&duration.0) && (39_000..41_000).contains(&others.0),
            "{finding:?}"
        );
        // Twice 19,000 of 1,200,000 ns.
        assert!((finding.share / (0.038 / 1.2) - 1.0).abs() < 0.03, "{finding:?}");
    }
}

#[test]
fn several_stalls_of_one_task_are_one_finding_with_count_and_sum() {
    let stalls = |task: u32, step: u64| task == 2 && [5, 17].contains(&step);
    let found = disturbed_steps(8, 400, |task, step| if stalls(task, step) { 1.95 } else { 1.0 });
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert!(matches!(finding.kind, FindingKind::OneOff { bursts: 2, same: true, .. }), "{finding:?}");
    // Twice 19,000 of 1,200,000 ns.
    assert!((finding.share / (0.038 / 1.2) - 1.0).abs() < 0.03 && tasks(finding) == [2], "{finding:?}");
}

#[test]
fn start_and_end_of_all_tasks_are_no_one_off() {
    for n in [1, 4] {
        let work = |task: u32| (1..11).map(move |step| (task, step * 1_000, 900, 1, 900.0, 900.0));
        let ends = |task: u32| {
            [(task, 0, 960, 0, 9.0, 9.0), (task, 11_000, 600 + 10 * u64::from(task), 0, 9.0, 9.0)]
        };
        let bursts: Vec<Burst> = (1..=n).flat_map(|task| work(task).chain(ends(task))).collect();
        assert_eq!(found(&bursts, 12_000).list, [], "{n} tasks");
    }
}

/// Each task's burst follows that of the task before: the tasks wait for one
/// another, and their work is even.
#[test]
fn waiting_in_a_pipeline_is_no_imbalance() {
    let burst = |wave: u64, task: u32| {
        let duration = 900 + 300 * u64::from(wave % 8 == u64::from(task) - 1);
        (task, wave * 9_000 + (u64::from(task) - 1) * 500, duration, 1, 900.0, 900.0)
    };
    let bursts: Vec<Burst> = (0..16).flat_map(|wave| (1..9).map(move |task| burst(wave, task))).collect();
    assert_eq!(found(&bursts, 16 * 9_000).list, []);
}

/// In each sweep the tasks begin one after the other, and all pause between two blocks: at
/// first only some compute, and at last only others. All do the same amount of work.
#[test]
fn who_has_not_begun_yet_in_a_sweep_is_no_imbalance() {
    for (n, blocks) in [(4, 8), (8, 16), (8, 4), (24, 8)] {
        let block = |sweep: u64, task: u32, block: u64| {
            let step = sweep * (blocks + u64::from(n)) + u64::from(task) - 1 + block;
            (task, step * 1_000, 800 + (step * 7 + u64::from(task) * 13) % 20, 1, 800.0, 800.0)
        };
        let of_task = |sweep: u64, task: u32| (0..blocks).map(move |b| block(sweep, task, b));
        let bursts: Vec<Burst> =
            (0..12).flat_map(|sweep| (1..=n).flat_map(move |task| of_task(sweep, task))).collect();
        let found = found(&bursts, 12 * (blocks + u64::from(n)) * 1_000);
        assert_eq!(found.list, [], "{n} tasks, {blocks} blocks");
        // The same, where the middle one of all is a tenth slower in each block.
        let slow = |b: &Burst| (b.0, b.1, if b.0 == n / 2 { b.2 + 80 } else { b.2 }, b.3, b.4, b.5);
        let bursts: Vec<Burst> = bursts.iter().map(slow).collect();
        let found = self::found(&bursts, 12 * (blocks + u64::from(n)) * 1_000);
        assert_eq!(found.list.iter().map(tasks).collect::<Vec<_>>(), [[n / 2]], "{blocks} blocks: {found:?}");
    }
}

/// In each iteration one task after the other has more bursts of the same length than the
/// others have, and these wait for it.
#[test]
fn more_bursts_that_move_from_task_to_task_are_an_imbalance() {
    for (n, extra, at_random) in
        [(8u32, 1, false), (8, 3, false), (4, 2, false), (16, 2, false), (8, 1, true), (16, 3, true)]
    {
        let (mut seed, mut whose) = (5u64, Vec::new());
        for iteration in 0..40u32 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            whose.push(if at_random { (seed >> 33) as u32 % n } else { iteration % n });
        }
        let mut bursts: Vec<Burst> = Vec::new();
        let most = 4 + extra;
        for iteration in 0..40u32 {
            let begin = u64::from(iteration) * most * 530;
            for task in 1..=n {
                let count = if whose[iteration as usize] + 1 == task { most } else { 4 };
                let burst = |k: u64| {
                    let length = 500 + (k * 7 + u64::from(task * 13 + iteration)) % 9;
                    (task, begin + k * 530, length, 1, 500.0, 500.0)
                };
                bursts.extend((0..count).map(burst));
            }
        }
        let found = found(&bursts, 40 * most * 530);
        let which = format!("{n} tasks, {extra} more, at random {at_random}: {found:?}");
        let [finding] = &found.list[..] else { panic!("{which}") };
        assert!(matches!(finding.kind, FindingKind::Imbalance { steady: false, .. }), "{which}");
        let lost = extra as f64 * 500.0 * (1.0 - 1.0 / f64::from(n)) / (most as f64 * 530.0);
        assert!((finding.share / lost - 1.0).abs() < 0.1, "{lost} {which}");
    }
}

#[test]
fn a_long_burst_of_who_computes_alone_is_counted_like_its_phase() {
    let bursts = |step: u64| {
        let even = (1..5).map(move |task| (task, step * 1_000, 500, 1, 500.0, 500.0));
        even.chain([(2, step * 1_000 + 600, 300, 2, 300.0, 300.0)])
    };
    let mut all: Vec<Burst> = (0..10).flat_map(bursts).collect();
    all.push((2, 10_000, 1_000, 0, 9.0, 9.0));
    let found = found(&all, 11_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, FindingKind::Serial { time: Nanos(4_000), alone: Nanos(4_000) });
    assert!(near(finding.share, 4.0 / 11.0 * 0.75) && finding.noise, "{finding:?}");
}

#[test]
fn time_without_computing_is_counted_up_to_the_last_burst() {
    // 900 of each 1,000 ns; the trace was cut at half of its length.
    let half = found(&[(1, 0, 900, 1, 1.0, 1.0), (1, 1_000, 900, 1, 1.0, 1.0)], 4_000);
    assert!(near(half.idle, 100.0 / 4_000.0), "{half:?}");
}

/// Bursts that a filter leaves out are of no phase, but nothing is known of them. Task 1 has four
/// of them between steps of both.
#[test]
fn what_was_not_grouped_is_no_long_burst() {
    let is_odd = |i: u64| i % 10 == 9;
    let steps: Vec<(u32, u64)> = (0..40).map(|i| (1, i)).chain((0..40).map(|i| (2, i))).collect();
    let bursts: Vec<(u32, u64)> = steps.into_iter().filter(|&(task, i)| task == 1 || !is_odd(i)).collect();
    let table = BurstTable {
        app: vec![1; bursts.len()].into(),
        task: bursts.iter().map(|b| b.0).collect(),
        thread: vec![1; bursts.len()].into(),
        begin: bursts.iter().map(|b| Nanos(100 * b.1)).collect(),
        duration: bursts.iter().map(|b| Nanos(if is_odd(b.1) { 60 } else { 90 })).collect(),
        ..BurstTable::default()
    };
    let phase: Vec<Option<ClusterId>> =
        bursts.iter().map(|b| (!is_odd(b.1)).then(|| ClusterId::from_index(0))).collect();
    let found = |grouped_from: u64| {
        let [shortest, grouped_from] = [10, grouped_from].map(Nanos);
        findings(&FindingsInput {
            table: &table,
            phase: &phase,
            shortest,
            grouped_from,
            asleep: &[],
            part: Nanos::ZERO..Nanos(4_000),
            most_at_once: None,
        })
    };
    let is_long = |f: &Finding| f.noise && matches!(f.kind, FindingKind::OneOff { others: None, .. });
    let told = |grouped_from: u64| found(grouped_from).list.iter().any(|f| is_long(f) || f.is_serial());
    assert!(told(50) && found(50).list[0].is_once, "{:?}", found(50));
    assert!(!found(70).list.iter().any(is_long), "{:?}", found(70));
}

#[test]
fn a_slow_task_is_told_with_its_factor_also_where_its_bursts_are_another_phase() {
    for other in [1, 2] {
        let found = steps(|task, _| if task == 3 { (900, other, 450.0) } else { (450, 1, 450.0) });
        let [finding] = &found.list[..] else { panic!("{found:?}") };
        let FindingKind::SlowThreads { times, everywhere, .. } = finding.kind else { panic!("{finding:?}") };
        assert!(near(times, 2.0) && !everywhere && tasks(finding) == [3], "{finding:?}");
        // The run would be as long as without: half of 900 in each step of 1,000.
        assert!(near(finding.share, 0.45), "{finding:?}");
        assert_eq!(finding.phases.len(), other);
    }
}

#[test]
fn a_task_that_is_slow_in_all_phases_is_told_once() {
    let found = steps(|task, step| {
        let phase = 1 + (step % 2) as usize;
        if task == 2 { (900, phase, 600.0) } else { (600, phase, 600.0) }
    });
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    let FindingKind::SlowThreads { times, everywhere: true, .. } = finding.kind else {
        panic!("{finding:?}")
    };
    assert!(near(times, 1.5) && tasks(finding) == [2] && numbers(finding).len() == 2, "{finding:?}");
}

#[test]
fn one_task_that_computes_while_others_wait_is_serial() {
    let bursts = |step: u64| {
        let even = (1..5).map(move |task| (task, step * 1_000, 500, 1, 500.0, 500.0));
        even.chain([(2, step * 1_000 + 600, 300, 2, 300.0, 300.0)])
    };
    let found = found(&(0..10).flat_map(bursts).collect::<Vec<_>>(), 10_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, FindingKind::Serial { time: Nanos(3_000), alone: Nanos(3_000) });
    // On four tasks it would take a quarter.
    assert!(near(finding.share, 0.225), "{finding:?}");
    assert_eq!((tasks(finding), numbers(finding)), (vec![2], vec![2]));
}

#[test]
fn a_stall_is_named_instead_of_being_noise() {
    let found = steps(|task, step| if (task, step) == (4, 7) { (950, 0, 300.0) } else { (300, 1, 300.0) });
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(
        finding.kind,
        FindingKind::OneOff {
            bursts: 1,
            same: true,
            duration: Nanos(950),
            others: Some(Nanos(300)),
            itself: false,
            alone: false
        }
    );
    assert!(near(finding.share, 0.065) && finding.noise, "{finding:?}");
    assert_eq!((tasks(finding), numbers(finding), finding.begin), (vec![4], vec![1], Nanos(7_000)));
}

#[test]
fn a_long_burst_between_steps_is_named_too() {
    let mut bursts: Vec<Burst> =
        (0..10).flat_map(|step| (1..5).map(move |task| (task, step * 500, 400, 1, 400.0, 400.0))).collect();
    bursts.push((1, 6_000, 2_000, 0, 2_000.0, 2_000.0));
    let found = found(&bursts, 10_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert_eq!(
        finding.kind,
        FindingKind::OneOff {
            bursts: 1,
            same: true,
            duration: Nanos(2_000),
            others: None,
            itself: false,
            alone: true
        }
    );
    // Spread over the four.
    assert!(near(finding.share, 0.2 * 0.75) && finding.begin == Nanos(6_000), "{finding:?}");
}

/// Issue 11: a stall, and directly after it the phase, on the same thread.
#[test]
fn a_stall_without_a_call_after_it_is_one_finding_of_the_right_size() {
    for phase in [0, 1] {
        let mut bursts: Vec<Burst> = (0..20u64)
            .flat_map(|step| (1..5).map(move |task| (task, step * 400, 300, 1, 300.0, 300.0)))
            .filter(|burst| (burst.0, burst.1) != (3, 4_000))
            .map(
                |burst| {
                    if burst.1 > 4_000 { (burst.0, burst.1 + 2_000, 300, 1, 300.0, 300.0) } else { burst }
                },
            )
            .collect();
        bursts.extend([(3, 4_000, 2_000, 0, f64::NAN, f64::NAN), (3, 6_000, 300, phase, 300.0, 300.0)]);
        let found = found(&bursts, 10_000);
        let [finding] = &found.list[..] else { panic!("{phase}: {found:?}") };
        let FindingKind::OneOff { bursts: 1, same: true, duration: Nanos(2_000), .. } = finding.kind else {
            panic!("{finding:?}")
        };
        assert_eq!((tasks(finding), finding.begin), (vec![3], Nanos(4_000)), "{phase}");
        // It is 2,000 longer, and of 300 nobody can tell whose place they have.
        assert!((0.17..0.2001).contains(&finding.share), "{phase}: {finding:?}");
    }
}

/// Issue 11: 8 ranks of EPOCH at one step, whose columns of the alignment
/// were packed to the front.
#[test]
fn phases_and_noise_at_one_step_are_one_step() {
    let mut bursts: Vec<Burst> = Vec::new();
    for task in 1..9u32 {
        bursts.push((task, 0, 1_000, 1, 1e3, 1e3));
        let (duration, phase) = match task {
            3 | 6 => (256, 3),
            7 => (241, 0),
            _ => (217, 2),
        };
        bursts.push((task, 2_000, duration, phase, duration as f64, duration as f64));
        bursts.push((task, 3_000, 500, 1, 500.0, 500.0));
    }
    let found = found(&bursts, 5_000);
    let finding = found.list.first().expect("one");
    let FindingKind::Imbalance { apart, cause: Cause::Work, .. } = finding.kind else {
        panic!("{finding:?}")
    };
    assert!(near(apart, 256.0 / 229.75 - 1.0) && near(finding.share, 26.25 / 5_000.0), "{finding:?}");
    assert_eq!((numbers(finding), finding.noise, finding.begin), (vec![2, 3], true, Nanos(2_000)));
}

/// Tasks that wait for their neighbours only: at 800 nobody computes, and
/// task 1 has not begun what task 2 has done.
#[test]
fn a_moment_without_computing_is_no_barrier_where_tasks_are_steps_apart() {
    let bursts: Vec<Burst> = (0..10u64)
        .flat_map(|step| {
            let at = step * 2_000;
            [
                (1, at, 800, 1, 300.0, 800.0),
                (2, at, 300, 1, 300.0, 300.0),
                (2, at + 350, 400, 2, 400.0, 400.0),
                (1, at + 850, 400, 2, 400.0, 400.0),
            ]
        })
        .collect();
    let found = found(&bursts, 20_000);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    assert!(matches!(finding.kind, FindingKind::SlowThreads { .. }), "{finding:?}");
    assert_eq!((tasks(finding), numbers(finding)), (vec![1], vec![1]));
}

/// A reader's p08: task 3 is × 1.2 slow in both phases, and has × 1.3 work in
/// the second.
#[test]
fn a_slow_task_with_more_work_in_one_phase_is_two_findings_and_no_share_is_counted_twice() {
    let bursts = |step: u64| {
        (1..9).flat_map(move |task| {
            let slow = if task == 3 { 1.2 } else { 1.0 };
            let work = if task == 3 { 1.3 } else { 1.0 };
            let of = |begin: u64, phase: usize, time: f64, slow: f64| {
                (task, step * 1_000 + begin, (time * slow) as u64, phase, time, time * slow)
            };
            [of(0, 1, 200.0, slow), of(300, 2, 300.0 * work, slow)]
        })
    };
    let found = found(&(0..20).flat_map(bursts).collect::<Vec<_>>(), 20_000);
    let [slow, work] = &found.list[..] else { panic!("{found:?}") };
    let FindingKind::SlowThreads { times, everywhere: true, .. } = slow.kind else { panic!("{slow:?}") };
    assert!((times - 1.2).abs() < 0.01 && tasks(slow) == [3], "{slow:?}");
    // A sixth of 240 and of 468 of each 1,000 ns.
    assert!((slow.share / 0.118 - 1.0).abs() < 0.02, "{slow:?}");
    let FindingKind::Imbalance { apart, cause: Cause::Work, .. } = work.kind else { panic!("{work:?}") };
    // As fast as the others, it would take 390 where they take 300: the mean is 311.25.
    assert!((apart / (390.0 / 311.25 - 1.0) - 1.0).abs() < 0.02 && numbers(work) == [2], "{work:?}");
    assert!((work.share / 0.07875 - 1.0).abs() < 0.02, "{work:?}");
    // Together no more than what the task takes longer.
    assert!(slow.share + work.share <= 0.708 - 0.5 + 1e-9, "{found:?}");
}

/// A reader's p06: what is said is that of the sums over the run, and no more,
/// though another of the slow ones is last each time.
#[test]
fn the_slowest_is_as_far_above_the_mean_as_is_said() {
    let change = |task: u32, _: u64| if task <= 2 { 1.0 / 1.5 } else { 1.0 };
    let found = disturbed_steps(12, 1_200, change);
    let [finding] = &found.list[..] else { panic!("{found:?}") };
    let FindingKind::Imbalance { apart, times: Some(times), .. } = finding.kind else {
        panic!("{finding:?}")
    };
    let sum = |task: u32| -> f64 {
        (0..30).map(|step| (disturbed(task, step, 1_200) as f64 * change(task, step)).floor()).sum()
    };
    let sums: Vec<f64> = (1..=12).map(sum).collect();
    let mean = sums.iter().sum::<f64>() / 12.0;
    let most = sums.iter().copied().fold(0.0, f64::max);
    assert!(near(apart, most / mean - 1.0), "{finding:?} {}", most / mean - 1.0);
    assert!(near(finding.share, (most - mean) / 1_200_000.0), "{finding:?}");
    assert!((times * 1.5 - 1.0).abs() < 0.01 && tasks(finding) == [1, 2], "{finding:?}");
}
