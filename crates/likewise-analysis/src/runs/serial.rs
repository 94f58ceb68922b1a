//! What one thread computes while the others wait, where no phase tells it.

use super::{Comparison, InRun, Phase};
use likewise::bursts::scaling::{Per, SERIAL_SHARE};
use likewise::words::{listed, percent};

/// A phase of which a smaller part is serial is not serial; of one with more, part may be.
const HARDLY: f64 = 0.1;
/// A phase that matches at least so well is the same.
const WELL: f64 = 0.95;

impl Comparison {
    /// Phases that sentences are made of: those that are shown, and those that are serial and
    /// have a part of a run's wall time that is worth a word. Of many threads, one that computes
    /// alone for long does little of all that is computed.
    pub(super) fn looked_at(&self) -> impl Iterator<Item = &Phase> {
        let n_shown = self.shown().len();
        let share = |phase: &Phase, r: usize| {
            let run = phase.runs[r].as_ref().filter(|_| self.runs[r].whole.run_threads > 1)?;
            self.serial_share(r, run.figures())
        };
        let is_long = move |phase: &Phase| {
            (0..self.runs.len()).filter_map(|r| share(phase, r)).any(|share| share >= SERIAL_SHARE)
        };
        self.phases
            .iter()
            .enumerate()
            .filter(move |(p, phase)| *p < n_shown || is_long(phase))
            .map(|(_, phase)| phase)
    }

    /// Whether a phase is in the table.
    pub(super) fn is_shown(&self, phase: &Phase) -> bool {
        self.shown().iter().any(|other| other.number == phase.number)
    }

    /// The share that a phase has of the computing time of a run; of its wall time, if it is looked
    /// at for that.
    pub(super) fn share_of(&self, phase: &Phase, r: usize) -> Option<f64> {
        let figures = phase.runs[r].as_ref()?.figures();
        if self.is_shown(phase) { Some(figures.share) } else { self.serial_share(r, figures) }
    }

    /// A phase, and the most that it has of the time of a run.
    pub(super) fn who(&self, phase: &Phase) -> String {
        let sure = (0..self.runs.len()).filter(|&r| phase.is_sure(r));
        let share = sure.filter_map(|r| self.share_of(phase, r)).fold(0.0, f64::max);
        let of = if self.is_shown(phase) { "" } else { "wall " };
        format!("Phase {} (up to {} of the {of}time)", phase.number, percent(share))
    }

    /// The share of a run's wall time that serial bursts of no phase have; `None` of a run of
    /// one thread, where all is serial.
    fn share_in_no_phase(&self, r: usize) -> Option<f64> {
        let run = &self.runs[r];
        (run.whole.run_threads > 1).then(|| run.alone_in_no_phase.0 as f64 / run.elapsed.0.max(1) as f64)
    }

    /// `5.8% on 2 tasks`, `5.8% in A`.
    fn at(&self, r: usize, share: f64) -> String {
        format!("{} {} {}", percent(share), if self.same_threads() { "in" } else { "on" }, self.place(r))
    }

    /// What serial bursts of no phase have of the wall time of a run, if all computation of it
    /// is compared, and if that is worth a word.
    pub(super) fn serial_beside_phases(&self, r: usize) -> Option<f64> {
        self.share_in_no_phase(r).filter(|share| self.per == Some(Per::Run) && *share >= SERIAL_SHARE)
    }

    /// The sentence on serial bursts of no phase: of runs with as many threads, if their share
    /// differs.
    pub(super) fn serial_in_no_phase(&self) -> Option<String> {
        let share = |r: usize| Some((r, self.share_in_no_phase(r)?));
        let shares: Vec<(usize, f64)> = (0..self.runs.len()).filter_map(share).collect();
        let most = shares.iter().map(|(_, share)| *share).fold(0.0, f64::max);
        let least = if self.same_threads() {
            shares.iter().map(|(_, share)| *share).fold(1.0, f64::min)
        } else {
            0.0
        };
        if most - least < SERIAL_SHARE {
            return None;
        }
        let is_told = |(_, share): &(usize, f64)| self.same_threads() || *share >= SERIAL_SHARE;
        let told = shares.iter().filter(|of| is_told(of));
        let told: Vec<String> = told.map(|&(r, share)| self.at(r, share)).collect();
        // What is in a phase in one run may be in none in another: together they are of one thing.
        let in_all = |&(r, _): &(usize, f64)| {
            let run = &self.runs[r];
            (r, run.alone_in_all.0 as f64 / run.elapsed.0.max(1) as f64)
        };
        let in_all: Vec<(usize, f64)> = shares.iter().map(in_all).collect();
        let in_phases = shares.iter().zip(&in_all).any(|((_, own), (_, all))| all - own >= SERIAL_SHARE);
        let in_all = in_all.iter().filter(|of| in_phases && is_told(of));
        let in_all: Vec<String> = in_all.map(|&(r, share)| self.at(r, share)).collect();
        let in_all = match in_all.is_empty() {
            true => String::new(),
            false => {
                format!(" In all, with those of phases, one computes alone for {}.", in_all.join(", "))
            }
        };
        Some(format!(
            "Some bursts that are in no phase are serial, one {} computes while no other does; of the wall time \
             they have {}.{in_all}",
            self.unit(),
            told.join(", "),
        ))
    }

    /// That a serial phase is not found in some runs of several threads: it may be in no phase there, and
    /// as serial.
    fn not_found(&self, phase: &Phase) -> String {
        let lacks = |&r: &usize| phase.runs[r].is_none() && self.runs[r].whole.run_threads > 1;
        match (0..self.runs.len()).any(|r| lacks(&r)) {
            true => " Where it is not found, it may be as serial in no phase.".to_owned(),
            false => String::new(),
        }
    }

    /// What is said of the runs of several threads in which a phase is not serial, if there
    /// are any: a part of it that is may be the phase, and the rest another one. Where it does
    /// not match well, it may be another one as a whole.
    pub(super) fn not_serial(&self, phase: &Phase) -> String {
        let of_run = |r: usize| Some((r, phase.runs[r].as_ref()?));
        let others: Vec<(usize, &InRun)> = (0..self.runs.len())
            .filter_map(of_run)
            .filter(|(_, run)| run.figures().run_threads > 1 && !run.figures().is_serial())
            .collect();
        let part = |run: &InRun| run.figures().alone.0 as f64 / run.figures().total.0.max(1) as f64;
        let in_part: Vec<String> = others
            .iter()
            .map(|(r, run)| (*r, part(run)))
            .filter(|(_, part)| *part >= HARDLY)
            .map(|(r, part)| self.at(r, part))
            .collect();
        let is_sure = others.iter().all(|(_, run)| run.matched.confidence >= WELL);
        match (others.is_empty(), in_part.is_empty()) {
            (true, _) => self.not_found(phase),
            (false, true) if is_sure => " In the other runs that have it, it is not serial.".to_owned(),
            (false, true) => " In the other runs, what it is taken for is not serial.".to_owned(),
            (false, false) => {
                format!(" Of its own time, {} is so; the rest may be other bursts.", listed(&in_part))
            }
        }
    }
}
