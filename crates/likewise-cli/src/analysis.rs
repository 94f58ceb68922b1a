//! From a trace to its phases.

use crate::definition::Plot;
use crate::figures::{Figures, figures};
use crate::files::gnuplot;
use crate::findings;
use crate::grouping::{Grouped, GroupingArgs, Method, group};
use crate::label::burst_labels;
use crate::progress::Progress;
use crate::refining::{alternatives, refine_bursts};
use crate::stages::Stages;
use crate::structure::Structure;
use anyhow::Result;
use likewise::bursts::{
    Direction, Findings, Moments, PhaseStats, RefineInput, Threshold, filter_clusters, parallel_numbers,
    region_numbers,
};
use likewise::cluster::{Clustering, Points};
use likewise::table::{BurstTable, Metric, Nanos, Preparation, Prepared, prepare};
use likewise::words::counted;
use serde_json::Value;

/// Phases of a run, with all that led to them.
#[derive(Debug)]
pub(crate) struct Analysis {
    /// What was read, for people.
    pub(crate) input: String,
    /// End of the trace.
    pub(crate) end: Nanos,
    pub(crate) table: BurstTable,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) prepared: Prepared,
    /// Its clustering labels the complete bursts, by descending total time.
    pub(crate) grouped: Grouped,
    /// The label of every burst, as in [`crate::label`].
    pub(crate) labels: Vec<u32>,
    /// Each cluster, then the noise; counters that some bursts lack have
    /// their extrapolated means.
    pub(crate) stats: Vec<PhaseStats>,
    /// How the sequences of phases align, and how good the grouping is.
    pub(crate) structure: Structure,
    /// What else is said of them.
    pub(crate) figures: Figures,
    /// What is worth a look first; `None` of several applications.
    pub(crate) findings: Option<Findings>,
    /// Which columns of a table of bursts were read; null of a trace.
    pub(crate) columns: Value,
    /// What else was asked for, for `summary.json`.
    pub(crate) settings: Value,
    /// How it was asked to group, and which clusters to leave out.
    pub(crate) asked: GroupingArgs,
    pub(crate) threshold: Option<f64>,
    /// How alike this is to the truth, where that is known.
    pub(crate) truth: Option<Value>,
    /// How well hidden counters were found again, where that was asked for.
    pub(crate) extrapolation_check: Option<Value>,
    /// Scatter plots to write for gnuplot.
    pub(crate) plots: Vec<Plot>,
    /// Names of the threads, in burst order.
    pub(crate) rows: Vec<String>,
    /// The thread of every burst, an index into `rows`.
    pub(crate) burst_row: Vec<u32>,
    /// Sentences that the analyst must know.
    pub(crate) notes: Vec<String>,
}

/// What to do with the bursts.
pub(crate) struct Plan<'a> {
    pub(crate) preparation: Preparation,
    pub(crate) grouping: &'a GroupingArgs,
    /// Refinement, instead of what `grouping` says.
    pub(crate) refine: Option<Direction>,
    /// Refine where no density suggests itself, instead of an error.
    pub(crate) or_refine: bool,
    /// Clusters that hold less than this share of the clustered time are left out.
    pub(crate) threshold: Option<f64>,
    /// Scatter plots that the definition asks for, and whether it asks for all.
    pub(crate) plots: &'a [Plot],
    pub(crate) all_plots: bool,
    pub(crate) settings: Value,
}

/// The bursts and where they are from.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) end: Nanos,
    pub(crate) table: BurstTable,
    /// Which columns of a table of bursts were read; null of a trace.
    pub(crate) columns: Value,
    pub(crate) notes: Vec<String>,
}

pub(crate) fn analyse(
    input: Input,
    plan: Plan<'_>,
    stages: &mut Stages,
    progress: Progress,
) -> Result<Analysis> {
    let Input { name, end, table, columns, mut notes } = input;
    let prepared = {
        let _bar = progress.spinner("Preparing");
        stages.time("prepare", || prepare(&table, &plan.preparation))?
    };
    notes.extend(prepared.notes.iter().cloned());
    let points = Points::new(&prepared.points, prepared.dims)?;
    let (rows, burst_row) = rows(&table);
    let mut grouped = grouped(&table, &prepared, (&burst_row, rows.len()), &plan, stages, progress)?;
    notes.extend(too_few(&grouped, prepared.complete.len()));
    notes.extend(grouped.note());
    let (dropped, labels, (stats, figures)) = stages.time("cluster", || {
        let found = std::mem::take(&mut grouped.clustering);
        let (clustering, dropped) = ordered(found, &table, &prepared, plan.threshold);
        let labels = burst_labels(&prepared, &clustering, &dropped);
        let figures = figures(&table, &prepared, &clustering, &dropped, end);
        grouped.clustering = clustering;
        (dropped, labels, figures)
    });
    notes.extend(figures.note(&table));
    notes.extend(Figures::silent_note(&table));
    notes.extend(too_small(&dropped));
    let structure = {
        let _bar = progress.spinner("Aligning");
        let refinement = grouped.refinement.as_ref();
        stages.time("align", || Structure::of(&table, &prepared, &grouped.clustering, refinement, &points))
    };
    if structure.silhouette.is_some() && durations(&table, &prepared).iter().all(|d| d.0 == 0) {
        notes.push("No burst has a duration, so the silhouette counts every burst alike.".to_owned());
    }
    if structure.spmd.is_none() {
        notes.push("So many bursts are not aligned: there is no SPMD score.".to_owned());
    }
    let findings = stages.time("findings", || findings::found(&table, &prepared, &labels, end));
    let metrics = plan.preparation.metrics;
    let mut analysis = Analysis {
        columns,
        settings: plan.settings,
        asked: plan.grouping.clone(),
        threshold: plan.threshold,
        truth: None,
        extrapolation_check: None,
        plots: Vec::new(),
        input: name,
        end,
        table,
        metrics,
        prepared,
        grouped,
        labels,
        stats,
        structure,
        figures,
        findings,
        rows,
        burst_row,
        notes,
    };
    let (plots, unknown) = gnuplot::plots(&analysis, plan.plots, plan.all_plots);
    analysis.plots = plots;
    analysis.notes.extend(unknown);
    Ok(analysis)
}

/// Groups the complete bursts, or refines them; `threads` has the thread of
/// every burst, and how many there are.
fn grouped(
    table: &BurstTable,
    prepared: &Prepared,
    threads: (&[u32], usize),
    plan: &Plan<'_>,
    stages: &mut Stages,
    progress: Progress,
) -> Result<Grouped> {
    let direction = match plan.refine {
        Some(direction) => direction,
        None => match group_bursts(table, prepared, plan.grouping, stages, progress) {
            Err(_) if plan.or_refine => Direction::Aggregative,
            grouped => return grouped,
        },
    };
    let (thread, n_threads) = threads;
    let thread: Vec<u32> = prepared.complete.iter().map(|&i| thread[i as usize]).collect();
    let duration = durations(table, prepared);
    let points = Points::new(&prepared.points, prepared.dims)?;
    let code = region_numbers(table, &prepared.complete);
    let apart = parallel_numbers(table, &prepared.complete);
    let input =
        RefineInput { points, thread: &thread, n_threads, duration: &duration, code: &code, apart: &apart };
    Ok(refine_bursts(&input, direction, plan.grouping.min_points, stages, progress))
}

/// Groups the complete bursts as `args` say.
pub(crate) fn group_bursts(
    table: &BurstTable,
    prepared: &Prepared,
    args: &GroupingArgs,
    stages: &mut Stages,
    progress: Progress,
) -> Result<Grouped> {
    let task = |&i: &u32| (table.app[i as usize], table.task[i as usize]);
    let tasks: Vec<(u32, u32)> = prepared.complete.iter().map(task).collect();
    group(Points::new(&prepared.points, prepared.dims)?, &tasks, args, stages, progress)
}

/// Clusters by descending total time, and bursts of those that are too small
/// to be kept.
pub(crate) fn ordered(
    clustering: Clustering,
    table: &BurstTable,
    prepared: &Prepared,
    threshold: Option<f64>,
) -> (Clustering, Vec<u32>) {
    let duration = durations(table, prepared);
    let clustering = clustering.ordered_by(|i| duration[i].0);
    match threshold.filter(|&share| share > 0.0) {
        Some(share) => {
            let kept: Threshold = filter_clusters(&clustering, duration.iter().map(|d| d.0), share);
            (kept.clustering, kept.dropped)
        }
        None => (clustering, Vec::new()),
    }
}

/// Why no burst can be in a cluster, where there are fewer than make one.
fn too_few(grouped: &Grouped, n: usize) -> Option<String> {
    let few = match grouped.method {
        Method::Dbscan => n < grouped.min_points,
        Method::Refine => grouped.refinement.is_none(),
        Method::Xmeans => false,
    };
    let n = counted(n as u64, "burst");
    few.then(|| format!("There are too few bursts for a phase ({n}, min-points {}).", grouped.min_points))
}

fn too_small(dropped: &[u32]) -> Option<String> {
    let n = counted(dropped.len() as u64, "burst");
    (!dropped.is_empty()).then(|| format!("Clusters too small to be kept (threshold filter) hold {n}."))
}

/// Of the complete bursts.
fn durations(table: &BurstTable, prepared: &Prepared) -> Vec<Nanos> {
    prepared.complete.iter().map(|&i| table.duration[i as usize]).collect()
}

/// Names of the timeline's rows, and the row of every burst.
fn rows(table: &BurstTable) -> (Vec<String>, Vec<u32>) {
    let thread = |i: usize| (table.app[i], table.task[i], table.thread[i]);
    let with_app = table.app.first() != table.app.last();
    let with_thread = table.thread.iter().any(|&t| t != 1);
    let (mut names, mut of_burst) = (Vec::new(), Vec::with_capacity(table.len()));
    for i in 0..table.len() {
        if i == 0 || thread(i) != thread(i - 1) {
            let (app, task, thread) = thread(i);
            names.push(match (with_app, with_thread) {
                (true, _) => format!("{app}.{task}.{thread}"),
                (false, true) => format!("{task}.{thread}"),
                (false, false) => task.to_string(),
            });
        }
        of_burst.push(names.len() as u32 - 1);
    }
    (names, of_burst)
}

/// A column of the table of phases: its name, and its moments in a phase.
type Column<'a> = (&'a str, Box<dyn Fn(&PhaseStats) -> Moments + 'a>);

impl Analysis {
    /// Whether bursts of more than one application were read.
    pub(crate) fn several_apps(&self) -> bool {
        self.table.app.first() != self.table.app.last()
    }

    /// The metrics of the grouping, then the counters that are not among them.
    pub(crate) fn columns(&self) -> Vec<Column<'_>> {
        let metrics =
            self.metrics.iter().enumerate().filter(|(_, m)| !m.name.eq_ignore_ascii_case("duration"));
        let metrics = metrics.map(|(i, m)| -> Column<'_> {
            (m.name.as_str(), Box::new(move |phase: &PhaseStats| phase.metrics[i]))
        });
        let counters = self.table.counters.iter().enumerate();
        let counters = counters.filter(|(_, c)| self.metrics.iter().all(|m| m.name != c.counter.name));
        let counters = counters.map(|(i, c)| -> Column<'_> {
            (c.counter.name.as_str(), Box::new(move |phase: &PhaseStats| phase.counters[i]))
        });
        metrics.chain(counters).collect()
    }

    /// The two metrics that pictures show first: IPC across, as the papers draw it.
    pub(crate) fn axes(&self) -> [&Metric; 2] {
        let first = &self.metrics[0];
        [self.metrics.get(1).unwrap_or(first), first]
    }

    /// Phases that stand in for one another, by number, where refinement saw it.
    pub(crate) fn alternatives(&self) -> Vec<Vec<u32>> {
        let of = |refinement| alternatives(refinement, &self.grouped.clustering);
        self.grouped.refinement.as_ref().map_or_else(Vec::new, of)
    }

    /// Share of the computing time of all bursts that is noise.
    pub(crate) fn noise_share(&self) -> f64 {
        self.stats.last().map_or(0.0, |noise| noise.share)
    }
}
