//! What a marker costs, by the number of ranks: messages and bytes of the
//! busiest rank, and the processor time of rank 0, which has most to do, for a
//! vote and for a clustering.
//!
//! ```text
//! cargo run --release -p likewise-online --example cost -- [FOLDER]
//! ```
//!
//! writes chameleon-cost.csv and chameleon-cost.svg. The ranks run one after the
//! other ([`one_by_one`]); up to 1,024, they also run as threads, and must send
//! the same. Two kinds of signatures: those of a square stencil, nine in all,
//! and one of its own for each rank.

mod one_by_one;
mod plot;

use likewise_comm::{CommError, Communicator, Counted, Reduction, run_on_threads};
use likewise_online::{Mean, Options, Signature, choose};
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;

const SIZES: [usize; 8] = [2, 4, 16, 64, 256, 1024, 4096, 16_384];

/// Up to so many ranks also run as threads.
const MOST_THREADS: usize = 1024;

/// Each is measured so often; the middle one counts.
const TIMES: usize = 21;

/// What the busiest rank sent and received, and what rank 0 took.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    messages: u64,
    bytes: u64,
    seconds: f64,
}

/// What is measured: a marker in AT or L is a vote, one in C a vote and a
/// clustering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Vote,
    Stencil,
    Distinct,
}

impl What {
    const ALL: [Self; 3] = [Self::Vote, Self::Stencil, Self::Distinct];

    fn name(self) -> &'static str {
        match self {
            Self::Vote => "vote (AT, L)",
            Self::Stencil => "vote and clustering (C), nine signatures",
            Self::Distinct => "vote and clustering (C), one signature per rank",
        }
    }

    fn signature(self, rank: usize, size: usize) -> Signature {
        let mean = |value: usize| Mean { sum: value as i128, n: 1 };
        let (source, dest) = if self == Self::Distinct {
            (mean(rank.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40), mean(rank))
        } else {
            let bits = size.next_power_of_two().trailing_zeros();
            let width = 1 << bits.div_ceil(2);
            let kind = |x: usize, n: usize| {
                if x == 0 {
                    0
                } else if x + 1 == n {
                    2
                } else {
                    1
                }
            };
            (mean(kind(rank % width, width)), mean(kind(rank / width, size / width)))
        };
        Signature { path: 1, source, dest, parameters: 0 }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let mut csv = "what,ranks,messages,bytes,processor_seconds\n".to_owned();
    let mut costs = Vec::new();
    for what in What::ALL {
        let mut of = Vec::new();
        for size in SIZES {
            let cost = measure(what, size)?;
            let Cost { messages, bytes, seconds } = cost;
            writeln!(csv, "\"{}\",{size},{messages},{bytes},{seconds:.7}", what.name())?;
            eprintln!("{what:?} on {size} ranks: {cost:?}");
            of.push(cost);
        }
        costs.push((what.name(), of));
    }
    let lines = |value: fn(&Cost) -> f64| -> Vec<plot::Line> {
        let line = |(name, of): &(&'static str, Vec<Cost>)| plot::Line {
            name,
            values: of.iter().map(value).collect(),
        };
        costs.iter().map(line).collect()
    };
    let panels = [
        ("messages, sent and received", lines(|cost| cost.messages as f64)),
        ("bytes, sent and received", lines(|cost| cost.bytes as f64)),
        ("processor time, µs", lines(|cost| cost.seconds * 1e6)),
    ];
    std::fs::write(folder.join("chameleon-cost.csv"), csv)?;
    std::fs::write(folder.join("chameleon-cost.svg"), plot::svg(&SIZES, &panels))?;
    Ok(())
}

fn measure(what: What, size: usize) -> Result<Cost, CommError> {
    let marker = |comm: &dyn Communicator| {
        comm.all_reduce(Reduction::Max, &mut [0])?;
        if what != What::Vote {
            choose(comm, &what.signature(comm.rank(), size), &Options::default())?;
        }
        Ok::<_, CommError>(())
    };
    let mut times = Vec::new();
    let traffic = one_by_one::run(size, marker, |rank| {
        for _ in 0..TIMES {
            rank.again();
            let before = processor_seconds();
            marker(rank).expect("rank 0 has all messages");
            times.push(processor_seconds() - before);
        }
    });
    if size <= MOST_THREADS {
        let threads = run_on_threads::<_, CommError, _>(size, |comm| {
            let comm = Counted::new(comm);
            marker(&comm)?;
            Ok(comm.traffic())
        })?;
        assert_eq!(threads, traffic, "as threads or one by one, ranks send the same");
    }
    times.sort_by(f64::total_cmp);
    let mut cost = Cost { seconds: times[TIMES / 2], ..Cost::default() };
    for traffic in traffic.concat() {
        cost.messages = cost.messages.max(traffic.messages + traffic.received);
        cost.bytes = cost.bytes.max(traffic.bytes + traffic.bytes_received);
    }
    Ok(cost)
}

/// Processor time of this thread.
fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is where the time goes.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "a clock of the thread's processor time");
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
