//! Times Pareto ranks on a file of raw little-endian `f64`, one objective after
//! another, the less the better: `pareto FILE OBJECTIVES RUNS [pairs|RANKS.u32]`.
//!
//! Prints a line of JSON with medians. `pairs`: every two objectives are
//! ranked. RANKS gets Goldberg's ranks.

use std::time::Instant;

use likewise::counters::pareto::{Goal, Objective, fonseca_fleming, goldberg};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, h, runs, rest @ ..] = args.as_slice() else {
        return Err("FILE OBJECTIVES RUNS [pairs|RANKS.u32]".into());
    };
    let (h, runs): (usize, usize) = (h.parse()?, runs.parse()?);
    let bytes = std::fs::read(file)?;
    let values: Vec<f64> = bytes.as_chunks().0.iter().map(|&value| f64::from_le_bytes(value)).collect();
    let n = values.len() / h;
    let all: Vec<Objective<'_>> =
        values.chunks_exact(n).map(|values| Objective { values, goal: Goal::Min }).collect();
    let is_pairs = rest.first().is_some_and(|rest| rest == "pairs");
    let pairs = (0..h).flat_map(|a| (a + 1..h).map(move |b| (a, b)));
    let sets: Vec<Vec<Objective<'_>>> =
        if is_pairs { pairs.map(|(a, b)| vec![all[a], all[b]]).collect() } else { vec![all.clone()] };
    let mut ranks = Vec::new();
    let goldberg_s = median(runs, || {
        for set in &sets {
            ranks = goldberg(set).expect("objectives");
        }
    });
    let fonseca_s = median(runs, || {
        for set in &sets {
            fonseca_fleming(set).expect("objectives");
        }
    });
    let sort_s = median(runs, || {
        let key = |at: usize| (values[at].to_bits(), values[n * (1 % h) + at].to_bits(), at as u32);
        let mut keys: Vec<(u64, u64, u32)> = (0..n).map(key).collect();
        keys.sort_unstable();
        assert!(keys.is_sorted());
    });
    if let [file] = rest
        && !is_pairs
    {
        let ranks = ranks.iter().map(|rank| rank.unwrap_or(u32::MAX));
        std::fs::write(file, ranks.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())?;
    }
    println!(
        "{{\"goldberg_s\": {goldberg_s:.6}, \"fonseca_fleming_s\": {fonseca_s:.6}, \"sort_s\": {sort_s:.6}}}"
    );
    Ok(())
}

fn median(runs: usize, mut work: impl FnMut()) -> f64 {
    let mut time = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    let mut times: Vec<f64> = (0..runs).map(|_| time()).collect();
    times.sort_by(f64::total_cmp);
    times[runs / 2]
}
