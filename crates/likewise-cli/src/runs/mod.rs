//! Several runs of one program, their common phases and how these scale.

pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod text;

use crate::analysis::Analysis;
use likewise::bursts::scaling::{
    Change, Evidence, FactorKind, PhaseInRun, PhaseScaling, RunBursts, RunFigures, Scaling, match_runs,
    phase_figures, phase_scaling, scaling_of, whole_run,
};
use likewise::table::{BurstTable, Nanos};
use likewise_trace::printable;
use std::path::PathBuf;

/// Phases with less of every run's time are in `scaling.csv` alone.
pub(crate) const LEAST_SHARE: f64 = 0.005;

/// A run and what it is called.
pub(crate) struct Analysed {
    pub(crate) name: String,
    pub(crate) analysis: Analysis,
}

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// `None` is for the instructions to tell.
    pub(crate) scaling: Option<Scaling>,
    /// Below this efficiency a phase stops scaling; of runs of as many threads,
    /// below this speed it is slower.
    pub(crate) threshold: Option<f64>,
}

/// More threads always cost something, and another version need not.
const THRESHOLD: f64 = 0.8;
const THRESHOLD_OF_SAME_THREADS: f64 = 0.95;

/// A run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) input: String,
    pub(crate) tasks: u64,
    /// Clusters that its own analysis found.
    pub(crate) clusters: usize,
    /// From the begin of the trace to its end.
    pub(crate) elapsed: Nanos,
    /// All bursts.
    pub(crate) whole: RunFigures,
    /// Grouped bursts that are in no phase of the comparison.
    pub(crate) left: RunFigures,
}

/// A phase of the program.
#[derive(Clone, Debug)]
pub(crate) struct Phase {
    /// From 1, by descending share of a run's time.
    pub(crate) number: u32,
    /// Of each run, where it was found.
    pub(crate) runs: Vec<Option<(RunFigures, PhaseInRun)>>,
    pub(crate) scaling: PhaseScaling,
}

/// Runs by ascending threads, and what they have in common.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    pub(crate) settings: Settings,
    pub(crate) scaling: Scaling,
    /// The one asked for, or a default.
    pub(crate) threshold: f64,
    /// The run that the others were matched with.
    pub(crate) reference: usize,
    pub(crate) runs: Vec<Run>,
    pub(crate) phases: Vec<Phase>,
    /// All computation together.
    pub(crate) whole: PhaseScaling,
    pub(crate) notes: Vec<String>,
}

impl Comparison {
    pub(crate) fn of(mut analysed: Vec<Analysed>, settings: Settings) -> Self {
        let bursts = |a: &Analysis| (a.table.len(), RunBursts::threads(&run_bursts(a)));
        analysed.sort_by_cached_key(|run| bursts(&run.analysis).1);
        let views: Vec<RunBursts<'_>> = analysed.iter().map(|run| run_bursts(&run.analysis)).collect();
        let found = match_runs(&views);
        let n = found.phases.len();
        let figures: Vec<Vec<RunFigures>> =
            views.iter().zip(&found.phase_of).map(|(run, of)| phase_figures(run, of, n)).collect();
        let whole: Vec<RunFigures> = views.iter().map(whole_run).collect();
        let scaling = settings.scaling.unwrap_or_else(|| scaling_of(&whole));
        let usual = if same_threads(&whole) { THRESHOLD_OF_SAME_THREADS } else { THRESHOLD };
        let threshold = settings.threshold.unwrap_or(usual);
        let scale = |runs: &[Option<RunFigures>]| phase_scaling(runs, scaling, threshold);
        let phase = |(p, matched): (usize, likewise::bursts::scaling::MatchedPhase)| {
            let in_run = |(r, run): (usize, Option<PhaseInRun>)| run.map(|run| (figures[r][p], run));
            let runs: Vec<_> = matched.runs.into_iter().enumerate().map(in_run).collect();
            let of_runs: Vec<_> = runs.iter().map(|run| run.as_ref().map(|(figures, _)| *figures)).collect();
            Some(Phase { number: p as u32 + 1, runs, scaling: scale(&of_runs)? })
        };
        let phases: Vec<Phase> = found.phases.into_iter().enumerate().filter_map(phase).collect();
        let run = |(r, Analysed { name, analysis }): (usize, &Analysed)| Run {
            name: name.clone(),
            input: analysis.input.clone(),
            tasks: tasks(&analysis.table),
            clusters: analysis.grouped.clustering.n_clusters,
            elapsed: analysis.end,
            whole: whole[r],
            left: figures[r][n],
        };
        let all = scale(&whole.iter().copied().map(Some).collect::<Vec<_>>());
        let mut comparison = Self {
            settings,
            scaling,
            threshold,
            reference: found.reference,
            runs: analysed.iter().enumerate().map(run).collect(),
            phases,
            whole: all.unwrap_or(PhaseScaling { base: 0, changes: Vec::new(), stops_at: None }),
            notes: analysed.iter().flat_map(notes).collect(),
        };
        comparison.warn();
        comparison
    }

    /// Says what makes the comparison doubtful.
    fn warn(&mut self) {
        for run in &self.runs {
            if run.left.share > 0.05 {
                self.notes.push(format!(
                    "{}: {} of the computing time is in no phase of the comparison.",
                    run.name,
                    percent(run.left.share)
                ));
            }
        }
        let threads: Vec<u64> = self.runs.iter().map(|run| run.whole.run_threads).collect();
        if threads.windows(2).any(|two| two[0] == two[1]) && !self.same_threads() {
            self.notes.push("Runs of as many threads are compared in the order given.".to_owned());
        }
        if self.runs.iter().any(|run| run.whole.ipc().is_none()) {
            let text = "A run lacks instructions or cycles, so that phases are matched and explained by what is left.";
            self.notes.push(text.to_owned());
        }
    }

    /// Phases that hold a share of any run's time worth looking at.
    pub(crate) fn shown(&self) -> &[Phase] {
        let small = self.phases.iter().position(|phase| phase.largest_share() < LEAST_SHARE);
        &self.phases[..small.unwrap_or(self.phases.len())]
    }

    /// Whether the runs are of as many threads, so that nothing scales: they
    /// are versions of a program, or of its input.
    pub(crate) fn same_threads(&self) -> bool {
        same_threads(&self.runs.iter().map(|run| run.whole).collect::<Vec<_>>())
    }

    /// A sentence on each phase that stops scaling, of those worth looking at;
    /// on each that is slower or faster, where nothing scales.
    pub(crate) fn findings(&self) -> Vec<String> {
        if self.same_threads() {
            return self.differences();
        }
        let phases = self.shown().iter().filter_map(|phase| {
            let why = self.why(&phase.scaling)?;
            Some(format!(
                "Phase {} (up to {} of the time) stops scaling {why}.",
                phase.number,
                percent(phase.largest_share())
            ))
        });
        let whole = self.why(&self.whole).map(|why| {
            let loss = self.whole.stops_at.and_then(|at| self.largest_loss(at));
            let most = loss.map(|(phase, part)| format!(". Phase {phase} is {} of the loss", percent(part)));
            format!("All computation together stops scaling {why}{}.", most.unwrap_or_default())
        });
        let mut findings: Vec<String> = whole.into_iter().chain(phases).collect();
        if findings.is_empty() {
            findings.push(format!("Every phase keeps an efficiency of {} or more.", percent(self.threshold)));
        }
        findings
    }

    /// What is slower or faster than in the first run, run by run.
    fn differences(&self) -> Vec<String> {
        let mut differences = Vec::new();
        for r in 1..self.runs.len() {
            differences.extend(self.difference(r, "All computation together", &self.whole));
            for phase in self.shown() {
                let share = percent(phase.largest_share());
                let who = format!("Phase {} (up to {share} of the time)", phase.number);
                differences.extend(self.difference(r, &who, &phase.scaling));
            }
        }
        if differences.is_empty() {
            let most = percent(1.0 - self.threshold);
            differences.push(format!("No phase is slower or faster by {most} or more."));
        }
        differences
    }

    /// Whether something is slower or faster in a run than in its first, and
    /// the factor that has most to do with it.
    fn difference(&self, r: usize, who: &str, scaling: &PhaseScaling) -> Option<String> {
        let change = scaling.changes[r].as_ref().filter(|_| r != scaling.base)?;
        let (how, factor) = if change.speedup < self.threshold {
            ("slower", change.worst())
        } else if change.speedup * self.threshold > 1.0 {
            ("faster", change.best())
        } else {
            return None;
        };
        let factor = factor.map(|factor| {
            let why = if how == "slower" { cause(factor.kind) } else { gain(factor.kind) };
            format!(": {why}, × {:.2}", factor.value)
        });
        let (run, base) = (&self.runs[r].name, &self.runs[scaling.base].name);
        let (speed, why) = (change.speedup, factor.unwrap_or_default());
        Some(format!("{who} is {how} in {run} than in {base}, × {speed:.2}{why}."))
    }

    /// The phase that loses most time in a run, and its part of all that is
    /// lost against the smallest run.
    fn largest_loss(&self, run: usize) -> Option<(u32, f64)> {
        let threads = |r: usize| self.runs[r].whole.run_threads.max(1) as f64;
        let base = self.whole.base;
        let work = if self.scaling == Scaling::Weak { threads(run) / threads(base) } else { 1.0 };
        let lost = |now: u64, then: u64| now as f64 - work * then as f64;
        let all = lost(self.runs[run].whole.total.0, self.runs[base].whole.total.0);
        let total =
            |phase: &Phase, r: usize| phase.runs[r].as_ref().map_or(0, |(figures, _)| figures.total.0);
        let loss = |phase: &Phase| (phase.number, lost(total(phase, run), total(phase, base)) / all);
        let largest = self.phases.iter().map(loss).max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        largest.filter(|(_, part)| all > 0.0 && *part > 0.1)
    }

    /// Where and why something stops scaling, if it does.
    fn why(&self, scaling: &PhaseScaling) -> Option<String> {
        let at = scaling.stops_at?;
        let change = scaling.changes[at].as_ref()?;
        let cause = change.worst().map(|factor| format!(": {}, × {:.2}", cause(factor.kind), factor.value));
        if self.runs[at].whole.run_threads == self.runs[scaling.base].whole.run_threads {
            return None;
        }
        Some(format!(
            "at {}, with an efficiency of {}{}",
            self.threads_of(at),
            percent(change.efficiency),
            cause.unwrap_or_default()
        ))
    }

    /// `16 tasks`, or `16 threads` where tasks have several.
    pub(crate) fn threads_of(&self, run: usize) -> String {
        let n = self.runs[run].whole.run_threads;
        format!("{n} {}{}", self.unit(), if n == 1 { "" } else { "s" })
    }

    /// Where something stops scaling or is slower, for people: the threads, or
    /// the run where threads tell none apart.
    pub(crate) fn place(&self, run: usize) -> String {
        if self.same_threads() { self.runs[run].name.clone() } else { self.threads_of(run) }
    }

    /// What is counted along the axis.
    pub(crate) fn unit(&self) -> &'static str {
        if self.runs.iter().all(|run| run.whole.run_threads == run.tasks) { "task" } else { "thread" }
    }

    pub(crate) fn scaling_name(&self) -> &'static str {
        match self.scaling {
            Scaling::Strong => "strong",
            Scaling::Weak => "weak",
        }
    }
}

impl Phase {
    /// The largest share it has of a run's computing time.
    pub(crate) fn largest_share(&self) -> f64 {
        self.runs.iter().flatten().map(|(figures, _)| figures.share).fold(0.0, f64::max)
    }

    /// The least confidence of its matches; `None` if it is in one run alone.
    pub(crate) fn confidence(&self) -> Option<f64> {
        let matches = self.runs.iter().flatten().filter(|(_, run)| run.evidence != Evidence::Reference);
        matches.map(|(_, run)| run.confidence).min_by(f64::total_cmp)
    }

    pub(crate) fn change(&self, run: usize) -> Option<&Change> {
        self.scaling.changes[run].as_ref()
    }

    /// The factor that costs most where it stops scaling.
    pub(crate) fn worst(&self) -> Option<FactorKind> {
        self.change(self.scaling.stops_at?)?.worst().map(|factor| factor.kind)
    }
}

fn same_threads(runs: &[RunFigures]) -> bool {
    runs.windows(2).all(|two| two[0].run_threads == two[1].run_threads)
}

fn run_bursts(analysis: &Analysis) -> RunBursts<'_> {
    RunBursts {
        table: &analysis.table,
        complete: &analysis.prepared.complete,
        clustering: &analysis.grouped.clustering,
    }
}

fn tasks(table: &BurstTable) -> u64 {
    let task = |i: usize| (table.app[i], table.task[i]);
    (0..table.len()).filter(|&i| i == 0 || task(i) != task(i - 1)).count() as u64
}

fn notes(run: &Analysed) -> Vec<String> {
    run.analysis.notes.iter().map(|note| format!("{}: {note}", run.name)).collect()
}

/// What a run is called: the file's name without endings, or all of its path
/// where two have the same.
pub(crate) fn names(files: &[PathBuf]) -> Vec<String> {
    let short = |file: &PathBuf| {
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let name = name.strip_suffix(".prv").or_else(|| name.strip_suffix(".csv")).unwrap_or(name);
        printable(name.as_bytes(), 80)
    };
    let names: Vec<String> = files.iter().map(short).collect();
    let is_one = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    let long = |file: &PathBuf| printable(file.to_string_lossy().as_bytes(), 200);
    names.iter().zip(files).map(|(name, file)| if is_one(name) { name.clone() } else { long(file) }).collect()
}

/// A factor for people, as the cause of a loss.
pub(crate) fn cause(kind: FactorKind) -> &'static str {
    match kind {
        FactorKind::Instructions => "more instructions",
        FactorKind::Ipc => "lower IPC",
        FactorKind::Frequency => "fewer cycles per second",
        FactorKind::Rate => "fewer instructions per second",
        FactorKind::Time => "more computing time",
        FactorKind::LoadBalance => "load balance",
    }
}

/// A factor for people, as the cause of a gain.
fn gain(kind: FactorKind) -> &'static str {
    match kind {
        FactorKind::Instructions => "fewer instructions",
        FactorKind::Ipc => "higher IPC",
        FactorKind::Frequency => "more cycles per second",
        FactorKind::Rate => "more instructions per second",
        FactorKind::Time => "less computing time",
        FactorKind::LoadBalance => "load balance",
    }
}

/// A factor in files.
pub(crate) fn key(kind: FactorKind) -> &'static str {
    match kind {
        FactorKind::Instructions => "instruction_scalability",
        FactorKind::Ipc => "ipc_scalability",
        FactorKind::Frequency => "frequency_scalability",
        FactorKind::Rate => "rate_scalability",
        FactorKind::Time => "time_scalability",
        FactorKind::LoadBalance => "load_balance_scalability",
    }
}

/// What a match rests on, in files.
pub(crate) fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Reference => "reference",
        Evidence::Sequence => "sequence",
        Evidence::Figures => "figures",
    }
}

/// Clusters of the run's own analysis that a phase is in: `1`, `2+5+noise`.
pub(crate) fn clusters(run: &PhaseInRun) -> String {
    let mut names: Vec<String> = run.clusters.iter().take(3).map(|id| id.number().to_string()).collect();
    if run.clusters.len() > 3 {
        names.push("…".to_owned());
    }
    if run.noise > 0 {
        names.push("noise".to_owned());
    }
    names.join("+")
}

/// `87.3%`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_by_what_tells_them_apart() {
        let files = ["a/run_1.prv.gz", "b/run_4.csv", "c/run_4.prv", "x\u{1b}.prv"].map(PathBuf::from);
        assert_eq!(names(&files)[..3], ["run_1", "b/run_4.csv", "c/run_4.prv"]);
        assert!(!names(&files)[3].contains('\u{1b}'));
    }
}
