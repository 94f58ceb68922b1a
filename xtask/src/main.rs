//! The project's automation.
//!
//! CI and contributors run `cargo xtask test`. It installs everything that it
//! needs, or names what it cannot install. It runs the README's first commands
//! as they stand there.

mod circles;
#[cfg(test)]
mod docs;
mod need;
mod readme;

use anyhow::{Context, Result, anyhow, ensure};
use clap::{Parser, Subcommand};
use need::{chromium, mpis, node_modules, python};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::time::Instant;

/// What opens the reports in a browser, and the tools that check their scripts.
const BROWSER_TESTS: &str = "crates/likewise-cli/tests/browser";

#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that CI checks: format, lints, tests, oracles, browser, demo
    Test {
        /// Only what needs neither Python nor a browser
        #[arg(long)]
        quick: bool,
    },
    /// Ours beside the peers, in one run (see bench/README.md)
    Bench {
        /// Passed on to bench/run.py
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// The program, small; shell completions and man pages
    Dist {
        /// Where to write them
        #[arg(default_value = "target/package")]
        dir: PathBuf,
    },
}

fn main() -> Result<()> {
    std::env::set_current_dir(root()).context("the project's folder")?;
    match Cli::parse().task {
        Task::Test { quick } => test(quick),
        // run.py makes a Python environment of its own, so none is made here.
        Task::Bench { args } => run(Command::new("python3").arg("bench/run.py").args(args)),
        Task::Dist { dir } => dist(&dir),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| ".".into(), Path::to_owned)
}

/// Runs a command, and says which and for how long.
fn run(command: &mut Command) -> Result<()> {
    let line = format!("{command:?}").replace('"', "");
    println!("\n\x1b[1m$ {line}\x1b[0m");
    let begin = Instant::now();
    let status = command.status().with_context(|| format!("cannot start: {line}"))?;
    println!("took {:.1} s", begin.elapsed().as_secs_f64());
    ensure!(status.success(), "failed ({status}): {line}");
    Ok(())
}

fn cargo(args: &str) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args.split_whitespace());
    command
}

/// Settings for a release build with debug assertions and overflow checks, so
/// that the README's program shares what the tests have built. At the
/// optimisation level of a release, the run takes half as long again. With few parts of a
/// crate, and no optimisation across them, the tests of the core take a fifth less time to compile.
/// LLVM's usual passes take most of what is left, and few of them do most of the work: with these
/// alone, the tests of the core run a quarter longer.
fn checked(command: &mut Command) -> &mut Command {
    let settings = [
        ("OVERFLOW_CHECKS", "true"),
        ("DEBUG_ASSERTIONS", "true"),
        ("OPT_LEVEL", "1"),
        ("DEBUG", "none"),
        ("LTO", "off"),
        ("CODEGEN_UNITS", "3"),
    ];
    command.envs(settings.map(|(name, value)| (format!("CARGO_PROFILE_RELEASE_{name}"), value)));
    let passes = "-C no-prepopulate-passes -C passes=cgscc(inline),function(sroa,early-cse,simplifycfg)";
    let asked = std::env::var("RUSTFLAGS").unwrap_or_default();
    command.env("RUSTFLAGS", format!("{asked} {passes}"))
}

/// An example in the program's crate writes completions and man pages. So xtask
/// itself does not contain the program, and a test run builds it once less.
fn dist(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    run(&mut cargo("build --profile dist --package likewise-cli --bin likewise"))?;
    let program = dir.join("likewise");
    std::fs::copy(root().join("target/dist/likewise"), &program)
        .with_context(|| program.display().to_string())?;
    run(cargo("run --quiet --profile dist --package likewise-cli --example dist --").arg(dir))
}

fn test(quick: bool) -> Result<()> {
    let before = readme::untracked()?;
    checks(quick)?;
    let left: Vec<String> = readme::untracked()?.into_iter().filter(|line| !before.contains(line)).collect();
    ensure!(left.is_empty(), "left behind in the checkout:\n{}", left.join("\n"));
    Ok(())
}

fn checks(quick: bool) -> Result<()> {
    run(&mut cargo("fmt --all --check"))?;
    circles::check(&root().join("crates"))?;
    // As what is run below is built: macros and build scripts are compiled only once.
    run(checked(&mut cargo("clippy --release --workspace --all-targets -- -D warnings")))?;
    run(checked(&mut cargo("clippy --release --package likewise-cli --no-default-features -- -D warnings")))?;
    let doc = &mut cargo("doc --release --workspace --lib --no-deps");
    run(checked(doc.env("RUSTDOCFLAGS", "-D warnings")))?;
    if !quick {
        mpis()?;
    }
    tests(quick)?;
    if quick {
        return Ok(());
    }
    let work = root().join("target/xtask");
    std::fs::create_dir_all(&work)?;
    // This builds the program that the steps below call.
    readme::run_commands(&work)?;
    let likewise = root().join("target/release/likewise");
    let mut oracle = Command::new(python("tests/requirements.txt")?);
    run(oracle.arg("tests/oracle.py").arg(&likewise).arg(&work).env("PYTHONDONTWRITEBYTECODE", "1"))?;
    reports(&likewise, &work)
}

/// Every kind of report, opened in a browser; their scripts, checked.
fn reports(likewise: &Path, work: &Path) -> Result<()> {
    let browser = chromium()?;
    let modules = node_modules(BROWSER_TESTS)?;
    scripts(&modules)?;
    let efforts = work.join("efforts.csv");
    std::fs::write(&efforts, efforts_of_six_kinds())?;
    run(Command::new(likewise).arg("ranks").arg(&efforts).arg("-o").arg(work.join("ranks")))?;
    for kind in ["counters", "regimes"] {
        run(Command::new(likewise).args(["demo", &format!("--{kind}"), "-o"]).arg(work.join(kind)))?;
    }
    // So many bursts that a pixel of the timeline holds several.
    let run_of_many = work.join("dense-run");
    let made_up = ["synth", "--tasks", "32", "--bursts", "100000", "--phases", "9", "-o"];
    run(Command::new(likewise).args(made_up).arg(&run_of_many))?;
    run(Command::new(likewise)
        .arg("bursts")
        .arg(run_of_many.join("synth.prv"))
        .arg("-o")
        .arg(work.join("dense")))?;
    // A table of counters, ranked; and runs of one program on 4 and 8 tasks.
    let table = work.join("counters/input/counters.csv");
    let objectives = ["--max", "TOT_INS", "--min", "TOT_CYC"];
    run(Command::new(likewise).arg("pareto").arg(table).args(objectives).arg("-o").arg(work.join("pareto")))?;
    let runs = work.join("synth");
    for tasks in ["4", "8"] {
        let options = ["--iterations", "20", "--defect", "grows", "--seed", "3", "--tasks", tasks];
        let named = ["--name", &format!("tasks{tasks}"), "-o"];
        run(Command::new(likewise).arg("synth").args(options).args(named).arg(&runs))?;
    }
    let compared = ["tasks4.prv", "tasks8.prv"].map(|name| runs.join(name));
    run(Command::new(likewise).arg("compare").args(compared).arg("-o").arg(work.join("compare")))?;
    let names = ["demo", "epoch", "dense", "ranks", "counters", "regimes", "pareto", "compare"];
    let reports = names.map(|name| work.join(name).join("report.html"));
    let opened = |report: &PathBuf| {
        let mut node = Command::new("node");
        node.arg(modules.join("report.mjs")).arg(report).env("CHROMIUM", &browser);
        node
    };
    side_by_side(reports.iter().filter(|report| report.exists()).map(opened).collect())
}

/// Runs commands that wait much, two at a time, and prints what each has printed once it has ended.
fn side_by_side(commands: Vec<Command>) -> Result<()> {
    let left = Mutex::new(commands.into_iter());
    let worker = || {
        // The lock is let go before the command runs.
        while let Some(mut command) = { left.lock().map_err(|_| anyhow!("another failed"))?.next() } {
            let line = format!("{command:?}").replace('"', "");
            let begin = Instant::now();
            let Output { status, stdout, stderr } =
                command.output().with_context(|| format!("cannot start: {line}"))?;
            let [out, err] = [&stdout, &stderr].map(|bytes| String::from_utf8_lossy(bytes));
            println!("\n\x1b[1m$ {line}\x1b[0m\n{out}{err}took {:.1} s", begin.elapsed().as_secs_f64());
            ensure!(status.success(), "failed ({status}): {line}");
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers = [scope.spawn(worker), scope.spawn(worker)];
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| anyhow!("a worker panicked"))?)
    })
}

/// The scripts of the reports and of their tests: types, and what a linter knows to be wrong.
fn scripts(modules: &Path) -> Result<()> {
    let tool = |name: &str| Command::new(modules.join("node_modules/.bin").join(name));
    run(tool("tsc").arg("--project").arg(Path::new(BROWSER_TESTS).join("tsconfig.json")))?;
    let rules = Path::new(BROWSER_TESTS).join("lint.json");
    let folders = ["crates/likewise-report/src", BROWSER_TESTS];
    run(tool("biome").args(["lint", "--error-on-warnings", "--config-path"]).arg(rules).args(folders))
}

/// Runs all tests, built as the README's program is. A test that lacks something is skipped and says so.
/// It is an error if a test is skipped for something that this machine has: it would pass for done.
fn tests(quick: bool) -> Result<()> {
    let skipped = root().join("target/xtask/skipped.txt");
    std::fs::create_dir_all(root().join("target/xtask"))?;
    std::fs::write(&skipped, "")?;
    // Many tests wait for processes that they start, so there is work for one more than there are cores.
    let at_once = std::thread::available_parallelism().map_or(2, |cores| cores.get() + 1);
    // No test runs an example, and the lints have compiled them.
    for which in ["--lib --bins --tests", "--doc"] {
        let mut command = cargo(&format!("test --release --workspace {which}"));
        command.env(likewise_testing::SKIPPED, &skipped).env("RUST_TEST_THREADS", at_once.to_string());
        run(checked(&mut command))?;
    }
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for line in std::fs::read_to_string(&skipped)?.lines() {
        let (_, reason) = line.split_once(": ").context("a test and why it is skipped")?;
        *reasons.entry(reason.to_owned()).or_default() += 1;
    }
    reasons.iter().for_each(|(reason, n)| println!("skipped: {n} times, {reason}"));
    let data = root().ancestors().any(|folder| folder.join("shared/data/epoch").is_dir());
    // Programs of others (LAMMPS, NPB, mpi4py) need not be here.
    let is_mpi = |reason: &str| ["mpirun", "mpicc", "mpif90"].iter().any(|name| reason.contains(name));
    let can_run = |reason: &&String| {
        if is_mpi(reason) { !quick } else { data && reason.contains("shared/data") }
    };
    let wrongly = reasons.keys().find(can_run);
    ensure!(wrongly.is_none(), "a test was skipped that can run here: {}", wrongly.unwrap_or(&String::new()));
    Ok(())
}

/// A row for each of 300 ranks of six kinds; each rank also differs a little from its kind.
fn efforts_of_six_kinds() -> String {
    let own = |rank: usize, step: usize| (rank * rank * 31 + step * step * 17 + rank * step * 13) % 97;
    let effort = |rank: usize, step: usize| {
        let kind = rank % 6;
        (20 + 10 * kind + (step * kind) % 7) as f64 + own(rank, step) as f64 / 97.0
    };
    let row =
        |rank: usize| (0..40).map(|step| effort(rank, step).to_string()).collect::<Vec<_>>().join(",") + "\n";
    (0..300).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
