//! The period of an analysed run, for programs and people.

use crate::analysis::{Analysis, group_bursts, ordered};
use crate::grouping::{GroupingArgs, Method};
use crate::progress::Progress;
use crate::stages::Stages;
use anyhow::Result;
use likewise::bursts::{NotPeriodic, Period, find_period};
use likewise::cluster::{ClusterId, Clustering};
use serde_json::{Value, json};

/// The phase of every burst, for the period; noise and filtered ones have
/// none.
///
/// They are those of one density. A refinement may tell so many phases apart
/// that no iteration has the same as another, so where the analysis refined,
/// its bursts are grouped by DBSCAN at the eps suggested; where none suggests
/// itself, as among few bursts, the phases of the refinement serve. All
/// commands ask here, and so find the same period.
pub(crate) fn phases(analysis: &Analysis) -> Vec<Option<ClusterId>> {
    let refined = analysis.grouped.method == Method::Refine;
    let one_density = refined.then(|| at_one_density(analysis).ok()).flatten();
    of_all_bursts(analysis, one_density.as_ref().unwrap_or(&analysis.grouped.clustering))
}

/// The period, if there is one.
pub(crate) fn find(analysis: &Analysis) -> Option<Period> {
    find_period(&analysis.table, &phases(analysis)).ok()
}

fn at_one_density(analysis: &Analysis) -> Result<Clustering> {
    let args = GroupingArgs { method: Some(Method::Dbscan), ..analysis.asked.clone() };
    let Analysis { table, prepared, threshold, .. } = analysis;
    let grouped = group_bursts(table, prepared, &args, &mut Stages::default(), Progress::new(true))?;
    Ok(ordered(grouped.clustering, table, prepared, *threshold).0)
}

fn of_all_bursts(analysis: &Analysis, clustering: &Clustering) -> Vec<Option<ClusterId>> {
    let mut phases = vec![None; analysis.table.len()];
    for (&burst, &label) in analysis.prepared.complete.iter().zip(&clustering.labels) {
        phases[burst as usize] = label;
    }
    phases
}

/// What `summary.json` and `cut.json` say of it; `phases` are those in which
/// it was found.
pub(crate) fn to_json(
    found: &Result<Period, NotPeriodic>,
    phases: &[Option<ClusterId>],
    analysis: &Analysis,
) -> Value {
    match found {
        Err(why) => json!({ "periodic": false, "why": why.to_string() }),
        Ok(period) => {
            let (from, to) = period.region();
            json!({
                "periodic": true,
                "period_ns": period.length().0,
                "median_ns": period.median().0,
                "shortest_ns": period.lengths().iter().min().map(|length| length.0),
                "longest_ns": period.lengths().iter().max().map(|length| length.0),
                "iterations": period.n_iterations(),
                "confidence": period.confidence,
                "work_share": period.coverage,
                "region_ns": [from.0, to.0],
                "first_phase": first_phase(period.anchor, phases, analysis),
            })
        }
    }
}

/// The phase of the analysis in which bursts of the anchor spend most time,
/// the first of equal ones.
fn first_phase(anchor: ClusterId, phases: &[Option<ClusterId>], analysis: &Analysis) -> Option<u32> {
    let clustering = &analysis.grouped.clustering;
    let mut time = vec![0u64; clustering.n_clusters];
    for (i, own) in of_all_bursts(analysis, clustering).into_iter().enumerate() {
        if let Some(own) = own.filter(|_| phases[i] == Some(anchor)) {
            time[own.index()] = time[own.index()].saturating_add(analysis.table.duration[i].0);
        }
    }
    let most = (0..time.len()).rev().max_by_key(|&c| time[c]).filter(|&c| time[c] > 0)?;
    Some(ClusterId::from_index(most).number())
}

pub(crate) fn summary(analysis: &Analysis) -> Value {
    let phases = phases(analysis);
    to_json(&find_period(&analysis.table, &phases), &phases, analysis)
}
