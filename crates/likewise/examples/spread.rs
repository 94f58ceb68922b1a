//! DBSCAN of points spread over ranks that are threads: what is sent, by phase, and the time.
//!
//! `cargo run --release -p likewise --example spread -- N RANKS DIMS PHASES WIDTH EPS`: N points
//! in as many tight phases, of which a hundredth is spread evenly; 0 phases: all.
use likewise::cluster::{DbscanParams, Points, dbscan, dbscan_spread};
use likewise::comm::{CommError, Communicator, Counted, run_on_threads};
use std::collections::BTreeMap;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<f64> = std::env::args().skip(1).map(|arg| arg.parse()).collect::<Result<_, _>>()?;
    let &[n, ranks, dims, phases, width, eps] = &given[..] else {
        return Err("six numbers are needed".into());
    };
    let (n, ranks, dims) = (n as usize, ranks as usize, dims as usize);
    let mut state = 7u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let centres: Vec<f64> = (0..phases as usize * dims).map(|_| uniform()).collect();
    let mut data = Vec::with_capacity(n * dims);
    for i in 0..n {
        let phase = (uniform() * phases) as usize;
        for k in 0..dims {
            let even = phases == 0.0 || i % 100 == 0;
            data.push(if even {
                uniform()
            } else {
                centres[phase * dims + k] + width * (uniform() + uniform() + uniform() - 1.5)
            });
        }
    }
    let points = Points::new(&data, dims)?;
    let params = DbscanParams::new(eps, 10)?;
    let start = Instant::now();
    let expected = dbscan(points, &params);
    println!("one rank: {:.3} s, {} clusters", start.elapsed().as_secs_f64(), expected.clustering.n_clusters);
    let start = Instant::now();
    let found = run_on_threads(ranks, |comm| {
        let (from, to) = (n * comm.rank() / ranks, n * (comm.rank() + 1) / ranks);
        let own = Points::new(&data[from * dims..to * dims], dims).expect("finite");
        let counted = Counted::new(comm);
        let found = dbscan_spread(own, &params, &counted)?;
        let same = found.clustering.labels == expected.clustering.labels[from..to]
            && found.core == expected.core[from..to];
        Ok::<_, CommError>((same, counted.traffic()))
    })?;
    println!(
        "{ranks} ranks: {:.3} s, the same: {}",
        start.elapsed().as_secs_f64(),
        found.iter().all(|(same, _)| *same)
    );
    let mut sent: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    for phase in found.iter().flat_map(|(_, traffic)| traffic) {
        let of_phase = sent.entry(&phase.phase).or_default();
        *of_phase = (of_phase.0 + phase.bytes, of_phase.1.max(phase.bytes), of_phase.2.max(phase.messages));
    }
    for (phase, (bytes, most, messages)) in sent {
        println!("  {phase:20} {bytes:12} bytes, of one rank at most {most:10} in {messages} messages");
    }
    Ok(())
}
