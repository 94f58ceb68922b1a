//! Times CAPEK over MPI: `mpirun -n P capek 2d|64 OBJECTS_PER_RANK K fixed|bic RUNS`.
//!
//! Prints one line of JSON: the median and the least time of the slowest rank
//! in ms, and the mean loss over the runs, each of another seed. `bench/README.md`
//! says what a peer's program must print to stand beside it.

use std::time::Instant;

use likewise::cluster::euclidean;
use likewise::cluster::medoids::capek::{CapekParams, ClusterCount, Criterion, Mode, capek};
use likewise::comm::{Communicator, Reduction};
use likewise::synth::effort::shape;
use likewise_mpi::MpiComm;

const USAGE: &str = "2d|64 OBJECTS_PER_RANK K fixed|bic RUNS";

/// SplitMix64: the peer makes the same objects by it.
fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn unit(object: u64, coordinate: u64) -> f64 {
    (mix(mix(1).wrapping_add(object * 64 + coordinate)) >> 11) as f64 / (1u64 << 53) as f64
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("2d") => run(&args, |i| std::array::from_fn::<_, 2, _>(|c| unit(i, c as u64) * 5000.0 - 2500.0)),
        Some("64") => run(&args, |i| {
            std::array::from_fn::<_, 64, _>(|c| shape((i % 6) as usize, c) + unit(i, c as u64))
        }),
        _ => Err(USAGE.into()),
    }
}

fn run<const N: usize>(
    args: &[String],
    object: impl Fn(u64) -> [f64; N],
) -> Result<(), Box<dyn std::error::Error>> {
    let [_, per_rank, k, criterion, runs] = args else { return Err(USAGE.into()) };
    let (per_rank, k, runs): (u64, usize, u64) = (per_rank.parse()?, k.parse()?, runs.parse()?);
    let comm = MpiComm::init()?.ok_or("start it by mpirun")?;
    let first = comm.rank() as u64 * per_rank;
    let objects: Vec<[f64; N]> = (first..first + per_rank).map(object).collect();
    let clusters = if criterion == "bic" { ClusterCount::UpTo(k) } else { ClusterCount::Fixed(k) };
    let (mut times, mut loss, mut k_mean) = (Vec::new(), 0.0, 0.0);
    for seed in 1..=runs {
        let params = CapekParams {
            seed,
            mode: Mode::Sampled,
            ..CapekParams::new(clusters, Criterion::Bic(|object: &[f64; N]| object))
        };
        comm.all_reduce(Reduction::Sum, &mut [0])?;
        let start = Instant::now();
        let result = capek(&comm, &objects, &|a: &[f64; N], b: &[f64; N]| euclidean(a, b), &params)?;
        let mut slowest = [start.elapsed().as_nanos() as i64];
        comm.all_reduce(Reduction::Max, &mut slowest)?;
        times.push(slowest[0] as f64 / 1e6);
        loss += result.loss / runs as f64;
        k_mean += result.medoids.len() as f64 / runs as f64;
    }
    times.sort_by(f64::total_cmp);
    if comm.rank() == 0 {
        let (median, least) = (times[times.len() / 2], times[0]);
        println!(
            "{{\"ms_median\": {median:.3}, \"ms_min\": {least:.3}, \"loss_mean\": {loss:.6}, \"k_mean\": {k_mean:.1}}}"
        );
    }
    Ok(())
}
