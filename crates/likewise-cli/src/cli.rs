//! The command line: what is asked for, and how a failure is told.

use crate::advice::advice;
use crate::commands::{
    align, bursts, compare, convert, counters, cut, demo, info, pareto, points, ranks, record, replay,
    retime, synth,
};
use crate::common::{Call, Common, ToldElsewhere, Usage};
use crate::escape;
use crate::launch::child::{Failed, hold_signals};
use crate::seen::Seen;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use likewise_analysis::together::told_once;
use likewise_comm::Communicator;
use likewise_mpi::{Launcher, MpiComm};
use std::ffi::OsString;
use std::process::ExitCode;

/// Finds what behaves alike in a parallel run
///
/// Groups the computation bursts of a trace into phases, shows the result on
/// the terminal and in a report that opens in any browser, and writes it as
/// CSV, JSON and a labelled Paraver trace.
#[derive(Debug, Parser)]
#[command(name = "likewise", version, after_help = EXAMPLES, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    task: Task,
    #[command(flatten)]
    common: Common,
}

const EXAMPLES: &str = "\
Examples:
  likewise demo                                      a made-up run, analysed; needs no input
  likewise bursts run.prv.gz -o run.likewise         phases of a Paraver trace
  likewise bursts run.prv --metric 'IPC=PAPI_TOT_INS/PAPI_TOT_CYC' --metric PAPI_L2_DCM,log -o out
  likewise cut run.prv -o small                      the iterations that stand for all
  likewise retime run.prv --bursts out/bursts.csv --times simulated.csv   the run, if phases took other times
  likewise ranks effort.npy -o out                   which processes behave alike, and how few to trace
  likewise record -o run -- mpirun -n 16 ./app       the MPI calls of any program, with call paths and times
  likewise replay run -- mpirun -n 16                the same calls, sizes and times, without the program
  likewise info run.prv                              what is in a trace
  likewise convert run --to csv -o out               every event of a recording as CSV, Parquet or Paraver
  likewise points table.npy --eps 0.01 -o out        the same clustering for any table of numbers
  likewise counters sites.csv -o out                 which events of a counter table tell the same
  likewise pareto sites.csv --max time,L2_misses     the rows that are worst on both
  likewise compare run_1.prv run_4.prv run_16.prv    which phase of several runs scales how
  likewise compare out/bursts.csv truth.csv          how alike two groupings are";

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    Bursts(Box<bursts::BurstsArgs>),
    Cut(Box<cut::CutArgs>),
    Demo(demo::DemoArgs),
    Ranks(Box<ranks::RanksArgs>),
    Counters(Box<counters::CountersArgs>),
    Pareto(pareto::ParetoArgs),
    Points(points::PointsArgs),
    Align(align::AlignArgs),
    Compare(compare::CompareArgs),
    Convert(convert::ConvertArgs),
    Info(info::InfoArgs),
    Record(record::RecordArgs),
    Replay(replay::ReplayArgs),
    Retime(retime::RetimeArgs),
    Synth(synth::SynthArgs),
}

impl Task {
    /// Whether it runs another program, which gets the signals that we get.
    fn runs_a_program(&self) -> bool {
        matches!(self, Self::Record(_)) || matches!(self, Self::Replay(args) if args.launches())
    }
}

/// The command line as data, for completions and man pages.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// What clap has to say: help as it is, an error without what a terminal obeys.
fn tell_clap(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        let text = error.render().to_string();
        tell_error(text.strip_prefix("error: ").unwrap_or(&text).trim_end());
    } else {
        let _ = error.print();
    }
    ExitCode::from(error.exit_code() as u8)
}

fn tell_error(text: &str) {
    let style = anstyle::AnsiColor::Red.on_default().bold();
    anstream::eprintln!("{style}error:{style:#} {}", escape::plain(text));
}

fn parsed(args: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let args: Vec<OsString> = args.collect();
    let matches: ArgMatches = command().try_get_matches_from(&args)?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    cli.common.call = Call {
        command: matches.subcommand_name().unwrap_or_default().to_owned(),
        arguments: args.iter().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect(),
        seen: Seen::default(),
    };
    Ok(cli)
}

/// Refuses to do the same work on all of `n` processes of an MPI program: only
/// `likewise ranks` and `likewise bursts` share it.
fn check_launcher(task: &Task, name: &str, n: usize) -> anyhow::Result<()> {
    let shares = match task {
        Task::Ranks(_) | Task::Bursts(_) => true,
        Task::Replay(args) => !args.launches(),
        _ => false,
    };
    if shares || n < 2 {
        return Ok(());
    }
    if task.runs_a_program() {
        let text = format!(
            "{name} has started {n} processes of this: it goes behind the `--`, as in \
             `likewise record -- mpirun -n {n} ./app`"
        );
        return Err(Usage(text).into());
    }
    let text = format!(
        "{name} has started {n} processes, and of all commands only `likewise ranks` and `likewise bursts` share their work: leave the launcher out"
    );
    Err(Usage(text).into())
}

/// Where a launcher has started several processes, all go on or none: what is
/// wrong with the command line of any is told once. They begin MPI for this, which
/// ends when the communicator goes.
fn together(cli: anyhow::Result<Cli>) -> (Option<MpiComm>, anyhow::Result<Cli>) {
    let Some(launcher) = Launcher::of_this_process() else { return (None, cli) };
    // Open MPI gives process 0 a terminal, wherever its output goes.
    anstream::ColorChoice::Never.write_global();
    if launcher.n_ranks == Some(1) {
        return (None, cli);
    }
    // Without MPI each tells for itself; who needs MPI tells why there is none.
    let mpi = MpiComm::init().unwrap_or_default();
    let n = mpi.as_ref().map_or(launcher.n_ranks.unwrap_or(1), Communicator::size);
    let checked = cli.and_then(|cli| check_launcher(&cli.task, launcher.name, n).map(|()| cli));
    let checked = told_once(mpi.as_ref(), checked);
    (mpi, checked)
}

fn run_task(cli: &Cli) -> anyhow::Result<()> {
    match &cli.task {
        Task::Bursts(args) => bursts::run(args, &cli.common),
        Task::Cut(args) => cut::run(args, &cli.common),
        Task::Demo(args) => demo::run(args, &cli.common),
        Task::Ranks(args) => ranks::run(args, &cli.common),
        Task::Counters(args) => counters::run(args, &cli.common),
        Task::Pareto(args) => pareto::run(args, &cli.common),
        Task::Points(args) => points::run(args, &cli.common),
        Task::Align(args) => align::run(args, &cli.common),
        Task::Compare(args) => compare::run(args, &cli.common),
        Task::Convert(args) => convert::run(args, &cli.common),
        Task::Info(args) => info::run(args, &cli.common),
        Task::Record(args) => record::run(args, &cli.common),
        Task::Replay(args) => replay::run(args, &cli.common),
        Task::Retime(args) => retime::run(args, &cli.common),
        Task::Synth(args) => synth::run(args, &cli.common),
    }
}

/// Runs the program. Exit codes: 0 done, 1 failed, 2 the command line is wrong.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let parsed = parsed(args.into_iter()).map_err(anyhow::Error::from);
    let (_mpi, cli) = together(parsed);
    let cli = match cli {
        Ok(cli) => cli,
        Err(error) => return tell(&error, None),
    };
    if cli.task.runs_a_program() {
        hold_signals();
    } else {
        likewise_trace::heed_files();
        // Told to end: nothing half-written stays.
        let _ = ctrlc::set_handler(|| {
            likewise_trace::remove_unfinished();
            std::process::exit(130);
        });
    }
    cli.common.apply();
    run_task(&cli).map_or_else(|error| tell(&error, Some(&cli.task)), |()| ExitCode::SUCCESS)
}

/// Says what went wrong with what was to be done.
fn tell(error: &anyhow::Error, task: Option<&Task>) -> ExitCode {
    // A launcher ends all at the first failure: before the one who tells
    // why has told it, if this were one.
    if error.is::<ToldElsewhere>() {
        return ExitCode::SUCCESS;
    }
    if let Some(failed) = error.downcast_ref::<Failed>() {
        return ExitCode::from(failed.0);
    }
    if let Some(error) = error.downcast_ref::<clap::Error>() {
        return tell_clap(error);
    }
    let advice = task.and_then(|task| advice(error, task));
    tell_error(&format!("{error:#}{}", advice.map_or_else(String::new, |advice| format!("; {advice}"))));
    ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }
}
