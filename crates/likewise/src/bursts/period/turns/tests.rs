//! Made-up runs whose turns are known.

use super::super::{NotPeriodic, Period, find_period_in_order};
use super::{Turns, Work};
use crate::bursts::cluster_by_place;
use crate::table::{BurstTable, Code, Nanos, PathId, PlaceId, Region, Rows};

/// A call, and how long its thread computes before it.
type Step = (usize, u64);

/// What `find_period_in_order` says of threads that make these calls, each in a time of its own.
fn found(threads: &[Vec<Step>]) -> Result<Period, NotPeriodic> {
    let step = |&(call, duration): &Step| By { call, caller: None, duration };
    let threads: Vec<Vec<By>> = threads.iter().map(|steps| steps.iter().map(step).collect()).collect();
    found_by(&threads, false)
}

/// A call with who calls the function that makes it.
#[derive(Clone, Copy, Debug)]
struct By {
    call: usize,
    caller: Option<u32>,
    duration: u64,
}

/// The same of calls of which the callers may be known.
fn found_by(threads: &[Vec<By>], are_drawn: bool) -> Result<Period, NotPeriodic> {
    let mut table = BurstTable::default();
    let mut regions = Vec::new();
    let mut code = Code { places: (0..64).map(|i| format!("f{i}")).collect(), ..Code::default() };
    let mut chance = Chance(11);
    for (task, steps) in (1..).zip(threads) {
        let (mut now, mut before) = (0, None);
        for &By { call, caller, duration } in steps {
            let duration = duration + chance.below(duration / 20 + 1);
            table.app.push(1);
            table.task.push(task);
            table.thread.push(1);
            table.begin.push(Nanos(now));
            table.duration.push(Nanos(duration));
            let after = PlaceId::from_index(call);
            let path = caller.map(|caller| PathId(64 * caller + call as u32));
            regions.push((Region { before, after, ..Region::default() }, path));
            before = after;
            now += duration + 50;
        }
    }
    code.regions = regions.into_iter().collect();
    table.code = Some(code);
    let by_place = cluster_by_place(&table, &Rows::first(table.len()));
    let labels = by_place.ordered_by(|i| table.duration[i].0).labels;
    find_period_in_order(&table, &labels, are_drawn)
}

fn n_found(steps: Vec<Step>) -> Option<usize> {
    found(&[steps.clone(), steps]).ok().map(|period| period.n_iterations())
}

/// Numbers that look like chance (a linear congruential generator).
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// What a program does before its loop.
fn start() -> Vec<Step> {
    vec![(60, 9_000), (61, 500), (62, 20), (62, 20), (63, 4_000)]
}

fn end() -> Vec<Step> {
    vec![(58, 700), (59, 2_000)]
}

fn between(turns: impl IntoIterator<Item = Vec<Step>>) -> Vec<Step> {
    [start(), turns.into_iter().flatten().collect(), end()].concat()
}

/// Next to the first and the last turn stand other calls: 59 of 60 steps of BT and 49 of 50 of LU
/// were told.
#[test]
fn the_first_and_the_last_turn_are_told() {
    for n in [5, 10, 60] {
        // All computes before the first call of a turn, or behind the last.
        assert_eq!(n_found(between((0..n).map(|_| vec![(1, 1_000), (2, 30), (3, 10)]))), Some(n));
        assert_eq!(n_found(between((0..n).map(|_| vec![(1, 300), (2, 800), (2, 20), (3, 500)]))), Some(n));
        // One call is made in each turn, and others before the loop too (FT).
        let turns = (0..n).map(|_| vec![(1, 1_000), (2, 200)]);
        let with_more = [vec![(1, 900), (4, 40), (1, 1_000)], turns.flatten().collect()].concat();
        let told = n_found(between([with_more]));
        assert!(told.is_some_and(|told| (n..=n + 1).contains(&told)), "{n}: {told:?}");
    }
}

/// A turn that is made before the loop, to warm up, is not counted with what is between.
#[test]
fn a_turn_before_the_loop_is_not_one_of_it() {
    let turn = || vec![(1, 800), (2, 300), (3, 400)];
    let check = || vec![(1, 800), (5, 6_000), (6, 100)];
    let turns = [turn(), check()].into_iter().chain((0..50).map(|_| turn()));
    assert_eq!(n_found(between(turns)), Some(50));
}

/// CP2K was told as 31 iterations, of two steps each, across the end of a cycle.
#[test]
fn a_loop_within_may_do_more_turns_or_fewer() {
    let mut chance = Chance(5);
    let outer = (0..20).map(|_| {
        let inner = (0..5 + chance.below(3)).flat_map(|_| [(1, 900), (2, 100)]);
        [vec![(3, 2_400)], inner.collect(), vec![(4, 1_300)]].concat()
    });
    assert_eq!(n_found(between(outer)), Some(20));
}

/// LIGGGHTS was told as 30 iterations: every so many steps it makes lists of neighbours anew.
#[test]
fn now_and_then_a_turn_does_more() {
    let mut chance = Chance(3);
    let turns: Vec<Vec<Step>> = (0..600)
        .map(|_| match chance.below(40) {
            0 => vec![(2, 200), (3, 30), (4, 30), (1, 1_000)],
            _ => vec![(1, 1_000)],
        })
        .collect();
    let told = n_found(between(turns.clone()));
    assert!(told.is_some_and(|n| (597..=600).contains(&n)), "{told:?}");
    // Two of four ranks have nothing to send.
    let sends = |turns: Vec<Vec<Step>>| turns.into_iter().map(|turn| [turn, vec![(7, 20), (8, 20)]].concat());
    let (idle, busy) = (between(turns.clone()), between(sends(turns)));
    let told = found(&[busy.clone(), idle.clone(), busy, idle]).map(|period| period.n_iterations());
    assert!(told.as_ref().is_ok_and(|n| (597..=600).contains(n)), "{told:?}");
}

/// Where a call is made twice in a turn, and no other tells turns apart, nobody can tell.
#[test]
fn half_of_a_turn_is_no_turn() {
    for calls in [vec![1], vec![1, 2, 3]] {
        let part = |first: u64| calls.iter().map(move |&call| (call, if call == 1 { first } else { 10 }));
        for n_short in [1, 2, 4, 9] {
            let turn = || part(3_000).chain((0..n_short).flat_map(|_| part(10))).collect();
            assert_eq!(n_found(between((0..60).map(|_| turn()))), None, "{n_short} short");
            // A call that is made once in a turn tells.
            let told = n_found(between((0..60).map(|_| [turn(), vec![(9, 30)]].concat())));
            // Of the first and the last turn, each a part is whole: one may be missing.
            assert!(told.is_some_and(|n| (59..=60).contains(&n)), "{n_short} short: {told:?}");
        }
    }
}

/// Who polls was told as 11 to 24 of 60 iterations.
#[test]
fn polling_hides_no_turn() {
    let mut chance = Chance(8);
    let turns = (0..60).map(|_| {
        let polls = (0..1 + chance.below(200)).map(|_| (2, 15));
        [vec![(1, 5_000)], polls.collect(), vec![(3, 400)]].concat()
    });
    assert_eq!(n_found(between(turns)), Some(60));
}

/// Of MG, exchanges at the borders of grids of all levels would be 74 iterations of 4.
#[test]
fn parts_that_differ_in_length_are_no_turns() {
    let exchange = |work: u64| vec![(1, work), (2, 10), (1, 10), (2, 10), (3, 10)];
    let cycle = || [8, 4, 2, 1, 2, 4, 8].into_iter().flat_map(move |level| exchange(60 * level * level));
    let told = n_found(between((0..12).map(|_| cycle().chain([(5, 40)]).collect())));
    assert_eq!(told, Some(12));
    let told = n_found(between((0..12).map(|_| cycle().collect())));
    assert!(told.is_none_or(|n| n <= 12), "{told:?}");
}

#[test]
fn calls_in_no_order_have_no_turns() {
    for seed in 0..40 {
        let mut chance = Chance(seed);
        for (n_calls, n) in [(2, 300), (3, 200), (8, 300), (8, 3_000), (20, 1_000)] {
            let steps = (0..n).map(|_| chance.below(n_calls)).map(|call| (call as usize, 200 + 300 * call));
            let told = n_found(steps.collect());
            assert_eq!(told, None, "{n_calls} calls, seed {seed}");
        }
    }
    let thue_morse = (0..512u32).map(|i| ((i.count_ones() % 2) as usize, 300));
    assert_eq!(n_found(thue_morse.collect()), None);
}

/// A call that is made by this caller.
fn by(caller: u32, call: usize, duration: u64) -> By {
    By { call, caller: Some(caller), duration }
}

fn n_found_by(steps: &[By]) -> Option<usize> {
    found_by(&[steps.to_vec(), steps.to_vec()], false).ok().map(|period| period.n_iterations())
}

/// The same, where nobody knows who calls.
fn n_found_without_callers(steps: &[By]) -> Option<usize> {
    n_found(steps.iter().map(|by| (by.call, by.duration)).collect())
}

/// Of HPCG, cycles of three loops were told as one, and of TeaLeaf all exchanges at borders.
#[test]
fn a_loop_is_that_of_one_caller() {
    let turn = |caller| [by(caller, 1, 900), by(caller, 2, 200), by(caller, 3, 20)];
    let steps: Vec<By> = [(1, 20), (2, 150), (3, 40)]
        .into_iter()
        .flat_map(|(caller, n)| (0..n).flat_map(move |_| turn(caller)))
        .collect();
    assert_eq!(n_found_without_callers(&steps), Some(210), "three loops look like one");
    assert_eq!(n_found_by(&steps), Some(150));
}

/// A function is called in each turn, and elsewhere too.
#[test]
fn who_calls_a_helper_elsewhere_makes_no_turn() {
    let help = |caller| [by(caller, 1, 700), by(caller, 2, 10)];
    let mut chance = Chance(2);
    let outer: Vec<By> = (0..12)
        .flat_map(|_| {
            let inner = (0..9 + chance.below(3)).flat_map(|_| help(1));
            help(2).into_iter().chain(inner).collect::<Vec<_>>()
        })
        .collect();
    let inner = outer.iter().filter(|by| by.call == 1 && by.caller == Some(1)).count();
    assert_eq!(n_found_without_callers(&outer), Some(inner + 12), "all look like one loop");
    let told = n_found_by(&outer).expect("a loop");
    assert!(told == inner || told == 12, "{told} of {inner}");
}

/// The last turn of LU, and the first of SNAP, were lost: before the loop stands another call than
/// between turns, and the call that ends turns is made before the loop too, but not by it.
#[test]
fn the_first_turn_may_begin_otherwise() {
    let turn = |_| [vec![by(1, 1, 300); 10], vec![by(1, 2, 300); 10], vec![by(1, 3, 400)]].concat();
    for n in [5, 50] {
        let before = vec![by(0, 60, 9_000), by(2, 3, 400), by(0, 61, 30)];
        let steps = [before, (0..n).flat_map(turn).collect(), vec![by(0, 62, 800)]].concat();
        assert_eq!(n_found_by(&steps), Some(n));
    }
}

/// Of 300 steps of miniMD, those were told that make no new lists of neighbours.
#[test]
fn what_is_not_done_in_each_turn_begins_none() {
    let step = |i: u64| {
        let own = if i % 10 == 9 { vec![by(2, 4, 1_300)] } else { vec![by(1, 3, 50)] };
        [own, vec![by(1, 1, 800), by(1, 2, 150)]].concat()
    };
    let steps: Vec<By> = (0..300).flat_map(step).collect();
    let told = n_found_by(&steps);
    assert!(told.is_none_or(|n| n >= 299 || n <= 30), "{told:?}");
    // Even where nothing else does.
    let steps: Vec<By> = (0..300)
        .flat_map(|i| {
            let own = if i % 30 == 29 { None } else { Some(by(1, 3, 300)) };
            own.into_iter().chain([by(1, 1, 300), by(1, 1, 300)]).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(n_found_by(&steps), None, "two calls from one place are no turn");
}

/// miniFE was refused: of drawn durations many differ from the next ones.
#[test]
fn drawn_durations_refuse_no_loop_of_one_caller() {
    let mut chance = Chance(4);
    let turn = |caller, chance: &mut Chance| {
        let long = if chance.below(4) == 0 { 9_000 } else { 900 };
        [By { call: 1, caller, duration: long }, By { call: 2, caller, duration: 10 }]
    };
    let mut run = |caller| (0..80).flat_map(|_| turn(caller, &mut chance)).collect::<Vec<By>>();
    let known = run(Some(1));
    let n = |steps: &[By], are_drawn| found_by(&[steps.to_vec()], are_drawn).ok().map(|p| p.n_iterations());
    assert_eq!((n(&known, true), n(&known, false)), (Some(80), None));
    // Where nobody knows who calls, half of a turn may be told for one.
    assert_eq!(n(&run(None), true), None);
}

/// The call that ends turns is made by another caller too, in each of them.
#[test]
fn the_first_turn_is_whole_though_its_last_call_is_made_twice() {
    let before = vec![by(0, 60, 9_000), by(0, 61, 30)];
    // The helper is called from elsewhere, too, so that only its last call is a class of its own.
    let elsewhere = vec![by(1, 1, 300), by(5, 2, 10), by(1, 1, 300)];
    let turn = [by(1, 1, 300), by(1, 2, 500), by(2, 1, 300)];
    let steps = [before, elsewhere, (0..40).flat_map(|_| turn).collect()].concat();
    let found = found_by(&[steps.clone(), steps], false).expect("a period");
    assert_eq!(found.n_iterations(), 40);
    let lengths: Vec<u64> = found.boundaries.windows(2).map(|ends| ends[1].0 - ends[0].0).collect();
    assert!(lengths.iter().all(|&length| 10 * length > 9 * lengths[1]), "{lengths:?}");
}

/// Of drawn durations a loop is believed if one of the calls made once in a turn has known callers.
#[test]
fn one_call_with_known_callers_is_enough() {
    let turn = |first, second| {
        [By { call: 1, caller: first, duration: 900 }, By { call: 2, caller: second, duration: 700 }]
    };
    let n = |first, second| {
        let steps: Vec<By> = (0..80).flat_map(|_| turn(first, second)).collect();
        found_by(&[steps], true).ok().map(|period| period.n_iterations())
    };
    assert_eq!((n(Some(1), None), n(None, Some(1)), n(None, None)), (Some(80), Some(80), None));
}

/// Polls count once, and the last turn was cut behind the first of them.
#[test]
fn a_last_turn_may_end_with_polls() {
    let calls = [1, 2, 3, 3, 3, 3, 4];
    let typical = [900.0, 800.0, 1.0, 1.0, 1.0, 1.0, 700.0];
    let turns = Turns {
        calls: &calls,
        paths: &calls,
        first_known: u32::MAX,
        places: &calls,
        typical: &typical,
        durations: Some(&typical),
    };
    let work = Work::of(&turns);
    assert_eq!(turns.end_of_last(0, vec![(2, 1), (3, 1)], &work), 6);
    // What no turn holds ends it.
    assert_eq!(turns.end_of_last(0, vec![(2, 1)], &work), 2);
}
