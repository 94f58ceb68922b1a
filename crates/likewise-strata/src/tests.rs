//! Programs whose efforts are known, on ranks that are threads.

mod cases;
mod coverage;

use super::*;
use likewise_comm::{Communicator, run_on_threads};
use likewise_recording::{Choice, Window};

/// A number in -1..1 for a rank, a step and a region.
pub(super) fn noise(seed: u64, rank: usize, step: u64, region: u64) -> f64 {
    let lot = crate::plan::lot(seed, step << 8 | region, rank);
    (lot >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// What ranks compute in a step, by region.
pub(super) type Program<'a> = &'a (dyn Fn(usize, u64) -> Vec<(u128, u64)> + Sync);

/// The windows of a program of so many ranks and steps.
pub(super) fn run(size: usize, steps: u64, options: &Options, program: Program<'_>) -> Vec<Window> {
    let found = run_on_threads(size, |comm| {
        let mut sampler = Sampler::new(options.clone())?;
        let (mut windows, name) = (Vec::new(), |id: u128| format!("region {id}"));
        for step in 0..steps {
            if sampler.step(&program(comm.rank(), step)) {
                windows.extend(sampler.adapt(comm, name)?.window);
            }
        }
        windows.extend(sampler.finish(comm, name)?.window);
        Ok::<_, StrataError>(windows)
    });
    let found = found.unwrap();
    assert!(found[1..].iter().all(Vec::is_empty), "rank 0 alone writes");
    let windows: Vec<Window> = found[0].iter().map(|bytes| Window::decode(bytes).unwrap()).collect();
    for window in &windows {
        check(window, size, program);
    }
    windows
}

/// What is written is what ranks computed, and the sum is that of all.
fn check(window: &Window, size: usize, program: Program<'_>) {
    let width = window.regions.len() + 1;
    assert_eq!(window.n_ranks(), size as u64);
    for sampled in &window.sampled {
        for (step, row) in (window.first_step..).zip(sampled.effort.chunks_exact(width)) {
            let told = program(sampled.rank as usize, step);
            for (region, ns) in window.regions.iter().zip(row) {
                let own = told.iter().filter(|(id, _)| *id == region.id).map(|(_, ns)| ns);
                assert_eq!(own.sum::<u64>(), *ns);
            }
            assert_eq!(row.iter().sum::<u64>(), told.iter().map(|(_, ns)| ns).sum::<u64>());
        }
    }
    for (step, whole) in (window.first_step..).zip(&window.whole) {
        let of_rank = |rank| program(rank, step).iter().map(|(_, ns)| ns).sum::<u64>();
        assert_eq!((0..size).map(of_rank).sum::<u64>(), *whole);
    }
}

/// The estimated mean effort of a rank, step by step, in ns.
pub(super) fn mean_trace(window: &Window) -> Vec<f64> {
    let of_rank: Vec<u32> = window.strata.iter().flat_map(|(s, n)| (0..*n).map(|_| *s)).collect();
    let width = window.regions.len() + 1;
    let mut trace = vec![0.0; window.n_steps as usize];
    for stratum in 0..window.n_strata() as u32 {
        let all = of_rank.iter().filter(|own| **own == stratum).count() as f64;
        let sampled: Vec<_> = window.sampled.iter().filter(|s| of_rank[s.rank as usize] == stratum).collect();
        assert!(!sampled.is_empty(), "a stratum without a sample");
        let weight = all / window.n_ranks() as f64 / sampled.len() as f64;
        for sampled in &sampled {
            for (mean, row) in trace.iter_mut().zip(sampled.effort.chunks_exact(width)) {
                *mean += weight * row.iter().sum::<u64>() as f64;
            }
        }
    }
    trace
}
