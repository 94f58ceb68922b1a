//! What the tests need beside Rust. It is installed if we may, otherwise named.

use crate::{root, run};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// The first of these programs that starts.
fn found(names: &[&str]) -> Option<PathBuf> {
    let starts =
        |name: &&&str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    names.iter().find(starts).map(PathBuf::from)
}

/// Installs Debian packages if this is Debian or Ubuntu and we are root.
fn apt(packages: &[&str]) -> Result<()> {
    let wanted = packages.join(" ");
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.starts_with(b"0"));
    if !root || found(&["apt-get"]).is_none() {
        bail!(
            "missing: {wanted}; install them (Debian, Ubuntu: sudo apt-get install {wanted}) and run this again"
        );
    }
    run(Command::new("apt-get").args(["update", "-qq"]))?;
    let install = ["install", "-y", "-qq", "--no-install-recommends"];
    run(Command::new("apt-get").args(install).args(packages).env("DEBIAN_FRONTEND", "noninteractive"))
}

/// A browser for the report's test.
pub(crate) fn chromium() -> Result<PathBuf> {
    const NAMES: [&str; 4] = ["/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome"];
    if found(&NAMES).is_none() {
        apt(&["chromium"])?;
    }
    found(&NAMES).context("no browser starts; install chromium")
}

/// Installs both MPIs: launchers, libraries, and compilers for C and Fortran.
pub(crate) fn mpis() -> Result<()> {
    const WANTED: [(&str, &str); 5] = [
        ("mpirun.openmpi", "openmpi-bin"),
        ("mpicc.openmpi", "libopenmpi-dev"),
        ("mpirun.mpich", "mpich"),
        ("mpicc.mpich", "libmpich-dev"),
        ("gfortran", "gfortran"),
    ];
    let missing =
        WANTED.into_iter().filter(|(program, _)| found(&[program]).is_none()).map(|(_, package)| package);
    let missing: Vec<&str> = missing.collect();
    if missing.is_empty() { Ok(()) } else { apt(&missing) }
}

/// A Python with the packages of a requirements file, in a folder of its own.
pub(crate) fn python(requirements: &str) -> Result<PathBuf> {
    let name = requirements.split('/').next().unwrap_or("tests");
    let venv = root().join("target/xtask").join(format!("venv-{name}"));
    let python = venv.join("bin/python");
    let (wanted, marker) = (std::fs::read(requirements)?, venv.join("installed.txt"));
    if std::fs::read(&marker).ok().as_deref() == Some(&wanted) {
        return Ok(python);
    }
    let make = || run(Command::new("python3").args(["-m", "venv"]).arg(&venv));
    if make().is_err() {
        apt(&["python3", "python3-venv", "python3-pip"])?;
        make()?;
    }
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r", requirements]))?;
    std::fs::write(marker, wanted)?;
    Ok(python)
}

/// A folder with the packages of its package.json.
pub(crate) fn node_modules(folder: &str) -> Result<PathBuf> {
    if found(&["node"]).is_none() || found(&["npm"]).is_none() {
        apt(&["nodejs", "npm"])?;
    }
    // A copy of the scripts, so that npm does not write into the source tree.
    let work = root().join("target/xtask/browser");
    std::fs::create_dir_all(&work)?;
    for file in std::fs::read_dir(folder).with_context(|| folder.to_owned())? {
        let file = file?.path();
        if file.is_file() {
            std::fs::copy(&file, work.join(file.file_name().unwrap_or_default()))?;
        }
    }
    let (wanted, marker) = (std::fs::read(work.join("package-lock.json"))?, work.join("installed.json"));
    if std::fs::read(&marker).ok().as_deref() != Some(&wanted) {
        // Not `npm ci`: it refuses a registry that lacks the linter for other
        // systems. Versions are exact in package.json.
        run(Command::new("npm").args(["install", "--silent", "--no-audit", "--no-fund"]).current_dir(&work))?;
        std::fs::write(marker, wanted)?;
    }
    Ok(work)
}
