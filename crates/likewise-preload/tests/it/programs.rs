//! Builds the programs of `tests/programs` with the MPIs that are here, and
//! runs them under the preload library.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{OnceLock, PoisonError, RwLock};

/// MPICH's ranks spin while they wait, so such a run has the cores for itself (it takes the
/// lock to write). Open MPI's are told to yield, and its launcher sleeps a second or two where
/// a rank fails: these runs go side by side (they take it to read), as do those of one rank.
static CORES: RwLock<()> = RwLock::new(());

/// An MPI, by the suffix of its commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mpi {
    Open,
    Mpich,
}

impl Mpi {
    pub(crate) const ALL: [Self; 2] = [Self::Open, Self::Mpich];

    fn suffix(self) -> &'static str {
        match self {
            Self::Open => "openmpi",
            Self::Mpich => "mpich",
        }
    }

    /// A command of this MPI, such as its `mpicc`; none, with the reason
    /// printed, where it is missing.
    fn command(self, name: &str) -> Option<String> {
        let command = format!("{name}.{}", self.suffix());
        likewise_testing::is_installed(&command).then_some(command)
    }
}

/// The folder of the sources.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// A folder of its own for a test and an MPI, empty.
pub(crate) fn fresh(name: &str, mpi: Mpi) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", mpi.suffix()));
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{}: {error}", folder.display()),
        _ => std::fs::create_dir_all(&folder).expect("the folder of a test"),
    }
    folder
}

/// Builds a program; none, with the reason printed, where its compiler is
/// missing.
pub(crate) fn build(source: &str, mpi: Mpi, folder: &Path) -> Option<PathBuf> {
    let is_fortran = source.ends_with(".f90");
    let compiler = mpi.command(if is_fortran { "mpif90" } else { "mpicc" })?;
    let file = sources().join(source);
    let program = folder.join(file.file_stem().expect("it has a name"));
    let mut command = Command::new(&compiler);
    command.arg("-g").arg("-O2").arg("-o").arg(&program).arg(&file).current_dir(folder);
    if is_fortran {
        // Calls without an interface pass buffers of any rank.
        command.arg("-I").arg(sources()).args(["-std=legacy", "-w"]);
        if source.contains("f08") {
            command.arg("-std=gnu");
        }
    } else {
        command.args(["-Wall", "-Wextra", "-Werror", "-pthread", "-lm", "-ldl"]);
    }
    let output = command.output().unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

/// Builds a library of C; none, with the reason printed, where the compiler is
/// missing.
pub(crate) fn build_library(files: &[&str], mpi: Mpi, folder: &Path) -> Option<PathBuf> {
    let compiler = mpi.command("mpicc")?;
    let library = folder.join(format!("lib{}.so", files[0].trim_end_matches(".c")));
    let mut command = Command::new(&compiler);
    command.args(["-g", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"]).arg(&library);
    command.args(files.iter().map(|file| sources().join(file))).arg("-ldl");
    let output = command.output().unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{files:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(library)
}

/// The preload library.
pub(crate) fn library() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT
        .get_or_init(|| {
            let test = std::env::current_exe().expect("the test has a path");
            // target/PROFILE/deps/it-HASH
            likewise_testing::preload_library(test.ancestors().nth(2).expect("it is in a folder of cargo's"))
        })
        .clone()
}

/// A run with the recorder.
pub(crate) struct Run<'a> {
    pub(crate) mpi: Mpi,
    pub(crate) n_ranks: u32,
    pub(crate) command: &'a [&'a str],
    /// A library to be preloaded before the recorder.
    pub(crate) before: Option<&'a Path>,
}

impl Run<'_> {
    /// Runs the command in that folder, which is its `COUNTS_DIR` too; the
    /// recording is `folder/recording`. None, with the reason printed, where
    /// the launcher is missing.
    pub(crate) fn record(&self, folder: &Path) -> Option<Output> {
        let recording = folder.join("recording");
        std::fs::create_dir_all(&recording).expect("the folder of the recording");
        let launcher = format!("mpirun.{}", self.mpi.suffix());
        let mut line = likewise_testing::mpirun(&likewise_testing::IN_TIME, &launcher)?;
        line.args(["-n", &self.n_ranks.to_string()]);
        let before = self.before.map_or_else(String::new, |library| format!("{}:", library.display()));
        // By env, so that only the ranks have it and not the launcher.
        line.arg("env").arg(format!("LD_PRELOAD={before}{}", library().display()));
        line.arg(format!("LIKEWISE_DIR={}", recording.display())).args(self.command);
        line.env("OMPI_MCA_mpi_yield_when_idle", "1").env("COUNTS_DIR", folder).current_dir(folder);
        let mut run = || Some(line.output().unwrap_or_else(|error| panic!("timeout: {error}")));
        if self.mpi == Mpi::Open || self.n_ranks == 1 {
            let _shared = CORES.read().unwrap_or_else(PoisonError::into_inner);
            run()
        } else {
            let _alone = CORES.write().unwrap_or_else(PoisonError::into_inner);
            run()
        }
    }
}

/// Fails unless the run ended well.
pub(crate) fn expect_success(output: &Output, what: &str) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{what}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
}
