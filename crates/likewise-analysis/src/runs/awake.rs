//! Runs without the bursts in which threads sleep.

use crate::phases::Analysis;
use likewise::cluster::{ClusterId, Clustering};
use likewise::table::{BurstTable, Nanos, Rows};

/// A run in which bursts that sleep, by their cycles, take no time and are in no phase.
pub(super) struct Awake {
    pub(super) table: BurstTable,
    pub(super) complete: Rows,
    pub(super) clustering: Clustering,
}

impl Awake {
    /// `None` where none sleeps, or nothing else is left. By CPU time sleep is told apart otherwise:
    /// there the clock and the time on a core are compared.
    pub(super) fn of(analysis: &Analysis) -> Option<Self> {
        let on_core = &analysis.figures.on_core;
        let asleep = on_core.by_cycles.as_ref().map(|_| &on_core.asleep_bursts[..])?;
        Self::without(asleep, &analysis.table, (&analysis.prepared.complete, &analysis.grouped.clustering))
    }

    /// `asleep` is empty where none does.
    fn without(
        asleep: &[bool],
        table: &BurstTable,
        (complete, clustering): (&Rows, &Clustering),
    ) -> Option<Self> {
        if !asleep.contains(&true) {
            return None;
        }
        let (rows, labels): (Vec<u32>, Vec<Option<ClusterId>>) = complete
            .iter()
            .zip(clustering.labels.iter().copied())
            .filter(|(i, _)| !asleep[*i as usize])
            .unzip();
        if rows.is_empty() {
            return None;
        }
        // They stay in the table, so that no thread is gone.
        let mut table = table.clone();
        let slept = table.duration.iter_mut().zip(asleep).filter(|(_, asleep)| **asleep);
        slept.for_each(|(duration, _)| *duration = Nanos::ZERO);
        let clustering = Clustering { labels, n_clusters: clustering.n_clusters };
        Some(Self { table, complete: Rows::from(rows), clustering })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sleeps_takes_no_time_and_is_in_no_phase() {
        let table = BurstTable {
            app: vec![1; 4].into(),
            task: vec![1; 4].into(),
            thread: vec![1, 1, 2, 3].into(),
            begin: [0, 200, 200, 200].map(Nanos).to_vec(),
            duration: [190, 100, 110, 100].map(Nanos).to_vec(),
            ..BurstTable::default()
        };
        let labels = vec![None, Some(ClusterId::from_index(0)), Some(ClusterId::from_index(0)), None];
        let clustering = Clustering { labels, n_clusters: 1 };
        let awake = |asleep: &[bool]| Awake::without(asleep, &table, (&Rows::first(4), &clustering));
        let found = awake(&[true, false, false, true]).expect("two are awake");
        assert_eq!(found.table.duration, [0, 100, 110, 0].map(Nanos));
        assert_eq!((found.complete.to_vec(), found.clustering.labels.len()), (vec![1, 2], 2));
        assert_eq!(found.table.threads().count(), 3, "nobody is gone");
        assert!(awake(&[false; 4]).is_none() && awake(&[]).is_none() && awake(&[true; 4]).is_none());
    }
}
