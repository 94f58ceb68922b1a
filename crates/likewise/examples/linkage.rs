//! Times hierarchical clustering of profiles:
//! `linkage TABLE WAY [METRIC [RUNS [THREADS]]]`.
//!
//! TABLE is a NumPy file (`.npy` of `<f8`, NaN is missing) or what to make up:
//! `ROWSxCOLUMNS`, `ROWSxCOLUMNS-PERCENT` with so many percent missing. Made-up
//! rows are of 40 kinds, a tenth of them of none, and all values 0 to 1.
//!
//! WAY is `matrix` (dissimilarities and complete linkage), `free` (complete
//! linkage without the matrix) or `partitions` (matrix, linkage, matrix again,
//! and the quality of every partition); METRIC is `manhattan`, `euclidean` or
//! `correlation`. Prints one JSON line: seconds of each run and stage, the
//! kernel's peak memory, and heights to compare.

use std::time::Instant;

use likewise::cluster::hierarchical::partitions;
use likewise::cluster::hierarchical::{
    Dendrogram, Dissimilarity, Linkage, Profiles, complete_linkage, dissimilarities, linkage,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Seconds by stage: `(name, one number a run)`.
type Stages = Vec<(&'static str, Vec<f64>)>;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = |i: usize, default: &'static str| args.get(i).map_or(default, String::as_str);
    let number = |i: usize, default: usize| args.get(i).map_or(default, |x| x.parse().expect("a number"));
    rayon::ThreadPoolBuilder::new().num_threads(number(5, 2)).build_global().expect("a pool");
    let (data, dims) = match text(1, "14268x132-5") {
        path if path.ends_with(".npy") => read(path),
        shape => make(shape),
    };
    let how = match text(3, "manhattan") {
        "manhattan" => Dissimilarity::Manhattan,
        "euclidean" => Dissimilarity::Euclidean,
        "correlation" => Dissimilarity::Correlation,
        other => panic!("{other} is no metric"),
    };
    let profiles = Profiles::new(&data, dims).expect("profiles");
    drop(data);
    let before = peak_mb();
    let mut stages = Stages::new();
    let mut last = None;
    for _ in 0..number(4, 3) {
        last = Some(run(&profiles, how, text(2, "matrix"), &mut stages));
    }
    let heights: Vec<f64> = last.expect("a run").merges().iter().map(|merge| merge.height).collect();
    let stages: Vec<String> =
        stages.iter().map(|(name, seconds)| format!(r#""{name}": {seconds:?}"#)).collect();
    println!(
        r#"{{"n": {}, "d": {dims}, {}, "peak_mb": {}, "peak_mb_before": {before}, "top": {:?}, "sum": {:?}}}"#,
        profiles.len(),
        stages.join(", "),
        peak_mb(),
        heights.last().copied().unwrap_or(0.0),
        heights.iter().sum::<f64>(),
    );
}

fn run(profiles: &Profiles, how: Dissimilarity, way: &str, stages: &mut Stages) -> Dendrogram {
    let square = |stages: &mut Stages, name| {
        timed(stages, name, || dissimilarities(profiles, how).expect("dissimilarities"))
    };
    match way {
        "free" => timed(stages, "free", || complete_linkage(profiles, how).expect("a tree")),
        "matrix" | "partitions" => {
            let first = square(stages, "distances");
            let tree = timed(stages, "linkage", || linkage(first, Linkage::Complete));
            if way == "partitions" {
                let again = square(stages, "again");
                timed(stages, "partitions", || partitions(again, Linkage::Complete, &tree, Some(profiles)));
            }
            tree
        }
        other => panic!("{other} is no way"),
    }
}

/// What something gives; its seconds go to the stage of that name.
fn timed<T>(stages: &mut Stages, name: &'static str, of: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let out = of();
    let seconds = begin.elapsed().as_secs_f64();
    match stages.iter_mut().find(|(other, _)| *other == name) {
        Some((_, all)) => all.push(seconds),
        None => stages.push((name, vec![seconds])),
    }
    out
}

/// A made-up table.
fn make(shape: &str) -> (Vec<f64>, usize) {
    const KINDS: usize = 40;
    let (shape, percent) = shape.split_once('-').unwrap_or((shape, "0"));
    let (rows, columns) = shape.split_once('x').expect("ROWSxCOLUMNS");
    let [rows, columns, percent] = [rows, columns, percent].map(|x| x.parse::<usize>().expect("a number"));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let kinds: Vec<f64> = (0..KINDS * columns).map(|_| uniform()).collect();
    let mut data = Vec::with_capacity(rows * columns);
    for _ in 0..rows {
        let (kind, stray) = ((uniform() * KINDS as f64) as usize, uniform() < 0.1);
        for column in 0..columns {
            let (missing, noise) = (uniform() * 100.0 < percent as f64, uniform());
            let value = if stray { noise } else { 0.8 * kinds[kind * columns + column] + 0.2 * noise };
            data.push(if missing { f64::NAN } else { value });
        }
    }
    (data, columns)
}

/// A matrix of little-endian `f64`, row by row.
fn read(path: &str) -> (Vec<f64>, usize) {
    let bytes = std::fs::read(path).expect("a readable file");
    assert!(bytes.starts_with(b"\x93NUMPY\x01"), "NumPy's format, version 1");
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let text = String::from_utf8_lossy(&bytes[10..header]);
    assert!(text.contains("'<f8'") && text.contains("'fortran_order': False"), "{text} is not <f8 by rows");
    let (_, shape) = text.split_once("'shape': (").expect("a shape");
    let (_, columns) = shape.split_once(',').expect("two dimensions");
    let columns = columns.split(')').next().and_then(|x| x.trim().parse().ok()).expect("a number of columns");
    let numbers = bytes[header..].chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().expect("eight")));
    (numbers.collect(), columns)
}

/// The most memory so far, in MB, where the kernel tells.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kb| kb / 1024)
}
