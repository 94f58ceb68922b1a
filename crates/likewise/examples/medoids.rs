//! Times k-medoids on a matrix of dissimilarities, NumPy's `.npy` of `<f8`:
//! `medoids FILE K START [RUNS [THREADS]]`, START one of `build`, `pam` and a
//! list of medoids (`3,14,15`).
//!
//! Prints one JSON line: seconds of each run, loss, medoids, swaps.

use std::time::Instant;

use likewise::cluster::Dissimilarities;
use likewise::cluster::medoids::{Start, fasterpam, pam};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize, default: usize| args.get(i).map_or(default, |x| x.parse().expect("a number"));
    let (k, runs) = (number(2, 12), number(4, 5));
    rayon::ThreadPoolBuilder::new().num_threads(number(5, 2)).build_global().expect("a pool");
    let matrix = read(&args[1]);
    let start = args.get(3).map_or("build", String::as_str);
    let given: Vec<usize> = start.split(',').filter_map(|at| at.parse().ok()).collect();
    let solve = || match start {
        "pam" => pam(&matrix, k),
        "build" => fasterpam(&matrix, k, Start::Build),
        _ => fasterpam(&matrix, k, Start::Medoids(&given)),
    };
    let mut seconds = Vec::new();
    let mut found = None;
    for _ in 0..runs {
        let begin = Instant::now();
        found = Some(solve().expect("medoids"));
        seconds.push(begin.elapsed().as_secs_f64());
    }
    let found = found.expect("a run");
    let (loss, medoids, n_swaps) = (found.loss, found.medoids, found.n_swaps);
    println!(r#"{{"seconds": {seconds:?}, "loss": {loss:?}, "medoids": {medoids:?}, "swaps": {n_swaps}}}"#);
}

/// A square matrix, row by row, of little-endian `f64`.
fn read(path: &str) -> Dissimilarities {
    let bytes = std::fs::read(path).expect("a readable file");
    assert!(bytes.starts_with(b"\x93NUMPY\x01"), "NumPy's format, version 1");
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let text = String::from_utf8_lossy(&bytes[10..header]);
    assert!(text.contains("'<f8'") && text.contains("'fortran_order': False"), "{text} is not <f8 by rows");
    let numbers = bytes[header..].chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().expect("eight")));
    let data: Vec<f64> = numbers.collect();
    let n = data.len().isqrt();
    Dissimilarities::from_matrix(data, n).expect("dissimilarities")
}
