//! What is said of a run as a whole, once each burst has its phase.

use super::hidden::ExtrapolationCheck;
use super::{Analysis, Labelled, Method, PeriodSearch, Structure, findings};
use crate::{Stages, Watch};
use likewise::bursts::{Findings, PhaseRepresentatives, representatives};
use likewise::cluster::Points;
use std::sync::Arc;

/// Of more bursts, the period, the findings and the representatives are looked for
/// one after the other: side by side, they hold more than any other stage. With
/// 40,000,000 bursts the program had 7.0 GB then.
const SIDE_BY_SIDE: usize = 1 << 24;

/// Strata of each phase, of which each has a representative.
const STRATA: usize = 5;

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
        let _bar = watch.spinner("Aligning");
        let (mut beside, mut last) = (Stages::default(), Stages::default());
        // None of the three keeps all threads busy, and none needs another's result,
        // so they run side by side.
        let is_aligned = !self.left.unaligned;
        let mut structure = || match is_aligned {
            true => stages.time("align", || self.structure()),
            false => Structure::default(),
        };
        let mut period = || beside.time("period", || PeriodSearch::of(&self));
        let mut findings = || last.time("findings", || self.found());
        let ((structure, representatives), (period, findings)) = if self.may_be_written_meanwhile() {
            rayon::join(|| (structure(), self.representatives()), || rayon::join(period, findings))
        } else {
            let (structure, found) = rayon::join(structure, || (period(), findings()));
            ((structure, self.representatives()), found)
        };
        stages.add_all(beside);
        stages.add_all(last);
        let mut analysis = Analysis {
            notes: self.notes(&structure, findings.as_ref()),
            labelled: self,
            structure,
            representatives,
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
        // Who writes files meanwhile has them too.
        if let Some(own) = Arc::get_mut(&mut analysis.labelled) {
            own.prepared.points = Vec::new();
        }
        analysis
    }

    fn structure(&self) -> Structure {
        let Self { table, prepared, grouped, left, .. } = self;
        // What lies between the same calls need not be as long, so it has no silhouette.
        let points = Points::new(&prepared.points, prepared.dims).ok();
        let points = points.filter(|_| grouped.method != Method::Places);
        Structure::of(table, prepared, &grouped.clustering, left.aligned.clone(), points)
    }

    fn representatives(&self) -> Vec<PhaseRepresentatives> {
        // Who aligns nothing asks for the phases alone.
        if self.left.unaligned {
            return Vec::new();
        }
        representatives(&self.table, &self.prepared, &self.grouped.clustering, STRATA)
    }

    /// They compare moments of threads, which drawn times do not have, and which clocks that do
    /// not agree make wrong.
    fn found(&self) -> Option<Findings> {
        if self.drawn_times || self.odd_clocks {
            return None;
        }
        let reading = (&self.prepared, self.left.filter);
        findings::found(&self.table, reading, (&self.labels, &self.figures.on_core.asleep_bursts), self.end)
    }

    /// All that the analyst must know.
    fn notes(&self, structure: &Structure, findings: Option<&Findings>) -> Vec<String> {
        let mut notes = self.first_notes.clone();
        let Self { table, prepared, .. } = self;
        if structure.silhouette.is_some()
            && prepared.complete.iter().all(|i| table.duration[i as usize].0 == 0)
        {
            notes.push("No burst has a duration, so the silhouette counts every burst alike.".to_owned());
        }
        // Some bursts of a phase may be noise, many of them at a single density.
        // The findings count them too.
        let is_told = findings.is_some_and(|found| found.list.iter().any(|finding| finding.is_serial()));
        if !self.left.one_density && !is_told && !self.drawn_times && !self.odd_clocks {
            notes.extend(self.figures.serial_note());
        }
        notes
    }
}
