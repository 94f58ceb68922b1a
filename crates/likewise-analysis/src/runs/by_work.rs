//! Runs whose bursts come in no order.

use super::{Analysed, Comparison, Settings, run_bursts};
use crate::Stages;
use likewise::bursts::scaling::{RunBursts, match_by_work, repeats_in_no_order};

impl Comparison {
    /// Compares runs of which neither calls nor the order of steps tell which phase is which;
    /// `None` if their work does not either.
    pub(super) fn by_work(analysed: &[Analysed], settings: Settings, stages: &mut Stages) -> Option<Self> {
        let views: Vec<RunBursts<'_>> = analysed.iter().map(run_bursts).collect();
        let found = stages.time("match", || match_by_work(&views))?;
        let repeats = repeats_in_no_order(&views, &found);
        let mut comparison = Self::repeated(analysed, settings, (&found, &repeats), stages);
        // A little may do the same work by chance.
        if comparison.n_known() < comparison.runs.len() {
            return None;
        }
        let text = "Neither calls nor the order of steps tell which phases are the same: bursts that do the same work \
                    (within 10%, and no other phase does it, or none as fast) are one phase, whichever thread does them.";
        comparison.notes.push(text.to_owned());
        Some(comparison)
    }
}
