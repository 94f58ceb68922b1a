//! Whether the analysed run repeats itself.

use super::grouping::Grouped;
use super::options::{Grouping, Method};
use super::{Analysis, Settings, group_bursts, ordered};
use crate::{Silent, Stages};
use anyhow::Result;
use likewise::bursts::{NotPeriodic, Period, find_period};
use likewise::cluster::{ClusterId, Clustering};
use likewise::table::{BurstTable, Prepared};

/// The period of a run, and in which phases it was looked for.
#[derive(Clone, Debug)]
pub struct PeriodSearch {
    /// The period, or why there is none.
    pub found: Result<Period, NotPeriodic>,
    /// The phase of every burst; noise and filtered ones have none.
    ///
    /// They are phases of one density. A refinement may make so many phases
    /// that no two iterations have the same ones. So if the analysis refined,
    /// its bursts are grouped again by DBSCAN at the suggested eps. If no eps
    /// suggests itself, as among few bursts, the phases of the refinement
    /// serve. All commands ask here, and so find the same period.
    pub phases: Vec<Option<ClusterId>>,
}

impl PeriodSearch {
    pub(super) fn of(
        table: &BurstTable,
        prepared: &Prepared,
        grouped: &Grouped,
        settings: &Settings,
    ) -> Self {
        let refined = grouped.method == Method::Refine;
        let one_density = refined.then(|| at_one_density(table, prepared, settings).ok()).flatten();
        let phases = of_all_bursts(table, prepared, one_density.as_ref().unwrap_or(&grouped.clustering));
        Self { found: find_period(table, &phases), phases }
    }

    /// The phase of the analysis in which bursts of the period's anchor spend
    /// most time, the first of equal ones.
    #[must_use]
    pub fn first_phase(&self, analysis: &Analysis) -> Option<u32> {
        let anchor = self.found.as_ref().ok()?.anchor;
        let Analysis { table, prepared, grouped, .. } = analysis;
        let mut time = vec![0u64; grouped.clustering.n_clusters];
        for (i, own) in of_all_bursts(table, prepared, &grouped.clustering).into_iter().enumerate() {
            if let Some(own) = own.filter(|_| self.phases[i] == Some(anchor)) {
                time[own.index()] = time[own.index()].saturating_add(table.duration[i].0);
            }
        }
        // `max_by_key` takes the last of equal ones; reversed, the first.
        let most = (0..time.len()).rev().max_by_key(|&c| time[c]).filter(|&c| time[c] > 0)?;
        Some(ClusterId::from_index(most).number())
    }
}

fn at_one_density(table: &BurstTable, prepared: &Prepared, settings: &Settings) -> Result<Clustering> {
    let asked = Grouping { method: Some(Method::Dbscan), ..settings.grouping.clone() };
    let grouped = group_bursts(table, prepared, &asked, &mut Stages::default(), &Silent)?;
    Ok(ordered(grouped.clustering, table, prepared, settings.min_share).0)
}

fn of_all_bursts(table: &BurstTable, prepared: &Prepared, clustering: &Clustering) -> Vec<Option<ClusterId>> {
    let mut phases = vec![None; table.len()];
    for (&burst, &label) in prepared.complete.iter().zip(&clustering.labels) {
        phases[burst as usize] = label;
    }
    phases
}
