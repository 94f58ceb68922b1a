//! What programs say that they called, against what the recorder says.

use crate::programs::{Mpi, Run, build, expect_success, fresh, sources};
use likewise_recording::{CallId, Event, Recording};
use std::collections::BTreeMap;
use std::path::Path;

type Counts = BTreeMap<String, u64>;

/// What a rank wrote into its `counts-RANK.txt`.
fn counted(folder: &Path, rank: u32) -> Counts {
    let file = folder.join(format!("counts-{rank}.txt"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let count = |line: &str| {
        let (name, count) = line.split_once(' ')?;
        Some((name.to_owned(), count.trim().parse().ok()?))
    };
    text.lines().map(|line| count(line).unwrap_or_else(|| panic!("{}: {line}", file.display()))).collect()
}

/// Every event of a rank, with its call.
pub(crate) fn walk(recording: &Recording, rank: u32, mut each: impl FnMut(CallId, &Event)) {
    let mut events = recording.events(rank);
    while let Some(event) = events.next().expect("an event that can be read") {
        each(recording.symbols()[event.symbol as usize].call, event);
    }
}

fn recorded(recording: &Recording, rank: u32) -> Counts {
    let mut counts = Counts::new();
    walk(recording, rank, |call, _| *counts.entry(call.name().to_owned()).or_default() += 1);
    counts
}

pub(crate) fn open(folder: &Path, n_ranks: u32) -> Recording {
    let recording = Recording::open(&folder.join("recording")).expect("a recording");
    assert_eq!(recording.incomplete(), None);
    assert_eq!(recording.ranks().len() as u32, n_ranks);
    recording
}

/// The calls whose numbers differ: name, what the program says, what the
/// recording says.
fn differences(ours: &Counts, theirs: &Counts) -> Vec<String> {
    let names: std::collections::BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
    let number = |counts: &Counts, name: &str| counts.get(name).copied().unwrap_or(0);
    let differ = |name: &&&String| number(ours, name) != number(theirs, name);
    let line =
        |name: &String| format!("{name}: {} called, {} recorded", number(ours, name), number(theirs, name));
    names.iter().filter(differ).map(|name| line(name)).collect()
}

/// A program that counts its calls, with every MPI that is here.
fn check_counts(source: &str, arguments: &[&str], n_ranks: &[u32]) {
    let name = source.split('.').next().expect("a name");
    for mpi in Mpi::ALL {
        let folder = fresh(&format!("{name}{}", arguments.concat()), mpi);
        let Some(program) = build(source, mpi, &folder) else { continue };
        for &n_ranks in n_ranks {
            let folder = folder.join(n_ranks.to_string());
            std::fs::create_dir_all(&folder).expect("a folder");
            let program = program.to_str().expect("a path of letters");
            let command = [&[program], arguments].concat();
            let run = Run { mpi, n_ranks, command: &command, before: None };
            let Some(output) = run.record(&folder) else { continue };
            expect_success(&output, &format!("{source}, {mpi:?}, {n_ranks} ranks"));
            let recording = open(&folder, n_ranks);
            for rank in 0..n_ranks {
                let found = differences(&counted(&folder, rank), &recorded(&recording, rank));
                assert!(found.is_empty(), "{source}, {mpi:?}, rank {rank} of {n_ranks}: {found:#?}");
            }
        }
    }
}

#[test]
fn a_program_in_c_that_calls_every_family() {
    check_counts("counts_c.c", &[], &[1, 3]);
}

#[test]
fn the_same_with_threads_allowed() {
    check_counts("counts_c.c", &["2"], &[4]);
}

#[test]
fn fortran_with_mpif_h() {
    check_counts("counts_mpifh.f90", &[], &[1, 3]);
}

#[test]
fn fortran_with_use_mpi() {
    check_counts("counts_usempi.f90", &[], &[3]);
}

#[test]
fn fortran_with_mpi_f08() {
    check_counts("counts_f08.f90", &[], &[1, 3]);
}

#[test]
fn eight_threads_at_once() {
    check_counts("k_threads.c", &["100"], &[2]);
}

/// The interpreter that has mpi4py, and the MPI that it was built for.
fn mpi4py() -> Option<(&'static str, Mpi)> {
    let ask = "from mpi4py import MPI; print(MPI.Get_library_version())";
    for python in ["/usr/bin/python3", "python3"] {
        let Ok(output) = std::process::Command::new(python).args(["-c", ask]).output() else { continue };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Some((python, if said.contains("MPICH") { Mpi::Mpich } else { Mpi::Open }));
        }
    }
    likewise_testing::skip("no python3 has mpi4py");
    None
}

#[test]
fn python_with_mpi4py() {
    let Some((python, mpi)) = mpi4py() else { return };
    let folder = fresh("mpi4py", mpi);
    let script = sources().join("counts_mpi4py.py");
    let command = [python, script.to_str().expect("a path of letters")];
    let run = Run { mpi, n_ranks: 3, command: &command, before: None };
    let Some(output) = run.record(&folder) else { return };
    expect_success(&output, "counts_mpi4py.py");
    let recording = open(&folder, 3);
    for rank in 0..3 {
        // mpi4py makes calls of its own, which the script cannot count.
        let ours = counted(&folder, rank);
        let mut theirs = recorded(&recording, rank);
        theirs.retain(|name, _| ours.contains_key(name));
        assert_eq!(differences(&ours, &theirs), Vec::<String>::new(), "rank {rank}");
    }
}
