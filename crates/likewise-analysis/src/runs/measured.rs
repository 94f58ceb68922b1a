//! What is measured of runs whose phases are matched.

use super::phase::phase;
use super::{
    Analysed, Comparison, MUCH, OfThread, Phase, Run, Settings, THRESHOLD, THRESHOLD_OF_SAME_THREADS,
    few_cpus, run_bursts, same_threads,
};
use likewise::bursts::Period;
use likewise::bursts::scaling::{
    Calm, Measured, Measures, Per, PhaseScaling, Repeats, RunFigures, RunMatch, Scaling, computing_within,
    phase_scaling, whole_run,
};
use likewise::words::percent;
use likewise_recording::ROUNDING;

impl Comparison {
    /// Phases are measured by `measures`, all computation by `in_all`; `calms` are the runs with
    /// usual bursts in place of those that took long once.
    pub(super) fn measured(
        analysed: &[Analysed],
        settings: Settings,
        (found, repeats): (&RunMatch, &Repeats),
        (measures, in_all, calms): (&Measures<'_>, &Measures<'_>, &[Calm]),
    ) -> Self {
        let facts: Vec<RunFigures> = analysed.iter().map(|run| whole_run(&run_bursts(run))).collect();
        let told_scaling = settings.scaling.is_none().then(|| measures.scaling());
        let scaling = settings.scaling.or(told_scaling.map(|told| told.scaling)).unwrap_or(Scaling::Strong);
        let is_rounded = analysed.iter().any(|run| run.analysis.drawn_times);
        let threshold = settings.threshold.unwrap_or_else(|| usual_threshold(&facts, is_rounded));
        let one = |p: usize| phase(measures, (found, repeats), (p, calms), (scaling, threshold));
        let phases: Vec<Phase> = (0..found.phases.len()).filter_map(one).collect();
        let all = in_all.whole();
        let mut whole = all.as_ref().and_then(|all| phase_scaling(all, scaling, threshold));
        for PhaseScaling { base, changes, .. } in whole.iter_mut() {
            for (r, change) in changes.iter_mut().enumerate() {
                *change = change.take().map(|change| in_all.clocked(change, (*base, r)));
            }
        }
        let of_runs = OfRuns {
            repeats,
            measures,
            in_all,
            all: all.as_deref(),
            serial: serial(&phases, found.phases.len()),
            phases: &phases,
        };
        let runs = analysed.iter().zip(facts).enumerate();
        let runs: Vec<Run> = runs.map(|(r, (run, facts))| of_runs.run(r, run, facts)).collect();
        let mut notes: Vec<String> = analysed.iter().flat_map(notes).collect();
        notes.extend(is_rounded.then(rounded));
        Self {
            settings,
            scaling,
            told_scaling,
            threshold,
            reference: found.reference,
            per: repeats.whole.filter(|_| all.is_some()),
            wall_per: repeats.whole,
            unlike_iterations: repeats.unlike_periods,
            in_no_order: repeats.in_no_order,
            unlike_calm: false,
            runs,
            phases,
            whole: whole.unwrap_or(PhaseScaling {
                base: 0,
                changes: vec![None; analysed.len()],
                stops_at: None,
            }),
            notes,
        }
    }

    /// Says what makes the comparison doubtful.
    pub(super) fn warned(mut self) -> Self {
        if !self.is_whole_known() {
            self.whole.stops_at = None;
        }
        for run in &self.runs {
            if run.left.share > MUCH {
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
        self.notes.extend(self.doubtful());
        if !self.is_whole_known() {
            self.notes.push(format!(
                "Whether all computation is the same work in all runs cannot be told (phases of which that is so have \
                 more than {} of a run's time, or bursts that took long once can be told in some runs alone): nothing \
                 is said of it, and “?” stands in place of its efficiency.",
                percent(1.0 - self.threshold)
            ));
        }
        if self.unlike_iterations {
            let text = "Whether the periods found in the runs are of the same thing cannot be told: iterations are not compared.";
            self.notes.push(text.to_owned());
        }
        self
    }
}

/// The threshold where nobody asks for one.
fn usual_threshold(runs: &[RunFigures], is_rounded: bool) -> f64 {
    match same_threads(runs) {
        // Each of two numbers may be off.
        true if is_rounded => THRESHOLD_OF_SAME_THREADS / (ROUNDING * ROUNDING),
        true => THRESHOLD_OF_SAME_THREADS,
        false => THRESHOLD,
    }
}

/// Which of `n` phases, by number, are known to be serial in some run.
fn serial(phases: &[Phase], n: usize) -> Vec<bool> {
    let mut serial = vec![false; n];
    for phase in phases {
        let is_serial = phase.runs.iter().flatten().any(|run| run.figures().is_serial());
        serial[phase.number as usize - 1] = !phase.is_unsure() && is_serial;
    }
    serial
}

/// That times are not exact.
fn rounded() -> String {
    format!(
        "A recording with histograms rounds what a rank computes between two calls by up to {}: smaller differences \
         tell nothing. `likewise record --times all` rounds nothing.",
        percent(ROUNDING - 1.0)
    )
}

/// What tells of each run.
struct OfRuns<'a> {
    repeats: &'a Repeats,
    measures: &'a Measures<'a>,
    in_all: &'a Measures<'a>,
    /// All computation of each run, where runs are compared by it.
    all: Option<&'a [Option<Measured>]>,
    /// By number of the phase.
    serial: Vec<bool>,
    phases: &'a [Phase],
}

impl OfRuns<'_> {
    fn run(&self, r: usize, analysed: &Analysed, whole: RunFigures) -> Run {
        let Analysed { name, analysis, .. } = analysed;
        let Self { repeats, measures, in_all, all, serial, phases } = self;
        let all = all.and_then(|all| all[r].clone());
        let by_thread = all.as_ref().map_or_else(Vec::new, |all| in_all.by_thread(r, all));
        let (wall, in_wall) = of_wall(repeats, analysed, r).unzip();
        let period = analysis.period().found.as_ref().ok();
        Run {
            name: name.clone(),
            input: analysis.input.clone(),
            tasks: analysis.table.tasks().count() as u64,
            apps: analysis.table.app.runs().count(),
            clusters: analysis.grouped.clustering.n_clusters,
            elapsed: analysis.length(),
            origin: analysis.origin,
            shared_cpus: analysis.shared_cpus,
            cpus: analysis.traced.cpus,
            few_cpus: few_cpus::of(analysis),
            iterations: repeats.iterations[r],
            matched: matched(phases, r),
            whole,
            all,
            by_thread,
            wall,
            in_wall: in_wall.unwrap_or_default(),
            iteration_lengths: period.map_or_else(Vec::new, |p| lengths(p, repeats.in_period[r])),
            without_serial: in_all.without(r, serial),
            alone_in_no_phase: in_all.alone_in_no_phase(r),
            alone_in_all: in_all.alone_in_all(r),
            left: measures.left(r),
        }
    }
}

/// How well the phases of a run match, by time.
fn matched(phases: &[Phase], r: usize) -> f64 {
    let (mut sum, mut all) = (0.0, 0.0);
    for run in phases.iter().filter_map(|phase| phase.runs[r].as_ref()) {
        let time = run.figures().total.0 as f64;
        sum += time * run.matched.confidence;
        all += time;
    }
    if all > 0.0 { sum / all } else { 1.0 }
}

/// What a run, or an iteration of it, takes by the clock in ns, and what each
/// thread computes of that: all of it, as an iteration may hold what others lack.
fn of_wall(repeats: &Repeats, run: &Analysed, r: usize) -> Option<(f64, Vec<OfThread>)> {
    let (analysis, bursts) = (&run.analysis, run_bursts(run));
    match (repeats.whole?, &analysis.period().found) {
        (Per::Run, _) => Some((analysis.length().0 as f64, computing_within(&bursts, None))),
        (_, Ok(period)) => {
            let n = period.n_iterations() as f64 * repeats.in_period[r] as f64;
            let wall = period.length().0 as f64 / repeats.in_period[r] as f64;
            let of_region = computing_within(&bursts, Some(period.region())).into_iter();
            Some((wall, of_region.map(|(thread, time)| (thread, time / n)).collect()))
        }
        _ => None,
    }
}

/// What each iteration of a period takes, in ns, where it holds so many of
/// those that are counted.
fn lengths(period: &Period, parts: u64) -> Vec<f64> {
    period.lengths().iter().map(|length| length.0 as f64 / parts as f64).collect()
}

/// Notes that name phases of a single run are left out, because the comparison
/// numbers phases anew.
fn notes(run: &Analysed) -> Vec<String> {
    let figures = &run.analysis.figures;
    let of_phases = [figures.serial_note(), figures.on_core_note(&run.analysis.stats)];
    let is_left = |note: &&String| !of_phases.iter().flatten().any(|of| of == *note);
    let notes = run.analysis.notes.iter().filter(is_left).cloned();
    notes.chain(figures.slept.note()).map(|note| format!("{}: {note}", run.name)).collect()
}
