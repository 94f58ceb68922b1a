//! A command line changed so that the ranks which it starts get variables of
//! the environment, and their launcher does not get the library.

use super::launcher::{Launcher, contexts, program};
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

const PRELOAD: &str = "LD_PRELOAD";
const EXPORT: &str = "--export";

/// What ranks are to find in their environment.
pub(crate) struct Wanted<'a> {
    /// The library.
    pub(crate) library: &'a OsStr,
    /// Names and values of other variables.
    pub(crate) variables: &'a [(&'static str, OsString)],
}

/// What is there already.
#[derive(Default)]
pub(crate) struct Ambient {
    /// `LD_PRELOAD`.
    pub(crate) preload: Option<OsString>,
    /// `SLURM_EXPORT_ENV`.
    pub(crate) slurm_export: Option<OsString>,
}

impl Ambient {
    /// The environment of this process.
    pub(crate) fn of_this_process() -> Self {
        let get = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self { preload: get(PRELOAD), slurm_export: get("SLURM_EXPORT_ENV") }
    }
}

/// What is to be run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) words: Vec<OsString>,
    /// What its environment has beside ours.
    pub(crate) variables: Vec<(&'static str, OsString)>,
}

/// The command line that gives the ranks of `words` what is wanted. `launcher`
/// is where the launcher stands, and which it is; without one that is known,
/// the whole environment passes through to the ranks, or nothing does.
pub(crate) fn line(
    words: &[OsString],
    launcher: Option<(usize, Launcher)>,
    wanted: &Wanted,
    ambient: &Ambient,
    is_program: impl Fn(&OsStr) -> bool,
) -> Line {
    let mut variables = wanted.variables.to_vec();
    let Some((at, launcher)) = launcher else {
        variables.push((PRELOAD, joined(ambient.preload.as_deref(), wanted.library)));
        return Line { words: words.to_vec(), variables };
    };
    let mut changed = words[..=at].to_vec();
    for (number, context) in contexts(words, at).into_iter().enumerate() {
        if number > 0 {
            changed.push(":".into());
        }
        // What follows the program belongs to the program.
        let end = program(&words[context.clone()], &is_program).map_or(context.end, |at| context.start + at);
        let options = words[context.start..end].to_vec();
        let first = number == 0;
        match launcher {
            Launcher::OpenMpi => open_mpi(options, wanted, ambient, &mut changed),
            Launcher::Hydra => hydra(options, first, wanted, ambient, &mut changed),
            Launcher::Slurm => slurm(options, wanted, ambient, &mut changed),
        }
        changed.extend_from_slice(&words[end..context.end]);
    }
    Line { words: changed, variables }
}

/// A list of libraries with one more. What the user has put there comes first:
/// some libraries (of sanitizers) insist on it.
fn joined(before: Option<&OsStr>, library: &OsStr) -> OsString {
    let Some(before) = before.filter(|before| !before.is_empty()) else { return library.to_owned() };
    assigned(before, ":", library)
}

fn assigned(name: impl AsRef<OsStr>, sign: &str, value: &OsStr) -> OsString {
    let mut text = name.as_ref().to_owned();
    text.push(sign);
    text.push(value);
    text
}

/// What follows `name=` in a word.
fn value_of<'a>(word: &'a OsStr, name: &str) -> Option<&'a OsStr> {
    let rest = word.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
    Some(OsStr::from_bytes(rest))
}

/// `-x NAME=VALUE`, in each context.
fn open_mpi(mut options: Vec<OsString>, wanted: &Wanted, ambient: &Ambient, to: &mut Vec<OsString>) {
    let mut preload = ambient.preload.clone();
    let is_of_preload = |word: &OsStr| word == PRELOAD || value_of(word, PRELOAD).is_some();
    while let Some(at) = options.windows(2).position(|pair| pair[0] == "-x" && is_of_preload(&pair[1])) {
        if let Some(value) = value_of(&options[at + 1], PRELOAD) {
            preload = Some(value.to_owned());
        }
        options.drain(at..at + 2);
    }
    let preload = joined(preload.as_deref(), wanted.library);
    to.extend(["-x".into(), assigned(PRELOAD, "=", &preload)]);
    // By name: the launcher itself may have them.
    to.extend(wanted.variables.iter().flat_map(|(name, _)| ["-x".into(), (*name).into()]));
    to.extend(options);
}

/// `-genv NAME VALUE`, which holds for all contexts; `-env` in one of them
/// goes before it.
fn hydra(
    mut options: Vec<OsString>,
    first: bool,
    wanted: &Wanted,
    ambient: &Ambient,
    to: &mut Vec<OsString>,
) {
    let mut preload = ambient.preload.clone();
    let is_of_preload =
        |words: &[OsString], option: [&str; 2]| option.iter().any(|o| words[0] == *o) && words[1] == PRELOAD;
    let find =
        |options: &[OsString], option| options.windows(3).position(|words| is_of_preload(words, option));
    while let Some(at) = find(&options, ["-genv", "--genv"]) {
        preload = options.drain(at..at + 3).next_back();
    }
    if let Some(at) = find(&options, ["-env", "--env"]) {
        options[at + 2] = joined(Some(&options[at + 2]), wanted.library);
    }
    if first {
        to.extend(["-genv".into(), PRELOAD.into(), joined(preload.as_deref(), wanted.library)]);
        let values = wanted.variables.iter();
        to.extend(values.flat_map(|(name, value)| ["-genv".into(), (*name).into(), value.clone()]));
    }
    to.extend(options);
}

/// `--export=ALL,NAME=VALUE`, in each context.
fn slurm(mut options: Vec<OsString>, wanted: &Wanted, ambient: &Ambient, to: &mut Vec<OsString>) {
    let mut export = ambient.slurm_export.clone().unwrap_or_else(|| "ALL".into());
    while let Some(at) = options.iter().position(|word| word == EXPORT || value_of(word, EXPORT).is_some()) {
        let words = if options[at] == EXPORT { 2 } else { 1 };
        let end = options.len().min(at + words);
        let word = options.drain(at..end).next_back().unwrap_or_default();
        export = value_of(&word, EXPORT).unwrap_or(&word).to_owned();
    }
    // NONE and NIL stand alone: with names, only these are exported anyway.
    let mut preload = ambient.preload.clone();
    let mut parts: Vec<OsString> = Vec::new();
    for part in export.as_bytes().split(|byte| *byte == b',') {
        let part = OsStr::from_bytes(part);
        match value_of(part, PRELOAD) {
            Some(value) => preload = Some(value.to_owned()),
            None if ["", "NONE", "NIL", PRELOAD].iter().any(|alone| part == *alone) => {}
            None => parts.push(part.to_owned()),
        }
    }
    parts.push(assigned(PRELOAD, "=", &joined(preload.as_deref(), wanted.library)));
    // By name, for a value may hold commas.
    parts.extend(wanted.variables.iter().map(|(name, _)| OsString::from(name)));
    let bytes: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    to.push(assigned(EXPORT, "=", &OsString::from_vec(bytes.join(&b','))));
    to.extend(options);
}

/// Words that a context of a launcher's command line ends with: the program
/// that it is to start, for each context.
pub(crate) fn with_program(words: &[OsString], launcher: usize, program: &[OsString]) -> Vec<OsString> {
    let mut changed = words[..=launcher].to_vec();
    let all: Vec<Range<usize>> = contexts(words, launcher);
    for (number, context) in all.into_iter().enumerate() {
        if number > 0 {
            changed.push(":".into());
        }
        changed.extend_from_slice(&words[context]);
        changed.extend_from_slice(program);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "/l/ours.so";

    fn split(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    /// The words, joined by blanks, and the variables of the environment.
    fn changed(text: &str, launcher: Option<(usize, Launcher)>, ambient: &Ambient) -> (String, String) {
        let variables = [("LIKEWISE_DIR", OsString::from("/d")), ("LIKEWISE_COUNTERS", "a,b".into())];
        let wanted = Wanted { library: OURS.as_ref(), variables: &variables };
        let line =
            line(&split(text), launcher, &wanted, ambient, |word| word.to_string_lossy().starts_with("./"));
        let told = |words: Vec<String>| words.join(" ");
        (
            told(line.words.iter().map(|word| word.to_string_lossy().into_owned()).collect()),
            told(line.variables.iter().map(|(n, v)| format!("{n}={}", v.to_string_lossy())).collect()),
        )
    }

    fn by(launcher: Launcher, text: &str) -> String {
        let (words, variables) = changed(text, Some((0, launcher)), &Ambient::default());
        assert_eq!(variables, "LIKEWISE_DIR=/d LIKEWISE_COUNTERS=a,b");
        words
    }

    fn preloaded() -> Ambient {
        Ambient { preload: Some("/l/user.so".into()), slurm_export: None }
    }

    #[test]
    fn without_a_launcher_all_is_in_the_environment() {
        let (words, variables) = changed("python -x run.py : y", None, &preloaded());
        assert_eq!(words, "python -x run.py : y");
        assert_eq!(variables, "LIKEWISE_DIR=/d LIKEWISE_COUNTERS=a,b LD_PRELOAD=/l/user.so:/l/ours.so");
    }

    #[test]
    fn open_mpi_gets_options_in_each_context() {
        let ours = "-x LD_PRELOAD=/l/ours.so -x LIKEWISE_DIR -x LIKEWISE_COUNTERS";
        assert_eq!(
            by(Launcher::OpenMpi, "mpirun -np 4 --map-by core -x FOO ./app -x LD_PRELOAD=/its/own"),
            format!("mpirun {ours} -np 4 --map-by core -x FOO ./app -x LD_PRELOAD=/its/own")
        );
        assert_eq!(
            by(Launcher::OpenMpi, "mpirun -n 1 ./a x : -n 2 ./b"),
            format!("mpirun {ours} -n 1 ./a x : {ours} -n 2 ./b")
        );
        let (words, _) = changed("nice mpirun ./a", Some((1, Launcher::OpenMpi)), &Ambient::default());
        assert_eq!(words, format!("nice mpirun {ours} ./a"));
    }

    #[test]
    fn what_the_user_preloads_stays_and_comes_first() {
        let first = |words: String| words.split_whitespace().nth(2).unwrap().to_owned();
        assert_eq!(
            first(by(Launcher::OpenMpi, "mpirun -n 2 -x LD_PRELOAD=/u.so ./a")),
            "LD_PRELOAD=/u.so:/l/ours.so"
        );
        let (words, _) = changed("mpirun -x LD_PRELOAD ./a", Some((0, Launcher::OpenMpi)), &preloaded());
        assert_eq!(words.matches("LD_PRELOAD").count(), 1);
        assert_eq!(first(words), "LD_PRELOAD=/l/user.so:/l/ours.so");
    }

    #[test]
    fn hydra_gets_options_that_hold_for_all_contexts() {
        let ours = "-genv LD_PRELOAD /l/ours.so -genv LIKEWISE_DIR /d -genv LIKEWISE_COUNTERS a,b";
        assert_eq!(
            by(Launcher::Hydra, "mpiexec -n 1 ./a : -n 2 ./b"),
            format!("mpiexec {ours} -n 1 ./a : -n 2 ./b")
        );
        assert_eq!(
            by(Launcher::Hydra, "mpiexec -n 1 ./a : -env LD_PRELOAD /u.so -n 2 ./b -env LD_PRELOAD x"),
            format!("mpiexec {ours} -n 1 ./a : -env LD_PRELOAD /u.so:/l/ours.so -n 2 ./b -env LD_PRELOAD x")
        );
        assert!(
            by(Launcher::Hydra, "mpiexec -genv LD_PRELOAD /u.so -genvnone ./a")
                .starts_with("mpiexec -genv LD_PRELOAD /u.so:/l/ours.so -genv LIKEWISE_DIR")
        );
    }

    #[test]
    fn slurm_exports_ours_beside_what_it_exports_already() {
        let srun = |text: &str| by(Launcher::Slurm, text);
        let ours = "LD_PRELOAD=/l/ours.so,LIKEWISE_DIR,LIKEWISE_COUNTERS";
        assert_eq!(srun("srun -n 4 ./a"), format!("srun --export=ALL,{ours} -n 4 ./a"));
        assert_eq!(srun("srun --export=NONE -n 4 ./a"), format!("srun --export={ours} -n 4 ./a"));
        assert_eq!(
            srun("srun --export A,B=1 ./a --export x"),
            format!("srun --export=A,B=1,{ours} ./a --export x")
        );
        assert_eq!(
            srun("srun --export=ALL,LD_PRELOAD=/u.so ./a : --export=NIL ./b"),
            format!(
                "srun --export=ALL,LD_PRELOAD=/u.so:/l/ours.so,LIKEWISE_DIR,LIKEWISE_COUNTERS ./a : \
                 --export={ours} ./b"
            )
        );
        let ambient = Ambient { slurm_export: Some("PATH".into()), ..Ambient::default() };
        let (words, _) = changed("srun ./a", Some((0, Launcher::Slurm)), &ambient);
        assert_eq!(words, format!("srun --export=PATH,{ours} ./a"));
    }

    #[test]
    fn a_program_is_put_at_the_end_of_each_context() {
        let program = split("./likewise replay");
        let with = |text: &str| with_program(&split(text), 0, &program);
        assert_eq!(with("mpirun -n 4"), split("mpirun -n 4 ./likewise replay"));
        assert_eq!(with("srun -n 1 : -n 3"), split("srun -n 1 ./likewise replay : -n 3 ./likewise replay"));
    }
}
