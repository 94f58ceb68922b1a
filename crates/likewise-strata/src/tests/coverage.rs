//! Whether the promise is kept.

use super::*;

/// Threads; `examples/strata.rs` has 1,024 of them.
const RANKS: usize = 256;

/// How the estimate of a window differs from what all ranks did: over all steps,
/// and in the step where it does most; as shares of the mean.
fn off(window: &Window) -> (f64, f64) {
    let trace = mean_trace(window);
    let truth: Vec<f64> = window.whole.iter().map(|whole| *whole as f64 / window.n_ranks() as f64).collect();
    let (told, all) = (trace.iter().sum::<f64>(), truth.iter().sum::<f64>());
    let unit = all / truth.len() as f64;
    let step = trace.iter().zip(&truth).map(|(told, all)| (told - all).abs() / all.max(unit));
    ((told - all).abs() / all, step.fold(0.0, f64::max))
}

/// What is said of several runs.
#[derive(Debug, Default)]
struct Kept {
    runs: usize,
    /// Runs in which the mean effort in all windows was within the promise.
    whole: usize,
    windows: usize,
    /// Of these, those whose mean was, and steps whose mean was.
    of_windows: usize,
    steps: usize,
    of_steps: usize,
    /// The greatest error of a window.
    worst: f64,
    /// The greatest share of the ranks that were sampled, and the mean one.
    most: f64,
    mean: f64,
}

fn measure(
    size: usize,
    steps: u64,
    seeds: std::ops::Range<u64>,
    program: &(dyn Fn(u64, usize, u64) -> Vec<(u128, u64)> + Sync),
) -> Kept {
    let mut kept = Kept::default();
    for seed in seeds {
        let options = Options { seed, ..Options::default() };
        let windows = run(size, steps, &options, &|rank, step| program(seed, rank, step));
        let (mut told, mut all) = (0.0, 0.0);
        for window in &windows {
            let truth: Vec<f64> = window.whole.iter().map(|whole| *whole as f64 / size as f64).collect();
            let (error, _) = off(window);
            let unit = truth.iter().sum::<f64>() / truth.len() as f64;
            let trace = mean_trace(window);
            let is_kept = |(told, all): (&f64, &f64)| (told - all).abs() <= 0.05 * all.max(unit);
            kept.of_steps += trace.iter().zip(&truth).filter(|pair| is_kept(*pair)).count();
            kept.steps += truth.len();
            kept.windows += 1;
            kept.of_windows += usize::from(error <= 0.05);
            kept.worst = kept.worst.max(error);
            let share = window.sampled.len() as f64 / size as f64;
            kept.most = kept.most.max(share);
            kept.mean += share;
            assert!(window.expected_error <= 0.05 * (1.0 + 1e-9), "{}", window.expected_error);
            told += trace.iter().sum::<f64>();
            all += truth.iter().sum::<f64>();
        }
        kept.runs += 1;
        kept.whole += usize::from((told - all).abs() <= 0.05 * all);
    }
    kept.mean /= kept.windows as f64;
    kept
}

/// Three classes: most ranks, a fifth at three times the work that also swings,
/// and 3 % at eight times, in two regions; ranks of a class differ by up to 10 %,
/// steps by up to 5 %.
pub(super) fn three_classes(seed: u64, rank: usize, step: u64) -> Vec<(u128, u64)> {
    let class = if rank % 32 == 5 { 2 } else { usize::from(rank.is_multiple_of(5)) };
    let swing = [0.0, 0.5, 0.0][class] * (step as f64 * std::f64::consts::PI / 8.0).sin();
    let level = [1.0, 3.0, 8.0][class] + swing;
    let own = 1.0 + 0.1 * noise(seed, rank, 0, 9);
    let ns = |region: u64, share: f64| {
        1e6 * share * level * own * (1.0 + 0.05 * noise(seed, rank, step + 1, region))
    };
    vec![(70, ns(1, 0.7) as u64), (30, ns(2, 0.3) as u64)]
}

#[test]
fn three_classes_are_told_from_few_ranks() {
    let kept = measure(RANKS, 32, 0..20, &three_classes);
    println!("three classes: {kept:?}");
    assert!(kept.whole >= 19 && kept.of_windows * 20 >= kept.windows * 19);
    assert!(kept.of_steps * 20 >= kept.steps * 19);
    assert!(kept.most < 0.1);
}

#[test]
fn classes_that_change_half_way_are_followed() {
    // Others are slow from step 24 on, in the middle of the second window.
    let program = |seed: u64, rank: usize, step: u64| {
        three_classes(seed, if step < 24 { rank } else { (rank + 2) % RANKS }, step)
    };
    let kept = measure(RANKS, 48, 0..3, &program);
    println!("classes that change: {kept:?}");
    assert!(kept.whole == 3 && kept.of_windows * 20 >= kept.windows * 19);
    let windows = run(RANKS, 64, &Options::default(), &|rank, step| program(0, rank, step));
    let redrawn: Vec<bool> = windows.iter().map(|window| window.is_redrawn).collect();
    println!("redrawn: {redrawn:?}");
    // What was found in the second window, of which half is otherwise, does not
    // fit the third one, or fits it by more strata.
    assert!(redrawn[0] && redrawn[1] && !redrawn[3]);
    assert_ne!(windows[0].strata, windows[3].strata);
    assert!(windows.iter().all(|window| window.choice == Choice::Stratified));
}

#[test]
fn without_classes_strata_do_not_pay() {
    let program = |seed: u64, rank: usize, step: u64| {
        vec![(1, (1e6 * (1.0 + 0.2 * noise(seed, rank, step, 1))) as u64)]
    };
    let kept = measure(RANKS, 32, 0..3, &program);
    println!("no classes: {kept:?}");
    assert_eq!(kept.whole, 3);
    let windows = run(RANKS, 16, &Options::default(), &|rank, step| program(0, rank, step));
    assert!(windows[0].choice != Choice::Stratified && windows[0].n_strata() == 1);
}
