//! How dense nodes are, against the radii of a refinement.

use rayon::prelude::*;

use super::partition::Partition;

/// How far the bursts of each cohort are from their neighbours, in so far as it
/// says at which radii their nodes may grow and join.
pub(super) struct Density {
    /// Of each burst, how many of the radii it reaches, the smallest first.
    reached: Vec<u16>,
    n_radii: usize,
    /// Of each cohort, how many bursts reach none of the radii, only the first,
    /// only the first two, and so on.
    counts: Vec<Vec<u64>>,
}

impl Density {
    /// `distances` are of each burst to its `min_points`-th other; it reaches a radius
    /// of up to `sparse` times as much. Radii ascend.
    pub(super) fn new(distances: Vec<f64>, sparse: f64, radii: &[f64]) -> Self {
        let reached = |distance: &f64| {
            let n = radii.partition_point(|&eps| eps <= sparse * distance);
            u16::try_from(n).expect("fewer radii than 2^16")
        };
        Self {
            reached: distances.par_iter().map(reached).collect(),
            n_radii: radii.len(),
            counts: Vec::new(),
        }
    }

    /// Takes in bursts that have come into nodes.
    pub(super) fn enter(&mut self, partition: &Partition, entries: &[(u32, u32)]) {
        self.counts.resize(partition.node_of_cohort.len(), vec![0; self.n_radii + 1]);
        for &(burst, _) in entries {
            let reached = usize::from(self.reached[burst as usize]);
            self.counts[partition.cohort_of[burst as usize] as usize][reached] += 1;
        }
    }

    /// Which nodes reach a radius, by its place: nine in ten of their bursts reach
    /// no more than the last of these does.
    pub(super) fn reaches(&self, partition: &Partition, radius: usize) -> Vec<bool> {
        let mut sums = vec![[0; 2]; partition.nodes.len()];
        for (counts, &node) in self.counts.iter().zip(&partition.node_of_cohort) {
            if let Some([all, short]) = sums.get_mut(node as usize) {
                *all += counts.iter().sum::<u64>();
                *short += counts[..=radius].iter().sum::<u64>();
            }
        }
        sums.iter().map(|&[all, short]| all > 0 && short <= (all * 9 / 10).min(all - 1)).collect()
    }
}
