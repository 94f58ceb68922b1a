//! How dense nodes are, against the radii of a refinement.

use super::partition::Partition;

/// How far the bursts of each cohort are from their neighbours, in so far as it
/// says at which radii their nodes may grow and join.
pub(super) struct Density<'a> {
    /// Of each burst the distance to its `min_points`-th other.
    distances: &'a [f64],
    /// A burst reaches a radius of up to this many times its distance.
    sparse: f64,
    /// Ascending.
    radii: &'a [f64],
    /// Of each cohort, how many bursts reach none of the radii, only the first,
    /// only the first two, and so on.
    counts: Vec<Vec<u64>>,
}

impl<'a> Density<'a> {
    pub(super) fn new(distances: &'a [f64], sparse: f64, radii: &'a [f64]) -> Self {
        Self { distances, sparse, radii, counts: Vec::new() }
    }

    /// Takes in bursts that have come into nodes.
    pub(super) fn enter(&mut self, partition: &Partition, entries: &[(u32, u32)]) {
        self.counts.resize(partition.node_of_cohort.len(), vec![0; self.radii.len() + 1]);
        for &(burst, _) in entries {
            let reach = self.sparse * self.distances[burst as usize];
            let reached = self.radii.partition_point(|&eps| eps <= reach);
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
