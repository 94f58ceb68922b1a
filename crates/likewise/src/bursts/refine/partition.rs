//! Bursts in groups, and how their sequences align.

use crate::cluster::{ClusterId, Clustering};
use crate::table::Nanos;

use super::super::{Alignment, SpmdScore, align_by_duration, spmd_score};
use super::{Level, NO_NODE, Node, RefineInput};

/// Which node every burst is in, and all nodes so far.
pub(super) struct Partition {
    pub(super) node_of: Vec<u32>,
    pub(super) nodes: Vec<Node>,
}

/// A partition's sequences, aligned and scored by place among the nodes that
/// have bursts.
pub(super) struct Scored {
    /// The nodes that have bursts, ascending.
    pub(super) live: Vec<u32>,
    pub(super) alignment: Alignment,
    pub(super) score: SpmdScore,
}

impl Partition {
    pub(super) fn new(n: usize) -> Self {
        Self { node_of: vec![NO_NODE; n], nodes: Vec::new() }
    }

    /// A node without bursts yet.
    pub(super) fn add(&mut self, level: usize, parents: Vec<u32>) -> u32 {
        self.nodes.push(Node {
            level,
            parents,
            score: 0.0,
            instances: 0,
            total: Nanos::ZERO,
            is_final: false,
        });
        self.nodes.len() as u32 - 1
    }

    /// The bursts that are in no node, or in one that is not final; ascending.
    pub(super) fn pool(&self) -> Vec<u32> {
        let open = |&node: &u32| node == NO_NODE || !self.nodes[node as usize].is_final;
        (0..self.node_of.len() as u32).filter(|&i| open(&self.node_of[i as usize])).collect()
    }

    /// Scores the partition, and tells its nodes what they hold.
    pub(super) fn score(&mut self, input: &RefineInput<'_>) -> Scored {
        let scored = Scored::of(input, &self.node_of, self.nodes.len());
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

    /// What this level came to.
    pub(super) fn level(&self, input: &RefineInput<'_>, eps: f64, scored: &Scored) -> Level {
        let noise = self.node_of.iter().zip(input.duration).filter(|(node, _)| **node == NO_NODE);
        Level {
            eps,
            score: scored.score.score,
            n_clusters: scored.live.len(),
            noise: noise.fold(Nanos::ZERO, |sum, (_, &duration)| sum.saturating_add(duration)),
            node_of_burst: self.node_of.clone(),
        }
    }

    /// The nodes that have bursts become phases, in their order.
    pub(super) fn clustering(&self, live: &[u32]) -> Clustering {
        let place = |node: &u32| live.binary_search(node).ok().map(ClusterId::from_index);
        Clustering { labels: self.node_of.iter().map(place).collect(), n_clusters: live.len() }
    }
}

impl Scored {
    /// Aligns the threads' sequences of nodes.
    pub(super) fn of(input: &RefineInput<'_>, node_of: &[u32], n_nodes: usize) -> Self {
        let mut time = vec![None; n_nodes];
        for (&node, &duration) in node_of.iter().zip(input.duration) {
            if let Some(time) = time.get_mut(node as usize) {
                *time = Some(time.unwrap_or(Nanos::ZERO).saturating_add(duration));
            }
        }
        let live: Vec<u32> = (0..n_nodes as u32).filter(|&node| time[node as usize].is_some()).collect();
        let mut place = vec![0; n_nodes];
        live.iter().zip(0..).for_each(|(&node, at)| place[node as usize] = at);
        let mut sequences = vec![Vec::new(); input.n_threads];
        for (&thread, &node) in input.thread.iter().zip(node_of) {
            if node != NO_NODE {
                sequences[thread as usize].push(place[node as usize]);
            }
        }
        let durations: Vec<Nanos> = time.into_iter().flatten().collect();
        let alignment = align_by_duration(&sequences, &durations);
        let score = spmd_score(&alignment, &durations);
        Self { live, alignment, score }
    }
}
