//! The command line: what is asked for, and how a failure is told.

use crate::advice::advice;
use crate::commands::{
    align, bursts, compare, counters, cut, demo, info, pareto, points, ranks, retime, synth,
};
use crate::escape;
use crate::progress::Progress;
use clap::{ArgMatches, Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};
use likewise_mpi::Launcher;
use std::ffi::OsString;
use std::io::Write;
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
  likewise info run.prv                              what is in a trace
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
    Info(info::InfoArgs),
    Retime(retime::RetimeArgs),
    Synth(synth::SynthArgs),
}

/// Names of columns in one argument, with commas between them; those that
/// hold commas are in double quotes, as in CSV.
#[derive(Clone, Debug)]
pub(crate) struct Names(Vec<String>);

impl std::str::FromStr for Names {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut names = vec![String::new()];
        let (mut quoted, mut chars) = (false, text.chars().peekable());
        while let Some(c) = chars.next() {
            let name = names.last_mut().expect("one at least");
            match c {
                '"' if quoted && chars.peek() == Some(&'"') => name.extend(chars.next()),
                '"' if quoted => quoted = false,
                '"' if name.is_empty() => quoted = true,
                ',' if !quoted => names.push(String::new()),
                c => name.push(c),
            }
        }
        match names.iter().any(String::is_empty) {
            true => Err("a name is empty".to_owned()),
            false if quoted => Err("a quote is not closed".to_owned()),
            false => Ok(Self(names)),
        }
    }
}

impl Names {
    /// Those of all arguments.
    pub(crate) fn all(arguments: &[Self]) -> Vec<String> {
        arguments.iter().flat_map(|names| names.0.iter().cloned()).collect()
    }
}

/// What every subcommand understands.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Common {
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: what was read, how long each stage took, and every phase
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Print the result as JSON instead of tables
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Use this many threads [default: all cores]; the result does not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Colour the output; NO_COLOR is heeded
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    #[arg(skip)]
    pub(crate) call: Call,
}

/// How the program was called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) command: String,
    pub(crate) arguments: Vec<String>,
}

impl Common {
    /// As if that command were called.
    #[cfg(test)]
    pub(crate) fn of_call(command: &str) -> Self {
        let call = Call { command: command.to_owned(), arguments: Vec::new() };
        Self { quiet: true, call, ..Self::default() }
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress::new(self.quiet)
    }

    /// The same, but news are for the caller to tell.
    pub(crate) fn quieter(&self) -> Self {
        Self { quiet: true, ..self.clone() }
    }

    /// Prints a line of news for people, on standard error.
    pub(crate) fn say(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            anstream::eprintln!("{}", escape::plain(&text.to_string()));
        }
    }

    /// Prints a detail, on standard error, if asked to say more.
    pub(crate) fn tell(&self, text: impl std::fmt::Display) {
        if self.verbose {
            anstream::eprintln!("{}", escape::plain(&text.to_string()));
        }
    }

    /// Whether every phase is to be listed, however small.
    pub(crate) fn wants_all(&self) -> bool {
        self.verbose
    }

    /// Prints the result, on standard output: the JSON if asked for, else the
    /// text, which may hold colours. A reader that goes away is no failure.
    pub(crate) fn print(
        &self,
        json: &serde_json::Value,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        let (_, colour) = self.terminal();
        let mut out = anstream::stdout().lock();
        let result = if self.json {
            writeln!(out, "{}", escape::json(&format!("{json:#}")))
        } else if self.quiet {
            Ok(())
        } else if colour {
            write!(out, "{}", escape::coloured(&text()))
        } else {
            write!(out, "{}", escape::plain(&text()))
        };
        match result {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e.into()),
            _ => Ok(()),
        }
    }

    /// Columns of the terminal, and whether it takes colours.
    pub(crate) fn terminal(&self) -> (usize, bool) {
        let out = std::io::stdout();
        let colour = anstream::AutoStream::choice(&out) != anstream::ColorChoice::Never;
        let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        let width = columns.or_else(|| terminal_size::terminal_size().map(|(w, _)| usize::from(w.0)));
        (width.unwrap_or(100).max(40), colour)
    }

    fn apply(&self) {
        match self.color {
            ColorChoice::Auto => {}
            ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
            ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
        }
        if let Some(threads) = self.threads {
            let _ = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build_global();
        }
    }
}

/// A command line that asks for what cannot be, found out after it was parsed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// A failure that another process of the same run tells.
#[derive(Debug, thiserror::Error)]
#[error("another rank failed")]
pub(crate) struct ToldElsewhere;

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
    };
    Ok(cli)
}

/// Refuses to do the same work on every process of an MPI program: only
/// `likewise ranks` shares it. Process 0 says so.
fn check_launcher(task: &Task, launcher: Option<Launcher>) -> anyhow::Result<()> {
    let Some(Launcher { name, n_ranks: Some(n @ 2..), rank, .. }) = launcher else { return Ok(()) };
    if matches!(task, Task::Ranks(_)) {
        return Ok(());
    }
    if rank.is_some_and(|rank| rank > 0) {
        return Err(ToldElsewhere.into());
    }
    let text = format!(
        "{name} has started {n} processes, and of all commands only `likewise ranks` shares its work: leave the launcher out"
    );
    Err(Usage(text).into())
}

fn run_task(cli: &Cli) -> anyhow::Result<()> {
    check_launcher(&cli.task, Launcher::of_this_process())?;
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
        Task::Info(args) => info::run(args, &cli.common),
        Task::Retime(args) => retime::run(args, &cli.common),
        Task::Synth(args) => synth::run(args, &cli.common),
    }
}

/// Runs the program. Exit codes: 0 done, 1 failed, 2 the command line is wrong.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match parsed(args.into_iter()) {
        Ok(cli) => cli,
        Err(error) => return tell_clap(&error),
    };
    cli.common.apply();
    // Told to end: nothing half-written stays.
    let _ = ctrlc::set_handler(|| {
        likewise_trace::remove_unfinished();
        std::process::exit(130);
    });
    match run_task(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        // A launcher ends all at the first failure: before the one who tells
        // why has told it, if this were one.
        Err(error) if error.is::<ToldElsewhere>() => ExitCode::SUCCESS,
        Err(error) if error.is::<clap::Error>() => {
            // A command line within the command line: what follows '--'.
            error.downcast_ref::<clap::Error>().map_or(ExitCode::FAILURE, tell_clap)
        }
        Err(error) => {
            let code = if error.is::<Usage>() { 2 } else { 1 };
            let advice = advice(&error, &cli.task).map_or_else(String::new, |advice| format!("; {advice}"));
            tell_error(&format!("{error:#}{advice}"));
            ExitCode::from(code)
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }
}
