//! `likewise bursts`: the computation phases of a trace.

use crate::args::{GroupingArgs, MetricArgs, ReadingArgs, RefiningArgs, options_of};
use crate::common::{Common, Usage};
use crate::files::label::event_value;
use crate::files::{
    bursts_csv, clusters_csv, compat, gnuplot, refinement, regions_csv, representatives_csv, summary,
};
use crate::finish::{finish, for_people};
use crate::output::OutputDir;
use crate::trace::{AsParaver, output_dir, say_notes, stem};
use anyhow::Result;
use clap::{Args, ValueEnum};
use likewise_analysis::Stages;
use likewise_analysis::ToldElsewhere;
use likewise_analysis::phases::{Analysis, Options, phases_of, phases_on};
use likewise_analysis::together::{same_options, told_once};
use likewise_comm::{CommError, Communicator, Reduction};
use likewise_mpi::MpiComm;
use likewise_report::phases as report;
use likewise_trace::{
    AtomicFile, LabelValue, SpreadError, ToLabel, is_rereadable, is_special, legend, write_labelled,
    write_labelled_spread,
};
use rayon::prelude::*;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

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
        return run_on(comm, args, common);
    }
    args.check(common)?;
    let mut stages = Stages::default();
    let mut analysis = phases_of(&args.trace, &args.options(), &mut stages, common)?;
    common.call.seen.check()?;
    if !args.writing.no_trace && !is_rereadable(&args.trace) {
        analysis.notes.push("A pipe cannot be read twice, so there is no labelled trace.".to_owned());
    }
    say_notes(&analysis.notes, common);
    let done = args.result().write(&analysis, None, stages, common)?;
    common.print(&done.summary, || done.text(common))
}

/// The same on several processes. Process 0 speaks for all.
fn run_on(comm: &MpiComm, args: &BurstsArgs, common: &Common) -> Result<()> {
    let quiet = common.quieter();
    let common = if comm.rank() == 0 { common } else { &quiet };
    // First of all: who has other options takes part in other exchanges.
    let arguments = common.call.arguments.join(" ");
    told_once(Some(comm), same_options(comm, &args.decisive(), &arguments))?;
    // Process 0 writes.
    told_once(Some(comm), if comm.rank() == 0 { args.check(common) } else { Ok(()) })?;
    let mut stages = Stages::default();
    let found = phases_on(comm, &args.trace, &args.options(), &mut stages, common)?;
    if let Some(analysis) = &found {
        say_notes(&analysis.notes, common);
    }
    let written = args.result().write_on(comm, found.as_ref(), stages, common);
    let Some(done) = told_once(Some(comm), written)? else { return Ok(()) };
    common.print(&done.summary, || done.text(common))
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

/// The files are written: what remains to be shown.
pub(crate) struct Done<'a> {
    pub(crate) summary: Value,
    data: report::ReportData<'a>,
    report: PathBuf,
}

impl Done<'_> {
    pub(crate) fn text(&self, common: &Common) -> String {
        let (width, colour) = common.terminal();
        let first = report::first(&self.data, width);
        let gap = if first.is_empty() { "" } else { "\n" };
        format!(
            "{}\n\n{first}{gap}{}\nReport: {}\n",
            self.data.subtitle,
            report::terminal(&self.data, width, colour, common.wants_all()),
            self.report.display()
        )
    }
}

/// The result of an analysis, and where it goes.
pub(crate) struct ResultOf<'a> {
    pub(crate) trace: &'a Path,
    pub(crate) dir: PathBuf,
    pub(crate) reading: &'a ReadingArgs,
    pub(crate) metrics: &'a MetricArgs,
    pub(crate) writing: &'a WritingArgs,
}

impl ResultOf<'_> {
    /// Writes every file of the analysis; `truth` is how alike it is to the
    /// truth, where that is known.
    pub(crate) fn write<'a>(
        &self,
        analysis: &'a Analysis,
        truth: Option<Value>,
        mut stages: Stages,
        common: &Common,
    ) -> Result<Done<'a>> {
        let _bar = common.spinner("Writing");
        let mut out = self.output_dir(common)?;
        let page = stages.time("write", || -> Result<_> {
            // Two files at once: while one is written, parts of the other are made.
            let stem = out.path(&stem(self.trace));
            let trace = || {
                if self.wants_trace() { self.write_trace(analysis, &stem, common) } else { Ok(Vec::new()) }
            };
            let others = || -> Result<_> {
                // First what has steps that one thread takes, for then the
                // others can write the trace.
                let page = page(analysis)?;
                write_tables(analysis, &mut out, self.writing)?;
                Ok(page)
            };
            let (page, trace) = rayon::join(others, trace);
            let page = page?;
            trace?.into_iter().try_for_each(|file| out.adopt(file))?;
            Ok(page)
        })?;
        self.write_rest((out, analysis, page), truth, stages, common)
    }

    fn output_dir(&self, common: &Common) -> Result<OutputDir> {
        let others = self.reading.pcf.iter().chain(&self.metrics.definition);
        output_dir(&self.dir, self.trace, others, common)
    }

    fn wants_trace(&self) -> bool {
        !self.writing.no_trace && is_rereadable(self.trace)
    }

    /// Writes every file of the analysis that process 0 has; all write the
    /// large ones. Collective; only process 0 has something to show.
    fn write_on<'a>(
        &self,
        comm: &MpiComm,
        analysis: Option<&'a Analysis>,
        mut stages: Stages,
        common: &Common,
    ) -> Result<Option<Done<'a>>> {
        let _bar = common.spinner("Writing");
        let out = analysis.map(|_| self.output_dir(common)).transpose();
        // It has the files from when they are made, for it must go after them.
        let mut out = told_once(Some(comm), out)?;
        let stem = stem(self.trace);
        let [rows_alone, trace_alone] =
            not_shared(comm, out.as_ref(), ["bursts.csv", &format!("{stem}.prv")])?;
        let by_all = self.writing.format == TableFormat::Csv && !rows_alone;
        let trace = stages.time("write", || -> Result<_> {
            let of = analysis.zip(out.as_ref());
            let rows = if by_all { self.rows_on(comm, of) } else { Ok(None) };
            told_once(Some(comm), rows.and_then(|rows| hold(&mut out, rows)))?;
            let of = analysis.zip(out.as_ref());
            let trace = match self.wants_trace() {
                true => self.trace_on(comm, of, trace_alone, common),
                false => Ok(Vec::new()),
            };
            Ok(trace.and_then(|trace| hold(&mut out, trace)))
        })?;
        // Process 0 goes on while the others still copy their pieces.
        let written = trace.and_then(|()| {
            let Some((analysis, mut out)) = analysis.zip(out) else { return Ok(None) };
            let page = stages.time("write", || -> Result<_> {
                if !by_all {
                    write_rows(analysis, &mut out, self.writing)?;
                }
                write_small_tables(analysis, &mut out, self.writing)?;
                page(analysis)
            })?;
            Ok(Some((out, analysis, page)))
        });
        let Some(written) = told_once(Some(comm), written)? else { return Ok(None) };
        self.write_rest(written, None, stages, common).map(Some)
    }

    fn rows_on(&self, comm: &MpiComm, of: Option<(&Analysis, &OutputDir)>) -> Result<Option<AtomicFile>> {
        let path = of.map(|(_, out)| out.path("bursts.csv"));
        let of = path.as_deref().zip(of.map(|(analysis, _)| analysis));
        bursts_csv::write_spread(comm, of)
    }

    fn trace_on(
        &self,
        comm: &MpiComm,
        of: Option<(&Analysis, &OutputDir)>,
        alone: bool,
        common: &Common,
    ) -> Result<Vec<AtomicFile>> {
        // What is made of a recording is in a folder that only process 0 sees.
        if alone || AsParaver::is_made(self.trace) {
            let trace =
                of.map(|(analysis, out)| self.write_trace(analysis, &out.path(&stem(self.trace)), common));
            return Ok(trace.transpose()?.unwrap_or_default());
        }
        let ReadingArgs { lenient, pcf, .. } = &self.reading;
        let parts = of.map(|(analysis, out)| (values(analysis), trace_legend(analysis), out, analysis));
        let stem = of.map(|(_, out)| out.path(&stem(self.trace)));
        let to_label = parts.as_ref().zip(stem.as_ref()).map(|((values, legend, _, analysis), stem)| {
            ToLabel { stem, table: &analysis.table, values, legend }
        });
        let files = write_labelled_spread(comm, self.trace, to_label, *lenient, pcf.as_deref());
        files.map_err(|error| match error {
            SpreadError::File(error) => error.into(),
            SpreadError::Elsewhere => ToldElsewhere.into(),
            SpreadError::Comm(error) => error.into(),
        })
    }

    /// The page and the summary, and all files go to their places.
    fn write_rest<'a>(
        &self,
        (mut out, analysis, (data, content)): (OutputDir, &'a Analysis, Page<'a>),
        truth: Option<Value>,
        mut stages: Stages,
        common: &Common,
    ) -> Result<Done<'a>> {
        let data = report::ReportData { timings: for_people(&stages), ..data };
        stages.time("write", || {
            out.write("report.html", |file| Ok(report::write_html(&data, content, file)?))
        })?;
        let summary = summary::summary(analysis, truth);
        let summary = finish(out, "summary.json", summary, &stages, common)?;
        Ok(Done { summary, data, report: self.dir.join("report.html") })
    }

    /// The input with the phase of every burst, as `STEM.prv`, `.pcf`, `.row`.
    fn write_trace(&self, analysis: &Analysis, stem: &Path, common: &Common) -> Result<Vec<AtomicFile>> {
        let (values, legend) = (values(analysis), trace_legend(analysis));
        let ReadingArgs { lenient, pcf, .. } = &self.reading;
        let trace = AsParaver::of(self.trace, &common.quieter())?;
        Ok(write_labelled(trace.path(), stem, &analysis.table, &values, &legend, *lenient, pcf.as_deref())?)
    }
}

/// Which of these files process 0 must write alone: in their places are pipes or
/// devices. Collective.
fn not_shared<const N: usize>(
    comm: &MpiComm,
    out: Option<&OutputDir>,
    names: [&str; N],
) -> Result<[bool; N], CommError> {
    let mut special = names.map(|name| i64::from(out.is_some_and(|out| is_special(&out.path(name)))));
    comm.all_reduce(Reduction::Max, &mut special)?;
    Ok(special.map(|is| is > 0))
}

/// Gives the directory, where this process has one, files that others write.
fn hold(out: &mut Option<OutputDir>, files: impl IntoIterator<Item = AtomicFile>) -> Result<()> {
    out.iter_mut()
        .zip(std::iter::once(files))
        .try_for_each(|(out, files)| files.into_iter().try_for_each(|file| out.hold(file)))
}

/// The report, and what takes long to make of its page.
type Page<'a> = (report::ReportData<'a>, report::Content);

fn page(analysis: &Analysis) -> Result<Page<'_>> {
    let data = report::report_data(analysis);
    let content = report::Content::of(&data)?;
    Ok((data, content))
}

/// The value of event 90000001 of every burst.
fn values(analysis: &Analysis) -> Vec<u32> {
    analysis.labels.par_iter().map(|&label| event_value(label)).collect()
}

fn trace_legend(analysis: &Analysis) -> Vec<LabelValue> {
    legend(analysis.grouped.clustering.n_clusters as u32, report::trace_colour)
}

fn write_tables(analysis: &Analysis, out: &mut OutputDir, writing: &WritingArgs) -> Result<()> {
    write_rows(analysis, out, writing)?;
    write_small_tables(analysis, out, writing)
}

/// The table of bursts.
fn write_rows(analysis: &Analysis, out: &mut OutputDir, writing: &WritingArgs) -> Result<()> {
    match writing.format {
        TableFormat::Csv => out.write("bursts.csv", |file| Ok(bursts_csv::write(file, analysis)?))?,
        #[cfg(feature = "parquet")]
        TableFormat::Parquet => {
            let path = out.path("bursts.parquet");
            out.adopt(crate::files::bursts_parquet::write(&path, analysis)?)?;
        }
        #[cfg(not(feature = "parquet"))]
        TableFormat::Parquet => anyhow::bail!("built without Parquet"),
    }
    Ok(())
}

/// All other tables.
fn write_small_tables(analysis: &Analysis, out: &mut OutputDir, writing: &WritingArgs) -> Result<()> {
    out.write("clusters.csv", |file| Ok(clusters_csv::write(file, analysis)?))?;
    if let Some(code) = &analysis.table.code {
        out.write("regions.csv", |file| Ok(regions_csv::write(file, analysis, code)?))?;
    }
    out.write("representatives.csv", |file| Ok(representatives_csv::write(file, analysis)?))?;
    // The scripts read the CSV.
    let plots = if writing.format == TableFormat::Csv { &analysis.plots[..] } else { &[] };
    for (i, plot) in plots.iter().enumerate() {
        let name = if i == 0 { "scatter.gnuplot".to_owned() } else { format!("scatter_{}.gnuplot", i + 1) };
        out.write(&name, |file| Ok(gnuplot::write(file, analysis, plot)?))?;
    }
    if let Some(refinement) = &analysis.grouped.refinement {
        let clustering = &analysis.grouped.clustering;
        out.write("refinement.json", |file| {
            Ok(writeln!(file, "{}", refinement::to_json(refinement, clustering))?)
        })?;
        out.write("refinement.dot", |file| Ok(refinement::write_dot(file, refinement, clustering)?))?;
    }
    if let Some(prefix) = &writing.compat {
        let has_directory = prefix.parent().is_some_and(|parent| !parent.as_os_str().is_empty());
        let prefix = if has_directory { prefix.clone() } else { out.path(&prefix.to_string_lossy()) };
        for file in compat::write(&prefix, analysis)? {
            out.adopt(file)?;
        }
    }
    Ok(())
}
