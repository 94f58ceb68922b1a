//! Which launcher of MPI stands in a command line, and where the program does.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A launcher, by how it hands variables to ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Launcher {
    /// Open MPI's, by `-x`.
    OpenMpi,
    /// MPICH's and those made of it, by `-genv`.
    Hydra,
    /// Slurm's `srun`, by `--export`.
    Slurm,
}

/// Programs that start the one which their arguments name.
const WRAPPERS: [&str; 14] = [
    "chrt", "env", "ionice", "ltrace", "nice", "nohup", "numactl", "perf", "setsid", "stdbuf", "strace",
    "taskset", "time", "timeout",
];

/// Programs that run the script which their arguments name.
const INTERPRETERS: [&str; 7] = ["bash", "dash", "julia", "perl", "python", "sh", "zsh"];

fn base(word: &OsStr) -> String {
    Path::new(word).file_name().unwrap_or(word).to_string_lossy().into_owned()
}

/// Whether launchers have such names. A program is asked for its version only
/// if it has.
fn is_named_so(word: &OsStr) -> bool {
    let base = base(word);
    ["mpirun", "mpiexec", "orterun", "prterun"].iter().any(|start| base.starts_with(start))
        || ["srun", "prun"].contains(&base.as_str())
}

/// Whose launcher a file is, where its name tells: then it need not be run,
/// which takes some milliseconds.
fn known_file(program: &OsStr) -> Option<&'static str> {
    let file = in_path(program)?.canonicalize().ok()?;
    match file.file_name()?.to_str()? {
        "orterun" | "prterun" => Some("Open MPI"),
        "mpiexec.hydra" => Some("HYDRA"),
        _ => None,
    }
}

/// The file that a word names: here or in the search path.
fn in_path(word: &OsStr) -> Option<PathBuf> {
    let executable = |path: &Path| {
        path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let path = Path::new(word);
    if word.is_empty() || executable(path) || path.components().count() != 1 {
        return executable(path).then(|| path.to_owned());
    }
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join(path)).find(|path| executable(path))
}

/// What a program prints if it is asked for its version.
fn version(program: &OsStr) -> Option<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&text).into_owned())
}

impl Launcher {
    /// Where the launcher stands in a command line, and which it is; `None` in
    /// its place if it is none of these.
    pub(crate) fn find(words: &[OsString]) -> Option<(usize, Option<Self>)> {
        Self::find_with(words, |program| known_file(program).map(str::to_owned).or_else(|| version(program)))
    }

    fn find_with(
        words: &[OsString],
        version: impl Fn(&OsStr) -> Option<String>,
    ) -> Option<(usize, Option<Self>)> {
        let first = words.first()?;
        let wrapped = WRAPPERS.contains(&base(first).as_str());
        let searched = if wrapped { words.len() } else { 1 };
        let at = words[..searched].iter().position(|word| is_named_so(word))?;
        Some((at, version(&words[at]).and_then(|text| Self::of_version(&text))))
    }

    fn of_version(text: &str) -> Option<Self> {
        let has = |names: &[&str]| names.iter().any(|name| text.contains(name));
        if has(&["Open MPI", "OpenRTE", "PRRTE", "PRTE"]) {
            Some(Self::OpenMpi)
        } else if has(&["HYDRA", "Intel(R) MPI", "MPICH"]) {
            Some(Self::Hydra)
        } else if has(&["slurm"]) {
            Some(Self::Slurm)
        } else {
            None
        }
    }
}

/// The parts of a launcher's command line, one for each program: all words
/// after the launcher, cut where one is `:`.
pub(crate) fn contexts(words: &[OsString], launcher: usize) -> Vec<Range<usize>> {
    let mut contexts = Vec::new();
    let mut from = launcher + 1;
    for (at, word) in words.iter().enumerate().skip(from) {
        if word == ":" {
            contexts.push(from..at);
            from = at + 1;
        }
    }
    contexts.push(from..words.len());
    contexts
}

/// Where the program stands in words that options precede: the first word
/// that names a program. None if no word does.
pub(crate) fn program(words: &[OsString], is_program: impl Fn(&OsStr) -> bool) -> Option<usize> {
    words.iter().position(|word| !word.to_string_lossy().starts_with('-') && is_program(word))
}

/// Whether a word names a program: a file that can be executed, here or in the
/// search path.
pub(crate) fn is_program(word: &OsStr) -> bool {
    in_path(word).is_some()
}

/// The name of what a command line runs: that of its program, of a script that
/// of the script. None if it cannot be told.
pub(crate) fn name(words: &[OsString], launcher: Option<usize>) -> Option<String> {
    let words = launcher.map_or(words, |at| &words[contexts(words, at)[0].clone()]);
    let mut rest = words;
    loop {
        let at = program(rest, is_program)?;
        let base = base(&rest[at]);
        rest = &rest[at + 1..];
        if WRAPPERS.contains(&base.as_str()) {
            continue;
        }
        let is_interpreter = INTERPRETERS
            .iter()
            .any(|name| base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') == *name);
        let script = rest.iter().map(Path::new).find(|word| word.is_file());
        return match script.and_then(Path::file_stem) {
            Some(script) if is_interpreter => Some(script.to_string_lossy().into_owned()),
            _ => Some(base),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn launchers_are_known_by_what_they_say_of_themselves() {
        let find = |text: &str, says: &'static str| {
            Launcher::find_with(&words(text), |program| {
                assert!(is_named_so(program), "{program:?} was run");
                Some(says.to_owned())
            })
        };
        assert_eq!(find("mpirun -n 4 ./app", "mpirun (Open MPI) 5.0.3"), Some((0, Some(Launcher::OpenMpi))));
        assert_eq!(
            find("/opt/bin/mpiexec ./a", "HYDRA build details:\n Version: 4.0.2"),
            Some((0, Some(Launcher::Hydra)))
        );
        assert_eq!(find("srun -n 4 ./app", "slurm 23.02.1"), Some((0, Some(Launcher::Slurm))));
        assert_eq!(find("mpirun_rsh ./a", "something else"), Some((0, None)));
        assert_eq!(
            find("env A=1 timeout 60 mpirun.openmpi ./a", "mpirun.openmpi (OpenRTE) 4.1.4"),
            Some((4, Some(Launcher::OpenMpi)))
        );
        // None of these is a launcher, so none is run to see.
        assert_eq!(find("./app mpirun", ""), None);
        assert_eq!(find("bash run.sh", ""), None);
        assert_eq!(find("time ./app", ""), None);
    }

    #[test]
    fn a_launcher_whose_file_tells_need_not_be_run() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, mode: u32| {
            let path = dir.path().join(name);
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let link = |name: &str, to: &str| std::os::unix::fs::symlink(to, dir.path().join(name)).unwrap();
        let known = |name: &str| known_file(dir.path().join(name).as_os_str());
        ["orterun", "mpiexec.hydra", "mpiexec.other"].iter().for_each(|name| put(name, 0o755));
        put("prterun", 0o644);
        // As distributions do: the last of several links is the file.
        link("mpirun", "mpirun.openmpi");
        link("mpirun.openmpi", "orterun");
        link("mpiexec", "mpiexec.hydra");
        link("mpiexec.none", "nowhere");
        assert_eq!((known("mpirun"), known("orterun")), (Some("Open MPI"), Some("Open MPI")));
        assert_eq!(known("mpiexec"), Some("HYDRA"));
        assert_eq!((known("mpiexec.other"), known("mpiexec.none")), (None, None));
        assert_eq!(known("prterun"), None, "it cannot be executed");
        let line = [dir.path().join("mpirun").into_os_string(), "./app".into()];
        assert_eq!(
            Launcher::find(&line),
            Some((0, Some(Launcher::OpenMpi))),
            "an empty file says no version"
        );
    }

    #[test]
    fn every_context_is_found() {
        let line = words("mpirun -n 1 ./a x : -n 2 ./b");
        assert_eq!(contexts(&line, 0), [1..5, 6..9]);
        assert!(contexts(&words("mpirun"), 0).iter().eq([&(1..1)]));
    }

    #[test]
    fn results_are_named_after_the_program_or_the_script() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("solve.py");
        std::fs::write(&script, "").unwrap();
        let line = words(&format!("mpirun -n 4 --map-by core sh -e {} x", script.display()));
        assert_eq!(name(&line, Some(0)).as_deref(), Some("solve"));
        assert_eq!(name(&words("mpirun -n 2 ls -l : ./b"), Some(0)).as_deref(), Some("ls"));
        assert_eq!(name(&words("env A=1 ls"), None).as_deref(), Some("ls"));
        assert_eq!(name(&words("./no-such-program"), None), None);
    }
}
