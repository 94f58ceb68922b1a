//! Bursts that are in a phase whose clusters they are not in.

use super::matched::RunBursts;
use super::times::threads_of;
use crate::table::Nanos;

/// Bursts whose cluster and whose phase say different things. A cluster's home is
/// the phase with most of its time. A burst of the cluster in another phase is a
/// *stray*, unless that phase too is mostly of this cluster: phases that share a
/// cluster, because their run does not tell them apart, have no strays of it.
#[derive(Clone, Debug)]
pub(super) struct Strays {
    /// Of each complete burst.
    pub(super) is_stray: Vec<bool>,
    /// Of each phase, the share of its time that is strays', thread by thread.
    pub(super) inside: Vec<Vec<f64>>,
    /// The time of strays elsewhere, whose clusters are at home in it, over its
    /// own, likewise.
    pub(super) outside: Vec<Vec<f64>>,
}

impl Strays {
    /// Those of a run whose complete bursts are in phases, of `n`.
    ///
    /// # Complexity
    /// O(n + p·(c + t)) for n bursts, p phases, c clusters and t threads.
    pub(super) fn of(run: &RunBursts<'_>, phase_of: &[Option<u32>], n: usize) -> Self {
        let bursts = || {
            let phase = |k: usize| phase_of[k].map(|p| p as usize);
            let of_burst = move |(k, i): (usize, u32)| {
                let cluster = run.clustering.labels[k].map(|id| id.index());
                let Nanos(time) = run.table.duration[i as usize];
                (k, phase(k), cluster, time as f64)
            };
            run.complete.iter().enumerate().map(of_burst)
        };
        let mut times = vec![vec![0.0; n]; run.clustering.n_clusters];
        let mut of_phase = vec![0.0; n];
        for (_, phase, cluster, time) in bursts() {
            if let Some(p) = phase {
                of_phase[p] += time;
                cluster.into_iter().for_each(|c| times[c][p] += time);
            }
        }
        // The first of those with the most.
        let home = |times: &Vec<f64>| (0..n).rev().max_by(|&a, &b| times[a].total_cmp(&times[b]));
        let homes: Vec<Option<usize>> = times.iter().map(home).collect();
        let main = |p: usize| (0..times.len()).rev().max_by(|&a, &b| times[a][p].total_cmp(&times[b][p]));
        let mains: Vec<Option<usize>> = (0..n).map(main).collect();
        let (threads, thread_of) = threads_of(run);
        let mut inside = vec![vec![0.0; threads.len()]; n];
        let mut outside = inside.clone();
        let mut is_stray = vec![false; run.complete.len()];
        for (k, phase, cluster, time) in bursts() {
            let Some((p, home)) = phase.zip(cluster.and_then(|c| homes[c])) else { continue };
            if p != home && mains[p] != cluster {
                is_stray[k] = true;
                let thread = thread_of[run.complete.at(k) as usize] as usize;
                inside[p][thread] += time;
                outside[home][thread] += time;
            }
        }
        for shares in [&mut inside, &mut outside] {
            for (shares, all) in shares.iter_mut().zip(&of_phase) {
                shares.iter_mut().for_each(|share| *share /= all.max(1.0));
            }
        }
        Self { is_stray, inside, outside }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::made;
    use super::*;
    use crate::cluster::ClusterId;
    use crate::synth::RunSpec;

    /// Strays of a run of which the phases are `phase(cluster, task)`.
    fn strays(n_phases: usize, phase: impl Fn(usize, u32) -> usize) -> Strays {
        let run = made(RunSpec::balanced(8, 12, 5, 3).expect("few phases"));
        let of = |(i, label): (u32, &Option<ClusterId>)| {
            let phase = phase(label.as_ref()?.index(), run.table.task[i as usize]);
            Some(phase as u32)
        };
        let phase_of: Vec<Option<u32>> = run.complete.iter().zip(&run.clustering.labels).map(of).collect();
        Strays::of(&run.bursts(), &phase_of, n_phases)
    }

    #[test]
    fn bursts_of_another_phases_cluster_are_strays() {
        let none = strays(5, |cluster, _| cluster);
        assert!(none.is_stray.iter().all(|stray| !stray), "each cluster is a phase");
        let one = strays(5, |cluster, task| if (cluster, task) == (1, 3) { 2 } else { cluster });
        let n = one.is_stray.iter().filter(|stray| **stray).count();
        assert_eq!(n, 12, "one task's bursts of cluster 2 are in phase 3");
        assert!(one.inside[2][2] > 0.0 && one.outside[1][2] > 0.1, "{one:?}");
        assert_eq!((&one.inside[1], &one.outside[2]), (&vec![0.0; 8], &vec![0.0; 8]));
        let shared = strays(6, |cluster, task| if cluster == 1 && task < 3 { 5 } else { cluster });
        assert!(shared.is_stray.iter().all(|stray| !stray), "a phase may share one cluster");
    }
}
