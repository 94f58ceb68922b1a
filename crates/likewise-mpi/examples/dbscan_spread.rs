//! Times DBSCAN of points that are spread over MPI processes:
//! `mpirun -n P dbscan_spread FILE.f64 DIMS EPS MIN_POINTS [RUNS [THREADS]]`.
//!
//! The file holds raw little-endian `f64`, row by row; each process reads its share.
//! Prints one JSON object: the median of the seconds that the slowest process
//! takes, clusters, noise, and a sum over all labels that is the same for any
//! number of processes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::Instant;

use likewise::cluster::{DbscanParams, Points, dbscan_spread};
use likewise_comm::{Communicator, Reduction, Solo};
use likewise_mpi::MpiComm;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mpi = MpiComm::init()?;
    match &mpi {
        Some(mpi) => run(mpi),
        None => run(&Solo::default()),
    }
}

fn run(comm: &dyn Communicator) -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize, default: usize| args.get(i).map_or(Ok(default), |text| text.parse::<usize>());
    let [_, file, dims, eps, ..] = &args[..] else {
        return Err("usage: dbscan_spread FILE DIMS EPS [MIN_POINTS [RUNS [THREADS]]]".into());
    };
    let dims: usize = dims.parse()?;
    let params = DbscanParams::new(eps.parse()?, number(4, 10)?)?;
    let (runs, threads) = (number(5, 3)?, number(6, 1)?);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let mut file = File::open(file)?;
    let n = file.metadata()?.len() as usize / (8 * dims);
    let share = |rank: usize| n * rank / comm.size();
    let (from, to) = (share(comm.rank()), share(comm.rank() + 1));
    file.seek(SeekFrom::Start(8 * (from * dims) as u64))?;
    let mut bytes = vec![0; 8 * (to - from) * dims];
    file.read_exact(&mut bytes)?;
    let data: Vec<f64> = bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    let points = Points::new(&data, dims)?;
    let mut seconds = Vec::new();
    let mut facts = [0; 3];
    for _ in 0..runs {
        comm.all_reduce(Reduction::Sum, &mut [0])?;
        let start = Instant::now();
        let found = dbscan_spread(points, &params, comm)?;
        let mut took = [start.elapsed().as_nanos() as i64];
        comm.all_reduce(Reduction::Max, &mut took)?;
        seconds.push(took[0] as f64 / 1e9);
        let number = |i: usize| found.clustering.labels[i].map_or(0, |id| i64::from(id.number()));
        let noise = (0..to - from).filter(|&i| number(i) == 0).count() as i64;
        let mixed = |i: usize| ((from + i) as i64 + 1).wrapping_mul(2 * number(i) + i64::from(found.core[i]));
        let mut sums = [noise, (0..to - from).map(mixed).fold(0, i64::wrapping_add)];
        comm.all_reduce(Reduction::Sum, &mut sums)?;
        facts = [found.clustering.n_clusters as i64, sums[0], sums[1]];
    }
    seconds.sort_by(f64::total_cmp);
    if comm.rank() == 0 {
        let [clusters, noise, labels] = facts;
        println!(
            "{{\"seconds\": {:.4}, \"processes\": {}, \"points\": {n}, \"clusters\": {clusters}, \"noise\": {noise}, \
             \"labels\": {labels}}}",
            seconds[seconds.len() / 2],
            comm.size()
        );
    }
    Ok(())
}
