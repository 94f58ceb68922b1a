//! Times DBSCAN on a file of raw little-endian `f64`:
//! `dbscan FILE DIMS EPS MIN_POINTS [RUNS [THREADS]]`.

use likewise::cluster::{DbscanParams, Points, dbscan};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize, default: usize| args.get(i).map_or(default, |x| x.parse().expect("a number"));
    let bytes = std::fs::read(&args[1]).expect("a readable file");
    let data: Vec<f64> =
        bytes.chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().expect("eight bytes"))).collect();
    rayon::ThreadPoolBuilder::new().num_threads(number(6, 2)).build_global().expect("a pool");
    let points = Points::new(&data, number(2, 2)).expect("points");
    let eps = args[3].parse().expect("a radius");
    let params = DbscanParams::new(eps, number(4, 10)).expect("valid parameters");
    let mut seconds = Vec::new();
    let mut n_clusters = 0;
    for _ in 0..number(5, 5) {
        let start = Instant::now();
        n_clusters = dbscan(points, &params).clustering.n_clusters;
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    println!(
        "n={} eps={eps}: median {:.4} s, {n_clusters} clusters",
        points.len(),
        seconds[seconds.len() / 2]
    );
}
