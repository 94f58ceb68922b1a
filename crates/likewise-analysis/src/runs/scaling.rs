//! What a comparison says of how phases scale: strong, weak, or as either.

use super::causes::gains;
use super::{Comparison, Phase};
use likewise::bursts::scaling::{Change, Scaling, Untold};
use likewise::words::{listed, percent};

impl Comparison {
    /// `strong` or `weak`.
    pub fn scaling_name(&self) -> &'static str {
        match self.scaling {
            Scaling::Strong => "strong",
            Scaling::Weak => "weak",
        }
    }

    /// What tells how the work grows with the threads.
    pub fn scaling_told_by(&self) -> &'static str {
        match self.told_scaling {
            _ if self.is_on_few_cpus() => "not told of threads that share CPUs",
            None => "as asked",
            Some(told) if told.by_whole_runs && told.by_instructions => "by the instructions of whole runs",
            Some(told) if told.by_whole_runs => {
                "by the computing time of whole runs, as there are no instructions"
            }
            Some(told) if !told.is_sure() => "cannot be told, see below",
            Some(told) if told.by_instructions => "by the instructions",
            Some(_) => "by the computing time, as there are no instructions",
        }
    }

    /// What stops scaling.
    pub(super) fn stops(&self) -> Vec<String> {
        let phases = self.looked_at().filter_map(|phase| {
            let why = self.why(&phase.scaling)?;
            Some(format!("{} stops scaling {why}.", self.who(phase)))
        });
        let whole = self.why(&self.whole).filter(|_| self.is_whole_known()).map(|why| {
            let loss = self.whole.stops_at.and_then(|at| self.largest_loss(at));
            let most = loss.map(|(phase, part)| {
                let part = if part > 1.0 { "all".to_owned() } else { percent(part) };
                format!(". Of what the {} that computes longest loses, phase {phase} is {part}", self.unit())
            });
            format!("{} stops scaling {why}{}.", self.all(), most.unwrap_or_default())
        });
        let mut findings: Vec<String> = whole.into_iter().chain(phases).collect();
        if findings.is_empty() {
            findings.push(self.all_scale());
        }
        findings.extend(self.time_outside());
        findings
    }

    /// That nothing stops scaling, as far as is known; more than all of it
    /// needs a reason.
    fn all_scale(&self) -> String {
        if let Some(guessed) = self.as_either() {
            return guessed;
        }
        let threshold = percent(self.threshold);
        let above = |change: &&Change| change.is_above(self.threshold);
        let best = |phase: &Phase| {
            let known = phase.scaling.changes.iter().zip(&phase.doubts).filter(|(_, doubt)| doubt.is_none());
            let change = known.filter_map(|(change, _)| change.as_ref()).filter(above);
            change.max_by(|a, b| a.efficiency.total_cmp(&b.efficiency)).cloned()
        };
        let of_phase = |phase: &Phase| best(phase).map(|change| (phase.number, change));
        let most = self.looked_at().filter_map(of_phase);
        match most.max_by(|a, b| a.1.efficiency.total_cmp(&b.1.efficiency)) {
            Some((phase, change)) => format!(
                "No phase{} falls below an efficiency of {threshold}{}{}; phase {phase} is far above 100%, at {}: {}.",
                if self.all_known() { "" } else { " that is known to be the same in all runs" },
                self.but_for_chance(),
                self.known_part(),
                percent(change.efficiency),
                gains(&change)
            ),
            None if !self.looked_at().any(Phase::is_compared) && self.looked_at().any(Phase::is_known) => {
                "How phases scale is not said: each that is known to be the same is one burst on more threads, which \
                 these cannot divide."
                    .to_owned()
            }
            None if self.all_known() => {
                format!("Every phase keeps an efficiency of {threshold} or more{}.", self.but_for_chance())
            }
            None if self.looked_at().all(|phase| !phase.is_known()) => {
                "Which phases scale cannot be told: none is known to be the same in two runs.".to_owned()
            }
            None => format!(
                "Every phase that is known to be the same in all runs keeps an efficiency of {threshold} or more{}{}.",
                self.but_for_chance(),
                self.known_part()
            ),
        }
    }

    /// What is said instead where it is not known whether the scaling is strong or weak: that no
    /// phase falls below the threshold is then a guess. `None` where it is known.
    fn as_either(&self) -> Option<String> {
        self.told_scaling.filter(|told| !told.is_sure() && self.scaling == Scaling::Weak)?;
        let threads = |r: usize| self.runs[r].whole.run_threads as f64;
        let falls = |phase: &&Phase| {
            let base = phase.scaling.base;
            let falls = |r: usize, change: &Change| {
                let as_strong = change.efficiency * threads(base) / threads(r);
                phase.is_sure(r) && threads(r) > threads(base) && as_strong < self.threshold
            };
            let changes = phase.scaling.changes.iter().enumerate();
            changes.filter_map(|(r, change)| Some((r, change.as_ref()?))).any(|(r, change)| falls(r, change))
        };
        let below: Vec<String> =
            self.looked_at().filter(falls).map(|phase| phase.number.to_string()).collect();
        if below.is_empty() {
            return None;
        }
        let (which, fall) = if below.len() == 1 { ("phase", "falls") } else { ("phases", "fall") };
        Some(format!(
            "As weak scaling no phase{} falls below an efficiency of {}{}{}; as strong scaling {which} {} {fall} below it.",
            if self.all_known() { "" } else { " that is known to be the same in all runs" },
            percent(self.threshold),
            self.but_for_chance(),
            self.known_part(),
            listed(&below)
        ))
    }

    /// That the phases do not tell whether the scaling is strong or weak.
    pub(super) fn unknown_scaling(&self) -> Option<String> {
        let told = self.told_scaling.filter(|told| !told.is_sure() && !self.same_threads())?;
        let unit = self.unit();
        let why = match told.divided {
            Ok(divided) => format!(
                "phases with {} of the time divide their work by the {unit}s, the others have as much for each {unit}",
                percent(divided)
            ),
            Err(Untold::Repeats) => "how often the runs repeat what they do is not known".to_owned(),
            Err(Untold::Phases) => {
                format!("the phases that all runs have, on all {unit}s, hold less than half of a run's time")
            }
        };
        Some(format!(
            "Whether this is strong or weak scaling cannot be told: {why}. It is taken as {}; --scaling says it.",
            self.scaling_name()
        ))
    }
}
