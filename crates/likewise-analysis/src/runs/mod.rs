//! Several runs of one program, their common phases and how these scale.

mod awake;
mod by_clock;
mod by_code;
mod by_work;
mod causes;
mod few_cpus;
mod findings;
mod measured;
mod off_core;
mod phase;
mod scaling;
mod serial;
mod wall;
mod words;

use self::awake::Awake;
use crate::phases::{Analysis, Method, Options, phases_of};
use crate::watch::Hushed;
use crate::{Stages, Watch};
use anyhow::{Result, bail};
use likewise::bursts::FewCpus;
use likewise::bursts::Period;
use likewise::bursts::scaling::{
    Calm, Change, Evidence, FactorKind, IterationsFrom, Measured, Measures, OneOff, Per, PhaseInRun,
    PhaseScaling, Repeats, RunBursts, RunFigures, RunMatch, Scaling, SlowTasks, ToldScaling, calm,
    is_same_work, match_by_calls, match_runs, repeats,
};
use likewise::table::Nanos;
use likewise_trace::RanksRead;
pub use phase::Doubt;
use std::collections::BTreeSet;
use std::path::PathBuf;
use words::names;
pub use words::{cause, cause_of, clusters, evidence, key, per};

/// Phases with less of every run's time are in `scaling.csv` alone.
pub const LEAST_SHARE: f64 = 0.005;

/// A phase that matches by less may not be the same one: it is shown, but no
/// sentence is made of it. Figures that are less alike than this match nothing
/// either.
const LEAST_MATCH: f64 = 0.5;

/// Application, task and thread, and a time in ns.
type OfThread = ((u32, u32, u32), f64);

/// A run and what it is called.
struct Analysed {
    name: String,
    analysis: Analysis,
    /// The same without the bursts in which threads sleep, where there are some.
    awake: Option<Awake>,
}

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// `None` is for the instructions to tell.
    pub scaling: Option<Scaling>,
    /// Below this efficiency a phase stops scaling; of runs of as many threads,
    /// below this speed it is slower.
    pub threshold: Option<f64>,
    /// Whether the work of all runs is known to be the same.
    pub total: bool,
}

/// Two thresholds, because more threads always cost something, while another
/// version of a program need not.
const THRESHOLD: f64 = 0.8;
const THRESHOLD_OF_SAME_THREADS: f64 = 0.95;

/// Phases are matched otherwise than by the order of steps where those that match then hold this share
/// of a run's computing time. Of two programs that have nothing in common, one may do the same.
const MOST: f64 = 0.5;

/// A share of a run's computing time that is worth a note, if it is in no phase.
const MUCH: f64 = 0.05;

/// A run.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it is called.
    pub name: String,
    /// The file that it was read from.
    pub input: String,
    /// How many tasks it has.
    pub tasks: u64,
    /// Applications.
    pub apps: usize,
    /// Clusters that its own analysis found.
    pub clusters: usize,
    /// From the begin of the trace to its end.
    pub elapsed: Nanos,
    /// What to add to times for those of the file.
    pub origin: Nanos,
    /// Whether ranks are known to have shared CPUs.
    pub shared_cpus: bool,
    /// CPUs that the trace names.
    pub cpus: Option<u32>,
    /// The same, where there are more threads and never more than these compute
    /// at once: what a thread waits for is not known then.
    pub few_cpus: Option<FewCpus>,
    /// How often it runs its loop, where that is known.
    pub iterations: Option<(u64, IterationsFrom)>,
    /// How well its phases match the reference's, by time.
    pub matched: f64,
    /// All bursts.
    pub whole: RunFigures,
    /// The same, or its loop, in terms that runs are compared in.
    pub all: Option<Measured>,
    /// What of that each thread computes, in ns.
    pub by_thread: Vec<OfThread>,
    /// What it, or an iteration of it, takes from begin to end, in ns.
    pub wall: Option<f64>,
    /// What each thread computes of that, in ns: all bursts, whether in a phase
    /// or not.
    pub in_wall: Vec<OfThread>,
    /// What each iteration of its period takes, in ns.
    pub iteration_lengths: Vec<f64>,
    /// All that it computes but serial phases and serial bursts of no phase.
    pub without_serial: RunFigures,
    /// Time in which one thread alone computes, in bursts of no phase; of a run of one thread
    /// nothing.
    pub alone_in_no_phase: Nanos,
    /// The same in bursts of any phase and of none.
    pub alone_in_all: Nanos,
    /// Grouped bursts that are in no phase of the comparison.
    pub left: RunFigures,
}

/// A phase in one run.
#[derive(Clone, Debug)]
pub struct InRun {
    /// What its bursts took.
    pub measured: Measured,
    /// Where in the run it was found, and how surely.
    pub matched: PhaseInRun,
    /// Tasks that take longer than in the first run that has the phase, while
    /// others do not.
    pub slow: Option<SlowTasks>,
    /// Bursts that took far longer than their thread does otherwise; the
    /// figures have usual ones in their place.
    pub one_offs: Vec<OneOff>,
}

impl InRun {
    /// The sums over its bursts.
    pub fn figures(&self) -> &RunFigures {
        &self.measured.figures
    }
}

/// A phase of the program.
#[derive(Clone, Debug)]
pub struct Phase {
    /// From 1, by descending share of a run's time.
    pub number: u32,
    /// What its times are compared per.
    pub per: Per,
    /// Whether it is of the loop, if one is known.
    pub in_loop: bool,
    /// Of each run, why it may be another one than in the base; `None` where nothing tells so.
    pub doubts: Vec<Option<Doubt>>,
    /// Of each run, where it was found.
    pub runs: Vec<Option<InRun>>,
    /// How it changes from run to run.
    pub scaling: PhaseScaling,
}

/// Runs by ascending threads, and what they have in common.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What was asked for.
    pub settings: Settings,
    /// How the work grows with the threads.
    pub scaling: Scaling,
    /// What the phases tell of it, unless it was asked for.
    pub told_scaling: Option<ToldScaling>,
    /// The one asked for, or a default.
    pub threshold: f64,
    /// The run that the others were matched with.
    pub reference: usize,
    /// What all computation is compared per; `None` where runs do unlike work,
    /// and how unlike is not known.
    pub per: Option<Per>,
    /// What the time by the clock is compared per, where that is known.
    pub wall_per: Option<Per>,
    /// Whether the runs may repeat unlike things, so that iterations are not compared.
    pub unlike_iterations: bool,
    /// Whether phases were matched by their work alone, as bursts come in no order.
    pub in_no_order: bool,
    /// Whether bursts that took long once count as usual ones in one run, while another has too
    /// few of them to tell: then whole runs are compared as they are.
    pub unlike_calm: bool,
    /// By ascending threads.
    pub runs: Vec<Run>,
    /// By descending share of a run's time.
    pub phases: Vec<Phase>,
    /// All computation together.
    pub whole: PhaseScaling,
    /// Sentences that the analyst must know.
    pub notes: Vec<String>,
}

/// Analyses each run and compares them. What is to be known of a single run is
/// among the notes of the comparison.
///
/// # Errors
/// As of [`phases_of`], for the first run that fails.
pub fn compare(
    files: &[PathBuf],
    options: &Options,
    settings: Settings,
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Result<Comparison> {
    let options = &Options { between_mpi: true, ..options.clone() };
    let mut analysed = Vec::with_capacity(files.len());
    for (file, name) in files.iter().zip(names(files)) {
        let mut of_run = Stages::default();
        let analysis = phases_of(file, options, &mut of_run, &Hushed(watch))?;
        stages.add_all(of_run);
        analysis.has_all_states()?;
        analysis.is_of_threads()?;
        let awake = Awake::of(&analysis);
        analysed.push(Analysed { name, analysis, awake });
        all_of_as_many(&analysed)?;
    }
    let _bar = watch.spinner("Matching");
    Ok(Comparison::of(analysed, settings, stages))
}

/// Runs are compared by what all ranks do together, or else by the same part of
/// as many.
fn all_of_as_many(analysed: &[Analysed]) -> Result<()> {
    let [first, .., last] = analysed else { return Ok(()) };
    if first.analysis.part == last.analysis.part {
        return Ok(());
    }
    let told = |Analysed { name, analysis, .. }: &Analysed| match analysis.part {
        Some(RanksRead { read, of }) => format!("'{name}' has the bursts of {read} of {of} ranks"),
        None => format!("'{name}' those of all its ranks"),
    };
    bail!(
        "these runs cannot be compared: {}, {}. `likewise record` without `--mode` records all ranks of a run to \
         its end",
        told(first),
        told(last)
    )
}

impl Comparison {
    fn of(mut analysed: Vec<Analysed>, settings: Settings, stages: &mut Stages) -> Self {
        let on_few_cpus = analysed.iter().any(|run| few_cpus::of(&run.analysis).is_some());
        let cpus = |run: &Analysed| run.analysis.traced.cpus.filter(|_| on_few_cpus);
        analysed.sort_by_cached_key(|run| (cpus(run), RunBursts::threads(&run_bursts(run))));
        let views: Vec<RunBursts<'_>> = analysed.iter().map(run_bursts).collect();
        let by_calls = analysed.iter().all(|run| run.analysis.grouped.method == Method::Places);
        let by_calls = || by_calls.then(|| match_by_calls(&views)).flatten();
        let found = stages.time("match", || by_calls().unwrap_or_else(|| match_runs(&views)));
        if on_few_cpus {
            return Self::on_few_cpus(&analysed, settings, &found, stages);
        }
        let comparison = Self::of_matched(&analysed, settings, &found, stages);
        let comparison = match comparison.n_known() == analysed.len() {
            true => comparison,
            false => Self::by_code(&analysed, settings, &comparison, stages).unwrap_or(comparison),
        };
        let is_known = comparison.wall_per.is_some() || comparison.looked_at().any(Phase::is_known);
        if comparison.same_threads() && !is_known {
            return Self::by_work(&analysed, settings, stages).unwrap_or(comparison);
        }
        comparison
    }

    /// Compares runs of which it is known which phase is which.
    fn of_matched(analysed: &[Analysed], settings: Settings, found: &RunMatch, stages: &mut Stages) -> Self {
        let views: Vec<RunBursts<'_>> = analysed.iter().map(|run| run_bursts(run)).collect();
        let periods: Vec<Option<Period>> =
            analysed.iter().map(|run| run.analysis.period().found.clone().ok()).collect();
        let mut repeats = repeats(&views, found, &periods, settings.total);
        // A farm of tasks has no iterations, but as much work on any number of threads.
        let threads: BTreeSet<u64> = views.iter().map(RunBursts::threads).collect();
        let is_total = repeats.whole.is_none() && threads.len() > 1 && is_same_work(&views);
        if is_total {
            repeats = self::repeats(&views, found, &periods, true);
        }
        let mut comparison = Self::repeated(analysed, settings, (found, &repeats), stages);
        if is_total {
            let text = "How many iterations there are cannot be told, but all runs do the same work within 5%, over \
                        all threads: whole runs are compared.";
            comparison.notes.push(text.to_owned());
        }
        comparison
    }

    /// In how many runs phases that are known to be the same hold half of the computing time.
    fn n_known(&self) -> usize {
        (0..self.runs.len()).filter(|&r| self.known_share(r) >= MOST).count()
    }

    /// Compares runs of which it is known which phase is which, and how often each is run.
    fn repeated(
        analysed: &[Analysed],
        settings: Settings,
        (found, repeats): (&RunMatch, &Repeats),
        stages: &mut Stages,
    ) -> Self {
        let views: Vec<RunBursts<'_>> = analysed.iter().map(run_bursts).collect();
        stages.time("scale", || {
            // A drawn time says nothing of a single burst.
            let of_run = |r: usize| match analysed[r].analysis.drawn_times {
                true => Calm::default(),
                false => calm(&views[r], &phase::surely_matched(found, r), analysed[r].analysis.length()),
            };
            let calms: Vec<Calm> = (0..views.len()).map(of_run).collect();
            let calmed: Vec<RunBursts<'_>> =
                views.iter().zip(&calms).map(|(view, calm)| calmed(view, calm)).collect();
            let measures = Measures::of(&calmed, &views, found, repeats);
            // What took long once counts as it is where not all runs tell it, and these are compared
            // as they are.
            let is_unlike = |p: u32| calms.iter().any(|a| calms.iter().any(|b| a.is_unlike(b, p)));
            let unlike_calm = (0..found.phases.len() as u32).any(is_unlike);
            let as_it_is = (unlike_calm && repeats.whole == Some(Per::Run))
                .then(|| Measures::of(&views, &views, found, repeats));
            let whole = as_it_is.as_ref().unwrap_or(&measures);
            let comparison = Self::measured(analysed, settings, (found, repeats), (&measures, whole, &calms));
            Self { unlike_calm, ..comparison }.warned()
        })
    }

    /// Phases that hold a share of any run's time worth looking at.
    pub fn shown(&self) -> &[Phase] {
        let small = self.phases.iter().position(|phase| phase.largest_share() < LEAST_SHARE);
        &self.phases[..small.unwrap_or(self.phases.len())]
    }

    /// Whether the runs are of as many threads, so that nothing scales: they
    /// are versions of a program, or of its input.
    pub fn same_threads(&self) -> bool {
        same_threads(&self.runs.iter().map(|run| run.whole).collect::<Vec<_>>())
    }

    /// `16 tasks`, or `16 threads` where tasks have several.
    pub fn threads_of(&self, run: usize) -> String {
        let n = self.runs[run].whole.run_threads;
        format!("{n} {}{}", self.unit(), if n == 1 { "" } else { "s" })
    }

    /// Where something stops scaling or is slower, for people: the threads, or
    /// the run where threads tell none apart.
    pub fn place(&self, run: usize) -> String {
        if self.same_threads() { self.runs[run].name.clone() } else { self.threads_of(run) }
    }

    /// What is counted along the axis.
    pub fn unit(&self) -> &'static str {
        if self.runs.iter().all(|run| run.whole.run_threads == run.tasks) { "task" } else { "thread" }
    }

    /// How well all runs match the reference: the least.
    pub fn matched(&self) -> f64 {
        self.runs.iter().map(|run| run.matched).fold(1.0, f64::min)
    }

    /// The share of a run's wall time in which a phase alone computes, if it
    /// is serial there; of a run of one thread, that it computes at all.
    pub fn serial_share(&self, r: usize, figures: &RunFigures) -> Option<f64> {
        if self.is_on_few_cpus() {
            return None;
        }
        let time = if figures.run_threads == 1 { figures.total } else { figures.alone };
        let is_serial = figures.run_threads == 1 || figures.is_serial();
        is_serial.then(|| time.0 as f64 / self.runs[r].elapsed.0.max(1) as f64)
    }
}

impl Phase {
    /// Whether it is the same in that run as in the base, as far as can be told.
    pub fn is_sure(&self, run: usize) -> bool {
        self.doubts[run].is_none()
    }

    /// Why it may be something else in some of the runs it is found in: the first reason.
    pub fn doubt(&self) -> Option<Doubt> {
        let found = self.runs.iter().zip(&self.doubts).filter(|(run, _)| run.is_some());
        found.filter_map(|(_, doubt)| *doubt).min()
    }

    /// Whether it may be.
    pub fn is_unsure(&self) -> bool {
        self.doubt().is_some()
    }

    /// Whether it is known to be the same in two runs at least.
    pub fn is_known(&self) -> bool {
        let in_run = |r: &usize| self.runs[*r].is_some() && self.is_sure(*r);
        (0..self.runs.len()).filter(in_run).count() >= 2
    }

    /// Whether its efficiency is told in any run but the base.
    pub fn is_compared(&self) -> bool {
        let is_told = |(r, change): (usize, &Option<Change>)| change.is_some() && r != self.scaling.base;
        self.scaling.changes.iter().enumerate().any(is_told)
    }

    /// The largest share it has of a run's computing time.
    pub fn largest_share(&self) -> f64 {
        self.runs.iter().flatten().map(|run| run.figures().share).fold(0.0, f64::max)
    }

    /// The least confidence of its matches; `None` if it is in one run alone.
    pub fn confidence(&self) -> Option<f64> {
        let matches = self.runs.iter().flatten().map(|run| &run.matched);
        let matches = matches.filter(|run| run.evidence != Evidence::Reference);
        matches.map(|run| run.confidence).min_by(f64::total_cmp)
    }

    /// Its change from the first run that has it to that run.
    pub fn change(&self, run: usize) -> Option<&Change> {
        self.scaling.changes[run].as_ref()
    }

    /// Why it stops scaling or is slower, in a word; nothing where it does not.
    pub fn cause(&self) -> Option<&'static str> {
        Some(cause_of(self.change(self.scaling.stops_at?)?))
    }

    /// The same, in files.
    pub fn cause_key(&self) -> Option<&'static str> {
        let change = self.change(self.scaling.stops_at?)?;
        Some(match change.worst()?.kind {
            FactorKind::LoadBalance if change.is_serial => "serial",
            FactorKind::Time => "unknown",
            FactorKind::Rate if change.hardly_runs => "unknown",
            kind => key(kind),
        })
    }
}

fn same_threads(runs: &[RunFigures]) -> bool {
    runs.windows(2).all(|two| two[0].run_threads == two[1].run_threads)
}

fn run_bursts(run: &Analysed) -> RunBursts<'_> {
    if let Some(Awake { table, complete, clustering }) = &run.awake {
        return RunBursts { table, complete, clustering };
    }
    RunBursts {
        table: &run.analysis.table,
        complete: &run.analysis.prepared.complete,
        clustering: &run.analysis.grouped.clustering,
    }
}

/// The run with usual bursts in place of those that took long once.
fn calmed<'a>(run: &RunBursts<'a>, calm: &'a Calm) -> RunBursts<'a> {
    RunBursts { table: calm.table.as_ref().unwrap_or(run.table), ..*run }
}
