//! How the tasks' sequences of phases lie over one another, and how good the
//! grouping is.

use likewise::bursts::{Alignment, Refinement, SpmdScore, align_by_duration, phase_sequences, spmd_score};
use likewise::cluster::{ClusterId, Clustering, Points};
use likewise::quality::{Silhouette, centroid_silhouette};
use likewise::table::{BurstTable, Nanos, Prepared, Rows};
use std::sync::Arc;

/// More distances to centroids than this are not measured.
const MAX_DISTANCES: usize = 1 << 30;

/// What the phases are worth as steps of the program.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// `None` where nobody asked for it.
    pub spmd: Option<(Arc<Alignment>, SpmdScore)>,
}

impl Structure {
    /// Scores the phases of the complete bursts, as they are `aligned`, or else aligns
    /// them.
    pub(super) fn of(
        table: &BurstTable,
        prepared: &Prepared,
        clustering: &Clustering,
        aligned: Option<Arc<Alignment>>,
    ) -> Self {
        let mut durations = vec![Nanos::ZERO; clustering.n_clusters];
        for (burst, label) in prepared.complete.iter().zip(&clustering.labels) {
            if let Some(id) = label {
                let sum = &mut durations[id.index()];
                *sum = sum.saturating_add(table.duration[burst as usize]);
            }
        }
        let alignment = aligned.unwrap_or_else(|| {
            let labels = of_all_bursts(table, &prepared.complete, clustering);
            Arc::new(align_by_duration(&phase_sequences(table, &labels), &durations))
        });
        let score = spmd_score(&alignment, &durations);
        Self { spmd: Some((alignment, score)) }
    }

    /// The Score per Cluster of a phase, by its place.
    pub fn spmd_of(&self, phase: usize) -> Option<f64> {
        self.spmd.as_ref().and_then(|(_, score)| *score.per_cluster.get(phase)?)
    }
}

/// How much nearer the complete bursts are to their own phase than to others; `None` where
/// there are less than two phases, or too much to measure.
pub(super) fn silhouette(
    table: &BurstTable,
    prepared: &Prepared,
    clustering: &Clustering,
) -> Option<Silhouette> {
    let weight = |i: usize| table.duration[prepared.complete.at(i) as usize].0;
    let is_quick = prepared.complete.len().saturating_mul(clustering.n_clusters) <= MAX_DISTANCES;
    let points = Points::new(&prepared.points, prepared.dims).ok().filter(|_| is_quick)?;
    centroid_silhouette(points, clustering, weight)
}

/// The phase of every burst of the table; `clustering` labels the complete ones.
pub(super) fn of_all_bursts(
    table: &BurstTable,
    complete: &Rows,
    clustering: &Clustering,
) -> Vec<Option<ClusterId>> {
    let mut phases = vec![None; table.len()];
    for (burst, &label) in complete.iter().zip(&clustering.labels) {
        phases[burst as usize] = label;
    }
    phases
}

/// Takes the alignment out of a refinement, by the numbers of `clustering`, if that
/// has the same phases; and the refinement's own clustering, which nobody asks for
/// any more. Each takes as much memory as several columns of the table.
pub(super) fn take_aligned(refinement: &mut Refinement, clustering: &Clustering) -> Option<Alignment> {
    let own = std::mem::take(&mut refinement.clustering);
    let mut alignment = std::mem::take(&mut refinement.alignment);
    let n = clustering.n_clusters;
    if own.n_clusters != n {
        return None;
    }
    let mut number = vec![None; n];
    for pair in own.labels.iter().zip(&clustering.labels) {
        match pair {
            (Some(from), Some(to)) => match &mut number[from.index()] {
                Some(number) if *number != to.index() as u32 => return None,
                number => *number = Some(to.index() as u32),
            },
            (None, None) => {}
            _ => return None,
        }
    }
    for symbol in alignment.sequences.iter_mut().flat_map(|sequence| &mut sequence.symbols) {
        *symbol = number[*symbol as usize]?;
    }
    Some(alignment)
}

/// Names of the tasks of each distinct sequence: `1, 3–16`.
pub fn sequence_names(alignment: &Alignment, tasks: &[String]) -> Vec<String> {
    let mut runs: Vec<Vec<(usize, usize)>> = vec![Vec::new(); alignment.sequences.len()];
    for (task, &sequence) in alignment.sequence_of.iter().enumerate() {
        match runs[sequence as usize].last_mut() {
            Some((_, last)) if *last + 1 == task => *last = task,
            _ => runs[sequence as usize].push((task, task)),
        }
    }
    let name = |&(first, last): &(usize, usize)| match last - first {
        0 => tasks[first].clone(),
        _ => format!("{}–{}", tasks[first], tasks[last]),
    };
    let names = |runs: &Vec<(usize, usize)>| {
        let shown: Vec<String> = runs.iter().take(8).map(name).collect();
        let more = if runs.len() > 8 { ", …" } else { "" };
        shown.join(", ") + more
    };
    runs.iter().map(names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise::bursts::align;

    #[test]
    fn tasks_of_one_sequence_are_named_together() {
        let aligned = align(&[vec![1], vec![2], vec![1], vec![1], vec![1]]);
        let tasks: Vec<String> = (1..=5).map(|i| i.to_string()).collect();
        assert_eq!(sequence_names(&aligned, &tasks), ["1, 3–5", "2"]);
    }
}
