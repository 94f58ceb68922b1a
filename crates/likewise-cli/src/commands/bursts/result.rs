//! The files of an analysis, and what is shown of it.

use super::{TableFormat, WritingArgs};
use crate::args::{MetricArgs, ReadingArgs};
use crate::common::Common;
use crate::files::label::event_value;
use crate::files::{
    bursts_csv, clusters_csv, compat, gnuplot, refinement, regions_csv, representatives_csv, summary,
};
use crate::finish::{finish, for_people};
use crate::output::OutputDir;
use crate::trace::{AsParaver, output_dir, say_notes, stem};
use anyhow::Result;
use likewise_analysis::Stages;
use likewise_analysis::phases::{Analysis, FoundPeriod, Labelled};
use likewise_report::phases as report;
use likewise_trace::{AtomicFile, LabelValue, is_rereadable, legend, write_labelled};
use rayon::prelude::*;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The files are written: what remains to be shown.
pub(crate) struct Done {
    pub(crate) summary: Value,
    pub(crate) text: String,
}

/// How alike an analysis is to the truth, where that is known.
pub(crate) struct Truth {
    /// For people.
    pub(crate) note: String,
    pub(crate) figures: Value,
}

/// The result of an analysis, and where it goes.
pub(crate) struct ResultOf<'a> {
    pub(crate) trace: &'a Path,
    pub(crate) dir: PathBuf,
    pub(crate) reading: &'a ReadingArgs,
    pub(crate) metrics: &'a MetricArgs,
    pub(crate) writing: &'a WritingArgs,
}

/// The report, and what takes long to make of its page.
pub(super) type Page<'a> = (report::ReportData<'a>, report::Content);

pub(super) fn page(analysis: &Analysis) -> Result<Page<'_>> {
    let data = report::report_data(analysis);
    let content = report::Content::of(&data)?;
    Ok((data, content))
}

impl ResultOf<'_> {
    /// Analyses the bursts as a whole, and writes every file.
    pub(crate) fn write(
        &self,
        labelled: Labelled,
        truth: Option<Truth>,
        mut stages: Stages,
        common: &Common,
    ) -> Result<Done> {
        let mut out = self.output_dir(common)?;
        let labelled = Arc::new(labelled);
        let mut looking = Stages::default();
        let _bar = common.spinner("Aligning and writing");
        let mut analyse = |labelled: Arc<Labelled>| {
            let mut analysis = labelled.analysed(&mut looking, &common.quieter());
            say_notes(&analysis.notes, common);
            analysis.notes.splice(0..0, truth.iter().map(|truth| truth.note.clone()));
            analysis
        };
        let mut large = |labelled: &Labelled| stages.time("write", || self.write_large(labelled, common));
        // Files that are large need no more than the bursts, so they are written while
        // these are analysed. First what has steps that one thread takes, for then the
        // others can write.
        let analysis = OnceLock::new();
        let (page, large) = if labelled.may_be_written_meanwhile() {
            let own = Arc::clone(&labelled);
            rayon::join(|| page(analysis.get_or_init(|| analyse(own))), || large(&labelled))
        } else {
            let analysis = analysis.get_or_init(|| analyse(labelled));
            rayon::join(|| page(analysis), || large(analysis))
        };
        stages.add_all(looking);
        let (page, large) = (page?, large?);
        large.into_iter().try_for_each(|file| out.adopt(file))?;
        let Some(analysis) = analysis.get() else { unreachable!("it is analysed") };
        let period = FoundPeriod::of(analysis.period(), analysis);
        let found = (&period, truth.map(|truth| truth.figures));
        self.write_rest(out, analysis, page, found, stages, common)
    }

    pub(super) fn output_dir(&self, common: &Common) -> Result<OutputDir> {
        let others = self.reading.pcf.iter().chain(&self.metrics.definition);
        output_dir(&self.dir, self.trace, others, common)
    }

    pub(super) fn wants_trace(&self) -> bool {
        !self.writing.no_trace && is_rereadable(self.trace)
    }

    /// Where the labelled trace is to stand, without the endings of its files.
    pub(super) fn stem(&self) -> PathBuf {
        self.dir.join(stem(self.trace))
    }

    /// The files with a row or an event for each burst.
    fn write_large(&self, labelled: &Labelled, common: &Common) -> Result<Vec<AtomicFile>> {
        // Two files at once: while one is written, parts of the other are made.
        let trace = || if self.wants_trace() { self.write_trace(labelled, common) } else { Ok(Vec::new()) };
        let (rows, trace) = rayon::join(|| self.write_rows(labelled), trace);
        let mut files = trace?;
        files.push(rows?);
        Ok(files)
    }

    /// The table of bursts.
    pub(super) fn write_rows(&self, labelled: &Labelled) -> Result<AtomicFile> {
        match self.writing.format {
            TableFormat::Csv => {
                let path = self.dir.join("bursts.csv");
                OutputDir::filled(&path, |file| Ok(bursts_csv::write(file, labelled)?))
            }
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => {
                Ok(crate::files::bursts_parquet::write(&self.dir.join("bursts.parquet"), labelled)?)
            }
            #[cfg(not(feature = "parquet"))]
            TableFormat::Parquet => anyhow::bail!("built without Parquet"),
        }
    }

    /// The input with the phase of every burst, as `STEM.prv`, `.pcf`, `.row`.
    pub(super) fn write_trace(&self, labelled: &Labelled, common: &Common) -> Result<Vec<AtomicFile>> {
        let (values, legend) = (values(labelled), trace_legend(labelled));
        let ReadingArgs { lenient, pcf, .. } = &self.reading;
        let trace = AsParaver::of(self.trace, &common.quieter())?;
        let (input, stem) = (trace.path(), self.stem());
        Ok(write_labelled(input, &stem, &labelled.table, &values, &legend, *lenient, pcf.as_deref())?)
    }

    /// All other files; and all go to their places.
    pub(super) fn write_rest(
        &self,
        mut out: OutputDir,
        analysis: &Analysis,
        (data, content): Page<'_>,
        (period, truth): (&FoundPeriod, Option<Value>),
        mut stages: Stages,
        common: &Common,
    ) -> Result<Done> {
        let tables = || write_small_tables(analysis, &mut out, self.writing);
        let (tables, text) = stages.time("write", || rayon::join(tables, || self.text(&data, common)));
        tables?;
        let data = report::ReportData { timings: for_people(&stages), ..data };
        stages.time("write", || {
            out.write("report.html", |file| Ok(report::write_html(&data, content, file)?))
        })?;
        let summary = summary::summary(analysis, period, truth);
        let summary = finish(out, "summary.json", summary, &stages, common)?;
        Ok(Done { summary, text })
    }

    /// What the terminal shows.
    fn text(&self, data: &report::ReportData<'_>, common: &Common) -> String {
        let (width, colour) = common.terminal();
        let first = report::first(data, width);
        let gap = if first.is_empty() { "" } else { "\n" };
        format!(
            "{}\n\n{first}{gap}{}\nReport: {}\n",
            data.subtitle,
            report::terminal(data, width, colour, common.wants_all()),
            self.dir.join("report.html").display()
        )
    }
}

/// The value of event 90000001 of every burst.
pub(super) fn values(labelled: &Labelled) -> Vec<u32> {
    labelled.labels.par_iter().map(|&label| event_value(label)).collect()
}

pub(super) fn trace_legend(labelled: &Labelled) -> Vec<LabelValue> {
    legend(labelled.grouped.clustering.n_clusters as u32, report::trace_colour)
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
