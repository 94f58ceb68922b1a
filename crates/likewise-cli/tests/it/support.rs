//! Calling the program.

pub(crate) use likewise_testing::{LAUNCHERS, real_data as shared_data};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a call said and how it ended.
pub(crate) struct Call {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn likewise(args: &[&str]) -> Call {
    finish(command(args).output().expect("the program starts"))
}

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_likewise"));
    command.args(args).env_remove("NO_COLOR").env("COLUMNS", "100");
    command
}

pub(crate) fn finish(output: Output) -> Call {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    Call {
        code: output.status.code().expect("it ended by itself"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Calls the program and wants it to succeed.
pub(crate) fn succeeds(args: &[&str]) -> Call {
    let call = likewise(args);
    assert_eq!(call.code, 0, "{args:?}: {}", call.stderr);
    call
}

/// `likewise retime` of a trace, with the phases of `bursts`, into `out`.
pub(crate) fn retime([trace, bursts, times, out]: [&Path; 4]) -> Call {
    let call = ["retime", text(trace), "--bursts", text(bursts), "--times", text(times), "-o", text(out)];
    likewise(&call)
}

/// A made-up trace of 4 tasks in `dir`; the path of its `.prv`.
pub(crate) fn synth(dir: &Path, bursts: u32) -> PathBuf {
    let bursts = bursts.to_string();
    succeeds(&["synth", "--tasks", "4", "--bursts", &bursts, "--seed", "3", "-q", "-o", text(dir)]);
    dir.join("synth.prv")
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

pub(crate) fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

pub(crate) fn summary(dir: &Path) -> serde_json::Value {
    serde_json::from_str(&read(dir, "summary.json")).expect("JSON")
}

/// Names of what is in a folder, hidden files too, but for the manifest.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter(|name| name != ".likewise.json")
        .collect();
    names.sort();
    names
}

/// A few made-up runs; all that the docs speak of with `LIKEWISE_SEEDS=40`.
pub(crate) fn seeds(few: u64) -> std::ops::RangeInclusive<u64> {
    1..=std::env::var("LIKEWISE_SEEDS")
        .map_or(few, |seeds| seeds.parse().expect("LIKEWISE_SEEDS is a number"))
}
