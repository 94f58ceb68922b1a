//! How long alignment takes: `cargo run --release -p likewise --example align -- TASKS SYMBOLS KINDS VARIANTS`.
//!
//! A random sequence of SYMBOLS out of KINDS, with 2 % random insertions. Each
//! task has one of VARIANTS such sequences.

use likewise::bursts::{align, align_by_duration};
use likewise::table::Nanos;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Instant;

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().expect("a number")).collect();
    let &[tasks, symbols, kinds, variants] = &arguments[..] else {
        panic!("TASKS SYMBOLS KINDS VARIANTS");
    };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut symbol = |_| below(&mut rng, kinds);
    let base: Vec<u32> = (0..symbols).map(&mut symbol).collect();
    let variant = |v: usize| {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(v as u64 + 2);
        let mut sequence = Vec::new();
        for &symbol in &base {
            if below(&mut rng, 50) == 0 {
                sequence.push(below(&mut rng, kinds));
            }
            sequence.push(symbol);
        }
        sequence
    };
    let variants: Vec<Vec<u32>> = (0..variants).map(variant).collect();
    let tasks: Vec<&Vec<u32>> = (0..tasks).map(|task| &variants[task % variants.len()]).collect();
    let start = Instant::now();
    let plain = align(&tasks);
    println!("align              {:.2} s, {} columns", start.elapsed().as_secs_f64(), plain.n_columns);
    let start = Instant::now();
    let timed = align_by_duration(&tasks, &vec![Nanos(1); kinds]);
    println!("align_by_duration  {:.2} s, {} columns", start.elapsed().as_secs_f64(), timed.n_columns);
}

fn below(rng: &mut impl Rng, n: usize) -> u32 {
    (rng.next_u64() % n as u64) as u32
}
