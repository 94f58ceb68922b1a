//! The check program under the launchers of both MPIs.

use likewise_testing::is_installed;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const CHECK: &str = env!("CARGO_BIN_EXE_likewise-mpi-check");
const SIGPIPE: i32 = 13;
const LIMIT: Duration = Duration::from_secs(120);

#[derive(Clone, Copy)]
struct Launcher {
    program: &'static str,
    arguments: &'static [&'static str],
    /// A library of the other MPI.
    other: &'static str,
    ranks: &'static [usize],
}

const OPEN_MPI: Launcher = Launcher {
    program: "mpirun.openmpi",
    arguments: &["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"],
    other: "libmpich.so.12",
    ranks: &[1, 2, 3, 5, 8, 16],
};

/// It spins, so that more ranks than cores are slow.
const MPICH: Launcher =
    Launcher { program: "mpirun.mpich", arguments: &[], other: "libmpi.so.40", ranks: &[1, 2, 3, 4] };

impl Launcher {
    /// Runs the check program to its end, which has to come. MPICH's launcher
    /// itself dies of a broken pipe in about one of 75 runs whose program ends
    /// before it has called MPI: then again.
    fn run(self, n_ranks: usize, arguments: &[&str]) -> Output {
        loop {
            let output = self.run_once(n_ranks, arguments);
            if output.status.signal() != Some(SIGPIPE) {
                return output;
            }
        }
    }

    fn run_once(self, n_ranks: usize, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.program);
        command.args(self.arguments).args(["-n", &n_ranks.to_string(), CHECK]).args(arguments);
        command.env("OMPI_MCA_mpi_yield_when_idle", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // What it prints fits the pipes.
        let begin = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if begin.elapsed() > LIMIT {
                child.kill().unwrap();
                let output = child.wait_with_output().unwrap();
                panic!("{command:?} does not end: {}", text(&output));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        child.wait_with_output().unwrap()
    }

    fn every_collective_is_right(self) {
        for n_ranks in self.ranks {
            let output = self.run(*n_ranks, &[]);
            assert!(output.status.success(), "{} on {n_ranks}: {}", self.program, text(&output));
            assert!(text(&output).contains(&format!("{n_ranks} ranks of ")), "{}", text(&output));
        }
    }

    fn one_rank_ends_all(self) {
        for (how, message) in [("fail", "rank 1: no more of this"), ("panic", "rank 1: it panicked")] {
            let output = self.run(3, &[how, "1"]);
            assert!(!output.status.success(), "{}", text(&output));
            assert!(text(&output).contains(message), "{}", text(&output));
        }
    }

    fn another_mpi_is_named(self) {
        let output = self.run(2, &["--library", self.other]);
        assert!(!output.status.success(), "{}", text(&output));
        for word in ["on 2 ranks, but", "knows of 1", "Open MPI", "MPICH", self.other] {
            assert!(text(&output).contains(word), "no {word} in: {}", text(&output));
        }
    }

    fn a_missing_library_is_named(self) {
        let output = self.run(2, &["--library", "/nowhere/libmpi.so"]);
        assert!(!output.status.success(), "{}", text(&output));
        assert!(text(&output).contains("cannot be loaded: /nowhere/libmpi.so"), "{}", text(&output));
    }
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn open_mpi() {
    if is_installed(OPEN_MPI.program) {
        OPEN_MPI.every_collective_is_right();
        OPEN_MPI.one_rank_ends_all();
        OPEN_MPI.a_missing_library_is_named();
    }
}

#[test]
fn mpich() {
    if is_installed(MPICH.program) {
        MPICH.every_collective_is_right();
        MPICH.one_rank_ends_all();
        MPICH.a_missing_library_is_named();
    }
}

#[test]
fn a_library_that_is_not_the_launchers_is_an_error() {
    if is_installed(OPEN_MPI.program) && is_installed(MPICH.program) {
        OPEN_MPI.another_mpi_is_named();
        MPICH.another_mpi_is_named();
    }
}

#[test]
fn without_a_launcher_there_is_no_communicator() {
    let mut command = Command::new(CHECK);
    // Somebody may run these tests under a launcher.
    for variable in ["OMPI_COMM_WORLD_SIZE", "PMI_RANK", "MPI_LOCALNRANKS", "PMIX_RANK", "SLURM_STEP_ID"] {
        command.env_remove(variable);
    }
    let output = command.output().unwrap();
    assert!(output.status.success());
    assert_eq!(text(&output), "no launcher\n");
}
