//! Times k-distances on a file of raw little-endian `f64`:
//! `kdist FILE DIMS [K [RUNS [THREADS]]]`.

use likewise::cluster::{Points, kdist};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize, default: usize| args.get(i).map_or(default, |x| x.parse().expect("a number"));
    let bytes = std::fs::read(&args[1]).expect("a readable file");
    let data: Vec<f64> =
        bytes.chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().expect("eight bytes"))).collect();
    let (dims, k, runs) = (number(2, 2), number(3, 10), number(4, 5));
    rayon::ThreadPoolBuilder::new().num_threads(number(5, 2)).build_global().expect("a pool");
    let points = Points::new(&data, dims).expect("points");
    let (mut wall, mut cpu, mut sum) = (Vec::new(), Vec::new(), 0.0);
    for _ in 0..runs {
        let (start, used) = (Instant::now(), cpu_seconds());
        let distances = kdist::k_distances(points, k).expect("enough points");
        wall.push(start.elapsed().as_secs_f64());
        cpu.push(cpu_seconds() - used);
        sum = distances.iter().sum::<f64>();
    }
    wall.sort_by(f64::total_cmp);
    cpu.sort_by(f64::total_cmp);
    let (wall, cpu) = (wall[runs / 2], cpu[runs / 2]);
    println!("n={} d={dims} k={k}: wall {wall:.4} s, cpu {cpu:.4} s; sum {sum:.15e}", points.len());
}

/// Processor time of all threads; 0 where the system does not say.
fn cpu_seconds() -> f64 {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return 0.0 };
    let nanos = |path: std::path::PathBuf| -> Option<f64> {
        std::fs::read_to_string(path.join("schedstat")).ok()?.split(' ').next()?.parse().ok()
    };
    tasks.flatten().filter_map(|t| nanos(t.path())).sum::<f64>() * 1e-9
}
