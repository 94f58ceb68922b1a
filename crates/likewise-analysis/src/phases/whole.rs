//! What is said of a run as a whole, once each burst has its phase.

use super::hidden::ExtrapolationCheck;
use super::{Analysis, Labelled, PeriodSearch, Structure, findings};
use crate::{Stages, Watch};
use likewise::bursts::Findings;
use std::sync::Arc;

impl Analysis {
    /// Whether the run repeats, and where.
    ///
    /// # Panics
    /// Of an analysis [but for the period](Labelled::analysed_but_period).
    #[must_use]
    pub fn period(&self) -> &PeriodSearch {
        self.period.as_ref().expect("it is sought here")
    }
}

/// Of more bursts, the period and the findings are looked for one after the other: side
/// by side, they hold more than any other stage. With 40,000,000 bursts the program had
/// 7.0 GB then (with the bursts' points and the representatives, which are gone and found
/// before this now).
const SIDE_BY_SIDE: usize = 1 << 24;

impl Labelled {
    /// Whether there are so few bursts that their files may be written while
    /// [`Labelled::analysed`] runs: both take memory.
    #[must_use]
    pub fn may_be_written_meanwhile(&self) -> bool {
        self.table.len() <= SIDE_BY_SIDE
    }

    /// Aligns the sequences of phases, and looks for what repeats, for what is worth a
    /// look, and for the bursts that stand for others. Files with a row for each burst
    /// may be written meanwhile.
    #[must_use]
    pub fn analysed(self: Arc<Self>, stages: &mut Stages, watch: &dyn Watch) -> Analysis {
        self.analysed_with(true, stages, watch)
    }

    /// The same, while another process seeks the period: [`PeriodErrand`](super::PeriodErrand).
    #[must_use]
    pub fn analysed_but_period(self: Arc<Self>, stages: &mut Stages, watch: &dyn Watch) -> Analysis {
        self.analysed_with(false, stages, watch)
    }

    fn analysed_with(self: Arc<Self>, seeks: bool, stages: &mut Stages, watch: &dyn Watch) -> Analysis {
        let _bar = watch.spinner("Aligning");
        let (mut beside, mut last) = (Stages::default(), Stages::default());
        // None of the three keeps all threads busy, and none needs another's result,
        // so they run side by side.
        let is_aligned = !self.left.unaligned;
        let structure = || match is_aligned {
            true => stages.time("align", || self.structure()),
            false => Structure::default(),
        };
        let mut period = || seeks.then(|| beside.time("period", || PeriodSearch::of(&self)));
        let mut findings = || last.time("findings", || self.found());
        let (structure, (period, findings)) = if self.may_be_written_meanwhile() {
            rayon::join(structure, || rayon::join(period, findings))
        } else {
            rayon::join(structure, || (period(), findings()))
        };
        stages.add_all(beside);
        stages.add_all(last);
        let mut analysis = Analysis {
            notes: self.notes(findings.as_ref()),
            labelled: self,
            structure,
            findings,
            period,
            extrapolation_check: None,
        };
        if analysis.left.check_extrapolation {
            let seed = analysis.settings.grouping.seed;
            let check = stages.time("check", || ExtrapolationCheck::of(&analysis, seed));
            analysis.notes.push(check.sentence(&analysis));
            analysis.extrapolation_check = Some(check);
        }
        analysis
    }

    fn structure(&self) -> Structure {
        let Self { table, prepared, grouped, left, .. } = self;
        Structure::of(table, prepared, &grouped.clustering, left.aligned.clone())
    }

    /// They compare moments of threads, which drawn times do not have, and which are wrong where
    /// those of states are. Streams of accelerators do not wait for one another, and values without ends
    /// are no computing.
    fn found(&self) -> Option<Findings> {
        if self.drawn_times || self.has_odd_times() || self.is_of_streams() || self.endless {
            return None;
        }
        let reading = (&self.prepared, self.left.filter);
        let bursts = (&self.labels[..], &self.figures.on_core.asleep_bursts[..]);
        findings::found(&self.table, reading, bursts, (&self.traced, self.begin..self.end))
    }

    /// All that the analyst must know.
    fn notes(&self, findings: Option<&Findings>) -> Vec<String> {
        let mut notes = self.first_notes.clone();
        let Self { table, prepared, .. } = self;
        if self.silhouette.is_some() && prepared.complete.iter().all(|i| table.duration[i as usize].0 == 0) {
            notes.push("No burst has a duration, so the silhouette counts every burst alike.".to_owned());
        }
        // Some bursts of a phase may be noise, many of them at a single density.
        // The findings count them too.
        let is_told = findings.is_some_and(|found| found.list.iter().any(|finding| finding.is_serial()));
        let few_cpus = findings.is_some_and(|found| found.few_cpus.is_some());
        let is_known =
            !self.drawn_times && !self.has_odd_times() && !self.endless && !self.traced.is_off && !few_cpus;
        if !self.left.one_density && !is_told && is_known {
            notes.extend(self.figures.serial_note());
        }
        notes
    }
}
