//! Phases in figures: statistics, extrapolated counters, rates, code.
//!
//! Wherever phases are listed, the noise is the last.

use super::Traced;
use likewise::bursts::{
    ByCycles, Estimator, Extrapolated, OnCore, PhaseRegion, PhaseStats, Rate, Scope, SerialPhase,
    extrapolate, phase_regions, phase_stats, rates, serial_phases,
};
use likewise::cluster::{ClusterId, Clustering};
use likewise::table::{BurstTable, Nanos, Prepared};
use likewise::words::{counted, grouped_digits};
use std::borrow::Cow;
use std::ops::Range;

/// Phases with a smaller share of the computing time are not spoken of.
pub const NOTEWORTHY: f64 = 0.01;

/// What is said of the phases beside their statistics.
#[derive(Debug)]
pub struct Figures {
    /// Per phase and counter; empty if every burst carries every counter.
    pub extrapolated: Vec<Vec<Option<Extrapolated>>>,
    /// Quotients of the totals of a phase, such as IPC.
    pub rates: Vec<Rate>,
    /// Which code they are.
    pub regions: Vec<PhaseRegion>,
    /// Those that one thread computes while others wait, by wall time.
    pub serial: Vec<SerialPhase>,
    /// For what share of their time bursts are on a core, where that is known.
    pub on_core: OnCore,
}

/// Statistics and figures of each cluster and the noise; `dropped` bursts,
/// which have no label, are in neither. Counters that some bursts lack have
/// their extrapolated means in the statistics, too.
pub(super) fn figures(
    table: &BurstTable,
    prepared: &Prepared,
    clustering: &Clustering,
    dropped: &[u32],
    (run, traced): (Range<Nanos>, &Traced),
) -> (Vec<PhaseStats>, Figures) {
    let n_clusters = clustering.n_clusters;
    // In a cluster of their own, dropped bursts do not count as noise. Its
    // figures are removed below.
    let clustering = with_dropped(clustering, dropped);
    let mut stats = phase_stats(table, prepared, &clustering);
    let lacking = |phase: &PhaseStats| phase.counters.iter().any(|c| 0 < c.n && c.n < phase.instances);
    let mut extrapolated = Vec::new();
    if stats.iter().any(lacking) {
        extrapolated = extrapolate(table, prepared, &clustering);
        for (phase, found) in stats.iter_mut().zip(&extrapolated) {
            for (moments, found) in phase.counters.iter_mut().zip(found) {
                if let Some(found) = found.filter(|found| found.estimator != Estimator::Observed) {
                    *moments = found.moments();
                }
            }
        }
    }
    let (mut regions, (serial, on_core)) = rayon::join(
        || phase_regions(table, prepared, &clustering),
        || serial(table, prepared, &clustering, n_clusters, (run, traced)),
    );
    if !dropped.is_empty() {
        stats.remove(n_clusters);
        if !extrapolated.is_empty() {
            extrapolated.remove(n_clusters);
        }
        regions.retain(|row| row.cluster.is_none_or(|id| id.index() < n_clusters));
    }
    let rates = rates(table, &stats);
    (stats, Figures { extrapolated, rates, regions, serial, on_core })
}

/// The serial phases among the first `n_clusters`, and for how long these are on a core.
fn serial(
    table: &BurstTable,
    prepared: &Prepared,
    clustering: &Clustering,
    n_clusters: usize,
    (run, traced): (Range<Nanos>, &Traced),
) -> (Vec<SerialPhase>, OnCore) {
    let mut labels = vec![None; table.len()];
    for (i, &label) in prepared.complete.iter().zip(&clustering.labels) {
        labels[i as usize] = label.filter(|id| id.index() < n_clusters);
    }
    let on_core = OnCore::of(table, &labels, n_clusters, traced.cpus);
    // While programs start up, tasks do not wait for one another.
    let part = traced.part.clone().unwrap_or(run);
    let table = &*traced.looked_at(table);
    if traced.part.is_some() {
        let is_inside = |i: usize| table.begin[i] >= part.start && table.end(i) <= part.end;
        labels.iter_mut().enumerate().filter(|(i, _)| !is_inside(*i)).for_each(|(_, label)| *label = None);
    }
    let mut serial = serial_phases(table, &labels, part.end.saturating_sub(part.start));
    serial.retain(|phase| !on_core.asleep[phase.cluster.index()]);
    (serial, on_core)
}

/// With one more cluster for the bursts that were dropped, if there are any.
fn with_dropped<'a>(clustering: &'a Clustering, dropped: &[u32]) -> Cow<'a, Clustering> {
    let mut clustering = Cow::Borrowed(clustering);
    if !dropped.is_empty() {
        let with = clustering.to_mut();
        let last = ClusterId::from_index(with.n_clusters);
        with.n_clusters += 1;
        dropped.iter().for_each(|&i| with.labels[i as usize] = Some(last));
    }
    clustering
}

impl Figures {
    /// Counters, by place, that bursts of some phase or of the noise lack.
    pub fn partial(&self, table: &BurstTable) -> Vec<usize> {
        let partial = |c: &usize| {
            let found = self.extrapolated.iter().flat_map(|phase| phase[*c]);
            found.into_iter().any(|found| found.estimator != Estimator::Observed)
        };
        (0..table.counters.len()).filter(partial).collect()
    }

    /// Which counters have no rates, being 0 nearly everywhere.
    pub fn silent_note(table: &BurstTable) -> Option<String> {
        let silent = table.counters.iter().filter(|c| c.is_silent(&table.duration));
        let names: Vec<&str> = silent.map(|c| c.counter.name.as_str()).collect();
        let is = if names.len() == 1 { "is" } else { "are" };
        (!names.is_empty()).then(|| format!("{} {is} 0 nearly everywhere: no rates.", names.join(", ")))
    }

    /// That counters were extrapolated, if any was.
    pub fn note(&self, table: &BurstTable) -> Option<String> {
        let partial = self.partial(table);
        if partial.is_empty() {
            return None;
        }
        let lacking = table.counters.iter().filter(|c| c.values.iter().any(f64::is_nan)).count();
        let unknown = table.counters.iter().filter(|c| c.values.iter().all(f64::is_nan)).count();
        let is_cpu_time = |c: &usize| table.counters[*c].counter.is_cpu_time_in_ns();
        let cpu_time = match partial.iter().any(is_cpu_time) {
            true => " (of CPU time only where these bursts have half of the phase's time)",
            false => "",
        };
        let errors = match partial.iter().all(is_cpu_time) {
            true => "",
            false => "; clusters.csv has the standard errors",
        };
        let of_none = match unknown {
            0 => String::new(),
            n => format!(" ({} by none)", grouped_digits(n as u64)),
        };
        Some(format!(
            "{} of {} {} not carried by every burst{of_none}. Where some bursts of a phase carry one, its mean \
             is extrapolated over the phase{cpu_time}{errors}.",
            grouped_digits(lacking as u64),
            counted(table.counters.len() as u64, "counter"),
            if lacking == 1 { "is" } else { "are" },
        ))
    }

    /// Where hardly any cycles are counted: what bursts say there is no computing.
    fn hardly_running_note(&self, by_cycles: &ByCycles, stats: &[PhaseStats]) -> Option<String> {
        let all: f64 = stats.iter().map(|phase| phase.total.0 as f64).sum();
        let is_noteworthy = |time: Nanos| time.0 as f64 >= NOTEWORTHY * all;
        let ByCycles { of_phases, in_no_phase, in_other_phases } = by_cycles;
        let of_phase = |(at, share): (usize, &Option<f64>)| {
            let id = ClusterId::from_index(at);
            let is_told =
                self.on_core.asleep[at] && stats.get(at).is_some_and(|own| is_noteworthy(own.total));
            share.filter(|_| is_told).map(|share| format!("phase {} ({:.1}%)", id.number(), 100.0 * share))
        };
        let mut said: Vec<String> = of_phases.iter().enumerate().filter_map(of_phase).collect();
        said.extend(is_noteworthy(*in_no_phase).then(|| format!("bursts of no phase ({in_no_phase})")));
        let alone = is_noteworthy(*in_other_phases);
        said.extend(alone.then(|| format!("single bursts of other phases ({in_other_phases})")));
        (!said.is_empty()).then(|| {
            format!(
                "Less than a tenth of the cycles that the clock of the run makes is counted in: {}. Their threads \
                 sleep, wait or are in the system there, and count as waiting in what to look at first.",
                said.join(", ")
            )
        })
    }

    /// Which phases are hardly on a core: what their bursts say is no computing.
    pub fn on_core_note(&self, stats: &[PhaseStats]) -> Option<String> {
        if let Some(by_cycles) = &self.on_core.by_cycles {
            return self.hardly_running_note(by_cycles, stats);
        }
        let OnCore { of_all, .. } = self.on_core;
        if let Some(share) = of_all.filter(|_| self.on_core.is_hardly()) {
            let share = 100.0 * share;
            return Some(format!(
                "By their CPU time, bursts are on a core for {share:.1}% of their time: their threads sleep in \
                 them, or wait for a core."
            ));
        }
        let all: f64 = stats.iter().map(|phase| phase.total.0 as f64).sum();
        let is_noteworthy = |id: ClusterId| {
            stats.get(id.index()).is_some_and(|phase| phase.total.0 as f64 >= NOTEWORTHY * all)
        };
        let hardly = self.on_core.hardly().filter(|&(id, _)| is_noteworthy(id));
        let said: Vec<String> =
            hardly.map(|(id, share)| format!("phase {} ({:.1}%)", id.number(), 100.0 * share)).collect();
        (!said.is_empty()).then(|| {
            format!(
                "By their CPU time, bursts are on a core for less than half of their time in: {}. Their threads \
                 sleep then, or wait for a core or for other threads.",
                said.join(", ")
            )
        })
    }

    /// Which phases are serial.
    pub fn serial_note(&self) -> Option<String> {
        let phase = |phase: &SerialPhase| {
            let SerialPhase { cluster, scope, thread, wall, share, .. } = phase;
            let who = match thread {
                Some((_, task, thread)) => format!("thread {task}.{thread} alone"),
                None => "one thread at a time".to_owned(),
            };
            let others = if *scope == Scope::Run { "" } else { " of each task" };
            format!(
                "phase {} ({who}{others}, {wall}, {:.1}% of the wall time)",
                cluster.number(),
                100.0 * share
            )
        };
        let said: Vec<String> =
            self.serial.iter().filter(|phase| phase.share >= NOTEWORTHY).map(phase).collect();
        (!said.is_empty()).then(|| format!("Serial, while other threads wait: {}.", said.join("; ")))
    }

    /// Share of the wall time in which a phase is serial, 0 where it is not;
    /// `None` for the noise.
    pub fn serial_share(&self, cluster: Option<ClusterId>) -> Option<f64> {
        let id = cluster?;
        Some(self.serial.iter().find(|phase| phase.cluster == id).map_or(0.0, |phase| phase.share))
    }
}
