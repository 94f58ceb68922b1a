use proptest::prelude::*;

use super::*;
use crate::synth::{Run, RunSpec};

/// A table of bursts of (task, begin, duration, phase), and its labels.
pub(super) fn table(bursts: &[(u32, u64, u64, usize)]) -> (BurstTable, Vec<Option<ClusterId>>) {
    let mut bursts = bursts.to_vec();
    bursts.sort_unstable();
    let table = BurstTable {
        code: None,
        app: vec![1; bursts.len()].into(),
        task: bursts.iter().map(|b| b.0).collect(),
        thread: vec![1; bursts.len()].into(),
        begin: bursts.iter().map(|b| Nanos(b.1)).collect(),
        duration: bursts.iter().map(|b| Nanos(b.2)).collect(),
        counters: Vec::new(),
    };
    (table, bursts.iter().map(|b| Some(ClusterId::from_index(b.3))).collect())
}

/// Tasks that run one sequence of phases in step; phase p takes about
/// (p + 1)·1000, and tasks differ by up to `spread`.
fn run(sequence: &[usize], n_tasks: u32, spread: u64) -> (BurstTable, Vec<Option<ClusterId>>) {
    let mut bursts = Vec::new();
    let (mut now, mut noise) = (0, 1u64);
    for &phase in sequence {
        let mut longest = 0;
        for task in 1..=n_tasks {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let duration = (phase as u64 + 1) * 1000 + (noise >> 33) % (spread + 1);
            bursts.push((task, now, duration, phase));
            longest = longest.max(duration);
        }
        now += longest + 50;
    }
    table(&bursts)
}

fn found(sequence: &[usize]) -> Result<Period, NotPeriodic> {
    let (table, labels) = run(sequence, 3, 100);
    find_period(&table, &labels)
}

/// A stranger's run of one task was told as 25 iterations instead of 50: where a burst of
/// the longest phase was noise, the iteration counted a sixth less, and single iterations
/// did not follow one another.
#[test]
fn bursts_of_the_longest_phase_that_are_noise_leave_iterations_as_long() {
    for every in [7, 9, 13] {
        let (table, mut labels) = run(&[2, 1, 0].repeat(50), 1, 60);
        labels.iter_mut().skip(9).step_by(3 * every).for_each(|label| *label = None);
        let period = find_period(&table, &labels).expect("a period");
        assert!((48..=50).contains(&period.n_iterations()), "{every}: {}", period.n_iterations());
    }
}

#[test]
fn prologue_iterations_and_epilogue_come_apart() {
    let loops = [0, 1, 0, 2, 3].repeat(10);
    let sequence = [&[5, 4, 4, 5, 5][..], &loops, &[5, 5]].concat();
    let period = found(&sequence).expect("ten iterations");
    assert_eq!(period.n_iterations(), 10);
    assert!(period.confidence > 0.95, "{period:?}");
    let (table, _) = run(&sequence, 3, 100);
    // No burst is cut, and every iteration has five bursts of each task.
    let (from, to) = period.region();
    let inside = (0..table.len()).filter(|&i| table.begin[i] >= from && table.end(i) <= to).count();
    assert_eq!(inside, 10 * 5 * 3);
    for ends in period.boundaries.windows(2) {
        let n = (0..table.len()).filter(|&i| table.begin[i] >= ends[0] && table.end(i) <= ends[1]).count();
        assert_eq!(n, 15);
    }
}

/// A stranger's runs of 30 and 15 steps were told as 31 and 16: start-up and the first step, and
/// the last step and the end of the run, were as long as a step.
#[test]
fn start_up_and_the_end_of_a_run_are_no_iteration() {
    for n in [8, 20, 40] {
        // Start-up is like the second half of a step, and the end of the run like the first.
        let steps = [4, 2, 5, 3].repeat(n);
        let sequence = [&[5, 0, 0][..], &steps, &[3, 2]].concat();
        let period = found(&sequence).expect("its steps");
        assert_eq!(period.n_iterations(), n, "{period:?}");
        assert!(period.confidence > 0.95, "{period:?}");
        // The last has the end of the run in it, and is a step.
        let period = found(&[&[0][..], &steps, &[0]].concat()).expect("its steps");
        assert_eq!(period.n_iterations(), n, "{period:?}");
    }
}

#[test]
fn nothing_is_claimed_of_sequences_without_period() {
    assert_eq!(find_period(&BurstTable::default(), &[]), Err(NotPeriodic::NoPhase));
    assert_eq!(found(&[0, 1, 2]), Err(NotPeriodic::NothingRepeats));
    // Thue–Morse has no cube, so nothing comes three times in a row; every
    // phase comes once; only twice.
    let thue_morse: Vec<usize> = (0..256u32).map(|i| (i.count_ones() % 2) as usize * 3).collect();
    assert!(found(&thue_morse).is_err(), "{:?}", found(&thue_morse));
    assert!(found(&(0..12).collect::<Vec<_>>()).is_err());
    // Equal bursts come again at even distances, and nothing else comes between.
    let why = found(&[0; 40]).expect_err("no begin shows");
    assert!(why.to_string().contains("come again, after other work, at even distances"), "{why}");
    assert!(found(&[0, 1, 0, 2, 3, 0, 1, 0, 2, 3]).is_err());
}

/// The iterations between these moments of the work clock, and those that `select` takes of
/// several; each is given with how alike it is.
fn selected(sequence: &[usize], found: &[(&[f64], f64)]) -> Vec<f64> {
    let (table, labels) = run(sequence, 1, 0);
    let n_phases = 1 + sequence.iter().max().copied().unwrap_or(0);
    let (clock, bursts) = WorkClock::of(&table, &labels, (n_phases, n_phases), Noise::Counts);
    let (signals, _) = Signals::of(&bursts, clock.end(), CELLS.0);
    let of = |&(boundaries, confidence): &(&[f64], f64)| Iterations {
        anchor: 0,
        boundaries: boundaries.to_vec(),
        confidence,
        odd_ends: [0.0; 2],
    };
    let found = found.iter().map(of).collect();
    select(found, &signals, &clock).expect("a period").iterations.boundaries
}

/// On EPOCH, every second of ten steps does more: single steps hold more of the run, and are
/// less alike.
#[test]
fn steps_that_take_turns_are_half_an_iteration() {
    // Of 3000 and 4000.
    let steps: Vec<f64> = (0..=10).map(|i| f64::from(i / 2 * 7000 + i % 2 * 3000)).collect();
    let pairs: Vec<f64> = (1..=4).map(|i| f64::from(i * 7000)).collect();
    let taken = selected(&[0, 1, 2, 0].repeat(5), &[(&steps, 0.79), (&pairs, 0.999)]);
    assert_eq!(taken, pairs);
}

/// Twice a period is one too. Its parts are longer, and what moves a little within an
/// iteration stays within one of them.
#[test]
fn of_multiples_the_single_period_is_taken() {
    let single: Vec<f64> = (0..=20).map(|i| f64::from(i * 3000)).collect();
    let double: Vec<f64> = (0..=10).map(|i| f64::from(i * 6000)).collect();
    let sequence = [0, 1].repeat(20);
    assert_eq!(selected(&sequence, &[(&double, 0.78), (&single, 0.766)]), single);
    assert_eq!(selected(&sequence, &[(&double, 0.95), (&single, 0.766)]), single);
}

/// Nearly all of the work is one phase on all tasks, the other a short one of the first: a
/// stranger's run of 60 iterations was told as 8, 14 or 29.
#[test]
fn a_phase_that_fills_nearly_all_of_the_work_hides_no_iteration() {
    let (mut bursts, mut now, mut draw) = (Vec::new(), 0, 1u64);
    for _ in 0..60 {
        for task in 1..=16 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bursts.push((task, now, 99_000 + (draw >> 33) % 2000, 0));
        }
        now += 101_100;
        bursts.push((1, now, 3000, 1));
        now += 3100;
    }
    let (table, labels) = table(&bursts);
    let period = find_period(&table, &labels).expect("a period");
    assert!((59..=60).contains(&period.n_iterations()), "{period:?}");
}

/// One task at a time has a burst of none of the phases, in a third of the iterations: these
/// are longer by its work, but for a clock that does not count it.
#[test]
fn noise_between_makes_no_iteration_longer() {
    let (mut bursts, mut now) = (Vec::new(), 0);
    for i in 0..200u32 {
        for phase in [2, 0, 1] {
            for task in 1..=3 {
                bursts.push((task, now, (phase as u64 + 1) * 1000, phase));
            }
            now += 3050;
            if (i * 7 + phase as u32 * 5).is_multiple_of(9) {
                bursts.push((1 + i % 3, now, 3000, 9));
                now += 3050;
            }
        }
    }
    let (table, mut labels) = table(&bursts);
    labels.iter_mut().filter(|l| l.is_some_and(|id| id.index() == 9)).for_each(|l| *l = None);
    let period = find_period(&table, &labels).expect("a period");
    assert!((199..=200).contains(&period.n_iterations()), "{}", period.n_iterations());
    let counted = by_clock(&table, &labels, 3, Noise::Counts);
    assert!(counted.is_ok_and(|other| period.is_better_than(&other) && other.n_iterations() <= 150));
}

/// How many of random sequences are said to have a period.
fn claimed(steps: usize, n_phases: u64) -> usize {
    let claims = |seed: u64| {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 20) % n_phases
        };
        let sequence: Vec<usize> = (0..steps).map(|_| draw() as usize).collect();
        usize::from(found(&sequence).is_ok())
    };
    (1..=60).map(claims).sum()
}

#[test]
fn random_sequences_have_no_period() {
    let counts = [(40, 4), (100, 3), (300, 5), (1000, 8)].map(|(steps, phases)| claimed(steps, phases));
    assert!(counts[0] <= 3 && counts[1] <= 1 && counts[2..] == [0, 0], "{counts:?} of 60");
}

#[test]
fn a_run_with_noise_has_its_iterations() {
    let spec = RunSpec::plausible(8, 60, 8, 5).expect("a spec");
    let run = Run::new(spec).expect("a run");
    let mut bursts: Vec<(u32, u64, u64, usize)> = Vec::new();
    let of_section = |section: &crate::synth::Section| {
        let phase = |b: &crate::synth::Burst| b.cluster.map_or(99, ClusterId::index);
        section.bursts.iter().map(|b| (b.task, b.begin.0, b.duration.0, phase(b))).collect::<Vec<_>>()
    };
    run.for_each_section(of_section, |section| {
        bursts.extend(section);
        Ok::<(), ()>(())
    })
    .expect("nothing fails");
    let (table, mut labels) = table(&bursts);
    labels.iter_mut().filter(|l| l.is_some_and(|id| id.index() == 99)).for_each(|l| *l = None);
    let period = find_period(&table, &labels).expect("a period");
    assert!((59..=60).contains(&period.n_iterations()), "{}", period.n_iterations());
    assert!(period.confidence > 0.9, "{period:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn repeated_sequences_have_the_period_they_are_made_of(
        body in prop::collection::vec(0usize..4, 2..8), times in 6usize..30
    ) {
        // A phase that stands once marks the iteration.
        let body: Vec<usize> = body.into_iter().chain([5]).collect();
        let period = found(&body.repeat(times)).expect("a period");
        // Whole iterations, or a few of the shortest: runs of one phase repeat too.
        prop_assert!(period.coverage > 0.8 && period.confidence > 0.9, "{:?}", period);
        prop_assert!(period.boundaries.is_sorted_by(|a, b| a < b));
    }
}
