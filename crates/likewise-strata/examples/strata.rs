//! Measures whether the promise of strata is kept, on ranks that are threads:
//! `cargo run --release -p likewise-strata --example strata -- SEEDS [FILE]`.
//! FILE gets the recording of the first program and seed.

use likewise_comm::{Communicator, Counted, run_on_threads};
use likewise_recording::{Window, file};
use likewise_strata::{Options, Sampler, StrataError};

type Effort = Vec<(u128, u64)>;
type Program = fn(u64, usize, u64) -> Effort;

const STEPS: u64 = 48;

/// A number in -1..1.
fn noise(seed: u64, rank: usize, step: u64, what: u64) -> f64 {
    let mut x = seed << 48 ^ step << 32 ^ what << 24 ^ rank as u64;
    for _ in 0..3 {
        x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^= x >> 27;
    }
    (x >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// In two regions.
fn in_two(seed: u64, rank: usize, step: u64, ns: f64) -> Effort {
    let part = |what, share: f64| (ns * share * (1.0 + 0.05 * noise(seed, rank, step + 1, what))) as u64;
    vec![(70, part(1, 0.7)), (30, part(2, 0.3))]
}

/// A fifth does three times as much and swings, 3% eight times; ranks of a class
/// differ by up to 10%, steps by up to 5%.
fn classes(seed: u64, rank: usize, step: u64) -> Effort {
    let class = if rank % 32 == 5 { 2 } else { usize::from(rank.is_multiple_of(5)) };
    let swing = [0.0, 0.5, 0.0][class] * (step as f64 * std::f64::consts::PI / 8.0).sin();
    let own = 1.0 + 0.1 * noise(seed, rank, 0, 9);
    in_two(seed, rank, step, 1e6 * own * ([1.0, 3.0, 8.0][class] + swing))
}

/// From the middle on, other ranks are in the classes.
fn changing(seed: u64, rank: usize, step: u64) -> Effort {
    classes(seed, if step < STEPS / 2 { rank } else { rank + 2 }, step)
}

/// Ranks differ by up to 20%, in each step anew.
fn noisy(seed: u64, rank: usize, step: u64) -> Effort {
    in_two(seed, rank, step, 1e6 * (1.0 + 0.2 * noise(seed, rank, step, 3)))
}

/// The more, the greater the rank: from one to three times.
fn gradient(seed: u64, rank: usize, step: u64) -> Effort {
    let own = 1.0 + 0.05 * noise(seed, rank, 0, 9);
    in_two(seed, rank, step, 1e6 * own * (1.0 + 2.0 * rank as f64 / 1024.0))
}

/// Windows, and of each rank the messages and bytes that it sent in an adaption.
fn run(size: usize, seed: u64, program: Program) -> (Vec<Vec<u8>>, Vec<(f64, f64)>) {
    let found = run_on_threads(size, |comm| {
        let comm = Counted::new(comm);
        let mut sampler = Sampler::new(Options { seed, ..Options::default() })?;
        let mut windows = Vec::new();
        let name = |id: u128| format!("region {id}");
        for step in 0..STEPS {
            if sampler.step(&program(seed, comm.rank(), step)) {
                windows.push(sampler.adapt(&comm, name)?.window);
            }
        }
        let (n, traffic) = (windows.len() as f64, comm.traffic());
        let sum =
            |of: &dyn Fn(&likewise_comm::Traffic) -> u64| traffic.iter().map(of).sum::<u64>() as f64 / n;
        let sent = (sum(&|phase| phase.messages), sum(&|phase| phase.bytes));
        Ok::<_, StrataError>((windows.into_iter().flatten().collect(), sent))
    });
    let (mut windows, sent): (Vec<Vec<Vec<u8>>>, Vec<_>) = found.expect("a run").into_iter().unzip();
    (windows.remove(0), sent)
}

/// The estimated and the true mean effort in each step.
fn traces(window: &Window) -> Vec<(f64, f64)> {
    let strata: Vec<u32> = window.strata.iter().flat_map(|(s, n)| (0..*n).map(|_| *s)).collect();
    let all = |s: u32| strata.iter().filter(|own| **own == s).count() as f64;
    let drawn = |s: u32| window.sampled.iter().filter(|r| strata[r.rank as usize] == s).count() as f64;
    let weight: Vec<f64> = (0..window.n_strata() as u32).map(|s| all(s) / drawn(s)).collect();
    let width = window.regions.len() + 1;
    let told = |step: usize| -> f64 {
        let of = |r: &likewise_recording::SampledRank| r.effort[step * width..][..width].iter().sum::<u64>();
        window.sampled.iter().map(|r| weight[strata[r.rank as usize] as usize] * of(r) as f64).sum()
    };
    let n = window.n_ranks() as f64;
    window.whole.iter().enumerate().map(|(step, whole)| (told(step) / n, *whole as f64 / n)).collect()
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(20);
    let mut to = arguments.next();
    let programs: [(&str, Program); 4] = [
        ("three classes", classes),
        ("classes that change", changing),
        ("noise alone", noisy),
        ("a gradient", gradient),
    ];
    println!(
        "| program | ranks | means of runs within 5% | of windows | of steps | greatest error of a window | sampled, mean | most | strata | drawn anew | messages | bytes, median rank | most |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (name, program) in programs {
        for size in [256, 1024] {
            let mut kept = [0_usize; 6];
            let (mut worst, mut share, mut most, mut strata, mut redrawn) = (0.0_f64, 0.0, 0_usize, 0, 0);
            let (mut messages, mut median, mut most_bytes) = (0.0_f64, 0.0_f64, 0.0_f64);
            for seed in 0..seeds {
                let (blocks, sent) = run(size, seed, program);
                if let Some(path) = to.take() {
                    let sections: Vec<Vec<u8>> =
                        blocks.iter().map(|block| file::strata_section(block)).collect();
                    let sizes: Vec<usize> = sections.iter().map(Vec::len).collect();
                    std::fs::write(path, [file::head(), sections.concat(), file::foot(&sizes)].concat())?;
                }
                let mut bytes: Vec<f64> = sent.iter().map(|sent| sent.1).collect();
                bytes.sort_by(f64::total_cmp);
                messages = sent.iter().map(|sent| sent.0).fold(messages, f64::max);
                median = median.max(bytes[size / 2]);
                most_bytes = most_bytes.max(bytes[size - 1]);
                let (mut told, mut truth) = (0.0, 0.0);
                for block in &blocks {
                    let window = Window::decode(block).expect("a window");
                    let traces = traces(&window);
                    let sum = traces.iter().fold((0.0, 0.0), |sum, step| (sum.0 + step.0, sum.1 + step.1));
                    let unit = sum.1 / traces.len() as f64;
                    let error = (sum.0 - sum.1).abs() / sum.1;
                    kept[2] += usize::from(error <= 0.05);
                    kept[3] += 1;
                    kept[4] += traces.iter().filter(|s| (s.0 - s.1).abs() <= 0.05 * s.1.max(unit)).count();
                    kept[5] += traces.len();
                    worst = worst.max(error);
                    share += window.sampled.len() as f64 / size as f64;
                    most = most.max(window.sampled.len());
                    strata += window.n_strata();
                    redrawn += usize::from(window.is_redrawn && window.first_step > 0);
                    (told, truth) = (told + sum.0, truth + sum.1);
                }
                kept[0] += usize::from((told - truth).abs() <= 0.05 * truth);
                kept[1] += 1;
            }
            let windows = kept[3] as f64;
            println!(
                "| {name} | {size} | {} of {} | {} of {} | {:.1}% | {:.1}% | {:.1}% | {:.1}% | {:.1} | {redrawn} of {} | {messages:.0} | {:.0} KB | {:.0} KB |",
                kept[0],
                kept[1],
                kept[2],
                kept[3],
                kept[4] as f64 / kept[5] as f64 * 100.0,
                worst * 100.0,
                share / windows * 100.0,
                most as f64 / size as f64 * 100.0,
                strata as f64 / windows,
                kept[3] - kept[1],
                median / 1e3,
                most_bytes / 1e3
            );
        }
    }
    Ok(())
}
