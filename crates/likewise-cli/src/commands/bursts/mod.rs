//! `likewise bursts`: the computation phases of a trace.

mod lent;
mod result;
mod spread;

use crate::args::{GroupingArgs, MetricArgs, ReadingArgs, RefiningArgs, options_of};
use crate::common::{Common, Usage};
use crate::output::OutputDir;
use crate::trace::stem;
use anyhow::Result;
use clap::{Args, ValueEnum};
use likewise_analysis::Stages;
use likewise_analysis::phases::{Options, label_bursts};
use likewise_comm::Communicator;
use likewise_mpi::MpiComm;
use likewise_trace::is_rereadable;
use std::path::PathBuf;

pub(crate) use result::{ResultOf, Truth};

/// Find the computation phases of a trace
///
/// Reads a Paraver trace (.prv, .prv.gz, or '-' for standard input) or a CSV
/// of bursts, groups its CPU bursts into phases, and writes bursts.csv,
/// clusters.csv, regions.csv, summary.json, report.html, a gnuplot script and the trace
/// with the phase of every burst (event 90000001).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BurstsArgs {
    /// Paraver trace, recording (a folder), or table (CSV or Parquet) with
    /// task,thread,begin_ns,duration_ns,<counters…>
    trace: PathBuf,
    /// Directory for the result [default: the trace's name with .likewise]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    metrics: MetricArgs,
    #[command(flatten)]
    grouping: GroupingArgs,
    #[command(flatten)]
    refining: RefiningArgs,
    #[command(flatten)]
    writing: WritingArgs,
}

/// What to write
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Writing")]
pub(crate) struct WritingArgs {
    /// Leave out the labelled trace, the largest of the files
    #[arg(long)]
    no_trace: bool,
    /// Also write ClusteringSuite's files: PREFIX.DATA.csv and so on, into DIR
    /// unless PREFIX names a directory of its own
    #[arg(long, value_name = "PREFIX")]
    compat: Option<PathBuf>,
    /// Hide half of the counters from each burst, at random by --seed, and say
    /// how well their means per phase are found again
    #[arg(long)]
    check_extrapolation: bool,
    /// Format of the table of bursts
    #[arg(long, value_enum, default_value = "csv")]
    format: TableFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    #[default]
    Csv,
    /// bursts.parquet instead of bursts.csv
    Parquet,
}

const EXAMPLES: &str = "\
Examples:
  likewise bursts run.prv.gz
  likewise bursts run.prv --definition cluster.xml -o out
  likewise bursts run.prv --eps 0.01 --min-points 10 --min-duration 5us -o out
  likewise bursts run.prv -m PAPI_TOT_INS,log -m 'L1=PAPI_L1_DCM/PAPI_TOT_INS,max=0.2' -o out
  zstdcat run.prv.zst | likewise bursts - --pcf run.pcf -o out";

pub(crate) fn run(args: &BurstsArgs, common: &Common) -> Result<()> {
    let mpi = MpiComm::init()?;
    likewise_trace::heed_files();
    if let Some(comm) = mpi.as_ref().filter(|comm| comm.size() > 1) {
        return spread::run_on(comm, args, common);
    }
    args.check(common)?;
    let mut stages = Stages::default();
    let mut labelled = label_bursts(&args.trace, &args.options(), &mut stages, common)?;
    common.call.seen.check()?;
    if !args.writing.no_trace && !is_rereadable(&args.trace) {
        let note = "A pipe cannot be read twice, so there is no labelled trace.";
        labelled.first_notes.push(note.to_owned());
    }
    let done = args.result().write(labelled, None, stages, common)?;
    common.print(&done.summary, || done.text)
}

impl BurstsArgs {
    /// Refuses what cannot be written, before anything is read.
    fn check(&self, common: &Common) -> Result<()> {
        OutputDir::check(&self.result().dir, &[&self.trace], common)?;
        if self.writing.format == TableFormat::Parquet && !cfg!(feature = "parquet") {
            let text = "this likewise was built without Parquet; build it with its default features, or use --format csv";
            return Err(Usage(text.to_owned()).into());
        }
        Ok(())
    }

    fn options(&self) -> Options {
        Options {
            refine: self.refining.direction(),
            check_extrapolation: self.writing.check_extrapolation,
            ..options_of(&self.reading, &self.metrics, &self.grouping)
        }
    }

    /// All that decides about the result, but for the input and where it goes.
    fn decisive(&self) -> String {
        let Self { trace: _, output: _, reading, metrics, grouping, refining, writing } = self;
        format!("{:?}", (env!("CARGO_PKG_VERSION"), reading, metrics, grouping, refining, writing))
    }

    fn result(&self) -> ResultOf<'_> {
        let dir =
            self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.likewise", stem(&self.trace))));
        ResultOf {
            trace: &self.trace,
            dir,
            reading: &self.reading,
            metrics: &self.metrics,
            writing: &self.writing,
        }
    }
}
