//! What the report shows beside bursts and phases: the aligned sequences, and
//! how the refinement came to its phases.

use std::io;

use likewise::bursts::NO_NODE;
use likewise::cluster::ClusterId;
use likewise::table::{Nanos, Rows};

/// The tasks' phase sequences laid over one another.
#[derive(Clone, Debug, Default)]
pub struct AlignmentView<'a> {
    /// Cluster Sequence Score, from 0 to 1.
    pub score: f64,
    /// Columns of the alignment; a column holds what tasks do at the same
    /// step.
    pub n_columns: usize,
    /// One per distinct sequence, in the order of first tasks.
    pub rows: Vec<AlignedRow<'a>>,
}

/// A sequence that one task or more have, in the columns of the alignment.
#[derive(Clone, Debug, Default)]
pub struct AlignedRow<'a> {
    /// The tasks that share it, such as `1, 3–16`.
    pub name: String,
    /// How many they are.
    pub n_tasks: usize,
    /// Phase of each symbol, as its place from 0.
    pub phases: &'a [u32],
    /// Column of each symbol, from 0, ascending.
    pub columns: &'a [u32],
}

/// How the refinement came to its phases.
#[derive(Clone, Debug)]
pub struct TreeView<'a> {
    /// The bursts that were refined, as indices into those of the report, ascending.
    pub bursts: &'a Rows,
    /// Of each of these bursts its cohort, whose bursts are in the same node at
    /// every level; [`NO_COHORT`](likewise::bursts::NO_COHORT) if it is never in one.
    pub cohorts: &'a [u32],
    /// The levels in the order they were made, eps growing.
    pub levels: Vec<TreeLevel<'a>>,
    /// The clusters of all levels. [`TreeLevel::nodes`] and
    /// [`TreeNode::parents`] name them by index.
    pub nodes: Vec<TreeNode>,
}

/// A partition of the bursts.
#[derive(Clone, Debug, Default)]
pub struct TreeLevel<'a> {
    /// The eps of the level.
    pub eps: f64,
    /// Its score, from 0 to 1.
    pub score: f64,
    /// Its number of clusters.
    pub clusters: usize,
    /// The share of noise in the computing time, from 0 to 1.
    pub noise_share: f64,
    /// For every cohort, the node it is in at this level; [`NO_NODE`] for none. A
    /// node that is final may hold its bursts at later levels too.
    pub nodes: &'a [u32],
}

/// A cluster of a level.
#[derive(Clone, Debug, Default)]
pub struct TreeNode {
    /// The level at which it first is, an index. It may grow at later ones.
    pub level: usize,
    /// Nodes of earlier levels that share bursts with it.
    pub parents: Vec<u32>,
    /// Its score, from 0 to 1.
    pub score: f64,
    /// Number of bursts when it last was, before it became part of another.
    pub instances: u64,
    /// Their duration together.
    pub total: Nanos,
    /// Whether it is final: a phase at the end.
    pub last: bool,
    /// The phase it ended as.
    pub phase: Option<ClusterId>,
}

fn bad(what: String) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

impl AlignmentView<'_> {
    /// Checks that rows are within the columns.
    pub(super) fn check(&self) -> io::Result<()> {
        for row in &self.rows {
            let (n, columns) = (row.phases.len(), row.columns);
            if columns.len() != n {
                return bad(format!("report: row '{}' has {} columns, {n} phases", row.name, columns.len()));
            }
            let within = columns.last().is_none_or(|&last| (last as usize) < self.n_columns);
            if !columns.is_sorted_by(|a, b| a < b) || !within {
                return bad(format!(
                    "report: row '{}' is not in order of {} columns",
                    row.name, self.n_columns
                ));
            }
        }
        Ok(())
    }
}

impl TreeView<'_> {
    /// Checks that nodes, levels and `n` bursts agree.
    pub(super) fn check(&self, n: usize) -> io::Result<()> {
        let is_within = self.bursts.iter().next_back().is_none_or(|last| (last as usize) < n);
        if !is_within {
            return bad(format!("report: the tree has bursts beyond {n}"));
        }
        let (len, n) = (self.cohorts.len(), self.bursts.len());
        if len != n {
            return bad(format!("report: the tree has cohorts of {len} bursts of {n}"));
        }
        let n_cohorts = self.levels.first().map_or(0, |level| level.nodes.len());
        for (l, level) in self.levels.iter().enumerate() {
            if level.nodes.len() != n_cohorts {
                let n = level.nodes.len();
                return bad(format!("report: level {l} of the tree has {n} cohorts of {n_cohorts}"));
            }
            let of_level = |&&node: &&u32| self.nodes.get(node as usize).is_none_or(|n| n.level > l);
            if let Some(node) = level.nodes.iter().filter(|&&node| node != NO_NODE).find(of_level) {
                return bad(format!("report: a burst of level {l} of the tree is in node {node}"));
            }
        }
        for (i, node) in self.nodes.iter().enumerate() {
            let earlier =
                |&p: &u32| self.nodes.get(p as usize).is_some_and(|parent| parent.level < node.level);
            if node.level >= self.levels.len() || !node.parents.iter().all(earlier) {
                return bad(format!("report: node {i} of the tree has no such level or parent"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_must_rise_and_fit() {
        let check = |columns: &[u32]| {
            let row = AlignedRow { phases: &[0, 1], columns, ..AlignedRow::default() };
            AlignmentView { n_columns: 3, rows: vec![row], ..AlignmentView::default() }.check()
        };
        assert!(check(&[0, 2]).is_ok());
        for wrong in [&[0, 3][..], &[1, 1], &[2, 1], &[1]] {
            assert!(check(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn nodes_must_be_of_their_level_and_parents_earlier() {
        let check = |node: u32, parent: u32, bursts: &[u32], n: usize| {
            let bursts = &Rows::from(bursts.to_vec());
            let before = vec![0; 2];
            let now = vec![node; 2];
            let view = TreeView {
                bursts,
                cohorts: &[0, 1],
                levels: vec![
                    TreeLevel { nodes: &before, ..TreeLevel::default() },
                    TreeLevel { nodes: &now, ..TreeLevel::default() },
                ],
                nodes: vec![
                    TreeNode::default(),
                    TreeNode { level: 1, parents: vec![parent], ..TreeNode::default() },
                ],
            };
            view.check(n).is_ok()
        };
        assert!(check(1, 0, &[0, 1], 2));
        assert!(check(NO_NODE, 0, &[0, 1], 2));
        assert!(check(1, 0, &[0, 2], 3), "not all were refined");
        assert!(!check(1, 0, &[0, 2], 2) && !check(1, 0, &[0, 1, 2], 3));
        assert!(check(0, 0, &[0, 1], 2), "kept from the level before");
        assert!(!check(2, 0, &[0, 1], 2));
        assert!(!check(1, 1, &[0, 1], 2));
    }
}
