//! What the refinement sees, and what it finds.

use super::super::{Alignment, SpmdScore};
use crate::cluster::{Clustering, Points};
use crate::table::{Nanos, Runs};

/// Bursts as the refinement sees them.
#[derive(Clone, Copy, Debug)]
pub struct RefineInput<'a> {
    /// A point per burst.
    pub points: Points<'a>,
    /// Of each burst its thread, from 0. Bursts of a thread stand together, in
    /// the order of time.
    pub thread: &'a Runs,
    /// How many threads there are; some may have no burst here.
    pub n_threads: usize,
    /// How long each burst is.
    pub duration: &'a [Nanos],
    /// Of each burst the code it runs, by any number, or [`NO_CODE`]; empty
    /// where the trace does not tell.
    pub code: &'a [u32],
    /// Of each burst what it must keep to, by any number: bursts of two
    /// numbers are never one phase. Empty where any may be.
    pub apart: &'a [u32],
}

/// The code of a burst of which it is not known.
pub const NO_CODE: u32 = u32::MAX;

/// From where to where the radius goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the finest grouping to coarser ones: fragments join.
    Aggregative,
    /// From the coarsest grouping to finer ones: what is no single step of
    /// the program is taken apart.
    Divisive,
}

/// The phases of a run, and how they came about.
#[derive(Clone, Debug)]
pub struct Refinement {
    /// Each burst's phase, in the order of the nodes.
    pub clustering: Clustering,
    /// Of each phase, its node.
    pub node_of_phase: Vec<u32>,
    /// How the tasks' sequences of phases lie over one another.
    pub alignment: Alignment,
    /// How well they do.
    pub score: SpmdScore,
    /// The groupings on the way, one per radius.
    pub levels: Vec<Level>,
    /// Of each burst its cohort, the bursts that were in the same nodes at all
    /// levels, or [`NO_COHORT`] if it never was in any.
    pub cohort_of_burst: Vec<u32>,
    /// All groups that ever were.
    pub nodes: Vec<Node>,
    /// Lists of phases that stand in for one another, each ascending: they are at
    /// the same steps, in different tasks or iterations. They may be two modes of
    /// one region, or its imbalance.
    pub alternatives: Vec<Vec<u32>>,
}

/// The grouping at one radius.
#[derive(Clone, Debug)]
pub struct Level {
    /// The radius.
    pub eps: f64,
    /// The Cluster Sequence Score.
    pub score: f64,
    /// How many groups there are.
    pub n_clusters: usize,
    /// The time of the bursts in none.
    pub noise: Nanos,
    /// Of each cohort the node it is in, or [`NO_NODE`].
    pub node_of_cohort: Vec<u32>,
}

impl Level {
    /// The node of a cohort, or [`NO_NODE`].
    #[must_use]
    pub fn node_of(&self, cohort: u32) -> u32 {
        self.node_of_cohort.get(cohort as usize).copied().unwrap_or(NO_NODE)
    }
}

/// The node of a burst that is in none.
pub const NO_NODE: u32 = u32::MAX;

/// The cohort of a burst that never was in a node.
pub const NO_COHORT: u32 = u32::MAX;

/// A group of bursts. It may grow by bursts that were in none.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The level at which it first was.
    pub level: usize,
    /// The nodes of earlier levels that it is made of, or part of.
    pub parents: Vec<u32>,
    /// Its Score per Cluster when it last had bursts of its own.
    pub score: f64,
    /// How many bursts it had then.
    pub instances: u64,
    /// Their time.
    pub total: Nanos,
}
