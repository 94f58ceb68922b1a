//! `likewise compare`: two groupings of one run, or several runs of one program.

mod labels;
mod runs;

pub(crate) use labels::likeness;

use crate::common::{Common, Usage};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use likewise_analysis::definition::parse_share;
use likewise_trace::{is_rereadable, is_ungrouped};
use std::ffi::OsString;
use std::path::PathBuf;

/// Compare runs of one program, or two groupings of one run
///
/// Given traces (Paraver, or CSV of bursts without clusters), finds the phases
/// of each, which phases of the runs are the same, how each scales with the
/// number of threads, and why one stops; of runs of as many threads, which
/// phase is slower or faster, and on which tasks. Runs of unlike numbers of
/// iterations are compared per iteration, or per burst where no period is
/// found. Writes scaling.csv, summary.json and report.html.
///
/// Given two tables with clusters (bursts.csv, truth.csv and labels.csv of
/// likewise, .DATA.csv of ClusteringSuite, plain or gzip), prints adjusted Rand
/// index and Mirkin distance. Bursts are matched by task, thread and begin
/// where both files have them, else row by row.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArgs {
    /// Two labelled files, or traces of two or more runs
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Labels: take noise as one more cluster instead of leaving it out
    #[arg(long)]
    noise: bool,
    #[command(flatten)]
    runs: RunsArgs,
}

/// How runs are compared
#[derive(Debug, Args)]
#[command(next_help_heading = "Runs")]
struct RunsArgs {
    /// Directory for the result [default: compare.likewise]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What more threads are for: the same work in less time (strong), or more
    /// work in the same time (weak); auto tells by the instructions [default: auto]
    #[arg(long, value_enum)]
    scaling: Option<ScalingArg>,
    /// A phase stops scaling if its efficiency is below this [default: 80%]. If
    /// all runs have the same number of tasks, a phase is slower below this
    /// [default: 95%]
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    threshold: Option<f64>,
    /// Compare whole runs: their work is known to be the same, whatever their
    /// iterations are
    #[arg(long)]
    total: bool,
    /// Options of `likewise bursts` for the analysis of each run: those that
    /// say what to read, what describes a burst, and how to group
    #[arg(last = true, value_name = "OPTIONS")]
    bursts: Vec<OsString>,
}

impl CompareArgs {
    /// Whether these are runs, as far as can be told without reading a pipe.
    pub(crate) fn are_runs(&self) -> bool {
        let known = self.files.iter().filter(|path| is_rereadable(path));
        known.into_iter().any(|path| is_ungrouped(path).unwrap_or(false))
    }
}

impl RunsArgs {
    /// The first option that was given.
    fn given(&self) -> Option<String> {
        let analysis = || self.bursts.first().map(|word| format!("'-- {}'", word.to_string_lossy()));
        let options = [
            (self.output.is_some(), "--output"),
            (self.scaling.is_some(), "--scaling"),
            (self.threshold.is_some(), "--threshold"),
            (self.total, "--total"),
        ];
        let given = options.into_iter().find(|(given, _)| *given);
        given.map(|(_, name)| name.to_owned()).or_else(analysis)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ScalingArg {
    Auto,
    Strong,
    Weak,
}

const EXAMPLES: &str = "\
Examples:
  likewise compare run_1.prv.gz run_4.prv.gz run_16.prv.gz -o scaling
  likewise compare --scaling weak --threshold 90% small.prv large.prv
  likewise compare --total before.prv after.prv
  likewise compare a.prv b.prv -- --min-duration 5us -m PAPI_TOT_INS,log
  likewise compare out/bursts.csv run.DATA.csv.gz
  likewise compare --noise out/bursts.csv truth.csv";

pub(crate) fn run(args: &CompareArgs, common: &Common) -> Result<()> {
    for path in args.files.iter().filter(|path| path.as_os_str() != "-") {
        std::fs::metadata(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    }
    // A pipe cannot be looked at beforehand; it is what the others are.
    let known: Vec<&PathBuf> = args.files.iter().filter(|path| is_rereadable(path)).collect();
    let ungrouped: Vec<bool> = known.iter().map(|path| is_ungrouped(path)).collect::<Result<_, _>>()?;
    let first =
        |is_run: bool| known.iter().zip(&ungrouped).find(|(_, run)| **run == is_run).map(|(path, _)| path);
    if let Some(run) = first(true) {
        if let Some(grouping) = first(false) {
            let text = format!(
                "{} is a trace of a run and {} a table with clusters, and these cannot be compared; give either \
                 traces of several runs or two groupings of one",
                run.display(),
                grouping.display()
            );
            return Err(Usage(text).into());
        }
        if args.noise {
            let text = "--noise is for two groupings of one run; these are traces of runs";
            return Err(Usage(text.to_owned()).into());
        }
        return runs::run(&args.files, &args.runs, common);
    }
    if let Some(option) = args.runs.given() {
        let text = format!("{option} is for runs of one program; these are two groupings of one run");
        return Err(Usage(text).into());
    }
    match &args.files[..] {
        [a, b] => labels::run(a, b, args.noise, common),
        more => Err(Usage(format!("{} groupings were given; two are compared", more.len())).into()),
    }
}
