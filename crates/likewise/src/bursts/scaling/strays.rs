//! Bursts that are in a phase whose clusters they are not in.

use super::matched::RunBursts;
use super::times::threads_of;
use crate::median;
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
    /// Of each phase: the time of the thread that takes longest over what it may be, if strays
    /// are not of it, if those elsewhere are, and if what its threads lack is ([`OfThreads::lacking`]).
    pub(super) longest: Vec<[f64; 3]>,
}

/// A phase is on all threads from this share of them on; on fewer than half of them, it is
/// what some do.
const ON_ALL: f64 = 0.9;
const SOME: f64 = 0.5;
/// A burst of a thread that lacks bursts of a phase may be one of them if it takes at least
/// this share of their mean time, and at most the inverse of it.
const LIKE_LENGTH: f64 = 0.5;

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
        let own = OfThreads::of(
            bursts().map(|(k, phase, cluster, time)| {
                let thread = thread_of[run.complete.at(k) as usize] as usize;
                (phase, thread, time, phase.is_some_and(|p| mains[p] == cluster))
            }),
            (n, threads.len()),
        );
        let longest = (0..n).map(|p| own.longest(p, [&inside[p], &outside[p]])).collect();
        for shares in [&mut inside, &mut outside] {
            for (shares, all) in shares.iter_mut().zip(&of_phase) {
                shares.iter_mut().for_each(|share| *share /= all.max(1.0));
            }
        }
        Self { is_stray, inside, outside, longest }
    }
}

/// What each thread does of each phase.
struct OfThreads {
    /// Of each phase and thread: the number of its bursts, and their time.
    each: Vec<Vec<(usize, f64)>>,
    /// Of each thread, the phases and times of its bursts that are in no phase, in one of few
    /// threads, or in one that is mostly another cluster.
    others: Vec<Vec<(Option<usize>, f64)>>,
}

impl OfThreads {
    /// Of bursts with their phase, thread and time, and whether they are of the cluster that
    /// their phase mostly is.
    fn of(
        bursts: impl Iterator<Item = (Option<usize>, usize, f64, bool)> + Clone,
        (n, n_threads): (usize, usize),
    ) -> Self {
        let mut each = vec![vec![(0, 0.0); n_threads]; n];
        for (phase, thread, time, _) in bursts.clone() {
            if let Some(p) = phase {
                let (count, sum) = each[p][thread];
                each[p][thread] = (count + 1, sum + time);
            }
        }
        let on = |p: usize| each[p].iter().filter(|(count, _)| *count > 0).count() as f64;
        let is_of_some: Vec<bool> = (0..n).map(|p| on(p) < SOME * n_threads as f64).collect();
        let mut others = vec![Vec::new(); n_threads];
        for (phase, thread, time, is_main) in bursts {
            if !is_main || phase.is_none_or(|p| is_of_some[p]) {
                others[thread].push((phase, time));
            }
        }
        Self { each, others }
    }

    /// See [`Strays::longest`]. `strays` is the time of those in phase `p` and elsewhere.
    fn longest(&self, p: usize, [inside, outside]: [&Vec<f64>; 2]) -> [f64; 3] {
        let most = |time: &dyn Fn(usize) -> f64| (0..self.others.len()).map(time).fold(0.0, f64::max);
        let own = |t: usize| self.each[p][t].1;
        let lacking = self.lacking(p);
        let may_be =
            [most(&|t| own(t) - inside[t]), most(&|t| own(t) + outside[t]), most(&|t| own(t) + lacking[t])];
        may_be.map(|time| most(&own) / time.max(1.0))
    }

    /// Of each thread, the time of bursts that may be those that it lacks of phase `p`, if nearly
    /// all threads have that: as many as it has fewer than the usual thread, about as long, of no
    /// phase, of phases of few threads or of other clusters than their phase. A thread with more
    /// to do than the others may be in a cluster of its own.
    fn lacking(&self, p: usize) -> Vec<f64> {
        let mut counts: Vec<usize> =
            self.each[p].iter().map(|(count, _)| *count).filter(|n| *n > 0).collect();
        let on_all = counts.len() as f64 >= ON_ALL * self.others.len() as f64;
        counts.sort_unstable();
        let usual = median::lower(&counts).filter(|_| on_all).unwrap_or(0);
        let (n, sum) = self.each[p].iter().fold((0, 0.0), |(n, sum), of| (n + of.0, sum + of.1));
        let mean = sum / (n as f64).max(1.0);
        let is_like = |time: f64| (LIKE_LENGTH * mean..=mean / LIKE_LENGTH).contains(&time);
        let of_thread = |t: usize| {
            let lacks = usual.saturating_sub(self.each[p][t].0);
            if lacks == 0 {
                return 0.0;
            }
            let others = self.others[t].iter().filter(|(phase, time)| *phase != Some(p) && is_like(*time));
            let mut times: Vec<f64> = others.map(|(_, time)| *time).collect();
            times.sort_unstable_by(|a, b| b.total_cmp(a));
            times.iter().take(lacks).sum()
        };
        (0..self.others.len()).map(of_thread).collect()
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

    /// Ten threads do phase 0 twelve times; of the last one, other phases hold its bursts of
    /// this length.
    fn longest(last: f64) -> [f64; 3] {
        let of_thread =
            |t: usize| (0..12).map(move |_| if t == 9 { (Some(1), t, last) } else { (Some(0), t, 10.0) });
        let bursts = (0..10).flat_map(of_thread).map(|(phase, t, time)| (phase, t, time, true));
        let none = vec![0.0; 10];
        OfThreads::of(bursts, (2, 10)).longest(0, [&none, &none])
    }

    #[test]
    fn a_thread_that_lacks_a_phase_may_be_the_one_that_takes_longest() {
        assert_eq!(longest(17.0), [1.0, 1.0, 10.0 / 17.0]);
        assert_eq!(longest(9.0), [1.0; 3], "then another thread takes longest");
        assert_eq!(longest(50.0), [1.0; 3], "these are no bursts of that phase");
    }
}
