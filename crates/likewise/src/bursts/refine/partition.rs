//! Bursts in groups, and how their sequences align.

use crate::cluster::{ClusterId, Clustering};
use crate::table::Nanos;

use super::super::{
    Alignment, Cuts, SpmdScore, align_by_duration, align_roughly, align_roughly_along, spmd_score,
};
use super::levels::{Level, NO_NODE, Node, RefineInput};

/// Which node every burst is in, and all nodes so far.
pub(super) struct Partition {
    pub(super) node_of: Vec<u32>,
    pub(super) nodes: Vec<Node>,
}

/// So many tasks are aligned on the way.
const ALIGNED: usize = 32;

/// And thoroughly, if they have no more bursts than this.
const THOROUGH: usize = 1 << 15;

/// Which tasks are aligned, and how well.
pub(super) struct Tasks {
    /// Of each thread, its place among those aligned, or [`NO_NODE`].
    place: Vec<u32>,
    n: usize,
    thorough: bool,
}

impl Tasks {
    /// Every thread, as well as can be.
    pub(super) fn all(n_threads: usize) -> Self {
        Self { place: (0..n_threads as u32).collect(), n: n_threads, thorough: true }
    }

    /// At most [`ALIGNED`] threads, evenly spaced, the first among them; as
    /// well as can be where they have few bursts.
    pub(super) fn some(input: &RefineInput<'_>) -> Self {
        let n = ALIGNED.min(input.n_threads);
        let mut place = vec![NO_NODE; input.n_threads];
        (0..n).for_each(|i| place[i * input.n_threads / n] = i as u32);
        let n_bursts = input.thread.iter().filter(|&&t| place[t as usize] != NO_NODE).count();
        Self { place, n, thorough: n_bursts <= THOROUGH }
    }

    /// How many are aligned.
    pub(super) fn len(&self) -> usize {
        self.n
    }

    /// The place of a thread, if it is aligned.
    pub(super) fn place(&self, thread: u32) -> Option<usize> {
        Some(self.place[thread as usize] as usize).filter(|&place| place < self.n)
    }
}

/// A partition's sequences, aligned and scored by place among the nodes that
/// have bursts.
pub(super) struct Scored {
    /// The nodes that have bursts, ascending.
    pub(super) live: Vec<u32>,
    pub(super) alignment: Alignment,
    pub(super) score: SpmdScore,
    /// Where sequences were cut, if they were not aligned as well as can be.
    cuts: Option<Cuts>,
}

impl Partition {
    pub(super) fn new(n: usize) -> Self {
        Self { node_of: vec![NO_NODE; n], nodes: Vec::new() }
    }

    /// A node without bursts yet.
    pub(super) fn add(&mut self, level: usize, parents: Vec<u32>) -> u32 {
        self.nodes.push(Node { level, parents, score: 0.0, instances: 0, total: Nanos::ZERO });
        self.nodes.len() as u32 - 1
    }

    /// Scores the partition, and tells its nodes what they hold.
    pub(super) fn score(&mut self, input: &RefineInput<'_>, tasks: &Tasks) -> Scored {
        let scored = Scored::of(input, tasks, &self.node_of, self.nodes.len(), None);
        // Nodes that are part of others keep what they last held.
        for &node in &scored.live {
            let node = &mut self.nodes[node as usize];
            (node.instances, node.total) = (0, Nanos::ZERO);
        }
        for (&node, &duration) in self.node_of.iter().zip(input.duration) {
            if let Some(node) = self.nodes.get_mut(node as usize) {
                node.instances += 1;
                node.total = node.total.saturating_add(duration);
            }
        }
        for (&node, score) in scored.live.iter().zip(&scored.score.per_cluster) {
            self.nodes[node as usize].score = score.unwrap_or(0.0);
        }
        scored
    }

    /// What a level came to.
    pub(super) fn close(&self, input: &RefineInput<'_>, eps: f64, scored: &Scored) -> Level {
        let noise = self.node_of.iter().zip(input.duration).filter(|(node, _)| **node == NO_NODE);
        Level {
            eps,
            score: scored.score.score,
            n_clusters: scored.live.len(),
            noise: noise.fold(Nanos::ZERO, |sum, (_, &duration)| sum.saturating_add(duration)),
            node_of_burst: self.node_of.clone(),
        }
    }

    /// Each list of nodes becomes one new node.
    pub(super) fn merge(&mut self, level: usize, lists: Vec<Vec<u32>>) {
        let mut target: Vec<u32> = (0..self.nodes.len() as u32).collect();
        for list in lists {
            let node = self.add(level, list.clone());
            list.into_iter().for_each(|part| target[part as usize] = node);
        }
        for node in self.node_of.iter_mut().filter(|node| **node != NO_NODE) {
            *node = target[*node as usize];
        }
    }

    /// The nodes that have bursts become phases, in their order.
    pub(super) fn clustering(&self, live: &[u32]) -> Clustering {
        let place = |node: &u32| live.binary_search(node).ok().map(ClusterId::from_index);
        Clustering { labels: self.node_of.iter().map(place).collect(), n_clusters: live.len() }
    }
}

impl Scored {
    /// Aligns the threads' sequences of nodes; `before` is how the same bursts
    /// were aligned by the nodes that they were in before.
    pub(super) fn of(
        input: &RefineInput<'_>,
        tasks: &Tasks,
        node_of: &[u32],
        n_nodes: usize,
        before: Option<&Scored>,
    ) -> Self {
        let mut time = vec![None; n_nodes];
        for (&node, &duration) in node_of.iter().zip(input.duration) {
            if let Some(time) = time.get_mut(node as usize) {
                *time = Some(time.unwrap_or(Nanos::ZERO).saturating_add(duration));
            }
        }
        let live: Vec<u32> = (0..n_nodes as u32).filter(|&node| time[node as usize].is_some()).collect();
        let mut place = vec![0; n_nodes];
        live.iter().zip(0..).for_each(|(&node, at)| place[node as usize] = at);
        let mut sequences = vec![Vec::new(); tasks.len()];
        for (&thread, &node) in input.thread.iter().zip(node_of) {
            if let (true, Some(task)) = (node != NO_NODE, tasks.place(thread)) {
                sequences[task].push(place[node as usize]);
            }
        }
        let durations: Vec<Nanos> = time.into_iter().flatten().collect();
        let (alignment, cuts) = if tasks.thorough {
            (align_by_duration(&sequences, &durations), None)
        } else if let Some(cuts) = before.and_then(|before| before.cuts.as_ref()) {
            (align_roughly_along(&sequences, cuts), None)
        } else {
            let (alignment, cuts) = align_roughly(&sequences);
            (alignment, Some(cuts))
        };
        let score = spmd_score(&alignment, &durations);
        Self { live, alignment, score, cuts }
    }
}
