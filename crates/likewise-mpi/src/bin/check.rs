//! `mpirun -n 4 likewise-mpi-check`: whether the ranks of this MPI work
//! together as they should, and how fast.

#[path = "../../../likewise-comm/tests/it/checks.rs"]
mod checks;

use likewise_comm::{CommError, Communicator, Counted, Reduction};
use likewise_mpi::MpiComm;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// How often a call is timed.
const N_CALLS: usize = 301;

const USAGE: &str = "usage: likewise-mpi-check [--library PATH] [latency | fail RANK | panic RANK]";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let has_library = arguments.len() > 1 && arguments[0] == "--library";
    let library = has_library.then(|| arguments.drain(..2).nth(1).map(PathBuf::from)).flatten();
    let comm = match MpiComm::init_with(library.as_deref()) {
        Ok(Some(comm)) => comm,
        Ok(None) => {
            println!("no launcher");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_me = |rank: &str| rank.parse() == Ok(comm.rank());
    let result = match arguments[..] {
        [] => check(comm),
        ["latency"] => latency(&comm),
        ["fail", rank] if is_me(rank) => {
            comm.fail("no more of this");
            Ok(())
        }
        ["panic", rank] if is_me(rank) => panic!("a bug"),
        // This message never comes: the named rank ends before it sends one.
        ["fail" | "panic", rank] => comm.receive(rank.parse().unwrap_or(0)).map(|_| ()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Compares every collective function with its definition: those of MPI, those
/// made of messages, and those with messages in pieces. The pieces are made
/// small, so that short messages test what only very long ones would need.
fn check(comm: MpiComm) -> Result<(), CommError> {
    checks::all(&comm)?;
    checks::all(&Counted::new(&comm))?;
    let comm = comm.in_pieces_of(64);
    checks::all(&comm)?;
    exchange(&comm, &[0, 63, 64, 65, 128, 1000])?;
    let comm = comm.in_pieces_of(1 << 20);
    exchange(&comm, &[5 << 20])?;
    comm.all_reduce(Reduction::Sum, &mut [1])?;
    if comm.rank() == 0 {
        println!("{} ranks of {} ({}): right", comm.size(), comm.mpi(), comm.library());
    }
    Ok(())
}

/// Everybody sends before anybody receives, also to itself.
fn exchange(comm: &MpiComm, lengths: &[usize]) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let message = |from: usize, length: usize| vec![(from + length) as u8; length];
    for &length in lengths {
        comm.send((rank + 1) % size, &message(rank, length))?;
        comm.send(rank, &message(rank, length))?;
    }
    for &length in lengths {
        let before = (rank + size - 1) % size;
        // With one rank, both are its own.
        assert_eq!(comm.receive(before)?, message(before, length));
        assert_eq!(comm.receive(rank)?, message(rank, length));
    }
    Ok(())
}

/// Microseconds a call on rank 0: the median, for other programs may run.
fn latency(comm: &MpiComm) -> Result<(), CommError> {
    let time = |name: &str, call: &dyn Fn() -> Result<(), CommError>| {
        let mut micros = Vec::new();
        for _ in 0..N_CALLS {
            // Together, or rank 0 would run ahead where it waits for nobody.
            comm.all_reduce(Reduction::Max, &mut [0])?;
            let begin = Instant::now();
            call()?;
            micros.push(begin.elapsed().as_secs_f64() * 1e6);
        }
        micros.sort_unstable_by(f64::total_cmp);
        if comm.rank() == 0 {
            let median = micros[N_CALLS / 2];
            println!("{name} on {} ranks of {}: {median:.1} us", comm.size(), comm.mpi());
        }
        Ok::<_, CommError>(())
    };
    let (rank, size) = (comm.rank(), comm.size());
    time("all_reduce of 1", &|| comm.all_reduce(Reduction::Sum, &mut [1]))?;
    time("all_reduce of 68", &|| comm.all_reduce(Reduction::Sum, &mut [1; 68]))?;
    let made = Counted::new(comm);
    time("all_reduce of 1, of messages", &|| made.all_reduce(Reduction::Sum, &mut [1]))?;
    time("sum_before", &|| comm.sum_before(1).map(|_| ()))?;
    time("route of one parcel each", &|| comm.route(vec![((rank * 7 + 3) % size, vec![0; 16])]).map(|_| ()))?;
    time("all_gather of 16 bytes", &|| comm.all_gather(&[0; 16]).map(|_| ()))
}
