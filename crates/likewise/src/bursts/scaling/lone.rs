//! Bursts that one thread computes while no other does.

use super::factors::{RunFigures, alone, figures_of};
use super::matched::RunBursts;
use crate::bursts::serial::is_nearly_all;
use crate::table::Nanos;

/// Serial time is worth a word from this share of a run's wall time on.
pub const SERIAL_SHARE: f64 = 0.01;

/// For how long each complete burst of a run is computed while no other thread computes.
pub(super) struct Alone {
    /// Of each complete burst: that time, and how long it takes.
    times: Vec<[u64; 2]>,
    /// From the begin of the first burst to the end of the last.
    wall: u64,
}

impl Alone {
    pub(super) fn of(run: &RunBursts<'_>) -> Self {
        let table = run.table;
        let alone = alone(table);
        let times = run.complete.iter().map(|i| [alone[i as usize], table.duration[i as usize].0]);
        let begin = table.begin.iter().min().copied().unwrap_or_default();
        let end = (0..table.len()).map(|i| table.end(i)).max().unwrap_or_default();
        Self { times: times.collect(), wall: end.saturating_sub(begin).0 }
    }

    /// Whether no other thread computes for nearly all of a burst.
    pub(super) fn is_serial(&self, burst: usize) -> bool {
        let [alone, duration] = self.times[burst];
        is_nearly_all(alone as f64, duration as f64)
    }

    /// The same of a burst that takes a share of the run that is worth a word.
    pub(super) fn is_long(&self, burst: usize) -> bool {
        self.is_serial(burst) && self.times[burst][0] as f64 >= SERIAL_SHARE * self.wall as f64
    }
}

/// For how long each burst of a run is computed while no other thread computes: beside others
/// as they were `before` the run was calmed.
pub(super) fn alone_of(run: &RunBursts<'_>, before: &RunBursts<'_>) -> Vec<u64> {
    let durations = run.table.duration.iter();
    alone(before.table).into_iter().zip(durations).map(|(alone, duration)| alone.min(duration.0)).collect()
}

/// What one thread computes alone, in bursts of no phase.
#[derive(Clone, Debug)]
pub(super) struct Lone {
    /// Of each burst of the run, whether it is one of them.
    pub(super) is_lone: Vec<bool>,
    /// Their time without any other thread.
    pub(super) alone: Nanos,
    /// The same of all bursts of the run, whether in a phase or not.
    pub(super) of_all: Nanos,
}

impl Lone {
    /// Those of a run, whether they are grouped or not; a run of one thread has none. `alone` has the
    /// time that each burst runs alone.
    pub(super) fn of(run: &RunBursts<'_>, alone: &[u64], phase_of: &[Option<u32>]) -> Self {
        let table = run.table;
        let mut is_lone = vec![run.threads() > 1; table.len()];
        for (i, _) in run.complete.iter().zip(phase_of).filter(|(_, phase)| phase.is_some()) {
            is_lone[i as usize] = false;
        }
        let mut sum = 0;
        for (i, is_lone) in is_lone.iter_mut().enumerate() {
            *is_lone &= is_nearly_all(alone[i] as f64, table.duration[i].0 as f64);
            sum += if *is_lone { alone[i] } else { 0 };
        }
        Self { is_lone, alone: Nanos(sum), of_all: Nanos(alone.iter().sum()) }
    }
}

/// Figures of a run without the phases `but`, and without what is serial in no phase.
pub(super) fn without(
    run: &RunBursts<'_>,
    phase_of: &[Option<u32>],
    but: &[bool],
    lone: &Lone,
) -> RunFigures {
    let mut kept: Vec<bool> = lone.is_lone.iter().map(|lone| !lone).collect();
    for (i, phase) in run.complete.iter().zip(phase_of) {
        kept[i as usize] &= phase.is_none_or(|p| !but[p as usize]);
    }
    figures_of(run, |i| kept[i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Clustering;
    use crate::table::{BurstTable, Rows};

    /// A burst of no phase beside one that took long once was told as serial: the long one counted
    /// as usual, and so as if it had ended before.
    #[test]
    fn what_is_computed_beside_a_stall_is_not_serial() {
        let table = |stall: u64| BurstTable {
            app: vec![1; 3].into(),
            task: vec![1, 1, 2].into(),
            thread: vec![1; 3].into(),
            begin: [0, 7_000, 300].map(Nanos).to_vec(),
            duration: [stall, 200, 5_600].map(Nanos).to_vec(),
            ..BurstTable::default()
        };
        let (long, usual, complete) = (table(6_000), table(200), Rows::first(3));
        let clustering = Clustering { labels: vec![None; 3], n_clusters: 0 };
        let run = |table| RunBursts { table, complete: &complete, clustering: &clustering };
        let phase_of = [Some(0), Some(0), None];
        let lone = |before| {
            let alone = alone_of(&run(&usual), &run(before));
            Lone::of(&run(&usual), &alone, &phase_of)
        };
        assert_eq!(lone(&long).alone, Nanos::ZERO);
        assert_eq!(lone(&usual).alone, Nanos(5_600), "where nothing was long");
    }
}
