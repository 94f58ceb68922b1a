//! Programs that ask which functions their MPI has: they must be told what they are told
//! without the preload library, and what they then call must be recorded.

use crate::counts::{open, walk};
use crate::programs::{Mpi, Run, build, build_library, expect_success, fresh, sources};
use likewise_recording::role::Kind;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const ROUNDS: u64 = 10;
const BYTES: i64 = 400;

/// What a command prints without the preload library and with it.
fn told(mpi: Mpi, folder: &Path, command: &[&str]) -> Option<[String; 2]> {
    let without = [&["env", "-u", "LD_PRELOAD"], command].concat();
    let print = |command: &[&str]| {
        let output = Run { mpi, n_ranks: 2, command, before: None }.record(folder)?;
        expect_success(&output, &format!("{mpi:?}, {command:?}"));
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    Some([print(&without)?, print(command)?])
}

/// How often a rank made a call, and the bytes that each of them names, where they are read.
fn recorded(folder: &Path, rank: u32) -> BTreeMap<String, (u64, Option<i64>)> {
    let recording = open(folder, 2);
    let types = recording.datatypes(rank);
    let mut calls = BTreeMap::new();
    walk(&recording, rank, |call, event| {
        let fields = call.fields().iter().zip(&event.values);
        let of = |kind| fields.clone().find(|(field, _)| field.kind == kind).map(|(_, value)| *value);
        let bytes = of(Kind::Count).zip(of(Kind::Type)).map(|(n, at)| n * types[at as usize].size);
        let (count, all) = calls.entry(call.name().to_owned()).or_insert((0, bytes));
        *count += 1;
        assert_eq!(*all, bytes, "{}", call.name());
    });
    calls
}

/// Compares what the program is told, and what is recorded.
fn check(mpi: Mpi, folder: &Path, command: &[&str]) {
    let Some([without, with]) = told(mpi, folder, command) else { return };
    assert_eq!(with, without, "{mpi:?}, {command:?}");
    let has = |name: &str| without.contains(&format!("{name} 1"));
    for rank in 0..2 {
        let calls = recorded(folder, rank);
        for (name, n) in [("MPI_Send", ROUNDS), ("MPI_Recv", ROUNDS), ("MPI_Type_get_extent", 1)] {
            let large = format!("{name}_c");
            let (called, other) = if has(&large) { (&*large, name) } else { (name, &*large) };
            assert!(!calls.contains_key(other), "{mpi:?}, {command:?}: {calls:?}");
            assert_eq!(calls.get(called).map(|call| call.0), Some(n), "{mpi:?}, {command:?}: {calls:?}");
        }
        if !has("MPI_Send_c") {
            assert_eq!(calls["MPI_Send"].1, Some(BYTES));
        }
        let n_both = calls.get("MPI_Isendrecv").map_or(0, |call| call.0);
        assert_eq!(n_both, u64::from(has("MPI_Isendrecv")), "{mpi:?}, {command:?}: {calls:?}");
    }
}

#[test]
fn a_program_is_told_which_functions_its_mpi_has() {
    for mpi in Mpi::ALL {
        let folder = fresh("asks", mpi);
        let Some(program) = build("asks.c", mpi, &folder) else { continue };
        check(mpi, &folder, &[program.to_str().expect("a path of letters")]);
    }
}

#[test]
fn a_program_that_loads_its_mpi_is_told_that_it_has_none_before() {
    for mpi in Mpi::ALL {
        let folder = fresh("asks-late", mpi);
        let program = folder.join("p_asks_late");
        let source = sources().join("p_asks_late.c");
        let built = Command::new("cc").arg("-o").arg(&program).arg(source).arg("-ldl").status();
        if !built.is_ok_and(|status| status.success()) {
            return likewise_testing::skip("no C compiler");
        }
        let Some(library) = build_library(&["asks.c"], mpi, &folder) else { continue };
        let words = [&program, &library].map(|path| path.to_str().expect("a path of letters"));
        check(mpi, &folder, &words);
    }
}
