//! The phases of one run: bursts that are alike.

pub mod findings;
pub mod plots;

mod endless;
mod errand;
mod figures;
mod grouped;
mod grouping;
mod hidden;
mod kept;
mod names;
mod options;
mod period;
mod refining;
mod search;
mod spread;
mod streams;
mod structure;
mod trace;
mod traced;
mod whole;
mod wire;

pub use errand::{FoundPeriod, PeriodErrand};
pub use figures::{Figures, NOTEWORTHY};
use grouped::{How, Threads, grouped, ordered, too_few, too_small};
pub use grouping::{Curve, Grouped, group};
pub use hidden::ExtrapolationCheck;
pub use kept::{Deal, KeptCounters, put_rows, take_rows};
pub use names::rename_counters;
pub use options::{DEFAULT_FILTER, Describing, Grouping, Method, Options, Reading};
pub use period::{PeriodSearch, SoughtIn};
pub use refining::{alternatives, phase_of_node};
pub use search::{Here, Search};
pub use spread::{Share, label_bursts_on};
pub use structure::{Structure, sequence_names};
use structure::{silhouette, take_aligned};
pub use trace::{label_bursts, phases_of, skipped};
pub use traced::Traced;

use crate::definition::Plot;
use crate::{Stages, Watch};
use anyhow::Result;
use figures::figures;
use likewise::bursts::{
    Alignment, BurstLabel, Direction, Findings, Moments, PhaseRepresentatives, PhaseStats, burst_labels,
    representatives,
};
use likewise::cluster::Clustering;
use likewise::quality::Silhouette;
use likewise::table::{
    BurstTable, DurationFilter, Metric, Nanos, Preparation, Prepared, Runs, Scale, prepare,
};
use likewise_trace::{RanksRead, Streams, Taken};
use period::at_one_density;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The bursts of a run, each with its phase, and all that led to them.
///
/// Files with a row or an event for each burst need no more than this.
#[derive(Debug)]
pub struct Labelled {
    /// What was read, for people.
    pub input: String,
    /// When what was traced begins: with the first record, which may be long after time 0. All
    /// shares of the run are of the time from then to `end`.
    pub begin: Nanos,
    /// End of the trace.
    pub end: Nanos,
    /// What to add to times for those of the file: a table may count from anywhere, and its first
    /// burst is time 0 here.
    pub origin: Nanos,
    /// Every burst that was read.
    pub table: BurstTable,
    /// What describes a burst.
    pub metrics: Vec<Metric>,
    /// The bursts as points; these themselves are gone, because they take much memory,
    /// unless the bursts may still be refined.
    pub prepared: Prepared,
    /// Its clustering labels the complete bursts, by descending total time.
    pub grouped: Grouped,
    /// What became of every burst.
    pub labels: Vec<BurstLabel>,
    /// Each cluster, then the noise; counters that some bursts lack have
    /// their extrapolated means.
    pub stats: Vec<PhaseStats>,
    /// What else is said of them.
    pub figures: Figures,
    /// `None` where nobody asked for it, there are less than two phases, too much to
    /// measure, or phases that are not made by what describes bursts.
    pub silhouette: Option<Silhouette>,
    /// The bursts that stand for each phase: five strata, from the shortest bursts to
    /// the longest. None where nobody asked how the phases align.
    pub representatives: Vec<PhaseRepresentatives>,
    /// Whether times of single bursts were drawn from histograms.
    pub drawn_times: bool,
    /// Whether times of states are wrong: some end before they begin.
    pub odd_clocks: bool,
    /// Whether bursts are of events that have values and no ends.
    pub endless: bool,
    /// Set where a single thread has bursts, and there are more: what these are, and how many.
    pub alone: Option<(&'static str, u64)>,
    /// Which part of the run findings are of, and on how many CPUs its threads are.
    pub traced: Traced,
    /// Streams of accelerators that the trace has as threads: left out, or what the bursts are on.
    pub streams: Option<Streams>,
    /// Whether ranks are known to have shared CPUs, and times to have waits for these in them.
    pub shared_cpus: bool,
    /// Set where not all ranks of the program were read.
    pub part: Option<RanksRead>,
    /// Which columns of a table of bursts were read; `None` of a trace.
    pub columns: Option<Taken>,
    /// What was asked for, by the caller or by a definition.
    pub settings: Settings,
    /// Scatter plots to write.
    pub plots: Vec<Plot>,
    /// Names of the threads, in burst order.
    pub rows: Vec<String>,
    /// The thread of every burst, an index into `rows`.
    pub burst_row: Runs,
    /// Sentences that the analyst must know, as far as these bursts tell.
    pub first_notes: Vec<String>,
    /// What is left to do.
    left: Left,
}

/// What was asked for and is done when each burst has its phase.
#[derive(Debug)]
struct Left {
    /// The alignment, where the grouping has made it.
    aligned: Option<Arc<Alignment>>,
    /// The phases of one density, in which the period is sought, where bursts were refined
    /// and one suggests itself. Who seeks it takes them.
    at_one_density: Mutex<Option<Clustering>>,
    /// Leave out the alignment and what is computed from it.
    unaligned: bool,
    filter: DurationFilter,
    /// Groups are sought at one density, so that some bursts of a phase may be noise.
    one_density: bool,
    /// If no option says that, and groups might be refined instead.
    or_refine: bool,
    check_extrapolation: bool,
}

/// Phases of a run, with all that is said of them and of the run.
#[derive(Debug)]
pub struct Analysis {
    /// The bursts; an analysis can be read as these.
    labelled: Arc<Labelled>,
    /// How the sequences of phases align, and how good the grouping is.
    pub structure: Structure,
    /// What is worth a look first; `None` of several applications, and of
    /// drawn times.
    pub findings: Option<Findings>,
    /// Whether the run repeats, and where; `None` if another process seeks it.
    period: Option<PeriodSearch>,
    /// How well hidden counters were found again, where that was asked for.
    pub extrapolation_check: Option<ExtrapolationCheck>,
    /// Sentences that the analyst must know.
    pub notes: Vec<String>,
}

impl Deref for Analysis {
    type Target = Labelled;

    fn deref(&self) -> &Labelled {
        &self.labelled
    }
}

/// What was asked for, by the caller or by a definition.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How metrics were made comparable.
    pub scale: Scale,
    /// Share of the clustered time (0 to 1) below which a cluster is left out.
    pub min_share: Option<f64>,
    /// Share of the computing time (0 to 1) that the duration filter keeps,
    /// where it is by that.
    pub keep_time: Option<f64>,
    /// Applications that were read, ascending.
    pub apps: Vec<u32>,
    /// Event types that open and close bursts, if not Running states.
    pub burst_events: Vec<u32>,
    /// Whether malformed records were skipped.
    pub lenient: bool,
    /// The file that says what the caller does not.
    pub definition: Option<PathBuf>,
    /// How bursts were to be grouped.
    pub grouping: Grouping,
}

/// What to do with the bursts.
struct Plan<'a> {
    preparation: Preparation,
    settings: Settings,
    /// Refinement, instead of what `settings` say.
    refine: Option<Direction>,
    /// Refine where no density suggests itself, instead of an error.
    or_refine: bool,
    /// As in [`Left`].
    unaligned: bool,
    one_density: bool,
    check_extrapolation: bool,
    /// Scatter plots that the definition asks for, and whether it asks for all.
    plots: &'a [Plot],
    all_plots: bool,
}

/// The bursts and where they are from.
struct Input {
    name: String,
    begin: Nanos,
    end: Nanos,
    origin: Nanos,
    table: BurstTable,
    columns: Option<Taken>,
    drawn_times: bool,
    odd_clocks: bool,
    endless: bool,
    alone: Option<(&'static str, u64)>,
    traced: Traced,
    streams: Option<Streams>,
    shared_cpus: bool,
    part: Option<RanksRead>,
    notes: Vec<String>,
}

/// Prepares and groups the bursts.
fn labelled(
    input: Input,
    plan: Plan<'_>,
    search: &dyn Search,
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Result<Labelled> {
    let Input {
        name,
        begin,
        end,
        origin,
        mut table,
        columns,
        drawn_times,
        odd_clocks,
        endless,
        alone,
        traced,
        streams,
        shared_cpus,
        part,
        mut notes,
    } = input;
    let mut prepared = {
        let _bar = watch.spinner("Preparing");
        stages.time("prepare", || prepare(&table, &plan.preparation))?
    };
    notes.extend(prepared.notes.iter().cloned());
    let (rows, burst_row) = rows(&table);
    search.keep_counters(&mut table, &prepared);
    let (refine, or_refine) = (plan.refine, plan.or_refine);
    let how = How { grouping: &plan.settings.grouping, refine, or_refine };
    let threads = Threads { of_burst: &burst_row, n: rows.len(), cpus: traced.cpus };
    let mut grouped = grouped(&table, &prepared, threads, how, search, stages, watch)?;
    notes.extend(too_few(&grouped, prepared.complete.len()));
    notes.extend(grouped.note());
    let min_share = plan.settings.min_share;
    let (at_one_density, dropped, labels, described, (stats, figures)) = stages.time("cluster", || {
        let is_refined = grouped.method == Method::Refine && !drawn_times;
        let one =
            is_refined.then(|| at_one_density(&table, &prepared, &grouped, &plan.settings, search).ok());
        let found = std::mem::take(&mut grouped.clustering);
        let (clustering, dropped) = ordered(found, &table, &prepared, min_share);
        let is_asked = !plan.unaligned;
        let described = is_asked.then(|| by_points(&table, &prepared, &clustering, grouped.method));
        // Points and counters are much of the memory, so counters come back once points are gone
        // (but for bursts that may still be refined).
        if !plan.or_refine {
            prepared.points = Vec::new();
        }
        search.counters_back(&mut table);
        let mut figures = figures(&table, &prepared, &clustering, &dropped, (begin..end, &traced));
        if traced.is_off || streams::are_read(streams.as_ref()) {
            // Who is not traced may compute meanwhile, and so may who is not in a kernel.
            figures.1.serial.clear();
        }
        // After the figures, which take most memory here.
        let labels = burst_labels(&prepared, &clustering, &dropped);
        grouped.clustering = clustering;
        (one.flatten(), dropped, labels, described.unwrap_or_default(), figures)
    });
    let (silhouette, representatives) = described;
    notes.extend(figures.note(&table));
    notes.extend(Figures::silent_note(&table));
    notes.extend(figures.on_core_note(&stats));
    notes.extend(too_small(&dropped));
    let clustering = &grouped.clustering;
    let aligned = grouped.refinement.as_mut().and_then(|found| take_aligned(found, clustering)).map(Arc::new);
    let Preparation { metrics, filter, .. } = plan.preparation;
    let (plots, unknown) = plots::planned(&metrics, &table, plan.plots, plan.all_plots);
    notes.extend(unknown);
    let Plan { unaligned, one_density, or_refine, check_extrapolation, settings, .. } = plan;
    Ok(Labelled {
        columns,
        drawn_times,
        odd_clocks,
        endless,
        alone,
        traced,
        streams,
        shared_cpus,
        part,
        settings,
        plots,
        input: name,
        begin,
        end,
        origin,
        table,
        metrics,
        prepared,
        grouped,
        labels,
        stats,
        figures,
        rows,
        burst_row,
        first_notes: notes,
        silhouette,
        representatives,
        left: Left {
            aligned,
            at_one_density: Mutex::new(at_one_density),
            unaligned,
            filter,
            one_density,
            or_refine,
            check_extrapolation,
        },
    })
}

/// Strata of each phase, of which each has a representative.
const STRATA: usize = 5;

/// What is said of phases by the points of their bursts.
fn by_points(
    table: &BurstTable,
    prepared: &Prepared,
    clustering: &Clustering,
    method: Method,
) -> (Option<Silhouette>, Vec<PhaseRepresentatives>) {
    // What lies between the same calls need not be as long, so it has no silhouette.
    let has_silhouette = method != Method::Places;
    rayon::join(
        || has_silhouette.then(|| silhouette(table, prepared, clustering)).flatten(),
        || representatives(table, prepared, clustering, STRATA),
    )
}

/// Names of the timeline's rows, and the row of every burst.
fn rows(table: &BurstTable) -> (Vec<String>, Runs) {
    let with_app = table.app.first() != table.app.last();
    let with_thread = table.thread.runs().any(|(thread, _)| thread != 1);
    let (mut names, mut of_burst) = (Vec::new(), Runs::default());
    for ((app, task, thread), bursts) in table.threads() {
        of_burst.push_run(names.len() as u32, bursts.len());
        names.push(match (with_app, with_thread) {
            (true, _) => format!("{app}.{task}.{thread}"),
            (false, true) => format!("{task}.{thread}"),
            (false, false) => task.to_string(),
        });
    }
    (names, of_burst)
}

/// A column of the table of phases: its name, and its moments in a phase.
pub type Column<'a> = (&'a str, Box<dyn Fn(&PhaseStats) -> Moments + 'a>);

impl Labelled {
    /// How long the run was traced; in nanoseconds at least 1, to divide by.
    #[must_use]
    pub fn length(&self) -> Nanos {
        self.end.saturating_sub(self.begin).max(Nanos(1))
    }

    /// Whether bursts of more than one application were read.
    pub fn several_apps(&self) -> bool {
        self.table.app.first() != self.table.app.last()
    }

    /// The metrics of the grouping, then the counters that are not among them.
    pub fn columns(&self) -> Vec<Column<'_>> {
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

    /// That bursts may be missing, for commands that compare what threads have computed.
    ///
    /// # Errors
    /// Running states are not read, because they end before they begin (bursts of events do not
    /// depend on these); or ranks of a recording were saved until different moments.
    pub(crate) fn has_all_states(&self) -> Result<()> {
        if let Some(until) = self.traced.saved_until {
            anyhow::bail!(
                "{}: ranks cannot be compared: the program did not end by itself, and they were saved until different \
                 moments, the first until {until}, the last until {}. `likewise bursts` shows what there is",
                self.input,
                self.end
            );
        }
        if !self.has_odd_times() {
            return Ok(());
        }
        anyhow::bail!(
            "{}: what each thread computes is not known: states end before they begin, so their times are wrong. \
             `likewise bursts` shows what can be read; bursts of events (-- --burst-events TYPE) do not depend on \
             states",
            self.input
        )
    }

    /// Whether it is not known when threads compute: times of states are wrong, and bursts are not
    /// made of events, which do not depend on them.
    pub fn has_odd_times(&self) -> bool {
        self.odd_clocks && self.settings.burst_events.is_empty()
    }

    /// The two metrics that pictures show first: IPC across, as the papers draw it.
    pub fn axes(&self) -> [&Metric; 2] {
        plots::axes(&self.metrics)
    }

    /// Each principal component with its share of the variance, and which
    /// metrics load on it, the largest first.
    #[must_use]
    pub fn components(&self) -> Vec<(String, String)> {
        let Some(pca) = &self.prepared.pca else { return Vec::new() };
        let component = |(at, loadings): (usize, Vec<f64>)| {
            let mut order: Vec<usize> = (0..loadings.len()).collect();
            order.sort_by(|&a, &b| loadings[b].abs().total_cmp(&loadings[a].abs()).then(a.cmp(&b)));
            let loads = order.iter().map(|&m| format!("{} {:+.2}", self.metrics[m].name, loadings[m]));
            let name = format!("Component {}, loadings", at + 1);
            let loads = loads.collect::<Vec<_>>().join(", ");
            (name, format!("{loads}; {:.2}% of the variance", 100.0 * pca.explained[at]))
        };
        pca.loadings().into_iter().enumerate().map(component).collect()
    }

    /// Phases that stand in for one another, by number, where refinement saw it.
    pub fn alternatives(&self) -> Vec<Vec<u32>> {
        let of = |refinement| alternatives(refinement, &self.grouped.clustering);
        self.grouped.refinement.as_ref().map_or_else(Vec::new, of)
    }

    /// The mean silhouette of a phase, by its place.
    pub fn silhouette_of(&self, phase: usize) -> Option<f64> {
        self.silhouette.as_ref().and_then(|s| s.per_cluster.get(phase).copied())
    }

    /// Share of the computing time of all bursts that is noise.
    pub fn noise_share(&self) -> f64 {
        self.stats.last().map_or(0.0, |noise| noise.share)
    }
}
