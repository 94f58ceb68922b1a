//! What CAPEK takes on more ranks than there are here: figures 4 to 8 of
//! Gamblin et al. (ICS 2010), and on to a million ranks.
//! `cargo run --release -p likewise --example scale [FIGURE…] > scale.csv`,
//! or `… scale check` for what real threads send and work beside it.
//!
//! One object is on each rank. Work is measured: ranks run one after the
//! other, alone, against recorded results of the collective functions
//! (`replay`). Messages are modelled (`network`). `bench/capek_plots.py` draws
//! the table.

mod check;
mod network;
mod replay;
mod simulate;

use likewise::ranks::{Wavelet, signature};
use likewise::synth::effort::effort_trace;
use network::Network;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use simulate::{Case, Recorded};

/// Data and samples of so many seeds.
const SEEDS: u64 = 3;

/// An MPI message on Blue Gene/P, at most: 3 µs, and 50 ns for each of the 96
/// hops to the farthest of 262,144 nodes in a torus of 64 × 64 × 64. For every
/// message and every number of ranks.
///
/// IBM Blue Gene team, *Overview of the IBM Blue Gene/P project*, IBM J. Res.
/// Dev. 52, 2008 (3.2 µs for 64 hops of hardware; 425 MB/s a link); Kumar et
/// al., *The Deep Computing Messaging Framework*, ICS 2008 (about 3 µs for MPI).
const LATENCY: f64 = 3e-6 + 96.0 * 50e-9;

/// Payload of a link in one direction: 425 MB/s less the packets' heads.
const PER_BYTE: f64 = 1.0 / 374e6;

/// An 850 MHz PowerPC 450 is taken to work so many times longer than a core
/// here: an assumption.
const SLOWER: f64 = 10.0;

/// The machine's modes: processes on a node, which share its port, and the
/// most ranks that the paper has in it.
const MODES: [(&str, usize, usize); 3] = [("SMP", 1, 32_768), ("dual", 2, 65_536), ("VN", 4, usize::MAX)];

/// From where the paper's figures have none, on.
const RANKS: [usize; 7] = [256, 1024, 4096, 16_384, 65_536, 131_072, 1_048_576];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "check") {
        return check();
    }
    println!(
        "figure,seed,ranks,values,mode,core,phase,seconds,work,messages,sent_bytes,sent_by_all,medoids,round_trips"
    );
    for case in cases() {
        if arguments.is_empty() || arguments.iter().any(|figure| *figure == case.figure.to_string()) {
            rows(&case);
        }
    }
}

/// What real threads send and work beside the simulation.
fn check() {
    println!("ranks,phase,messages,bytes,thread_work,replayed_work");
    for (ranks, up_to) in [(16, false), (100, true), (128, false), (1000, true), (1024, false), (4096, false)]
    {
        let make = |rank, seed| effort_trace(rank, 64, seed);
        for found in check::compare(&Case { figure: 5, ranks, up_to, make, seed: 1 }) {
            let check::Compared { phase, messages, bytes, thread_work, replayed_work } = found;
            println!("{ranks},{phase},{messages},{bytes},{thread_work:.7},{replayed_work:.7}");
        }
    }
}

/// All figures, each on its ranks.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for seed in 1..=SEEDS {
        for ranks in RANKS {
            let trace = |rank, seed| effort_trace(rank, 64, seed);
            cases.push(Case { figure: 4, ranks, up_to: false, make: point, seed });
            cases.push(Case { figure: 5, ranks, up_to: false, make: trace, seed });
            cases.push(Case { figure: 6, ranks, up_to: true, make: point, seed });
            cases.push(Case { figure: 8, ranks, up_to: false, make: short, seed });
        }
    }
    let long: [fn(usize, u64) -> Vec<f64>; 3] = [
        |rank, seed| effort_trace(rank, 512, seed),
        |rank, seed| effort_trace(rank, 2048, seed),
        |rank, seed| effort_trace(rank, 8192, seed),
    ];
    for ranks in [512, 4096, 65_536] {
        cases.extend(long.map(|make| Case { figure: 7, ranks, up_to: false, make, seed: 1 }));
    }
    cases
}

/// Two coordinates, each rank's own.
fn point(rank: usize, seed: u64) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64((seed << 32) + rank as u64);
    (0..2).map(|_| (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64).collect()
}

/// The signature of a trace of 64: the lowest band, of 16, and two energies.
fn short(rank: usize, seed: u64) -> Vec<f64> {
    signature(&effort_trace(rank, 64, seed), 2, Wavelet::default())
}

fn rows(case: &Case) {
    let recorded = Recorded::new(case);
    let values = (case.make)(0, case.seed).len();
    for (mode, per_node, most) in MODES {
        if case.ranks > most {
            continue;
        }
        let network = Network { latency: LATENCY, per_byte: PER_BYTE * per_node as f64 };
        for (core, slower) in [("this", 1.0), ("850 MHz", SLOWER)] {
            for (phase, took) in recorded.simulate(network, slower) {
                let most = |of: fn(&network::Sent) -> u64| took.sent.iter().map(of).max().unwrap_or(0);
                println!(
                    "{},{},{},{values},{mode},{core},{phase},{:.9},{:.9},{},{},{},{},{}",
                    case.figure,
                    case.seed,
                    case.ranks,
                    took.seconds,
                    took.work,
                    most(|sent| sent.messages + sent.received),
                    most(|sent| sent.bytes),
                    took.sent.iter().map(|sent| sent.bytes).sum::<u64>(),
                    recorded.n_medoids,
                    recorded.round_trips(&phase),
                );
            }
        }
    }
}
