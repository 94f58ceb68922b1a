//! What the tests of several crates need, and a machine may lack: real traces
//! and launchers of MPI; and recordings of a made-up program ([`recorded`]). A test that lacks one says that it is skipped, and
//! `cargo xtask test` counts these tests.

pub mod recorded;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that names a file to which each skipped test adds a line.
pub const SKIPPED: &str = "LIKEWISE_SKIPPED";

/// Reports that the test of this thread is skipped, and why.
///
/// # Panics
/// If the line cannot be written: a test that is not counted would pass for done.
pub fn skip(reason: &str) {
    println!("skipped: {reason}");
    if let Some(path) = std::env::var_os(SKIPPED) {
        let thread = std::thread::current();
        let line = format!("{}: {reason}\n", thread.name().unwrap_or("a test"));
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("what is skipped is counted");
    }
}

/// The folder of real traces beside or above the checkout. If it is absent,
/// the test is skipped.
#[must_use]
pub fn real_data() -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = here.ancestors().map(|a| a.join("shared/data")).find(|data| data.join("epoch").is_dir());
    if found.is_none() {
        skip("no folder shared/data beside or above the checkout");
    }
    found
}

/// The preload library in a profile's folder (`target/release`). `cargo test` builds none,
/// so it is built first if cargo runs the test: with the whole workspace, because
/// `cargo test --workspace` has built all that it is made of, with the same features. (For
/// its package alone, cargo compiles the core once more: 80 s of a run of CI.)
///
/// # Panics
/// If it cannot be built, or is not there.
#[must_use]
pub fn preload_library(profile: &Path) -> PathBuf {
    if let Some(cargo) = std::env::var_os("CARGO") {
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "--workspace", "--lib", "--target-dir"]);
        build.arg(profile.parent().expect("a target folder"));
        if profile.ends_with("release") {
            build.arg("--release");
        }
        let status = build.status().expect("cargo runs: it started this test");
        assert!(status.success(), "the preload library cannot be built");
    }
    let library = profile.join("liblikewise_preload.so");
    assert!(library.exists(), "no {}: build likewise-preload first", library.display());
    library
}

/// The launchers of both MPIs.
pub const LAUNCHERS: [&str; 2] = ["mpirun.openmpi", "mpirun.mpich"];

/// Whether that launcher is installed. If it is not, the test is skipped.
#[must_use]
pub fn is_installed(launcher: &str) -> bool {
    let there = Command::new(launcher).arg("--version").output().is_ok();
    if !there {
        skip(&format!("{launcher} is not installed"));
    }
    there
}

/// What stands before a launcher that must end. Killed after some more seconds:
/// the `mpirun` of Open MPI 4.1 can hang, and is then deaf to a plain signal, if
/// a process ends while it connects to it (seen in 4 of 83 runs on busy cores).
pub const IN_TIME: [&str; 4] = ["timeout", "-k", "5", "120"];

/// The launcher, with the options that it needs to start more processes than
/// cores, as root too; `before` are words that stand before it.
#[must_use]
pub fn mpirun(before: &[&str], launcher: &str) -> Option<Command> {
    if !is_installed(launcher) {
        return None;
    }
    let words = [before, &[launcher]].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    if launcher.ends_with("openmpi") {
        command.args(["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]);
    }
    Some(command)
}
