//! `likewise bursts` on several processes.

use super::lent::Lent;
use super::result::{Done, Page, page, trace_legend, values};
use super::{BurstsArgs, ResultOf, TableFormat, WritingArgs};
use crate::args::ReadingArgs;
use crate::common::Common;
use crate::files::bursts_csv;
use crate::output::OutputDir;
use crate::trace::{AsParaver, say_notes};
use anyhow::Result;
use likewise::table::Metric;
use likewise_analysis::phases::{
    Analysis, FoundPeriod, KeptCounters, Labelled, PeriodErrand, Share, label_bursts_on,
};
use likewise_analysis::together::{same_options, told_once};
use likewise_analysis::{Stages, ToldElsewhere};
use likewise_comm::{CommError, Communicator, Reduction};
use likewise_mpi::MpiComm;
use likewise_report::phases as report;
use likewise_trace::{AtomicFile, SpreadError, ToLabel, is_special, write_labelled_spread};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread::ScopedJoinHandle;

/// As on one process. Process 0 speaks for all.
pub(super) fn run_on(comm: &MpiComm, args: &BurstsArgs, common: &Common) -> Result<()> {
    let quiet = common.quieter();
    let common = if comm.rank() == 0 { common } else { &quiet };
    // First of all: who has other options takes part in other exchanges.
    let arguments = common.call.arguments.join(" ");
    told_once(Some(comm), same_options(comm, &args.decisive(), &arguments))?;
    // Process 0 writes.
    told_once(Some(comm), if comm.rank() == 0 { args.check(common) } else { Ok(()) })?;
    let lent = Lent::of(comm)?;
    let pool = told_once(Some(comm), (comm.rank() == 0).then(|| lent.pool()).transpose())?;
    let mut stages = Stages::default();
    let share = label_bursts_on(comm, &args.trace, (&args.options(), pool.as_ref()), &mut stages, common)?;
    let (labelled, kept) = match share {
        Share::Bursts(mut labelled) => {
            args.result().let_counters_go(&mut labelled);
            (Some(Arc::from(labelled)).zip(pool), KeptCounters::default())
        }
        Share::Counters(kept) => (None, kept),
    };
    likewise_trace::give_memory_back();
    let written = args.result().write_on(comm, labelled, kept, stages, common);
    let Some(done) = told_once(Some(comm), written)? else { return Ok(()) };
    common.print(&done.summary, || done.text)
}

/// What process 0 does alone: it writes the large files in whose places are pipes or
/// devices, and Parquet.
#[derive(Clone, Copy)]
struct Alone {
    rows: bool,
    trace: bool,
    /// Analyses while others write.
    analyses: bool,
    /// Does so on its own threads alone, and copies no piece of the trace meanwhile.
    is_busy: bool,
}

impl ResultOf<'_> {
    /// Analyses the bursts that process 0 has, and writes every file; all processes write
    /// the large ones, of which each keeps counters. Collective; only process 0 has something to show.
    fn write_on(
        &self,
        comm: &MpiComm,
        labelled: Option<(Arc<Labelled>, ThreadPool)>,
        kept: KeptCounters,
        mut stages: Stages,
        common: &Common,
    ) -> Result<Option<Done>> {
        let _bar = common.spinner("Aligning and writing");
        let (labelled, pool) = labelled.unzip();
        let out = labelled.as_ref().map(|_| self.output_dir(common)).transpose();
        // It has the files from when they are made, for it must go after them.
        let mut out = told_once(Some(comm), out)?;
        let is_lent =
            pool.as_ref().is_some_and(|pool| pool.current_num_threads() > rayon::current_num_threads());
        let alone = self.alone(comm, labelled.as_deref(), is_lent)?;
        let analysis = OnceLock::new();
        let errand = PeriodErrand::sent(comm, labelled.as_deref())?;
        let mut kept = Some(kept);
        let mut write = |labelled: Option<&Labelled>, out: &mut Option<OutputDir>| {
            let of = (labelled, kept.take().unwrap_or_default());
            stages.time("write", || self.write_large_on(comm, of, out, alone, common))
        };
        let (page, written, period) = std::thread::scope(|scope| {
            let seeking = errand.map(|errand| scope.spawn(|| sought(errand)));
            let of = labelled.clone().map(|labelled| (labelled, &analysis)).zip(pool.as_ref());
            let (page, written) = if alone.analyses {
                let looking = of.map(|(of, pool)| scope.spawn(|| looked_at(of, pool, common)));
                let written = write(labelled.as_deref(), &mut out);
                (looking.map(joined).transpose(), written)
            } else {
                let page = of.map(|(of, pool)| looked_at(of, pool, common)).transpose();
                (page, write(labelled.as_deref(), &mut out))
            };
            (page, written, seeking.map(joined).transpose())
        });
        let period = PeriodErrand::told(comm, told_once(Some(comm), period)?)?;
        let page = told_once(Some(comm), written.and(page))?;
        let Some(((page, looking), (out, (analysis, period)))) =
            page.zip(out.zip(analysis.get().zip(period)))
        else {
            return Ok(None);
        };
        stages.add_all(looking);
        self.write_rest(out, analysis, page, (&period, None), stages, common).map(Some)
    }

    /// Counters that only rows have which others write, or nobody, take much memory.
    fn let_counters_go(&self, labelled: &mut Labelled) {
        let WritingArgs { compat, check_extrapolation, format, no_trace: _ } = self.writing;
        let writes_rows = *format != TableFormat::Csv || is_special(&self.rows_path());
        if !writes_rows && compat.is_none() && !check_extrapolation {
            let is_duration = |m: &&Metric| m.name.eq_ignore_ascii_case("duration");
            let n_metrics = labelled.metrics.iter().filter(|m| !is_duration(m)).count();
            labelled.let_counters_go(report::counters_shown(labelled.table.len(), n_metrics));
        }
    }

    fn rows_path(&self) -> PathBuf {
        self.dir.join("bursts.csv")
    }

    /// Collective.
    fn alone(&self, comm: &MpiComm, labelled: Option<&Labelled>, is_lent: bool) -> Result<Alone, CommError> {
        let names = [self.rows_path(), self.stem().with_added_extension("prv")];
        let [rows, trace] = names.map(|name: PathBuf| labelled.is_some() && is_special(&name));
        let analyses = labelled.is_some_and(|labelled| labelled.may_be_written_meanwhile());
        let mut of_first = [rows, trace, analyses, is_lent].map(i64::from);
        comm.all_reduce(Reduction::Max, &mut of_first)?;
        let [rows, trace, analyses, is_lent] = of_first.map(|is| is > 0);
        let rows = rows || self.writing.format != TableFormat::Csv;
        Ok(Alone { rows, trace, analyses, is_busy: analyses && !is_lent })
    }

    /// Process 0 passes in the bursts, the others what they keep of them; process 0 gets the
    /// files. Collective.
    fn write_large_on(
        &self,
        comm: &MpiComm,
        (labelled, kept): (Option<&Labelled>, KeptCounters),
        out: &mut Option<OutputDir>,
        alone: Alone,
        common: &Common,
    ) -> Result<()> {
        let rows = match alone.rows {
            true => labelled.map(|labelled| self.write_rows(labelled)).transpose(),
            false => self.rows_on(comm, labelled, &kept),
        };
        drop(kept);
        told_once(Some(comm), rows.and_then(|rows| hold(out, rows)))?;
        if !self.wants_trace() {
            return Ok(());
        }
        let trace = match alone.trace {
            true => labelled.map(|labelled| self.write_trace(labelled, common)).transpose(),
            false => self.trace_on(comm, labelled, alone, common).map(Some),
        };
        // Process 0 goes on while the others still copy their pieces.
        trace.and_then(|trace| hold(out, trace.into_iter().flatten()))
    }

    fn rows_on(
        &self,
        comm: &MpiComm,
        labelled: Option<&Labelled>,
        kept: &KeptCounters,
    ) -> Result<Option<AtomicFile>> {
        let path = self.rows_path();
        bursts_csv::write_spread(comm, labelled.map(|labelled| (path.as_path(), labelled)), kept)
    }

    fn trace_on(
        &self,
        comm: &MpiComm,
        labelled: Option<&Labelled>,
        alone: Alone,
        common: &Common,
    ) -> Result<Vec<AtomicFile>> {
        // What is made of a recording is in a folder that only process 0 sees.
        if AsParaver::is_made(self.trace) {
            let trace = labelled.map(|labelled| self.write_trace(labelled, common));
            return Ok(trace.transpose()?.unwrap_or_default());
        }
        let ReadingArgs { lenient, pcf, .. } = &self.reading;
        let (stem, parts) = (self.stem(), labelled.map(|of| (of, values(of), trace_legend(of))));
        let to_label = parts.as_ref().map(|(labelled, values, legend)| ToLabel {
            stem: &stem,
            table: &labelled.table,
            values,
            legend,
        });
        let files =
            write_labelled_spread(comm, self.trace, to_label, (*lenient, alone.is_busy), pcf.as_deref());
        files.map_err(|error| match error {
            SpreadError::File(error) => error.into(),
            SpreadError::Elsewhere => ToldElsewhere.into(),
            SpreadError::Comm(error) => error.into(),
        })
    }
}

/// Analyses the bursts, and shows what comes of it; also tells how long its stages took.
/// The threads of this process are left to who writes files meanwhile.
fn looked_at<'a>(
    (labelled, analysis): (Arc<Labelled>, &'a OnceLock<Analysis>),
    pool: &ThreadPool,
    common: &Common,
) -> Result<(Page<'a>, Stages)> {
    pool.install(|| {
        let mut stages = Stages::default();
        let analysis = analysis.get_or_init(|| labelled.analysed_but_period(&mut stages, &common.quieter()));
        say_notes(&analysis.notes, common);
        Ok((page(analysis)?, stages))
    })
}

/// Seeks the period, on threads of its own, as [`looked_at`] does.
fn sought(errand: PeriodErrand) -> Result<FoundPeriod> {
    let pool = ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).build()?;
    Ok(pool.install(|| errand.done()))
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Gives the directory, where this process has one, files that others write.
fn hold(out: &mut Option<OutputDir>, files: impl IntoIterator<Item = AtomicFile>) -> Result<()> {
    let Some(out) = out else { return Ok(()) };
    files.into_iter().try_for_each(|file| out.hold(file))
}
