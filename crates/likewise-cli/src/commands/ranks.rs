//! `likewise ranks`: which processes behave alike, and how few must be traced.

use super::{sampled, traced};
use crate::args::{options_of_ranks, parse_count};
use crate::common::{Common, Usage};
use crate::files::ranks::{csv, json, windows};
use crate::finish::finish;
use crate::output::OutputDir;
use crate::taken;
use crate::trace::{say_notes, stem};
use anyhow::Result;
use clap::{Args, ValueEnum};
use likewise::comm::Communicator;
use likewise::ranks::{Allocation, Bound, PlanParams, Wavelet};
use likewise::table::Nanos;
use likewise::words::counted;
use likewise_analysis::Stages;
use likewise_analysis::definition::parse_share;
use likewise_analysis::ranks::{
    Classes, Classified, Method, Mode, Options, RanksReport, Regions, check, classify, is_trace,
};
use likewise_analysis::together::{same_options, told_once};
use likewise_mpi::MpiComm;
use likewise_report::ranks as report;
use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;

/// Find which processes behave alike, and how few must be traced
///
/// Reads the effort of every rank in every step (CSV with a row per rank, CSV
/// with columns rank,step,region,effort, .npy, or Parquet), or takes it from a
/// Paraver trace: regions are then phases, steps the iterations of the run.
/// Groups the ranks about medoids (CAPEK), says whether the data support these
/// classes or what else they show (a gradient, alike ranks), and writes
/// ranks.csv, classes.csv, traces.csv, summary.json and report.html. Of a
/// recording by strata it estimates the mean effort of all ranks from those that
/// were sampled, with its error. Under mpirun each process reads and works on some of the ranks; the result is the
/// same.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RanksArgs {
    /// Effort table, Paraver trace, recording (a folder), or '-' for a table on standard input
    input: PathBuf,
    /// Directory for the result [default: the input's name with .ranks]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What the efforts of a trace are of [default: phases]
    #[arg(long, value_enum, value_name = "WHAT")]
    regions: Option<RegionsArg>,
    #[command(flatten)]
    classes: ClassesArgs,
    #[command(flatten)]
    plan: PlanArgs,
    /// Estimate the mean of all ranks, with its error, from an input that has
    /// only the ranks that were traced. DIR is the result of the run that made
    /// the plan (or its ranks.csv)
    #[arg(long, value_name = "DIR", conflicts_with_all = OF_CLASSES)]
    traced: Option<PathBuf>,
    /// Group anew every N steps as well, and say how far the classes moved
    #[arg(long, value_name = "N", value_parser = parse_count)]
    every: Option<usize>,
    /// Options of `likewise bursts` for the analysis of a trace: those that say
    /// what to read, what describes a burst, and how to group
    #[arg(last = true, value_name = "OPTIONS")]
    bursts: Vec<OsString>,
}

/// Options that make classes, and so are not for ranks whose classes are known.
const OF_CLASSES: [&str; 6] = ["ClassesArgs", "every", "error", "error_abs", "each_stratum", "regions"];

/// How ranks are grouped
#[derive(Debug, Args)]
#[command(next_help_heading = "Classes")]
struct ClassesArgs {
    /// Just so many classes, whether or not the data support them [default: as
    /// many as the BIC likes best and the data support]
    #[arg(long, value_name = "N", value_parser = parse_count, conflicts_with = "k_max")]
    k: Option<usize>,
    /// At most so many classes
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "10")]
    k_max: usize,
    /// Method; those other than capek run on one process alone
    #[arg(long, value_enum, default_value = "capek")]
    method: MethodArg,
    /// Look at all ranks (n of them take 8 n² bytes, shared by the processes),
    /// or at samples of them [default: all where there are at most 4,096]
    #[arg(long, value_enum)]
    mode: Option<ModeArg>,
    /// Compare ranks by a short signature: the lowest band after LEVELS wavelet
    /// levels, and the energies of the other bands. 'none' compares all efforts
    /// [default: as many levels as leave 16 to 31 numbers per region]
    #[arg(long, value_name = "LEVELS", value_parser = parse_levels)]
    signature: Option<usize>,
    /// Wavelet of the signature
    #[arg(long, value_enum, default_value = "haar")]
    wavelet: WaveletArg,
    /// Seed of the random samples
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Share the work over N threads as if they were processes
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u16).range(1..=256))]
    ranks: Option<u16>,
}

/// How many ranks are to be traced
#[derive(Debug, Args)]
#[command(next_help_heading = "Sampling plan")]
struct PlanArgs {
    /// The mean of every step is to be known with this confidence
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = parse_open_share)]
    confidence: f64,
    /// The mean of every step may be off by this share of it
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = parse_open_share)]
    error: f64,
    /// The mean of every step may be off by so much: a number in the unit of
    /// the table, for a trace a time such as 5ms
    #[arg(long, value_name = "EFFORT", value_parser = parse_effort, conflicts_with = "error")]
    error_abs: Option<ErrorAbs>,
    /// The mean of each class must be within the error, not only that of all
    /// ranks: takes more ranks
    #[arg(long)]
    each_stratum: bool,
}

impl PlanArgs {
    fn params(&self) -> Result<PlanParams> {
        let bound = match self.error_abs {
            None => Bound::Relative(self.error),
            Some(ErrorAbs::Number(effort)) => Bound::Absolute(effort),
            Some(ErrorAbs::Time(time)) => Bound::Absolute(time.seconds()),
        };
        let allocation = if self.each_stratum { Allocation::EachStratum } else { Allocation::default() };
        let mut params = PlanParams::new(self.confidence, bound)?;
        params.allocation = allocation;
        Ok(params)
    }
}

/// An error in the unit of the efforts, which for a trace are seconds.
#[derive(Clone, Copy, Debug)]
enum ErrorAbs {
    Number(f64),
    Time(Nanos),
}

fn parse_effort(text: &str) -> Result<ErrorAbs, String> {
    let number = text.parse().ok().filter(|x: &f64| *x > 0.0 && x.is_finite()).map(ErrorAbs::Number);
    let time = || text.parse().ok().filter(|time| *time > Nanos(0)).map(ErrorAbs::Time);
    number.or_else(time).ok_or_else(|| "expected a number above 0, or a time such as 5ms".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MethodArg {
    Capek,
    Clara,
    Pam,
    Fasterpam,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    Auto,
    Sampled,
    Exact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WaveletArg {
    Haar,
    Cdf53,
    Cdf97,
}

/// Levels of a wavelet transform; 0 for none.
fn parse_levels(text: &str) -> Result<usize, String> {
    let levels = if text == "none" { Some(0) } else { text.parse().ok() };
    let levels = levels.filter(|levels| *levels <= 40);
    levels.ok_or_else(|| "expected a number of levels up to 40, or 'none'".to_owned())
}

fn parse_open_share(text: &str) -> Result<f64, String> {
    let share = parse_share(text)?;
    if share > 0.0 && share < 1.0 {
        Ok(share)
    } else {
        Err("expected more than 0% and less than 100%".to_owned())
    }
}

const EXAMPLES: &str = "\
Examples:
  likewise ranks effort.npy -o out
  likewise ranks effort.csv --k 6 --method fasterpam -o out
  likewise ranks run.prv.gz -o out -- --app 1
  likewise ranks run.prv.gz --regions functions -o out
  likewise ranks effort.csv --error-abs 0.5 --each-stratum -o plan
  likewise ranks traced.csv --traced plan -o estimate
  likewise ranks effort.csv --every 20 -o out
  mpirun -n 4 likewise ranks effort.npy --mode sampled --confidence 99% --error 2% -o out";

/// What makes a region of bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RegionsArg {
    /// Phases, as `likewise bursts` finds them; those that stand in for one
    /// another on different ranks are one region
    Phases,
    /// The functions that call before and after
    Functions,
    /// The lines of these calls
    Calls,
}

pub(crate) fn run(args: &RanksArgs, common: &Common) -> Result<()> {
    let mpi = MpiComm::init()?;
    let mpi = mpi.as_ref();
    let (rank, processes) = mpi.map_or((0, 1), |comm| (comm.rank(), comm.size()));
    let quiet = common.quieter();
    let common = if rank == 0 { common } else { &quiet };
    if let Some(plan) = &args.traced {
        told_once(mpi, args.check_traced(processes, common))?;
        let (measured, dir, confidence) = (&args.input, args.dir(), args.plan.confidence);
        return traced::run(&traced::Call { measured, plan, dir, confidence }, common);
    }
    if let Some(blocks) = told_once(mpi, args.strata(processes, common))? {
        let call = sampled::Call { input: &args.input, dir: args.dir(), confidence: args.plan.confidence };
        return sampled::run(&call, &blocks, common);
    }
    // First of all: who has other options takes part in other exchanges.
    let arguments = common.call.arguments.join(" ");
    told_once(mpi, mpi.map_or(Ok(()), |comm| same_options(comm, &args.decisive(), &arguments)))?;
    let checked = args.options().and_then(|options| {
        check(processes, &args.input, &options.classes)?;
        args.check_bursts()?;
        args.check_error()?;
        // Process 0 writes.
        if rank == 0 {
            OutputDir::check(&args.dir(), &[&args.input], common)?;
        }
        Ok(options)
    });
    let options = told_once(mpi, checked)?;
    let mut stages = Stages::default();
    // Where it fails, it fails on all processes, and one of them says why.
    let found = classify(mpi, &args.input, &options, &mut stages, common)?;
    let done = found.map(|Classified { report, columns }| {
        let summary = write(args, &report, &mut stages, common, |summary| {
            summary["columns"] = columns.as_ref().map(taken::to_json).into();
        })?;
        Ok((report, summary))
    });
    let Some((report, summary)) = told_once(mpi, done.transpose())? else { return Ok(()) };
    say_notes(&report.notes, common);
    common.print(&summary, || {
        let (width, colour) = common.terminal();
        let table = report::table(&report, width, colour);
        format!("{table}\nReport: {}\n", args.dir().join("report.html").display())
    })
}

impl RanksArgs {
    fn dir(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.ranks", stem(&self.input))))
    }

    /// Whether the input is bursts, not efforts.
    pub(crate) fn is_trace(&self) -> bool {
        is_trace(&self.input)
    }

    fn check_traced(&self, processes: usize, common: &Common) -> Result<()> {
        if processes > 1 {
            let text = format!("--traced works on one process, and there are {processes}; leave mpirun out");
            return Err(Usage(text).into());
        }
        if self.is_trace() {
            let text = "--traced reads a table of efforts with a column 'rank', not a trace";
            return Err(Usage(text.to_owned()).into());
        }
        OutputDir::check(&self.dir(), &[&self.input], common)
    }

    /// What the input has of sampled ranks, if it was recorded by strata.
    fn strata(&self, processes: usize, common: &Common) -> Result<Option<Vec<Vec<u8>>>> {
        let blocks = sampled::blocks(&self.input);
        if blocks.is_empty() {
            return Ok(None);
        }
        let usage = |text: &str| Err(Usage(text.to_owned()).into());
        if processes > 1 {
            return usage("a recording by strata is read on one process; leave mpirun out");
        }
        if self.regions.is_some()
            || self.every.is_some()
            || self.classes.k.is_some()
            || !self.bursts.is_empty()
        {
            return usage(
                "the strata of this recording were made while it ran: --regions, --every, --k and options of \
                 bursts are for other inputs",
            );
        }
        OutputDir::check(&self.dir(), &[&self.input], common)?;
        Ok(Some(blocks))
    }

    fn check_bursts(&self) -> Result<()> {
        match self.bursts.first() {
            Some(option) if !self.is_trace() => {
                let text =
                    format!("'-- {}' is for traces; this is an effort table", option.to_string_lossy());
                Err(Usage(text).into())
            }
            _ => Ok(()),
        }
    }

    /// The unit of a table is known to nobody but who made it.
    fn check_error(&self) -> Result<()> {
        match self.plan.error_abs {
            Some(ErrorAbs::Time(time)) if !self.is_trace() => {
                let text = format!(
                    "--error-abs {time} is for traces; the unit of a table of efforts is not known: give the number in \
                     that unit, without one"
                );
                Err(Usage(text).into())
            }
            _ => Ok(()),
        }
    }

    /// All that decides about the result, but for the input. (Only process 0
    /// needs to know where to write.)
    fn decisive(&self) -> String {
        let Self { input: _, output: _, regions, classes, plan, traced, every, bursts } = self;
        format!("{:?}", (env!("CARGO_PKG_VERSION"), regions, classes, plan, traced, every, bursts))
    }

    fn options(&self) -> Result<Options> {
        let ClassesArgs { k, k_max, method, mode, signature, wavelet, seed, ranks } = self.classes;
        let regions = self.regions.map(|regions| match regions {
            RegionsArg::Phases => Regions::Phases,
            RegionsArg::Functions => Regions::Functions,
            RegionsArg::Calls => Regions::Calls,
        });
        let method = match method {
            MethodArg::Capek => Method::Capek,
            MethodArg::Clara => Method::Clara,
            MethodArg::Pam => Method::Pam,
            MethodArg::Fasterpam => Method::Fasterpam,
        };
        let mode = mode.map(|mode| match mode {
            ModeArg::Auto => Mode::Auto,
            ModeArg::Sampled => Mode::Sampled,
            ModeArg::Exact => Mode::Exact,
        });
        let wavelet = match wavelet {
            WaveletArg::Haar => Wavelet::Haar,
            WaveletArg::Cdf53 => Wavelet::Cdf53,
            WaveletArg::Cdf97 => Wavelet::Cdf97,
        };
        let threads = ranks.map(usize::from);
        Ok(Options {
            regions,
            classes: Classes { k, k_max, method, mode, levels: signature, wavelet, seed, threads },
            plan: self.plan.params()?,
            alike: self.plan.error,
            every: self.every,
            phases: options_of_ranks(&self.bursts)?,
        })
    }
}

/// Writes every file, or none; `last` completes the summary.
fn write(
    args: &RanksArgs,
    found: &RanksReport,
    stages: &mut Stages,
    common: &Common,
    last: impl FnOnce(&mut Value),
) -> Result<Value> {
    let dir = args.dir();
    let mut out = OutputDir::create(&dir, &[&args.input], common)?;
    stages.time("write", || -> Result<()> {
        out.write("ranks.csv", |file| Ok(csv::ranks(found, file)?))?;
        out.write("classes.csv", |file| Ok(csv::classes(found, file)?))?;
        out.write("traces.csv", |file| Ok(csv::traces(found, file)?))?;
        if !found.windows.is_empty() {
            out.write("windows.csv", |file| Ok(windows::csv(&found.windows, file)?))?;
            out.write("window_ranks.csv", |file| Ok(windows::ranks_csv(&found.windows, file)?))?;
        }
        out.write("report.html", |file| Ok(report::write_html(found, file)?))
    })?;
    let [ranks, steps, regions] =
        [(found.n_ranks(), "rank"), (found.n_steps, "step"), (found.regions.len(), "region")]
            .map(|(n, what)| counted(n as u64, what));
    common.tell(format_args!("{ranks} × {steps} × {regions}"));
    let mut summary = json::summary(found);
    last(&mut summary);
    finish(out, "summary.json", summary, stages, common)
}
