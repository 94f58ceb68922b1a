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
    /// For how long bursts sleep by their cycles, of the part of the run that is looked at.
    pub slept: Slept,
}

/// Bursts that sleep ([`OnCore::asleep_bursts`]) by their cycles, as far as they are in the part of the run that is
/// looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slept {
    /// By phase, and behind these of no phase, for how long all threads do.
    pub time: Vec<Nanos>,
    /// The same, for what share of the part the one does that sleeps longest.
    pub longest: Vec<f64>,
}

impl Slept {
    /// `labels` has the phase of every burst, of `n_phases`.
    fn of(
        table: &BurstTable,
        (labels, n_phases): (&[Option<ClusterId>], usize),
        asleep: &[bool],
        part: &Range<Nanos>,
    ) -> Self {
        if asleep.is_empty() {
            return Self { time: vec![Nanos::ZERO; n_phases + 1], longest: vec![0.0; n_phases + 1] };
        }
        let (mut time, mut longest) = (vec![Nanos::ZERO; n_phases + 1], vec![Nanos::ZERO; n_phases + 1]);
        for (_, bursts) in table.threads() {
            let mut own = vec![Nanos::ZERO; n_phases + 1];
            for i in bursts.filter(|&i| asleep[i]) {
                let inside = table.end(i).min(part.end).saturating_sub(table.begin[i].max(part.start));
                let sum = &mut own[labels[i].map_or(n_phases, ClusterId::index)];
                *sum = sum.saturating_add(inside);
            }
            for (phase, own) in own.into_iter().enumerate() {
                time[phase] = time[phase].saturating_add(own);
                longest[phase] = longest[phase].max(own);
            }
        }
        let length = part.end.saturating_sub(part.start).0.max(1) as f64;
        Self { time, longest: longest.into_iter().map(|own| own.0 as f64 / length).collect() }
    }

    /// That such bursts are compared with none, without the names of phases; where it is worth it.
    pub(crate) fn note(&self) -> Option<String> {
        let time = self.time.iter().fold(Nanos::ZERO, |sum, time| sum.saturating_add(*time));
        self.longest.iter().any(|share| *share >= NOTEWORTHY).then(|| {
            format!(
                "In bursts of {time} in all, less than a tenth of the cycles that the clock of the run makes is \
                 counted. Their threads sleep, wait or are in the system there, and count as waiting."
            )
        })
    }
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
    let (mut regions, (serial, on_core, slept)) = rayon::join(
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
    (stats, Figures { extrapolated, rates, regions, serial, on_core, slept })
}

/// The serial phases among the first `n_clusters`, and for how long bursts are on a core and sleep.
fn serial(
    table: &BurstTable,
    prepared: &Prepared,
    clustering: &Clustering,
    n_clusters: usize,
    (run, traced): (Range<Nanos>, &Traced),
) -> (Vec<SerialPhase>, OnCore, Slept) {
    let mut labels = vec![None; table.len()];
    for (i, &label) in prepared.complete.iter().zip(&clustering.labels) {
        labels[i as usize] = label.filter(|id| id.index() < n_clusters);
    }
    let on_core = OnCore::of(table, &labels, n_clusters, traced.cpus);
    // While programs start up, tasks do not wait for one another.
    let part = traced.part.clone().unwrap_or(run);
    let asleep = on_core.by_cycles.as_ref().map_or(&[][..], |_| &on_core.asleep_bursts[..]);
    let slept = Slept::of(table, (&labels, n_clusters), asleep, &part);
    let table = &*traced.times_looked_at(table);
    let is_inside = |i: usize| {
        table.begin[i] >= part.start && table.end(i) <= part.end && table.duration[i] > Nanos::ZERO
    };
    if traced.part.is_some() || !traced.done.is_empty() {
        labels.iter_mut().enumerate().filter(|(i, _)| !is_inside(*i)).for_each(|(_, label)| *label = None);
    }
    let mut serial = serial_phases(table, &labels, part.end.saturating_sub(part.start));
    serial.retain(|phase| !on_core.asleep[phase.cluster.index()]);
    (serial, on_core, slept)
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

    /// Where hardly any cycles are counted: what bursts say there is no computing. It may be a small
    /// part of what all threads compute and yet much of the run.
    fn hardly_running_note(&self, by_cycles: &ByCycles) -> Option<String> {
        let Slept { time, longest } = &self.slept;
        let is_told = |(at, _): &(usize, &Nanos)| longest[*at] >= NOTEWORTHY;
        let told = time.iter().enumerate().filter(is_told).map(|(at, time)| {
            let number = at + 1;
            match by_cycles.of_phases.get(at) {
                None => format!("bursts of no phase ({time})"),
                Some(Some(share)) if self.on_core.asleep[at] => {
                    format!("phase {number} ({:.1}%)", 100.0 * share)
                }
                Some(_) => format!("some bursts of phase {number} ({time})"),
            }
        });
        let said: Vec<String> = told.collect();
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
            return self.hardly_running_note(by_cycles);
        }
        if let Some(rate) = self.on_core.misfit {
            return Some(format!(
                "Cycles do not fit the times of this trace: half of them are in bursts that count one in {:.0} ns, \
                 or fewer, and hardly any in bursts that count one in 5 ns (simulated times?). They are not used to \
                 tell who sleeps.",
                1.0 / rate
            ));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// 24 threads compute for 99 µs; the first begins with 2.5 µs in which it sleeps. No note said so,
    /// as that is 0.1% of what all compute.
    #[test]
    fn sleep_is_told_by_its_share_of_the_run() {
        let n = 25;
        let threads = std::iter::once(1).chain(1..=24);
        let (begin, duration) = (
            |i: usize| Nanos(if i == 0 { 0 } else { 2_500 }),
            |i: usize| match i {
                0 => Nanos(2_500),
                _ => Nanos(99_000),
            },
        );
        let table = BurstTable {
            app: vec![1; n].into(),
            task: vec![1; n].into(),
            thread: threads.collect::<Vec<u32>>().into(),
            begin: (0..n).map(begin).collect(),
            duration: (0..n).map(duration).collect(),
            ..BurstTable::default()
        };
        let labels: Vec<_> = (0..n).map(|i| (i > 0).then(|| ClusterId::from_index(0))).collect();
        let asleep: Vec<bool> = (0..n).map(|i| i == 0).collect();
        let note = |part: Range<Nanos>| {
            let slept = Slept::of(&table, (&labels, 1), &asleep, &part);
            let by_cycles = Some(ByCycles { of_phases: vec![Some(1.0)] });
            let on_core = OnCore { asleep: vec![false], by_cycles, ..OnCore::default() };
            let (extrapolated, rates, regions, serial) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            Figures { extrapolated, rates, regions, serial, on_core, slept }.on_core_note(&[])
        };
        let told = note(Nanos(0)..Nanos(101_500)).expect("a note");
        assert!(told.contains("is counted in: bursts of no phase (2.50 µs)."), "{told}");
        // What is before the part that is looked at counts nowhere.
        assert_eq!(note(Nanos(2_500)..Nanos(101_500)), None);
    }
}
