//! The README's first commands. CI runs exactly what a newcomer types.

use crate::{checked, root};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The command that CI runs. It runs the other commands of the README, so it
/// must not run itself.
const CI: &str = "cargo xtask test";

/// The lines of the README's first code block, as they stand there.
fn lines() -> Result<Vec<String>> {
    let readme = std::fs::read_to_string(root().join("README.md")).context("README.md")?;
    let block = readme.split("```").nth(1).context("README.md has no code block")?;
    Ok(block.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// A line without its comment.
fn command(line: &str) -> &str {
    line.split(" #").next().unwrap_or_default().trim()
}

/// Runs the README's commands as they stand there, in this folder, except the
/// one that has started us. Each names a report; its folder is moved into
/// `work`.
pub(crate) fn run_commands(work: &Path) -> Result<()> {
    for line in lines()?.iter().filter(|line| command(line) != CI) {
        println!("\n\x1b[1m$ {line}\x1b[0m");
        let mut shell = Command::new("sh");
        let output = checked(shell.args(["-c", line])).stderr(Stdio::inherit()).output()?;
        let told = String::from_utf8_lossy(&output.stdout);
        print!("{told}");
        ensure!(output.status.success(), "failed ({}): {line}", output.status);
        let report = told.lines().find_map(|line| line.strip_prefix("Report: "));
        let report = PathBuf::from(report.with_context(|| format!("no report is named by: {line}"))?);
        ensure!(report.is_file(), "there is no {}, which is named by: {line}", report.display());
        let made = report.parent().context("a report in a folder")?;
        let to = work.join("demo");
        if to.exists() {
            std::fs::remove_dir_all(&to)?;
        }
        std::fs::rename(made, &to).with_context(|| format!("{}", made.display()))?;
    }
    Ok(())
}

/// The files in the checkout that Git does not track, ignored ones too, except
/// Cargo's own. Empty if this is no checkout.
pub(crate) fn untracked() -> Result<BTreeSet<String>> {
    let status = Command::new("git").args(["status", "--porcelain", "--ignored"]).output();
    let Some(status) = status.ok().filter(|status| status.status.success()) else {
        println!("skipped: whether files are left behind, for this is no checkout of git");
        return Ok(BTreeSet::new());
    };
    let lines = String::from_utf8(status.stdout)?;
    Ok(lines.lines().filter(|line| *line != "!! target/").map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The README's commands are `CI`, which `.ci/run` runs, and calls of the
    /// program, which `run_commands` runs. So none of the three can change alone.
    #[test]
    fn ci_runs_what_the_readme_says() {
        let lines = lines().unwrap();
        let (ci, others): (Vec<&str>, Vec<&str>) =
            lines.iter().map(|line| command(line)).partition(|command| *command == CI);
        assert_eq!(ci, [CI], "the README's first commands: {lines:?}");
        let script = std::fs::read_to_string(root().join(".ci/run")).unwrap();
        assert_eq!(script.lines().last(), Some(format!("exec {CI}").as_str()), ".ci/run");
        assert!(!others.is_empty(), "the README's first commands: {lines:?}");
        for other in others {
            let program = other.strip_prefix("cargo run --release -- ");
            let call = program.unwrap_or_else(|| panic!("README.md: '{other}' is not built with --release"));
            let words = ["likewise"].into_iter().chain(call.split_whitespace());
            likewise_cli::command().try_get_matches_from(words).unwrap_or_else(|e| panic!("README.md: {e}"));
        }
    }

    /// The demo writes into the checkout, so `.gitignore` must name its folder.
    #[test]
    fn a_fresh_clone_stays_clean_after_the_demo() {
        if !root().join(".git").exists() {
            println!("skipped: this is no checkout of git");
            return;
        }
        let mut ignored = Command::new("git");
        ignored.args(["check-ignore", "-q", "demo.likewise/report.html"]).current_dir(root());
        assert!(ignored.status().unwrap().success(), "demo.likewise is not ignored");
    }
}
